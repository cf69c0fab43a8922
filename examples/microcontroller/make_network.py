#!/usr/bin/env python3
"""A network that hears one of twelve words in 49 frames of 10 coefficients, all in 8-bit integers, with weights made here.

  python3 make_network.py FOLDER

Writes the network (keywords.mlir), an input (input.h) and what NumPy makes of it (expected.h). The weights are random, so that the words
are, too: what counts is that every number of the result is the same.
"""
import pathlib
import sys

import numpy as np

ROWS, COLUMNS, CHANNELS, WORDS = 49, 10, 16, 12
SHIFT = 10


def conv(x, w, stride, depthwise):
    """Sums in 32 bits over windows of `x`, which has borders already: rows, columns, channels."""
    rows, columns = w.shape[:2]
    shape = ((x.shape[0] - rows) // stride + 1, (x.shape[1] - columns) // stride + 1, x.shape[2] if depthwise else w.shape[3])
    out = np.zeros(shape, np.int32)
    for i in range(shape[0]):
        for j in range(shape[1]):
            window = x[i * stride:i * stride + rows, j * stride:j * stride + columns].astype(np.int32)
            out[i, j] = np.einsum("rck,rck->k", window, w.astype(np.int32)) if depthwise else np.einsum("rck,rckf->f", window, w.astype(np.int32))
    return out


def requantise(x, bias, factor):
    """Sums to 8 bits: scaled, rounded, and nothing below zero."""
    scaled = ((x + bias) * factor + (1 << (SHIFT - 1))) >> SHIFT
    return np.clip(scaled, 0, 127).astype(np.int8)


def pad(x, rows, columns):
    return np.pad(x, (rows, columns, (0, 0)))


def dense(array, element):
    shape = "x".join(map(str, array.shape))
    return f'dense<"0x{np.ascontiguousarray(array).tobytes().hex().upper()}"> : tensor<{shape}x{element}>'


class Network:
    """Its text and what it computes, side by side."""

    def __init__(self, x):
        self.rng = np.random.default_rng(7)
        self.value, self.name = x, "%x"
        self.lines, self.count = [], 0

    def add(self, text):
        self.count += 1
        self.lines.append(f"  %v{self.count} = {text}")
        return f"%v{self.count}"

    def weights(self, *shape):
        return self.rng.integers(-40, 41, shape).astype(np.int8)

    def constant(self, array, element="i8"):
        return self.add(f"arith.constant {dense(array, element)}")

    def zeros(self, kind):
        empty = self.add(f"tensor.empty() : {kind}")
        return self.add(f"linalg.fill ins(%zero : i32) outs({empty} : {kind}) -> {kind}")

    def pad(self, rows, columns):
        r, c, k = self.value.shape
        self.value = pad(self.value, rows, columns)
        to = "x".join(map(str, self.value.shape))
        self.name = self.add(f"tensor.pad {self.name} low[0, {rows[0]}, {columns[0]}, 0] high[0, {rows[1]}, {columns[1]}, 0] {{\n"
                             f"  ^bb0(%a: index, %b: index, %c: index, %d: index):\n    tensor.yield %zero8 : i8\n"
                             f"  }} : tensor<1x{r}x{c}x{k}xi8> to tensor<1x{to}xi8>")

    def requantise(self):
        """Behind a bias of each channel."""
        *_, channels = self.value.shape
        bias = self.rng.integers(-500, 501, channels).astype(np.int32)
        spread = np.abs(self.value).max()
        factor = max(1, int(120 * (1 << SHIFT) / spread))
        shape = "x".join(map(str, self.value.shape))
        vector = self.constant(bias, "i32")
        empty = self.add(f"tensor.empty() : tensor<{shape}xi8>")
        dims = ", ".join(f"d{i}" for i in range(self.value.ndim))
        kinds = ", ".join(['"parallel"'] * self.value.ndim)
        self.name = self.add(f"""linalg.generic {{indexing_maps = [affine_map<({dims}) -> ({dims})>, affine_map<({dims}) -> (d{self.value.ndim - 1})>,
      affine_map<({dims}) -> ({dims})>], iterator_types = [{kinds}]}}
      ins({self.name}, {vector} : tensor<{shape}xi32>, tensor<{channels}xi32>) outs({empty} : tensor<{shape}xi8>) {{
  ^bb0(%s: i32, %b: i32, %o: i8):
    %factor = arith.constant {factor} : i32
    %half = arith.constant {1 << (SHIFT - 1)} : i32
    %shift = arith.constant {SHIFT} : i32
    %low = arith.constant 0 : i32
    %high = arith.constant 127 : i32
    %t0 = arith.addi %s, %b : i32
    %t1 = arith.muli %t0, %factor : i32
    %t2 = arith.addi %t1, %half : i32
    %t3 = arith.shrsi %t2, %shift : i32
    %t4 = arith.maxsi %t3, %low : i32
    %t5 = arith.minsi %t4, %high : i32
    %t6 = arith.trunci %t5 : i32 to i8
    linalg.yield %t6 : i8
  }} -> tensor<{shape}xi8>""")
        self.value = requantise(self.value, bias, factor)

    def convolve(self, rows, columns, filters, stride, depthwise=False):
        r, c, k = self.value.shape
        w = self.weights(rows, columns, k) if depthwise else self.weights(rows, columns, k, filters)
        self.value, before = conv(self.value, w, stride, depthwise), f"tensor<1x{r}x{c}x{k}xi8>"
        kind = f"tensor<1x{'x'.join(map(str, self.value.shape))}xi32>"
        op = "depthwise_conv_2d_nhwc_hwc" if depthwise else "conv_2d_nhwc_hwcf"
        weights, out = self.constant(w), self.zeros(kind)
        shape = "x".join(map(str, w.shape))
        self.name = self.add(f"linalg.{op} {{strides = dense<{stride}> : vector<2xi64>, dilations = dense<1> : vector<2xi64>}}\n"
                             f"      ins({self.name}, {weights} : {before}, tensor<{shape}xi8>) outs({out} : {kind}) -> {kind}")
        self.value = self.value[None]
        self.requantise()
        self.value = self.value[0]

    def flatten(self):
        r, c, k = self.value.shape
        self.name = self.add(f"tensor.collapse_shape {self.name} [[0, 1, 2], [3]] : tensor<1x{r}x{c}x{k}xi8> into tensor<{r * c}x{k}xi8>")
        self.value = self.value.reshape(r * c, k)

    def unflatten(self, r, c):
        k = self.value.shape[1]
        self.name = self.add(f"tensor.expand_shape {self.name} [[0, 1, 2], [3]] output_shape [1, {r}, {c}, {k}]\n"
                             f"      : tensor<{r * c}x{k}xi8> into tensor<1x{r}x{c}x{k}xi8>")
        self.value = self.value.reshape(r, c, k)

    def product(self, columns):
        """What the accelerator is for."""
        m, k = self.value.shape
        w = self.weights(k, columns)
        kind = f"tensor<{m}x{columns}xi32>"
        weights, out = self.constant(w), self.zeros(kind)
        self.name = self.add(f'linalg.matmul {{plim.device = "ethos-u55"}} ins({self.name}, {weights} : tensor<{m}x{k}xi8>, tensor<{k}x{columns}xi8>)\n'
                             f"      outs({out} : {kind}) -> {kind}")
        self.value = self.value.astype(np.int32) @ w.astype(np.int32)

    def sum_rows(self):
        m, k = self.value.shape
        out = self.zeros(f"tensor<{k}xi32>")
        self.name = self.add(f"""linalg.generic {{indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}} ins({self.name} : tensor<{m}x{k}xi8>) outs({out} : tensor<{k}xi32>) {{
  ^bb0(%a: i8, %s: i32):
    %w = arith.extsi %a : i8 to i32
    %t = arith.addi %w, %s : i32
    linalg.yield %t : i32
  }} -> tensor<{k}xi32>""")
        self.value = self.value.astype(np.int32).sum(axis=0)


def array_of(name, kind, values):
    return f"#include <stdint.h>\n\nstatic const {kind} {name}[{values.size}] = {{{', '.join(map(str, values.ravel()))}}};\n"


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    x = np.random.default_rng(3).integers(-100, 101, (ROWS, COLUMNS, 1)).astype(np.int8)
    net = Network(x)
    net.pad((4, 5), (1, 1))
    net.convolve(10, 4, CHANNELS, 2)
    r, c, _ = net.value.shape
    for _ in range(2):
        net.pad((1, 1), (1, 1))
        net.convolve(3, 3, None, 1, depthwise=True)
        net.flatten()
        net.product(CHANNELS)
        net.requantise()
        net.unflatten(r, c)
    net.flatten()
    net.sum_rows()
    net.requantise()
    net.name = net.add(f"tensor.expand_shape {net.name} [[0, 1]] output_shape [1, {CHANNELS}] : tensor<{CHANNELS}xi8> into tensor<1x{CHANNELS}xi8>")
    net.value = net.value[None]
    net.product(WORDS)
    body = "\n".join(net.lines)
    (folder / "keywords.mlir").write_text(f"""func.func @hear(%x: tensor<1x{ROWS}x{COLUMNS}x1xi8>) -> tensor<1x{WORDS}xi32> {{
  %zero = arith.constant 0 : i32
  %zero8 = arith.constant 0 : i8
{body}
  return {net.name} : tensor<1x{WORDS}xi32>
}}
""")
    (folder / "input.h").write_text(array_of("input", "int8_t", x))
    (folder / "expected.h").write_text(array_of("expected", "int32_t", net.value))


if __name__ == "__main__":
    main()
