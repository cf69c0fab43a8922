"""The order of elements along an axis."""

from __future__ import annotations

import string

import numpy as np

from ._dims import identical, product
from ._emit import Builder, Scalars, Value, element_of
from ._shapes import axes_of, moveaxis, reshape, take_along_axis
from ._trace import Traced, functions, refuse, tensor

# Of rows of so many elements each is compared with all.
_FEW = 64

# Least digit first: keys are integers without a sign in whose order the elements are to be, and go from one half of a tensor
# into the other one, with their places, to where their digit begins. Its own names begin with "%@"; $own is the key of %@x.
_DIGITS = string.Template("""\
  %@c0 = arith.constant 0 : index
  %@c1 = arith.constant 1 : index
  %@digits = arith.constant $digits : index
  %@bits = arith.constant $bits : index
  %@buckets = arith.constant $buckets : index
  %@last = arith.constant $last : $KEY
  %@r:4 = scf.for %@row = %@c0 to $rows step %@c1
      iter_args(%@o = $order, %@k = $keys, %@p = $places, %@s = $starts) -> ($ORDER, $KEYS, $PLACES, $STARTS) {
    %@f:2 = scf.for %@i = %@c0 to $n step %@c1 iter_args(%@k1 = %@k, %@p1 = %@p) -> ($KEYS, $PLACES) {
      %@x = tensor.extract $elements[%@row, %@i] : $ELEMENTS
$key
      %@k2 = tensor.insert $own into %@k1[%@c0, %@i] : $KEYS
      %@at = arith.index_cast %@i : index to i64
      %@p2 = tensor.insert %@at into %@p1[%@c0, %@i] : $PLACES
      scf.yield %@k2, %@p2 : $KEYS, $PLACES
    }
    %@d:4 = scf.for %@digit = %@c0 to %@digits step %@c1
        iter_args(%@from = %@c0, %@k3 = %@f#0, %@p3 = %@f#1, %@s1 = %@s) -> (index, $KEYS, $PLACES, $STARTS) {
      %@to = arith.subi %@c1, %@from : index
      %@where = arith.muli %@digit, %@bits : index
      %@shift = arith.index_cast %@where : index to $KEY
      %@cleared = scf.for %@i = %@c0 to %@buckets step %@c1 iter_args(%@s2 = %@s1) -> ($STARTS) {
        %@s3 = tensor.insert %@c0 into %@s2[%@i] : $STARTS
        scf.yield %@s3 : $STARTS
      }
      %@counts = scf.for %@i = %@c0 to $n step %@c1 iter_args(%@s2 = %@cleared) -> ($STARTS) {
        %@own = tensor.extract %@k3[%@from, %@i] : $KEYS
        %@high = arith.shrui %@own, %@shift : $KEY
        %@low = arith.andi %@high, %@last : $KEY
        %@bucket = arith.index_castui %@low : $KEY to index
        %@count = tensor.extract %@s2[%@bucket] : $STARTS
        %@more = arith.addi %@count, %@c1 : index
        %@s3 = tensor.insert %@more into %@s2[%@bucket] : $STARTS
        scf.yield %@s3 : $STARTS
      }
      %@b:2 = scf.for %@i = %@c0 to %@buckets step %@c1 iter_args(%@s2 = %@counts, %@begin = %@c0) -> ($STARTS, index) {
        %@count = tensor.extract %@s2[%@i] : $STARTS
        %@end = arith.addi %@begin, %@count : index
        %@s3 = tensor.insert %@begin into %@s2[%@i] : $STARTS
        scf.yield %@s3, %@end : $STARTS, index
      }
      %@m:3 = scf.for %@i = %@c0 to $n step %@c1 iter_args(%@k4 = %@k3, %@p4 = %@p3, %@s2 = %@b#0) -> ($KEYS, $PLACES, $STARTS) {
        %@own = tensor.extract %@k4[%@from, %@i] : $KEYS
        %@place = tensor.extract %@p4[%@from, %@i] : $PLACES
        %@high = arith.shrui %@own, %@shift : $KEY
        %@low = arith.andi %@high, %@last : $KEY
        %@bucket = arith.index_castui %@low : $KEY to index
        %@at = tensor.extract %@s2[%@bucket] : $STARTS
        %@k5 = tensor.insert %@own into %@k4[%@to, %@at] : $KEYS
        %@p5 = tensor.insert %@place into %@p4[%@to, %@at] : $PLACES
        %@next = arith.addi %@at, %@c1 : index
        %@s3 = tensor.insert %@next into %@s2[%@bucket] : $STARTS
        scf.yield %@k5, %@p5, %@s3 : $KEYS, $PLACES, $STARTS
      }
      scf.yield %@to, %@m#0, %@m#1, %@m#2 : index, $KEYS, $PLACES, $STARTS
    }
    %@o1 = scf.for %@i = %@c0 to $n step %@c1 iter_args(%@o2 = %@o) -> ($ORDER) {
      %@place = tensor.extract %@d#2[%@d#0, %@i] : $PLACES
      %@o3 = tensor.insert %@place into %@o2[%@row, %@i] : $ORDER
      scf.yield %@o3 : $ORDER
    }
    scf.yield %@o1, %@d#1, %@d#2, %@d#3 : $ORDER, $KEYS, $PLACES, $STARTS
  }""")


def argsort(a, axis=-1, kind=None, order=None) -> Traced:
    """By digits, which keeps the order of equals whatever `kind` is; NaNs come last."""
    refuse("argsort", {"order": order})
    if kind not in (None, "quicksort", "heapsort", "mergesort", "stable"):
        raise ValueError(f"sort kind must be one of 'quick', 'heap', or 'stable' (got {kind!r})")
    array = tensor(a)
    array._trace.locate()
    if axis is None or array.ndim == 0:
        array, axis = reshape(array, -1), -1
    (axis,) = axes_of(axis, array.ndim)
    array = moveaxis(array, axis, -1)
    shape, count = array.shape, array.shape[-1]
    rows = reshape(array, (product(shape[:-1]), count))
    if identical(count, 0) or identical(count, 1) or identical(product(shape), 0):
        places = Traced(array._trace, array._trace.builder.full(rows.shape, np.int64, 0))
    elif isinstance(count, int) and count <= _FEW:
        places = _by_rank(rows, count)
    else:
        places = Traced(array._trace, _order(array._trace.builder, rows))
    return moveaxis(reshape(places, shape), -1, axis)


def sort(a, axis=-1, kind=None, order=None) -> Traced:
    array = tensor(a)
    if axis is None or array.ndim == 0:
        array, axis = reshape(array, -1), -1
    return take_along_axis(array, argsort(array, axis, kind, order), axis)


def _by_rank(rows: Traced, count: int) -> Traced:
    """How many stand before each, of all that there are: less for a vector than to move them one by one."""
    own, other, place = rows[:, :, None], rows[:, None, :], np.arange(count)
    is_before, is_equal = other < own, other == own
    if rows.dtype.kind == "f":
        is_before = is_before | ((own != own) & (other == other))
        is_equal = is_equal | ((own != own) & (other != other))
    rank = (is_before | (is_equal & (place < place[:, None]))).sum(axis=-1)
    return np.where(rank[:, None, :] == place[:, None], place, 0).sum(axis=-1)


def _order(builder: Builder, rows: Traced) -> Value:
    dtype, count = rows.dtype, rows.shape[1]
    kind = np.dtype(f"i{dtype.itemsize}")
    name = f"%s{builder.fresh()[1:]}_"
    scalars = Scalars(builder)
    own = _key(scalars, f"{name}x", dtype, kind)
    # Of short rows less is counted than there is to count in.
    bits = 4 if isinstance(count, int) and count < 64 else 8
    order = builder.empty(rows.shape, np.int64)
    keys, places = builder.empty((2, count), kind), builder.empty((2, count), np.int64)
    starts, kind_of_starts = builder.fresh(), f"tensor<{1 << bits}xindex>"
    builder.lines.append(f"  {starts} = tensor.empty() : {kind_of_starts}")
    text = _DIGITS.substitute(
        digits=8 * kind.itemsize // bits, bits=bits, buckets=1 << bits, last=-1 if 8 * kind.itemsize == bits else (1 << bits) - 1,
        KEY=element_of(kind), rows=builder.index(rows.shape[0]), n=builder.index(count), elements=rows._value.name,
        ELEMENTS=rows._value.type, key="\n".join(scalars.lines), own=own, order=order.name, ORDER=order.type, keys=keys.name,
        KEYS=keys.type, places=places.name, PLACES=places.type, starts=starts, STARTS=kind_of_starts)
    builder.lines.append(text.replace("%@", name) + builder.location)
    return Value(f"{name}r#0", np.int64, rows.shape)


def _key(scalars: Scalars, x: str, dtype: np.dtype, kind: np.dtype) -> str:
    """Of `kind`, to be taken for one without a sign. A number is before a NaN, and zeros are equal."""
    if dtype.kind == "b":
        return scalars.op(f"arith.extui {x} : i1 to i8")
    if dtype.kind == "u":
        return x
    limits = np.iinfo(kind)
    if dtype.kind == "f":
        zero, most = scalars.constant(0, dtype), scalars.constant(limits.max, kind)
        is_number = scalars.compare("eq", x, x, dtype)
        x = scalars.select(scalars.compare("eq", x, zero, dtype), zero, x, dtype)
        x = scalars.op(f"arith.bitcast {x} : {element_of(dtype)} to {element_of(kind)}")
        is_less = scalars.compare("lt", x, scalars.constant(0, kind), kind)
        x = scalars.select(is_less, scalars.binary("arith.xori", x, most, kind), x, kind)
        x = scalars.select(is_number, x, most, kind)
    return scalars.binary("arith.xori", x, scalars.constant(limits.min, kind), kind)


functions.update({np.argsort: argsort, np.sort: sort})
