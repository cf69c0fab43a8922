#!/usr/bin/env python3
"""Tests of guides.py on small guides, right and wrong ones."""

import os
import tempfile
import unittest

import guides


class Guides(unittest.TestCase):
    def run_guide(self, text):
        with tempfile.TemporaryDirectory(prefix="plimsoll-guides-") as folder:
            path = f"{folder}/guide.md"
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            return guides.run_guide(path, f"{folder}/guide", dict(os.environ))

    def assert_fault(self, part, text):
        with self.assertRaises(guides.Fault) as raised:
            self.run_guide(text)
        self.assertIn(part, str(raised.exception))

    def session(self, text):
        return f"# Guide\n\n```console\n{text}\n```\n"

    def test_files_and_sessions_share_a_folder(self):
        self.assertEqual(self.run_guide("<!-- file: a -->\n```text\none\n```\n\n<!-- more: a -->\n```text\ntwo\n```\n\n"
                                        + self.session("$ cat a\none\ntwo\n$ wc -l < a\n2")), 3)

    def test_what_is_printed_is_compared_as_a_whole(self):
        self.run_guide(self.session("$ printf 'a\\nb\\n'\na\nb"))
        self.assert_fault("4: $ printf", self.session("$ printf 'a\\nb\\n'\na"))
        self.assert_fault("--- expected\nb", self.session("$ echo a\nb"))
        self.assert_fault("--- printed\na\n", self.session("$ echo a"))
        self.assert_fault("5: $ echo b", self.session("$ true\n$ echo b"))

    def test_dots_stand_for_anything(self):
        self.run_guide(self.session("$ printf 'a\\nb\\nc\\n'\na\n...\nc"))
        self.run_guide(self.session("$ printf 'a\\nc\\n'\na\n...\nc"))
        self.run_guide(self.session("$ echo 12 us\n... us"))
        self.assert_fault("expected", self.session("$ echo 12 ms\n... us"))
        self.assert_fault("expected", self.session("$ printf 'a\\nb\\n'\n...\na"))

    def test_an_exit_status_is_compared(self):
        self.run_guide(self.session("$ echo no; false\nno\n[1]"))
        self.assert_fault("exit status 1, expected 0", self.session("$ false"))
        self.assert_fault("exit status 0, expected 1", self.session("$ true\n[1]"))

    def test_commands_may_go_over_lines(self):
        self.run_guide(self.session("$ echo a \\\n> b\na b"))

    def test_a_session_may_need_something(self):
        needs = "# Guide\n\n<!-- if: {} > /dev/null -->\n```console\n$ echo a\n{}\n```\n"
        self.assertEqual(self.run_guide(needs.format("false", "b")), 1)
        self.assertEqual(self.run_guide(needs.format("true", "a")), 1)
        self.assert_fault("--- printed\na\n", needs.format("true", "b"))
        self.assert_fault("a snippet that is neither", "# Guide\n\n<!-- if: false -->\n```c\nint x;\n```\n")

    def test_each_snippet_is_looked_at(self):
        self.assert_fault("3: a snippet that is neither", "# Guide\n\n```c\nint x;\n```\n")
        self.assert_fault("without an end", "# Guide\n\n```console\n$ true\n")
        self.assert_fault("must begin with a command", self.session("hello"))
        self.assert_fault("without snippets", "# Guide\n")


if __name__ == "__main__":
    unittest.main()
