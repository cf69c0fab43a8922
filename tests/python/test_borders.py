"""Convolutions of images with borders of zeros, as wide as windows and wider, of which the places outside of the image are left out."""
import numpy as np
import pytest

import plimsoll as pl

from hosts import HOSTS

TYPES = {"f32": (np.float32, "f32"), "f64": (np.float64, "f64"), "i8": (np.int8, "i32"), "i16": (np.int16, "i32"), "i32": (np.int32, "i32")}
LAYOUTS = {"first": ("(n, c, h * {s} + y * {d}, w * {s} + x * {d})", "(n, f, h, w)"),
           "last": ("(n, h * {s} + y * {d}, w * {s} + x * {d}, c)", "(n, h, w, f)")}


class Case:
    def __init__(self, random, layout):
        def one(*values):
            return int(random.choice(values))
        self.layout = layout
        self.batch, self.channels, self.filters = one(1, 1, 2), one(1, 3, 16, 33), one(1, 5, 16, 32, 48)
        self.rows, self.columns = one(1, 2, 3, 7, 14, 20, 33), one(1, 2, 3, 7, 14, 20, 33)
        self.window, self.stride, self.dilation = (one(1, 2, 3, 3, 5), one(1, 2, 3, 3, 5)), one(1, 1, 2), one(1, 1, 2, 6, 18)
        reach = [self.dilation * (size - 1) for size in self.window]
        # Before and behind rows, before and behind columns: half of a window, or anything up to a window and one more.
        self.pads = [reach[0] // 2] * 2 + [reach[1] // 2] * 2
        if random.random() < 0.5:
            self.pads = [int(random.integers(0, reach[i // 2] + 2)) for i in range(4)]
        self.known, self.scaled, self.fixed = random.random() < 0.6, random.random() < 0.4, random.random() < 0.7
        padded = [self.rows + sum(self.pads[:2]), self.columns + sum(self.pads[2:])]
        self.extents = [(extent - far - 1) // self.stride + 1 for extent, far in zip(padded, reach)]
        self.padded = padded

    def fits(self):
        return min(self.extents) > 0 and self.channels * self.filters * np.prod(self.window) * np.prod(self.extents) < 3e7

    def shape(self, channels, extents, known=True):
        extents = [e if known else "?" for e in extents]
        return [self.batch, channels, *extents] if self.layout == "first" else [self.batch, *extents, channels]

    def draw(self, random, dtype):
        # Few and small: sums are exact in any order.
        self.weights = random.integers(-4, 5, (self.filters, self.channels, *self.window)).astype(dtype)
        return random.integers(-4, 5, self.shape(self.channels, [self.rows, self.columns])).astype(dtype)

    def text(self, name, element, sum_):
        def kind(shape, of):
            return f"tensor<{'x'.join(map(str, shape))}x{of}>"
        image = kind(self.shape(self.channels, [self.rows, self.columns], self.known), element)
        padded = kind(self.shape(self.channels, self.padded, self.known), element)
        weights, result = kind(self.weights.shape, element), kind(self.shape(self.filters, self.extents), sum_)
        maps = [each.format(s=self.stride, d=self.dilation) for each in (LAYOUTS[self.layout][0], "(f, c, y, x)", LAYOUTS[self.layout][1])]
        isFloat = element[0] == "f"
        mul, add = ("mulf", "addf") if isFloat else ("muli", "addi")
        argument = "" if self.fixed else f", %w: {weights}"
        zero = "0.0" if isFloat else "0"
        lines = [f"func.func @{name}(%x: {image}{argument}) -> {result} {{",
                 f"  %zero = arith.constant {zero} : {element}", f"  %none = arith.constant {zero} : {sum_}"]
        if self.fixed:
            lines.append(f'  %w = arith.constant dense<"0x{self.weights.tobytes().hex()}"> : {weights}')
        if self.scaled:
            same = "affine_map<(i, j, k, l) -> (i, j, k, l)>"
            lines += [f"  %y = linalg.generic {{indexing_maps = [{same}, {same}], iterator_types = [" + ", ".join(['"parallel"'] * 4) + "]}",
                      f"      ins(%x : {image}) outs(%x : {image}) {{", f"  ^bb0(%a: {element}, %o: {element}):",
                      f"    %d = arith.{add} %a, %a : {element}", f"    linalg.yield %d : {element}", f"  }} -> {image}"]
        low, high = self.shape(0, self.pads[::2]), self.shape(0, self.pads[1::2])
        low[0] = high[0] = 0
        lines += [f"  %p = tensor.pad {'%y' if self.scaled else '%x'} low[{', '.join(map(str, low))}] high[{', '.join(map(str, high))}] {{",
                  "  ^bb0(%i: index, %j: index, %k: index, %l: index):", f"    tensor.yield %zero : {element}", f"  }} : {image} to {padded}",
                  f"  %e = tensor.empty() : {result}", f"  %z = linalg.fill ins(%none : {sum_}) outs(%e : {result}) -> {result}",
                  "  %c = linalg.generic {indexing_maps = [" + ", ".join(f"affine_map<(n, f, h, w, c, y, x) -> {each}>" for each in maps) +
                  "], iterator_types = [" + ", ".join(['"parallel"'] * 4 + ['"reduction"'] * 3) + "]}",
                  f"      ins(%p, %w : {padded}, {weights}) outs(%z : {result}) {{", f"  ^bb0(%a: {element}, %b: {element}, %o: {sum_}):"]
        a, b = "%a", "%b"
        if element != sum_:
            lines += [f"    %wa = arith.extsi %a : {element} to {sum_}", f"    %wb = arith.extsi %b : {element} to {sum_}"]
            a, b = "%wa", "%wb"
        lines += [f"    %m = arith.{mul} {a}, {b} : {sum_}", f"    %s = arith.{add} %o, %m : {sum_}", f"    linalg.yield %s : {sum_}",
                  f"  }} -> {result}", f"  return %c : {result}", "}"]
        return "\n".join(lines)

    def wanted(self, x):
        x = x.astype(np.float64) * (2 if self.scaled else 1)
        if self.layout == "last":
            x = x.transpose(0, 3, 1, 2)
        x = np.pad(x, [(0, 0), (0, 0), self.pads[:2], self.pads[2:]])
        total = np.zeros((self.batch, self.filters, *self.extents))
        for i in range(self.window[0]):
            for j in range(self.window[1]):
                part = x[:, :, i * self.dilation:, j * self.dilation:][:, :, ::self.stride, ::self.stride]
                total += np.einsum("nchw,fc->nfhw", part[:, :, :self.extents[0], :self.extents[1]], self.weights[:, :, i, j].astype(np.float64))
        return total if self.layout == "first" else total.transpose(0, 2, 3, 1)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("element", TYPES)
def test_places_outside_of_the_image(element, layout):
    dtype, sum_ = TYPES[element]
    seed = int(np.random.default_rng().integers(1 << 32))
    random = np.random.default_rng(seed)
    cases = []
    while len(cases) < 14:
        case = Case(random, layout)
        if case.fits():
            cases.append((case, case.draw(random, dtype)))
    source = "\n".join(case.text(f"f{number}", element, sum_) for number, (case, _) in enumerate(cases))
    for threads, host in enumerate(HOSTS, 1):
        module = pl.Engine(target=host, threads=threads).loads(source)
        for number, (case, x) in enumerate(cases):
            arguments = [x] if case.fixed else [x, case.weights]
            np.testing.assert_array_equal(np.asarray(module[f"f{number}"](*arguments)), case.wanted(x),
                                          err_msg=f"{vars(case)} on {host}, seed {seed}")


def test_weights_outside():
    """Infinite weights of places that lie outside are left out, too, but where code is strict."""
    w = np.ones((64, 64, 3, 3), np.float32)
    w[:, :, 0] = np.inf
    source = f"""
func.func @f(%x: tensor<1x64x1x1xf32>) -> tensor<1x64x1x1xf32> {{
  %r = tensor.empty() : tensor<1x64x1x1xf32>
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<"0x{w.tobytes().hex()}"> : tensor<64x64x3x3xf32>
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {{
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  }} : tensor<1x64x1x1xf32> to tensor<1x64x3x3xf32>
  %z = linalg.fill ins(%zero : f32) outs(%r : tensor<1x64x1x1xf32>) -> tensor<1x64x1x1xf32>
  %c = linalg.conv_2d_nchw_fchw ins(%p, %w : tensor<1x64x3x3xf32>, tensor<64x64x3x3xf32>) outs(%z : tensor<1x64x1x1xf32>) -> tensor<1x64x1x1xf32>
  return %c : tensor<1x64x1x1xf32>
}}"""
    x = np.ones((1, 64, 1, 1), np.float32)
    np.testing.assert_array_equal(np.asarray(pl.Engine().loads(source).f(x)), np.full((1, 64, 1, 1), 64))
    strict = pl.loads(source, numerics="strict")
    assert np.isnan(np.asarray(strict.f(x))).all()


def test_known_result_of_an_open_image():
    source = """
func.func @f(%x: tensor<2x?x?x16xf32>, %w: tensor<16x24xf32>, %r: tensor<2x2x3x24xf32>) -> tensor<2x2x3x24xf32> {
  %c = linalg.generic {indexing_maps = [affine_map<(n, h, w, f, c) -> (n, h, w, c)>, affine_map<(n, h, w, f, c) -> (c, f)>,
                                        affine_map<(n, h, w, f, c) -> (n, h, w, f)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<2x?x?x16xf32>, tensor<16x24xf32>) outs(%r : tensor<2x2x3x24xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<2x2x3x24xf32>
  return %c : tensor<2x2x3x24xf32>
}"""
    random = np.random.default_rng(5)
    x, w = random.integers(-9, 9, (2, 2, 3, 16)).astype(np.float32), random.integers(-9, 9, (16, 24)).astype(np.float32)
    start = np.ones((2, 2, 3, 24), np.float32)
    np.testing.assert_array_equal(np.asarray(pl.Engine().loads(source).f(x, w, start)), x @ w + 1)
    with pytest.raises(pl.Error, match="extent|shape"):
        pl.Engine().loads(source).f(x[:, :1], w, start)


@pytest.mark.parametrize("rows", [2, 3, 5])
def test_images_larger_than_what_is_read(rows):
    """Windows of one place, over images and results of open extents, with elements of the image behind them."""
    source = """
func.func @last(%x: tensor<2x?x?x4xf32>, %w: tensor<1x1x4x32xf32>, %r: tensor<2x?x?x32xf32>) -> tensor<2x?x?x32xf32> {
  %c = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<2x?x?x4xf32>, tensor<1x1x4x32xf32>) outs(%r : tensor<2x?x?x32xf32>) -> tensor<2x?x?x32xf32>
  return %c : tensor<2x?x?x32xf32>
}
func.func @first(%x: tensor<2x4x?x?xf32>, %w: tensor<32x4x1x1xf32>, %r: tensor<2x32x?x?xf32>) -> tensor<2x32x?x?xf32> {
  %c = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<2x4x?x?xf32>, tensor<32x4x1x1xf32>) outs(%r : tensor<2x32x?x?xf32>) -> tensor<2x32x?x?xf32>
  return %c : tensor<2x32x?x?xf32>
}
func.func @three(%x: tensor<2x?x4xf32>, %w: tensor<1x1x4x32xf32>, %r: tensor<2x1x32xf32>) -> tensor<2x1x32xf32> {
  %c = linalg.generic {indexing_maps = [affine_map<(n, h, f, y, z, c) -> (n, h + y + z * 5, c)>, affine_map<(n, h, f, y, z, c) -> (y, z, c, f)>,
                                        affine_map<(n, h, f, y, z, c) -> (n, h, f)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<2x?x4xf32>, tensor<1x1x4x32xf32>) outs(%r : tensor<2x1x32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<2x1x32xf32>
  return %c : tensor<2x1x32xf32>
}"""
    random = np.random.default_rng(6)
    w = random.integers(-9, 9, (4, 32)).astype(np.float32)
    for host in HOSTS:
        module = pl.Engine(target=host, threads=2).loads(source)
        for behind in (0, 1, 2):
            x = random.integers(-9, 9, (2, rows + behind, 3 + behind, 4)).astype(np.float32)
            start = random.integers(-9, 9, (2, rows, 3, 32)).astype(np.float32)
            want = x[:, :rows, :3] @ w + start
            np.testing.assert_array_equal(np.asarray(module["last"](x, w[None, None], start)), want)
            turned = [np.ascontiguousarray(each.transpose(0, 3, 1, 2)) for each in (x, start)]
            got = np.asarray(module["first"](turned[0], np.ascontiguousarray(w.T[:, :, None, None]), turned[1]))
            np.testing.assert_array_equal(got, want.transpose(0, 3, 1, 2))
            line = np.ascontiguousarray(x[:, :, 0])
            np.testing.assert_array_equal(np.asarray(module["three"](line, w[None, None], start[:, :1, 0])), line[:, :1] @ w + start[:, :1, 0])
