"""Makes a failing program smaller, by what keeps it failing in the same way."""
import copy
import re
import time

import reference

from . import check
from .values import Invalid, Value


def kind_of(why):
    """What a failure must keep: numbers and places may change."""
    for word in ("crash", "result", "no error"):
        if why.startswith((word, "with less elements, " + word)):
            return word
    return re.sub(r"\d+|'[^']*'", "", why)[:60]


def same(program, seed, engine, configuration, kind):
    """What is wrong with the program now, if it is that; else None."""
    try:
        program.infer()
        failures = check.judge(program, seed, engine, [configuration])
    except (Invalid, reference.ParseError, reference.CallFailed, reference.Unsupported, ValueError,
            KeyError):
        return None
    return failures[0][1] if failures and kind_of(failures[0][1]) == kind else None


def changes(program):
    """Functions that change a copy of the program, the ones that take away most first."""
    for keep in range(len(program.results)):
        if len(program.results) > 1:
            yield lambda p, keep=keep: p.results.__setitem__(slice(None), [p.results[keep]])
    count = len(program.all_nodes())
    for at in reversed(range(count)):
        yield lambda p, at=at: cut(p, at)
    for at in range(count):
        yield lambda p, at=at: through(p, at)
    extents = sorted({extent for value in program.arguments for extent in value.shape}, reverse=True)
    for extent in extents:
        for smaller in sorted({1, 2, extent // 2, extent - 1}):
            if 0 < smaller < extent:
                yield lambda p, a=extent, b=smaller: resize(p, a, b)
    for at in range(count):
        for key, value in (("named", None), ("whole_tensors", False), ("trips", 1),
                           ("open_offsets", False), ("open_sizes", False), ("steps", None)):
            yield lambda p, at=at, key=key, value=value: simplify(p, at, key, value)
    for at in range(len(program.arguments)):
        yield lambda p, at=at: close(p, at)


def cut(program, at):
    """A node's outputs become arguments."""
    node = program.all_nodes()[at]
    new = {}
    for value in node.outputs:
        argument = Value(value.shape, value.open, value.element, max(min(value.bound, 3.0), 1.0),
                         value.error, value.whole)
        new[id(value)] = argument
        program.arguments.append(argument)
    replace(program, new)
    for nodes, _ in program.lists():
        if node in nodes:
            nodes.remove(node)


def through(program, at):
    """A node's first output becomes one of its inputs, where the types allow it."""
    node = program.all_nodes()[at]
    for value in node.inputs:
        if value.same_type(node.outputs[0]) and len(node.outputs) == 1:
            replace(program, {id(node.outputs[0]): value})
            for nodes, _ in program.lists():
                if node in nodes:
                    nodes.remove(node)
            return
    raise Invalid


def replace(program, new):
    for node in program.all_nodes():
        node.inputs = [new.get(id(value), value) for value in node.inputs]
        if getattr(node, "extent", None) and id(node.extent[0]) in new:
            node.extent = (new[id(node.extent[0])], node.extent[1])
    for _, results in program.lists():
        results[:] = [new.get(id(value), value) for value in results]


def resize(program, old, new):
    for value in program.arguments:
        value.shape = tuple(new if extent == old else extent for extent in value.shape)
    for node in program.all_nodes():
        if hasattr(node, "cuts"):
            node.cuts = [(min(offset, new - 1) if size == old else offset,
                          new if size == old else size, stride) for offset, size, stride in node.cuts]
        if not node.inputs and node.outputs:
            node.outputs[0].shape = tuple(new if e == old else e for e in node.outputs[0].shape)


def simplify(program, at, key, value):
    node = program.all_nodes()[at]
    if key == "steps":
        # The last step of a body whose result is taken alone.
        if not getattr(node, "steps", None) or getattr(node, "taken", None) is None:
            raise Invalid
        if len(node.taken) != 1 or node.taken[0] < len(node.inputs):
            raise Invalid
        step = node.steps[node.taken[0] - len(node.inputs)]
        if not step.operands or step.source != step.result:
            raise Invalid
        node.taken = [step.operands[-1]]
        if node.whole_tensors and node.taken[0] < len(node.inputs):
            raise Invalid
        return
    if key not in node.__dict__ or not node.__dict__[key] or node.__dict__[key] == value:
        raise Invalid
    setattr(node, key, value)


def close(program, at):
    """All extents of an argument become part of its type."""
    value = program.arguments[at]
    if not any(value.open):
        raise Invalid
    value.open = (False,) * len(value.open)


def shrink(make, seed, engine, configuration, seconds):
    """(the smallest program found, what is wrong with it)."""
    program = make()
    failures = check.judge(program, seed, engine, [configuration])
    if not failures:
        return program, None  # It depends on what ran before.
    why = failures[0][1]
    kind = kind_of(why)
    end = time.monotonic() + seconds
    progress = True
    while progress and time.monotonic() < end:
        progress = False
        for change in list(changes(program)):
            if time.monotonic() >= end:
                break
            candidate = copy.deepcopy(program)
            try:
                change(candidate)
                candidate.clean()
                candidate.infer()
            except (Invalid, IndexError):
                continue
            still = same(candidate, seed, engine, configuration, kind)
            if still:
                program, why, progress = candidate, still, True
                break
    return program, why
