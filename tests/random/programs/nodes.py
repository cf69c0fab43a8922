"""Nodes without blocks: one operation of MLIR each, or a few that belong together."""
from .values import FLOATS, Invalid, Node, affine, constant, emit_steps, generic, literal, tensor


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
        for extent, is_open, (offset, size, stride) in zip(whole.shape, whole.open, self.cuts):
            # Where the extent is known not even an empty slice may begin at the end.
            if offset > extent or offset == extent and not is_open or \
                    size and offset + (size - 1) * stride >= extent:
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
