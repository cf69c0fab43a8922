#!/usr/bin/python3
"""ONNX Runtime's operators and the newer ones of ONNX, random cases beside NumPy, and beside ONNX Runtime where its library is (onnxruntime.py).

    contrib_test.py [--count N] [--seed N] [--operator NAME ...]

Needs build/python in PYTHONPATH. Prints its seed, and what was compared if there is more than a few of each.
"""

import argparse
import collections
import os
import sys

import numpy as np
import plimsoll as pl

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import contrib_attention  # noqa: E402, F401
import contrib_dense  # noqa: E402, F401
import contrib_products  # noqa: E402, F401
import contrib_quantised  # noqa: E402, F401
import newer_cases  # noqa: E402, F401
import onnxruntime  # noqa: E402
from contrib_cases import CASES  # noqa: E402
from models import attribute, graph, model, node, tensor, value  # noqa: E402
from protobuf import TYPES, field  # noqa: E402

KINDS = {np.dtype(kind): number for number, kind in TYPES.items()}


def attributes(given):
    for name, content in given.items():
        if isinstance(content, str):
            yield attribute(name, s=content.encode())
        elif isinstance(content, float):
            yield attribute(name, f=content)
        elif not isinstance(content, list):
            yield attribute(name, i=int(content))
        elif content and isinstance(content[0], str):
            yield attribute(name, strings=[each.encode() for each in content])
        elif content and isinstance(content[0], float):
            yield attribute(name, floats=content)
        else:
            yield attribute(name, ints=[int(each) for each in content])


def written(operator, case, random):
    """The model, and the arrays that a call gives: some inputs are constants, some extents open."""
    is_open = random.random() < 0.5
    names, given, values, constants = [], {}, [], []
    for i, array in enumerate(case.inputs):
        names.append("" if array is None else f"x{i}")
        if array is None:
            continue
        kind = KINDS[array.dtype]
        if i in case.kept or (random.random() < 0.3 and len(case.inputs) > 1 and i):
            constants.append(tensor(f"x{i}", array.shape, kind, raw=array.tobytes()))
            continue
        given[f"x{i}"] = array
        extents = case.names.get(i, [f"d{i}_{axis}" for axis in range(array.ndim)]) if is_open else []
        values.append(value(f"x{i}", [name or size for name, size in zip(extents, array.shape)] if is_open else array.shape, kind))
    while names and not names[-1]:
        names.pop()
    outputs = [f"y{i}" if want is not None else "" for i, want in enumerate(case.want)]
    while not outputs[-1]:
        outputs.pop()
    content = graph([node(operator, names, outputs, *attributes(case.attributes), domain=case.domain)], values,
                    [field(1, name.encode()) for name in outputs if name], constants)
    return model(content, case.opset, ["com.microsoft"]), given, [name for name in outputs if name]


def difference(got, want, case, said):
    """What differs, or None."""
    got = np.asarray(got)
    if got.shape != want.shape:
        return f"shape {got.shape}, not {want.shape}"
    if got.dtype != want.dtype:  # results have no sign of their own
        if got.dtype.itemsize != want.dtype.itemsize or (got.dtype.kind == "f") != (want.dtype.kind == "f"):
            return f"{got.dtype}, not {want.dtype}"
        got = got.view(want.dtype)
    if said is not None:
        got, want = got[said], want[said]
    if want.dtype.kind in "fc":
        rtol, atol = (2e-2, 2e-2) if want.dtype == np.float16 else (case.rtol, case.atol)
        if not np.allclose(got, want, rtol, atol, equal_nan=True):
            return f"values, by up to {np.nanmax(abs(np.subtract(got, want, dtype=np.result_type(got, np.float64)))):.3g}"
    elif want.dtype.kind == "b":
        if not np.array_equal(got, want):
            return "values"
    else:
        off = abs(got.astype(np.int64) - want.astype(np.int64))
        if off.max(initial=0) > (1 if case.off else 0) or np.count_nonzero(off) > max(2, case.off * off.size) * bool(case.off):
            return f"{np.count_nonzero(off)} of {off.size} integers, by up to {off.max()}"
    return None


def compare(names, results, case, wanted):
    for name, got in zip(names, results):
        index = int(name[1:])
        wrong = difference(got, wanted[index], case, case.where.get(index))
        if wrong:
            return f"result {index}: {wrong}"
    return None


def run(operator, make, random, engine, peer, counts):
    """What is wrong with one case, or None."""
    case = make(random)
    case.want = [None if want is None else np.asarray(want) for want in case.want]
    if case.has_halves and random.random() < 0.15:
        case.inputs, case.want = ([x.astype(np.float16) if x is not None and x.dtype == np.float32 else x for x in some]
                                  for some in (case.inputs, case.want))
    data, given, names = written(operator, case, random)
    shapes = [None if x is None else (x.dtype.name, x.shape) for x in case.inputs]
    about = f"{operator} {case.attributes} of {shapes}, {len(given)} given with the call"
    counts["cases"] += 1
    if peer and case.has_peer:
        try:
            theirs = peer.run(data, given, names)
        except RuntimeError as error:
            theirs = None
            if "implement" in str(error).lower():
                counts["without a kernel of ONNX Runtime"] += 1
            elif all(x is None or x.size for x in case.inputs):
                return f"{about}: ONNX Runtime: {error}"
            else:
                counts["empty ones that ONNX Runtime refuses"] += 1
        if theirs is not None:
            counts["beside ONNX Runtime"] += 1
            wrong = compare(names, theirs, case, case.want)
            if wrong:
                return f"{about}: NumPy and ONNX Runtime: {wrong}"
    if engine:
        try:
            main = pl.loads(data, name="contrib.onnx", engine=engine).main
            results = main(*given.values())
        except Exception as error:
            return f"{about}: {error}"
        results = results if isinstance(results, tuple) else (results,)
        wrong = compare(names, results, case, case.want)
        if wrong:
            return f"{about}: {wrong}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=2, help="of cases for each operator")
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(3), "little"))
    parser.add_argument("--operator", nargs="*", default=sorted(CASES))
    parser.add_argument("--keep-going", type=int, default=3, help="how many that are wrong are named for each operator")
    parser.add_argument("--reference", action="store_true", help="only compare the references with each other")
    options = parser.parse_args()
    print(f"seed {options.seed}")
    engine = None if options.reference else pl.Engine(threads=1)
    path = onnxruntime.path()
    peer = onnxruntime.Reference(path) if path else None
    wrong = 0
    for operator in options.operator:
        counts = collections.Counter()
        found = []
        makers = CASES[operator]
        for number in range(max(options.count, len(makers))):
            random = np.random.default_rng([options.seed, number, sum(operator.encode())])
            message = run(operator, makers[number % len(makers)], random, engine, peer, counts)
            if message:
                found.append(f"  case {number}: {message}")
        for message in found[:options.keep_going]:
            print(message)
        wrong += len(found)
        if found or options.count > 2:
            print(f"{operator}: {len(found)} wrong; " + ", ".join(f"{count} {name}" for name, count in counts.items()), flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
