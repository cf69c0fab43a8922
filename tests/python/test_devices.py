"""Accelerators that a program brings, with a compiler and kernels in Python."""

import gc
import pickle
import weakref

import numpy as np
import pytest

import plimsoll as pl

SOURCE = """
func.func @f(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%n) : tensor<?x8xf32>
  %i = linalg.fill ins(%z : f32) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  %r = linalg.matmul DEVICE ins(%x, %w : tensor<?x8xf32>, tensor<8x8xf32>) outs(%i : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}"""
PLAIN = SOURCE.replace("DEVICE", "")
NAMED = SOURCE.replace("DEVICE", '{plim.device = "npu"}')
X = np.arange(24, dtype=np.float32).reshape(3, 8)
W = np.arange(64, dtype=np.float32).reshape(8, 8) % 7


def compile_product(name, text):
    assert f"@{name}(" in text
    return b"pro\0duct" if "linalg.matmul" in text else None


def load_product(name, code):
    assert code == b"pro\0duct"
    return lambda x, w, *rest: x @ w


def device(compile=compile_product, load=load_product, **options):
    return pl.Device("npu", compile, load, **options)


def engine(*arguments, **options):
    return pl.Engine(threads=2, devices=[device(*arguments, **options)])


def test_a_device_runs_what_it_takes():
    launched = []

    def load(name, code):
        def launch(x, w, *rest):
            launched.append(rest[-1].shape)
            return load_product(name, code)(x, w)
        return launch

    for source, options in ((PLAIN, {"device": "npu"}), (NAMED, {})):
        module = engine(load=load).loads(source, **options)
        np.testing.assert_array_equal(module.f(X, W), X @ W)
        assert module.explain()["functions"][0]["dispatches"][0]["device"] == "npu"
    assert launched == [(3, 8)] * 2


def test_what_it_refuses_the_host_runs():
    def refuse(name, text):
        raise pl.UnimplementedError("not on Sundays")

    for compile, reason in ((lambda name, text: None, "the device does not take it"), (refuse, "not on Sundays")):
        module = engine(compile).loads(PLAIN, device="npu")
        np.testing.assert_array_equal(module.f(X, W), X @ W)
        assert reason in module.explain().text
        with pytest.raises(pl.InvalidArgumentError, match=f"device 'npu'.*{reason}"):
            engine(compile).loads(NAMED)


def test_types_that_numpy_does_not_have_are_refused():
    source = """
func.func @f(%x: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%x : tensor<4xcomplex<f32>>) {
  ^bb0(%u: complex<f32>):
    %p = complex.mul %u, %u : complex<f32>
    linalg.yield %p : complex<f32>
  } -> tensor<4xcomplex<f32>>
  return %r : tensor<4xcomplex<f32>>
}"""
    module = engine(lambda name, text: pytest.fail("called")).loads(source, device="npu")
    assert module.f(np.full(4, 1j, np.complex64)).tolist() == [-1] * 4
    assert "no type of a host function" in module.explain().text


@pytest.mark.parametrize("given, message", [
    ({"compile": lambda name, text: 1 / 0}, "does not compile this: ZeroDivisionError: division by zero"),
    ({"compile": lambda name, text: 5}, "TypeError: compile returned int, not bytes or None"),
    ({"load": lambda name, code: 1 / 0}, "does not load its code: ZeroDivisionError: division by zero"),
    ({"load": lambda name, code: 5}, "TypeError: load returned int, which cannot be called")])
def test_what_goes_wrong_in_a_load_is_its_failure(given, message):
    with pytest.raises(pl.Error, match=f"<string>:8:8: device 'npu' .*{message}") as raised:
        engine(**given).loads(PLAIN, device="npu")
    assert type(raised.value.__cause__) in (ZeroDivisionError, TypeError)
    assert "\x1f" not in str(raised.value)


@pytest.mark.parametrize("launch, message", [
    (lambda *arguments: 1 / 0, "device 'npu': ZeroDivisionError"),
    (lambda *arguments: np.zeros((1, 8), np.float32), r"returned an array of shape \(1, 8\)"),
    (lambda *arguments: np.zeros((3, 8), complex), "returned an array of .*complex")])
def test_what_goes_wrong_in_a_launch_is_the_failure_of_the_call(launch, message):
    module = engine(load=lambda name, code: launch).loads(PLAIN, device="npu")
    with pytest.raises(pl.Error, match=message):
        module.f(X, W)


def test_ctrl_c_in_a_compiler_comes_out():
    def compile(name, text):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        engine(compile).loads(PLAIN, device="npu")


def test_code_goes_from_one_to_another():
    code = engine(load=None).compile(PLAIN, device="npu")
    module = engine(compile=None).loads(code)
    np.testing.assert_array_equal(module.f(X, W), X @ W)
    with pytest.raises(pl.FailedPreconditionError, match="npu"):
        engine(load=None).loads(code)


def test_a_cache_keeps_the_code_of_a_version(tmp_path):
    compiled = []

    def compile(name, text):
        compiled.append(name)
        return compile_product(name, text)

    for version, count in (("1", 1), ("1", 1), ("2", 2)):
        module = pl.Engine(threads=1, cache=tmp_path, devices=[device(compile, version=version)]).loads(PLAIN, device="npu")
        np.testing.assert_array_equal(module.f(X, W), X @ W)
        assert len(compiled) == count


def test_serial_devices_take_turns():
    running = []

    def load(name, code):
        def launch(x, w, *rest):
            running.append(len(running))
            assert running == [0]
            running.pop()
            return x @ w
        return launch

    module = engine(load=load, kind="serial").loads(PLAIN, device="npu")
    calls = [module.f.async_(X, W) for _ in range(50)]
    for call in calls:
        np.testing.assert_array_equal(call.result(timeout=60), X @ W)


def test_engines_with_devices_are_pickled():
    module = engine().loads(PLAIN, device="npu")
    again = pickle.loads(pickle.dumps(module))
    np.testing.assert_array_equal(again.f(X, W), X @ W)


def test_callables_are_given_back():
    class Load:
        def __call__(self, name, code):
            return load_product(name, code)

    load = Load()
    there = weakref.ref(load)
    module = engine(load=load).loads(PLAIN, device="npu")
    module.f(X, W)
    del load, module
    gc.collect()
    assert there() is None


@pytest.mark.parametrize("make, message", [
    (lambda: pl.Device("npu"), "neither compile nor load"),
    (lambda: pl.Device("npu", compile=5), "compile=5 cannot be called"),
    (lambda: pl.Device("npu", load="x"), "load='x' cannot be called"),
    (lambda: device(kind="fast"), "no kind of device 'fast'; there are thread_safe, serial"),
    (lambda: pl.Engine(devices=["npu"]), "devices has 'npu', which is no plimsoll.Device"),
    (lambda: pl.Engine(devices=[device(), device()]), "npu"),
    (lambda: engine().loads(PLAIN, device="nnpu"), "npu")])
def test_what_is_no_device(make, message):
    with pytest.raises(pl.InvalidArgumentError, match=message):
        make()


def test_how_it_is_shown():
    assert repr(device()) == "<plimsoll.Device 'npu'>"
