"""Writes StableHLO modules in both of their textual forms, from one description. It shares nothing with the importer."""

import collections
import random

import numpy as np

KINDS = {np.dtype(np.float16): "f16", np.dtype(np.float32): "f32", np.dtype(np.float64): "f64", np.dtype(np.bool_): "i1",
         np.dtype(np.int8): "i8", np.dtype(np.int16): "i16", np.dtype(np.int32): "i32", np.dtype(np.int64): "i64",
         np.dtype(np.uint8): "ui8", np.dtype(np.uint16): "ui16", np.dtype(np.uint32): "ui32", np.dtype(np.uint64): "ui64",
         np.dtype(np.complex64): "complex<f32>", np.dtype(np.complex128): "complex<f64>"}

Val = collections.namedtuple("Val", "name shape kind")


def kind_of(array):
    return KINDS[np.asarray(array).dtype]


def type_of(value):
    extents = "".join(("?" if n is None else str(n)) + "x" for n in value.shape)
    return f"tensor<{extents}{value.kind}>"


def ints(values):
    return "[" + ", ".join(map(str, values)) + "]"


def array(values):
    return "array<i64" + (": " + ", ".join(map(str, values)) if values else "") + ">"


def pairs(values):
    """A matrix with two columns."""
    rows = [list(map(int, row)) for row in values]
    if not rows:
        return "dense<> : tensor<0x2xi64>"
    return f"dense<{rows}> : tensor<{len(rows)}x2xi64>"


def dense(data):
    data = np.asarray(data)
    kind = kind_of(data)

    def one(x):
        if data.dtype.kind == "c":
            return f"({dense_number(x.real)}, {dense_number(x.imag)})"
        return dense_number(x)

    def dense_number(x):
        if x.dtype == np.bool_:
            return "true" if x else "false"
        if x.dtype.kind in "iu":
            return str(int(x))
        if not np.isfinite(x):
            bits = np.asarray(x).view({2: np.uint16, 4: np.uint32, 8: np.uint64}[x.dtype.itemsize])
            return f"0x{int(bits):0{x.dtype.itemsize * 2}X}"
        return f"{float(x):.17e}"

    def nested(part):
        return one(part[()]) if part.ndim == 0 else "[" + ", ".join(nested(p) for p in part) + "]"

    text = "" if data.size == 0 else nested(data)
    return f"dense<{text}> : {type_of(Val('', data.shape, kind))}"


class Body:
    """Operations of a function or region. `pretty` chooses the form; `numbers` the small freedoms that a form leaves."""

    def __init__(self, pretty, numbers=None, names=None, indent="    "):
        self.pretty = pretty
        self.numbers = numbers or random.Random(0)
        self.names = names if names is not None else [0]
        self.lines = []
        self.indent = indent

    def fresh(self):
        self.names[0] += 1
        return f"%{self.names[0] - 1}"

    def inner(self):
        return Body(self.pretty, self.numbers, self.names, self.indent + "  ")

    def line(self, text):
        self.lines.append(self.indent + text)

    def text(self):
        return "\n".join(self.lines)

    def results(self, types):
        """Types as (shape, kind); gives the text in front and the values."""
        name = self.fresh()
        if not types:
            return "", []
        if len(types) == 1:
            return f"{name} = ", [Val(name, *types[0])]
        return f"{name}:{len(types)} = ", [Val(f"{name}#{i}", *t) for i, t in enumerate(types)]

    def generic(self, op, operands, types, attributes="", regions=()):
        front, values = self.results(types)
        out = ", ".join(type_of(v) for v in values)
        parts = [f"{front}\"{op}\"({', '.join(v.name for v in operands)})"]
        isOld = self.numbers.random() < 0.3
        if attributes and not isOld:
            parts.append(f"<{{{attributes}}}>")
        if regions:
            parts.append("(" + ", ".join(regions) + ")")
        if attributes and isOld:
            parts.append(f"{{{attributes}}}")
        parts.append(f": ({', '.join(type_of(v) for v in operands)}) -> " + (out if len(values) == 1 else f"({out})"))
        self.line(" ".join(parts))
        return values

    def op(self, op, operands, types, attributes="", tail="", kind="function"):
        """`kind`: how the types are written, "function" or "one"."""
        if not self.pretty:
            return self.generic(op, operands, types, attributes)
        front, values = self.results(types)
        out = ", ".join(type_of(v) for v in values)
        if kind == "one":
            written = type_of(values[0])
        elif kind == "last":  # of a selection
            written = f"{type_of(operands[0])}, {type_of(values[0])}"
        else:
            written = f"({', '.join(type_of(v) for v in operands)}) -> " + (out if len(values) == 1 else f"({out})")
        names = ", ".join(v.name for v in operands)
        self.line(f"{front}{op} {names}{tail} : {written}")
        return values

    def region(self, arguments, make):
        """Text of a region; `make` gets a body and its arguments, and gives what it returns."""
        inner = self.inner()
        values = [Val(self.fresh().replace("%", "%a"), *t) for t in arguments]
        returned = make(inner, *values)
        inner.give(returned)
        block = ", ".join(f"{v.name}: {type_of(v)}" for v in values)
        label = f"^bb0({block}):\n" if values else ""
        return "{\n" + (self.indent + label if label else "") + inner.text() + "\n" + self.indent + "}"

    def give(self, values, name="stablehlo.return"):
        types = ", ".join(type_of(v) for v in values)
        names = ", ".join(v.name for v in values)
        if self.pretty:
            self.line(f"{name} {names} : {types}")
        else:
            self.line(f"\"{name}\"({names}) : ({types}) -> ()")

    # --- Operations -----------------------------------------------------------------------------

    def constant(self, data):
        data = np.asarray(data)
        types = [(data.shape, kind_of(data))]
        if not self.pretty:
            return self.generic("stablehlo.constant", [], types, f"value = {dense(data)}")[0]
        front, values = self.results(types)
        self.line(f"{front}stablehlo.constant {dense(data)}")
        return values[0]

    def elementwise(self, name, *operands, kind=None):
        x = operands[-1]
        kind = kind or x.kind
        form = "one" if all(v.kind == kind and v.shape == x.shape for v in operands) else "function"
        return self.op(f"stablehlo.{name}", operands, [(x.shape, kind)], kind=form)[0]

    def select(self, condition, x, y):
        return self.op("stablehlo.select", [condition, x, y], [(x.shape, x.kind)], kind="last")[0]

    def compare(self, direction, x, y, how=None):
        types = [(x.shape, "i1")]
        if not self.pretty:
            more = f", compare_type = #stablehlo<comparison_type {how}>" if how else ""
            return self.generic("stablehlo.compare", [x, y], types,
                                f"comparison_direction = #stablehlo<comparison_direction {direction}>{more}")[0]
        front, values = self.results(types)
        more = f",  {how}" if how else ""
        self.line(f"{front}stablehlo.compare  {direction}, {x.name}, {y.name}{more} : ({type_of(x)}, {type_of(y)}) -> {type_of(values[0])}")
        return values[0]

    def convert(self, x, kind):
        return self.op("stablehlo.convert", [x], [(x.shape, kind)])[0]

    def iota(self, shape, kind, axis):
        if not self.pretty:
            return self.generic("stablehlo.iota", [], [(shape, kind)], f"iota_dimension = {axis} : i64")[0]
        front, values = self.results([(shape, kind)])
        self.line(f"{front}stablehlo.iota dim = {axis} : {type_of(values[0])}")
        return values[0]

    def broadcast_in_dim(self, x, axes, shape):
        return self.op("stablehlo.broadcast_in_dim", [x], [(shape, x.kind)], f"broadcast_dimensions = {array(axes)}",
                       f", dims = {ints(axes)}")[0]

    def reshape(self, x, shape):
        return self.op("stablehlo.reshape", [x], [(shape, x.kind)])[0]

    def transpose(self, x, order):
        return self.op("stablehlo.transpose", [x], [(tuple(x.shape[i] for i in order), x.kind)], f"permutation = {array(order)}",
                       f", dims = {ints(order)}")[0]

    def reverse(self, x, axes):
        return self.op("stablehlo.reverse", [x], [(x.shape, x.kind)], f"dimensions = {array(axes)}", f", dims = {ints(axes)}", "one")[0]

    def concatenate(self, values, axis, shape):
        return self.op("stablehlo.concatenate", values, [(shape, values[0].kind)], f"dimension = {axis} : i64", f", dim = {axis}")[0]

    def slice(self, x, starts, limits, strides, shape):
        ranges = ", ".join(f"{a}:{b}" + (f":{c}" if c != 1 else "") for a, b, c in zip(starts, limits, strides))
        return self.op("stablehlo.slice", [x], [(shape, x.kind)],
                       f"start_indices = {array(starts)}, limit_indices = {array(limits)}, strides = {array(strides)}", f" [{ranges}]")[0]

    def dynamic_slice(self, x, starts, sizes):
        return self.op("stablehlo.dynamic_slice", [x, *starts], [(tuple(sizes), x.kind)], f"slice_sizes = {array(sizes)}",
                       f", sizes = {ints(sizes)}")[0]

    def dynamic_update_slice(self, x, update, starts):
        return self.op("stablehlo.dynamic_update_slice", [x, update, *starts], [(x.shape, x.kind)])[0]

    def pad(self, x, value, low, high, interior, shape):
        return self.op("stablehlo.pad", [x, value], [(shape, x.kind)],
                       f"edge_padding_low = {array(low)}, edge_padding_high = {array(high)}, interior_padding = {array(interior)}",
                       f", low = {ints(low)}, high = {ints(high)}, interior = {ints(interior)}")[0]

    def dot_general(self, x, y, batch, summed, shape, kind):
        numbers = (f"lhs_batching_dimensions = {ints(batch[0])}, rhs_batching_dimensions = {ints(batch[1])}, "
                   f"lhs_contracting_dimensions = {ints(summed[0])}, rhs_contracting_dimensions = {ints(summed[1])}")
        tail = f", batching_dims = {ints(batch[0])} x {ints(batch[1])}" if batch[0] else ""
        tail += f", contracting_dims = {ints(summed[0])} x {ints(summed[1])}, precision = [DEFAULT, DEFAULT]"
        return self.op("stablehlo.dot_general", [x, y], [(shape, kind)],
                       f"dot_dimension_numbers = #stablehlo.dot<{numbers}>, precision_config = [#stablehlo<precision DEFAULT>, "
                       "#stablehlo<precision DEFAULT>]", tail)[0]

    def convolution(self, x, kernel, numbers, shape, kind, strides, padding, dilate, kernel_dilate, reverse, groups, batch_groups):
        """`numbers`: three lists of names and numbers."""
        layout = "x".join("[" + ", ".join(map(str, n)) + "]" for n in numbers[:2]) + "->[" + ", ".join(map(str, numbers[2])) + "]"
        flags = ", ".join("true" if r else "false" for r in reverse)
        counts = f"batch_group_count = {batch_groups} : i64, feature_group_count = {groups} : i64"
        if self.pretty:
            front, values = self.results([(shape, kind)])
            window = [f"stride = {ints(strides)}", f"pad = {ints([ints(p) for p in padding])}", f"lhs_dilate = {ints(dilate)}",
                      f"rhs_dilate = {ints(kernel_dilate)}"]
            if any(reverse):
                window.append(f"reverse = [{flags}]")
            self.line(f"{front}stablehlo.convolution({x.name}, {kernel.name}) dim_numbers = {layout}, window = {{{', '.join(window)}}} "
                      f"{{{counts}, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}} : "
                      f"({type_of(x)}, {type_of(kernel)}) -> {type_of(values[0])}")
            return values[0]
        isTrue = f"array<i1: {flags}>" if flags else "array<i1>"
        return self.generic("stablehlo.convolution", [x, kernel], [(shape, kind)],
                            f"window_strides = {array(strides)}, padding = {pairs(padding)}, lhs_dilation = {array(dilate)}, "
                            f"rhs_dilation = {array(kernel_dilate)}, window_reversal = {isTrue}, "
                            f"dimension_numbers = #stablehlo.conv<{layout}>, {counts}")[0]

    def reduce(self, inputs, initial, axes, make, shape, applies=None):
        """`make` as of a region; `applies`: the name of an operation that is the whole of it."""
        types = [(shape, v.kind) for v in initial]
        if not self.pretty:
            scalars = [((), v.kind) for v in initial] * 2
            return self.generic("stablehlo.reduce", [*inputs, *initial], types, f"dimensions = {array(axes)}", [self.region(scalars, make)])
        front, values = self.results(types)
        what = ", ".join(f"({x.name} init: {i.name})" for x, i in zip(inputs, initial))
        out = ", ".join(type_of(v) for v in values)
        signature = f"({', '.join(type_of(v) for v in [*inputs, *initial])}) -> " + (out if len(values) == 1 else f"({out})")
        if applies:
            self.line(f"{front}stablehlo.reduce{what} applies stablehlo.{applies} across dimensions = {ints(axes)} : {signature}")
            return values
        self.line(f"{front}stablehlo.reduce{what} across dimensions = {ints(axes)} : {signature}")
        sums = [Val(self.fresh().replace("%", "%a"), (), v.kind) for v in initial]
        elements = [Val(self.fresh().replace("%", "%a"), (), v.kind) for v in initial]
        inner = self.inner()
        inner.give(make(inner, *sums, *elements))
        arguments = " ".join(f"({a.name}: {type_of(a)}, {b.name}: {type_of(b)})" for a, b in zip(sums, elements))
        self.line(f" reducer{arguments}  {{")
        self.lines.append(inner.text())
        self.line("}")
        return values

    def loop(self, initial, condition, body):
        """While; `condition` and `body` get a body and values."""
        types = [(v.shape, v.kind) for v in initial]
        if not self.pretty:
            return self.generic("stablehlo.while", initial, types, "",
                                [self.region(types, lambda b, *a: [condition(b, *a)]), self.region(types, body)])
        front, values = self.results(types)
        names = [Val(self.fresh().replace("%", "%iterArg_"), *t) for t in types]
        head = ", ".join(f"{n.name} = {v.name}" for n, v in zip(names, initial))
        self.line(f"{front}stablehlo.while({head}) : {', '.join(type_of(v) for v in initial)}")
        for word, make in ((" cond {", lambda b: [condition(b, *names)]), ("} do {", lambda b: body(b, *names))):
            inner = self.inner()
            inner.give(make(inner))
            self.line(word)
            self.lines.append(inner.text())
        self.line("}")
        return values


def function(name, arguments, make, pretty, numbers=None):
    """Text of a function; `arguments` are (shape, kind), `make` as of a region."""
    body = Body(pretty, numbers)
    values = [Val(f"%arg{i}", *t) for i, t in enumerate(arguments)]
    results = make(body, *values)
    body.give(results, "func.return" if not pretty or body.numbers.random() < 0.5 else "return")
    signature = ", ".join(f"{v.name}: {type_of(v)}" for v in values)
    types = ", ".join(type_of(v) for v in results)
    return f"  func.func public @{name}({signature}) -> ({types}) {{\n{body.text()}\n  }}\n"


def module(functions):
    return "module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {\n" + "".join(functions) + "}\n"
