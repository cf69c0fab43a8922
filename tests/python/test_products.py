"""Products whose right-hand side is transposed, in every element type, against NumPy."""

import numpy as np
import pytest

import plimsoll as pl

SHAPES = [(0, 3, 4), (1, 1, 1), (3, 5, 0), (13, 17, 31), (2, 127, 67)]  # rows, columns, terms


def source(element, result, zero):
    return f"""
func.func @product(%a: tensor<?x?x{element}>, %b: tensor<?x?x{element}>) -> tensor<?x?x{result}> {{
  %c0 = arith.constant 0 : index
  %m = tensor.dim %a, %c0 : tensor<?x?x{element}>
  %n = tensor.dim %b, %c0 : tensor<?x?x{element}>
  %e = tensor.empty(%m, %n) : tensor<?x?x{result}>
  %z = {zero}
  %f = linalg.fill ins(%z : {result}) outs(%e : tensor<?x?x{result}>) -> tensor<?x?x{result}>
  %r = linalg.matmul indexing_maps = [affine_map<(i, j, k) -> (i, k)>,
                                      affine_map<(i, j, k) -> (j, k)>,
                                      affine_map<(i, j, k) -> (i, j)>]
      ins(%a, %b : tensor<?x?x{element}>, tensor<?x?x{element}>)
      outs(%f : tensor<?x?x{result}>) -> tensor<?x?x{result}>
  return %r : tensor<?x?x{result}>
}}"""


def real(element):
    return f"arith.constant 0.0 : {element}"


def complex_zero(part):
    return f"complex.constant [0.0 : {part}, 0.0 : {part}] : complex<{part}>"


@pytest.fixture(scope="module", params=[
    {}, {"numerics": "strict"}, {"oracle": True}, {"policy": "stack"}],
    ids=["default", "strict", "oracle", "stack"])
def load(request):
    engines = [pl.Engine(threads=threads) for threads in (1, 2)]

    def products(*types):
        return [engine.loads(source(*types), **request.param).product for engine in engines]
    products.is_default = "oracle" not in request.param and "numerics" not in request.param
    return products


def operands(shape, seed=11):
    rows, columns, terms = shape
    random = np.random.default_rng(seed)
    return random.uniform(-2, 2, (rows, terms)), random.uniform(-2, 2, (columns, terms))


def near(got, wanted, tolerance):
    assert got.shape == wanted.shape
    assert np.all(np.abs(got - wanted) <= tolerance)


def test_f16(load):
    functions = load("f16", "f16", real("f16"))
    for shape in SHAPES:
        a, b = (x.astype(np.float16) for x in operands(shape))
        exact = a.astype(float) @ b.astype(float).T
        in_order = np.zeros(exact.shape, np.float16)
        for k in range(shape[2]):
            in_order += a[:, k, None] * b[None, :, k]
        for function in functions:
            if load.is_default:  # rounded once, but for what f32 loses
                near(function(a, b), exact, np.abs(exact) * 2.0 ** -11 + 2.0 ** -14)
            else:
                assert np.array_equal(function(a, b), in_order)


@pytest.mark.parametrize("element", ["f8E4M3FN", "f8E5M2"])
def test_f8_to_f32(load, element):
    functions = load(element, "f32", real("f32"))
    for shape in SHAPES:
        a, b = (pl.to_f8(x, element) for x in operands(shape))
        exact = pl.from_f8(a, element).astype(float) @ pl.from_f8(b, element).astype(float).T
        for function in functions:
            near(function(a, b), exact, 1e-5 * shape[2])


def test_f8_is_rounded_at_each_step(load):
    element = "f8E5M2"

    def rounded(x):
        return pl.from_f8(pl.to_f8(x, element), element)
    functions = load(element, element, real(element))
    for shape in SHAPES:
        a, b = (pl.to_f8(x, element) for x in operands(shape))
        left, right = pl.from_f8(a, element), pl.from_f8(b, element)
        wanted = np.zeros((shape[0], shape[1]), np.float32)
        for k in range(shape[2]):
            wanted = rounded(wanted + rounded(left[:, k, None] * right[None, :, k]))
        for function in functions:
            assert np.array_equal(pl.from_f8(function(a, b), element), wanted)


@pytest.mark.parametrize("bits,result", [(4, "i32"), (4, "i4"), (2, "i2")])
def test_small_integers(load, bits, result):
    functions = load(f"i{bits}", result, f"arith.constant 0 : {result}")
    half = 1 << (bits - 1)
    for shape in SHAPES:
        random = np.random.default_rng(3)
        a, b = (random.integers(-half, half, (n, shape[2])).astype(np.int8) for n in shape[:2])
        wanted = a.astype(np.int64) @ b.astype(np.int64).T
        if result != "i32":
            wanted = (wanted + half) % (2 * half) - half
        for function in functions:
            assert np.array_equal(function(a, b), wanted)


@pytest.mark.parametrize("part,dtype,error", [("f32", np.complex64, 2e-6), ("f64", np.complex128, 1e-14)])
def test_complex(load, part, dtype, error):
    functions = load(f"complex<{part}>", f"complex<{part}>", complex_zero(part))
    for shape in SHAPES:
        a, b = ((x + 1j * y).astype(dtype) for x, y in zip(operands(shape), operands(shape, 12)))
        exact = a.astype(complex) @ b.astype(complex).T
        for function in functions:
            near(function(a, b), exact, error * max(1, shape[2]))


@pytest.mark.parametrize("element, dtype, layout", [("f32", np.float32, "kj"), ("f32", np.float32, "jk"), ("f16", np.float16, "kj")])
def test_few_columns_of_constants(element, dtype, layout):
    """Weights of a few classes: with any number of rows, known or not, one matrix or one for each of a batch."""
    random = np.random.default_rng(17)
    for columns, terms, batch in [(2, 768, 0), (3, 100, 0), (3, 33, 4), (8, 64, 0), (7, 1000, 2), (5, 7, 0), (1, 768, 0)]:
        w = random.integers(-4, 5, (batch or 1, terms, columns)).astype(dtype)
        stored = np.ascontiguousarray(w if layout == "kj" else w.transpose(0, 2, 1))
        stored = stored if batch else stored[0]
        shape = "x".join(map(str, stored.shape)) + f"x{element}"
        b, lead = ("b, ", f"{batch}x") if batch else ("", "")
        text = f"""
func.func @main(%x: tensor<{lead}ROWSx{terms}x{element}>) -> tensor<{lead}ROWSx{columns}x{element}> {{
  %at = arith.constant {1 if batch else 0} : index
  %m = tensor.dim %x, %at : tensor<{lead}ROWSx{terms}x{element}>
  %w = arith.constant dense<"0x{stored.tobytes().hex().upper()}"> : tensor<{shape}>
  %e = tensor.empty(%m) : tensor<{lead}ROWSx{columns}x{element}>
  %z = arith.constant 0.0 : {element}
  %f = linalg.fill ins(%z : {element}) outs(%e : tensor<{lead}ROWSx{columns}x{element}>) -> tensor<{lead}ROWSx{columns}x{element}>
  %r = linalg.generic {{indexing_maps = [affine_map<({b}i, j, k) -> ({b}i, k)>, affine_map<({b}i, j, k) -> ({b}{", ".join(layout)})>,
                                        affine_map<({b}i, j, k) -> ({b}i, j)>],
                       iterator_types = [{'"parallel", ' if batch else ''}"parallel", "parallel", "reduction"]}}
      ins(%x, %w : tensor<{lead}ROWSx{terms}x{element}>, tensor<{shape}>) outs(%f : tensor<{lead}ROWSx{columns}x{element}>) {{
  ^bb0(%p: {element}, %q: {element}, %s: {element}):
    %t = arith.mulf %p, %q : {element}
    %u = arith.addf %s, %t : {element}
    linalg.yield %u : {element}
  }} -> tensor<{lead}ROWSx{columns}x{element}>
  return %r : tensor<{lead}ROWSx{columns}x{element}>
}}"""
        for rows in (None, 1, 3 if columns > 3 else 37):
            source = text.replace("(%m)", "()") if rows else text
            functions = [engine.loads(source.replace("ROWS", str(rows or "?")), numerics=numerics).main
                         for engine, numerics in ((pl.Engine(threads=2), "default"), (pl.Engine(threads=1), "strict"))]
            for given in (rows,) if rows else (0, 1, 3, 50):
                # Small enough that f16 is exact.
                x = (random.integers(-1, 2, (batch or 1, given, terms)) * (random.random((batch or 1, given, terms)) < 0.1)).astype(dtype)
                want = x.astype(np.float64) @ w.astype(np.float64)
                for function in functions:
                    np.testing.assert_array_equal(function(x if batch else x[0]), want if batch else want[0])
