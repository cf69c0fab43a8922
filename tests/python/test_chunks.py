"""Sums and products whose extents are known, or open, or open with code made for those of the call, on one to eight threads: equal in every bit,
and as NumPy has them. Rows have chunks of 8192 elements, columns of 256 rows; around these, and around what is worth sharing, lie the
extents."""

import itertools

import numpy as np
import pytest

import plimsoll as pl

BODIES = {
    "sum": ("0.0", 1, "%t = arith.addf %o, %a : {0}", lambda x, axes: x.sum(axes)),
    "product": ("1.0", 1, "%t = arith.mulf %o, %a : {0}", lambda x, axes: x.prod(axes)),
    "squares": ("0.0", 1, "%p = arith.mulf %a, %a : {0}\n %t = arith.addf %o, %p : {0}", lambda x, axes: (x * x).sum(axes)),
    "exponentials": ("0.0", 1, "%p = math.exp %a : {0}\n %t = arith.addf %o, %p : {0}", lambda x, axes: np.exp(x).sum(axes)),
    "distances": ("0.0", 2, "%d = arith.subf %a, %b : {0}\n %p = math.absf %d : {0}\n %t = arith.addf %o, %p : {0}",
                  lambda x, y, axes: np.abs(x - y).sum(axes)),
}
TYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16}


def text(name, body, element, shape, axes, isopen):
    start, inputs, code, _ = BODIES[body]
    loops = ", ".join(f"d{i}" for i in range(len(shape)))
    kept = [i for i in range(len(shape)) if i not in axes]

    def kind(dimensions):
        return "tensor<" + "".join("?x" if isopen else f"{shape[i]}x" for i in dimensions) + element + ">"

    def index(dimensions):
        return f"affine_map<({loops}) -> ({', '.join(f'd{i}' for i in dimensions)})>"

    whole, out = kind(range(len(shape))), kind(kept)
    sizes = ""
    if isopen:
        for i in kept:
            sizes += f"%c{i} = arith.constant {i} : index\n %n{i} = tensor.dim %x, %c{i} : {whole}\n"
    given = ["%x", "%y"][:inputs]
    iterators = ", ".join('"reduction"' if i in axes else '"parallel"' for i in range(len(shape)))
    return f"""
      func.func @{name}({', '.join(f'{each}: {whole}' for each in given)}) -> {out} {{
        %c = arith.constant {start} : {element}
        {sizes}
        %e = tensor.empty({', '.join(f'%n{i}' for i in kept) if isopen else ''}) : {out}
        %f = linalg.fill ins(%c : {element}) outs(%e : {out}) -> {out}
        %r = linalg.generic {{indexing_maps = [{', '.join([index(range(len(shape)))] * inputs + [index(kept)])}], iterator_types = [{iterators}]}}
            ins({', '.join(given)} : {', '.join([whole] * inputs)}) outs(%f : {out}) {{
        ^bb0({', '.join(f'%{each}: {element}' for each in 'abo'[:inputs] + 'o')}):
          {code.format(element)}
          linalg.yield %t : {element}
        }} -> {out}
        return %r : {out}
      }}"""


ROWS = [1, 4, 17, 8191, 8192, 8193, 16384, 100003, 700001]
COLUMNS = [1, 2, 255, 256, 257, 513, 1000, 100003]
CASES = ([((n,), (0,)) for n in ROWS] + [((n, columns), (0,)) for n, columns in zip(COLUMNS, [7, 2, 33, 64, 65, 128, 17, 7])] +
         [((rows, n), (1,)) for n, rows in zip(ROWS, [3, 2, 9, 5, 3, 4, 8, 3, 1])] +
         [(shape, axes) for shape in ((33, 4099), (7, 100003), (100003, 7), (0, 5)) for axes in ((0, 1),)] +
         [(shape, axes) for shape in ((5, 1001, 9), (64, 64, 257), (3, 2, 100001), (101, 3, 33)) for axes in ((0, 1), (1, 2), (0, 2), (0, 1, 2), (1,))])


# Of f64 there are no exponentials but those of the C library, in loops of LLVM's.
@pytest.mark.parametrize("element,body", [each for each in itertools.product(TYPES, BODIES) if each != ("f64", "exponentials")])
def test_same_bits(body, element):
    dtype = TYPES[element]
    seed = int(np.random.SeedSequence().generate_state(1)[0])
    print(f"seed {seed}")
    random = np.random.default_rng(seed)
    cases = CASES if (element, body) == ("f32", "sum") else [CASES[each] for each in random.permutation(len(CASES))[:6]]
    engines = {threads: pl.Engine(threads=threads, specialization="on_request" if threads == 2 else "none") for threads in (1, 2, 3, 8)}
    for number, (shape, axes) in enumerate(cases):
        arguments = [random.standard_normal(shape) for _ in range(BODIES[body][1])]
        if body == "product":
            arguments = [1 + each / 1024 for each in arguments]
        if element == "f16":  # whose largest number is 65504
            arguments = [each / 16 if body != "exponentials" else each - 8 for each in arguments] if body != "product" else arguments
        arguments = [each.astype(dtype) for each in arguments]
        source = text("known", body, element, shape, axes, False) + text("open", body, element, shape, axes, True)
        results = {}
        for threads, engine in itertools.islice(engines.items(), None if number % 4 == 0 else 2):
            module = engine.loads(source)
            results[f"known, {threads} threads"] = np.asarray(module.known(*arguments))
            results[f"open, {threads} threads"] = np.asarray(module.open(*arguments))
            if threads == 2 and 0 not in shape:
                module.open.specialize(*arguments)
                results["made for them"] = np.asarray(module.open(*arguments))
                assert module.specializations()["calls"] == 1
        first = results["known, 1 threads"]
        for how, result in results.items():
            assert result.tobytes() == first.tobytes(), f"{body} of {shape} over {axes}: {how}"
        want = BODIES[body][3](*(each.astype(np.float64) for each in arguments), axes)
        terms = int(np.prod([shape[i] for i in axes]))
        bound = (4 + terms ** 0.5) * np.finfo(np.float32 if element == "f16" else dtype).eps * 4
        scale = np.abs(want) if body != "sum" else np.abs(arguments[0].astype(np.float64)).sum(axes)
        assert np.all(np.abs(first - want) <= bound * scale + 4 * np.finfo(dtype).eps * np.abs(want) + np.finfo(dtype).smallest_subnormal), f"{body} of {shape} over {axes}"


def test_vectors_and_rows():
    """A row and a vector multiplied, as products with a vector are."""
    random = np.random.default_rng(6)
    engines = [pl.Engine(threads=1), pl.Engine(threads=2)]
    for rows, length in ((1, 500001), (3, 100003), (9, 8193), (20, 257)):
        x, y = random.standard_normal((rows, length)).astype(np.float32), random.standard_normal(length).astype(np.float32)
        source = ""
        for name, m, n in (("known", rows, length), ("open", "?", "?")):
            size = "%c0 = arith.constant 0 : index\n %m = tensor.dim %x, %c0 : tensor<?x?xf32>" if name == "open" else ""
            source += f"""
              func.func @{name}(%x: tensor<{m}x{n}xf32>, %y: tensor<{n}xf32>) -> tensor<{m}xf32> {{
                %c = arith.constant 0.0 : f32
                {size}
                %e = tensor.empty({'%m' if size else ''}) : tensor<{m}xf32>
                %f = linalg.fill ins(%c : f32) outs(%e : tensor<{m}xf32>) -> tensor<{m}xf32>
                %r = linalg.matvec ins(%x, %y : tensor<{m}x{n}xf32>, tensor<{n}xf32>) outs(%f : tensor<{m}xf32>) -> tensor<{m}xf32>
                return %r : tensor<{m}xf32>
              }}"""
        results = [np.asarray(function(x, y)) for module in (engine.loads(source) for engine in engines) for function in (module.known, module.open)]
        assert len({each.tobytes() for each in results}) == 1, (rows, length)
        np.testing.assert_allclose(results[0], x.astype(np.float64) @ y, rtol=1e-4, atol=1e-2)
