"""The operations of a network of bytes, in either language.

Images are unsigned bytes with a scale and a zero point, 0 behind an activation; filters are signed bytes around 0; sums
have 32 bits. In ONNX these are QLinearConv, and DequantizeLinear and QuantizeLinear around what is computed in f32,
which ONNX Runtime makes operations on bytes of. In MLIR they are what they compute.
"""

import numpy as np

import graph

DEVIATIONS = 4.5  # of a value, beyond which it is cut off


class Graph(graph.Graph):
    """Values of bytes have `scale`, `zero` and `size`, about the root of their mean square."""

    def _bytes(self, value, scale, zero, size):
        value.scale, value.zero, value.size = np.float32(scale), zero, size
        return value

    def _scale_for(self, deviation, is_signed):
        return np.float32(DEVIATIONS * deviation / (127 if is_signed else 255))

    def _quantizing(self, scaled, zero):
        """Lines from a number of f32 in steps of the result's scale to its byte %r."""
        low, high, offset = (self._scalar(each) for each in (0.0, 255.0, float(zero)))
        return (f"%q0 = math.roundeven {scaled} : f32\n%q1 = arith.addf %q0, {offset} : f32\n"
                f"%q2 = arith.maximumf %q1, {low} : f32\n%q3 = arith.minimumf %q2, {high} : f32\n"
                "%r = arith.fptoui %q3 : f32 to i8")

    def _dequantizing(self, name, value):
        """Lines from a byte to %fNAME of f32."""
        zero, scale = self._scalar(value.zero, "i32"), self._scalar(value.scale)
        return (f"%u{name} = arith.extui %{name} : i8 to i32\n%z{name} = arith.subi %u{name}, {zero} : i32\n"
                f"%s{name} = arith.sitofp %z{name} : i32 to f32\n%f{name} = arith.mulf %s{name}, {scale} : f32\n")

    def _parameters(self, value):
        """Scale and zero point for ONNX."""
        return [self._constant(np.float32(value.scale).reshape(())), self._constant(np.uint8(value.zero).reshape(()))]

    def quantize(self, x, is_signed=True, deviation=1.0):
        scale, zero = self._scale_for(deviation, is_signed), 128 if is_signed else 0
        by = self._scalar(scale)
        value = self._map([x], f"%d = arith.divf %a0, {by} : f32\n" + self._quantizing("%d", zero), element="i8")
        self._bytes(value, scale, zero, deviation)
        self._node("QuantizeLinear", [x, *self._parameters(value)], value)
        return value

    def dequantize(self, x):
        value = self._map([x], self._dequantizing("a0", x) + "%r = arith.addf %fa0, %zero : f32")
        self._node("DequantizeLinear", [x, *self._parameters(x)], value)
        return value

    def quantized_convolution(self, x, filters, window, stride=1, is_activated=True, depthwise=False):
        """Of an image stored by channels, with a border that keeps its size, a bias, and relu unless told otherwise."""
        batch, channels, height, width = x.shape
        border, of_filter = window // 2, 1 if depthwise else channels
        floats = self.random.standard_normal([filters, of_filter, window, window]) * (2 / (of_filter * window**2)) ** 0.5
        weight_scale = np.float32(np.abs(floats).max() / 127)
        weight = self._weight(np.rint(floats / weight_scale).astype(np.int8), "i8")
        bias = self._weight(np.rint(self.random.standard_normal(filters) * 0.1 / (x.scale * weight_scale)).astype(np.int32),
                            "i32")
        deviation = 2**0.5 * x.size
        scale, zero = self._scale_for(deviation, not is_activated), 0 if is_activated else 128
        shape = (batch, filters, (height + 2 * border - window) // stride + 1, (width + 2 * border - window) // stride + 1)
        border_value = self._scalar(x.zero - 256 if x.zero > 127 else x.zero, "i8")
        none, offset = self._scalar(0, "i32"), self._scalar(x.zero, "i32")
        factor = "%a" if x.zero else "%u"
        channel = "d1" if depthwise else "d4"
        sums = self._generic(
            [self._padded(x, border, border_value), weight],
            [f"d0, {channel}, d2 * {stride} + d5, d3 * {stride} + d6", "d1, d4, d5, d6", "d0, d1, d2, d3"],
            self._filled(shape, none, "i32"), ["parallel"] * 4 + ["reduction"] * 3,
            "%u = arith.extui %a0 : i8 to i32\n" + (f"%a = arith.subi %u, {offset} : i32\n" if x.zero else "") +
            f"%w = arith.extsi %a1 : i8 to i32\n%p = arith.muli {factor}, %w : i32\n%r = arith.addi %o, %p : i32")
        by = self._scalar(x.scale * weight_scale / scale)
        value = self._map([sums, bias], "%b = arith.addi %a0, %a1 : i32\n%f = arith.sitofp %b : i32 to f32\n"
                                        f"%m = arith.mulf %f, {by} : f32\n" + self._quantizing("%m", zero), axis=1,
                          element="i8")
        self._bytes(value, scale, zero, x.size if is_activated else deviation)
        weight_zero = self._constant(np.int8(0).reshape(()))
        self._node("QLinearConv", [x, *self._parameters(x), weight, self._constant(weight_scale.reshape(())), weight_zero,
                                   *self._parameters(value), bias], value,
                   kernel_shape=[window] * 2, strides=[stride] * 2, pads=[border] * 4, group=channels if depthwise else 1)
        return value

    def quantized_add(self, a, b):
        """With relu."""
        size = (a.size**2 + b.size**2) ** 0.5
        scale = self._scale_for(size, False)
        by = self._scalar(scale)
        value = self._map([a, b], self._dequantizing("a0", a) + self._dequantizing("a1", b) +
                          "%t = arith.addf %fa0, %fa1 : f32\n%m = arith.maximumf %t, %zero : f32\n"
                          f"%d = arith.divf %m, {by} : f32\n" + self._quantizing("%d", 0), element="i8")
        self._bytes(value, scale, 0, size)
        names = [self._name() for _ in range(4)]
        self._node("DequantizeLinear", [a, *self._parameters(a)], [names[0]])
        self._node("DequantizeLinear", [b, *self._parameters(b)], [names[1]])
        self._node("Add", names[:2], [names[2]])
        self._node("Relu", [names[2]], [names[3]])
        self._node("QuantizeLinear", [names[3], *self._parameters(value)], value)
        return value

    def quantized_max_pool(self, x, window, stride):
        """Of bytes whose zero point is 0."""
        border = window // 2
        batch, channels, height, width = x.shape
        zero = self._scalar(0, "i8")
        shape = (batch, channels, (height + 2 * border - window) // stride + 1, (width + 2 * border - window) // stride + 1)
        value = self._generic(
            [self._padded(x, border, zero), self._empty((window, window), "i8")],
            [f"d0, d1, d2 * {stride} + d4, d3 * {stride} + d5", "d4, d5", "d0, d1, d2, d3"], self._filled(shape, zero, "i8"),
            ["parallel"] * 4 + ["reduction"] * 2, "%r = arith.maxui %o, %a0 : i8")
        self._bytes(value, x.scale, 0, 1.5 * x.size)
        self._node("MaxPool", [x], value, kernel_shape=[window] * 2, strides=[stride] * 2, pads=[border] * 4)
        return value

    def quantized_linear(self, x, features, is_activated=True):
        """Of rows of bytes."""
        rows, depth = x.shape
        floats = self.random.standard_normal([depth, features]) * (2 / depth) ** 0.5
        weight_scale = np.float32(np.abs(floats).max() / 127)
        weight = self._weight(np.rint(floats / weight_scale).astype(np.int8), "i8")
        deviation = 2**0.5 * x.size
        scale, zero = self._scale_for(deviation, not is_activated), 0 if is_activated else 128
        none, offset = self._scalar(0, "i32"), self._scalar(x.zero, "i32")
        sums = self._generic(
            [x, weight], ["d0, d2", "d2, d1", "d0, d1"], self._filled((rows, features), none, "i32"),
            ["parallel", "parallel", "reduction"],
            "%u = arith.extui %a0 : i8 to i32\n" + (f"%a = arith.subi %u, {offset} : i32\n" if x.zero else "") +
            f"%w = arith.extsi %a1 : i8 to i32\n%p = arith.muli {'%a' if x.zero else '%u'}, %w : i32\n"
            "%r = arith.addi %o, %p : i32")
        by = self._scalar(x.scale * weight_scale / scale)
        value = self._map([sums], f"%f = arith.sitofp %a0 : i32 to f32\n%m = arith.mulf %f, {by} : f32\n" +
                          self._quantizing("%m", zero), element="i8")
        self._bytes(value, scale, zero, x.size if is_activated else deviation)
        weight_zero = self._constant(np.int8(0).reshape(()))
        self._node("QLinearMatMul", [x, *self._parameters(x), weight, self._constant(weight_scale.reshape(())), weight_zero,
                                     *self._parameters(value)], value)
        return value
