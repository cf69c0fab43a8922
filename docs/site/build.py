#!/usr/bin/env python3
"""Writes the documents and the references as plain HTML.

    build.py OUT [MLIR_TBLGEN]

From the root of the checkout; start with OUT/index.html. The references of the dialect and of the passes come from
their sources, that of the C interface from its headers. Exits 1 where Doxygen has something to say, as it
does of a public declaration of C without a comment.
"""

import os
import re
import shutil
import subprocess
import sys

MLIR_INCLUDE = "/usr/lib/llvm-22/include"
# Folders of ir/ with passes, in the order of the pipeline.
STAGES = ("Import", "Dispatch", "Access", "Codegen", "Memory", "Schedule", "Conversion")
# Fields and members of the wrapper may leave it at their names.
MAY_BE_UNDOCUMENTED = r"\.hpp:\d+: .* is not documented|\(variable\) of struct \w+ is not documented"


def tablegen(program, arguments):
    text = subprocess.run([program, "-I", MLIR_INCLUDE, "-I", ".", *arguments], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    return re.sub(r"(?<!\w)::(?=\w)", "", text)  # which Doxygen takes for links


def doxygen(out, options):
    """Writes the pages and returns what is wrong with them."""
    with open("docs/site/Doxyfile", encoding="utf-8") as file:
        options = f'{file.read()}OUTPUT_DIRECTORY = "{out}"\n{options}\n'
    log = subprocess.run(["doxygen", "-"], input=options, check=True, text=True, stderr=subprocess.STDOUT,
                         stdout=subprocess.PIPE).stdout
    return [line for line in log.splitlines() if line.strip() and not re.search(MAY_BE_UNDOCUMENTED, line)]


def main(arguments):
    if len(arguments) not in (1, 2):
        print(__doc__, file=sys.stderr)
        return 2
    out, program = arguments[0], arguments[1] if len(arguments) == 2 else "mlir-tblgen-22"
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(f"{out}/sources")
    dialect, passes = f"{out}/sources/PlimDialect.md", f"{out}/sources/PlimPasses.md"
    with open(dialect, "w", encoding="utf-8") as file:
        file.write("# The plim dialect\n\n")
        file.write(tablegen(program, ["-gen-dialect-doc", "-dialect=plim", "ir/Plim/PlimOps.td"]))
    with open(passes, "w", encoding="utf-8") as file:
        file.write("# The passes\n")
        for stage in STAGES:
            text = tablegen(program, ["-gen-pass-doc", f"ir/{stage}/Passes.td"])
            file.write(f"\n## {stage}\n\n" + re.sub("^(?=##)", "#", text, flags=re.MULTILINE))
    faults = doxygen(out, f'INPUT += "{dialect}" "{passes}"')
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
