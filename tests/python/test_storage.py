"""Types that are only stored, complex numbers and small integers: arguments, results, and every conversion of
floats of 8 bits against a search for the nearest number in a table."""

import functools

import numpy as np
import pytest

import plimsoll as pl

F8 = ("f8E4M3FN", "f8E5M2")
FOREIGN = {"f8E4M3FN": "float8_e4m3fn", "f8E5M2": "float8_e5m2"}


@functools.cache
def table(element):
    """What each byte is, from the definition of the format."""
    mantissa, bias = (3, 7) if element == "f8E4M3FN" else (2, 15)
    values = []
    for code in range(256):
        exponent, fraction = code % 128 >> mantissa, code % (1 << mantissa)
        size = (fraction * 2.0 ** (1 - bias - mantissa) if exponent == 0 else
                (1 + fraction / (1 << mantissa)) * 2.0 ** (exponent - bias))
        if element == "f8E5M2" and exponent == 31:
            size = np.nan if fraction else np.inf
        if element == "f8E4M3FN" and code % 128 == 127:
            size = np.nan
        values.append(-size if code & 128 else size)
    return np.array(values)


def nearest(x, element):
    """The byte of the nearest number, ties to an even byte; what is nearer to the number that would follow the
    largest is infinity, or NaN."""
    finite = table(element)[:127 if element == "f8E4M3FN" else 124]
    steps = np.append(finite, 480.0 if element == "f8E4M3FN" else 65536.0)
    x = np.asarray(x, np.float64).reshape(-1)
    codes = np.empty(x.shape, np.uint8)
    for begin in range(0, x.size, 1 << 15):
        size = np.minimum(np.abs(x[begin:begin + (1 << 15)]), 1e6)
        distance = np.abs(size[:, None] - steps[None, :])
        tied = distance == distance.min(axis=1, keepdims=True)
        codes[begin:begin + (1 << 15)] = np.where(tied, np.arange(steps.size) % 2, 2).argmin(axis=1)
    codes[np.isnan(x)] = 0x7f if element == "f8E4M3FN" else 0x7e
    return codes | np.where(np.signbit(x), 0x80, 0).astype(np.uint8)


def expect_bytes(got, want, given):
    wrong = np.flatnonzero(got != want)
    assert wrong.size == 0, [(given[i], hex(got[i]), hex(want[i])) for i in wrong[:5]]


@functools.cache
def function(engine, body, *types, oracle=False):
    """body over vectors: from %a, %b to %r, the last of the types."""
    names = [f"%{name}" for name in "ab"[:len(types) - 1]]
    arguments = ", ".join(f"{name}t: tensor<?x{kind}>" for name, kind in zip(names, types))
    inside = ", ".join(f"{name}: {kind}" for name, kind in zip(names, types))
    kinds = ", ".join(f"tensor<?x{kind}>" for kind in types[:-1])
    return engine.loads(f"""
      func.func @main({arguments}) -> tensor<?x{types[-1]}> {{
        %c0 = arith.constant 0 : index
        %n = tensor.dim %at, %c0 : tensor<?x{types[0]}>
        %e = tensor.empty(%n) : tensor<?x{types[-1]}>
        %y = linalg.map ins({", ".join(name + "t" for name in names)} : {kinds})
            outs(%e : tensor<?x{types[-1]}>) ({inside}, %o: {types[-1]}) {{
          {body}
          linalg.yield %r : {types[-1]}
        }}
        return %y : tensor<?x{types[-1]}>
      }}""", oracle=oracle).main


both = pytest.mark.parametrize("oracle", [False, True])
all_f8 = pytest.mark.parametrize("element", F8)


@both
@all_f8
@pytest.mark.parametrize("wide", ["f16", "bf16", "f32", "f64"])
def test_every_float_of_8_bits_up(engine, element, wide, oracle):
    up = function(engine, f"%r = arith.extf %a : {element} to {wide}", element, wide, oracle=oracle)
    bits = np.arange(256, dtype=np.uint8)
    got = up(bits)
    got = pl.from_bf16(got) if wide == "bf16" else got
    np.testing.assert_array_equal(got.astype(np.float64), table(element))
    number = ~np.isnan(got)
    np.testing.assert_array_equal(np.signbit(got)[number], (bits >= 128)[number])


def awkward(element):
    """All numbers of the type, what lies in the middle of two, and their neighbours; and what is huge."""
    values = np.unique(np.abs(table(element)[np.isfinite(table(element))]))
    values = np.append(values, [480.0, 512.0, 65536.0, 81920.0])
    points = np.concatenate([values, (values[1:] + values[:-1]) / 2, [1e30, np.inf, np.nan, 1e-30]])
    return np.concatenate([points, -points])


@both
@all_f8
@pytest.mark.parametrize("wide", ["f16", "bf16", "f32", "f64"])
def test_down_to_floats_of_8_bits(engine, element, wide, oracle):
    down = function(engine, f"%r = arith.truncf %a : {wide} to {element}", wide, element,
                    oracle=oracle)
    random = np.random.default_rng(8)
    if wide in ("f16", "bf16"):  # all of them
        bits = np.arange(1 << 16).astype(np.uint16)
        given = bits.view(np.float16) if wide == "f16" else bits
        values = given if wide == "f16" else pl.from_bf16(bits)
    else:
        kind = np.float32 if wide == "f32" else np.float64
        points = awkward(element).astype(kind)
        size = np.exp2(random.uniform(-20, 20, 100_000)) * random.choice([-1, 1], 100_000)
        any_bits = random.integers(0, 1 << (32 if wide == "f32" else 63), 50_000,
                                   np.uint32 if wide == "f32" else np.uint64).view(kind)
        values = given = np.concatenate([
            points, np.nextafter(points, kind(np.inf)), np.nextafter(points, kind(-np.inf)),
            size.astype(kind), any_bits])
    with np.errstate(invalid="ignore"):
        want = nearest(values, element)
    expect_bytes(down(given), want, values)
    expect_bytes(pl.to_f8(values, element), want, values)


@both
@all_f8
@pytest.mark.parametrize("name", ["addf", "subf", "mulf", "divf", "maximumf"])
def test_arithmetic_rounds_once(engine, element, name, oracle):
    """All pairs, against doubles, which are rounded once."""
    op = function(engine, f"%r = arith.{name} %a, %b : {element}", element, element, element,
                  oracle=oracle)
    a, b = (each.reshape(-1) for each in np.meshgrid(*[np.arange(256, dtype=np.uint8)] * 2))
    x, y = table(element)[a], table(element)[b]
    with np.errstate(all="ignore"):
        want = {"addf": np.add, "subf": np.subtract, "mulf": np.multiply, "divf": np.divide,
                "maximumf": np.maximum}[name](x, y)
    got, want = op(a, b), nearest(want, element)
    is_nan = np.isnan(table(element)[want])
    np.testing.assert_array_equal(np.isnan(table(element)[got]), is_nan)
    # The larger of two zeros is either for NumPy.
    different = ~is_nan & ((x != 0) | (y != 0) | (name != "maximumf"))
    expect_bytes(got[different], want[different], list(zip(x[different], y[different])))


@both
@all_f8
def test_integers_to_and_from_floats_of_8_bits(engine, element, oracle):
    numbers = np.concatenate([np.arange(-70000, 70000, 7), [2**24 + 1, -2**31, 2**31 - 1]])
    numbers = numbers.astype(np.int32)
    up = function(engine, f"%r = arith.sitofp %a : i32 to {element}", "i32", element, oracle=oracle)
    expect_bytes(up(numbers), nearest(numbers, element), numbers)
    down = function(engine, f"%r = arith.fptosi %a : {element} to i32", element, "i32",
                    oracle=oracle)
    values = table(element)
    want = np.nan_to_num(np.trunc(values), nan=0, posinf=2**31 - 1, neginf=-2**31)
    np.testing.assert_array_equal(down(np.arange(256, dtype=np.uint8)), want.astype(np.int64))


@all_f8
def test_ml_dtypes_agrees(engine, element):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    kind = np.dtype(getattr(ml_dtypes, FOREIGN[element]))
    values = np.random.default_rng(3).standard_normal(10_000).astype(np.float32) * 100
    down = function(engine, f"%r = arith.truncf %a : f32 to {element}", "f32", element)
    np.testing.assert_array_equal(down(values), values.astype(kind).view(np.uint8))
    up = function(engine, f"%r = arith.extf %a : {element} to f32", element, "f32")
    np.testing.assert_array_equal(up(values.astype(kind)), values.astype(kind).astype(np.float32))


@all_f8
def test_conversions_of_the_package(element):
    bits = np.arange(256, dtype=np.uint8)
    back = pl.from_f8(bits, element)
    np.testing.assert_array_equal(back, table(element).astype(np.float32))
    again = pl.to_f8(back.reshape(16, 16), element)
    number = ~np.isnan(back)
    np.testing.assert_array_equal(again.reshape(-1)[number], bits[number])
    assert again.shape == (16, 16) and pl.to_f8(1.0, element).shape == ()
    with pytest.raises(ValueError, match="neither"):
        pl.to_f8([1.0], "f8E3M4")


@pytest.mark.parametrize("element", F8)
def test_scalars_of_f8(element):
    """What Python makes of a number on the way in and on the way out, each against the table by itself."""
    module = pl.loads(f"""
      func.func @wide(%x: {element}) -> f32 {{
        %y = arith.extf %x : {element} to f32
        return %y : f32
      }}
      func.func @narrow(%x: f32) -> {element} {{
        %y = arith.truncf %x : f32 to {element}
        return %y : {element}
      }}""")
    largest = 448.0 if element == "f8E4M3FN" else 57344.0
    for value in (0.0, -0.0, 1.0, -1.5, 0.875, 0.1, -3.3, largest, -largest, 2.0 ** -9, 2.0 ** -16, np.inf, -np.inf, np.nan):
        wanted = table(element)[nearest(value, element)[0]]
        np.testing.assert_array_equal(module.wide(value), wanted, str(value))
        np.testing.assert_array_equal(module.narrow(value), wanted, str(value))


ELEMENTS = {"f8E4M3FN": np.uint8, "f8E5M2": np.uint8, "i2": np.int8, "i4": np.int8,
            "complex<f32>": np.complex64, "complex<f64>": np.complex128}


def numbers(element, count):
    random = np.random.default_rng(5)
    kind = np.dtype(ELEMENTS[element])
    if kind.kind == "c":
        return (random.standard_normal(count) + 1j * random.standard_normal(count)).astype(kind)
    low, high = {"i2": (-2, 2), "i4": (-8, 8)}.get(element, (0, 0x70))
    return random.integers(low, high, count).astype(kind)


@both
@pytest.mark.parametrize("element", ELEMENTS)
def test_arguments_results_and_memory(engine, element, oracle):
    module = engine.loads(f"""
      func.func @copy(%x: tensor<?x?x{element}>) -> tensor<?x?x{element}> {{
        return %x : tensor<?x?x{element}>
      }}
      func.func @transposed(%x: tensor<?x?x{element}>) -> tensor<?x?x{element}> {{
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %m = tensor.dim %x, %c0 : tensor<?x?x{element}>
        %n = tensor.dim %x, %c1 : tensor<?x?x{element}>
        %e = tensor.empty(%n, %m) : tensor<?x?x{element}>
        %y = linalg.transpose ins(%x : tensor<?x?x{element}>) outs(%e : tensor<?x?x{element}>)
            permutation = [1, 0]
        return %y : tensor<?x?x{element}>
      }}
      func.func @put(%x: memref<?x{element}, strided<[?], offset: ?>>, %y: memref<?x{element}>) {{
        memref.copy %x, %y : memref<?x{element}, strided<[?], offset: ?>> to memref<?x{element}>
        return
      }}
      func.func @first(%x: memref<?x{element}>) -> tensor<{element}> {{
        %c0 = arith.constant 0 : index
        %v = memref.load %x[%c0] : memref<?x{element}>
        %t = tensor.from_elements %v : tensor<{element}>
        return %t : tensor<{element}>
      }}
      func.func @same(%x: tensor<{element}>) -> tensor<{element}> {{
        return %x : tensor<{element}>
      }}""", oracle=oracle)
    x = numbers(element, 15 * 17).reshape(15, 17)
    assert module.copy(x).dtype == ELEMENTS[element]
    assert module.copy.signature.results[0].dtype == np.dtype(ELEMENTS[element]).name
    np.testing.assert_array_equal(module.copy(x), x)
    np.testing.assert_array_equal(module.copy(x[::2]), x[::2])
    np.testing.assert_array_equal(module.transposed(x), x.T)
    out = np.zeros(8, x.dtype)
    module.put(x[0, ::-2][:8], out)
    np.testing.assert_array_equal(out, x[0, ::-2][:8])
    assert module.first(x.reshape(-1)) == x[0, 0]
    number = {"c": 1.5 - 2j, "i": 1}.get(x.dtype.kind, 1.5)
    got = module.same(number)
    if x.dtype == np.uint8:
        got = pl.from_f8(got, element)
    assert got == number
    buffer = pl.Buffer(x, element)
    assert buffer.element_type == element
    back = pl.from_dlpack(buffer)
    assert back.element_type == element
    np.testing.assert_array_equal(module.copy(back), x)
    with pytest.raises(TypeError, match="does not fit"):
        module.copy(np.zeros((3, 3), np.float32))


@both
@pytest.mark.parametrize("element,width", [("i2", 2), ("i4", 4)])
def test_small_integers(engine, element, width, oracle):
    """The low bits count, whatever the others are; what is computed has the sign in them."""
    signed = function(engine, f"%r = arith.extsi %a : {element} to i32", element, "i32",
                      oracle=oracle)
    unsigned = function(engine, f"%r = arith.extui %a : {element} to i32", element, "i32",
                        oracle=oracle)
    add = function(engine, f"%r = arith.addi %a, %b : {element}", element, element, element,
                   oracle=oracle)
    half = 1 << (width - 1)
    any_bits = np.arange(-128, 128).astype(np.int8)
    low = any_bits.astype(np.int32) & (2 * half - 1)
    np.testing.assert_array_equal(unsigned(any_bits), low)
    np.testing.assert_array_equal(signed(any_bits), (low + half) % (2 * half) - half)
    got = add(any_bits, np.full(256, half - 1, np.int8))
    np.testing.assert_array_equal(got, (low + half - 1 + half) % (2 * half) - half)
    scalar = engine.loads(f"""
      func.func @main(%x: {element}, %y: {element}) -> ({element}, i32) {{
        %s = arith.addi %x, %y : {element}
        %w = arith.extsi %s : {element} to i32
        return %s, %w : {element}, i32
      }}""", oracle=oracle).main
    assert scalar(half - 1, 1) == (-half, -half)
    assert scalar(2 * half - 1, 0) == (-1, -1)
    with pytest.raises(TypeError, match="does not fit"):
        scalar(2 * half, 0)


@both
@all_f8
def test_scalars_of_8_bits(engine, element, oracle):
    module = engine.loads(f"""
      func.func @twice(%x: {element}) -> {element} {{
        %y = arith.addf %x, %x : {element}
        return %y : {element}
      }}
      func.func @both(%x: {element}, %t: tensor<3x{element}>) -> ({element}, tensor<3x{element}>) {{
        %c = arith.constant 2.0 : {element}
        %y = arith.mulf %x, %c : {element}
        %e = tensor.empty() : tensor<3x{element}>
        %u = linalg.map ins(%t : tensor<3x{element}>) outs(%e : tensor<3x{element}>) (%a: {element}, %o: {element}) {{
          %r = arith.addf %a, %y : {element}
          linalg.yield %r : {element}
        }}
        return %y, %u : {element}, tensor<3x{element}>
      }}""", oracle=oracle)
    for number in (1.5, -0.25, 0.0, np.inf, 2.0 ** -16, 1e-9, 1e9):
        [code] = nearest([number], element)
        want = table(element)[nearest([2 * table(element)[code]], element)][0]
        np.testing.assert_equal(module.twice(number), want)
    assert np.isnan(module.twice(np.nan))
    y, u = module.both(1.5, pl.to_f8([1, 2, -3], element))
    assert y == 3 and pl.from_f8(u, element).tolist() == [4, 5, 0]


@both
def test_complex_arithmetic(engine, oracle):
    for element, kind in (("complex<f32>", np.complex64), ("complex<f64>", np.complex128)):
        product = function(engine, f"%r = complex.mul %a, %b : {element}", element, element, element,
                           oracle=oracle)
        x, y = numbers(element, 1000), numbers(element, 1000)[::-1].copy()
        np.testing.assert_allclose(product(x, y), x * y, rtol=100 * np.finfo(kind).eps)


def test_complex_scalars_are_refused(engine):
    with pytest.raises(pl.Error, match="complex scalar; pass it as a tensor or memref of rank 0"):
        engine.loads("func.func @f(%x: complex<f32>) -> f32 {\n"
                     "  %r = complex.re %x : complex<f32>\n  return %r : f32\n}")
