"""tensor: values with extents. Nothing here writes into an operand."""
import itertools
import math

import numpy as np

from .base import NeedsScalars, Unsupported, handles, integer, require
from .irtypes import DYNAMIC
from .ops_control import mixed


def shape_of(kind, dynamic):
    shape = mixed(kind.shape, dynamic)
    require(all(extent >= 0 for extent in shape), f"a negative extent in {shape}")
    return tuple(shape)


@handles("tensor.empty")
def empty(run, op, args, env):
    kind = op.result_types[0]
    return run.numerics.undefined(shape_of(kind, args), kind.element)


@handles("tensor.dim", "memref.dim")
def dim(run, op, args, env):
    axis = integer(args[1])
    require(0 <= axis < np.ndim(args[0]), f"there is no dimension {axis}")
    return np.int64(np.shape(args[0])[axis])


@handles("tensor.rank", "memref.rank")
def rank(run, op, args, env):
    return np.int64(np.ndim(args[0]))


@handles("tensor.cast")
def cast(run, op, args, env):
    run.check_shape(args[0], op.result_types[0])
    return args[0]


# --- Elements -------------------------------------------------------------------------------------


def checked(indices, shape):
    """Indices inside the extents: numbers, or arrays that go together."""
    indices = tuple(np.asarray(index) for index in indices)
    for index, extent in zip(indices, shape):
        require(index.size == 0 or (index.min() >= 0 and index.max() < extent),
                f"an index out of range: extent {extent}")
    return indices


@handles("tensor.extract", "memref.load")
def extract(run, op, args, env):
    source, indices = args[0], checked(args[1:], np.shape(args[0]))
    return np.asarray(source)[indices] if indices else np.asarray(source)[()]


def one_place(indices, shape):
    return tuple(int(index) for index in checked([np.int64(integer(i)) for i in indices], shape))


@handles("tensor.insert")
def insert(run, op, args, env):
    value, place = args[0], one_place(args[2:], np.shape(args[1]))
    if np.ndim(value):
        raise NeedsScalars
    result = np.array(args[1])
    result[place] = value
    return result


@handles("tensor.from_elements")
def from_elements(run, op, args, env):
    kind = op.result_types[0]
    if any(np.size(value) != 1 for value in args):
        raise NeedsScalars
    flat = np.array([np.reshape(value, ()) for value in args], run.numerics.dtype(kind.element))
    return flat.reshape(kind.shape)


@handles("tensor.splat")
def splat(run, op, args, env):
    if np.size(args[0]) != 1:
        raise NeedsScalars
    kind = op.result_types[0]
    return np.full(shape_of(kind, args[1:]), np.reshape(args[0], ()),
                   run.numerics.dtype(kind.element))


def by_index(run, region, shape, dtype, env):
    """What a region makes of the indices of each element."""
    grids = [np.arange(extent).reshape([extent if axis == i else 1 for axis in range(len(shape))])
             for i, extent in enumerate(shape)]
    out = np.empty(shape, dtype)
    if out.size == 0:
        return out
    try:
        out[...] = run.region(region, grids, env)[1][0]
    except NeedsScalars:
        for point in itertools.product(*map(range, shape)):
            out[point] = run.region(region, [np.int64(i) for i in point], env)[1][0]
    return out


@handles("tensor.generate")
def generate(run, op, args, env):
    kind = op.result_types[0]
    return by_index(run, op.regions[0], shape_of(kind, args), run.numerics.dtype(kind.element), env)


@handles("tensor.pad")
def pad(run, op, args, env):
    _, lows, highs = ([env[name] for name in part] for part in op.segments())
    low = mixed(op.attributes["static_low"], lows)
    high = mixed(op.attributes["static_high"], highs)
    source = args[0]
    require(all(a >= 0 and b >= 0 for a, b in zip(low, high)), "a negative padding")
    shape = tuple(a + extent + b for a, extent, b in zip(low, source.shape, high))
    result = by_index(run, op.regions[0], shape, source.dtype, env)
    result[tuple(slice(a, a + extent) for a, extent in zip(low, source.shape))] = source
    run.check_shape(result, op.result_types[0])
    return result


# --- Slices ---------------------------------------------------------------------------------------


def slices(op, env, shape):
    """(NumPy's slices, sizes) of an operation with offsets, sizes and strides."""
    parts = [[env[name] for name in part] for part in op.segments()[-3:]]
    offsets, sizes, strides = (mixed(op.attributes["static_" + name], part)
                               for name, part in zip(("offsets", "sizes", "strides"), parts))
    out = []
    for offset, size, stride, extent in zip(offsets, sizes, strides, shape):
        require(size >= 0, f"a negative size {size}")
        last = offset + (size - 1) * stride
        # An empty slice touches nothing, wherever it lies.
        require(0 in sizes or (0 <= offset < extent and 0 <= last < extent),
                f"a slice from {offset} to {last} of extent {extent}")
        if 0 in sizes and size <= extent:
            out.append(slice(0, size))
        elif stride > 0:
            out.append(slice(offset, last + 1, stride))
        elif stride < 0:
            out.append(slice(offset, None if last == 0 else last - 1, stride))
        elif size == 1:
            out.append(slice(offset, offset + 1))
        else:
            raise Unsupported("a slice with stride 0, or an empty one that is larger than the whole")
    return tuple(out), sizes


def kept_axes(static_sizes, shape):
    """Which dimensions of a slice the type of smaller rank has: the others are of extent one."""
    kept = []
    for axis, size in enumerate(static_sizes):
        if len(kept) < len(shape) and (size == shape[len(kept)] or
                                       shape[len(kept)] == DYNAMIC or size == DYNAMIC) and \
                not (size == 1 and shape[len(kept)] != 1):
            kept.append(axis)
    return kept


def reduced(view, op, kind):
    """Without the dimensions that the type leaves out; still a view."""
    if len(kind.shape) == view.ndim:
        return view
    kept = kept_axes(op.attributes["static_sizes"], kind.shape)
    require(len(kept) == len(kind.shape), "the rank of a slice")
    return view[tuple(slice(None) if axis in kept else 0 for axis in range(view.ndim))]


@handles("tensor.extract_slice")
def extract_slice(run, op, args, env):
    where, _ = slices(op, env, args[0].shape)
    return np.array(reduced(args[0][where], op, op.result_types[0]))


def inserted(source, target, where, sizes):
    if source.size == 0 and math.prod(sizes) == 0:
        return  # Nothing is written, whatever the other extents.
    require(source.size == math.prod(sizes) and
            [e for e in source.shape if e != 1] == [e for e in sizes if e != 1],
            f"extents {source.shape} of a slice of {sizes}")
    target[where] = source.reshape(sizes)


@handles("tensor.insert_slice")
def insert_slice(run, op, args, env):
    result = np.array(args[1])
    where, sizes = slices(op, env, result.shape)
    inserted(args[0], result, where, sizes)
    return result


@handles("tensor.parallel_insert_slice")
def parallel_insert_slice(run, op, args, env):
    """At the end of `scf.forall`, whose copy of the destination it writes."""
    where, sizes = slices(op, env, args[1].shape)
    inserted(args[0], args[1], where, sizes)
    return []


# --- Shapes ---------------------------------------------------------------------------------------


@handles("tensor.concat")
def concat(run, op, args, env):
    axis = op.attributes["dim"]
    rest = {tuple(np.delete(value.shape, axis)) for value in args}
    require(len(rest) == 1, "extents of a concatenation differ")
    result = np.concatenate(args, axis=axis)
    run.check_shape(result, op.result_types[0])
    return result


@handles("tensor.collapse_shape")
def collapse_shape(run, op, args, env):
    value = args[0]
    shape = [math.prod(value.shape[i] for i in group) for group in op.attributes["reassociation"]]
    run.check_shape(np.empty(shape, np.bool_), op.result_types[0])
    return value.reshape(shape)


@handles("tensor.expand_shape")
def expand_shape(run, op, args, env):
    value = args[0]
    shape = mixed(op.attributes["static_output_shape"], args[1:])
    for extent, group in zip(value.shape, op.attributes["reassociation"]):
        require(math.prod(shape[i] for i in group) == extent,
                f"extent {extent} is not that of {[shape[i] for i in group]}")
    return value.reshape(shape)


@handles("tensor.reshape")
def reshape(run, op, args, env):
    shape = [int(extent) for extent in args[1]]
    require(min(shape, default=0) >= 0 and math.prod(shape) == args[0].size,
            f"{args[0].size} elements in the shape {shape}")
    result = args[0].reshape(shape)
    run.check_shape(result, op.result_types[0])
    return result


@handles("tensor.gather")
def gather(run, op, args, env):
    source, coordinates = args
    axes = list(op.attributes["gather_dims"])
    places = checked([coordinates[..., k] for k in range(len(axes))], [source.shape[a] for a in axes])
    rest = [axis for axis in range(source.ndim) if axis not in axes]
    picked = source.transpose(axes + rest)[places]
    shape = list(coordinates.shape[:-1])
    if len(op.result_types[0].shape) == len(shape) + source.ndim:
        shape += [1 if axis in axes else source.shape[axis] for axis in range(source.ndim)]
    else:
        shape += [source.shape[axis] for axis in rest]
    return picked.reshape(shape)
