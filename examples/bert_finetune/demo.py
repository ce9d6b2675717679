"""Grid search against ASHA on the BERT example, through the product's own commands.

For each seed: the same space, budget unit and seed under `grid` and under `asha`, one after the
other, then `rung compare`. With several seeds a summary; at the end the winner once more as two
data-parallel processes. Standard library only; scripts/demo builds and then runs this.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
from typing import Any, Dict, List

HERE = pathlib.Path(__file__).resolve().parent
EXPERIMENTS = HERE / "experiments"
ROOT = HERE.parents[1]
BIN = pathlib.Path(os.environ.get("RUNG_BIN", ROOT / "build" / "release" / "bin"))
TEST_ROWS = 1057  # the held-out part; sets the standard error of a test accuracy
PRICE = "3.06"  # dollars a slot-hour: a machine of four GPUs at $12.24 an hour


def main() -> int:
    options = parse_arguments()
    home = pathlib.Path(options.home).resolve()
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.environ["RUNG_HOME"] = str(home)
    if not options.full:
        say("Preparing: the outputs of the frozen layers are computed once and cached")
        subprocess.run([str(HERE / "run"), "--build-cache"], check=True)
    rung("local", "up", "--cpus", "2")
    try:
        refuse_a_busy_home(home)
        results = [compare_once(options, home, seed) for seed in range(7, 7 + options.seeds)]
        if len(results) > 1:
            print_summary(results)
        rerun_winner(options, home, results[-1])
    finally:
        rung("local", "down")
    say(f"Everything is in {home}/rung.db, for instance:")
    print(f'  sqlite3 -box {home}/rung.db "select * from leaderboard limit 10"')
    print(f"  export RUNG_HOME={home}; {BIN}/rung local up; {BIN}/rung list")
    return 0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/demo", description=__doc__)
    parser.add_argument(
        "--full", action="store_true", help="the article's space and budget (an hour and a half)"
    )
    parser.add_argument("--seeds", type=int, default=1, help="repeat with this many seeds (1)")
    parser.add_argument("--home", default=str(ROOT / "demo"), help="RUNG_HOME (./demo)")
    options = parser.parse_args()
    if options.seeds < 1:
        parser.error(f"--seeds: must be at least 1, found {options.seeds}")
    return options


def refuse_a_busy_home(home: pathlib.Path) -> None:
    """An experiment that still runs there would take its share of the machine, and the figures
    would be wrong."""
    active = [str(e["id"]) for e in rung_json("list") if e["state"] == "active"]
    if active:
        sys.exit(
            f"demo: {home} has experiments that are not over: {', '.join(active)}. End each:\n"
            f"  export RUNG_HOME={home}; {BIN}/rung local up; {BIN}/rung stop {active[0]}\n"
            "or choose another folder with --home."
        )


def say(text: str) -> None:
    print(f"\n== {text}", flush=True)


def rung(*arguments: str) -> None:
    subprocess.run([str(BIN / "rung"), *arguments], check=True)


def rung_json(*arguments: str) -> Any:
    command = [str(BIN / "rung"), *arguments, "--json"]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def load(name: str, options: argparse.Namespace, seed: int) -> Dict[str, Any]:
    file = EXPERIMENTS / f"{name}{'_full' if options.full else ''}.json"
    document: Dict[str, Any] = json.loads(file.read_text())
    document["seed"] = seed
    document["name"] = f"{document['name']}-seed{seed}"
    document["trial"]["working_dir"] = str(EXPERIMENTS)
    return document


def submit(document: Dict[str, Any], home: pathlib.Path) -> str:
    """Submits, watches to the end, and returns the experiment's id. Whatever ends the watching
    before, Ctrl-C too, ends the experiment."""
    file = home / f"{document['name']}.json"
    file.write_text(json.dumps(document, indent=2))
    identifier = str(rung_json("submit", str(file))["experiment_id"])
    try:
        rung("watch", identifier)
    except BaseException:
        subprocess.run([str(BIN / "rung"), "stop", identifier], check=False)
        raise
    return identifier


def compare_once(options: argparse.Namespace, home: pathlib.Path, seed: int) -> Dict[str, Any]:
    identifiers = []
    for kind in ("grid", "asha"):
        document = load(kind, options, seed)
        say(document["name"])
        identifiers.append(submit(document, home))
    say("Grid search against ASHA: same space, budget unit and seed; trials are ranked by loss")
    shown = ["--show", "accuracy:max", "--show", "test_accuracy:max", "--price", PRICE]
    rung("compare", *identifiers, *shown, "--reference", str(EXPERIMENTS / "reference.json"))
    return {
        "seed": seed,
        "asha": identifiers[1],
        "steps": [rung_json("show", identifier)["steps_spent"] for identifier in identifiers],
        "test": [test_accuracy(winner(identifier)) for identifier in identifiers],
    }


def winner(identifier: str) -> Dict[str, Any]:
    """The best of the trials that ran to the end, as those alone know their test accuracy."""
    trials = rung_json("trials", identifier, "--top", "1000")
    completed = [trial for trial in trials if trial["state"] == "completed"]
    if not completed:
        sys.exit(f"demo: no trial of experiment {identifier} completed: rung trials {identifier}")
    return dict(completed[0])


def test_accuracy(trial: Dict[str, Any]) -> float:
    values = rung_json("metrics", trial["id"], "--name", "test_accuracy")
    if not values:
        sys.exit(f"demo: trial {trial['id']} reported no test_accuracy: rung metrics {trial['id']}")
    return float(values[-1]["value"])


def print_summary(results: List[Dict[str, Any]]) -> None:
    say(f"Over {len(results)} seeds")
    ratios = [result["steps"][1] / result["steps"][0] for result in results]
    for result, ratio in zip(results, ratios):
        print(
            f"  seed {result['seed']}: steps {result['steps'][0]} (grid)"
            f" {result['steps'][1]} (asha),"
            f" ratio {ratio:.3f}; test accuracy {result['test'][0]:.4f} (grid)"
            f" {result['test'][1]:.4f} (asha)"
        )
    grid, asha = (sum(result["test"][i] for result in results) / len(results) for i in (0, 1))
    # Binomial, of one accuracy: the seeds share the test rows, so their mean is no more certain.
    error = math.sqrt(grid * (1 - grid) / TEST_ROWS)
    within = "within" if abs(asha - grid) <= error else "NOT within"
    print(f"  mean ratio of steps: {sum(ratios) / len(ratios):.3f} (expected: at most 0.45)")
    print(
        f"  mean test accuracy: {grid:.4f} (grid) {asha:.4f} (asha), difference {asha - grid:+.4f},"
        f" {within} one standard error {error:.4f}"
    )


def rerun_winner(options: argparse.Namespace, home: pathlib.Path, result: Dict[str, Any]) -> None:
    best = winner(result["asha"])
    say(f"The winner of ASHA, trial {best['id']}, once more as two data-parallel processes")
    document = load("winner", options, result["seed"])
    document["searcher"] = {"points": [best["params"]]}
    again = winner(submit(document, home))
    print(
        f"  one process:   loss {best['best_value']:.4f}, test accuracy {test_accuracy(best):.4f}"
    )
    print(
        f"  two processes: loss {again['best_value']:.4f}, test accuracy {test_accuracy(again):.4f}"
    )


if __name__ == "__main__":
    sys.exit(main())
