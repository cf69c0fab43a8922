"""Slices that are moved: within one tensor, side by side, into a border; rows of a part of a vector, of some, long and none, against NumPy."""

import numpy as np
import pytest

import plimsoll as pl

TYPES = {"i1": np.bool_, "i8": np.int8, "i64": np.int64, "f16": np.float16, "f32": np.float32, "f64": np.float64}
# Around what is copied as a whole: 128 bytes of each type.
SHAPES = [(0, 40), (1, 1), (5, 3), (17, 33), (9, 48), (7, 257), (3, 2048), (200, 20)]


def tensor(rows, columns, element):
    return f"tensor<{rows}x{columns}x{element}>"


def module(rows, columns, element, known):
    """@shift moves all rows but the last one down by one, where they are, if MLIR takes it; @rotate takes a third of the columns to the end; @frame has
    zeros around."""
    n = str(rows) if known else "?"
    cut = columns // 3
    whole, first, last = (tensor(n, extent, element) for extent in (columns, cut, columns - cut))
    size = str(rows) if known else "%n"
    upper = str(rows - 1) if known else "%less"
    part = tensor(rows - 1 if known else "?", columns, element)
    framed = tensor(rows + 2 if known else "?", columns + 3, element)
    zero = "false" if element == "i1" else f"{'0.0' if element[0] == 'f' else '0'} : {element}"
    dims = f"""
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : {whole}
  %less = arith.subi %n, %c1 : index"""
    shift = "" if rows <= known else f"""
func.func @shift(%x: {whole}) -> {whole} {{{dims}
  %s = tensor.extract_slice %x[0, 0] [{upper}, {columns}] [1, 1] : {whole} to {part}
  %r = tensor.insert_slice %s into %x[1, 0] [{upper}, {columns}] [1, 1] : {part} into {whole}
  return %r : {whole}
}}"""
    return shift + f"""
func.func @rotate(%x: {whole}) -> {whole} {{{dims}
  %a = tensor.extract_slice %x[0, 0] [{size}, {cut}] [1, 1] : {whole} to {first}
  %b = tensor.extract_slice %x[0, {cut}] [{size}, {columns - cut}] [1, 1] : {whole} to {last}
  %r = tensor.concat dim(1) %b, %a : ({last}, {first}) -> {whole}
  return %r : {whole}
}}
func.func @frame(%x: {whole}) -> {framed} {{
  %z = arith.constant {zero}
  %r = tensor.pad %x low[1, 2] high[1, 1] {{
  ^bb0(%i: index, %j: index):
    tensor.yield %z : {element}
  }} : {whole} to {framed}
  return %r : {framed}
}}"""


@pytest.fixture(scope="module")
def engines():
    return [pl.Engine(threads=1), pl.Engine(threads=2, policy="heap"), pl.Engine("x86-64-v3", threads=1)]


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("element", TYPES)
def test_moves(engines, element, known):
    random = np.random.default_rng(31)
    for rows, columns in SHAPES[known:]:  # MLIR refuses slices of nothing
        x = random.integers(0 if element == "i1" else -9, 2 if element == "i1" else 9, (rows, columns)).astype(TYPES[element])
        cut = columns // 3
        down = x.copy()
        down[1:] = x[:-1]
        expected = {"shift": down, "rotate": np.concatenate([x[:, cut:], x[:, :cut]], axis=1),
                    "frame": np.pad(x, ((1, 1), (2, 1)))}
        for engine in engines:
            loaded = engine.loads(module(rows, columns, element, known))
            for name in ("shift", "rotate", "frame")[rows <= known:]:
                np.testing.assert_array_equal(loaded[name](x), expected[name], err_msg=f"{name} {x.shape}")
