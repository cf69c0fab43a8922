#!/usr/bin/env python3
"""Do the tests exist that docs/design/hazards.md and placement.md name?

named_tests.py SOURCE_DIR: `Suite.Name` and `Suite.*` of GoogleTest, `capi.name` and
`cross.name` of CTest, test_name of pytest, and paths.
"""
import re
import sys
from pathlib import Path


def text_of(root, pattern):
    return "\n".join(path.read_text() for path in sorted(root.glob(pattern)))


def missing(root, page):
    """What the page names that is not there."""
    googletest = {f"{suite}.{name}" for suite, name in
                  re.findall(r"^TEST(?:_[FP])?\(\s*(\w+),\s*(\w+)\)", text_of(root, "tests/**/*.cpp"), re.M)}
    suites = {name.split(".")[0] for name in googletest}
    lists = text_of(root, "tests/**/CMakeLists.txt")
    tables = text_of(root, "tests/capi/*.c")
    python = set(re.findall(r"^def (test_\w+)", text_of(root, "tests/python/*.py"), re.M))
    for name in re.findall(r"`([^`\n]+)`", page):
        if re.fullmatch(r"(tests|jit)/[\w./]+", name):
            found = (root / name).exists()
        elif name.startswith(("capi.", "cross.")):
            order = re.sub(r"_(before|after)$", "_${order}", name)
            found = any(f"NAME {each}" in lists for each in (name, order)) or f'"{name[5:]}"' in tables
        elif re.fullmatch(r"[A-Z]\w+\.\w+", name):
            found = name in googletest
        elif re.fullmatch(r"[A-Z]\w+\.\*", name):
            found = name[:-2] in suites
        elif name.startswith("test_"):
            found = name in python
        else:
            continue
        if not found:
            yield name


def missing_titles(root, page):
    """Cases of tests/export that the page names, `PATH`: "TITLE" and "TITLE", which are not in the file."""
    for path, titles in re.findall(r'`(tests/export/\w+\.py)`: ("[^|;]+")', page):
        text = (root / path).read_text()
        for title in re.findall(r'"[^"]+"', titles):
            if f"{title}: (" not in text:
                yield f"{title} in {path}"


def main():
    root = Path(sys.argv[1])
    bad = []
    for page in ("docs/design/hazards.md", "docs/design/placement.md"):
        text = (root / page).read_text()
        names = [*missing(root, text), *missing_titles(root, text)]
        bad += names
        for name in names:
            print(f"{page}: there is no {name}")
    # The check itself: a name of each kind that is not there.
    wrong = "`Folder.Nothing` `Nothing.*` `capi.no_such_test` `cross.nothing` `test_nothing` `tests/nothing`"
    blind = len(list(missing(root, wrong))) != 6 or not list(missing_titles(root, '`tests/export/features.py`: "nothing"'))
    if blind:
        print("names that are not there are not found out")
    return 1 if bad or blind else 0


if __name__ == "__main__":
    sys.exit(main())
