"""The demo's dealings with the service, played by a program `rung` that notes what it is asked.

Usage: demo_test.py DEMO.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

DEMO = ""
LIMIT_S = 60

# Answers `list` and `submit`; a `watch` is what the person at the terminal interrupts.
RUNG = f"""#!{sys.executable}
import json, os, signal, sys, time
arguments = sys.argv[1:]
with open(os.environ["CALLS"], "a") as calls:
    calls.write(" ".join(arguments[:2]) + "\\n")
if arguments[0] == "list":
    print(os.environ["EXPERIMENTS"])
if arguments[0] == "submit":
    print(json.dumps({{"experiment_id": 7}}))
if arguments[0] == "watch":
    os.kill(os.getppid(), signal.SIGINT)
    time.sleep({LIMIT_S})
"""


class DemoTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="demo_test.")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        rung = self.folder / "rung"
        rung.write_text(RUNG)
        rung.chmod(0o700)

    def run_demo(self, experiments) -> tuple[subprocess.CompletedProcess, list[str]]:
        calls = self.folder / "calls"
        environment = {
            **os.environ,
            "RUNG_BIN": str(self.folder),
            "CALLS": str(calls),
            "EXPERIMENTS": json.dumps(experiments),
        }
        home = str(self.folder / "home")
        done = subprocess.run(
            [sys.executable, DEMO, "--full", "--home", home],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            timeout=LIMIT_S,
            # Whoever runs the tests in the background may ignore it.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        return done, calls.read_text().splitlines()

    def test_ctrl_c_ends_the_experiment_before_the_service(self):
        done, calls = self.run_demo([{"id": 6, "state": "completed"}])
        self.assertEqual(done.returncode, -signal.SIGINT, done.stderr)
        self.assertEqual(calls[-3:], ["watch 7", "stop 7", "local down"])

    def test_a_home_in_which_an_experiment_runs_is_refused(self):
        done, calls = self.run_demo([{"id": 6, "state": "active"}, {"id": 5, "state": "stopped"}])
        self.assertEqual(done.returncode, 1)
        self.assertIn("rung stop 6", done.stderr)
        self.assertEqual(calls, ["local up", "list --json", "local down"])


if __name__ == "__main__":
    DEMO = sys.argv[1]
    unittest.main(argv=sys.argv[:1])
