#!/usr/bin/python3
"""Runs ONNX's backend tests through the importer and the engine, and compares.

    run.py [--folder node ...] [--filter TEXT] [--dynamic] [--verbose] [--check FILE] [--jobs N]

Needs Debian's libonnx-testdata, build/python in PYTHONPATH and build/lib in LD_LIBRARY_PATH. Prints how many cases agree,
differ, are refused and fail, in all and by operator. With --check, each line of FILE is the name of a case that does not
agree, and a reason: what is not in it must agree, what is must not.
"""

import argparse
import collections
import concurrent.futures
import os
import sys
import time

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import protobuf  # noqa: E402

ROOT = "/usr/share/libonnx-testdata/data"
RTOL, ATOL = 1e-3, 1e-7  # those of ONNX's own runner


def read_value(path, info):
    with open(path, "rb") as file:
        data = file.read()
    if info.kind == "sequence":
        return protobuf.sequence(data)
    if info.kind == "optional":
        return protobuf.optional(data)
    return protobuf.tensor(data)[1]


def read_set(folder, what, infos):
    out = []
    for i, info in enumerate(infos):
        path = f"{folder}/{what}_{i}.pb"
        if os.path.exists(path):
            out.append(read_value(path, info))
    return out


def flat(values):
    for value in values:
        if isinstance(value, list):
            yield from value
        else:
            yield value


def difference(got, want):
    """What differs, or None."""
    if got.shape != want.shape:
        return f"shape {got.shape}, not {want.shape}"
    if got.dtype != want.dtype:
        # Results have no sign of their own.
        if got.dtype.itemsize != want.dtype.itemsize or got.dtype.kind == "f" != want.dtype.kind == "f":
            return f"{got.dtype}, not {want.dtype}"
        got = got.view(want.dtype)
    if want.dtype.kind in "fc":
        if not np.allclose(got, want, RTOL, ATOL, equal_nan=True):
            off = np.abs(np.subtract(got, want, dtype=np.complex128 if want.dtype.kind == "c" else np.float64))
            return f"values, by up to {np.nanmax(off):.3g}"
    elif not np.array_equal(got, want):
        return f"values, {np.count_nonzero(got != want)} of {want.size}"
    return None


def run_case(case, dynamic):
    """(outcome, note): outcome is agree, differ, refused or failed."""
    import plimsoll as pl
    with open(f"{case}/model.onnx", "rb") as file:
        data = file.read()
    info = protobuf.model(data)
    if dynamic:
        data = protobuf.without_extents(data, kept_inputs(info))
    try:
        module = pl.loads(data, name=f"{case}/model.onnx", engine=engine())
    except pl.Error as error:
        note = str(error)
        isOurs = "onnx: " in note
        return ("refused" if isOurs else "failed"), note
    sets = [f"{case}/{name}" for name in sorted(os.listdir(case)) if name.startswith("test_data_set")]
    for folder in sets:
        inputs = read_set(folder, "input", [v for v in info.inputs if v.name not in info.initialisers])
        wanted = list(flat(read_set(folder, "output", info.outputs)))
        try:
            results = module.main(*inputs)
        except Exception as error:
            return "failed", str(error)
        results = results if isinstance(results, tuple) else (results,) if results is not None else ()
        if len(results) != len(wanted):
            return "differ", f"{len(results)} results, not {len(wanted)}"
        for i, (got, want) in enumerate(zip(results, wanted)):
            wrong = difference(np.asarray(got), np.asarray(want))
            if wrong:
                return "differ", f"result {i}: {wrong}"
    return "agree", ""


# Inputs whose extents say how many dimensions there are, or how many numbers an operator has to know: by operator, the
# positions; of all others the extents are left open.
KEPT = {"ConstantOfShape": {0}, "ConvInteger": {1, 3}, "ConvTranspose": {1}, "Det": {0}, "Expand": {1}, "GatherND": {1},
        "MaxUnpool": {2}, "Pad": {1}, "QLinearConv": {3}, "Reshape": {1}, "Resize": {1, 2, 3}, "ScatterND": {1},
        "Slice": {1, 2, 3, 4}, "Split": {1}, "Squeeze": {0, 1}, "Tile": {1}, "Unsqueeze": {1}, "Upsample": {1},
        "SplitToSequence": {0, 1}}


def kept_inputs(info):
    kept = set()
    for operator, inputs in info.nodes:
        positions = {1} if operator.startswith("Reduce") else KEPT.get(operator, set())
        kept |= {name for i, name in enumerate(inputs) if i in positions}
    return kept


_engine = None


def engine():
    global _engine
    if _engine is None:
        import plimsoll as pl
        _engine = pl.Engine(threads=1)
    return _engine


def guarded(arguments):
    case, dynamic = arguments
    start = time.monotonic()
    try:
        outcome, note = run_case(case, dynamic)
    except Exception as error:
        outcome, note = "failed", f"{type(error).__name__}: {error}"
    return case, outcome, note, time.monotonic() - start


def operator_of(case):
    with open(f"{case}/model.onnx", "rb") as file:
        operators = {operator for operator, _ in protobuf.model(file.read()).nodes}
    return operators.pop() if len(operators) == 1 else "several"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", nargs="*", default=["node", "simple", "pytorch-converted", "pytorch-operator"])
    parser.add_argument("--filter", default="")
    parser.add_argument("--every", type=int, default=1, help="only each N-th case")
    parser.add_argument("--dynamic", action="store_true", help="with all extents of inputs left open")
    parser.add_argument("--verbose", action="store_true", help="each case that does not agree")
    parser.add_argument("--check", help="the list of cases that do not agree")
    parser.add_argument("--slow", type=float, default=1e9, help="name the cases that take more seconds")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()

    cases = []
    for folder in options.folder:
        cases += [f"{ROOT}/{folder}/{name}" for name in sorted(os.listdir(f"{ROOT}/{folder}"))
                  if options.filter in name and os.path.exists(f"{ROOT}/{folder}/{name}/model.onnx")]
    cases = cases[::options.every]
    outcomes = {}
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        for case, outcome, note, seconds in pool.map(guarded, [(case, options.dynamic) for case in cases], chunksize=8):
            outcomes[case] = outcome, note
            if seconds > options.slow:
                print(f"{seconds:6.1f} s  {'/'.join(case.split('/')[-2:])}")
    by_operator = collections.defaultdict(collections.Counter)
    totals = collections.defaultdict(collections.Counter)
    for case, (outcome, note) in outcomes.items():
        by_operator[operator_of(case)][outcome] += 1
        totals[case.split("/")[-2]][outcome] += 1
        if options.verbose and outcome != "agree":
            print(f"{outcome:8} {'/'.join(case.split('/')[-2:])}: {note[:300]}")
    order = ["agree", "differ", "refused", "failed"]
    print(f"{'operator':28}" + "".join(f"{name:>9}" for name in order))
    for operator in sorted(by_operator):
        counts = by_operator[operator]
        if set(counts) != {"agree"} or options.verbose:
            print(f"{operator:28}" + "".join(f"{counts[name]:9}" for name in order))
    for folder, counts in totals.items():
        print(f"{folder + ', all':28}" + "".join(f"{counts[name]:9}" for name in order))
    return check(options.check, outcomes, options.dynamic) if options.check else 0


def check(path, outcomes, dynamic):
    """Do exactly the listed cases not agree? Those behind "dynamic" are only for open extents."""
    listed = {}
    with open(path) as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                name, _, reason = line.strip().partition(": ")
                if dynamic or not name.startswith("dynamic "):
                    listed[name.removeprefix("dynamic ")] = reason
    wrong = 0
    for case, (outcome, note) in outcomes.items():
        name = "/".join(case.split("/")[-2:])
        if outcome == "agree" and name in listed:
            print(f"{name} agrees: take it from the list", file=sys.stderr)
            wrong += 1
        elif outcome != "agree" and name not in listed:
            print(f"{name}: {outcome}: {note}", file=sys.stderr)
            wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
