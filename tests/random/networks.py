#!/usr/bin/env python3
"""Random networks of convolutions, compared with NumPy in f64.

  PYTHONPATH=build/python tests/random/networks.py [--seed N] [--count N | --seconds S]

Images are stored in some order of batch, channels, height and width, filters in any; filters are parameters, constants or
arguments. Between convolutions, of all channels or of single ones, with strides, stand what networks have there: offsets,
activations, sums of two images, borders, poolings, concatenations, slices; some images come out as they are, some as averages. With
one and with two threads the results are equal, bit for bit, and strict code gives the bits of the oracle, for every
fourth. Exit status 1 if any was wrong; its source is printed.
"""
import re

import numpy as np

from products import compare_floats, run

CHANNELS = [1, 3, 15, 16, 17, 31, 32, 48, 64, 100, 128]
MANY_CHANNELS = [65, 128, 130, 160]  # worth another layout
EXTENTS = [1, 2, 3, 5, 7, 8, 9, 14]


class Image:
    def __init__(self, name, sizes):
        self.name, self.sizes = name, dict(sizes)


class Network:
    """One of them: lines of its source, and in the same order steps of the reference."""

    def __init__(self, rng):
        self.rng, self.count = rng, 0
        self.order = rng.choice(["nchw", "nchw", "nchw", "nhwc", "".join(rng.sample("nchw", 4))])
        self.lines, self.steps, self.arguments, self.globals, self.images = [], [], [], [], []
        self.operands = {}  # name: shape, and whether it is an argument
        self.isStrict = rng.random() < 0.25
        self.channels = rng.choice([CHANNELS, MANY_CHANNELS])
        self.sizes = {"n": rng.choice([1, 1, 2]), "c": rng.choice(self.channels), "h": rng.choice(EXTENTS), "w": rng.choice(EXTENTS)}
        self.images.append(Image(self.operand("nchw", self.sizes, True), self.sizes))
        for _ in range(rng.randrange(3, 9)):
            step = rng.choice([self.convolve, self.convolve, self.convolve, self.depthwise, self.shift, self.shift, self.add, self.pool,
                               self.border, self.join, self.crop])
            image = step(self.images[-1] if rng.random() < 0.8 else rng.choice(self.images))
            if image:
                self.images.append(image)
        self.results = [self.average(self.images[-1]) if rng.random() < 0.5 else (self.images[-1].name, self.type(self.images[-1].sizes), True)]
        # What nothing reads comes out too: a parameter that is not used is none.
        text = "\n".join(self.lines)
        for image in self.images[1:-1]:
            if rng.random() < 0.1 or not re.search(f"%{image.name}\\b(?! =)", text):
                self.results.append((image.name, self.type(image.sizes), True))

    def name(self):
        self.count += 1
        return f"v{self.count}"

    def shape(self, letters, sizes):
        return [sizes[letter] for letter in letters]

    def type(self, sizes, letters=None):
        return f"tensor<{'x'.join(map(str, self.shape(letters or self.order, sizes)))}xf32>"

    def operand(self, letters, sizes, is_image=False):
        """An argument or a parameter; what it is called."""
        name = self.name()
        kind = self.type(sizes, self.order if is_image else letters)
        is_argument = is_image or self.rng.random() < 0.15
        if is_argument:
            self.arguments.append(f"%{name}: {kind}")
        else:
            self.globals.append(f"ml_program.global private @{name}(#ml_program.extern<{kind}>) : {kind}")
            self.lines.append(f"  %{name} = ml_program.global_load_const @{name} : {kind}")
        stored = self.order if is_image else letters
        self.operands[name] = (self.shape(stored, sizes), is_argument)
        if is_image:
            self.steps.append(lambda values: values.__setitem__(name, values[name].transpose([stored.index(l) for l in "nchw"])))
        return name

    def filled(self, sizes, value="%zero"):
        name, kind = self.name(), self.type(sizes)
        self.lines += [f"  %{name}e = tensor.empty() : {kind}",
                       f"  %{name} = linalg.fill ins({value} : f32) outs(%{name}e : {kind}) -> {kind}"]
        return name

    def generic(self, inputs, maps, parallel, reduction, out, kind, body):
        """`inputs` are names and types."""
        name = self.name()
        loops = ", ".join(parallel + reduction)
        text = ", ".join(f"affine_map<({loops}) -> ({', '.join(results)})>" for results in maps)
        kinds = ", ".join(['"parallel"'] * len(parallel) + ['"reduction"'] * len(reduction))
        scalars = ", ".join(f"%a{i}: f32" for i in range(len(inputs)))
        self.lines.append(
            f"  %{name} = linalg.generic {{indexing_maps = [{text}], iterator_types = [{kinds}]}}\n"
            f"      ins({', '.join('%' + each for each, _ in inputs)} : {', '.join(each for _, each in inputs)}) outs(%{out} : {kind}) {{\n"
            f"  ^bb0({scalars}, %o: f32):\n    {body}\n    linalg.yield %r : f32\n  }} -> {kind}")
        return name

    def windows(self, image, window, stride):
        sizes = dict(image.sizes)
        for letter in "hw":
            sizes[letter] = (sizes[letter] - window[letter]) // stride + 1
        index = [f"{l} * {stride} + k{l}" if l in "hw" else l for l in self.order]
        return sizes, index

    def choose_window(self, image):
        taps = (3, 3, 3, 2, 1) if self.channels is MANY_CHANNELS else (1, 1, 3, 3, 2)
        return {letter: self.rng.choice([k for k in taps if k <= image.sizes[letter]] or [1]) for letter in "hw"}

    def convolve(self, image, depthwise=False):
        rng, window, stride = self.rng, self.choose_window(image), self.rng.choice([1, 1, 1, 2])
        sizes, index = self.windows(image, window, stride)
        if not depthwise:
            sizes["c"] = rng.choice(self.channels)
        extents = {"f": sizes["c"], "c": image.sizes["c"], "y": window["h"], "x": window["w"]}
        letters = "cyx" if depthwise else "fcyx"
        letters = "".join(rng.sample(letters, len(letters)))
        weights = self.operand(letters, extents)
        loop = {"f": "f", "c": "c", "y": "kh", "x": "kw"}
        out = self.filled(sizes)
        parallel = [("c" if depthwise else "f") if l == "c" else l for l in self.order]
        name = self.generic([(image.name, self.type(image.sizes)), (weights, self.type(extents, letters))],
                            [index, [loop[l] for l in letters], parallel], list(parallel),
                            ["kh", "kw"] if depthwise else ["c", "kh", "kw"], out, self.type(sizes),
                            "%p = arith.mulf %a0, %a1 : f32\n    %r = arith.addf %o, %p : f32")

        def reference(values):
            view = np.lib.stride_tricks.sliding_window_view(values[image.name], (window["h"], window["w"]), (2, 3))
            rule = f"nchwyx,{letters}->n{'c' if depthwise else 'f'}hw"
            values[name] = np.einsum(rule, view[:, :, ::stride, ::stride], values[weights], optimize=True)
        self.steps.append(reference)
        return Image(name, sizes)

    def depthwise(self, image):
        return self.convolve(image, True)

    def map(self, images, body, reference, operand=None):
        sizes = images[0].sizes
        inputs = [(image.name, self.type(image.sizes)) for image in images]
        maps = [list(self.order) for _ in images]
        if operand:
            inputs.append((operand, self.type(sizes, "c")))
            maps.append(["c"])
        name = self.name()
        self.lines.append(f"  %{name}e = tensor.empty() : {self.type(sizes)}")
        result = self.generic(inputs, [*maps, list(self.order)], list(self.order), [], f"{name}e", self.type(sizes), body)

        def step(values):
            values[result] = reference(*(values[image.name] for image in images),
                                       *([values[operand][:, None, None]] if operand else []))
        self.steps.append(step)
        return Image(result, sizes)

    def shift(self, image):
        return self.map([image], "%s = arith.addf %a0, %a1 : f32\n    %r = arith.maximumf %s, %zero : f32",
                        lambda x, y: np.maximum(x + y, 0), self.operand("c", image.sizes))

    def add(self, image):
        others = [other for other in self.images if other.sizes == image.sizes]
        return self.map([image, self.rng.choice(others)], "%r = arith.addf %a0, %a1 : f32", np.add)

    def pool(self, image):
        window, stride = self.choose_window(image), self.rng.choice([1, 2])
        sizes, index = self.windows(image, window, stride)
        out, taps = self.filled(sizes, "%lowest"), self.name()
        kind = f"tensor<{window['h']}x{window['w']}xf32>"
        self.lines.append(f"  %{taps} = tensor.empty() : {kind}")
        name = self.generic([(image.name, self.type(image.sizes)), (taps, kind)], [index, ["kh", "kw"], list(self.order)],
                            list(self.order), ["kh", "kw"], out, self.type(sizes), "%r = arith.maximumf %o, %a0 : f32")

        def reference(values):
            view = np.lib.stride_tricks.sliding_window_view(values[image.name], (window["h"], window["w"]), (2, 3))
            values[name] = view[:, :, ::stride, ::stride].max(axis=(4, 5))
        self.steps.append(reference)
        return Image(name, sizes)

    def border(self, image):
        rng, name = self.rng, self.name()
        low, high = ({letter: rng.choice([0, 1, 2, 0, 1, 2, 9]) if letter in "hw" else 0 for letter in "nchw"} for _ in range(2))
        sizes = {letter: image.sizes[letter] + low[letter] + high[letter] for letter in "nchw"}
        numbers = [", ".join(str(each[letter]) for letter in self.order) for each in (low, high)]
        self.lines.append(f"  %{name} = tensor.pad %{image.name} low[{numbers[0]}] high[{numbers[1]}] {{\n"
                          f"  ^bb0(%i: index, %j: index, %k: index, %l: index):\n    tensor.yield %one : f32\n"
                          f"  }} : {self.type(image.sizes)} to {self.type(sizes)}")
        self.steps.append(lambda values: values.__setitem__(name, np.pad(
            values[image.name], [(low[letter], high[letter]) for letter in "nchw"], constant_values=1)))
        return Image(name, sizes)

    def join(self, image):
        others = [other for other in self.images if all(other.sizes[letter] == image.sizes[letter] for letter in "nhw")]
        other, name = self.rng.choice(others), self.name()
        sizes = {**image.sizes, "c": image.sizes["c"] + other.sizes["c"]}
        self.lines.append(f"  %{name} = tensor.concat dim({self.order.index('c')}) %{image.name}, %{other.name} : "
                          f"({self.type(image.sizes)}, {self.type(other.sizes)}) -> {self.type(sizes)}")
        self.steps.append(lambda values: values.__setitem__(
            name, np.concatenate([values[image.name], values[other.name]], axis=1)))
        return Image(name, sizes)

    def crop(self, image):
        name, letter = self.name(), self.rng.choice("chw")
        if image.sizes[letter] < 2:
            return None
        first = self.rng.randrange(image.sizes[letter] - 1)
        sizes = {**image.sizes, letter: self.rng.randrange(1, image.sizes[letter] - first)}
        offsets = ", ".join(str(first) if each == letter else "0" for each in self.order)
        extents = ", ".join(str(each) for each in self.shape(self.order, sizes))
        self.lines.append(f"  %{name} = tensor.extract_slice %{image.name}[{offsets}] [{extents}] [1, 1, 1, 1] : "
                          f"{self.type(image.sizes)} to {self.type(sizes)}")
        self.steps.append(lambda values: values.__setitem__(
            name, values[image.name].take(range(first, first + sizes[letter]), axis="nchw".index(letter))))
        return Image(name, sizes)

    def average(self, image):
        kind, name = self.type(image.sizes, "nc"), self.name()
        self.lines += [f"  %{name}e = tensor.empty() : {kind}",
                       f"  %{name} = linalg.fill ins(%zero : f32) outs(%{name}e : {kind}) -> {kind}"]
        result = self.generic([(image.name, self.type(image.sizes))], [list(self.order), ["n", "c"]], ["n", "c"], ["h", "w"], name,
                              kind, "%r = arith.addf %o, %a0 : f32")
        self.steps.append(lambda values: values.__setitem__(result, values[image.name].sum(axis=(2, 3))))
        return result, kind, False

    def source(self):
        names = ", ".join(f"%{name}" for name, _, _ in self.results)
        kinds = ", ".join(kind for _, kind, _ in self.results)
        return "\n".join([*self.globals, f"func.func @main({', '.join(self.arguments)}) -> ({kinds}) {{",
                          "  %zero = arith.constant 0.0 : f32", "  %one = arith.constant 1.0 : f32",
                          "  %lowest = arith.constant 0xFF800000 : f32", *self.lines, f"  return {names} : {kinds}", "}", ""])


def check(network, engines, random):
    """What is wrong, or nothing."""
    values = {}
    for name, (shape, _) in network.operands.items():
        # So that sums keep the size of what goes in.
        scale = (2 * max(shape) / np.prod(shape)) ** 0.5 if name != network.images[0].name else 1
        values[name] = (random.standard_normal(shape) * scale).astype(np.float32)
    arguments = [values[name] for name, (_, is_argument) in network.operands.items() if is_argument]
    parameters = {name: values[name] for name, (_, is_argument) in network.operands.items() if not is_argument}

    def call(engine, **options):
        results = engine.loads(network.source(), parameters=parameters, **options).main(*arguments)
        return [np.asarray(each) for each in (results if isinstance(results, tuple) else (results,))]

    have, other = (call(engine) for engine in engines)
    if any(a.tobytes() != b.tobytes() for a, b in zip(have, other)):
        return "one thread and two give different results"
    if network.isStrict:
        strict, oracle = (call(engines[0], **options) for options in ({"numerics": "strict"}, {"oracle": True}))
        if any(a.tobytes() != b.tobytes() for a, b in zip(strict, oracle)):
            return "strict code and the oracle give different results"
    values = {name: value.astype(np.float64) for name, value in values.items()}
    for step in network.steps:
        step(values)
    for (name, _, is_image), got in zip(network.results, have):
        want = values[name].transpose(["nchw".index(letter) for letter in network.order]) if is_image else values[name]
        if fault := compare_floats(got, want):
            return fault
    return None


if __name__ == "__main__":
    run(__doc__, Network, check)
