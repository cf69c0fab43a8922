"""Functions of modules: their signatures, and how they are called.

The type itself is native (`_native.Function`), for the sake of short calls; here is what Python
adds to it.
"""

from __future__ import annotations

import inspect
import keyword
from dataclasses import dataclass

from . import _native
from ._native import Function
from .errors import ArgumentTypeError

_DTYPES = {"i1": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64",
           "f16": "float16", "bf16": "uint16", "f32": "float32", "f64": "float64", "index": "int64",
           "f8E4M3FN": "uint8", "f8E5M2": "uint8",
           "complex<f32>": "complex64", "complex<f64>": "complex128", "i2": "int8", "i4": "int8"}


@dataclass(frozen=True)
class Type:
    """What a function expects, or gives: `kind` is "scalar", "tensor" (a value) or "memref"
    (memory).

    `shape` has an int for each extent, or None where the caller or the function chooses; `strides`
    the same in elements, None altogether for what is dense. `access` says what the function does
    with an argument: "readonly", "writeonly" or "readwrite". `donated_to` is the index of the
    result that takes the memory of the argument, or None. `name` is what the source calls an
    argument, `bounds` the least and the most of each extent (None: no most), which calls are
    checked for.
    """

    kind: str
    element_type: str
    shape: tuple[int | None, ...]
    strides: tuple[int | None, ...] | None
    access: str
    donated_to: int | None
    text: str
    name: str | None = None
    bounds: tuple[tuple[int, int | None], ...] | None = None

    @property
    def dtype(self) -> str:
        """What the elements are to NumPy; bf16 is uint16 there, floats of 8 bits are
        uint8, i2 and i4 int8."""
        return _DTYPES[self.element_type]

    def __str__(self):
        return self.text


@dataclass(frozen=True)
class Signature:
    """The types of the arguments and of the results.

    >>> import plimsoll as pl
    >>> module = pl.loads('''
    ... func.func @f(%x: tensor<?xf32>, %n: i32) -> tensor<?xf32> { return %x : tensor<?xf32> }''')
    >>> module.f.signature.arguments[0].shape
    (None,)
    >>> print(module.f.signature)
    (tensor<?xf32>, i32) -> tensor<?xf32>
    """

    arguments: tuple[Type, ...]
    results: tuple[Type, ...]

    def __str__(self):
        arguments = ", ".join(map(str, self.arguments))
        results = ", ".join(map(str, self.results))
        if len(self.results) > 1:
            results = f"({results})"
        return f"({arguments})" + (f" -> {results}" if results else "")


def printable(name: str) -> str:
    """A name of a module, which may be any bytes: those that are no text are escaped."""
    return name if name.isprintable() else ascii(name)[1:-1]


def _signature(self) -> Signature:
    """The types of arguments and results."""
    found = self.__dict__.get("_signature")
    if found is None:
        found = Signature(*(tuple(Type(*one) for one in types) for types in self._types()))
        self.__dict__["_signature"] = found
    return found


_OPTIONS = ("out", "state", "pools", "stop", "timeout")


def _names(self) -> list[str | None]:
    """By which arguments may be given: the source's; None where that has none that Python could write."""
    names: list[str | None] = []
    for type in self.signature.arguments:
        fits = (type.name and type.name.isidentifier() and not keyword.iskeyword(type.name)
                and type.name not in (*names, *_OPTIONS))
        names.append(type.name if fits else None)
    return names


def in_order(self, arguments, named, options=_OPTIONS) -> list:
    """The arguments of a call of which some are given by name, beside `options`."""
    names, values, function = _names(self), list(arguments), printable(self.__name__)
    for i, name in enumerate(names[:len(values)]):
        if name in named:
            raise ArgumentTypeError(f"argument #{i} of '{function}', {name}, is given twice")
    for name in named:
        if name not in names:
            import difflib  # which takes its time to load
            known = [*filter(None, names), *options]
            near = difflib.get_close_matches(name, known, 1)
            raise ArgumentTypeError(f"'{function}' has no keyword argument '{name}'; "
                                    + (f"did you mean '{near[0]}'?" if near
                                       else f"there are {', '.join(known)}" if known else "there are none"))
    for i, name in enumerate(names[len(values):], len(values)):
        if name not in named:
            raise ArgumentTypeError(f"'{function}' lacks argument #{i}" + (f", {name}" if name else ""))
        values.append(named[name])
    return values


def _by_name(self, arguments, keywords):
    options = {name: keywords.pop(name) for name in _OPTIONS if name in keywords}
    return self(*in_order(self, arguments, keywords), **options)


def _inspect_signature(self) -> inspect.Signature:
    kinds = inspect.Parameter
    names = _names(self)
    # In front of one without a name all are by position.
    by_position = max((i + 1 for i, name in enumerate(names) if name is None), default=0)
    parameters = [kinds(name or f"argument{i}",
                        kinds.POSITIONAL_ONLY if i < by_position else kinds.POSITIONAL_OR_KEYWORD,
                        annotation=str(type))
                  for i, (name, type) in enumerate(zip(names, self.signature.arguments))]
    parameters += [kinds(name, kinds.KEYWORD_ONLY, default=None)
                   for name in _OPTIONS]
    results = self.signature.results
    gives = str(results[0]) if len(results) == 1 else tuple(map(str, results)) or None
    return inspect.Signature(parameters, return_annotation=gives)


def _doc(self) -> str:
    return (f"{printable(self.__name__)}{self.signature}\n\n"
            "out: arrays for the results, one or a tuple; None where the call makes one.\n"
            "state: the variables of the call (Module.state()).\n"
            "pools: memories that it is lent (Pools).\n"
            "stop: ends the call when it is requested (Stop).\n"
            "timeout: seconds after which it is stopped, with DeadlineExceededError.")


def _workspace(self, *arguments, **named) -> tuple[int, int]:
    """Bytes that the temporaries of a call take, and what they are aligned to; without arguments,
    of any call.

    Of the arguments, given as in a call, the extents alone count.
    """
    return self._workspace(*(in_order(self, arguments, named, ()) if named else arguments))


def _specialize(self, *arguments, **named) -> None:
    """Makes code for the extents of these arguments, given as in a call, of which nothing else counts; later
    calls with them use it.

    Needs a module that was loaded with `specialization`.
    """
    self._specialize(*(in_order(self, arguments, named, ()) if named else arguments))


def _repr(self) -> str:
    return f"<plimsoll.Function {printable(self.__name__)}{self.signature}>"


Function.__repr__ = _repr
Function.__doc__ = property(_doc)
Function.__signature__ = property(_inspect_signature)
Function.signature = property(_signature)
Function.specialize = _specialize
Function.workspace = _workspace
Function._by_name = _by_name
