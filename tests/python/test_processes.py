"""Other processes: started by spawn, by fork, and the end of this one."""

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from conftest import SAXPY

import plimsoll as pl

X = np.arange(4, dtype=np.float32)


def work(module, function, x):
    return os.getpid(), module.saxpy(2.0, x, x), function(2.0, x, x)


def test_spawn():
    module = pl.loads(SAXPY)
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        for pid, one, two in pool.starmap(work, [(module, module.saxpy, X)] * 4):
            assert pid != os.getpid()
            np.testing.assert_array_equal(one, 3 * X)
            np.testing.assert_array_equal(two, 3 * X)


def test_import_is_quick():
    """What not every program needs, and takes long to load, is loaded by those that need it."""
    late = ("asyncio", "concurrent.futures", "dask", "difflib", "logging", "plimsoll._trace")
    code = f"import sys, plimsoll; print(*(name for name in {late} if name in sys.modules))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "\n"


def test_fork():
    """A child must not use the parent's engines: it is told so, and makes its own."""
    module = pl.loads(SAXPY)
    saxpy, state, call = module.saxpy, module.state(), module.saxpy.async_(1.0, X, X)
    parent = module.engine
    call.wait()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            signal.alarm(60)
            for use in (lambda: saxpy(1.0, X, X), lambda: saxpy.async_(1.0, X, X), call.result,
                        state.reset, pl.Engine.memory.__get__(parent), lambda: parent.empty(3), module.explain):
                try:
                    use()
                    os._exit(2)
                except pl.FailedPreconditionError as error:
                    if "fork" not in str(error):
                        os._exit(3)
            if not (pl.loads(SAXPY).saxpy(2.0, X, X) == 3 * X).all():
                os._exit(4)
            del module, saxpy, call, state, parent  # waits for no thread
            code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    np.testing.assert_array_equal(saxpy(2.0, X, X), 3 * X)


def run(source, **options):
    return subprocess.run([sys.executable, "-c", textwrap.dedent(source)], capture_output=True,
                          text=True, timeout=60, **options)


@pytest.mark.parametrize("ending", ["", "sys.exit(0)", "gc.disable(); x = [m]; x.append(x)"])
def test_the_interpreter_ends_while_calls_run(ending):
    """Calls, callbacks and buffers that are alive then: no crash, no hang, nothing printed."""
    done = run(f"""
        import gc, sys, threading, time, numpy as np, plimsoll as pl
        m = pl.loads('''
        func.func private @tick()
        func.func @f(%n: index, %x: tensor<?xf32>) -> tensor<?xf32> {{
          %c0 = arith.constant 0 : index
          %c1 = arith.constant 1 : index
          scf.for %i = %c0 to %n step %c1 {{ func.call @tick() : () -> () }}
          return %x : tensor<?xf32>
        }}''', functions={{"tick": pl.host_function("()")(lambda: time.sleep(0.001))}})
        x = np.zeros(100, np.float32)
        calls = [m.f.async_(30, x) for _ in range(20)]
        for call in calls:
            call.add_done_callback(lambda call: call.result())
        kept = m.f(1, x), pl.Buffer(x), m["f"].async_(1000000, x)

        def endless():
            try:
                m.f(1000000, x)
            except pl.CancelledError as error:
                assert "Python is ending" in str(error)

        threading.Thread(target=endless, daemon=True).start()
        time.sleep(0.02)
        print("end")
        {ending}
        """)
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")


def test_no_thread_comes_back_once_python_ends():
    done = run("""
        import atexit, threading, time
        atexit.register(time.sleep, 0.3)  # behind what Plimsoll does then
        import plimsoll as pl
        m = pl.loads('''
        func.func private @tick()
        func.func @f(%n: index) {
          %c0 = arith.constant 0 : index
          %c1 = arith.constant 1 : index
          scf.for %i = %c0 to %n step %c1 { func.call @tick() : () -> () }
          return
        }''', functions={"tick": pl.host_function("()")(lambda: began.set() or time.sleep(0.001))})
        began = threading.Event()

        def endless():
            try:
                m.f(1000000)
            finally:
                print("back", flush=True)

        threading.Thread(target=endless, daemon=True).start()
        began.wait()
        print("end", flush=True)
        """)
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")


def test_import_is_quiet_and_small():
    """Nothing heavy but NumPy comes with it, and no thread is started."""
    done = run("""
        import sys, threading, numpy
        before = set(sys.modules)
        import plimsoll
        heavy = {"asyncio", "ctypes", "email", "http", "jax", "multiprocessing", "pandas", "scipy", "torch", "unittest"}
        print(sorted(heavy & (set(sys.modules) - before)), threading.active_count())
        """)
    assert (done.returncode, done.stdout, done.stderr) == (0, "[] 1\n", "")


def test_fork_in_a_host_function():
    """The child comes back from the call, and ends."""
    done = run("""
        import os, signal, sys, plimsoll as pl

        def host():
            child.append(os.fork())
            if child[0] == 0:
                signal.alarm(30)
            else:
                assert os.waitstatus_to_exitcode(os.waitpid(child[0], 0)[1]) == 7

        child = []
        pl.Engine(threads=1).loads('''
        func.func private @host()
        func.func @f() { func.call @host() : () -> () return }
        ''', functions={"host": pl.host_function("()")(host)}).f()
        sys.exit(0 if child[0] else 7)
        """)
    assert (done.returncode, done.stderr) == (0, "")


def test_jit_after_fork():
    done = run("""
        import os, signal, threading, numpy as np, plimsoll as pl

        @pl.jit
        def twice(x):
            while held:  # its lock is held while another thread forks
                tracing.set()
                held[0].wait()
                held.clear()
            return x + x

        x, held, tracing = np.ones(3), [], threading.Event()
        assert (twice(x) == 2).all()
        held.append(threading.Event())
        thread = threading.Thread(target=twice, args=(np.ones(4),))
        thread.start()
        tracing.wait()
        gate = held[0]
        child = os.fork()
        if child == 0:
            signal.alarm(30)
            held.clear()
            assert twice.modules() == [] and (twice(x) == 2).all() and len(twice.modules()) == 1
            os._exit(0)
        gate.set()
        thread.join()
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert len(twice.modules()) == 2
        """)
    assert (done.returncode, done.stderr) == (0, "")
