"""Sizes, names and loose ends: STYLE of CONTRIBUTING.md."""

from __future__ import annotations

import ast
import fnmatch
import re
from collections.abc import Iterator
from pathlib import Path

from source_tree import Source, Tree, Violation

COLUMNS_MAX = 100
FILE_LINES_MAX = 600
FUNCTION_LINES_MAX = 70
NO_NOUN = re.compile(r"^(.*_)?(util|utils|common|helper|helpers|misc)$")
LOOSE_END = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X)\b(?!\(\w+\))")

# Headers that stand in for those of a third party, which is who includes them.
INCLUDED_FROM_OUTSIDE = ("trial_runner/training/gloo_shim/",)


def check(tree: Tree) -> Iterator[Violation]:
    for source in tree.of(".cc", ".h", ".py", ".proto"):
        yield from check_sizes(source)
    for source in tree.of(".cc", ".h"):
        for line, size in cpp_functions(source):
            yield from check_function(source, line, size)
    for source in tree.of(".py"):
        for line, size in python_functions(source):
            yield from check_function(source, line, size)
    for source in tree.sources.values():
        yield from check_name(source)
        yield from check_loose_ends(source)
    for source in tree.of(".h"):
        yield from check_pragma(source)
    yield from check_references(tree)


def check_sizes(source: Source) -> Iterator[Violation]:
    for number, line in enumerate(source.lines, 1):
        if len(line) > COLUMNS_MAX:
            message = f"{len(line)} columns, at most {COLUMNS_MAX}"
            yield Violation(source.path, number, message)
    if len(source.lines) > FILE_LINES_MAX:
        message = f"{len(source.lines)} lines, a file has at most {FILE_LINES_MAX}"
        yield Violation(source.path, FILE_LINES_MAX + 1, message)


def check_function(source: Source, line: int, size: int) -> Iterator[Violation]:
    if size > FUNCTION_LINES_MAX:
        message = f"function of {size} lines, at most {FUNCTION_LINES_MAX}"
        yield Violation(source.path, line, message)


def cpp_functions(source: Source) -> Iterator[tuple[int, int]]:
    """(first line, number of lines) of each function's body.

    A brace outside of any function opens one if what stands before it, back to the last `;`, `{` or
    `}`, has parentheses and names no namespace or type. Lambdas count with their function.
    """
    code = re.sub(r"^[ \t]*#(?:.*\\\n)*.*", lambda m: re.sub(r"[^\n]", " ", m[0]), source.code,
                  flags=re.MULTILINE)
    head_start, line, parentheses = 0, 1, 0
    scopes: list[int | None] = []  # line of the brace for a function's, None for others
    for position, character in enumerate(code):
        if character == "\n":
            line += 1
        elif character in "()":
            parentheses += 1 if character == "(" else -1
        elif character == ";" and parentheses == 0:
            head_start = position + 1
        elif character == "{":
            head = code[head_start:position]
            inside_function = any(scope is not None for scope in scopes)
            opens = not inside_function and parentheses == 0 and is_function_head(head)
            scopes.append(line if opens else None)
            head_start = position + 1
        elif character == "}" and scopes:
            begin = scopes.pop()
            head_start = position + 1
            if begin is not None:
                yield begin, line - begin + 1


def is_function_head(head: str) -> bool:
    words = re.sub(r"\[\[.*?\]\]|\btemplate\s*<[^{}]*?>\s*", " ", head, flags=re.DOTALL)
    if re.match(r"\s*(inline\s+)?(namespace|class|struct|union|enum|extern)\b", words):
        return False
    return "(" in words


def python_functions(source: Source) -> Iterator[tuple[int, int]]:
    """(first line, number of lines) of each outermost function and method."""
    try:
        pending: list[ast.AST] = [ast.parse(source.text)]
    except SyntaxError:
        return  # the interpreter that runs it says so better
    while pending:
        for node in ast.iter_child_nodes(pending.pop()):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield node.lineno, (node.end_lineno or node.lineno) - node.lineno + 1
            else:
                pending.append(node)


def check_name(source: Source) -> Iterator[Violation]:
    if NO_NOUN.match(Path(source.path).stem):
        yield Violation(source.path, 1, "a file is named after the noun that it holds")


def check_loose_ends(source: Source) -> Iterator[Violation]:
    for number, line in enumerate(source.lines, 1):
        for match in LOOSE_END.finditer(line):
            message = f"{match[1]} without an owner: write {match[1]}(name), or file an issue"
            yield Violation(source.path, number, message)


def check_pragma(source: Source) -> Iterator[Violation]:
    for number, line in enumerate(source.code.split("\n"), 1):
        if line.strip():
            if line.strip() != "#pragma once":
                yield Violation(source.path, number, "a header begins with #pragma once")
            return


def check_references(tree: Tree) -> Iterator[Violation]:
    """Each .cc is named by a CMakeLists.txt, each .h included by some file."""
    built = cmake_patterns(tree)
    included = {name for source in tree.of(".cc", ".h") for _, name, _ in source.includes}
    included |= {
        f"{source.folder}/{name}"
        for source in tree.of(".cc", ".h")
        for _, name, quoted in source.includes
        if quoted
    }
    for source in tree.of(".cc"):
        if not any(fnmatch.fnmatch(source.path, pattern) for pattern in built):
            yield Violation(source.path, 1, "no CMakeLists.txt names this file")
    for source in tree.of(".h"):
        if source.path not in included and not source.path.startswith(INCLUDED_FROM_OUTSIDE):
            yield Violation(source.path, 1, "no file includes this header")


def cmake_patterns(tree: Tree) -> set[str]:
    """The .cc files that CMake files name, from the root; variables stand for any name."""
    patterns = set()
    for lists in tree.named("CMakeLists.txt"):
        for word in re.findall(r"[^\s()\"]+\.cc\b", re.sub(r"#[^\n]*", "", lists.text)):
            word = word.replace("${CMAKE_CURRENT_SOURCE_DIR}/", "")
            base = "" if lists.folder == "." else lists.folder + "/"
            if word.startswith("${PROJECT_SOURCE_DIR}/"):
                base, word = "", word.removeprefix("${PROJECT_SOURCE_DIR}/")
            patterns.add(base + re.sub(r"\$\{\w+\}", "*", word))
    return patterns
