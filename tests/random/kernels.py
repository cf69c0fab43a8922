#!/usr/bin/env python3
"""Kernels of loops over memrefs, compared with what Python makes of the same loops in f64.

  PYTHONPATH=build/python tests/random/kernels.py [--seed N] [--count N | --seconds S]

Each is a computation of `loops/computations.py`, one after the other, with random sizes, elements of f32 or f64 (i32 where
it computes with whole numbers), extents that are known or not, and loops that may run in any order as `scf.parallel` or one after the other. Where all loops are in
order, arrays may be the same, or begin in the middle of each other. With one and with two threads the results are equal, bit
for bit. Exit status 1 if any was wrong; its source is printed.
"""
import itertools
import pathlib

import numpy as np

from loops import computations
from loops.numbers import WHOLE, numbers_for
from loops.translate import Memrefs, read
from products import TYPES, run

FOLDER = pathlib.Path(__file__).resolve().parent / "loops"
FUNCTIONS = read(FOLDER / "computations.py")
NAMES = itertools.cycle(FUNCTIONS)
SIZES = [1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 19]
LENGTHS = [1, 2, 7, 16, 31, 32, 33, 100, 257]

SENSITIVE = {"gramschmidt"}  # to what it is given: with something else in its arrays it divides by what is left of a difference


def most(a, b):
    return max(b, a)  # a where they are equal


def least(a, b):
    return min(b, a)


vars(computations).update(parallel=range, number=float, most=most, least=least)


class Case:
    """One of them."""

    def __init__(self, rng):
        self.function = FUNCTIONS[next(NAMES)]
        self.sizes = {name: rng.choice(SIZES) for name in ("M", "N", "P", "Q", "R", "S")}
        self.sizes |= {name: rng.choice([0, *SIZES]) for name in ("NI", "NJ", "NK", "NL")}
        self.sizes |= {"L": rng.choice(LENGTHS), "TS": rng.choice([1, 2, 3])}
        if self.function.name == "gramschmidt":
            self.sizes["M"] += self.sizes["N"]  # or columns depend on each other, and what is left of them is rounding
        self.element = rng.choice(["f32", "f64", "i32"] if self.function.name in WHOLE else ["f32", "f64"])
        self.is_parallel = rng.random() < 0.5
        self.memrefs = Memrefs(self.function, self.sizes, self.element, is_open=rng.random() < 0.5,
                               is_parallel=self.is_parallel)
        self.overlap = rng.choice([None, None, None, "same", "shifted"])
        if self.is_parallel or self.function.name in SENSITIVE:
            self.overlap = None

    def source(self):
        return f"// {self.element}, overlap: {self.overlap}\n{self.memrefs.text()}"

    def laid_out(self, values, dtype, pair):
        """The same in memory, with the second of a pair in the place of the first, or a little behind it."""
        values = {name: value.astype(dtype) if value.ndim else float(value) for name, value in values.items()}
        if pair:
            first, second = pair
            shape, count = values[first].shape, values[first].size
            shift = 0 if self.overlap == "same" else count // 2
            memory = np.concatenate([values[first].reshape(-1), values[second].reshape(-1)[:shift]])
            values[first], values[second] = memory[:count].reshape(shape), memory[shift:].reshape(shape)
        return values


def check(case, engines, numbers):
    values = {name: np.asarray(value, np.float32).astype(float) for name, value in numbers_for(case.memrefs, numbers).items()}
    shapes = {name: value.shape for name, value in values.items() if value.ndim}
    pairs = [pair for pair in itertools.combinations(shapes, 2) if shapes[pair[0]] == shapes[pair[1]]]
    pair = pairs[int(numbers.integers(len(pairs)))] if pairs and case.overlap else None
    dtype = TYPES[case.element]
    want = case.laid_out(values, float, pair)
    vars(computations).update(case.sizes)
    with np.errstate(all="ignore"):
        try:
            getattr(computations, case.function.name)(*want.values())
        except (ValueError, ZeroDivisionError, OverflowError):
            return None  # overlapping arrays took a root of what is negative
    if any(np.abs(want[name][np.isfinite(want[name])]).max(initial=0) > 1e15 for name in shapes):
        return None  # overlapping arrays grew: what is left may be a root of what is beyond f32
    before = None
    for engine in engines:
        have = case.laid_out(values, dtype, pair)
        getattr(engine.loads(case.memrefs.text()), case.function.name)(*have.values())
        for name in shapes:
            if before is not None and have[name].tobytes() != before[name].tobytes():
                return f"{name} is another one with two threads"
            fault = compare(have[name], want[name], dtype, case.function.name in WHOLE)
            if fault:
                return f"{name} {fault}"
        before = have
    return None


def compare(have, want, dtype, is_whole):
    """What is wrong, or nothing."""
    finite = np.isfinite(want)
    largest = np.abs(want[finite]).max(initial=0)
    if np.isfinite(have[~finite]).any():
        return "has numbers where there are none"
    allowed = 0 if is_whole else np.finfo(dtype).eps * 2e4 * (1 + largest)
    error = np.abs(have[finite] - want[finite]).max(initial=0)
    return None if error <= allowed else f"is off by {error} of {largest}"


if __name__ == "__main__":
    run(__doc__, Case, check)
