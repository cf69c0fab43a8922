#!/usr/bin/env python3
"""Doxygen's input filter for the public C headers, whose comments are plain ones, and for documents.

    filter.py FILE

A comment in front of a declaration, or behind one on its line, becomes its documentation; that of the file its page.
Declarations that follow each other without an empty line share the comment in front of the first. Of pictures Doxygen
does not know paths that go up.
"""

import re
import sys


def page(text):
    """The comment of a file: indented paragraphs are code, and a line above an indented one is a heading."""
    blocks = []
    for block in re.split(r"\n\s*\n", text):
        lines = block.split("\n")
        indented = [line.startswith("  ") for line in lines]
        if all(indented):
            blocks.append("\n".join(["@code", *lines, "@endcode"]))
        elif len(lines) > 1 and not indented[0] and all(indented[1:]):
            blocks.append("\n".join([f"### {lines[0]}", *(line.strip() for line in lines[1:])]))
        else:
            blocks.append(block)
    return "\n\n".join(blocks)


def inside(comment):
    """The text of a comment, without what frames it."""
    lines = comment[2:-2].strip("\n").split("\n")
    return "\n".join(re.sub(r"^ ?\* ?", "", line) if i else line.removeprefix(" ") for i, line in enumerate(lines)).strip()


def document(source):
    head = re.match(r"/\*.*?\*/", source, flags=re.DOTALL)
    # At the end, so that lines keep their numbers in warnings.
    tail = f"/** @file\n{page(inside(head[0]))}\n*/\n"
    out, shared, lines = [], None, ("\n" * head[0].count("\n") + source[head.end():]).split("\n")
    position = 0
    while position < len(lines):
        line = lines[position]
        if re.match(r"\s*/\*", line):
            begin = position
            while "*/" not in lines[position]:
                position += 1
            comment = lines[begin:position + 1]
            comment[0] = comment[0].replace("/*", "/**", 1)
            out += comment
            shared = None if line.startswith(" ") else " ".join(re.sub(r"^ \* ", "", part) for part in comment)
            fresh = True
        else:
            if not line.strip():
                shared = None
            elif re.match(r"(PLIM_NODISCARD|PLIM_API|typedef|enum|#define)\b", line):
                if shared and not fresh:
                    line = f"{shared} {line}"
                fresh = False
            out.append(line if line.startswith("#") else re.sub(r"(\S.*?)/\* (.*)$", r"\1/**< \2", line))
        position += 1
    return "\n".join(out) + tail


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        text = file.read()
    sys.stdout.write(document(text) if sys.argv[1].endswith(".h") else text.replace("](../pictures/", "](docs/pictures/"))
