"""linalg: one evaluator of structured operations, and the maps that named operations imply.

The parallel dimensions are evaluated at once: a value in the body is an array with one axis for each
dimension of the iteration space, of extent one where it does not depend on it. Over the reduction
dimensions a loop runs in program order; or, where the body only adds, multiplies and so on a term to
the accumulator, one operation over the axes does it: for floats from the first to the last, so that
the rounding is that of program order. A body that cannot be evaluated so, because it branches or
writes memory, runs once for each point.
"""
import itertools
import math
import re

import numpy as np

from . import affine
from .base import NeedsScalars, Unsupported, handles, require
from .irtypes import Shaped, element_of, is_integer
from .numerics import unsigned, width_of, wrap
from .ops_arith import maximum, minimum
from .ops_control import mixed

LARGEST_SPACE = 1 << 22  # Points that are held at once.

# --- The maps of named operations ------------------------------------------------------------------
# One word an operand, one letter a dimension; "." is a scalar.

CONTRACTIONS = {
    "matmul": "mk kn mn", "quantized_matmul": "mk kn . . mn",
    "batch_matmul": "bmk bkn bmn", "quantized_batch_matmul": "bmk bkn . . bmn",
    "batch_reduce_matmul": "bmk bkn mn",
    "matvec": "mk k m", "vecmat": "k kn n", "batch_matvec": "bmk bk bm", "batch_vecmat": "bk bkn bn",
    "dot": "k k .", "mmt4d": "mkac nkbc mnab", "batch_mmt4d": "zmkac znkbc zmnab",
}
CONVOLUTION = re.compile(r"(depthwise_)?conv_\dd(?:_([a-z]+)_([a-z]+))?(_q)?")
POOLING = re.compile(r"pooling_([a-z]+)_(?:sum|max|min|max_unsigned|min_unsigned)")
SPATIAL = "dhw"


def contraction_maps(words):
    operands = ["" if word == "." else word for word in words.split()]
    order = list(operands[-1])  # The dimensions of the result, then the others as they come.
    for letter in "".join(operands):
        if letter not in order:
            order.append(letter)
    return [affine.select(len(order), [order.index(letter) for letter in word])
            for word in operands]


def window_maps(image, window, result, strides, dilations, scalars):
    """image[o * stride + k * dilation]. A spatial letter is a dimension of the result; in the window
    it is one of the window, here a capital."""
    window = "".join(letter.upper() if letter in SPATIAL else letter for letter in window)
    order = list(result)
    for letter in window + image:
        if letter not in order:
            order.append(letter)
    spatial = [letter for letter in image if letter in SPATIAL]

    def dim(letter):
        return ("d", order.index(letter))

    def read(letter):
        if letter not in SPATIAL:
            return dim(letter)
        at = spatial.index(letter)
        return ("+", scaled(dim(letter), strides[at]), scaled(dim(letter.upper()), dilations[at]))

    def scaled(expression, factor):
        return expression if factor == 1 else ("*", expression, factor)

    rank = len(order)
    return [affine.Map(rank, 0, tuple(map(read, image))),
            affine.Map(rank, 0, tuple(map(dim, window))),
            *[affine.Map(rank, 0, ())] * scalars,
            affine.Map(rank, 0, tuple(map(dim, result)))]


def numbers(run, op, name, count):
    value = op.attributes.get(name)
    return [1] * count if value is None else [int(v) for v in run.decode(value).reshape(-1)]


def named_maps(run, op):
    name = op.name[len("linalg."):]
    if name in CONTRACTIONS:
        return contraction_maps(CONTRACTIONS[name])
    found = CONVOLUTION.fullmatch(name)
    if found:
        depthwise, image, window, quantized = found.groups()
        if image is None:
            image = window = SPATIAL[-int(name[5]):]
            result = image
        elif depthwise:
            result = image + ("m" if "m" in window else "")
        else:
            result = image.replace("c", "f")
    else:
        found = POOLING.fullmatch(name)
        if not found:
            rank = len(op.operand_types[-1].shape)
            return [affine.identity(rank) if isinstance(kind, Shaped) and len(kind.shape) == rank
                    else affine.Map(rank, 0, ()) for kind in op.operand_types]
        image = result = found.group(1)
        window = "".join(letter for letter in image if letter in SPATIAL)
        quantized = None
    count = sum(letter in SPATIAL for letter in image)
    return window_maps(image, window, result, numbers(run, op, "strides", count),
                       numbers(run, op, "dilations", count), 2 if quantized else 0)


# --- Iteration spaces -----------------------------------------------------------------------------


def extents_of(maps, operands):
    """The extent of each dimension, by the operands that it alone indexes."""
    extents = [None] * maps[0].dims
    for map_, operand in zip(maps, operands):
        require(len(map_.results) == operand.ndim, "the rank of an operand")
        for result, size in zip(map_.results, operand.shape):
            if isinstance(result, tuple) and result[0] == "d":
                known = extents[result[1]]
                require(known in (None, size), f"extents differ: {known} and {size}")
                extents[result[1]] = size
    if None in extents:
        raise Unsupported("a dimension that no operand determines")
    return extents


def grids_of(extents):
    rank = len(extents)
    return [np.arange(extent).reshape([extent if axis == i else 1 for axis in range(rank)])
            for i, extent in enumerate(extents)]


def indices_of(map_, grids):
    return tuple(np.asarray(value, np.int64) for value in map_(grids))


def check_inside(map_, grids, operand):
    for result, index, size in zip(map_.results, indices_of(map_, grids), operand.shape):
        if not (isinstance(result, tuple) and result[0] == "d"):
            require(index.size == 0 or (index.min() >= 0 and index.max() < size),
                    "an operand is smaller than the iteration space")


def plain_dims(map_):
    """The dimensions of a map that only selects, each once; else None."""
    dims = [result[1] for result in map_.results if isinstance(result, tuple) and result[0] == "d"]
    return dims if len(dims) == len(map_.results) == len(set(dims)) else None


def spread(operand, dims, rank):
    """A view with one axis for each dimension of the space."""
    order = sorted(range(len(dims)), key=lambda axis: dims[axis])
    shape = [1] * rank
    for axis in order:
        shape[dims[axis]] = operand.shape[axis]
    return operand.transpose(order).reshape(shape)


class Structured:
    def __init__(self, run, op, env, maps, reductions, inputs, outputs, region):
        self.run, self.op, self.env, self.region = run, op, env, region
        self.maps, self.reductions = maps, reductions
        self.inputs = [np.asarray(value) for value in inputs]
        self.outputs = outputs
        self.operands = self.inputs + self.outputs
        self.extents = extents_of(maps, self.operands)
        self.grids = grids_of(self.extents)
        for map_, operand in zip(maps, self.operands):
            check_inside(map_, self.grids, operand)

    def evaluate(self):
        """Writes the outputs in place."""
        if 0 in self.extents:
            return
        saved, self.run.iteration = self.run.iteration, None
        try:
            if not self.combine():
                originals = [output.copy() for output in self.outputs]
                try:
                    self.loop()
                except NeedsScalars:
                    for output, original in zip(self.outputs, originals):
                        output[...] = original
                    self.point_by_point()
        finally:
            self.run.iteration = saved

    def body(self, values, grids):
        self.run.iteration = grids
        return self.run.region(self.region, values, self.env)[1]

    def point_by_point(self):
        for point in itertools.product(*map(range, self.extents)):
            point = [np.int64(i) for i in point]
            places = [tuple(int(i) for i in map_(point)) for map_ in self.maps]
            values = [operand[place] for operand, place in zip(self.operands, places)]
            results = self.body(values, point)
            for output, place, result in zip(self.outputs, places[len(self.inputs):], results):
                output[place] = result

    def loop(self):
        """The parallel dimensions at once, the reductions in program order."""
        rank = len(self.extents)
        parallel = [i for i in range(rank) if i not in self.reductions]
        for map_ in self.maps[len(self.inputs):]:
            dims = {result[1] for result in map_.results
                    if isinstance(result, tuple) and result[0] == "d"}
            if not set(parallel) <= dims and any(self.extents[i] > 1 for i in set(parallel) - dims):
                raise NeedsScalars  # Points of the parallel space share an element.
        if math.prod(self.extents[i] for i in parallel) > LARGEST_SPACE:
            raise Unsupported("an iteration space of that size")
        views = []
        for map_, operand in zip(self.maps, self.operands):
            dims = plain_dims(map_)
            views.append(None if dims is None else spread(operand, dims, rank))
        # Only a view that shares memory shows what earlier steps have written.
        for k in range(len(self.inputs), len(views)):
            if views[k] is not None and not np.shares_memory(views[k], self.operands[k]):
                views[k] = None
        shape = [1 if i in self.reductions else extent for i, extent in enumerate(self.extents)]
        for point in itertools.product(*[range(self.extents[i]) for i in self.reductions]):
            grids = list(self.grids)
            cut = [slice(None)] * rank
            for i, at in zip(self.reductions, point):
                grids[i] = np.full([1] * rank, at)
                cut[i] = slice(at, at + 1)
            values, places = [], []
            for map_, operand, view in zip(self.maps, self.operands, views):
                if view is None:
                    place = indices_of(map_, grids)
                    values.append(operand[place])
                else:
                    place = tuple(cut[i] if view.shape[i] > 1 else slice(None)
                                  for i in range(rank))
                    values.append(view[place])
                places.append(place)
            # A value that is also written must not change under the body.
            count = len(self.inputs)
            values[count:] = [np.array(value) for value in values[count:]]
            results = self.body(values, grids)
            for output, view, place, result in zip(self.outputs, views[count:], places[count:],
                                                   results):
                if view is None:
                    full = np.broadcast_shapes(*[i.shape for i in place]) if place else ()
                    output[place] = fitted(result, full)
                else:
                    view[place] = fitted(result, view[place].shape)

    # --- Known combiners ---------------------------------------------------------------------------

    def combine(self):
        """True when one operation over the reduction axes did it all."""
        if not self.reductions or math.prod(self.extents) > LARGEST_SPACE:
            return False
        if len(self.region) != 1:
            return False
        block = self.region[0]
        rank, count = len(self.extents), len(self.inputs)
        parallel = [i for i in range(rank) if i not in self.reductions]
        accumulators = [name for name, _ in block.arguments[count:]]
        combiners = self.combiners(block, accumulators)
        if combiners is None:
            return False
        for map_ in self.maps[count:]:
            dims = plain_dims(map_)
            if dims is None or set(dims) != set(parallel):
                return False
        values = []
        for map_, operand in zip(self.maps, self.inputs):
            dims = plain_dims(map_)
            values.append(operand[indices_of(map_, self.grids)] if dims is None
                          else spread(operand, dims, rank))
        self.run.iteration = self.grids
        for (name, _), value in zip(block.arguments, values):
            self.env[name] = value
        try:
            last = {id(op) for op, _ in combiners}
            for op in block.ops[:-1]:
                if id(op) not in last:
                    self.run.step(op, self.env)
        except NeedsScalars:
            return False
        for (op, term), map_, output in zip(combiners, self.maps[count:], self.outputs):
            dims = plain_dims(map_)
            full = np.broadcast_to(self.env[term], self.extents)
            full = full.transpose(parallel + self.reductions)
            full = full.reshape([self.extents[i] for i in parallel] + [-1])
            # The axes of the output are the parallel dimensions in its own order.
            order = [dims.index(i) for i in parallel]
            initial = output.transpose(order)
            result = self.reduce(op, initial, full)
            output[...] = result.transpose(np.argsort(order))
        return True

    def combiners(self, block, accumulators):
        """For each output the operation that combines, and the name of what it adds; or None."""
        producers = {name: op for op in block.ops for name in op.results}
        uses = list(used_names(block.ops))
        found = []
        for name, accumulator in zip(block.ops[-1].operands, accumulators):
            op = producers.get(name)
            if op is None or op.name not in REDUCERS or op.operands.count(accumulator) != 1:
                return None
            if uses.count(accumulator) != 1 or uses.count(name) != 1:
                return None
            kind = element_of(op.result_types[0])
            if not is_integer(kind) and self.run.numerics.exact:
                if self.run.numerics.dtype(kind) == np.float16 or kind.name not in ("f32", "f64"):
                    return None  # Each step rounds in a way of its own.
            term = op.operands[1 - op.operands.index(accumulator)]
            found.append((op, term))
        return found

    def reduce(self, op, initial, terms):
        kind = element_of(op.result_types[0])
        reducer = REDUCERS[op.name]
        if is_integer(kind):
            width = width_of(kind)
            if op.name.endswith("ui"):
                terms, initial = np.asarray(unsigned(terms, width)), unsigned(initial, width)
                best = np.asarray(reducer(initial, reducer.reduce(terms, axis=-1)))
                return wrap(best.astype(np.int64), width)
            if op.name.endswith("si") and width == 1:
                terms, initial = -terms, -initial
                return -reducer(initial, reducer.reduce(terms, axis=-1))
            return wrap(reducer(initial, reducer.reduce(terms, axis=-1)), width)
        if op.name in ("arith.addf", "arith.mulf"):
            joined = np.concatenate([initial[..., None], terms], axis=-1)
            if not self.run.numerics.exact:
                return self.run.numerics.fit(reducer.reduce(joined, axis=-1), kind)
            return reducer.accumulate(joined, axis=-1)[..., -1]
        if op.name in ("arith.maximumf", "arith.minimumf"):
            best = reducer.reduce(terms, axis=-1)
            plus = np.any((terms == 0) & ~np.signbit(terms), axis=-1)
            minus = np.any((terms == 0) & np.signbit(terms), axis=-1)
            is_plus = plus if op.name == "arith.maximumf" else ~minus
            zero = np.where(is_plus, 0.0, -0.0).astype(best.dtype)
            best = np.where(best == 0, zero, best)
            return (maximum if op.name == "arith.maximumf" else minimum)(initial, best)
        return reducer(initial, reducer.reduce(terms, axis=-1))


REDUCERS = {
    "arith.addf": np.add, "arith.mulf": np.multiply, "arith.addi": np.add,
    "arith.muli": np.multiply, "arith.andi": np.bitwise_and, "arith.ori": np.bitwise_or,
    "arith.xori": np.bitwise_xor, "arith.maxsi": np.maximum, "arith.minsi": np.minimum,
    "arith.maxui": np.maximum, "arith.minui": np.minimum, "arith.maximumf": np.maximum,
    "arith.minimumf": np.minimum, "arith.maxnumf": np.fmax, "arith.minnumf": np.fmin,
}


def used_names(ops):
    for op in ops:
        yield from op.operands
        for region in op.regions:
            for block in region:
                yield from used_names(block.ops)


def fitted(result, shape):
    """The value of the body on the part of the output: it may not depend on all dimensions, or
    have axes of extent one that the output does not have."""
    result = np.asarray(result)
    if result.ndim > len(shape):
        result = result.reshape(shape)
    return np.broadcast_to(result, shape)


def structured(run, op, env, maps, reductions, inputs, outputs):
    """Runs the body over the space. Results for tensors; memrefs are written."""
    kinds = op.operand_types[len(op.operand_types) - len(outputs):]
    outputs = [value if kind.kind == "memref" else np.array(value)
               for value, kind in zip(outputs, kinds)]
    Structured(run, op, env, maps, reductions, inputs, outputs, op.regions[0]).evaluate()
    return outputs


def results_of(op, outputs):
    if not op.results:
        return []
    return outputs[0] if len(op.results) == 1 else outputs


def split(op, args):
    sizes = op.attributes["operandSegmentSizes"]
    return args[:sizes[0]], args[sizes[0]:sizes[0] + sizes[1]]


@handles("linalg.generic")
def generic(run, op, args, env):
    inputs, outputs = split(op, args)
    words = [iterator.word() for iterator in op.attributes["iterator_types"]]
    reductions = [i for i, word in enumerate(words) if word != "parallel"]
    maps = op.attributes["indexing_maps"]
    return results_of(op, structured(run, op, env, maps, reductions, inputs, outputs))


def named(run, op, args, env):
    inputs, outputs = split(op, args)
    maps = op.attributes.get("indexing_maps") or named_maps(run, op)
    kept = {result[1] for result in maps[-1].results if isinstance(result, tuple)}
    reductions = [i for i in range(maps[0].dims) if i not in kept]
    return results_of(op, structured(run, op, env, maps, reductions, inputs, outputs))


for _name in [*CONTRACTIONS, "contract", "elementwise", "fill", "copy", "exp", "log", "abs", "ceil",
              "floor", "negf", "reciprocal", "round", "sqrt", "rsqrt", "square", "tanh", "erf",
              "add", "sub", "mul", "div", "div_unsigned", "max", "min", "powf", "select",
              "conv_1d", "conv_2d", "conv_3d", "conv_1d_nwc_wcf", "conv_1d_ncw_fcw",
              "conv_2d_nhwc_hwcf", "conv_2d_nhwc_fhwc", "conv_2d_nhwc_hwcf_q",
              "conv_2d_nhwc_fhwc_q", "conv_2d_nchw_fchw", "conv_2d_nchw_fchw_q",
              "conv_2d_ngchw_fgchw", "conv_2d_ngchw_gfchw", "conv_2d_ngchw_gfchw_q",
              "conv_2d_nhwgc_gfhwc", "conv_2d_nhwgc_gfhwc_q", "conv_3d_ndhwc_dhwcf",
              "conv_3d_ndhwc_dhwcf_q", "conv_3d_ncdhw_fcdhw", "depthwise_conv_1d_ncw_cw",
              "depthwise_conv_1d_nwc_wc", "depthwise_conv_1d_nwc_wcm", "depthwise_conv_2d_nchw_chw",
              "depthwise_conv_2d_nhwc_hwc", "depthwise_conv_2d_nhwc_hwc_q",
              "depthwise_conv_2d_nhwc_hwcm", "depthwise_conv_2d_nhwc_hwcm_q",
              "depthwise_conv_3d_ndhwc_dhwc", "depthwise_conv_3d_ncdhw_cdhw",
              "depthwise_conv_3d_ndhwc_dhwcm"]:
    handles("linalg." + _name)(named)
for _layout, _kind in itertools.product(["nhwc", "nchw", "nwc", "ncw", "ndhwc"],
                                        ["sum", "max", "min", "max_unsigned", "min_unsigned"]):
    handles(f"linalg.pooling_{_layout}_{_kind}")(named)


@handles("linalg.map")
def map_(run, op, args, env):
    rank = args[-1].ndim
    return results_of(op, structured(run, op, env, [affine.identity(rank)] * len(args), [],
                                     args[:-1], args[-1:]))


@handles("linalg.reduce")
def reduce(run, op, args, env):
    half = len(args) // 2
    rank, reductions = args[0].ndim, list(op.attributes["dimensions"])
    kept = affine.select(rank, [i for i in range(rank) if i not in reductions])
    maps = [affine.identity(rank)] * half + [kept] * half
    return results_of(op, structured(run, op, env, maps, reductions, args[:half], args[half:]))


def placed(op, value, destination):
    """A whole result: of the extents of the destination, and in it where that is memory."""
    require(value.shape == destination.shape,
            f"extents differ: {value.shape} and {destination.shape}")
    if op.results:
        return np.array(value)
    destination[...] = np.array(value)
    return []


@handles("linalg.transpose")
def transpose(run, op, args, env):
    return placed(op, np.transpose(args[0], op.attributes["permutation"]), args[1])


@handles("linalg.broadcast")
def broadcast(run, op, args, env):
    source, destination = np.asarray(args[0]), args[1]
    added = op.attributes["dimensions"]
    shape = [destination.shape[i] for i in range(destination.ndim) if i not in added]
    require(list(source.shape) == shape, f"extents differ: {source.shape} and {shape}")
    for axis in sorted(added):
        source = np.expand_dims(source, axis)
    return placed(op, np.broadcast_to(source, destination.shape), destination)


@handles("linalg.index")
def index(run, op, args, env):
    return run.iteration[op.attributes["dim"]]


@handles("linalg.softmax")
def softmax(run, op, args, env):
    kind, axis = element_of(op.operand_types[1]), op.attributes["dimension"]
    fit = run.numerics.fit
    source = args[0]
    if 0 in source.shape:
        return placed(op, source, args[1])
    top = np.max(source, axis=axis, keepdims=True)
    powers = fit(np.exp(np.asarray(source - top, np.float64)), kind)
    total = fit(np.add.reduce(np.asarray(powers, np.float64), axis=axis, keepdims=True), kind)
    return placed(op, fit(powers / total, kind), args[1])


# --- pack and unpack ------------------------------------------------------------------------------


def tiling(op, env, dynamic):
    """(extents of tiles by dimension, dims in order of the tiles, outer permutation)."""
    positions = list(op.attributes["inner_dims_pos"])
    sizes = mixed(op.attributes["static_inner_tiles"], [env[name] for name in dynamic])
    return positions, sizes, list(op.attributes.get("outer_dims_perm") or [])


@handles("linalg.pack")
def pack(run, op, args, env):
    source, destination, padding, tiles = op.segments()
    value, target = env[source[0]], env[destination[0]]
    positions, sizes, outer = tiling(op, env, tiles)
    rank = value.ndim
    high = [0] * rank
    for position, size in zip(positions, sizes):
        require(size > 0, "a tile without extent")
        high[position] = -value.shape[position] % size
    require(not any(high) or padding, "tiles that are not full and no padding value")
    full = np.empty([extent + more for extent, more in zip(value.shape, high)], value.dtype)
    if padding:
        full[...] = env[padding[0]]
    full[tuple(slice(extent) for extent in value.shape)] = value
    shape, outer_axes, inner_axes = [], [], {}
    for i in range(rank):
        outer_axes.append(len(shape))
        if i in positions:
            size = sizes[positions.index(i)]
            shape += [full.shape[i] // size, size]
            inner_axes[i] = len(shape) - 1
        else:
            shape.append(full.shape[i])
    if outer:
        outer_axes = [outer_axes[i] for i in outer]
    result = full.reshape(shape).transpose(outer_axes + [inner_axes[i] for i in positions])
    return placed(op, result, target)


@handles("linalg.unpack")
def unpack(run, op, args, env):
    value, target = args[:2]
    positions, sizes, outer = tiling(op, env, op.operands[2:])
    rank = target.ndim
    order = [0] * rank
    for axis, i in enumerate(outer or range(rank)):
        order[i] = axis
    axes, shape = [], []
    for i in range(rank):
        axes.append(order[i])
        extent = value.shape[order[i]]
        if i in positions:
            k = positions.index(i)
            require(value.shape[rank + k] == sizes[k], "the extent of a tile")
            axes.append(rank + k)
            extent *= sizes[k]
        shape.append(extent)
    full = value.transpose(axes).reshape(shape)
    require(all(small <= large for small, large in zip(target.shape, shape)),
            "the destination is larger than all tiles")
    return placed(op, full[tuple(slice(extent) for extent in target.shape)], target)
