#!/usr/bin/env python3
"""Tests the client of plim_served with a stand-in that does as it is told; and, with its path, plim_served itself."""
import pathlib
import stat
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))
import commands  # noqa: E402

STUB = """#!{python}
import os, signal, sys, time
calls = 0
at_end = 0
for line in sys.stdin:
    words = line[:-1].split("\\t")
    calls += 1
    if words[0] == "die":
        os.kill(os.getpid(), signal.SIGSEGV)
    if words[0] == "leave":
        sys.exit(0)
    if words[0] == "hang":
        time.sleep(60)
    at_end = len(words) if words[0] == "0" else at_end
    out, err = "|".join(words[1:]) * int(words[0]), str(calls)
    print(3, len(out), len(err))
    print(out + err, end="", flush=True)
sys.exit(at_end)
"""

MODULE = """
ml_program.global private mutable @count(dense<0> : tensor<i64>) : tensor<i64>
func.func @next(%x: i64) -> i64 {
  %t = ml_program.global_load @count : tensor<i64>
  %v = tensor.extract %t[] : tensor<i64>
  %w = arith.addi %v, %x : i64
  %e = tensor.from_elements %w : tensor<i64>
  ml_program.global_store @count = %e : tensor<i64>
  return %w : i64
}
"""
served = None


class ClientTest(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.folder = pathlib.Path(self.temporary.name)
        self.stub = self.folder / "stub"
        self.stub.write_text(STUB.format(python=sys.executable))
        self.stub.chmod(self.stub.stat().st_mode | stat.S_IXUSR)
        self.addCleanup(lambda: commands.end(str(self.stub)))

    def run_stub(self, *words, timeout=20):
        return commands.run(["plimsoll", "run", *words], timeout, str(self.stub))

    def expect(self, count, *words, call):
        done = self.run_stub(str(count), *words)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (3, "|".join(words) * count, str(call)))

    def test_one_process_answers_all(self):
        self.expect(1, "a", "b c", call=1)
        self.expect(0, call=2)
        self.expect(300000, "a long answer", call=3)

    def test_an_end_is_the_status_of_its_command_alone(self):
        self.expect(1, "a", call=1)
        self.assertEqual(self.run_stub("die").returncode, -11)
        self.expect(1, "a", call=1)
        self.assertNotEqual(self.run_stub("leave").returncode, 3)
        self.expect(1, "a", call=1)

    def test_what_takes_too_long_is_ended(self):
        with self.assertRaises(subprocess.TimeoutExpired):
            self.run_stub("hang", timeout=0.2)
        self.expect(1, "a", call=1)

    def test_a_bad_end_is_told(self):
        for words, is_good in (("1", "a"), True), (("0", "a"), False):
            self.assertEqual(self.run_stub(*words).returncode, 3)
            self.assertEqual(commands.finish(), is_good)

    def test_what_cannot_be_said_is_refused(self):
        for command in (["plimsoll", "run", "a\tb"], ["plimsoll", "run", "a\nb"], ["plimsoll", "explain", "a"]):
            with self.assertRaises(ValueError):
                commands.run(command, 20, str(self.stub))

    def test_others_start(self):
        done = commands.run([sys.executable, "-c", "print(1); raise SystemExit(4)"], 20)
        self.assertEqual((done.returncode, done.stdout), (4, "1\n"))


class ServedTest(unittest.TestCase):
    def setUp(self):
        if not served:
            self.skipTest("no plim_served given")
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.file = pathlib.Path(self.temporary.name) / "module.mlir"
        self.file.write_text(MODULE)
        self.addCleanup(lambda: commands.end(served))

    def run_served(self, *words):
        return commands.run([served, "run", *map(str, words)], 60, served)

    def test_calls_have_variables_of_their_own(self):
        for number in (1, 2):
            done = self.run_served(self.file, "--input=i64=5")
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "result[0]: i64=5\n", ""))

    def test_failures_are_told(self):
        done = self.run_served(self.file)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("error: ", done.stderr)
        self.assertEqual(self.run_served(self.file, "--no-such-option").returncode, 2)
        other = self.file.with_name("other.mlir")
        other.write_text("func.func @f(")
        self.assertIn(f"{other}:1:", self.run_served(other).stderr)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        served = sys.argv.pop(1)
    unittest.main()
