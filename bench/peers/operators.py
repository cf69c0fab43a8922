"""Single operators of ONNX beside ONNX Runtime, over families of shapes: the worst rows first.

A model of one operator has known extents, and results that the caller gives. Unlike the rows of files.py, each does one thing, so that
what is slow in a whole model has a name here. Small ones measure the call as well: rows of ten microseconds say little.
"""

import argparse
import itertools
import json
import os
import pathlib
import re
import sys
import tempfile

import numpy as np

import models
import onnx_runtime
import plimsoll as pl

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "examples" / "models"))
import onnx_graph

ROWS = {}  # name: a function of a graph that adds what is measured, and gives the names of its results and which have no sign


def row(name, operator, *inputs, constants=(), outputs=1, unsigned=(), **attributes):
    """An operator. Inputs are shapes, of f32 between -1 and 1, or arrays; constants are arrays or shapes of random weights.
    `unsigned` are the results without a sign, which arrays of ours do not know."""
    def build(graph, arguments, random):
        names = []
        for each in inputs:
            if isinstance(each, tuple):
                each = random.uniform(-1, 1, each).astype(np.float32)
            names.append(graph.input(f"x{len(names)}", each.shape, each.dtype.name))
            arguments[names[-1]] = each
        for each in constants:
            names.append(each if isinstance(each, str) else
                         graph.weight(f"w{len(names)}", *each) if isinstance(each, tuple) else graph.constant(each))
        results = graph.op(operator, *names, outputs=outputs, **attributes)
        graph.untyped = [results] if outputs == 1 else results
        return graph.untyped, unsigned

    assert name not in ROWS, name
    ROWS[name] = build


def shape(extents):
    return "x".join(map(str, extents))


def ints(*values):
    return np.array(values, np.int64)


def elementwise():
    for operator in ("Relu", "Sigmoid", "Tanh", "Exp", "Erf", "Softplus", "HardSwish", "Elu", "Abs", "Floor", "Round", "Sin", "Cos",
                     "Atan", "Asinh", "Sign", "Reciprocal", "LeakyRelu"):
        row(f"{operator} 1000x1000", operator, (1000, 1000))
    positive = np.random.default_rng(1).uniform(0.1, 2, (1000, 1000)).astype(np.float32)
    for operator in ("Log", "Sqrt"):
        row(f"{operator} 1000x1000", operator, positive)
    row("Pow 1000x1000", "Pow", positive, (1000, 1000))
    for operator in ("Add", "Mul", "Div", "Max"):
        row(f"{operator} 1000x1000", operator, (1000, 1000), (1000, 1000))
    for left, right in (((1000, 1000), (1000,)), ((1000, 1000), (1000, 1)), ((1000, 1), (1000,)), ((1, 64, 56, 56), (64, 1, 1)),
                        ((1, 56, 56, 64), (64,)), ((64, 1, 1000), (1, 32, 1000)), ((100000, 3), (3,)), ((3, 100000), (3, 1)),
                        ((100, 1, 100), (100, 100, 1))):
        row(f"Add {shape(left)} + {shape(right)}", "Add", left, right)
    for element in ("int32", "int64", "uint8", "float64"):
        low = np.random.default_rng(2).integers(1, 100, (1000, 1000)).astype(element)
        if element != "float64":
            row(f"Mod 1000x1000 {element}", "Mod", low, np.ascontiguousarray(low.T), unsigned=[0] * (element == "uint8"))
        if element != "uint8":
            row(f"Mul 1000x1000 {element}", "Mul", low, np.ascontiguousarray(low.T))
        row(f"Equal 1000x1000 {element}", "Equal", low, np.ascontiguousarray(low.T))
        row(f"Cast 1000x1000 {element} to f32", "Cast", low, to=1)
    for to, name in ((6, "i32"), (7, "i64"), (2, "u8"), (11, "f64"), (10, "f16"), (9, "bool")):
        row(f"Cast 1000x1000 f32 to {name}", "Cast", (positive * 50), unsigned=[0] * (to == 2), to=to)
    row("Where 1000x1000", "Where", positive > 1, (1000, 1000), (1000, 1000))
    row("Clip 1000x1000", "Clip", (1000, 1000), constants=(np.float32(-0.5), np.float32(0.5)))
    row("PRelu 1x64x56x56", "PRelu", (1, 64, 56, 56), constants=((64, 1, 1),))


def reductions():
    shapes = (((1000, 1000), (1,)), ((1000, 1000), (0,)), ((1000, 1000), (0, 1)), ((100, 100, 100), (1,)), ((100, 100, 100), (0, 2)),
              ((300000, 3), (1,)), ((3, 300000), (0,)), ((3, 300000), (1,)), ((1, 64, 56, 56), (2, 3)), ((1, 56, 56, 64), (1, 2)),
              ((1000, 7, 7, 13), (1, 2)), ((64, 1000, 16), (1,)))
    for extents, axes in shapes:
        for operator in ("ReduceMean", "ReduceMax"):
            row(f"{operator} {shape(extents)} over {shape(axes)}", operator, extents, axes=list(axes))
    for operator in ("ReduceL2", "ReduceLogSumExp", "ReduceProd", "ReduceSumSquare", "ReduceMin"):
        row(f"{operator} 1000x1000 over 1", operator, (1000, 1000), axes=[1])
    for axis in (0, 1, 2):
        row(f"Softmax 100x100x100 over {axis}", "Softmax", (100, 100, 100), axis=axis)
        row(f"ArgMax 100x100x100 over {axis}", "ArgMax", (100, 100, 100), axis=axis)
        row(f"CumSum 100x100x100 over {axis}", "CumSum", (100, 100, 100), constants=(ints(axis).reshape(()),))
    for extents in ((1000, 1000), (100000, 10), (10, 50257), (12, 128, 128)):
        row(f"Softmax {shape(extents)}", "Softmax", extents, axis=-1)
        row(f"LogSoftmax {shape(extents)}", "LogSoftmax", extents, axis=-1)
    row("ArgMax 10x50257", "ArgMax", (10, 50257), axis=-1)
    for extents, k in (((100, 1000), 1), ((100, 1000), 5), ((10, 50257), 50), ((1, 50257), 50), ((1000, 100), 100), ((10, 10000), 5000)):
        row(f"TopK {shape(extents)}, {k}", "TopK", extents, constants=(ints(k),), outputs=2)
    row("LayerNormalization 128x768", "LayerNormalization", (128, 768), constants=((768,), (768,)))
    row("LayerNormalization 10000x32", "LayerNormalization", (10000, 32), constants=((32,), (32,)))
    row("InstanceNormalization 1x64x56x56", "InstanceNormalization", (1, 64, 56, 56), constants=((64,), (64,)))
    row("LRN 1x64x56x56", "LRN", (1, 64, 56, 56), size=5)
    row("LpNormalization 1000x1000", "LpNormalization", (1000, 1000), axis=1)
    row("MeanVarianceNormalization 4x16x56x56", "MeanVarianceNormalization", (4, 16, 56, 56))


def layouts():
    for extents, order in (((1000, 1000), (1, 0)), ((2048, 2048), (1, 0)), ((1, 64, 56, 56), (0, 2, 3, 1)), ((1, 56, 56, 64), (0, 3, 1, 2)),
                           ((1, 3, 224, 224), (0, 2, 3, 1)), ((1, 224, 224, 3), (0, 3, 1, 2)), ((128, 12, 64), (1, 0, 2)),
                           ((12, 128, 64), (0, 2, 1)), ((100, 100, 100), (2, 1, 0)), ((100, 100, 100), (1, 2, 0)), ((100000, 3), (1, 0)),
                           ((3, 100000), (1, 0)), ((2, 3, 4, 5, 6, 7, 8), (6, 4, 2, 0, 1, 3, 5))):
        row(f"Transpose {shape(extents)} by {shape(order)}", "Transpose", extents, perm=list(order))
    bytes_of = np.random.default_rng(3).integers(0, 255, (1, 224, 224, 3)).astype(np.uint8)
    row("Transpose 1x224x224x3 by 0x3x1x2, u8", "Transpose", bytes_of, unsigned=[0], perm=[0, 3, 1, 2])
    row("Transpose 1000x1000 by 1x0, f64", "Transpose", np.ones((1000, 1000)), perm=[1, 0])
    for axis in (0, 1, 2):
        row(f"Concat three 64x64x64 along {axis}", "Concat", (64, 64, 64), (64, 64, 64), (64, 64, 64), axis=axis)
        row(f"Split 96x96x96 along {axis}", "Split", (96, 96, 96), axis=axis, outputs=3)
        row(f"Gather 100x100x100 along {axis}", "Gather", (100, 100, 100),
            np.random.default_rng(4).integers(0, 100, (100,)), axis=axis)
        row(f"GatherElements 100x100x100 along {axis}", "GatherElements", (100, 100, 100),
            np.random.default_rng(5).integers(0, 100, (100, 100, 100)), axis=axis)
        row(f"ScatterElements 100x100x100 along {axis}", "ScatterElements", (100, 100, 100),
            np.ascontiguousarray(np.random.default_rng(6).permuted(np.broadcast_to(np.arange(100).reshape(
                [-1 if i == axis else 1 for i in range(3)]), (100, 100, 100)), axis=axis)), (100, 100, 100), axis=axis)
    row("Concat 100000x1 three times along 1", "Concat", (100000, 1), (100000, 1), (100000, 1), axis=1)
    row("Split 100000x3 along 1", "Split", (100000, 3), axis=1, outputs=3)
    row("Gather 30000x768, 512 rows", "Gather", (30000, 768), np.random.default_rng(7).integers(0, 30000, (512,)), axis=0)
    row("Gather 100000x4, 100000 rows", "Gather", (100000, 4), np.random.default_rng(7).integers(0, 100000, (100000,)), axis=0)
    row("GatherND 100x100x64", "GatherND", (100, 100, 64), np.random.default_rng(8).integers(0, 100, (5000, 2)))
    row("ScatterND 1000x64, 500 rows", "ScatterND", (1000, 64),
        np.random.default_rng(9).permutation(1000)[:500].reshape(-1, 1).astype(np.int64), (500, 64))
    row("OneHot 1000 of 1000", "OneHot", np.random.default_rng(10).integers(0, 1000, (1000,)),
        constants=(ints(1000).reshape(()), np.array([0, 1], np.float32)))
    for begins, ends, axes, steps in (((1,), (99,), (2,), (1,)), ((0,), (100,), (2,), (2,)), ((0,), (100,), (0,), (2,)),
                                      ((-1,), (-101,), (2,), (-1,)), ((-1,), (-101,), (0,), (-1,)), ((1, 1, 1), (99, 99, 99), (0, 1, 2), (1, 1, 1))):
        row(f"Slice 100x100x100 {begins} {ends} {axes} {steps}", "Slice", (100, 100, 100),
            constants=(ints(*begins), ints(*ends), ints(*axes), ints(*steps)))
    for mode in ("constant", "reflect", "edge"):
        row(f"Pad 1x32x100x100 by 1, {mode}", "Pad", (1, 32, 100, 100), constants=(ints(0, 0, 1, 1, 0, 0, 1, 1),), mode=mode)
        row(f"Pad 1x100x100x32 by 1, {mode}", "Pad", (1, 100, 100, 32), constants=(ints(0, 1, 1, 0, 0, 1, 1, 0),), mode=mode)
    row("Tile 100x100 by 10x10", "Tile", (100, 100), constants=(ints(10, 10),))
    row("Tile 1000x3 by 1x100", "Tile", (1000, 3), constants=(ints(1, 100),))
    row("Expand 1000x1 to 1000x1000", "Expand", (1000, 1), constants=(ints(1000, 1000),))
    row("DepthToSpace 1x64x56x56", "DepthToSpace", (1, 64, 56, 56), blocksize=2)
    row("DepthToSpace 1x64x56x56, CRD", "DepthToSpace", (1, 64, 56, 56), blocksize=2, mode="CRD")
    row("SpaceToDepth 1x16x112x112", "SpaceToDepth", (1, 16, 112, 112), blocksize=2)
    row("Trilu 1000x1000", "Trilu", (1000, 1000))
    row("NonZero 1000x1000", "NonZero", (np.random.default_rng(11).uniform(0, 1, (1000, 1000)) > 0.5).astype(np.float32))
    for mode, more in (("nearest", {"nearest_mode": "floor", "coordinate_transformation_mode": "asymmetric"}), ("nearest", {}),
                       ("linear", {}), ("linear", {"coordinate_transformation_mode": "align_corners"}), ("cubic", {})):
        for scale in (2.0, 0.5, 1.5):
            row(f"Resize 1x32x64x64 by {scale}, {mode} {more.get('coordinate_transformation_mode', '')}".rstrip(), "Resize", (1, 32, 64, 64),
                constants=("", np.array([1, 1, scale, scale], np.float32)), mode=mode, **more)
    row("GridSample 1x16x64x64", "GridSample", (1, 16, 64, 64), (1, 64, 64, 2))


def products():
    for m, k, n in ((512, 512, 512), (100, 100, 100), (1, 1000, 1000), (1000, 1000, 1), (1000, 1000, 2), (1000, 1000, 3), (1000, 1000, 5),
                    (2, 1000, 1000), (7, 1000, 1000), (1000, 3, 1000), (1000, 1, 1000), (1000, 64, 3), (3, 64, 1000), (31, 33, 35), (1000, 17, 333),
                    (3, 100000, 3), (197, 768, 768), (10000, 8, 8), (16, 16, 16), (64, 64, 64)):
        row(f"MatMul {m}x{k}x{n}", "MatMul", (m, k), (k, n))
        row(f"MatMul {m}x{k}x{n}, weights", "MatMul", (m, k), constants=((k, n),))
    for batch, m, k, n in ((12, 128, 64, 128), (12, 128, 128, 64), (12, 1, 64, 256), (12, 1, 256, 64), (1000, 4, 4, 4), (1000, 8, 8, 8),
                           (100, 3, 3, 100), (1000, 1, 64, 1), (64, 31, 17, 23)):
        row(f"MatMul {batch}x{m}x{k}x{n}", "MatMul", (batch, m, k), (batch, k, n))
    row("MatMul 64x17x32 by 32x48", "MatMul", (64, 17, 32), (32, 48))
    for left in (0, 1):
        for right in (0, 1):
            for m, k, n in ((256, 256, 256), (1000, 500, 3), (3, 500, 1000), (1, 1000, 1000)):
                row(f"Gemm {m}x{k}x{n}, {'t' * left or 'n'}{'t' * right or 'n'}", "Gemm", (k, m) if left else (m, k), (n, k) if right else (k, n),
                    constants=((n,),), transA=left, transB=right)
    for equation, shapes in (("bij,bjk->bik", ((12, 64, 64), (12, 64, 64))), ("bhid,bhjd->bhij", ((1, 12, 128, 64), (1, 12, 128, 64))),
                             ("ij,ij->i", ((1000, 1000), (1000, 1000))), ("i,j->ij", ((1000,), (1000,))), ("bij,bj->bi", ((100, 100, 100), (100, 100))),
                             ("abcd,bd->ac", ((10, 20, 30, 40), (20, 40)))):
        row(f"Einsum {equation}", "Einsum", *shapes, equation=equation)
    signed = np.random.default_rng(12).integers(0, 255, (256, 512)).astype(np.uint8)
    weights = np.random.default_rng(13).integers(-128, 127, (512, 512)).astype(np.int8)
    row("MatMulInteger 256x512x512", "MatMulInteger", signed, constants=(weights,))
    row("MatMulInteger 256x512x512, zero points", "MatMulInteger", signed, constants=(weights, np.uint8(128), np.int8(0)))
    row("MatMulInteger 1x512x512, zero points", "MatMulInteger", signed[:1].copy(), constants=(weights, np.uint8(128), np.int8(0)))
    scale, zero = np.float32(0.02), np.uint8(128)
    row("QLinearMatMul 256x512x512", "QLinearMatMul", signed, constants=(scale, zero, weights, scale, np.int8(0), np.float32(5), zero), unsigned=[0])


def convolutions():
    for image, filters, window, more in (
            ((1, 3, 224, 224), 64, (7, 7), {"strides": [2, 2], "pads": [3] * 4}), ((1, 3, 224, 224), 32, (3, 3), {"strides": [2, 2], "pads": [1] * 4}),
            ((1, 64, 56, 56), 64, (3, 3), {"pads": [1] * 4}), ((1, 64, 56, 56), 256, (1, 1), {}), ((1, 256, 56, 56), 64, (1, 1), {}),
            ((1, 512, 7, 7), 512, (3, 3), {"pads": [1] * 4}), ((1, 256, 1, 1), 256, (3, 3), {"pads": [1] * 4}), ((1, 960, 1, 1), 240, (1, 1), {}),
            ((1, 64, 112, 112), 1, (3, 3), {"pads": [1] * 4}), ((1, 64, 112, 112), 2, (1, 1), {}), ((1, 1, 112, 112), 1, (3, 3), {"pads": [1] * 4}),
            ((1, 1, 112, 112), 16, (3, 3), {"pads": [1] * 4}), ((1, 3, 112, 112), 3, (1, 1), {}), ((1, 3, 112, 112), 3, (11, 11), {"pads": [5] * 4}),
            *(((1, 256, 33, 33), 64, (3, 3), {"pads": [apart] * 4, "dilations": [apart, apart]}) for apart in (6, 12, 18)),
            ((1, 64, 56, 56), 64, (3, 3), {"pads": [2] * 4, "dilations": [2, 2]}), ((1, 64, 56, 56), 64, (1, 7), {"pads": [0, 3, 0, 3]}),
            ((1, 64, 56, 56), 64, (7, 1), {"pads": [3, 0, 3, 0]}), ((8, 16, 28, 28), 32, (5, 5), {}), ((1, 13, 31, 29), 17, (3, 3), {"pads": [1] * 4}),
            ((1, 32, 56, 56), 32, (3, 3), {"pads": [1] * 4, "group": 32}), ((1, 96, 112, 112), 96, (3, 3), {"pads": [1] * 4, "strides": [2, 2], "group": 96}),
            ((1, 240, 28, 28), 240, (5, 5), {"pads": [2] * 4, "group": 240}), ((1, 96, 56, 56), 96, (7, 7), {"pads": [3] * 4, "group": 96}),
            ((1, 96, 56, 56), 96, (7, 7), {"pads": [3] * 4, "strides": [2, 2], "group": 96}), ((1, 960, 7, 7), 960, (3, 3), {"pads": [1] * 4, "group": 960}),
            ((1, 128, 28, 28), 128, (3, 3), {"pads": [1] * 4, "group": 32}), ((1, 64, 28, 28), 128, (3, 3), {"pads": [1] * 4, "group": 2}),
            ((1, 32, 28, 28), 64, (3, 3), {"pads": [1] * 4, "group": 32}), ((1, 64, 7, 7), 64, (3, 3), {"pads": [1] * 4, "group": 16}),
            ((1, 128, 1000), 128, (3,), {"pads": [1] * 2}), ((1, 1, 16000), 32, (400,), {"strides": [160]}), ((1, 64, 1000), 64, (9,), {"pads": [4] * 2, "group": 64}),
            ((1, 512, 100), 512, (1,), {}), ((1, 8, 16, 32, 32), 16, (3, 3, 3), {"pads": [1] * 6}), ((1, 1, 16, 64, 64), 8, (3, 3, 3), {"pads": [1] * 6})):
        groups = more.get("group", 1)
        row(f"Conv {shape(image)} by {filters}x{shape(window)} " + " ".join(f"{key}={value[0] if isinstance(value, list) else value}"
                                                                             for key, value in more.items()),
            "Conv", image, constants=((filters, image[1] // groups, *window), (filters,)), kernel_shape=list(window), **more)
    for image, filters, window, more in (((1, 64, 56, 56), 64, (3, 3), {"pads": [1] * 4}), ((1, 64, 56, 56), 256, (1, 1), {}),
                                         ((1, 96, 56, 56), 96, (3, 3), {"pads": [1] * 4, "group": 96}),
                                         ((1, 3, 224, 224), 32, (3, 3), {"pads": [1] * 4, "strides": [2, 2]}), ((1, 16, 112, 112), 96, (1, 1), {}),
                                         ((1, 320, 7, 7), 1280, (1, 1), {}), ((1, 64, 28, 28), 128, (3, 3), {"pads": [1] * 4, "group": 2})):
        data = np.random.default_rng(14).integers(0, 255, image).astype(np.uint8)
        weights = np.random.default_rng(15).integers(-127, 127, (filters, image[1] // more.get("group", 1), *window)).astype(np.int8)
        scale, zero = np.float32(0.02), np.uint8(128)
        named = f"{shape(image)} by {filters}x{shape(window)} " + " ".join(more)
        row(f"ConvInteger {named}", "ConvInteger", data, constants=(weights, zero), kernel_shape=list(window), **more)
        row(f"QLinearConv {named}", "QLinearConv", data, constants=(scale, zero, weights, scale, np.int8(0), np.float32(5), zero), unsigned=[0],
            kernel_shape=list(window), **more)
    for image, filters, window, more in (((1, 64, 28, 28), 32, (2, 2), {"strides": [2, 2]}), ((1, 64, 28, 28), 32, (4, 4), {"strides": [2, 2], "pads": [1] * 4}),
                                         ((1, 32, 56, 56), 32, (3, 3), {"pads": [1] * 4}), ((1, 32, 56, 56), 1, (4, 4), {"strides": [2, 2], "pads": [1] * 4, "group": 32}),
                                         ((1, 64, 200), 32, (16,), {"strides": [8], "pads": [4] * 2})):
        row(f"ConvTranspose {shape(image)} by {filters}x{shape(window)} " + " ".join(more), "ConvTranspose", image,
            constants=((image[1], filters, *window),), kernel_shape=list(window), **more)
    for operator in ("MaxPool", "AveragePool"):
        for image, window, more in (((1, 64, 112, 112), (3, 3), {"strides": [2, 2], "pads": [1] * 4}), ((1, 64, 56, 56), (2, 2), {"strides": [2, 2]}),
                                    ((1, 64, 56, 56), (3, 3), {"pads": [1] * 4}), ((1, 192, 28, 28), (5, 5), {"pads": [2] * 4}),
                                    ((1, 512, 7, 7), (7, 7), {}), ((1, 64, 1000), (3,), {"strides": [2]}), ((1, 64, 10000), (1000,), {"strides": [1000]}),
                                    ((1, 512, 20, 20), (13, 13), {"pads": [6] * 4}), ((1, 16, 16, 28, 28), (2, 2, 2), {"strides": [2] * 3})):
            row(f"{operator} {shape(image)} by {shape(window)} " + " ".join(f"{key}={value[0]}" for key, value in more.items()), operator, image,
                kernel_shape=list(window), **more)
    row("DynamicQuantizeLinear 1000x1000", "DynamicQuantizeLinear", (1000, 1000), outputs=3, unsigned=[0, 2])
    row("QuantizeLinear 1000x1000", "QuantizeLinear", (1000, 1000), constants=(np.float32(0.01), np.uint8(128)), unsigned=[0])
    row("DequantizeLinear 1000x1000", "DequantizeLinear", np.random.default_rng(16).integers(0, 255, (1000, 1000)).astype(np.uint8),
        constants=(np.float32(0.01), np.uint8(128)))
    row("GlobalAveragePool 1x512x7x7", "GlobalAveragePool", (1, 512, 7, 7))
    row("GlobalAveragePool 1x64x112x112", "GlobalAveragePool", (1, 64, 112, 112))
    row("GlobalMaxPool 1x1280x7x7", "GlobalMaxPool", (1, 1280, 7, 7))
    row("LSTM 32x1x128", "LSTM", (32, 1, 128), constants=((1, 512, 128), (1, 512, 128)), outputs=3, hidden_size=128)
    row("GRU 32x4x64, both ways", "GRU", (32, 4, 64), constants=((2, 192, 64), (2, 192, 64)), outputs=2, hidden_size=64,
        direction="bidirectional")


def weights_of_few_bits():
    # The peer multiplies them with floats, or with bytes that it makes of those, at level 4, which exporters of language models ask for.
    for (rows, k, n), level in itertools.product(((1, 2048, 2048), (1, 4096, 4096), (1, 2048, 8192), (8, 2048, 2048), (128, 2048, 2048)), (1, 4)):
        random = np.random.default_rng(17)
        numbers, scales = random.integers(0, 256, (n, k // 32, 16)).astype(np.uint8), (random.random((n, k // 32)) / 1000).astype(np.float32)
        row(f"MatMulNBits {rows}x{k}x{n}" + (" of bytes" if level == 4 else ""), "com.microsoft.MatMulNBits", (rows, k), constants=(numbers, scales),
            K=k, N=n, bits=4, block_size=32, accuracy_level=level)


def attention():
    def heads(name, operator, rows, keys, count, of_keys, past=0, **attributes):
        # A cache has room for all keys.
        new, kept = [(1, rows, 64 * each) for each in (count, of_keys)], (1, of_keys, keys if past else 0, 64)
        inputs = [new[0], new[1], new[1]] if not attributes.get("kv_num_heads") else [
            new[0], new[1], new[1], kept, kept, np.array([keys - 1], np.int32), np.array(keys, np.int32)]
        row(f"{operator} {name}", f"com.microsoft.{operator}", *inputs, num_heads=count,
            outputs=3 if attributes.get("kv_num_heads") else 1, **attributes)

    for rows in (128, 1024, 4096):
        heads(f"12x{rows}x64", "MultiHeadAttention", rows, rows, 12, 12)
        heads(f"12x{rows}x64, causal", "MultiHeadAttention", rows, rows, 12, 12, unidirectional=1)
        heads(f"12x{rows}x64, 4 of keys", "GroupQueryAttention", rows, rows, 12, 4, kv_num_heads=4)
    for rows, past in ((1, 1023), (1, 8191), (64, 4032)):
        heads(f"12x{rows}x64, 4 of keys, {past} before", "GroupQueryAttention", rows, rows + past, 12, 4, past, kv_num_heads=4)


for family in (elementwise, reductions, layouts, products, convolutions, weights_of_few_bits, attention):
    family()


def measure(given, library, name, threads, folder):
    random = np.random.default_rng(given.seed)
    graph, inputs = onnx_graph.Graph(given.seed), {}
    results, unsigned = ROWS[name](graph, inputs, random)
    path = folder / "model.onnx"
    with open(path, "wb") as file:
        for part in graph.parts():
            file.write(part)
    engine = pl.Engine(threads=threads)
    main, values = pl.load(path, engine=engine)["main"], list(inputs.values())
    got = main(*values)
    out = tuple(np.empty_like(each) for each in (got if isinstance(got, tuple) else (got,)))
    expected = {each: np.empty_like(array) for each, array in zip(results, out)}
    for i in unsigned:
        expected[results[i]] = expected[results[i]].view(f"u{out[i].dtype}")
    target = out if len(out) > 1 else out[0]
    ours = lambda: main(*values, out=target)
    peers = onnx_runtime.Session(library, path, threads).bind(inputs, expected)
    ours(), peers()
    for each, wanted in zip(out, expected.values()):
        each = each.view(wanted.dtype)
        tolerance = models.TOLERANCE_OF_BYTES if "of bytes" in name else models.TOLERANCE
        if not np.allclose(each, wanted, tolerance, tolerance):
            raise ValueError(f"differs by {np.abs(each.astype(np.float64) - wanted).max()}")
    return models.figures(models.race((ours, peers), given.rounds))


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("peer", help="libonnxruntime.so.1")
    parser.add_argument("--filter", "--benchmark_filter", default="", help="a regular expression for names of rows")
    parser.add_argument("--threads", type=int, nargs="*", default=sorted({1, min(2, os.cpu_count())}))
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(3), "little"))
    parser.add_argument("--json", help="a file for the results")
    given = parser.parse_args()
    library, rows = onnx_runtime.Library(given.peer), {}
    print(f"ONNX Runtime {library.version}, plimsoll {pl.__version__}, seed {given.seed}; microseconds")
    for name, threads in itertools.product(ROWS, given.threads):
        if not re.search(given.filter, name):
            continue
        full = f"{name}, {threads} thread{'s'[:threads != 1]}"
        with tempfile.TemporaryDirectory() as folder:
            try:
                rows[full] = measure(given, library, name, threads, pathlib.Path(folder))
            except (RuntimeError, ValueError, pl.Error) as error:
                print(f"{full}: {error}", flush=True)
    print(f"{'':68} {'ours':>9} {'peer':>9} {'ratio':>6} spread")
    for name, each in sorted(rows.items(), key=lambda item: item[1]["ratio"]):
        print(f"{name:68} {each['ours_median'] * 1e6:9.1f} {each['peer_median'] * 1e6:9.1f} {each['ratio']:6.2f} {each['spread']:6.0%}")
    if given.json:
        with open(given.json, "w", encoding="utf-8") as file:
            json.dump({"seed": given.seed, "unit": "seconds", "peer": library.version, "benchmarks": rows}, file, indent=1)


if __name__ == "__main__":
    main()
