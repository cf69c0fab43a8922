"""Devices: accelerators of the program, with a compiler or a library of kernels in Python."""

from __future__ import annotations

import re
from typing import Any, Callable, Iterable

from . import _native
from .errors import InvalidArgumentError, UnimplementedError
from .host import KINDS, parse_signature

_HEAD = re.compile(r"func\.func @[^(]*\((.*)\) -> (.*) \{$", re.MULTILINE)


class Device:
    """An accelerator that this program brings to an engine: `Engine(devices=[...])`.

    `compile(name, text)` gets a piece of a program as the function `name` of a module in MLIR, linalg on tensors, whose
    last arguments are the destinations of its results. It returns code, as bytes, or None for what the device does not
    take: the host runs it then, unless the source gives it to the device. UnimplementedError says so with a reason, which
    `Module.explain` shows; anything else that is raised fails the load.
    `load(name, code)` makes a callable of the code, here or where a compiled module is loaded. It gets what the function
    in the text gets, arrays that are copies and may be kept, and returns its results: one as itself, several as a tuple.
    One of both may be None: a device that runs what was compiled elsewhere, or one that is elsewhere.

    `name` is that of a device of the target, or a new one. A module uses it by `plim.device` in its source or by
    `device=` of the load. `version` is that of the compiler: caches keep code for one. `kind`: "thread_safe", or
    "serial" for a device that runs one launch at a time. Both callables may be called on any thread, several at once.

    >>> import numpy as np, plimsoll as pl
    >>> def compile(name, text):
    ...     return b"negate" if "linalg.negf" in text else None
    >>> def load(name, code):
    ...     return lambda x, out: -x
    >>> engine = pl.Engine(devices=[pl.Device("npu", compile, load)])
    >>> module = engine.loads('''
    ... func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
    ...   %e = tensor.empty() : tensor<2xf32>
    ...   %r = linalg.negf ins(%x : tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
    ...   return %r : tensor<2xf32>
    ... }''', device="npu")
    >>> module.f(np.array([1, 2], np.float32))
    array([-1., -2.], dtype=float32)
    """

    def __init__(self, name: str, compile: Callable[[str, str], bytes | None] | None = None,
                 load: Callable[[str, bytes], Callable] | None = None, *, version: str = "", kind: str = "thread_safe"):
        for what, value in (("compile", compile), ("load", load)):
            if value is not None and not callable(value):
                raise InvalidArgumentError(f"{what}={value!r} cannot be called")
        if kind not in ("thread_safe", "serial"):
            raise InvalidArgumentError(f"no kind of device {kind!r}; there are thread_safe, serial")
        self.name, self.compile, self.load, self.version, self.kind = name, compile, load, version, kind
        self._handle = _native.device_create(name, version, KINDS[kind], compile and _Compile(compile), load and _Load(load))

    def __repr__(self):
        return f"<plimsoll.Device {self.name!r}>"

    def __reduce__(self):
        return _device, (self.name, self.compile, self.load, self.version, self.kind)


def _device(name, compile, load, version, kind):
    return Device(name, compile, load, version=version, kind=kind)


# Code has the signature of its function in front, since a load must know it: "(f32, ...) -> ..." and a newline.

class _Compile:
    def __init__(self, function):
        self.function = function

    def __call__(self, name: str, text: str) -> bytes | str:
        """The code, or the reason for which it is not taken."""
        head = _HEAD.search(text)
        if not head:
            return "plimsoll.Device does not know this signature"
        signature = "(" + re.sub(r"%\w+: ", "", head[1]) + ") -> " + head[2]
        try:
            parse_signature(signature)
            code = self.function(name, text)
        except UnimplementedError as reason:
            return str(reason)
        except InvalidArgumentError as reason:  # a type that NumPy does not have
            return str(reason)
        if code is None:
            return "the device does not take it"
        if not isinstance(code, (bytes, bytearray, memoryview)):
            raise TypeError(f"compile returned {type(code).__name__}, not bytes or None")
        return signature.encode() + b"\n" + bytes(code)


class _Load:
    def __init__(self, function):
        self.function = function

    def __call__(self, name: str, code: bytes) -> tuple:
        signature, _, code = code.partition(b"\n")
        arguments, results = parse_signature(signature.decode())
        function = self.function(name, code)
        if not callable(function):
            raise TypeError(f"load returned {type(function).__name__}, which cannot be called")
        return function, arguments, results


def device_handles(devices: Iterable[Any]) -> tuple:
    handles = []
    for device in devices:
        if not isinstance(device, Device):
            raise InvalidArgumentError(f"devices has {device!r}, which is no plimsoll.Device")
        handles.append(device._handle)
    return tuple(handles)
