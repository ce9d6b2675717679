"""Outages, locks and deserters: what a hostile field does to a running service."""

from __future__ import annotations

import contextlib
import pathlib
import random
import signal
import sqlite3
import subprocess
import threading
import time
from typing import List, Tuple

import pytest

import rung
from conftest import BIN, Service, document, eventually, is_running
from test_crashes import recorded, slow_curves, stored


def answers(service: Service, trial: str) -> List[str]:
    return service.rung("logs", trial).stdout.splitlines()


def outage(steps: int, trials: int) -> dict:
    return document(
        "outage.py", trials=trials, trial_options={"env": {"RUNG_E2E_STEPS": str(steps)}}
    )


def test_trials_go_on_without_the_scheduler_and_deliver_everything_later(service: Service) -> None:
    experiment = service.submit(outage(steps=20, trials=2))
    eventually("reports", lambda: len(stored(service, experiment)) >= 6)
    service.kill("scheduler")
    logs = service.home / "logs"
    eventually(
        "both trials were answered without a promise",
        lambda: sum('"durable":false' in f.read_text() for f in logs.rglob("rank0.out")) == 2,
    )
    service.up()
    assert service.wait(experiment) == "completed"
    assert {row[2] for row in stored(service, experiment)} == set(range(1, 21))
    assert len(stored(service, experiment)) == 2 * 20
    for trial in range(2):
        lines = answers(service, f"{experiment}.{trial}")
        assert all('"decision":"continue"' in line for line in lines)
    lost = service.query("select count(*) n from attempts where state = 'lost'")
    assert lost[0]["n"] == 0


def test_a_database_that_takes_no_writes_promises_nothing_and_recovers(service: Service) -> None:
    experiment = service.submit(outage(steps=60, trials=1))
    eventually("reports", lambda: len(stored(service, experiment)) >= 3)
    with contextlib.closing(sqlite3.connect(service.home / "rung.db", timeout=30)) as other:
        other.execute("begin immediate")  # as a full disk does: no commit succeeds
        log = service.home / "logs" / "scheduler.log"
        eventually("the scheduler notices", lambda: "serving reads only" in log.read_text())
        refused = service.rung("stop", experiment, status=1)
        assert "cannot be written" in refused.stderr
        assert "local up" not in refused.stderr, "the service runs: that would not help"
        assert "active" in service.rung("list").stdout, "reads go on"
        in_file = len(stored(service, experiment))
        promised = [
            line
            for file in (service.home / "logs").rglob("rank0.out")
            for line in file.read_text().splitlines()
            if '"decision"' in line and "durable" not in line
        ]
        assert len(promised) <= in_file
        other.rollback()
    assert service.wait(experiment) == "completed"
    assert len(stored(service, experiment)) == 60


def test_a_machine_that_cannot_start_trials_fails_none_of_them(service: Service) -> None:
    root = service.home / "root"
    root.write_text("a file in the way: no folder can be made, as on a full disk")
    experiment = service.submit(
        document("curve.py", trials=8, trial_options={"checkpoint_root": str(root)})
    )
    failed = "select 1 from attempts where exit_cause = 'could_not_start'"
    # One a CPU: it does not take one after the other.
    eventually("two attempts have failed", lambda: len(service.query(failed)) == 2)
    trials = service.query("select state, failures, losses, reason from trials")
    assert {tuple(row)[:3] for row in trials} == {("queued", 0, 0)}
    assert all("could not start it" in row["reason"] for row in trials)
    root.unlink()
    assert service.wait(experiment) == "completed"


def test_kills_of_either_daemon_at_any_moment_lose_nothing(service: Service) -> None:
    record = service.home / "record"
    experiment = service.submit(slow_curves(record))
    moments = random.Random(3)
    for i in range(8):
        time.sleep(moments.uniform(0, 0.8))  # the moment of the kill is what varies
        service.kill(("scheduler", "worker")[i % 2])
        if i % 4 == 3:
            service.kill("scheduler")
        service.up()
    assert service.wait(experiment) == "completed"
    assert recorded(record) <= stored(service, experiment)
    trials = service.query("select state, failures from trials where experiment_id = ?", experiment)
    assert {tuple(row) for row in trials} == {("completed", 0)}


def test_a_scheduler_that_was_stopped_blames_no_worker_for_the_silence(service: Service) -> None:
    service.kill("scheduler")
    with subprocess.Popen(
        [str(BIN / "rung-scheduler"), "--lease", "2s"],
        env=service.environment,
        stderr=subprocess.DEVNULL,
    ) as scheduler:
        eventually("it runs", lambda: service.rung("list", status=None).returncode == 0)
        experiment = service.submit(outage(steps=100, trials=2))
        eventually("reports", lambda: len(stored(service, experiment)) >= 6)
        log = service.home / "logs" / "worker.log"
        before = log.read_text().count("no session with")
        scheduler.send_signal(signal.SIGSTOP)
        # More than the lease: a worker hangs up after ten seconds of silence.
        eventually("it hangs up", lambda: log.read_text().count("no session with") > before)
        scheduler.send_signal(signal.SIGCONT)
        assert service.wait(experiment) == "completed"
        assert len(stored(service, experiment)) == 2 * 100
        assert not service.query("select 1 from attempts where state = 'lost'")
        scheduler.terminate()


@pytest.mark.parametrize("how", ["stop", "worker killed", "down"])
def test_a_process_that_left_its_session_ends_with_its_trial(service: Service, how: str) -> None:
    length = str(random.Random(how).randrange(10**6, 10**7))  # tells ours from any other sleep
    experiment = service.submit(
        document(
            "misbehave.py",
            space={"fault": "escapes"},
            trials=1,
            trial_options={"env": {"RUNG_E2E_SLEEP": length}, "grace": "1s"},
        )
    )

    def deserters() -> List[int]:
        found = []
        for folder in pathlib.Path("/proc").iterdir():
            with contextlib.suppress(OSError, ValueError):
                words = (folder / "cmdline").read_bytes().split(b"\0")
                if words[:2] == [b"sleep", length.encode()] and is_running(int(folder.name)):
                    found.append(int(folder.name))
        return found

    eventually("the deserter runs", lambda: len(deserters()) == 1)
    if how == "stop":
        service.rung("stop", experiment)
    elif how == "down":
        service.rung("local", "down")
    else:
        service.kill("worker")
    eventually("the deserter is gone", lambda: not deserters())


def test_sixteen_askers_get_every_trial_once(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUNG_HOME", str(service.home))
    ask = document("unused", trials=100)
    del ask["trial"]
    experiment = rung.Client().submit(ask)
    seen: List[Tuple[int, int]] = []
    errors: List[Exception] = []

    def work() -> None:
        try:
            with rung.Client(retry_for=30) as client:
                while (trial := client.start_trial(experiment, wait=30)) is not None:
                    seen.append((trial.number, trial.attempt))
                    client.report(trial, 1, accuracy=float(trial.number))
                    client.finish(trial)
        except Exception as error:  # noqa: BLE001 - whatever it is, the test must fail with it
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert sorted(seen) == [(number, 0) for number in range(100)]
    assert service.wait(experiment.id) == "completed"


def test_32_clients_with_40_reports_each_give_no_error_and_leave_nothing_running(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    clients, steps = 32, 40
    monkeypatch.setenv("RUNG_HOME", str(service.home))
    ask = document("unused", trials=clients)
    del ask["trial"]
    experiment = rung.Client().submit(ask)
    errors: List[Exception] = []

    def work() -> None:
        try:
            with rung.Client(retry_for=30) as client:
                trial = client.start_trial(experiment, wait=30)
                for step in range(1, steps + 1):
                    client.report(trial, step, accuracy=step / steps)
                client.finish(trial)
        except Exception as error:  # noqa: BLE001 - whatever it is, the test must fail with it
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert service.wait(experiment.id) == "completed"
    assert len(stored(service, experiment.id)) == clients * steps
    attempts = service.query("select distinct state, exit_cause from attempts")
    assert [tuple(row) for row in attempts] == [("exited", "completed")]
    counts = rung.Client().experiment(experiment.id).trial_counts
    assert {name: n for name, n in counts.items() if n} == {"completed": clients}
