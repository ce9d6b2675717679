"""Generates the wire modules before the package is built; everything else is in pyproject.toml."""

import pathlib
import sys

from setuptools import setup

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import generate  # noqa: E402

generate.generate()
setup()
