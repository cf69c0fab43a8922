#!/usr/bin/env python3
"""Tests of mutate.py that need neither a copy nor a build."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parent))

import mutate  # noqa: E402


def copy_at(folder):
    copy = object.__new__(mutate.Copy)
    copy.folder, copy.build, copy.log, copy.limits = folder, folder, subprocess.DEVNULL, {}
    return copy


class MutateTest(unittest.TestCase):
    def test_what_takes_too_long_did_not_fail(self):
        def result(command):
            return mutate.run(["sh", "-c", command], ".", 1, subprocess.DEVNULL)
        self.assertEqual(result("exit 0"), "ok")
        self.assertEqual(result("exit 1"), "failed")
        self.assertEqual(result("exec sleep 30"), "late")

    def test_a_failure_is_looked_for_behind_what_takes_too_long(self):
        results = {"a": "ok", "b": "late", "c": "failed", "d": "late"}
        for labels, verdict in (("a", None), ("ab", ("b", "late")), ("abc", ("c", "failed")), ("bd", ("b", "late")),
                                ("cb", ("c", "failed"))):
            self.assertEqual(mutate.judge(labels, results.get), verdict)

    def test_faults_get_more_time_than_there_was_without(self):
        for seconds in (0, 1, 600, mutate.most_seconds):
            self.assertGreater(mutate.limit_of(seconds), 2 * seconds)
        copy = copy_at(pathlib.Path("."))
        limits = []
        copy.test = lambda label, seconds: limits.append(seconds) or "ok"
        self.assertTrue(copy.measure("unit"))
        self.assertEqual(limits, [mutate.most_seconds])
        self.assertGreaterEqual(copy.limits["unit"], mutate.limit_of(0))

    def test_no_tests_are_no_success(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "CTestTestfile.cmake").write_text(
                "add_test(good true)\nset_tests_properties(good PROPERTIES LABELS there)\n")
            copy = copy_at(folder)
            self.assertTrue(copy.measure("there"))
            self.assertFalse(copy.measure("elsewhere"))


if __name__ == "__main__":
    unittest.main()
