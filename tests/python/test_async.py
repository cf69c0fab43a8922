"""Calls that run by themselves: waited for, awaited, cancelled, dropped."""

import asyncio
import contextlib
import gc
import pickle
import sys
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from conftest import COUNTER, SAXPY

import plimsoll as pl

GATED = """
func.func private @gate()
func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> {
  func.call @gate() : () -> ()
  %r = arith.addf %x, %x : tensor<?xf32>
  return %r : tensor<?xf32>
}
"""


class Gate:
    """A host function that holds its call until it is opened."""

    def __init__(self):
        self.begun, self.opened = threading.Event(), threading.Event()
        functions = {"gate": pl.host_function("()")(self.hold)}
        self.module = pl.Engine(threads=2).loads(GATED, functions=functions)

    def hold(self):
        self.begun.set()
        assert self.opened.wait(30)


@pytest.fixture
def gate():
    gate = Gate()
    yield gate
    gate.opened.set()


X = np.arange(4, dtype=np.float32)


def test_results(saxpy):
    call = saxpy.async_(2.0, X, X)
    np.testing.assert_array_equal(call.result(), 3 * X)
    assert call.result() is call.result() and call.done() and call.exception() is None
    assert repr(call) == "<plimsoll.Call of saxpy, ended>"
    out = np.zeros(4, np.float32)
    assert saxpy.async_(2.0, X, X, out=out).result() is out
    np.testing.assert_array_equal(out, 3 * X)
    call = saxpy.async_(2.0, X[::-1], X, priority="high")
    np.testing.assert_array_equal(call.result(), 2 * X[::-1] + X)


def test_refused_at_once(saxpy):
    with pytest.raises(TypeError, match="3 arguments"):
        saxpy.async_(1.0)
    with pytest.raises(ValueError, match="priority"):
        saxpy.async_(1.0, X, X, priority="urgent")
    call = saxpy.async_(1.0, X, X[:2])
    with pytest.raises(pl.Error):
        call.result()
    assert isinstance(call.exception(), pl.Error)


def test_time_out_and_order(gate, saxpy):
    middle = np.zeros(4, np.float32)
    first = gate.module.f.async_(X, out=middle)
    second = saxpy.async_(1.0, middle, X, after=(first,))
    assert gate.begun.wait(30)
    assert not first.wait(0.01) and not first.done() and "running" in repr(first)
    with pytest.raises(TimeoutError, match="'f'"):
        first.result(timeout=0.01)
    with pytest.raises(pl.DeadlineExceededError):
        first.exception(timeout=0.01)
    gate.opened.set()
    np.testing.assert_array_equal(second.result(), 3 * X)


def test_cancel(gate):
    first = gate.module.f.async_(X)
    waiting = gate.module.f.async_(X, after=(first,))
    assert gate.begun.wait(30)
    first.cancel()
    waiting.cancel()
    gate.opened.set()
    for call in first, waiting:
        with pytest.raises(pl.CancelledError):
            call.result()
    first.cancel()  # of no effect


def test_stop(gate, saxpy):
    stop = pl.Stop()
    call = gate.module.f.async_(X, stop=stop)
    assert gate.begun.wait(30) and not stop.requested
    stop()
    gate.opened.set()
    assert isinstance(call.exception(), pl.CancelledError) and stop.requested
    with pytest.raises(pl.CancelledError):
        saxpy(1.0, X, X, stop=stop)
    assert "requested" in repr(stop)


def test_callbacks(gate):
    seen = []
    call = gate.module.f.async_(X)
    call.add_done_callback(lambda ended: seen.append((ended, threading.get_ident())))
    gate.opened.set()
    call.result()
    while not seen:
        time.sleep(0.001)
    call.add_done_callback(lambda ended: seen.append((ended, threading.get_ident())))
    assert [ended for ended, _ in seen] == [call, call] and seen[1][1] == threading.get_ident()


def test_awaited(gate, saxpy):
    async def run():
        results = await asyncio.gather(*(saxpy.async_(float(i), X, X) for i in range(50)))
        for i, result in enumerate(results):
            np.testing.assert_allclose(result, i * X + X, rtol=1e-6)
        call = gate.module.f.async_(X)
        asyncio.get_running_loop().call_later(0.02, gate.opened.set)
        turns = 0

        async def others():
            nonlocal turns
            while not call.done():
                turns += 1
                await asyncio.sleep(0.001)

        result, _ = await asyncio.gather(call, others())
        assert turns > 3  # the loop went on
        return result

    np.testing.assert_array_equal(asyncio.run(run()), 2 * X)


def test_cancelled_task_stops_the_call(gate):
    async def run():
        call = gate.module.f.async_(X)

        async def work():
            return await call

        task = asyncio.create_task(work())
        await asyncio.sleep(0)  # it has begun to wait
        while not gate.begun.is_set():
            await asyncio.sleep(0.001)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        gate.opened.set()
        with pytest.raises(pl.CancelledError):
            await call

    asyncio.run(run())


def test_asyncio_time_out(gate):
    async def run():
        call = gate.module.f.async_(X)
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(call, 0.02)
        gate.opened.set()
        assert isinstance(call.exception(), pl.CancelledError)

    asyncio.run(run())


def test_loop_that_closes_before_the_end(gate):
    async def run():
        call = gate.module.f.async_(X)
        asyncio.ensure_future(call)
        await asyncio.sleep(0)
        return call

    call = asyncio.run(run())  # cancels what is left
    gate.opened.set()
    assert isinstance(call.exception(), pl.CancelledError)


def test_arrays_are_kept_until_the_end_and_no_longer(gate):
    x = np.arange(4, dtype=np.float32)
    seen = weakref.ref(x)
    call = gate.module.f.async_(x)
    del x
    gc.collect()
    assert seen() is not None
    gate.opened.set()
    np.testing.assert_array_equal(call.result(), [0, 2, 4, 6])
    for _ in range(1000):
        if seen() is None:
            break
        time.sleep(0.001)  # the thread that ended it lets go last
    assert seen() is None


def test_dropped_calls_run_to_their_end():
    """The last owner of everything may be a thread of the engine."""
    engine = pl.Engine(threads=2)
    out = np.zeros(4, np.float32)
    function = engine.loads(SAXPY).saxpy
    function.async_(2.0, X, X, out=out)
    del function, engine
    gc.collect()
    for _ in range(5000):
        if (out == 3 * X).all():
            break
        time.sleep(0.001)
    np.testing.assert_array_equal(out, 3 * X)


def test_state_and_order(engine):
    module = engine.loads(COUNTER)
    state = module.state()
    one = np.ones(2, np.float32)
    calls = [module.add.async_(one, state=state) for _ in range(20)]
    assert sorted(call.result()[0] for call in calls) == list(range(11, 31))


def test_no_leaks(saxpy):
    x, out = np.ones(8, np.float32), np.zeros(8, np.float32)

    def calls(count):
        for _ in range(count):
            saxpy.async_(2.0, x, x, out=out).result()
            saxpy.async_(2.0, x, x).result()

    calls(100)
    counts = [sys.getrefcount(each) for each in (x, out, saxpy)]
    calls(2000)
    for _ in range(1000):
        if [sys.getrefcount(each) for each in (x, out, saxpy)] == counts:
            break
        time.sleep(0.001)
    assert [sys.getrefcount(each) for each in (x, out, saxpy)] == counts


def slow_to_load():
    """Seconds of distinct reductions."""
    return "func.func @f(%x: tensor<?x?xf32>) {\n  return\n}\n" + "".join(
        f"""func.func @f{i}(%x: tensor<{i + 7}x{i + 9}xf32>, %z: tensor<{i + 7}xf32>) -> tensor<{i + 7}xf32> {{
  %r = linalg.reduce {{ arith.addf }} ins(%x : tensor<{i + 7}x{i + 9}xf32>) outs(%z : tensor<{i + 7}xf32>)
      dimensions = [1]
  return %r : tensor<{i + 7}xf32>
}}
""" for i in range(200))


def teller(loop, event):
    """What sets an event of the loop as long as there is one: a load that was cancelled may end later."""
    def told(part):
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(event.set)
    return told


def test_loads_beside_the_loop(engine, tmp_path):
    path = tmp_path / "saxpy.mlir"
    path.write_text(SAXPY)

    async def main():
        return await asyncio.gather(pl.load_async(path, engine=engine), engine.load_async(path),
                                    engine.loads_async(SAXPY, "named.mlir", policy="heap"),
                                    engine.loads_async("func.func @f(", "wrong.mlir"),
                                    return_exceptions=True)

    *modules, error = asyncio.run(main())
    for module in modules:
        np.testing.assert_array_equal(module.saxpy(2.0, X, X), 3 * X)
    assert isinstance(error, pl.InvalidArgumentError) and "wrong.mlir:1:" in str(error)


def test_a_cancelled_task_stops_its_load(engine):
    async def main():
        begun = asyncio.Event()
        loop = asyncio.get_running_loop()
        told = teller(loop, begun)
        task = asyncio.create_task(engine.loads_async(slow_to_load(), progress=told))
        while not begun.is_set() and not task.done():
            await asyncio.sleep(0.001)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    with pytest.raises(TypeError, match="cancel the task"):
        asyncio.run(pl.loads_async(SAXPY, stop=pl.Stop()))
    with pytest.raises(pl.DeadlineExceededError):
        asyncio.run(engine.loads_async(slow_to_load(), timeout=0.001))


def test_loads_keep_no_thread_of_the_loop(engine):
    async def main():
        loop = asyncio.get_running_loop()
        loop.set_default_executor(ThreadPoolExecutor(1))
        begun = asyncio.Event()
        told = teller(loop, begun)
        tasks = [asyncio.create_task(engine.loads_async(slow_to_load(), f"{i}.mlir", progress=told)) for i in range(3)]
        await begun.wait()
        assert await asyncio.to_thread(lambda: 3) == 3 and not any(task.done() for task in tasks)
        for task in tasks:
            task.cancel()
        for task in tasks:
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(main())


def test_more_loads_than_threads():
    engine = pl.Engine(threads=1)

    async def main():
        return await asyncio.gather(*(engine.loads_async(SAXPY, f"{i}.mlir") for i in range(6)))

    for i, module in enumerate(asyncio.run(main())):
        assert module.name == f"{i}.mlir"
        np.testing.assert_array_equal(module.saxpy(2.0, X, X), 3 * X)
        assert pickle.loads(pickle.dumps(module)).name == module.name


def test_a_load_lets_go_of_what_it_was_told(engine):
    class Progress:
        def __call__(self, part):
            assert 0 <= part <= 1
            self.last = part

    def watched(source):
        progress = Progress()
        try:
            asyncio.run(engine.loads_async(source, progress=progress))
        except pl.InvalidArgumentError as error:
            assert error.diagnostics
        return weakref.ref(progress)

    for source in SAXPY, "func.func @f(":
        progress = watched(source)
        for _ in range(1000):
            gc.collect()
            if progress() is None:
                break
            time.sleep(0.001)
        assert progress() is None


def test_loads_by_themselves_are_refused_at_once(engine, tmp_path):
    for options, error in (({"policy": "fastest"}, pl.InvalidArgumentError), ({"timeout": -1}, pl.InvalidArgumentError),
                           ({"speed": 1}, TypeError), ({"specialization_count": -1}, pl.InvalidArgumentError)):
        with pytest.raises(error):
            asyncio.run(engine.loads_async(SAXPY, **options))
    with pytest.raises(FileNotFoundError):
        asyncio.run(engine.load_async(tmp_path / "none.mlir"))
    assert asyncio.run(engine.loads_async(SAXPY, timeout=1e300)).saxpy
