"""The Python package beside NumPy: small calls, functions of @jit, the import.

    call     saxpy of n floats, from MLIR, beside what NumPy needs for it and beside one np.add()
    jit      the same source compiled and plain, with 1 thread and with all of the engine's
    reduce   sums, extrema and their places, the same way
    import   `import plimsoll` and `import numpy`, each in new processes, bytecode there already

Both sides of a row run in turns, in bursts of some milliseconds. "ratio" is NumPy's time by ours, round by
round: its median, and half the interquartile range; above 1 we are faster. What either gives is compared
first. Arrays are warm; traced and compiled is before the clock runs, "first call" says what that takes.
A machine that does other work, and a governor that changes clocks, make the figures wrong: look at the
spread.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time

import numpy as np

import plimsoll as pl

SAXPY = """
func.func @saxpy(%a: tensor<f32>, %x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> ()>, affine_map<(i) -> (i)>,
                                        affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]}
      ins(%a, %x, %y : tensor<f32>, tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%s: f32, %u: f32, %v: f32, %o: f32):
    %p = arith.mulf %s, %u : f32
    %q = arith.addf %p, %v : f32
    linalg.yield %q : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
"""


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def relu(x, w, b):
    return np.maximum(x * w + b, 0)


def gelu(x):
    return 0.5 * x * (1 + np.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))


def plus(x, y):
    return x + y


def five_points(x):
    return x[1:-1, 1:-1] * 0.5 + (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]) * 0.125


def pool(x):
    return np.maximum(np.maximum(x[::2, ::2], x[1::2, ::2]), np.maximum(x[::2, 1::2], x[1::2, 1::2]))


def gate(x):
    half = x.shape[1] // 2
    return x[:, :half] / (1 + np.exp(-x[:, half:]))


def halves(x):
    half = x.shape[1] // 2
    return np.concatenate([x[:, half:], x[:, :half]], axis=1)


def normalise(x):
    return (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5)


def order(x):
    return np.argsort(x, axis=-1, kind="stable")


def total(x):
    return x.sum()


def columns(x):
    return x.sum(axis=0)


def largest(x):
    return x.max(axis=0)


def spread(x):
    return x.var(axis=0)


def place(x):
    return x.argmax(axis=1)


def so_far(x):
    return x.cumsum(axis=1)


def lengths(x):
    return np.sqrt((x * x).sum(axis=1))


def ranges(x):
    return x.max(axis=1) - x.min(axis=1)


def planes(x):
    return x.max(axis=(2, 3))


def narrow(x, y):
    return x @ y


def dot(x, y):
    return (x * y).sum()


def burst(call, count):
    begin = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - begin) / count


def race(ours, numpys, rounds):
    """Seconds of a call of ours and of NumPy's, and the ratios of the rounds."""
    pairs = []
    counts = [max(1, int(4e-3 / min(burst(call, 1) for _ in range(5)))) for call in (ours, numpys)]
    for i in range(rounds):
        sides = [(ours, counts[0]), (numpys, counts[1])]
        times = [burst(*side) for side in (sides if i % 2 == 0 else sides[::-1])]
        pairs.append(times if i % 2 == 0 else times[::-1])
    return row(pairs)


def row(pairs):
    ours, numpys = zip(*pairs)
    low, ratio, high = np.percentile([numpy / our for our, numpy in pairs], (25, 50, 75))
    return {"ours_median": float(np.median(ours)), "ours_min": min(ours),
            "numpy_median": float(np.median(numpys)), "numpy_min": min(numpys),
            "ratio": float(ratio), "spread": float((high - low) / 2 / ratio)}


def calls(random):
    """Names, and the two sides."""
    for n in (16, 1000, 100_000):
        saxpy = pl.loads(SAXPY, engine=pl.Engine(threads=1)).saxpy
        a = np.array(2, np.float32)
        x, y = (random.standard_normal(n).astype(np.float32) for _ in range(2))
        out, other = np.empty_like(x), np.empty_like(x)
        np.testing.assert_allclose(saxpy(a, x, y), a * x + y, rtol=1e-6, atol=1e-6)
        yield (f"call/saxpy {n}, out= beside np.multiply and np.add, out=",
               lambda: saxpy(a, x, y, out=out),
               lambda: np.add(np.multiply(a, x, out=other), y, out=other))
        yield (f"call/saxpy {n}, out= beside np.add, out=",
               lambda: saxpy(a, x, y, out=out), lambda: np.add(x, y, out=other))
        yield f"call/saxpy {n} beside np.add", lambda: saxpy(a, x, y), lambda: np.add(x, y)


def jits(random, first):
    for function, shapes in ((softmax, [(8, 16), (64, 1024), (4096, 1024)]),
                             (relu, [(8, 16), (64, 1024), (4096, 4096)]),
                             (gelu, [(8, 16), (64, 1024), (4096, 4096)]),
                             (plus, [(64, 1024), (4096, 4096)]),
                             (five_points, [(64, 1024), (1000, 1000), (4096, 4096)]),
                             (pool, [(1000, 1000)]), (gate, [(1000, 1000)]), (halves, [(1000, 1000)]),
                             (normalise, [(8, 16), (64, 1024), (4096, 1024)]),
                             (order, [(1, 100_000), (64, 1024), (4096, 16)])):
        for shape in shapes:
            arrays = [random.standard_normal(shape).astype(np.float32)]
            if function is plus:
                arrays.append(random.standard_normal(shape).astype(np.float32))
            if function is relu:
                arrays += [random.standard_normal(shape[1]).astype(np.float32) for _ in range(2)]
            uses_workers = np.prod(shape) > 1000 and function is not order
            for threads in (1, 0) if uses_workers else (1,):
                engine = pl.Engine(threads=threads)
                compiled = pl.jit(function, engine=engine)
                begin = time.perf_counter()
                got = compiled(*arrays)
                name = (f"jit/{function.__name__} {shape[0]}x{shape[1]}, "
                        f"{engine.threads} thread{'s'[:engine.threads != 1]}")
                first[name] = time.perf_counter() - begin
                np.testing.assert_allclose(got, function(*arrays), rtol=1e-4, atol=1e-5)
                yield name, lambda: compiled(*arrays), lambda: function(*arrays)


def functions(random, first):
    """Of positive numbers that the second-level cache has room for, in f32, one thread."""
    engine = pl.Engine(threads=1)
    x, y = random.uniform(1e-3, 10, 1 << 16), random.uniform(-4, 4, 1 << 16)
    logarithms = (np.log, np.log2, np.log10)
    of_f32 = (np.exp, np.exp2, *logarithms, np.log1p, np.power)
    for function, dtype in [*((each, np.float32) for each in of_f32),
                            *((each, np.float64) for each in (*logarithms, np.power))]:
        arrays = [each.astype(dtype) for each in ((x, y) if function is np.power else (x,))]
        compiled = pl.jit(lambda *arrays, function=function: function(*arrays), engine=engine)
        begin = time.perf_counter()
        got = compiled(*arrays)
        name = f"function/{function.__name__} {x.size}{' of f64' if dtype is np.float64 else ''}"
        first[name] = time.perf_counter() - begin
        np.testing.assert_allclose(got, function(*(array.astype(np.float64) for array in arrays)), rtol=1e-6)
        yield name, lambda: compiled(*arrays), lambda: function(*arrays)


def imports(rounds):
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": folder}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)

        def once(name):
            code = ("import time; begin = time.perf_counter(); "
                    f"import {name}; print(time.perf_counter() - begin)")
            return float(subprocess.check_output([sys.executable, "-c", code], env=environment))

        once("plimsoll"), once("numpy")
        return row([(once("plimsoll"), once("numpy")) for _ in range(rounds)])


def reductions(random, first):
    for function, shape in ((total, (16,)), (total, (1 << 20,)), (total, (1 << 24,)), (dot, (1 << 24,)),
                            (columns, (2000, 2000)), (columns, (4096, 4096)), (columns, (20_000, 500)),
                            (columns, (1 << 20, 8)), (columns, (1 << 20, 64)), (largest, (2000, 2000)), (largest, (20_000, 500)),
                            (lengths, (100_000, 3)), (ranges, (100_000, 3)), (softmax, (100_000, 3)), (planes, (64, 512, 7, 7)),
                            (columns, (5000, 3)), (narrow, (200, 200)), (spread, (2000, 2000)), (place, (1000, 1000)), (place, (4096, 4096)), (so_far, (1000, 1000))):
        arrays = [random.standard_normal(shape).astype(np.float32)
                  for _ in range(2 if function is dot else 1)]
        if function is narrow:  # by three columns
            arrays.append(random.standard_normal((shape[1], 3)).astype(np.float32))
        for threads in (1, 0) if arrays[0].size > 1000 else (1,):
            engine = pl.Engine(threads=threads)
            compiled = pl.jit(function, engine=engine)
            begin = time.perf_counter()
            got = compiled(*arrays)
            name = (f"reduce/{function.__name__} {'x'.join(map(str, shape))}, "
                    f"{engine.threads} thread{'s'[:engine.threads != 1]}")
            first[name] = time.perf_counter() - begin
            exact = function(*(array.astype(np.float64) for array in arrays))
            np.testing.assert_allclose(got, exact, rtol=0, atol=1e-5 * arrays[0].size ** 0.5)
            yield name, lambda: compiled(*arrays), lambda: function(*arrays)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--filter", default="", help="a regular expression for names of rows")
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(3), "little"))
    parser.add_argument("--json", help="a file for the results")
    arguments = parser.parse_args()
    random, first, rows = np.random.default_rng(arguments.seed), {}, {}
    print(f"NumPy {np.__version__}, plimsoll {pl.__version__}, seed {arguments.seed}")
    print(f"{'':58} {'ours':>9} {'NumPy':>9} {'ratio':>6} spread  first call")

    def show(name, result):
        rows[name] = result
        began = f"{first[name] * 1e3:8.0f} ms" if name in first else ""
        print(f"{name:58} {result['ours_median'] * 1e6:9.2f} {result['numpy_median'] * 1e6:9.2f} "
              f"{result['ratio']:6.2f} {result['spread']:6.0%} {began}", flush=True)

    for group in (calls(random), jits(random, first), functions(random, first), reductions(random, first)):
        for name, ours, numpys in group:
            if re.search(arguments.filter, name):
                show(name, race(ours, numpys, arguments.rounds))
    if re.search(arguments.filter, "import"):
        show("import", imports(min(arguments.rounds, 15)))
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump({"seed": arguments.seed, "unit": "seconds", "first_call": first,
                       "benchmarks": rows}, file, indent=1)


if __name__ == "__main__":
    main()
