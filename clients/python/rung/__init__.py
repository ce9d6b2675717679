"""rung: the trial side (standard library only) and, as `rung.Client`, the typed client (grpcio).

In a trial:

    import rung
    params = rung.params()
    for step in range(1, rung.max_step(default=100) + 1):
        ...
        rung.report(step, accuracy=accuracy)

From outside:

    client = rung.Client()
    experiment = client.submit("experiment.json")
    client.wait(experiment)
    print(client.best(experiment))
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rung.trial import (
    Decision,
    ReportError,
    StopTrial,
    attempt,
    checkpoint,
    checkpoint_dir,
    max_step,
    params,
    report,
    resume_from,
    resume_step,
    seed,
    trial_id,
)

if TYPE_CHECKING:
    from rung.client import Client, RungError

__version__ = "0.1.0"
__all__ = [
    "Client",
    "Decision",
    "ReportError",
    "RungError",
    "StopTrial",
    "attempt",
    "checkpoint",
    "checkpoint_dir",
    "max_step",
    "params",
    "report",
    "resume_from",
    "resume_step",
    "seed",
    "trial_id",
]


def __getattr__(name: str) -> Any:
    # The client needs grpcio; a trial must not.
    if name in ("Client", "RungError"):
        from rung import client

        return getattr(client, name)
    raise AttributeError(f"module 'rung' has no attribute {name!r}")
