"""Host functions: callables of Python that modules declare and call."""

from __future__ import annotations

import functools
import re
import sys
from typing import Callable, Mapping

from . import _native
from .errors import InvalidArgumentError

KINDS = {"thread_safe": 0, "serial": 1, "pure": 2}
# "tensor<?x4xf32>", "memref<?xi8, strided<[?], offset: ?>> readonly", "i1"
_type = re.compile(r"(?:(tensor|memref)<((?:(?:\?|\d+)x)*)(\w+)(?:, [^ ].*)?>|(\w+))"
                   r"(?: (readonly|writeonly|readwrite))?(?: as result \d+)?")
_accesses = {None: "rw", "readonly": "r", "writeonly": "w", "readwrite": "rw"}


def name_as(self, function: Callable) -> None:
    """`self`, which stands for a function, is called what that is called."""
    functools.update_wrapper(self, function, updated=())
    for name in ("__name__", "__qualname__"):  # which not every callable has
        if name not in self.__dict__:
            setattr(self, name, type(function).__name__)


def found_as(self) -> str | None:
    """The name that a decorated function is pickled as: the one that it is found under."""
    found = sys.modules.get(self.__module__)
    for name in self.__qualname__.split("."):
        found = getattr(found, name, None)
    return self.__qualname__ if found is self else None


class HostFunction:
    """A callable with the signature that modules declare it with; `host_function` makes one.

    It gets bool, int and float for scalars and arrays for tensors and memrefs, and returns its
    results: one as itself, several as a tuple. The arrays are copies and may be kept; those of
    memrefs that it may write are copied back. An exception fails the call of the module and is the
    `__cause__` of its error.
    """

    def __init__(self, function: Callable, signature: str, kind: str = "thread_safe"):
        if not callable(function):
            raise InvalidArgumentError(f"{function!r} cannot be called")
        if kind not in KINDS:
            raise InvalidArgumentError(
                f"no kind of host function {kind!r}; there are {', '.join(KINDS)}")
        if "->" not in signature:
            signature += " -> ()"
        self.function, self.signature, self.kind = function, signature, kind
        self._arguments, self._results = parse_signature(signature)
        name_as(self, function)

    def __call__(self, *arguments):
        return self.function(*arguments)

    def __repr__(self):
        return f"<plimsoll.HostFunction {self.__name__}{self.signature}, {self.kind}>"

    def __reduce__(self):
        return found_as(self) or (HostFunction, (self.function, self.signature, self.kind))


def host_function(signature: str, kind: str = "thread_safe"):
    """Makes a host function of a callable. `kind`: "thread_safe", "serial" or "pure".

    >>> import plimsoll as pl
    >>> @pl.host_function("(i32) -> i32")
    ... def twice(x):
    ...     return 2 * x
    >>> module = pl.loads('''
    ... func.func private @twice(i32) -> i32
    ... func.func @f(%x: i32) -> i32 {
    ...   %r = func.call @twice(%x) : (i32) -> i32
    ...   return %r : i32
    ... }''', functions={"twice": twice})
    >>> module.f(21)
    42
    """
    return lambda function: HostFunction(function, signature, kind)


def function_set(functions: Mapping[str, HostFunction] | None):
    """The handle of a set; None for none."""
    if not functions:
        return None
    handle = _native.host_functions_create()
    for name, function in functions.items():
        if not isinstance(function, HostFunction):
            raise InvalidArgumentError(
                f"functions[{name!r}] is no host function: give it a signature with "
                "plimsoll.host_function()")
        _native.host_functions_add(handle, name, function.function, KINDS[function.kind],
                                   function.signature, function._arguments, function._results)
    return handle


def parse_signature(signature: str):
    """((element type, rank, access), ...) of arguments and of results; rank -1 is a scalar."""
    arguments, arrow, results = signature.partition("->")
    arguments, results = arguments.strip(), results.strip()
    if not (arguments.startswith("(") and arguments.endswith(")")) or bool(arrow) != bool(results):
        raise InvalidArgumentError(
            f"{signature!r} is no signature, such as '(f32, memref<?xf32> readonly) -> i32'")
    if results.startswith("(") and results.endswith(")"):
        results = results[1:-1]
    return (tuple(_value(text, signature) for text in _split(arguments[1:-1])),
            tuple(_value(text, signature, "w") for text in _split(results)))


def _split(text: str) -> list[str]:
    """At the commas that are in no brackets."""
    parts, depth, start = [], 0, 0
    for position, character in enumerate(text):
        depth += (character in "<[(") - (character in ">])")
        if character == "," and depth == 0:
            parts.append(text[start:position])
            start = position + 1
    parts.append(text[start:])
    return [part.strip() for part in parts if part.strip()]


def _value(text: str, signature: str, access: str | None = None):
    match = _type.fullmatch(text)
    if not match:
        raise InvalidArgumentError(f"no type of a host function: {text!r} in {signature!r}")
    kind, extents, element, scalar, word = match.groups()
    if scalar:
        return scalar, -1, "r"
    access = access or ("r" if kind == "tensor" and word is None else _accesses[word])
    return element, extents.count("x"), access
