"""Cases of ONNX Runtime's operators: random inputs, attributes and extents, and what NumPy makes of them by the documentation.

https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
"""

import dataclasses
import math

import numpy as np

CASES = {}  # functions by the operator's name, each of which makes a Case


@dataclasses.dataclass
class Case:
    inputs: list  # arrays, None for one that is left out
    want: list  # arrays; None for an output that is not asked for
    attributes: dict = dataclasses.field(default_factory=dict)
    kept: tuple = ()  # inputs that must be constants
    names: dict = dataclasses.field(default_factory=dict)  # of extents that may be open, by input: None for one that may not
    rtol: float = 2e-5
    atol: float = 2e-5
    off: float = 0  # the share of integers that may differ by 1: sums of floats are rounded to them
    where: dict = dataclasses.field(default_factory=dict)  # by output, what of it is said
    has_peer: bool = True  # False where ONNX Runtime ends the process
    has_halves: bool = False  # f16 instead of f32 too
    domain: str = "com.microsoft"
    opset: int = 17


def case(*operators):
    def register(function):
        for operator in operators:
            CASES.setdefault(operator, []).append(function)
        return function
    return register


def extent(random, most=7):
    """Mostly small, sometimes none."""
    return int(random.choice([0, 1, 1, 2, 3, 4, 5, 7, 13][:most + 2])) if random.random() < 0.5 else int(random.integers(1, most + 1))


def extents(random, rank, most=7):
    return [extent(random, most) for _ in range(rank)]


def normal(random, *shape, kind=np.float32):
    return random.standard_normal(shape).astype(kind)


def flip(random):
    return int(random.integers(2))


def optional(random, value):
    return value if flip(random) else None


def float_kind(random):
    return random.choice([np.float32, np.float32, np.float32, np.float64])


_erf = np.vectorize(math.erf, otypes=[np.float64])


def gelu(x):
    return 0.5 * x * (1 + _erf(x / math.sqrt(2)))


def fast_gelu(x):
    return 0.5 * x * (1 + np.tanh(0.797885 * x + 0.035677 * x ** 3))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x, axis=-1):
    if x.size == 0:
        return x
    powers = np.exp(x - x.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


def activation(name, x, alpha=None, beta=None, gamma=None):
    return {"": lambda: x, "Relu": lambda: np.maximum(x, 0), "Tanh": lambda: np.tanh(x), "Sigmoid": lambda: sigmoid(x),
            "LeakyRelu": lambda: np.where(x < 0, alpha * x, x), "Softsign": lambda: x / (1 + abs(x)),
            "Softplus": lambda: np.log1p(np.exp(-abs(x))) + np.maximum(x, 0), "Elu": lambda: np.where(x < 0, alpha * np.expm1(x), x),
            "HardSigmoid": lambda: np.clip(alpha * x + beta, 0, 1), "ThresholdedRelu": lambda: np.where(x > alpha, x, 0),
            "Selu": lambda: gamma * np.where(x <= 0, alpha * np.expm1(x), x), "Clip": lambda: np.clip(x, alpha, beta)}[name]()
