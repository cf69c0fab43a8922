"""Operations on shapes: which element goes where. Indices too."""

from __future__ import annotations

import operator

import numpy as np

from ._dims import (Dim, Extent, Known, ceildiv, identical, least, minimum, positive, product,
                    quotient, same, simple)
from ._elements import broadcast, elementwise
from ._emit import Value
from ._trace import Traced, functions, lift, refuse, tensor, trace_of


def axes_of(axis, rank: int) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(rank))
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    return np.core.numeric.normalize_axis_tuple(axes, rank)


def reshape(array, shape, order="C", newshape=None) -> Traced:
    array._trace.locate()
    if order != "C":
        raise TypeError("plimsoll.jit reshapes in row-major order alone")
    wanted = [shape] if isinstance(shape, (int, Dim, np.integer)) else list(shape)
    open_ends = [i for i, extent in enumerate(wanted)
                 if not isinstance(extent, Dim) and extent == -1]
    total = array.size
    if len(open_ends) > 1:
        raise ValueError("can only specify one unknown dimension")
    if open_ends:
        rest = product(extent for i, extent in enumerate(wanted) if i != open_ends[0])
        if rest == 0:
            raise ValueError(f"cannot reshape array of size {total} into shape {tuple(wanted)}")
        wanted[open_ends[0]] = quotient(total, rest)
    if not same(product(wanted), total):
        raise ValueError(f"cannot reshape array of size {total} into shape {tuple(wanted)}")
    wanted = [extent if isinstance(extent, Dim) else int(extent) for extent in wanted]
    return Traced(array._trace, array._trace.builder.reshape(tensor(array)._value, wanted))


def transpose(array, axes=None) -> Traced:
    array._trace.locate()
    array = tensor(array)
    order = tuple(range(array.ndim))[::-1] if axes is None else axes_of(tuple(axes), array.ndim)
    if len(order) != array.ndim:
        raise ValueError("axes don't match array")
    return Traced(array._trace, array._trace.builder.transpose(array._value, order))


def index(array: Traced, key) -> Traced:
    """Whole numbers, slices, None, ..., and one array of whole numbers."""
    keys = list(key) if isinstance(key, tuple) else [key]
    array = tensor(array)
    rank, builder = array.ndim, array._trace.builder
    used = sum(each is not None and each is not Ellipsis for each in keys)
    if used > rank:
        raise IndexError(f"too many indices for array: array is {rank}-dimensional")
    if sum(each is Ellipsis for each in keys) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    if not any(each is Ellipsis for each in keys):
        keys.append(Ellipsis)
    where = next(i for i, each in enumerate(keys) if each is Ellipsis)
    keys[where:where + 1] = [slice(None)] * (rank - used)

    starts, sizes, steps, shape, reverse, gather = [], [], [], [], [], None
    places = [i for i, each in enumerate(keys) if each is not None and not isinstance(each, slice)]
    axis = 0
    for each in keys:
        if each is None:
            shape.append(1)
            continue
        extent = array.shape[axis]
        if isinstance(each, slice):
            start, size, step = _range(each, extent)
            if step < 0:
                reverse.append(axis)
            shape.append(size)
        elif isinstance(each, (int, np.integer)) and not isinstance(each, bool):
            number = int(each)
            start = number if number >= 0 else extent + number
            if not (extent > number if number >= 0 else extent >= -number):
                raise IndexError(
                    f"index {number} is out of bounds for axis {axis} with size {extent}")
            size, step = 1, 1
        elif isinstance(each, (Traced, np.ndarray, list)):
            if gather is not None:
                raise TypeError("plimsoll.jit knows one array among indices")
            gather = len(shape), lift(array._trace, each)
            start, size, step = 0, extent, 1
            shape.append(extent)
        else:
            raise TypeError(f"plimsoll.jit knows no index of type {type(each).__name__}")
        starts.append(start)
        sizes.append(size)
        steps.append(abs(step))
        axis += 1

    value = array._value
    if any(identical(size, 0) for size in sizes):  # upstream refuses offsets into nothing
        value = builder.empty(sizes, value.dtype)
    elif not all(map(identical, sizes, value.shape)):
        value = builder.slice(value, starts, sizes, steps)
    if reverse:
        value = _reverse(builder, value, reverse)
    result = Traced(array._trace, builder.reshape(value, shape))
    if gather is None:
        return result
    first, indices = gather
    result = take(result, indices, first)
    if places[-1] - places[0] >= len(places):  # not beside each other: NumPy puts them in front
        result = moveaxis(result, tuple(range(first, first + indices.ndim)),
                          tuple(range(indices.ndim)))
    return result


def _range(given: slice, extent: Extent):
    """Start, number and step of a slice; of a negative step, of the range turned round."""
    step = 1 if given.step is None else int(given.step)
    if step == 0:
        raise ValueError("slice step cannot be zero")
    if isinstance(extent, int) and not isinstance(given.start, Dim) and not isinstance(
            given.stop, Dim):
        numbers = range(extent)[given]
        if len(numbers) == 0:
            return 0, 0, 1
        return (numbers[0] if step > 0 else numbers[-1]), len(numbers), step
    if step < 0:
        if given.start is None and given.stop is None and step == -1:
            return 0, extent, -1
        return _range(given, extent.__index__())

    def bound(number, default):
        if number is None:
            return default
        if isinstance(number, Dim):
            if least(number) < 0:
                raise Known(number)
            return minimum(number, extent)
        number = operator.index(number)
        if number < 0:
            return positive(simple(extent + number))
        return minimum(number, extent)

    low, high = bound(given.start, 0), bound(given.stop, extent)
    return low, ceildiv(positive(simple(high - low)), step), step


def _reverse(builder, value: Value, axes) -> Value:
    """Turned round along these axes."""
    rank = len(value.shape)
    last = {i: builder.index(simple(value.shape[i] - 1)) for i in axes}
    out = builder.empty(value.shape, value.dtype)

    def body(scalars, given, old):
        places = [scalars.op(f"linalg.index {i} : index") for i in range(rank)]
        for i in axes:
            places[i] = scalars.op(f"arith.subi {last[i]}, {places[i]} : index")
        return [scalars.op(f"tensor.extract {value.name}[{', '.join(places)}] : {value.type}")]

    result, = builder.generic([], [], [out], [[f"d{i}" for i in range(rank)]],
                              ["parallel"] * rank, body)
    return result


def take(array, indices, axis=None, out=None, mode="raise") -> Traced:
    """Elements by their places along an axis. One that is out of range is an error of the call."""
    refuse("take", {"out": out})
    trace = trace_of(array, indices)
    array, indices = tensor(lift(trace, array)), tensor(lift(trace, indices))
    if mode != "raise":
        raise TypeError("numpy.take: plimsoll.jit knows no mode=")
    if axis is None:
        array, axis = reshape(array, -1), 0
    (axis,) = axes_of(axis, array.ndim)
    shape = (*array.shape[:axis], *indices.shape, *array.shape[axis + 1:])
    return _gather(array, indices, axis, shape, range(axis, axis + indices.ndim))


def take_along_axis(arr, indices, axis) -> Traced:
    trace = trace_of(arr, indices)
    array, indices = tensor(lift(trace, arr)), tensor(lift(trace, indices))
    if axis is None:
        array, axis = reshape(array, -1), 0
    if array.ndim != indices.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    (axis,) = axes_of(axis, array.ndim)

    def along(shape, extent):
        return (*shape[:axis], extent, *shape[axis + 1:])

    shape = broadcast(along(array.shape, 1), along(indices.shape, 1))
    array = broadcast_to(array, along(shape, array.shape[axis]))
    shape = along(shape, indices.shape[axis])
    return _gather(array, broadcast_to(indices, shape), axis, shape, range(len(shape)))


def _gather(array: Traced, indices: Traced, axis: int, shape, where: range) -> Traced:
    """Elements whose place along an axis is what `indices` says. Its dimensions are `where` among
    those of the result; the other places are those of the result."""
    trace, dimensions = array._trace, len(shape)
    if indices.dtype.kind not in "iu":
        raise IndexError("arrays used as indices must be of integer type; a mask gives an array "
                         "of unknown shape, use numpy.where()")
    extent = trace.builder.index(array.shape[axis])
    names = [f"d{i}" for i in range(dimensions)]
    replaced = slice(axis, axis + 1 + dimensions - array.ndim)

    def body(scalars, given, old):
        place = scalars.cast(given[0], indices.dtype, np.int64)
        place = scalars.op(f"arith.index_cast {place} : i64 to index")
        zero = scalars.op("arith.constant 0 : index")
        negative = scalars.op(f"arith.cmpi slt, {place}, {zero} : index")
        turned = scalars.op(f"arith.addi {place}, {extent} : index")
        place = scalars.op(f"arith.select {negative}, {turned}, {place} : index")
        places = [scalars.op(f"linalg.index {i} : index") for i in range(dimensions)]
        places[replaced] = [place]
        return [scalars.op(f"tensor.extract {array._value.name}[{', '.join(places)}] : "
                           f"{array._value.type}")]

    value, = trace.builder.generic(
        [indices._value], [[names[i] for i in where]],
        [trace.builder.empty(shape, array.dtype)], [names], ["parallel"] * dimensions, body)
    return Traced(trace, value)


def stack(arrays, axis=0, out=None) -> Traced:
    refuse("stack", {"out": out})
    trace = trace_of(arrays)
    arrays = [lift(trace, array) for array in arrays]
    return concatenate([expand_dims(array, axis) for array in arrays], axis)


def concatenate(arrays, axis=0, out=None, dtype=None, casting="same_kind") -> Traced:
    refuse("concatenate", {"out": out})
    trace = trace_of(arrays)
    arrays = [lift(trace, array) for array in arrays]
    if axis is None:
        arrays, axis = [reshape(array, -1) for array in arrays], 0
    (axis,) = axes_of(axis, arrays[0].ndim)
    kind = np.dtype(dtype) if dtype else np.result_type(*(array.dtype for array in arrays))
    rest = [extent for i, extent in enumerate(arrays[0].shape) if i != axis]
    for array in arrays:
        others = [extent for i, extent in enumerate(array.shape) if i != axis]
        if len(others) != len(rest) or not all(map(same, others, rest)):
            raise ValueError("all the input array dimensions except for the concatenation axis "
                             "must match exactly")
    total = sum((array.shape[axis] for array in arrays), 0)
    shape = (*rest[:axis], total, *rest[axis:])
    result, place = trace.builder.empty(shape, kind), 0
    for array in arrays:
        if not any(same(extent, 0) for extent in array.shape):
            starts = [place if i == axis else 0 for i in range(len(shape))]
            result = trace.builder.insert(array.astype(kind)._value, result, starts)
        place = place + array.shape[axis]
    return Traced(trace, result)


def vstack(tup, dtype=None, casting="same_kind") -> Traced:
    trace = trace_of(tup)
    arrays = [lift(trace, array) for array in tup]
    return concatenate([array if array.ndim > 1 else reshape(array, (1, -1)) for array in arrays],
                       dtype=dtype, casting=casting)


def hstack(tup, dtype=None, casting="same_kind") -> Traced:
    trace = trace_of(tup)
    arrays = [array if array.ndim > 0 else reshape(array, -1)
              for array in (lift(trace, each) for each in tup)]
    return concatenate(arrays, 0 if arrays[0].ndim == 1 else 1, dtype=dtype, casting=casting)


def diff(a, n=1, axis=-1, prepend=np._NoValue, append=np._NoValue) -> Traced:
    refuse("diff", {name: value for name, value in (("prepend", prepend), ("append", append))
                    if value is not np._NoValue})
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n!r}")
    array = tensor(a)
    if array.ndim == 0:
        raise ValueError("diff requires input that is at least one dimensional")
    (axis,) = axes_of(axis, array.ndim)
    before = (slice(None),) * axis
    for _ in range(n):
        least, most = array[(*before, slice(None, -1))], array[(*before, slice(1, None))]
        array = most != least if array.dtype.kind == "b" else most - least
    return array


def roll(a, shift, axis=None) -> Traced:
    array = tensor(a)
    if axis is None:
        return reshape(roll(reshape(array, -1), shift, 0), array.shape)
    axes = [axes_of(each, array.ndim)[0] for each in np.ravel(axis).tolist()]  # may be repeated
    shifts, axes = np.broadcast_arrays(shift, axes)
    for by, along in zip(shifts.ravel().tolist(), axes.ravel().tolist()):
        extent = array.shape[along]
        if same(extent, 0):
            continue
        before = (slice(None),) * along
        at = -by % extent
        array = concatenate([array[(*before, slice(at, None))], array[(*before, slice(None, at))]],
                            along)
    return array


def expand_dims(array, axis) -> Traced:
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    rank = array.ndim + len(axes)
    places = np.core.numeric.normalize_axis_tuple(axes, rank)
    rest = iter(array.shape)
    return reshape(array, [1 if i in places else next(rest) for i in range(rank)])


def squeeze(array, axis=None) -> Traced:
    if axis is None:
        return reshape(array, [extent for extent in array.shape if extent != 1])
    axes = axes_of(axis, array.ndim)
    if any(not same(array.shape[i], 1) for i in axes):
        raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
    return reshape(array, [extent for i, extent in enumerate(array.shape) if i not in axes])


def broadcast_to(array, shape, subok=False) -> Traced:
    wanted = (shape,) if isinstance(shape, (int, Dim)) else tuple(shape)
    found = broadcast(array.shape, wanted)
    if len(found) != len(wanted) or not all(map(same, found, wanted)):
        raise ValueError("operands could not be broadcast together with remapped shapes "
                         f"{array.shape} and requested shape {wanted}")
    if len(wanted) == array.ndim and all(map(identical, wanted, array.shape)):
        return tensor(array)
    return elementwise(array._trace, [array], wanted, array.dtype, lambda s, given: given[0])


def swapaxes(array, axis1, axis2) -> Traced:
    order = list(range(array.ndim))
    (one,), (two,) = axes_of(axis1, array.ndim), axes_of(axis2, array.ndim)
    order[one], order[two] = order[two], order[one]
    return transpose(array, order)


def moveaxis(array, source, destination) -> Traced:
    source, destination = axes_of(source, array.ndim), axes_of(destination, array.ndim)
    order = [i for i in range(array.ndim) if i not in source]
    for to, axis in sorted(zip(destination, source)):
        order.insert(to, axis)
    return transpose(array, order)


functions.update({
    np.ndarray.__getitem__: index, np.take: take, np.take_along_axis: take_along_axis,
    np.reshape: reshape, np.transpose: transpose, np.swapaxes: swapaxes, np.moveaxis: moveaxis,
    np.expand_dims: expand_dims, np.squeeze: squeeze, np.broadcast_to: broadcast_to,
    np.ravel: lambda a, order="C": reshape(a, -1, order),
    np.concatenate: concatenate, np.stack: stack, np.vstack: vstack, np.hstack: hstack,
    np.diff: diff, np.roll: roll,
    np.flip: lambda m, axis=None: index(m, tuple(
        slice(None, None, -1) if i in axes_of(axis, m.ndim) else slice(None)
        for i in range(m.ndim))),
    np.shape: lambda a: a.shape, np.ndim: lambda a: a.ndim,
    np.size: lambda a, axis=None: a.size if axis is None else a.shape[axis],
})
