#!/usr/bin/env python3
"""Reads the tree and fails with file:line where it breaks the rules of ARCHITECTURE.md and STYLE.

    python3 tests/tidy/tidy.py [ROOT]
"""

from __future__ import annotations

import sys
from pathlib import Path

import layering
import shape
from source_tree import Tree, Violation


def violations(root: Path) -> list[Violation]:
    """All violations below `root`, by path and line."""
    tree = Tree.read(root)
    return sorted({*layering.check(tree), *shape.check(tree)})


def main(arguments: list[str]) -> int:
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parents[2]
    found = violations(root)
    for violation in found:
        print(violation)
    if found:
        print(f"tidy: {len(found)} violations", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
