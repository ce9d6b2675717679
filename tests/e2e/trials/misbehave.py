"""A trial that misbehaves as its parameter `fault` says; the others must not notice."""

import json
import os
import signal
import socket
import sys
import time

import rung

fault = rung.params()["fault"]
if fault == "exit_1":
    rung.report(1, accuracy=0.1)
    print("about to fail", file=sys.stderr)
    sys.exit(1)
if fault == "killed":
    rung.report(1, accuracy=0.1)
    os.kill(os.getpid(), signal.SIGKILL)
if fault == "garbage":
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(os.environ["RUNG_SOCKET"])
    stream = connection.makefile("rwb")
    for line in (
        b"this is no JSON\n",
        b"\x00\xff\n",
        b'{"reprot": {}}\n',
        b'{"report": {"step": "x"}}\n',
        b"[]\n",
        b'{"report":' + 100_000 * b"[" + 100_000 * b"]" + b"}\n",
    ):
        stream.write(line)
        stream.flush()
        answer = stream.readline()
        assert "error" in json.loads(answer), answer
    rung.report(1, accuracy=0.2)
if fault == "silent":
    sys.exit(0)
if fault == "nan":
    for step in range(1, 6):
        rung.report(step, accuracy=float("nan"))
if fault == "escapes":  # a child in a session of its own, without our environment, deaf to SIGTERM
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            os.execve("/bin/sleep", ["sleep", os.environ["RUNG_E2E_SLEEP"]], {})
        os._exit(0)
    for step in range(1, 10_000):
        rung.report(step, accuracy=0.5)
        time.sleep(0.1)
if fault == "ignores_sigterm":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    rung.report(1, accuracy=0.3)
    time.sleep(600)
if fault == "none":
    for step in range(1, 6):
        rung.report(step, accuracy=0.5)
