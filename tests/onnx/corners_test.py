#!/usr/bin/python3
"""What ONNX's own tests leave out: special values, empty tensors, open extents, sub-graphs, external data.

Needs build/python in PYTHONPATH. Compared with NumPy, or with numbers that stand here.
"""

import itertools
import os
import sys
import tempfile
import unittest

import numpy as np
import plimsoll as pl

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from models import BOOL, INT32, INT64, attribute, graph, model, node, tensor, value  # noqa: E402
from protobuf import TYPES  # noqa: E402

KINDS = {np.dtype(kind): number for number, kind in TYPES.items()}
nan, inf = np.nan, np.inf
engine = pl.Engine(threads=1)


def constant(name, array):
    array = np.asarray(array)
    return tensor(name, array.shape, KINDS[array.dtype], raw=array.tobytes())


def load(nodes, inputs, outputs, initialisers=(), opset=13, domains=(), **options):
    """`inputs`: name, shape and type of each."""
    given = [value(name, shape, KINDS[np.dtype(kind)]) for name, shape, kind in inputs]
    wanted = [value(name, ["?"] * rank, KINDS[np.dtype(kind)]) for name, rank, kind in outputs]
    return pl.loads(model(graph(nodes, given, wanted, initialisers), opset, domains), name="corner.onnx", engine=engine, **options).main


def one(operator, *arrays, attributes=(), constants=(), kind=None, opset=13, is_open=False):
    """One operator on arrays, the last of which may be constants; with extents left open or not."""
    arrays = [np.asarray(a) for a in arrays]
    names = [f"x{i}" for i in range(len(arrays))] + [f"c{i}" for i in range(len(constants))]
    shapes = [[f"d{i}_{k}" for k in range(a.ndim)] if is_open else a.shape for i, a in enumerate(arrays)]
    main = load([node(operator, names, ["y"], *attributes)],
                [(f"x{i}", shapes[i], a.dtype) for i, a in enumerate(arrays)], [("y", 0, kind or arrays[0].dtype)],
                [constant(f"c{i}", c) for i, c in enumerate(constants)], opset)
    return main(*arrays)

def resizing(extent, count, scale, region, mode, coordinates, nearest, excludes):
    """Along one dimension, as a matrix, and what lies outside of the region: by the formulas of the specification, in f64."""
    length, (start, end) = extent * scale, region
    matrix, outside = np.zeros((count, extent)), np.zeros(count, bool)
    for i in range(count):
        x = {"half_pixel": lambda: (i + 0.5) / scale - 0.5, "asymmetric": lambda: i / scale,
             "pytorch_half_pixel": lambda: (i + 0.5) / scale - 0.5 if length > 1 else 0,
             "align_corners": lambda: i * (extent - 1) / (length - 1) if length != 1 else 0,
             "tf_half_pixel_for_nn": lambda: (i + 0.5) / scale,
             "tf_crop_and_resize": lambda: (start * (extent - 1) + i * (end - start) * (extent - 1) / (length - 1) if length > 1
                                            else 0.5 * (start + end) * (extent - 1))}[coordinates]()
        outside[i] = coordinates == "tf_crop_and_resize" and not 0 <= x <= extent - 1
        low = int(np.floor(x))
        if mode == "nearest":
            taps = {{"floor": low, "ceil": int(np.ceil(x)), "round_prefer_floor": int(np.ceil(x - 0.5)),
                     "round_prefer_ceil": int(np.floor(x + 0.5))}[nearest]: 1}
        elif mode == "linear":
            taps = {low: 1 - (x - low), low + 1: x - low}
        else:
            a, taps = -0.75, {}
            for at in range(low - 1, low + 3):
                t = abs(x - at)
                taps[at] = (a + 2) * t**3 - (a + 3) * t**2 + 1 if t <= 1 else a * t**3 - 5 * a * t**2 + 8 * a * t - 4 * a
        if excludes:
            taps = {at: weight for at, weight in taps.items() if 0 <= at < extent}
            taps = {at: weight / sum(taps.values()) for at, weight in taps.items()}
        for at, weight in taps.items():
            matrix[i, min(max(at, 0), extent - 1)] += weight
    return matrix, outside


BYTES = {np.dtype(np.uint8): 2, np.dtype(np.int8): 3}  # TensorProto.DataType


def constant_of(name, array):
    array = np.asarray(array)
    return tensor(name, array.shape, BYTES[array.dtype], raw=array.tobytes())


def load_bytes(nodes, inputs, initialisers):
    """`inputs`: name, shape and an array of the type. The result is of i32."""
    given = [value(name, shape, BYTES[array.dtype]) for name, shape, array in inputs]
    return pl.loads(model(graph(nodes, given, [value("y", ["?"], INT32)], initialisers), 13), name="bytes.onnx", engine=engine).main


class Corners(unittest.TestCase):
    def same(self, got, want):
        want = np.asarray(want)
        self.assertEqual(np.shape(got), want.shape)
        np.testing.assert_array_equal(got, want)

    def both(self, want, operator, *arrays, **options):
        for is_open in (False, True):
            self.same(one(operator, *arrays, is_open=is_open, **options), want)

    def test_no_numbers(self):
        a, b = np.float32([nan, 1, nan, -inf]), np.float32([1, nan, nan, inf])
        self.both(np.maximum(a, b), "Max", a, b)
        self.both(np.minimum(a, b), "Min", a, b)
        self.both([[2], [1]], "ArgMax", np.float32([[1, 2, nan, 5], [1, 7, 7, 0]]), attributes=[attribute("axis", i=1)], kind=np.int64)
        self.both([[1], [2]], "ArgMax", np.float32([[1, 2, 2], [7, 1, 7]])[:, [0, 2, 1]][:, [0, 2, 1]] * np.float32([[1, 1, .5], [1, 1, 1]]),
                  attributes=[attribute("axis", i=1), attribute("select_last_index", i=1)], kind=np.int64)
        self.both([False, True, True, True], "Cast", np.float32([0, nan, -0.5, inf]), attributes=[attribute("to", i=BOOL)], kind=np.bool_)
        self.both([2], "ReduceMax", np.float32([[1, 2]]), attributes=[attribute("axes", ints=[1]), attribute("keepdims", i=0)])
        self.assertTrue(np.isnan(one("ReduceMax", np.float32([1, nan, 2]))).all())
        self.both([-1, 0, 1], "Sign", np.float32([-2, 0, inf]))
        self.assertTrue(np.isnan(one("Relu", np.float32([nan]))).all())

    def test_resize(self):
        seed = int.from_bytes(os.urandom(3), "little")
        random = np.random.default_rng(seed)
        usual = ("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel", "tf_crop_and_resize")
        ways = [("nearest", coordinates, nearest, False) for coordinates in (*usual, "tf_half_pixel_for_nn")
                for nearest in random.choice(["floor", "ceil", "round_prefer_floor", "round_prefer_ceil"], 2, replace=False)]
        ways += [(mode, coordinates, "floor", mode == "cubic" and excludes) for mode in ("linear", "cubic") for excludes in (False, True)
                 for coordinates in usual]
        for mode, coordinates, nearest, excludes in ways:
            is_cropped = coordinates == "tf_crop_and_resize"
            # What all elements outside are left out of has no sum.
            excludes = excludes and not is_cropped
            shape = random.integers(1, 7, 4)
            if random.integers(3) == 0:
                shape[random.integers(4)] = 200  # with tables that are parameters
            scales = np.float32(random.choice([0.5, 0.625, 1, 1, 1.5, 2, 2, 3], 4))
            scales[shape * scales < 1] = 1
            sizes, has_sizes = np.int64(shape * scales), bool(random.integers(2))
            region = np.float32(random.choice([-0.25, 0, 0.25], 4)), np.float32(random.choice([0.5, 1, 1.25], 4))
            x = random.standard_normal(shape, np.float32)
            want, outside = x.astype(np.float64), np.zeros(sizes, bool)
            for axis in range(4):
                scale = sizes[axis] / shape[axis] if has_sizes else float(scales[axis])
                if scale != 1 or is_cropped:
                    matrix, beyond = resizing(shape[axis], sizes[axis], scale, (float(region[0][axis]), float(region[1][axis])),
                                              mode, coordinates, nearest, excludes)
                    want = np.moveaxis(np.tensordot(matrix, want, (1, axis)), 0, axis)
                    outside |= np.expand_dims(beyond, tuple(a for a in range(4) if a != axis))
            want[outside] = 7
            attributes = [attribute("mode", s=mode.encode()), attribute("coordinate_transformation_mode", s=coordinates.encode()),
                          attribute("nearest_mode", s=nearest.encode()), attribute("exclude_outside", i=int(excludes)),
                          attribute("extrapolation_value", f=7.0)]
            # Extents of the image, the scales or sizes, and the region may come with the call.
            is_open, is_late, is_late_region = (bool(each) for each in random.integers(2, size=3))
            with self.subTest(seed=seed, mode=mode, coordinates=coordinates, nearest=nearest, excludes=excludes, shape=shape,
                              scales=scales, sizes=sizes, has_sizes=has_sizes, region=region, is_open=is_open, is_late=is_late,
                              is_late_region=is_late_region):
                operands = {"r": np.concatenate(region) if is_cropped else np.zeros(0, np.float32),
                            "s": np.zeros(0, np.float32) if has_sizes else scales, "n": sizes}
                late = [name for name in operands if (name == "r" and is_late_region and is_cropped)
                        or (name == "n" and is_late and has_sizes) or (name == "s" and is_late and not has_sizes)]
                names = [f"d{i}" for i in range(4)] if is_open else shape.tolist()
                main = load([node("Resize", ["x", "r", "s", *(["n"] if has_sizes else [])], ["y"], *attributes)],
                            [("x", names, np.float32)] + [(name, operands[name].shape, operands[name].dtype) for name in late],
                            [("y", 4, np.float32)],
                            [constant(name, array) for name, array in operands.items() if name not in late and (has_sizes or name != "n")], 11)
                got = main(x, *(operands[name] for name in late))
                self.assertEqual(got.shape, want.shape)
                np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-5)

    def test_softmax_of_large(self):
        x = np.float32([[1e4, 1e4], [-1e4, 0]])
        np.testing.assert_allclose(one("Softmax", x), [[0.5, 0.5], [0, 1]])
        np.testing.assert_allclose(one("ReduceLogSumExp", x, attributes=[attribute("axes", ints=[1])]), [[1e4 + np.log(2)], [0]], rtol=1e-6)
        self.both([[inf]], "ReduceLogSumExp", np.float32([[inf, 0]]), attributes=[attribute("axes", ints=[1])])

    def test_integers(self):
        a, b = np.int32([7, -7, 7, -7]), np.int32([3, 3, -3, -3])
        self.both([2, -2, -2, 2], "Div", a, b)
        self.both(np.mod(a, b), "Mod", a, b)
        self.both(np.fmod(a, b), "Mod", a, b, attributes=[attribute("fmod", i=1)])
        self.both([1, 1, 0, 16], "Pow", np.int32([5, 1, 0, -2]), np.int32([0, 9, 3, 4]))
        self.both([0, 2, 2, -2, -0.0], "Round", np.float32([0.5, 1.5, 2.5, -2.5, -0.5]))
        self.both([1, 1], "Clip", np.float32([0, 5]), np.float32(3), np.float32(1))
        with self.assertRaises(pl.Error):
            one("Div", np.int32([1]), np.int32([0]))

    def test_slices(self):
        x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
        least, most = -(1 << 63), (1 << 63) - 1
        for starts, ends, axes, steps, want in (
                ([-1], [least], [1], [-1], x[:, ::-1]), ([most], [0], [2], [-2], x[:, :, :0:-2]),
                ([1], [most], [-1], [2], x[:, :, 1::2]), ([-100], [2], [2], [1], x[:, :, :2]),
                ([2], [1], [2], [1], x[:, :, 2:1]), ([0, 3], [1, 0], [0, 2], [1, -1], x[:1, :, 3:0:-1])):
            parts = [np.int64(v) for v in (starts, ends, axes, steps)]
            self.both(want, "Slice", x, constants=parts)
            self.same(one("Slice", x, *parts), want)
        for none in (np.zeros((0, 3), np.float32), np.zeros((2, 0), np.float32)):
            for axis in (0, 1):
                back = [np.int64([v]) for v in (-1, least, axis, -1)]
                self.both(none, "Slice", none, constants=back)

    def test_positions(self):
        x = np.arange(12, dtype=np.float32).reshape(3, 4)
        self.both(x[[-1, 0]], "Gather", x, np.int64([-1, 0]))
        self.both(x[:, [[1, -4]]], "Gather", x, np.int64([[1, -4]]), attributes=[attribute("axis", i=-1)])
        with self.assertRaises(pl.Error):
            one("Gather", x, np.int64([3]))
        self.both(np.pad(x, [(1, 0), (3, 2)], "reflect"), "Pad", x, constants=[np.int64([1, 3, 0, 2])], attributes=[attribute("mode", s=b"reflect")])
        self.both(x[:, 1:3], "Pad", x, constants=[np.int64([0, -1, 0, -1])])
        self.both([[0, 0, 1, 0]], "OneHot", np.int64([-2]), constants=[np.int64(4), np.float32([0, 1])], kind=np.float32)

    def several(self, operator, x, kinds, attributes=(), constants=(), is_open=False):
        """The results of one operator on one array, of these types."""
        names = ["x"] + [f"c{i}" for i in range(len(constants))]
        outputs = [f"y{i}" for i in range(len(kinds))]
        shape = [f"d{i}" for i in range(x.ndim)] if is_open else x.shape
        given = [constant(f"c{i}", c) for i, c in enumerate(constants)]
        return load([node(operator, names, outputs, *attributes)], [("x", shape, x.dtype)],
                    [(name, 0, kind) for name, kind in zip(outputs, kinds)], given)(x)

    def test_first_in_order(self):
        seed = int.from_bytes(os.urandom(3), "little")
        random = np.random.default_rng(seed)
        kinds = (np.float16, np.float32, np.float64, np.int8, np.uint8, np.int32, np.int64)
        for kind, count, n in itertools.product(kinds, (0, 1, 2, 5, 63, 64, 65, 100, 200), (0, 1, 63, 64, 65, 200)):
            if count > n or (kind not in (np.float32, np.int64) and random.integers(6)):
                continue
            shape, axis = random.permutation([n, 3, 2]), int(random.integers(-3, 3))
            axis = int(np.flatnonzero(shape == n)[0]) if shape[axis] < count else axis
            x = random.integers(-20, 20, shape).astype(kind)  # with equal ones
            largest, is_open = bool(random.integers(2)), bool(random.integers(2))
            key = x.astype(np.float64)
            if np.dtype(kind).kind == "f":
                x[random.random(x.shape) < 0.1] *= kind(-0.0)
                for odd in (np.inf, -np.inf, np.nan, -np.nan):
                    x[random.random(x.shape) < 0.03] = odd
                key = np.where(np.isnan(x), -np.inf if largest else np.inf, x.astype(np.float64))
            # A NaN is behind all that is none.
            rank = np.unique(np.stack([np.isnan(x.astype(np.float64)), -key if largest else key], -1).reshape(-1, 2), axis=0, return_inverse=True)[1]
            order = np.argsort(rank.reshape(x.shape), axis, kind="stable").take(np.arange(count), axis)
            got = self.several("TopK", x, (kind, np.int64), [attribute("axis", i=axis), attribute("largest", i=int(largest))],
                               [np.int64([count])], is_open)
            with self.subTest(seed=seed, kind=kind, count=count, shape=shape, axis=axis, largest=largest, is_open=is_open):
                self.same(got[0].view(kind), np.take_along_axis(x, order, axis))
                self.same(got[1], order)
        # An order that makes every element one of the first.
        x = np.arange(3000, dtype=np.float32)
        self.same(self.several("TopK", x, (np.float32, np.int64), constants=[np.int64([40])])[1], np.arange(2999, 2959, -1))

    def test_first_in_order_of_odd_ones(self):
        for is_open in (False, True):
            for largest, first in ((1, [2, 3, 0, 1]), (0, [0, 3, 2, 1])):  # a NaN is the last, whatever is asked for
                for count in (1, 2, 4):
                    got = self.several("TopK", np.float32([1, nan, 3, 2]), (np.float32, np.int64), [attribute("largest", i=largest)],
                                       [np.int64([count])], is_open)
                    self.same(got[1], first[:count])
            with self.assertRaises(pl.Error):
                self.several("TopK", np.zeros((2, 0), np.float32), (np.float32, np.int64), constants=[np.int64([3])], is_open=is_open)
            with self.assertRaises(pl.Error):
                one("ArgMax", np.zeros((2, 0), np.float32), kind=np.int64, attributes=[attribute("axis", i=1)], is_open=is_open)
            self.same(one("Hardmax", np.zeros((2, 0), np.float32), is_open=is_open), np.zeros((2, 0)))
        count = load([node("TopK", ["x", "k"], ["y", "i"])], [("x", (2, 3), np.float32), ("k", (1,), np.int64)],
                     [("y", 0, np.float32), ("i", 0, np.int64)])
        self.same(count(np.float32([[1, 2, 3], [3, 1, 2]]), np.int64([2]))[1], [[2, 1], [0, 2]])
        for wrong in (-1, 4):
            with self.assertRaises(pl.Error):
                count(np.zeros((2, 3), np.float32), np.int64([wrong]))

    def test_zero_points(self):
        random = np.random.default_rng(3)
        a, b = random.integers(0, 255, (2, 4, 3)).astype(np.uint8), random.integers(-128, 127, (3, 5)).astype(np.int8)
        image, filters = random.integers(0, 255, (1, 2, 4, 4)).astype(np.uint8), random.integers(-9, 9, (3, 2, 3, 3)).astype(np.int8)

        def product(za, zb, is_open):
            inputs = ["a", "b", "za" if za is not None else "", "zb" if zb is not None else ""]
            shapes = [["m", "n", "k"], ["k", "j"]] if is_open else [a.shape, b.shape]
            given = [constant_of(name, z) for name, z in (("za", za), ("zb", zb)) if z is not None]
            return load_bytes([node("MatMulInteger", inputs, ["y"])], [("a", shapes[0], a), ("b", shapes[1], b)], given)(a, b)

        def window(zero, is_open):
            shape = ["n", "c", "h", "w"] if is_open else image.shape
            return load_bytes([node("ConvInteger", ["x", "f", "z"], ["y"], attribute("pads", ints=[1, 1, 1, 1]))], [("x", shape, image)],
                              [constant_of("f", filters), constant_of("z", zero)])(image)

        def sums(zero):
            padded = np.full((1, 2, 6, 6), int(zero), np.int64)
            padded[:, :, 1:5, 1:5] = image
            parts = np.lib.stride_tricks.sliding_window_view(padded - int(zero), (3, 3), (2, 3))
            return np.einsum("nchwij,fcij->nfhw", parts, filters.astype(np.int64))

        rows, columns = np.uint8([1, 200, 3, 4]), np.int8([-3, 0, 5, 7, 9])
        wide = lambda x: x.astype(np.int64)  # noqa: E731
        for is_open in (False, True):
            self.same(product(rows, columns, is_open), (wide(a) - wide(rows)[:, None]) @ (wide(b) - wide(columns)))
            self.same(product(None, np.int8(0), is_open), wide(a) @ wide(b))
            self.same(product(rows.reshape(1, 4, 1), None, is_open), (wide(a) - wide(rows)[:, None]) @ wide(b))
            for zero in (0, 7, 255):
                self.same(window(np.uint8(zero), is_open), sums(zero))
            for za, zb in ((np.uint8([1, 2]), None), (np.zeros(3, np.uint8), None), (np.zeros(0, np.uint8), None), (None, np.zeros(4, np.int8)),
                           (None, np.zeros((2, 1, 5), np.int8)), (np.int8(1), None), (None, np.uint8(1))):
                with self.subTest(za=za, zb=zb, is_open=is_open), self.assertRaises(pl.Error):
                    product(za, zb, is_open)
            for zero in (np.int8(-1), np.zeros(2, np.uint8)):
                with self.subTest(zero=zero, is_open=is_open), self.assertRaises(pl.Error):
                    window(zero, is_open)

    def test_different_ones(self):
        seed = int.from_bytes(os.urandom(3), "little")
        random = np.random.default_rng(seed)
        for kind, axis, is_sorted, is_open in itertools.product((np.float32, np.int64), (None, 0, 1), (True, False), (True, False)):
            x = random.integers(0, 3, random.choice([1, 2, 3, 7, 40], 2)).astype(kind)
            want = np.unique(x, True, True, True, axis=axis)
            if not is_sorted:  # in the order of their first
                order = np.argsort(want[1], kind="stable")
                want = (want[0].take(order, axis or 0), want[1][order], np.argsort(order)[want[2].reshape(-1)], want[3][order])
            got = self.several("Unique", x, (kind, np.int64, np.int64, np.int64),
                               [attribute("sorted", i=int(is_sorted))] + ([] if axis is None else [attribute("axis", i=axis)]), is_open=is_open)
            with self.subTest(seed=seed, kind=kind, axis=axis, is_sorted=is_sorted, is_open=is_open, shape=x.shape):
                for one_of, wanted in zip(got, want):
                    self.same(one_of, wanted.reshape(-1) if wanted is want[2] else wanted)
        self.same(self.several("Unique", np.float32([nan, 1, nan, -1]), (np.float32, np.int64))[1], [3, 1, 0])
        self.same(self.several("Unique", np.zeros(0, np.float32), (np.float32, np.int64))[1], np.zeros(0))
        self.same(np.shape(self.several("Unique", np.arange(20000, dtype=np.float32)[::-1].copy(), (np.float32, np.int64))[0]), [20000])

    def test_best(self):
        x = np.random.default_rng(1).integers(-3, 3, (3, 5, 7)).astype(np.float32)
        for axis in (0, 1, -1):
            self.both(np.argmax(x, axis), "ArgMax", x, kind=np.int64, attributes=[attribute("axis", i=axis), attribute("keepdims", i=0)])
            last = x.shape[axis] - 1 - np.argmin(np.flip(x, axis), axis)
            self.both(np.expand_dims(last, axis), "ArgMin", x, kind=np.int64,
                      attributes=[attribute("axis", i=axis), attribute("select_last_index", i=1)])
            first = np.expand_dims(np.argmax(x, axis), axis)
            wanted = np.zeros_like(x)
            np.put_along_axis(wanted, first, 1, axis)
            self.both(wanted, "Hardmax", x, attributes=[attribute("axis", i=axis)])
        low = np.full((2, 40), -inf, np.float32)
        self.both([0, 0], "ArgMax", low, kind=np.int64, attributes=[attribute("axis", i=1), attribute("keepdims", i=0)])
        low[0, 3] = low[0, 20] = nan
        self.both([3, 0], "ArgMax", low, kind=np.int64, attributes=[attribute("axis", i=1), attribute("keepdims", i=0)])
        least = np.full((2, 40), np.iinfo(np.int32).min, np.int32)
        self.both([39, 39], "ArgMax", least, kind=np.int64,
                  attributes=[attribute("axis", i=1), attribute("keepdims", i=0), attribute("select_last_index", i=1)])

    def test_windows(self):
        seed = int.from_bytes(os.urandom(3), "little")
        random = np.random.default_rng(seed)
        for turn in range(24):
            n = int(random.integers(1, 4))
            extents = random.integers(1, (40, 14, 7)[n - 1], n)
            window = np.minimum(random.choice([1, 2, 3, 5, 7], n), extents)
            if turn % 4 == 0:
                window = extents.copy()  # one window
            strides, dilations = random.integers(1, 4, n), np.where(random.integers(3, size=n) == 0, 2, 1)
            before, behind = (np.array([random.integers(0, each) for each in window]) for _ in range(2))
            if turn % 8 == 0:
                before, behind, dilations = 0 * window, 0 * window, 0 * window + 1
            reach = (window - 1) * dilations + 1
            if (extents + before + behind < reach).any():
                continue
            counts = (extents + before + behind - reach) // strides + 1
            kind = random.choice([np.float32, np.int32]) if turn % 3 else np.float32
            x = random.integers(-9, 9, (2, 3, *extents)).astype(kind)
            if kind == np.float32 and turn % 5 == 0:
                x.flat[0] = nan
            padded = np.full((2, 3, *(extents + before + behind)), nan)  # of which nothing counts
            padded[(slice(None), slice(None), *(slice(b, b + size) for b, size in zip(before, extents)))] = x
            inside = np.zeros(padded.shape[2:], bool)
            inside[tuple(slice(b, b + size) for b, size in zip(before, extents))] = True
            most, mean = np.zeros((2, 3, *counts)), np.zeros((2, 3, *counts))
            for at in np.ndindex(*counts):
                part = tuple(slice(i * s, i * s + r, d) for i, s, r, d in zip(at, strides, reach, dilations))
                seen = padded[(slice(None), slice(None), *part)][:, :, inside[part]]
                if seen.shape[-1] == 0:
                    break
                most[(slice(None), slice(None), *at)], mean[(slice(None), slice(None), *at)] = seen.max(-1), seen.mean(-1)
            else:
                attributes = [attribute("kernel_shape", ints=list(map(int, window))), attribute("strides", ints=list(map(int, strides))),
                              attribute("pads", ints=[*map(int, before), *map(int, behind)])]
                dilated = [*attributes, attribute("dilations", ints=list(map(int, dilations)))]
                with self.subTest(seed=seed, turn=turn, extents=extents, window=window, strides=strides, dilations=dilations):
                    for is_open in (False, True):
                        self.same(one("MaxPool", x, attributes=dilated, is_open=is_open), most)
                        if kind == np.float32 and (dilations == 1).all():
                            np.testing.assert_allclose(one("AveragePool", x, attributes=attributes, is_open=is_open), mean, 1e-5, 1e-5)

        for operator in ("MaxPool", "AveragePool"):
            for is_open in (False, True):
                with self.assertRaises(pl.Error):
                    one(operator, np.zeros((1, 1, 2, 2), np.float32), attributes=[attribute("kernel_shape", ints=[3, 3])], is_open=is_open)

    def test_regions_of_less_than_a_pixel(self):
        """Are taken as one pixel wide and high, but where coordinates are those of half pixels; before opset 16 they never are."""
        random = np.random.default_rng(17)
        image, batches = random.standard_normal((2, 2, 7, 9), np.float32), np.int64([1, 0, 1])
        regions = np.float32([[1.5, 2.25, 1.75, 2.5], [4, 1, 4.5, 5], [6, 3, 6, 3]])

        def bilinear(picture, y, x):
            y, x = min(max(y, 0), picture.shape[0] - 1), min(max(x, 0), picture.shape[1] - 1)
            rows, columns = (np.maximum(0, 1 - abs(np.arange(n) - at)) for n, at in zip(picture.shape, (y, x)))
            return rows @ picture.astype(np.float64) @ columns

        for opset, mode in ((10, None), (16, "output_half_pixel"), (16, "half_pixel")):
            shift, least = (0.5, 0) if mode == "half_pixel" else (0, 1)
            want = np.zeros((3, 2, 2, 3))
            for r, c, i, j in np.ndindex(want.shape):
                x, y, right, bottom = regions[r] * 0.75 - shift
                height, width = max(bottom - y, least) / 2, max(right - x, least) / 3
                want[r, c, i, j] = np.mean([bilinear(image[batches[r], c], y + (i + (a + 0.5) / 2) * height, x + (j + (b + 0.5) / 2) * width)
                                            for a in (0, 1) for b in (0, 1)])
            attributes = [attribute("output_height", i=2), attribute("output_width", i=3), attribute("sampling_ratio", i=2),
                          attribute("spatial_scale", f=0.75)]
            if mode:
                attributes.append(attribute("coordinate_transformation_mode", s=mode.encode()))
            with self.subTest(opset=opset, mode=mode):
                got = one("RoiAlign", image, regions, batches, attributes=attributes, opset=opset)
                np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)

    def test_tile(self):
        for shape, repeats in (((2, 3), (2, 1)), ((2, 3), (1, 3)), ((1, 3), (4, 2)), ((2, 3, 5), (2, 0, 3)), ((0, 3), (2, 2)), ((7,), (3,))):
            x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
            self.both(np.tile(x, repeats), "Tile", x, constants=[np.int64(repeats)])

    def test_empty(self):
        none = np.zeros((2, 0), np.float32)
        self.both(np.zeros((2, 1)), "ReduceSum", none, constants=[np.int64([1])])
        self.both(np.ones((2, 3)), "Concat", none, np.ones((2, 3), np.float32), attributes=[attribute("axis", i=1)])
        self.both(np.zeros((4, 0)), "Concat", none, none, attributes=[attribute("axis", i=0)])
        self.both(none, "Concat", none, none, attributes=[attribute("axis", i=1)])
        self.both(np.zeros((0, 2)), "Transpose", none)
        self.both(np.zeros((2, 0)), "Add", none, np.ones((2, 1), np.float32))
        self.both(np.zeros((1, 0)), "NonZero", np.zeros(3, np.float32), kind=np.int64)
        self.both(np.zeros((3, 4)), "MatMul", np.zeros((3, 0), np.float32), np.zeros((0, 4), np.float32))

    def test_broadcast_at_run_time(self):
        main = load([node("Add", ["a", "b"], ["y"])], [("a", ["m", "n"], np.float32), ("b", ["k", "n"], np.float32)], [("y", 2, np.float32)])
        a, b = np.ones((3, 2), np.float32), np.float32([[1, 2]])
        self.same(main(a, b), a + b)
        self.same(main(b, a), a + b)
        self.same(main(a, a), a + a)
        for wrong in (np.ones((2, 2), np.float32), np.ones((3, 3), np.float32)):
            with self.assertRaises(pl.Error):
                main(a, wrong)

    def test_shape_chain(self):
        """x reshaped to [batch, -1] as exporters do it."""
        nodes = [node("Shape", ["x"], ["s"]), node("Gather", ["s", "zero"], ["b"], attribute("axis", i=0)),
                 node("Unsqueeze", ["b", "axes"], ["u"]), node("Concat", ["u", "rest"], ["t"], attribute("axis", i=0)),
                 node("Reshape", ["x", "t"], ["y"])]
        constants = [constant("zero", np.int64(0)), constant("axes", np.int64([0])), constant("rest", np.int64([-1]))]
        main = load(nodes, [("x", ["n", 3, 4], np.float32)], [("y", 2, np.float32)], constants)
        self.assertIn("tensor<?x12xf32>", repr(main))
        for n in (1, 2, 0):
            self.assertEqual(main(np.ones((n, 3, 4), np.float32)).shape, (n, 12))

    def test_attention(self):
        """Self-attention of many heads as exporters write it, with open batch and length."""
        heads, width = 2, 3
        names = {}

        def ints(*numbers):
            name = "i" + "_".join(map(str, numbers)).replace("-", "m")
            names[name] = constant(name, np.int64(numbers))
            return name

        nodes = [node("Shape", ["x"], ["shape"]), node("Gather", ["shape", ints(0)], ["batch"]), node("Gather", ["shape", ints(1)], ["length"]),
                 node("Concat", ["batch", "length", ints(heads, width)], ["split"], attribute("axis", i=0)),
                 node("Concat", ["batch", "length", ints(-1)], ["joint"], attribute("axis", i=0))]
        for part in "qkv":
            nodes += [node("MatMul", ["x", f"w{part}"], [f"{part}0"]), node("Reshape", [f"{part}0", "split"], [f"{part}1"]),
                      node("Transpose", [f"{part}1"], [part], attribute("perm", ints=[0, 2, 3, 1] if part == "k" else [0, 2, 1, 3]))]
        nodes += [node("MatMul", ["q", "k"], ["scores"]), node("Where", ["mask", "scores", "least"], ["masked"]),
                  node("Softmax", ["masked"], ["p"], attribute("axis", i=-1)),
                  node("MatMul", ["p", "v"], ["heads"]), node("Transpose", ["heads"], ["moved"], attribute("perm", ints=[0, 2, 1, 3])),
                  node("Reshape", ["moved", "joint"], ["y"])]
        numbers = np.random.default_rng(0)
        weights = {part: numbers.standard_normal((6, heads * width)).astype(np.float32) for part in "qkv"}
        constants = [constant(f"w{part}", w) for part, w in weights.items()] + [constant("least", np.float32(-1e9)), *names.values()]

        def reference(x, mask):
            q, k, v = ((x @ weights[part]).reshape(*x.shape[:2], heads, width).transpose(0, 2, 1, 3) for part in "qkv")
            scores = np.where(mask, q @ k.transpose(0, 1, 3, 2), np.float32(-1e9))
            p = np.exp(scores - scores.max(-1, keepdims=True))
            return ((p / p.sum(-1, keepdims=True)) @ v).transpose(0, 2, 1, 3).reshape(*x.shape[:2], -1)

        for extents in ((2, 5), ("N", "S")):
            main = load(nodes, [("x", [*extents, 6], np.float32), ("mask", [extents[0], 1, 1, extents[1]], np.bool_)],
                        [("y", 3, np.float32)], constants)
            for n, s in ((2, 5), (1, 7), (3, 1)) if extents[0] == "N" else ((2, 5),):
                x = numbers.standard_normal((n, s, 6)).astype(np.float32)
                mask = numbers.random((n, 1, 1, s)) < 0.8
                mask[..., 0] = True
                np.testing.assert_allclose(main(x, mask), reference(x, mask), rtol=2e-5, atol=2e-6)

    def test_transposed_convolutions(self):
        seed = int.from_bytes(os.urandom(3), "little")
        random = np.random.default_rng(seed)
        for case in range(24):
            rank, groups, channels, filters = (int(random.integers(1, 4)) for _ in range(4))
            size, kernel, stride, apart = (random.integers(1, 5, rank) for _ in range(4))
            low, high = random.integers(0, 2, (2, rank))
            extra = np.array([random.integers(0, max(s, d)) for s, d in zip(stride, apart)])
            full = (size - 1) * stride + (kernel - 1) * apart + 1 + extra
            if (full - low - high < 1).any():
                continue
            x = random.standard_normal((2, groups * channels, *size)).astype(np.float32)
            weights = random.standard_normal((groups * channels, filters, *kernel)).astype(np.float32)
            want = np.zeros((2, groups * filters, *full))
            for group, place, at in itertools.product(range(groups), np.ndindex(*size), np.ndindex(*kernel)):
                to = tuple(np.array(place) * stride + np.array(at) * apart)
                part = slice(group * channels, (group + 1) * channels)
                want[(slice(None), slice(group * filters, (group + 1) * filters), *to)] += (
                    x[(slice(None), part, *place)] @ weights[(part, slice(None), *at)].astype(np.float64))
            want = want[(slice(None), slice(None), *map(slice, low, full - high))]
            attributes = [attribute(name, ints=list(map(int, values))) for name, values in (
                ("strides", stride), ("dilations", apart), ("pads", [*low, *high]), ("output_padding", extra))]
            with self.subTest(seed=seed, case=case):
                got = one("ConvTranspose", x, constants=[weights], attributes=[*attributes, attribute("group", i=groups)],
                          is_open=bool(case % 2), opset=13)
                np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)

    def test_grouped_signals(self):
        """Convolutions along one dimension in groups."""
        random = np.random.default_rng(5)
        for groups, filters, step in ((1, 2, 1), (3, 1, 1), (3, 2, 2), (4, 4, 3)):
            x, weights = random.standard_normal((2, 2 * groups, 11)), random.standard_normal((groups * filters, 2, 3))
            want = np.zeros((2, groups * filters, (11 - 3) // step + 1))
            for f, o, k in np.ndindex(groups * filters, want.shape[2], 3):
                first = f // filters * 2
                want[:, f, o] += x[:, first:first + 2, o * step + k] @ weights[f, :, k]
            got = one("Conv", x.astype(np.float32), weights.astype(np.float32),
                      attributes=[attribute("group", i=groups), attribute("strides", ints=[step])])
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)

    def test_if(self):
        branches = [graph([node(op, ["x"], ["z"])], [], [value("z", [3])]) for op in ("Neg", "Exp")]
        main = load([node("If", ["c"], ["y"], attribute("then_branch", g=branches[0]), attribute("else_branch", g=branches[1]))],
                    [("c", [], np.bool_), ("x", ["n"], np.float32)], [("y", 1, np.float32)])
        x = np.float32([0, 1])
        self.same(main(np.bool_(True), x), -x)
        np.testing.assert_allclose(main(np.bool_(False), x), np.exp(x), rtol=1e-6)

    def test_squeeze_of_an_open_extent(self):
        """As PyTorch's exporter writes it, with a rank that depends on the call."""
        squeezed = graph([node("Squeeze", ["x", "axes"], ["z"])], [], [value("z", [])], [constant("axes", np.int64([-1]))])
        other = graph([node("Identity", ["x"], ["z"])], [], [value("z", [])])
        main = load([node("Shape", ["x"], ["s"]), node("Gather", ["s", "last"], ["n"]), node("Equal", ["n", "one"], ["c"]),
                     node("If", ["c"], ["y"], attribute("then_branch", g=squeezed), attribute("else_branch", g=other))],
                    [("x", ["n", "m"], np.float32)], [("y", 1, np.float32)],
                    [constant("last", np.int64(-1)), constant("one", np.int64(1))])
        self.same(main(np.float32([[3], [4]])), [3, 4])
        with self.assertRaisesRegex(pl.Error, "'y' of the model has a rank that depends on the call: only the branch that squeezes is supported"):
            main(np.ones((2, 3), np.float32))

    def test_pads_as_pytorch_writes_them(self):
        """Computed from constants, backwards: how many there are has to be known."""
        nodes = [node("ConstantOfShape", ["two"], ["zeros"], attribute("value", t=constant("", np.int64([0])))),
                 node("Concat", ["pads", "zeros"], ["all"], attribute("axis", i=0)), node("Reshape", ["all", "pairs"], ["table"]),
                 node("Slice", ["table", "last", "first", "axis", "last"], ["turned"]),
                 node("Transpose", ["turned"], ["columns"], attribute("perm", ints=[1, 0])),
                 node("Reshape", ["columns", "last"], ["flat"]), node("Cast", ["flat"], ["by"], attribute("to", i=INT64)),
                 node("Pad", ["x", "by"], ["y"], attribute("mode", s=b"reflect"))]
        main = load(nodes, [("x", ["n", "m"], np.float32)], [("y", 2, np.float32)],
                    [constant(name, np.int64(numbers)) for name, numbers in
                     {"two": [2], "pads": [1, 2], "pairs": [-1, 2], "last": [-1], "first": [-2**63 + 1], "axis": [0]}.items()])
        x = np.arange(10, dtype=np.float32).reshape(2, 5)
        self.same(main(x), np.pad(x, ((0, 0), (1, 2)), "reflect"))

    def test_slices_of_constants(self):
        """What the importer computes itself: shapes."""
        random = np.random.default_rng(11)
        for case in range(60):
            table = random.integers(0, 4, [(9,), (3, 4)][case % 2])
            start, end = random.integers(-12, 12, 2)
            step, axis = int(random.choice([-3, -2, -1, 1, 2, 3])), int(random.integers(0, table.ndim))
            extent = table.shape[axis]
            low, high = (0, extent) if step > 0 else (-1, extent - 1)
            first, last = (int(at + extent * (at < 0)) for at in (start, end))
            places = range(min(max(first, 0), high), min(max(last, low), high), step)
            want = np.take(table, list(places), axis).T.reshape(-1)
            with self.subTest(case=case, start=start, end=end, step=step, axis=axis):
                main = load([node("Slice", ["table", "start", "end", "axis", "step"], ["part"]), node("Transpose", ["part"], ["turned"]),
                             node("Reshape", ["turned", "flat"], ["shape"]), node("ConstantOfShape", ["shape"], ["zeros"]),
                             node("Add", ["zeros", "x"], ["y"])], [("x", [], np.float32)], [("y", len(want), np.float32)],
                            [constant("table", table), constant("flat", np.int64([-1]))] +
                            [constant(name, np.int64([number])) for name, number in
                             (("start", start), ("end", end), ("axis", axis), ("step", step))])
                got = main(np.float32(2))
                self.same(got, np.full(want, 2))

    def test_loop(self):
        """Sums of powers of two until they reach a limit, with all of them."""
        body = graph([node("Add", ["a", "a"], ["a2"]), node("Less", ["a2", "limit"], ["go"]), node("Identity", ["a2"], ["each"])],
                     [value("i", [], INT64), value("c", [], BOOL), value("a", [1])],
                     [value("go", [], BOOL), value("a2", [1]), value("each", [1])])
        main = load([node("Loop", ["m", "", "x"], ["y", "all"], attribute("body", g=body))],
                    [("m", [], np.int64), ("x", [1], np.float32), ("limit", [], np.float32)],
                    [("y", 1, np.float32), ("all", 2, np.float32)])
        for turns, limit, want in ((10, 5, [2, 4, 8]), (2, 100, [2, 4]), (0, 5, [])):
            last, each = main(np.int64(turns), np.float32([1]), np.float32(limit))
            self.same(last, want[-1:] or [1])
            self.same(each, np.float32(want).reshape(-1, 1))

    def test_what_turns_give(self):
        """Gathered over the numbers of turns at which its room grows, with an end that is known, comes with the call, or is found by a turn."""
        for is_open, way, has_empty in itertools.product((False, True), ("known", "given", "found", "endless"), (False, True)):
            rows = 0 if has_empty else 3
            shape = ["r", "c"] if is_open else [rows, 2]
            nodes = [node("Add", ["a", "step"], ["a2"]), node("Less", ["i", "last"], ["less"]), node("Mul", ["i", "i"], ["square"]),
                     node("ReduceSum", ["a2", "axes"], ["sums"], attribute("keepdims", i=0)), node("Cast", ["a2"], ["whole"], attribute("to", i=INT64)),
                     node("Identity", ["less"] if way in ("found", "endless") else ["c"], ["go"])]
            body = graph(nodes, [value("i", [], INT64), value("c", [], BOOL), value("a", ["?", "?"])],
                         [value("go", [], BOOL), value("a2", ["?", "?"]), value("square", [], INT64), value("sums", ["?"]), value("whole", ["?", "?"], INT64),
                          value("less", [], BOOL)])
            counts = (0, 1, 7, 8, 9, 17, 40)
            for known in counts if way == "known" else (0,):
                inputs = ["x", "last"] + ["m"] * (way in ("given", "found"))
                given = [("x", shape, np.float32), ("last", [], np.int64)] + [("m", [], np.int64)] * (way in ("given", "found"))
                constants = [constant("step", np.float32(0.5)), constant("axes", np.int64([0]))] + [constant("m", np.int64(known))] * (way == "known")
                main = load([node("Loop", ["" if way == "endless" else "m", "", "x"], ["y", "s", "t", "u", "v"], attribute("body", g=body))], given,
                            [("y", 2, np.float32), ("s", 1, np.int64), ("t", 2, np.float32), ("u", 3, np.int64), ("v", 1, np.bool_)], constants)
                for turns in [known] if way == "known" else counts:
                    if way == "endless" and turns == 0:
                        continue
                    x = np.arange(2 * rows, dtype=np.float32).reshape(rows, 2)
                    values = {"x": x, "last": np.int64(turns - 1), "m": np.int64(100 if way == "found" and turns else turns)}
                    got = main(*(values[name] for name in inputs))
                    every = x + np.float32(0.5) * np.arange(1, turns + 1, dtype=np.float32)[:, None, None]
                    number = np.arange(turns)
                    want = (x + turns / 2, number**2, every.sum(1), every.astype(np.int64), number < turns - 1)
                    with self.subTest(is_open=is_open, way=way, rows=rows, turns=turns):
                        for one_of, wanted in zip(got, want, strict=True):
                            wanted = np.asarray(wanted)
                            # Of no turn nobody knows the shape.
                            self.same(np.reshape(one_of, wanted.shape) if turns == 0 and one_of is not got[0] else one_of, wanted)
        for turns in (-1, -2**63):
            body = graph([node("Identity", ["a"], ["a2"]), node("Identity", ["c"], ["go"])], [value("i", [], INT64), value("c", [], BOOL), value("a", [2])],
                         [value("go", [], BOOL), value("a2", [2]), value("a2", [2])])
            main = load([node("Loop", ["m", "", "x"], ["y", "s"], attribute("body", g=body))], [("m", [], np.int64), ("x", [2], np.float32)],
                        [("y", 1, np.float32), ("s", 2, np.float32)])
            self.same(main(np.int64(turns), np.float32([1, 2]))[1], np.zeros((0, 2)))

    def test_turns_in_turns(self):
        inner = graph([node("Add", ["p", "i2"], ["p2"]), node("Identity", ["c2"], ["go2"])], [value("i2", [], INT64), value("c2", [], BOOL), value("p", ["?"], INT64)],
                      [value("go2", [], BOOL), value("p2", ["?"], INT64), value("p2", ["?"], INT64)])
        body = graph([node("Loop", ["k", "", "a"], ["a2", "each"], attribute("body", g=inner)), node("Identity", ["c"], ["go"])],
                     [value("i", [], INT64), value("c", [], BOOL), value("a", ["?"], INT64)], [value("go", [], BOOL), value("a2", ["?"], INT64), value("each", ["?", "?"], INT64)])
        for shape in ([3], ["n"]):
            main = load([node("Loop", ["m", "", "x"], ["y", "all"], attribute("body", g=body))], [("m", [], np.int64), ("k", [], np.int64), ("x", shape, np.int64)],
                        [("y", 1, np.int64), ("all", 3, np.int64)])
            for m, k in ((3, 20), (20, 3), (1, 1)):
                x = np.int64([5, 6, 7])
                sums = np.cumsum(np.tile(np.arange(k), m))
                got = main(np.int64(m), np.int64(k), x)
                self.same(got[0], x + sums[-1])
                self.same(got[1], x + sums.reshape(m, k, 1))

    def test_turns_of_several_shapes(self):
        body = graph([node("Concat", ["a", "x"], ["b"], attribute("axis", i=0)), node("Identity", ["c"], ["d"])],
                     [value("i", [], INT64), value("c", [], BOOL), value("a", ["k"])], [value("d", [], BOOL), value("b", ["l"]), value("b", ["l"])])
        main = load([node("Loop", ["m", "", "x"], ["y", "s"], attribute("body", g=body))], [("m", [], np.int64), ("x", ["n"], np.float32)],
                    [("y", 1, np.float32), ("s", 2, np.float32)])
        self.same(main(np.int64(1), np.float32([1, 2]))[1], [[1, 2, 1, 2]])
        for turns in (2, 9, 10):
            with self.assertRaisesRegex(pl.Error, "turns of a loop give different shapes"):
                main(np.int64(turns), np.float32([1, 2]))

    def test_growing_loop(self):
        body = graph([node("Concat", ["a", "x"], ["b"], attribute("axis", i=0)), node("Identity", ["c"], ["d"])],
                     [value("i", [], INT64), value("c", [], BOOL), value("a", ["k"])], [value("d", [], BOOL), value("b", ["l"])])
        main = load([node("Loop", ["m", "", "x"], ["y"], attribute("body", g=body))],
                    [("m", [], np.int64), ("x", ["n"], np.float32)], [("y", 1, np.float32)])
        self.same(main(np.int64(3), np.float32([1, 2])), [1, 2] * 4)

    def test_shapes_of_turns(self):
        """What a turn makes has a shape that what is carried says, which no turn changes, beside what grows."""
        body = graph([node("Add", ["a", "a"], ["a2"]), node("Concat", ["b", "one"], ["b2"], attribute("axis", i=0)),
                      node("Shape", ["a"], ["rows"]), node("Concat", ["rows", "rest"], ["shape"], attribute("axis", i=0)),
                      node("Reshape", ["table", "shape"], ["each"]), node("Identity", ["c"], ["d"])],
                     [value("i", [], INT64), value("c", [], BOOL), value("a", ["k"]), value("b", ["j"])],
                     [value("d", [], BOOL), value("a2", ["k"]), value("b2", ["l"]), value("each", ["?", "?"])])
        main = load([node("Loop", ["m", "", "x", "one"], ["last", "grown", "all"], attribute("body", g=body))],
                    [("m", [], np.int64), ("x", ["n"], np.float32), ("table", ["n", 4], np.float32)],
                    [("last", 1, np.float32), ("grown", 1, np.float32), ("all", 3, np.float32)],
                    [constant("rest", np.int64([-1])), constant("one", np.float32([1]))])
        for n, turns in ((2, 2), (3, 1)):
            x, table = np.arange(n, dtype=np.float32), np.arange(4 * n, dtype=np.float32).reshape(n, 4)
            for got, want in zip(main(np.int64(turns), x, table), (x * 2**turns, np.ones(1 + turns), np.stack([table] * turns)), strict=True):
                self.same(got, want)

    def test_shapes_of_turns_alone(self):
        """The same where that is all that is carried: it keeps its extent, or grows."""
        for grows in (False, True):
            turn = node("Concat", ["a", "x"], ["a2"], attribute("axis", i=0)) if grows else node("Add", ["a", "a"], ["a2"])
            body = graph([turn, node("Shape", ["a"], ["rows"]), node("Concat", ["rows", "rest"], ["shape"], attribute("axis", i=0)),
                          node("Reshape", ["table", "shape"], ["each"]), node("Identity", ["c"], ["d"])],
                         [value("i", [], INT64), value("c", [], BOOL), value("a", ["k"])],
                         [value("d", [], BOOL), value("a2", ["l"]), value("each", ["?", "?"])])
            main = load([node("Loop", ["m", "", "x"], ["last", "all"], attribute("body", g=body))],
                        [("m", [], np.int64), ("x", ["n"], np.float32), ("table", ["n", 4], np.float32)],
                        [("last", 1, np.float32), ("all", 3, np.float32)], [constant("rest", np.int64([-1]))])
            x, table, turns = np.float32([1, 2]), np.arange(8, dtype=np.float32).reshape(2, 4), 1 if grows else 2
            want = np.concatenate([x, x]) if grows else x * 4
            for got, wanted in zip(main(np.int64(turns), x, table), (want, np.stack([table] * turns)), strict=True):
                self.same(got, wanted)

    def test_neighbouring_channels(self):
        """Of an even number of channels, one more behind than before."""
        seed = int.from_bytes(os.urandom(3), "little")
        random = np.random.default_rng(seed)
        for size in (1, 2, 3, 4, 5, 6):
            x = random.standard_normal((2, 5, 3), np.float32)
            alpha, beta, bias = random.uniform(0.5, 2, 3)
            sums = np.stack([(x[:, max(0, c - (size - 1) // 2):c + size // 2 + 1].astype(np.float64) ** 2).sum(1) for c in range(5)], 1)
            for is_open in (False, True):
                got = one("LRN", x, is_open=is_open, attributes=[attribute("size", i=size), attribute("alpha", f=alpha), attribute("beta", f=beta),
                                                                 attribute("bias", f=bias)])
                np.testing.assert_allclose(got, x / (bias + alpha / size * sums) ** beta, 1e-5, 1e-6, err_msg=f"seed {seed}, size {size}")

    def test_slopes(self):
        """Of channels before opset 7, as broadcasts go since then."""
        x = np.random.default_rng(7).standard_normal((2, 3, 4, 3), np.float32)
        slope = np.float32([0.5, -1, 3])
        for opset, shaped in ((6, slope[:, None, None]), (7, slope), (9, slope)):
            self.both(np.where(x < 0, x * shaped, x), "PRelu", x, slope, opset=opset)
        self.both(np.where(x < 0, x * slope, x)[0, 0], "PRelu", x[0, 0], slope, opset=6)
        self.both(np.where(x < 0, x * 3, x), "PRelu", x, slope[2:], opset=6)
        self.both(np.where(x < 0, x * slope[:, None, None], x), "PRelu", x, slope[:, None, None], opset=6)

    def test_turned_heads(self):
        """The table says how many heads there are, but where their number and that of what is turned of each are given."""
        random = np.random.default_rng(11)
        x, theta, at = random.standard_normal((2, 3, 30), np.float32), random.random((8, 5), np.float32), np.int64([[0, 2, 7], [1, 1, 5]])
        for attributes, count in (({}, 3), ({"num_heads": 2}, 3), ({"rotary_embedding_dim": 10}, 3), ({"num_heads": 2, "rotary_embedding_dim": 10}, 2),
                                  ({"num_heads": 1, "rotary_embedding_dim": 10}, 1)):
            want = x.reshape(2, 3, count, -1).copy()
            cos, sin = (function(theta)[at][:, :, None] for function in (np.cos, np.sin))
            low, high = want[..., :5].copy(), want[..., 5:10].copy()
            want[..., :5], want[..., 5:10] = low * cos - high * sin, high * cos + low * sin
            for batch in (2, "b"):
                turn = node("RotaryEmbedding", ["x", "at", "cos", "sin"], ["y"], *(attribute(name, i=number) for name, number in attributes.items()),
                            domain="com.microsoft")
                main = load([turn], [("x", [batch, 3, 30], np.float32), ("at", [batch, 3], np.int64)], [("y", 3, np.float32)],
                            [constant("cos", np.cos(theta)), constant("sin", np.sin(theta))], domains=["com.microsoft"])
                np.testing.assert_allclose(main(x, at), want.reshape(2, 3, 30), 1e-5, 1e-6, err_msg=str(attributes))

    def test_bodies_of_items(self):
        """Every item of each sequence goes through the body once, beside what is the same for all."""
        x, y, scale = np.float32([1, 2]), np.float32([[3], [4], [5]]), np.float32([10])
        body = graph([node("Mul", ["a", "s"], ["p"]), node("Add", ["p", "b"], ["q"]), node("Neg", ["a"], ["r"])],
                     [value("a", ["?"]), value("s", [1]), value("b", ["?"])], [value("q", ["?"]), value("r", ["?"])])
        nodes = [node("SequenceConstruct", ["x", "y"], ["some"]), node("SequenceConstruct", ["y", "x"], ["others"]),
                 node("SequenceMap", ["some", "scale", "others"], ["sums", "less"], attribute("body", g=body)),
                 *(node("SequenceAt", [name, f"at{i}"], [f"{name}{i}"]) for name in ("sums", "less") for i in (0, 1)),
                 node("SequenceLength", ["sums"], ["length"])]
        main = load(nodes, [("x", [2], np.float32), ("y", [3, 1], np.float32), ("scale", [1], np.float32)],
                    [("sums0", 2, np.float32), ("sums1", 2, np.float32), ("less0", 1, np.float32), ("less1", 2, np.float32), ("length", 0, np.int64)],
                    [constant(f"at{i}", np.int64(i)) for i in (0, 1)], opset=17)
        for got, want in zip(main(x, y, scale), (10 * x + y, 10 * y + x, -x, -y, 2), strict=True):
            self.same(got, want)

    def test_optional(self):
        nodes = [node("Optional", ["x"], ["o"]), node("OptionalHasElement", ["o"], ["has"]), node("OptionalGetElement", ["o"], ["y"]),
                 node("OptionalHasElement", [], ["no"])]
        main = load(nodes, [("x", [2], np.float32)], [("y", 1, np.float32), ("has", 0, np.bool_), ("no", 0, np.bool_)], opset=18)
        for got, want in zip(main(np.float32([3, 4])), ([3, 4], True, False), strict=True):
            self.same(got, want)

    def test_opset_18(self):
        self.both([[3], [7]], "ReduceMax", np.float32([[3, 1], [2, 7]]), constants=[np.int64([1])], opset=18)
        self.both([3, 7], "ReduceMin", np.float32([[3, 9], [8, 7]]), constants=[np.int64([1])], opset=18, attributes=[attribute("keepdims", i=0)])

    def test_constants_that_are_no_tensors(self):
        """Numbers and lists of numbers."""
        for name, given, want in (("value_float", {"f": 0.5}, np.float32(0.5)), ("value_floats", {"floats": [0.5, -2.0, 7.0]}, np.float32([0.5, -2, 7])),
                                  ("value_int", {"i": -3}, np.int64(-3)), ("value_ints", {"ints": [4, -5, 6]}, np.int64([4, -5, 6]))):
            with self.subTest(name):
                main = load([node("Constant", [], ["c"], attribute(name, **given)), node("Identity", ["c"], ["y"]), node("Add", ["x", "c"], ["z"])],
                            [("x", [3], want.dtype)], [("y", want.ndim, want.dtype), ("z", 1, want.dtype)])
                x = np.arange(3).astype(want.dtype)
                for got, expected in zip(main(x), (want, x + want), strict=True):
                    self.same(got, expected)

    def test_parameters(self):
        w = np.arange(1024, dtype=np.float32).reshape(32, 32)
        nodes, x = [node("MatMul", ["x", "w"], ["y"])], np.eye(32, dtype=np.float32)
        main = load(nodes, [("x", [32, 32], np.float32)], [("y", 2, np.float32)], [constant("w", w)])
        self.same(main(x), w)
        main = load(nodes, [("x", [32, 32], np.float32)], [("y", 2, np.float32)], [constant("w", w)], parameters={"w": 2 * w})
        self.same(main(x), 2 * w)

    def test_external_data(self):
        w = np.arange(1024, dtype=np.float32).reshape(32, 32)
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/weights.bin", "wb") as file:
                file.write(b"\0" * 64 + w.tobytes())
            weights = tensor("w", w.shape, external={"location": "weights.bin", "offset": "64", "length": str(w.nbytes)})
            data = model(graph([node("MatMul", ["x", "w"], ["y"])], [value("x", [32, 32])], [value("y", [32, 32])], [weights]))
            with open(f"{folder}/net.onnx", "wb") as file:
                file.write(data)
            main = pl.load(f"{folder}/net.onnx", engine=engine).main
        self.same(main(np.eye(32, dtype=np.float32)), w)

    def test_one_name_one_extent(self):
        main = load([node("Mul", ["a", "b"], ["y"])], [("a", ["n"], np.float32), ("b", ["n"], np.float32)], [("y", 1, np.float32)])
        self.same(main(np.float32([2, 3]), np.float32([5, 7])), [10, 21])
        with self.assertRaises(pl.Error):
            main(np.float32([2, 3]), np.float32([5]))


if __name__ == "__main__":
    unittest.main()
