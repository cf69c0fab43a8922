#!/usr/bin/env python3
"""Random convolutions and poolings, compared with NumPy's windows and einsum in f64 or i64.

  PYTHONPATH=build/python tests/random/convolutions.py [--seed N] [--count N | --seconds S]

Half are linalg's named operations, all that linalg has, half generic ones whose image, filter and result lie in any order of
their dimensions. Images have up to three dimensions, groups, and elements before the first and behind the last window; windows
have strides and dilations; some extents are known to the call alone; something may read
the result; operands may be parameters of the module. With one and with two threads the results are equal, bit for bit; so
are those of strict code and of the oracle, for every fourth. Exit status 1 if any was wrong; its source is printed.
"""
import numpy as np

from products import ELEMENTS, Consumer, Elements, choose_parameters, compare, draw, run, tensor_type, with_parameters

# Letters: n batch, g groups, c channels, f channels of the result, m channels of the result for each of the image, and
# d, h, w of the result; capitals are those of the filter.
CONVOLUTIONS = """
conv_1d conv_1d_ncw_fcw conv_1d_nwc_wcf conv_2d conv_2d_nchw_fchw conv_2d_nchw_fchw_q conv_2d_ngchw_fgchw conv_2d_ngchw_gfchw
conv_2d_ngchw_gfchw_q conv_2d_nhwc_fhwc conv_2d_nhwc_fhwc_q conv_2d_nhwc_hwcf conv_2d_nhwc_hwcf_q conv_2d_nhwgc_gfhwc
conv_2d_nhwgc_gfhwc_q conv_3d conv_3d_ncdhw_fcdhw conv_3d_ndhwc_dhwcf conv_3d_ndhwc_dhwcf_q depthwise_conv_1d_ncw_cw
depthwise_conv_1d_nwc_wc depthwise_conv_1d_nwc_wcm depthwise_conv_2d_nchw_chw depthwise_conv_2d_nhwc_hwc
depthwise_conv_2d_nhwc_hwc_q depthwise_conv_2d_nhwc_hwcm depthwise_conv_2d_nhwc_hwcm_q depthwise_conv_3d_ncdhw_cdhw
depthwise_conv_3d_ndhwc_dhwc depthwise_conv_3d_ndhwc_dhwcm
""".split()
POOLINGS = """
pooling_nchw_max pooling_nchw_sum pooling_ncw_max pooling_ncw_sum pooling_ndhwc_max pooling_ndhwc_min pooling_ndhwc_sum
pooling_nhwc_max pooling_nhwc_max_unsigned pooling_nhwc_min pooling_nhwc_min_unsigned pooling_nhwc_sum pooling_nwc_max
pooling_nwc_max_unsigned pooling_nwc_min pooling_nwc_min_unsigned pooling_nwc_sum
""".split()
SPACE = "dhw"
SIZES = {"n": [1, 1, 1, 1, 2, 2, 3, 3, 0], "g": [1, 2, 3], "c": [0, 1, 2, 3, 4, 8, 16, 17, 24, 32, 64, 65, 130], "m": [1, 2, 3, 8, 16],
         "f": [0, 1, 2, 3, 4, 7, 8, 12, 16, 17, 31, 32, 48, 64, 100, 128], "space": [1, 2, 3, 5, 6, 7, 8, 9, 14, 15, 16, 17, 28, 33, 56],
         "window": [1, 1, 2, 3, 3, 3, 4, 5, 7]}
MOST = 1e7  # products


class Convolution:
    """One of them: its source, and what its operands are like."""

    def __init__(self, rng):
        self.name = rng.choice(CONVOLUTIONS * 2 + POOLINGS)
        parts = self.name.split("_")
        self.pools = parts[0] == "pooling"
        self.isQuantised = parts[-1] == "q"
        self.combiner = parts[2] if self.pools else "sum"
        self.isUnsigned = parts[-1] == "unsigned"
        self.isDepthwise = parts[0] == "depthwise"
        rank = next((int(part[0]) for part in parts if part in ("1d", "2d", "3d")), 0)
        layouts = [part for part in parts if set(part) <= set("ngcfmdhw") and part != "m"]
        if self.pools:
            self.image = layouts[0]
            self.filter = "".join(letter.upper() for letter in self.image if letter in SPACE)
            self.result = self.image
        elif not layouts:
            self.image = SPACE[3 - rank:]
            self.filter, self.result = self.image.upper(), self.image
        else:
            self.image = layouts[0]
            self.filter = "".join(letter.upper() if letter in SPACE else letter for letter in layouts[1])
            self.result = self.image + "m" * ("m" in layouts[1]) if self.isDepthwise else self.image.replace("c", "f")
        self.space = [letter for letter in SPACE if letter in self.image]
        while True:
            self.sizes = {letter: rng.choice(SIZES[letter]) for letter in "ngcfm" if letter in self.image + self.filter}
            for letter in self.space:
                self.sizes[letter] = rng.choice(SIZES["space"])
                self.sizes[letter.upper()] = rng.choice(SIZES["window"])
            isLine = len(self.space) > 1 and rng.random() < 0.1
            if isLine:  # one pixel wide
                self.sizes["w"] = self.sizes["W"] = 1
            if np.prod([float(size) for size in self.sizes.values()]) < MOST:
                break
        # linalg.conv_2d and its like have neither.
        steps = [1] if self.image in ("w", "hw", "dhw") else [1, 1, 1, 2, 3]
        self.strides = {letter: rng.choice(steps) for letter in self.space}
        self.dilations = {letter: rng.choice(steps) for letter in self.space}
        self.behind = {letter: rng.randrange(self.strides[letter]) for letter in self.space}
        if isLine:
            self.behind["w"] = 0
        self.isNamed = self.isQuantised or self.isUnsigned or self.pools or rng.random() < 0.5
        types = [("i8", "i8", "i32")] if self.isQuantised else [("i32", "i32", "i32")] if self.isUnsigned else ELEMENTS
        self.elements = Elements(rng, types)
        self.sum = self.elements.sum
        # Named operations widen as numbers with signs; pooling takes what it compares at its own width.
        if self.isNamed and self.sum[0] == "i":
            self.elements.extensions = ["extsi", "extsi"]
        if self.pools:
            element = self.elements.operands[0] if self.combiner == "sum" else self.sum
            self.elements.operands = [element, element]
        self.before = {letter: 0 if self.isNamed else rng.choice([0, 0, 0, 1, 2]) for letter in self.space}
        self.unknown = {letter for letter in self.sizes if rng.random() < 0.15}
        self.adds = rng.random() < 0.4
        self.loops = list(dict.fromkeys(self.result + self.filter + self.image))
        if not self.isNamed:
            for layout in ("image", "filter", "result"):
                setattr(self, layout, "".join(rng.sample(getattr(self, layout), len(getattr(self, layout)))))
            rng.shuffle(self.loops)
        self.consumer = Consumer(rng, self.result, self.sizes, self.unknown, self.sum)
        self.isStrict = rng.random() < 0.25
        self.parameters = choose_parameters(
            rng, {"a": self.type(self.image, self.elements.operands[0]), "b": self.type(self.filter, self.elements.operands[1])})
        self.depth = np.prod([size for letter, size in self.sizes.items() if letter not in self.result])

    def extent(self, letter):
        """Of the image."""
        if letter not in self.space:
            return self.sizes[letter]
        return ((self.sizes[letter] - 1) * self.strides[letter] + (self.sizes[letter.upper()] - 1) * self.dilations[letter] + 1
                + self.behind[letter] + self.before[letter])

    def shape(self, layout):
        return [self.extent(letter) if layout is self.image else self.sizes[letter] for letter in layout]

    def type(self, layout, element):
        unknown = [letter in self.unknown for letter in layout]
        return "tensor<" + "".join(("?" if hidden else str(size)) + "x"
                                   for hidden, size in zip(unknown, self.shape(layout))) + element + ">"

    def source(self):
        # The shapes of image and result may be the same object of Python.
        (a, b), (widening, factors) = self.elements.operands, self.elements.widening()
        image, weights = self.type(self.image, a), self.type(self.filter, b)
        result = tensor_type(self.result, self.sizes, self.unknown, self.sum)
        final = tensor_type(self.consumer.final, self.sizes, self.unknown, self.sum)
        kind = "f" if self.sum[0] == "f" else "i"
        start = "%c" if self.adds else "%z"
        zeros = ", %zx, %zy" if self.isQuantised else ""
        zeroTypes = ", i32, i32" if self.isQuantised else ""
        lines = [
            f"func.func @main(%a: {image}, %b: {weights}, %c: {result}{self.consumer.arguments()}) -> {final} {{",
            f"  %zero = arith.constant {'0.0' if kind == 'f' else '0'} : {self.sum}",
            f"  %z = linalg.fill ins(%zero : {self.sum}) outs(%c : {result}) -> {result}",
            *(["  %zx = arith.constant 3 : i32", "  %zy = arith.constant -5 : i32"] if self.isQuantised else [])]
        if self.isNamed:
            def numbers(values):
                return f"dense<[{', '.join(str(values[letter]) for letter in self.space)}]> : tensor<{len(self.space)}xi64>"
            hasAttributes = self.image not in ("w", "hw", "dhw")
            attributes = f" {{strides = {numbers(self.strides)}, dilations = {numbers(self.dilations)}}}" if hasAttributes else ""
            lines += [f"  %r = linalg.{self.name}{attributes}",
                      f"      ins(%a, %b{zeros} : {image}, {weights}{zeroTypes}) outs({start} : {result}) -> {result}"]
        else:
            index = {letter: f"{letter} * {self.strides[letter]} + {letter.upper()} * {self.dilations[letter]}"
                     + (f" + {self.before[letter]}" if self.before[letter] else "") for letter in self.space}
            maps = ", ".join(f"affine_map<({', '.join(self.loops)}) -> ({', '.join(results)})>" for results in (
                [index.get(letter, letter) for letter in self.image], self.filter, self.result))
            kinds = ", ".join('"parallel"' if letter in self.result else '"reduction"' for letter in self.loops)
            lines += [
                f"  %r = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}",
                f"      ins(%a, %b : {image}, {weights}) outs({start} : {result}) {{",
                f"  ^bb0(%x: {a}, %y: {b}, %sum: {self.sum}):",
                *widening,
                f"    %p = arith.mul{kind} {', '.join(factors)} : {self.sum}",
                f"    %s = arith.add{kind} %sum, %p : {self.sum}",
                f"    linalg.yield %s : {self.sum}",
                f"  }} -> {result}"]
        return with_parameters(
            "\n".join([*lines, *self.consumer.lines(), f"  return {self.consumer.value} : {final}", "}"]), self.parameters)

    def reference(self, a, b, c):
        wide = np.float64 if self.sum[0] == "f" else np.int64
        windows = self.elements.widened(a, 0) - (3 if self.isQuantised else 0)
        if self.isUnsigned:
            windows, c = (array.astype(np.int64) & 0xffffffff for array in (windows, c))
        letters = self.image
        for letter in self.space:
            axis, taps, dilation = letters.index(letter), self.sizes[letter.upper()], self.dilations[letter]
            windows = np.lib.stride_tricks.sliding_window_view(windows, (taps - 1) * dilation + 1, axis)[..., ::dilation]
            windows = windows[(slice(None),) * axis + (slice(self.before[letter], None, self.strides[letter]),)]
            letters += letter.upper()
        if self.combiner != "sum":
            axes = tuple(letters.index(letter.upper()) for letter in self.space)
            best = {"max": np.max, "min": np.min}[self.combiner](windows, axis=axes)
            return {"max": np.maximum, "min": np.minimum}[self.combiner](best, c if self.adds else 0)
        weights = np.ones(b.shape, wide) if self.pools else self.elements.widened(b, 1) + (5 if self.isQuantised else 0)
        # Names of one letter each.
        want = np.einsum(f"{letters},{self.filter}->{self.result}", windows, weights, optimize=True)
        return want + c if self.adds else want

    def draw(self, values):
        """Both operands by name, the other arguments, and what comes out."""
        image, weights = self.elements.operands
        a = draw([self.extent(letter) for letter in self.image], image, values)
        b = draw([self.sizes[letter] for letter in self.filter], weights, values)
        c = draw([self.sizes[letter] for letter in self.result], self.sum, values)
        more = self.consumer.values(lambda shape: draw(shape, self.sum, values))
        return {"a": a, "b": b}, [c, *more], self.consumer.reference(self.reference(a, b, c), more)

    def compare(self, have, want):
        """What is wrong, or nothing."""
        return compare(have, want, self.sum, self.depth, self.consumer.terms)


def check(convolution, engines, values):
    """What is wrong, or nothing."""
    operands, rest, want = convolution.draw(values)
    operands = convolution.elements.typed(operands)
    parameters = {name: operands.pop(name) for name in convolution.parameters}

    def call(engine, **options):
        return np.asarray(engine.loads(convolution.source(), parameters=parameters, **options).main(*operands.values(), *rest))

    have = [call(engine) for engine in engines]
    if have[0].tobytes() != have[1].tobytes():
        return "one thread and two give different results"
    if convolution.isStrict:
        strict, oracle = (call(engines[0], **options)
                          for options in ({"numerics": "strict"}, {"oracle": True}))
        if strict.tobytes() != oracle.tobytes():
            return "strict code and the oracle give different results"
    return convolution.compare(have[0], want)


if __name__ == "__main__":
    run(__doc__, Convolution, check)
