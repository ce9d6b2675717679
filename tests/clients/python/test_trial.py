"""The trial side of the package against a socket that answers as a worker does."""

from __future__ import annotations

import contextlib
import json
import math
import os
import pathlib
import signal
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
        self.connections = 0
        self.answer: Callable[[Any], Any] = lambda request: {"decision": "continue"}
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(path)
        self._listener.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            connection, _ = self._listener.accept()
            self.connections += 1
            threading.Thread(target=self._talk, args=(connection,), daemon=True).start()

    def _talk(self, connection: socket.socket) -> None:
        # An error is that of a client that went away.
        with contextlib.suppress(OSError), connection, connection.makefile("rb") as lines:
            for line in lines:
                request = json.loads(line)
                self.requests.append(request)
                answer = self.answer(request)
                if answer is None:
                    return
                connection.sendall(json.dumps(answer).encode() + b"\n")


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


@pytest.fixture
def on_signal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Callable[[], Any]], None]]:
    """Sets what SIGUSR1 does; after 30 s a test that hangs is ended by an error."""

    def hangs(*_: Any) -> None:
        raise TimeoutError("the test hangs")

    def use(action: Callable[[], Any]) -> None:
        signal.signal(signal.SIGUSR1, lambda *_: action())

    former = {number: signal.getsignal(number) for number in (signal.SIGUSR1, signal.SIGALRM)}
    signal.signal(signal.SIGALRM, hangs)
    signal.alarm(30)
    yield use
    signal.alarm(0)
    for number, handler in former.items():
        signal.signal(number, handler)


def interrupt_main_thread() -> None:
    main = threading.main_thread().ident
    assert main is not None
    signal.pthread_kill(main, signal.SIGUSR1)


def test_an_exception_in_a_report_leaves_its_answer_to_nobody(
    worker: Worker, on_signal: Callable[[Callable[[], Any]], None]
) -> None:
    left = threading.Event()

    def answer(request: Any) -> Any:
        if "checkpoint" in request:
            return {"checkpoint": "stored"}
        if request["report"]["step"] == 1:
            interrupt_main_thread()
            left.wait(30)
            return {"error": "of step 1"}
        return {"decision": "stop"}

    worker.answer = answer
    on_signal(lambda: sys.exit(7))
    with pytest.raises(SystemExit):
        rung.report(1, accuracy=0.1)
    left.set()
    rung.checkpoint(1, "step-1")
    assert rung.report(2, accuracy=0.1, raise_on_stop=False) == "stop"
    kinds = [list(request) for request in worker.requests]
    assert kinds == [["report"], ["checkpoint"], ["report"]]


def test_a_signal_handler_may_store_a_checkpoint_while_a_report_waits(
    worker: Worker, on_signal: Callable[[Callable[[], Any]], None]
) -> None:
    stored = threading.Event()

    def answer(request: Any) -> Any:
        if "checkpoint" in request:
            return {"checkpoint": "stored"}
        if request["report"]["step"] == 1:
            interrupt_main_thread()
            stored.wait(30)
        return {"decision": "continue" if request["report"]["step"] == 1 else "pause"}

    def handler() -> None:
        rung.checkpoint(1, "step-1")
        stored.set()

    worker.answer = answer
    on_signal(handler)
    assert rung.report(1, accuracy=0.1) == "continue"
    assert stored.is_set(), "the checkpoint did not wait for the report"
    assert rung.report(2, accuracy=0.1, raise_on_stop=False) == "pause"
    assert worker.connections == 2, "the third call needs no new one"


def test_a_child_forked_while_another_thread_reports_may_report(worker: Worker) -> None:
    waits, go_on = threading.Event(), threading.Event()

    def answer(request: Any) -> Any:
        if request["report"]["step"] == 1:
            waits.set()
            go_on.wait(30)
            return {"decision": "continue"}
        return {"decision": "stop"}

    worker.answer = answer
    answers: List[str] = []
    reporter = threading.Thread(target=lambda: answers.append(rung.report(1, accuracy=0.1)))
    reporter.start()
    assert waits.wait(30)
    child = os.fork()
    if child == 0:
        signal.alarm(30)  # ends a child that hangs
        try:
            os._exit(7 if rung.report(2, accuracy=0.1, raise_on_stop=False) == "stop" else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    go_on.set()
    reporter.join()
    assert answers == ["continue"]


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
