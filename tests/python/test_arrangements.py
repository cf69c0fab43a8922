"""Parameters in another order, which the engine arranges when a module is linked, of all element types that NumPy has too, against NumPy."""

import random

import numpy as np
import pytest

import plimsoll as pl

TYPES = {"i1": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
         "f16": np.float16, "f32": np.float32, "f64": np.float64}
EXTENTS = [1, 2, 3, 4, 5, 7, 8, 16, 17, 33, 130]
CODE_OF_HOST = 1  # objects of a module without dispatches


def tensor(shape, element):
    return f"tensor<{'x'.join([*map(str, shape), element])}>"


class Chain:
    """Steps that move the elements of a parameter @w, as text and done with NumPy."""

    def __init__(self, element, value):
        self.element, self.parameter, self.value, self.name, self.lines = element, value, value, "%w", []

    def type(self, shape=None):
        return tensor(self.value.shape if shape is None else shape, self.element)

    def step(self, value, line):
        """`line` has {old}, its type {source}, {type} of the new value, and {n}, a number of its own."""
        number = len(self.lines)
        self.lines.append(line.format(old=self.name, source=self.type(), type=self.type(value.shape), n=number))
        self.value, self.name = value, f"%v{number}"

    def transpose(self, order):
        self.step(self.value.transpose(order), "%e{n} = tensor.empty() : {type}\n%v{n} = linalg.transpose"
                  f" ins({{old}} : {{source}}) outs(%e{{n}} : {{type}}) permutation = {list(order)}")

    def reshape(self, op, shape, dimension, fine):
        """Splits or joins at `dimension`; `fine` is how many dimensions there are where there are more."""
        groups = [[d + (d > dimension) for d in range(fine - 1)][i:i + 1] for i in range(fine - 1)]
        groups[dimension] = [dimension, dimension + 1]
        extents = f" output_shape {list(shape)}" if op == "expand" else ""
        self.step(self.value.reshape(shape),
                  f"%v{{n}} = tensor.{op}_shape {{old}} {groups}{extents} : {{source}} into {{type}}")

    def split(self, dimension, inner):
        shape = list(self.value.shape)
        shape[dimension:dimension + 1] = [shape[dimension] // inner, inner]
        self.reshape("expand", shape, dimension, len(shape))

    def join(self, dimension):
        shape = list(self.value.shape)
        shape[dimension:dimension + 2] = [shape[dimension] * shape[dimension + 1]]
        self.reshape("collapse", shape, dimension, len(shape) + 1)

    def pad(self, dimension, before, behind):
        widths = [(0, 0)] * self.value.ndim
        widths[dimension] = (before, behind)
        offsets, sizes, ones = [low for low, _ in widths], list(self.value.shape), [1] * self.value.ndim
        self.step(np.pad(self.value, widths),
                  f"%e{{n}} = tensor.empty() : {{type}}\n%f{{n}} = linalg.fill ins(%zero : {self.element}) outs(%e{{n}} : {{type}}) -> {{type}}\n"
                  f"%v{{n}} = tensor.insert_slice {{old}} into %f{{n}}{offsets}{sizes}{ones} : {{source}} into {{type}}")

    def module(self):
        zero = "false" if self.element == "i1" else f"{'0.0' if self.element[0] == 'f' else '0'} : {self.element}"
        source = self.type(self.parameter.shape)
        steps = "\n".join(self.lines)
        return f"""
ml_program.global private @w(#ml_program.extern<{source}>) : {source}
func.func @main() -> {self.type()} {{
  %w = ml_program.global_load_const @w : {source}
  %zero = arith.constant {zero}
{steps}
  return {self.name} : {self.type()}
}}"""

    def check(self, engine):
        """Returns the objects that the module has."""
        module = pl.loads(self.module(), engine=engine, parameters={"w": self.parameter})
        np.testing.assert_array_equal(np.asarray(module["main"]()), self.value, err_msg=self.module(), strict=True)
        return module.statistics()["objects"]


def values(shape, element, seed):
    return np.random.default_rng(seed).integers(-100, 100, shape).astype(TYPES[element])


@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize("threads", [1, 2])
def test_panels(element, threads):
    """What is made of filters: the columns of a product in vectors, zeros behind them, whatever is summed between."""
    engine = pl.Engine(threads=threads, isolation="none")
    for shape in [(64, 16), (40, 3, 5), (70, 9, 3, 3), (130, 300, 3, 3)]:
        chain = Chain(element, values(shape, element, 1))
        chain.pad(0, 0, -shape[0] % 32)
        chain.split(0, 32)
        chain.transpose([0, *range(2, len(shape) + 1), 1])
        assert chain.check(engine) == CODE_OF_HOST


@pytest.mark.parametrize("element", TYPES)
def test_steps(element):
    seed = random.randrange(1 << 30)
    print("seed", seed)
    engine, choices = pl.Engine(isolation="none"), random.Random(seed)
    arranged = 0
    for number in range(40):
        rank = choices.randint(1, 4)
        chain = Chain(element, values([choices.choice(EXTENTS[:11 if rank < 3 else 8]) for _ in range(rank)], element, number))
        for _ in range(choices.randint(1, 6)):
            dimension = choices.randrange(chain.value.ndim)
            kind = choices.choice(["transpose", "transpose", "split", "join", "pad"])
            if kind == "transpose":
                chain.transpose(choices.sample(range(chain.value.ndim), chain.value.ndim))
            elif kind == "split" and chain.value.ndim < 6:
                extent = chain.value.shape[dimension]
                chain.split(dimension, choices.choice([d for d in range(1, extent + 1) if extent % d == 0]))
            elif kind == "join" and dimension + 1 < chain.value.ndim:
                chain.join(dimension)
            elif kind == "pad":
                chain.pad(dimension, choices.choice([0, 0, 0, 1]), choices.choice([1, 2, 5, 15]))
        arranged += chain.check(engine) == CODE_OF_HOST
    assert arranged > 5


@pytest.mark.parametrize("isTransposed", [False, True])
@pytest.mark.parametrize("columns, depth", [(16, 64), (33, 7), (20, 2051)])
def test_groups(isTransposed, columns, depth):
    """Two numbers of 16 bits in one of 32, as instructions for products want them."""
    rows = 13
    a, b = values((rows, depth), "i8", 2), values((depth, columns), "i16", 3)
    shape = (columns, depth) if isTransposed else (depth, columns)
    left, right, result = tensor((rows, depth), "i8"), tensor(shape, "i16"), tensor((rows, columns), "i32")
    module = pl.loads(f"""
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> ({"n, k" if isTransposed else "k, n"})>
#c = affine_map<(m, n, k) -> (m, n)>
ml_program.global private @w(#ml_program.extern<{right}>) : {right}
func.func @main(%a: {left}) -> {result} {{
  %w = ml_program.global_load_const @w : {right}
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : {result}
  %c = linalg.fill ins(%zero : i32) outs(%e : {result}) -> {result}
  %r = linalg.generic {{indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%a, %w : {left}, {right}) outs(%c : {result}) {{
  ^bb0(%x: i8, %y: i16, %s: i32):
    %u = arith.extsi %x : i8 to i32
    %v = arith.extsi %y : i16 to i32
    %p = arith.muli %u, %v : i32
    %q = arith.addi %s, %p : i32
    linalg.yield %q : i32
  }} -> {result}
  return %r : {result}
}}""", engine=pl.Engine(isolation="none"), parameters={"w": np.ascontiguousarray(b.T) if isTransposed else b})
    np.testing.assert_array_equal(np.asarray(module["main"](a)), a.astype(np.int32) @ b.astype(np.int32), strict=True)
    assert module.statistics()["objects"] == CODE_OF_HOST + 1


@pytest.mark.parametrize("isolation", ["none", "worker"])
@pytest.mark.parametrize("count, element, group", [(2, "i8", "i16"), (3, "i8", "i24"), (4, "i8", "i32"), (5, "i8", "i40"),
                                                   (3, "i16", "i48"), (8, "i8", "i64"), (2, "i32", "i64")])
def test_groups_of_any_width(isolation, count, element, group):
    """Some of which do not fill the bytes that they have in memory. Looked up, so that they are there."""
    width, rows = int(element[1:]), 40
    numbers = np.random.default_rng(count).integers(0, 1 << width, (rows, count)).astype(np.uint64)
    body = "\n".join(f"%u{i} = arith.extui %a{i} : {element} to {group}" for i in range(count))
    last = "%u0"
    for i in range(1, count):
        body += (f"\n%k{i} = arith.constant {width * i} : {group}\n%s{i} = arith.shli %u{i}, %k{i} : {group}\n"
                 f"%p{i} = arith.ori {last}, %s{i} : {group}")
        last = f"%p{i}"
    of, grouped = tensor((rows, count), element), tensor((rows,), group)
    maps = ", ".join([*(f"affine_map<(i) -> (i, {i})>" for i in range(count)), "affine_map<(i) -> (i)>"])
    widened = "arith.addi %g, %none" if group == "i64" else "arith.extui %g"
    module = pl.loads(f"""
ml_program.global private @w(#ml_program.extern<{of}>) : {of}
func.func @main(%at: tensor<40xindex>) -> tensor<40xi64> {{
  %w = ml_program.global_load_const @w : {of}
  %none = arith.constant 0 : i64
  %e = tensor.empty() : {grouped}
  %r = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel"]}}
      ins({", ".join(["%w"] * count)} : {", ".join([of] * count)}) outs(%e : {grouped}) {{
  ^bb0({", ".join(f"%a{i}: {element}" for i in range(count))}, %o: {group}):
{body}
    linalg.yield {last} : {group}
  }} -> {grouped}
  %f = tensor.empty() : tensor<40xi64>
  %h = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}}
      ins(%at : tensor<40xindex>) outs(%f : tensor<40xi64>) {{
  ^bb0(%j: index, %o: i64):
    %g = tensor.extract %r[%j] : {grouped}
    %z = {widened} : {group}{"" if group == "i64" else " to i64"}
    linalg.yield %z : i64
  }} -> tensor<40xi64>
  return %h : tensor<40xi64>
}}""", engine=pl.Engine(isolation=isolation), parameters={"w": numbers.astype(f"uint{width}").view(f"int{width}")})
    at = np.arange(rows)[::-1].copy()
    want = sum(numbers[:, i] << np.uint64(width * i) for i in range(count)).view(np.int64)[at]
    np.testing.assert_array_equal(np.asarray(module["main"](at)), want, strict=True)
