"""Callables of Python that modules call."""

import pickle
import threading
import traceback

import numpy as np
import pytest

import plimsoll as pl


def load(declaration, body, signature, function, kind="thread_safe", **options):
    functions = {"host": pl.host_function(signature, kind)(function)}
    return pl.Engine(threads=2, **options).loads(declaration + body, functions=functions)


SCALAR_TYPES = "(f32, i8, i1, index, f16) -> (f64, i16)"
SCALARS = "func.func private @host(f32, i8, i1, index, f16) -> (f64, i16)\n"
CALL_SCALARS = """
func.func @f(%a: f32, %b: i8, %c: i1, %d: index, %e: f16) -> (f64, i16) {
  %r:2 = func.call @host(%a, %b, %c, %d, %e) : (f32, i8, i1, index, f16) -> (f64, i16)
  return %r#0, %r#1 : f64, i16
}
"""


def test_scalars():
    seen = []

    def host(*arguments):
        seen.append(arguments)
        return 0.1, -7

    module = load(SCALARS, CALL_SCALARS, SCALAR_TYPES, host)
    assert module.f(1.5, -3, True, 9, 0.25) == (0.1, -7)
    assert seen == [(1.5, -3, True, 9, 0.25)] and type(seen[0][2]) is bool


TENSOR_TYPES = "(tensor<?x3xf32>, memref<?xi32> readwrite) -> tensor<2xf32>"
TENSORS = "func.func private @host(tensor<?x3xf32>, memref<?xi32>) -> tensor<2xf32>\n"
CALL_TENSORS = """
func.func @f(%x: tensor<?x3xf32>, %m: memref<?xi32>) -> tensor<2xf32> {
  %r = func.call @host(%x, %m) : (tensor<?x3xf32>, memref<?xi32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}
"""


def test_arrays():
    kept = []

    def host(x, m):
        assert x.dtype == np.float32 and m.dtype == np.int32
        with pytest.raises(ValueError):
            x[0, 0] = 1
        m *= 2
        kept.append(x)
        return x.sum(axis=1)

    module = load(TENSORS, CALL_TENSORS, TENSOR_TYPES, host)
    x, m = np.arange(6, dtype=np.float32).reshape(2, 3), np.arange(5, dtype=np.int32)
    np.testing.assert_array_equal(module.f(x, m), [3, 12])
    np.testing.assert_array_equal(m, [0, 2, 4, 6, 8])
    x[...] = -1
    np.testing.assert_array_equal(kept[0], np.arange(6).reshape(2, 3))  # Python's own


def test_converted_results():
    def check(value, want):
        module = load(TENSORS, CALL_TENSORS, TENSOR_TYPES, lambda x, m: value)
        got = module.f(np.zeros((2, 3), np.float32), np.zeros(1, np.int32))
        np.testing.assert_array_equal(got, np.array(want, np.float32))

    check([1, 2], [1, 2])
    check(np.array([1, 2], np.float64), [1, 2])
    for wrong, text in (([1, 2, 3], r"shape \(3,\)"), (None, "shape"), ("text", "shape"),
                        (1j * np.ones(2), "complex128")):
        with pytest.raises(pl.UnknownError, match=text) as caught:
            check(wrong, [0, 0])
        assert isinstance(caught.value.__cause__, (TypeError, ValueError))


class Odd(Exception):
    def __str__(self):
        raise RuntimeError("no text")


class Numbered(Exception):
    _number = np.int64(5)  # no kind of ours


def test_exceptions_are_the_cause():
    def host(*_):
        raise KeyError("row 7")

    module = load(SCALARS, CALL_SCALARS, SCALAR_TYPES, host)
    for call in (module.f, lambda *arguments: module.f.async_(*arguments).result()):
        with pytest.raises(pl.UnknownError, match="'host': KeyError: 'row 7'$") as caught:
            call(1.0, 1, True, 1, 1.0)
        cause = caught.value.__cause__
        assert isinstance(cause, KeyError) and cause.args == ("row 7",)
        assert "in host" in "".join(traceback.format_tb(cause.__traceback__))

    def raising(error):
        def host(*_):
            raise error
        return load(SCALARS, CALL_SCALARS, SCALAR_TYPES, host).f

    arguments = 1.0, 1, True, 1, 1.0
    with pytest.raises(pl.NotFoundError, match="no such row") as caught:
        raising(pl.NotFoundError("no such row"))(*arguments)
    assert isinstance(caught.value.__cause__, pl.NotFoundError)
    with pytest.raises(MemoryError):
        raising(MemoryError())(*arguments)
    for odd in (Odd, Numbered):
        with pytest.raises(pl.UnknownError, match=odd.__name__):
            raising(odd())(*arguments)
    with pytest.raises(KeyboardInterrupt):
        raising(KeyboardInterrupt())(*arguments)
    with pytest.raises(SystemExit):
        raising(SystemExit(3))(*arguments)


def test_results_that_only_the_function_can_size():
    declaration = "func.func private @host(i32) -> tensor<?x2xf32>\n"
    body = """
func.func @f(%n: i32) -> tensor<?x2xf32> {
  %r = func.call @host(%n) : (i32) -> tensor<?x2xf32>
  return %r : tensor<?x2xf32>
}
"""
    module = load(declaration, body, "(i32) -> tensor<?x2xf32>",
                  lambda n: np.full((n, 2 if n < 9 else 3), n, np.float64) if n else [1.0])
    for n in (1, 5, 3):
        np.testing.assert_array_equal(module.f(n), np.full((n, 2), n, np.float32))
    with pytest.raises(pl.Error, match="2|extent|shape"):
        module.f(9)
    with pytest.raises(pl.UnknownError, match="1 dimensions, but the result has 2"):
        module.f(0)


def test_wrong_returns():
    for value in (1, (1,), (1, 2, 3), ("a", 1), (1.0, 2**16), None):
        with pytest.raises(pl.UnknownError) as caught:
            load(SCALARS, CALL_SCALARS, SCALAR_TYPES,
                 lambda *_: value).f(1.0, 1, True, 1, 1.0)
        assert isinstance(caught.value.__cause__, (TypeError, OverflowError))


def test_registration():
    for signature in ("f32", "(f32", "(f99x)", "(tensor<3f32>)", "(f32) -> [i32]"):
        with pytest.raises(pl.Error, match="signature|no type|no element type"):
            load(SCALARS, CALL_SCALARS, signature, print)
    with pytest.raises(pl.InvalidArgumentError):
        load(SCALARS, CALL_SCALARS, "(f32) -> f32", print)  # the declaration says otherwise
    with pytest.raises(ValueError, match="kind"):
        pl.host_function("()", "hasty")(print)
    with pytest.raises(ValueError, match="called"):
        pl.host_function("()")(3)
    with pytest.raises(ValueError, match="no host function"):
        pl.loads(SCALARS + CALL_SCALARS, functions={"host": print})
    with pytest.raises(pl.FailedPreconditionError, match="host"):
        pl.loads(SCALARS + CALL_SCALARS)
    function = pl.host_function("(f32) -> f32", "pure")(abs)
    assert function(-1) == 1 and repr(function) == "<plimsoll.HostFunction abs(f32) -> f32, pure>"


def test_functions_of_the_engine():
    function = pl.host_function(SCALAR_TYPES)(lambda *_: (1.0, 2))
    engine = pl.Engine(threads=1, functions={"host": function})
    assert engine.loads(SCALARS + CALL_SCALARS).f(1.0, 1, True, 1, 1.0) == (1.0, 2)


def test_many_threads_and_nested_calls(saxpy):
    x = np.ones(3, np.float32)

    def host(*_):
        return float(saxpy(2.0, x, x)[0]), 1  # a call in a call

    module = load(SCALARS, CALL_SCALARS, SCALAR_TYPES, host)
    results = []

    def work():
        for _ in range(50):
            results.append(module.f(1.0, 1, True, 1, 1.0))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [(3.0, 1)] * 400
    calls = [module.f.async_(1.0, 1, True, 1, 1.0) for _ in range(100)]
    assert {call.result() for call in calls} == {(3.0, 1)}


def test_integers_that_do_not_fit():
    declaration = "func.func private @host() -> tensor<2xi8>\n"
    body = """
func.func @f() -> tensor<2xi8> {
  %r = func.call @host() : () -> tensor<2xi8>
  return %r : tensor<2xi8>
}
"""
    def call(value):
        return load(declaration, body, "() -> tensor<2xi8>", lambda: value).f()

    for wrong in ([300, 0], [0, -300], np.array([0, 256], np.uint64), [-129, 0]):
        with pytest.raises(pl.UnknownError, match="does not fit in i8") as caught:
            call(np.array(wrong))
        assert isinstance(caught.value.__cause__, OverflowError)
    np.testing.assert_array_equal(call(np.array([255, -128])), np.array([-1, -128], np.int8))


def test_the_cause_stays():
    def host(*_):
        raise KeyError("row 7")

    call = load(SCALARS, CALL_SCALARS, SCALAR_TYPES, host).f.async_(1.0, 1, True, 1, 1.0)
    for _ in range(3):
        with pytest.raises(pl.UnknownError, match="row 7") as caught:
            call.result()
        assert isinstance(caught.value.__cause__, KeyError)
        assert isinstance(call.exception().__cause__, KeyError)


@pytest.mark.parametrize("text, want", [("a\0b", "a?b"), ("a\udc80b", r"a\udc80b")])
def test_exceptions_with_odd_text(text, want):
    def host(*_):
        raise ValueError(text)

    with pytest.raises(pl.UnknownError) as caught:
        load(SCALARS, CALL_SCALARS, SCALAR_TYPES, host).f(1.0, 1, True, 1, 1.0)
    assert str(caught.value).endswith(f"ValueError: {want}")
    assert caught.value.__cause__.args == (text,)


@pl.host_function("(i32) -> i32")
def decorated(x):
    return x + 1


def test_pickling():
    assert pickle.loads(pickle.dumps(decorated)) is decorated
    plain = pl.host_function("(f32) -> f32")(abs)
    assert repr(pickle.loads(pickle.dumps(plain))) == repr(plain)
