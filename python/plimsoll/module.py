"""Modules: code that is ready to be called, and how it is loaded."""

from __future__ import annotations

import hashlib
import mmap
import os
import stat
import weakref
from typing import Any, Callable, Iterator, Mapping

from . import _native
from .call import check_timeout, ended, nanoseconds, within
from .engine import Engine, check_range, default_engine, handle_of, limit_texts, numerics_number, \
    specialization_number
from .function import Function, printable
from .host import HostFunction, function_set
from .parameters import Parameters, Pools, State, Stop
from .report import Report


_ARTIFACT = b"plimart\n"  # what Engine.compile() gives begins with it


class _Recipe:
    """What a module was loaded from, so that it can be loaded again elsewhere: source and options
    travel, code never does."""

    def __init__(self, source, name: str, engine: Engine | None, options: dict):
        self.source, self.name, self.engine, self.options = source, name, engine, options
        self._module = None

    def load(self) -> Module:
        """The module, which all functions that were pickled together share."""
        module = self._module and self._module()
        if module is None:
            module = Module(self, _native.module_load(*self.arguments()))
        return module

    def arguments(self, progress: Callable[[float], Any] | None = None, stop: Stop | None = None,
                  is_file: bool = False, timeout: float | None = None) -> tuple:
        """What the library is asked for."""
        options = self.options
        check_range("specialization_count", options["specialization_count"])
        return ((self.engine or default_engine())._handle, None if is_file else self.source, self.name,
                int(options["oracle"]) | int(options["lazy"]) << 1, options["policy"],
                limit_texts(options["limits"]), handle_of(options["parameters"]),
                function_set(options["functions"]), handle_of(options["pools"]),
                specialization_number(options["specialization"]), options["specialization_count"],
                progress, handle_of(stop), numerics_number(options["numerics"]), options["device"],
                0 if timeout is None else nanoseconds(timeout))

    def __getstate__(self):
        if bytes(self.source[:len(_ARTIFACT)]) == _ARTIFACT:
            raise TypeError(f"{self.name} was loaded from machine code, which does not travel: "
                            "load its source to pickle it")
        return bytes(self.source), self.name, self.engine, self.options

    def __setstate__(self, state):
        self.__init__(*state)

    def token(self):
        """Equal for equal modules, in every process."""
        options = {key: value for key, value in self.options.items()
                   if key not in ("parameters", "functions")}
        parameters = self.options["parameters"]
        functions = self.options["functions"] or {}
        return (hashlib.sha256(self.source).hexdigest(), self.name,
                sorted(options.items(), key=str),
                parameters and parameters.token(),
                sorted((name, function.signature, function.kind, function.function)
                       for name, function in functions.items()),
                self.engine and self.engine.__dask_tokenize__())


class Module:
    """Compiled code that is ready to be called. `load` and `loads` make one.

    Its functions are attributes, `module.classify`, or by any name `module["classify"]`.

    >>> import numpy as np, plimsoll as pl
    >>> module = pl.loads('''
    ... func.func @twice(%x: tensor<3xf32>) -> tensor<3xf32> {
    ...   %r = arith.addf %x, %x : tensor<3xf32>
    ...   return %r : tensor<3xf32>
    ... }''', name="twice.mlir")
    >>> module
    <plimsoll.Module 'twice.mlir': twice>
    >>> module.twice(np.array([1, 2, 3], np.float32))
    array([2., 4., 6.], dtype=float32)

    Modules can be pickled: the source and the options travel, and whoever unpickles one compiles it
    for the machine that is there. Variables do not travel. Calls run on any number of threads at
    once.
    """

    def __init__(self, recipe: _Recipe, handle):
        self._recipe = recipe
        self._engine = recipe.engine or default_engine()
        self._keep = recipe.options["parameters"], recipe.options["pools"]  # memory that is the host's
        self._handle = handle
        self._names = _native.module_function_names(self._handle)
        recipe._module = weakref.ref(self)

    def __getitem__(self, name: str) -> Function:
        function = self.__dict__.get(name)
        if not isinstance(function, Function):
            function = _native.make_function(self._handle, name)
            function._recipe = self._recipe
            if not hasattr(Module, name) and name not in self.__dict__:
                self.__dict__[name] = function  # found at once from now on
        return function

    def __getattr__(self, name: str) -> Function:
        names = self.__dict__.get("_names", ())
        if name in names:
            return self[name]
        if name.startswith("_"):
            raise AttributeError(name)
        import difflib  # which takes its time to load
        near = difflib.get_close_matches(name, names, 1)
        hint = f"; did you mean '{near[0]}'?" if near else ""
        raise AttributeError(f"{self!r} has no function '{name}'{hint}", name=name, obj=self)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name) -> bool:
        return name in self._names

    def __dir__(self):
        return [*super().__dir__(), *self._names]

    @property
    def name(self) -> str:
        """What stands in locations: the path that it was loaded from."""
        return self._recipe.name

    @property
    def engine(self) -> Engine:
        return self._engine

    @property
    def functions(self) -> dict[str, Function]:
        """All functions, in the order of the source."""
        return {name: self[name] for name in self._names}

    def explain(self) -> Report:
        """Every placement, access, copy and dispatch, with the reason."""
        return Report(_native.module_explain(self._handle))

    def statistics(self) -> dict:
        """What loading took, in seconds, and whether the code came from the cache."""
        return _native.module_statistics(self._handle)

    def specializations(self) -> dict[str, int]:
        """Code for certain extents: how much was made, failed, evicted; calls that found it."""
        return _native.module_specializations(self._handle)

    def state(self) -> State:
        """Variables as they are in the beginning, for a stream of calls: `f(x, state=state)`."""
        return State(_native.state_create(self._handle), self._engine)

    def __repr__(self):
        names = ", ".join(map(printable, self._names[:4]))
        return f"<plimsoll.Module {self.name!r}: {names}{', ...' if len(self) > 4 else ''}>"

    def __copy__(self):
        return self  # nothing of it changes but variables, and those are one with it

    def __reduce__(self):
        return _Recipe.load, (self._recipe,)

    def __dask_tokenize__(self):
        return "plimsoll.Module", self._recipe.token()


def load(path: str | os.PathLike, *, engine: Engine | None = None,
         parameters: Parameters | Mapping | str | os.PathLike | None = None,
         policy: str | None = None, limits: Mapping[str, int] | None = None,
         functions: Mapping[str, HostFunction] | None = None,
         pools: Pools | Mapping | None = None, oracle: bool = False, numerics: str | None = None,
         device: str | None = None, lazy: bool = False, specialization: str | None = None,
         specialization_count: int = 0,
         progress: Callable[[float], Any] | None = None, stop: Stop | None = None,
         timeout: float | None = None) -> Module:
    """Compiles a file of MLIR, text or bytecode, a model in ONNX's format or StableHLO, or takes what it was compiled to
    from the cache. A model is the function `main`; its weights are parameters, which `parameters` may replace.

    `parameters`: arrays by name, a .safetensors file, or `Parameters`. They are used where they
    lie: do not write them while the module lives.
    `policy`, `limits`, `functions`, `numerics`, `specialization`, `specialization_count`: as in
    `Engine`, for this module.
    `pools`: memories that the target names, for all its calls: arrays by name, or `Pools`.
    `oracle`: the plain lowering that every optimisation is compared with; slow.
    `device`: a GPU of the engine's target, "vulkan0" or "cuda0" of `Engine("host")`, that runs what the
    source gives to no device, as far as it takes it; the host runs the rest, and `Module.explain` says why.
    InvalidArgumentError if the target has no such GPU, UnavailableError without its driver.
    `progress`: is called with the part of the compilation that is done, 0 to 1, on any thread; not
    for what comes from the cache. It must not call into this package; what it raises is not the
    load's failure but goes to `sys.unraisablehook`.
    `stop`, `timeout`: as in calls. A load ends between two passes of the compiler.
    `lazy`: each function is compiled, with what it calls, when it is called first; the load parses and verifies the
    source. What cannot be compiled the call says, each time. What it does to a memref is not known before: `signature`
    says readwrite. Not for sources with variables, beside `pools`, nor to `explain`.

    The file stays mapped: do not write it while the module lives; replacing it does no harm.
    Bytecode is trusted: load only your own.
    """
    return _load(*_source_of(path), engine, parameters, policy, limits, functions, pools, oracle, numerics, device,
                 lazy, specialization, specialization_count, progress, stop, timeout)


def _source_of(path):
    """What a file has, its name, and whether it is one, and no pipe."""
    path = os.fspath(path)
    with open(path, "rb") as file:
        status = os.fstat(file.fileno())
        is_file = stat.S_ISREG(status.st_mode) and status.st_size > 0
        # For whoever pickles the module; of a pipe, say, for the load too.
        source = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if is_file else file.read()
    return source, path, is_file


def loads(source: str | bytes, name: str = "<string>", *, engine: Engine | None = None,
          parameters: Parameters | Mapping | str | os.PathLike | None = None,
          policy: str | None = None, limits: Mapping[str, int] | None = None,
          functions: Mapping[str, HostFunction] | None = None,
          pools: Pools | Mapping | None = None, oracle: bool = False, numerics: str | None = None,
          device: str | None = None, lazy: bool = False, specialization: str | None = None,
          specialization_count: int = 0,
          progress: Callable[[float], Any] | None = None, stop: Stop | None = None,
          timeout: float | None = None) -> Module:
    """As `load`, of MLIR or a model in memory. `name` stands in locations; external data of a model lies
    beside it.

    >>> import plimsoll as pl
    >>> pl.loads("func.func @one() -> i32 { %c = arith.constant 1 : i32 return %c : i32 }").one()
    1
    """
    if isinstance(source, str):
        source = source.encode()
    return _load(source, name, False, engine, parameters, policy, limits, functions, pools, oracle, numerics, device,
                 lazy, specialization, specialization_count, progress, stop, timeout)


def _load(source, name, is_file, engine, parameters, policy, limits, functions, pools, oracle, numerics, device, lazy,
          specialization, specialization_count, progress, stop, timeout) -> Module:
    """Of the source, or of the file `name` which has it."""
    recipe = _recipe(source, name, engine, parameters, policy, limits, functions, pools, oracle, numerics, device, lazy,
                     specialization, specialization_count)
    return within(f"the load of '{name}'", stop, timeout, lambda stop: Module(
        recipe, _native.module_load(*recipe.arguments(progress, stop, is_file))))


def _recipe(source, name, engine=None, parameters=None, policy=None, limits=None, functions=None, pools=None,
            oracle=False, numerics=None, device=None, lazy=False, specialization=None,
            specialization_count=0) -> _Recipe:
    if parameters is not None and not isinstance(parameters, Parameters):
        parameters = Parameters(parameters)
    if pools is not None and not isinstance(pools, Pools):
        pools = Pools(pools)
    return _Recipe(source, name, engine, {
        "parameters": parameters, "policy": policy, "limits": dict(limits or {}), "functions": dict(functions or {}),
        "pools": pools, "oracle": bool(oracle), "numerics": numerics, "device": device, "lazy": bool(lazy),
        "specialization": specialization, "specialization_count": specialization_count})


async def load_async(path: str | os.PathLike, **options) -> Module:
    """As `load`, on a thread of the engine: the event loop goes on meanwhile.

    Cancelling the task that awaits it stops the load, so that there is no `stop` among the options.
    As many loads run at once as the engine has threads, others wait for their turn.

    >>> import asyncio, plimsoll as pl
    >>> source = "func.func @one() -> i32 { %c = arith.constant 1 : i32 return %c : i32 }"
    >>> asyncio.run(pl.loads_async(source)).one()
    1
    """
    return await _load_async(lambda: _source_of(path), **options)


async def loads_async(source: str | bytes, name: str = "<string>", **options) -> Module:
    """As `loads`, in the way of `load_async`."""
    return await _load_async(lambda: (source.encode() if isinstance(source, str) else source, name, False), **options)


async def _load_async(source_of: Callable[[], tuple], *, progress: Callable[[float], Any] | None = None,
                      timeout: float | None = None, **options) -> Module:
    import asyncio  # which who awaits has
    if "stop" in options:
        raise TypeError("an asynchronous load has no stop: cancel the task that awaits it")
    if timeout is not None:
        check_timeout(timeout)

    stop = Stop()

    def begin():
        source, name, is_file = source_of()
        recipe = _recipe(source, name, **options)
        return recipe, _native.module_load_async(*recipe.arguments(progress, stop, is_file, timeout))

    try:
        # A pipe, or an engine that is not there yet, take their time.
        recipe, event = await asyncio.to_thread(begin)
        await ended(event)
    except asyncio.CancelledError:
        stop()
        raise
    return Module(recipe, _native.event_module(event))


def _load_function(recipe: _Recipe, name: str) -> Function:
    return recipe.load()[name]


def _reduce_function(self):
    return _load_function, (self._recipe, self.__name__)


def _tokenize_function(self):
    return "plimsoll.Function", self.__name__, self._recipe.token()


Function.__copy__ = lambda self: self
Function.__reduce__ = _reduce_function
Function.__dask_tokenize__ = _tokenize_function

