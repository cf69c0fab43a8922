"""What a source does to the compiler is an exception, and the next one works."""

import gc
import os
import pathlib
import resource
import signal
import time

import numpy as np
import pytest

import plimsoll as pl

CRASHERS = sorted((pathlib.Path(__file__).parent.parent / "unit/jit/crashers").glob("*.mlir"))
CRASHER = "func.func @f() attributes {a = array<index: 1>} { return }"
TWICE = """
func.func @twice(%x: tensor<?xf32>) -> tensor<?xf32> {
  %r = arith.addf %x, %x : tensor<?xf32>
  return %r : tensor<?xf32>
}
"""
# Seconds in LLVM's code generator.
SLOW = """
func.func @main(%x: memref<16384xf32>) {
  %c0 = arith.constant 0 : index
  %v = vector.load %x[%c0] : memref<16384xf32>, vector<16384xf32>
  %w = arith.addf %v, %v : vector<16384xf32>
  vector.store %w, %x[%c0] : memref<16384xf32>, vector<16384xf32>
  return
}
"""


def works(engine=None):
    assert pl.loads(TWICE, engine=engine).twice(np.float32([1, 2])).tolist() == [2, 4]


@pytest.mark.parametrize("path", CRASHERS, ids=lambda path: path.stem)
def test_sources_that_end_the_compiler(path):
    try:
        pl.load(path)
    except (pl.InternalError, pl.InvalidArgumentError, pl.ResourceExhaustedError) as error:
        assert path.name in str(error)
    works()


def test_the_signal_is_named():
    with pytest.raises(pl.InternalError, match="<string>:1:1: the compiler ended by signal 11") as info:
        pl.loads(CRASHER)
    assert info.value.diagnostics[0].line == 1


def test_the_line_is_named():
    with pytest.raises(pl.InternalError, match="<string>:3:1: the compiler ended by signal 11"):
        pl.loads("// One.\n\n" + CRASHER + TWICE)


def test_deadline():
    engine = pl.Engine(compile_deadline=0.2)
    with pytest.raises(TimeoutError, match="longer than 200 ms"):
        pl.loads(SLOW, engine=engine)


def test_memory():
    engine = pl.Engine(compile_memory=1 << 30)
    with pytest.raises((pl.InternalError, pl.ResourceExhaustedError)):
        pl.loads("func.func @main() -> tensor<700000000xf32> {\n"
                 "  %c = arith.constant dense<1.0> : tensor<700000000xf32>\n"
                 "  return %c : tensor<700000000xf32>\n}", engine=engine)
    works(engine)


def test_a_process_that_is_killed_while_it_rests(monkeypatch):
    """It had no work, so that the next source has nothing to do with it."""
    mark = f"PLIM_TEST_PROCESS={os.getpid()}"
    monkeypatch.setenv(*mark.split("="))

    def parents():
        """Of the processes that were started here."""
        found = {}
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if mark.encode() in (process / "environ").read_bytes().split(b"\0"):
                    found[int(process.name)] = int((process / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:  # of others, or that end
                pass
        return found

    engine = pl.Engine(threads=1, isolation="worker")
    works(engine)
    there = parents()
    compilers = [process for process, parent in there.items() if parent in there]
    assert len(compilers) == 1
    os.kill(compilers[0], signal.SIGKILL)
    end = time.monotonic() + 10
    while compilers[0] in parents() and time.monotonic() < end:
        time.sleep(0.01)
    works(engine)


def test_stacks_are_not_those_of_the_host():
    """Its limit may be above the memory that a compilation may take."""
    limits = resource.getrlimit(resource.RLIMIT_STACK)
    if limits[1] != resource.RLIM_INFINITY:
        pytest.skip("no stack may be so large")
    resource.setrlimit(resource.RLIMIT_STACK, (32 << 30, limits[1]))
    try:
        works(pl.Engine(threads=2))
    finally:
        resource.setrlimit(resource.RLIMIT_STACK, limits)


def test_engines_share_processes():
    def descriptors():
        gc.collect()  # engines of other tests hold some
        return len(os.listdir("/proc/self/fd"))

    engines = [pl.Engine(isolation="shared")]
    works(engines[0])
    before = descriptors()
    engines += [pl.Engine(isolation="shared") for _ in range(3)]
    for engine in engines:
        works(engine)
    assert descriptors() == before
    with pytest.raises(pl.InternalError):
        pl.loads("func.func @f() attributes {a = array<index: 1>} { return }", engine=engines[1])
    for engine in engines:
        works(engine)


def test_the_same_results_without():
    engine = pl.Engine(isolation="none")
    works(engine)
    with pytest.raises(pl.InvalidArgumentError, match="isolation is 'thread'; there are 'none', 'worker', 'shared'"):
        pl.Engine(isolation="thread")
    with pytest.raises(pl.InvalidArgumentError, match="compile_memory"):
        pl.Engine(compile_memory=-1)
