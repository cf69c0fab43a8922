"""Windows of one channel that go in steps, over rows of any length: what each tile reads of what lies side by side."""
import numpy as np
import pytest

import plimsoll as pl

from hosts import HOSTS

NUMPY = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64}
# Of elements and sums, and what one becomes the other by: as wide, wider, narrower.
KINDS = [("f32", "f32", None), ("f64", "f64", None), ("i8", "i32", "extsi"), ("i16", "i32", "extsi"), ("f16", "f32", "extf"), ("f64", "f32", "truncf"),
         ("i64", "i32", "trunci"), ("i32", "i8", "trunci"), ("f64", "i8", "fptosi")]
WIDTHS = [1, 2, 3, 5, 6, 7, 9, 11, 12, 13, 14, 15, 17, 23, 28, 31, 33]


def sums_of_windows(element, kind, conversion, step, width):
    convert = f"%v = arith.{conversion} %x : {element} to {kind}" if conversion else ""
    value, add = "%v" if conversion else "%x", "addf" if kind[0] == "f" else "addi"
    columns = (width - 1) * step + 3
    return f"""
#image = affine_map<(c, y, x, j, k) -> (c, y + j, x * {step} + k)>
#window = affine_map<(c, y, x, j, k) -> (j, k)>
#result = affine_map<(c, y, x, j, k) -> (c, y, x)>
func.func @main(%image: tensor<2x5x{columns}x{element}>, %sums: tensor<2x3x{width}x{kind}>) -> tensor<2x3x{width}x{kind}> {{
  %window = tensor.empty() : tensor<3x3xf32>
  %r = linalg.generic {{indexing_maps = [#image, #window, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}}
      ins(%image, %window : tensor<2x5x{columns}x{element}>, tensor<3x3xf32>) outs(%sums : tensor<2x3x{width}x{kind}>) {{
  ^bb0(%x: {element}, %unused: f32, %so: {kind}):
    {convert}
    %next = arith.{add} %so, {value} : {kind}
    linalg.yield %next : {kind}
  }} -> tensor<2x3x{width}x{kind}>
  return %r : tensor<2x3x{width}x{kind}>
}}"""


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("element, kind, conversion", KINDS)
def test_windows_in_steps(host, element, kind, conversion):
    """All sums are exact. A checked engine has nothing behind the image that may be read."""
    numbers = np.random.default_rng(5)
    engines = [pl.Engine(threads=1, target=host), pl.Engine(threads=1, target=host, checked=True)]
    for width in WIDTHS:
        step = int(numbers.integers(1, 5))
        image = numbers.integers(-4, 5, (2, 5, (width - 1) * step + 3)).astype(NUMPY[element])
        sums = numbers.integers(-4, 5, (2, 3, width)).astype(NUMPY[kind])
        want = sums.copy()
        for j, k in np.ndindex(3, 3):
            want += image[:, j:j + 3, k:k + (width - 1) * step + 1:step].astype(NUMPY[kind])
        for engine in engines:
            have = engine.loads(sums_of_windows(element, kind, conversion, step, width)).main(image, sums)
            np.testing.assert_array_equal(have, want, err_msg=f"steps of {step}, {width} columns")


@pytest.mark.parametrize("step", [4, 5, 20000])
@pytest.mark.parametrize("columns", [14, 16, 30])
def test_elements_far_apart(step, columns):
    """Beside an operand whose columns lie side by side."""
    module = pl.Engine(threads=1).loads(f"""
#apart = affine_map<(m, n, k) -> (m, k, n * {step})>
#beside = affine_map<(m, n, k) -> (k, n)>
#result = affine_map<(m, n, k) -> (m, n)>
func.func @main(%x: tensor<14x3x{(columns - 1) * step + 1}xf32>, %y: tensor<3x{columns}xf32>, %sums: tensor<14x{columns}xf32>) -> tensor<14x{columns}xf32> {{
  %r = linalg.generic {{indexing_maps = [#apart, #beside, #result], iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%x, %y : tensor<14x3x{(columns - 1) * step + 1}xf32>, tensor<3x{columns}xf32>) outs(%sums : tensor<14x{columns}xf32>) {{
  ^bb0(%a: f32, %b: f32, %so: f32):
    %most = arith.maximumf %a, %b : f32
    %next = arith.addf %so, %most : f32
    linalg.yield %next : f32
  }} -> tensor<14x{columns}xf32>
  return %r : tensor<14x{columns}xf32>
}}""")
    numbers = np.random.default_rng(6)
    x, y, sums = (numbers.integers(-4, 5, shape).astype(np.float32) for shape in ((14, 3, (columns - 1) * step + 1), (3, columns), (14, columns)))
    np.testing.assert_array_equal(module.main(x, y, sums), sums + np.maximum(x[:, :, ::step], y[None]).sum(1))


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("is_open", [False, True])
def test_rows_that_read_the_same(host, is_open):
    """A convolution of few filters, which read the same elements of an image of a few channels: of known extents, or of any."""
    numbers = np.random.default_rng(6)
    engines = [pl.Engine(threads=1, target=host), pl.Engine(threads=2, target=host), pl.Engine(threads=1, target=host, checked=True)]
    for filters, channels, step in ((8, 3, 2), (4, 1, 3), (5, 2, 4), (1, 3, 2), (16, 3, 2)):
        image_type, result_type = (f"tensor<1x{n}x{'?x?' if is_open else extents}xf32>" for n, extents in
                                   ((channels, f"9x{32 * step + 3}"), (filters, f"{(9 - 3) // step + 1}x33")))
        source = f"""
#image = affine_map<(b, f, y, x, c, j, k) -> (b, c, y * {step} + j, x * {step} + k)>
#filter = affine_map<(b, f, y, x, c, j, k) -> (f, c, j, k)>
#result = affine_map<(b, f, y, x, c, j, k) -> (b, f, y, x)>
func.func @main(%image: {image_type}, %filter: tensor<{filters}x{channels}x3x3xf32>, %sums: {result_type}) -> {result_type} {{
  %r = linalg.generic {{indexing_maps = [#image, #filter, #result],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}}
      ins(%image, %filter : {image_type}, tensor<{filters}x{channels}x3x3xf32>) outs(%sums : {result_type}) {{
  ^bb0(%a: f32, %b: f32, %so: f32):
    %ab = arith.mulf %a, %b : f32
    %next = arith.addf %so, %ab : f32
    linalg.yield %next : f32
  }} -> {result_type}
  return %r : {result_type}
}}"""
        modules = [engine.loads(source) for engine in engines]
        for width in (33,) if not is_open else (1, 5, 16, 31, 32, 33, 64, 70):
            height = (9 - 3) // step + 1
            image = numbers.integers(-4, 5, (1, channels, (height - 1) * step + 3, (width - 1) * step + 3)).astype(np.float32)
            if not is_open:
                image = numbers.integers(-4, 5, (1, channels, 9, 32 * step + 3)).astype(np.float32)
            weights = numbers.integers(-4, 5, (filters, channels, 3, 3)).astype(np.float32)
            sums = numbers.integers(-4, 5, (1, filters, height, width)).astype(np.float32)
            want = sums.copy()
            for j, k in np.ndindex(3, 3):
                part = image[0, :, j:j + (height - 1) * step + 1:step, k:k + (width - 1) * step + 1:step]
                want[0] += np.einsum("cyx,fc->fyx", part, weights[:, :, j, k])
            for module in modules:
                np.testing.assert_array_equal(module.main(image, weights, sums), want, err_msg=f"{filters} {channels} {step} {width}")


# Of elements: their type in NumPy, and how two are added and multiplied.
ELEMENTS = {"f32": (np.float32, "arith.addf", "arith.mulf"), "f64": (np.float64, "arith.addf", "arith.mulf"), "f16": (np.float16, "arith.addf", "arith.mulf"),
            "i8": (np.int8, "arith.addi", "arith.muli"), "i32": (np.int32, "arith.addi", "arith.muli"), "index": (np.int64, "arith.addi", "arith.muli"),
            "complex<f32>": (np.complex64, "complex.add", "complex.mul")}


class Bordered:
    """Images that get a border, and windows over each of them: sums, or of products with a filter of each image."""

    def __init__(self, numbers, element):
        def one(*values):
            return int(numbers.choice(values))
        self.element, self.images = element, one(1, 2, 5)
        self.extents = [one(1, 2, 7, 13, 20), one(1, 2, 3, 7, 13, 14, 16, 28, 31, 33, 57, 64, 67, 112)]
        self.window, self.steps, self.dilation = [one(1, 2, 3, 5), one(1, 2, 3, 4, 5, 7)], [one(1, 2, 3), one(2, 2, 2, 3, 4, 5)], one(1, 1, 2, 3)
        self.before, self.behind = [one(0, 1, 2, 4), one(0, 1, 2, 3, 4)], [one(0, 1, 3), one(0, 1, 2, 3, 4)]
        self.multiplies = one(0, 1) == 1
        self.padded = [sum(each) for each in zip(self.before, self.extents, self.behind)]
        self.results = [(all_ - (of - 1) * self.dilation - 1) // step + 1 for all_, of, step in zip(self.padded, self.window, self.steps)]

    def text(self):
        def kind(*shape):
            return f"tensor<{'x'.join(map(str, (self.images, *shape)))}x{self.element}>"
        _, add, mul = ELEMENTS[self.element]
        t, image, padded, window, result = self.element, kind(*self.extents), kind(*self.padded), kind(*self.window), kind(*self.results)
        zero = {"c": "complex.constant [0.0 : f32, 0.0 : f32] : complex<f32>", "f": f"arith.constant 0.0 : {t}"}.get(t[0], f"arith.constant 0 : {t}")
        term = f"%p = {mul} %a, %b : {t}" if self.multiplies else ""
        return f"""
func.func @main(%image: {image}, %filter: {window}) -> {result} {{
  %zero = {zero}
  %padded = tensor.pad %image low[0, {self.before[0]}, {self.before[1]}] high[0, {self.behind[0]}, {self.behind[1]}] {{
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %zero : {t}
  }} : {image} to {padded}
  %e = tensor.empty() : {result}
  %f = linalg.fill ins(%zero : {t}) outs(%e : {result}) -> {result}
  %r = linalg.generic {{indexing_maps = [affine_map<(c, h, w, y, x) -> (c, h * {self.steps[0]} + y * {self.dilation}, w * {self.steps[1]} + x * {self.dilation})>,
                                        affine_map<(c, h, w, y, x) -> (c, y, x)>, affine_map<(c, h, w, y, x) -> (c, h, w)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}}
      ins(%padded, %filter : {padded}, {window}) outs(%f : {result}) {{
  ^bb0(%a: {t}, %b: {t}, %so: {t}):
    {term}
    %s = {add} %so, {"%p" if self.multiplies else "%a"} : {t}
    linalg.yield %s : {t}
  }} -> {result}
  return %r : {result}
}}"""

    def wanted(self, image, window):
        total = np.zeros((self.images, *self.results), image.dtype)
        padded = np.pad(image, [(0, 0), *zip(self.before, self.behind)])
        for y, x in np.ndindex(*self.window):
            part = padded[:, y * self.dilation:, x * self.dilation:][:, ::self.steps[0], ::self.steps[1]][:, :self.results[0], :self.results[1]]
            total = (total + (part * window[:, y:y + 1, x:x + 1] if self.multiplies else part)).astype(image.dtype)
        return total


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("element", ELEMENTS)
def test_windows_in_steps_over_a_border(host, element):
    """All sums are exact. Even columns lie in front of odd ones where nothing else reads the image."""
    numbers, checked = np.random.default_rng(11), 0
    engines = [pl.Engine(threads=1, target=host), pl.Engine(threads=2, target=host, checked=True)]
    while checked < 5:
        case = Bordered(numbers, element)
        if min(case.results) < 1:
            continue
        image = numbers.integers(-4, 5, (case.images, *case.extents)).astype(ELEMENTS[element][0])
        window = numbers.integers(-2, 3, (case.images, *case.window)).astype(ELEMENTS[element][0])
        if element[0] == "c":
            image, window = image * (1 - 2j), window * (2 + 1j)
        for engine in engines:
            got = engine.loads(case.text())["main"](image, window)
            np.testing.assert_array_equal(got, case.wanted(image, window), err_msg=case.text())
        checked += 1


@pytest.mark.parametrize("numerics", ["default", "strict"])
@pytest.mark.parametrize("step", [1, 2])
def test_windows_whose_order_matters(numerics, step):
    """Each element counts half as much as the one behind it, in the order of the source."""
    rows, columns = 20, 33
    extents = f"tensor<2x{(rows - 1) * step + 3}x{(columns - 1) * step + 3}xf32>"
    engine = pl.Engine(threads=1)
    source = f"""
#image = affine_map<(c, h, w, y, x) -> (c, h * {step} + y, w * {step} + x)>
#window = affine_map<(c, h, w, y, x) -> (y, x)>
#result = affine_map<(c, h, w, y, x) -> (c, h, w)>
func.func @main(%image: {extents}, %sums: tensor<2x{rows}x{columns}xf32>) -> tensor<2x{rows}x{columns}xf32> {{
  %half = arith.constant 0.5 : f32
  %window = tensor.empty() : tensor<3x3xf32>
  %r = linalg.generic {{indexing_maps = [#image, #window, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}}
      ins(%image, %window : {extents}, tensor<3x3xf32>) outs(%sums : tensor<2x{rows}x{columns}xf32>) {{
  ^bb0(%a: f32, %unused: f32, %so: f32):
    %less = arith.mulf %so, %half : f32
    %next = arith.addf %less, %a : f32
    linalg.yield %next : f32
  }} -> tensor<2x{rows}x{columns}xf32>
  return %r : tensor<2x{rows}x{columns}xf32>
}}"""
    numbers = np.random.default_rng(7)
    image = numbers.integers(-4, 5, (2, (rows - 1) * step + 3, (columns - 1) * step + 3)).astype(np.float32)
    want = numbers.integers(-4, 5, (2, rows, columns)).astype(np.float32)
    sums = want.copy()
    for y, x in np.ndindex(3, 3):
        want = want * np.float32(0.5) + image[:, y:y + (rows - 1) * step + 1:step, x:x + (columns - 1) * step + 1:step]
    np.testing.assert_array_equal(engine.loads(source, numerics=numerics).main(image, sums), want)
