"""The files that the checks read, and what they report."""

from __future__ import annotations

import fnmatch
import re
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

ALWAYS_SKIPPED = {".git", ".venv", "build", "dist", "node_modules", "__pycache__"}


@dataclass(frozen=True, order=True)
class Violation:
    """One line of a file that breaks one rule."""

    path: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


@dataclass
class Source:
    """A text file; `path` is relative to the root, with slashes."""

    path: str
    text: str

    @property
    def suffix(self) -> str:
        return Path(self.path).suffix

    @property
    def folder(self) -> str:
        return str(Path(self.path).parent)

    @cached_property
    def lines(self) -> list[str]:
        return self.text.split("\n")[:-1] if self.text.endswith("\n") else self.text.split("\n")

    @cached_property
    def code(self) -> str:
        """C++ without comments and literals; every line keeps its number."""
        return blank_comments_and_literals(self.text)

    @cached_property
    def includes(self) -> list[tuple[int, str, bool]]:
        """(line, name, whether in quotes) of each #include."""
        found = []
        for number, line in enumerate(self.lines, 1):
            match = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
            if match:
                found.append((number, match[2], match[1] == '"'))
        return found


@dataclass
class Tree:
    """Every file of a checkout that is not generated, installed or ignored by git."""

    root: Path
    sources: dict[str, Source] = field(default_factory=dict)

    SUFFIXES = {".cc", ".h", ".py", ".proto", ".cmake", ".sql"}
    NAMES = {"CMakeLists.txt"}

    @classmethod
    def read(cls, root: Path) -> Tree:
        tree = cls(root)
        ignored = read_ignored(root)
        pending = [root]
        while pending:
            for path in sorted(pending.pop().iterdir()):
                name = path.relative_to(root).as_posix()
                if path.name in ALWAYS_SKIPPED or path.is_symlink() or is_ignored(name, ignored):
                    continue
                if path.is_dir():
                    pending.append(path)
                elif path.suffix in cls.SUFFIXES or path.name in cls.NAMES:
                    tree.sources[name] = Source(name, path.read_text(encoding="utf-8"))
        return tree

    def of(self, *suffixes: str) -> list[Source]:
        return [self.sources[p] for p in sorted(self.sources) if Path(p).suffix in suffixes]

    def named(self, name: str) -> list[Source]:
        return [self.sources[p] for p in sorted(self.sources) if Path(p).name == name]


def read_ignored(root: Path) -> list[str]:
    file = root / ".gitignore"
    lines = file.read_text(encoding="utf-8").split() if file.exists() else []
    return [line.rstrip("/") for line in lines if not line.startswith("#")]


def is_ignored(name: str, patterns: list[str]) -> bool:
    for pattern in patterns:
        whole = name if pattern.startswith("/") else name.rsplit("/", 1)[-1]
        if fnmatch.fnmatch(whole, pattern.lstrip("/")):
            return True
    return False


LITERAL_OR_COMMENT = re.compile(
    r"""//[^\n]*                              # to the end of the line
      | /\*.*?\*/                             # over lines
      | R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"
      | "(?:\\.|[^"\\\n])*"
      | (?<![0-9a-zA-Z_])(?:u8|[uUL])?'(?:\\.|[^'\\\n])+'   # not the ' of 1'000
    """,
    re.VERBOSE | re.DOTALL,
)


def blank_comments_and_literals(text: str) -> str:
    """Comments become spaces, literals become quotes around spaces; newlines stay.

    Args:
        text: C++ source.
    Returns:
        Text of the same length and the same lines.
    """

    def blank(match: re.Match[str]) -> str:
        found = match[0]
        inner = re.sub(r"[^\n]", " ", found)
        return inner if found.startswith("/") else found[0] + inner[1:-1] + found[-1]

    return LITERAL_OR_COMMENT.sub(blank, text)
