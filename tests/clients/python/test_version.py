"""Which versions of a client and a service go together."""

from __future__ import annotations

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "clients" / "python"))
from rung.version import fit  # noqa: E402


@pytest.mark.parametrize("theirs", ["1.4.0", "1.5.9", "1.6.0"])
def test_one_minor_version_of_difference_is_allowed(theirs: str) -> None:
    assert fit(theirs, "1.5.0")


@pytest.mark.parametrize("theirs", ["1.3.0", "1.7.0", "2.5.0", "", "1", "x.5.0", "1.x.0"])
def test_more_or_what_is_no_version_is_refused(theirs: str) -> None:
    assert not fit(theirs, "1.5.0")
