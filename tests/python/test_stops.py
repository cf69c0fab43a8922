"""Ctrl-C and time-outs, of calls and of loads."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

import plimsoll as pl

SOURCE = """
func.func @spin(%n: i64) -> i64 {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %a = arith.constant 6364136223846793005 : i64
  %s = arith.constant 29 : i64
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%y = %c1) -> i64 : i64 {
    %m = arith.muli %y, %a : i64
    %h = arith.shrui %m, %s : i64
    %z = arith.xori %m, %h : i64
    scf.yield %z : i64
  }
  return %r : i64
}
"""
FOREVER = 1 << 60


def large(count=300):
    """So many functions that a load takes seconds."""
    return "\n".join(f"""
func.func @f{i}(%a: tensor<64x{i + 8}xf32>, %b: tensor<{i + 8}x32xf32>) -> tensor<64x32xf32> {{
  %z = arith.constant dense<0.0> : tensor<64x32xf32>
  %r = linalg.matmul ins(%a, %b : tensor<64x{i + 8}xf32>, tensor<{i + 8}x32xf32>)
                     outs(%z : tensor<64x32xf32>) -> tensor<64x32xf32>
  return %r : tensor<64x32xf32>
}}""" for i in range(count))


def test_a_kernel_is_stopped():
    spin = pl.loads(SOURCE).spin
    with pytest.raises(pl.DeadlineExceededError, match="'spin' has not ended after 0.05 s"):
        spin(FOREVER, timeout=0.05)
    stop = pl.Stop()
    threading.Timer(0.05, stop).start()
    with pytest.raises(pl.CancelledError):
        spin(FOREVER, stop=stop)
    assert spin(1000) == spin(1000, timeout=60)


def test_a_load_is_stopped():
    source = large()
    with pytest.raises(pl.DeadlineExceededError, match="the load of 'large.mlir' has not ended"):
        pl.loads(source, "large.mlir", timeout=0.2)
    stop = pl.Stop()
    stop()
    with pytest.raises(pl.CancelledError):
        pl.loads(source, stop=stop)
    with pytest.raises(pl.InvalidArgumentError, match="both given"):
        pl.loads(SOURCE, stop=stop, timeout=1)
    assert pl.loads(SOURCE, timeout=60).spin(0) == 1


def run(script, *lines):
    """What a program prints that gets SIGINT half a second after it has said that it begins."""
    program = textwrap.dedent(f"""
        import signal, sys, threading, time
        sys.path.insert(0, {os.path.dirname(__file__)!r})
        import plimsoll as pl
        from test_stops import SOURCE, FOREVER, large
        spin = pl.loads(SOURCE).spin
        """) + textwrap.dedent(script)
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "begin\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    finally:
        process.kill()
    assert out.splitlines() == list(lines)
    return process.returncode


def test_ctrl_c_ends_a_call():
    run("""
        print("begin", flush=True)
        try:
            spin(FOREVER)
        except KeyboardInterrupt:
            print("interrupted")
        print(spin(0))
        """, "interrupted", "1")


def test_ctrl_c_ends_a_call_with_a_stop_or_a_timeout():
    for option in ("stop=pl.Stop()", "timeout=1000"):
        run(f"""
            print("begin", flush=True)
            try:
                spin(FOREVER, {option})
            except KeyboardInterrupt:
                print("interrupted")
            """, "interrupted")


def test_ctrl_c_ends_a_load():
    run("""
        source = large(600)
        print("begin", flush=True)
        try:
            pl.loads(source)
            print("too fast")
        except KeyboardInterrupt:
            print("interrupted")
        print(pl.loads(SOURCE).spin(0))
        """, "interrupted", "1")


def test_ctrl_c_is_left_to_other_handlers():
    run("""
        signal.signal(signal.SIGINT, lambda *_: print("handler"))
        stop = pl.Stop()
        threading.Timer(2, stop).start()
        print("begin", flush=True)
        try:
            spin(FOREVER, stop=stop)
        except pl.CancelledError:
            print("stopped")
        """, "handler", "stopped")


def test_ctrl_c_in_a_child():
    run("""
        import os
        spin(0)
        child = os.fork()
        if child == 0:
            spin = pl.loads(SOURCE, engine=pl.Engine()).spin
            print("begin", flush=True)
            threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
            try:
                spin(FOREVER)
            except KeyboardInterrupt:
                print("interrupted", flush=True)
            os._exit(0)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        assert os.waitpid(child, 0)[1] == 0
        """, "interrupted")


@pytest.mark.skipif(not hasattr(signal, "set_wakeup_fd"), reason="no wakeup descriptor")
def test_a_descriptor_of_the_program_stays():
    run("""
        import os
        read, write = os.pipe()
        os.set_blocking(write, False)
        signal.set_wakeup_fd(write)
        spin(0)
        assert signal.set_wakeup_fd(-1) == write
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        print("begin", flush=True)
        """)
