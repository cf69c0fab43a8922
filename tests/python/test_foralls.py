"""Parallel loops over tensors, which workers share: bounds of every kind, several results, loops in loops, products, and what is read and
written of the tensors that all iterations share; beside NumPy, with any number of threads."""

import functools
import itertools

import numpy as np
import pytest

import plimsoll as pl

ENGINES = [pl.Engine(threads=threads) for threads in (1, 2, 3, 8)]
TYPES = {"f32": np.float32, "f64": np.float64, "i64": np.int64, "i8": np.int8}


@functools.lru_cache(maxsize=4)
def loaded(source):
    return [ENGINES[1].loads(source, oracle=True)["main"]] + [engine.loads(source)["main"] for engine in ENGINES]


def check(source, arguments, *want, tolerance=0.0):
    """The oracle, and all numbers of threads, which give the same bits."""
    results = []
    for run in loaded(source):
        got = run(*arguments)
        results.append(got if isinstance(got, tuple) else (got,))
        for each, expected in zip(results[-1], want, strict=True):
            assert each.shape == expected.shape
            np.testing.assert_allclose(each, expected, rtol=tolerance, atol=tolerance)
    for each in results[2:]:
        for a, b in zip(each, results[1], strict=True):
            assert a.tobytes() == b.tobytes()


def random_array(shape, element, seed):
    random = np.random.default_rng(seed)
    return random.integers(-9, 9, shape).astype(TYPES[element])


SUMS = """
func.func @main(%x: TYPE) -> TYPE {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %l = tensor.dim %x, %c0 : TYPE
  %m = tensor.dim %x, %c1 : TYPE
  %n = tensor.dim %x, %c2 : TYPE
  %e = tensor.empty(SIZES) : TYPE
  %zero = arith.constant ZERO : ELEMENT
  %r = scf.forall (%i, %j) in (OVER) shared_outs(%o = %e) -> (TYPE) {
    %line = tensor.extract_slice %o[AT] [LINE] [1, 1, 1] : TYPE to tensor<KxELEMENT>
    %f:2 = scf.for %k = %c0 to %ALONG step %c1 iter_args(%t = %line, %s = %zero) -> (tensor<KxELEMENT>, ELEMENT) {
      %v = tensor.extract %x[EACH] : TYPE
      %w = arith.ADD %s, %v : ELEMENT
      %u = tensor.insert %w into %t[%k] : tensor<KxELEMENT>
      scf.yield %u, %w : tensor<KxELEMENT>, ELEMENT
    }
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %f#0 into %o[AT] [LINE] [1, 1, 1] : tensor<KxELEMENT> into TYPE
    }
  }
  return %r : TYPE
}"""


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("element, known", [("f32", True), *((element, False) for element in TYPES)])
def test_lines(axis, element, known):
    names = ["l", "m", "n"]
    others = [name for d, name in enumerate(names) if d != axis]

    def places(along, i="%i", j="%j"):
        out = [i, j]
        out.insert(axis, along)
        return ", ".join(out)

    for shape in [(0, 5, 7), (5, 0, 7), (5, 7, 0), (1, 1, 1), (3, 1, 37), (1, 129, 2), (17, 31, 13)]:
        if known and 0 in shape:  # upstream has no slices of nothing
            continue
        static = "tensor<" + "x".join(map(str, shape)) + f"x{element}>"
        source = SUMS.replace("TYPE", static if known else f"tensor<?x?x?x{element}>")
        source = source.replace("SIZES", "" if known else "%l, %m, %n").replace("OVER", "%" + ", %".join(others))
        source = source.replace("AT", places("0")).replace("LINE", places(str(shape[axis]) if known else "%" + names[axis], "1", "1"))
        source = source.replace("EACH", places("%k")).replace("ALONG", names[axis]).replace("Kx", f"{shape[axis]}x" if known else "?x")
        source = source.replace("ELEMENT", element).replace("ZERO", "0.0" if element[0] == "f" else "0")
        source = source.replace("ADD", "addf" if element[0] == "f" else "addi")
        x = random_array(shape, element, 11)
        check(source, [x], np.cumsum(x, axis, dtype=x.dtype))


TILES = """
func.func @main(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %some = arith.constant dense<[1.0, 2.0, 4.0]> : tensor<3xf32>
  %factor = tensor.extract %some[%c1] : tensor<3xf32>
  %zero = arith.constant dense<0.0> : tensor<f32>
  %e = tensor.empty(%m) : tensor<?xf32>
  %r:2 = scf.forall (%i) = (0) to (%m) step (STEP) shared_outs(%o = %y, %s = %e) -> (tensor<?x?xf32>, tensor<?xf32>) {
    %k = affine.min affine_map<(i)[m] -> (STEP, m - i)>(%i)[%m]
    %a = tensor.extract_slice %x[%i, 0] [%k, %n] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
    %b = tensor.extract_slice %o[%i, 0] [%k, %n] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
    %c = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                         iterator_types = ["parallel", "parallel"]} ins(%a : tensor<?x?xf32>) outs(%b : tensor<?x?xf32>) {
    ^bb0(%p: f32, %q: f32):
      %t = arith.mulf %p, %factor : f32
      %u = arith.addf %t, %q : f32
      linalg.yield %u : f32
    } -> tensor<?x?xf32>
    %d = tensor.extract_slice %s[%i] [%k] [1] : tensor<?xf32> to tensor<?xf32>
    %f = linalg.broadcast ins(%zero : tensor<f32>) outs(%d : tensor<?xf32>) dimensions = [0]
    %g = linalg.reduce {arith.addf} ins(%c : tensor<?x?xf32>) outs(%f : tensor<?xf32>) dimensions = [1]
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %g into %s[%i] [%k] [1] : tensor<?xf32> into tensor<?xf32>
      tensor.parallel_insert_slice %c into %o[%i, 0] [%k, %n] [1, 1] : tensor<?x?xf32> into tensor<?x?xf32>
    }
  }
  return %r#0, %r#1 : tensor<?x?xf32>, tensor<?xf32>
}"""


@pytest.mark.parametrize("step", (1, 3, 16, 1000))
def test_tiles(step):
    for shape in [(0, 3), (3, 0), (1, 1), (2, 7), (33, 17), (257, 131)]:
        x, y = random_array(shape, "f32", 1), random_array(shape, "f32", 2)
        kept = y.copy()
        want = 2 * x + y
        check(TILES.replace("STEP", str(step)), [x, y], want, want.sum(1))
        np.testing.assert_array_equal(y, kept)


PRODUCTS = """
func.func @main(%x: tensor<MxKxf32>, %w: tensor<KxNxf32>) -> tensor<MxNxf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<MxNxf32>
  %r = scf.forall (%p, %q) in (ROWS, COLUMNS) shared_outs(%o = %e) -> (tensor<MxNxf32>) {
    %i = affine.apply affine_map<(p) -> (p * HIGH)>(%p)
    %j = affine.apply affine_map<(p) -> (p * WIDE)>(%q)
    %a = tensor.extract_slice %x[%i, 0] [HIGH, K] [1, 1] : tensor<MxKxf32> to tensor<HIGHxKxf32>
    %b = tensor.extract_slice %w[0, %j] [K, WIDE] [1, 1] : tensor<KxNxf32> to tensor<KxWIDExf32>
    %t = tensor.extract_slice %o[%i, %j] [HIGH, WIDE] [1, 1] : tensor<MxNxf32> to tensor<HIGHxWIDExf32>
    %f = linalg.fill ins(%zero : f32) outs(%t : tensor<HIGHxWIDExf32>) -> tensor<HIGHxWIDExf32>
    %m = linalg.matmul ins(%a, %b : tensor<HIGHxKxf32>, tensor<KxWIDExf32>) outs(%f : tensor<HIGHxWIDExf32>) -> tensor<HIGHxWIDExf32>
    %y = linalg.abs ins(%m : tensor<HIGHxWIDExf32>) outs(%t : tensor<HIGHxWIDExf32>) -> tensor<HIGHxWIDExf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %o[%i, %j] [HIGH, WIDE] [1, 1] : tensor<HIGHxWIDExf32> into tensor<MxNxf32>
    }
  }
  return %r : tensor<MxNxf32>
}"""


def test_products():
    for rows, columns, high, wide, deep in [(1, 1, 64, 64, 64), (1, 2, 5, 7, 3), (4, 4, 16, 16, 300), (7, 3, 13, 37, 29), (2, 9, 1, 64, 64)]:
        values = {"HIGH": high, "WIDE": wide, "ROWS": rows, "COLUMNS": columns, "M": rows * high, "N": columns * wide, "K": deep}
        source = PRODUCTS
        for name in ("HIGH", "WIDE", "ROWS", "COLUMNS"):
            source = source.replace(name, str(values[name]))
        for name in "MNK":
            source = source.replace(f"<{name}x", f"<{values[name]}x").replace(f"x{name}x", f"x{values[name]}x")
        source = source.replace(", K]", f", {deep}]").replace("[K,", f"[{deep},")
        x, w = random_array((rows * high, deep), "f32", 3), random_array((deep, columns * wide), "f32", 4)
        check(source, [x, w], np.abs(x @ w))


NESTED = """
func.func @main(%x: tensor<?x?xi64>, %n: index) -> tensor<?x?xi64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %l = tensor.dim %x, %c0 : tensor<?x?xi64>
  %m = tensor.dim %x, %c1 : tensor<?x?xi64>
  %r = scf.for %turn = %c0 to %n step %c1 iter_args(%in = %x) -> (tensor<?x?xi64>) {
    %next = scf.forall (%i) in (%l) shared_outs(%o = %in) -> (tensor<?x?xi64>) {
      %row = tensor.extract_slice %o[%i, 0] [1, %m] [1, 1] : tensor<?x?xi64> to tensor<?xi64>
      %new = scf.forall (%j) in (%m) shared_outs(%p = %row) -> (tensor<?xi64>) {
        %own = tensor.extract %p[%j] : tensor<?xi64>
        %a = arith.index_cast %i : index to i64
        %b = arith.index_cast %j : index to i64
        %c = arith.muli %own, %a : i64
        %d = arith.addi %c, %b : i64
        %e = tensor.from_elements %d : tensor<1xi64>
        scf.forall.in_parallel {
          tensor.parallel_insert_slice %e into %p[%j] [1] [1] : tensor<1xi64> into tensor<?xi64>
        }
      }
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %new into %o[%i, 0] [1, %m] [1, 1] : tensor<?xi64> into tensor<?x?xi64>
      }
    }
    scf.yield %next : tensor<?x?xi64>
  }
  return %r : tensor<?x?xi64>
}"""


def test_loops_in_loops():
    for shape, turns in itertools.product([(0, 4), (4, 0), (1, 1), (5, 129), (200, 3)], (0, 1, 3)):
        x = random_array(shape, "i64", 5)
        want = x.copy()
        for _ in range(turns):
            want = want * np.arange(shape[0])[:, None] + np.arange(shape[1])
        check(NESTED, [x, turns], want)


MIRROR = """
func.func @main(%x: tensor<1001xf32>) -> tensor<1001xf32> {
  %last = arith.constant 1000 : index
  %r = scf.forall (%i) in (1001) shared_outs(%o = %x) -> (tensor<1001xf32>) {
    %j = arith.subi %last, %i : index
    %v = tensor.extract_slice READ[%j] [1] [1] : tensor<1001xf32> to tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %v into %o[%i] [1] [1] : tensor<1xf32> into tensor<1001xf32>
    }
  }
  return %r : tensor<1001xf32>
}"""


def test_shared():
    """What is not shared stays as it was. Of what is shared, the first half has been written when the second one is made of it: these iterations
    run in order."""
    x = random_array(1001, "f32", 6)
    check(MIRROR.replace("READ", "%x"), [x], x[::-1])
    check(MIRROR.replace("READ", "%o"), [x], np.concatenate([x[:500:-1], x[500:]]))


OVERLAPS = """
func.func @main(%x: tensor<?xi64>, %n: index) -> tensor<?xi64> {
  %r = scf.forall (%i) in (%n) shared_outs(%o = %x) -> (tensor<?xi64>) {
    %at = affine.apply affine_map<(i) -> (i * FACTOR + OFFSET)>(%i)
    %v = arith.index_cast %i : index to i64
    %e = tensor.splat %v : tensor<SIZExi64>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %e into %o[%at] [SIZE] [1] : tensor<SIZExi64> into tensor<?xi64>
    }
  }
  return %r : tensor<?xi64>
}"""


def test_slices_that_overlap():
    """The later iteration wins, always."""
    for factor, offset, size in itertools.product((0, 1, 2, 3), (0, 5), (1, 2, 3, 4)):
        n, x = 300, random_array(300 * 3 + 10, "i64", 7)
        want = x.copy()
        for i in range(n):
            want[i * factor + offset:][:size] = i
        source = OVERLAPS.replace("FACTOR", str(factor)).replace("OFFSET", str(offset)).replace("SIZE", str(size))
        check(source, [x, n], want)


def test_errors():
    source = OVERLAPS.replace("FACTOR", "1").replace("OFFSET", "0").replace("SIZE", "1")
    x = np.zeros(1000, np.int64)
    for engine in ENGINES:
        function = engine.loads(source)["main"]
        with pytest.raises(pl.Error, match="parallel_insert_slice.*leaves dimension 0"):
            function(x, 1001)
        np.testing.assert_array_equal(function(x, 1000), np.arange(1000))


def test_steps():
    """Only steps ahead are some; where nobody knows them at the load, the call says so."""
    text = """func.func @main(%x: tensor<30xi64>, %s: index) -> tensor<30xi64> {
  %c = arith.constant STEP : index
  %one = arith.constant dense<1> : tensor<1xi64>
  %r = scf.forall (%i) = (FROM) to (TO) step (BY) shared_outs(%o = %x) -> (tensor<30xi64>) {
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %one into %o[%i] [1] [1] : tensor<1xi64> into tensor<30xi64>
    }
  }
  return %r : tensor<30xi64>
}"""
    x = np.zeros(30, np.int64)
    for step, by, (begin, end), engine, oracle in itertools.product((-2, -1, 0, 1, 7), ("STEP", "%c", "%s"), ((3, 30), (30, 3), (5, 5)), ENGINES[:2], (False, True)):
        source = text.replace("BY", by).replace("STEP", str(step)).replace("FROM", str(begin)).replace("TO", str(end))
        function = engine.loads(source, oracle=oracle)["main"]
        if step <= 0:
            with pytest.raises(pl.Error, match="the step of the loop is 0 or less"):
                function(x, step)
            continue
        want = x.copy()
        want[begin:end:step] = 1
        np.testing.assert_array_equal(function(x, step), want)


def test_devices():
    """What is for a device stays with the function, and one that is not there is an error."""
    text = TILES.replace("STEP", "3").replace('iterator_types = ["parallel", "parallel"]}', 'iterator_types = ["parallel", "parallel"], plim.device = "gpu7"}')
    with pytest.raises(pl.Error, match="gpu7"):
        ENGINES[0].loads(text)
