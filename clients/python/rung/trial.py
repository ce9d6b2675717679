"""What a trial process uses: its parameters, and reports on the socket that its worker serves.

The contract is docs/trials.md: one JSON object a line on RUNG_SOCKET, each answered by one. Run by
hand, without a worker, the same script works: parameters come from RUNG_PARAMS (or are empty) and
reports are printed to stderr.
"""

from __future__ import annotations

import json
import math
import os
import pathlib
import socket
import sys
import threading
from typing import Any, Dict, Mapping, Optional


class Decision(str):
    """What `report` returns: the word "continue", "stop" or "pause", and whether it is a promise.

    `durable` is False when the scheduler has not answered in time: the worker keeps the report and
    delivers it later, and until then a loss of this machine loses it. Elsewhere it is a string.

    Example: `if not rung.report(step, loss=loss).durable: print("reported, not yet stored")`
    """

    durable: bool

    def __new__(cls, word: str, durable: bool = True) -> Decision:
        decision = super().__new__(cls, word)
        decision.durable = durable
        return decision


class StopTrial(SystemExit):
    """Raised by `report` on stop and pause; left alone it ends the process with status 0.

    `decision` is the word, a `Decision`: its `durable` says whether the last report is stored.
    """

    def __init__(self, decision: Decision) -> None:
        super().__init__(0)
        self.decision = decision

    def __str__(self) -> str:
        return f"the scheduler decided: {self.decision}"


class ReportError(Exception):
    """The worker refused a report or checkpoint; the message says why. Nothing was changed."""


def params() -> Dict[str, Any]:
    """The configuration of this trial.

    Returns: parameter names with their values as JSON types (16 stays an int, true a bool).
    Example: `lr = rung.params()["lr"]`
    """
    return dict(json.loads(os.environ.get("RUNG_PARAMS", "{}")))


def trial_id() -> Optional[str]:
    """`12.3` (experiment 12, trial 3); None outside a trial."""
    return os.environ.get("RUNG_TRIAL_ID")


def attempt() -> int:
    """Which run of this trial it is, from 0; higher after a retry or a resume."""
    return int(os.environ.get("RUNG_ATTEMPT", "0"))


def seed(default: int = 0) -> int:
    """The trial's seed: the same for every rank and every attempt."""
    return int(os.environ.get("RUNG_SEED", default))


def max_step(default: Optional[int] = None) -> Optional[int]:
    """The last step of a trial (max_t), or `default` where the scheduler sets none."""
    value = os.environ.get("RUNG_MAX_STEP")
    return int(value) if value else default


def resume_step() -> int:
    """Finished steps in the checkpoint to go on from; 0: from the beginning."""
    return int(os.environ.get("RUNG_RESUME_STEP") or "0")


def resume_from() -> Optional[pathlib.Path]:
    """The checkpoint to go on from; None: from the beginning."""
    value = os.environ.get("RUNG_RESUME_FROM")
    return pathlib.Path(value) if value else None


def checkpoint_dir() -> Optional[pathlib.Path]:
    """Where this attempt writes its checkpoints; None outside a trial."""
    value = os.environ.get("RUNG_CHECKPOINT_DIR")
    return pathlib.Path(value) if value else None


def report(
    step: int,
    metrics: Optional[Mapping[str, Any]] = None,
    *,
    count: Optional[int] = None,
    raise_on_stop: bool = True,
    **values: Any,
) -> Decision:
    """Reports metrics at a step and returns the decision once the report is durable and decided,
    or after 2 s without the scheduler; then the decision's `durable` is False.

    Args:
        step: finished units of training, from 1; never decreases within an attempt.
        metrics: names with numbers; NumPy and torch scalars are accepted, NaN and infinities too.
        count: samples behind the values, the weight of this rank in a mean over ranks.
        raise_on_stop: False returns "stop" and "pause" instead of raising.
        values: further metrics as keywords, `accuracy=0.81`.

    Returns: "continue", or with raise_on_stop=False also "stop" or "pause": a `Decision`, which is
        a str with the attribute `durable`.
    Raises: StopTrial on stop and pause; ReportError when the report is refused; ConnectionError
        when the worker is gone.
    Example: `rung.report(10, accuracy=0.81, loss=0.5)`
    """
    named = {**(metrics or {}), **values}
    body: Dict[str, Any] = {
        "step": _integer("step", step),
        "metrics": {name: _number(name, value) for name, value in named.items()},
    }
    if count is not None:
        body["count"] = _integer("count", count)
    answer = _channel.exchange({"report": body})
    word = answer.get("decision", "continue")
    if word not in ("stop", "pause"):
        word = "continue"  # an unknown word means continue
    decision = Decision(word, durable=answer.get("durable") is not False)
    if raise_on_stop and word != "continue":
        raise StopTrial(decision)
    return decision


def checkpoint(step: int, path: Any) -> None:
    """Tells that a checkpoint is complete; returns once its record is durable.

    Args:
        step: finished units of training in it.
        path: file or folder inside `checkpoint_dir()`, absolute or relative to it.

    Raises: ReportError when it is refused (outside the folder, missing, …).
    Example: `rung.checkpoint(10, rung.checkpoint_dir() / "step-10")`
    """
    _channel.exchange({"checkpoint": {"step": _integer("step", step), "path": os.fspath(path)}})


def _integer(name: str, value: Any) -> int:
    number = value.item() if hasattr(value, "item") else value
    try:
        integer: Optional[int] = int(number)
    except (TypeError, ValueError, OverflowError):
        integer = None
    if isinstance(number, bool) or integer is None or integer != number:
        raise TypeError(f"{name}: expected an integer, found {value!r}")
    return integer


def _number(name: str, value: Any) -> Any:
    number = value.item() if hasattr(value, "item") else value
    if isinstance(number, bool) or not isinstance(number, (int, float)):
        try:
            number = float(number)
        except (TypeError, ValueError):
            raise TypeError(f"metric {name!r}: expected a number, found {value!r}") from None
    number = float(number)
    if math.isnan(number):
        return "nan"
    if math.isinf(number):
        return "inf" if number > 0 else "-inf"
    return number


class _Channel:
    """One connection a process, opened at the first report; safe to use from several threads, and
    from a signal handler, which then has a connection of its own: one has one line in work.
    """

    def __init__(self) -> None:
        # Reentrant: a signal handler runs on top of the thread that holds it.
        self._lock = threading.RLock()
        self._connection: Optional[socket.socket] = None

    def exchange(self, request: Mapping[str, Any]) -> Dict[str, Any]:
        path = os.environ.get("RUNG_SOCKET")
        if not path:
            print(f"rung (no worker): {json.dumps(request)}", file=sys.stderr)
            return {}
        line = json.dumps(request, allow_nan=False).encode() + b"\n"
        with self._lock:
            # Nobody else's until its answer was read: neither a handler that comes in between, nor
            # the next call after an exception (of a handler, Ctrl-C), may take that for its own.
            connection, self._connection = self._connection, None
            try:
                if connection is None:
                    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
                    connection.connect(path)
                connection.sendall(line)
                answer = _read_line(connection, path)
            except BaseException:
                if connection is not None:
                    connection.close()
                raise
            of_a_handler, self._connection = self._connection, connection
            if of_a_handler is not None:
                of_a_handler.close()
        reply = json.loads(answer)
        if "error" in reply:
            raise ReportError(reply["error"])
        return dict(reply)


def _read_line(connection: socket.socket, path: str) -> bytes:
    """The one line that answers the one that was sent."""
    line = b""
    while not line.endswith(b"\n"):
        part = connection.recv(1 << 16)
        if not part:
            raise ConnectionError(f"the worker closed {path}: the trial is being ended")
        line += part
    return line


def _leave_channel_to_parent() -> None:
    """In a forked child: the connection is the parent's, and a thread that is not here may hold the
    lock.
    """
    global _channel
    _channel = _Channel()


_channel = _Channel()
os.register_at_fork(after_in_child=_leave_channel_to_parent)
