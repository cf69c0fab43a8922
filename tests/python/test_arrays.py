"""Arrays both ways: every element type, every layout, no copies where none are said."""

import array
import gc

import numpy as np
import pytest
from conftest import ELEMENTS, copy_source, sample

import plimsoll as pl


def address(a):
    return a.__array_interface__["data"][0]


@pytest.fixture(scope="module", params=ELEMENTS)
def element(request):
    return request.param


@pytest.fixture(scope="module")
def copier(engine, element):
    return engine.loads(copy_source(element))


@pytest.mark.parametrize("shape", [(3, 4), (1, 1), (0, 5), (5, 0), (7, 13), (31, 1)])
def test_tensors_of_every_type_and_shape(copier, element, shape):
    x = sample(element, shape)
    y = copier.copy(x)
    assert y.dtype == ELEMENTS[element] and y.shape == shape
    np.testing.assert_array_equal(x, y)
    assert isinstance(y.base, pl.Buffer) and y.base.element_type == element
    assert x.size == 0 or not np.shares_memory(x, y)
    out = np.zeros(shape, ELEMENTS[element])
    assert copier.copy(x, out=out) is out
    np.testing.assert_array_equal(x, out)


def test_memrefs_are_the_arrays_memory(copier, element):
    x, y = sample(element, (5, 3)), np.zeros((5, 3), ELEMENTS[element])
    assert copier.put(x, y) is None
    np.testing.assert_array_equal(x, y)


def test_layouts(copier, element):
    base = sample(element, (12, 10))
    for view in (base[2:9, 3:8], base[::2, ::3], base[::-1, ::-1], base.T, base[:, :1],
                 np.broadcast_to(base[0], (4, 10)), np.asfortranarray(base)):
        np.testing.assert_array_equal(copier.copy(view), view)
        out = np.zeros(view.shape, base.dtype)
        copier.put(view, out)  # only read, so a copy may stand for it
        np.testing.assert_array_equal(out, view)
    dense = base[4:7]  # an offset
    out = np.zeros_like(base)[1:4]
    copier.put(dense, out)
    np.testing.assert_array_equal(out, dense)


def test_unaligned(copier, element):
    kind = np.dtype(ELEMENTS[element])
    raw = np.zeros(12 * kind.itemsize + 1, np.uint8)
    view = raw[1:].view(kind).reshape(3, 4)
    view[...] = sample(element, (3, 4))
    np.testing.assert_array_equal(copier.copy(view), view)
    if kind.itemsize > 1:
        with pytest.raises(pl.ArgumentTypeError, match=r"argument #1 \(%\w+\) of 'put'.*not dense|aligned"):
            copier.put(np.ascontiguousarray(view), view)


def test_rank_0(engine, element):
    module = engine.loads(copy_source(element, ""))
    x = sample(element, ())
    x = np.array(x)
    y = module.copy(x)
    assert isinstance(y, np.ndarray) and y.shape == () and y == x
    out = np.zeros((), ELEMENTS[element])
    module.put(x, out)
    assert out == x
    number = True if element == "i1" else 1
    want = pl.to_bf16(1.0) if element == "bf16" else number
    assert module.copy(number) == want
    assert module.copy(ELEMENTS[element](number) if element != "bf16" else np.float32(1)) == want


def test_written_arrays_must_be_writable_and_dense(copier, element):
    x, y = sample(element, (4, 4)), sample(element, (4, 4), 2)
    read_only = y.view()
    read_only.flags.writeable = False
    with pytest.raises(pl.InvalidArgumentError, match="'put'|#1.*read-only"):
        copier.put(x, read_only)
    copier.put(read_only, x)  # only read
    np.testing.assert_array_equal(x, y)
    with pytest.raises(pl.InvalidArgumentError, match=r"argument #1 \(%\w+\) of 'put'.*row-major"):
        copier.put(x, y.T)
    with pytest.raises(pl.InvalidArgumentError, match="result"):
        copier.copy(x, out=read_only)
    with pytest.raises(pl.InvalidArgumentError, match="result"):
        copier.copy(x, out=y.T)
    np.testing.assert_array_equal(copier.copy(read_only), y)


def test_wrong_elements(copier, element):
    wrong = np.zeros((2, 2), np.float32 if element != "f32" else np.float64)
    with pytest.raises(pl.ArgumentTypeError, match=rf"argument #0 \(%\w+\) of 'copy', tensor<.x.x{element}>: "
                                                   f"an array of {wrong.dtype}"):
        copier.copy(wrong)
    with pytest.raises(TypeError, match="array for result #0"):
        copier.copy(sample(element, (2, 2)), out=wrong)
    swapped = sample(element, (2, 2)).astype(np.dtype(ELEMENTS[element]).newbyteorder())
    if swapped.itemsize > 1:
        with pytest.raises(TypeError):
            copier.copy(swapped)


def test_unsigned_and_foreign_types(engine):
    module = engine.loads(copy_source("i32"))
    x = np.array([[1, 2**32 - 1]], np.uint32)
    np.testing.assert_array_equal(module.copy(x), x.view(np.int32))
    for kind in (np.complex64, np.dtype("M8[s]"), np.dtype("O"), np.dtype("S4"), np.longdouble):
        with pytest.raises(pl.ArgumentTypeError, match="argument #0"):
            module.copy(np.zeros((1, 1), kind))


def test_strided_memrefs(engine):
    source = """
!any = memref<?x?xi32, strided<[?, ?], offset: ?>>
func.func @put(%x: !any, %y: !any) {
  memref.copy %x, %y : !any to !any
  return
}"""
    module = engine.loads(source)
    assert str(module.put.signature.arguments[0]) == "memref<?x?xi32, strided<[?, ?]>>"
    memory = np.zeros((10, 10), np.int32)
    x = sample("i32", (4, 3))
    for view in (memory[1:9:2, 2:8:2], memory[8:0:-2, 9:3:-2], memory[:3, :4].T):
        memory[...] = 0
        module.put(x, view)
        np.testing.assert_array_equal(view, x)
        assert np.count_nonzero(memory) == np.count_nonzero(x)
    fields = np.zeros((4, 3), np.dtype([("a", np.int8), ("b", np.int32)], align=False))
    module.put(fields["b"], memory[:4, :3])  # strides that are no whole elements: copied to be read
    with pytest.raises(pl.InvalidArgumentError, match=r"argument #1 \(%\w+\) of 'put'"):
        module.put(x, fields["b"])


def test_donated(engine):
    source = """
func.func @twice(%x: tensor<?xf32> {plim.donate = 0}) -> tensor<?xf32> {
  %r = arith.addf %x, %x : tensor<?xf32>
  return %r : tensor<?xf32>
}"""
    twice = engine.loads(source).twice
    assert twice.signature.arguments[0].donated_to == 0
    x = np.arange(5, dtype=np.float32)
    assert twice(x) is x
    np.testing.assert_array_equal(x, [0, 2, 4, 6, 8])
    memory = bytearray(x.tobytes())
    y = twice(memoryview(memory).cast("f"))
    del memory
    gc.collect()
    np.testing.assert_array_equal(y, [0, 4, 8, 12, 16])
    with pytest.raises(pl.InvalidArgumentError, match="row-major"):
        twice(x[::2])
    x.flags.writeable = False
    with pytest.raises(pl.InvalidArgumentError):
        twice(x)


def test_buffer_protocol(engine):
    module = engine.loads(copy_source("i8", "?"))
    np.testing.assert_array_equal(module.copy(b"abc"), [97, 98, 99])
    np.testing.assert_array_equal(module.copy(memoryview(b"abcdef")[::2]), [97, 99, 101])
    memory = bytearray(3)
    module.put(b"xyz", memory)
    assert memory == b"xyz"
    with pytest.raises(pl.InvalidArgumentError):
        module.put(b"xyz", b"123")
    floats = array.array("d", [1, 2])
    assert engine.loads(copy_source("f64", "?")).copy(floats).tolist() == [1, 2]
    y = module.copy(b"abc").base
    assert bytes(memoryview(y)) == b"abc" and memoryview(y).format == "b"


def test_what_is_no_array(saxpy):
    x = np.ones(3, np.float32)
    with pytest.raises(pl.ArgumentTypeError, match=r"#1 \(%x\) of 'saxpy', tensor<.xf32>:.* not list"):
        saxpy(1.0, [1, 2, 3], x)
    with pytest.raises(TypeError, match="not float"):
        saxpy(1.0, 2.0, x)
    with pytest.raises(TypeError, match="#0.*str"):
        saxpy("1", x, x)
    with pytest.raises(TypeError, match="NoneType"):
        saxpy(1.0, None, x)


class Arrayed:
    def __array__(self, dtype=None):
        return np.array([1, 2, 3], np.float32)


class Broken:
    def __dlpack__(self, **options):
        raise RuntimeError("no tensor today")


def test_other_arrays(saxpy):
    x = np.ones(3, np.float32)
    np.testing.assert_array_equal(saxpy(2.0, Arrayed(), x), [3, 5, 7])
    other = np.rec.array(np.array([1, 2, 3], np.float32))  # a subclass
    np.testing.assert_array_equal(saxpy(2.0, other, x), [3, 5, 7])
    with pytest.raises(RuntimeError, match="no tensor today"):
        saxpy(2.0, Broken(), x)


def test_results_outlive_everything():
    engine = pl.Engine(threads=1)
    y = engine.loads(copy_source("f32", "?")).copy(np.arange(1000, dtype=np.float32))
    z = y[10:20]
    del engine, y
    gc.collect()
    np.testing.assert_array_equal(z, np.arange(10, 20))


def test_results_go_back_to_the_pool():
    engine = pl.Engine(threads=1)
    copy = engine.loads(copy_source("f32", "?")).copy
    x = np.zeros(100_000, np.float32)
    y = copy(x)
    held = engine.memory()["live_bytes"]
    first = address(y)
    del y
    assert engine.memory()["live_bytes"] <= held - x.nbytes
    assert address(copy(x)) == first
    engine.trim()
    assert engine.memory()["kept_bytes"] == 0


def test_buffer_objects(engine):
    module = engine.loads(copy_source("bf16", "?"))
    bits = pl.to_bf16([1, 2, 3])
    buffer = pl.Buffer(bits, "bf16")
    assert repr(buffer) == "<plimsoll.Buffer 3xbf16>"
    assert (buffer.shape, buffer.strides, buffer.element_type) == ((3,), (1,), "bf16")
    assert not buffer.read_only
    assert address(buffer.array) == address(bits)
    np.testing.assert_array_equal(module.copy(buffer), bits)
    np.testing.assert_array_equal(module.copy(pl.Buffer(bits[::2], "bf16")), bits[::2])
    with pytest.raises(pl.InvalidArgumentError, match="argument #0.*i16"):
        module.copy(pl.Buffer(bits))
    out = pl.Buffer(np.zeros(3, np.uint16), "bf16")
    assert module.copy(bits, out=out) is out
    np.testing.assert_array_equal(out.array, bits)
    with pytest.raises(TypeError, match="f32"):
        pl.Buffer(bits, "f32")
    with pytest.raises(pl.NotFoundError):
        pl.Buffer(bits, "f33")
    with pytest.raises(TypeError):
        pl.Buffer(3)
    assert repr(pl.Buffer(b"ab")) == "<plimsoll.Buffer 2xi8, read-only>"
    memory = engine.empty((3, 5), "f16")
    assert memory.shape == (3, 5) and memory.dtype == np.float16 and address(memory) % 64 == 0


def test_memory_of_the_engine(engine):
    for shape in ((), 0, 7, (2, 0, 3), (1,) * 9):
        memory = engine.empty(shape, "i32")
        memory[...] = 5
        assert memory.shape == (shape if isinstance(shape, tuple) else (shape,)) and (memory == 5).all()
    assert engine.empty(3).dtype == np.float32
    for shape, kind, error in (((2, -1), "f32", pl.InvalidArgumentError), ((1 << 40, 1 << 40), "f32", pl.Error), ((2, "x"), "f32", TypeError),
                               ((2.5,), "f32", TypeError), ((1 << 64,), "f32", OverflowError), (2, "f33", pl.NotFoundError), (2, 7, TypeError)):
        with pytest.raises(error):
            engine.empty(shape, kind)
    with pytest.raises(ValueError):
        pl._native.engine_allocate(object(), "f32", (2,))
    with pytest.raises(TypeError):
        pl._native.engine_allocate(engine._handle, "f32", [2])


def test_bf16_conversions():
    inf = np.inf
    values = np.array([0, -0.0, 1, 1.00390625, 1.01171875, inf, -inf, 3.4e38, 1e-40], np.float32)
    back = pl.from_bf16(pl.to_bf16(values))
    np.testing.assert_array_equal(back[:7], [0, -0.0, 1, 1, 1.015625, inf, -inf])
    assert np.signbit(back[1]) and back[7] == np.inf
    assert np.isnan(pl.from_bf16(pl.to_bf16(np.array([np.nan, np.float32(np.nan)])))).all()
    for value in (-1.5, np.float32(-1.5), np.array(-1.5)):
        one = pl.from_bf16(pl.to_bf16(value))
        assert one == -1.5 and one.shape == () and one.dtype == np.float32
    assert pl.from_bf16(pl.to_bf16(np.zeros((0, 3)))).shape == (0, 3)
    x = np.random.default_rng(1).standard_normal(1000).astype(np.float32)
    assert (np.abs(pl.from_bf16(pl.to_bf16(x)) - x) <= np.abs(x) / 256).all()


def test_masked_arrays_are_refused(engine):
    """Their mask would be lost, whether it hides an element or not."""
    module = engine.loads(copy_source("f32", "?"))
    x = np.ones(3, np.float32)
    for masked in (np.ma.masked_equal(x, 2), np.ma.array(x, mask=[True, False, True])):
        for refused in (lambda: module.copy(masked), lambda: module.copy(x, out=masked),
                        lambda: module.put(x, masked), lambda: pl.Buffer(masked),
                        lambda: module.copy.async_(masked), lambda: pl.Parameters({"w": masked}),
                        lambda: pl.jit(lambda x: x + 1)(masked),
                        lambda: pl.jit(lambda x: x + masked)(x),
                        lambda: pl.jit(lambda x, y: x + y["y"])(x, {"y": masked})):
            with pytest.raises(TypeError, match="mask"):
                refused()
        np.testing.assert_array_equal(module.copy(masked.filled(7)), masked.filled(7))
    scalar = engine.loads("func.func @f(%x: f32) -> f32 { return %x : f32 }").f
    for number in (np.ma.masked, np.ma.array(1.0)):
        with pytest.raises(TypeError, match="mask"):
            scalar(number)
    returns = pl.host_function("() -> tensor<3xf32>")(lambda: np.ma.array(x, mask=x > 0))
    module = engine.loads("""
      func.func private @get() -> tensor<3xf32>
      func.func @f() -> tensor<3xf32> {
        %r = func.call @get() : () -> tensor<3xf32>
        return %r : tensor<3xf32>
      }""", functions={"get": returns})
    with pytest.raises(pl.Error, match="mask") as error:
        module.f()
    assert isinstance(error.value.__cause__, TypeError)
