#!/usr/bin/env python3
"""Checks the dependency direction of the tree from its #include lines.

    include_graph.py [ROOT]

Prints one line per fault, "file:line: what is wrong", and exits 1 when there is any.
The rules are the three tables below; ARCHITECTURE.md says why they are as they are.
"""

import os
import re
import sys

ANY = "*"

# What all of ir/ may include, and what every stage of it: stages do not know each other.
IR = ["support", "planner", "engine/abi", "targets/AllocationOptions.h", "targets/TargetDescription.h", "targets/dlti",
      "devices/GpuCode.h"]
STAGE = IR + ["ir/Plim", "ir/Analysis", "ir/Cleanup"]

# Which parts of the tree the files of a room may include besides their own room: path prefixes.
# A file belongs to the room with the longest matching prefix.
ROOMS = {
    "support": [],
    "planner": ["support"],
    "engine/abi": [],
    "targets": ["support"],
    "targets/dlti": ["support", "targets"],
    "targets/host": ["support", "targets"],
    "targets/cuda": ["support", "targets"],
    "targets/vulkan": ["support", "targets"],
    "devices": ["support", "engine/abi", "targets/internal"],
    "ir": IR,
    "ir/Plim": IR,
    "ir/Analysis": IR + ["ir/Plim"],
    "ir/Cleanup": IR + ["ir/Plim"],
    "ir/Import": STAGE,
    "ir/Dispatch": STAGE,
    "ir/Access": STAGE,
    "ir/Codegen": STAGE,
    "ir/Memory": STAGE,
    "ir/Schedule": STAGE,
    "ir/Conversion": STAGE,
    "ir/Pipelines": IR + ["ir"],
    "ir/Gpu": IR + ["ir"],
    "jit": ["support", "targets", "ir", "engine/abi"],
    "engine/runtime": ["support", "engine/abi"],
    "engine/io": ["support", "engine/runtime"],
    "engine/session": ["support", "planner", "targets", "devices", "ir", "jit", "engine"],
    "importers": ["support", "engine/runtime", "engine/io", "importers/emit", "importers/onnx/plimsoll_onnx.h",
                  "importers/stablehlo/Stablehlo.h"],
    "importers/emit": [],
    "importers/onnx": ["importers/emit"],
    "importers/stablehlo": ["importers/emit"],
    "include/plimsoll": [],
    "capi": ["include/plimsoll", "importers/Import.h", "support", "planner", "targets", "ir", "jit", "engine"],
    "python": ["include/plimsoll"],
    "tools": [ANY],
    "bench": [ANY],
    "examples": [ANY],
    "tests": [ANY],
}

# Single files that may reach further than their room: they join its parts.
FILES = {
    "targets/Resolve.h": ["support", "targets"],
    "targets/Resolve.cpp": ["support", "targets"],
}

# Libraries that only some rooms may include. Headers of no library in this table are free.
LIBRARIES = [
    ("llvm/ExecutionEngine/", ["jit", "tests"]),
    ("mlir/ExecutionEngine/", []),
    ("llvm/", ["targets/dlti", "targets/host", "ir", "jit", "engine/session", "tools", "bench",
               "tests"]),
    ("mlir/", ["targets/dlti", "ir", "jit", "engine/session", "tools", "bench", "tests"]),
    ("llvm-c/", []),
    ("mlir-c/", []),
    ("tbb/", ["engine/runtime", "bench", "tests"]),
    ("oneapi/", ["engine/runtime", "bench", "tests"]),
    ("spdlog/", ["support"]),
    ("nlohmann/", ["support", "tests", "bench", "examples"]),
    ("hwloc", ["targets/host", "tests"]),
    ("onnx/", ["importers/onnx"]),
    ("google/protobuf/", ["importers/onnx"]),
]

# Rooms whose files include nothing from outside the tree but these.
CLOSED = {
    "engine/abi": {"stddef.h", "stdint.h"},
    "include/plimsoll": {"stddef.h", "stdint.h", "stdbool.h"},
}
# The header-only C++ wrapper uses the standard library.
CLOSED_EXCEPT = {".hpp"}

# Rooms that must ask the machine for its page size.
PAGE_SIZE_ROOMS = {"engine/runtime", "jit", "targets/host"}

SOURCE_SUFFIXES = (".h", ".hpp", ".c", ".cpp", ".cu", ".inc")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
COMMENT_OR_STRING = re.compile(
    r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
# Canonicalisation runs without the patterns that are known to be wrong: one file knows them.
CLEANUP_OWNER = "ir/Cleanup/Cleanup.cpp"
UNOWNED_CLEANUP = re.compile(r"\b(?:createCanonicalizerPass|apply(?:Op)?Patterns\w*Greedily)\b")
PAGE_SIZE = re.compile(r"(?<![\w.])(?:4096|0x1000)(?![\w.])")
LIBRARY_COMMAND = re.compile(r"^\s*(?:plim_add_library|add_mlir_\w*library|add_library)\s*\(",
                             re.MULTILINE)


def walk(root):
    """Yields the tree's files, relative to root; builds and hidden folders are no part of it."""
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders
                            if not name.startswith((".", "build")) and name != "__pycache__")
        for name in sorted(files):
            yield os.path.relpath(os.path.join(folder, name), root).replace(os.sep, "/")


def under(path, prefix):
    return prefix == ANY or path == prefix or path.startswith(prefix + "/")


def room_of(path):
    rooms = [room for room in ROOMS if under(path, room)]
    return max(rooms, key=len) if rooms else None


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def includes_of(text):
    """Yields (line, is_quoted, header). Text between /* and */ has been seen to hold examples."""
    bare = re.sub(r"/\*.*?\*/", lambda match: "\n" * match.group().count("\n"), text,
                  flags=re.DOTALL)
    for number, line in enumerate(bare.split("\n"), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1) == '"', match.group(2)


class Checker:
    def __init__(self, root):
        self.root = root
        self.files = list(walk(root))
        self.known = set(self.files)
        self.faults = []
        self.edges = {}  # file -> [(line, included file)]

    def fault(self, path, line, text):
        self.faults.append(f"{path}:{line}: {text}")

    def read(self, path):
        with open(os.path.join(self.root, path), encoding="utf-8", errors="replace") as file:
            return file.read()

    def check(self):
        for path in self.files:
            if path.endswith(SOURCE_SUFFIXES):
                self.check_source(path)
            elif os.path.basename(path) == "CMakeLists.txt":
                self.check_folder(path)
        self.check_cycles()
        return self.faults

    def check_source(self, path):
        text = self.read(path)
        room = room_of(path)
        if room is None:
            self.fault(path, 1, "belongs to no room: add its folder to the table ROOMS")
            return
        for line, is_quoted, header in includes_of(text):
            self.check_include(path, room, line, is_quoted, header)
        bare = COMMENT_OR_STRING.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)
        if room in PAGE_SIZE_ROOMS:
            for match in PAGE_SIZE.finditer(bare):
                self.fault(path, line_of(bare, match.start()),
                           "a literal page size: ask the machine, pages of 16 and 64 KiB exist")
        if under(room, "ir") and path != CLEANUP_OWNER:
            for match in UNOWNED_CLEANUP.finditer(bare):
                self.fault(path, line_of(bare, match.start()),
                           f"'{match.group()}' belongs to {CLEANUP_OWNER}, which leaves out the "
                           "patterns that are known to be wrong")

    def target_of(self, path, is_quoted, header):
        """The file of the tree that is meant, None for a header from outside."""
        if header.startswith("plimsoll/"):
            return "include/" + header
        if not is_quoted:
            return None
        if header in self.known:
            return header
        # Generated headers keep the path of their folder: they exist in the build tree only.
        if header.split("/")[0] in {room.split("/")[0] for room in ROOMS}:
            return header
        beside = os.path.normpath(os.path.join(os.path.dirname(path), header)).replace(os.sep, "/")
        return beside if beside in self.known else None

    def check_include(self, path, room, line, is_quoted, header):
        target = self.target_of(path, is_quoted, header)
        if target is None:
            self.check_library(path, room, line, header)
            return
        if target != header and not header.startswith("plimsoll/"):
            self.fault(path, line, f'"{header}" must be written from the root: "{target}"')
        if target not in self.known and not target.endswith(".inc"):
            self.fault(path, line, f'"{header}" does not exist')
            return
        self.edges.setdefault(path, []).append((line, target))
        target_room = room_of(target)
        allowed = FILES.get(path, ROOMS[room])
        if target_room != room and not any(under(target, prefix) for prefix in allowed):
            self.fault(path, line, f'{room} must not include {target_room}: "{header}"')

    def check_library(self, path, room, line, header):
        if room in CLOSED and not path.endswith(tuple(CLOSED_EXCEPT)):
            if header not in CLOSED[room]:
                self.fault(path, line, f"{room} must not include <{header}>: it stands alone")
            return
        if room == "planner" and "/" in header:
            self.fault(path, line, f"planner must not include <{header}>: standard library only")
            return
        for prefix, rooms in LIBRARIES:
            if header.startswith(prefix):
                if not any(under(room, allowed) for allowed in rooms):
                    self.fault(path, line, f"{room} must not include <{header}>")
                return

    def check_folder(self, path):
        folder = os.path.dirname(path)
        if folder.startswith("cmake"):
            return
        match = LIBRARY_COMMAND.search(self.read(path))
        if match and f"{folder}/README.md" not in self.known and not folder.startswith("tests/"):
            self.fault(path, line_of(self.read(path), match.start()),
                       f"{folder} makes a library and has no README.md")

    def check_cycles(self):
        """Depth-first search; an edge to a file on the current path closes a cycle."""
        finished = set()
        for start in sorted(self.edges):
            if start in finished:
                continue
            trail = [start]
            pending = [iter(self.edges[start])]
            while trail:
                step = next(pending[-1], None)
                if step is None:
                    finished.add(trail.pop())
                    pending.pop()
                    continue
                line, target = step
                if target in trail:
                    cycle = trail[trail.index(target):] + [target]
                    self.fault(trail[-1], line, "include cycle: " + " -> ".join(cycle))
                elif target not in finished:
                    trail.append(target)
                    pending.append(iter(self.edges.get(target, [])))


def main(arguments):
    if len(arguments) > 1:
        print(__doc__, file=sys.stderr)
        return 2
    root = arguments[0] if arguments else os.path.join(os.path.dirname(__file__), "..", "..")
    checker = Checker(os.path.abspath(root))
    faults = checker.check()
    for fault in faults:
        print(fault)
    count = sum(path.endswith(SOURCE_SUFFIXES) for path in checker.files)
    if count == 0:
        print(f"{root}: no source files")
        return 1
    print(f"include graph: {count} files, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
