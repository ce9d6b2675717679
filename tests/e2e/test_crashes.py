"""kill -9 of the daemons in the middle: nothing answered is lost, nothing is left running."""

from __future__ import annotations

import os
import pathlib

from conftest import Service, document, eventually


def recorded(folder: pathlib.Path) -> set:
    """(trial, attempt, step, value) of every answered report, as the trials wrote them down."""
    return {
        (int(file.name.split(".")[1]), int(attempt), int(step), float(value))
        for file in folder.iterdir()
        for attempt, step, value in (line.split() for line in file.read_text().splitlines())
    }


def stored(service: Service, experiment: int) -> set:
    rows = service.query(
        "select trial_number, attempt, step, value from metrics where experiment_id = ?", experiment
    )
    return {tuple(row) for row in rows}


def slow_curves(folder: pathlib.Path) -> dict:
    folder.mkdir()
    return document(
        "curve.py",
        trials=4,
        trial_options={
            "env": {"RUNG_E2E_PAUSE": "0.1", "RUNG_E2E_STEPS": "30", "RUNG_E2E_RECORD": str(folder)}
        },
    )


def test_a_killed_scheduler_loses_no_report_and_the_experiment_goes_on(service: Service) -> None:
    record = service.home / "record"
    experiment = service.submit(slow_curves(record))
    for steps in (5, 40):
        eventually(f"{steps} reports", lambda: len(stored(service, experiment)) >= steps)
        service.kill("scheduler")
        service.up()
    assert service.wait(experiment) == "completed"
    assert stored(service, experiment) == recorded(record)
    assert len(recorded(record)) == 4 * 30
    attempts = service.query("select count(*) n from attempts where experiment_id = ?", experiment)
    assert attempts[0]["n"] == 4, "training went on through the outage: no attempt was lost"


def test_a_killed_worker_takes_its_trials_along_and_they_are_queued_again(service: Service) -> None:
    record = service.home / "record"
    experiment = service.submit(slow_curves(record))
    eventually("some reports", lambda: len(stored(service, experiment)) >= 5)
    service.kill("worker")
    daemons = {service.pid("scheduler")}
    eventually("no process of a trial is left", lambda: set(service.processes()) <= daemons)
    service.up()
    assert service.wait(experiment) == "completed"
    assert recorded(record) <= stored(service, experiment)
    lost = service.query(
        "select count(*) n from attempts where experiment_id = ? and state = 'lost'", experiment
    )
    assert lost[0]["n"] == 2
    trials = service.query("select state, failures from trials where experiment_id = ?", experiment)
    assert {tuple(row) for row in trials} == {("completed", 0)}


def test_a_second_scheduler_on_the_same_database_is_refused(service: Service) -> None:
    import subprocess

    from conftest import BIN

    result = subprocess.run(
        [str(BIN / "rung-scheduler")],
        env=service.environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert result.returncode == 1
    assert "rung.db" in result.stderr


def test_a_port_in_use_is_named(home: pathlib.Path) -> None:
    import socket
    import subprocess

    from conftest import BIN

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        result = subprocess.run(
            [str(BIN / "rung-scheduler"), "--listen", f"127.0.0.1:{port}"],
            env=Service(home).environment,
            capture_output=True,
            text=True,
            timeout=60,
        )
    assert result.returncode == 1
    assert str(port) in result.stderr


def test_a_home_that_is_not_utf8_is_refused_by_every_program(home: pathlib.Path) -> None:
    import subprocess

    from conftest import BIN

    environment = {os.fsencode(k): os.fsencode(v) for k, v in Service(home).environment.items()}
    environment[b"RUNG_HOME"] = os.fsencode(home) + b"/caf\xe9"
    for command in (
        ["rung-scheduler"],
        ["rung-worker", "--server", "/nowhere"],
        ["rung", "local", "up"],
        ["rung", "list"],
    ):
        result = subprocess.run(
            [str(BIN / command[0]), *command[1:]], env=environment, capture_output=True, timeout=60
        )
        assert result.returncode == 1, command
        assert b"is not UTF-8: byte 0xe9 after" in result.stderr, result.stderr
    assert not any(home.iterdir())
    result = subprocess.run(
        [str(BIN / "rung-scheduler"), "--database", os.fsencode(home) + b"/\xff.db"],
        env=Service(home).environment,
        capture_output=True,
        timeout=60,
    )
    assert result.returncode == 1
    assert b"is not UTF-8: byte 0xff after" in result.stderr, result.stderr


def test_a_home_of_a_long_path_leaves_no_folder_of_sockets(home: pathlib.Path) -> None:
    service = Service(home / ("x" * 100))
    service.up()
    socket = service.json("local", "status")["scheduler"]["addresses"][0].removeprefix("unix:")
    folder = pathlib.Path(socket).parent
    experiment = service.submit(document("curve.py", trials=1))
    assert service.wait(experiment) == "completed"
    assert folder.is_dir() and home not in folder.parents
    service.rung("local", "down")
    assert not folder.exists()


def test_a_step_of_the_wall_clock_loses_no_daemon(service: Service) -> None:
    pids = {program: service.pid(program) for program in ("scheduler", "worker")}
    # As after a step of an hour ahead: what they wrote at their start looks older than they are.
    for file in service.home.glob("*.json"):
        os.utime(file, (file.stat().st_mtime - 3600,) * 2)
    status = service.json("local", "status")
    assert status["running"]
    assert {program: status[program]["pid"] for program in pids} == pids
    again = service.rung("local", "up")
    assert again.stderr.count("runs already") == 2, again.stderr
    down = service.rung("local", "down")
    assert down.stderr.count("stopped") == 2, down.stderr
    assert not service.processes()
