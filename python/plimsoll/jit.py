"""`@jit`: functions over arrays, written with NumPy, as compiled code."""

from __future__ import annotations

import functools
import inspect
from typing import Any, Callable

from .engine import Engine
from .module import loads

_OWN = ("dynamic", "static", "engine")  # options of jit() itself
_GIVEN = 4  # parameters of loads(): source, name, engine and parameters are not its options


def jit(function: Callable | None = None, *, dynamic: bool = False, static: Any = (),
        engine: Engine | None = None, **options) -> Any:
    """Compiles a function over arrays that is written with NumPy.

    >>> import numpy as np, plimsoll as pl
    >>> @pl.jit
    ... def softmax(x):
    ...     e = np.exp(x - x.max(axis=-1, keepdims=True))
    ...     return e / e.sum(axis=-1, keepdims=True)
    >>> softmax(np.array([[0, 0], [1, 1]], np.float32))
    array([[0.5, 0.5],
           [0.5, 0.5]], dtype=float32)

    Known are NumPy's functions of elements, operators, `matmul`, `einsum` and `dot`, reductions
    with `axis` and `keepdims`, `cumsum` and `cumprod`, `argmax`, `argsort`, `sort`, slices, `take`, `take_along_axis`, `where`,
    `concatenate`, `stack`, `vstack`, `hstack`, `roll`, `diff`, `reshape`, `transpose`, `astype`, and the methods of arrays of those
    names; `plimsoll.to_bf16` and `from_bf16`. Broadcasting is NumPy's, types are those of NumPy 2: numbers of
    Python's yield to arrays, scalars of NumPy's do not. What is not
    known, and what depends on elements (`if x.sum() > 0`), is a TypeError when the function is
    traced.

    Arguments may be arrays, numbers, and tuples, lists and dicts of them. Numbers are values of the
    call; they have no say in types, and one that does not fit the type of the arrays that it is
    used with is an OverflowError. `static`: the positions or names of arguments that are none,
    but decide: flags, axes. What is neither array nor number is static by itself. Arrays that the
    function has from elsewhere are constants: copied when it is traced. Arrays of the other byte order are
    copied at each call.

    Traced arrays do not change: `x += y` is `x = x + y` in the type of `x`, and other names and the
    caller keep what they have.

    It is traced for each combination of element types, shapes and static arguments. With `dynamic`,
    extents but 0 and 1 are left open, unless the function depends on them: one code for all shapes
    in which the same extents are equal.

    `engine` and what else `loads` takes, `policy`, `numerics`, `device`, `oracle`, say how it is compiled.
    """
    known = [*list(inspect.signature(loads).parameters)[_GIVEN:], *_OWN]
    for name in options:
        if name not in known:
            import difflib  # which takes its time to load
            near = difflib.get_close_matches(name, known, 1)
            raise TypeError(f"jit() has no option {name!r}"
                            + (f"; did you mean {near[0]!r}?" if near else ""))
    if function is None:
        return functools.partial(jit, dynamic=dynamic, static=static, engine=engine, **options)
    from ._jit import Jit  # which takes its time to load
    static = (static,) if isinstance(static, (int, str)) else tuple(static)
    return Jit(function, dynamic=dynamic, static=static, engine=engine, options=options)
