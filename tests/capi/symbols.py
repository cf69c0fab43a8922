#!/usr/bin/env python3
"""Compares what a library exports with what the public headers declare.

    symbols.py LIBRARY HEADERS NM READELF [NAMESPACE]
    symbols.py --called-in FILE HEADERS

The first prints one line per symbol that is in but one of both, and exits 1 when there is any; likewise if the library
needs MLIR's shared one, of which a process can have but one, or has anything of a C++ namespace in it. The second prints what a file of the tests does not name.
"""

import os
import re
import subprocess
import sys


def exported(nm, library):
    lines = subprocess.run([nm, "-D", "--defined-only", library], check=True, text=True,
                           stdout=subprocess.PIPE).stdout.splitlines()
    symbols = [line.split()[-2:] for line in lines]
    # The name of a version is an absolute symbol.
    return {name.split("@")[0] for kind, name in symbols if kind != "A"}


def declared(folder):
    names = set()
    for header in sorted(os.listdir(folder)):
        if not header.endswith(".h"):
            continue
        with open(os.path.join(folder, header), encoding="utf-8") as file:
            text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.DOTALL)
        for declaration in re.findall(r"^[^#\n]*\bPLIM_API\b([^;]*);", text, flags=re.MULTILINE):
            names.add(re.search(r"\b(plim_\w+)\s*\(", declaration).group(1))
    return names


def called_in(path, headers):
    with open(path, encoding="utf-8") as file:
        called = set(re.findall(r"\bplim_\w+", file.read()))
    missing = sorted(declared(headers) - called)
    for name in missing:
        print(f"{name}: not in {path}")
    return 1 if missing else 0


def main(arguments):
    if len(arguments) == 3 and arguments[0] == "--called-in":
        return called_in(*arguments[1:])
    if len(arguments) not in (4, 5):
        print(__doc__, file=sys.stderr)
        return 2
    library, headers = exported(arguments[2], arguments[0]), declared(arguments[1])
    for name in sorted(library - headers):
        print(f"{name}: exported, but not declared")
    for name in sorted(headers - library):
        print(f"{name}: declared, but not exported")
    needed = subprocess.run([arguments[3], "-d", arguments[0]], check=True, text=True,
                            stdout=subprocess.PIPE).stdout
    if "libMLIR" in needed:
        print("the library needs libMLIR.so")
        return 1
    if len(arguments) == 5:
        symbols = subprocess.run([arguments[2], "-C", "--defined-only", arguments[0]], check=True, text=True,
                                 stdout=subprocess.PIPE).stdout
        inside = re.findall(rf"^.* {arguments[4]}::.*$", symbols, flags=re.MULTILINE)
        if not symbols or inside:
            print(*inside[:10], sep="\n")
            print(f"the library has {len(inside)} symbols of {arguments[4]}")
            return 1
    print(f"symbols: {len(library)} exported, {len(headers)} declared")
    return 0 if library == headers and headers else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
