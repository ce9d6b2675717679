"""bert_finetune as a trial: same numbers on one and two processes, resume, decisions, signals.

Usage: finetune_test.py BERT_FINETUNE DATA. Exit status 77 when the data are not set up.

Runs train for a few steps on the first 200 rows of the text in float32 without dropout, so that
runs of different shape can be compared.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

PROGRAM = ""
DATA = Path()
TEXT = "movieReviewSnippets_GroundTruth.txt"
FLAGS = ["--unit-examples", "16", "--units", "3", "--dropout", "0", "--bf16", "off"]
PARAMS = {"lr": 1e-3, "batch_size": 8, "warmup_steps": 10, "weight_decay": 0.1}
LIMIT_S = 120


class Worker:
    """Speaks the trial socket: records what it is told, answers reports with `decisions`."""

    def __init__(self, folder: Path, decisions=None, on_report=None):
        self.reports: list[tuple[int, dict]] = []
        self.checkpoints: list[tuple[int, str]] = []
        self.path = folder / "trial.sock"
        self._decisions = decisions or {}
        self._on_report = on_report or (lambda step: None)
        self._server = socket.socket(socket.AF_UNIX)
        self._server.bind(str(self.path))
        self._server.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self._server.shutdown(socket.SHUT_RDWR)  # wakes _accept
        self._server.close()

    def _accept(self):
        while True:
            try:
                connection, _ = self._server.accept()
            except OSError:  # closed
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        for line in connection.makefile("r"):
            message = json.loads(line)
            if "report" in message:
                report = message["report"]
                self.reports.append((report["step"], report["metrics"]))
                self._on_report(report["step"])
                answer = {"decision": self._decisions.get(report["step"], "continue")}
            else:
                checkpoint = message["checkpoint"]
                self.checkpoints.append((checkpoint["step"], checkpoint["path"]))
                answer = {"checkpoint": "stored"}
            connection.sendall((json.dumps(answer) + "\n").encode())


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class FinetuneTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        shared = tempfile.TemporaryDirectory(prefix="bert_finetune_test.")
        cls.addClassCleanup(shared.cleanup)
        cls.shared = Path(shared.name)  # the data, and the cache that most tests share
        cls.make_data(cls.shared / "data")

    @staticmethod
    def make_data(folder: Path):
        folder.mkdir()
        for name in ("model.safetensors", "vocab.txt"):
            (folder / name).symlink_to((DATA / name).resolve())
        lines = (DATA / TEXT).read_bytes().split(b"\r\n")
        (folder / TEXT).write_bytes(b"\r\n".join(lines[:200]))

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="bert_finetune_test.")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.worker_count = 0

    def worker(self, **arguments) -> Worker:
        self.worker_count += 1
        folder = self.folder / f"w{self.worker_count}"
        folder.mkdir()
        worker = Worker(folder, **arguments)
        self.addCleanup(worker.close)
        return worker

    def start(self, worker: Worker, *flags, params=None, **variables) -> subprocess.Popen:
        environment = {
            "PATH": os.environ["PATH"],
            "OMP_NUM_THREADS": "1",
            "RUNG_SOCKET": str(worker.path),
            "RUNG_TRIAL_ID": "1.0",
            "RUNG_PARAMS": json.dumps(PARAMS if params is None else params),
            "RUNG_SEED": "3",
            "RUNG_CHECKPOINT_DIR": str(worker.path.parent),
        }
        environment.update({name: str(value) for name, value in variables.items()})
        folders = ["--data", str(self.shared / "data"), "--cache", str(self.shared / "cache")]
        process = subprocess.Popen(
            [PROGRAM, *folders, *FLAGS, *flags], env=environment, stderr=subprocess.PIPE, text=True
        )
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def finish(self, process: subprocess.Popen, status: int = 0) -> str:
        _, stderr = process.communicate(timeout=LIMIT_S)
        self.assertEqual(process.returncode, status, stderr)
        return stderr

    def run_one(self, *flags, **variables) -> list[tuple[int, dict]]:
        worker = self.worker()
        self.finish(self.start(worker, *flags, **variables))
        return worker.reports

    def run_two(self, *flags) -> list[tuple[int, dict]]:
        worker = self.worker()
        world = {"WORLD_SIZE": 2, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": free_port()}
        ranks = [self.start(worker, *flags, RANK=rank, LOCAL_RANK=rank, **world) for rank in (0, 1)]
        for rank in ranks:
            self.finish(rank)
        return worker.reports

    def assert_close(self, found, expected, tolerance):
        self.assertEqual([step for step, _ in found], [step for step, _ in expected])
        for (step, metrics), (_, wanted) in zip(found, expected):
            self.assertEqual(metrics.keys(), wanted.keys())
            for name, value in wanted.items():
                self.assertLessEqual(abs(metrics[name] - value), tolerance, f"{name} at {step}")

    def test_two_processes_train_as_one(self):
        # The same float32 sums in another order: 1e-4 on losses of about 0.7 after 6 updates at a
        # rate ten times the usual. Accuracy is over 20 rows and must not move by one.
        for setting in (["--freeze-layers", "5"], ["--freeze-layers", "0"]):
            with self.subTest(setting=setting):
                one = self.run_one(*setting)
                self.assertEqual([step for step, _ in one], [1, 2, 3])
                self.assert_close(self.run_two(*setting), one, 1e-4)

    def test_reports_what_the_readme_says(self):
        reports = self.run_one("--eval-every", "2")
        self.assertEqual(reports[0][1].keys(), {"train_loss"})
        self.assertEqual(reports[1][1].keys(), {"train_loss", "loss", "accuracy"})
        self.assertEqual(
            reports[2][1].keys(), {"train_loss", "loss", "accuracy", "test_loss", "test_accuracy"}
        )
        self.assertLess(reports[2][1]["train_loss"], reports[0][1]["train_loss"])

    def test_equal_seeds_give_equal_numbers_and_others_do_not(self):
        one = self.run_one("--dropout", "0.1")
        self.assertEqual(self.run_one("--dropout", "0.1"), one)
        self.assertNotEqual(self.run_one("--dropout", "0.1", RUNG_SEED=4), one)

    def test_resumed_attempt_goes_on_as_if_nothing_had_happened(self):
        whole = self.worker()
        flags = ["--dropout", "0.1", "--checkpoint-every", "2"]
        self.finish(self.start(whole, *flags))
        self.assertEqual([step for step, _ in whole.checkpoints], [2])
        checkpoint = whole.path.parent / whole.checkpoints[0][1]
        resumed = self.run_one(*flags, RUNG_RESUME_FROM=checkpoint, RUNG_RESUME_STEP=2)
        self.assertEqual(resumed, whole.reports[2:])

    def test_stop_decision_ends_the_trial_with_status_0(self):
        worker = self.worker(decisions={2: "stop"})
        self.finish(self.start(worker, "--checkpoint-every", "1"))
        self.assertEqual([step for step, _ in worker.reports], [1, 2])
        self.assertEqual([step for step, _ in worker.checkpoints], [1])

    def test_pause_decision_saves_first(self):
        worker = self.worker(decisions={1: "pause"})
        self.finish(self.start(worker))
        self.assertEqual([step for step, _ in worker.checkpoints], [1])

    def test_signal_ends_the_trial_at_a_step_boundary_and_it_has_not_completed(self):
        started = threading.Event()
        processes = []

        def terminate(step):
            started.wait(LIMIT_S)
            processes[0].send_signal(signal.SIGTERM)

        worker = self.worker(on_report=terminate)
        processes.append(self.start(worker, "--units", "1000"))
        started.set()
        self.finish(processes[0], status=128 + signal.SIGTERM)
        self.assertEqual([step for step, _ in worker.reports], [1])

    def test_two_that_start_at_once_share_one_cache(self):
        workers = [self.worker(), self.worker()]
        cache = ["--cache", str(self.folder / "cache")]
        processes = [self.start(worker, *cache) for worker in workers]
        for process in processes:
            self.finish(process)
        self.assertEqual(workers[0].reports, workers[1].reports)
        names = sorted(path.suffix for path in (self.folder / "cache").iterdir())
        self.assertEqual(names, ["", ".bin"])  # the lock and one file of features

    def test_parameter_that_it_does_not_have_is_refused(self):
        stderr = self.finish(self.start(self.worker(), params={"learning_rate": 1e-4}), status=2)
        self.assertIn("'learning_rate'", stderr)

    def test_missing_weights_are_named(self):
        self.make_data(self.folder / "data")
        (self.folder / "data" / "model.safetensors").unlink()
        data = ["--data", str(self.folder / "data")]
        stderr = self.finish(self.start(self.worker(), *data), status=1)
        self.assertIn("model.safetensors", stderr)


if __name__ == "__main__":
    PROGRAM, DATA = sys.argv[1], Path(sys.argv[2])
    if not (DATA / TEXT).exists() or not (DATA / "model.safetensors").exists():
        print(f"skipped: no data in {DATA}; scripts/setup fetches them")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
