"""One description of a model, written twice: as MLIR and as ONNX, with the same weights.

The MLIR is what a front end writes: named operations of linalg where there is one, else linalg.generic.
Weights are parameters of the module there and initialisers in ONNX. All is f32 but what quantized.py adds,
all extents are known.
"""

import math
import pathlib
import sys

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "examples" / "models"))
import onnx_file


def type_of(shape, element="f32"):
    return f"tensor<{''.join(f'{extent}x' for extent in shape)}{element}>"


def reassociation(shape, other):
    """Of the extents of `shape`, which are merged, split, or both, to those of `other`; groups of both."""
    groups, i, j = [], 0, 0
    while i < len(shape) and j < len(other):
        left, right, many, few = [i], [j], shape[i], other[j]
        while many != few:
            if many < few:
                i += 1
                left.append(i)
                many *= shape[i]
            else:
                j += 1
                right.append(j)
                few *= other[j]
        groups.append((left, right))
        i, j = i + 1, j + 1
    return groups


class Value:
    def __init__(self, name, shape, element="f32"):
        self.name, self.shape, self.element = name, tuple(shape), element

    @property
    def type(self):
        return type_of(self.shape, self.element)


class Graph:
    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.inputs, self.weights, self.outputs = {}, {}, {}
        self._constants = {}  # of ONNX alone
        self._globals, self._body, self._nodes = [], [], []
        self._count = 0

    # What both have.

    def input(self, *shape):
        value = Value(f"x{len(self.inputs)}", shape)
        self.inputs[value.name] = value.shape
        return value

    def weight(self, *shape, scale=None):
        """Random, by default so that sums over all dimensions but one keep the size of what goes in."""
        scale = scale or (2 / max(1, math.prod(shape) // max(shape))) ** 0.5
        return self._weight((self.random.standard_normal(shape) * scale).astype(np.float32))

    def _weight(self, array, element="f32"):
        value = Value(f"w{len(self.weights)}", array.shape, element)
        self.weights[value.name] = array
        self._globals.append(f"ml_program.global private @{value.name}"
                             f"(#ml_program.extern<{value.type}>) : {value.type}")
        self._line(f"%{value.name} = ml_program.global_load_const @{value.name} : {value.type}")
        return value

    def output(self, value):
        self.outputs[value.name] = value.shape

    def mlir(self):
        arguments = ", ".join(f"%{name}: {type_of(shape)}" for name, shape in self.inputs.items())
        names = ", ".join(f"%{name}" for name in self.outputs)
        types = ", ".join(type_of(shape) for shape in self.outputs.values())
        return "\n".join([*self._globals, f"func.func @main({arguments}) -> ({types}) {{",
                          "%zero = arith.constant 0.0 : f32", "%one = arith.constant 1.0 : f32",
                          *self._body, f"return {names} : {types}", "}", ""])

    def onnx(self):
        return onnx_file.model(self._nodes, {**self.weights, **self._constants},
                               [onnx_file.declaration(*each) for each in self.inputs.items()],
                               [onnx_file.declaration(*each) for each in self.outputs.items()])

    # How either is written.

    def _name(self):
        self._count += 1
        return f"v{self._count}"

    def _line(self, text):
        self._body.append(text)

    def _node(self, operation, inputs, output, **attributes):
        names = [each if isinstance(each, str) else each.name for each in inputs]
        outputs = [output] if isinstance(output, Value) else output
        names_out = [each if isinstance(each, str) else each.name for each in outputs]
        self._nodes.append(onnx_file.node(operation, names, names_out, attributes))

    def _constant(self, array):
        name = f"c{len(self._constants)}"
        self._constants[name] = array
        return name

    def _value(self, shape, text, element="f32"):
        value = Value(self._name(), shape, element)
        self._line(f"%{value.name} = {text}")
        return value

    def _scalar(self, value, element="f32"):
        name = self._name()
        self._line(f"%{name} = arith.constant {f'{value:.9e}' if element[0] == 'f' else value} : {element}")
        return f"%{name}"

    def _empty(self, shape, element="f32"):
        return self._value(shape, f"tensor.empty() : {type_of(shape, element)}", element)

    def _filled(self, shape, scalar="%zero", element="f32"):
        out = self._empty(shape, element)
        return self._value(shape, f"linalg.fill ins({scalar} : {element}) outs(%{out.name} : {out.type}) -> {out.type}",
                           element)

    def _named(self, operation, inputs, out, attributes=""):
        operands = ", ".join(f"%{each.name}" for each in inputs)
        types = ", ".join(each.type for each in inputs)
        return self._value(out.shape, f"{operation} {attributes} ins({operands} : {types}) "
                                      f"outs(%{out.name} : {out.type}) -> {out.type}")

    def _generic(self, inputs, maps, out, iterators, body):
        """Of ins %a0, %a1, ... and what is in the result, %o; the body defines %r."""
        loops = ", ".join(f"d{i}" for i in range(len(iterators)))
        maps = ", ".join(f"affine_map<({loops}) -> ({each})>" for each in maps)
        kinds = ", ".join(f'"{each}"' for each in iterators)
        scalars = ", ".join([*(f"%a{i}: {each.element}" for i, each in enumerate(inputs)), f"%o: {out.element}"])
        attributes = f"{{indexing_maps = [{maps}], iterator_types = [{kinds}]}}"
        operands = ", ".join(f"%{each.name}" for each in inputs)
        types = ", ".join(each.type for each in inputs)
        return self._value(out.shape, f"linalg.generic {attributes} ins({operands} : {types}) "
                                      f"outs(%{out.name} : {out.type}) {{\n^bb0({scalars}):\n{body}\n"
                                      f"linalg.yield %r : {out.element} }} -> {out.type}", out.element)

    def _map(self, inputs, body, axis=None, element="f32"):
        """Element by element; inputs of rank 1 lie along `axis`, the last one unless told."""
        shape = inputs[0].shape
        loops = [f"d{i}" for i in range(len(shape))]
        every = ", ".join(loops)
        maps = [every if each.shape == shape else loops[len(shape) - 1 if axis is None else axis]
                for each in inputs]
        return self._generic(inputs, [*maps, every], self._empty(shape, element), ["parallel"] * len(shape), body)

    # Operations.

    def add(self, a, b, axis=None):
        value = self._map([a, b], "%r = arith.addf %a0, %a1 : f32", axis)
        self._node("Add", [a, b], value)
        return value

    def scale(self, a, factor):
        scalar = self._name()
        self._line(f"%{scalar} = arith.constant {factor:e} : f32")
        value = self._map([a], f"%r = arith.mulf %a0, %{scalar} : f32")
        self._node("Mul", [a, self._constant(np.float32(factor).reshape(()))], value)
        return value

    def relu(self, a):
        value = self._map([a], "%r = arith.maximumf %a0, %zero : f32")
        self._node("Relu", [a], value)
        return value

    def relu6(self, a):
        six = self._name()
        self._line(f"%{six} = arith.constant 6.0 : f32")
        value = self._map([a], f"%t = arith.maximumf %a0, %zero : f32\n%r = arith.minimumf %t, %{six} : f32")
        self._node("Clip", [a, self._constant(np.float32(0).reshape(())),
                            self._constant(np.float32(6).reshape(()))], value)
        return value

    def gelu(self, a):
        """With erf. Written for ONNX in the form that its runtime knows to be one operation."""
        half, root = self._name(), self._name()
        self._line(f"%{half} = arith.constant 0.5 : f32")
        self._line(f"%{root} = arith.constant {0.5 ** 0.5:.9e} : f32")
        value = self._map([a], f"%s = arith.mulf %a0, %{root} : f32\n%e = math.erf %s : f32\n"
                               f"%p = arith.addf %e, %one : f32\n%h = arith.mulf %a0, %{half} : f32\n"
                               "%r = arith.mulf %h, %p : f32")
        names = [self._name() for _ in range(4)]
        self._node("Div", [a, self._constant(np.float32(2 ** 0.5).reshape(()))], [names[0]])
        self._node("Erf", [names[0]], [names[1]])
        self._node("Add", [names[1], self._constant(np.float32(1).reshape(()))], [names[2]])
        self._node("Mul", [a, names[2]], [names[3]])
        self._node("Mul", [names[3], self._constant(np.float32(0.5).reshape(()))], value)
        return value

    def linear(self, x, features):
        weight, bias = self.weight(x.shape[1], features), self.weight(features, scale=0.1)
        value = self._named("linalg.matmul", [x, weight], self._filled((x.shape[0], features)))
        self._node("MatMul", [x, weight], value)
        return self.add(value, bias)

    def product(self, a, b, transposed=False):
        """Of matrices in a batch; of `b` with its last two dimensions the other way round."""
        batch, m, k = a.shape
        n = b.shape[1] if transposed else b.shape[2]
        out = self._filled((batch, m, n))
        if not transposed:
            value = self._named("linalg.batch_matmul", [a, b], out)
            self._node("MatMul", [a, b], value)
            return value
        value = self._generic([a, b], ["d0, d1, d3", "d0, d2, d3", "d0, d1, d2"], out,
                              ["parallel", "parallel", "parallel", "reduction"],
                              "%p = arith.mulf %a0, %a1 : f32\n%r = arith.addf %o, %p : f32")
        turned = self._name()
        self._node("Transpose", [b], [turned], perm=[0, 2, 1])
        self._node("MatMul", [a, turned], value)
        return value

    def transpose(self, a, *permutation):
        out = self._empty([a.shape[i] for i in permutation])
        value = self._value(out.shape, f"linalg.transpose ins(%{a.name} : {a.type}) "
                                       f"outs(%{out.name} : {out.type}) permutation = {list(permutation)}")
        self._node("Transpose", [a], value, perm=list(permutation))
        return value

    def reshape(self, a, *shape):
        groups = reassociation(a.shape, shape)
        value = a
        merged = [math.prod(a.shape[i] for i in left) for left, _ in groups]
        if any(len(left) > 1 for left, _ in groups):
            value = self._value(merged, f"tensor.collapse_shape %{value.name} {[left for left, _ in groups]} : "
                                        f"{value.type} into {type_of(merged)}")
        if any(len(right) > 1 for _, right in groups):
            value = self._value(shape, f"tensor.expand_shape %{value.name} {[right for _, right in groups]} "
                                       f"output_shape {list(shape)} : {value.type} into {type_of(shape)}")
        self._node("Reshape", [a, self._constant(np.array(shape, np.int64))], value)
        return value

    def softmax(self, a):
        out = self._empty(a.shape)
        value = self._named(f"linalg.softmax dimension({len(a.shape) - 1})", [a], out)
        self._node("Softmax", [a], value, axis=-1)
        return value

    def normalize(self, a):
        """Of rows, with a scale and a shift."""
        rows, width = a.shape
        gain, shift = self.weight(width, scale=1.0), self.weight(width, scale=0.1)
        share, epsilon = self._name(), self._name()
        self._line(f"%{share} = arith.constant {1 / width:.9e} : f32")
        self._line(f"%{epsilon} = arith.constant 1.0e-05 : f32")
        sums = ["parallel", "reduction"]
        total = self._generic([a], ["d0, d1", "d0"], self._filled((rows,)), sums, "%r = arith.addf %o, %a0 : f32")
        mean = self._generic([total], ["d0", "d0"], self._empty((rows,)), ["parallel"],
                             f"%r = arith.mulf %a0, %{share} : f32")
        squares = self._generic([a, mean], ["d0, d1", "d0", "d0"], self._filled((rows,)), sums,
                                "%c = arith.subf %a0, %a1 : f32\n%q = arith.mulf %c, %c : f32\n"
                                "%r = arith.addf %o, %q : f32")
        value = self._generic([a, mean, squares, gain, shift], ["d0, d1", "d0", "d0", "d1", "d1", "d0, d1"],
                              self._empty(a.shape), ["parallel"] * 2,
                              f"%v = arith.mulf %a2, %{share} : f32\n%e = arith.addf %v, %{epsilon} : f32\n"
                              "%i = math.rsqrt %e : f32\n%c = arith.subf %a0, %a1 : f32\n"
                              "%n = arith.mulf %c, %i : f32\n%g = arith.mulf %n, %a3 : f32\n"
                              "%r = arith.addf %g, %a4 : f32")
        self._node("LayerNormalization", [a, gain, shift], value, axis=-1, epsilon=1e-5)
        return value

    def concat(self, a, b, axis):
        shape = list(a.shape)
        shape[axis] += b.shape[axis]
        value = self._value(shape, f"tensor.concat dim({axis}) %{a.name}, %{b.name} : ({a.type}, {b.type}) -> "
                                   f"{type_of(shape)}")
        self._node("Concat", [a, b], value, axis=axis)
        return value

    def _padded(self, x, border, scalar="%zero"):
        if not border:
            return x
        shape = [*x.shape[:2], x.shape[2] + 2 * border, x.shape[3] + 2 * border]
        sides = f"[0, 0, {border}, {border}]"
        return self._value(shape, f"tensor.pad %{x.name} low{sides} high{sides} {{\n"
                                  "^bb0(%i: index, %j: index, %k: index, %l: index):\n"
                                  f"tensor.yield {scalar} : {x.element} }} : {x.type} to {type_of(shape, x.element)}",
                           x.element)

    def convolution(self, x, filters, window, stride=1, depthwise=False):
        """Of an image stored by channels, with a border that keeps its size, and a bias."""
        batch, channels, height, width = x.shape
        border = window // 2
        out = self._filled((batch, filters, (height + 2 * border - window) // stride + 1,
                            (width + 2 * border - window) // stride + 1))
        padded = self._padded(x, border)
        attributes = f"{{strides = dense<{stride}> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}}"
        shape = [filters, 1 if depthwise else channels, window, window]
        weight = self.weight(*shape, scale=(2 / math.prod(shape[1:])) ** 0.5)
        bias = self.weight(filters, scale=0.1)
        if depthwise:
            flat = self._value([filters, window, window],
                               f"tensor.collapse_shape %{weight.name} [[0, 1], [2], [3]] : {weight.type} into "
                               f"{type_of([filters, window, window])}")
            value = self._named("linalg.depthwise_conv_2d_nchw_chw", [padded, flat], out, attributes)
        else:
            value = self._named("linalg.conv_2d_nchw_fchw", [padded, weight], out, attributes)
        result = self._map([value, bias], "%r = arith.addf %a0, %a1 : f32", axis=1)
        self._node("Conv", [x, weight, bias], result, kernel_shape=[window] * 2, strides=[stride] * 2,
                   pads=[border] * 4, group=channels if depthwise else 1)
        return result

    def max_pool(self, x, window, stride):
        border = window // 2
        lowest = self._name()
        self._line(f"%{lowest} = arith.constant 0xFF800000 : f32")
        batch, channels, height, width = x.shape
        out = self._filled((batch, channels, (height + 2 * border - window) // stride + 1,
                            (width + 2 * border - window) // stride + 1), f"%{lowest}")
        value = self._named("linalg.pooling_nchw_max",
                            [self._padded(x, border, f"%{lowest}"), self._empty((window, window))], out,
                            f"{{strides = dense<{stride}> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}}")
        self._node("MaxPool", [x], value, kernel_shape=[window] * 2, strides=[stride] * 2, pads=[border] * 4)
        return value

    def average(self, x):
        """Of each channel."""
        batch, channels, height, width = x.shape
        share = self._name()
        self._line(f"%{share} = arith.constant {1 / (height * width):.9e} : f32")
        total = self._generic([x], ["d0, d1, d2, d3", "d0, d1"], self._filled((batch, channels)),
                              ["parallel"] * 2 + ["reduction"] * 2, "%r = arith.addf %o, %a0 : f32")
        value = self._map([total], f"%r = arith.mulf %a0, %{share} : f32")
        name = self._name()
        self._node("GlobalAveragePool", [x], [name])
        self._node("Reshape", [name, self._constant(np.array([batch, channels], np.int64))], value)
        return value

    def lstm(self, x, hidden, cell):
        """One step; gates in ONNX's order: input, output, forget, cell."""
        batch, width = hidden.shape
        forward, recurrent = self.weight(4 * width, x.shape[1]), self.weight(4 * width, width)
        bias = self.weight(4 * width, scale=0.1)
        sums = self._filled((batch, 4 * width))
        for left, right in ((x, forward), (hidden, recurrent)):
            sums = self._generic([left, right], ["d0, d2", "d1, d2", "d0, d1"], sums,
                                 ["parallel", "parallel", "reduction"],
                                 "%p = arith.mulf %a0, %a1 : f32\n%r = arith.addf %o, %p : f32")
        gates = self._map([sums, bias], "%r = arith.addf %a0, %a1 : f32")
        parts = [self._value((batch, width), f"tensor.extract_slice %{gates.name}[0, {i * width}] "
                                             f"[{batch}, {width}] [1, 1] : {gates.type} to {hidden.type}")
                 for i in range(4)]

        def sigmoid(source, result):
            return (f"%{result}n = arith.negf %{source} : f32\n%{result}e = math.exp %{result}n : f32\n"
                    f"%{result}p = arith.addf %{result}e, %one : f32\n"
                    f"%{result} = arith.divf %one, %{result}p : f32\n")

        new_cell = self._map([parts[0], parts[2], parts[3], cell], sigmoid("a0", "i") + sigmoid("a1", "f") +
                             "%t = math.tanh %a2 : f32\n%u = arith.mulf %i, %t : f32\n"
                             "%w = arith.mulf %f, %a3 : f32\n%r = arith.addf %u, %w : f32")
        new_hidden = self._map([parts[1], new_cell], sigmoid("a0", "s") +
                               "%t = math.tanh %a1 : f32\n%r = arith.mulf %s, %t : f32")
        one = [1, batch, width]

        def shaped(source, shape, target=None):
            name = target or self._name()
            self._node("Reshape", [source, self._constant(np.array(shape, np.int64))], [name])
            return name

        weights = {"f": self.weights[forward.name][None], "r": self.weights[recurrent.name][None],
                   "b": np.concatenate([self.weights[bias.name], np.zeros(4 * width, np.float32)])[None]}
        packed = {key: self._constant(np.ascontiguousarray(array)) for key, array in weights.items()}
        names = [self._name() for _ in range(3)]
        self._node("LSTM", [shaped(x.name, [1, *x.shape]), packed["f"], packed["r"], packed["b"], "",
                            shaped(hidden.name, one), shaped(cell.name, one)], names, hidden_size=width)
        shaped(names[1], [batch, width], new_hidden.name)
        shaped(names[2], [batch, width], new_cell.name)
        return new_hidden, new_cell
