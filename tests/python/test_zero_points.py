"""Products and convolutions of integers with zero points against NumPy, modulo 2^32 and 2^64."""

import numpy as np
import pytest

import plimsoll as pl

# Of 8 bits, at their ends, and such that products wrap.
ZERO_POINTS = [0, 1, -1, 127, -128, 255, 2**31 - 1, -(2**31), 1234567891]
# m, n, k
SHAPES = [(1, 1, 1), (13, 33, 7), (5, 17, 131), (32, 64, 64), (1, 40, 20), (40, 1, 20), (0, 5, 3), (5, 0, 3), (5, 3, 0)]


@pytest.fixture(scope="module")
def engines():
    return [pl.Engine(threads=threads, isolation="none") for threads in (1, 2)]


def some(numbers, shape, element, widening="extsi"):
    """Random numbers of a type as the engine takes them, and widened: what wraps in 64 bits is right in 32."""
    kind = np.dtype(f"int{element[1:]}")
    stored = numbers.integers(np.iinfo(kind).min, np.iinfo(kind).max + 1, shape, dtype=kind)
    return stored, (stored.view(f"u{kind.itemsize}") if widening == "extui" else stored).astype(np.int64)


def check(engines, loaded, text, turn, arguments, expected, what):
    """Calls the module on one thread; in turn also on two, as the source says it, and by the oracle."""
    others = [(1, {}), (0, {"numerics": "strict"}), (0, {"oracle": True})]
    for number, options in [(0, {}), *others[turn % 6 : turn % 6 + 1]]:
        key = text, number, *options
        if key not in loaded:
            loaded[key] = engines[number].loads(text, **options)
        np.testing.assert_array_equal(np.asarray(loaded[key].main(*arguments)), expected, err_msg=f"{what}, {options}")


def generic(operands, total, points, maps, iterators, types):
    """A sum of products of two operands, each a type and what widens it; `points` says where the zero point of each is: in an operand, in one of rank 0, outside, in the body as a number, nowhere."""
    body, scalars, signature, before = [], [], [], []
    factors = []
    for name, (element, widening), point in zip("ab", operands, points):
        body.append(f"%w{name} = arith.{widening} %{name}0 : {element} to {total}")
        zero = {"scalar": f"%p{name}", "tensor": f"%p{name}", "outside": f"%z{name}"}.get(point)
        if point in ("scalar", "outside"):
            signature.append(f"%z{name}: {total}")
        elif point == "tensor":
            signature.append(f"%z{name}: tensor<{total}>")
        elif isinstance(point, int):
            body.append(f"%c{name} = arith.constant {point} : {total}")
            zero = f"%c{name}"
        if point in ("scalar", "tensor"):
            scalars.append((f"%z{name}", f"%p{name}: {total}", total if point == "scalar" else f"tensor<{total}>"))
        if zero is None:
            factors.append(f"%w{name}")
        else:
            body.append(f"%d{name} = arith.subi %w{name}, {zero} : {total}")
            factors.append(f"%d{name}")
    loops = ", ".join(f"d{i}" for i in range(len(iterators)))
    texts = [f"affine_map<({loops}) -> ({each})>" for each in [*maps[:2], *[""] * len(scalars), maps[2]]]
    kinds = ", ".join(f'"{each}"' for each in iterators)
    inputs = ", ".join(["%a", "%b", *[each[0] for each in scalars]])
    inputTypes = ", ".join([types[0], types[1], *[each[2] for each in scalars]])
    arguments = ", ".join([f"%a0: {operands[0][0]}", f"%b0: {operands[1][0]}", *[each[1] for each in scalars], f"%s: {total}"])
    lines = "\n    ".join(body)
    return f"""
func.func @main({", ".join([f"%a: {types[0]}", f"%b: {types[1]}", f"%c: {types[2]}", *signature])}) -> {types[2]} {{
  %r = linalg.generic {{indexing_maps = [{", ".join(texts)}], iterator_types = [{kinds}]}}
      ins({inputs} : {inputTypes}) outs(%c : {types[2]}) {{
  ^bb0({arguments}):
    {lines}
    %t = arith.muli {", ".join(factors[::-1] if points[0] == "scalar" else factors)} : {total}
    %n = arith.addi {"%t, %s" if points[1] == "scalar" else "%s, %t"} : {total}
    linalg.yield %n : {total}
  }} -> {types[2]}
  return %r : {types[2]}
}}"""


PLACES = [("scalar", "scalar"), ("outside", "none"), ("none", "tensor"), ("tensor", "outside"), (-128, 0), (0, 127), (255, 1 << 30), ("scalar", 3)]


@pytest.mark.parametrize("place, isOpen", [(place, False) for place in range(len(PLACES))] + [(0, True), (3, True), (5, True)])
def test_matrices(engines, place, isOpen):
    numbers = np.random.default_rng(place)
    places = PLACES[place]
    kinds = [(("i8", left), ("i8", right), "i32") for left in ("extsi", "extui") for right in ("extsi", "extui")]
    kinds += [(("i16", "extsi"), ("i16", "extsi"), "i32"), (("i16", "extui"), ("i8", "extsi"), "i64")]
    loaded = {}
    # Shapes that are not known share a module; of the others each place has half.
    for number, (m, n, k) in enumerate(SHAPES):
        if not isOpen and (number + place // 2) % 2:
            continue
        turn = number // 4 if isOpen else number
        batch, isTransposed = turn % 3, turn % 2 == 1
        left, right, total = kinds[(turn + place) % len(kinds)]
        sizes = [(m, k), (n, k) if isTransposed else (k, n), (m, n)]
        maps = ["d0, d2", "d1, d2" if isTransposed else "d2, d1", "d0, d1"]
        iterators = ["parallel", "parallel", "reduction"]
        if batch:
            sizes = [(batch, *each) for each in sizes]
            maps = ["d3, " + each for each in maps]
            iterators = [*iterators, "parallel"]
        types = [f"tensor<{'x'.join('?' if isOpen else str(extent) for extent in size)}x{element}>" for size, element in zip(sizes, (left[0], right[0], total))]
        text = generic((left, right), total, places, maps, iterators, types)
        (a, wideA), (b, wideB), (c, wideC) = (some(numbers, size, *kind) for size, kind in zip(sizes, [left, right, (total,)]))
        kind = np.dtype(f"int{total[1:]}")
        given = [int(numbers.choice(ZERO_POINTS)) if isinstance(each, str) else each for each in places]
        arguments = [np.array(zero, kind) if each == "tensor" else kind.type(zero) for each, zero in zip(places, given) if each in ("scalar", "tensor", "outside")]
        wideA, wideB = (wide - (0 if each == "none" else zero) for wide, each, zero in zip((wideA, wideB), places, given))
        expected = (wideC + wideA @ (np.swapaxes(wideB, -1, -2) if isTransposed else wideB)).astype(kind)
        check(engines, loaded, text, place + number, [a, b, c, *arguments], expected, f"{m, n, k}, {given}")


# Letters of the dimensions: of the image, the filter and the result; `kij` are the windows' in `dhw`.
CONVOLUTIONS = {
    "conv_2d_nhwc_hwcf_q": ("nhwc", "ijcf", "nhwf"),
    "conv_2d_nhwc_fhwc_q": ("nhwc", "fijc", "nhwf"),
    "conv_2d_nchw_fchw_q": ("nchw", "fcij", "nfhw"),
    "conv_2d_nhwgc_gfhwc_q": ("nhwgc", "gfijc", "nhwgf"),
    "conv_2d_ngchw_gfchw_q": ("ngchw", "gfcij", "ngfhw"),
    "conv_3d_ndhwc_dhwcf_q": ("ndhwc", "kijcf", "ndhwf"),
    "depthwise_conv_2d_nhwc_hwc_q": ("nhwc", "ijc", "nhwc"),
    "depthwise_conv_2d_nhwc_hwcm_q": ("nhwc", "ijcm", "nhwcm"),
}
WINDOWS = dict(zip("dhw", "kij"))


def convolved(image, filter, spec, strides, dilations):
    """A convolution of integers of 64 bits by NumPy."""
    ofImage, ofFilter, ofResult = spec
    spatial = [letter for letter in ofImage if letter in WINDOWS]
    axes = [ofImage.index(letter) for letter in spatial]
    spans = [(filter.shape[ofFilter.index(WINDOWS[letter])] - 1) * step + 1 for letter, step in zip(spatial, dilations)]
    views = np.lib.stride_tricks.sliding_window_view(image, spans, axes)
    cut = [slice(None)] * image.ndim + [slice(None, None, step) for step in dilations]
    for axis, step in zip(axes, strides):
        cut[axis] = slice(None, None, step)
    letters = ofImage + "".join(WINDOWS[letter] for letter in spatial)
    return np.einsum(f"{letters},{ofFilter}->{ofResult}", views[tuple(cut)], filter)


def shaped(shape, element, isOpen=False):
    return f"tensor<{'x'.join('?' if isOpen else str(extent) for extent in shape)}x{element}>"


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolutions(engines, name):
    spec = CONVOLUTIONS[name]
    numbers = np.random.default_rng(len(name))
    spatial = [letter for letter in spec[0] if letter in WINDOWS]
    for number, (window, strides, dilations, isOpen) in enumerate([(3, 1, 1, False), (1, 1, 1, True), (2, 2, 3, False)]):
        extents = {"n": 1 + number, "c": (8, 5, 3)[number], "f": (16, 7, 4)[number], "g": 2, "m": 2}
        extents |= {letter: 7 + at for at, letter in enumerate(spatial)} | {WINDOWS[letter]: window for letter in spatial}
        (image, wideImage), (filter, wideFilter) = (some(numbers, [extents[letter] for letter in each], "i8") for each in spec[:2])
        za, zb = int(numbers.choice(ZERO_POINTS)), 0 if number < 2 else int(numbers.choice(ZERO_POINTS))
        steps, gaps = [strides] * len(spatial), [dilations] * len(spatial)
        expected = convolved(wideImage - za, wideFilter - zb, spec, steps, gaps)
        bias, wideBias = some(numbers, expected.shape, "i32")
        types = shaped(image.shape, "i8", isOpen), shaped(filter.shape, "i8", isOpen), shaped(bias.shape, "i32", isOpen)
        zero = "%zb" if zb else "%zero"
        text = f"""
func.func @main(%a: {types[0]}, %b: {types[1]}, %c: {types[2]}, %za: i32, %zb: i32) -> {types[2]} {{
  %zero = arith.constant 0 : i32
  %r = linalg.{name} {{strides = dense<{strides}> : tensor<{len(spatial)}xi64>, dilations = dense<{dilations}> : tensor<{len(spatial)}xi64>}}
      ins(%a, %b, %za, {zero} : {types[0]}, {types[1]}, i32, i32) outs(%c : {types[2]}) -> {types[2]}
  return %r : {types[2]}
}}"""
        arguments = [image, filter, bias, np.int32(za), np.int32(zb)]
        check(engines, {}, text, number, arguments, (wideBias + expected).astype(np.int32), f"{za}, {zb}, {window}, {strides}, {dilations}")


def constant(values, element):
    return f'"tosa.const"() {{values = dense<{np.asarray(values).tolist()}> : {shaped(np.shape(values), element)}}} : () -> {shaped(np.shape(values), element)}'


@pytest.mark.parametrize("za, zb", [(-128, 0), (127, 3), (0, -5)])
@pytest.mark.parametrize("isDepthwise", [False, True])
def test_borders(engines, isDepthwise, za, zb):
    """What is around an image is its zero point. Weights are constants."""
    numbers = np.random.default_rng(za + 200 + isDepthwise)
    image, wideImage = some(numbers, (1, 6, 7, 4), "i8")
    weights, wideWeights = some(numbers, (3, 2, 4, 2) if isDepthwise else (5, 3, 2, 4), "i8")
    padded = np.pad(wideImage - za, ((0, 0), (1, 2), (0, 1), (0, 0)))
    expected = convolved(padded, wideWeights - zb, ("nhwc", *(("ijcm", "nhwcm") if isDepthwise else ("fijc", "nhwf"))), (2, 1), (1, 2))
    expected = expected.reshape(*expected.shape[:3], -1)
    bias, wideBias = some(numbers, expected.shape[3:], "i32")
    result = shaped(expected.shape, "i32")
    text = f"""
func.func @main(%a: tensor<1x6x7x4xi8>, %bias: {shaped(bias.shape, "i32")}) -> {result} {{
  %b = {constant(weights, "i8")}
  %za = {constant([za], "i8")}
  %zb = {constant([zb], "i8")}
  %r = tosa.{"depthwise_conv2d" if isDepthwise else "conv2d"} %a, %b, %bias, %za, %zb {{acc_type = i32, pad = array<i64: 1, 2, 0, 1>,
      stride = array<i64: 2, 1>, dilation = array<i64: 1, 2>}} : (tensor<1x6x7x4xi8>, {shaped(weights.shape, "i8")}, {shaped(bias.shape, "i32")},
      tensor<1xi8>, tensor<1xi8>) -> {result}
  return %r : {result}
}}"""
    for turn in range(3):
        check(engines, {}, text, turn, [image, bias], (wideBias + expected).astype(np.int32), f"{za}, {zb}")


@pytest.mark.parametrize("isOpen", [False, True])
def test_rescaled(engines, isOpen):
    """A linear layer as exporters write it: constant weights, a bias behind, scaled to bytes again."""
    numbers = np.random.default_rng(7)
    a, wideA = some(numbers, (2, 9, 64), "i8")
    weights, wideWeights = some(numbers, (2, 64, 48), "i8")
    za, zb = 11, -3
    rows = "?" if isOpen else "9"
    kept = f"tensor<2x{rows}x48xi32>"
    text = f"""
#all = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
func.func @main(%a: tensor<2x{rows}x64xi8>) -> tensor<2x{rows}x48xi8> {{
  %b = {constant(weights, "i8")}
  %za = {constant([za], "i8")}
  %zb = {constant([zb], "i8")}
  %p = tosa.matmul %a, %b, %za, %zb : (tensor<2x{rows}x64xi8>, tensor<2x64x48xi8>, tensor<1xi8>, tensor<1xi8>) -> {kept}
  %one = arith.constant 1 : index
  %m = tensor.dim %a, %one : tensor<2x{rows}x64xi8>
  %e = tensor.empty({"%m" if isOpen else ""}) : tensor<2x{rows}x48xi8>
  %r = linalg.generic {{indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]}}
      ins(%p : {kept}) outs(%e : tensor<2x{rows}x48xi8>) {{
  ^bb0(%x: i32, %o: i8):
    %bias = arith.constant 1000 : i32
    %ten = arith.constant 10 : i32
    %s = arith.addi %x, %bias : i32
    %d = arith.shrsi %s, %ten : i32
    %n = arith.trunci %d : i32 to i8
    linalg.yield %n : i8
  }} -> tensor<2x{rows}x48xi8>
  return %r : tensor<2x{rows}x48xi8>
}}"""
    expected = (((wideA - za) @ (wideWeights - zb) + 1000) >> 10).astype(np.int8)
    for turn in range(3):
        check(engines, {}, text, turn, [a], expected, "")


def test_computed(engines):
    """A zero point that the call computes."""
    numbers = np.random.default_rng(8)
    (a, wideA), (b, wideB) = some(numbers, (33, 40), "i8"), some(numbers, (40, 17), "i8")
    text = """
func.func @main(%a: tensor<33x40xi8>, %b: tensor<40x17xi8>) -> tensor<33x17xi32> {
  %least = arith.constant -2147483648 : i32
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<i32>
  %f = linalg.fill ins(%least : i32) outs(%e : tensor<i32>) -> tensor<i32>
  %z = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%a : tensor<33x40xi8>) outs(%f : tensor<i32>) {
  ^bb0(%x: i8, %s: i32):
    %w = arith.extsi %x : i8 to i32
    %n = arith.maxsi %s, %w : i32
    linalg.yield %n : i32
  } -> tensor<i32>
  %o = tensor.empty() : tensor<33x17xi32>
  %i = linalg.fill ins(%zero : i32) outs(%o : tensor<33x17xi32>) -> tensor<33x17xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> ()>,
      affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b, %z : tensor<33x40xi8>, tensor<40x17xi8>, tensor<i32>) outs(%i : tensor<33x17xi32>) {
  ^bb0(%x: i8, %y: i8, %q: i32, %s: i32):
    %u = arith.extsi %x : i8 to i32
    %v = arith.subi %u, %q : i32
    %w = arith.extsi %y : i8 to i32
    %d = arith.subi %w, %q : i32
    %t = arith.muli %v, %d : i32
    %n = arith.addi %s, %t : i32
    linalg.yield %n : i32
  } -> tensor<33x17xi32>
  return %r : tensor<33x17xi32>
}"""
    z = wideA.max()
    for turn in range(3):
        check(engines, {}, text, turn, [a, b], ((wideA - z) @ (wideB - z)).astype(np.int32), "")
