"""A graph as an exporter builds it: nodes in order, weights by name."""

import math

import numpy as np

import onnx_file


class Graph:
    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.inputs, self.outputs = {}, {}  # (shape, element) by name
        self.untyped = []  # outputs of which readers infer the type
        self.weights = {}
        self.nodes = []  # (operator, inputs, outputs, attributes)
        self._constants = {}

    def input(self, name, shape, element="float32"):
        self.inputs[name] = tuple(shape), element
        return name

    def output(self, name, value, shape, element="float32"):
        self.outputs[name] = tuple(shape), element
        self.nodes.append(("Identity", [value], [name], {}))

    def op(self, operator, *inputs, outputs=1, **attributes):
        """Adds a node; numbers among its inputs become constants. Its output, or a list of them."""
        names = [self.constant(each) if not isinstance(each, str) else each for each in inputs]
        count = len(self.nodes)
        results = [f"/{operator.rpartition('.')[2]}_{count}_output_{i}" for i in range(outputs)]
        self.nodes.append((operator, names, results, attributes))
        return results[0] if outputs == 1 else results

    def constant(self, value):
        """Floats are of 32 bits, integers of 64; equal ones are one."""
        array = value if isinstance(value, np.ndarray) else np.array(value)
        if array.dtype == np.float64:
            array = array.astype(np.float32)
        key = array.dtype.name, array.shape, array.tobytes()
        if key not in self._constants:
            self._constants[key] = name = f"constant_{len(self._constants)}"
            self.weights[name] = array
        return self._constants[key]

    def weight(self, name, *shape, scale=None, mean=0.0):
        """Random, by default so that sums over all dimensions but the greatest keep the size of what goes in."""
        if scale is None:
            scale = (1 / max(1, math.prod(shape) // max(shape))) ** 0.5
        values = self.random.standard_normal(shape, np.float32)
        values *= scale
        if mean:
            values += mean
        self.weights[name] = values
        return name

    def variance(self, name, *shape):
        """A weight that is greater than zero."""
        self.weights[name] = self.random.uniform(0.5, 1.5, shape).astype(np.float32)
        return name

    def parts(self):
        return onnx_file.parts(
            [onnx_file.node(operator, inputs, outputs, attributes, outputs[0])
             for operator, inputs, outputs, attributes in self.nodes],
            self.weights,
            [onnx_file.declaration(name, *each) for name, each in self.inputs.items()],
            [onnx_file.declaration(name, *each) for name, each in self.outputs.items()] +
            [onnx_file.text(1, name) for name in self.untyped],
            sorted({operator.rpartition(".")[0] for operator, *_ in self.nodes} - {""}))
