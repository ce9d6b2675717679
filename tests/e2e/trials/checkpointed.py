"""A trial that saves a checkpoint before each report and goes on from the one it is given.

Its accuracy is a function of the steps that its checkpoint has counted, so that a resume from the
wrong one is seen in the metrics.
RUNG_E2E_PAUSE: seconds a step takes (0).
"""

import json
import os
import time

import rung

params = rung.params()
resumed = rung.resume_from()
counted = json.loads((resumed / "state.json").read_text())["counted"] if resumed else 0
for step in range(rung.resume_step() + 1, (rung.max_step() or 9) + 1):
    time.sleep(float(os.environ.get("RUNG_E2E_PAUSE", "0")))
    counted += 1
    folder = rung.checkpoint_dir() / f"step-{step}"
    folder.mkdir()
    (folder / "state.json").write_text(json.dumps({"counted": counted}))
    rung.checkpoint(step, folder)
    rung.report(step, accuracy=(1 - params["lr"]) * (1 - 0.5**counted))
