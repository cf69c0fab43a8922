#!/usr/bin/env python3
"""Builds the site, and sees that faults of the documents are found.

    site_test.py SOURCE OUT
"""

import os
import shutil
import sys
import tempfile
import unittest

SOURCE, OUT = map(os.path.abspath, sys.argv[1:3]) if len(sys.argv) > 2 else ("", "")
sys.path.insert(0, f"{SOURCE}/docs/site")
import build  # noqa: E402


class Site(unittest.TestCase):
    def page(self, name):
        with open(f"{OUT}/{name}", encoding="utf-8") as file:
            return file.read()

    def test_a_built_site_has_no_faults(self):
        self.assertEqual(build.main([OUT]), 0)
        self.assertIn("An embeddable JIT execution engine", self.page("index.html"))
        status = self.page("status_8h.html")
        self.assertIn("The place that the message speaks of", status)
        # Both getters of it, which have one comment.
        self.assertGreater(status.count("and column from 1 on"), 1)
        pages = self.page("pages.html")
        for title in ("The plim dialect", "The passes", "The C interface", "Glossary", "Embed in ten minutes"):
            self.assertIn(title, pages)

    def test_pictures_are_there_and_small(self):
        pictures = sorted(os.listdir("docs/pictures"))
        self.assertNotEqual(pictures, [])
        for name in pictures:
            self.assertTrue(os.path.exists(f"{OUT}/{name}"), f"no document shows {name}")
            self.assertLess(os.path.getsize(f"docs/pictures/{name}"), 150 << 10)

    def faults(self, header):
        with tempfile.TemporaryDirectory(prefix="plimsoll-site-") as folder:
            with open(f"{folder}/thing.h", "w", encoding="utf-8") as file:
                file.write("/* Thing: something. */\n" + header)
            return build.doxygen(f"{folder}/out", f'INPUT = "{folder}"\nUSE_MDFILE_AS_MAINPAGE =')

    def test_documented_declarations_pass(self):
        self.assertEqual(self.faults("/* What it does.\n * And how. */\nPLIM_API int plim_one(void);\n"
                                     "PLIM_API int plim_two(void);\n"), [])
        self.assertEqual(self.faults("/* A pair. */\n"
                                     "typedef struct pair {\n  int a; /* the first */\n  int b;\n} pair;\n"), [])

    def test_a_function_without_a_comment_is_a_fault(self):
        [fault] = self.faults("/* What it does. */\nPLIM_API int plim_one(void);\n\nPLIM_API int plim_two(void);\n")
        self.assertRegex(fault, r"thing\.h:5: .*plim_two.* is not documented")

    def test_a_struct_without_a_comment_is_a_fault(self):
        faults = self.faults("typedef struct pair { int a; } pair;\n")
        self.assertTrue(any("pair is not documented" in fault for fault in faults), faults)

    def test_a_wrong_link_is_a_fault(self):
        self.assertNotEqual(self.faults("/* See #plim_none. */\nPLIM_API int plim_one(void);\n"), [])


if __name__ == "__main__":
    if not OUT:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    if not shutil.which("doxygen"):
        print("there is no doxygen")
        sys.exit(77)  # CTest takes that as skipped
    os.chdir(SOURCE)
    unittest.main(argv=sys.argv[:1])
