"""What modules and calls are lent: parameters, pools, states, and requests to stop."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping

import numpy as np

from . import _native
from ._native import Buffer
from .errors import InvalidArgumentError
from .function import printable


class Parameters(Mapping):
    """Constants that a module only names, and that get their values when it is loaded.

    Of arrays by name, of a .safetensors file, or of both. Nothing is copied: do not write the
    arrays while a module lives that has them. A file stays mapped.

    >>> import numpy as np, plimsoll as pl
    >>> parameters = pl.Parameters({"w": np.ones((2, 2), np.float32)})
    >>> parameters
    <plimsoll.Parameters w: 2x2xf32>
    >>> parameters["w"].shape
    (2, 2)
    """

    def __init__(self, *sources: Mapping | str | os.PathLike):
        self._handle = _native.parameters_create()
        for source in sources:
            if isinstance(source, Mapping):
                for name, value in source.items():
                    if isinstance(value, (str, os.PathLike)):
                        _native.parameters_load_npy(self._handle, name, os.fsencode(value))
                    else:
                        _native.parameters_set(self._handle, name, _buffer(value, name))
            elif isinstance(source, (str, os.PathLike)):
                _native.parameters_load_safetensors(self._handle, os.fsencode(source))
            else:
                raise InvalidArgumentError(
                    "parameters are arrays by name or the path of a .safetensors file, "
                    f"not {source!r}")

    def buffer(self, name: str) -> Buffer:
        """The value of `name` with its element type."""
        return _native.parameters_get(self._handle, name)

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self:
            raise KeyError(name)
        return self.buffer(name).array

    def __contains__(self, name) -> bool:
        return name in _native.parameters_names(self._handle)

    def __iter__(self) -> Iterator[str]:
        return iter(_native.parameters_names(self._handle))

    def __len__(self) -> int:
        return len(_native.parameters_names(self._handle))

    def __repr__(self):
        values = (f"{printable(name)}: {_brief(self.buffer(name))}" for name in self)
        return f"<plimsoll.Parameters {', '.join(values)}>"

    def __reduce__(self):
        values = {name: (self[name], self.buffer(name).element_type) for name in self}
        return _parameters_of, (values,)

    def token(self) -> str:
        """Equal for equal parameters."""
        found = hashlib.sha256()
        for name in self:
            array = self[name]
            found.update(f"{name}\0{_brief(self.buffer(name))}\0".encode(errors="surrogateescape"))
            found.update(np.ascontiguousarray(array).view(np.uint8).data if array.size else b"")
        return found.hexdigest()


def _brief(buffer: Buffer) -> str:
    return "x".join(map(str, (*buffer.shape, buffer.element_type)))


def _buffer(value, name: str) -> Buffer:
    try:
        return Buffer(value)
    except InvalidArgumentError as error:
        raise type(error)(f"parameter '{name}': {error}") from None


def _parameters_of(values) -> Parameters:
    return Parameters({name: Buffer(array, element) for name, (array, element) in values.items()})


class Pools:
    """Memories that the target names and that modules put allocations into: bytes by name.

    Each is a writable, dense array (or a bytearray, or an int: so many bytes are made), aligned to
    64 bytes.

    >>> import plimsoll as pl
    >>> pl.Pools({"sram": 4096})
    <plimsoll.Pools sram: 4096 bytes>
    """

    def __init__(self, memories: Mapping):
        self._handle = _native.pools_create()
        self._memories = {}
        for name, memory in memories.items():
            self._memories[name] = memory = _pool(name, memory)
            _native.pools_set(self._handle, name, memory)

    def __getitem__(self, name: str) -> np.ndarray:
        return self._memories[name]

    def __repr__(self):
        pools = (f"{printable(name)}: {memory.nbytes} bytes"
                 for name, memory in self._memories.items())
        return f"<plimsoll.Pools {', '.join(pools)}>"

    def __reduce__(self):
        # Bytes of a pool mean nothing between calls: as many travel.
        return Pools, ({name: memory.nbytes for name, memory in self._memories.items()},)


def _pool(name: str, memory) -> np.ndarray:
    if isinstance(memory, int):
        room = np.empty(memory + 63, np.uint8)
        start = -room.ctypes.data % 64
        return room[start:start + memory]
    array = memory if isinstance(memory, np.ndarray) else np.frombuffer(memory, np.uint8)
    if not array.flags.c_contiguous or not array.flags.writeable:
        raise InvalidArgumentError(f"pool '{name}' must be dense and writable")
    return array


class State:
    """What the variables of a module hold, for one stream of calls: `module.state()`.

    Its values are arrays over the memory of the variables, which calls write.
    """

    def __init__(self, handle, engine):
        self._handle = handle
        self._engine = engine

    def __getitem__(self, name: str) -> np.ndarray:
        return _native.state_variable(self._handle, name).array

    def reset(self) -> None:
        """Every variable is again what it was in the beginning. Not while a call runs with it."""
        _native.state_reset(self._handle)


class Stop:
    """Asks calls to end early: `function(x, stop=stop)`, and from another thread `stop()`."""

    def __init__(self):
        self._handle = _native.stop_create()

    def __call__(self) -> None:
        """Asks all calls that have it, and all that come, to end. It cannot be taken back."""
        _native.stop_request(self._handle)

    @property
    def requested(self) -> bool:
        return _native.stop_is_requested(self._handle)

    def __repr__(self):
        return f"<plimsoll.Stop{', requested' if self.requested else ''}>"
