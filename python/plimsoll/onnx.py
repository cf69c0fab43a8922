"""Sessions on ONNX models, as users of ONNX Runtime know them.

>>> import plimsoll.onnx as ort                                     # doctest: +SKIP
>>> session = ort.InferenceSession("model.onnx")                    # doctest: +SKIP
>>> [logits] = session.run(["logits"], {"image": image})            # doctest: +SKIP

A session is a module and what the model calls its inputs and outputs; `plimsoll.load` gives the module alone, whose
calls cost less. Any thread may run one, several at once.
"""

from __future__ import annotations

import difflib
import mmap
import os
import warnings
from dataclasses import dataclass
from typing import Any, Mapping, Sequence

import numpy as np

from .engine import Engine
from .errors import DataLossError, InvalidArgumentError
from .module import Module, loads
from .module import load as load_module

# TensorProto.DataType: what ONNX Runtime calls it, and the array's type.
_TYPES = {1: ("float", "float32"), 2: ("uint8", "uint8"), 3: ("int8", "int8"), 4: ("uint16", "uint16"),
          5: ("int16", "int16"), 6: ("int32", "int32"), 7: ("int64", "int64"), 8: ("string", "object"), 9: ("bool", "bool"),
          10: ("float16", "float16"), 11: ("double", "float64"), 12: ("uint32", "uint32"), 13: ("uint64", "uint64"),
          16: ("bfloat16", "uint16"), 17: ("float8e4m3fn", "uint8"), 18: ("float8e4m3fnuz", "uint8"), 19: ("float8e5m2", "uint8"),
          20: ("float8e5m2fnuz", "uint8"), 21: ("uint4", "uint8"), 22: ("int4", "int8"), 23: ("float4e2m1", "uint8"),
          24: ("float8e8m0", "uint8"), 25: ("uint2", "uint8"), 26: ("int2", "int8")}
# Floats that NumPy does not have and modules do: their bits are passed as they are.
_FLOATS = {f"tensor({name})" for name in ("bfloat16", "float8e4m3fn", "float8e5m2")}


@dataclass(frozen=True)
class NodeArg:
    """An input or output. `shape` has an int for each extent, its name as a str if it is open, or None if it has none;
    it is empty where the model says nothing. `type` is "tensor(float)" and the like."""

    name: str
    shape: list
    type: str
    dtype: str

    def __str__(self):
        return f"NodeArg(name='{self.name}', type='{self.type}', shape={self.shape})"


class SessionOptions:
    """What a session is made with. `intra_op_num_threads`: 0 for all. The other fields are there for programs that set
    them, and change nothing: there is one way to optimise, and one to run."""

    def __init__(self):
        self.intra_op_num_threads = 0
        self.inter_op_num_threads = 0
        self.graph_optimization_level = 99
        self.execution_mode = 0
        self.enable_profiling = False
        self.log_severity_level = 2

    def add_session_config_entry(self, key: str, value: str) -> None:
        """Changes nothing."""


def get_available_providers() -> list[str]:
    return ["CPUExecutionProvider"]


def get_device() -> str:
    return "CPU"


class InferenceSession:
    """A model that is ready to be run.

    `path_or_bytes`: a file, or what one holds. `engine`, and all that `plimsoll.load` takes, by name; an engine that is
    given counts instead of `sess_options`. `providers`: those that are not here are told by a warning; the processor runs
    the model, or the `device` that is given.
    """

    def __init__(self, path_or_bytes: str | os.PathLike | bytes, sess_options: SessionOptions | None = None,
                 providers: Sequence | None = None, provider_options: Sequence[Mapping] | None = None, *,
                 engine: Engine | None = None, **options: Any):
        for provider in providers or ():
            name = provider if isinstance(provider, str) else provider[0]
            if name not in get_available_providers():
                warnings.warn(f"there is no {name}; there is CPUExecutionProvider", stacklevel=2)
        if engine is None and sess_options is not None and sess_options.intra_op_num_threads:
            engine = Engine(threads=sess_options.intra_op_num_threads)
        name, path = "<model>", None
        if not isinstance(path_or_bytes, (bytes, bytearray, memoryview)):
            name = path = os.fspath(path_or_bytes)
            with open(path, "rb") as file:
                # An empty file cannot be mapped.
                path_or_bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if os.fstat(file.fileno()).st_size \
                    else b""
        if bytes(path_or_bytes[:1]) != b"\x08":
            raise InvalidArgumentError(f"{name}: is no ONNX model")
        self.module: Module = load_module(path, engine=engine, **options) if path is not None \
            else loads(path_or_bytes, name, engine=engine, **options)
        self._main = self.module["main"]
        try:
            self._inputs, self._outputs = _interface(path_or_bytes)
        except (IndexError, KeyError, UnicodeDecodeError) as error:
            raise DataLossError(f"{name}: the names of its inputs cannot be read: {error!r}") from error
        self._names = {each.name: i for i, each in enumerate(self._inputs)}
        self._shares = _shares(self._outputs, len(self._main.signature.results))

    def get_inputs(self) -> list[NodeArg]:
        return list(self._inputs)

    def get_outputs(self) -> list[NodeArg]:
        return list(self._outputs)

    def get_providers(self) -> list[str]:
        return get_available_providers()

    def run(self, output_names: Sequence[str] | None, input_feed: Mapping[str, Any], run_options: Any = None) -> list:
        """The outputs of these names, or all, in order; a sequence is a list. ValueError for a name that the model does
        not have and for an input that is missing; otherwise the errors of a call."""
        for name in input_feed:
            if name not in self._names:
                raise ValueError(f"the model has no input '{name}'{_hint(name, self._names)}")
        arguments = []
        for each in self._inputs:
            if each.name not in input_feed:
                raise ValueError(f"input '{each.name}' is missing")
            value = np.asarray(input_feed[each.name])
            # Integers have no sign inside.
            arguments.append(value.view(value.dtype.name[1:]) if value.dtype.kind == "u" and value.dtype.name == each.dtype
                             and each.type not in _FLOATS else value)
        positions = range(len(self._outputs))
        if output_names is not None:
            names = [each.name for each in self._outputs]
            for name in output_names:
                if name not in names:
                    raise ValueError(f"the model has no output '{name}'{_hint(name, names)}")
            positions = [names.index(name) for name in output_names]
        results = self._main(*arguments)
        results = list(results) if isinstance(results, tuple) else [] if results is None else [results]
        return [self._output(results, i) for i in positions]

    def _output(self, results: list, position: int):
        output, (begin, end) = self._outputs[position], self._shares[position]
        arrays = [np.asarray(each, output.dtype if np.ndim(each) == 0 and output.dtype != "object" else None)
                  for each in results[begin:end]]
        if output.dtype.startswith("uint"):
            arrays = [each.view(output.dtype) for each in arrays]
        return arrays if output.type.startswith("seq") else arrays[0]

    def __repr__(self):
        return f"<plimsoll.onnx.InferenceSession {self.module.name!r}>"


def load(path: str | os.PathLike | bytes, **options: Any) -> InferenceSession:
    """A session; `options` are those of `InferenceSession`."""
    return InferenceSession(path, **options)


def _hint(name, names) -> str:
    near = difflib.get_close_matches(name, list(names), 1)
    return f"; did you mean '{near[0]}'?" if near else f"; there are {', '.join(names)}" if names else ""


def _shares(outputs, count) -> list:
    """Which results an output is: one, but all that are left for the one that is a sequence."""
    rest = count - sum(not each.type.startswith("seq") for each in outputs)
    shares, at = [], 0
    for each in outputs:
        size = rest if each.type.startswith("seq") else 1
        shares.append((at, at + size))
        at += size
    return shares


# The interface of a graph, read from its bytes: https://protobuf.dev/programming-guides/encoding and onnx.proto.

def _varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def _fields(data, begin, end):
    """Numbers of fields with an integer, or with where its bytes begin and end."""
    at = begin
    while at < end:
        key, at = _varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = _varint(data, at)
        else:
            size, at = _varint(data, at) if kind == 2 else ({1: 8, 5: 4}[kind], at)
            value, at = (at, at + size), at + size
        yield key >> 3, value


def _child(data, span, number):
    return next((value for field, value in _fields(data, *span) if field == number), None)


def _text(data, span) -> str:
    return bytes(data[span[0]:span[1]]).decode() if span else ""


def _extent(data, span):
    for number, value in _fields(data, *span):
        if number == 1:
            return value
        if number == 2:
            return _text(data, value)
    return None


def _argument(data, span) -> NodeArg:
    name, kind = _text(data, _child(data, span, 1)), _child(data, span, 2)
    form = "{}"
    for wrapper, outer in ((9, "optional({})"), (4, "seq({})")):  # TypeProto.optional_type, .sequence_type
        if kind and (inner := _child(data, kind, wrapper)):
            kind, form = _child(data, inner, 1), form.format(outer)
    tensor = _child(data, kind, 1) if kind else None
    if not tensor:
        return NodeArg(name, [], form.format("unknown"), "object")
    element, dtype = _TYPES.get(_child(data, tensor, 1), ("unknown", "object"))
    shape = _child(data, tensor, 2)
    extents = [_extent(data, each) for number, each in (_fields(data, *shape) if shape else ()) if number == 1]
    return NodeArg(name, extents, form.format(f"tensor({element})"), dtype)


def _interface(data):
    """Inputs, without initialisers that are listed among them, and outputs."""
    graph = _child(data, (0, len(data)), 7)
    initialisers, inputs, outputs = set(), [], []
    for number, value in _fields(data, *graph):
        if number == 5:
            initialisers.add(_text(data, _child(data, value, 8)))
        elif number == 11:
            inputs.append(_argument(data, value))
        elif number == 12:
            outputs.append(_argument(data, value))
    return [each for each in inputs if each.name not in initialisers], outputs
