"""The typed client of the service: submit, wait, read, and ask/tell for trials run elsewhere."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import pathlib
import time
import uuid
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Union

import grpc

import rung
from rung.address import (
    address,
    insecure_by_environment,
    is_on_this_machine,
    local_server,
    local_token,
)
from rung.error import RungError
from rung.v1 import tuner_pb2 as pb
from rung.v1 import tuner_pb2_grpc, types_pb2
from rung.version import fit

ExperimentLike = Union[int, str, "Experiment"]
_FINAL_STATES = ("completed", "stopped", "failed")
_PAUSED_BY_FAILURES = ("nothing_works", "max_failed_trials")  # reasons
_MESSAGE_BYTES_MAX = 64 << 20  # of an answer; gRPC's default of 4 MiB is less than a page may have


@dataclasses.dataclass(frozen=True)
class Experiment:
    """An experiment as the database has it. Times are seconds since 1970."""

    id: int
    name: str
    state: str
    reason: str
    metric: str
    goal: str
    best_by: str
    planned_trials: Optional[int]
    max_step: Optional[int]
    trial_counts: Mapping[str, int]
    steps_spent: int
    gpu_s: float
    cpu_s: float
    created: float
    ended: Optional[float]

    @property
    def is_final(self) -> bool:
        """Whether nothing can change any more."""
        return self.state in _FINAL_STATES


@dataclasses.dataclass(frozen=True)
class Trial:
    """One configuration and how far it came."""

    experiment_id: int
    number: int
    state: str
    reason: str
    params: Mapping[str, Any]
    bracket: int
    best_value: Optional[float]
    best_step: Optional[int]
    last_step: Optional[int]
    failures: int
    losses: int

    @property
    def id(self) -> str:
        """`12.3`"""
        return f"{self.experiment_id}.{self.number}"


@dataclasses.dataclass(frozen=True)
class Metric:
    """One reported value; NaN and infinities are kept. `time` is seconds since 1970."""

    trial_number: int
    attempt: int
    step: int
    name: str
    value: float
    ranks: int
    time: float


@dataclasses.dataclass(frozen=True)
class StartedTrial:
    """A trial handed out by `start_trial`; its lease is renewed by `report` and `keep_alive`."""

    experiment_id: int
    number: int
    attempt: int
    params: Mapping[str, Any]
    resume_step: int
    max_step: Optional[int]

    @property
    def id(self) -> str:
        """`12.3.0`"""
        return f"{self.experiment_id}.{self.number}.{self.attempt}"


class Client:
    """A connection to the service.

    Args:
        server: `unix:PATH`, `/path` or `HOST:PORT`; else RUNG_SERVER, else the local service of
            this user.
        token: secret for TCP addresses, what follows `name:` in the scheduler's token file; else
            that of the first line of $RUNG_HOME/token.
        timeout: seconds that one call may take.
        retry_for: seconds during which an unreachable service is tried again. Every call is safe to
            repeat: writing calls carry a request id, reports are known by (attempt, step, name).
        connect_wait: seconds instead of `retry_for` until the service has answered for the first
            time: one that was never there is more likely not started than being restarted.
        insecure_network: send the token unencrypted beyond this machine, for isolated networks
            only; also by RUNG_INSECURE_NETWORK=1.

    Example: `rung.Client().submit({"space": {"x": {"uniform": [0, 1]}}, ...})`
    """

    def __init__(
        self,
        server: Optional[str] = None,
        *,
        token: Optional[str] = None,
        timeout: float = 30.0,
        retry_for: float = 60.0,
        connect_wait: float = 5.0,
        insecure_network: bool = False,
    ) -> None:
        self.server = address(server or os.environ.get("RUNG_SERVER") or local_server())
        self._timeout = timeout
        self._retry_for = retry_for
        self._connect_wait = connect_wait
        self._has_answered = False
        if not (is_on_this_machine(self.server) or insecure_network or insecure_by_environment()):
            raise RungError(
                "INVALID_ARGUMENT",
                f"server address {self.server!r}: TLS comes with a later version; beyond this "
                "machine only isolated networks are possible, with insecure_network=True",
            )
        self._metadata: List[Any] = [("rung-version", rung.__version__)]
        if not self.server.startswith("unix:"):
            self._metadata.append(("authorization", f"Bearer {token or local_token()}"))
        self._channel = grpc.insecure_channel(
            self.server,
            options=[
                ("grpc.initial_reconnect_backoff_ms", 100),
                ("grpc.min_reconnect_backoff_ms", 100),
                ("grpc.max_reconnect_backoff_ms", 1000),
                ("grpc.max_receive_message_length", _MESSAGE_BYTES_MAX),
                ("grpc.enable_http_proxy", 0),  # that is the way to the web
            ],
        )
        self._stub = tuner_pb2_grpc.TunerStub(self._channel)

    def close(self) -> None:
        """Ends the connection; running experiments go on."""
        self._channel.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    # ---- experiments ----

    def submit(
        self,
        document: Union[Mapping[str, Any], str, "os.PathLike[str]"],
        *,
        working_dir: Union[str, "os.PathLike[str]", None] = None,
        request_id: Optional[str] = None,
    ) -> Experiment:
        """Creates an experiment from a dict or from the path of a JSON file.

        Args:
            document: what docs/experiments.md describes.
            working_dir: folder of the trials where the document names none; the file's own folder,
                or the current one for a dict.
            request_id: repeating a call with the same id gives the first answer.

        Raises: RungError with code INVALID_ARGUMENT that names path, found and allowed.
        Example: `experiment = client.submit("experiment.json")`
        """
        text, folder = _read_document(document, working_dir)
        request = pb.CreateExperimentRequest(
            request_id=request_id or uuid.uuid4().hex, document=text, working_dir=folder
        )
        return self.experiment(self._call(self._stub.CreateExperiment, request).experiment_id)

    def validate(
        self, document: Union[Mapping[str, Any], str, "os.PathLike[str]"], *, samples: int = 3
    ) -> Dict[str, Any]:
        """Checks a document without creating anything.

        Returns: {"plan": …, "warnings": […], "samples": [configuration, …]}.
        Raises: RungError as `submit`.
        """
        text, folder = _read_document(document, None)
        answer = self._call(
            self._stub.Validate,
            pb.ValidateRequest(document=text, working_dir=folder, samples=samples),
        )
        return {
            "plan": json.loads(answer.plan_json or "{}"),
            "warnings": list(answer.warnings),
            "samples": [json.loads(sample) for sample in answer.sample_params_json],
        }

    def experiment(self, experiment: ExperimentLike) -> Experiment:
        """An experiment by id, or by name if only one has it. Raises: RungError NOT_FOUND."""
        request = pb.GetExperimentRequest(experiment_id=self._id_of(experiment))
        return _experiment(self._call(self._stub.GetExperiment, request))

    def experiments(self, name: Optional[str] = None) -> List[Experiment]:
        """All experiments, newest first; only those called `name` where given."""
        request = pb.ListExperimentsRequest(name=name or "")
        pages = self._pages(self._stub.ListExperiments, request)
        return [_experiment(message) for page in pages for message in page.experiments]

    def stop(self, target: Union[ExperimentLike, Trial, StartedTrial]) -> None:
        """Stops an experiment, or one trial of it (state `cancelled`)."""
        if isinstance(target, (Trial, StartedTrial)):
            self._call(
                self._stub.StopTrial,
                pb.TrialRequest(
                    request_id=uuid.uuid4().hex,
                    experiment_id=target.experiment_id,
                    trial_number=target.number,
                ),
            )
            return
        self._call(
            self._stub.StopExperiment,
            pb.ExperimentRequest(request_id=uuid.uuid4().hex, experiment_id=self._id_of(target)),
        )

    def wait(
        self, experiment: ExperimentLike, timeout: Optional[float] = None, poll: float = 0.5
    ) -> Experiment:
        """Waits until an experiment is final, paused because its trials fail, or not loaded.

        Args:
            timeout: seconds; None waits for ever.
            poll: seconds between looks.

        Returns: the experiment; with state "paused" its `reason` is "nothing_works" (its first
            trials failed, and none has reported) or "max_failed_trials" (of its `limits`); with
            state "active" it is "not_loaded": this version of the scheduler refuses its document.
        Raises: TimeoutError; the experiment goes on.
        """
        identifier = self._id_of(experiment)
        deadline = math.inf if timeout is None else time.monotonic() + timeout
        while True:
            state = self.experiment(identifier)
            paused = state.state == "paused" and state.reason in _PAUSED_BY_FAILURES
            if state.is_final or paused or state.reason == "not_loaded":
                return state
            if time.monotonic() + poll > deadline:
                raise TimeoutError(f"experiment {identifier} is {state.state} after {timeout} s")
            time.sleep(poll)

    # ---- trials ----

    def trials(
        self, experiment: ExperimentLike, *, order: str = "number", states: Sequence[str] = ()
    ) -> List[Trial]:
        """Trials of an experiment.

        Args:
            order: "number", or "best" (best first, those without a value last).
            states: only these, such as "running"; empty: all.

        Raises: ValueError for an unknown order or state.
        """
        orders = {"number": pb.TRIAL_ORDER_NUMBER, "best": pb.TRIAL_ORDER_BEST}
        if order not in orders:
            raise ValueError(f"order: expected one of {sorted(orders)}, found {order!r}")
        request = pb.ListTrialsRequest(
            experiment_id=self._id_of(experiment),
            order=orders[order],
            states=[_enum_value(types_pb2.TrialState, "TRIAL_STATE_", state) for state in states],
        )
        pages = self._pages(self._stub.ListTrials, request)
        return [_trial(message) for page in pages for message in page.trials]

    def trial(self, experiment: ExperimentLike, number: int) -> Trial:
        """One trial. Raises: RungError NOT_FOUND."""
        request = pb.GetTrialRequest(experiment_id=self._id_of(experiment), trial_number=number)
        return _trial(self._call(self._stub.GetTrial, request))

    def best(self, experiment: ExperimentLike) -> Optional[Trial]:
        """The best trial by the experiment's `best_by`; None while none has a value."""
        request = pb.ListTrialsRequest(
            experiment_id=self._id_of(experiment), order=pb.TRIAL_ORDER_BEST, page_size=1
        )
        trials = self._call(self._stub.ListTrials, request).trials
        return _trial(trials[0]) if trials and trials[0].HasField("best_value") else None

    def metrics(
        self,
        target: Union[ExperimentLike, Trial, StartedTrial],
        name: Optional[str] = None,
        *,
        include_superseded: bool = False,
    ) -> List[Metric]:
        """Reported values of an experiment or of one trial, by trial, step and name.

        Args:
            name: only this metric.
            include_superseded: also rows that a resumed attempt replaced.
        """
        request = pb.ListMetricsRequest(name=name or "", include_superseded=include_superseded)
        if isinstance(target, (Trial, StartedTrial)):
            request.experiment_id = target.experiment_id
            request.trial_number = target.number
        else:
            request.experiment_id = self._id_of(target)
        pages = self._pages(self._stub.ListMetrics, request)
        return [_metric(message) for page in pages for message in page.metrics]

    # ---- ask/tell ----

    def start_trial(
        self, experiment: ExperimentLike, *, lease: float = 600.0, wait: Optional[float] = None
    ) -> Optional[StartedTrial]:
        """Asks for the next trial of an experiment without a trial template.

        Args:
            lease: seconds of silence after which the trial counts as lost and is handed out again.
            wait: seconds to wait while all trials are handed out but one may come back; None waits
                for ever.

        Returns: the trial; None when the experiment is finished.
        Raises: TimeoutError after `wait`.
        Example: `while (trial := client.start_trial(experiment)) is not None: ...`
        """
        identifier = self._id_of(experiment)
        deadline = math.inf if wait is None else time.monotonic() + wait
        while True:
            request = pb.StartTrialRequest(
                request_id=uuid.uuid4().hex, experiment_id=identifier, lease_ms=int(lease * 1000)
            )
            answer = self._call(self._stub.StartTrial, request)
            if answer.outcome == pb.StartTrialResponse.OUTCOME_TRIAL:
                return StartedTrial(
                    experiment_id=answer.attempt.experiment_id,
                    number=answer.attempt.trial_number,
                    attempt=answer.attempt.attempt,
                    params=json.loads(answer.params_json),
                    resume_step=answer.resume_step,
                    max_step=_optional(answer, "max_step"),
                )
            if answer.outcome == pb.StartTrialResponse.OUTCOME_FINISHED:
                return None
            if time.monotonic() >= deadline:
                raise TimeoutError(f"no trial of experiment {identifier} within {wait} s")
            time.sleep(0.2)

    def report(
        self,
        trial: StartedTrial,
        step: int,
        metrics: Optional[Mapping[str, float]] = None,
        **values: float,
    ) -> str:
        """Tells values of a trial handed out by `start_trial`.

        Returns: "continue", "stop" or "pause", once the values are durable and decided.
        Raises: RungError INVALID_ARGUMENT (another value for the same step, a lower step, …) or
            FAILED_PRECONDITION (the lease ran out).
        """
        request = pb.ReportRequest(attempt=_attempt_id(trial), step=step)
        for name, value in {**(metrics or {}), **values}.items():
            request.metrics.add(name=name, value=_number(name, value))
        return _word(
            types_pb2.Decision, "DECISION_", self._call(self._stub.Report, request).decision
        )

    def keep_alive(self, trial: StartedTrial) -> None:
        """Renews the lease of a trial that has nothing to report yet."""
        self._call(self._stub.KeepAlive, pb.KeepAliveRequest(attempt=_attempt_id(trial)))

    def finish(self, trial: StartedTrial, *, failed: bool = False, message: str = "") -> None:
        """Ends a trial as completed, or as failed with a message."""
        request = pb.FinishTrialRequest(
            request_id=uuid.uuid4().hex,
            attempt=_attempt_id(trial),
            failed=failed,
            message=message,
        )
        self._call(self._stub.FinishTrial, request)

    # ---- calls ----

    def _id_of(self, experiment: ExperimentLike) -> int:
        if isinstance(experiment, Experiment):
            return experiment.id
        if isinstance(experiment, int):
            return experiment
        if experiment.isdecimal():
            return int(experiment)
        if not experiment:
            raise RungError("INVALID_ARGUMENT", "an id or a name is wanted, found ''")
        found = self.experiments(experiment)
        if len(found) == 1:
            return found[0].id
        if not found:
            raise RungError("NOT_FOUND", f"no experiment is called '{experiment}'")
        ids = ", ".join(str(candidate.id) for candidate in found)
        raise RungError("INVALID_ARGUMENT", f"'{experiment}' names several experiments: {ids}")

    def _call(self, method: Callable[..., Any], request: Any) -> Any:
        start = time.monotonic()
        pause = 0.05
        while True:
            try:
                answer, call = method.with_call(
                    request, timeout=self._timeout, metadata=self._metadata
                )
                self._has_answered = True
                self._check_version(call)
                return answer
            except grpc.RpcError as error:
                self._check_version(error)
                code = error.code()
                absent = code == grpc.StatusCode.UNAVAILABLE and _nobody_answers(error.details())
                self._has_answered = self._has_answered or not absent
                patience = self._retry_for
                if not self._has_answered:
                    patience = min(patience, self._connect_wait)
                again = code == grpc.StatusCode.UNAVAILABLE and (
                    time.monotonic() + pause <= start + patience
                )
                if not again:
                    raise RungError(code.name, self._explain(code, error.details())) from None
            time.sleep(pause)
            pause = min(2 * pause, 1.0)

    def _check_version(self, call: Any) -> None:
        """Refuses a service that does not go with this client; one that says nothing is taken."""
        theirs = dict(call.initial_metadata() or ()).get("rung-version")
        if theirs is not None and not fit(theirs, rung.__version__):
            raise RungError(
                "FAILED_PRECONDITION",
                f"the service at {self.server} has version {theirs!r}, this client "
                f"{rung.__version__}; one minor version of difference is allowed: install the same "
                "version on both",
            )

    def _explain(self, code: grpc.StatusCode, details: str) -> str:
        if code == grpc.StatusCode.UNAVAILABLE:
            if not _nobody_answers(details):
                return f"the service at {self.server} cannot do this now: {details}"
            return f"no service answers at {self.server} (start one: `rung local up`): {details}"
        if code == grpc.StatusCode.UNAUTHENTICATED:
            return f"{details} (token=… is what follows `name:` in a line of that file)"
        return details

    def _pages(self, method: Callable[..., Any], request: Any) -> Iterator[Any]:
        while True:
            page = self._call(method, request)
            yield page
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token


def _nobody_answers(details: str) -> bool:
    """Whether gRPC itself says UNAVAILABLE, rather than a service that cannot do it now."""
    return details.startswith(("failed to connect", "DNS resolution failed"))


def _number(name: str, value: Any) -> float:
    try:
        return float(value.item() if hasattr(value, "item") else value)
    except (TypeError, ValueError):
        raise TypeError(f"metric {name!r}: expected a number, found {value!r}") from None


def _read_document(
    document: Union[Mapping[str, Any], str, "os.PathLike[str]"],
    working_dir: Union[str, "os.PathLike[str]", None],
) -> "tuple[str, str]":
    # Folders as the person named them, links kept, as the command line does.
    if isinstance(document, Mapping):
        text, folder = json.dumps(document), os.getcwd()
    else:
        text = pathlib.Path(document).read_text(encoding="utf-8")
        folder = os.path.dirname(os.path.abspath(document))
    return text, os.path.abspath(working_dir) if working_dir else folder


def _word(enum: Any, prefix: str, value: int) -> str:
    return str(enum.Name(value)).removeprefix(prefix).lower()


def _enum_value(enum: Any, prefix: str, word: str) -> int:
    try:
        return int(enum.Value(prefix + word.upper()))
    except ValueError:
        allowed = [name.removeprefix(prefix).lower() for name in enum.keys()[1:]]
        raise ValueError(f"expected one of {allowed}, found {word!r}") from None


def _optional(message: Any, field: str) -> Any:
    return getattr(message, field) if message.HasField(field) else None


def _seconds(message: Any, field: str) -> Optional[float]:
    value = _optional(message, field)
    return None if value is None else value / 1e6


def _attempt_id(trial: StartedTrial) -> types_pb2.AttemptId:
    return types_pb2.AttemptId(
        experiment_id=trial.experiment_id, trial_number=trial.number, attempt=trial.attempt
    )


def _experiment(message: types_pb2.Experiment) -> Experiment:
    return Experiment(
        id=message.id,
        name=message.name,
        state=_word(types_pb2.ExperimentState, "EXPERIMENT_STATE_", message.state),
        reason=message.reason,
        metric=message.metric,
        goal=_word(types_pb2.Goal, "GOAL_", message.goal),
        best_by=_word(types_pb2.BestBy, "BEST_BY_", message.best_by),
        planned_trials=_optional(message, "planned_trials"),
        max_step=_optional(message, "max_step"),
        trial_counts={
            field.name: getattr(message.trials, field.name)
            for field in types_pb2.TrialCounts.DESCRIPTOR.fields
        },
        steps_spent=message.steps_spent,
        gpu_s=message.gpu_seconds,
        cpu_s=message.cpu_seconds,
        created=message.created_us / 1e6,
        ended=_seconds(message, "ended_us"),
    )


def _trial(message: types_pb2.Trial) -> Trial:
    return Trial(
        experiment_id=message.experiment_id,
        number=message.trial_number,
        state=_word(types_pb2.TrialState, "TRIAL_STATE_", message.state),
        reason=message.reason,
        params=json.loads(message.params_json),
        bracket=message.bracket,
        best_value=_optional(message, "best_value"),
        best_step=_optional(message, "best_step"),
        last_step=_optional(message, "last_step"),
        failures=message.failures,
        losses=message.losses,
    )


def _metric(message: types_pb2.Metric) -> Metric:
    return Metric(
        trial_number=message.trial_number,
        attempt=message.attempt,
        step=message.step,
        name=message.name,
        value=message.value,
        ranks=message.ranks,
        time=message.time_us / 1e6,
    )
