"""Targets and engines: what code is compiled for, and what compiles and runs it."""

from __future__ import annotations

import functools
import json
import os
import threading
import weakref
from typing import TYPE_CHECKING, Any, Iterable, Mapping

import numpy as np

from . import _native
from .device import Device, device_handles
from .errors import InvalidArgumentError
from .host import HostFunction, function_set
from .report import Report

if TYPE_CHECKING:
    import logging

_specializations = {None: 0, "none": 1, "on_request": 2, "hot": 3}
_isolations = {"none": 0, "worker": 1, "shared": 2}
_numerics = {None: 0, "default": 1, "strict": 2}
_cores = {None: 0, "performance": 1, "efficiency": 2}


def handle_of(value):
    """What the library has of an optional value; an empty mapping is one too."""
    return None if value is None else value._handle


def choice(names: Mapping, value, what: str) -> int:
    """The number of a name; InvalidArgumentError for one that there is none of."""
    if value not in names:
        there = ", ".join(repr(name) for name in names if name)
        raise InvalidArgumentError(f"{what} is {value!r}; there are {there}")
    return names[value]


def check_range(name: str, value: int, bits: int = 32) -> None:
    """InvalidArgumentError unless it fits into `bits`, without a sign."""
    if not 0 <= value < 1 << bits:
        raise InvalidArgumentError(f"{name} is {value}; it must be 0 to {(1 << bits) - 1}")


def specialization_number(value: str | None) -> int:
    return choice(_specializations, value, "specialization")


def numerics_number(value: str | None) -> int:
    return choice(_numerics, value, "numerics")


_levels = (5, 10, 20, 30, 40)  # of logging, for those of the library


class Target:
    """Everything that the compiler may assume about a machine.

    `name`: "host-cpu", this machine without its accelerators; "host", with them, such as the GPUs "vulkan0"
    and "cuda0" that loads may name (`device=`); a tag such as "x86-64-v3"; or the path of a target in JSON. `overrides` go on top of it, with the paths of the
    JSON.

    >>> import plimsoll as pl
    >>> target = pl.Target("x86-64-v3", {"devices.host.vector_bits": 128})
    >>> target
    <plimsoll.Target 'x86-64-v3' devices.host.vector_bits=128>
    >>> target.describe()["devices"][0]["vector_bits"]
    128

    Pickled, a name travels: "host-cpu" is another machine elsewhere. What came from JSON travels
    whole.
    """

    def __init__(self, name: str = "host-cpu", overrides: Mapping[str, Any] | None = None):
        self.name = os.fspath(name)
        self.overrides = dict(overrides or {})
        self._json = None
        self._handle = _native.target_create(
            self.name, tuple(f"{path}={_text(value)}" for path, value in self.overrides.items()))

    @staticmethod
    def list() -> list[dict]:
        """The names that there are, and what they mean.

        >>> import plimsoll as pl
        >>> "x86-64-v3" in [target["name"] for target in pl.Target.list()]
        True
        """
        return json.loads(_native.target_list())

    @classmethod
    def from_json(cls, text: str) -> Target:
        """The target that a JSON text describes: `target.describe().text` of another machine."""
        self = object.__new__(cls)
        self.name, self.overrides, self._json = "json", {}, text
        self._handle = _native.target_from_json(text)
        return self

    def describe(self) -> Report:
        """All that is known of it."""
        return Report(_native.target_describe(self._handle))

    def __repr__(self):
        overrides = "".join(f" {path}={_text(value)}" for path, value in self.overrides.items())
        return f"<plimsoll.Target {self.name!r}{overrides}>"

    def __eq__(self, other):
        return isinstance(other, Target) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def _key(self):
        overrides = tuple((path, _text(value)) for path, value in self.overrides.items())
        return self.name, overrides, self._json

    def __reduce__(self):
        if self.name.endswith(".json"):
            return Target.from_json, (self.describe().text,)
        if self._json is not None:
            return Target.from_json, (self._json,)
        return Target, (self.name, self.overrides)


def _text(value) -> str:
    return json.dumps(value) if isinstance(value, (bool, list, dict)) else str(value)


def limit_texts(limits: Mapping[str, int] | None) -> tuple[str, ...]:
    return tuple(f"{name}={value}" for name, value in (limits or {}).items())


class Engine:
    """Compiles modules for one target and runs them on threads of its own.

    `threads`: those that work at once on one call, the caller included; 0: all that the process may
    use.
    `policy`: where temporaries live: "auto", "stack", "workspace", "heap", "fixed:N".
    `limits`: by name. Stack limits, stronger than the target's: max_stack_alloca_bytes,
    stack_budget_bytes, workspace_alignment. What a source may hold, one with more is refused:
    max_text_bytes (2**30), max_operations (1,000,000), max_rank (64), max_vector_elements (16384),
    max_constant_bytes (2**32).
    `numerics`: "default": products may be contracted with sums, sums over many elements be taken in
    another order, and in f32 where they are of f16 or bf16, and functions such as exp have errors of up to
    four units in the last place. "strict": every operation rounds as the source says, in its order.
    `cache`: a folder that keeps compiled code, at most `cache_bytes` (0: 1 GiB).
    `functions`: host functions for all modules, by name (`host_function`).
    `devices`: accelerators that the program brings (`Device`). GPUs of the target "host" need nobody to bring them.
    `checked`: looks for accesses out of range while code runs; slow.
    `debugger`, `perf_map`: GDB, perf see the names of generated code.
    `counters`, `trace`: count and time calls: `statistics()`, `trace()`.
    `log`: a logger; that of the package, "plimsoll", unless told.
    `cores`, `numa_node`: where threads run: on "performance" or "efficiency" cores, on a node.
    `specialization`: which extents get code of their own where the source leaves them open: "none",
    those of `Function.specialize` ("on_request"), or those too that calls keep coming with ("hot");
    at most `specialization_count` (0: 8) at a time.

    `isolation`: "worker": sources are compiled in processes of their own, at most as many as threads, each
    with `compile_memory` bytes of address space (0: 16 GiB) and `compile_deadline` seconds for a source;
    what a source does to the compiler is an exception (`InternalError` if it ended it), and the next one
    works. "shared": the same in processes that all engines with "shared" and an equal `compile_memory` use.
    "none": in this process.

    Engines are pickled as their options. A child of fork() must not use those of its parent: it
    gets an error, and makes its own.

    >>> import plimsoll as pl
    >>> engine = pl.Engine(threads=1, policy="heap")
    >>> engine
    <plimsoll.Engine for 'host-cpu', 1 thread, policy 'heap'>
    """

    def __init__(self, target: Target | str | None = None, *, threads: int = 0,
                 policy: str | None = None, limits: Mapping[str, int] | None = None,
                 cache: str | os.PathLike | None = None, cache_bytes: int = 0,
                 functions: Mapping[str, HostFunction] | None = None, devices: Iterable[Device] = (),
                 checked: bool = False,
                 debugger: bool = False, perf_map: bool = False, counters: bool = False,
                 trace: bool = False, log: logging.Logger | None = None,
                 cores: str | None = None, numa_node: int | None = None,
                 specialization: str | None = None, specialization_count: int = 0,
                 numerics: str | None = None, isolation: str = "worker",
                 compile_memory: int = 0, compile_deadline: float | None = None):
        if isinstance(target, str):
            target = Target(target)
        self._options = {
            "target": target, "threads": threads, "policy": policy, "limits": dict(limits or {}),
            "cache": None if cache is None else os.fspath(cache), "cache_bytes": cache_bytes,
            "functions": dict(functions or {}), "devices": tuple(devices), "checked": checked, "debugger": debugger,
            "perf_map": perf_map, "counters": counters, "trace": trace, "log": log,
            "cores": cores, "numa_node": numa_node, "specialization": specialization,
            "specialization_count": specialization_count, "numerics": numerics,
            "isolation": isolation, "compile_memory": compile_memory,
            "compile_deadline": compile_deadline}
        for name, value, bits in (("threads", threads, 32), ("cache_bytes", cache_bytes, 64),
                                  ("numa_node", numa_node or 0, 32),
                                  ("specialization_count", specialization_count, 32),
                                  ("compile_memory", compile_memory, 64)):
            check_range(name, value, bits)
        flags = sum(1 << bit for bit, on in enumerate(
            (checked, debugger, perf_map, counters, trace)) if on)
        flags |= 0 if numa_node is None else 1 << 6
        log = log or _package_logger()
        level = next((i for i, level in enumerate(_levels) if log.isEnabledFor(level)), None)

        def write(level, message):
            log.log(_levels[level], "%s", message)

        self._handle = _native.engine_create(
            flags, handle_of(target), threads, policy, limit_texts(limits),
            self._options["cache"], cache_bytes, None if level is None else write, level or 0,
            function_set(functions), choice(_cores, cores, "cores"), numa_node or 0,
            specialization_number(specialization), specialization_count,
            numerics_number(numerics), choice(_isolations, isolation, "isolation"), compile_memory,
            0 if compile_deadline is None else max(1, round(compile_deadline * 1e9)),
            device_handles(self._options["devices"]))

    @property
    def target(self) -> Target:
        """What it compiles for."""
        target = self._options["target"]
        if target is None:
            target = object.__new__(Target)
            target.name, target.overrides, target._json = "host-cpu", {}, None
            target._handle = _native.engine_target(self._handle)
        return target

    @property
    def threads(self) -> int:
        """Threads that work at once on one call, the caller included."""
        return _native.engine_threads(self._handle)

    def load(self, path, **options):
        """As `plimsoll.load`, with this engine."""
        from .module import load
        return load(path, engine=self, **options)

    def loads(self, source, name: str = "<string>", **options):
        """As `plimsoll.loads`, with this engine."""
        from .module import loads
        return loads(source, name, engine=self, **options)

    async def load_async(self, path, **options):
        """As `plimsoll.load_async`, with this engine."""
        from .module import load_async
        return await load_async(path, engine=self, **options)

    async def loads_async(self, source, name: str = "<string>", **options):
        """As `plimsoll.loads_async`, with this engine."""
        from .module import loads_async
        return await loads_async(source, name, engine=self, **options)

    def compile(self, source: str | bytes, name: str = "<string>", *, policy: str | None = None,
                limits: Mapping[str, int] | None = None, oracle: bool = False,
                numerics: str | None = None, device: str | None = None) -> bytes:
        """Machine code for the target of the engine, which `load` and `loads` take in place of a
        source.

        For this version of the library, here or elsewhere. Parameters, functions and pools are
        bound when it is loaded. It is trusted: load only your own. Code for a `device`, as in `load`, is
        in it; the GPU and its driver need not be here.

        >>> import plimsoll as pl
        >>> source = "func.func @one() -> i32 { %c = arith.constant 1 : i32 return %c : i32 }"
        >>> pl.loads(pl.default_engine().compile(source)).one()
        1
        """
        source = source.encode() if isinstance(source, str) else source
        return _native.module_compile(self._handle, source, name, int(oracle), policy,
                                      limit_texts(limits), numerics_number(numerics), device, None)

    def export(self, source: str | bytes, export_name: str, name: str = "<string>", *, policy: str | None = None,
               limits: Mapping[str, int] | None = None, numerics: str | None = None,
               device: str | None = None) -> tuple[bytes, str]:
        """An object and a C header for a program without this library, on the machine of the engine's target.

        `export_name` and "_" stand in front of the names in the header.

        >>> import plimsoll as pl
        >>> source = "func.func @one() -> i32 { %c = arith.constant 1 : i32 return %c : i32 }"
        >>> code, header = pl.Engine("cortex-m7").export(source, "numbers")
        >>> "numbers_one(" in header
        True
        """
        source = source.encode() if isinstance(source, str) else source
        code, header = _native.module_compile(self._handle, source, name, 0, policy, limit_texts(limits),
                                              numerics_number(numerics), device, export_name)
        return code, header.decode()

    def empty(self, shape, element_type: str = "f32") -> np.ndarray:
        """An array in memory of the engine, aligned for vectors, with arbitrary elements."""
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        return _native.engine_allocate(self._handle, element_type, shape).array

    def memory(self) -> dict[str, int]:
        """Bytes of all calls: live, peak and kept, and how many blocks there were."""
        return _native.engine_memory(self._handle)

    def trim(self) -> None:
        """Gives all memory that is kept for later calls back to the system."""
        _native.engine_trim(self._handle)

    def statistics(self) -> Report:
        """What was counted so far; calls only with `counters` or `trace`."""
        return Report(_native.engine_statistics(self._handle))

    def trace(self) -> Report:
        """What ran when, as ui.perfetto.dev reads its text. Needs `trace`."""
        return Report(_native.engine_trace(self._handle))

    def __repr__(self):
        threads = self.threads
        policy = self._options["policy"]
        return (f"<plimsoll.Engine for {self.target.name!r}, {threads} thread{'s'[:threads != 1]}"
                + (f", policy {policy!r}>" if policy else ">"))

    def __reduce__(self):
        if self is _default.get(_native.fork_generation()):
            return default_engine, ()
        return _engine_with, (tuple(self._options.items()),)

    def __dask_tokenize__(self):
        options = dict(self._options)
        options["target"] = options["target"] and options["target"]._key()
        options["log"] = options["log"] and options["log"].name
        return "plimsoll.Engine", sorted(options.items())


@functools.cache
def _package_logger() -> logging.Logger:
    import logging  # which takes its time to load
    logger = logging.getLogger("plimsoll")
    logger.addHandler(logging.NullHandler())
    return logger


_lock = threading.RLock()
_default: dict[int, Engine] = {}  # by the generation of fork()
_unpickled: weakref.WeakValueDictionary = weakref.WeakValueDictionary()


def default_engine() -> Engine:
    """The engine of modules that name none: this machine, with all its threads. Made when it is
    needed.

    After fork() the child makes another.
    """
    generation = _native.fork_generation()
    with _lock:
        if generation not in _default:
            _default[generation] = Engine()
        return _default[generation]


def _engine_with(items) -> Engine:
    """An engine with these options: what is pickled twice is one engine."""
    options = dict(items)
    target = options.pop("target")
    if options["functions"] or options["devices"] or options["log"]:
        return Engine(target, **options)  # nobody knows whether those are equal
    key = _native.fork_generation(), target and target._key(), repr(sorted(options.items()))
    with _lock:
        engine = _unpickled.get(key)
        if engine is None:
            engine = _unpickled[key] = Engine(target, **options)
        return engine


def _after_fork():
    global _lock
    _lock = threading.RLock()  # another thread may have had it


os.register_at_fork(after_in_child=_after_fork)
