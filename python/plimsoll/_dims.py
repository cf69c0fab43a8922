"""Extents that only a call knows: whole numbers made of symbols.

A `Dim` is a polynomial over atoms in its normal form, so that equal extents are found to be equal
however they were made. An atom is an extent of an argument, or what is no polynomial of others (a
minimum, a quotient). Every atom knows the least that it can be, and what it is in the call for
which the function is traced.

What depends on more than that, `Known` ends the trace: it begins again with those extents as
numbers.
"""

from __future__ import annotations

import math
from typing import Callable, Union

import numpy as np

Extent = Union[int, "Dim"]


class Known(BaseException):
    """These extents of arguments, (argument, dimension) each, must be numbers."""

    def __init__(self, *extents: Extent):
        super().__init__("an extent must be a number")
        self.places = {place for extent in extents for place in _places(extent)}


class Atom:
    """`kind`: "extent" (of argument `operands[0]`, dimension `operands[1]`), "min", "max",
    "ceildiv" or "floordiv" of two extents."""

    def __init__(self, kind: str, operands: tuple, least: int, now: int):
        self.kind, self.operands, self.least, self.now = kind, operands, least, now
        self.key = (kind, *operands)

    def __eq__(self, other):
        return isinstance(other, Atom) and self.key == other.key

    def __hash__(self):
        return hash(self.key)

    def __repr__(self):
        if self.kind == "extent":
            return "d{}_{}".format(*self.operands)
        return f"{self.kind}({', '.join(map(repr, self.operands))})"


class Dim:
    """`terms`: the coefficient of each product of atoms; () is the constant."""

    def __init__(self, terms: dict[tuple[Atom, ...], int]):
        self.terms = {atoms: factor for atoms, factor in terms.items() if factor}
        self._hash = hash(frozenset(self.terms.items()))

    @property
    def least(self) -> float:
        """No value is smaller."""
        bound = 0.0
        for atoms, factor in self.terms.items():
            if atoms and (factor < 0 or
                          len(atoms) > 1 and any(atom.least < 0 for atom in atoms)):
                return -math.inf
            bound += factor * math.prod(atom.least for atom in atoms)
        return bound

    @property
    def now(self) -> int:
        """What it is in the call for which the function is traced."""
        return sum(factor * math.prod(atom.now for atom in atoms)
                   for atoms, factor in self.terms.items())

    def __hash__(self):
        return self._hash

    def __eq__(self, other):
        if not _is_whole(other):
            return self._with(other)
        if identical(self, other):
            return True
        difference = self - other
        if least(difference) > 0 or least(-1 * difference) > 0:
            return False
        raise Known(self, other)

    def __lt__(self, other):
        return not self >= other if _is_whole(other) else self._with(other)

    def __le__(self, other):
        return _dim(other) >= self if _is_whole(other) else self._with(other)

    def __gt__(self, other):
        return not self <= other if _is_whole(other) else self._with(other)

    def __ge__(self, other):
        if not _is_whole(other):
            return self._with(other)
        difference = self - other
        if least(difference) >= 0:
            return True
        if least(-1 * difference) > 0:
            return False
        raise Known(self, other)

    def __add__(self, other):
        return simple(_sum(self, _dim(other))) if _is_whole(other) else self._with(other)

    def __sub__(self, other):
        return simple(_sum(self, _dim(other), -1)) if _is_whole(other) else self._with(other)

    def __rsub__(self, other):
        return simple(_sum(_dim(other), self, -1)) if _is_whole(other) else self._with(other)

    def __mul__(self, other):
        if not _is_whole(other):
            return self._with(other)
        product: dict = {}
        for atoms, factor in self.terms.items():
            for others, other_factor in _dim(other).terms.items():
                key = tuple(sorted(atoms + others, key=repr))
                product[key] = product.get(key, 0) + factor * other_factor
        return simple(Dim(product))

    __radd__, __rmul__ = __add__, __mul__

    def __floordiv__(self, other):
        return quotient(self, other) if _is_whole(other) else self._with(other)

    def __rfloordiv__(self, other):
        return quotient(other, self) if _is_whole(other) else self._with(other)

    def __mod__(self, other):
        return self - quotient(self, other) * other if _is_whole(other) else self._with(other)

    def __rmod__(self, other):
        return other - quotient(other, self) * self if _is_whole(other) else self._with(other)

    def __divmod__(self, other):
        return (self // other, self % other) if _is_whole(other) else self._with(other)

    def __rdivmod__(self, other):
        return (other // self, other % self) if _is_whole(other) else self._with(other)

    def __pow__(self, other, modulus=None):
        if modulus is None and type(other) is int and 0 <= other <= 8:
            return product([self] * other)
        return self._number() if _is_whole(other) else self._with(other)

    def __neg__(self):
        return -1 * self

    def __abs__(self):
        return positive(self) + positive(-self)

    def _itself(self, *_):
        return self

    __pos__ = __trunc__ = __floor__ = __ceil__ = _itself

    def __round__(self, digits=None):
        return self if digits is None or digits >= 0 else self._number()

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        """NumPy's functions of numbers alone give numbers; traced arrays take it as it is."""
        if all(isinstance(each, (Dim, int, float, complex, np.generic, np.ndarray))
               for each in inputs):
            raise Known(*(each for each in inputs if isinstance(each, Dim)))
        return NotImplemented

    def _number(self, *_):
        raise Known(self)

    def _divided(self, other):
        return self._number() if _is_whole(other) else self._with(other)

    def _with(self, other):
        """With what is no whole number it must be a number; traced arrays take it as it is."""
        if isinstance(other, (float, complex, np.generic, np.ndarray)):
            raise Known(self)
        return NotImplemented

    __truediv__ = __rtruediv__ = __rpow__ = _divided

    def __bool__(self):
        return self != 0

    __index__ = __int__ = __float__ = __complex__ = _number

    def __repr__(self):
        parts = []
        for atoms, factor in self.terms.items():
            names = [repr(atom) for atom in atoms]
            parts.append("*".join(([str(factor)] if factor != 1 or not names else []) + names))
        return " + ".join(parts) or "0"


def _is_whole(value) -> bool:
    return isinstance(value, (int, np.integer, Dim))


def _dim(value: Extent) -> Dim:
    return value if isinstance(value, Dim) else Dim({(): int(value)})


def _sum(a: Dim, b: Dim, sign: int = 1) -> Dim:
    terms = dict(a.terms)
    for atoms, factor in b.terms.items():
        terms[atoms] = terms.get(atoms, 0) + sign * factor
    return Dim(terms)


def simple(value: Extent) -> Extent:
    """An int if it is one."""
    if isinstance(value, Dim) and not any(value.terms):
        return value.terms.get((), 0)
    return value


def symbol(argument: int, dimension: int, now: int) -> Dim:
    """An extent of an argument; those of 0 and 1 are no symbols."""
    return Dim({(Atom("extent", (argument, dimension), 2, now),): 1})


def _places(extent: Extent):
    for atoms in _dim(extent).terms:
        for atom in atoms:
            if atom.kind == "extent":
                yield atom.operands
            else:
                yield from (place for operand in atom.operands for place in _places(operand))


def value_of(extent: Extent, place: Callable[[int, int], int]) -> int:
    """What it is in a call in which the extents of arguments are `place(argument, dimension)`."""
    def atom(each: Atom) -> int:
        if each.kind == "extent":
            return place(*each.operands)
        a, b = (value_of(operand, place) for operand in each.operands)
        return (min(a, b) if each.kind == "min" else max(a, b) if each.kind == "max"
                else a // b if each.kind == "floordiv" else -(-a // b))

    return sum(factor * math.prod(map(atom, atoms)) for atoms, factor in _dim(extent).terms.items())


def least(value: Extent) -> float:
    return value.least if isinstance(value, Dim) else value


def now(value: Extent) -> int:
    return value.now if isinstance(value, Dim) else value


def identical(a: Extent, b: Extent) -> bool:
    """Are they found to be the same in every call?"""
    return _dim(a).terms == _dim(b).terms


def same(a: Extent, b: Extent) -> bool:
    """Are they the same, which the function needs? If they are in this call but may not be in
    another, they must be numbers. Unlike a == b, no is an answer for this call alone, which then
    fails.
    """
    if identical(a, b):
        return True
    if now(a) == now(b):
        raise Known(a, b)
    return False


def product(extents) -> Extent:
    result: Extent = 1
    for extent in extents:
        result = result * extent
    return result


def minimum(a: Extent, b: Extent) -> Extent:
    if least(simple(a - b)) >= 0:
        return b
    if least(simple(b - a)) >= 0:
        return a
    return Dim({(Atom("min", (a, b), min(least(a), least(b)), min(now(a), now(b))),): 1})


def positive(a: Extent) -> Extent:
    """max(a, 0)"""
    if least(a) >= 0:
        return a
    return Dim({(Atom("max", (a, 0), 0, max(now(a), 0)),): 1}) if isinstance(a, Dim) else 0


def ceildiv(a: Extent, b: int) -> Extent:
    if isinstance(a, int):
        return -(-a // b)
    if b == 1:
        return a
    bound = -(-int(max(least(a), 0)) // b)
    return Dim({(Atom("ceildiv", (a, b), bound, -(-now(a) // b)),): 1})


def quotient(a: Extent, b: Extent) -> Extent:
    """a // b, as a polynomial if it is one."""
    if isinstance(a, int) and isinstance(b, int):
        return a // b
    divisor = _dim(b)
    if len(divisor.terms) == 1:
        (atoms, factor), = divisor.terms.items()
        terms = {}
        for others, other_factor in _dim(a).terms.items():
            rest = list(others)
            for atom in atoms:
                if atom not in rest:
                    break
                rest.remove(atom)
            else:
                if other_factor % factor == 0:
                    terms[tuple(rest)] = other_factor // factor
                    continue
            break
        else:
            return simple(Dim(terms))
    bound = 0 if least(a) >= 0 and least(b) >= 0 else -math.inf
    return Dim({(Atom("floordiv", (a, b), bound, now(a) // now(b)),): 1})
