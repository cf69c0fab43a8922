"""Plimsoll: compiles MLIR for the machine that is here and runs it.

>>> import numpy as np, plimsoll as pl
>>> module = pl.loads('''
... func.func @scale(%a: f32, %x: tensor<?xf32>) -> tensor<?xf32> {
...   %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
...       outs(%x : tensor<?xf32>) {
...   ^bb0(%u: f32):
...     %p = arith.mulf %a, %u : f32
...     linalg.yield %p : f32
...   } -> tensor<?xf32>
...   return %r : tensor<?xf32>
... }''')
>>> module.scale(2.0, np.array([1, 2, 3], np.float32))
array([2., 4., 6.], dtype=float32)

Arrays pass without a copy, both ways: NumPy's, anything with the buffer protocol or DLPack.
Python's other threads run while a call or a load does. `docs/design/python.md` says why it is as it
is.
"""

import atexit as _atexit

from . import _interrupt as _interrupt
from . import _native
from .errors import (AlreadyExistsError, ArgumentTypeError, CancelledError, DataLossError,
                     DeadlineExceededError, Diagnostic, Error, FailedPreconditionError, InternalError,
                     InvalidArgumentError, NotFoundError, OutOfRangeError, PermissionDeniedError,
                     ResourceExhaustedError, UnavailableError, UnimplementedError, UnknownError)
from .buffer import Buffer, from_bf16, from_dlpack, from_f8, to_bf16, to_f8
from .call import Call
from .engine import Engine, Target, default_engine
from .function import Function, Signature, Type
from .host import HostFunction, host_function
from .jit import jit
from .module import Module, load, load_async, loads, loads_async
from .parameters import Parameters, Pools, State, Stop
from .report import Report

__version__ = _native.version

# Threads of engines leave Python before it ends.
_atexit.register(_native.close)

__all__ = [name for name in globals() if not name.startswith("_") and name not in {
    "errors", "buffer", "call", "engine", "function", "host", "module", "parameters", "report"}]
