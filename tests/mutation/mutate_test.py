#!/usr/bin/env python3
"""Tests of the parts of mutate.py: what needs neither a copy of the tree nor a build of it."""
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest
from unittest import mock

sys.path.append(str(pathlib.Path(__file__).resolve().parent))

import faults  # noqa: E402
import mutate  # noqa: E402

root = pathlib.Path(__file__).resolve().parents[2]
program = b"""#include <algorithm>
#include <cstdio>
void say(int number) { std::printf("%d ", number); }
bool isSmall(int number) {
  return number < 3 &&
         number > 0;
}
int main() {
  int sum = 0;
  for (int i = 0; i < 5; ++i) {
    if (i == 3)
      continue;
    if (!isSmall(i))
      sum += i;
    say(std::min(i + 1, 4));
  }
  say(sum);
}
"""


def fault(before, after, code):
    begin = program.index(before.encode())
    return faults.Fault("program.cpp", program[:begin].count(b"\n") + 1, begin, begin + len(before), before, after, code)


class Program:
    """The program with faults in it."""

    def __init__(self, folder, numbered):
        self.path, self.reached = folder / "program", folder / "reached"
        source = folder / "program.cpp"
        source.write_bytes(faults.write(program, numbered))
        subprocess.run(["clang++-22", "-std=c++20", "-Wall", "-Wextra", "-Werror", f"-I{root}", source, "-o", self.path], check=True)

    def run(self, number):
        """What it prints, and which faults it comes to."""
        self.reached.write_bytes(bytes(mutate.most_faults + 1))
        environment = {**os.environ, "PLIM_FAULT": str(number), "PLIM_FAULTS_REACHED": str(self.reached)}
        done = subprocess.run([self.path], env=environment, capture_output=True, text=True, timeout=20)
        return done.stdout.strip(), {index for index, byte in enumerate(self.reached.read_bytes()) if byte}


class FaultsTest(unittest.TestCase):
    def test_a_fault_is_there_when_it_is_asked_for(self):
        less = fault("number < 3", "number <= 3", "(FAULT ? (number <= 3) : (number < 3))")
        step = fault("++i", "--i", "(FAULT ? (--i) : (++i))")
        with tempfile.TemporaryDirectory() as name:
            made = Program(pathlib.Path(name), [(7, less), (4095, step)])
            self.assertEqual(made.run(0), ("1 2 3 4 4", {7, 4095}))
            self.assertEqual(made.run(7)[0], "1 2 3 4 4")
            self.assertEqual(made.run(4096)[0], "1 2 3 4 4")
        begin = fault("i < 5", "i <= 5", "(FAULT ? (i <= 5) : (i < 5))")
        with tempfile.TemporaryDirectory() as name:
            self.assertEqual(Program(pathlib.Path(name), [(1, begin)]).run(1), ("1 2 3 4 4 9", {1}))

    def test_lines_keep_their_numbers(self):
        both = "number < 3 &&\n         number > 0"
        text = faults.write(program, [(1, fault(both, "", f"(FAULT ? ({both}) : ({both}))"))])
        self.assertIn(b"#line 1\n", text)
        after = text.split(b"#line 1\n")[1].split(b"\n")
        self.assertEqual(after[7:], program.split(b"\n")[7:])
        self.assertTrue(fault(both, "", "").is_at("program.cpp", 6))
        self.assertFalse(fault(both, "", "").is_at("program.cpp", 7))
        self.assertFalse(fault(both, "", "").is_at("other.cpp", 6))

    def test_faults_that_overlap_do_not_stand_together(self):
        outer, inner, other = fault("!isSmall(i)", "", ""), fault("isSmall(i)", "", ""), fault("i < 5", "", "")
        self.assertEqual(faults.apart([inner, outer, other]), [inner, other])

    def test_a_compiler_is_told_the_same(self):
        self.assertEqual(faults.arguments_of("clang++ -DX='a b' -I/x -o a.o -c /x/a.cpp"), ["-DX=a b", "-I/x"])

    @unittest.skipUnless(importlib.util.find_spec("clang"), "needs python3-clang-22")
    def test_all_kinds_are_found_and_built(self):
        with tempfile.TemporaryDirectory() as name:
            source = pathlib.Path(name) / "program.cpp"
            source.write_bytes(program)
            found = faults.faults_of("program.cpp", source, ["-std=c++20"], name)
            for before, after in (("i < 5", "i <= 5"), ("++i", "--i"), ("if (i == 3)", "false"), ("continue", "break"),
                                  ("!isSmall(i)", "isSmall(i)"), ("sum += i", "sum -= i"), ("say(sum)", ""),
                                  ("std::min(i + 1, 4)", "std::max(i + 1, 4)")):
                self.assertIn((before, after), [(each.before, each.after) for each in found])
            for number, each in enumerate(found, 1):
                self.assertIn(number, Program(pathlib.Path(name), [(number, each)]).run(0)[1], str(each))


class JudgeTest(unittest.TestCase):
    def test_filecheck_tests_are_told_too(self):
        """lit hands on only those variables of its environment that it is told to."""
        told = {"PLIM_FAULT": "7", "PLIM_FAULTS_REACHED": "/reached"}
        config = types.SimpleNamespace(environment={}, available_features=set(), plim_build_root="", plim_tools_dir="", llvm_tools_dir="")
        path = root / "tests" / "lit" / "lit.cfg.py"
        with mock.patch.dict(os.environ, told), mock.patch.dict(sys.modules, {"lit": mock.Mock(), "lit.formats": mock.Mock()}):
            exec(compile(path.read_text(), path, "exec"), {"config": config, "__file__": str(path)})
        self.assertLessEqual(told.items(), config.environment.items())

    def test_numbers_are_those_of_a_seed(self):
        done = subprocess.run([sys.executable, "-B", root / "tests" / "mutation" / "mutate.py", "--only", "3"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("--only needs the --seed of the report", done.stderr)

    def test_the_quickest_tests_come_first(self):
        seconds = {"a": 50, "b": 1, "c": 12, "d": 8}
        self.assertEqual(mutate.rounds_of("abcd", seconds, [20, 30, 100]), [["b", "d"], ["c"], ["a"]])
        self.assertEqual(mutate.rounds_of("", seconds, [20, 30]), [[], []])

    def test_what_fails_is_named(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            copy = object.__new__(mutate.Copy)
            copy.build, copy.log = folder, folder / "log"
            (folder / "CTestTestfile.cmake").write_text(
                'add_test(good true)\nadd_test(bad.one sh "-c" "test $PLIM_FAULT -ne 3")\nadd_test(slow sleep 60)\n'
                'add_test(crash sh "-c" "kill -SEGV $$")\n')
            self.assertIsNone(copy.failing(2, ["good", "bad.one"], 60))
            self.assertEqual(copy.failing(3, ["good", "bad.one"], 60), "bad.one")
            self.assertEqual(copy.failing(3, ["crash"], 60), "crash")
            self.assertEqual(copy.failing(3, ["slow"], 1), "no end")


if __name__ == "__main__":
    unittest.main()
