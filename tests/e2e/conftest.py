"""A real service in a folder of its own: the built programs, driven as a user would."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from typing import Any, Callable, Iterator, List, Mapping, Optional

import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "clients" / "python"))
BIN = pathlib.Path(os.environ.get("RUNG_BIN", SOURCE / "build" / "release" / "bin"))
TRIALS = pathlib.Path(__file__).resolve().parent / "trials"
WAIT_S = 60.0  # far above what any wait here needs on a loaded machine


def eventually(what: str, condition: Callable[[], Any], limit: float = WAIT_S) -> Any:
    """The first true value of `condition`; fails naming `what` after `limit` seconds."""
    deadline = time.monotonic() + limit
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < deadline, f"not within {limit} s: {what}"
        time.sleep(0.05)


def is_running(pid: int) -> bool:
    """Whether a process lives; a zombie that nobody reaped yet does not, unless it is one whose
    other threads are still ending: they hold its files and locks."""
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in ("Z", "X") or len(threads) > 1


class Service:
    """One scheduler and one worker with their own RUNG_HOME, started by `rung local up`."""

    def __init__(self, home: pathlib.Path, cpus: int = 2) -> None:
        self.home = home
        self.cpus = cpus
        self.environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith("RUNG_")},
            "RUNG_HOME": str(home),
            "NO_COLOR": "1",
            "PYTHONPATH": str(SOURCE / "clients" / "python"),
        }

    def rung(
        self, *arguments: Any, status: Optional[int] = 0, **options: Any
    ) -> subprocess.CompletedProcess:
        """Runs the command line client; checks its exit status unless None is wanted."""
        result = subprocess.run(
            [str(BIN / "rung"), *map(str, arguments)],
            env={**self.environment, **options.pop("env", {})},
            capture_output=True,
            text=True,
            timeout=options.pop("timeout", 2 * WAIT_S),
            **options,
        )
        if status is not None:
            assert result.returncode == status, f"rung {arguments}: {result}"
        return result

    def json(self, *arguments: Any) -> Any:
        return json.loads(self.rung(*arguments, "--json").stdout)

    def up(self, *arguments: Any) -> None:
        self.rung("local", "up", "--cpus", self.cpus, *arguments)

    def pid(self, program: str) -> int:
        """Process id of "scheduler" or "worker"."""
        return int(json.loads((self.home / f"{program}.json").read_text())["pid"])

    def kill(self, program: str) -> None:
        """kill -9, as a crash would."""
        pid = self.pid(program)
        os.kill(pid, signal.SIGKILL)
        eventually(f"{program} {pid} gone", lambda: not is_running(pid))

    def query(self, sql: str, *values: Any) -> List[sqlite3.Row]:
        """Reads the database file while everything runs."""
        with contextlib.closing(
            sqlite3.connect(f"file:{self.home / 'rung.db'}?mode=ro", uri=True)
        ) as db:
            db.row_factory = sqlite3.Row
            return db.execute(sql, values).fetchall()

    def submit(self, document: Mapping[str, Any]) -> int:
        """Submits through the command line; returns the experiment's id."""
        file = self.home / f"submit-{time.monotonic_ns()}.json"
        file.write_text(json.dumps(document))
        return int(self.json("submit", file)["experiment_id"])

    def state(self, experiment: int) -> str:
        return str(self.query("select state from experiments where id = ?", experiment)[0]["state"])

    def wait(self, experiment: int, *states: str) -> str:
        """Waits until the experiment is in one of `states` (default: final)."""
        wanted = states or ("completed", "stopped", "failed")
        eventually(f"experiment {experiment} in {wanted}", lambda: self.state(experiment) in wanted)
        return self.state(experiment)

    def processes(self) -> List[int]:
        """Every process of this service: its folder is in the environment of daemons (RUNG_HOME)
        and of trials (RUNG_SOCKET)."""
        found = []
        for folder in pathlib.Path("/proc").iterdir():
            if not folder.name.isdigit() or int(folder.name) == os.getpid():
                continue
            with contextlib.suppress(OSError):
                environment = (folder / "environ").read_bytes()
                if str(self.home).encode() in environment and is_running(int(folder.name)):
                    found.append(int(folder.name))
        return found


def document(trial: Any, trials: int = 2, **changes: Any) -> dict:
    """An experiment whose trials run a script of tests/e2e/trials, or a whole command."""
    command = trial if isinstance(trial, list) else [sys.executable, str(TRIALS / trial)]
    base: dict = {
        "name": "e2e",
        "metric": "accuracy",
        "goal": "maximize",
        "seed": 7,
        "space": {"lr": {"loguniform": [1e-4, 1e-1]}, "tag": "e2e"},
        "searcher": {"random": {"trials": trials}},
        "scheduler": {"fifo": {}},
        "trial": {"command": command, "working_dir": str(TRIALS), "grace": "2s"},
    }
    trial_changes = changes.pop("trial_options", {})
    base["trial"].update(trial_changes)
    base.update(changes)
    return base


@pytest.fixture
def home() -> Iterator[pathlib.Path]:
    folder = pathlib.Path(tempfile.mkdtemp(prefix="rung-e2e-"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def service(home: pathlib.Path) -> Iterator[Service]:
    """A running service; at the end nothing of it may be left."""
    running = Service(home)
    running.up()
    try:
        yield running
    finally:
        running.rung("local", "down", status=None)
        leftovers = running.processes()
        for pid in leftovers:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
    assert not leftovers, f"processes left behind: {leftovers}"
