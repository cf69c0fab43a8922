#!/usr/bin/python3
"""Each operation of StableHLO, in both textual forms, against NumPy.

    operations_test.py [--seed N] [--count N] [--only NAME]

Needs build/python in PYTHONPATH. Cases share modules, some dozens each, because loads take longer than calls.
"""

import argparse
import os
import pathlib
import random
import re
import sys

import numpy as np
import plimsoll as pl

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import call_cases  # noqa: E402
import cases  # noqa: E402
import complex_cases  # noqa: E402
import more_cases  # noqa: E402
import special_cases  # noqa: E402
from writer import function, kind_of, module  # noqa: E402

PER_MODULE = 40
TABLES = pathlib.Path(__file__).resolve().parents[2] / "importers" / "stablehlo" / "operations"
written = set()  # names of operations in the modules that were loaded


def agree(got, want, tolerance):
    got, want = np.asarray(got), np.asarray(want)
    if got.shape != want.shape or got.dtype.itemsize != want.dtype.itemsize:
        return False
    if want.dtype.kind == "u":
        got = got.view(want.dtype)
    if tolerance == 0:
        return np.array_equal(got, want, equal_nan=want.dtype.kind in "fc")
    return np.allclose(got, want, rtol=tolerance, atol=tolerance, equal_nan=True)


def describe(name, arrays):
    return f"{name}({', '.join(f'{np.shape(a)} {kind_of(a)}' for a in arrays)})"


def run(batch, pretty, seed, engine):
    """Gives the faults of some cases, in lines."""
    numbers = random.Random(seed)
    functions = [function(f"f{i}", [(np.shape(a), kind_of(a)) for a in arrays], make, pretty, numbers)
                 for i, (_, arrays, make, _, _) in enumerate(batch)]
    for text in functions:
        written.update(re.findall(r"\b(?:stablehlo|chlo|sdy)\.\w+", text))
    try:
        loaded = pl.loads(module(functions), name="case.mlir", engine=engine)
    except pl.Error as error:
        if len(batch) == 1:
            return [f"{describe(batch[0][0], batch[0][1])}, {'pretty' if pretty else 'generic'}: {error}\n{functions[0]}"]
        half = len(batch) // 2
        return run(batch[:half], pretty, seed, engine) + run(batch[half:], pretty, seed, engine)
    faults = []
    for i, (name, arrays, _, want, tolerance) in enumerate(batch):
        got = getattr(loaded, f"f{i}")(*[np.asarray(a) for a in arrays])
        got = list(got) if len(want) > 1 else [got]
        for k, (g, w) in enumerate(zip(got, want)):
            if not agree(g, w, tolerance):
                faults.append(f"{describe(name, arrays)}, {'pretty' if pretty else 'generic'}, result {k}: "
                              f"{np.asarray(g).tolist()} instead of {np.asarray(w).tolist()}\n{functions[i]}")
                break
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--count", type=int, default=12, help="rounds of random dimension numbers")
    parser.add_argument("--only", default="", help="kinds that begin so")
    parser.add_argument("--every", type=int, default=1, help="each so manieth case")
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    rng = np.random.default_rng(options.seed)
    np.seterr(all="ignore")
    everything = [*cases.elementwise(rng), *cases.constants(rng), *cases.moving(rng), *more_cases.more(rng), *special_cases.special(rng),
                  *complex_cases.complex_numbers(rng), *call_cases.calls(rng),
                  *cases.dimension_numbers(rng, options.count)]
    everything = [case for case in everything if case[0].startswith(options.only)][options.seed % options.every::options.every]
    engine = pl.Engine(threads=1)
    faults = []
    for start in range(0, len(everything), PER_MODULE):
        for pretty in (True, False):
            faults += run(everything[start:start + PER_MODULE], pretty, options.seed + start, engine)
    if not options.only and options.every == 1:
        models = pathlib.Path(__file__).with_name("models_test.py").read_text()  # some stand in whole modules
        written.update(re.findall(r"\b(?:stablehlo|chlo|sdy)\.\w+", models))
        for path in sorted(TABLES.glob("*.cpp")):
            names = set(re.findall(r'\{"((?:stablehlo|chlo)\.\w+)"', path.read_text())) if path.name != "Refused.cpp" else set()
            faults += [f"no case has {name}, which {path.name} reads" for name in sorted(names - written)]
    for fault in faults[:20]:
        print(fault[:3000])
    print(f"{len(everything)} cases in both forms, {len(faults)} faults, {len({case[0] for case in everything})} kinds")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
