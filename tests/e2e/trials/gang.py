"""A rank of a gang: reports its own value; RUNG_E2E_FAIL_RANK fails after the first step."""

import os
import sys
import time

import rung

rank = int(os.environ["RANK"])
assert int(os.environ["WORLD_SIZE"]) == 2
assert os.environ["MASTER_ADDR"].count(".") == 3, "numeric address"
assert int(os.environ["MASTER_PORT"]) > 0
assert int(os.environ["LOCAL_RANK"]) == rank
for step in range(1, 4):
    decision = rung.report(step, accuracy=float(rank + step), count=1 + 2 * rank)
    if os.environ.get("RUNG_E2E_FAIL_RANK") == str(rank):
        print("rank fails on purpose", file=sys.stderr)
        sys.exit(7)
    if "RUNG_E2E_FAIL_RANK" in os.environ:
        time.sleep(600)
