#!/usr/bin/env python3
"""Tests the driver with a stand-in tool whose output each test dictates."""
import pathlib
import stat
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent

STUB = """#!{python}
import os, sys
sys.stderr.write("located: error: no\\n")
side = "oracle" if "--oracle" in sys.argv else "engine"
print(open(os.path.join({folder!r}, side)).read())
sys.exit(int(open(os.path.join({folder!r}, "status")).read()))
"""


class DriverTest(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.folder = pathlib.Path(self.temporary.name)
        self.tool = self.folder / "tool"
        self.tool.write_text(STUB.format(python=sys.executable, folder=str(self.folder)))
        self.tool.chmod(self.tool.stat().st_mode | stat.S_IXUSR)

    def drive(self, engine, oracle, header="// CASE:\n", tolerance="0", status=0,
              code="// NO-REFERENCE: no code\n", options=()):
        (self.folder / "engine").write_text(engine)
        (self.folder / "oracle").write_text(oracle)
        (self.folder / "status").write_text(str(status))
        module = self.folder / "module.mlir"
        start = "" if "func.func" in code else code
        module.write_text(f"{start}// RUN-FUNCTION: @main\n// TOLERANCE: {tolerance}\n{header}{code}")
        done = subprocess.run([sys.executable, str(HERE / "run.py"), str(self.tool), str(module), *options],
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def assertPasses(self, *arguments, **keywords):
        status, text = self.drive(*arguments, **keywords)
        self.assertEqual(status, 0, text)
        self.assertIn("1 passed, 0 failed", text)

    def assertFails(self, what, *arguments, **keywords):
        status, text = self.drive(*arguments, **keywords)
        self.assertEqual(status, 1, text)
        self.assertIn(what, text)

    def test_equal_values_pass(self):
        self.assertPasses("result[0]: 2xf32=[1, nan]", "result[0]: 2xf32=[1.0, nan]")
        self.assertPasses("result[0]: 0x3xf32=[]", "result[0]: 0x3xf32=[]")
        self.assertPasses("result[0]: index=5\narg[1]: 1xindex=[2]",
                          "result[0]: index=5\narg[1]: 1xindex=[2]")

    def test_digits_are_read_in_the_precision_of_the_type(self):
        for element, short, long in (("bf16", "0.1", "0.100097656"), ("f16", "0.1", "0.09998"),
                                     ("f32", "0.1", "0.100000001"), ("f32", "1e39", "inf"),
                                     ("bf16", "-3.4e38", "-3.4e38"), ("f16", "-1e6", "-inf")):
            self.assertPasses(f"result[0]: {element}={short}", f"result[0]: {element}={long}")
        self.assertFails("differ", "result[0]: f64=0.1", "result[0]: f64=0.100000001")
        self.assertFails("differ", "result[0]: f32=0.1", "result[0]: f32=0.10000002")

    def test_exact_integers(self):
        self.assertFails("element 0 is 9007199254740993", "result[0]: i64=9007199254740993",
                         "result[0]: i64=9007199254740992")

    def test_tolerance_is_relative_to_the_scale_of_the_tensor(self):
        self.assertPasses("result[0]: 2xf32=[1000.5, 0.5]", "result[0]: 2xf32=[1000, 0]",
                          tolerance="1e-3")
        self.assertFails("1 of 2 differ", "result[0]: 2xf32=[1002, 0]",
                         "result[0]: 2xf32=[1000, 0]", tolerance="1e-3")
        self.assertFails("wanted 0.0;", "result[0]: f32=1e-9", "result[0]: f32=0", tolerance="1")
        self.assertFails("differ", "result[0]: f32=inf", "result[0]: f32=1e38", tolerance="1")
        self.assertFails("differ", "result[0]: f32=nan", "result[0]: f32=1", tolerance="1")

    def test_types_and_labels_must_agree(self):
        self.assertFails("type", "result[0]: 2xf32=[1, 2]", "result[0]: 1x2xf32=[[1, 2]]")
        self.assertFails("type", "result[0]: f32=1", "result[0]: f64=1")
        self.assertFails("printed result[0]", "result[0]: f32=1",
                         "result[0]: f32=1\nresult[1]: f32=1")

    def test_expected_values_judge_both_sides(self):
        header = "// CASE:\n// INPUT: f32=1\n// EXPECT: result[0]: f32=2\n"
        self.assertPasses("result[0]: f32=2", "result[0]: f32=2", header)
        self.assertFails("oracle against EXPECT", "result[0]: f32=2", "result[0]: f32=3", header)
        self.assertFails(": against EXPECT", "result[0]: f32=3", "result[0]: f32=2", header)
        self.assertFails("result[1]: not printed", "result[0]: f32=2", "result[0]: f32=2",
                         header + "// EXPECT: result[1]: f32=2\n")

    def test_silence_and_failure_of_the_tool(self):
        self.assertFails("printed no value", "", "result[0]: f32=1")
        self.assertFails("oracle: printed no value", "result[0]: f32=1", "")
        self.assertFails("exit 1: located: error: no", "result[0]: f32=1", "result[0]: f32=1",
                         status=1)
        self.assertFails("cannot read the value", "result[0]: 2xf32", "result[0]: f32=1")
        self.assertFails("elements announced", "result[0]: 2xf32=[1]", "result[0]: f32=1")

    def test_the_reference_judges_both_sides(self):
        header = "// CASE:\n// INPUT: 2xf32=1 2\n"
        code = ("func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
                "  %y = arith.addf %x, %x : tensor<2xf32>\n  return %y : tensor<2xf32>\n}\n")
        good, bad = "result[0]: 2xf32=[2, 4]", "result[0]: 2xf32=[2, 5]"
        self.assertPasses(good, good, header, code=code)
        self.assertFails(": against the reference: result[0]: element 1 is 5.0", bad, good, header,
                         code=code)
        self.assertFails("oracle against the reference", good, bad, header, code=code)
        self.assertFails("against the reference", bad, bad, header, code=code)

    def test_the_reference_sees_signs_of_zeros(self):
        header = "// CASE:\n// INPUT: f32=0\n"
        code = "func.func @main(%x: f32) -> f32 {\n  %y = arith.negf %x : f32\n  return %y : f32\n}\n"
        plus, minus = "result[0]: f32=0", "result[0]: f32=-0"
        self.assertPasses(minus, minus, header, code=code)
        self.assertFails("element 0 is 0.0, wanted -0.0", plus, minus, header, code=code)
        self.assertPasses(plus, plus, header, code=code, tolerance="1e-6")

    def test_the_reference_writes_memory(self):
        header = "// CASE:\n// INPUT: 2xi8=100 3\n"
        code = ("func.func @main(%x: memref<2xi8>) {\n  %c0 = arith.constant 0 : index\n"
                "  %v = memref.load %x[%c0] : memref<2xi8>\n  %s = arith.addi %v, %v : i8\n"
                "  memref.store %s, %x[%c0] : memref<2xi8>\n  return\n}\n")
        good = "arg[0]: 2xi8=[-56, 3]"
        self.assertPasses(good, good, header, code=code)
        self.assertFails("against the reference: arg[0]", "arg[0]: 2xi8=[100, 3]", good, header,
                         code=code)

    def test_a_reference_that_is_not_possible(self):
        code = "func.func @main(%x: f32) -> f32 {\n  %y = test.op %x : f32\n  return %y : f32\n}\n"
        for code, what in ((code, "reference: cannot read the module"),
                           ("func.func private @main(%x: f32) -> f32\n", "@main has no body")):
            self.assertFails(what, "result[0]: f32=1", "result[0]: f32=1",
                             "// CASE:\n// INPUT: f32=1\n", code=code)

    def test_broken_headers(self):
        for header, what in (("", "no CASE"), ("// INPUT: f32=1\n// CASE:\n", "before the first"),
                             ("// CASE:\n// EXPECT: f32=1\n", "EXPECT must be"),
                             ("// PARAM: w\n// CASE:\n", "PARAM must be"),
                             ("// NO-REFERENCE:\n// CASE:\n", "NO-REFERENCE must say why")):
            self.assertFails(what, "result[0]: f32=1", "result[0]: f32=1", header)

    def test_a_share_of_the_runs_must_launch_the_device(self):
        value = "result[0]: i32=1\n"
        for launches, minimum, passes in ((3, "1", True), (0, "1", False), (0, "0.1", False),
                                          (0, "0", True)):
            # What the oracle launches does not count.
            status, text = self.drive(f"{value}launches: {launches}", f"{value}launches: {3 - launches}",
                                      options=["--launches", minimum])
            self.assertEqual(status, 0 if passes else 1, text)
            self.assertIn(f"{2 * launches} launches of a device, in {launches > 0:.3f} of 2 runs", text)
        # A tool that does not say so.
        status, text = self.drive(value, value, options=["--launches", "0"])
        self.assertEqual(status, 1, text)
        self.assertIn("1 passed, 0 failed", text)

    def test_no_case_is_a_failure(self):
        empty = self.folder / "empty"
        empty.mkdir()
        for path, what in ((empty, "0 passed, 0 failed"), (self.folder / "absent", "no such file")):
            done = subprocess.run([sys.executable, str(HERE / "run.py"), str(self.tool), str(path)],
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn(what, done.stdout + done.stderr)

    def test_every_module_has_a_readable_header(self):
        sys.path.insert(0, str(HERE))
        import run
        modules = list(run.find_modules([HERE]))
        cases = [case for module in modules for case in run.read_cases(module)]
        self.assertGreater(len(modules), 150)
        self.assertGreater(sum(bool(case.expected) for case in cases), 200)


if __name__ == "__main__":
    unittest.main()
