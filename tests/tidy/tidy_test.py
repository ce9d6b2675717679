#!/usr/bin/env python3
"""Each rule of tidy can fail: a small tree that is clean, and one seeded violation a test."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path

import tidy

CLEAN = {
    "core/CMakeLists.txt": "rung_exact_library(rung_core SOURCES ids.cc DEPS fmt::fmt)\n",
    "core/ids.h": "// Names.\n#pragma once\n",
    "core/ids.cc": '#include "core/ids.h"\n#include <string>\n',
    "search/space.h": '#pragma once\n#include "core/ids.h"\n',
    "storage/CMakeLists.txt": "rung_library(rung_storage SOURCES memory.cc DEPS rung_core)\n"
    "rung_library(rung_sqlite\n  SOURCES sqlite.cc  # the file\n  DEPS rung_storage)\n",
    "storage/rows.h": '#pragma once\n#include "core/ids.h"\n',
    "storage/memory.cc": '#include "storage/rows.h"\n',
    "storage/sqlite.h": '#pragma once\n#include "storage/rows.h"\n',
    "storage/sqlite.cc": '#include "storage/sqlite.h"\n#include <sqlite3.h>\n#include <mutex>\n',
    "scheduler/CMakeLists.txt": "rung_exact_library(rung_scheduler_core SOURCES scheduler.cc)\n"
    "rung_library(rung_scheduler_shell SOURCES server.cc)\n",
    "scheduler/scheduler.cc": '#include "scheduler/event.h"\n#include "search/space.h"\n',
    "scheduler/event.h": '#pragma once\n#include "storage/rows.h"\n',
    "scheduler/server.h": "#pragma once\n#include <thread>\n",
    "scheduler/server.cc": '#include "scheduler/server.h"\n#include "storage/sqlite.h"\n'
    '#include "rung/v1/tuner.pb.h"\n',
    "build/generated.cc": "// TO" + "DO\n",
}


def found(changes: dict[str, str]) -> list[str]:
    """The violations of the clean tree with some files replaced or added."""
    with tempfile.TemporaryDirectory() as root:
        for path, text in {**CLEAN, **changes}.items():
            file = Path(root, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        return [str(violation) for violation in tidy.violations(Path(root))]


def function_of(lines: int) -> str:
    return "int F(int a) {\n" + "  ++a;\n" * (lines - 2) + "}\n"


class LayeringTest(unittest.TestCase):
    def test_a_clean_tree_has_no_violations(self) -> None:
        self.assertEqual(found({}), [])

    def test_core_must_not_include_search(self) -> None:
        self.assertEqual(
            found({"core/ids.cc": '#include "core/ids.h"\n#include "search/space.h"\n'}),
            ["core/ids.cc:2: pure core must not include search (search/space.h);"
             " it may include no other folder"],
        )

    def test_search_must_not_include_storage(self) -> None:
        self.assertEqual(
            found({"search/space.h": '#pragma once\n#include "storage/rows.h"\n'}),
            ["search/space.h:2: pure search must not include storage (storage/rows.h);"
             " it may include core"],
        )

    def test_the_pure_scheduler_must_not_include_its_shell(self) -> None:
        text = CLEAN["scheduler/scheduler.cc"] + '#include "scheduler/server.h"\n'
        self.assertEqual(
            found({"scheduler/scheduler.cc": text}),
            ["scheduler/scheduler.cc:3: pure code includes scheduler/server.h,"
             " which is shell code"],
        )

    def test_pure_code_must_not_include_proto(self) -> None:
        text = CLEAN["scheduler/scheduler.cc"] + '#include "rung/v1/tuner.pb.h"\n'
        self.assertEqual(
            found({"scheduler/scheduler.cc": text}),
            ["scheduler/scheduler.cc:3: pure code includes <rung/v1/tuner.pb.h>",
             "scheduler/scheduler.cc:3: pure scheduler must not include proto"
             " (rung/v1/tuner.pb.h); it may include core, search, storage"],
        )

    def test_pure_storage_must_not_reach_sqlite(self) -> None:
        self.assertEqual(
            found({"storage/rows.h": "#pragma once\n#include <SQLiteCpp/Database.h>\n"}),
            ["storage/rows.h:2: pure code includes <SQLiteCpp/Database.h>"],
        )

    def test_a_header_is_pure_because_pure_code_includes_it(self) -> None:
        for header in ("thread", "mutex", "filesystem", "fstream", "iostream", "grpcpp/grpcpp.h",
                       "google/protobuf/message.h", "sqlite3.h", "boost/asio.hpp",
                       "spdlog/spdlog.h", "nlohmann/json.hpp"):
            text = f"#pragma once\n#include <{header}>\n"
            self.assertEqual(found({"scheduler/event.h": text}),
                             [f"scheduler/event.h:2: pure code includes <{header}>"])

    def test_pure_code_has_no_clock_and_no_chance(self) -> None:
        for name in ("steady_clock::now", "system_clock::now", "random_device"):
            text = f"#pragma once\n// {name} in a comment\ninline auto f = std::{name}();\n"
            violations = found({"scheduler/event.h": text})
            self.assertEqual(len(violations), 1, name)
            self.assertIn("scheduler/event.h:3: pure code uses ", violations[0])

    def test_clients_use_none_of_the_service_but_proto_and_what_runs_here(self) -> None:
        changes = {"clients/cli/CMakeLists.txt": "rung_library(rung_cli SOURCES main.cc)\n"}
        text = '#include "rung/v1/tuner.pb.h"\n#include "core/ids.h"\n'
        self.assertEqual(
            found({**changes, "clients/cli/main.cc": text}),
            ["clients/cli/main.cc:2: clients must not include core (core/ids.h);"
             " it may include proto, replay, trial_runner/launch"],
        )

    def test_training_report_and_examples_use_none_of_the_service(self) -> None:
        for folder in ("trial_runner/training", "trial_runner/report", "examples/linear"):
            violations = found({f"{folder}/CMakeLists.txt": "add_library(x a.cc)\n",
                                f"{folder}/a.cc": '#include "core/ids.h"\n'})
            self.assertEqual(len(violations), 1, folder)
            self.assertIn("must not include core", violations[0])

    def test_the_worker_must_not_include_the_scheduler(self) -> None:
        changes = {"trial_runner/worker/CMakeLists.txt": "rung_library(rung_agent SOURCES a.cc)\n",
                   "trial_runner/worker/a.cc": '#include "scheduler/event.h"\n'}
        self.assertEqual(
            found(changes),
            ["trial_runner/worker/a.cc:1: trial_runner/worker must not include scheduler"
             " (scheduler/event.h); it may include core, proto, trial_runner/launch"],
        )

    def test_libtorch_belongs_to_training_alone(self) -> None:
        violations = found({"scheduler/server.h": "#pragma once\n#include <torch/torch.h>\n"})
        self.assertEqual(violations, ["scheduler/server.h:2: includes torch/torch.h:"
                                      " LibTorch belongs to training and examples alone"])

    def test_product_code_must_not_include_tests(self) -> None:
        changes = {"tests/fake.h": "#pragma once\n"}
        text = CLEAN["storage/memory.cc"] + '#include "tests/fake.h"\n'
        self.assertEqual(found({**changes, "storage/memory.cc": text}),
                         ["storage/memory.cc:2: storage must not include tests: tests/fake.h"])

    def test_the_simulation_drives_no_shell(self) -> None:
        changes = {"tests/sim/CMakeLists.txt": "rung_test(sim_test SOURCES a.cc)\n",
                   "trial_runner/launch/spawn.h": "#pragma once\n"}
        text = '#include "scheduler/event.h"\n#include "trial_runner/launch/spawn.h"\n'
        violations = found({**changes, "tests/sim/a.cc": text})
        self.assertEqual(len(violations), 1)
        self.assertIn("tests/sim/a.cc:2: tests/sim must not include trial_runner/launch",
                      violations[0])

    def test_quotes_are_for_files_of_the_tree(self) -> None:
        self.assertEqual(
            found({"core/ids.h": '#pragma once\n#include "absl/status/status.h"\n'}),
            ['core/ids.h:2: "absl/status/status.h" is no file of the tree:'
             " name it from the root, or use <…>"],
        )


class ShapeTest(unittest.TestCase):
    def test_lines_have_at_most_100_columns(self) -> None:
        for path in ("storage/rows.h", "docs/tool.py", "proto/x.proto"):
            text = "#pragma once\n" + "#" * 100 + "\n" + "é" * 101 + "\n"
            self.assertIn(f"{path}:3: 101 columns, at most 100", found({path: text}))
            self.assertNotIn(f"{path}:2: 100 columns, at most 100", found({path: text}))

    def test_files_have_at_most_600_lines(self) -> None:
        self.assertEqual(found({"core/ids.h": "#pragma once\n" + "\n" * 599}), [])
        self.assertEqual(found({"core/ids.h": "#pragma once\n" + "\n" * 600}),
                         ["core/ids.h:601: 601 lines, a file has at most 600"])

    def test_functions_have_at_most_70_lines(self) -> None:
        self.assertEqual(found({"core/ids.cc": CLEAN["core/ids.cc"] + function_of(70)}), [])
        self.assertEqual(found({"core/ids.cc": CLEAN["core/ids.cc"] + function_of(71)}),
                         ["core/ids.cc:3: function of 71 lines, at most 70"])

    def test_functions_in_types_and_namespaces_are_measured_and_these_are_not(self) -> None:
        body = "namespace a {\nclass B final : public C {\n  B() : x_{1}, y_(2) {\n"
        body += "    f({1, 2}, \"}\", '}', 1'000);  // }\n" * 69 + "  }\n"
        body += "  void G();\n" * 80 + "};\n}  // namespace a\n"
        self.assertEqual(found({"core/ids.cc": CLEAN["core/ids.cc"] + body}),
                         ["core/ids.cc:5: function of 71 lines, at most 70"])

    def test_tables_are_no_functions(self) -> None:
        table = "constexpr int kTable[] = {\n" + "    F(1),\n" * 90 + "};\n"
        self.assertEqual(found({"core/ids.cc": CLEAN["core/ids.cc"] + table}), [])

    def test_python_functions_are_measured_too(self) -> None:
        text = "class A:\n    def f(self):\n" + "        pass\n" * 70
        self.assertEqual(found({"scripts/tool.py": text}),
                         ["scripts/tool.py:2: function of 71 lines, at most 70"])

    def test_headers_begin_with_pragma_once(self) -> None:
        self.assertEqual(found({"core/ids.h": "/* a\n b */\n#ifndef X\n"}),
                         ["core/ids.h:3: a header begins with #pragma once"])

    def test_every_source_is_built(self) -> None:
        self.assertEqual(found({"core/orphan.cc": "int x;\n"}),
                         ["core/orphan.cc:1: no CMakeLists.txt names this file"])

    def test_every_header_is_included(self) -> None:
        self.assertEqual(found({"core/orphan.h": "#pragma once\n"}),
                         ["core/orphan.h:1: no file includes this header"])

    def test_loose_ends_have_an_owner(self) -> None:
        for word in ("TO" + "DO", "FIX" + "ME"):
            text = f"#pragma once\n// {word}(ada): fine\n// {word}: not\n"
            self.assertEqual(found({"core/ids.h": text}),
                             [f"core/ids.h:3: {word} without an owner: write {word}(name),"
                              " or file an issue"])

    def test_files_are_named_after_nouns(self) -> None:
        for name in ("utils", "common", "helpers", "misc", "string_utils"):
            violations = found({f"scripts/{name}.py": ""})
            self.assertEqual(violations, [f"scripts/{name}.py:1: a file is named after the noun"
                                          " that it holds"])

    def test_ignored_and_generated_files_are_not_read(self) -> None:
        long_line = "x = '" + "y" * 200 + "'\n"
        self.assertEqual(found({".gitignore": "/gen/\n*.pb.py\n", "gen/a.py": long_line,
                                "b.pb.py": long_line, ".venv/c.py": long_line}), [])


class MainTest(unittest.TestCase):
    def test_the_exit_status_says_whether_something_was_found(self) -> None:
        with tempfile.TemporaryDirectory() as root:
            self.assertEqual(tidy.main([root]), 0)
            Path(root, "misc.py").touch()
            self.assertEqual(tidy.main([root]), 1)


if __name__ == "__main__":
    unittest.main()
