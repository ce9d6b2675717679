"""The Python client against the real server."""

from __future__ import annotations

import math
import pathlib

import pytest

import rung
from conftest import Service, document


@pytest.fixture
def client(service: Service, monkeypatch: pytest.MonkeyPatch) -> rung.Client:
    monkeypatch.setenv("RUNG_HOME", str(service.home))
    with rung.Client(retry_for=5) as connected:
        yield connected


def test_submit_wait_and_read(client: rung.Client) -> None:
    experiment = client.submit(document("curve.py", trials=3))
    final = client.wait(experiment, timeout=60)
    assert (final.state, final.trial_counts["completed"], final.steps_spent) == ("completed", 3, 30)
    trials = client.trials(experiment, order="best")
    values = [trial.best_value for trial in trials]
    assert values == sorted(values, reverse=True)
    assert client.best(experiment) == trials[0]
    metrics = client.metrics(trials[0], "accuracy")
    assert [metric.step for metric in metrics] == list(range(1, 11))
    assert metrics[-1].value == trials[0].best_value
    assert client.experiment("e2e").id == experiment.id
    assert len(client.validate(document("curve.py", trials=9), samples=5)["samples"]) == 5


def test_errors_say_what_is_wrong(client: rung.Client) -> None:
    with pytest.raises(rung.RungError, match="allowed are HOST:PORT, unix:/path and /path"):
        rung.Client("localhost")
    with pytest.raises(rung.RungError) as refused:
        client.submit({**document("curve.py"), "goal": "maximise"})
    assert refused.value.code == "INVALID_ARGUMENT"
    assert "goal" in str(refused.value) and "maximize" in str(refused.value)
    with pytest.raises(rung.RungError) as missing:
        client.experiment(4711)
    assert missing.value.code == "NOT_FOUND"


def test_nobody_there_is_told_soon(home: pathlib.Path) -> None:
    with rung.Client(f"{home}/rung.sock", connect_wait=0.5) as client:  # 60 s of retry_for else
        with pytest.raises(rung.RungError, match="start one: `rung local up`") as absent:
            client.experiments()
    assert absent.value.code == "UNAVAILABLE"


def test_a_token_is_not_sent_unencrypted_beyond_this_machine_unasked() -> None:
    with pytest.raises(rung.RungError, match="with insecure_network=True"):
        rung.Client("192.0.2.1:7070", token="secret")
    rung.Client("192.0.2.1:7070", token="secret", insecure_network=True).close()
    for server in ("127.0.0.1:1", "localhost:1", "[::1]:1"):
        rung.Client(server, token="secret").close()


def test_wait_ends_when_max_failed_trials_pauses_the_experiment(client: rung.Client) -> None:
    # Each trial reports, so that `nothing_works` is not the reason.
    fails = document(
        "misbehave.py",
        trials=9,
        space={"fault": "exit_1", "x": {"uniform": [0, 1]}},
        limits={"max_failed_trials": 2},
    )
    paused = client.wait(client.submit(fails), timeout=60)
    assert (paused.state, paused.reason) == ("paused", "max_failed_trials")


def test_a_repeated_request_gives_the_first_answer(client: rung.Client) -> None:
    ask = {**document("curve.py", trials=1)}
    del ask["trial"]
    first, second = (client.submit(ask, request_id="once") for _ in range(2))
    assert first.id == second.id


def test_ask_and_tell(client: rung.Client) -> None:
    ask = document(
        "unused",
        trials=3,
        scheduler={"asha": {"max_t": 4, "grace_period": 1, "reduction_factor": 2}},
    )
    del ask["trial"]
    experiment = client.submit(ask)
    seen = []
    while (trial := client.start_trial(experiment, wait=30)) is not None:
        seen.append(trial.number)
        assert trial.max_step == 4
        decision = "continue"
        for step in range(1, 5):
            decision = client.report(trial, step, accuracy=float(10 - trial.number))
            assert client.report(trial, step, accuracy=float(10 - trial.number)) == decision, (
                "a repeat"
            )
            if decision != "continue":
                break
        client.finish(trial)
    assert seen == [0, 1, 2]
    trials = client.trials(experiment)
    # Trial 0 has no rivals and runs to max_t; 1 and 2 are below the cutoff at once.
    assert [(t.state, t.last_step) for t in trials] == [
        ("completed", 4),
        ("stopped", 1),
        ("stopped", 1),
    ]
    assert client.wait(experiment, timeout=10).state == "completed"


def test_ask_and_tell_under_promotion(client: rung.Client) -> None:
    rule = {"max_t": 4, "grace_period": 1, "reduction_factor": 2, "variant": "promotion"}
    ask = document("unused", trials=3, scheduler={"asha": rule})
    del ask["trial"]
    experiment = client.submit(ask)
    seen = []
    while (trial := client.start_trial(experiment, wait=30)) is not None:
        seen.append((trial.number, trial.attempt, trial.resume_step))
        for step in range(trial.resume_step + 1, 5):
            if client.report(trial, step, accuracy=float(10 - trial.number)) != "continue":
                break
        client.finish(trial)
    # Level 1: trial 0 pauses (1 div 2 = 0) and is the better one of two, so it comes before trial
    # 2. Level 2: 1 div 2 = 0. Trial 2 is the worst of three. No trial has completed, so the best
    # of the highest level is drained.
    assert seen == [(0, 0, 0), (1, 0, 0), (0, 1, 1), (2, 0, 0), (0, 2, 2)]
    trials = client.trials(experiment)
    assert [(t.state, t.last_step) for t in trials] == [
        ("completed", 4),
        ("stopped", 1),
        ("stopped", 1),
    ]
    assert client.wait(experiment, timeout=10).state == "completed"


def test_reports_that_contradict_are_refused(client: rung.Client) -> None:
    ask = document("unused", trials=1)
    del ask["trial"]
    trial = client.start_trial(client.submit(ask))
    assert client.report(trial, 5, accuracy=0.5) == "continue"
    assert client.report(trial, 5, loss=0.1) == "continue", (
        "a further name at the last step is merged"
    )
    with pytest.raises(rung.RungError, match="5"):
        client.report(trial, 5, accuracy=0.6)
    with pytest.raises(rung.RungError, match="5"):
        client.report(trial, 4, accuracy=0.5)
    assert client.report(trial, 6, accuracy=math.nan) == "continue"
    assert client.report(trial, 7, accuracy=math.inf) == "continue"
    values = [metric.value for metric in client.metrics(trial, "accuracy")]
    assert values[0] == 0.5 and math.isnan(values[1]) and values[2] == math.inf
    client.finish(trial)


def test_a_lease_that_runs_out_is_a_lost_attempt(client: rung.Client) -> None:
    ask = document("unused", trials=1)
    del ask["trial"]
    experiment = client.submit(ask)
    first = client.start_trial(experiment, lease=1)
    second = client.start_trial(experiment, wait=30)
    assert (second.number, second.attempt) == (first.number, first.attempt + 1)
    assert second.params == first.params
    with pytest.raises(rung.RungError) as late:
        client.report(first, 1, accuracy=0.5)
    assert late.value.code == "FAILED_PRECONDITION"
    client.finish(second)
    assert client.wait(experiment, timeout=10).state == "completed"


def test_tcp_needs_the_token(home: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import json
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    service = Service(home)
    service.up("--listen", address)
    try:
        assert address in json.dumps(service.json("local", "status"))
        monkeypatch.setenv("RUNG_HOME", str(home))
        assert rung.Client(address).experiments() == []
        with pytest.raises(rung.RungError) as refused:
            rung.Client(address, token="wrong", retry_for=0).experiments()
        assert refused.value.code == "UNAUTHENTICATED"
        assert "token=… is what follows `name:`" in str(refused.value)
    finally:
        service.rung("local", "down", status=None)


def test_a_client_of_another_version_is_refused_by_the_service(
    client: rung.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as other, pytest.raises(rung.RungError, match="9.0.0") as refused:
        other.setattr(rung, "__version__", "9.0.0")
        rung.Client().submit(document("curve.py"))
    assert refused.value.code == "FAILED_PRECONDITION"
    assert client.experiments() == [], "nothing was created"


def test_a_service_of_another_version_is_refused_by_the_client(home: pathlib.Path) -> None:
    from concurrent import futures

    import grpc

    def answer(request: bytes, context: grpc.ServicerContext) -> bytes:
        context.send_initial_metadata((("rung-version", "9.0.0"),))
        return b""

    class Service9(grpc.GenericRpcHandler):
        def service(self, details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler:
            return grpc.unary_unary_rpc_method_handler(answer)

    server = grpc.server(futures.ThreadPoolExecutor(max_workers=2), handlers=[Service9()])
    address = f"unix:{home / 'nine.sock'}"
    server.add_insecure_port(address)
    server.start()
    try:
        with rung.Client(address) as client, pytest.raises(rung.RungError) as refused:
            client.experiments()
    finally:
        server.stop(None)
    assert refused.value.code == "FAILED_PRECONDITION"
    assert "'9.0.0'" in str(refused.value) and rung.__version__ in str(refused.value)
