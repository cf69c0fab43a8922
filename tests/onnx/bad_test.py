#!/usr/bin/python3
"""Models that are wrong: one message, nothing written, no crash. And random damage to the bytes of good ones.

    bad_test.py PLIMSOLL LIBRARY [--mutations N] [--seed N]
"""

import argparse
import ctypes
import os
import random
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from models import INT64, X, Y, attribute, graph, model, node, single, tensor, value  # noqa: E402
from protobuf import field  # noqa: E402

DATA = "/usr/share/libonnx-testdata/data"
options = None


class Wrong(unittest.TestCase):
    def check(self, data, *words):
        with tempfile.TemporaryDirectory() as folder:
            path, out = f"{folder}/bad.onnx", f"{folder}/out"
            with open(path, "wb") as file:
                file.write(data)
            run = subprocess.run([options.plimsoll, "import", path, "-o", out], capture_output=True, text=True, timeout=60)
            self.assertEqual(run.returncode, 1, run.stderr)
            self.assertEqual(run.stderr.count("\n"), 1, run.stderr)
            self.assertTrue(run.stderr.startswith(f"error: {path}: "), run.stderr)
            for word in words:
                self.assertIn(word, run.stderr)
            self.assertFalse(os.path.exists(out))

    def test_good(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/good.onnx", "wb") as file:
                file.write(single("Relu"))
            run = subprocess.run([options.plimsoll, "run", f"{folder}/good.onnx", "--input", "2x3xf32=-1,2,-3,4,-5,6"],
                                 capture_output=True, text=True, timeout=60)
            self.assertEqual(run.stdout, "result[0]: 2x3xf32=[[0, 2, 0], [4, 0, 6]]\n", run.stderr)

    def test_written(self):
        """What import writes runs as the model does, parameters and all."""
        weights = tensor("w", [600], raw=b"\0\0\x80\x3f" * 600)
        bytes_ = tensor("b", [2000], 2, raw=bytes(i % 251 for i in range(2000)))
        data = model(graph([node("Add", ["x", "w"], ["y"]), node("Cast", ["b"], ["z"], attribute("to", i=INT64))],
                           [value("x", [600])], [value("y", [600]), value("z", [2000], INT64)], [weights, bytes_]))
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/net.onnx", "wb") as file:
                file.write(data)
            def call(*arguments):
                return subprocess.run([options.plimsoll, *arguments], capture_output=True, text=True, timeout=60, check=True).stdout
            call("import", f"{folder}/net.onnx", "-o", f"{folder}/out/deep")
            self.assertEqual(sorted(os.listdir(f"{folder}/out/deep")), ["net.mlir", "net.safetensors"])
            with open(f"{folder}/out/deep/net.mlir", encoding="utf-8") as file:
                depth = 0
                for line in file.read().splitlines():  # indented by two blanks for each brace, as everybody writes MLIR
                    text = line.lstrip(" ")
                    depth -= text.startswith("}")
                    self.assertEqual(len(line) - len(text), 2 * (depth - text.startswith("^")) * bool(text), line)
                    depth += text.endswith("{")
                self.assertEqual(depth, 0)
            given = ["--input", "600xf32=2", "--print", "full"]
            self.assertEqual(call("run", f"{folder}/net.onnx", *given),
                             call("run", f"{folder}/out/deep/net.mlir", "--params", f"{folder}/out/deep/net.safetensors", *given))

    def test_truncated(self):
        whole = single("Relu")
        for size in (0, 1, 2, 10, len(whole) // 2, len(whole) - 1):
            self.check(whole[:size], "")

    def test_no_model(self):
        self.check(b"\x08\x07hello", "protobuf cannot read it")
        self.check(b"func.func @main() { return }", "protobuf cannot read it")

    def test_cycle(self):
        nodes = [node("Add", ["x", "b"], ["a"], name="first"), node("Relu", ["a"], ["b"], name="second")]
        self.check(model(graph(nodes, [X], [value("b", [2, 3])])), "'first'", "Add", "'b' is defined by nothing before it")

    def test_twice(self):
        nodes = [node("Relu", ["x"], ["y"], name="first"), node("Relu", ["x"], ["y"], name="second")]
        self.check(model(graph(nodes, [X], [Y])), "'second'", "'y' is defined twice")

    def test_output_of_nothing(self):
        self.check(model(graph([node("Relu", ["x"], ["z"])], [X], [Y])), "output 'y' is defined by nothing")

    def test_sparse(self):
        """GraphProto.sparse_initializer: one with values and indices."""
        data = graph([node("Relu", ["x"], ["y"])], [X], [Y]) + field(15, field(1, tensor("w", [1], raw=b"\0\0\x80\x3f")) + field(3, 6))
        self.check(model(data), "sparse initialisers are not supported")

    def test_operators(self):
        self.check(single("Frobnicate"), "'n'", "Frobnicate of opset 13", "not supported")
        self.check(single("Relu", domain="com.example"), "no opset of the domain 'com.example'")
        self.check(single("Foo", domain="com.example", domains=["com.example"]), "com.example.Foo of opset 1", "not supported")

    def test_opsets(self):
        self.check(single("Relu", opset=0), "opset 0 is none")
        self.check(field(1, 8) + field(7, graph([node("Relu", ["x"], ["y"])], [X], [Y])), "no opset")

    def test_attributes(self):
        self.check(single("Softmax", attribute("axis", f=0)), "'n'", "Softmax", "axis")
        self.check(single("Softmax", attribute("axis", i=7)), "axis 7 of a tensor of rank 2")
        self.check(single("Relu", attribute("colour", i=7)), "'n', Relu of opset 13", "attribute: colour for operator Relu\n")

    def test_choices(self):
        """A misspelt choice is not taken for the usual one."""
        image, output = value("x", [1, 4, 4, 4]), value("y", ["?"] * 4)
        others = {"i": value("i", [8], INT64), "f": value("f", [4]), "r": value("r", [1, 4]), "b": value("b", [1], INT64),
                  "s": value("s", [4, 4, 4]), "g": value("g", [1, 4, 4, 2]), "c": value("c", [1, 4, 4, 4], INT64)}
        for operator, name, inputs, *needed in (
                ("Pad", "mode", "xi"), ("Resize", "mode", "xff"), ("Resize", "nearest_mode", "xff"),
                ("Resize", "coordinate_transformation_mode", "xff"), ("DepthToSpace", "mode", "x", attribute("blocksize", i=2)),
                ("MaxPool", "auto_pad", "x", attribute("kernel_shape", ints=[2, 2])), ("Conv", "auto_pad", "xx"),
                ("ConvTranspose", "auto_pad", "xx"), ("LSTM", "direction", "sss", attribute("hidden_size", i=1)),
                ("GridSample", "mode", "xg"), ("GridSample", "padding_mode", "xg"), ("RoiAlign", "mode", "xrb"),
                ("ScatterElements", "reduction", "xcx")):
            with self.subTest(operator=operator, name=name):
                given = [image] + [each for key, each in others.items() if key in inputs]
                wrong = node(operator, list(inputs), ["y"], attribute(name, s=b"colour"), *needed)
                self.check(model(graph([wrong], given, [output]), 16), "'n'", operator, f"'{name}' is 'colour', none of '")

    def test_newer(self):
        """Operators that are newer than libonnx, which does not look at their nodes."""
        def ints(name, *numbers):
            return attribute(name, ints=list(numbers))
        def i64(name, *numbers):
            return tensor(name, [len(numbers)], INT64, raw=struct.pack(f"<{len(numbers)}q", *numbers))
        shapes = {"x": [1, 4, 5, 5], "z": [1, 4, 5, 5, 5], "g": [1, 2, 2, 2, 3], "d": ["a", "b"], "r": [1, 5], "c": [1, 12, 9], "t": [1, 2, 3], "w": [2, 4, 3, 3], "v": [2, 3, 3, 3], "o": [1, 18, 3, 3],
                  "e": [2, 4, "a", "b"], "l": [2, 4, 7, 3]}
        constants = {"1": [-1], "2": [2, 2], "3": [4, 4], "4": [1, 2, 3, 4], "5": [5, 4], "6": [1, 4], "7": [0, 2], "8": [1, 2, 3],
                     "9": [1, 2, 3, 4, 5]}
        wrong = (
            ("CenterCropPad", "x4", [attribute("colour", i=1)], "it has no attribute 'colour'"),
            ("CenterCropPad", "x2", [], "shape has 2 numbers, not 4"),
            ("CenterCropPad", "x2", [ints("axes", 1, -3)], "axis -3 is there twice"),
            ("CenterCropPad", "x1", [ints("axes", 1)], "shape has a negative extent"),
            ("CenterCropPad", "xn", [], "how many numbers there are must be known"),
            ("Col2Im", "x32", [], "a tensor of rank 4 has no columns"),
            ("Col2Im", "c3m", [], "block_shape must be known"),
            ("Col2Im", "c31", [], "image_shape has 2 numbers, block_shape 1"),
            ("Col2Im", "c52", [], "the columns do not fit image_shape"),
            ("Col2Im", "c95", [], "image_shape has 5 numbers, block_shape 2"),
            ("Col2Im", "c33", [], "the channels do not fit block_shape"),
            ("Col2Im", "c62", [], "a window is larger than the padded image"),
            ("Col2Im", "c37", [], "a window of 0 elements"),
            ("Col2Im", "c32", [ints("strides", 1)], "strides has 1 numbers, not 2"),
            ("AffineGrid", "t8", [], "but of images with two or three dimensions"),
            ("AffineGrid", "t9", [], "theta does not fit the size"),
            ("AffineGrid", "x4", [], "theta has rank 4, not 3"),
            ("DeformConv", "cwo", [], "but of images with two dimensions"),
            ("DeformConv", "xw", [], "input 2 is missing"),
            ("DeformConv", "xwx", [], "the shape of the offsets does not fit"),
            ("DeformConv", "xwo-x", [], "the shape of the mask does not fit"),
            ("DeformConv", "xvo", [], "the shape of the weights does not fit"),
            ("DeformConv", "xeo", [], "the extents of the weights must be known"),
            ("DeformConv", "xlo", [], "a window is larger than the padded tensor"),
            ("DeformConv", "xwo", [attribute("group", i=3)], "the channels do not fit the groups"),
            ("DeformConv", "xwo", [attribute("offset_group", i=0)], "group and offset_group must be at least 1"),
            ("DeformConv", "xwo", [attribute("offset_group", i=2)], "the shape of the offsets does not fit"),
            ("DeformConv", "xwo", [attribute("auto_pad", s=b"VALID")], "it has no attribute 'auto_pad'"),
            ("GridSample", "zg", [attribute("mode", s=b"cubic")], "cubic but of images with two dimensions"),
            ("GridSample", "zx", [], "the grid has rank 4, not 5"),
            ("GridSample", "cc", [], "but of images with two or three dimensions"),
            ("Resize", "d--3", [attribute("mode", s=b"linear"), attribute("antialias", i=1)], "with antialias by a scale that is not known"),
            ("Resize", "x--4", [attribute("keep_aspect_ratio_policy", s=b"colour")], "'keep_aspect_ratio_policy' is 'colour', none of '"),
            ("QuantizeLinear", "cg", [attribute("block_size", i=2)], "a scale or zero point"),
            ("QuantizeLinear", "cc", [attribute("block_size", i=2)], "a scale or zero point"),
            ("QuantizeLinear", "cc", [attribute("output_dtype", i=17)], "output_dtype has elements of type 17"),
            ("Relu", "x", [attribute("alpha", i=1)], "it has no attribute 'alpha' that is known"),
            ("QuantizeLinear", "cc", [attribute("blocks", i=2)], "it has no attribute 'blocks' that is known"),
            ("MaxRoiPool", "xr", [ints("pooled_shape", 2)], "pooled_shape must be two extents"),
            ("MaxRoiPool", "xt", [ints("pooled_shape", 2, 2)], "the image must have rank 4, and the regions rank 2"),
            ("MaxRoiPool", "xd", [ints("pooled_shape", 2, 2), attribute("spatial_scale", i=1)], "attribute 'spatial_scale' is of another type"))
        for operator, inputs, attributes, message in wrong:
            with self.subTest(operator=operator, message=message):
                given = [value(key, shapes[key]) for key in sorted(set(inputs)) if key in shapes]
                given += [value(key, dims, INT64) for key, dims in (("m", [2]), ("n", ["n"])) if key in inputs]
                known = [i64(key, *constants[key]) for key in sorted(set(inputs)) if key in constants]
                names = ["" if key == "-" else key for key in inputs]
                self.check(model(graph([node(operator, names, ["y"], *attributes)], given, [value("y", ["?"] * 4)], known), 20),
                           f"'n', {operator} of opset 20: ", message)

    def test_contrib(self):
        """What ONNX Runtime's operators must not have, or must not ask for."""
        def i(name, number=1):
            return attribute(name, i=number)
        heads, groups, blocks = i("num_heads", 2), i("kv_num_heads", 1), (i("K", 32), i("N", 4), i("block_size", 32))
        def text(name, content):
            return attribute(name, s=content)
        cases = (
            ("BeamSearch", "x", [], "not supported"),
            ("Attention", "xw", [], "the attribute 'num_heads' is missing"),
            ("BiasGelu", "xb", [attribute("alpha", f=1.0)], "it has no attribute 'alpha'"),
            ("BiasGelu", "x", [], "it has 1 inputs, not 2"),
            ("FastGelu", "xbb", [], "it has 3 inputs, not 1 to 2"),
            ("QLinearConcat", "x", [i("axis", 0)], "it has 1 inputs, not 3 or more"),
            ("QuickGelu", "x", [i("alpha")], "attribute 'alpha' is of another type"),
            ("BiasSoftmax", "xb", [i("is_inner_broadcast", 3)], "is_inner_broadcast is 3, neither 0 nor 1"),
            ("BiasDropout", "xb--t", [], "in training mode"),
            ("Attention", "xw", [heads, i("do_rotary")], "with do_rotary = 1"),
            ("Attention", "xw", [heads, i("past_present_share_buffer")], "with past_present_share_buffer = 1"),
            ("Attention", "xw----n", [heads], "with the input 'past_sequence_length'"),
            ("Attention", "xw-l", [heads], "with a list that is neither as long as the batch nor twice as long"),
            ("Attention", "xw-m", [heads], "with a mask of rank 4"),
            ("Attention", "xw", [i("num_heads", 0)], "num_heads is 0"),
            ("Attention", "xw", [i("num_heads", 3)], "4 elements are not 3 heads"),
            ("QAttention", "xwbss", [heads, i("do_rotary")], "with do_rotary = 1"),
            ("MultiHeadAttention", "x", [heads], "keys or values are missing"),
            ("MultiHeadAttention", "xxx-----n", [heads], "with the input 'past_sequence_length'"),
            ("MultiHeadAttention", "xxx------n", [heads], "with the input 'cache_indirection'"),
            ("MultiHeadAttention", "xxx---m", [heads], "past_key and past_value come together"),
            ("GroupQueryAttention", "xkk--nn", [heads, i("kv_num_heads", 3)], "2 heads are not 3 groups of as many"),
            ("GroupQueryAttention", "xk---nn", [heads, groups], "key and value come together"),
            ("GroupQueryAttention", "xkk--nn", [heads, groups, i("sliding_window_cache")], "with sliding_window_cache = 1"),
            ("GroupQueryAttention", "xkk--nn", [heads, groups, i("kv_cache_bit_width", 8)], "with kv_cache_bit_width = 8"),
            ("GroupQueryAttention", "xkk--nn", [heads, groups, text("k_quant_type", b"PER_TENSOR")], "with k_quant_type = PER_TENSOR"),
            ("GroupQueryAttention", "xkk--nn", [heads, groups, text("v_quant_type", b"colour")], "'v_quant_type' is 'colour', none of '"),
            ("GroupQueryAttention", "xkk--nn-----s", [heads, groups], "with the input 'k_scale'"),
            ("GroupQueryAttention", "xkk--nn------s", [heads, groups], "with the input 'v_scale'"),
            ("GroupQueryAttention", "xkk--nn", [heads, groups, i("qk_output", 3)], "qk_output is 3, none of 0 to 2"),
            ("GroupQueryAttention", "xkk--nn", [heads, groups, i("causal", 0), i("local_window_size", 3)], "does not go with causal = 0"),
            ("RotaryEmbedding", "xpww", [i("is_packed_batching")], "with is_packed_batching = 1"),
            ("RotaryEmbedding", "xpww", [attribute("scale", f=2.0)], "with a scale of 2"),
            ("RotaryEmbedding", "xpww", [], "the angles do not fit the input"),
            ("RotaryEmbedding", "xxww", [], "position_ids of rank 3"),
            ("RotaryEmbedding", "xpoo", [], "with heads whose number is not known"),
            ("RotaryEmbedding", "opww", [], "with heads whose number is not known"),
            ("RotaryEmbedding", "xpee", [], "with heads whose number is not known"),
            ("RotaryEmbedding", "xpww", [i("num_heads", -1), i("rotary_embedding_dim", 24)], "the angles do not fit the input"),
            ("MatMulNBits", "xus", [*blocks, i("bits", 3)], "of 3 bits"),
            ("MatMulNBits", "xus", [*blocks, i("weight_prepacked")], "with weight_prepacked = 1"),
            ("MatMulNBits", "xus", [*blocks, i("accuracy_level", 5)], "accuracy_level is 5, none of 0 to 4"),
            ("MatMulNBits", "xus", [i("K", 32), i("N", 4), i("block_size", 24)], "block_size is 24, no power of 2"),
            ("MatMulBnb4", "xus", [*blocks, i("quant_type", 2)], "quant_type is 2, neither 0 nor 1"),
            ("GatherBlockQuantized", "uis", [i("gather_axis")], "along axis 1"),
            ("GatherBlockQuantized", "xis", [], "of float"),
            ("CDist", "ww", [text("metric", b"cosine")], "with the metric 'cosine'"),
            ("CDist", "ww", [text("metric", b"colour")], "'metric' is 'colour', none of '"),
            ("FusedConv", "xk", [text("activation", b"colour")], "activation 'colour'"),
            ("FusedGemm", "ww", [text("activation", b"colour"), i("transB")], "activation 'colour'"),
            ("CropAndResize", "mwii", [text("mode", b"colour")], "'mode' is 'colour', none of '"),
            ("GridSample", "mm", [text("mode", b"colour")], "'mode' is 'colour', none of '"),
            ("Pad", "xi", [text("mode", b"colour")], "'mode' is 'colour', none of '"),
            ("DynamicQuantizeLSTM", "xxx-----ssss", [text("direction", b"colour")], "'direction' is 'colour', none of '"),
            ("GroupNorm", "mbb", [i("groups", 3), i("activation", 0)], "4 channels are not 3 groups of as many"),
            ("GroupNorm", "mbb", [i("groups", 2), i("activation", 2)], "activation is 2, neither 0 nor 1"),
            ("EmbedLayerNormalization", "wiww-bb", [], "segment_ids and segment_embedding come together"),
            ("EmbedLayerNormalization", "w-ww-bb", [i("mask_index_type", 2)], "mask_index_type is 2, neither 0 nor 1"),
            ("MatMulIntegerToFloat", "uubs", [], "with several scales of A"),
            ("QGemm", "uszusz-s", [], "y_scale and y_zero_point come together"),
            ("ExpandDims", "xn", [], "along an axis that is not known"),
            ("Unique", "x", [], "a tensor of rank 3 is no list"),
            ("UnfoldTensor", "x", [i("size", 9)], "a window of 9 of 4 elements"),
            ("IsAllFinite", "x", [i("isinf_only"), i("isnan_only")], "exclude each other"),
            ("MurmurHash3", "u", [], "of uint8"),
            ("QLinearWhere", "uuszuszsz", [], "the condition is of uint8"),
            ("QLinearConcat", "szuszmsz", [i("axis", 0)], "cannot be joined along axis 0"),
            ("SkipLayerNormalization", "bxb", [], "tensor<2x3x4xf32> stands where tensor<4xf32> is needed"),
            ("MoE", "xrx-x", [i("use_sparse_mixer")], "with use_sparse_mixer = 1"),
            ("MoE", "xrx-x", [text("activation_type", b"colour")], "'activation_type' is 'colour', none of '"),
            ("MoE", "xrx-x", [text("activation_type", b"swiglu")], "fc3_experts_weights is missing"),
            ("QMoE", "xwuw-u", [text("quant_type", b"fp4")], "with quant_type = fp4"),
            ("QMoE", "xwuw-u", [i("weights_prepacked")], "with weights_prepacked = 1"),
            ("QMoE", "xwuw-u", [i("expert_weight_bits", 5)], "of 5 bits"),
            ("QMoE", "xwuw-u---------s", [], "with the input 'fc1_global_scale'"),
            ("QMoE", "xruw-ux", [], "weights or scales of experts of other ranks"),
            ("QMoE", "xrcx-cx", [], "weights or scales of experts of other ranks"),
            ("QMoE", "xrcw-cw", [i("block_size", 16)], "weights or scales of experts of other ranks"),
            ("QMoE", "xrdw-dw", [], "weights or scales of experts of other ranks"),
            ("LinearAttention", "xxx", [i("q_num_heads"), groups, i("state_window", 2)], "with state_window = 2"),
            ("LinearAttention", "xxx", [i("q_num_heads"), groups, text("update_rule", b"colour")], "'update_rule' is 'colour', none of '"),
            ("LinearAttention", "xxx", [i("q_num_heads"), groups], "the input 'decay' is missing"),
            ("CausalConvWithState", "xx", [i("ndim", 2)], "with ndim = 2"),
            ("CausalConvWithState", "xx", [text("activation", b"colour")], "'activation' is 'colour', none of '"),
            ("MRotaryEmbedding", "xpww", [attribute("mrope_section", ints=[1, 1])], "three positions of all tokens are needed"),
            ("ConvTransposeWithDynamicPads", "mmi", [], "with a padding that is not known"),
            ("BifurcationDetector", "iii", [i("min_ngram_size", 5)], "n-grams of 5 to 3 tokens"))
        letters = {"x": value("x", [2, 3, 4]), "k": value("k", [2, 3, 2]), "w": value("w", [4, 12]), "b": value("b", [4]), "s": value("s", []),
                   "l": value("l", [5], 6), "m": value("m", [2, 4, 4, 4]), "n": value("n", ["q"], 6), "u": value("u", [4, 4], 2),
                   "z": value("z", [], 2), "i": value("i", [2], 6), "p": value("p", [2, 3], INT64), "t": value("t", [], 9), "r": value("r", [6, 3]),
                   "o": value("o", ["b", "s", "h"]), "e": value("e", [4, 0]),
                   "c": value("c", [3, 8, 4], 2), "d": value("d", [3, 8, "d"], 2)}
        for operator, inputs, attributes, message in cases:
            with self.subTest(operator=operator, message=message):
                given = [letters[each] for each in sorted(set(inputs) - {"-"})]
                wrong = node(operator, [each.replace("-", "") for each in inputs], ["y"], *attributes, domain="com.microsoft")
                self.check(model(graph([wrong], given, [value("y", ["?"])]), 17, ["com.microsoft"]), "'n'", f"com.microsoft.{operator}", message)

    def test_newer(self):
        """Operators of ONNX's own domain that libonnx does not know."""
        def i(name, number=1):
            return attribute(name, i=number)
        heads = i("q_num_heads", 2), i("kv_num_heads", 1)
        cases = (
            ("Attention", "qkk", [], "the attribute 'q_num_heads' is missing"),
            ("Attention", "qkk", heads[:1], "the attribute 'kv_num_heads' is missing"),
            ("Attention", "qk", heads, "it has 2 inputs, not 3 to 7"),
            ("Attention", "qkk", [*heads, i("unidirectional")], "it has no attribute 'unidirectional'"),
            ("Attention", "qkk", [*heads, i("scale")], "attribute 'scale' is of another type"),
            ("Attention", "qkk", [*heads, attribute("scale", f=-1.0)], "scale is less than 0"),
            ("Attention", "qkk", [*heads, i("is_causal", 2)], "is_causal is 2, neither 0 nor 1"),
            ("Attention", "qkk", [*heads, i("qk_matmul_output_mode", 4)], "qk_matmul_output_mode is 4, none of 0 to 3"),
            ("Attention", "qkk", [*heads, i("softmax_precision", 7)], "softmax_precision is 7, no type of floats"),
            ("Attention", "qkk", [i("q_num_heads", 3), i("kv_num_heads", 1)], "4 elements are not 3 heads"),
            ("Attention", "qkk", [i("q_num_heads"), i("kv_num_heads", 2)], "1 heads are not 2 groups of as many"),
            ("Attention", "hhh", [i("q_num_heads", 3)], "stands where tensor<2x3x4x4xf32> is needed"),
            ("Attention", "qkh", heads, "must all have rank 3, or all rank 4"),
            ("Attention", "qqk", [i("q_num_heads"), i("kv_num_heads")], "stands where"),
            ("Attention", "iii", heads, "with queries, keys or values of int64"),
            ("Attention", "qkd", heads, "with queries, keys or values of double beside others"),
            ("Attention", "qkkv", heads, "attn_mask of rank 1"),
            ("Attention", "qkkl", heads, "attn_mask has more columns than there are keys"),
            ("Attention", "qkkw", heads, "attn_mask fits no scores"),
            ("Attention", "qkk-p", heads, "past_key and past_value come together"),
            ("Attention", "qkk-qq", heads, "past_key of rank 3"),
            ("Attention", "qkk-hh", heads, "cannot be joined along axis 2"),
            ("Attention", "qkk---v", heads, "since opset 24"),
            ("Attention24", "qkk-ppv", heads, "nonpad_kv_seqlen does not go with past_key"),
            ("Attention24", "qkk---n", heads, "nonpad_kv_seqlen of rank 2"),
            ("RotaryEmbedding", "qtt", [], "the attribute 'num_heads' is missing"),
            ("RotaryEmbedding", "wtt", [], "an input of rank 2"),
            ("RotaryEmbedding", "qtt", [i("num_heads", 3)], "4 elements are not 3 heads"),
            ("RotaryEmbedding", "qtt", [i("num_heads", 2)], "the angles do not fit the input"),
            ("RotaryEmbedding", "qttn", [i("num_heads")], "cos_cache and sin_cache must have rank 2"),
            ("RotaryEmbedding", "qwwv", [i("num_heads")], "position_ids of rank 1"),
            ("RotaryEmbedding", "qxx", [i("num_heads")], "without position_ids cos_cache and sin_cache must have rank 3"),
            ("RotaryEmbedding", "qtt", [i("num_heads"), i("rotary_embedding_dim", 2)], "the angles do not fit the input"),
            ("RotaryEmbedding", "qtt", [i("num_heads"), i("rotary_embedding_dim", -2)], "rotary_embedding_dim is -2"),
            ("RotaryEmbedding", "quu", [i("num_heads")], "stands where tensor<2x3x2xf32> is needed"),
            ("RotaryEmbedding", "qtt", [i("num_heads"), attribute("scale", f=1.0)], "it has no attribute 'scale'"),
            ("Attention17", "qkk", heads, "this operator is there since opset 23"),
            ("RotaryEmbedding17", "qtt", [i("num_heads")], "this operator is there since opset 23"))
        letters = {"q": value("q", [2, 3, 4]), "k": value("k", [2, 5, 2]), "h": value("h", [2, 2, 4, 4]), "p": value("p", [2, 1, 4, 2]),
                   "i": value("i", [2, 3, 4], INT64), "d": value("d", [2, 5, 2], 11), "v": value("v", [2], INT64), "n": value("n", [2, 3], INT64),
                   "w": value("w", [2, 5]), "x": value("x", [9, 2]), "l": value("l", [3, 6]), "t": value("t", [2, 3, 2]), "u": value("u", [2, 4, 2])}
        for operator, inputs, attributes, message in cases:
            with self.subTest(operator=operator, message=message):
                given = [letters[each] for each in sorted(set(inputs) - {"-"})]
                name = operator.rstrip("0123456789")
                opset = int(operator[len(name):] or 23)
                wrong = node(name, [each.replace("-", "") for each in inputs], ["y", "", "", "z"] if "mode" in message else ["y"], *attributes)
                self.check(model(graph([wrong], given, [value("y", ["?"])]), opset), "'n'", f" {name} of opset {opset}", message)

    def test_sequences(self):
        body = attribute("body", g=graph([node("Add", ["a", "b"], ["c"])], [value("a", [2, 3]), value("b", [2, 3])], [value("c", [2, 3])]))
        def made(count, name):
            return node("SequenceConstruct", ["x"] * count, [name])
        for nodes, message in (
                ([made(2, "s"), made(1, "t"), node("SequenceMap", ["s", "t"], ["r"], body)], "its sequences have different lengths"),
                ([made(1, "s"), node("SequenceMap", ["x", "s"], ["r"], body)], "input 0 is no sequence"),
                ([node("Optional", [], ["y"])], "that is empty"), ([node("OptionalGetElement", [], ["y"])], "the optional value is empty")):
            with self.subTest(message=message):
                self.check(model(graph([*nodes, node("Identity", ["x"], ["z"])], [X], [value("z", [2, 3])]), 18), "'n'", message)
        longer = graph([made(1, "s"), made(2, "t"), node("SequenceMap", ["s", "t"], ["r"], body), node("SequenceLength", ["r"], ["y"])], [X], [value("y", [], INT64)])
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/net.onnx", "wb") as file:
                file.write(model(longer, 18))
            run = subprocess.run([options.plimsoll, "import", f"{folder}/net.onnx", "-o", f"{folder}/out"], capture_output=True, text=True, timeout=60)
            self.assertEqual(run.returncode, 0, run.stderr)

    def test_windows(self):
        for name, numbers in (("strides", [0, 1]), ("dilations", [1, -1]), ("output_padding", [-1, 0])):
            image, wrong = value("x", [1, 4, 4, 4]), node("ConvTranspose", ["x", "x"], ["y"], attribute(name, ints=numbers))
            self.check(model(graph([wrong], [image], [value("y", ["?"] * 4)])), "'n'", "ConvTranspose", f"{name} has {min(numbers)}")

    def test_inputs(self):
        self.check(single("Add"), "'n'", "Add")
        self.check(single("Add", inputs=("x", "x2"), given=(X, value("x2", [2, 4]))), "extents of 3 and 4 cannot be broadcast")
        self.check(single("MatMul", inputs=("x", "x")), "cannot be multiplied")

    def test_types(self):
        whole = value("x", [2, 3], INT64)
        self.check(single("Exp", given=(whole,)), "'n'", "Exp", "of int64: it needs floats")
        self.check(single("Add", inputs=("x", "x2"), given=(X, value("x2", [2, 3], INT64))), "float and int64 together")

    def test_shapes(self):
        w = tensor("w", [1 << 40, 1 << 40], raw=b"1234")
        self.check(single("Add", inputs=("x", "w"), initialisers=[w]), "'w' has too many elements")
        w = tensor("w", [2, 3], raw=b"1234")
        self.check(single("Add", inputs=("x", "w"), initialisers=[w]), "'w' has 4 bytes, but its shape needs 24")
        w = tensor("w", [(1 << 64) - 3], raw=b"1234")
        self.check(single("Add", inputs=("x", "w"), initialisers=[w]), "'w' has an extent of -3")
        shape = tensor("s", [2], INT64, raw=(5).to_bytes(8, "little") + (7).to_bytes(8, "little"))
        self.check(single("Reshape", inputs=("x", "s"), initialisers=[shape]), "'n'", "Reshape", "6 elements")

    def test_external_data(self):
        def external(**entries):
            w = tensor("w", [2, 3], external=entries)
            return single("Add", inputs=("x", "w"), initialisers=[w])
        self.check(external(location="weights.bin"), "weights.bin", "No such file")
        self.check(external(location="../weights.bin"), "not a path below")
        self.check(external(location="/etc/passwd"), "not a path below")
        self.check(external(location="bad.onnx", offset="100000"), "ends before")
        self.check(external(location="bad.onnx", length="3"), "needs 24")
        self.check(external(location="bad.onnx", offset="-1"), "offset is '-1'")

    def test_strings(self):
        self.check(single("Identity", given=(value("x", [2, 3], 8),)), "'x' has strings")

    def test_sub_graphs(self):
        condition = value("c", [], 9)
        inner = graph([node("Relu", ["nowhere"], ["z"], name="inner")], [], [value("z", [2, 3])])
        bad = single("If", attribute("then_branch", g=inner), attribute("else_branch", g=inner), inputs=("c",), given=(X, condition))
        self.check(bad, "'inner'", "Relu", "'nowhere' is defined by nothing before it")
        deep = graph([node("Relu", ["x"], ["z"])], [], [value("z", [2, 3])])
        for _ in range(70):
            deep = graph([node("If", ["c"], ["z"], attribute("then_branch", g=deep))], [], [value("z", [2, 3])])
        self.check(model(graph([node("If", ["c"], ["z"], attribute("then_branch", g=deep))], [X, condition], [value("z", [2, 3])])),
                   "nested")

    def test_functions(self):
        body = field(1, b"F") + field(4, b"a") + field(5, b"b") + field(7, node("F", ["a"], ["b"], domain="own")) \
            + field(9, field(1, b"own") + field(2, 1)) + field(10, b"own")
        self.check(single("F", domain="own", domains=["own"]) + field(25, body), "call each other")


class Damage(unittest.TestCase):
    """No message is looked at: the process must live, and end in time."""

    def test_random(self):
        library = ctypes.CDLL(options.library)
        library.plim_onnx_import.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p)]
        library.plim_onnx_message.argtypes = [ctypes.c_void_p]
        library.plim_onnx_message.restype = ctypes.c_char_p
        library.plim_onnx_free.argtypes = [ctypes.c_void_p]
        cases = sorted(f"{DATA}/{kind}/{name}/model.onnx" for kind in ("node", "simple", "pytorch-converted", "pytorch-operator")
                       for name in os.listdir(f"{DATA}/{kind}"))
        print(f"seed {options.seed}", file=sys.stderr)
        numbers = random.Random(options.seed)
        codes = [0] * 4
        for _ in range(options.mutations):
            path = numbers.choice(cases)
            with open(path, "rb") as file:
                data = bytearray(file.read())
            for _ in range(numbers.choice((1, 1, 1, 2, 5))):
                at = numbers.randrange(len(data))
                how = numbers.randrange(4)
                if how == 0:
                    data[at] ^= 1 << numbers.randrange(8)
                elif how == 1:
                    data[at] = numbers.randrange(256)
                elif how == 2:
                    del data[at:at + numbers.randrange(1, 9)]
                else:
                    data[at:at] = bytes(numbers.randrange(256) for _ in range(numbers.randrange(1, 5)))
                if not data:
                    data = bytearray(1)
            with open(options.last, "wb") as file:  # what to look at if this process ends here
                file.write(data)
            made = ctypes.c_void_p()
            code = library.plim_onnx_import(bytes(data), len(data), b".", ctypes.byref(made))
            codes[code] += 1
            if code == 3:
                print(path, library.plim_onnx_message(made), file=sys.stderr)
            library.plim_onnx_free(made)
        print(f"imported {codes[0]}, wrong {codes[1]}, not supported {codes[2]}, faults {codes[3]}", file=sys.stderr)
        self.assertEqual(codes[3], 0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("plimsoll")
    parser.add_argument("library")
    parser.add_argument("--mutations", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--last", default=os.path.join(tempfile.gettempdir(), f"onnx-damaged-{os.getpid()}.onnx"))
    options, rest = parser.parse_known_args()
    result = unittest.main(argv=[sys.argv[0], *rest], exit=False).result
    if os.path.exists(options.last):
        os.remove(options.last)
    sys.exit(0 if result.wasSuccessful() else 1)
