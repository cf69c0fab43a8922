"""Modules on many machines: blocks of Dask arrays and partitions of data frames.

The source travels, once to each worker; each worker compiles it for the machine that it runs on.
Tasks carry a name.

    client = distributed.Client("scheduler:8786")
    net = plimsoll.dask.deploy(plimsoll.load("net.mlir"))      # on all workers, and those to come
    scores = net.map_blocks("classify", images, drop_axis=1)   # a Dask array
    scores.compute()

Without a client the same runs in this process.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import threading
import uuid
from typing import Any, Mapping

import numpy as np

from .engine import Engine, Target
from .errors import InvalidArgumentError, NotFoundError
from .function import Function
from ._jit import Jit
from .module import Module, _Recipe

_lock = threading.Lock()
_installed: dict[str, _Slot] = {}  # in this process


class _Installed:
    """A module, or a function of `jit`, on a worker."""

    def __init__(self, payload: bytes, target, threads: int, cache):
        subject = pickle.loads(payload)
        engine = subject.engine
        options = dict(engine._options) if engine else {}
        options.update(target=target or options.get("target"), threads=threads,
                       cache=cache or options.get("cache"))
        self.engine = Engine(options.pop("target"), **options)
        self.calls = 0
        if isinstance(subject, _Recipe):
            self.module = _Recipe(subject.source, subject.name, self.engine, subject.options).load()
            self.functions = self.module.functions
        else:
            self.module = None
            self.functions = {"": subject.on(self.engine)}

    def report(self) -> dict:
        modules = [self.module] if self.module else self.functions[""].modules()
        return {"pid": os.getpid(), "target": self.engine.target.name,
                "cpu": self.engine.target.describe()["devices"][0]["cpu"], "calls": self.calls,
                "threads": self.engine.threads, "memory": self.engine.memory(),
                "load": [module.statistics() for module in modules],
                "placement": [module.explain() for module in modules]}


class _JitSource:
    """What a function of `jit` is made of again elsewhere."""

    def __init__(self, jit: Jit):
        self.jit, self.engine = jit, jit._engine

    def on(self, engine: Engine) -> Jit:
        jit = self.jit
        return Jit(jit._function, dynamic=jit._dynamic, static=jit._static, engine=engine,
                   options=jit._options)

    def __reduce__(self):
        import cloudpickle  # with distributed; for functions that no module has under their name
        jit = self.jit
        parts = jit._function, jit._dynamic, jit._static, jit._engine, jit._options
        return _jit_source, (cloudpickle.dumps(parts),)


def _jit_source(payload: bytes) -> _JitSource:
    function, dynamic, static, engine, options = pickle.loads(payload)
    return _JitSource(Jit(function, dynamic=dynamic, static=static, engine=engine, options=options))


class _Slot:
    """What the workers of one process share, for as long as one of them wants it."""

    def __init__(self):
        self.workers: set = set()
        self.lock = threading.Lock()  # of the one that compiles
        self.installed: _Installed | None = None


def _install(token: str, worker, payload: bytes, target, threads: int, cache) -> None:
    with _lock:
        slot = _installed.setdefault(token, _Slot())
        slot.workers.add(worker)
    try:
        with slot.lock:
            if slot.installed is None:
                slot.installed = _Installed(payload, target, threads, cache)
    except BaseException:
        _remove(token, worker)
        raise


def _remove(token: str, worker) -> None:
    with _lock:
        slot = _installed.get(token)
        if slot is not None:
            slot.workers.discard(worker)
            if not slot.workers:
                del _installed[token]


def _find(token: str) -> _Installed:
    slot = _installed.get(token)
    found = slot and slot.installed
    if found is None:
        raise NotFoundError("the module is not deployed on this worker, or was removed")
    return found


def _report(token: str) -> dict:
    return _find(token).report()


class Deployed:
    """A function on whatever worker a task runs: small, and the same everywhere."""

    def __init__(self, token: str, name: str):
        self._token, self.__name__ = token, name or "jit"
        self._name = name

    def __call__(self, *arrays):
        installed = _find(self._token)
        result = installed.functions[self._name](*arrays)
        with _lock:
            installed.calls += 1
        return result

    def __repr__(self):
        return f"<plimsoll.dask.Deployed {self.__name__}>"

    def __reduce__(self):
        return Deployed, (self._token, self._name)

    def __dask_tokenize__(self):
        return "plimsoll.dask.Deployed", self._token, self._name


class _Plugin:
    """Installs a module on a worker, when that starts or at once: a plugin of distributed."""

    def __init__(self, token: str, payload: bytes, targets, threads: int, cache):
        self.name = f"plimsoll-{token}"
        self._token, self._payload, self._targets = token, payload, targets
        self._threads, self._cache = threads, cache

    async def setup(self, worker):
        targets = self._targets
        if isinstance(targets, Mapping):
            targets = targets.get(worker.name, targets.get(worker.address))
        # The worker answers others meanwhile.
        await asyncio.to_thread(_install, self._token, worker.id, self._payload, targets,
                                self._threads, self._cache)

    def teardown(self, worker):
        _remove(self._token, worker.id)


class Deployment:
    """A module on all workers: `deploy` makes one. `deployment["f"]` goes into any graph."""

    def __init__(self, subject: Module | Jit, client, targets, threads: int, cache):
        self._subject, self._client = subject, client
        self._token = uuid.uuid4().hex
        source = subject._recipe if isinstance(subject, Module) else _JitSource(subject)
        payload = pickle.dumps(source)
        if client is None:
            target = None if isinstance(targets, Mapping) else targets
            _install(self._token, None, payload, target, threads, cache)
        else:
            client.register_worker_plugin(
                _Plugin(self._token, payload, targets, threads, cache), name=self._plugin)

    @property
    def _plugin(self) -> str:
        return f"plimsoll-{self._token}"

    def __getitem__(self, name: str) -> Deployed:
        if isinstance(self._subject, Module):
            self._subject[name]  # or NotFoundError
        return Deployed(self._token, name)

    def _function(self, name: str | None) -> tuple[Deployed, Function | None]:
        if isinstance(self._subject, Jit):
            return Deployed(self._token, ""), None
        if name is None:
            if len(self._subject) != 1:
                raise InvalidArgumentError(f"which function of {list(self._subject)}?")
            (name,) = self._subject
        return self[name], self._subject[name]

    def map_blocks(self, name: str | None, *arrays, dtype=None, **options):
        """A function on the blocks of Dask arrays: as `dask.array.map_blocks`, whose options it
        takes.

        `name` may be None where there is but one. Blocks must have the element types of the
        arguments.
        """
        import dask.array
        function, native = self._function(name)
        rank = None
        if native is not None:
            results = native.signature.results
            if len(results) != 1 or results[0].kind != "tensor":
                raise InvalidArgumentError(
                    f"'{native.__name__}' does not give one tensor: {native.signature}")
            dtype, rank = dtype or results[0].dtype, len(results[0].shape)
        elif dtype is None:
            raise InvalidArgumentError("dtype= of the blocks that a function of jit gives")
        if rank is not None:
            options.setdefault("meta", np.empty((0,) * rank, dtype))
        return dask.array.map_blocks(function, *arrays, dtype=dtype, **options)

    def map_partitions(self, name: str | None, frame, columns, result: str = "result", dtype=None):
        """A function on columns of each partition of a Dask data frame: a series called `result`,
        with the index of the frame."""
        import pandas
        function, native = self._function(name)
        if dtype is None:
            if native is None:
                raise InvalidArgumentError("dtype= of what a function of jit gives")
            dtype = native.signature.results[0].dtype
        meta = pandas.Series([], dtype=dtype, name=result, index=frame._meta.index)
        return frame.map_partitions(_on_columns, function, list(columns), result, meta=meta)

    def reports(self) -> dict[str, dict]:
        """Of each worker, by its address: the target, what loading took, every placement."""
        if self._client is None:
            return {"local": _report(self._token)}
        return self._client.run(_report, self._token)

    def remove(self) -> None:
        """Takes it off all workers."""
        if self._client is None:
            _remove(self._token, None)
        else:
            self._client.unregister_worker_plugin(self._plugin)

    def __repr__(self):
        where = "this process" if self._client is None else "the workers of a client"
        return f"<plimsoll.dask.Deployment of {self._subject!r} on {where}>"


def _on_columns(partition, function, columns, name):
    import pandas
    arrays = [partition[column].to_numpy() for column in columns]
    return pandas.Series(function(*arrays), index=partition.index, name=name)


def deploy(module: Module | Jit, client=None, *, targets: Target | str | Mapping | None = None,
           threads: int = 1, cache: str | None = None) -> Deployment:
    """Ships a module, or a function of `jit`, to every worker of a client, present and to come.

    `client`: that of `distributed`, the current one unless told; without any, this process.
    `targets`: what workers compile for: their own machine unless told; one target for all, or one
    for each by the name or the address of the worker.
    `threads`: of one call; Dask runs as many calls at a time as a worker has threads.
    `cache`: a folder, on the workers, that keeps compiled code.

    >>> import numpy as np, plimsoll as pl, plimsoll.dask, dask.array
    >>> module = pl.loads('''
    ... func.func @twice(%x: tensor<?xf32>) -> tensor<?xf32> {
    ...   %r = arith.addf %x, %x : tensor<?xf32>
    ...   return %r : tensor<?xf32>
    ... }''')
    >>> x = dask.array.arange(6, chunks=2, dtype=np.float32)
    >>> pl.dask.deploy(module).map_blocks("twice", x).compute(scheduler="threads")
    array([ 0.,  2.,  4.,  6.,  8., 10.], dtype=float32)
    """
    if not isinstance(module, (Module, Jit)):
        raise InvalidArgumentError(f"a module or a function of jit is deployed, not {module!r}")
    if client is None:
        try:
            from distributed import get_client
            client = get_client()
        except (ImportError, ValueError):
            pass
    return Deployment(module, client, targets, threads, cache)
