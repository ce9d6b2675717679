"""The trial side of the package against a socket that answers as a worker does."""

from __future__ import annotations

import json
import math
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading
from typing import Any, Callable, Iterator, List

import pytest

PACKAGE = pathlib.Path(__file__).resolve().parents[3] / "clients" / "python"
sys.path.insert(0, str(PACKAGE))
import rung  # noqa: E402
import rung.trial  # noqa: E402


class Worker:
    """Answers each line with `answer(request)`; remembers the requests."""

    def __init__(self, path: str) -> None:
        self.requests: List[Any] = []
        self.answer: Callable[[Any], Any] = lambda request: {"decision": "continue"}
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(path)
        self._listener.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            connection, _ = self._listener.accept()
            threading.Thread(target=self._talk, args=(connection,), daemon=True).start()

    def _talk(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rwb") as stream:
            for line in stream:
                self.requests.append(json.loads(line))
                answer = self.answer(self.requests[-1])
                if answer is None:
                    return
                stream.write(json.dumps(answer).encode() + b"\n")
                stream.flush()


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> Iterator[Worker]:
    with tempfile.TemporaryDirectory(prefix="rung-") as folder:
        path = f"{folder}/socket"
        monkeypatch.setenv("RUNG_SOCKET", path)
        monkeypatch.setattr(rung.trial, "_channel", rung.trial._Channel())
        yield Worker(path)


def test_parameters_keep_their_types(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUNG_PARAMS", '{"lr": 1e-4, "batch_size": 16, "nesterov": true}')
    assert rung.params() == {"lr": 1e-4, "batch_size": 16, "nesterov": True}
    assert type(rung.params()["batch_size"]) is int


def test_a_report_is_one_line_and_returns_on_continue(worker: Worker) -> None:
    assert rung.report(10, {"accuracy": 0.81}, loss=0.5) == "continue"
    assert worker.requests == [{"report": {"step": 10, "metrics": {"accuracy": 0.81, "loss": 0.5}}}]


def test_non_finite_values_travel_as_words(worker: Worker) -> None:
    rung.report(1, a=math.nan, b=math.inf, c=-math.inf, count=3)
    assert worker.requests[0]["report"] == {
        "step": 1,
        "metrics": {"a": "nan", "b": "inf", "c": "-inf"},
        "count": 3,
    }


def test_scalars_of_numpy_and_torch_are_accepted(worker: Worker) -> None:
    class Scalar:
        def item(self) -> float:
            return 0.25

    rung.report(1, accuracy=Scalar())
    assert worker.requests[0]["report"]["metrics"] == {"accuracy": 0.25}


@pytest.mark.parametrize("decision", ["stop", "pause"])
def test_stop_and_pause_end_the_process_with_status_0(worker: Worker, decision: str) -> None:
    worker.answer = lambda request: {"decision": decision}
    with pytest.raises(rung.StopTrial) as stopped:
        rung.report(1, accuracy=0.1)
    assert (stopped.value.code, stopped.value.decision) == (0, decision)
    assert rung.report(2, accuracy=0.1, raise_on_stop=False) == decision


def test_an_unknown_decision_means_continue(worker: Worker) -> None:
    worker.answer = lambda request: {"decision": "rejoice", "durable": False}
    assert rung.report(1, accuracy=0.1) == "continue"


def test_a_decision_says_whether_the_report_is_durable(worker: Worker) -> None:
    kept = rung.report(1, accuracy=0.1)
    assert (kept, kept.durable) == ("continue", True)
    worker.answer = lambda request: {"decision": "continue", "durable": False}
    kept = rung.report(2, accuracy=0.1)
    assert (kept, kept.durable) == ("continue", False)
    assert isinstance(kept, str), "a comparison with a word goes on working"
    worker.answer = lambda request: {"decision": "stop", "durable": False}
    stopped = rung.report(3, accuracy=0.1, raise_on_stop=False)
    assert (stopped, stopped.durable) == ("stop", False)
    with pytest.raises(rung.StopTrial) as ended:
        rung.report(4, accuracy=0.1)
    assert (ended.value.decision, ended.value.decision.durable) == ("stop", False)


def test_a_refused_report_raises_and_the_next_one_works(worker: Worker) -> None:
    worker.answer = lambda request: {"error": "step 4 is lower than the last step 5"}
    with pytest.raises(rung.ReportError, match="last step 5"):
        rung.report(4, accuracy=0.1)
    worker.answer = lambda request: {"decision": "continue"}
    assert rung.report(6, accuracy=0.1) == "continue"


def test_a_closed_socket_is_an_error_not_a_hang(worker: Worker) -> None:
    worker.answer = lambda request: None
    with pytest.raises(ConnectionError):
        rung.report(1, accuracy=0.1)


def test_wrong_types_are_refused_before_anything_is_sent(worker: Worker) -> None:
    with pytest.raises(TypeError, match="step"):
        rung.report(1.5, accuracy=0.1)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="step: expected an integer, found {'accuracy': 0.1}"):
        rung.report({"accuracy": 0.1})  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="accuracy"):
        rung.report(1, accuracy="high")
    assert worker.requests == []


def test_a_checkpoint_names_step_and_path(worker: Worker) -> None:
    worker.answer = lambda request: {"checkpoint": "stored"}
    rung.checkpoint(10, pathlib.Path("step-10"))
    assert worker.requests == [{"checkpoint": {"step": 10, "path": "step-10"}}]


def test_the_trial_side_needs_the_standard_library_only() -> None:
    # -S: no site-packages, so nothing installed can be imported.
    code = (
        f"import sys; sys.path.insert(0, {str(PACKAGE)!r})\n"
        "import rung; rung.report(1, a=0.5); print(rung.params())"
    )
    result = subprocess.run(
        [sys.executable, "-S", "-c", code], capture_output=True, text=True, env={}, check=True
    )
    assert result.stdout == "{}\n"
    assert '"step": 1' in result.stderr, "without a worker a report is printed"
