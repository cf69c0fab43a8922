"""Products of slices that are read where they are, of rows and columns, transposed or not, at places that are known or not, against NumPy."""

import numpy as np

import plimsoll as pl

TYPES = {"f32": np.float32, "f64": np.float64, "i32": np.int32}
EXTENTS = [0, 1, 2, 7, 16, 33, 64, 130]


def program(element, wholes, parts, places, step, transposed, isopen):
    """The product of a part of each of two matrices; where all is open, sizes and places of the parts are arguments."""
    def kind(shape):
        return f"tensor<?x?x{element}>" if isopen else f"tensor<{shape[0]}x{shape[1]}x{element}>"

    def numbers(name, known):
        return f"[%{name}0, %{name}1]" if isopen else f"[{known[0]}, {known[1]}]"

    names = [f"{prefix}{each}{i}" for prefix in ("", "at") for each in "xy" for i in (0, 1)]
    more = "".join(f", %{name}: index" for name in names) if isopen else ""
    rows, columns = ("x1" if transposed[0] else "x0"), ("y0" if transposed[1] else "y1")
    out = kind((parts[0][transposed[0]], parts[1][1 - transposed[1]]))
    left, right = ("(k, m)" if transposed[0] else "(m, k)"), ("(n, k)" if transposed[1] else "(k, n)")
    zero, kinds = ("0", "i") if element[0] == "i" else ("0.0", "f")
    return f"""
      func.func @main(%a: {kind(wholes[0])}, %b: {kind(wholes[1])}{more}) -> {out} {{
        %zero = arith.constant {zero} : {element}
        %x = tensor.extract_slice %a{numbers('atx', places[0])}{numbers('x', parts[0])}[1, 1] : {kind(wholes[0])} to {kind(parts[0])}
        %y = tensor.extract_slice %b{numbers('aty', places[1])}{numbers('y', parts[1])}[1, {step}] : {kind(wholes[1])} to {kind(parts[1])}
        %e = tensor.empty({f'%{rows}, %{columns}' if isopen else ''}) : {out}
        %f = linalg.fill ins(%zero : {element}) outs(%e : {out}) -> {out}
        %r = linalg.generic {{indexing_maps = [affine_map<(m, n, k) -> {left}>, affine_map<(m, n, k) -> {right}>, affine_map<(m, n, k) -> (m, n)>],
                              iterator_types = ["parallel", "parallel", "reduction"]}}
            ins(%x, %y : {kind(parts[0])}, {kind(parts[1])}) outs(%f : {out}) {{
        ^bb0(%p: {element}, %q: {element}, %o: {element}):
          %u = arith.mul{kinds} %p, %q : {element}
          %v = arith.add{kinds} %o, %u : {element}
          linalg.yield %v : {element}
        }} -> {out}
        return %r : {out}
      }}"""


def test_sliced_products():
    seed = int(np.random.SeedSequence().generate_state(1)[0])
    print(f"seed {seed}")
    random = np.random.default_rng(seed)
    engines = [pl.Engine(threads=threads) for threads in (1, 2)]
    for case in range(40):
        element = list(TYPES)[random.integers(len(TYPES))]
        rows, depth, columns = (EXTENTS[random.integers(len(EXTENTS))] for _ in range(3))
        transposed = [int(each) for each in random.integers(2, size=2)]
        isopen = bool(random.integers(2))
        step = 1 if isopen else int(random.integers(1, 3))
        parts = [(depth, rows) if transposed[0] else (rows, depth), (columns, depth) if transposed[1] else (depth, columns)]
        places = [tuple(int(each) for each in random.integers(0, 5, 2)) for _ in range(2)]
        steps = [(1, 1), (1, step)]
        wholes = [tuple(place + part * by + int(random.integers(1, 6)) for place, part, by in zip(*each)) for each in zip(places, parts, steps)]
        a, b = ((random.standard_normal(whole) * 9).astype(TYPES[element]) for whole in wholes)
        x, y = (whole[tuple(slice(place, place + part * by, by) for place, part, by in zip(*each))].astype(np.float64)
                for whole, each in zip((a, b), zip(places, parts, steps)))
        want = (x.T if transposed[0] else x) @ (y.T if transposed[1] else y)
        text = program(element, wholes, parts, places, step, transposed, isopen)
        more = [int(each) for each in (*parts[0], *parts[1], *places[0], *places[1])] if isopen else []
        results = [np.asarray(engine.loads(text).main(a, b, *more)) for engine in engines]
        assert results[0].tobytes() == results[1].tobytes(), f"case {case}: {text}"
        np.testing.assert_allclose(results[0], want, rtol=1e-4, atol=1e-2, err_msg=f"case {case}: {text}")
