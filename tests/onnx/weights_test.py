#!/usr/bin/python3
"""Weights of ONNX models: read where they lie in a file, at any place; in every way that they can be written down.

Needs build/python in PYTHONPATH. Compared with NumPy.

    weights_test.py [--seed N]
"""

import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import plimsoll as pl

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from models import FLOAT, graph, model, node, tensor, value  # noqa: E402
from protobuf import TYPES, field  # noqa: E402

seed = int(sys.argv.pop(2)) if sys.argv[1:2] == ["--seed"] else random.randrange(1 << 30)
if sys.argv[1:2] == ["--seed"]:
    sys.argv.pop(1)
engine = pl.Engine(threads=2)


def status(name):
    """MB of this process."""
    text = pathlib.Path("/proc/self/status").read_text(encoding="ascii")
    return int(re.search(name + r":\s*(\d+)", text)[1]) / 1024


def outputs_of(main, *arguments):
    got = main(*arguments)
    return got if isinstance(got, (tuple, list)) else [got]


class Weights(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = f"{self.folder.name}/net.onnx"

    def loads(self, data, **options):
        """Of a file, and of memory that is gone when it is called."""
        with open(self.path, "wb") as file:
            file.write(data)
        yield pl.load(self.path, engine=engine, **options).main
        yield pl.loads(bytearray(data), name="net.onnx", engine=engine, **options).main

    def test_of_every_type_at_any_place(self):
        numbers = np.random.default_rng(seed)
        kinds = [(code, np.dtype(kind)) for code, kind in TYPES.items() if np.dtype(kind).kind != "c"]
        for turn in range(3):
            tensors, wanted = [], []
            for code, kind in kinds:
                # Around the size from which the importer leaves them in the file.
                count = 1024 // kind.itemsize + int(numbers.integers(-1, 2)) if turn else 1500
                array = numbers.integers(0, 2, count).astype(kind) if kind.kind == "b" else numbers.integers(0, 100, count).astype(kind)
                # The length of what stands before decides where the elements lie.
                name = "w" * int(numbers.integers(1, 9)) + str(code)
                tensors.append(tensor(name, [count], code, raw=array.tobytes()))
                wanted.append((name, code, array))
            nodes = [node("Identity", [name], [f"y{code}"]) for name, code, _ in wanted]
            infos = [value(f"y{code}", [array.size], code) for _, code, array in wanted]
            for main in self.loads(model(graph([*nodes, node("Relu", ["x"], ["y"])], [value("x", [2])],
                                               [*infos, value("y", [2])], tensors))):
                got = outputs_of(main, np.float32([-1, 1]))
                for (name, code, array), found in zip(wanted, got):
                    np.testing.assert_array_equal(np.asarray(found).view(array.dtype), array, err_msg=f"{name}, type {code}, seed {seed}")

    def test_in_another_order_and_as_they_are(self):
        """The same weight as the factor of products, which lies in panels then, and as rows that are looked up."""
        numbers = np.random.default_rng(seed)
        w = numbers.integers(-4, 5, (97, 61)).astype(np.float32)
        x = numbers.integers(-4, 5, (33, 97)).astype(np.float32)
        rows = numbers.integers(0, 97, 13)
        nodes = [node("MatMul", ["x", "w"], ["y"]), node("Gather", ["w", "i"], ["z"])]
        for place in range(4):
            data = model(graph(nodes, [value("x", ["n", 97]), value("i", ["k"], 7)], [value("y", ["n", 61]), value("z", ["k", 61])],
                               [tensor("p" * (place + 1), [1], raw=b"\0\0\0\0"), tensor("w", w.shape, raw=w.tobytes())]))
            for options in ({}, {"specialization": "on_request"}):
                for main in self.loads(data, **options):
                    if options:
                        main.specialize(x, rows)
                    for _ in range(2):
                        y, z = main(x, rows)
                        np.testing.assert_array_equal(y, x @ w)
                        np.testing.assert_array_equal(z, w[rows])

    def test_external(self):
        numbers = np.random.default_rng(seed)
        w = numbers.integers(-4, 5, (300, 41)).astype(np.float32)
        x = numbers.integers(-4, 5, (7, 300)).astype(np.float32)
        for offset in (0, 1, 2, 3, 4, 4096, 4099):
            with open(f"{self.folder.name}/w.bin", "wb") as file:
                file.write(b"\x55" * offset + w.tobytes() + b"\x55")
            with open(self.path, "wb") as file:
                file.write(model(graph([node("MatMul", ["x", "w"], ["p"]), node("Gather", ["w", "i"], ["z"])],
                                       [value("x", [7, 300]), value("i", [2], 7)], [value("p", [7, 41]), value("z", [2, 41])],
                                       [tensor("w", w.shape, external={"location": "w.bin", "offset": str(offset)})])))
            y, z = pl.load(self.path, engine=engine).main(x, np.int64([299, 5]))
            np.testing.assert_array_equal(y, x @ w)
            np.testing.assert_array_equal(z, w[[299, 5]])

    def test_written_in_other_ways(self):
        w = np.arange(600, dtype=np.float32)
        raw, dims, kind, name = field(9, w.tobytes()), field(1, 600), field(2, FLOAT), field(8, b"w")
        old = field(9, (w * 3).tobytes())
        packed = field(4, w.tobytes())
        ways = {"elements first": raw + name + kind + dims, "dimensions packed": field(1, b"\xd8\x04") + raw + kind + name,
                "twice, the last counts": dims + old + kind + raw + name, "numbers": dims + kind + packed + name,
                "a long key": dims + kind + name + b"\xca\x80\x00" + raw[1:]}
        nodes, x, y = [node("Add", ["x", "w"], ["y"])], value("x", [600]), value("y", [600])
        for way, encoded in ways.items():
            with self.subTest(way):
                for main in self.loads(model(graph(nodes, [x], [y], [encoded]))):
                    np.testing.assert_array_equal(main(w), w * 2)
        first = graph(nodes, [x], [], [tensor("w", [600], raw=w.tobytes())])
        with self.subTest("a graph in two parts"):
            for main in self.loads(model(first) + field(7, field(12, y))):
                np.testing.assert_array_equal(main(w), w * 2)

    def test_of_another_size(self):
        nodes, x, y = [node("Add", ["x", "w"], ["y"])], value("x", [600]), value("y", [600])
        for size in (1023, 1024, 2396, 2399, 2404):
            for load in (lambda data: list(self.loads(data)), lambda data: pl.loads(data, engine=engine)):
                with self.assertRaisesRegex(pl.Error, f"tensor 'w' has {size} bytes, but its shape needs 2400"):
                    load(model(graph(nodes, [x], [y], [tensor("w", [600], raw=bytes(size))])))

    def test_are_in_memory_once(self):
        """Peak of a process that loads and calls layers of 256 MB, half of them products, half rows that are looked up."""
        numbers = np.random.default_rng(seed)
        size, layers = 2048, 8
        product = numbers.integers(-1, 2, (size, size)).astype(np.float32)
        nodes, tensors, before = [], [], "x"
        for i in range(layers):
            nodes += [node("MatMul", [before, f"w{i}"], [f"p{i}"]), node("Gather", [f"e{i}", "i"], [f"g{i}"]),
                      node("Add", [f"p{i}", f"g{i}"], [f"y{i}"])]
            before = f"y{i}"
            tensors += [tensor(f"w{i}", (size, size), raw=product.tobytes()), tensor(f"e{i}", (size, size), raw=product.tobytes())]
        with open(self.path, "wb") as file:
            file.write(model(graph(nodes, [value("x", [1, size]), value("i", [1], 7)], [value(before, [1, size])], tensors)))
        run = subprocess.run([sys.executable, "-B", __file__, "--peak", self.path, str(size)], capture_output=True, text=True, check=True)
        peak = float(run.stdout) / (len(tensors) * product.nbytes / 2**20)
        print(f"peak: {peak:.2f} of the weights", file=sys.stderr)
        self.assertLess(peak, 1.5)


def print_peak(path, size):
    before = status("VmRSS")
    main = pl.load(path, engine=engine).main
    main(np.ones((1, int(size)), np.float32), np.int64([5]))
    print(status("VmHWM") - before)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--peak"]:
        print_peak(*sys.argv[2:])
    else:
        print(f"seed {seed}", file=sys.stderr)
        unittest.main()
