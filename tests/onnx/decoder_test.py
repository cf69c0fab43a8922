#!/usr/bin/python3
"""A small language model as ONNX Runtime's GenAI builder writes it: weights of 4 bits, grouped heads, a cache that grows or has room.

Needs build/python in PYTHONPATH. Beside NumPy, and beside ONNX Runtime where its library is.
"""

import os
import sys
import unittest

import numpy as np
import plimsoll as pl

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import onnxruntime  # noqa: E402
from contrib_attention import angles, joined, rotated  # noqa: E402
from contrib_cases import sigmoid, softmax  # noqa: E402
from contrib_dense import rms_norm  # noqa: E402
from contrib_products import packed  # noqa: E402
from models import FLOAT, INT32, INT64, attribute, graph, model, node, tensor, value  # noqa: E402
from protobuf import TYPES, field  # noqa: E402

LAYERS, WIDTH, INNER, HEADS, GROUPS, DEPTH, WORDS, POSITIONS, BLOCK = 2, 64, 96, 4, 2, 16, 50, 40, 32
KINDS = {np.dtype(kind): number for number, kind in TYPES.items()}


class Decoder:
    """The graph while it is written, with what NumPy needs of it."""

    def __init__(self, random):
        self.random, self.nodes, self.constants, self.weights = random, [], [], {}
        self.cos, self.sin = angles(random, POSITIONS, DEPTH // 2)
        self.constant("cos", self.cos)
        self.constant("sin", self.sin)
        self.write()

    def constant(self, name, array):
        self.constants.append(tensor(name, array.shape, KINDS[array.dtype], raw=array.tobytes()))
        return name

    def op(self, operator, inputs, *attributes, outputs=1, domain="com.microsoft"):
        name = f"v{len(self.nodes)}"
        names = [name] + [f"{name}_{i}" for i in range(1, outputs)]
        self.nodes.append(node(operator, inputs, names, *attributes, name=name, domain=domain))
        return name if outputs == 1 else names

    def onnx(self, operator, inputs, *attributes):
        return self.op(operator, inputs, *attributes, domain="")

    def linear(self, name, x, inner, outer):
        q = self.random.integers(0, 16, (outer, inner))
        scale = (self.random.random((outer, inner // BLOCK)) / 40 + 0.01).astype(np.float32)
        self.weights[name] = (q - 8) * np.repeat(scale, BLOCK, 1).astype(np.float64)
        self.constant(f"{name}.q", packed(q, 4).reshape(outer, inner // BLOCK, -1))
        self.constant(f"{name}.s", scale)
        return self.op("MatMulNBits", [x, f"{name}.q", f"{name}.s"], attribute("K", i=inner), attribute("N", i=outer), attribute("bits", i=4),
                       attribute("block_size", i=BLOCK))

    def norm(self, name, x, skip=None):
        self.weights[name] = (self.random.random(WIDTH) + 0.5).astype(np.float32)
        self.constant(name, self.weights[name])
        epsilon = attribute("epsilon", f=1e-6)
        if skip is None:
            return self.onnx("SimplifiedLayerNormalization", [x, name], attribute("axis", i=-1), attribute("stash_type", i=1), epsilon), x
        y = f"{name}.y"
        self.nodes.append(node("SkipSimplifiedLayerNormalization", [x, skip, name], [y, "", "", f"{name}.sum"], epsilon, name=f"{name}.sum",
                               domain="com.microsoft"))
        return y, f"{name}.sum"

    def write(self):
        table = self.random.standard_normal((WORDS, WIDTH)).astype(np.float32)
        self.weights["words"] = table
        one = self.constant("one", np.int64([1]))
        length = self.onnx("Gather", [self.onnx("Shape", ["attention_mask"]), self.constant("at", np.int64(1))], attribute("axis", i=0))
        total = self.onnx("Cast", [length], attribute("to", i=INT32))
        count = self.onnx("ReduceSum", ["attention_mask", one], attribute("keepdims", i=0))
        ends = self.onnx("Cast", [self.onnx("Sub", [count, one])], attribute("to", i=INT32))
        x = self.onnx("Gather", [self.constant("words", table), "input_ids"])
        y, x = self.norm("norm", x)
        outputs = []
        for layer in range(LAYERS):
            qkv = self.linear(f"{layer}.qkv", y, WIDTH, (HEADS + 2 * GROUPS) * DEPTH)
            past = [f"past.{layer}.{each}" for each in ("key", "value")]
            out, *present = self.op("GroupQueryAttention", [qkv, "", "", *past, ends, total, "cos", "sin"], attribute("num_heads", i=HEADS),
                                    attribute("kv_num_heads", i=GROUPS), attribute("do_rotary", i=1), attribute("scale", f=DEPTH ** -0.5), outputs=3)
            outputs += present
            y, x = self.norm(f"{layer}.norm", x, self.linear(f"{layer}.out", out, HEADS * DEPTH, WIDTH))
            gate, up = (self.linear(f"{layer}.{each}", y, WIDTH, INNER) for each in ("gate", "up"))
            inner = self.onnx("Mul", [self.onnx("Mul", [gate, self.onnx("Sigmoid", [gate])]), up])
            y, x = self.norm(f"{layer}.last", x, self.linear(f"{layer}.down", inner, INNER, WIDTH))
        logits = self.linear("logits", y, WIDTH, WORDS)
        cache = ["batch", GROUPS, "past", DEPTH]
        inputs = [value("input_ids", ["batch", "length"], INT64), value("attention_mask", ["batch", "total"], INT64)]
        inputs += [value(f"past.{layer}.{each}", cache, FLOAT) for layer in range(LAYERS) for each in ("key", "value")]
        self.outputs = [logits, *outputs]
        self.data = model(graph(self.nodes, inputs, [field(1, name.encode()) for name in self.outputs], self.constants), 17, ["com.microsoft"])

    def reference(self, ids):
        """Logits of all tokens of sequences that have no cache."""
        w = self.weights
        x = w["words"][ids].astype(np.float64)
        y = rms_norm(x, 1e-6)[0] * w["norm"]
        length = ids.shape[1]
        angle = [each[:length][None] for each in (self.cos, self.sin)]
        for layer in range(LAYERS):
            qkv = (y @ w[f"{layer}.qkv"].T).reshape(*ids.shape, -1, DEPTH)
            q, k, v = np.split(qkv, [HEADS, HEADS + GROUPS], 2)
            q, k = rotated(q, *angle, False), rotated(k, *angle, False)
            q, k, v = (each.transpose(0, 2, 1, 3) for each in (q, k, v))
            k, v = (np.repeat(each, HEADS // GROUPS, 1) for each in (k, v))
            scores = q @ k.swapaxes(-1, -2) * DEPTH ** -0.5 + np.where(np.arange(length) > np.arange(length)[:, None], -np.inf, 0)
            x = x + joined(softmax(scores) @ v) @ w[f"{layer}.out"].T
            y = rms_norm(x, 1e-6)[0] * w[f"{layer}.norm"]
            gate = y @ w[f"{layer}.gate"].T
            x = x + (gate * sigmoid(gate) * (y @ w[f"{layer}.up"].T)) @ w[f"{layer}.down"].T
            y = rms_norm(x, 1e-6)[0] * w[f"{layer}.last"]
        return y @ w["logits"].T


class Generating(unittest.TestCase):
    def test_generation(self):
        """A prompt of two sequences, then one token after the other, with a cache of its length and with one that has room."""
        seed = int.from_bytes(os.urandom(3), "little")
        random = np.random.default_rng(seed)
        decoder = Decoder(random)
        main = pl.loads(decoder.data, name="decoder.onnx", engine=pl.Engine(threads=1)).main
        path = onnxruntime.path()
        peer = onnxruntime.Reference(path) if path else None
        names = ["input_ids", "attention_mask", *(f"past.{layer}.{each}" for layer in range(LAYERS) for each in ("key", "value"))]
        for room in (0, 20):
            ids = random.integers(0, WORDS, (2, 5))
            cache = [np.zeros((2, GROUPS, room, DEPTH), np.float32) for _ in range(2 * LAYERS)]
            given = ids
            for step in range(4):
                with self.subTest(seed=seed, room=room, step=step):
                    arguments = [given, np.ones(ids.shape, np.int64), *cache]
                    logits, *after = (np.asarray(each) for each in main(*arguments))
                    want = decoder.reference(ids)[:, -given.shape[1]:]
                    np.testing.assert_allclose(logits, want, rtol=2e-3, atol=2e-3)
                    self.assertEqual(after[0].shape[2], max(room, ids.shape[1]))
                    if peer:
                        theirs = peer.run(decoder.data, dict(zip(names, arguments)), decoder.outputs)
                        np.testing.assert_allclose(logits, theirs[0], rtol=2e-3, atol=2e-3)
                        for ours, other in zip(after, theirs[1:]):
                            np.testing.assert_allclose(ours[:, :, :ids.shape[1]], other[:, :, :ids.shape[1]], rtol=2e-3, atol=2e-3)
                cache, given = after, want[:, -1:].argmax(-1)
                ids = np.concatenate([ids, given], 1)


if __name__ == "__main__":
    unittest.main()
