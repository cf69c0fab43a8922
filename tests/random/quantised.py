#!/usr/bin/env python3
"""Random networks of small integers, compared with NumPy in i64, exactly.

  PYTHONPATH=build/python tests/random/quantised.py [--seed N] [--count N | --seconds S]

Convolutions, of all channels or of single ones, whose images and filters have 4, 8 or 16 bits, each with or without a sign; borders of any
value, strides, offsets, sums of two images, and shifts and bounds that make the next image's elements of sums of 32 bits. Images are stored
in some order of their dimensions, filters in any; filters are parameters or arguments. With one and with two threads the results are equal.
Exit status 1 if any was wrong; its source is printed.
"""
import numpy as np
import plimsoll as pl

from products import TYPES, draw, run

CHANNELS = [1, 3, 4, 16, 17, 31, 32, 48, 64, 65, 128]
EXTENTS = [1, 3, 5, 7, 8, 14, 16]
ELEMENTS = ["i8", "i8", "i8", "i4", "i16"]


class Image:
    """Sums of 32 bits, or elements of a network's input; `value` is what NumPy has, by channel, height and width."""

    def __init__(self, name, element, value):
        self.name, self.element, self.value = name, element, value


def widened(value, element, extension):
    return value & 2 ** int(element[1:]) - 1 if extension == "extui" else value


class Network:
    """One of them: lines of its source, and what they compute."""

    def __init__(self, rng):
        self.rng, self.values, self.count = rng, np.random.default_rng(rng.randrange(1 << 31)), 0
        self.order = rng.choice(["chw", "chw", "hwc", "".join(rng.sample("chw", 3))])
        self.lines, self.head, self.arguments, self.inputs, self.parameters = [], [], [], [], {}
        image = self.narrow(None)
        for _ in range(rng.randrange(1, 5)):
            sums = self.convolve(image)
            if rng.random() < 0.3 and sums.value.shape == image.value.shape:
                sums = self.add(sums, image)
            image = self.narrow(sums)
        self.result, self.sizes = image, dict(zip("chw", image.value.shape))

    def name(self):
        self.count += 1
        return f"v{self.count}"

    def type(self, shape, element, letters=None):
        sizes = dict(zip("chw", shape)) if letters is None else shape
        return f"tensor<{''.join(f'{sizes[letter]}x' for letter in letters or self.order)}{element}>"

    def stored(self, value):
        return np.ascontiguousarray(value.transpose(["chw".index(letter) for letter in self.order]))

    def operand(self, array, kind, element, is_argument):
        name = self.name()
        value = pl.Buffer(array, "i4") if element == "i4" else array
        if is_argument:
            self.arguments.append(f"%{name}: {kind}")
            self.inputs.append(value)
        else:
            self.head.append(f"ml_program.global private @{name}(#ml_program.extern<{kind}>) : {kind}")
            self.lines.append(f"  %{name} = ml_program.global_load_const @{name} : {kind}")
            self.parameters[name] = value
        return name

    def constant(self, value, element):
        name = self.name()
        self.lines.append(f"  %{name} = arith.constant {value} : {element}")
        return name

    def map(self, inputs, body, shape, element):
        """Element by element; one-dimensional inputs lie along the channels."""
        name, kind = self.name(), self.type(shape, element)
        every = ", ".join(self.order)
        maps = ", ".join(f"affine_map<({every}) -> ({each})>" for each in (*("c" if flat else every for *_, flat in inputs), every))
        scalars = ", ".join([*(f"%a{i}: {of}" for i, (_, of, _) in enumerate(inputs)), f"%o: {element}"])
        types = ", ".join(f"tensor<{shape[0]}x{of}>" if flat else self.type(shape, of) for _, of, flat in inputs)
        self.lines += [
            f"  %{name}e = tensor.empty() : {kind}",
            f"  %{name} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [\"parallel\", \"parallel\", \"parallel\"]}}",
            f"      ins({', '.join(f'%{each}' for each, *_ in inputs)} : {types}) outs(%{name}e : {kind}) {{", f"  ^bb0({scalars}):", *body,
            f"    linalg.yield %r : {element}", f"  }} -> {kind}"]
        return name

    def narrow(self, sums):
        """An image for the next convolution: one that comes in, or sums with an offset, shifted and bounded."""
        element = self.rng.choice(ELEMENTS)
        if sums is None:
            shape = [self.rng.choice(CHANNELS), self.rng.choice(EXTENTS), self.rng.choice(EXTENTS)]
            value = draw(shape, element, self.values)
            return Image(self.operand(self.stored(value), self.type(shape, element), element, True), element, value.astype(np.int64))
        shape, bits, by = sums.value.shape, int(element[1:]), self.rng.choice([0, 5, 9])
        offsets = self.values.integers(-5000, 5000, shape[0]).astype(np.int32)
        low, high = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
        flat = self.operand(offsets, f"tensor<{shape[0]}xi32>", "i32", False)
        shift, least, most = (self.constant(number, "i32") for number in (by, low, high))
        name = self.map([(sums.name, "i32", False), (flat, "i32", True)],
                        ["    %t = arith.addi %a0, %a1 : i32", f"    %s = arith.shrsi %t, %{shift} : i32",
                         f"    %m = arith.maxsi %s, %{least} : i32", f"    %n = arith.minsi %m, %{most} : i32",
                         f"    %r = arith.trunci %n : i32 to {element}"], shape, element)
        total = (sums.value + offsets[:, None, None]).astype(np.int32).astype(np.int64)
        return Image(name, element, np.clip(total >> by, low, high))

    def add(self, sums, image):
        name = self.map([(sums.name, "i32", False), (image.name, image.element, False)],
                        [f"    %w = arith.extsi %a1 : {image.element} to i32", "    %r = arith.addi %a0, %w : i32"], sums.value.shape, "i32")
        return Image(name, "i32", (sums.value + image.value).astype(np.int32).astype(np.int64))

    def pad(self, image, border):
        if not border:
            return image
        bits = int(image.element[1:])
        number = self.rng.choice([0, 0, 1, -(2 ** (bits - 1))])
        value = np.pad(image.value, ((0, 0), (border, border), (border, border)), constant_values=number)
        name, sides = self.name(), ", ".join("0" if letter == "c" else str(border) for letter in self.order)
        self.lines += [f"  %{name} = tensor.pad %{image.name} low[{sides}] high[{sides}] {{", "  ^bb0(%i: index, %j: index, %k: index):",
                       f"    tensor.yield %{self.constant(number, image.element)} : {image.element}",
                       f"  }} : {self.type(image.value.shape, image.element)} to {self.type(value.shape, image.element)}"]
        return Image(name, image.element, value)

    def convolve(self, image):
        window = self.rng.choice([1, 3, 3])
        image = self.pad(image, window // 2 if min(image.value.shape[1:]) < window else self.rng.choice([0, window // 2]))
        is_depthwise, stride = self.rng.random() < 0.2, self.rng.choice([1, 1, 2])
        channels = image.value.shape[0]
        filters = channels if is_depthwise else self.rng.choice(CHANNELS)
        element = self.rng.choice(ELEMENTS)
        extensions = [self.rng.choice(["extsi", "extsi", "extui"]) for _ in range(2)]
        letters = self.rng.sample("fHW" if is_depthwise else "fcHW", 3 if is_depthwise else 4)
        sizes = {"f": filters, "c": channels, "H": window, "W": window}
        weights = draw([sizes[letter] for letter in letters], element, self.values)
        filter_type = self.type(sizes, element, letters)
        operand = self.operand(weights, filter_type, element, self.rng.random() < 0.2)
        windows = np.lib.stride_tricks.sliding_window_view(widened(image.value, image.element, extensions[0]), (window, window), (1, 2))
        wide = widened(weights.astype(np.int64), element, extensions[1])
        value = np.einsum(f"{'f' if is_depthwise else 'c'}hwHW,{''.join(letters)}->fhw", windows[:, ::stride, ::stride], wide, optimize=True)
        result = self.type(value.shape, "i32")
        name, zero = self.name(), self.constant(0, "i32")
        index = {"c": "f" if is_depthwise else "c", "h": f"h * {stride} + H", "w": f"w * {stride} + W"}
        loops = ", ".join([*"fhw", *(letter for letter in letters if letter != "f")])
        maps = ", ".join(f"affine_map<({loops}) -> ({', '.join(each)})>" for each in (
            [index[letter] for letter in self.order], letters, ["f" if letter == "c" else letter for letter in self.order]))
        kinds = ", ".join(['"parallel"'] * 3 + ['"reduction"'] * (len(letters) - 1))
        self.lines += [
            f"  %{name}e = tensor.empty() : {result}",
            f"  %{name}z = linalg.fill ins(%{zero} : i32) outs(%{name}e : {result}) -> {result}",
            f"  %{name} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}",
            f"      ins(%{image.name}, %{operand} : {self.type(image.value.shape, image.element)}, {filter_type}) outs(%{name}z : {result}) {{",
            f"  ^bb0(%x: {image.element}, %y: {element}, %s: i32):",
            f"    %u = arith.{extensions[0]} %x : {image.element} to i32", f"    %v = arith.{extensions[1]} %y : {element} to i32",
            "    %p = arith.muli %u, %v : i32", "    %q = arith.addi %s, %p : i32", "    linalg.yield %q : i32", f"  }} -> {result}"]
        return Image(name, "i32", value.astype(np.int32).astype(np.int64))

    def source(self):
        kind = self.type(self.result.value.shape, self.result.element)
        return "\n".join([*self.head, f"func.func @main({', '.join(self.arguments)}) -> {kind} {{", *self.lines,
                          f"  return %{self.result.name} : {kind}", "}", ""])


def check(network, engines, _):
    """What is wrong, or nothing."""
    have = [np.asarray(engine.loads(network.source(), parameters=network.parameters).main(*network.inputs)) for engine in engines]
    if have[0].tobytes() != have[1].tobytes():
        return "one thread and two give different results"
    want = network.stored(network.result.value).astype(TYPES[network.result.element])
    return None if have[0].shape == want.shape and (have[0] == want).all() else "not the sums"


if __name__ == "__main__":
    run(__doc__, Network, check)
