"""Calls: scalars, signatures, errors, threads, and what they cost."""

import gc
import inspect
import os
import sys
import threading
import time

import numpy as np
import pytest
from conftest import ELEMENTS, SLOW, copy_source

import plimsoll as pl


def identity(element):
    return f"func.func @f(%x: {element}) -> {element} {{ return %x : {element} }}"


@pytest.mark.parametrize("element", ELEMENTS)
def test_scalars(engine, element):
    f = engine.loads(identity(element)).f
    if element == "i1":
        assert f(True) is True and f(False) is False and f(np.bool_(True)) is True and f(1) is True
        values, bad = [], [2, -2, 0.5, "1"]
    elif element.startswith("i"):
        bits = 64 if element == "index" else int(element[1:])
        values = [0, 1, -1, 2**(bits - 1) - 1, -2**(bits - 1), np.int8(7), np.array(3)]
        assert f(2**bits - 1) == -1  # unsigned numbers fit too
        bad = [2**bits, -2**(bits - 1) - 1, 0.5, 1.0, "1", None, np.ones(1)]
    else:
        values = [0.0, -1.5, 2, np.float32(0.25), np.array(0.5), float("inf")]
        assert np.isnan(f(float("nan")))
        bad = ["1", None, 1j, np.ones(1)]
    for value in values:
        got = f(value)
        assert got == value and type(got) in (int, float)
    for value in bad:
        with pytest.raises(pl.ArgumentTypeError, match=rf"argument #0 \(%\w+\) of 'f', {element}: "):
            f(value)


def test_counts_and_keywords(saxpy):
    x = np.ones(2, np.float32)
    for wrong in ((), (1.0, x), (1.0, x, x, x)):
        with pytest.raises(TypeError, match=f"'saxpy' has 3 arguments, got {len(wrong)}"):
            saxpy(*wrong)
    with pytest.raises(TypeError, match="no keyword argument 'into'"):
        saxpy(1.0, x, x, into=x)
    with pytest.raises(TypeError, match="1 results, got 2"):
        saxpy(1.0, x, x, out=(x, x))
    out = np.zeros(2, np.float32)
    assert saxpy(1.0, x, x, out=(out,)) is out
    assert saxpy(*(1.0, x, x), **{"out": out}) is out
    assert saxpy(1.0, x, x, out=None) is not out
    assert (out == 2).all()


def test_arguments_by_name(engine, saxpy):
    x, y = np.ones(2, np.float32), np.full(2, 3, np.float32)
    out = np.zeros(2, np.float32)
    for result in (saxpy(2.0, x, y=y), saxpy(2.0, y=y, x=x), saxpy(y=y, x=x, a=2.0), saxpy(*(2.0,), **{"x": x, "y": y}),
                   saxpy(2.0, x, y=y, timeout=60), inspect.signature(saxpy).bind(2.0, y=y, x=x) and saxpy(2.0, y=y, x=x)):
        assert (result == 5).all()
    assert (saxpy.async_(2.0, y=y, x=x).result() == 5).all()
    with pytest.raises(pl.ArgumentTypeError, match="no keyword argument 'yy'; did you mean 'y'"):
        saxpy.async_(2.0, x, yy=y)
    assert saxpy(2.0, x=x, y=y, out=out) is out and (out == 5).all()
    for call, message in ((lambda: saxpy(2.0, x, x=x), "argument #1 of 'saxpy', x, is given twice"),
                          (lambda: saxpy(2.0, y=y), "'saxpy' lacks argument #1, x"),
                          (lambda: saxpy(2.0, x, yy=y), "no keyword argument 'yy'; did you mean 'y'"),
                          (lambda: saxpy(2.0, x, y, b=y), "no keyword argument 'b'; there are a, x, y, out"),
                          (lambda: saxpy(2.0, x=x, y=[1, 2]), r"argument #2 \(%y\) of 'saxpy'.*an array is needed, not list; numpy.array"),
                          (lambda: saxpy(2.0, x, (1, 2)), "an array is needed, not tuple; numpy.array"),
                          (lambda: saxpy(2.0, x, "xy"), "an array is needed, not str$")):
        with pytest.raises(pl.ArgumentTypeError, match=message):
            call()
    # Names that are options, or that Python cannot write, count by position alone.
    f = engine.loads("func.func @f(%out: i32, %0: i32, %b: i32) -> i32 {\n"
                     "  %r = arith.subi %out, %b : i32\n  return %r : i32 }").f
    assert f(5, 0, b=2) == 3
    with pytest.raises(TypeError, match="lacks argument #1$"):
        f(5, b=2)
    parameters = inspect.signature(f).parameters
    assert [parameters[name].kind.name for name in ("argument0", "argument1", "b")] == [
        "POSITIONAL_ONLY", "POSITIONAL_ONLY", "POSITIONAL_OR_KEYWORD"]


def test_shapes_that_do_not_fit(engine, saxpy):
    x = np.ones(2, np.float32)
    with pytest.raises(ValueError, match="argument"):
        saxpy(1.0, x, np.ones((2, 2), np.float32))
    with pytest.raises(pl.Error):
        saxpy(1.0, x, np.ones(3, np.float32))
    with pytest.raises(ValueError, match="result"):
        saxpy(1.0, x, x, out=np.ones(3, np.float32))
    f = engine.loads(identity("tensor<2x?xf32>")).f
    with pytest.raises(ValueError, match="2x3|3x3|#0"):
        f(np.ones((3, 3), np.float32))


def test_several_results_and_none(engine):
    module = engine.loads("""
func.func @both(%x: tensor<?xf32>, %n: i64) -> (tensor<?xf32>, i64, f16, tensor<?xf32>) {
  %h = arith.constant 0.5 : f16
  %y = arith.addf %x, %x : tensor<?xf32>
  return %x, %n, %h, %y : tensor<?xf32>, i64, f16, tensor<?xf32>
} func.func @nothing() { return } func.func @many(%a: i64, %b: i64, %c: i64, %d: i64, %e: i64, %f:
i64, %g: i64, %h: i64, %i: i64, %j: i64)
    -> (i64, i64, i64, i64, i64, i64) { return %f, %g, %h, %i, %j, %a : i64, i64, i64, i64, i64, i64
    }
""")
    x = np.arange(3, dtype=np.float32)
    first, n, half, double = module.both(x, 7)
    assert (n, half) == (7, 0.5) and (first == x).all() and (double == 2 * x).all()
    out = np.zeros(3, np.float32)
    results = module.both(x, 7, out=(None, None, None, out))
    assert results[3] is out and (out == 2 * x).all() and results[0] is not x
    with pytest.raises(TypeError, match="result #1.*scalar"):
        module.both(x, 7, out=(None, x, None, None))
    assert module.nothing() is None
    assert module.many(*range(10)) == (5, 6, 7, 8, 9, 0)


def test_signature(engine, saxpy):
    assert str(saxpy.signature) == "(tensor<f32>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>"
    assert repr(saxpy) == f"<plimsoll.Function saxpy{saxpy.signature}>"
    x = saxpy.signature.arguments[1]
    assert (x.kind, x.element_type, x.shape, x.strides, x.access, x.donated_to, x.dtype) == (
        "tensor", "f32", (None,), None, "readonly", None, "float32")
    assert saxpy.__name__ == "saxpy" and saxpy.__doc__.startswith("saxpy(tensor<f32>")
    signature = inspect.signature(saxpy)
    assert [*signature.parameters] == [
        "a", "x", "y", "out", "state", "pools", "stop", "timeout"]
    assert signature.return_annotation == "tensor<?xf32>"
    signature.bind(1.0, 2, 3, out=None)
    with pytest.raises(TypeError):
        signature.bind(1.0)
    assert x.name == "x" and x.bounds is None
    bounded = engine.loads("""
func.func @f(%x: memref<?x?xf32> {plim.bounds = [{min = 1, max = 32}, {}]}, %in: i32) { return
}""").f
    assert bounded.signature.arguments[0].bounds == ((1, 32), (0, None))
    assert [*inspect.signature(bounded).parameters][:2] == ["x", "argument1"]
    with pytest.raises(ValueError, match="32"):
        bounded(np.zeros((33, 2), np.float32), 1)
    assert saxpy.stack_bytes > 0
    bytes_, alignment = saxpy.workspace(1.0, np.ones(3, np.float32), np.ones(3, np.float32))
    assert bytes_ >= 0 and alignment >= 1
    assert saxpy.workspace(1.0, y=np.ones(3, np.float32), x=np.ones(3, np.float32)) == (bytes_, alignment)
    with pytest.raises(pl.ArgumentTypeError, match="no keyword argument 'timeout'; there are a, x, y$"):
        saxpy.workspace(1.0, timeout=1)
    nothing = engine.loads("func.func @f() { return }").f
    with pytest.raises(pl.ArgumentTypeError, match="no keyword argument 'x'; there are none"):
        nothing.workspace(x=1)
    put = engine.loads(copy_source("i1", "4x?")).put.signature
    assert [x.access for x in put.arguments] == ["readonly", "writeonly"]
    assert str(put) == "(memref<4x?xi1>, memref<4x?xi1>)"


def test_overlapping_output(saxpy):
    x = np.arange(8, dtype=np.float32)
    saxpy(2.0, x[:-1], x[:-1], out=x[1:])
    np.testing.assert_array_equal(x, [0, 0, 3, 6, 9, 12, 15, 18])


def test_located_failures(engine):
    module = pl.Engine(threads=1, checked=True).loads("""
func.func @at(%x: tensor<?xf32>, %i: index) -> f32 {
  %r = tensor.extract %x[%i] : tensor<?xf32>
  return %r : f32
}""", "at.mlir")
    assert module.at(np.arange(3, dtype=np.float32), 2) == 2
    with pytest.raises(pl.FailedPreconditionError, match="index out of range") as caught:
        module.at(np.arange(3, dtype=np.float32), 3)
    assert isinstance(caught.value, RuntimeError) and caught.value.code == "failed precondition"
    assert (caught.value.file, caught.value.line, caught.value.column) == ("at.mlir", 3, 8)


def test_no_leaks(saxpy):
    """Neither references nor memory, over 10^5 calls of each kind."""
    x, y, out, two = (np.ones(64, np.float32) for _ in range(4))
    two = np.array(2, np.float32)
    objects = [x, y, out, two, saxpy]

    def calls(count):
        for _ in range(count):
            saxpy(two, x, y, out=out)
            saxpy(two, x[::2], y[::2])
        for _ in range(count // 20):
            try:
                saxpy(two, x, out=out)
            except TypeError:
                pass
            try:
                saxpy(two, x, y, out=out[1:])
            except ValueError:
                pass

    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    calls(5000)
    gc.collect()
    counts, before = [sys.getrefcount(each) for each in objects], resident()
    calls(50_000)
    gc.collect()
    assert [sys.getrefcount(each) for each in objects] == counts
    assert resident() - before < 2 << 20


def test_threads(saxpy):
    failures = []

    def work(seed):
        x = np.random.default_rng(seed).standard_normal(1000).astype(np.float32)
        want = [saxpy(float(i), x, x) for i in range(10)]
        for i in range(300):
            if not np.array_equal(saxpy(float(i % 10), x, x), want[i % 10]):
                failures.append((seed, i))
        np.testing.assert_allclose(want[3], 4 * x, rtol=1e-6)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_gil_is_released():
    """Python runs on one thread while a call does on another."""
    slow = pl.Engine(threads=1).loads(SLOW, functions={}).slow
    x = np.zeros(4, np.float32)
    turns = 1000
    while True:
        start = time.perf_counter()
        slow(turns, x)
        if time.perf_counter() - start > 0.4:
            break
        turns *= 4
    ended = threading.Event()

    def call():
        slow(turns, x)
        ended.set()

    thread = threading.Thread(target=call)
    thread.start()
    seen = 0
    while not ended.is_set():
        seen += 1
        time.sleep(0.001)
    thread.join()
    assert seen > 5  # without the GIL there would be one turn at most


def test_timeouts():
    for threads in (1, 2):
        slow = pl.loads(SLOW, engine=pl.Engine(threads=threads)).slow
        x = np.zeros(4, np.float32)
        np.testing.assert_array_equal(slow(3, x, timeout=60), x + 3)
        out = np.empty_like(x)
        assert slow(3, x, out=out, timeout=60) is out and (out == 3).all()
        assert slow(0, x, timeout=float("inf")) is not None and slow(2, x, timeout=None)[0] == 2
        begin = time.monotonic()
        with pytest.raises(pl.DeadlineExceededError, match="'slow' has not ended after 0.05 s"):
            slow(10**12, x, timeout=0.05)
        assert time.monotonic() - begin < 30
        with pytest.raises(TimeoutError):
            slow(10**12, x, timeout=0)
        np.testing.assert_array_equal(slow(3, x), x + 3)
        for wrong in (-1, float("nan"), "1", 1j):
            with pytest.raises(pl.InvalidArgumentError, match="timeout is"):
                slow(3, x, timeout=wrong)
        with pytest.raises(pl.InvalidArgumentError, match="both given"):
            slow(3, x, timeout=1, stop=pl.Stop())
        with pytest.raises(pl.ArgumentTypeError, match="2 arguments, got 1"):
            slow(3, timeout=1)
    for thread in threading.enumerate():
        if isinstance(thread, threading.Timer):
            thread.join(30)  # none waits for the time that it was given
            assert not thread.is_alive()


@pytest.fixture
def others():
    """Whether another thread gets to run while something is done, some time: with this interval only what lets go of
    the interpreter by itself lets it."""
    before, ticks, stop = sys.getswitchinterval(), [0], threading.Event()

    def tick():
        while not stop.is_set():
            ticks[0] += 1
            time.sleep(0)

    def run_during(action, attempts, prepare=lambda i: None):
        for i in range(attempts):
            prepare(i)
            seen = ticks[0]
            action(i)
            if ticks[0] != seen:
                return True
        return False

    thread = threading.Thread(target=tick)
    thread.start()
    sys.setswitchinterval(1000)
    yield run_during
    sys.setswitchinterval(before)
    stop.set()
    thread.join()


def test_others_run_meanwhile(others):
    saxpy = copy_source("f32", "?")
    engine = pl.Engine(threads=1, specialization="on_request")
    module = engine.loads(saxpy)
    name = module._names[0]
    x = np.ones(1 << 22, np.float32)
    keep = []
    assert others(lambda i: pl.Engine(threads=1), 50)
    assert others(lambda i: engine.loads(saxpy), 50)
    assert others(lambda i: engine.compile(saxpy), 50)
    assert others(lambda i: module[name].specialize(np.ones(3 + i, np.float32)), 50)
    assert others(lambda i: module[name](x), 200)
    assert others(lambda i: keep.clear() or keep.append(module[name].async_(x).result()), 200)
    # The last owner waits for threads that may want the interpreter; here for one that compiles for hot extents.
    owned = []

    def own_one_that_compiles(i):
        hot = pl.Engine(threads=1, specialization="hot").loads(saxpy)
        for _ in range(100):
            hot[name](x[:8])
        owned.append(hot._handle)

    assert others(lambda i: owned.clear(), 200, own_one_that_compiles)
    assert not others(lambda i: [j * j for j in range(100)], 50)  # the test can fail
