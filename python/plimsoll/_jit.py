"""Functions that are traced: for which arguments which code is there.

The function runs once for each signature with arrays that write down what is done with them; what
they wrote is a module over tensors. Nothing of Python runs when it is called again.
"""

from __future__ import annotations

import difflib
import functools
import inspect
import os
import threading
import weakref
from typing import Callable

import numpy as np

from . import _native, _trace
# They say what NumPy's functions are.
from . import _composed, _elements, _products, _reductions, _shapes, _sorting
from ._dims import Dim, Known, identical, symbol, value_of
from ._emit import Value, element_of, native_order, type_of
from .engine import Engine
from .host import found_as, name_as
from .module import Module, loads


_all: weakref.WeakSet[Jit] = weakref.WeakSet()


def _after_fork():
    for each in _all:
        each._lock = threading.RLock()  # another thread may have had it


os.register_at_fork(after_in_child=_after_fork)


class Jit:
    """A function that is compiled when it is called: `plimsoll.jit` makes one."""

    def __init__(self, function: Callable, *, dynamic: bool, static: tuple, engine: Engine | None,
                 options: dict):
        self._function, self._dynamic = function, dynamic
        self._static = _both_ways(function, static)
        self._engine, self._options = engine, options
        self._compiled: dict = {}
        self._known: dict = {}  # extents that must be numbers
        self._lock = threading.RLock()
        name_as(self, function)
        _all.add(self)

    def __call__(self, *arguments, **keywords):
        leaves, form = self._flatten(arguments, keywords)
        if leaves is not arguments and any(isinstance(leaf, (_trace.Traced, Dim))
                                           for leaf in leaves):
            return self._function(*arguments, **keywords)  # part of another that is traced
        return self._compile(leaves, form)(leaves)

    def mlir(self, *arguments, **keywords) -> str:
        """The module that the function is for such arguments, as text."""
        leaves, form = self._flatten(arguments, keywords)
        return self._compile(leaves, form).text

    def compile(self, *arguments, **keywords) -> Module:
        """The module that calls with such arguments run: to be explained, or saved. Its function is
        called
        `main` and takes the arrays and numbers among the arguments."""
        leaves, form = self._flatten(arguments, keywords)
        return self._compile(leaves, form).module

    def modules(self) -> list[Module]:
        """Those that were compiled so far."""
        generation = _native.fork_generation()
        return [compiled.module for key, compiled in list(self._compiled.items())
                if key[0][0] == generation]

    def _flatten(self, arguments, keywords):
        """The arrays and numbers, and all else, which is hashable."""
        if not keywords and not self._static and all(type(each) is np.ndarray
                                                     for each in arguments):
            return arguments, ((_Leaf,) * len(arguments), ())
        leaves: list = []
        static = self._static
        form = (tuple(_Static(each) if i in static else _flatten(each, leaves)
                      for i, each in enumerate(arguments)),
                tuple((name, _Static(each) if name in static else _flatten(each, leaves))
                      for name, each in sorted(keywords.items())))
        return leaves, form

    def _key(self, leaves, form):
        """Equal for arguments that run the same code. Of extents that only the call knows it has
        but which are equal; those of 0 and 1 are always numbers. Code of a parent is of no use to
        a child of fork()."""
        key, open_extents = [(_native.fork_generation(), form)], {}
        known = self._known.get(_kinds(leaves, form), ()) if self._dynamic else ()
        for i, leaf in enumerate(leaves):
            if not isinstance(leaf, np.ndarray):
                key.append(type(leaf))
            elif not self._dynamic:
                key.append((leaf.dtype, leaf.shape))
            else:
                key.append((leaf.dtype, *(
                    extent if extent < 2 or (i, j) in known
                    else (open_extents.setdefault(extent, (i, j)),)
                    for j, extent in enumerate(leaf.shape))))
        return tuple(key)

    def _shapes(self, leaves, key):
        """The extents of each leaf: one symbol for all that the key says are equal."""
        shapes = []
        for leaf, part in zip(leaves, key[1:]):
            if not isinstance(leaf, np.ndarray):
                shapes.append(())
            elif not self._dynamic:
                shapes.append(leaf.shape)
            else:
                shapes.append(tuple(symbol(*each[0], extent) if isinstance(each, tuple) else each
                                    for each, extent in zip(part[1:], leaf.shape)))
        return shapes

    def _traced(self, leaves, form, shapes) -> _Source:
        types = [element_of(_number_type(leaf)) if not isinstance(leaf, np.ndarray)
                 else type_of(shape, element_of(native_order(leaf.dtype)))
                 for leaf, shape in zip(leaves, shapes)]
        trace = _trace.Trace(types)
        traced = [
            _trace.Traced(trace, Value(f"%arg{i}", native_order(leaf.dtype), shape))
            if isinstance(leaf, np.ndarray)
            else _trace.Traced(trace, Value("", _number_type(leaf), ()), f"%arg{i}")
            for i, (leaf, shape) in enumerate(zip(leaves, shapes))]
        positional, named = form
        values = iter(traced)
        result = self._function(*(_unflatten(each, values) for each in positional),
                                **{name: _unflatten(each, values) for name, each in named})
        outputs: list = []
        out_form = _flatten(result, outputs)
        tensors = []
        for output in outputs:
            array = _trace.lift(trace, output)
            tensors.append(_trace.tensor(array))
        text = trace.builder.text("main", [tensor._value for tensor in tensors])
        limits = [(i, *trace.limits[f"%arg{i}"]) for i in range(len(leaves))
                  if f"%arg{i}" in trace.limits]
        swapped = [i for i, leaf in enumerate(leaves)
                   if isinstance(leaf, np.ndarray) and not leaf.dtype.isnative]
        return _Source(text, trace.parameters, out_form, [tensor.dtype for tensor in tensors],
                       limits, list(trace.bounds), swapped)

    def _compile(self, leaves, form) -> _Compiled:
        key = self._key(leaves, form)
        compiled = self._compiled.get(key)
        if compiled is not None and not (compiled.bounds and compiled.beyond(leaves)):
            return compiled
        with self._lock:
            while True:
                key = self._key(leaves, form)
                compiled = self._compiled.get(key)
                shapes = self._shapes(leaves, key)
                try:
                    if compiled is None:
                        source = self._traced(leaves, form, shapes)
                        break
                    beyond = compiled.beyond(leaves)
                    if not beyond:
                        return compiled
                    raise Known(*beyond)
                except Known as known:
                    kinds = _kinds(leaves, form)
                    # All that are equal are known together.
                    found = {shapes[i][j] for i, j in known.places}
                    places = {(i, j) for i, shape in enumerate(shapes)
                              for j, extent in enumerate(shape)
                              if any(identical(extent, each) for each in found)}
                    self._known[kinds] = self._known.get(kinds, frozenset()) | places
            module = loads(source.text, self.__name__, engine=self._engine,
                           parameters=source.parameters or None, **self._options)
            self._compiled[key] = _Compiled(module, source)
            return self._compiled[key]

    def __repr__(self):
        return f"<plimsoll.jit of {self.__name__}>"

    def __reduce__(self):
        return found_as(self) or (
            _again, (self._function, self._dynamic, tuple(self._static), self._engine, self._options))

    def __get__(self, instance, owner=None):
        return self if instance is None else functools.partial(self, instance)


def _both_ways(function, static: tuple) -> frozenset:
    """The positions and names of the arguments that are static, which may be given either way. TypeError for what the
    function does not have."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return frozenset(static)  # a builtin, of which nothing is known
    kinds = inspect.Parameter
    takes_any = {kind for kind in (kinds.VAR_POSITIONAL, kinds.VAR_KEYWORD)
                 if any(each.kind == kind for each in parameters)}
    positional = [each for each in parameters
                  if each.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD)]
    named = [each.name for each in parameters
             if each.kind in (kinds.POSITIONAL_OR_KEYWORD, kinds.KEYWORD_ONLY)]
    both = set()
    for each in static:
        both.add(each)
        if isinstance(each, int):
            if 0 <= each < len(positional):
                both.add(positional[each].name)
            elif each < 0 or kinds.VAR_POSITIONAL not in takes_any:
                raise TypeError(f"static={each}: {function.__name__}() has {len(positional)} arguments by position")
        elif each in named:
            both.update(i for i, parameter in enumerate(positional) if parameter.name == each)
        elif kinds.VAR_KEYWORD not in takes_any:
            near = difflib.get_close_matches(str(each), named, 1)
            raise TypeError(f"static={each!r}: {function.__name__}() has no such argument"
                            + (f"; did you mean {near[0]!r}?" if near else ""))
    return frozenset(both)


def _again(function, dynamic, static, engine, options) -> Jit:
    return Jit(function, dynamic=dynamic, static=static, engine=engine, options=options)


def _kinds(leaves, form):
    """Element types and ranks: what is known of extents is for all of the same kinds."""
    return form, tuple((leaf.dtype, leaf.ndim) if isinstance(leaf, np.ndarray) else type(leaf)
                       for leaf in leaves)


class _Source:
    def __init__(self, text, parameters, form, dtypes, limits, bounds, swapped):
        self.text, self.parameters, self.form, self.dtypes = text, parameters, form, dtypes
        self.limits = limits  # of numbers: (leaf, least, most)
        self.bounds = bounds  # of extents: (extent, least, most)
        self.swapped = swapped  # leaves of the other byte order


class _Compiled:
    """A module, and how what it gives is put together."""

    def __init__(self, module: Module, source: _Source):
        self.module, self.text = module, source.text
        self._main, self._form, self._limits = module["main"], source.form, source.limits
        self.bounds, self._swapped = source.bounds, source.swapped
        # Results have no sign in a module.
        self._unsigned = [dtype if dtype.kind == "u" else None for dtype in source.dtypes]
        self._is_plain = source.form is _Leaf and self._unsigned == [None]

    def beyond(self, leaves) -> list[Dim]:
        """The extents for which the code is not."""
        return [extent for extent, low, high in self.bounds if not low <= value_of(
            extent, lambda i, j: leaves[i].shape[j]) <= high]

    def __call__(self, leaves):
        for i, low, high in self._limits:
            if not low <= leaves[i] <= high:
                raise OverflowError(f"{leaves[i]} does not fit the elements that it is used with, "
                                    f"which are from {low} to {high}")
        if self._swapped:
            leaves = list(leaves)
            for i in self._swapped:
                leaves[i] = leaves[i].astype(native_order(leaves[i].dtype))
        results = self._main(*leaves)
        if self._is_plain:
            return results
        if len(self._unsigned) != 1:
            results = results or ()
        else:
            results = (results,)
        return _unflatten(self._form, iter([array if kind is None else array.view(kind)
                                            for array, kind in zip(results, self._unsigned)]))


class _Static:
    """What is not traced."""

    __slots__ = ("value", "_key")

    def __init__(self, value):
        self.value, self._key = value, _typed(value)

    def __eq__(self, other):
        return isinstance(other, _Static) and self._key == other._key

    def __hash__(self):
        return hash(self._key)


def _typed(value):
    """Equal for values that decide the same: 2 is not 2.0, and 0.0 is not -0.0."""
    kind = type(value)
    if isinstance(value, tuple):
        return kind, tuple(map(_typed, value))
    if isinstance(value, slice):
        return kind, _typed((value.start, value.stop, value.step))
    if isinstance(value, frozenset):
        return kind, frozenset(map(_typed, value))
    if isinstance(value, float):
        return kind, float(value).hex()
    if isinstance(value, complex):
        return kind, value.real.hex(), value.imag.hex()
    if isinstance(value, np.floating):
        return kind, value.tobytes()
    return kind, value


_Leaf = object()  # an array or a number stands here


def _number_type(value) -> np.dtype:
    return np.dtype(bool if isinstance(value, bool)
                    else np.int64 if isinstance(value, int) else np.float64)


def _flatten(value, leaves: list):
    """What holds the leaves, which are appended to `leaves`."""
    _trace.refuse_masked(value)
    if isinstance(value, (np.ndarray, bool, int, float, _trace.Traced, Dim)):
        leaves.append(value)
        return _Leaf
    if isinstance(value, np.generic):
        leaves.append(np.asarray(value))
        return _Leaf
    if isinstance(value, (tuple, list)) and type(value) in (tuple, list):
        return type(value).__name__, tuple(_flatten(each, leaves) for each in value)
    if type(value) is dict:
        return "dict", tuple((_Static(key), _flatten(value[key], leaves)) for key in value)
    if hasattr(value, "__array__"):
        leaves.append(np.asarray(value))
        return _Leaf
    return _Static(value)


def _unflatten(form, leaves):
    if form is _Leaf:
        return next(leaves)
    if isinstance(form, _Static):
        return form.value
    kind, parts = form
    if kind == "dict":
        return {key.value: _unflatten(each, leaves) for key, each in parts}
    return (tuple if kind == "tuple" else list)(_unflatten(each, leaves) for each in parts)
