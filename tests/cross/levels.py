#!/usr/bin/env python3
"""Code for the levels of x86-64 on machines of each level, which qemu stands for: what fits gives what NumPy says, what does not is a status.

  PYTHONPATH=build/python tests/cross/levels.py --bin build/bin [--seed N] [--count N]

Modules are those of tests/random, and of elements.py. Each text is compiled and run on a machine of each level, by a program that sees
no other processor. Artifacts that were compiled here for each level run on machines that have it; elsewhere the load says which
feature is missing. First an instruction that a level does not have has to end a program there, or none of it would show anything.
No machine has AVX-512, of whose instructions qemu carries out none: code for it is only refused. Exit status 1 if any was wrong.
"""
import argparse
import pathlib
import random
import signal
import subprocess
import sys
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "random"))

from contractions import Contraction  # noqa: E402
from convolutions import Convolution  # noqa: E402
from elements import Elements  # noqa: E402

MOST = 3e5  # products
MACHINES = {"x86-64": "qemu64", "x86-64-v2": "Nehalem", "x86-64-v3": "Haswell"}
LEVELS = [*MACHINES, "x86-64-v4"]
# Of which a load may name any, by the level that brings them.
FEATURES = {"x86-64-v2": ["crc32", "cx16", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3"],
            "x86-64-v3": ["avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"],
            "x86-64-v4": ["avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"]}
# An instruction of each.
INSTRUCTIONS = {"x86-64-v2": "pcmpgtq %xmm0, %xmm0", "x86-64-v3": "vpaddd %ymm0, %ymm0, %ymm0"}


class Level:
    """A machine with that level and no more."""

    def __init__(self, name, tools, folder):
        self.name, self.tools, self.folder = name, tools, folder

    def start(self, *command):
        return subprocess.run(["qemu-x86_64", "-cpu", MACHINES[self.name], *map(str, command)], capture_output=True, text=True,
                              timeout=600)

    def has(self, level):
        return LEVELS.index(level) <= LEVELS.index(self.name)

    def run(self, module, inputs):
        """The result, or what it says instead."""
        out = self.folder / "out.npy"
        out.unlink(missing_ok=True)
        done = self.start(self.tools / "plimsoll", "run", module, "--isolation", "none", "--print", "none",
                          *(word for each in inputs for word in ("--input", f"@{each}")), "--output", out)
        return np.load(out) if done.returncode == 0 else f"ends with {done.returncode}: {done.stderr.strip()[-2000:]}"


def check_instructions(levels, compiler, folder):
    """What is wrong, or nothing."""
    for level, instruction in INSTRUCTIONS.items():
        program = folder / "instruction"
        (folder / "instruction.c").write_text(f'int main(void) {{ __asm__ volatile("{instruction}"); return 0; }}\n')
        subprocess.run([compiler, "-O1", "-static", folder / "instruction.c", "-o", program], check=True)
        for each in levels:
            code, want = each.start(program).returncode, 0 if each.has(level) else -signal.SIGILL
            if code not in (want, 128 - want if want else 0):
                return f"'{instruction}' of {level} ends with {code} on {each.name}"
    return None


def check_run(case, level, module, inputs, want):
    """What is wrong, or nothing."""
    have = level.run(module, inputs)
    if isinstance(have, str):
        return have
    return case.compare(have, want)


def check_refusal(level, needs, artifact, inputs):
    """What is wrong with what the machine says to an artifact for more than it has, or nothing."""
    said = level.run(artifact, inputs)
    missing = [feature for each, features in FEATURES.items() if not level.has(each) and LEVELS.index(each) <= LEVELS.index(needs)
               for feature in features]
    if not isinstance(said, str):
        return "it ran"
    if not said.startswith("ends with 1: ") or not any(f"needs '{feature}', which this machine does not have" in said for feature in missing):
        return said
    return None


def draw_case(rng, number):
    """One whose types NumPy has too, and that an emulator does not take long for."""
    while True:
        case = (Contraction, Convolution, Elements)[number % 3](rng)
        case.parameters = {}
        size = np.prod([float(size) for size in case.sizes.values()])
        if 0 < size <= MOST and not any(element in case.source() for element in ("bf16", "i4")):
            return case


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="the folder of plimsoll")
    parser.add_argument("--compiler", default="clang-22")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 31))
    parser.add_argument("--count", type=int, default=9)
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}", flush=True)
    rng, values, wrong, done = random.Random(arguments.seed), np.random.default_rng(arguments.seed), 0, 0

    def tell(what, about, source):
        nonlocal wrong, done
        done += 1
        if what:
            wrong += 1
            print(f"{about}: {what}\n{source}", flush=True)

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        levels = [Level(each, arguments.bin, folder) for each in MACHINES]
        tell(check_instructions(levels, arguments.compiler, folder), "the emulator", "")
        for number in range(arguments.count):
            case = draw_case(rng, number)
            operands, rest, want = case.draw(values)
            inputs = []
            for array in [*operands.values(), *rest]:
                inputs.append(folder / f"{len(inputs)}.npy")
                np.save(inputs[-1], np.ascontiguousarray(array))
            module, artifact = folder / "module.mlir", folder / "module.plim"
            module.write_text(case.source())
            for level in levels:
                tell(check_run(case, level, module, inputs, want), f"number {number}, text on {level.name}", case.source())
            for target in LEVELS:
                subprocess.run([arguments.bin / "plimsoll", "compile", module, "--target", target, "-o", artifact], check=True)
                for level in levels:
                    about = f"number {number}, artifact for {target} on {level.name}"
                    if level.has(target):
                        tell(check_run(case, level, artifact, inputs, want), about, case.source())
                    elif number == 0:
                        tell(check_refusal(level, target, artifact, inputs), about, case.source())
    print(f"{done} checks, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
