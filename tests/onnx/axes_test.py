#!/usr/bin/python3
"""What stands along an axis: sums, quantised blocks, rows that are scattered; of all extents, known and open.

Needs build/python in PYTHONPATH. Compared with NumPy.
"""

import itertools
import os
import sys
import unittest

import numpy as np
import plimsoll as pl

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from corners_test import constant, load, one  # noqa: E402
from models import FLOAT, attribute, graph, model, node, tensor, value  # noqa: E402


class Axes(unittest.TestCase):
    def test_reductions_along_no_axis(self):
        """What is done with each element and each sum is done, and nothing is summed."""
        x = np.float32([[0.5, -2], [3, -0.25]])
        for operator, wanted in (("ReduceSum", x), ("ReduceMean", x), ("ReduceMax", x), ("ReduceProd", x), ("ReduceL1", abs(x)), ("ReduceL2", abs(x)),
                                 ("ReduceSumSquare", x * x), ("ReduceLogSum", np.log(abs(x))), ("ReduceLogSumExp", x)):
            given = abs(x) if operator == "ReduceLogSum" else x
            for axes in ([], [np.empty(0, np.int64)]):
                for keeps in (0, 1):
                    got = one(operator, given, constants=axes, attributes=[attribute("noop_with_empty_axes", i=1), attribute("keepdims", i=keeps)], opset=18)
                    np.testing.assert_allclose(got, wanted, rtol=1e-6, err_msg=f"{operator} {axes} {keeps}")
        for operator in ("ReduceProd", "ReduceSum"):  # of extents
            main = load([node("Shape", ["x"], ["s"]), node(operator, ["s"], ["y"], attribute("noop_with_empty_axes", i=1), attribute("keepdims", i=0))],
                        [("x", ("a", 3), np.float32)], [("y", 1, np.int64)], opset=18)
            np.testing.assert_array_equal(main(np.zeros((2, 3), np.float32)), [2, 3])

    def test_places_from_a_table(self):
        """A slice of a table with room for 8 is as long as what it is added to, however long that is: nothing asks for extents behind it."""
        random = np.random.default_rng(31)
        table, weights = np.float32(random.normal(size=(8, 4))), np.float32(random.normal(size=(4, 4)))
        nodes = [node("Shape", ["x"], ["shape"]), node("Gather", ["shape", "one"], ["n"]), node("Unsqueeze", ["n", "zero"], ["end"]),
                 node("Slice", ["places", "zero", "end", "one1"], ["slice"]), node("Gather", ["table", "slice"], ["place"]),
                 node("Add", ["x", "place"], ["sum"]), node("MatMul", ["sum", "w"], ["product"]), node("Add", ["sum", "product"], ["y"])]
        main = load(nodes, [("x", ("b", "n", 4), np.float32)], [("y", 3, np.float32)],
                    [constant("one", np.int64(1)), constant("zero", np.int64([0])), constant("one1", np.int64([1])), constant("w", weights),
                     constant("places", np.arange(8)[None]), constant("table", table)])
        for batch, length in itertools.product((0, 1, 2), (0, 1, 2, 7, 8)):
            x = np.float32(random.normal(size=(batch, length, 4)))
            sums = x + table[None, :length]
            np.testing.assert_allclose(main(x), sums + sums @ weights, rtol=1e-5, atol=1e-5, err_msg=f"{batch} {length}")
        with self.assertRaises(pl.Error):
            main(np.zeros((2, 9, 4), np.float32))

    def test_joined_heads(self):
        """Attention whose batches and heads are one dimension in its products, of open extents, as exporters write `view(batch * heads, -1, size)`:
        one dispatch, whose scores are in none of the others."""
        random, heads, size = np.random.default_rng(37), 3, 8
        join = lambda name, parts, *more: [node("Concat", parts, [f"{name}_shape"], attribute("axis", i=0)), node("Reshape", [*more, f"{name}_shape"], [name])]  # noqa: E731
        nodes = [node("Shape", ["x"], ["s"]), node("Slice", ["s", "zero", "one"], ["b"]), node("Slice", ["s", "one", "two"], ["n"]), node("Mul", ["b", "heads"], ["bh"]),
                 *join("split", ["b", "n", "heads", "size"], "x"), node("Transpose", ["split"], ["across"], attribute("perm", ints=[0, 2, 1, 3])),
                 *join("joined", ["bh", "rest", "size"], "across"), node("Transpose", ["joined"], ["keys"], attribute("perm", ints=[0, 2, 1])),
                 node("MatMul", ["joined", "keys"], ["scores"]), *join("apart", ["b", "heads", "n", "n"], "scores"), node("Add", ["apart", "mask"], ["masked"]),
                 node("Softmax", ["masked"], ["p"], attribute("axis", i=-1)), *join("weights", ["bh", "n", "n"], "p"), node("MatMul", ["weights", "joined"], ["o"]),
                 *join("heads_apart", ["b", "heads", "rest", "size"], "o"), node("Transpose", ["heads_apart"], ["back"], attribute("perm", ints=[0, 2, 1, 3])),
                 *join("y", ["b", "n", "rest"], "back")]
        constants = [constant(name, np.int64([value])) for name, value in
                     {"zero": 0, "one": 1, "two": 2, "rest": -1, "heads": heads, "size": size}.items()]
        given = [value("x", ("b", "n", heads * size), FLOAT), value("mask", ("b", 1, 1, "n"), FLOAT)]
        source = model(graph(nodes, given, [value("y", ["?"] * 3, FLOAT)], constants), 13)
        module = pl.loads(source, "joined.onnx", engine=pl.Engine(threads=2))
        types = {binding["type"] for function in module.explain()["functions"] for dispatch in function["dispatches"] for binding in dispatch["bindings"]}
        self.assertFalse(types & {f"memref<?x{heads}x?x?xf32>", "memref<?x?x?xf32>"}, types)
        for batch, length in itertools.product((0, 1, 2, 5), (0, 1, 2, 7, 33)):
            x = np.float32(random.normal(size=(batch, length, heads * size)))
            mask = np.float32(np.where(random.random((batch, 1, 1, length)) < 0.3, -1e30, random.normal(size=(batch, 1, 1, length))))
            h = x.reshape(batch, length, heads, size).transpose(0, 2, 1, 3).astype(float)
            scores = h @ h.transpose(0, 1, 3, 2) + mask
            p = np.exp(scores - scores.max(-1, keepdims=True, initial=-np.inf))
            wanted = (p / p.sum(-1, keepdims=True) @ h).transpose(0, 2, 1, 3).reshape(batch, length, heads * size)
            np.testing.assert_allclose(module.main(x, mask), wanted, rtol=1e-4, atol=1e-4, err_msg=f"{batch} {length}")

    def test_windows_without_gaps(self):
        """Wide ones, which are rows, beside those that are not, or that leave a rest; the last of several dimensions, or all."""
        random = np.random.default_rng(29)
        reduces = {"MaxPool": np.max, "AveragePool": np.mean, "LpPool": lambda v, axis: np.sqrt(np.square(v).sum(axis))}
        for operator, (shape, window), rest in itertools.product(
                reduces, [((3, 5), (32,)), ((2, 1), (100,)), ((1, 7), (31,)), ((4, 3), (2, 33)), ((2, 2), (40, 3)), ((1, 2), (2, 3, 64))], (0, 1)):
            counts = random.integers(1, 5, len(window))
            x = random.uniform(-1, 1, (*shape, *(counts * window + rest))).astype(np.float32)
            inner = x[(..., *(slice(c * w) for c, w in zip(counts, window)))].astype(np.float64)
            parts = inner.reshape(*shape, *itertools.chain(*zip(counts, window)))
            want = reduces[operator](parts, axis=tuple(range(3, 3 + 2 * len(window), 2)))
            for is_open in (False, True):
                got = one(operator, x, attributes=[attribute("kernel_shape", ints=list(window)), attribute("strides", ints=list(window))], is_open=is_open)
                np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-6, err_msg=f"{operator} {x.shape} {window}")

    def test_borders(self):
        """Of all modes, along all axes, wider than what they are made of too; of nothing there is none."""
        random = np.random.default_rng(23)
        for mode, shape, is_open in itertools.product(("edge", "reflect", "wrap"), [(1,), (5,), (1, 4), (3, 7), (2, 1, 3), (3, 4, 2, 5)], (False, True)):
            for _ in range(3):
                low, high = (random.integers(0, 1 + random.integers(1, 12), len(shape)) * random.integers(0, 2, len(shape)) for _ in range(2))
                x = random.integers(-99, 99, shape).astype(random.choice([np.float32, np.int64, np.int8]))
                got = one("Pad", x, constants=[np.concatenate([low, high])], attributes=[attribute("mode", s=mode.encode())], opset=19, is_open=is_open)
                want = x if mode == "wrap" else np.pad(x, list(zip(low, high)), mode)
                if mode == "wrap":  # NumPy 1.24 is wrong about borders that are wider
                    for axis, extent in enumerate(shape):
                        want = want.take(range(-low[axis], extent + high[axis]), axis, mode="wrap")
                np.testing.assert_array_equal(got, want, err_msg=f"{mode} {shape} {low} {high} {is_open}")
        for is_open in (False, True):
            with self.assertRaisesRegex(pl.Error, "nothing is there to make a border of"):
                one("Pad", np.zeros((2, 0), np.float32), constants=[np.int64([0, 1, 0, 0])], attributes=[attribute("mode", s=b"edge")], is_open=is_open)

    def test_numbers_of_few_bits(self):
        """Quantised by blocks along an axis, whole ones or not, to 8 bits and to less; constants of less are several in a byte."""
        random = np.random.default_rng(7)
        kinds = {"uint8": (2, 0, 255, 8), "int8": (3, -128, 127, 8), "uint4": (21, 0, 15, 4), "int4": (22, -8, 7, 4), "uint2": (25, 0, 3, 2), "int2": (26, -2, 1, 2)}
        for (number, low, high, bits), shape in itertools.product(kinds.values(), [(6, 8), (5, 7), (3, 130, 34)]):
            axis, size = int(random.integers(len(shape))), int(random.choice([1, 2, 4, 5]))
            few = [*shape]
            few[axis] = -(-shape[axis] // size)
            q, s = random.integers(low, high + 1, shape), (random.random(few) + 0.1).astype(np.float32)
            zero, hasZero = random.integers(low, high + 1, few), bool(random.integers(2))
            each = np.repeat(s, size, axis).take(range(shape[axis]), axis)
            zeros = np.repeat(zero * hasZero, size, axis).take(range(shape[axis]), axis)

            def packed(name, array):
                flat = (array.reshape(-1) & (1 << bits) - 1).astype(np.uint8)
                flat = np.concatenate([flat, np.zeros(-len(flat) % (8 // bits), np.uint8)]).reshape(-1, 8 // bits)
                data = (flat << np.arange(8 // bits) * bits).sum(1).astype(np.uint8)
                return tensor(name, array.shape, number, raw=data.tobytes())
            given = [packed("q", q), constant("s", s), *([packed("z", zero)] if hasZero else [])]
            names = ["s", "z"] if hasZero else ["s"]
            blocks = [attribute("axis", i=axis), attribute("block_size", i=size)]
            about = f"{number} {shape} {axis} {size} {hasZero}"
            main = load([node("DequantizeLinear", ["q", *names], ["y"], *blocks), node("Add", ["y", "x"], ["r"])], [("x", (), np.float32)],
                        [("r", len(shape), np.float32)], given, opset=21)
            np.testing.assert_allclose(main(np.float32(1)), (q - zeros) * each.astype(np.float64) + 1, rtol=1e-5, atol=1e-5, err_msg=about)
            # And back, from what is in the middle of a step or beyond the range.
            x = ((random.integers(2 * low - 3, 2 * high + 3, shape) - zeros) * each).astype(np.float32)
            wanted = np.clip(np.rint(x / each) + zeros, low, high)
            kind = attribute("output_dtype", i=number)
            main = load([node("QuantizeLinear", ["x", *names], ["y"], *blocks, *([] if hasZero else [kind])), node("Cast", ["y"], ["r"], attribute("to", i=1))],
                        [("x", shape, np.float32)], [("r", len(shape), np.float32)], given[1:], opset=21)
            np.testing.assert_array_equal(main(x), wanted, err_msg=about)

    def test_sums_along_an_axis(self):
        random = np.random.default_rng(5)
        for shape, exclusive, reverse in itertools.product([(7,), (0,), (1, 5), (3, 1, 4), (4, 0, 3), (2, 9, 33), (5, 16, 17)], (0, 1), (0, 1)):
            for axis in range(len(shape)):
                kind, is_open = random.choice([np.float32, np.int64]), bool(random.integers(2))
                x = random.integers(-9, 9, shape).astype(kind)
                wanted = np.flip(x, axis) if reverse else x
                wanted = np.cumsum(wanted, axis, dtype=kind) - (wanted if exclusive else 0)
                wanted = np.flip(wanted, axis) if reverse else wanted
                got = one("CumSum", x, constants=[np.int64(axis - len(shape) * random.integers(2))], is_open=is_open,
                          attributes=[attribute("exclusive", i=exclusive), attribute("reverse", i=reverse)])
                np.testing.assert_array_equal(got, wanted, err_msg=f"{shape} {kind} {exclusive} {reverse} {axis} {is_open}")

    def test_updates_that_do_not_fit(self):
        """Fewer than there are indices, shorter than a row: known when it is loaded, or when it is called."""
        x = np.zeros((4, 5), np.float32)
        for operator, indices, updates in (("ScatterND", np.zeros((3, 1), np.int64), np.ones((2, 5), np.float32)),
                                           ("ScatterND", np.zeros((3, 1), np.int64), np.ones((3, 4), np.float32)),
                                           ("ScatterElements", np.zeros((3, 2), np.int64), np.ones((2, 2), np.float32)),
                                           ("ScatterElements", np.zeros((2, 2), np.int64), np.ones((2, 3), np.float32))):
            for is_open in (False, True):
                names = [[f"{name}{i}" for i in range(2)] if is_open else array.shape for name, array in (("x", x), ("i", indices), ("u", updates))]
                names[1] = [names[1][0], indices.shape[1]] if operator == "ScatterND" else names[1]
                with self.assertRaisesRegex(pl.Error, "the updates have another extent"):
                    load([node(operator, ["x", "i", "u"], ["y"])], [("x", names[0], x.dtype), ("i", names[1], np.int64), ("u", names[2], x.dtype)],
                         [("y", 2, x.dtype)], opset=18)(x, indices, updates)
        main = load([node("CumSum", ["x", "axis"], ["y"])], [("x", (4, 5), x.dtype), ("axis", (), np.int64)], [("y", 2, x.dtype)])
        for axis in (2, -3, 1 << 40):
            with self.assertRaisesRegex(pl.Error, "none of the tensor's"):
                main(x, np.int64(axis))

    def test_rows_that_are_scattered(self):
        random = np.random.default_rng(6)
        for rank, how, is_open in itertools.product((1, 2, 3), ("none", "add", "max"), (False, True)):
            for depth in range(1, rank + 1):
                shape = tuple(random.integers(1, 9, rank - 1)) + (int(random.choice([1, 5, 17, 64])),)
                x = random.integers(-99, 99, shape).astype(np.float32)
                outer = tuple(random.integers(0, 4, int(random.integers(0, 3))))
                indices = np.stack([random.integers(-n, n, outer) for n in shape[:depth]], -1).reshape(*outer, depth)
                updates, wanted = random.integers(-99, 99, outer + shape[depth:]).astype(np.float32), x.copy()
                for at in np.ndindex(outer):
                    place = tuple(indices[at])
                    wanted[place] = {"none": lambda a, b: b, "add": np.add, "max": np.maximum}[how](wanted[place], updates[at])
                # The last extent of the indices has to be known.
                names = [[f"{name}{i}" for i in range(array.ndim)] if is_open else array.shape
                         for name, array in (("x", x), ("i", indices), ("u", updates))]
                names[1] = [*names[1][:-1], depth]
                main = load([node("ScatterND", ["x", "i", "u"], ["y"], attribute("reduction", s=how.encode()))],
                            [("x", names[0], x.dtype), ("i", names[1], np.int64), ("u", names[2], x.dtype)], [("y", rank, x.dtype)], opset=18)
                np.testing.assert_array_equal(main(x, indices, updates), wanted, err_msg=f"{shape} {depth} {outer} {how} {is_open}")


if __name__ == "__main__":
    unittest.main()
