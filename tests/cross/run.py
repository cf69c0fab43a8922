#!/usr/bin/env python3
"""Random products, convolutions and ops over elements, compiled for a processor that is not here, run by qemu and compared with NumPy.

  PYTHONPATH=build/python tests/cross/run.py --bin build/bin --sysroot /usr/aarch64-linux-gnu [--target TAG] [--bits N] [--seed N] [--count N]

Those of tests/random, without parameters, and those of elements.py: objects of the artifact are linked with runtime.c, whose main() makes one call.
Exit status 1 if any was wrong; its source is printed.
"""
import argparse
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "random"))

from contractions import Contraction  # noqa: E402
from convolutions import Convolution  # noqa: E402
from elements import Elements  # noqa: E402
from products import TYPES  # noqa: E402

MOST = 3e6  # products, which an emulator takes a second for
TRIPLE = "aarch64-linux-gnu"


class Machine:
    """A target, and what builds and runs programs for it."""

    def __init__(self, arguments, folder):
        self.tools, self.sysroot, self.folder = arguments.bin, arguments.sysroot, folder
        self.target, self.bits, self.compiler = arguments.target, arguments.bits, arguments.compiler
        self.libraries = next(pathlib.Path("/usr/lib/gcc-cross", TRIPLE).iterdir())  # libgcc and its startup objects
        self.runtime = folder / "runtime.o"
        self.call(self.compiler, f"--target={TRIPLE}", "-O1", f"-I{self.sysroot}/include", f"-I{HERE.parent.parent}", "-c",
                  HERE / "runtime.c", "-o", self.runtime)

    def call(self, *command):
        done = subprocess.run([str(each) for each in command], capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            raise RuntimeError(f"{pathlib.Path(str(command[0])).name} ends with {done.returncode}: {done.stderr.strip()[:2000]}")

    def build(self, source):
        """The program of a module."""
        objects = self.folder / "objects"
        objects.mkdir(exist_ok=True)
        for each in objects.iterdir():
            each.unlink()
        module, artifact, program = (self.folder / name for name in ("module.mlir", "module.plim", "program"))
        module.write_text(source)
        self.call(self.tools / "plimsoll", "compile", module, "--target", self.target, "--set",
                  f"vector_bits={self.bits}", "--policy", "heap", "-o", artifact)
        self.call(self.tools / "plim_objects", artifact, objects)
        self.call(self.compiler, f"--target={TRIPLE}", f"--gcc-install-dir={self.libraries}", f"-B{self.sysroot}/lib",
                  f"-L{self.sysroot}/lib", "-fuse-ld=lld", "-static", self.runtime, *sorted(objects.iterdir()), "-lm", "-o", program)
        return program

    def run(self, program, arguments, rank, kind):
        """The result of a call."""
        into, out = self.folder / "in", self.folder / "out"
        data = [struct.pack("<q", len(arguments))]
        for array in map(np.ascontiguousarray, arguments):
            data += [struct.pack(f"<{2 + array.ndim}q", array.ndim, array.nbytes, *array.shape), array.tobytes()]
        into.write_bytes(b"".join([*data, struct.pack("<qq", rank, np.dtype(kind).itemsize)]))
        self.call("qemu-aarch64", "-cpu", f"max,sve-max-vq={self.bits // 128}", program, into, out)
        result = out.read_bytes()
        shape = struct.unpack(f"<{rank}q", result[:8 * rank])
        return np.frombuffer(result[8 * rank:], kind).reshape(shape)


def check(case, machine, values):
    """What is wrong, or nothing."""
    operands, rest, want = case.draw(values)
    have = machine.run(machine.build(case.source()), [*operands.values(), *rest], want.ndim, TYPES[case.sum])
    return case.compare(have, want)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="the folder of plimsoll and plim_objects")
    parser.add_argument("--sysroot", required=True, help="the C library of the other machine")
    parser.add_argument("--compiler", default="clang-22")
    parser.add_argument("--target", default="neoverse-v2")
    parser.add_argument("--bits", type=int, default=128, help="of vectors, the target's and qemu's")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 31))
    parser.add_argument("--count", type=int, default=40)
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}", flush=True)
    rng, values, wrong, done = random.Random(arguments.seed), np.random.default_rng(arguments.seed), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(arguments, pathlib.Path(folder))
        while done < arguments.count:
            case = (Contraction, Convolution, Elements)[done % 3](rng)
            if np.prod([float(size) for size in case.sizes.values()]) > MOST:
                continue
            case.parameters = {}
            try:
                what = check(case, machine, values)
            except RuntimeError as error:
                what = str(error)
            if what:
                wrong += 1
                print(f"number {done}: {what}: {case.sizes}\n{case.source()}", flush=True)
            done += 1
    print(f"{done} cases, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
