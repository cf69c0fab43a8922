#!/usr/bin/env python3
"""Are the files and functions there that docs/design/walks.md goes through?

walks.py SOURCE_DIR: a path in code marks is a file or a folder; a name behind it, "`jit/Compiler.cpp`, `lower`", is a function or class of that file.
"""
import re
import sys
from pathlib import Path

PATH = re.compile(r"[a-z]\w*(?:/[\w.-]+)+")
STEP = re.compile(r"`([a-z]\w*(?:/[\w.-]+)+)`,\s+`(\w+)`(?:\s+and\s+`(\w+)`)?")


def missing(root, page):
    """What the page names that is not there."""
    for path in re.findall(r"`([^`\n]+)`", page):
        if PATH.fullmatch(path) and not (root / path).exists():
            yield path
    for path, *names in STEP.findall(page):
        text = (root / path).read_text() if (root / path).is_file() else ""
        for name in filter(None, names):
            if not re.search(rf"\b(?:class|struct)\s+{name}\b|\b{name}\(", text):
                yield f"{name} in {path}"


def main():
    root = Path(sys.argv[1])
    bad = list(missing(root, (root / "docs/design/walks.md").read_text()))
    for name in bad:
        print(f"docs/design/walks.md: there is no {name}")
    # The check itself.
    wrong = "`jit/Nothing.cpp` `jit/Compiler.cpp`, `sail`"
    blind = list(missing(root, wrong)) != ["jit/Nothing.cpp", "sail in jit/Compiler.cpp"]
    if blind:
        print("names that are not there are not found out")
    return 1 if bad or blind else 0


if __name__ == "__main__":
    sys.exit(main())
