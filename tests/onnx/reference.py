"""What the operators of the models in examples/models say, in NumPy, as the pages of ONNX have it.

Takes the nodes of such a model; computes in f64. Short and slow: it is what the engine is compared with.
"""

import itertools
import math

import numpy as np

erf = np.vectorize(math.erf, otypes=[np.float64])


def spatial(array):
    return range(2, array.ndim)


def convolve(x, weights, bias=None, *, strides, pads, dilations, group, kernel_shape):
    rank, filters = len(strides), len(weights)
    padded = np.pad(x, [(0, 0), (0, 0), *zip(pads[:rank], pads[rank:])])
    windows = np.lib.stride_tricks.sliding_window_view(
        padded, [(k - 1) * d + 1 for k, d in zip(kernel_shape, dilations)], tuple(spatial(x)))
    windows = windows[(slice(None), slice(None), *(slice(None, None, s) for s in strides),
                       *(slice(None, None, d) for d in dilations))]
    each, places = x.shape[1] // group, "abc"[:rank]
    out = [np.einsum(f"nc{places}{places.upper()},fc{places.upper()}->nf{places}",
                     windows[:, i * each:(i + 1) * each], part)
           for i, part in enumerate(np.split(weights, group))]
    out = np.concatenate(out, 1)
    return out if bias is None else out + bias.reshape(filters, *[1] * rank)


def transposed(x, weights, bias, *, strides, pads, dilations, group, kernel_shape):
    each, filters = x.shape[1] // group, weights.shape[1]
    full = [(h - 1) * s + (k - 1) * d + 1 for h, s, k, d in zip(x.shape[2:], strides, kernel_shape, dilations)]
    out = np.zeros((len(x), group * filters, *full))
    for g in range(group):
        part = slice(g * each, (g + 1) * each)
        for at in itertools.product(*map(range, kernel_shape)):
            to = tuple(slice(a * d, a * d + (h - 1) * s + 1, s)
                       for a, d, h, s in zip(at, dilations, x.shape[2:], strides))
            out[(slice(None), slice(g * filters, (g + 1) * filters), *to)] += np.einsum(
                "nc...,cf->nf...", x[:, part], weights[(part, slice(None), *at)])
    rank = len(strides)
    cut = tuple(slice(low, extent - high) for low, high, extent in zip(pads[:rank], pads[rank:], full))
    return out[(slice(None), slice(None), *cut)] + bias.reshape(-1, *[1] * rank)


def largest(x, *, kernel_shape, strides, pads=None, ceil_mode=0):
    rank = len(strides)
    pads = pads or [0] * (2 * rank)
    padded = np.pad(x, [(0, 0), (0, 0), *zip(pads[:rank], pads[rank:])], constant_values=-np.inf)
    windows = np.lib.stride_tricks.sliding_window_view(padded, kernel_shape, tuple(spatial(x)))
    windows = windows[(slice(None), slice(None), *(slice(None, None, s) for s in strides))]
    return windows.max(tuple(range(-rank, 0)))


def resize(x, _, scales, *, mode, coordinate_transformation_mode):
    for axis, scale in enumerate(scales):
        extent = x.shape[axis]
        if scale != 1:
            at = np.clip((np.arange(int(extent * scale)) + 0.5) / scale - 0.5, 0, extent - 1)
            low = np.floor(at).astype(int)
            part = (at - low).reshape(-1, *[1] * (x.ndim - axis - 1))
            x = x.take(low, axis) * (1 - part) + x.take(np.minimum(low + 1, extent - 1), axis) * part
    return x


def slices(x, starts, ends, axes, steps):
    index = [slice(None)] * x.ndim
    for start, end, axis, step in zip(starts, ends, axes, steps):
        index[axis] = slice(start, end, step)
    return x[tuple(index)]


def reshape(x, shape):
    return x.reshape([x.shape[i] if extent == 0 else extent for i, extent in enumerate(shape)])


def unsqueeze(x, axes):
    return np.expand_dims(x, tuple(axes))


def layer_norm(x, scale, shift, *, axis, epsilon):
    centred = x - x.mean(axis, keepdims=True)
    return centred / np.sqrt((centred ** 2).mean(axis, keepdims=True) + epsilon) * scale + shift


def batch_norm(x, scale, shift, mean, variance, *, epsilon, momentum):
    scale, shift, mean, variance = (each.reshape(-1, *[1] * (x.ndim - 2)) for each in (scale, shift, mean, variance))
    return (x - mean) / np.sqrt(variance + epsilon) * scale + shift


def softmax(x, *, axis):
    e = np.exp(x - x.max(axis, keepdims=True, initial=-np.inf))
    return e / e.sum(axis, keepdims=True)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def gemm(a, b, c, *, alpha=1.0, beta=1.0, transB=0):
    return alpha * (a @ (b.T if transB else b)) + beta * c


def lstm(x, weights, recurrent, bias, _, hidden, cell, *, direction, hidden_size):
    assert direction == "bidirectional"
    out = np.zeros((len(x), 2, x.shape[1], hidden_size))
    hidden, cell = hidden.copy(), cell.copy()
    for way in (0, 1):
        for t in range(len(x)) if way == 0 else reversed(range(len(x))):
            gates = (x[t] @ weights[way].T + hidden[way] @ recurrent[way].T + bias[way, :4 * hidden_size]
                     + bias[way, 4 * hidden_size:])
            i, o, f, c = np.split(gates, 4, 1)
            cell[way] = sigmoid(f) * cell[way] + sigmoid(i) * np.tanh(c)
            hidden[way] = out[t, way] = sigmoid(o) * np.tanh(cell[way])
    return out, hidden, cell


def split(x, sizes, *, axis):
    return np.split(x, np.cumsum(sizes)[:-1], axis)


OPERATORS = {
    "Add": np.add, "BatchNormalization": batch_norm, "Cast": lambda x, to: x.astype({1: np.float64, 7: np.int64}[to]),
    "Clip": np.clip, "Concat": lambda *x, axis: np.concatenate(x, axis), "Conv": convolve, "ConvTranspose": transposed,
    "Div": np.divide, "Erf": erf, "Expand": lambda x, shape: np.broadcast_to(x, np.broadcast_shapes(x.shape, shape)),
    "Flatten": lambda x, axis: x.reshape(math.prod(x.shape[:axis]), -1),
    "Gather": lambda x, at, axis=0: x.take(at, axis), "Gemm": gemm,
    "GlobalAveragePool": lambda x: x.mean(tuple(spatial(x)), keepdims=True), "Identity": lambda x: x,
    "LSTM": lstm, "LayerNormalization": layer_norm, "Less": np.less, "MatMul": np.matmul, "MaxPool": largest,
    "Mul": np.multiply, "Neg": np.negative, "Pow": np.power, "Range": np.arange, "Reciprocal": np.reciprocal,
    "ReduceMean": lambda x, axes, keepdims: x.mean(tuple(axes), keepdims=bool(keepdims)),
    "ReduceSum": lambda x, axes, keepdims: x.sum(tuple(axes), keepdims=bool(keepdims)),
    "Relu": lambda x: np.maximum(x, 0), "Reshape": reshape, "Resize": resize,
    "Shape": lambda x: np.array(x.shape, np.int64), "Sigmoid": sigmoid, "Slice": slices, "Softmax": softmax,
    "Split": split, "Sqrt": np.sqrt, "Squeeze": lambda x, axes: x.squeeze(tuple(axes)), "Sub": np.subtract,
    "Tanh": np.tanh, "Transpose": lambda x, perm: x.transpose(perm), "Unsqueeze": unsqueeze,
    "Where": np.where,
}


def evaluate(nodes, values, outputs):
    """Nodes are (operator, inputs, outputs, attributes); `values` arrays by name. What the outputs are, by name."""
    values = {"": None, **{name: array.astype(np.float64) if array.dtype.kind == "f" else array
                           for name, array in values.items()}}
    for operator, inputs, names, attributes in nodes:
        results = OPERATORS[operator](*(values[name] for name in inputs), **attributes)
        values.update(zip(names, [results] if len(names) == 1 else results))
    return {name: values[name] for name in outputs}
