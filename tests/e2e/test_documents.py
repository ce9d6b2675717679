"""Refused documents: status 1, path, found and allowed in the message; nothing is created."""

from __future__ import annotations

import json
import subprocess

import pytest

from conftest import BIN, Service, document


def changed(**changes: object) -> str:
    return json.dumps({**document("curve.py"), **changes})


def asha(**changes: object) -> str:
    return changed(
        scheduler={"asha": {"max_t": 100, "grace_period": 10, "reduction_factor": 3, **changes}}
    )


CASES = {
    "malformed": ('{\n  "name": "x",\n  oops\n}', ["line 3"]),
    "unknown key": (changed(sercher={}), ["sercher", "searcher"]),
    "wrong type": (changed(seed="seven"), ["seed", "seven"]),
    "low not below high": (changed(space={"lr": {"uniform": [1.0, 0.5]}}), ["space.lr.uniform"]),
    "log of zero": (
        changed(space={"lr": {"loguniform": [0, 1]}}),
        ["space.lr.loguniform[0]: must be > 0, found 0"],
    ),
    "empty choice": (changed(space={"b": {"choice": []}}), ["space.b.choice"]),
    "no command": (changed(trial={"working_dir": "/tmp"}), ["trial.command"]),
    "placeholder": (changed(trial={"command": ["x", "{lrr}"], "working_dir": "/tmp"}), ["lrr"]),
    "factor 1": (asha(reduction_factor=1), ["scheduler.asha.reduction_factor"]),
    "factor 2.5": (asha(reduction_factor=2.5), ["scheduler.asha.reduction_factor"]),
    "grace above max_t": (asha(grace_period=101), ["scheduler.asha.grace_period"]),
    "five brackets": (asha(brackets=5), ["scheduler.asha.brackets"]),
    "unknown cut": (asha(cut="best"), ["scheduler.asha.cut", "quantile"]),
    "duplicate key": ('{"name": "x", "name": "y"}', ["name: key given twice"]),
}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory):  # type: ignore[no-untyped-def]
    service = Service(tmp_path_factory.mktemp("documents"))
    service.up()
    yield service
    service.rung("local", "down", status=None)


def test_a_document_that_is_not_utf8_is_refused_where_it_stands(shared: Service) -> None:
    file = shared.home / "latin1.json"
    file.write_bytes(b'{\n  "name": "caf\xe9"\n}')
    for verb in ("validate", "submit"):
        # `  "name": "caf` has 14 bytes before the bad one.
        assert "line 2, column 15: byte 0xe9" in shared.rung(verb, file, status=1).stderr


def test_a_trial_that_no_worker_can_start_says_why(shared: Service) -> None:
    file = shared.home / "misspelt.json"
    file.write_text(json.dumps(document(["pyhton3"], trials=1)))
    cause = "trial.command[0]: no executable file 'pyhton3' in PATH"
    assert cause in shared.rung("validate", file).stderr
    result = shared.rung("run", file, status=1)
    experiment = shared.json("list")[0]["id"]
    assert f"experiment {experiment} cannot run here: worker " in result.stderr
    assert cause in result.stderr
    for verb in ("show", "why"):
        assert cause in shared.rung(verb, f"{experiment}.0").stdout
    assert cause in shared.rung("trials", experiment, "--json").stdout
    shared.rung("stop", experiment)


@pytest.mark.parametrize("program", ["rung-scheduler", "rung-worker"])
def test_a_daemon_names_what_is_wrong_with_its_arguments(program: str) -> None:
    result = subprocess.run([BIN / program, "--frob"], capture_output=True, text=True)
    assert result.returncode == 2
    assert result.stderr.startswith(f"{program}: The following argument was not expected: --frob")


@pytest.mark.parametrize("case", CASES)
def test_a_bad_document_is_refused_and_nothing_is_created(shared: Service, case: str) -> None:
    text, expected = CASES[case]
    file = shared.home / "bad.json"
    file.write_text(text)
    before = shared.query("select count(*) n from experiments")
    for verb in ("validate", "submit"):
        result = shared.rung(verb, file, status=1)
        for part in expected:
            assert part in result.stderr, result.stderr
    assert shared.query("select count(*) n from experiments") == before
