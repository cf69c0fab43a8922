"""The models of examples/models, small, beside NumPy: with several extents where they are open, and after a load from the
cache; what building them writes is what is loaded."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import numpy as np

import plimsoll as pl
import reference

MODELS = pathlib.Path(__file__).resolve().parents[2] / "examples" / "models"
sys.path.append(str(MODELS))
import build

SEED = int.from_bytes(os.urandom(3), "little")

# Extents of calls, one after the other; batches of 0 too.
CALLS = {
    "bert": [{"batch": 1, "length": 1}, {"batch": 3, "length": 7}, {"batch": 2, "length": 20}],
    "gpt2": [{"batch": 1, "length": 5, "past": 0}, {"batch": 2, "length": 1, "past": 6}, {"batch": 1, "length": 1, "past": 19}],
    "llama": [{"batch": 1, "length": 5, "past": 0}, {"batch": 2, "length": 1, "past": 6}, {"batch": 3, "length": 4, "past": 2}],
    "lstm": [{"batch": 1, "length": 1}, {"batch": 3, "length": 5}],
    "dlrm": [{"batch": 1}, {"batch": 5}, {"batch": 0}],
}


class Models(unittest.TestCase):
    def compare(self, name, main, graph, extents):
        inputs = build.arguments(graph, SEED, **extents)
        got = main(*inputs.values())
        got = got if isinstance(got, tuple) else (got,)
        expected = reference.evaluate(graph.nodes, {**graph.weights, **inputs}, graph.outputs)
        for array, (output, right) in zip(got, expected.items(), strict=True):
            with self.subTest(model=name, extents=extents, output=output, seed=SEED):
                self.assertEqual(array.shape, right.shape)
                # A deep network adds up roundings of what it sums.
                np.testing.assert_allclose(array, right, rtol=2e-4, atol=2e-4 * max(1, abs(right).max(initial=0)))

    def test_against_numpy(self):
        with tempfile.TemporaryDirectory() as folder:
            engine = pl.Engine(threads=2)
            for name in build.MODELS:
                graph = build.build(name, SEED, small=True)
                path = pathlib.Path(folder) / f"{name}.onnx"
                path.write_bytes(b"".join(graph.parts()))
                module = pl.load(path, engine=engine)
                for extents in CALLS.get(name, [{"batch": 1}, {"batch": 3}]):
                    self.compare(name, module.main, graph, extents)

    def test_scores_of_attention(self):
        """Whatever the extents, no dispatch writes a matrix of queries by keys for others."""
        for name in ("bert", "gpt2", "llama"):
            graph = build.build(name, SEED, small=True)
            report = pl.loads(b"".join(graph.parts()), f"{name}.onnx", engine=pl.Engine(threads=2)).explain()
            types = {binding["type"] for function in report["functions"] for dispatch in function["dispatches"] for binding in dispatch["bindings"]}
            self.assertTrue(any(type.startswith("memref<?x") and type.endswith("xf32>") for type in types), types)
            self.assertFalse([type for type in types if re.search(r"\?x\?(x1)?xf32>$", type) and type.count("x") > 3], name)

    def test_artifacts(self):
        """Of one source they are the same, each time and on any number of threads."""
        for name in ("efficientnet-lite", "gpt2", "lstm"):
            source = b"".join(build.build(name, SEED, small=True).parts())
            self.assertEqual(len({pl.Engine(threads=threads).compile(source, f"{name}.onnx") for threads in (1, 2, 2, 3)}), 1, name)

    def test_extents_of_their_own(self):
        """Code that is made for the extents of a call."""
        engine = pl.Engine(threads=1, specialization="on_request")
        for name in ("gpt2", "bert"):
            graph = build.build(name, SEED, small=True)
            module = pl.loads(b"".join(graph.parts()), f"{name}.onnx", engine=engine)
            extents = CALLS[name][1]
            module.main.specialize(*build.arguments(graph, SEED, **extents).values())
            self.compare(name, module.main, graph, extents)
            self.assertGreater(module.specializations()["calls"], 0)

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in build.MODELS:
                path = pathlib.Path(folder) / f"{name}.onnx"
                run = subprocess.run([sys.executable, "-B", str(MODELS / "build.py"), name, "--small", "-o", str(path)],
                                     capture_output=True, text=True)
                self.assertEqual(run.returncode, 0, run.stderr)
                self.assertEqual(path.read_bytes(), b"".join(build.build(name, small=True).parts()))


if __name__ == "__main__":
    unittest.main()
