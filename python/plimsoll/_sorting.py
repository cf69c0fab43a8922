"""The order of elements along an axis."""

from __future__ import annotations

import string

import numpy as np

from ._dims import identical, product
from ._elements import elementwise
from ._emit import Builder, Scalars, Value, element_of
from ._shapes import axes_of, moveaxis, reshape
from ._trace import Traced, functions, refuse, tensor

# Runs of `w` elements, which are in order, become runs of twice as many, from one half of a tensor
# into the other. Its own names begin with "%@"; $less says whether %@v must be before %@u.
_MERGES = string.Template("""\
  %@c0 = arith.constant 0 : index
  %@c1 = arith.constant 1 : index
  %@c2 = arith.constant 2 : index
  %@true = arith.constant true
  %@last = arith.subi $n, %@c1 : index
  %@bits = arith.index_cast %@last : index to i64
  %@zeros = math.ctlz %@bits : i64
  %@c64 = arith.constant 64 : i64
  %@some = arith.subi %@c64, %@zeros : i64
  %@passes = arith.index_cast %@some : i64 to index
  %@r:4 = scf.for %@pass = %@c0 to %@passes step %@c1
      iter_args(%@w = %@c1, %@from = %@c0, %@k = $keys, %@p = $places)
      -> (index, index, $KEYS, $PLACES) {
    %@ww = arith.muli %@w, %@c2 : index
    %@to = arith.subi %@c1, %@from : index
    %@o:2 = scf.for %@row = %@c0 to $rows step %@c1 iter_args(%@k1 = %@k, %@p1 = %@p)
        -> ($KEYS, $PLACES) {
      %@o1:2 = scf.for %@low = %@c0 to $n step %@ww iter_args(%@k2 = %@k1, %@p2 = %@p1)
          -> ($KEYS, $PLACES) {
        %@m = arith.addi %@low, %@w : index
        %@middle = arith.minui %@m, $n : index
        %@h = arith.addi %@low, %@ww : index
        %@high = arith.minui %@h, $n : index
        %@o2:4 = scf.for %@out = %@low to %@high step %@c1
            iter_args(%@i = %@low, %@j = %@middle, %@k3 = %@k2, %@p3 = %@p2)
            -> (index, index, $KEYS, $PLACES) {
          %@hasi = arith.cmpi ult, %@i, %@middle : index
          %@hasj = arith.cmpi ult, %@j, %@high : index
          %@ia = arith.minui %@i, %@last : index
          %@ja = arith.minui %@j, %@last : index
          %@u = tensor.extract %@k3[%@from, %@row, %@ia] : $KEYS
          %@v = tensor.extract %@k3[%@from, %@row, %@ja] : $KEYS
$compare
          %@second = arith.andi %@hasj, $less : i1
          %@notsecond = arith.xori %@second, %@true : i1
          %@first = arith.andi %@hasi, %@notsecond : i1
          %@key = arith.select %@first, %@u, %@v : $KEY
          %@at = arith.select %@first, %@ia, %@ja : index
          %@place = tensor.extract %@p3[%@from, %@row, %@at] : $PLACES
          %@k4 = tensor.insert %@key into %@k3[%@to, %@row, %@out] : $KEYS
          %@p4 = tensor.insert %@place into %@p3[%@to, %@row, %@out] : $PLACES
          %@i1 = arith.addi %@i, %@c1 : index
          %@j1 = arith.addi %@j, %@c1 : index
          %@i2 = arith.select %@first, %@i1, %@i : index
          %@j2 = arith.select %@first, %@j, %@j1 : index
          scf.yield %@i2, %@j2, %@k4, %@p4 : index, index, $KEYS, $PLACES
        }
        scf.yield %@o2#2, %@o2#3 : $KEYS, $PLACES
      }
      scf.yield %@o1#0, %@o1#1 : $KEYS, $PLACES
    }
    scf.yield %@ww, %@to, %@o#0, %@o#1 : index, index, $KEYS, $PLACES
  }
  %@sorted = tensor.extract_slice %@r#3[%@r#1, 0, 0] $sizes [1, 1, 1]
      : $PLACES to $RESULT""")


def argsort(a, axis=-1, kind=None, order=None) -> Traced:
    """By merges, which keep the order of equals whatever `kind` is; NaNs come last."""
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
    else:
        places = Traced(array._trace, _merge(array._trace.builder, rows))
    return moveaxis(reshape(places, shape), -1, axis)


def _merge(builder: Builder, rows: Traced) -> Value:
    dtype = rows.dtype
    places = elementwise(rows._trace, [], rows.shape, np.int64, lambda s, _: s.op(
        f"arith.index_cast {s.op('linalg.index 1 : index')} : index to i64"))._value
    name = f"%s{builder.fresh()[1:]}_"
    less = Scalars(builder)
    # A number is before a NaN.
    found = less.compare("lt", f"{name}v", f"{name}u", dtype)
    if dtype.kind == "f":
        is_nan = less.compare("ne", f"{name}u", f"{name}u", dtype)
        is_number = less.compare("eq", f"{name}v", f"{name}v", dtype)
        before = less.binary("arith.andi", is_nan, is_number, np.dtype(bool))
        found = less.binary("arith.ori", found, before, np.dtype(bool))
    keys, row_count, count = rows._value, builder.index(rows.shape[0]), builder.index(rows.shape[1])
    halves = (2, *rows.shape)
    start = [builder.insert(builder.reshape(value, (1, *rows.shape)),
                            builder.empty(halves, value.dtype), [0, 0, 0])
             for value in (keys, places)]
    result = Value(f"{name}sorted", np.int64, rows.shape)
    text = _MERGES.substitute(
        keys=start[0].name, KEYS=start[0].type, KEY=element_of(dtype), places=start[1].name,
        PLACES=start[1].type, RESULT=result.type, rows=row_count, n=count,
        sizes=builder.extents((1, *rows.shape)), compare="\n".join(less.lines), less=found)
    builder.lines.append(text.replace("%@", name) + builder.location)
    return result


functions.update({np.argsort: argsort})
