#!/usr/bin/env python3
"""Tests of abi.py: small libraries, each changed in one way, and whether that is let through."""

import io
import os
import shutil
import subprocess
import tempfile
import unittest
from contextlib import redirect_stdout

import abi

HEADER = """
#include <stdint.h>
typedef struct plim_thing plim_thing;
typedef struct plim_options { uint32_t struct_size; uint32_t flags; uint64_t bytes; } plim_options;
typedef struct plim_value { uint32_t kind; uint64_t bits; } plim_value;
plim_thing *plim_create(const plim_options *options, uint32_t count);
void plim_set(plim_thing *thing, plim_value value);
"""
SOURCE = """
#include "thing.h"
struct plim_thing { uint64_t inside; };
plim_thing *plim_create(const plim_options *options, uint32_t count) { return 0; }
void plim_set(plim_thing *thing, plim_value value) {}
"""


@unittest.skipUnless(shutil.which("abidw"), "abidw is missing (Debian: abigail-tools)")
class Abi(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="plimsoll-abi-test-")
        self.addCleanup(self.folder.cleanup)
        self.reference = os.path.join(self.folder.name, "reference.abi")
        self.border = os.path.join(self.folder.name, "Border.h")
        self.write_border("")
        self.silently(abi.renew, self.build("reference"))

    def build(self, name, *changes, soname="libthing.so.0"):
        """A library in a folder of its own, with texts replaced in header and source."""
        folder = os.path.join(self.folder.name, name)
        os.makedirs(folder)
        header, source = HEADER, SOURCE
        for before, after in changes:
            self.assertIn(before, header + source)
            header, source = header.replace(before, after), source.replace(before, after)
        for file, text in (("thing.h", header), ("thing.c", source)):
            with open(os.path.join(folder, file), "w", encoding="utf-8") as out:
                out.write(text)
        subprocess.run([os.environ.get("CC", "cc"), "-g", "-shared", "-fPIC", "-o", f"{folder}/libthing.so",
                        f"-Wl,-soname,{soname}", f"{folder}/thing.c"], check=True)
        return folder

    def write_border(self, text):
        with open(self.border, "w", encoding="utf-8") as file:
            file.write(text)

    def silently(self, command, folder):
        output = io.StringIO()
        with redirect_stdout(output):
            status = command(f"{folder}/libthing.so", folder, self.border, self.reference)
        return status, output.getvalue()

    def assert_passes(self, *changes):
        status, output = self.silently(abi.check, self.build("now", *changes))
        self.assertEqual(status, 0, output)

    def assert_fails(self, part, *changes):
        status, output = self.silently(abi.check, self.build("now", *changes))
        self.assertEqual(status, 1, output)
        self.assertIn(part, output)
        self.assertIn("./dev abi", output)

    def test_nothing_changed(self):
        self.assert_passes()

    def test_the_inside_may_change(self):
        self.assert_passes(("uint64_t inside;", "char inside[100];"))

    def test_a_function_may_come(self):
        self.assert_passes(("void plim_set(plim_thing *thing, plim_value value) {}",
                            "void plim_set(plim_thing *thing, plim_value value) {} void plim_more(void) {}"))

    def test_a_struct_that_knows_its_size_may_grow(self):
        self.write_border("template <> struct FirstSize<plim_options> {\n"
                          "  static constexpr size_t value = offsetof(plim_options, more);\n};\n")
        self.assert_passes(("uint64_t bytes; }", "uint64_t bytes; double more; uint32_t last; }"))

    def test_a_struct_may_not_grow_if_the_library_refuses_it_as_it_was(self):
        # Without a first size, and with one of what came later still.
        for border in ("", "template <> struct FirstSize<plim_options> {\n"
                           "  static constexpr size_t value = offsetof(plim_options, last);\n};\n"):
            self.write_border(border)
            folder = self.build(f"now{len(border)}", ("uint64_t bytes; }", "uint64_t bytes; double more; uint32_t last; }"))
            for command in (abi.check, abi.renew):
                status, output = self.silently(command, folder)
                self.assertEqual(status, 1, output)
                self.assertIn("plim_options", output)
                self.assertIn("FirstSize", output)

    def test_a_function_may_not_go(self):
        self.assert_fails("plim_set", ("void plim_set", "static inline void plim_set"))

    def test_a_parameter_may_not_change(self):
        self.assert_fails("plim_create", ("uint32_t count", "uint64_t count"))

    def test_a_struct_that_does_not_know_its_size_may_not_grow(self):
        self.assert_fails("plim_value", ("uint64_t bits; }", "uint64_t bits; uint64_t more; }"))

    def test_a_field_may_not_move(self):
        self.assert_fails("plim_options", ("uint32_t flags; uint64_t bytes;", "uint64_t bytes; uint32_t flags;"))

    def test_a_field_may_not_move_while_another_is_appended(self):
        self.assert_fails("plim_options", ("uint64_t bytes; }", "uint32_t bytes; uint32_t new; double more; }"))

    def test_a_field_may_not_go(self):
        self.assert_fails("plim_options", (" uint64_t bytes; }", " }"))

    def test_the_name_of_the_library_may_not_change(self):
        status, output = self.silently(abi.check, self.build("now", soname="libthing.so.1"))
        self.assertEqual(status, 1, output)
        self.assertIn("SONAME", output)

    def test_a_library_without_debug_information_is_no_agreement(self):
        folder = self.build("now")
        subprocess.run(["strip", "--strip-debug", f"{folder}/libthing.so"], check=True)
        with self.assertRaises(SystemExit):
            self.silently(abi.check, folder)


if __name__ == "__main__":
    unittest.main()
