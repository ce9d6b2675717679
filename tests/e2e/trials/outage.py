"""Reports RUNG_E2E_STEPS steps and prints each answer of the worker as it came, one a line."""

import json
import os
import socket
import time

connection = socket.socket(socket.AF_UNIX)
connection.connect(os.environ["RUNG_SOCKET"])
stream = connection.makefile("rwb")
for step in range(1, int(os.environ["RUNG_E2E_STEPS"]) + 1):
    report = {"step": step, "metrics": {"accuracy": step / 1000}}
    stream.write(json.dumps({"report": report}).encode() + b"\n")
    stream.flush()
    print(step, stream.readline().decode().strip(), flush=True)
    time.sleep(0.05)
