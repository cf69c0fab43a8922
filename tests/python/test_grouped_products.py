"""Products and convolutions of bytes of all signs, of 16 bits and of bf16, with vectors of every width that the host's instructions for groups have, against NumPy."""

import numpy as np
import pytest

import plimsoll as pl

WIDTHS = [512, 256, 128]
# m, n, k: some of groups and vectors left over, exactly a group, more than a block of the reduction.
SHAPES = [(13, 33, 7), (5, 17, 4), (70, 20, 2051)]


def engine(width):
    return pl.Engine(target=pl.Target("host-cpu", {"vector_bits": width}), isolation="none")


def body(operands, total):
    """Of the sum of products of two operands, each a type and what widens it."""
    (left, widenLeft), (right, widenRight) = operands
    kind = total[0]
    return f"""  ^bb0(%x: {left}, %y: {right}, %s: {total}):
    %u = arith.{widenLeft} %x : {left} to {total}
    %v = arith.{widenRight} %y : {right} to {total}
    %p = arith.mul{kind} %u, %v : {total}
    %q = arith.add{kind} %s, %p : {total}
    linalg.yield %q : {total}
"""


def source(shape, operands, total, isTransposed, isOpen):
    """The sum of products of two operands, each a type and what widens it."""
    m, n, k = shape

    def tensor(rows, columns, element):
        return f"tensor<{'?x?' if isOpen else f'{rows}x{columns}'}x{element}>"

    (left, _), (right, _) = operands
    a, c = tensor(m, k, left), tensor(m, n, total)
    b = tensor(n, k, right) if isTransposed else tensor(k, n, right)
    return f"""
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> ({"n, k" if isTransposed else "k, n"})>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @main(%a: {a}, %b: {b}, %c: {c}) -> {c} {{
  %r = linalg.generic {{indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%a, %b : {a}, {b}) outs(%c : {c}) {{
{body(operands, total)}  }} -> {c}
  return %r : {c}
}}"""


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("widening", [(left, right) for left in ("extsi", "extui") for right in ("extsi", "extui")])
@pytest.mark.parametrize("elements, isOpen", [(("i8", "i8"), False), (("i8", "i8"), True), (("i8", "i16"), False), (("i16", "i16"), False)])
def test_integers(width, widening, elements, isOpen):
    numbers, made = np.random.default_rng(width), engine(width)
    for number, shape in enumerate(SHAPES):
        m, n, k = shape
        types = [np.dtype(f"int{element[1:]}") for element in elements]
        a, b = (numbers.integers(np.iinfo(kind).min, np.iinfo(kind).max + 1, size, dtype=kind) for kind, size in zip(types, [(m, k), (k, n)]))
        c = numbers.integers(-(2**31), 2**31, (m, n), dtype=np.int32)
        # The extremes beside each other.
        a[0], b[:, 0] = np.iinfo(a.dtype).min, np.iinfo(b.dtype).min
        a[1], b[:, 1] = -1, -1
        wide = [(x.view(f"u{x.itemsize}") if each == "extui" else x).astype(np.int64) for x, each in zip((a, b), widening)]
        expected = (wide[0] @ wide[1] + c).astype(np.int32)
        isTransposed = number % 2 == 1
        module = made.loads(source(shape, list(zip(elements, widening)), "i32", isTransposed, isOpen))
        have = module.main(a, np.ascontiguousarray(b.T) if isTransposed else b, c)
        np.testing.assert_array_equal(np.asarray(have), expected, err_msg=f"{shape}")


@pytest.mark.parametrize("widening", ["extsi", "extui"])
@pytest.mark.parametrize("left, right", [("m, k", "k, l, n"), ("m, k, l", "k, n")])
def test_sums_along_what_one_operand_does_not_have(left, right, widening):
    numbers, sizes = np.random.default_rng(3), dict(m=40, n=48, k=32, l=12)
    a, b = (numbers.integers(-128, 128, [sizes[each] for each in letters.split(", ")], np.int8) for letters in (left, right))
    kinds = [f"tensor<{''.join(f'{extent}x' for extent in array.shape)}i8>" for array in (a, b)]
    module = engine(WIDTHS[0]).loads(f"""
func.func @main(%a: {kinds[0]}, %b: {kinds[1]}, %c: tensor<40x48xi32>) -> tensor<40x48xi32> {{
  %r = linalg.generic {{indexing_maps = [affine_map<(m, n, k, l) -> ({left})>, affine_map<(m, n, k, l) -> ({right})>, affine_map<(m, n, k, l) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]}} ins(%a, %b : {kinds[0]}, {kinds[1]}) outs(%c : tensor<40x48xi32>) {{
{body([("i8", widening), ("i8", "extsi")], "i32")}  }} -> tensor<40x48xi32>
  return %r : tensor<40x48xi32>
}}""")
    wide = (a.view(np.uint8) if widening == "extui" else a).astype(np.int64), b.astype(np.int64)
    want = np.einsum(f"{left},{right}->mn".replace(", ", ""), *wide)
    np.testing.assert_array_equal(np.asarray(module.main(a, b, np.ones((40, 48), np.int32))), want + 1)


@pytest.mark.parametrize("isOpen", [False, True])
@pytest.mark.parametrize("width", WIDTHS)
def test_bf16(width, isOpen):
    numbers, made = np.random.default_rng(width), engine(width)
    for number, shape in enumerate(SHAPES):
        m, n, k = shape
        a, b = (pl.to_bf16(numbers.standard_normal(size).astype(np.float32)) for size in ((m, k), (k, n)))
        c = numbers.standard_normal((m, n)).astype(np.float32)
        isTransposed = number % 2 == 1
        module = made.loads(source(shape, [("bf16", "extf"), ("bf16", "extf")], "f32", isTransposed, isOpen))
        arguments = np.ascontiguousarray(b.T) if isTransposed else b, c
        expected = pl.from_bf16(a).astype(np.float64) @ pl.from_bf16(b).astype(np.float64) + c
        np.testing.assert_allclose(np.asarray(module.main(a, *arguments)), expected, rtol=1e-5, atol=2e-7 * (16 + 2 * k))
        # Of infinities and NaNs nothing is lost, and no other row has them.
        a[0, 0], a[1, 0] = 0x7F80, 0x7FC0
        have = np.asarray(module.main(a, *arguments))
        assert np.isinf(have[0]).all() and np.isnan(have[1]).all() and np.isfinite(have[2:]).all()


# Letters: c channels, f filters, h and w of the result, H and W of the window.
CONVOLUTIONS = [("hwc", "HWcf", "hwf"), ("chw", "fcHW", "fhw"), ("hwc", "fHWc", "hwf")]
# Of one group with zeros, and more with some left over, windows that move by one and by two.
SIZES = [dict(c=3, f=33, h=5, w=17, H=3, W=3, stride=1), dict(c=18, f=20, h=4, w=9, H=2, W=3, stride=2)]


def convolution(layouts, sizes, operands, total, isParameter):
    image, filters, result = layouts
    loops = result + "".join(letter for letter in filters if letter not in result)
    index = {"h": f"h * {sizes['stride']} + H", "w": f"w * {sizes['stride']} + W"}

    def tensor(extents, element):
        return f"tensor<{''.join(f'{extent}x' for extent in extents)}{element}>"

    def extents(letters):
        return [sizes[letter] for letter in letters]

    (left, _), (right, _) = operands
    shape = [(sizes[each] - 1) * sizes["stride"] + sizes[each.upper()] if each in "hw" else sizes[each] for each in image]
    a, b, c = tensor(shape, left), tensor(extents(filters), right), tensor(extents(result), total)
    maps = ", ".join(f"affine_map<({', '.join(loops)}) -> ({', '.join(each)})>"
                     for each in ([index.get(letter, letter) for letter in image], filters, result))
    kinds = ", ".join('"parallel"' if letter in result else '"reduction"' for letter in loops)
    declared, argument, loaded = "", f"%b: {b}, ", ""
    if isParameter:
        declared, argument = f"ml_program.global private @b(#ml_program.extern<{b}>) : {b}\n", ""
        loaded = f"  %b = ml_program.global_load_const @b : {b}\n"
    return shape, f"""{declared}
func.func @main(%a: {a}, {argument}%c: {c}) -> {c} {{
{loaded}  %r = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}
      ins(%a, %b : {a}, {b}) outs(%c : {c}) {{
{body(operands, total)}  }} -> {c}
  return %r : {c}
}}"""


def windows(image, layout, sizes):
    """With two dimensions more, of the window."""
    for letter in "hw":
        axis = layout.index(letter)
        image = np.lib.stride_tricks.sliding_window_view(image, sizes[letter.upper()], axis)
        image = image[(slice(None),) * axis + (slice(None, None, sizes["stride"]),)]
    return image


@pytest.mark.parametrize("isParameter", [False, True])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("layouts", CONVOLUTIONS)
def test_convolutions(layouts, width, isParameter):
    numbers, made = np.random.default_rng(width), engine(width)
    image, filters, result = layouts
    equation = f"{image}HW,{filters}->{result}"
    for sizes in SIZES:
        c = numbers.integers(-(2**31), 2**31, [sizes[each] for each in result], dtype=np.int32)
        for elements, widening in [(("i8", "i8"), ("extsi", "extsi")), (("i8", "i8"), ("extui", "extui")), (("i8", "i8"), ("extui", "extsi")),
                                   (("i8", "i8"), ("extsi", "extui")), (("i8", "i4"), ("extsi", "extsi")), (("i8", "i16"), ("extui", "extsi"))]:
            shape, text = convolution(layouts, sizes, list(zip(elements, widening)), "i32", isParameter)
            bits = [int(each[1:]) for each in elements]
            a, b = (numbers.integers(-(2 ** (each - 1)), 2 ** (each - 1), size).astype(np.int16 if each == 16 else np.int8)
                    for each, size in zip(bits, (shape, [sizes[each] for each in filters])))
            a.flat[0], b.flat[0] = -(2 ** (bits[0] - 1)), -(2 ** (bits[1] - 1))
            wide = [x.astype(np.int64) & (2**each - 1) if how == "extui" else x.astype(np.int64) for x, each, how in zip((a, b), bits, widening)]
            expected = (np.einsum(equation, windows(wide[0], image, sizes), wide[1]) + c).astype(np.int32)
            bound = pl.Buffer(b, "i4") if bits[1] == 4 else b
            module = made.loads(text, parameters={"b": bound} if isParameter else None)
            have = module.main(a, c) if isParameter else module.main(a, bound, c)
            np.testing.assert_array_equal(np.asarray(have), expected, err_msg=f"{sizes} {elements} {widening}")
        shape, text = convolution(layouts, sizes, [("bf16", "extf")] * 2, "f32", isParameter)
        a, b = (pl.to_bf16(numbers.standard_normal(size)) for size in (shape, [sizes[each] for each in filters]))
        c = numbers.standard_normal(c.shape).astype(np.float32)
        wide = [pl.from_bf16(each).astype(np.float64) for each in (a, b)]
        expected = np.einsum(equation, windows(wide[0], image, sizes), wide[1]) + c
        module = made.loads(text, parameters={"b": pl.Buffer(b, "bf16")} if isParameter else None)
        have = module.main(a, c) if isParameter else module.main(a, b, c)
        np.testing.assert_allclose(np.asarray(have), expected, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("rows", ["1", "3", "?"])
def test_constant_groups_serve_any_number_of_rows(rows):
    """Panels are made once, for whatever comes: one row, few, and an open number."""
    numbers, made = np.random.default_rng(5), engine(512)
    for n, k in ((200, 70), (33, 5), (600, 2051)):
        text = f"""
ml_program.global private @b(#ml_program.extern<tensor<{k}x{n}xi8>>) : tensor<{k}x{n}xi8>
func.func @main(%a: tensor<{rows}x{k}xi8>, %c: tensor<{rows}x{n}xi32>) -> tensor<{rows}x{n}xi32> {{
  %b = ml_program.global_load_const @b : tensor<{k}x{n}xi8>
  %r = linalg.matmul ins(%a, %b : tensor<{rows}x{k}xi8>, tensor<{k}x{n}xi8>) outs(%c : tensor<{rows}x{n}xi32>) -> tensor<{rows}x{n}xi32>
  return %r : tensor<{rows}x{n}xi32>
}}"""
        b = numbers.integers(-128, 128, (k, n), dtype=np.int8)
        module = made.loads(text, parameters={"b": b})
        for m in ([0, 1, 2, 5, 40] if rows == "?" else [int(rows)]):
            a = numbers.integers(-128, 128, (m, k), dtype=np.int8)
            c = numbers.integers(-(2**31), 2**31, (m, n), dtype=np.int32)
            expected = (a.astype(np.int64) @ b.astype(np.int64) + c).astype(np.int32)
            np.testing.assert_array_equal(np.asarray(module.main(a, c)), expected, err_msg=f"{m}x{n}x{k}")
