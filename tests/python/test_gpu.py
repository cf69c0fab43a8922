"""device= of loads and compilations: GPUs of the target, here whatever Vulkan finds."""

import asyncio
import json
import pickle

import numpy as np
import pytest
from conftest import SAXPY

import plimsoll as pl

X = np.array([1, 2, 3], np.float32)

MIXED = """
func.func @main(%x: tensor<?xf32>, %y: tensor<?xf64>) -> (tensor<?xf32>, tensor<?xf64>) {
  %a = math.exp %x : tensor<?xf32>
  %b = math.exp %y : tensor<?xf64>
  return %a, %b : tensor<?xf32>, tensor<?xf64>
}
"""


def devices_of(module):
    return [dispatch["device"] for function in module.explain()["functions"]
            for dispatch in function["dispatches"]]


@pytest.fixture(scope="module")
def gpu():
    """An engine for this machine with its accelerators."""
    target = pl.Target("host")
    if "vulkan0" not in [device["name"] for device in target.describe()["devices"]]:
        pytest.skip("there is no device of Vulkan")
    return pl.Engine(target, threads=2)


def test_a_gpu_runs(gpu, tmp_path):
    path = tmp_path / "saxpy.mlir"
    path.write_text(SAXPY)
    for module in (gpu.loads(SAXPY, device="vulkan0"), gpu.load(path, device="vulkan0"),
                   asyncio.run(gpu.loads_async(SAXPY, device="vulkan0")),
                   asyncio.run(gpu.load_async(path, device="vulkan0"))):
        assert devices_of(module) == ["vulkan0"]
        assert module.saxpy(2.0, X, 10 * X).tolist() == [12, 24, 36]
    assert len(module.saxpy(2.0, X[:0], X[:0])) == 0
    assert devices_of(gpu.loads(SAXPY)) == ["host"]


def test_the_source_names_it(gpu):
    source = SAXPY.replace('iterator_types = ["parallel"]', 'iterator_types = ["parallel"], plim.device = "vulkan0"')
    module = gpu.loads(source)
    assert devices_of(module) == ["vulkan0"]
    assert module.saxpy(2.0, X, 10 * X).tolist() == [12, 24, 36]


def test_conditions_are_elements(gpu):
    """They are bytes in its memory."""
    module = gpu.loads("""
        #id = affine_map<(i) -> (i)>
        func.func @main(%x: tensor<?xi1>, %y: tensor<?xi1>, %o: tensor<?xi1>) -> tensor<?xi1> {
          %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<?xi1>, tensor<?xi1>) outs(%o : tensor<?xi1>) {
          ^bb0(%a: i1, %b: i1, %old: i1):
            %c = arith.xori %a, %b : i1
            %d = arith.andi %c, %old : i1
            linalg.yield %d : i1
          } -> tensor<?xi1>
          return %r : tensor<?xi1>
        }""", device="vulkan0")
    assert devices_of(module) == ["vulkan0"]
    x, y, o = np.array(np.meshgrid(*[[False, True]] * 3)).reshape(3, 8)
    assert module.main(x, y, o).tolist() == ((x ^ y) & o).tolist()


def test_what_it_refuses_the_host_runs(gpu):
    module = gpu.loads(MIXED, device="vulkan0")
    assert sorted(devices_of(module)) == ["host", "vulkan0"]
    assert "not on vulkan0" in str(module.explain()) or "refusal" in module.explain().text
    a, b = module.main(X, X.astype(np.float64))
    np.testing.assert_allclose(a, np.exp(X), rtol=1e-6)
    np.testing.assert_allclose(b, np.exp(X.astype(np.float64)), rtol=1e-14)


def test_it_travels(gpu):
    module = pickle.loads(pickle.dumps(gpu.loads(SAXPY, device="vulkan0")))
    assert devices_of(module) == ["vulkan0"] and module.saxpy(2.0, X, X).tolist() == [3, 6, 9]
    code = gpu.compile(SAXPY, device="vulkan0")
    assert b"PLIMGPU2" in code and b"PLIMGPU2" not in gpu.compile(SAXPY)
    # An engine whose target leaves accelerators out runs what was compiled for one.
    for engine in (gpu, pl.default_engine()):
        assert engine.loads(code).saxpy(2.0, X, X).tolist() == [3, 6, 9]
    with pytest.raises(pl.InvalidArgumentError, match="too late for: device"):
        gpu.loads(code, device="vulkan0")


def test_functions_of_jit(gpu):
    @pl.jit(engine=gpu, device="vulkan0")
    def scaled(x, y):
        return x * 2 + y

    assert scaled(X, 10 * X).tolist() == [12, 24, 36]


def test_devices_that_there_are_not(gpu):
    with pytest.raises(pl.InvalidArgumentError, match="did you mean 'vulkan0'"):
        gpu.loads(SAXPY, device="vulcan0")
    with pytest.raises(pl.InvalidArgumentError, match="target is 'host-cpu', which leaves out accelerators"):
        pl.loads(SAXPY, device="vulkan0")
    with pytest.raises(TypeError):
        pl.loads(SAXPY, device=0)
    for empty in (None, "host"):
        assert devices_of(pl.loads(SAXPY, device=empty)) == ["host"]


def test_a_gpu_that_is_not_here():
    """Code is made for it all the same."""
    target = json.loads(pl.Target("host-cpu").describe().text)
    target["devices"].append({"name": "cuda99", "kind": "cuda", "triple": "nvptx64-nvidia-cuda", "cpu": "sm_80",
                              "cores": 8, "max_workgroup_size": 1024, "subgroup_size": 32})
    engine = pl.Engine(pl.Target.from_json(json.dumps(target)), threads=1)
    code = engine.compile(SAXPY, "saxpy.mlir", device="cuda99")
    assert b".target sm_80" in code
    with pytest.raises(pl.UnavailableError, match="saxpy.mlir:6:.*device 'cuda99'"):
        engine.loads(code)
    with pytest.raises(pl.UnavailableError, match="device 'cuda99'"):
        engine.loads(SAXPY, device="cuda99")
    assert engine.loads(SAXPY).saxpy(2.0, X, X).tolist() == [3, 6, 9]
