"""A trial on a curve given by its learning rate: accuracy rises towards 1 - lr.

RUNG_E2E_STEPS (10), RUNG_E2E_PAUSE seconds a step (0), RUNG_E2E_RECORD: a folder in which every
answered report is recorded, one line "attempt step value" in a file a trial, so that a test can
compare what was promised with what the database has.
"""

import os
import pathlib
import time

import rung

params = rung.params()
steps = int(os.environ.get("RUNG_E2E_STEPS", "10"))
pause = float(os.environ.get("RUNG_E2E_PAUSE", "0"))
record = os.environ.get("RUNG_E2E_RECORD")
print(f"trial {rung.trial_id()} begins at step {rung.resume_step()}", flush=True)
for step in range(rung.resume_step() + 1, steps + 1):
    time.sleep(pause)
    accuracy = (1 - params["lr"]) * (1 - 0.5**step)
    decision = rung.report(step, accuracy=accuracy, raise_on_stop=False)
    if record:
        with (pathlib.Path(record) / rung.trial_id()).open("a") as file:
            file.write(f"{rung.attempt()} {step} {accuracy!r}\n")
    if decision != "continue":
        break
