"""Who may include whom: ARCHITECTURE.md §2 and §3.

A file is pure (◇) if it is a source of one of PURE_TARGETS, or a header that such a file includes,
directly or not. A header that belongs to a source of another target can therefore not be reached
from pure code, and whatever a pure file includes must itself be pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from source_tree import Source, Tree, Violation

PURE_TARGETS = {"rung_core", "rung_search", "rung_storage", "rung_scheduler_core", "rung_runner"}
PURE_FOLDERS = ("core", "search")

# Longest prefix wins. What a layer may include besides itself; the generated rung/v1/ is `proto`.
MAY_INCLUDE: dict[str, set[str]] = {
    "core": set(),
    "search": {"core"},
    "storage": {"core"},
    "proto": {"core"},
    "scheduler": {"core", "search", "storage", "proto"},
    "replay": {"core", "search", "scheduler"},
    "trial_runner/worker": {"core", "trial_runner/launch", "proto"},
    "trial_runner/launch": {"core", "trial_runner/shim"},
    "trial_runner/shim": set(),
    "trial_runner/report": set(),
    "trial_runner/training": {"trial_runner/report"},
    "examples": {"trial_runner/training", "trial_runner/report"},
    "clients": {"proto", "replay", "trial_runner/launch"},
    "bench": {"core", "search", "storage", "scheduler", "replay"},
}
# Besides the above, for the pure files of a layer alone.
PURE_MAY_INCLUDE: dict[str, set[str]] = {
    "scheduler": {"core", "search", "storage"},
    "trial_runner/worker": {"core"},
}
SIMULATION = "tests/sim"
SIMULATION_MAY_INCLUDE = {"core", "search", "storage", "scheduler", "trial_runner/worker"}

# Of Boost only numbers are pure: random/ and math/.
SHELL_HEADERS = re.compile(
    r"^(thread|mutex|shared_mutex|condition_variable|future|semaphore|latch|barrier|stop_token"
    r"|filesystem|fstream|iostream|unistd\.h|fcntl\.h|pthread\.h|signal\.h|poll\.h|sys/.*"
    r"|netinet/.*|grpc.*|google/protobuf/.*|rung/v1/.*|sqlite3\.h|SQLiteCpp/.*"
    r"|boost/(?!random/|math/).*"
    r"|spdlog/.*|nlohmann/.*|CLI/.*|torch/.*|ATen/.*|c10/.*|absl/synchronization/.*"
    r"|absl/time/clock\.h)$"
)
SHELL_NAMES = re.compile(
    r"\b((?:steady|system|high_resolution)_clock::now|random_device|getenv"
    r"|gettimeofday|clock_gettime)\b"
)
TORCH_HEADERS = re.compile(r"^(torch|ATen|c10)/")
TORCH_MAY_BE_IN = (
    "trial_runner/training",
    "examples",
    "tests/training",
    "tests/trial_runner/training",
    "tests/examples",
    "tests/gpu",
)


def check(tree: Tree) -> Iterator[Violation]:
    pure = pure_files(tree)
    for source in tree.of(".cc", ".h"):
        yield from check_layers(source, tree, source.path in pure)
        if source.path in pure:
            yield from check_purity(source, tree, pure)
        if not source.path.startswith(TORCH_MAY_BE_IN):
            for line, name, _ in source.includes:
                if TORCH_HEADERS.match(name):
                    message = f"includes {name}: LibTorch belongs to training and examples alone"
                    yield Violation(source.path, line, message)


def pure_files(tree: Tree) -> set[str]:
    """Paths of all files that must be pure."""
    owner = target_of_sources(tree)
    pending = [path for path, target in owner.items() if target in PURE_TARGETS]
    pending += [s.path for s in tree.of(".cc", ".h") if layer_of(s.path) in PURE_FOLDERS]
    pure: set[str] = set()
    while pending:
        path = pending.pop()
        if path in pure or is_of_shell(path, owner):
            continue
        pure.add(path)
        pending += [n for _, n, _ in tree.sources[path].includes if n in tree.sources]
    return pure


def target_of_sources(tree: Tree) -> dict[str, str]:
    """The CMake target to which each .cc file belongs."""
    owner = {}
    for lists in tree.named("CMakeLists.txt"):
        text = re.sub(r"#[^\n]*", "", lists.text)
        for call in re.finditer(r"\brung_(?:exact_)?library\(\s*(\S+)\s+SOURCES([^)]*)\)", text):
            for word in call[2].split():
                if word == "DEPS":
                    break
                path = word if lists.folder == "." else f"{lists.folder}/{word}"
                if path in tree.sources:
                    owner[path] = call[1]
    return owner


def is_of_shell(path: str, owner: dict[str, str]) -> bool:
    """Whether the file, or the .cc of the same name, is of a target that is not pure."""
    target = owner.get(re.sub(r"\.h$", ".cc", path))
    return target is not None and target not in PURE_TARGETS


def layer_of(path: str) -> str | None:
    known = [layer for layer in MAY_INCLUDE if path.startswith(layer + "/")]
    return max(known, key=len, default=None)


def check_layers(source: Source, tree: Tree, pure: bool) -> Iterator[Violation]:
    own = layer_of(source.path)
    if source.path.startswith(SIMULATION + "/"):
        own, allowed = SIMULATION, SIMULATION_MAY_INCLUDE
    elif own is None:
        return
    else:
        allowed = PURE_MAY_INCLUDE.get(own, MAY_INCLUDE[own]) if pure else MAY_INCLUDE[own]
    for line, name, quoted in source.includes:
        target = "proto" if name.startswith("rung/v1/") else layer_of(name)
        if target is None:
            if name.startswith("tests/") and own != SIMULATION:
                yield Violation(source.path, line, f"{own} must not include tests: {name}")
            elif quoted and not name.startswith("tests/") and not is_beside(name, source, tree):
                message = f'"{name}" is no file of the tree: name it from the root, or use <…>'
                yield Violation(source.path, line, message)
        elif target != own and target not in allowed:
            kind = "pure " if pure else ""
            may = ", ".join(sorted(allowed)) or "no other folder"
            message = f"{kind}{own} must not include {target} ({name}); it may include {may}"
            yield Violation(source.path, line, message)


def is_beside(name: str, source: Source, tree: Tree) -> bool:
    """Whether the name is a file that the checks may not know, such as a third party's."""
    return name in tree.sources or f"{source.folder}/{name}" in tree.sources


def check_purity(source: Source, tree: Tree, pure: set[str]) -> Iterator[Violation]:
    for line, name, _ in source.includes:
        if name in tree.sources and name not in pure:
            yield Violation(source.path, line, f"pure code includes {name}, which is shell code")
        elif SHELL_HEADERS.match(name):
            yield Violation(source.path, line, f"pure code includes <{name}>")
    for number, line_text in enumerate(source.code.split("\n"), 1):
        for match in SHELL_NAMES.finditer(line_text):
            yield Violation(source.path, number, f"pure code uses {match[1]}")
