"""Trials of two processes: what they share, and what is left of them when they end."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import signal
import socket
from typing import List

import pytest

from conftest import Service, document, eventually, is_running


def gang(folder: pathlib.Path, trials: int = 1, **env: str) -> dict:
    folder.mkdir()
    return document(
        "ranks.py",
        trials=trials,
        space={"lr": {"loguniform": [1e-4, 1e-1]}, "layers": {"choice": [2, 4]}, "bias": True},
        trial_options={
            "processes": 2,
            "env": {"RUNG_E2E_RECORD": str(folder), **env},
            "grace": "1s",
            "failure_grace": "1s",
        },
    )


def ranks(folder: pathlib.Path, attempt: int = 0) -> List[dict]:
    """What both ranks of an attempt wrote, once both have."""
    files = [folder / f"{attempt}-{rank}" for rank in range(2)]
    eventually(f"both ranks of attempt {attempt} run", lambda: all(f.exists() for f in files))
    return [json.loads(file.read_text()) for file in files]


def port_is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as TCPStore listens
        with contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            probe.listen()
            return True
    return False


def daemons(service: Service) -> set:
    return {service.pid("scheduler"), service.pid("worker")}


def test_every_rank_sees_the_same_parameters(service: Service) -> None:
    folder = service.home / "ranks"
    experiment = service.submit(gang(folder, RUNG_E2E_STEPS="2"))
    assert service.wait(experiment) == "completed"
    first, second = ranks(folder)
    assert first["params"] == second["params"]
    stored = service.query("select params from trials where experiment_id = ?", experiment)
    assert json.loads(first["params"]) == json.loads(stored[0]["params"])
    assert set(json.loads(first["params"])) == {"lr", "layers", "bias"}


@pytest.mark.parametrize("how", ["a rank killed", "stop"])
def test_a_killed_gang_leaves_no_process_and_a_reusable_port(service: Service, how: str) -> None:
    folder = service.home / "ranks"
    experiment = service.submit(gang(folder, RUNG_E2E_DEAF="1"))
    records = ranks(folder)
    port = records[0]["port"]
    assert records[1]["port"] == port and not port_is_free(port)
    if how == "stop":
        service.rung("stop", experiment)
    else:
        os.kill(records[0]["pid"], signal.SIGKILL)
    # A grace of 1 s ends the ranks, which ignore SIGTERM; nothing else is waited for.
    eventually("no process of it is left", lambda: set(service.processes()) <= daemons(service))
    assert not any(is_running(record["pid"]) for record in records)
    eventually("the port is free", lambda: port_is_free(port))
    assert service.wait(experiment) == ("stopped" if how == "stop" else "failed")


def test_down_says_what_becomes_of_running_trials_and_leaves_nothing_of_them(
    service: Service,
) -> None:
    folder = service.home / "ranks"
    experiment = service.submit(gang(folder, RUNG_E2E_STEPS="5"))
    eventually("a report", lambda: service.query("select 1 from metrics"))
    sockets = service.home / "sockets"
    assert len(list(sockets.glob("*.s"))) == 2
    down = service.rung("local", "down")
    assert f"1 trial runs here ({experiment}.0.0)" in down.stderr
    assert "queued again" in down.stderr
    assert not service.processes(), "no daemon, shim or rank is left"
    assert not list(sockets.glob("*.s")) and not (service.home / "rung.sock").exists()

    service.up()
    assert service.wait(experiment) == "completed"
    trial = service.query("select failures from trials where experiment_id = ?", experiment)[0]
    assert trial["failures"] == 0
    causes = service.query("select exit_cause from attempts where experiment_id = ?", experiment)
    assert [row["exit_cause"] for row in causes] == ["lost", "completed"]
