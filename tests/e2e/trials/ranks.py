"""A rank that writes down what it was given, holds the rendezvous as TCPStore does, and stays.

In RUNG_E2E_RECORD it writes `ATTEMPT-RANK` with its parameters, port and process id. Rank 0 listens
on MASTER_PORT, the others connect to it. RUNG_E2E_STEPS (10_000) reports follow, one each 0.1 s;
RUNG_E2E_DEAF: SIGTERM is ignored.
"""

import json
import os
import pathlib
import signal
import socket
import time

import rung

if "RUNG_E2E_DEAF" in os.environ:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
rank, port = int(os.environ["RANK"]), int(os.environ["MASTER_PORT"])
address = (os.environ["MASTER_ADDR"], port)
if rank == 0:
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(address)
    listener.listen()
    peers = [listener.accept() for _ in range(1, int(os.environ["WORLD_SIZE"]))]
else:
    store = socket.socket()
    while store.connect_ex(address) != 0:
        time.sleep(0.02)
record = {"params": os.environ["RUNG_PARAMS"], "port": port, "pid": os.getpid()}
folder = pathlib.Path(os.environ["RUNG_E2E_RECORD"])
draft = folder / f".{rung.attempt()}-{rank}"
draft.write_text(json.dumps(record))
draft.rename(folder / f"{rung.attempt()}-{rank}")
for step in range(1, int(os.environ.get("RUNG_E2E_STEPS", "10000")) + 1):
    if rung.report(step, accuracy=0.5, raise_on_stop=False) != "continue":
        break
    time.sleep(0.1)
