#!/usr/bin/env python3
"""Tests of include_graph.py on small trees, each with the faults it should find."""

import io
import os
import tempfile
import unittest
from contextlib import redirect_stdout

import include_graph


class IncludeGraph(unittest.TestCase):
    def faults(self, files):
        with tempfile.TemporaryDirectory() as root:
            for path, text in files.items():
                path = os.path.join(root, path)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
            return include_graph.Checker(root).check()

    def assert_clean(self, files):
        self.assertEqual(self.faults(files), [])

    def assert_one(self, files, place, part):
        faults = self.faults(files)
        self.assertEqual(len(faults), 1, faults)
        self.assertTrue(faults[0].startswith(place + ": "), faults[0])
        self.assertIn(part, faults[0])

    def test_the_right_direction_is_clean(self):
        self.assert_clean({
            "support/Status.h": "#include <string>\n",
            "support/Log.cpp": "#include <spdlog/logger.h>\n",
            "engine/abi/plim_abi.h": "#include <stdint.h>\n",
            "targets/TargetDescription.h": '#include "support/Status.h"\n',
            "targets/dlti/Dlti.h": '#include "targets/TargetDescription.h"\n'
                                   '#include "mlir/IR/BuiltinOps.h"\n',
            "ir/Memory/Place.cpp": '#include "targets/dlti/Dlti.h"\n#include "planner/Plan.h"\n'
                            '#include "ir/Plim/PlimOps.h.inc"\n',
            "planner/Plan.h": "#include <vector>\n",
            "jit/Compile.cpp": '#include "llvm/ExecutionEngine/Orc/LLJIT.h"\n#include "ir/Ir.h"\n',
            "ir/Ir.h": "",
            "engine/runtime/Executor.cpp": "#include <oneapi/tbb/task_arena.h>\n"
                                           '#include "engine/abi/plim_abi.h"\n',
            "engine/session/Engine.cpp": '#include "ir/Ir.h"\n#include "llvm/Support/Error.h"\n',
            "include/plimsoll/plimsoll.h": "#include <stdint.h>\n",
            "include/plimsoll/plimsoll.hpp": "#include <plimsoll/plimsoll.h>\n#include <string>\n",
            "capi/Engine.cpp": "#include <plimsoll/plimsoll.h>\n",
            "tests/unit/EngineTest.cpp": '#include "ir/Ir.h"\n#include <tbb/parallel_for.h>\n',
        })

    def test_a_lower_room_must_not_include_a_higher_one(self):
        self.assert_one({"support/A.h": '\n#include "targets/B.h"\n', "targets/B.h": ""},
                        "support/A.h:2", "support must not include targets")
        self.assert_one({"engine/runtime/A.h": '#include "jit/B.h"', "jit/B.h": ""},
                        "engine/runtime/A.h:1", "engine/runtime must not include jit")
        self.assert_one({"jit/A.h": '#include "engine/runtime/B.h"', "engine/runtime/B.h": ""},
                        "jit/A.h:1", "jit must not include engine/runtime")

    def test_ir_sees_the_codec_but_no_probe(self):
        self.assert_one({"ir/A.cpp": '#include "targets/host/Host.h"\n', "targets/host/Host.h": ""},
                        "ir/A.cpp:1", "ir must not include targets/host")
        self.assert_one({"ir/A.cpp": '#include "targets/Registry.h"\n', "targets/Registry.h": ""},
                        "ir/A.cpp:1", "ir must not include targets")

    def test_stages_do_not_know_each_other(self):
        self.assert_one({"ir/Memory/A.cpp": '#include "ir/Codegen/B.h"\n', "ir/Codegen/B.h": ""},
                        "ir/Memory/A.cpp:1", "ir/Memory must not include ir/Codegen")
        self.assert_one({"ir/Plim/A.h": '#include "ir/Analysis/B.h"\n', "ir/Analysis/B.h": ""},
                        "ir/Plim/A.h:1", "ir/Plim must not include ir/Analysis")
        self.assert_clean({"ir/Access/A.cpp": '#include "ir/Analysis/B.h"\n', "ir/Analysis/B.h": "",
                           "ir/Pipelines/P.cpp": '#include "ir/Access/C.h"\n', "ir/Access/C.h": ""})

    def test_libraries_stay_in_their_rooms(self):
        for path, header in [("ir/A.cpp", "llvm/ExecutionEngine/Orc/Core.h"),
                             ("jit/A.cpp", "mlir/ExecutionEngine/ExecutionEngine.h"),
                             ("jit/A.cpp", "oneapi/tbb/parallel_for.h"),
                             ("engine/session/A.cpp", "tbb/task_arena.h"),
                             ("engine/runtime/A.cpp", "llvm/ADT/SmallVector.h"),
                             ("engine/runtime/A.cpp", "mlir/IR/Types.h"),
                             ("support/A.cpp", "llvm/ADT/StringRef.h"),
                             ("targets/A.cpp", "llvm/ADT/StringRef.h"),
                             ("planner/A.cpp", "nlohmann/json.hpp"),
                             ("jit/A.cpp", "spdlog/spdlog.h"),
                             ("targets/A.cpp", "nlohmann/json.hpp"),
                             ("targets/vulkan/A.cpp", "hwloc.h")]:
            for line in (f"#include <{header}>", f'#include "{header}"', f"#  include <{header}>"):
                with self.subTest(path=path, line=line):
                    self.assert_one({path: line + "\n"}, path + ":1", f"<{header}>")

    def test_the_contracts_stand_alone(self):
        self.assert_one({"engine/abi/plim_abi.h": "#include <stdlib.h>\n"},
                        "engine/abi/plim_abi.h:1", "stands alone")
        self.assert_one({"include/plimsoll/plimsoll.h": "#include <vector>\n"},
                        "include/plimsoll/plimsoll.h:1", "stands alone")

    def test_includes_are_written_from_the_root(self):
        self.assert_one({"support/A.h": '#include "B.h"\n', "support/B.h": ""},
                        "support/A.h:1", 'must be written from the root: "support/B.h"')
        self.assert_one({"support/A.h": '#include "support/Gone.h"\n'},
                        "support/A.h:1", "does not exist")

    def test_commented_includes_do_not_count(self):
        self.assert_clean({"support/A.h": '// #include "jit/B.h"\n/*\n#include "jit/B.h"\n*/\n'})

    def test_cycles_are_found_and_named(self):
        self.assert_one({"ir/A.h": '#include "ir/B.h"\n', "ir/B.h": '\n#include "ir/C.h"\n',
                         "ir/C.h": '#include "ir/A.h"\n'},
                        "ir/C.h:1", "ir/A.h -> ir/B.h -> ir/C.h -> ir/A.h")
        self.assert_one({"ir/A.h": '#include "ir/A.h"\n'}, "ir/A.h:1", "ir/A.h -> ir/A.h")
        self.assert_clean({"ir/A.h": '#include "ir/B.h"\n#include "ir/C.h"\n',
                           "ir/B.h": '#include "ir/C.h"\n', "ir/C.h": ""})

    def test_a_library_has_a_readme(self):
        self.assert_one({"jit/CMakeLists.txt": "# library\nplim_add_library(plim_jit)\n"},
                        "jit/CMakeLists.txt:2", "no README.md")
        self.assert_clean({"jit/CMakeLists.txt": "plim_add_library(plim_jit)\n",
                           "jit/README.md": "", "bench/CMakeLists.txt": "add_executable(x)\n"})

    def test_page_sizes_are_asked_for(self):
        self.assert_one({"engine/runtime/A.cpp": "\nint page = 4096;\n"},
                        "engine/runtime/A.cpp:2", "page size")
        self.assert_one({"jit/A.cpp": "int page = 0x1000;\n"}, "jit/A.cpp:1", "page size")
        self.assert_clean({"engine/runtime/A.cpp": '// 4096\nauto t = "4096"; int x = 14096;\n',
                           "tests/unit/A.cpp": "int page = 4096;\n"})

    def test_patterns_run_without_the_unsound_ones(self):
        self.assert_one({"ir/A.cpp": "\n  applyPatternsGreedily(op, x);\n"}, "ir/A.cpp:2",
                        "known to be wrong")
        self.assert_one({"ir/A.cpp": "createCanonicalizerPass()"}, "ir/A.cpp:1", "Cleanup.cpp")
        self.assert_clean({"ir/Cleanup/Cleanup.cpp": "applyOpPatternsGreedily(x);\n",
                           "tests/unit/A.cpp": "createCanonicalizerPass();\n"})

    def test_a_file_outside_every_room_is_a_fault(self):
        self.assert_one({"attic/A.h": ""}, "attic/A.h:1", "belongs to no room")

    def test_builds_and_hidden_folders_are_left_out(self):
        self.assert_clean({"build/A.h": '#include "jit/B.h"\n', "build-dev/A.h": "",
                           ".git/A.h": "", "support/A.h": ""})

    def test_exit_status(self):
        with tempfile.TemporaryDirectory() as root, redirect_stdout(io.StringIO()) as out:
            self.assertEqual(include_graph.main([root]), 1)
            self.assertIn("no source files", out.getvalue())
            os.mkdir(os.path.join(root, "support"))
            with open(os.path.join(root, "support", "A.h"), "w", encoding="utf-8"):
                pass
            self.assertEqual(include_graph.main([root]), 0)
            with open(os.path.join(root, "support", "A.h"), "w", encoding="utf-8") as file:
                file.write('#include "jit/B.h"\n')
            self.assertEqual(include_graph.main([root]), 1)


if __name__ == "__main__":
    unittest.main()
