#!/usr/bin/env python3
"""Compares the binary interface of the library with the one that was agreed on.

    abi.py check LIBRARY HEADERS BORDER REFERENCE
    abi.py renew LIBRARY HEADERS BORDER REFERENCE

The reference is what abidw reads from the debug information of the exported functions. More functions, and more
fields at the end of structs that begin with struct_size, are no change for programs that are there already, as long as
the library takes such a struct without them: the header BORDER has its first size. Everything else is a change: `check`
prints it and exits 1. `renew` writes the reference, unless a struct that grew since the last one has no such size. Values
of constants have no place in debug information and are not compared.
"""

import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

ADVICE = """
Programs that were built with the library as it was would break. If that is not meant, take the change
back: append fields to structs with struct_size, add functions beside those that are there. If it is meant,
say so in CHANGELOG.md, raise the version (include/plimsoll/version.h and CMakeLists.txt; before 1.0 the minor
one), and renew the reference: ./dev abi
"""


def run(command):
    """Exit status and output; abidw and abidiff say by bits of the status what they found."""
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return done.returncode, done.stdout


def read(library, headers):
    """The interface of a library as XML, with nothing in it that only the inside of the library knows."""
    with tempfile.TemporaryDirectory(prefix="plimsoll-abi-") as folder:
        path = os.path.join(folder, "abi")
        status, output = run(
            ["abidw", "--headers-dir", headers, "--drop-private-types", "--exported-interfaces-only",
             "--no-architecture", "--no-corpus-path", "--no-comp-dir-path", "--no-show-locs",
             "--no-parameter-names", "--no-elf-needed", "--type-id-style", "hash", "--out-file", path, library])
        if status != 0 or not os.path.exists(path):
            sys.exit(f"abidw cannot read {library}\n{output}")
        tree = ElementTree.parse(path)
    if not functions(tree):
        sys.exit(f"{library} has no debug information of exported functions")
    handles = set()
    for path in glob.glob(os.path.join(headers, "*.h")):
        with open(path, encoding="utf-8") as file:
            handles.update(re.findall(r"^typedef struct (\w+) \1;", file.read(), flags=re.MULTILINE))
    units = tree.findall("abi-instr")
    for unit in units:
        for declaration in unit.findall("namespace-decl"):  # C has none
            unit.remove(declaration)
        for struct in unit.findall("class-decl"):
            if struct.get("name") in handles:
                struct[:] = []
                struct.attrib.pop("size-in-bits", None)
                struct.text = None
                struct.set("is-declaration-only", "yes")
    # What points at types that are gone now, inside of handles, goes too.
    while dangling := dangling_types(units):
        for unit, part in dangling:
            unit.remove(part)
    # In one unit and in order, so that the reference changes where the interface does.
    units[0].set("path", "capi")
    units[0][:] = sorted((part for unit in units for part in unit),
                         key=lambda part: (part.tag, part.get("name", ""), part.get("id", "")))
    for unit in units[1:]:
        tree.getroot().remove(unit)
    return tree


def dangling_types(units):
    """Pointers to, references to and qualifications of types that are not there, each with its unit."""
    known = {part.get("id") for unit in units for part in unit.iter()}
    return [(unit, part) for unit in units for part in unit
            if part.tag in ("pointer-type-def", "reference-type-def", "qualified-type-def")
            and part.get("type-id") not in known]


def functions(tree):
    return {function.get("name") for function in tree.iter("function-decl")}


def structs(tree):
    return {struct.get("name"): struct for struct in tree.iter("class-decl") if len(struct) > 0}


def trim(tree, reference):
    """Takes the fields that were appended since from the structs that say how large they are."""
    now = structs(tree)
    for name, before in structs(reference).items():
        first = before.find("data-member/var-decl")
        if name not in now or first is None or first.get("name") != "struct_size":
            continue
        size = int(before.get("size-in-bits"))
        if int(now[name].get("size-in-bits")) <= size:
            continue
        now[name].set("size-in-bits", str(size))
        for member in now[name].findall("data-member"):
            if int(member.get("layout-offset-in-bits")) >= size:
                now[name].remove(member)


def refused(tree, reference, border):
    """The structs that grew since the reference and that the library refuses to take as they were there."""
    with open(border, encoding="utf-8") as file:
        first = dict(re.findall(r"FirstSize<(\w+)> \{\s*static constexpr size_t value = offsetof\(\w+, (\w+)\)", file.read()))
    now, names = structs(tree), []
    for name, before in structs(reference).items():
        member = before.find("data-member/var-decl")
        size = int(before.get("size-in-bits"))
        if (name not in now or member is None or member.get("name") != "struct_size"
                or int(now[name].get("size-in-bits")) <= size):
            continue
        offsets = {member.find("var-decl").get("name"): int(member.get("layout-offset-in-bits"))
                   for member in now[name].findall("data-member")}
        if offsets.get(first.get(name), size + 1) > size:
            names.append(name)
    return names


def tell_refused(names, border):
    print(f"{', '.join(names)}: grew, but programs that were built before are refused, since {border} has no first size "
          "of it (FirstSize)")


def check(library, headers, border, reference):
    tree, agreed = read(library, headers), ElementTree.parse(reference)
    names = refused(tree, agreed, border)
    trim(tree, agreed)
    with tempfile.TemporaryDirectory(prefix="plimsoll-abi-") as folder:
        path = os.path.join(folder, "abi")
        tree.write(path)
        status, output = run(["abidiff", "--no-added-syms", reference, path])
    if status == 0 and names:
        tell_refused(names, border)
        return 1
    if status == 0:
        new = sorted(functions(tree) - functions(agreed))
        print(f"abi: {len(functions(agreed))} functions as agreed on")
        if new:
            print(f"not in the reference yet, and so not kept (./dev abi): {' '.join(new)}")
        return 0
    print(output + ADVICE)
    return 1


def renew(library, headers, border, reference):
    tree = read(library, headers)
    if os.path.exists(reference) and (names := refused(tree, ElementTree.parse(reference), border)):
        tell_refused(names, border)
        return 1
    ElementTree.indent(tree, " ")
    tree.write(reference)
    print(f"wrote {reference}")
    return 0


def main(arguments):
    commands = {"check": check, "renew": renew}
    if len(arguments) != 5 or arguments[0] not in commands:
        print(__doc__, file=sys.stderr)
        return 2
    if not shutil.which("abidw") or not shutil.which("abidiff"):
        print("abidw and abidiff are missing (Debian: abigail-tools)")
        return 77  # CTest takes that as skipped
    return commands[arguments[0]](*arguments[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
