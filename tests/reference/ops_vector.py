"""vector: arrays of fixed extents, and their way from and to memory."""
import itertools

import numpy as np

from .base import Unsupported, handles, integer, require
from .irtypes import Shaped, element_of, is_integer
from .numerics import width_of, wrap
from .ops_arith import FLOAT, INTEGER
from .ops_control import mixed, results_of
from .ops_tensor import checked

COMBINE = {"add": ("addi", "addf"), "mul": ("muli", "mulf"), "minsi": ("minsi",) * 2,
           "maxsi": ("maxsi",) * 2, "minui": ("minui",) * 2, "maxui": ("maxui",) * 2,
           "and": ("andi",) * 2, "or": ("ori",) * 2, "xor": ("xori",) * 2,
           "minimumf": ("minimumf",) * 2, "maximumf": ("maximumf",) * 2,
           "minnumf": ("minnumf",) * 2, "maxnumf": ("maxnumf",) * 2}


def combined(run, op, kind, left, right):
    """One step of a combiner `#vector.kind<...>`."""
    name = COMBINE[op.attributes["kind"].word()][0 if is_integer(kind) else 1]
    if name in FLOAT:
        return run.numerics.fit(FLOAT[name](left, right), kind)
    width = width_of(kind)
    return wrap(INTEGER[name](left, right, width), width)


# --- Memory ---------------------------------------------------------------------------------------


def transfer(run, op, vector, memory, indices, mask):
    """The places of the elements of a vector in memory, and which of them are inside."""
    map_ = op.attributes["permutation_map"]
    rank = len(vector.shape)
    places = [np.asarray(integer(index)) for index in indices]
    for axis, result in enumerate(map_.results):
        if isinstance(result, tuple):
            step = np.arange(vector.shape[axis]).reshape([-1 if i == axis else 1 for i in range(rank)])
            places[result[1]] = places[result[1]] + step
    inside = np.ones(vector.shape, bool)
    for place, extent in zip(places, memory.shape):
        inside = inside & (place >= 0) & (place < extent)
    if mask is not None:
        # The mask has the shape of the memory that is read: the dimensions of the map in order.
        dims = [result[1] for result in map_.results if isinstance(result, tuple)]
        order = sorted(range(len(dims)), key=lambda i: dims[i])
        full = mask.transpose(np.argsort(order))
        for axis, result in enumerate(map_.results):
            if not isinstance(result, tuple):
                full = np.expand_dims(full, axis)
        inside = inside & (np.broadcast_to(full, vector.shape) != 0)
    declared = op.attributes.get("in_bounds")
    if declared and mask is None:
        bad = [place for place, extent in zip(places, memory.shape)
               if np.any(place < 0) or np.any(place >= extent)]
        require(not (all(declared) and bad), "a transfer out of its declared bounds")
    places = tuple(np.clip(np.broadcast_to(place, vector.shape), 0, max(extent - 1, 0))
                   for place, extent in zip(places, memory.shape))
    return places, inside


@handles("vector.transfer_read")
def transfer_read(run, op, args, env):
    source, indices, padding, mask = ([env[name] for name in part] for part in op.segments())
    vector, memory = op.result_types[0], np.asarray(source[0])
    places, inside = transfer(run, op, vector, memory, indices, mask[0] if mask else None)
    if memory.size == 0:
        return np.full(vector.shape, padding[0])
    return np.where(inside, memory[places], padding[0])


@handles("vector.transfer_write")
def transfer_write(run, op, args, env):
    value, target, indices, mask = ([env[name] for name in part] for part in op.segments())
    memory = np.array(target[0]) if op.results else target[0]
    places, inside = transfer(run, op, op.operand_types[0], memory, indices,
                              mask[0] if mask else None)
    memory[tuple(place[inside] for place in places)] = np.broadcast_to(value[0], inside.shape)[inside]
    return memory if op.results else []


def window(memory, indices, vector):
    """The view of the trailing dimensions that a vector covers."""
    indices = [integer(index) for index in indices]
    lead = len(indices) - len(vector.shape)
    spans = [1] * lead + list(vector.shape)
    for index, span, extent in zip(indices, spans, memory.shape):
        require(index >= 0 and index + span <= extent, "a vector beyond the memory")
    return memory[tuple(slice(i, i + s) for i, s in zip(indices, spans))].reshape(vector.shape)


@handles("vector.load")
def load(run, op, args, env):
    return np.array(window(args[0], args[1:], op.result_types[0]))


@handles("vector.store")
def store(run, op, args, env):
    view = window(args[1], args[2:], op.operand_types[0])
    require(np.shares_memory(view, args[1]) or view.size == 0, "a store to a copy")
    view[...] = args[0]
    return []


@handles("vector.maskedload")
def masked_load(run, op, args, env):
    memory, mask, rest = args[0], args[-2], np.array(args[-1])
    start = [integer(index) for index in args[1:-2]]
    for lane in np.flatnonzero(mask):
        place = (*start[:-1], start[-1] + lane)
        rest[lane] = memory[tuple(int(i) for i in checked(map(np.int64, place), memory.shape))]
    return rest


@handles("vector.maskedstore")
def masked_store(run, op, args, env):
    memory, mask, value = args[0], args[-2], args[-1]
    start = [integer(index) for index in args[1:-2]]
    for lane in np.flatnonzero(mask):
        place = (*start[:-1], start[-1] + lane)
        memory[tuple(int(i) for i in checked(map(np.int64, place), memory.shape))] = value[lane]
    return []


# --- Lanes ----------------------------------------------------------------------------------------


@handles("vector.broadcast", "vector.splat")
def broadcast(run, op, args, env):
    return np.array(np.broadcast_to(args[0], op.result_types[0].shape))


@handles("vector.create_mask")
def create_mask(run, op, args, env):
    shape = op.result_types[0].shape
    out = np.zeros(shape, np.int64)
    out[tuple(slice(max(0, min(integer(arg), extent))) for arg, extent in zip(args, shape))] = 1
    return out


@handles("vector.constant_mask")
def constant_mask(run, op, args, env):
    out = np.zeros(op.result_types[0].shape, np.int64)
    out[tuple(slice(extent) for extent in op.attributes["mask_dim_sizes"])] = 1
    return out


@handles("vector.step")
def step(run, op, args, env):
    return np.arange(op.result_types[0].shape[0], dtype=np.int64)


def position(op, dynamic, shape):
    static = op.attributes.get("static_position") or []
    place = mixed(static, dynamic)
    for index, extent in zip(place, shape):
        require(0 <= index < extent, "a position outside the vector")
    return tuple(place)


@handles("vector.extract")
def extract(run, op, args, env):
    return np.array(args[0])[position(op, args[1:], args[0].shape)]


@handles("vector.insert")
def insert(run, op, args, env):
    result = np.array(args[1])
    result[position(op, args[2:], result.shape)] = args[0]
    return result


@handles("vector.shuffle")
def shuffle(run, op, args, env):
    joined = np.concatenate([np.atleast_1d(arg) for arg in args])
    return joined[[max(lane, 0) for lane in op.attributes["mask"]]]


@handles("vector.shape_cast")
def shape_cast(run, op, args, env):
    return np.reshape(args[0], op.result_types[0].shape)


@handles("vector.transpose")
def transpose(run, op, args, env):
    return np.transpose(args[0], op.attributes["permutation"])


@handles("vector.extract_strided_slice")
def extract_strided_slice(run, op, args, env):
    where = tuple(slice(o, o + (s - 1) * t + 1, t) for o, s, t in
                  zip(*(op.attributes[name] for name in ("offsets", "sizes", "strides"))))
    return np.array(args[0][where])


@handles("vector.insert_strided_slice")
def insert_strided_slice(run, op, args, env):
    result, source = np.array(args[1]), args[0]
    spans = [1] * (result.ndim - source.ndim) + list(source.shape)
    where = tuple(slice(o, o + s) for o, s in zip(op.attributes["offsets"], spans))
    result[where] = source.reshape(spans)
    return result


# --- Combinations ---------------------------------------------------------------------------------


@handles("vector.reduction")
def reduction(run, op, args, env):
    kind = element_of(op.result_types[0])
    lanes = list(np.reshape(args[0], -1))
    total = args[1] if len(args) > 1 else lanes.pop(0)
    for lane in lanes:
        total = combined(run, op, kind, total, lane)
    return total


@handles("vector.multi_reduction")
def multi_reduction(run, op, args, env):
    kind = element_of(op.result_types[0])
    axes = list(op.attributes["reduction_dims"])
    total = args[1]
    rest = [axis for axis in range(args[0].ndim) if axis not in axes]
    moved = np.transpose(args[0], axes + rest)
    for point in itertools.product(*[range(args[0].shape[axis]) for axis in axes]):
        total = combined(run, op, kind, total, moved[point])
    return total


@handles("vector.contract")
def contract(run, op, args, env):
    left, right, total = args[:3]
    maps = op.attributes["indexing_maps"]
    kind = element_of(op.result_types[0])
    extents = [0] * maps[0].dims
    for map_, value in zip(maps, (left, right)):
        for result, extent in zip(map_.results, np.shape(value)):
            extents[result[1]] = extent
    out = np.array(total)
    product = "muli" if is_integer(kind) else "mulf"
    for point in itertools.product(*map(range, extents)):
        a, b = (value[tuple(map_(point))] for map_, value in zip(maps, (left, right)))
        place = tuple(maps[2](point))
        if product == "mulf":
            term = run.numerics.fit(a * b, kind)
        else:
            term = wrap(a * b, width_of(kind))
        out[place] = combined(run, op, kind, out[place], term)
    return out[()]


@handles("vector.outerproduct")
def outer_product(run, op, args, env):
    kind = element_of(op.result_types[0])
    right = args[1] if isinstance(op.operand_types[1], Shaped) else np.reshape(args[1], 1)
    term = np.multiply.outer(args[0], right).reshape(op.result_types[0].shape)
    term = wrap(term, width_of(kind)) if is_integer(kind) else run.numerics.fit(term, kind)
    return combined(run, op, kind, args[2], term) if len(args) > 2 else term


@handles("vector.mask")
def mask(run, op, args, env):
    if not np.all(args[0] != 0):
        raise Unsupported("vector.mask that is not all set")
    return results_of(op, run.region(op.regions[0], [], env)[1])
