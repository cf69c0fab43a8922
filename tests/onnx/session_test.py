"""plimsoll.onnx: what programs that were written for ONNX Runtime do with a session."""

import pathlib
import sys
import tempfile
import threading
import unittest
import warnings

import numpy as np

import plimsoll as pl
import plimsoll.onnx as ort

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "examples" / "models"))
import build
import onnx_file

sys.path.append(str(pathlib.Path(__file__).resolve().parent))
import models


def model(operator, inputs, outputs, attributes=None, weights=None):
    """Of one node; inputs and outputs are (name, shape, element)."""
    node = onnx_file.node(operator, [name for name, _, _ in inputs] + list(weights or {}), [name for name, _, _ in outputs],
                          attributes or {})
    return onnx_file.model([node], weights or {}, [onnx_file.declaration(*each) for each in inputs],
                           [onnx_file.declaration(*each) for each in outputs])


class Sessions(unittest.TestCase):
    def test_names_and_types(self):
        graph = build.build("gpt2", small=True)
        session = ort.InferenceSession(b"".join(graph.parts()))
        inputs = session.get_inputs()
        self.assertEqual([each.name for each in inputs], list(graph.inputs))
        self.assertEqual((inputs[0].shape, inputs[0].type), (["batch", "length"], "tensor(int64)"))
        self.assertEqual((inputs[1].shape, inputs[1].type), (["batch", 3, "past", 8], "tensor(float)"))
        self.assertEqual([each.name for each in session.get_outputs()], list(graph.outputs))
        values = build.arguments(graph, 7, batch=2, length=3, past=2)
        every = session.run(None, values)
        logits, key = session.run(["logits", "present.0.key"], values)
        np.testing.assert_array_equal(logits, every[list(graph.outputs).index("logits")])
        np.testing.assert_array_equal(key, every[list(graph.outputs).index("present.0.key")])
        self.assertEqual(logits.shape, (2, 3, 50))

    def test_names_that_are_none_of_pythons(self):
        session = ort.load(model("Relu", [("input.1", ["N", 2], "float32")], [("out/put", ["N", 2], "float32")]))
        self.assertEqual(str(session.get_inputs()[0]), "NodeArg(name='input.1', type='tensor(float)', shape=['N', 2])")
        [out] = session.run(["out/put"], {"input.1": np.array([[-1, 2], [3, -4]], np.float32)})
        np.testing.assert_array_equal(out, [[0, 2], [3, 0]])

    def test_signs(self):
        session = ort.load(model("Add", [("a", [3], "uint8"), ("b", [3], "uint8")], [("c", [3], "uint8")]))
        [c] = session.run(None, {"a": np.array([1, 200, 250], np.uint8), "b": np.array([2, 50, 4], np.uint8)})
        self.assertEqual(c.dtype, np.uint8)
        np.testing.assert_array_equal(c, [3, 250, 254])

    def test_floats_of_8_bits(self):
        for code, name in ((17, "float8e4m3fn"), (18, "float8e4m3fnuz")):
            graph = models.graph([models.node("Identity", ["a"], ["b"])], [models.value("a", [3], code)], [models.value("b", [3], code)])
            session = ort.load(models.model(graph, 19))
            self.assertEqual(session.get_inputs()[0].type, f"tensor({name})")
            bits = np.array([0, 60, 200], np.uint8)
            [b] = session.run(None, {"a": bits})
            self.assertEqual(b.dtype, np.uint8)
            np.testing.assert_array_equal(b, bits)

    def test_scalars(self):
        session = ort.load(model("Neg", [("a", [], "float32")], [("b", [], "float32")]))
        [b] = session.run(None, {"a": np.float32(2)})
        self.assertEqual((b.shape, b.dtype, float(b)), ((), np.float32, -2))

    def test_sequences(self):
        tensor = onnx_file.message(1, onnx_file.integer(1, 1))  # TypeProto of a tensor of floats
        parts = onnx_file.text(1, "parts") + onnx_file.message(2, onnx_file.message(4, onnx_file.message(1, tensor)))
        nodes = [onnx_file.node("SplitToSequence", ["x", "sizes"], ["parts"], {"axis": 1}),
                 onnx_file.node("Relu", ["x"], ["y"], {})]
        session = ort.load(onnx_file.model(nodes, {"sizes": np.array([1, 3, 2])}, [onnx_file.declaration("x", [3, 6])],
                                           [parts, onnx_file.declaration("y", [3, 6])]))
        self.assertEqual([each.type for each in session.get_outputs()], ["seq(tensor(float))", "tensor(float)"])
        x = np.arange(18, dtype=np.float32).reshape(3, 6) - 9
        parts, y = session.run(None, {"x": x})
        self.assertEqual([each.shape for each in parts], [(3, 1), (3, 3), (3, 2)])
        np.testing.assert_array_equal(np.concatenate(parts, 1), x)
        np.testing.assert_array_equal(y, np.maximum(x, 0))

    def test_initialisers_among_the_inputs(self):
        weights = {"w": np.full(2, 3, np.float32)}
        session = ort.load(model("Mul", [("x", [2], "float32")], [("y", [2], "float32")], weights=weights))
        self.assertEqual([each.name for each in session.get_inputs()], ["x"])
        np.testing.assert_array_equal(session.run(None, {"x": np.ones(2, np.float32)})[0], [3, 3])

    def test_options(self):
        options = ort.SessionOptions()
        options.intra_op_num_threads = 1
        options.graph_optimization_level = 0
        options.add_session_config_entry("session.force_spinning_stop", "1")
        relu = model("Relu", [("x", [2], "float32")], [("y", [2], "float32")])
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            session = ort.InferenceSession(relu, options, providers=[("CUDAExecutionProvider", {}), "CPUExecutionProvider"])
        self.assertEqual([str(each.message) for each in seen],
                         ["there is no CUDAExecutionProvider; there is CPUExecutionProvider"])
        self.assertEqual(session.get_providers(), ort.get_available_providers())
        self.assertEqual(session.module.engine.threads, 1)

    def test_files_and_threads(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "relu.onnx"
            path.write_bytes(model("Relu", [("x", ["N"], "float32")], [("y", ["N"], "float32")]))
            session = ort.InferenceSession(path)
            wrong = []

            def work(size):
                x = np.linspace(-1, 1, size, dtype=np.float32)
                for _ in range(50):
                    if not np.array_equal(session.run(["y"], {"x": x})[0], np.maximum(x, 0)):
                        wrong.append(size)
            threads = [threading.Thread(target=work, args=(size,)) for size in (1, 7, 1000)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(wrong, [])

    def test_what_is_wrong(self):
        session = ort.load(model("Relu", [("image", [2], "float32")], [("logits", [2], "float32")]))
        x = np.ones(2, np.float32)
        for names, feed, message in (
                (None, {"imag": x}, "the model has no input 'imag'; did you mean 'image'?"),
                (None, {}, "input 'image' is missing"),
                (["logit"], {"image": x}, "the model has no output 'logit'; did you mean 'logits'?")):
            with self.assertRaises(ValueError) as caught:
                session.run(names, feed)
            self.assertEqual(str(caught.exception), message)
        with self.assertRaises(pl.Error):
            session.run(None, {"image": np.ones(3, np.float32)})
        with self.assertRaises(pl.Error):
            session.run(None, {"image": np.ones(2, np.float64)})
        with self.assertRaisesRegex(pl.InvalidArgumentError, "is no ONNX model"):
            ort.load(b"func.func @f() { return }")
        with self.assertRaises(FileNotFoundError):
            ort.load("there/is/none.onnx")


if __name__ == "__main__":
    unittest.main()
