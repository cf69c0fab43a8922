#!/usr/bin/env python3
"""Does every pass say what it does, with an example, count what it did, and have a test of its own?

passes.py SOURCE_DIR: of each pass of ir/*/Passes.td a summary, a description with IR, a statistic, and tests/lit/FOLDER/NAME.mlir.
"""
import re
import sys
from pathlib import Path


def faults(root):
    for registry in sorted(root.glob("ir/*/Passes.td")):
        passes = re.findall(r'^def (\w+) : Pass<"(plim-[\w-]+)"(.*?)^}', registry.read_text(), re.S | re.M)
        if not passes:
            yield f"{registry}: no passes"
        for name, flag, body in passes:
            for what, pattern in (("summary", r"let summary = \"\S"), ("IR in its description", r"```mlir\n.*?```"), ("statistic", r"Statistic<")):
                if not re.search(pattern, body, re.S):
                    yield f"{registry}: {name} has no {what}"
            test = root / "tests/lit" / registry.parent.name / f"{flag.removeprefix('plim-')}.mlir"
            if not test.exists():
                yield f"{registry}: {name} has no test {test}"


def main():
    found = list(faults(Path(sys.argv[1])))
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
