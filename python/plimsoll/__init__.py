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

Arrays pass without a copy, both ways: NumPy's, anything with the buffer protocol or DLPack. Nothing is converted: a
list is no array. Python's other threads run while a call or a load does. `help(plimsoll.Engine)` says more of each:

    load, loads, load_async, loads_async    a module, from a file or a text
    Module, Function, Signature, Type       what it has; functions are its attributes: help(module.scale)
    jit                                     compiles a function that is written with NumPy
    Engine, Target, default_engine          what compiles and runs, and for which machine
    Device, host_function, HostFunction     accelerators and functions of this program, for modules
    Parameters, State, Pools                weights, variables, memories of a module
    Call, Stop                              calls that run by themselves; what ends calls and loads
    Buffer, from_dlpack                     tensors in memory
    to_bf16, from_bf16, to_f8, from_f8      elements that NumPy does not have
    Report                                  what was decided, counted or found
    Error, Diagnostic                       what goes wrong; plimsoll.errors has one for each kind
    plimsoll.onnx, plimsoll.dask            models as ONNX Runtime has them; many machines
"""

# No __all__: pydoc would print all of each, thousands of lines. `X as X` is public.
import atexit as _atexit

from . import _interrupt as _interrupt
from . import _native
from .errors import (AlreadyExistsError as AlreadyExistsError, ArgumentTypeError as ArgumentTypeError,
                     CancelledError as CancelledError, DataLossError as DataLossError,
                     DeadlineExceededError as DeadlineExceededError, Diagnostic as Diagnostic, Error as Error,
                     FailedPreconditionError as FailedPreconditionError, InternalError as InternalError,
                     InvalidArgumentError as InvalidArgumentError, NotFoundError as NotFoundError,
                     OutOfRangeError as OutOfRangeError, PermissionDeniedError as PermissionDeniedError,
                     ResourceExhaustedError as ResourceExhaustedError, UnavailableError as UnavailableError,
                     UnimplementedError as UnimplementedError, UnknownError as UnknownError)
from .buffer import (Buffer as Buffer, from_bf16 as from_bf16, from_dlpack as from_dlpack, from_f8 as from_f8,
                     to_bf16 as to_bf16, to_f8 as to_f8)
from .call import Call as Call
from .device import Device as Device
from .engine import (Engine as Engine, Target as Target, default_engine as default_engine)
from .function import (Function as Function, Signature as Signature, Type as Type)
from .host import (HostFunction as HostFunction, host_function as host_function)
from .jit import jit as jit
from .module import (Module as Module, load as load, load_async as load_async, loads as loads,
                     loads_async as loads_async)
from .parameters import (Parameters as Parameters, Pools as Pools, State as State, Stop as Stop)
from .report import Report as Report

__version__ = _native.version

# Threads of engines leave Python before it ends.
_atexit.register(_native.close)
