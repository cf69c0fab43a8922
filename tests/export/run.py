#!/usr/bin/env python3
"""Random products, convolutions and ops over elements as code for programs without the engine, called from C under emulators, compared with NumPy.

  PYTHONPATH=build/python tests/export/run.py --bin build/bin [--machine NAME ...] [--seed N] [--count N]

Those of tests/cross, every other one with extents that only the call knows. Each is an object and a header of `plimsoll compile --header`; a C
program without any library calls it on a painted stack, with canaries behind all that it may write, and with no more workspace than is asked for. Exit status 1 if any was wrong; its source is printed.
"""
import argparse
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
BOARD = HERE.parent.parent / "examples" / "microcontroller"  # what a program without an operating system begins with
sys.path[:0] = [str(HERE.parent / "random"), str(HERE.parent / "cross")]

from contractions import Contraction  # noqa: E402
from convolutions import Convolution  # noqa: E402
from elements import Elements  # noqa: E402
from products import TYPES  # noqa: E402

MOST = 1e6  # products, which an emulator takes a second for
GUARD = 64
# Threads of a program that has none: from the last workgroups to the first, with numbers from 2 down to 0.
THREADS = """static int32_t calls;
static int32_t run_on_threads(void *context, int32_t (*work)(void *argument, size_t thread, int64_t begin, int64_t end), void *argument,
                              int64_t count) {
  ++*(int32_t *)context;
  const int32_t all = (int32_t)count; /* a board has no division of 64 bits */
  for (int32_t thread = 2; thread >= 0; --thread) {
    const int32_t status = work(argument, (size_t)thread, thread * all / 3, (thread + 1) * all / 3);
    if (status != 0) return status;
  }
  return 0;
}
"""
# Memory of programs for workspaces whose size the header leaves to a query.
ROOM = 64 << 10
# What programs have.
BROUGHT = set(re.findall(r"^void \*?(\w+)\(", (BOARD / "memory.c").read_text(), re.M))

def emulated(machine):
    return ["qemu-system-arm", "-M", machine, "-display", "none", "-monitor", "none", "-serial", "none", "-chardev", "stdio,id=out",
            "-semihosting-config", "enable=on,chardev=out", "-kernel"]


def board(code, data):
    return ["-static", "-T", str(BOARD / "board.ld"), f"-Wl,--defsym=CODE={code}", f"-Wl,--defsym=DATA={data}"]

class Machine:
    """A target, and how programs for it are built and run."""

    def __init__(self, target, flags, emulator, start, link=(), memory=1 << 30):
        self.target, self.flags, self.emulator, self.start, self.memory = target, flags, emulator, start, memory
        self.link = link

MACHINES = {
    "x86-64": Machine("x86-64-v3", ["--target=x86_64-linux-gnu"], [], HERE / "linux.c", ["-static"]),
    "aarch64": Machine("neoverse-v2", ["--target=aarch64-linux-gnu"], ["qemu-aarch64", "-cpu", "max,sve-max-vq=1"], HERE / "linux.c", ["-static"]),
    "aarch64-sve": Machine("neoverse-v1", ["--target=aarch64-linux-gnu"], ["qemu-aarch64", "-cpu", "max,sve-max-vq=2"], HERE / "linux.c", ["-static"]),
    "riscv64": Machine("riscv64", ["--target=riscv64-linux-gnu", "-march=rv64gc", "-mabi=lp64d", "-mcmodel=medany"],
                       ["qemu-riscv64", "-cpu", "rv64,v=true,vlen=128,vext_spec=v1.0,zba=true,zbb=true,zbs=true,Zfh=true"], HERE / "linux.c", ["-static"]),
    "cortex-m7": Machine("cortex-m7", ["--target=thumbv7em-none-eabihf", "-mcpu=cortex-m7"],
                         emulated("mps2-an500"), BOARD / "board.c",
                         board("0", "0x20000000"), 3 << 20),
    "cortex-m55": Machine("cortex-m55-ethos-u55", ["--target=thumbv8.1m.main-none-eabihf", "-mcpu=cortex-m55"],
                          emulated("mps3-an547"), BOARD / "board.c",
                          board("0x10000000", "0x31000000"), 400 << 10)}

class Refused(Exception):
    """The export says why it cannot be."""

class Builder:
    def __init__(self, machine, arguments, folder):
        self.machine, self.plimsoll, self.compiler, self.folder = machine, arguments.bin / "plimsoll", arguments.compiler, folder
        self.common = []
        for source in (HERE / "support.c", BOARD / "memory.c", machine.start):
            self.common.append(folder / f"{source.stem}.o")
            self.compile(source, self.common[-1])

    def call(self, *command, limit=120):
        done = subprocess.run([str(each) for each in command], capture_output=True, text=True, timeout=limit, cwd=self.folder)
        if done.returncode != 0:
            raise RuntimeError(f"{pathlib.Path(str(command[0])).name} ends with {done.returncode}: "
                               f"{(done.stderr + done.stdout[-500:]).strip()[:2000]}")
        return done.stdout

    def compile(self, source, out, *more):
        self.call(self.compiler, *self.machine.flags, "-O1", "-ffreestanding", "-fno-builtin", "-Wall", "-Wextra", "-Wpedantic",
                  "-Werror", "-std=c11", f"-I{HERE.parent.parent}", "-I.", *more, "-c", source, "-o", out)

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def export(self, source, program=None, options=()):
        """The header of a module, beside its object case.o: by the command, or by a program that brings a device."""
        command = [program, source, "case.o", "case.h"] if program else [
            self.plimsoll, "compile", source, "--target", self.machine.target, "-o", "case.o", "--header", "case.h", "--name", "case", *options]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=self.folder)
        if done.returncode != 0:
            raise (Refused if "cannot be exported" in done.stderr else RuntimeError)(done.stderr.strip())
        for standard in ("c11", "c++20"):
            self.call(self.compiler, *self.machine.flags, "-x", "c++" if "++" in standard else "c", f"-std={standard}", "-ffreestanding",
                      "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "case.h")
        sections = self.call("llvm-readelf-22", "-S", "-W", "case.o")
        if re.search(r" [0-9a-f]{2} +[A-Z]*W[A-Z]* +\d+ +\d+ +\d+$", sections, re.M):
            raise RuntimeError(f"has memory of its own that can be written:\n{sections}")
        return (self.folder / "case.h").read_text()

    def link(self, source):
        self.compile(source, "main.o")
        self.call(self.compiler, *self.machine.flags, "-nostdlib", "-fuse-ld=lld", *self.machine.link, "main.o", *self.common, "case.o", "-o",
                  "program")

    def start(self):
        """What the program prints."""
        return self.call(*self.machine.emulator, "./program")

    def build(self, source, arguments, want):
        """The program of a module whose arguments are arrays; its one result is like `want`."""
        self.write("case.mlir", source)
        header = self.export("case.mlir")
        brings = re.search(r"The program brings:(.*)", header)
        missing = set(brings[1].split() if brings else ()) - BROUGHT
        if missing:
            raise Refused(f"needs {', '.join(sorted(missing))}")
        lines = ['#include "case.h"', '#include "tests/export/support.h"', '#include "examples/microcontroller/memory.h"']
        for i, array in enumerate(arguments):
            np.ascontiguousarray(array).tofile(self.folder / f"in{i}")
            lines += [f'__asm__(".section .rodata\\n.balign 16\\n.globl in{i}\\nin{i}: .incbin \\"in{i}\\"\\n.byte 0\\n.text");',
                      f"extern const uint8_t in{i}[];"]
        lines.append(f"static _Alignas(16) uint8_t out[{want.nbytes + GUARD}];")
        members = re.search(r"struct case_workspaces \{\n(.*?)\};", header, re.S)
        names = re.findall(r"void \*(\w+);", members[1]) if members else []
        is_open = "size_t workspace_bytes" in header
        sizes = {name: f"CASE_{name.upper()}_BYTES" for name in names}
        if is_open:
            room = min(ROOM, self.machine.memory // 2)
            lines.append("static size_t workspace_bytes;")
            sizes["workspace"] = "workspace_bytes"
        for name in names:
            size = str(room) if is_open and name == "workspace" else sizes[name]
            lines.append(f"static _Alignas(CASE_{name.upper()}_ALIGNMENT) uint8_t {name}[{size} + {GUARD}];")
        guarded = [("out", str(want.nbytes)), *sizes.items()]
        extents = [d for d in range(want.ndim) if f"result0_extent{d}" in header]
        lines += [f"static int64_t extent{d};" for d in extents]
        has_threads = "struct case_threads {" in header
        has_scratch = "CASE_THREAD_SCRATCH_BYTES" in header
        if has_threads:
            lines += [THREADS, f"static uint8_t before[{want.nbytes} + 1];"]
        if has_scratch:
            lines += [f"static _Alignas(64) uint8_t thread_scratch[3 * CASE_THREAD_SCRATCH_BYTES + {GUARD}];"]
            guarded.append(("thread_scratch", "3 * CASE_THREAD_SCRATCH_BYTES"))
        lines.append("int run_case(void) {")
        if has_threads:
            lines += ["  const struct case_threads *threads = NULL;",
                      f"  const struct case_threads three = {{&calls, run_on_threads{', thread_scratch' if has_scratch else ''}}};"]
        if extents:
            lines.append(f"  int64_t capacity = {want.size};")
        given, queried = self.given(header, arguments, want, extents)
        if is_open:
            lines += [f"  const int asked = (int)case_main_workspace_bytes({', '.join([*queried, '&workspace_bytes'])});",
                      f"  if (asked != 0 || workspace_bytes > {room}) return asked + 100;"]
        for name, size in guarded:
            lines.append(f"  memset({name}, 0x5a, {size} + {GUARD});")
        call = f"(int)case_main({', '.join((['&workspaces'] if names else []) + given)})"
        if names:
            members = [f".{name} = {name}" for name in names] + [".workspace_bytes = workspace_bytes"] * is_open
            lines.append(f"  struct case_workspaces workspaces = {{{', '.join(members)}}};")
        if is_open:
            lines += ["  if (workspace_bytes > 0) {", "    --workspaces.workspace_bytes;",
                      f"    if ({call} != CASE_RESOURCE_EXHAUSTED) return 200;", "    ++workspaces.workspace_bytes;", "  }"]
        if extents and want.size > 0:
            lines += ["  --capacity;", f"  if ({call} != CASE_RESOURCE_EXHAUSTED) return 201;", "  ++capacity;"]
            lines += [f"  if (extent{d} != {want.shape[d]}) return 202;" for d in extents] + [f"  extent{d} = 0;" for d in extents]
        lines += [f"  const int status = {call};"]
        lines += [f"  if (extent{d} != {want.shape[d]}) return status + 300;" for d in extents]
        if has_threads:
            lines += [f"  memcpy(before, out, {want.nbytes});", f"  memset(out, 0x5a, {want.nbytes} + 1);", "  threads = &three;",
                      f"  if ({call} != status) return 400;",
                      f"  for (size_t i = 0; i < {want.nbytes}; ++i)", "    if (before[i] != out[i]) return 401;"]
        lines += ["  return status;", "}", "void print_results(void) {",
                  f"  print_bytes(out, {want.nbytes});", '  print_text("\\nguards ");', "  size_t broken = 0;"]
        for name, size in guarded:
            lines.append(f"  for (size_t i = {size}; i < {size} + {GUARD}; ++i) broken += {name}[i] != 0x5a;")
        lines += ["  print_number(broken);", '  print_text("\\n");', "}"]
        self.write("main.c", "\n".join(lines) + "\n")
        self.link("main.c")
        return int(re.search(r"CASE_MAIN_STACK_BYTES (\d+)", header)[1])

    @staticmethod
    def given(header, arguments, want, extents):
        """Tensors and their extents as main() takes them, and those that its query takes."""
        declared = re.search(r"enum case_status case_main\((.*?)\);", header, re.S)[1].split(",")
        declared = [each.strip() for each in declared if "struct case_workspaces" not in each]
        given, queried, i = [], [], -1
        for parameter in declared:
            kind, _, called = parameter.rpartition("*" if "*" in parameter else " ")
            extent = re.search(r"_extent(\d+)$", called)
            if "struct case_threads" in parameter:
                given.append("threads")
                continue
            if called == "result0_capacity":
                given.append("capacity")
            elif extent and i == len(arguments):
                given.append(f"&extent{extent[1]}")
            elif extent:
                given.append(str(np.shape(arguments[i])[int(extent[1])]))
                queried.append(given[-1])
            else:
                i += 1
                source = f"in{i}" if i < len(arguments) else "out"
                given.append(f"({kind.strip()} *)(uintptr_t){source}")
        return given, queried

    def run(self, want):
        """The result, how much stack was used, and how many bytes of guards were written."""
        text = self.start()
        found = re.fullmatch(r"status 0\nstack (\d+)\n([0-9a-f]*)\nguards (\d+)\n", text)
        if not found:
            raise RuntimeError(f"printed {text[:200]!r}")
        return np.frombuffer(bytes.fromhex(found[2]), want.dtype).reshape(want.shape), int(found[1]), int(found[3])

def parser(description, machines=tuple(MACHINES)):
    """Of a program that tries exports on several machines."""
    options = argparse.ArgumentParser(description=description.partition("\n")[0])
    options.add_argument("--bin", type=lambda text: pathlib.Path(text).resolve(), required=True, help="the folder of plimsoll")
    options.add_argument("--machine", nargs="+", choices=MACHINES, default=list(machines))
    options.add_argument("--compiler", default="clang-22")
    return options


def builders(arguments):
    """Of the machines that are asked for, as far as they can be emulated, each with a folder of its own for as long as its turn is."""
    for name in arguments.machine:
        machine = MACHINES[name]
        if machine.emulator and not shutil.which(machine.emulator[0]):
            print(f"{name}: skipped, there is no {machine.emulator[0]}")
            continue
        with tempfile.TemporaryDirectory() as folder:
            yield name, Builder(machine, arguments, pathlib.Path(folder))


def check(case, builder, values):
    """What is wrong, or nothing."""
    operands, rest, want = case.draw(values)
    if hasattr(case, "elements"):
        operands = case.elements.typed(operands)
    arrays = [*operands.values(), *rest]
    want_typed = want if isinstance(case, Elements) else np.asarray(want).astype(TYPES[case.sum])
    stack = builder.build(case.source(), arrays, want_typed)
    have, used, broken = builder.run(want_typed)
    if broken:
        return f"{broken} bytes behind its memory were written"
    if used > stack + 512:  # those of the caller
        return f"{used} bytes of stack, and the header says {stack}"
    return case.compare(have, want)


def chosen(case, is_open):
    """The same without parameters, with all extents known unless it is open."""
    if hasattr(case, "unknown") and not is_open:
        case.unknown.clear()
    if hasattr(case, "dynamic"):
        case.dynamic = is_open
    case.parameters = {}
    return case


def main():
    options = parser(__doc__)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--count", type=int, default=12, help="for each machine")
    arguments = options.parse_args()
    print(f"seed {arguments.seed}", flush=True)
    wrong = 0
    for name, builder in builders(arguments):
        rng, values = random.Random(arguments.seed), np.random.default_rng(arguments.seed)
        counts = {"right": 0, "wrong": 0}
        done = 0
        while done < arguments.count:
            case = chosen((Contraction, Convolution, Elements)[done % 3](rng), done // 3 % 2 == 1)
            if np.prod([float(size) for size in case.sizes.values()]) > MOST:
                continue
            operands, rest, want = case.draw(np.random.default_rng(0))
            if sum(np.asarray(each).nbytes for each in [*operands.values(), *rest, want]) > builder.machine.memory:
                continue
            done += 1
            try:
                what = check(case, builder, values)
            except Refused as error:
                reason = str(error).partition("\n")[0]
                counts[reason] = counts.get(reason, 0) + 1
                continue
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                what = str(error)
            counts["wrong" if what else "right"] += 1
            if "struct case_threads {" in (builder.folder / "case.h").read_text():
                counts["with threads"] = counts.get("with threads", 0) + 1
            if what:
                wrong += 1
                print(f"{name}, number {done}: {what}: {case.sizes}\n{case.source()}", flush=True)
        print(f"{name}: " + ", ".join(f"{count} {what}" for what, count in counts.items()), flush=True)
        # A few need more of the program than it brings; most do not.
        wrong += 2 * (counts["right"] + counts["wrong"]) < done
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
