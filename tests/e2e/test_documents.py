"""Refused documents: status 1, path, found and allowed in the message; nothing is created."""

from __future__ import annotations

import json

import pytest

from conftest import Service, document


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


@pytest.mark.parametrize("case", CASES)
def test_a_bad_document_is_refused_and_nothing_is_created(shared: Service, case: str) -> None:
    text, expected = CASES[case]
    file = shared.home / "bad.json"
    file.write_text(text)
    for verb in ("validate", "submit"):
        result = shared.rung(verb, file, status=1)
        for part in expected:
            assert part in result.stderr, result.stderr
    assert shared.query("select count(*) n from experiments")[0]["n"] == 0
