"""Programs as graphs, so that they can be written as MLIR, changed, and written again.

A program has arguments, nodes in order, and results. A node has inputs and outputs, which are values,
and parameters. `infer` computes the types of its outputs from those of its inputs, and raises Invalid
where they do not fit any more; `emit` writes it. So extents can shrink and nodes can be cut out without
the generator.

How large the numbers may be, and how far from the wanted ones, is part of a value. In a program that
must be exact all floats are small integers: no order of evaluation and no fused operation changes a bit.
Where `whole` is false a value has other digits, which each step rounds; the generator then lets nothing
happen to it in which the engine has freedom.
"""
import dataclasses
import itertools

FLOATS = ("f16", "bf16", "f32", "f64")
INTEGERS = ("i1", "i8", "i16", "i32", "i64", "index")
DIGITS = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}


class Invalid(Exception):
    """The types do not fit: the change is not possible."""


@dataclasses.dataclass(eq=False)
class Value:
    shape: tuple  # The extents of a call.
    open: tuple   # Which of them the type leaves open.
    element: str
    bound: float = 3.0  # Of floats: no number is larger.
    error: float = 0.0  # Of floats: how far the engine may be from the reference.
    whole: bool = True
    name: str = ""

    def like(self, **changes):
        return dataclasses.replace(self, name="", **changes)

    def type(self):
        return tensor(self.shape, self.open, self.element)

    def same_type(self, other):
        return (self.shape, self.open, self.element) == (other.shape, other.open, other.element)


def tensor(shape, open_, element):
    extents = "".join(("?" if is_open else str(extent)) + "x" for extent, is_open in zip(shape, open_))
    return f"tensor<{extents}{element}>"


class Writer:
    """The text of one function."""

    def __init__(self):
        self.lines = []
        self.indent = 1
        self.names = itertools.count()

    def name(self):
        return f"%{next(self.names)}"

    def line(self, text):
        self.lines.append("  " * self.indent + text)

    def op(self, text):
        name = self.name()
        self.line(f"{name} = {text}")
        return name

    def index(self, number):
        return self.op(f"arith.constant {number} : index")

    def extent(self, value, axis):
        return self.op(f"tensor.dim {value.name}, {self.index(axis)} : {value.type()}")

    def empty(self, value, sources):
        """A destination of that type. sources: for each axis (value, axis) with the extent, or None."""
        operands = []
        for extent, is_open, source in zip(value.shape, value.open, sources):
            if is_open:
                operands.append(self.extent(*source) if source else self.index(extent))
        return self.op(f"tensor.empty({', '.join(operands)}) : {value.type()}")

    def filled(self, value, sources, number):
        empty = self.empty(value, sources)
        scalar = self.op(constant(number, value.element))
        return self.op(f"linalg.fill ins({scalar} : {value.element}) outs({empty} : {value.type()}) "
                       f"-> {value.type()}")


def literal(number, element):
    if element in FLOATS:
        if number in (float("inf"), float("-inf")):
            bits = {"f16": 0x7C00, "bf16": 0x7F80, "f32": 0x7F800000, "f64": 0x7FF0000000000000}[element]
            sign = 1 << ({"f16": 16, "bf16": 16, "f32": 32, "f64": 64}[element] - 1)
            return hex(bits | (sign if number < 0 else 0)).upper().replace("X", "x")
        return repr(float(number))
    return str(bool(number)).lower() if element == "i1" else str(int(number))


def constant(number, element):
    suffix = "" if element == "i1" else f" : {element}"
    return f"arith.constant {literal(number, element)}{suffix}"


def affine(rank, results):
    dims = [f"d{i}" for i in range(rank)]
    return (f"affine_map<({', '.join(dims)}) -> "
            f"({', '.join(str(r) if isinstance(r, str) else f'd{r}' for r in results)})>")


# --- Bodies ---------------------------------------------------------------------------------------


@dataclasses.dataclass
class Step:
    """One operation on scalars, of the numbers that came before. kind says how it is written."""
    kind: str
    op: str
    operands: tuple
    source: str
    result: str


def emit_steps(writer, steps, names, type_of=lambda element: element):
    """names: those of the block's arguments; grows by one a step."""
    for step in steps:
        a = [names[i] for i in step.operands]
        source, result = type_of(step.source), type_of(step.result)
        if step.kind == "constant":
            number = float(step.op) if step.result in FLOATS else int(step.op)
            text = (constant(number, step.result) if result == step.result else
                    f"arith.constant dense<{literal(number, step.result)}> : {result}")
        elif step.kind == "index":
            text = f"linalg.index {step.op} : index"
        elif step.kind == "cast":
            text = f"{step.op} {a[0]} : {source} to {result}"
        elif step.kind == "select":
            condition = "" if result == step.result else type_of("i1") + ", "
            text = f"arith.select {', '.join(a)} : {condition}{result}"
        else:  # The operands have one type, which is written.
            text = f"{step.op} {', '.join(a)} : {source}"
        names.append(writer.op(text))
    return names


# --- Nodes ----------------------------------------------------------------------------------------


class Node:
    def __init__(self, inputs, outputs, **parameters):
        self.inputs, self.outputs = list(inputs), list(outputs)
        self.blocks = []
        self.__dict__.update(parameters)

    def set(self, which, shape, open_):
        self.outputs[which].shape, self.outputs[which].open = tuple(shape), tuple(open_)

    def result(self, name):
        """The name of a result of one."""
        self.outputs[0].name = name


def generic(writer, rank, ins, outs, reductions, body):
    """A linalg.generic. ins, outs: (name, type, element, map). body: writes, gives what is yielded."""
    words = ", ".join('"reduction"' if i in reductions else '"parallel"' for i in range(rank))
    maps = ", ".join(affine(rank, operand[3]) for operand in ins + outs)
    results = ", ".join(operand[1] for operand in outs)
    name = writer.name()
    given = ""
    if ins:
        given = (f"ins({', '.join(operand[0] for operand in ins)} : "
                 f"{', '.join(operand[1] for operand in ins)}) ")
    writer.line(f"{name}{f':{len(outs)}' if len(outs) > 1 else ''} = linalg.generic "
                f"{{indexing_maps = [{maps}], iterator_types = [{words}]}} {given}"
                f"outs({', '.join(operand[0] for operand in outs)} : {results}) {{")
    arguments = [writer.name() for _ in ins + outs]
    writer.line("^bb0(" + ", ".join(f"{argument}: {operand[2]}"
                                    for argument, operand in zip(arguments, ins + outs)) + "):")
    writer.indent += 1
    yielded = body(arguments)
    writer.line(f"linalg.yield {', '.join(yielded)} : {', '.join(operand[2] for operand in outs)}")
    writer.indent -= 1
    writer.line("} -> " + (results if len(outs) == 1 else f"({results})"))
    return [name] if len(outs) == 1 else [f"{name}#{i}" for i in range(len(outs))]


class Elementwise(Node):
    """inputs[i] is read by maps[i], axes of the space or "0"; the space is that of `space`, a list
    of (input, axis). order: the axes of the outputs. init: which input is the destination, or None.
    steps, taken: the body and which of its numbers are the results. whole_tensors: no region."""

    def infer(self):
        extents = [(self.inputs[i].shape[a], self.inputs[i].open[a]) for i, a in self.space]
        for value, map_ in zip(self.inputs, self.maps):
            for extent, axis in zip(value.shape, map_):
                if extent != (1 if axis == "0" else extents[axis][0]):
                    raise Invalid
        for k in range(len(self.outputs)):
            self.set(k, [extents[a][0] for a in self.order], [extents[a][1] for a in self.order])
        if self.init is not None and not self.inputs[self.init].same_type(self.outputs[0]):
            raise Invalid
        if self.whole_tensors and any(value.open != self.outputs[0].open for value in self.inputs):
            raise Invalid

    def emit(self, writer):
        rank = len(self.space)
        if self.whole_tensors:
            out = self.outputs[0]
            names = emit_steps(writer, self.steps, [value.name for value in self.inputs],
                               lambda element: tensor(out.shape, out.open, element))
            for output, taken in zip(self.outputs, self.taken):
                output.name = names[taken]
            return
        sources = [(self.inputs[self.space[a][0]], self.space[a][1]) for a in self.order]
        ins = [(value.name, value.type(), value.element, map_)
               for i, (value, map_) in enumerate(zip(self.inputs, self.maps)) if i != self.init]
        outs = []
        for k, output in enumerate(self.outputs):
            name = self.inputs[self.init].name if k == 0 and self.init is not None else \
                writer.empty(output, sources)
            outs.append((name, output.type(), output.element, self.order))

        def body(arguments):
            # The destination is an input like others, at its own place.
            names = arguments[:len(ins)]
            if self.init is not None:
                names.insert(self.init, arguments[len(ins)])
            return [emit_steps(writer, self.steps, names)[taken] for taken in self.taken[:1]] + \
                [names[taken] for taken in self.taken[1:]]
        for output, name in zip(self.outputs, generic(writer, rank, ins, outs, [], body)):
            output.name = name


class Reduce(Node):
    """inputs: what is reduced, and the start unless `start` is a number. axes; combiner, as steps of
    (element, accumulator). named: as linalg.reduce. square: of the products with themselves."""

    def infer(self):
        source = self.inputs[0]
        kept = [a for a in range(len(source.shape)) if a not in self.axes]
        self.set(0, [source.shape[a] for a in kept], [source.open[a] for a in kept])
        if len(self.inputs) > 1 and not self.inputs[1].same_type(self.outputs[0]):
            raise Invalid

    def emit(self, writer):
        source, output = self.inputs[0], self.outputs[0]
        rank = len(source.shape)
        kept = [a for a in range(rank) if a not in self.axes]
        start = self.inputs[1].name if len(self.inputs) > 1 else \
            writer.filled(output, [(source, a) for a in kept], self.start)

        def body(arguments):
            names = list(arguments)
            return [emit_steps(writer, self.steps, names)[-1]]
        if self.named:
            name = writer.op(f"linalg.reduce ins({source.name} : {source.type()}) "
                             f"outs({start} : {output.type()}) dimensions = {list(self.axes)}")
            x, acc = writer.name(), writer.name()
            writer.line(f"({x}: {source.element}, {acc}: {output.element}) {{")
            writer.indent += 1
            writer.line(f"linalg.yield {body([x, acc])[0]} : {output.element}")
            writer.indent -= 1
            writer.line("}")
            self.result(name)
            return
        (name,) = generic(writer, rank, [(source.name, source.type(), source.element, range(rank))],
                          [(start, output.type(), output.element, kept)], self.axes, body)
        self.result(name)


class ArgExtreme(Node):
    """The first place of the largest, or with `least` smallest, along one axis, and what is there."""

    def infer(self):
        source = self.inputs[0]
        kept = [a for a in range(len(source.shape)) if a != self.axis]
        for k in range(2):
            self.set(k, [source.shape[a] for a in kept], [source.open[a] for a in kept])

    def emit(self, writer):
        source, (best, place) = self.inputs[0], self.outputs
        rank = len(source.shape)
        kept = [a for a in range(rank) if a != self.axis]
        sources = [(source, a) for a in kept]
        starts = [writer.filled(best, sources, self.start), writer.filled(place, sources, 0)]

        def body(arguments):
            x, top, at = arguments
            here = writer.op(f"linalg.index {self.axis} : index")
            if place.element != "index":
                here = writer.op(f"arith.index_cast {here} : index to {place.element}")
            compare = "arith.cmpf " + ("olt" if self.least else "ogt") \
                if source.element in FLOATS else "arith.cmpi " + ("slt" if self.least else "sgt")
            better = writer.op(f"{compare}, {x}, {top} : {source.element}")
            return [writer.op(f"arith.select {better}, {x}, {top} : {source.element}"),
                    writer.op(f"arith.select {better}, {here}, {at} : {place.element}")]
        outs = [(start, output.type(), output.element, kept)
                for start, output in zip(starts, self.outputs)]
        names = generic(writer, rank, [(source.name, source.type(), source.element, range(rank))],
                        outs, [self.axis], body)
        best.name, place.name = names


class Contract(Node):
    """Sums of products. maps: of the two factors and the result over `rank` dimensions; the result's
    letters are the parallel ones. named: linalg.matmul or batch_matmul with these maps."""

    def infer(self):
        extents = {}
        for value, map_ in zip(self.inputs, self.maps):
            for extent, is_open, dim in zip(value.shape, value.open, map_):
                known = extents.setdefault(dim, (extent, is_open))
                if known[0] != extent:
                    raise Invalid
                extents[dim] = (extent, known[1] and is_open)
        self.set(0, [extents[d][0] for d in self.maps[2]], [extents[d][1] for d in self.maps[2]])
        if len(self.inputs) > 2 and not self.inputs[2].same_type(self.outputs[0]):
            raise Invalid

    def emit(self, writer):
        left, right, output = self.inputs[0], self.inputs[1], self.outputs[0]
        sources = []
        for dim in self.maps[2]:
            which = 0 if dim in self.maps[0] else 1
            sources.append((self.inputs[which], self.maps[which].index(dim)))
        start = self.inputs[2].name if len(self.inputs) > 2 else writer.filled(output, sources, 0)
        reductions = [d for d in range(self.rank) if d not in self.maps[2]]
        if self.named:
            maps = ", ".join(affine(self.rank, map_) for map_ in self.maps)
            self.result(writer.op(
                f"{self.named} indexing_maps = [{maps}] ins({left.name}, {right.name} : "
                f"{left.type()}, {right.type()}) outs({start} : {output.type()}) -> {output.type()}"))
            return

        def body(arguments):
            a, b, acc = arguments
            kind = "f" if output.element in FLOATS else "i"
            if left.element != output.element:
                a, b = (writer.op(f"arith.ext{'f' if kind == 'f' else 'si'} {x} : {left.element} to "
                                  f"{output.element}") for x in (a, b))
            product = writer.op(f"arith.mul{kind} {a}, {b} : {output.element}")
            return [writer.op(f"arith.add{kind} {acc}, {product} : {output.element}")]
        ins = [(value.name, value.type(), value.element, map_)
               for value, map_ in zip((left, right), self.maps)]
        (name,) = generic(writer, self.rank, ins,
                          [(start, output.type(), output.element, self.maps[2])], reductions, body)
        self.result(name)


class Transpose(Node):
    def infer(self):
        source = self.inputs[0]
        self.set(0, [source.shape[a] for a in self.order], [source.open[a] for a in self.order])

    def emit(self, writer):
        source, output = self.inputs[0], self.outputs[0]
        empty = writer.empty(output, [(source, a) for a in self.order])
        self.result(writer.op(f"linalg.transpose ins({source.name} : {source.type()}) "
                              f"outs({empty} : {output.type()}) permutation = {list(self.order)}"))


class Slice(Node):
    """tensor.extract_slice, or tensor.insert_slice where there are two inputs: the first into the
    second. cuts: (offset, size, stride) of each axis; dropped: axes of size one that the slice has
    not."""

    def infer(self):
        whole = self.inputs[-1]
        for extent, (offset, size, stride) in zip(whole.shape, self.cuts):
            # Not even an empty slice may begin at the end, where the extent is known.
            if offset >= extent or size and offset + (size - 1) * stride >= extent:
                raise Invalid
        kept = [a for a in range(len(whole.shape)) if a not in self.dropped]
        shape = tuple(self.cuts[a][1] for a in kept)
        if len(self.inputs) == 2:
            if self.inputs[0].shape != shape:
                raise Invalid
            self.set(0, whole.shape, whole.open)
        else:
            self.set(0, shape, [whole.open[a] and self.open_sizes for a in kept])

    def emit(self, writer):
        part, whole, output = self.inputs[0], self.inputs[-1], self.outputs[0]
        slice_ = part if len(self.inputs) == 2 else output
        kept = iter(range(len(slice_.shape)))
        offsets, sizes, strides = [], [], []
        for axis, (offset, size, stride) in enumerate(self.cuts):
            offsets.append(writer.index(offset) if self.open_offsets else str(offset))
            strides.append(str(stride))
            is_open = axis not in self.dropped and slice_.open[next(kept)]
            sizes.append(writer.index(size) if is_open else str(size))
        text = "".join(f"[{', '.join(part)}] " for part in (offsets, sizes, strides))
        if len(self.inputs) == 2:
            self.result(writer.op(f"tensor.insert_slice {part.name} into {whole.name}{text}: "
                                  f"{part.type()} into {whole.type()}"))
        else:
            self.result(writer.op(f"tensor.extract_slice {whole.name}{text}: {whole.type()} to "
                                  f"{output.type()}"))


class Pad(Node):
    """low, high of each axis; the constant `number`, or, by_index, the sum of the indices."""

    def infer(self):
        source = self.inputs[0]
        self.set(0, [a + e + b for a, e, b in zip(self.low, source.shape, self.high)], source.open)

    def emit(self, writer):
        source, output = self.inputs[0], self.outputs[0]
        scalar = writer.op(constant(self.number, source.element))
        name = writer.op(f"tensor.pad {source.name} low{list(self.low)} high{list(self.high)} {{")
        indices = [writer.name() for _ in source.shape]
        writer.line(f"^bb0({', '.join(i + ': index' for i in indices)}):")
        writer.line(f"  tensor.yield {scalar} : {source.element}")
        writer.line(f"}} : {source.type()} to {output.type()}")
        self.result(name)


class Concat(Node):
    def infer(self):
        first = self.inputs[0]
        for value in self.inputs[1:]:
            for axis, (a, b) in enumerate(zip(first.shape, value.shape)):
                if axis != self.axis and a != b:
                    raise Invalid
        shape, open_ = list(first.shape), list(first.open)
        shape[self.axis] = sum(value.shape[self.axis] for value in self.inputs)
        for axis in range(len(shape)):
            flags = [value.open[axis] for value in self.inputs]
            open_[axis] = any(flags) if axis == self.axis else all(flags)
        self.set(0, shape, open_)

    def emit(self, writer):
        names = ", ".join(value.name for value in self.inputs)
        types = ", ".join(value.type() for value in self.inputs)
        self.result(writer.op(f"tensor.concat dim({self.axis}) {names} : ({types}) -> "
                              f"{self.outputs[0].type()}"))


class Collapse(Node):
    """Joins axes at, at + 1."""

    def infer(self):
        value, at = self.inputs[0], self.at
        joined = value.shape[at] * value.shape[at + 1]
        self.set(0, (*value.shape[:at], joined, *value.shape[at + 2:]),
                 (*value.open[:at], value.open[at] or value.open[at + 1], *value.open[at + 2:]))

    def emit(self, writer):
        value = self.inputs[0]
        groups = [[a] for a in range(len(value.shape))]
        groups[self.at:self.at + 2] = [[self.at, self.at + 1]]
        self.result(writer.op(f"tensor.collapse_shape {value.name} {groups} : {value.type()} into "
                              f"{self.outputs[0].type()}"))


class Expand(Node):
    """Splits the axis `at` into `first` and the rest; the first is static."""

    def infer(self):
        value, at = self.inputs[0], self.at
        if value.shape[at] % self.first:
            raise Invalid
        rest = value.shape[at] // self.first
        self.set(0, (*value.shape[:at], self.first, rest, *value.shape[at + 1:]),
                 (*value.open[:at], False, value.open[at], *value.open[at + 1:]))

    def emit(self, writer):
        value, output = self.inputs[0], self.outputs[0]
        groups = [[a + (a > self.at)] for a in range(len(value.shape))]
        groups[self.at] = [self.at, self.at + 1]
        shape = []
        for axis, (extent, is_open) in enumerate(zip(output.shape, output.open)):
            if not is_open:
                shape.append(str(extent))
            elif axis == self.at + 1:
                shape.append(writer.op(f"arith.divui {writer.extent(value, self.at)}, "
                                       f"{writer.index(self.first)} : index"))
            else:
                shape.append(writer.extent(value, axis - (axis > self.at)))
        self.result(writer.op(f"tensor.expand_shape {value.name} {groups} output_shape "
                              f"[{', '.join(shape)}] : {value.type()} into {output.type()}"))


class Cast(Node):
    """Opens or closes the extents of a type."""

    def infer(self):
        value = self.inputs[0]
        self.set(0, value.shape, [self.to_open] * len(value.shape))
        if value.open == self.outputs[0].open:
            raise Invalid

    def emit(self, writer):
        value = self.inputs[0]
        self.result(writer.op(f"tensor.cast {value.name} : {value.type()} to {self.outputs[0].type()}"))


class Walk(Node):
    """Reads the axis `axis` backwards, or every `step`-th of it, by the map of a generic."""

    def infer(self):
        source = self.inputs[0]
        extent = source.shape[self.axis]
        shape, open_ = list(source.shape), list(source.open)
        if self.step > 1:
            shape[self.axis] = -(-extent // self.step)
        elif extent == 0:
            raise Invalid
        self.set(0, shape, open_)

    def emit(self, writer):
        source, output = self.inputs[0], self.outputs[0]
        rank = len(source.shape)
        map_ = list(range(rank))
        map_[self.axis] = f"d{self.axis} * {self.step}" if self.step > 1 else \
            f"{source.shape[self.axis] - 1} - d{self.axis}"
        sources = [(source, a) if a != self.axis or self.step == 1 else None for a in range(rank)]
        (name,) = generic(writer, rank, [(source.name, source.type(), source.element, map_)],
                          [(writer.empty(output, sources), output.type(), output.element, range(rank))],
                          [], lambda arguments: [arguments[0]])
        self.result(name)


class Gather(Node):
    """Rows of the first by numbers of the second, of rank one, modulo the extent."""

    def infer(self):
        table, places = self.inputs
        if table.shape[0] == 0:
            raise Invalid
        self.set(0, (*places.shape, *table.shape[1:]), (*places.open, *table.open[1:]))

    def emit(self, writer):
        (table, places), output = self.inputs, self.outputs[0]
        rank = len(output.shape)
        extent = writer.extent(table, 0)
        sources = [(places, 0), *[(table, a) for a in range(1, rank)]]

        def body(arguments):
            at = arguments[0]
            if places.element != "index":
                at = writer.op(f"arith.index_cast {at} : {places.element} to index")
            at = writer.op(f"arith.remui {at}, {extent} : index")
            rest = [writer.op(f"linalg.index {a} : index") for a in range(1, rank)]
            return [writer.op(f"tensor.extract {table.name}[{', '.join([at, *rest])}] : {table.type()}")]
        (name,) = generic(writer, rank, [(places.name, places.type(), places.element, [0])],
                          [(writer.empty(output, sources), output.type(), output.element, range(rank))],
                          [], body)
        self.result(name)


class Convolve(Node):
    """A named convolution: `op` of an image and a window, with strides and dilations. `layout` has
    the axes of image, window and result as letters; spatial ones of the window are capitals."""

    def infer(self):
        image, window, out = self.layout
        extents, flags = {}, {}
        for letters, value in zip((window, image), (self.inputs[1], self.inputs[0])):
            for letter, extent, is_open in zip(letters, value.shape, value.open):
                if letter in "hw" and letter.upper() in extents:
                    at = "hw".index(letter) - (2 - len(self.strides))
                    reach = (extents[letter.upper()] - 1) * self.dilations[at] + 1
                    if extent < reach or extents[letter.upper()] == 0:
                        raise Invalid
                    extent = (extent - reach) // self.strides[at] + 1
                if extents.setdefault(letter, extent) != extent:
                    raise Invalid
                flags[letter] = is_open and flags.get(letter, True)
        self.set(0, [extents[letter] for letter in out], [flags[letter] for letter in out])

    def emit(self, writer):
        (image, window), output = self.inputs, self.outputs[0]
        sources = [(image, self.layout[0].index(letter)) if letter == "n" else None
                   for letter in self.layout[2]]
        start = writer.filled(output, sources, 0)
        rank = len(self.strides)
        attributes = ", ".join(f"{name} = dense<{list(numbers)}> : tensor<{rank}xi64>" for name, numbers
                               in (("dilations", self.dilations), ("strides", self.strides)))
        self.result(writer.op(
            f"{self.op} {{{attributes}}} ins({image.name}, {window.name} : {image.type()}, "
            f"{window.type()}) outs({start} : {output.type()}) -> {output.type()}"))


class Constant(Node):
    """numbers: a function of a count, or one for all elements."""

    def infer(self):
        pass

    def emit(self, writer):
        value = self.outputs[0]
        count = 1
        for extent in value.shape:
            count *= extent
        if self.splat is not None:
            body = literal(self.splat, value.element)
        elif count == 0:
            body = ""
        else:
            words = [literal(n, value.element) for n in self.numbers(count)]
            shape = list(value.shape)
            while shape:
                extent = shape.pop()
                words = [f"[{', '.join(words[i:i + extent])}]" for i in range(0, len(words), extent)]
            body = words[0]
        self.result(writer.op(f"arith.constant dense<{body}> : {value.type()}"))


class Complex(Node):
    """Two tensors become one of complex numbers, which is squared and added to itself; its parts."""

    def infer(self):
        a, b = self.inputs
        if not a.same_type(b):
            raise Invalid
        for k in range(2):
            self.set(k, a.shape, a.open)

    def emit(self, writer):
        a, b = self.inputs
        rank = len(a.shape)
        kind = f"complex<{a.element}>"
        pairs = tensor(a.shape, a.open, kind)
        axes = range(rank)
        sources = [(a, i) for i in axes]

        def empty(element):
            return writer.empty(a.like(element=element), sources)
        (z,) = generic(writer, rank, [(v.name, v.type(), v.element, axes) for v in (a, b)],
                       [(empty(kind), pairs, kind, axes)], [],
                       lambda x: [writer.op(f"complex.create {x[0]}, {x[1]} : {kind}")])

        def square(x):
            product = writer.op(f"complex.mul {x[0]}, {x[0]} : {kind}")
            return [writer.op(f"complex.add {product}, {x[0]} : {kind}")]
        (z,) = generic(writer, rank, [(z, pairs, kind, axes)], [(empty(kind), pairs, kind, axes)], [],
                       square)
        names = generic(writer, rank, [(z, pairs, kind, axes)],
                        [(empty(a.element), a.type(), a.element, axes) for _ in range(2)], [],
                        lambda x: [writer.op(f"complex.{part} {x[0]} : {kind}") for part in ("re", "im")])
        for output, name in zip(self.outputs, names):
            output.name = name


# --- Nodes with blocks ----------------------------------------------------------------------------


@dataclasses.dataclass(eq=False)
class Block:
    arguments: list
    nodes: list
    results: list

    def infer(self):
        for node in self.nodes:
            node.infer()

    def emit(self, writer):
        writer.indent += 1
        for node in self.nodes:
            node.emit(writer)

    def close(self, writer, terminator):
        names = ", ".join(value.name for value in self.results)
        types = ", ".join(value.type() for value in self.results)
        writer.line(f"{terminator} {names} : {types}")
        writer.indent -= 1


class Carried(Node):
    """What loops, branches and calls have in common: a block from values to values of the same types."""

    def infer(self):
        for block in self.blocks:
            for argument, value in zip(block.arguments, self.inputs):
                argument.shape, argument.open = value.shape, value.open
            block.infer()
            for result, value in zip(block.results, self.inputs):
                if not result.same_type(value):
                    raise Invalid
        for k, value in enumerate(self.inputs):
            self.set(k, value.shape, value.open)

    def name_results(self, name):
        names = [name] if len(self.outputs) == 1 else [f"{name}#{i}" for i in range(len(self.outputs))]
        for output, name in zip(self.outputs, names):
            output.name = name

    def head(self, name):
        return f"{name}{f':{len(self.outputs)}' if len(self.outputs) > 1 else ''}"

    def types(self):
        return ", ".join(value.type() for value in self.outputs)


class For(Carried):
    def emit(self, writer):
        low, high, step = (writer.index(n) for n in (0, self.trips, 1))
        (block,) = self.blocks
        name, counter = writer.name(), writer.name()
        for argument in block.arguments:
            argument.name = writer.name()
        carried = ", ".join(f"{argument.name} = {value.name}"
                            for argument, value in zip(block.arguments, self.inputs))
        writer.line(f"{self.head(name)} = scf.for {counter} = {low} to {high} step {step} "
                    f"iter_args({carried}) -> ({self.types()}) {{")
        block.emit(writer)
        block.close(writer, "scf.yield")
        writer.line("}")
        self.name_results(name)


class While(Carried):
    """Counts down from `trips`. The first block runs before the condition, the second after it."""

    def emit(self, writer):
        start, zero, one = (writer.index(n) for n in (self.trips, 0, 1))
        before, after = self.blocks
        name = writer.name()
        counters = [writer.name(), writer.name()]
        for block in self.blocks:
            for argument in block.arguments:
                argument.name = writer.name()
        kinds = ", ".join(["index", *[value.type() for value in self.inputs]])
        carried = ", ".join([f"{counters[0]} = {start}",
                             *[f"{argument.name} = {value.name}"
                               for argument, value in zip(before.arguments, self.inputs)]])
        writer.line(f"{name}:{len(self.inputs) + 1} = scf.while ({carried}) : ({kinds}) -> ({kinds}) {{")
        before.emit(writer)
        more = writer.op(f"arith.cmpi ugt, {counters[0]}, {zero} : index")
        names = ", ".join([counters[0], *[value.name for value in before.results]])
        writer.line(f"scf.condition({more}) {names} : {kinds}")
        writer.indent -= 1
        writer.line("} do {")
        inside = ", ".join([f"{counters[1]}: index",
                            *[f"{argument.name}: {argument.type()}" for argument in after.arguments]])
        writer.line(f"^bb0({inside}):")
        after.emit(writer)
        next_ = writer.op(f"arith.subi {counters[1]}, {one} : index")
        names = ", ".join([next_, *[value.name for value in after.results]])
        writer.line(f"scf.yield {names} : {kinds}")
        writer.indent -= 1
        writer.line("}")
        for i, output in enumerate(self.outputs):
            output.name = f"{name}#{i + 1}"


class If(Carried):
    """By a comparison of two extents or numbers that the generator has chosen."""

    def emit(self, writer):
        left = writer.extent(*self.extent) if self.extent else writer.index(self.numbers[0])
        condition = writer.op(f"arith.cmpi ult, {left}, {writer.index(self.numbers[1])} : index")
        name = writer.name()
        writer.line(f"{self.head(name)} = scf.if {condition} -> ({self.types()}) {{")
        for i, block in enumerate(self.blocks):
            for argument, value in zip(block.arguments, self.inputs):
                argument.name = value.name
            block.emit(writer)
            block.close(writer, "scf.yield")
            writer.line("} else {" if i == 0 else "}")
        self.name_results(name)


class Call(Carried):
    """Of a private function, which Program.text writes."""

    def emit(self, writer):
        name = writer.name()
        names = ", ".join(value.name for value in self.inputs)
        types = ", ".join(value.type() for value in self.inputs)
        writer.line(f"{self.head(name)} = func.call @part{self.number}({names}) : ({types}) -> "
                    f"({self.types()})")
        self.name_results(name)

    def function(self):
        writer = Writer()
        (block,) = self.blocks
        for argument in block.arguments:
            argument.name = writer.name()
        arguments = ", ".join(f"{a.name}: {a.type()}" for a in block.arguments)
        writer.indent = 0
        block.emit(writer)
        block.close(writer, "return")
        return "\n".join([f"func.func private @part{self.number}({arguments}) -> ({self.types()}) {{",
                          *writer.lines, "}", ""])


class Program:
    def __init__(self, arguments, nodes, results, exact):
        self.arguments, self.nodes, self.results, self.exact = arguments, nodes, results, exact
        self.must_fail = True  # Calls that the reference fails.

    def infer(self):
        for node in self.nodes:
            node.infer()

    def text(self):
        writer = Writer()
        for argument in self.arguments:
            argument.name = writer.name()
        for node in self.nodes:
            node.emit(writer)
        names = ", ".join(value.name for value in self.results)
        types = ", ".join(value.type() for value in self.results)
        writer.line(f"return {names} : {types}")
        arguments = ", ".join(f"{a.name}: {a.type()}" for a in self.arguments)
        main = "\n".join([f"func.func @main({arguments}) -> ({types}) {{", *writer.lines, "}", ""])
        return "".join(node.function() for node in self.all_nodes() if isinstance(node, Call)) + main

    def all_nodes(self):
        def walk(nodes):
            for node in nodes:
                yield node
                for block in node.blocks:
                    yield from walk(block.nodes)
        return list(walk(self.nodes))

    def lists(self):
        """All lists of nodes with the values that leave them."""
        yield self.nodes, self.results
        for node in self.all_nodes():
            for block in node.blocks:
                yield block.nodes, block.results

    def clean(self):
        """Without nodes and arguments that nothing uses."""
        while True:
            used = {id(value) for value in self.results}
            for node in self.all_nodes():
                used |= {id(value) for value in node.inputs}
                used |= {id(value) for block in node.blocks for value in block.results}
                if getattr(node, "extent", None):
                    used.add(id(node.extent[0]))
            changed = False
            for nodes, _ in self.lists():
                kept = [node for node in nodes if any(id(value) in used for value in node.outputs)]
                changed |= len(kept) != len(nodes)
                nodes[:] = kept
            kept = [value for value in self.arguments if id(value) in used]
            changed |= len(kept) != len(self.arguments)
            self.arguments[:] = kept
            if not changed:
                return self
