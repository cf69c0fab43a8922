"""affine: loops, conditions and accesses whose indices are affine maps of operands."""
import itertools

import numpy as np

from .base import NeedsScalars, Unsupported, handles, integer
from .ops_control import results_of
from .ops_tensor import checked, one_place


def applied(map_, operands):
    return [np.asarray(value, np.int64)[()] for value in map_.call(operands)]


@handles("affine.apply", "affine.min", "affine.max")
def apply(run, op, args, env):
    values = applied(op.attributes["map"], args)
    if op.name == "affine.apply":
        return values[0]
    pick = np.minimum if op.name == "affine.min" else np.maximum
    result = values[0]
    for value in values[1:]:
        result = pick(result, value)
    return result


@handles("affine.for")
def loop(run, op, args, env):
    lower, upper, carried = ([env[name] for name in part] for part in op.segments())
    low = max(map(integer, applied(op.attributes["lowerBoundMap"], lower)))
    high = min(map(integer, applied(op.attributes["upperBoundMap"], upper)))
    for i in range(low, high, op.attributes["step"]):
        _, carried = run.region(op.regions[0], [np.int64(i)] + carried, env)
    return results_of(op, carried)


@handles("affine.parallel")
def parallel(run, op, args, env):
    if op.results:
        raise Unsupported("affine.parallel with results")
    lower = op.attributes["lowerBoundsMap"]
    lows = [integer(value) for value in applied(lower, args[:lower.dims + lower.symbols])]
    highs = [integer(value) for value in
             applied(op.attributes["upperBoundsMap"], args[lower.dims + lower.symbols:])]
    for point in itertools.product(*[range(*bound) for bound in
                                     zip(lows, highs, op.attributes["steps"])]):
        run.region(op.regions[0], [np.int64(i) for i in point], env)
    return []


@handles("affine.if")
def choose(run, op, args, env):
    holds = op.attributes["condition"].holds([integer(arg) for arg in args])
    region = op.regions[0 if holds else 1]
    return results_of(op, run.region(region, [], env)[1]) if region else []


@handles("affine.load")
def load(run, op, args, env):
    return args[0][checked(applied(op.attributes["map"], args[1:]), args[0].shape)]


@handles("affine.store")
def store(run, op, args, env):
    value, memory = args[0], args[1]
    place = one_place(applied(op.attributes["map"], args[2:]), memory.shape)
    if np.ndim(value):
        raise NeedsScalars
    memory[place] = value
    return []
