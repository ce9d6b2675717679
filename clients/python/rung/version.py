"""Which versions of rung work together."""

from __future__ import annotations


def fit(theirs: str, ours: str) -> bool:
    """Whether both are of one major version and at most one minor version apart.

    Example: `fit("1.4.0", "1.5.2")` is True.
    """
    try:
        (a_major, a_minor), (b_major, b_minor) = (
            tuple(int(part) for part in version.split(".")[:2]) for version in (theirs, ours)
        )
    except ValueError:
        return False
    return a_major == b_major and abs(a_minor - b_minor) <= 1
