"""Parallel loops of kernels, which workers share: of every dialect, over bounds of every kind, with any number of threads; in kernels that
get the same memory twice; with failures in the middle."""

import itertools

import numpy as np
import pytest

import plimsoll as pl

THREADS = (1, 2, 3, 8)
ENGINES = {threads: pl.Engine(threads=threads) for threads in THREADS}

COUNTED = """
func.func @main(%from: index, %to: index, %by: index, %x: memref<?xi32>) {
  %one = arith.constant 1 : i32
  scf.parallel (%i) = (%from) to (%to) step (%by) {
    %v = memref.load %x[%i] : memref<?xi32>
    %w = arith.addi %v, %one : i32
    memref.store %w, %x[%i] : memref<?xi32>
    scf.reduce
  }
  return
}"""


@pytest.mark.parametrize("threads", THREADS)
def test_each_iteration_once(threads):
    function = ENGINES[threads].loads(COUNTED).main
    size = 200_003
    for begin, end, step in [(0, size, 1), (0, 0, 1), (7, 7, 3), (9, 2, 1), (1, size, 2), (0, size, size), (0, size, 7 * size),
                             (5, 100_000, 3), (size - 1, size, 1), (0, 31_000, 1), (2, 2**62, 2**61), (0, 3, 2**62)]:
        x = np.zeros(size, np.int32)
        want = x.copy()
        if step < size or begin < size < end or end <= size:
            want[begin:end:step] += 1
        if end > size:  # iterations far apart, of which only the first lies in the buffer
            end = size
        function(begin, end, step, x)
        np.testing.assert_array_equal(x, want, err_msg=f"{begin} {end} {step}")
    with pytest.raises(pl.Error, match="step"):
        function(0, 10, 0, np.zeros(10, np.int32))


GRID = {
    "scf.parallel": """scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%l, %m, %n) step (%c1, %c1, %c1) { BODY scf.reduce }""",
    "scf.forall": """scf.forall (%i, %j, %k) in (%l, %m, %n) { BODY }""",
    "affine.parallel": """affine.parallel (%i, %j, %k) = (0, 0, 0) to (%l, %m, %n) { BODY }""",
    "nested": """scf.parallel (%i) = (%c0) to (%l) step (%c1) { scf.parallel (%j) = (%c0) to (%m) step (%c1) {
        scf.for %k = %c0 to %n step %c1 { BODY } scf.reduce } scf.reduce }""",
    "in a loop": """scf.for %i = %c0 to %l step %c1 { scf.parallel (%j, %k) = (%c0, %c0) to (%m, %n) step (%c1, %c1) { BODY scf.reduce } }""",
}
BODY = """%u = memref.load %x[%i, %j, %k] : memref<?x?x?xf32>
  %e = math.exp %u : f32
  %p = arith.mulf %u, %f : f32
  %q = arith.addf %p, %e : f32
  memref.store %q, %y[%k, %i, %j] : memref<?x?x?xf32>"""


@pytest.mark.parametrize("form", GRID)
def test_grids(form):
    source = """func.func @main(%x: memref<?x?x?xf32>, %y: memref<?x?x?xf32>, %f: f32) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %l = memref.dim %x, %c0 : memref<?x?x?xf32>
      %m = memref.dim %x, %c1 : memref<?x?x?xf32>
      %n = memref.dim %x, %c2 : memref<?x?x?xf32>
      """ + GRID[form].replace("BODY", BODY) + "\n return\n}"
    random = np.random.default_rng(31)
    functions = {threads: engine.loads(source).main for threads, engine in ENGINES.items()}
    for shape in [(0, 5, 5), (5, 0, 3), (2, 3, 0), (1, 1, 1), (1, 1, 70_000), (70_000, 1, 1), (37, 41, 43), (3, 300, 131), (200, 30, 17)]:
        x = random.standard_normal(shape).astype(np.float32)
        wide = x.astype(np.float64)
        want = np.transpose(wide * 3 + np.exp(wide), (2, 0, 1))
        first = None
        for threads, function in functions.items():
            y = np.full(want.shape, 7, np.float32)
            function(x, y, np.float32(3))
            np.testing.assert_allclose(y, want, rtol=3e-7 * 4, atol=1e-6, err_msg=f"{shape}, {threads} threads")
            first = y if first is None else first
            np.testing.assert_array_equal(y, first)


TYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "i8": np.int8, "i16": np.int16, "i64": np.int64, "i1": np.bool_}


@pytest.mark.parametrize("element", TYPES)
def test_types(element):
    """Scalars of each type go to the workers as words, buffers of each type as they are."""
    source = """func.func @main(%n: index, %s: TYPE, %x: memref<?xTYPE>, %y: memref<?xTYPE>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      scf.parallel (%i) = (%c0) to (%n) step (%c1) {
        %u = memref.load %x[%i] : memref<?xTYPE>
        %v = OP %u, %s : TYPE
        memref.store %v, %y[%i] : memref<?xTYPE>
        scf.reduce
      }
      return
    }""".replace("TYPE", element).replace("OP", "arith.addf" if element[0] == "f" else "arith.xori")
    dtype = TYPES[element]
    random = np.random.default_rng(32)
    x = (random.standard_normal(100_000) * 20).astype(dtype)
    scalar = True if element == "i1" else dtype(-3)
    want = x + scalar if element[0] == "f" else x ^ scalar
    for engine in ENGINES.values():
        y = np.zeros_like(x)
        engine.loads(source).main(len(x), scalar, x, y)
        np.testing.assert_array_equal(y, want)


def test_views_and_memory_of_the_kernel():
    """A view that the kernel makes of a part, a constant table, and memory that it takes and gives back."""
    source = """
    memref.global "private" constant @table : memref<4xf32> = dense<[1.0, 2.0, 4.0, 8.0]>
    func.func @main(%n: index, %x: memref<?x?xf32>, %y: memref<?xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %part = memref.subview %x[1, 2] [%n, 4] [1, 1] : memref<?x?xf32> to memref<?x4xf32, strided<[?, 1], offset: ?>>
      %t = memref.get_global @table : memref<4xf32>
      %m = memref.alloc(%n) : memref<?xf32>
      %small = memref.alloca() : memref<4xf32>
      scf.for %j = %c0 to %c4 step %c1 {
        %w = memref.load %t[%j] : memref<4xf32>
        %d = arith.addf %w, %w : f32
        memref.store %d, %small[%j] : memref<4xf32>
      }
      scf.parallel (%i) = (%c0) to (%n) step (%c1) {
        %zero = arith.constant 0.0 : f32
        %s = scf.for %j = %c0 to %c4 step %c1 iter_args(%a = %zero) -> f32 {
          %u = memref.load %part[%i, %j] : memref<?x4xf32, strided<[?, 1], offset: ?>>
          %w = memref.load %t[%j] : memref<4xf32>
          %d = memref.load %small[%j] : memref<4xf32>
          %p = arith.mulf %u, %w : f32
          %q = arith.addf %p, %d : f32
          %r = arith.addf %a, %q : f32
          scf.yield %r : f32
        }
        memref.store %s, %m[%i] : memref<?xf32>
        scf.reduce
      }
      scf.parallel (%i) = (%c0) to (%n) step (%c1) {
        %u = memref.load %m[%i] : memref<?xf32>
        %v = arith.addf %u, %u : f32
        memref.store %v, %y[%i] : memref<?xf32>
        scf.reduce
      }
      memref.dealloc %m : memref<?xf32>
      return
    }"""
    x = np.random.default_rng(33).standard_normal((50_001, 9)).astype(np.float32)
    table = np.array([1, 2, 4, 8], np.float64)
    for engine in ENGINES.values():
        y = np.zeros(50_000, np.float32)
        engine.loads(source).main(50_000, x, y)
        np.testing.assert_allclose(y, 2 * (x[1:, 2:6].astype(np.float64) @ table + 2 * table.sum()), rtol=1e-5, atol=1e-5)


def test_the_same_memory_twice():
    """Buffers of a kernel may be parts of each other: elements far apart, and the same ones."""
    source = """func.func @main(%n: index, %x: memref<?xf32>, %y: memref<?xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      scf.parallel (%i) = (%c0) to (%n) step (%c1) {
        %k = arith.muli %i, %c2 : index
        %u = memref.load %x[%k] : memref<?xf32>
        %v = arith.addf %u, %u : f32
        memref.store %v, %y[%k] : memref<?xf32>
        scf.reduce
      }
      return
    }"""
    start = np.arange(400_000, dtype=np.float32)
    for engine in ENGINES.values():
        function = engine.loads(source).main
        x = start.copy()
        function(200_000, x, x)
        np.testing.assert_array_equal(x[::2], 2 * start[::2])
        np.testing.assert_array_equal(x[1::2], start[1::2])
        x = start.copy()
        function(199_999, x[:-1], x[1:])
        np.testing.assert_array_equal(x[1:-1:2], 2 * start[:-2:2])
        np.testing.assert_array_equal(x[::2], start[::2])


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("same", [False, True])
def test_sums_of_rows(threads, same):
    """Loops in an iteration read what they have written, if both arguments are the same memory: nothing may be kept in registers."""
    rows, columns = 64, 40
    function = ENGINES[threads].loads("""
func.func @main(%x: memref<?x?xf64>, %y: memref<?x?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %x, %c0 : memref<?x?xf64>
  %n = memref.dim %x, %c1 : memref<?x?xf64>
  scf.parallel (%i) = (%c0) to (%m) step (%c1) {
    scf.for %k = %c0 to %n step %c1 {
      scf.for %j = %c0 to %n step %c1 {
        %v = memref.load %x[%i, %k] : memref<?x?xf64>
        %s = memref.load %y[%i, %j] : memref<?x?xf64>
        %t = arith.addf %s, %v : f64
        memref.store %t, %y[%i, %j] : memref<?x?xf64>
      }
    }
    scf.reduce
  }
  return
}""").main
    y = np.random.default_rng(5).integers(0, 2, (rows, columns)).astype(float)
    x = y if same else y[::-1].copy()
    want = y.copy()
    read = want if same else x
    for k in range(columns):
        for j in range(columns):  # of all rows at once
            want[:, j] += read[:, k]
    function(x, y)
    np.testing.assert_array_equal(y, want)


def test_failures():
    """One iteration of many fails: one message, with the place; what others did is done, and the next call works."""
    source = """func.func @main(%n: index, %x: memref<?xi32>, %y: memref<?xi32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      scf.parallel (%i) = (%c0) to (%n) step (%c1) {
        %u = memref.load %x[%i] : memref<?xi32>
        %v = arith.divsi %u, %u : i32
        memref.store %v, %y[%i] : memref<?xi32>
        scf.reduce
      }
      return
    }"""
    for engine in ENGINES.values():
        function = engine.loads(source).main
        x = np.full(500_000, 3, np.int32)
        for place in (0, 250_000, 499_999):
            y = np.zeros_like(x)
            x[place] = 0
            with pytest.raises(pl.Error, match="6:14: integer division by zero"):
                function(len(x), x, y)
            assert y[place] == 0
            x[place] = 3
            function(len(x), x, y)
            np.testing.assert_array_equal(y, 1)


def test_stencil_in_time():
    """Steps that read what the last one wrote, from one buffer to the other and back."""
    source = """func.func @main(%steps: index, %a: memref<?x?xf64>, %b: memref<?x?xf64>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %f = arith.constant 0.2 : f64
      %n = memref.dim %a, %c0 : memref<?x?xf64>
      %m = memref.dim %a, %c1 : memref<?x?xf64>
      %ln = arith.subi %n, %c1 : index
      %lm = arith.subi %m, %c1 : index
      %r:2 = scf.for %t = %c0 to %steps step %c1 iter_args(%from = %a, %to = %b) -> (memref<?x?xf64>, memref<?x?xf64>) {
        scf.parallel (%i, %j) = (%c1, %c1) to (%ln, %lm) step (%c1, %c1) {
          %im = arith.subi %i, %c1 : index
          %ip = arith.addi %i, %c1 : index
          %jm = arith.subi %j, %c1 : index
          %jp = arith.addi %j, %c1 : index
          %0 = memref.load %from[%i, %j] : memref<?x?xf64>
          %1 = memref.load %from[%im, %j] : memref<?x?xf64>
          %2 = memref.load %from[%ip, %j] : memref<?x?xf64>
          %3 = memref.load %from[%i, %jm] : memref<?x?xf64>
          %4 = memref.load %from[%i, %jp] : memref<?x?xf64>
          %s0 = arith.addf %0, %1 : f64
          %s1 = arith.addf %s0, %2 : f64
          %s2 = arith.addf %s1, %3 : f64
          %s3 = arith.addf %s2, %4 : f64
          %v = arith.mulf %s3, %f : f64
          memref.store %v, %to[%i, %j] : memref<?x?xf64>
          scf.reduce
        }
        scf.yield %to, %from : memref<?x?xf64>, memref<?x?xf64>
      }
      return
    }"""
    start = np.random.default_rng(34).standard_normal((301, 257))
    for engine, steps in itertools.product(ENGINES.values(), (0, 1, 7)):
        a, b = start.copy(), start.copy()
        engine.loads(source).main(steps, a, b)
        want = start.copy()
        for _ in range(steps):
            old = want.copy()
            want[1:-1, 1:-1] = (old[1:-1, 1:-1] + old[:-2, 1:-1] + old[2:, 1:-1] + old[1:-1, :-2] + old[1:-1, 2:]) * 0.2
        np.testing.assert_allclose(a if steps % 2 == 0 else b, want, rtol=1e-13)


@pytest.mark.parametrize("policy", ["auto", "stack", "workspace", "heap"])
def test_memory_of_iterations(policy):
    """Each iteration has its own, of a fixed size; nothing is left behind."""
    source = """func.func @main(%n: index, %x: memref<?x64xf32>, %y: memref<?xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c64 = arith.constant 64 : index
      scf.parallel (%i) = (%c0) to (%n) step (%c1) {
        %a = memref.alloca() : memref<64xf32>
        %b = memref.alloc() : memref<64xf32>
        scf.for %j = %c0 to %c64 step %c1 {
          %u = memref.load %x[%i, %j] : memref<?x64xf32>
          %k = arith.xori %j, %c1 : index
          memref.store %u, %a[%k] : memref<64xf32>
          %v = arith.addf %u, %u : f32
          memref.store %v, %b[%j] : memref<64xf32>
        }
        %zero = arith.constant 0.0 : f32
        %s = scf.for %j = %c0 to %c64 step %c1 iter_args(%t = %zero) -> f32 {
          %u = memref.load %a[%j] : memref<64xf32>
          %v = memref.load %b[%j] : memref<64xf32>
          %p = arith.mulf %u, %v : f32
          %q = arith.addf %t, %p : f32
          scf.yield %q : f32
        }
        memref.dealloc %b : memref<64xf32>
        memref.store %s, %y[%i] : memref<?xf32>
        scf.reduce
      }
      return
    }"""
    x = np.random.default_rng(35).standard_normal((20_000, 64)).astype(np.float32)
    swapped = x.reshape(-1, 32, 2)[:, :, ::-1].reshape(-1, 64).astype(np.float64)
    for threads in (1, 2, 8):
        engine = pl.Engine(threads=threads, policy=policy)
        function = engine.loads(source).main
        y = np.zeros(len(x), np.float32)
        for _ in range(3):
            function(len(x), x, y)
            np.testing.assert_allclose(y, 2 * (x * swapped).sum(axis=1), rtol=1e-5, atol=1e-4)
        assert engine.memory()["peak_bytes"] < 1 << 20


HEAD = "  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n  %c2 = arith.constant 2 : index\n  %one = arith.constant 1 : i32\n"


def on_all(signature, body, *arguments, globals_=""):
    """What is left in the arguments after a call of the kernel on each engine, and in the order of the source."""
    source = f"{globals_}\nfunc.func @main({signature}) {{\n{HEAD}{body}\n  return\n}}"
    results = []
    for engine, options in [*((engine, {}) for engine in ENGINES.values()), (ENGINES[1], {"oracle": True})]:
        mine = [each.copy() if isinstance(each, np.ndarray) else each for each in arguments]
        engine.loads(source, **options).main(*mine)
        results.append(mine)
    for mine in results[:-1]:
        for one, other in zip(mine, results[-1]):
            np.testing.assert_array_equal(one, other)
    return results[-1]


@pytest.mark.parametrize("view, store", [
    ("%s = memref.subview %x[%i][1][1] : memref<?xi32> to memref<1xi32, strided<[1], offset: ?>>",
     "memref.store %one, %s[%c0] : memref<1xi32, strided<[1], offset: ?>>"),
    ("%s = arith.select %p, %x, %y : memref<?xi32>", "memref.store %one, %s[%i] : memref<?xi32>"),
    ("%s = scf.if %p -> memref<?xi32> { scf.yield %x : memref<?xi32> } else { scf.yield %y : memref<?xi32> }",
     "memref.store %one, %s[%i] : memref<?xi32>")], ids=["part", "select", "if"])
def test_views_in_several_loops(view, store):
    loop = f"scf.parallel (%i) = (%c0) to (%n) step (%c2) {{\n{view}\n{store}\nscf.reduce }}\n"
    x, y = on_all("%n: index, %p: i1, %x: memref<?xi32>, %y: memref<?xi32>", 3 * loop, 70_000, True,
                  np.zeros(70_000, np.int32), np.zeros(70_000, np.int32))[2:]
    assert (x[::2] == 1).all() and not x[1::2].any() and not y.any()


def test_what_only_fails_or_changes_variables():
    """A loop that writes no buffer of the kernel is no dispatch: an assertion in it counts, and so does what it does to a variable."""
    source = f"""func.func @main(%n: index, %x: memref<?xindex>, %y: memref<?xindex>) {{
{HEAD}  scf.parallel (%i) = (%c0) to (%n) step (%c1) {{
        %k = memref.load %x[%i] : memref<?xindex>
        %p = arith.cmpi ult, %k, %n : index
        cf.assert %p, "index out of range"
        scf.reduce
      }}
      memref.store %n, %y[%c0] : memref<?xindex>
      return
    }}"""
    x, y = np.zeros(50_000, np.int64), np.zeros(1, np.int64)
    for engine in ENGINES.values():
        main = engine.loads(source).main
        x[40_000] = 50_000
        with pytest.raises(pl.Error, match="index out of range"):
            main(50_000, x, y)
        assert not y.any()
        x[40_000] = 0
        main(50_000, x, y)
        assert y[0] == 50_000
        y[0] = 0
    variable = 'memref.global "private" @g : memref<4xi32> = dense<[1, 2, 3, 4]>'
    body = """scf.parallel (%i) = (%c0) to (%n) step (%c1) {
        %g = memref.get_global @g : memref<4xi32>
        %o = memref.atomic_rmw addi %one, %g[%c1] : (i32, memref<4xi32>) -> i32
        scf.reduce
      }
      %g = memref.get_global @g : memref<4xi32>
      memref.copy %g, %x : memref<4xi32> to memref<4xi32>"""
    x = on_all("%n: index, %x: memref<4xi32>", body, 100_000, np.zeros(4, np.int32), globals_=variable)[1]
    np.testing.assert_array_equal(x, [1, 100_002, 3, 4])


def test_transposed_buffer():
    """What is written through a transposed view is written."""
    body = """%v = memref.transpose %x (i, j) -> (j, i) : memref<?x2xi32> to memref<2x?xi32, strided<[1, 2]>>
      %f = memref.load %z[%c1] : memref<?xi32>
      memref.store %f, %v[%c1, %c2] : memref<2x?xi32, strided<[1, 2]>>
      scf.parallel (%i) = (%c0) to (%n) step (%c1) {
        memref.store %f, %v[%c0, %i] : memref<2x?xi32, strided<[1, 2]>>
        scf.reduce
      }"""
    x = on_all("%n: index, %x: memref<?x2xi32>, %z: memref<?xi32>", body, 60_000, np.zeros((60_000, 2), np.int32),
               np.array([5, 7], np.int32))[1]
    assert (x[:, 0] == 7).all() and x[2, 1] == 7 and x[:, 1].sum() == 7


def test_other_operations_of_affine_and_memref():
    x = on_all("%x: memref<100000xi32>", """affine.parallel (%i) = (0) to (25000) {
        %v = affine.vector_load %x[%i * 4] : memref<100000xi32>, vector<4xi32>
        %w = arith.addi %v, %v : vector<4xi32>
        affine.vector_store %w, %x[%i * 4] : memref<100000xi32>, vector<4xi32>
        %p:2 = affine.delinearize_index %i into (250, 100) : index, index
        %q = affine.linearize_index [%p#0, %p#1] by (250, 100) : index
        memref.store %one, %x[%q] : memref<100000xi32>
      }""".replace("memref.store %one, %x[%q] : memref<100000xi32>", "%c = arith.cmpi eq, %q, %i : index\n cf.assert %c, \"other\""),
               np.arange(100_000, dtype=np.int32))[0]
    np.testing.assert_array_equal(x, 2 * np.arange(100_000))
    x = on_all("%n: index, %x: memref<4xi32>", """scf.parallel (%i) = (%c0) to (%n) step (%c1) {
        %v = memref.generic_atomic_rmw %x[%c1] : memref<4xi32> {
        ^bb0(%o: i32):
          %w = arith.addi %o, %one : i32
          memref.atomic_yield %w : i32
        }
        scf.reduce
      }""", 30_000, np.zeros(4, np.int32))[1]
    np.testing.assert_array_equal(x, [0, 30_000, 0, 0])


def test_bounds_far_apart():
    """Their difference is no index, the number of iterations is three."""
    body = """scf.parallel (%i) = (%a) to (%b) step (%c) {
        %k = arith.index_cast %i : index to i64
        %l = arith.index_cast %c1 : index to i64
        %o = memref.atomic_rmw addi %k, %x[%c0] : (i64, memref<2xi64>) -> i64
        %p = memref.atomic_rmw addi %l, %x[%c1] : (i64, memref<2xi64>) -> i64
        scf.reduce
      }"""
    begin = -(2**62) - 2**61
    x = on_all("%a: index, %b: index, %c: index, %x: memref<2xi64>", body, begin, 2**62 + 2**61, 2**62, np.zeros(2, np.int64))[3]
    assert list(x) == [3 * begin + 3 * 2**62, 3]


def test_an_op_reads_what_it_has_written():
    """Ops on overlapping buffers are loops, as their author wrote them: not vectors of what was there before."""
    source = """
#id = affine_map<(i) -> (i)>
func.func @main(%a: memref<?x100xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %m = memref.dim %a, %c0 : memref<?x100xf32>
  scf.parallel (%i) = (%c0) to (%m) step (%c1) {
    %x = memref.subview %a[%i, 0] [1, 99] [1, 1] : memref<?x100xf32> to memref<99xf32, strided<[1], offset: ?>>
    %y = memref.subview %a[%i, 1] [1, 99] [1, 1] : memref<?x100xf32> to memref<99xf32, strided<[1], offset: ?>>
    linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%x : memref<99xf32, strided<[1], offset: ?>>) outs(%y : memref<99xf32, strided<[1], offset: ?>>) {
    ^bb0(%p: f32, %o: f32):
      %q = arith.addf %p, %one : f32
      linalg.yield %q : f32
    }
  }
  return
}"""
    for threads in (1, 2):
        x = np.zeros((3000, 100), np.float32)
        pl.Engine(threads=threads).loads(source).main(x)
        np.testing.assert_array_equal(x, np.broadcast_to(np.arange(100, dtype=np.float32), x.shape))


SUM_AND_LARGEST = """
func.func @main(%x: memref<?x?xf32>) -> (f32, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.5 : f32
  %least = arith.constant -1.0e30 : f32
  %n = memref.dim %x, %c0 : memref<?x?xf32>
  %m = memref.dim %x, %c1 : memref<?x?xf32>
  %r:2 = scf.parallel (%i, %j) = (%c0, %c0) to (%n, %m) step (%c1, %c1) init (%zero, %least) -> (f32, f32) {
    %v = memref.load %x[%i, %j] : memref<?x?xf32>
    scf.reduce(%v, %v : f32, f32) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      scf.reduce.return %s : f32
    }, {
    ^bb0(%a: f32, %b: f32):
      %is = arith.cmpf ogt, %b, %a : f32
      %l = arith.select %is, %b, %a : f32
      scf.reduce.return %l : f32
    }
  }
  return %r#0, %r#1 : f32, f32
}"""

LARGEST_SUM_OF_ROWS = """
func.func @main(%x: memref<?x?xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %least = arith.constant -1.0e30 : f32
  %n = memref.dim %x, %c0 : memref<?x?xf32>
  %m = memref.dim %x, %c1 : memref<?x?xf32>
  %r = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%least) -> f32 {
    %row = affine.parallel (%j) = (0) to (symbol(%m)) reduce ("addf") -> f32 {
      %v = memref.load %x[%i, %j] : memref<?x?xf32>
      affine.yield %v : f32
    }
    scf.reduce(%row : f32) {
    ^bb0(%a: f32, %b: f32):
      %l = arith.maximumf %a, %b : f32
      scf.reduce.return %l : f32
    }
  }
  return %r : f32
}"""


def test_reductions():
    """In an order that is open, but the same each time; `strict` has that of the iterations."""
    random = np.random.default_rng(13)
    for shape in ((0, 5), (5, 0), (1, 1), (7, 13), (101, 37), (300, 1021)):
        x = random.standard_normal(shape).astype(np.float32)
        in_order = np.float32(0.5)
        for value in x.ravel():
            in_order = in_order + value
        sums, rows = set(), set()
        for engine in ENGINES.values():
            total, largest = engine.loads(SUM_AND_LARGEST).main(x)
            assert largest == max(x.ravel(), default=np.float32(-1e30))
            np.testing.assert_allclose(total, 0.5 + x.sum(dtype=np.float64), rtol=1e-5, atol=1e-3)
            sums.add(float(total))
            strict, _ = engine.loads(SUM_AND_LARGEST, numerics="strict").main(x)
            assert strict == in_order
            row = engine.loads(LARGEST_SUM_OF_ROWS).main(x)
            np.testing.assert_allclose(row, max(x.sum(axis=1, dtype=np.float64), default=-1e30), rtol=1e-5, atol=1e-3)
            rows.add(float(row))
        assert len(sums) == len(rows) == 1


COMBINERS = {
    "arith.addf": ("f64", 0.0, np.sum), "arith.mulf": ("f32", 1.0, np.prod), "arith.maximumf": ("f32", -np.inf, np.max),
    "arith.minnumf": ("f64", np.inf, np.min), "arith.addi": ("i32", 5, lambda x: 5 + x.sum(dtype=np.int32)),
    "arith.xori": ("i64", 0, np.bitwise_xor.reduce), "arith.ori": ("i8", 0, np.bitwise_or.reduce), "arith.maxsi": ("i16", -32768, np.max),
    "arith.minui": ("i32", -1, lambda x: x.view(np.uint32).min().astype(np.int32)),
}
KINDS = {"f32": np.float32, "f64": np.float64, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64}


@pytest.mark.parametrize("combiner", COMBINERS)
@pytest.mark.parametrize("extents", [(0,), (1,), (31_000,), (100_003,), (1_000_003,), (3, 200_001), (70_001, 3), (5, 0), (40, 41, 43)])
def test_reductions(combiner, extents):
    """Workgroups share parts of what a loop reduces, which are the same for any number of them; from a begin on and in steps."""
    element, start, want = COMBINERS[combiner]
    kind, rank = KINDS[element], len(extents)
    begins, steps = [2, 0, 1][:rank], [3, 1, 2][:rank]
    names = [f"%i{each}" for each in range(rank)]
    literal = {np.inf: "0x7FF0000000000000", -np.inf: "0xFF800000"}.get(start, start)
    buffer = f"memref<{'?x' * rank}{element}>"
    source = f"""func.func @main(%x: {buffer}, %o: memref<{element}>) {{
      %start = arith.constant {literal} : {element}
      {" ".join(f"%c{value} = arith.constant {value} : index" for value in range(4))}
      {" ".join(f"%n{each} = memref.dim %x, %c{each} : {buffer}" for each in range(rank))}
      %r = scf.parallel ({", ".join(names)}) = ({", ".join(f"%c{each}" for each in begins)})
          to ({", ".join(f"%n{each}" for each in range(rank))}) step ({", ".join(f"%c{each}" for each in steps)}) init (%start) -> {element} {{
        %u = memref.load %x[{", ".join(names)}] : {buffer}
        scf.reduce(%u : {element}) {{
        ^bb0(%a: {element}, %b: {element}):
          %s = {combiner} %a, %b : {element}
          scf.reduce.return %s : {element}
        }}
      }}
      memref.store %r, %o[] : memref<{element}>
      return
    }}"""
    random = np.random.default_rng(len(combiner) + sum(extents))
    shape = [begin + step * extent for begin, step, extent in zip(begins, steps, extents)]
    x = random.standard_normal(shape) if kind in (np.float32, np.float64) else random.integers(-100, 100, shape)
    x = (1 + x / 4096 if combiner == "arith.mulf" else x).astype(kind)
    seen = x[tuple(slice(begin, None, step) for begin, step in zip(begins, steps))]
    results = []
    for engine in [*ENGINES.values()]:
        o = np.zeros((), kind)
        engine.loads(source).main(x, o)
        results.append(o)
    assert len({each.tobytes() for each in results}) == 1
    with np.errstate(over="ignore"):
        wide = seen.astype(np.float64) if kind == np.float32 else seen
        expected = want(wide.reshape(-1)) if seen.size else kind(start)
    if kind in (np.float32, np.float64):
        np.testing.assert_allclose(results[0], expected, rtol=1e-3 if kind == np.float32 else 1e-9, atol=1e-9 * max(1, seen.size))
    else:
        assert results[0] == expected


def test_several_reductions():
    """Two results and what each iteration writes, a condition inside, and a reduction by two operations, which stays with the kernel."""
    source = """func.func @main(%x: memref<?xf32>, %y: memref<?xf32>, %o: memref<3xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %zero = arith.constant 0.0 : f32
      %low = arith.constant 0xFF800000 : f32
      %n = memref.dim %x, %c0 : memref<?xf32>
      %r:2 = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%zero, %low) -> (f32, f32) {
        %u = memref.load %x[%i] : memref<?xf32>
        %t = arith.mulf %u, %u : f32
        memref.store %t, %y[%i] : memref<?xf32>
        %is = arith.cmpf ogt, %u, %zero : f32
        %v = scf.if %is -> f32 {
          scf.yield %t : f32
        } else {
          scf.yield %zero : f32
        }
        scf.reduce(%v, %u : f32, f32) {
        ^bb0(%a: f32, %b: f32):
          %s = arith.addf %a, %b : f32
          scf.reduce.return %s : f32
        }, {
        ^bb0(%a: f32, %b: f32):
          %s = arith.maximumf %b, %a : f32
          scf.reduce.return %s : f32
        }
      }
      %q = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%zero) -> f32 {
        %u = memref.load %x[%i] : memref<?xf32>
        scf.reduce(%u : f32) {
        ^bb0(%a: f32, %b: f32):
          %h = math.absf %b : f32
          %s = arith.addf %a, %h : f32
          scf.reduce.return %s : f32
        }
      }
      memref.store %r#0, %o[%c0] : memref<3xf32>
      memref.store %r#1, %o[%c1] : memref<3xf32>
      memref.store %q, %o[%c2] : memref<3xf32>
      return
    }"""
    x = np.random.default_rng(5).standard_normal(300_007).astype(np.float32)
    for engine in ENGINES.values():
        y, o = np.zeros_like(x), np.zeros(3, np.float32)
        engine.loads(source).main(x, y, o)
        np.testing.assert_array_equal(y, x * x)
        wide = x.astype(np.float64)
        np.testing.assert_allclose(o, [(wide[x > 0] ** 2).sum(), x.max(), np.abs(wide).sum()], rtol=1e-4)
        y, o = np.zeros_like(x), np.zeros(3, np.float32)
        engine.loads(source, numerics="strict").main(x, y, o)
        strict = np.zeros(3, np.float32)
        engine.loads(source, oracle=True).main(x, y, strict)
        assert o.tobytes() == strict.tobytes()
