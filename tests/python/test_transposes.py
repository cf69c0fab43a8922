"""Transpositions, and arithmetic with transposed operands, of all element types that NumPy has too, over extents around those of tiles, against NumPy."""

import itertools

import numpy as np
import pytest

import plimsoll as pl

ARITHMETIC_SHAPES = [(1, 1), (3, 200), (12, 64), (64, 64), (67, 130), (300, 259)]
TYPES = {"i1": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
         "f16": np.float16, "f32": np.float32, "f64": np.float64}
# Nothing, less than a tile, parts of some, powers of two, more than a workgroup.
SHAPES = [(0, 5), (1, 17), (3, 100), (12, 64), (16, 16), (31, 33), (130, 515),
          (3, 4, 5), (17, 12, 64), (2, 3, 16, 20)]


def module(shape, permutation, element, known):
    """Of one function: the transpose, of extents that are known at load, or not."""
    def text(extents):
        return "x".join([*(str(size) if known else "?" for size in extents), element])

    turned = [shape[axis] for axis in permutation]
    extents = "" if known else ", ".join(f"%d{axis}" for axis in permutation)
    dims = "" if known else "\n".join(
        f"%c{axis} = arith.constant {axis} : index\n%d{axis} = tensor.dim %a, %c{axis} : tensor<{text(shape)}>"
        for axis in range(len(shape)))
    return f"""
func.func @main(%a: tensor<{text(shape)}>) -> tensor<{text(turned)}> {{
  {dims}
  %e = tensor.empty({extents}) : tensor<{text(turned)}>
  %r = linalg.transpose ins(%a : tensor<{text(shape)}>) outs(%e : tensor<{text(turned)}>) permutation = {list(permutation)}
  return %r : tensor<{text(turned)}>
}}"""


@pytest.mark.parametrize("element", TYPES)
def test_transpose(element):
    random = np.random.default_rng(7)
    engine = pl.Engine(threads=2)
    # All of them for one kind of tiles each.
    for shape in SHAPES if element in ("i8", "f16", "f32") else SHAPES[3::3]:
        given = random.integers(0, 2 if element == "i1" else 120, shape).astype(TYPES[element])
        for permutation in itertools.permutations(range(len(shape))):
            # Of four dimensions those that begin with the last, of more than two either kind of extents.
            if len(shape) == 4 and permutation[0] != 3:
                continue
            for known in (True, False) if len(shape) == 2 else (sum(permutation[::2]) % 2 == 0,):
                result = engine.loads(module(shape, permutation, element, known)).main(given)
                np.testing.assert_array_equal(np.asarray(result), given.transpose(permutation),
                                              err_msg=f"{element} {shape} {permutation} known={known}")


def arithmetic(shape, element, known):
    """Of one function: x' + y, written by columns where `known`."""
    rows, columns = shape if known else ("?", "?")
    x, y = f"tensor<{columns}x{rows}x{element}>", f"tensor<{rows}x{columns}x{element}>"
    dims = "" if known else f"""%c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %y, %c0 : {y}
  %n = tensor.dim %y, %c1 : {y}"""
    maps = "#turned, #plain, #plain" if not known else "#plain, #turned, #turned"
    add = "arith.addf" if element[0] == "f" else "arith.addi"
    return f"""
#plain = affine_map<(i, j) -> (i, j)>
#turned = affine_map<(i, j) -> (j, i)>
func.func @main(%x: {x}, %y: {y}) -> {y} {{
  {dims}
  %e = tensor.empty({"" if known else "%m, %n"}) : {y}
  %r = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "parallel"]}}
      ins(%x, %y : {x}, {y}) outs(%e : {y}) {{
  ^bb0(%u: {element}, %v: {element}, %o: {element}):
    %s = {add} %u, %v : {element}
    linalg.yield %s : {element}
  }} -> {y}
  return %r : {y}
}}"""


@pytest.mark.parametrize("element", [element for element in TYPES if element != "i1"])
def test_arithmetic(element):
    random = np.random.default_rng(8)
    engine = pl.Engine(threads=2)
    for shape in ARITHMETIC_SHAPES if element in ("i8", "f16", "f32") else ARITHMETIC_SHAPES[-2:]:
        x, y = (random.integers(-30, 30, extents).astype(TYPES[element]) for extents in (shape[::-1], shape))
        for known in (True, False):
            result = engine.loads(arithmetic(shape, element, known)).main(x, y)
            np.testing.assert_array_equal(np.asarray(result), x.T + y, err_msg=f"{element} {shape} known={known}")


def test_types_without_vectors():
    engine = pl.Engine(threads=2)
    for shape in [(1, 1), (40, 300)]:
        x = np.arange(shape[0] * shape[1], dtype=np.int64).reshape(shape)
        result = engine.loads(module(shape, (1, 0), "index", True)).main(x)
        np.testing.assert_array_equal(np.asarray(result), x.T)
