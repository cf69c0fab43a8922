"""memref and bufferization: memory. A memref is a view, so what one name writes another sees."""
import numpy as np

from .base import NeedsScalars, Unsupported, handles, require
from .numerics import width_of, wrap
from .ops_arith import FLOAT, INTEGER
from .ops_control import mixed, results_of
from .ops_tensor import one_place, reduced, shape_of, slices


@handles("memref.alloc", "memref.alloca")
def alloc(run, op, args, env):
    kind = op.result_types[0]
    dynamic = op.attributes["operandSegmentSizes"][0]
    return run.numerics.undefined(shape_of(kind, args[:dynamic]), kind.element)


@handles("memref.dealloc", "memref.assume_alignment", "memref.prefetch", "memref.distinct_objects",
         "bufferization.dealloc_tensor")
def nothing(run, op, args, env):
    return args[0] if len(op.results) == 1 else args[:len(op.results)]


@handles("memref.alloca_scope")
def alloca_scope(run, op, args, env):
    return results_of(op, run.region(op.regions[0], [], env)[1])


@handles("memref.store")
def store(run, op, args, env):
    value, memory = args[0], args[1]
    place = one_place(args[2:], memory.shape)
    if np.ndim(value):
        raise NeedsScalars
    memory[place] = value
    return []


@handles("memref.copy", "linalg.memref_copy")
def copy(run, op, args, env):
    require(args[0].shape == args[1].shape, "extents of a copy differ")
    args[1][...] = np.array(args[0])
    return []


@handles("memref.cast")
def cast(run, op, args, env):
    run.check_shape(args[0], op.result_types[0])
    return args[0]


@handles("memref.subview")
def subview(run, op, args, env):
    where, _ = slices(op, env, args[0].shape)
    return reduced(args[0][where], op, op.result_types[0])


@handles("memref.transpose")
def transpose(run, op, args, env):
    return args[0].transpose([result[1] for result in op.attributes["permutation"].results])


@handles("memref.reinterpret_cast")
def reinterpret_cast(run, op, args, env):
    source, offsets, sizes, strides = ([env[name] for name in part] for part in op.segments())
    if not source[0].flags.c_contiguous:
        raise Unsupported("memref.reinterpret_cast of a strided view")
    (offset,) = mixed(op.attributes["static_offsets"], offsets)
    sizes = mixed(op.attributes["static_sizes"], sizes)
    strides = mixed(op.attributes["static_strides"], strides)
    flat = source[0].reshape(-1)
    reach = offset + sum((size - 1) * stride for size, stride in zip(sizes, strides))
    require(0 in sizes or (offset >= 0 and min(strides, default=0) >= 0 and reach < flat.size),
            "a view beyond the memory")
    return np.lib.stride_tricks.as_strided(flat[min(offset, flat.size):], sizes,
                                           [stride * flat.itemsize for stride in strides])


@handles("memref.collapse_shape", "memref.expand_shape")
def reshape(run, op, args, env):
    if op.name == "memref.expand_shape":
        shape = mixed(op.attributes["static_output_shape"], args[1:])
    else:
        shape = [int(np.prod([args[0].shape[i] for i in group]))
                 for group in op.attributes["reassociation"]]
    require(np.prod(shape) == args[0].size, "the extents of a reshape")
    view = args[0].view()
    view.shape = shape  # Fails rather than copies.
    return view


@handles("memref.get_global")
def get_global(run, op, args, env):
    name = op.attributes["name"].name
    if name not in run.variables:
        variable = run.symbol(name)
        kind = variable.attributes["type"]
        value = variable.attributes.get("initial_value", True)
        run.variables[name] = (run.numerics.undefined(kind.shape, kind.element) if value is True
                               else np.array(run.decode(value)))
    return run.variables[name]


@handles("memref.atomic_rmw")
def atomic(run, op, args, env):
    value, memory = args[0], args[1]
    place = one_place(args[2:], memory.shape)
    if np.ndim(value):
        raise NeedsScalars
    names = ["addf", "addi", "", "maximumf", "maxsi", "maxui", "minimumf", "minsi", "minui", "mulf",
             "muli", "ori", "andi", "maxnumf", "minnumf", "xori"]
    name, old = names[op.attributes["kind"]], memory[place]
    if not name:
        memory[place] = value
    elif name in FLOAT:
        memory[place] = run.numerics.fit(FLOAT[name](old, value), op.result_types[0])
    else:
        width = width_of(op.result_types[0])
        memory[place] = wrap(INTEGER[name](old, value, width), width)
    return old


@handles("memref.generic_atomic_rmw")
def generic_atomic(run, op, args, env):
    place = one_place(args[1:], args[0].shape)
    _, (value,) = run.region(op.regions[0], [args[0][place]], env)
    args[0][place] = value
    return value


# --- bufferization --------------------------------------------------------------------------------


@handles("bufferization.alloc_tensor")
def alloc_tensor(run, op, args, env):
    sizes, source, _ = ([env[name] for name in part] for part in op.segments())
    if source:
        return np.array(source[0])
    kind = op.result_types[0]
    return run.numerics.undefined(shape_of(kind, sizes), kind.element)


@handles("bufferization.to_tensor", "bufferization.clone")
def to_tensor(run, op, args, env):
    return np.array(args[0])


@handles("bufferization.to_buffer")
def to_buffer(run, op, args, env):
    return np.array(args[0])


@handles("bufferization.materialize_in_destination")
def materialize(run, op, args, env):
    require(np.shape(args[0]) == np.shape(args[1]), "extents of a destination differ")
    if op.results:
        return args[0]
    args[1][...] = args[0]
    return []
