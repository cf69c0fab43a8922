#!/usr/bin/env python3
"""Loops, branches and switches that hand tensors on, compared with the same program run by Python.

  PYTHONPATH=build/python tests/random/control.py [--seed N] [--count N | --seconds S]

A tensor never changes, so one that is handed on twice, swapped, begun from another's slice or from nothing, or written in
one branch only must stay what it was for each of its readers: the lowering has to find out which of them may share memory.
Programs are blocks of steps, each of which reads tensors of its block or of one around it. Elements are i32, vectors or
matrices, of extents that are known or not. The oracle must agree as well, with one and with two threads, and no argument
may be written to. Exit status 1 if any was wrong; its source is printed.
"""
import numpy as np

from products import run

EXTENTS = [1, 2, 3, 5, 8, 17]
DEEPEST = 3


class Block:
    """Steps, as lines of MLIR and as functions of an environment: the values by name."""

    def __init__(self, case, tensors, numbers, depth):
        self.case, self.rng, self.depth = case, case.rng, depth
        self.tensors, self.numbers = list(tensors), list(numbers)
        self.lines, self.steps = [], []
        for _ in range(self.rng.randint(0 if depth else 2, 4)):
            if case.steps_left:
                case.steps_left -= 1
                flat, nested = case.flat, case.nested if depth < DEEPEST else []
                self.rng.choice(nested if nested and self.rng.random() < 0.6 else flat)(self)

    def run(self, environment):
        for step in self.steps:
            step(environment)

    def name(self):
        return self.case.name()

    def tensor(self):
        """Mostly a new one: what nothing reads is not compiled."""
        return self.rng.choice(self.tensors[-3:] if self.rng.random() < 0.6 else self.tensors)

    def number(self):
        return self.rng.choice(self.numbers)

    def add(self, lines, step, *results):
        self.lines += lines
        self.steps.append(step)
        self.tensors += results

    def inner(self, tensors=(), numbers=()):
        return Block(self.case, [*self.tensors, *tensors], [*self.numbers, *numbers], self.depth + 1)

    def yielded(self, own, count):
        """Tensors that a block hands on: of its own or of those around it, some twice, some in another order."""
        choice = self.rng.random()
        if len(own) == count and choice < 0.3:
            return own[1:] + own[:1]
        return [self.rng.choice(own) if own and self.rng.random() < 0.3 else self.tensor() for _ in range(count)]

    def condition(self):
        """A name, its lines, and what it is."""
        name, left, right = self.name(), self.number(), self.number()
        return name, [f"{name} = arith.cmpi sle, {left}, {right} : index"], lambda values: values[left] <= values[right]


def indented(lines):
    return ["  " + line for line in lines]


def types(kind, count):
    return ", ".join([kind] * count)


def results_of(name, count):
    """How several results are declared, and how each is called."""
    return (f"{name}:{count}", [f"{name}#{i}" for i in range(count)]) if count > 1 else (name, [name])


# Steps without blocks.


def add_elements(block):
    """Into the memory of one of the two, of a third, or of nothing."""
    case, (left, right), result, kind = block.case, (block.tensor(), block.tensor()), block.name(), block.case.type
    lines = []
    into = block.rng.choice([left, right, block.tensor(), None])
    if into is None:
        into = block.name()
        lines += case.empty(into)
    lines += [f"{result} = linalg.add ins({left}, {right} : {kind}, {kind}) outs({into} : {kind}) -> {kind}"]

    def step(values):
        values[result] = values[left] + values[right]

    block.add(lines, step, result)


def fill(block):
    case, into, result, number = block.case, block.tensor(), block.name(), block.rng.randint(-9, 9)
    constant = block.name()
    lines = [f"{constant} = arith.constant {number} : i32"]
    if block.rng.random() < 0.5:
        into = block.name()
        lines += case.empty(into)
    lines += [f"{result} = linalg.fill ins({constant} : i32) outs({into} : {case.type}) -> {case.type}"]

    def step(values):
        values[result] = np.full(case.shape, number, np.int32)

    block.add(lines, step, result)


def insert_element(block):
    """One more than an element of one tensor, into another."""
    source, into, result, kind = block.tensor(), block.tensor(), block.name(), block.case.type
    element, more = block.name(), block.name()
    indices = [block.number() for _ in block.case.shape]
    at = [f"{each}.at{i}" for i, each in enumerate([result] * len(indices))]
    lines = [f"{name} = arith.remui {index}, %extent{i} : index" for i, (name, index) in enumerate(zip(at, indices))]
    lines += [f"{element} = tensor.extract {source}[{', '.join(at)}] : {kind}", f"{more} = arith.addi {element}, %one : i32",
              f"{result} = tensor.insert {more} into {into}[{', '.join(at)}] : {kind}"]

    def step(values):
        place = tuple(values[index] % extent for index, extent in zip(indices, block.case.shape))
        array = values[into].copy()
        array[place] = values[source][place] + np.int32(1)
        values[result] = array

    block.add(lines, step, result)


def move_slice(block):
    """A part of one tensor over another part of another one, perhaps with something added to it on the way."""
    case, source, into, result = block.case, block.tensor(), block.tensor(), block.name()
    part, part_type = block.name(), case.slice_type
    begin, end = block.rng.choice([0, case.half]), block.rng.choice([0, case.half])
    rest, ones = ["0"] * (len(case.shape) - 1), ", ".join(["1"] * len(case.shape))

    def place(first):
        return f"[{', '.join([str(first), *rest])}] [{', '.join([str(case.half), *case.extents[1:]])}] [{ones}]"

    lines = [f"{part} = tensor.extract_slice {source}{place(begin)} : {case.type} to {part_type}"]
    doubled = block.rng.random() < 0.5
    written = part
    if doubled:
        written = block.name()
        lines += [f"{written} = linalg.add ins({part}, {part} : {part_type}, {part_type}) outs({part} : {part_type}) "
                  f"-> {part_type}"]
    lines += [f"{result} = tensor.insert_slice {written} into {into}{place(end)} : {part_type} into {case.type}"]

    def step(values):
        array = values[into].copy()
        array[end:end + case.half] = values[source][begin:begin + case.half] * np.int32(2 if doubled else 1)
        values[result] = array

    block.add(lines, step, result)


def select(block):
    left, right, result, kind = block.tensor(), block.tensor(), block.name(), block.case.type
    condition, lines, holds = block.condition()

    def step(values):
        values[result] = values[left] if holds(values) else values[right]

    block.add([*lines, f"{result} = arith.select {condition}, {left}, {right} : {kind}"], step, result)


def call(block):
    """A function that hands its arguments on in another order, the first with one more in each element."""
    first, second, name, kind = block.tensor(), block.tensor(), block.name(), block.case.type
    declared, results = results_of(name, 2)

    def step(values):
        values[results[0]], values[results[1]] = values[second], values[first] + np.int32(1)

    block.add([f"{declared} = func.call @swap({first}, {second}) : ({kind}, {kind}) -> ({kind}, {kind})"], step, *results)


# Steps with blocks.


def loop(block):
    count, kind = block.rng.randint(1, 3), block.case.type
    begins, carried = [block.tensor() for _ in range(count)], [block.name() for _ in range(count)]
    index, bound, name = block.name(), block.number(), block.name()
    declared, results = results_of(name, count)
    inner = block.inner(carried, [index])
    yields = inner.yielded(carried, count)
    pairs = ", ".join(f"{own} = {begin}" for own, begin in zip(carried, begins))
    lines = [f"{declared} = scf.for {index} = %zero to {bound} step %step iter_args({pairs}) -> ({types(kind, count)}) {{",
             *indented(inner.lines), f"  scf.yield {', '.join(yields)} : {types(kind, count)}", "}"]

    def step(values):
        arrays = [values[begin] for begin in begins]
        for i in range(0, values[bound], values["%step"]):
            local = {**values, index: i, **dict(zip(carried, arrays))}
            inner.run(local)
            arrays = [local[each] for each in yields]
        values.update(zip(results, arrays))

    block.add(lines, step, *results)


def begun_from_nothing(block):
    """A loop whose tensors begin as one or as several that nothing was written to: each round writes before it reads."""
    count, kind, case = block.rng.randint(1, 3), block.case.type, block.case
    empties = [block.name() for _ in range(block.rng.randint(1, count))]
    begins, carried = [block.rng.choice(empties) for _ in range(count)], [block.name() for _ in range(count)]
    index, name = block.name(), block.name()
    declared, results = results_of(name, count)
    filled, numbers, constants = [block.name() for _ in range(count)], [block.rng.randint(-9, 9) for _ in range(count)], []
    lines = [line for empty in empties for line in case.empty(empty)]
    for own, full, number in zip(carried, filled, numbers):
        constants += [f"{full}.number = arith.constant {number} : i32",
                      f"{full} = linalg.fill ins({full}.number : i32) outs({own} : {kind}) -> {kind}"]
    inner = block.inner(filled, [index])
    yields = inner.yielded(filled, count)
    pairs = ", ".join(f"{own} = {begin}" for own, begin in zip(carried, begins))
    lines += [f"{declared} = scf.for {index} = %zero to %two step %unit iter_args({pairs}) -> ({types(kind, count)}) {{",
              *indented(constants), *indented(inner.lines), f"  scf.yield {', '.join(yields)} : {types(kind, count)}", "}"]

    def step(values):
        arrays = []
        for i in range(2):
            local = {**values, index: i, **{full: np.full(case.shape, each, np.int32) for full, each in zip(filled, numbers)}}
            inner.run(local)
            arrays = [local[each] for each in yields]
        values.update(zip(results, arrays))

    block.add(lines, step, *results)


def built_of_rows(block):
    """A loop over rows whose tensors begin as nothing: each round copies a row of another tensor into each of them, and hands them on in
    the same order or another one."""
    count, kind, case = block.rng.randint(1, 3), block.case.type, block.case
    empties = [block.name() for _ in range(block.rng.randint(1, count))]
    begins, carried = [block.rng.choice(empties) for _ in range(count)], [block.name() for _ in range(count)]
    sources, written = [block.tensor() for _ in range(count)], [block.name() for _ in range(count)]
    index, name = block.name(), block.name()
    declared, results = results_of(name, count)
    order = list(range(count))
    if block.rng.random() < 0.5:
        block.rng.shuffle(order)
    row = case.tensor_type(1)
    place = (f"[{', '.join([index, *['0'] * (len(case.shape) - 1)])}] [{', '.join(['1', *case.extents[1:]])}] "
             f"[{', '.join(['1'] * len(case.shape))}]")
    lines = [line for empty in empties for line in case.empty(empty)]
    pairs = ", ".join(f"{own} = {begin}" for own, begin in zip(carried, begins))
    lines += [f"{declared} = scf.for {index} = %zero to %extent0 step %unit iter_args({pairs}) -> ({types(kind, count)}) {{"]
    for own, source, new in zip(carried, sources, written):
        lines += indented([f"{new}.row = tensor.extract_slice {source}{place} : {kind} to {row}",
                           f"{new} = tensor.insert_slice {new}.row into {own}{place} : {row} into {kind}"])
    lines += [f"  scf.yield {', '.join(written[i] for i in order)} : {types(kind, count)}", "}"]

    def step(values):
        arrays = [np.zeros(case.shape, np.int32) for _ in range(count)]
        for i in range(case.shape[0]):
            for array, source in zip(arrays, sources):
                array[i] = values[source][i]
            arrays = [arrays[j] for j in order]
        values.update(zip(results, arrays))

    block.add(lines, step, *results)


def while_loop(block):
    """Its first half hands on other tensors than it was given, of which the results are made."""
    count, kind = block.rng.randint(1, 3), block.case.type
    begins = [block.tensor() for _ in range(count)]
    tested, carried = [block.name() for _ in range(count)], [block.name() for _ in range(count)]
    before_index, after_index, next_index, condition = (block.name() for _ in range(4))
    bound, name = block.number(), block.name()
    declared, results = results_of(name, count + 1)
    before, after = block.inner(tested, [before_index]), block.inner(carried, [after_index])
    handed, yields = before.yielded(tested, count), after.yielded(carried, count)
    all_types = f"index, {types(kind, count)}"
    pairs = ", ".join(f"{own} = {begin}" for own, begin in zip([before_index, *tested], ["%zero", *begins]))
    lines = [f"{declared} = scf.while ({pairs}) : ({all_types}) -> ({all_types}) {{", *indented(before.lines),
             f"  {condition} = arith.cmpi slt, {before_index}, {bound} : index",
             f"  scf.condition({condition}) {', '.join([before_index, *handed])} : {all_types}", "} do {",
             f"^bb0({', '.join([f'{after_index}: index', *(f'{own}: {kind}' for own in carried)])}):", *indented(after.lines),
             f"  {next_index} = arith.addi {after_index}, %unit : index",
             f"  scf.yield {', '.join([next_index, *yields])} : {all_types}", "}"]

    def step(values):
        i, arrays = 0, [values[begin] for begin in begins]
        while True:
            local = {**values, before_index: i, **dict(zip(tested, arrays))}
            before.run(local)
            arrays = [local[each] for each in handed]
            if i >= values[bound]:
                break
            local = {**values, after_index: i, **dict(zip(carried, arrays))}
            after.run(local)
            i, arrays = i + 1, [local[each] for each in yields]
        values.update(zip(results, [i, *arrays]))

    block.add(lines, step, *results[1:])
    block.numbers.append(results[0])


def branch(block):
    count, kind, name = block.rng.randint(1, 3), block.case.type, block.name()
    declared, results = results_of(name, count)
    condition, lines, holds = block.condition()
    sides = [block.inner(), block.inner()]
    yields = [side.yielded([], count) for side in sides]
    lines += [f"{declared} = scf.if {condition} -> ({types(kind, count)}) {{"]
    for side, handed, last in zip(sides, yields, ["} else {", "}"]):
        lines += [*indented(side.lines), f"  scf.yield {', '.join(handed)} : {types(kind, count)}", last]

    def step(values):
        taken = 0 if holds(values) else 1
        local = dict(values)
        sides[taken].run(local)
        values.update(zip(results, [local[each] for each in yields[taken]]))

    block.add(lines, step, *results)


def switch(block):
    count, kind, name, index = block.rng.randint(1, 2), block.case.type, block.name(), block.number()
    declared, results = results_of(name, count)
    cases = block.rng.sample(range(4), block.rng.randint(0, 3))
    sides = [block.inner() for _ in [*cases, None]]
    yields = [side.yielded([], count) for side in sides]
    lines = [f"{declared} = scf.index_switch {index} -> {types(kind, count)}"]
    for side, handed, head in zip(sides, yields, [*(f"case {each}" for each in cases), "default"]):
        lines += [f"{head} {{", *indented(side.lines), f"  scf.yield {', '.join(handed)} : {types(kind, count)}", "}"]

    def step(values):
        taken = cases.index(values[index]) if values[index] in cases else len(cases)
        local = dict(values)
        sides[taken].run(local)
        values.update(zip(results, [local[each] for each in yields[taken]]))

    block.add(lines, step, *results)


class Case:
    """A program of two tensors, a third of twice their rows whose slices it begins with as well, and a number."""

    def __init__(self, rng):
        self.rng, self.names = rng, 0
        self.shape = [2 * rng.choice(EXTENTS), *([rng.choice(EXTENTS)] if rng.random() < 0.4 else [])]
        self.half = self.shape[0] // 2
        known = [rng.random() < 0.6 for _ in self.shape]
        self.extents = [str(extent) if is_known else f"%extent{i}" for i, (extent, is_known) in enumerate(zip(self.shape, known))]
        self.type = self.tensor_type(self.shape[0] if known[0] else "?")
        self.slice_type = self.tensor_type(self.half)
        self.steps_left = rng.randint(4, 16)
        self.flat = [add_elements, fill, insert_element, move_slice, select, call]
        self.nested = [loop, loop, begun_from_nothing, built_of_rows, while_loop, while_loop, branch, switch]
        self.sizes = f"shape {self.shape}"
        tensors = ["%x", "%y", "%w"] if rng.random() < 0.5 else ["%x", "%y"]
        self.sliced = len(tensors) == 3
        self.body = Block(self, tensors, ["%zero", "%unit", "%two", "%n"], 0)
        self.results = self.body.tensors[-rng.randint(1, 8):]
        self.results += [self.body.tensor() for _ in range(rng.randint(0, 2))]

    def tensor_type(self, rows):
        rest = [extent if extent[0] != "%" else "?" for extent in self.extents[1:]]
        return f"tensor<{'x'.join([str(rows), *rest])}xi32>"

    def name(self):
        self.names += 1
        return f"%v{self.names}"

    def empty(self, name):
        """Lines that make a tensor of nothing."""
        return [f"{name} = tensor.empty({', '.join(each for each in self.extents if each[0] == '%')}) : {self.type}"]

    def source(self):
        kind, count = self.type, len(self.results)
        wide = self.tensor_type("?")
        lines = ["%one = arith.constant 1 : i32"]
        lines += [f"%{name} = arith.constant {value} : index" for name, value in [("zero", 0), ("unit", 1), ("two", 2)]]
        lines += [line for i in range(len(self.shape)) for line in [
            f"%axis{i} = arith.constant {i} : index", f"%extent{i} = tensor.dim %x, %axis{i} : {kind}"]]
        if self.sliced:
            sizes, ones = ", ".join(self.extents), ", ".join(["1"] * len(self.shape))
            begin = ", ".join(["%n", *["0"] * (len(self.shape) - 1)])
            lines += [f"%w = tensor.extract_slice %g[{begin}] [{sizes}] [{ones}] : {wide} to {kind}"]
        swapped = [f"%more = linalg.map {{arith.addi}} ins(%a, %ones : {kind}, {kind}) outs(%a : {kind})"]
        return "\n".join([
            f"func.func private @swap(%a: {kind}, %b: {kind}) -> ({kind}, {kind}) {{",
            *indented(["%one = arith.constant 1 : i32",
                       *(line for i in range(len(self.shape)) for line in [
                           f"%axis{i} = arith.constant {i} : index", f"%extent{i} = tensor.dim %a, %axis{i} : {kind}"]),
                       *self.empty("%nothing"),
                       f"%ones = linalg.fill ins(%one : i32) outs(%nothing : {kind}) -> {kind}", *swapped,
                       f"return %b, %more : {kind}, {kind}"]), "}",
            f"func.func @main(%x: {kind}, %y: {kind}, %g: {wide}, %n: index, %step: index) -> ({types(kind, count)}) {{",
            *indented([*lines, *self.body.lines, f"return {', '.join(self.results)} : {types(kind, count)}"]), "}", ""])


def check(case, engines, numbers):
    source = case.source()
    functions = [engine.loads(source, **options).main for engine in engines for options in ({}, {"oracle": True})]
    for n in range(3):
        arrays = [numbers.integers(-99, 99, shape, np.int32)
                  for shape in (case.shape, case.shape, [2 * case.shape[0], *case.shape[1:]])]
        arguments = [*arrays, n, int(numbers.integers(1, 3))]
        values = {"%x": arrays[0], "%y": arrays[1], "%w": arrays[2][n:n + case.shape[0]], "%n": n, "%step": arguments[-1],
                  "%zero": 0, "%unit": 1, "%two": 2}
        case.body.run(values)
        want = [values[name] for name in case.results]
        for which, function in enumerate(functions):
            given = [argument.copy() if isinstance(argument, np.ndarray) else argument for argument in arguments]
            have = function(*given)
            have = have if isinstance(have, (list, tuple)) else [have]
            kind = f"n = {n}, {'oracle' if which % 2 else 'engine'} of {1 + which // 2} threads"
            for i, (got, wanted) in enumerate(zip(have, want)):
                if not np.array_equal(got, wanted):
                    return f"{kind}: result {i} is {got.tolist()}, not {wanted.tolist()}"
            for i, array in enumerate(arrays):
                if not np.array_equal(given[i], array):
                    return f"{kind}: argument {i} was written to"
    return None


if __name__ == "__main__":
    run(__doc__, Case, check)
