"""func, cf, scf and ml_program: what runs, and variables of the module."""
import itertools

import numpy as np

from .base import Unsupported, handles, integer, require
from .irtypes import DYNAMIC, element_of
from .numerics import unsigned, width_of


@handles("func.call")
def call(run, op, args, env):
    results = run.call(op.attributes["callee"].name, args)
    return results[0] if len(op.results) == 1 else results


# --- cf: (label, values) --------------------------------------------------------------------------


@handles("cf.br")
def branch(run, op, args, env):
    return op.successors[0], args


@handles("cf.cond_br")
def branch_if(run, op, args, env):
    _, yes, no = op.segments()
    taken = 0 if integer(args[0]) else 1
    return op.successors[taken], [env[name] for name in (yes, no)[taken]]


@handles("cf.switch")
def switch(run, op, args, env):
    flag, default, cases = op.segments()
    width = width_of(element_of(op.operand_types[0]))
    sizes = op.attributes.get("case_operand_segments", [])
    values = op.attributes.get("case_values")
    values = [] if values is None else np.atleast_1d(run.decode(values))
    at = 0
    for size, value, label in zip(sizes, values, op.successors[1:]):
        if unsigned(value, width) == unsigned(args[0], width):
            return label, [env[name] for name in cases[at:at + size]]
        at += size
    return op.successors[0], [env[name] for name in default]


@handles("cf.assert")
def assertion(run, op, args, env):
    require(np.all(args[0] != 0), op.attributes["msg"])


# --- scf ------------------------------------------------------------------------------------------


def results_of(op, values):
    return values[0] if len(op.results) == 1 else values


@handles("scf.for")
def loop(run, op, args, env):
    low, high, step = (integer(arg) for arg in args[:3])
    if op.attributes.get("unsignedCmp"):
        low, high, step = (value % (1 << 64) for value in (low, high, step))
    require(step > 0, "a step that is not positive")
    carried = list(args[3:])
    for i in range(low, high, step):
        _, carried = run.region(op.regions[0], [np.int64(i)] + carried, env)
    return results_of(op, carried)


@handles("scf.if")
def choose(run, op, args, env):
    region = op.regions[0] if integer(args[0]) else op.regions[1]
    if not region:
        return []
    return results_of(op, run.region(region, [], env)[1])


@handles("scf.while")
def while_loop(run, op, args, env):
    carried = args
    while True:
        _, values = run.region(op.regions[0], carried, env)
        if not integer(values[0]):
            return results_of(op, values[1:])
        _, carried = run.region(op.regions[1], values[1:], env)


@handles("scf.index_switch")
def index_switch(run, op, args, env):
    cases = op.attributes["cases"]
    flag = integer(args[0])
    region = op.regions[1 + cases.index(flag)] if flag in cases else op.regions[0]
    return results_of(op, run.region(region, [], env)[1])


@handles("scf.execute_region")
def execute_region(run, op, args, env):
    return results_of(op, run.region(op.regions[0], [], env)[1])


def space(bounds):
    """All points in order, by (low, high, step) of each dimension."""
    for low, high, step in bounds:
        require(step > 0, "a step that is not positive")
    return itertools.product(*[range(*bound) for bound in bounds])


@handles("scf.parallel")
def parallel(run, op, args, env):
    lows, highs, steps, inits = ([env[name] for name in part] for part in op.segments())
    bounds = [tuple(map(integer, bound)) for bound in zip(lows, highs, steps)]
    carried = list(inits)
    for point in space(bounds):
        reduce, values = run.region(op.regions[0], [np.int64(i) for i in point], env)
        for k, value in enumerate(values):
            _, (carried[k],) = run.region(reduce.regions[k], [carried[k], value], env)
    return results_of(op, carried)


def mixed(static, dynamic):
    """Numbers of which the ones that are DYNAMIC come from operands."""
    dynamic = iter(dynamic)
    return [integer(next(dynamic)) if value == DYNAMIC else int(value) for value in static]


@handles("scf.forall")
def forall(run, op, args, env):
    lows, highs, steps, outs = ([env[name] for name in part] for part in op.segments())
    bounds = list(zip(mixed(op.attributes["staticLowerBound"], lows),
                      mixed(op.attributes["staticUpperBound"], highs),
                      mixed(op.attributes["staticStep"], steps)))
    names = [name for name, _ in op.regions[0][0].arguments]
    shared = {name: np.array(value) for name, value in zip(names[len(bounds):], outs)}
    for point in space(bounds):
        indices = [np.int64(i) for i in point]
        last, _ = run.region(op.regions[0], indices + list(shared.values()), env)
        for insert in last.regions[0][0].ops if last.regions else []:
            if insert.name != "tensor.parallel_insert_slice":
                raise Unsupported(insert.name)
            run.step(insert, env)
    return results_of(op, list(shared.values()))


# --- ml_program -----------------------------------------------------------------------------------


@handles("ml_program.global_load", "ml_program.global_load_const")
def load_variable(run, op, args, env):
    name = op.attributes["global"].name
    if name not in run.variables:
        run.variables[name] = run.initial(run.symbol(name), "value")
    return run.variables[name]


@handles("ml_program.global_store")
def store_variable(run, op, args, env):
    run.variables[op.attributes["global"].name] = np.array(args[0])
