"""Engines, targets, modules and what they are lent."""

import asyncio
import copy
import gc
import json
import logging
import os
import pickle
import sys
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from conftest import COUNTER, SAXPY, copy_source

import plimsoll as pl

PARAMETERS = """
ml_program.global private @w(#ml_program.extern<tensor<3xf32>>) : tensor<3xf32>
func.func @add(%x: tensor<3xf32>) -> tensor<3xf32> {
  %w = ml_program.global_load_const @w : tensor<3xf32>
  %r = arith.addf %x, %w : tensor<3xf32>
  return %r : tensor<3xf32>
}
"""


def test_load(tmp_path, engine):
    path = tmp_path / "saxpy.mlir"
    path.write_text(SAXPY)
    module = engine.load(path)
    assert module.name == str(path) and list(module) == ["saxpy"] and len(module) == 1
    assert "saxpy" in module and "saxpy" in dir(module) and module.saxpy is module.saxpy
    assert module["saxpy"] is module.saxpy and module.functions == {"saxpy": module.saxpy}
    assert module.engine is engine
    assert repr(module) == f"<plimsoll.Module {str(path)!r}: saxpy>"
    path.unlink()
    x = np.ones(2, np.float32)
    assert (pickle.loads(pickle.dumps(module)).saxpy(1.0, x, x) == 2).all()
    with pytest.raises(AttributeError, match="did you mean 'saxpy'"):
        module.saxpi
    with pytest.raises(pl.NotFoundError, match="'saxpy'"):
        module["saxpi"]
    with pytest.raises(FileNotFoundError):
        pl.load(tmp_path / "none.mlir")
    (tmp_path / "empty.mlir").write_text("")
    with pytest.raises(pl.InvalidArgumentError, match="no public function"):
        pl.load(tmp_path / "empty.mlir")


def test_wrong_sources(tmp_path):
    with pytest.raises(pl.InvalidArgumentError) as caught:
        pl.loads("func.func @f( {", "broken.mlir")
    assert caught.value.file == "broken.mlir" and caught.value.line == 1
    assert str(caught.value).startswith("broken.mlir:1:")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.file, again.line) == (str(caught.value), "broken.mlir", 1)
    for wrong in ("\0\0", "\xff\xfe", "ML\xefR", "func.func @f() { return " + "(" * 10000):
        with pytest.raises(pl.Error):
            pl.loads(wrong)
    with pytest.raises(TypeError):
        pl.loads(3)
    with pytest.raises(pl.Error, match="policy"):
        pl.loads(SAXPY, policy="attic")
    with pytest.raises(pl.Error):
        pl.loads(SAXPY, limits={"nonsense": 3})


def test_limits():
    for limits, message in (({"max_rank": -1}, "'max_rank' must be an int"), ({"max_rank": 1.5}, "'max_rank' must be an int"),
                            ({"max_rank": 2**63}, "'max_rank' must be an int"), ({"nonsense": 3}, "unknown limit 'nonsense'"),
                            ({"external_workspace_only": 1}, "must be True or False"), ({"max_rank": 0}, "rank")):
        with pytest.raises(pl.InvalidArgumentError, match=message):
            pl.loads(SAXPY, limits=limits)
    assert pl.loads(SAXPY, limits={"external_workspace_only": False, "max_stack_alloca_bytes": 0}).saxpy


def test_a_function_named_like_a_method(engine):
    module = engine.loads("""
func.func @explain() -> i32 { %c = arith.constant 3 : i32 return %c : i32 }
func.func @_names() -> i32 { %c = arith.constant 4 : i32 return %c : i32 }""")
    assert module["explain"]() == 3 and module["_names"]() == 4
    assert "functions" in module.explain()


def test_reports(engine):
    module = engine.loads(SAXPY)
    report = module.explain()
    assert json.loads(report.text) == report and "saxpy" in repr(report)
    assert pickle.loads(pickle.dumps(report)) == report
    statistics = module.statistics()
    assert statistics["total_seconds"] > 0 and statistics["from_cache"] is False
    assert statistics["objects"] > 0 and statistics["cached_objects"] == 0


def test_engines(tmp_path):
    engine = pl.Engine("x86-64-v2", threads=1, policy="heap", cache=tmp_path, counters=True)
    assert engine.threads == 1 and engine.target.name == "x86-64-v2"
    assert "x86-64-v2" in repr(engine)
    x = np.ones(2, np.float32)
    module = engine.loads(SAXPY)
    module.saxpy(1.0, x, x)
    assert any(counter["name"] == "saxpy" for counter in engine.statistics()["counters"])
    with pytest.raises(pl.FailedPreconditionError):
        engine.trace()
    other = pickle.loads(pickle.dumps(engine))
    assert other.target == engine.target and other is pickle.loads(pickle.dumps(engine))
    assert other.loads(SAXPY).statistics()["from_cache"] is True
    assert pickle.loads(pickle.dumps(pl.default_engine())) is pl.default_engine()
    for wrong in ({"threads": -1}, {"policy": "attic"}, {"limits": {"nonsense": 1}}):
        with pytest.raises(ValueError, match="threads is -1|'attic'|'nonsense'"):
            pl.Engine(**wrong).loads(SAXPY)
    with pytest.raises(pl.NotFoundError, match="x86-64-v2"):
        pl.Target("x86-64-v22")
    traced = pl.Engine(threads=1, trace=True)
    traced.loads(SAXPY).saxpy(1.0, x, x)
    assert traced.trace()


def test_targets(tmp_path):
    target = pl.Target("x86-64-v3", {"devices.host.vector_bits": 128})
    text = target.describe().text
    again = pl.Target.from_json(text)
    assert again.describe() == target.describe()
    assert pickle.loads(pickle.dumps(again)).describe() == target.describe()
    assert pickle.loads(pickle.dumps(target)) == target != pl.Target("x86-64-v3")
    path = tmp_path / "mine.json"
    path.write_text(text)
    by_path = pickle.loads(pickle.dumps(pl.Target(str(path))))
    path.unlink()
    assert by_path.describe() == target.describe()
    with pytest.raises(pl.InvalidArgumentError):
        pl.Target.from_json("{")
    with pytest.raises(ValueError):
        pl.Target("x86-64-v3", {"nonsense": 1})


def test_no_parameters_are_parameters(engine):
    for parameters in ({}, pl.Parameters({})):
        module = engine.loads("func.func @f(%x: f32) -> f32 { return %x : f32 }",
                              parameters=parameters)
        assert module.f(2.0) == 2.0
        assert pickle.loads(pickle.dumps(module)).f(3.0) == 3.0
        with pytest.raises(pl.FailedPreconditionError, match="w"):
            engine.loads(PARAMETERS, parameters=parameters)


def test_parameters(tmp_path, engine):
    w, x = np.array([1, 2, 3], np.float32), np.ones(3, np.float32)
    header = json.dumps({"w": {"dtype": "F32", "shape": [3], "data_offsets": [0, 12]}}).encode()
    header += b" " * (-len(header) % 8)
    header = len(header).to_bytes(8, "little") + header
    (tmp_path / "w.safetensors").write_bytes(header + w.tobytes())
    np.save(tmp_path / "w.npy", w)
    for parameters in ({"w": w}, tmp_path / "w.safetensors", str(tmp_path / "w.safetensors"),
                       {"w": tmp_path / "w.npy"}, pl.Parameters({"w": w})):
        module = engine.loads(PARAMETERS, parameters=parameters)
        np.testing.assert_array_equal(module.add(x), w + 1)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(module)).add(x), w + 1)
    b = pl.Buffer(pl.to_bf16([1, 2]), "bf16")
    parameters = pl.Parameters(tmp_path / "w.safetensors", {"b": b})
    assert list(parameters) == ["b", "w"] and len(parameters) == 2 and "w" in parameters
    assert repr(parameters) == "<plimsoll.Parameters b: 2xbf16, w: 3xf32>"
    assert not parameters["w"].flags.writeable
    again = pickle.loads(pickle.dumps(parameters))
    assert again.buffer("b").element_type == "bf16" and again.token() == parameters.token()
    with pytest.raises(KeyError):
        parameters["x"]
    with pytest.raises(pl.FailedPreconditionError, match="w"):
        engine.loads(PARAMETERS)
    with pytest.raises(pl.InvalidArgumentError, match="w"):
        engine.loads(PARAMETERS, parameters={"w": np.ones(4, np.float32)})
    with pytest.raises(ValueError, match="parameter 'w'"):
        pl.Parameters({"w": np.zeros(3, np.longdouble)})
    with pytest.raises(pl.NotFoundError):
        pl.Parameters(tmp_path / "none.safetensors")
    with pytest.raises(ValueError):
        pl.Parameters(3)


def test_parameters_keep_their_arrays(engine):
    w = np.array([1, 2, 3], np.float32)
    seen = weakref.ref(w)
    module = engine.loads(PARAMETERS, parameters={"w": w})
    del w
    gc.collect()
    assert seen() is not None
    np.testing.assert_array_equal(module.add(np.zeros(3, np.float32)), [1, 2, 3])
    del module
    gc.collect()
    assert seen() is None


def test_states(engine):
    module = engine.loads(COUNTER)
    one = np.ones(2, np.float32)
    first, second = module.state(), module.state()
    assert module.add(one, state=first).tolist() == [11, 21]
    assert module.add(one, state=first).tolist() == [12, 22]
    assert module.add(one, state=second).tolist() == [11, 21]
    assert module.add(one).tolist() == [11, 21]
    total = first["total"]
    assert total.tolist() == [12, 22]
    total[...] = 0
    assert module.add(one, state=first).tolist() == [1, 1]
    first.reset()
    assert total.tolist() == [10, 20]
    del first
    gc.collect()
    assert total.tolist() == [10, 20]
    with pytest.raises(pl.NotFoundError, match="'total'"):
        second["totals"]
    with pytest.raises(pl.InvalidArgumentError):
        engine.loads(COUNTER).add(one, state=second)
    for wrong in {"state": 3}, {"pools": second}, {"stop": "now"}:
        with pytest.raises(TypeError, match=f"{[*wrong][0]}= does not take"):
            module.add(one, **wrong)


POOLED = """
func.func @f(%x: tensor<64xf32>) -> tensor<64xf32> {
  %e = tensor.empty() {plim.scope = "global.sram"} : tensor<64xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]}
      ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%u: f32, %o: f32):
    %p = arith.addf %u, %u : f32
    linalg.yield %p : f32
  } -> tensor<64xf32>
  %c = tensor.empty() : tensor<64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (63 - i)>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]}
      ins(%s : tensor<64xf32>) outs(%c : tensor<64xf32>) {
  ^bb0(%u: f32, %o: f32):
    linalg.yield %u : f32
  } -> tensor<64xf32>
  return %r : tensor<64xf32>
}
"""


def test_pools():
    sram = {"name": "sram", "kind": "host", "accessible_by": ["host"]}
    engine = pl.Engine(pl.Target("host-cpu", {"memories": [sram]}), threads=1)
    module = engine.loads(POOLED)
    x = np.arange(64, dtype=np.float32)
    with pytest.raises(pl.FailedPreconditionError, match="'sram'"):
        module.f(x)
    pools = pl.Pools({"sram": 256})
    pools["sram"][...] = 0
    np.testing.assert_array_equal(module.f(x, pools=pools), 2 * x[::-1])
    np.testing.assert_array_equal(pools["sram"].view(np.float32), 2 * x)  # it was there
    with pytest.raises(pl.ResourceExhaustedError):
        module.f(x, pools=pl.Pools({"sram": 128}))
    lent = engine.loads(POOLED, pools={"sram": 256})
    del pools
    np.testing.assert_array_equal(lent.f(x), 2 * x[::-1])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(lent)).f(x), 2 * x[::-1])
    for wrong in np.zeros((4, 4), np.uint8)[:, :2], b"12345678":
        with pytest.raises(pl.InvalidArgumentError, match="dense and writable"):
            pl.Pools({"sram": wrong})
    with pytest.raises(pl.InvalidArgumentError, match="align"):
        pl.Pools({"sram": np.zeros(200, np.uint8)[1:]})


def test_copies_and_equality(engine):
    module = engine.loads(SAXPY, "saxpy.mlir")
    assert copy.copy(module) is module and copy.copy(module.saxpy) is module.saxpy
    other = copy.deepcopy(module)
    assert other is not module
    x = np.ones(2, np.float32)
    assert (other.saxpy(1.0, x, x) == 2).all()
    function = pickle.loads(pickle.dumps(module.saxpy))
    assert (function(1.0, x, x) == 2).all() and function.__name__ == "saxpy"
    one, two = pickle.loads(pickle.dumps([module.saxpy, module.saxpy]))
    assert one is two
    token = module.__dask_tokenize__()
    assert token == engine.loads(SAXPY, "saxpy.mlir").__dask_tokenize__()
    assert token == other.__dask_tokenize__()
    assert token != engine.loads(SAXPY, "saxpy.mlir", policy="heap").__dask_tokenize__()
    assert token != engine.loads(SAXPY + "\n", "saxpy.mlir").__dask_tokenize__()
    assert module.saxpy.__dask_tokenize__() != token
    assert b"ELF" not in pickle.dumps(module)


def test_policies_and_oracle_give_the_same(engine):
    x = np.random.default_rng(1).standard_normal(1001).astype(np.float32)
    want = engine.loads(SAXPY).saxpy(0.5, x, x)
    for options in ({"policy": "heap"}, {"policy": "fixed:64"}, {"oracle": True}, {"limits": {}}):
        np.testing.assert_array_equal(engine.loads(SAXPY, **options).saxpy(0.5, x, x), want)


LAZY = """
func.func @twice(%x: tensor<?xf32>) -> tensor<?xf32> {
  %r = arith.addf %x, %x : tensor<?xf32>
  return %r : tensor<?xf32>
}
func.func @first(%x: memref<?xf32>) -> f32 {
  %c = arith.constant 0 : index
  %r = memref.load %x[%c] : memref<?xf32>
  return %r : f32
}
func.func @bad(%x: f32) -> f32 {
  %a = tensor.splat %x : tensor<4294967296x4294967296x16xf32>
  %c = arith.constant 0 : index
  %r = tensor.extract %a[%c, %c, %c] : tensor<4294967296x4294967296x16xf32>
  return %r : f32
}
"""


@pytest.mark.parametrize("isolation", ["none", "worker"])
def test_lazy(tmp_path, isolation):
    engine = pl.Engine(threads=2, isolation=isolation)
    (tmp_path / "lazy.mlir").write_text(LAZY)
    x = np.array([1, 2], np.float32)
    for module in (engine.loads(LAZY, "lazy.mlir", lazy=True), engine.load(tmp_path / "lazy.mlir", lazy=True),
                   asyncio.run(engine.loads_async(LAZY, "lazy.mlir", lazy=True))):
        assert list(module) == ["twice", "first", "bad"] and module.statistics()["objects"] == 0
        assert module.first.signature.arguments[0].access == "readwrite" and module.first.stack_bytes == 0
        with pytest.raises(pl.ArgumentTypeError):
            module.bad(x)
        for _ in range(2):
            with pytest.raises(pl.InvalidArgumentError, match="lazy.mlir:12:") as error:
                module.bad(1.0)
            assert error.value.diagnostics[0].line == 12
            np.testing.assert_array_equal(module.twice(x), 2 * x)
            assert module.first(x) == 1 and module.first.stack_bytes > 0
        with pytest.raises(pl.FailedPreconditionError, match="lazy"):
            module.explain()
        again = pickle.loads(pickle.dumps(module.twice))
        np.testing.assert_array_equal(again(x), 2 * x)
    with pytest.raises(pl.InvalidArgumentError, match="lazy.mlir:1:"):
        engine.loads("func.func @f(", "lazy.mlir", lazy=True)
    with pytest.raises(pl.UnimplementedError, match="variables"):
        engine.loads(COUNTER, lazy=True)
    with pytest.raises(pl.InvalidArgumentError, match="too late for: lazy"):
        engine.loads(engine.compile(SAXPY), lazy=True)


def test_first_calls_at_once(engine):
    module = engine.loads(LAZY, lazy=True)
    x = np.arange(3, dtype=np.float32)
    with ThreadPoolExecutor(6) as pool:
        for result in pool.map(lambda _: module.twice(x), range(12)):
            np.testing.assert_array_equal(result, 2 * x)
    calls = [module.twice.async_(x) for _ in range(4)]
    for call in calls:
        np.testing.assert_array_equal(call.result(), 2 * x)
    stop = pl.Stop()
    stop()
    with pytest.raises(pl.CancelledError):
        engine.loads(LAZY, lazy=True).twice(x, stop=stop)


def test_compiled_code(tmp_path):
    code = pl.Engine("x86-64-v2", threads=1).compile(PARAMETERS, "add.mlir")
    path = tmp_path / "add.plimsoll"
    path.write_bytes(code)
    w, x = np.array([1, 2, 3], np.float32), np.ones(3, np.float32)
    for module in pl.loads(code, parameters={"w": w}), pl.load(path, parameters={"w": w}):
        np.testing.assert_array_equal(module.add(x), w + 1)
        with pytest.raises(TypeError, match="machine code, which does not travel"):
            pickle.dumps(module)
    with pytest.raises(pl.FailedPreconditionError, match="w"):
        pl.loads(code)
    with pytest.raises(pl.DataLossError):
        pl.loads(code[:-9])
    with pytest.raises(pl.InvalidArgumentError) as caught:
        pl.default_engine().compile("func.func @f( {", "broken.mlir")
    assert (caught.value.file, caught.value.line) == ("broken.mlir", 1)


def test_specialized_code():
    engine = pl.Engine(threads=1, specialization="on_request", specialization_count=2)
    module = engine.loads(SAXPY)
    x = np.random.default_rng(1).standard_normal(77).astype(np.float32)
    want = module.saxpy(2.0, x, x)
    assert module.specializations()["made"] == 0
    module.saxpy.specialize(2.0, x, x)
    module.saxpy.specialize(2.0, y=x, x=x)
    np.testing.assert_array_equal(module.saxpy(2.0, x, x), want)
    counts = module.specializations()
    assert counts["made"] == 1 and counts["calls"] >= 1 and counts["failed"] == 0
    again = pickle.loads(pickle.dumps(module))
    again.saxpy.specialize(2.0, x, x)
    with pytest.raises(pl.FailedPreconditionError):
        pl.loads(SAXPY).saxpy.specialize(2.0, x, x)
    with pytest.raises(TypeError, match="3 arguments"):
        module.saxpy.specialize()
    with pytest.raises(TypeError, match="'saxpy' lacks argument #1, x"):
        module.saxpy.specialize(2.0, y=x)
    for wrong in {"specialization": "often"}, {"cores": "fast"}, {"numa_node": -1}:
        with pytest.raises(ValueError, match="often|fast|-1"):
            pl.Engine(**wrong)
    pl.Engine(threads=1, cores="performance").loads(SAXPY, specialization="none")
    with pytest.raises(pl.InvalidArgumentError, match="node|NUMA"):
        pl.Engine(numa_node=1000)


def test_specialized_code_has_the_variables_of_the_call():
    module = pl.Engine(threads=1, specialization="on_request").loads(COUNTER.replace("@total", "@first") + """
      ml_program.global private mutable @second(dense<1.0> : tensor<f32>) : tensor<f32>
      func.func @f(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<f32>) {
        %two = arith.constant dense<2.0> : tensor<f32>
        %old = ml_program.global_load @second : tensor<f32>
        %new = arith.mulf %old, %two : tensor<f32>
        ml_program.global_store @second = %new : tensor<f32>
        %r = arith.addf %x, %x : tensor<?xf32>
        return %r, %new : tensor<?xf32>, tensor<f32>
      }""")
    state, x = module.state(), np.ones(3, np.float32)
    assert module.f(x)[1] == 2
    module.f.specialize(x)
    assert [float(module.f(x)[1]) for _ in range(2)] == [4, 8]
    assert module.f(x, state=state)[1] == 2
    assert module.specializations()["calls"] == 3
    assert module.f(np.ones(4, np.float32))[1] == 16 and state["second"] == 2
    assert state["first"].tolist() == [10, 20]


def test_specialized_code_that_calls_are_in_stays():
    is_in, go_on = threading.Event(), threading.Event()

    @pl.host_function("(f32) -> f32")
    def twice(x):
        is_in.set()
        assert go_on.wait(60)
        return 2 * x

    module = pl.Engine(threads=1, specialization="on_request", specialization_count=1).loads("""
      func.func private @twice(f32) -> f32
      func.func @f(%x: tensor<?xf32>, %a: f32) -> tensor<?xf32> {
        %b = func.call @twice(%a) : (f32) -> f32
        %c0 = arith.constant 0 : index
        %n = tensor.dim %x, %c0 : tensor<?xf32>
        %s = tensor.splat %b[%n] : tensor<?xf32>
        %r = arith.addf %x, %s : tensor<?xf32>
        return %r : tensor<?xf32>
      }""", functions={"twice": twice})
    three, four = np.ones(3, np.float32), np.ones(4, np.float32)

    def counts():
        return [module.specializations()[name] for name in ("made", "evicted", "calls")]

    module.f.specialize(three, 1.0)
    call = threading.Thread(target=module.f, args=(three, 1.0))
    call.start()
    assert is_in.wait(60)
    try:
        with pytest.raises(pl.ResourceExhaustedError, match="calls run in the code for all of the 1 extents"):
            module.f.specialize(four, 1.0)
    finally:
        go_on.set()
        call.join()
    assert module.f(three, 2.0).tolist() == [5, 5, 5]
    assert counts() == [1, 0, 2]
    module.f.specialize(four, 1.0)
    assert module.f(four, 2.0).tolist() == [5, 5, 5, 5]
    assert counts() == [2, 1, 3]


def test_logging(tmp_path, caplog):
    blocked = tmp_path / "file"
    blocked.write_text("")
    with caplog.at_level(logging.DEBUG, "plimsoll"):
        pl.Engine(threads=1, cache=blocked / "cache").loads(SAXPY)
    assert any("cache" in record.getMessage() and record.levelno >= logging.WARNING
               for record in caplog.records)
    own = logging.getLogger("mine")
    caplog.clear()
    with caplog.at_level(logging.DEBUG, "mine"):
        pl.Engine(threads=1, cache=blocked / "cache", log=own).loads(SAXPY)
    assert {record.name for record in caplog.records} == {"mine"}


def test_versions():
    assert pl.__version__.count(".") == 2
    assert os.path.exists(os.path.join(os.path.dirname(pl.__file__), "py.typed"))


def test_options_out_of_range():
    for name, bits in (("threads", 32), ("cache_bytes", 64), ("numa_node", 32),
                       ("specialization_count", 32)):
        for wrong in (-1, 2**bits, 2**bits + 1):
            with pytest.raises(pl.InvalidArgumentError, match=name):
                pl.Engine(**{name: wrong})
    with pytest.raises(pl.InvalidArgumentError, match="specialization_count"):
        pl.loads(SAXPY, specialization_count=2**32)


def test_names_that_are_no_text():
    module = pl.loads('func.func @"a\\FF"() { return }')
    assert list(module) == ["a\ufffd"]


def test_pipes(tmp_path):
    path = tmp_path / "pipe.mlir"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_text, args=(SAXPY,))
    writer.start()
    module = pl.load(path)
    writer.join()
    assert list(module) == ["saxpy"]


def test_names_that_are_no_text(engine):
    source = r'''
      func.func @"a\FFb"(%x: i32) -> i32 { return %x : i32 }
      func.func @"é"() -> i32 { %c = arith.constant 2 : i32 return %c : i32 }'''
    module = engine.loads(source, "names\udcfe.mlir")
    first, second = module
    assert (first, second) == (os.fsdecode(b"a\xffb"), "é")
    assert list(module.functions) == [first, second] and module.functions[first](3) == 3
    assert module[first].__name__ == first and getattr(module, first)(4) == 4 and module.é() == 2
    for text in (repr(module), repr(module[first]), module[first].__doc__):
        assert "a\\udcffb" in text
        text.encode()
    again = pickle.loads(pickle.dumps(module[first]))
    assert again(5) == 5 and again.__name__ == first
    with pytest.raises(pl.Error, match="no public function"):
        module["a\udcfeb"]
    with pytest.raises(ValueError, match="null"):
        module["a\0b"]
    with pytest.raises(TypeError, match="a name is a str"):
        module[1]
    parameters = pl.Parameters({"w\udcff": np.ones(3, np.float32)})
    source = PARAMETERS.replace("@w", r'@"w\FF"')
    module = engine.loads(source, parameters=parameters)
    for each in (module, pickle.loads(pickle.dumps(module))):
        assert (each.add(np.ones(3, np.float32)) == 2).all()
    assert list(parameters) == ["w\udcff"] and parameters["w\udcff"].shape == (3,)
    repr(parameters).encode()
    assert parameters.token() == pickle.loads(pickle.dumps(parameters)).token()
    state = engine.loads(COUNTER.replace("@total", r'@"t\FE"')).state()
    assert state["t\udcfe"].tolist() == [10, 20]
    twice = pl.host_function("(f32) -> f32")(lambda x: 2 * x)
    module = engine.loads(r'''
      func.func private @"h\FD"(f32) -> f32
      func.func @f(%x: f32) -> f32 {
        %r = func.call @"h\FD"(%x) : (f32) -> f32
        return %r : f32
      }''', functions={"h\udcfd": twice})
    assert module.f(2.0) == 4


def test_progress(engine, tmp_path):
    path = tmp_path / "saxpy.mlir"
    path.write_text(SAXPY)
    seen = []
    for load in (lambda: pl.load(path, engine=engine, progress=seen.append),
                 lambda: engine.loads(SAXPY, progress=seen.append)):
        seen.clear()
        module = load()
        assert seen and seen == sorted(seen) and seen[-1] == 1 and seen[0] >= 0
        assert seen.count(1) == 1  # neither the loop nor what calls it is all of the work
        pickle.dumps(module)  # without it
    raised = []
    old, sys.unraisablehook = sys.unraisablehook, raised.append
    try:
        engine.loads(SAXPY, progress=lambda part: 1 / 0).saxpy
    finally:
        sys.unraisablehook = old
    assert raised and raised[0].exc_type is ZeroDivisionError


def test_progress_follows_functions(engine):
    """The passes on functions tell of each of them."""
    def steps(count):
        seen = []
        engine.loads("".join(f"""
            func.func @f{i}(%x: tensor<?xf32>) -> tensor<?xf32> {{
              %r = math.exp %x : tensor<?xf32>
              return %r : tensor<?xf32>
            }}""" for i in range(count)), progress=seen.append)
        assert seen == sorted(seen)
        return sum(part < 0.5 for part in seen)  # what is behind them makes code
    assert steps(12) >= steps(2) + 10


@pytest.mark.parametrize("form", ["for", "while", "if", "index_switch", "select", "for of a part"])
def test_a_tensor_that_goes_through_many_ops_in_a_loop(form, engine):
    """60 of them: what takes twice as long with each more does not come back."""
    own = "tensor<8xf32>"

    def changed(i, of):
        return f"%e{i} = tensor.extract {of}[%c1] : {own} %s{i} = arith.addf %e{i}, %one : f32 %w{i} = tensor.insert %s{i} into {of}[%c1] : {own}"
    steps = {
        "for": lambda i: f"scf.for %i{i} = %c0 to %c2 step %c1 iter_args(%t{i} = %v{i}) -> {own} {{ {changed(i, f'%t{i}')} scf.yield %w{i} : {own} }}",
        "while": lambda i: f"scf.while (%t{i} = %v{i}, %k{i} = %c0) : ({own}, index) -> ({own}, index) {{ %b{i} = arith.cmpi ult, %k{i}, %c2 : index "
                           f"scf.condition(%b{i}) %t{i}, %k{i} : {own}, index }} do {{ ^bb0(%u{i}: {own}, %l{i}: index): {changed(i, f'%u{i}')} "
                           f"%n{i} = arith.addi %l{i}, %c1 : index scf.yield %w{i}, %n{i} : {own}, index }}",
        "if": lambda i: f"scf.if %yes -> {own} {{ {changed(i, f'%v{i}')} scf.yield %w{i} : {own} }} else {{ scf.yield %v{i} : {own} }}",
        "index_switch": lambda i: f"scf.index_switch %n -> {own} case 3 {{ {changed(i, f'%v{i}')} scf.yield %w{i} : {own} }} default {{ scf.yield %v{i} : {own} }}",
        "select": lambda i: f"arith.select %yes, %w{i}, %v{i} : {own}"}
    count, lines, is_part = 60, [], form.endswith("part")
    form = form.split()[0]
    for i in range(count):
        if form == "select":
            lines.append(changed(i, f"%v{i}"))
        lines.append(f"%v{i + 1}{f', %q{i}' if form == 'while' else ''} = {steps[form](i)}")
    source = "\n".join([
        f"func.func @f(%{'m' if is_part else 'x'}: {'memref<8xf32, strided<[1], offset: ?>>' if is_part else own}, %n: index, %yes: i1) -> {own} {{",
        f"%x = bufferization.to_tensor %m restrict writable : memref<8xf32, strided<[1], offset: ?>> to {own}" if is_part else "", "%c0 = arith.constant 0 : index", "%c1 = arith.constant 1 : index",
        "%c2 = arith.constant 2 : index", "%one = arith.constant 1.0 : f32",
        f"%r = scf.for %j = %c0 to %n step %c1 iter_args(%v0 = %x) -> {own} {{", *lines, f"scf.yield %v{count} : {own} }}", f"return %r : {own} }}"])
    x = np.arange(8, dtype=np.float32)
    want = x.copy()
    want[1] += 3 * count * (2 if form in ("for", "while") else 1)
    np.testing.assert_array_equal(engine.loads(source)["f"](x, 3, True), want)


@pytest.mark.parametrize("oracle", [False, True])
def test_what_a_switch_yields_is_not_written_over(oracle, engine):
    own = "tensor<6xf32>"
    function = engine.loads(f"""
func.func @f(%x: {own}, %y: {own}, %n: index) -> ({own}, {own}, {own}, index) {{
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %v, %k = scf.index_switch %n -> {own}, index
  case 0 {{ scf.yield %x, %n : {own}, index }}
  case -3 {{
    %e = math.exp %x : {own}
    scf.yield %e, %c0 : {own}, index
  }}
  default {{ scf.yield %y, %n : {own}, index }}
  %r = tensor.insert %one into %v[%c0] : {own}
  %only = scf.index_switch %n -> {own}
  default {{ scf.yield %y : {own} }}
  %s = tensor.insert %one into %only[%c0] : {own}
  return %r, %s, %y, %k : {own}, {own}, {own}, index
}}""", oracle=oracle)["f"]
    x, y = np.arange(6, dtype=np.float32), np.arange(6, dtype=np.float32) + 10
    for n, taken in ((0, x), (1, y), (-3, np.exp(x)), (7, y)):
        want = taken.copy()
        want[0] = 1
        got = function(x, y, n)
        np.testing.assert_allclose(got[0], want, rtol=1e-6)
        np.testing.assert_array_equal(got[1], [1, *y[1:]])
        np.testing.assert_array_equal(got[2], np.arange(6) + 10)
        assert got[3] == (0 if n == -3 else n)
        np.testing.assert_array_equal(x, np.arange(6))
        np.testing.assert_array_equal(y, np.arange(6) + 10)


@pytest.mark.parametrize("oracle", [False, True])
def test_a_loop_that_hands_on_one_tensor_twice(oracle, engine):
    own = "tensor<6xf32>"
    function = engine.loads(f"""
func.func @f(%x: {own}, %y: {own}, %n: index) -> ({own}, {own}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %v:3 = scf.while (%i = %c0, %a = %x, %b = %y) : (index, {own}, {own}) -> (index, {own}, {own}) {{
    %e = tensor.extract %b[%c1] : {own}
    %e1 = arith.addf %e, %one : f32
    %w = tensor.insert %e1 into %b[%c1] : {own}
    %q = arith.cmpi slt, %i, %n : index
    scf.condition(%q) %i, %w, %a : index, {own}, {own}
  }} do {{
  ^bb0(%j: index, %c: {own}, %d: {own}):
    %k = arith.addi %j, %c1 : index
    scf.yield %k, %c, %c : index, {own}, {own}
  }}
  %u:2 = scf.while (%i = %c0, %a = %v#1) : (index, {own}) -> ({own}, {own}) {{
    %q = arith.cmpi slt, %i, %n : index
    scf.condition(%q) %a, %a : {own}, {own}
  }} do {{
  ^bb0(%c: {own}, %d: {own}):
    %w = tensor.insert %one into %c[%c0] : {own}
    %e = tensor.extract %d[%c0] : {own}
    %g = tensor.insert %e into %w[%c1] : {own}
    scf.yield %n, %g : index, {own}
  }}
  return %v#2, %u#0 : {own}, {own}
}}""", oracle=oracle)["f"]
    x, y = np.arange(6, dtype=np.float32), np.arange(6, dtype=np.float32) + 10
    for n in (0, 1, 2, 5):
        a, b, i = x.copy(), y.copy(), 0
        while True:
            w = b.copy()
            w[1] += 1
            if i >= n:
                break
            i, a, b = i + 1, w.copy(), w.copy()
        last = w.copy()
        if n > 0:
            last[1], last[0] = last[0], 1
        got = function(x, y, n)
        np.testing.assert_array_equal(got[0], a)
        np.testing.assert_array_equal(got[1], last)
