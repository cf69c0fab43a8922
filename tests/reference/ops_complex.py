"""complex: numbers of two parts. Functions are computed in complex128."""
import numpy as np

from .base import handles
from .numerics import join
from .ops_arith import result_element, truth


def wide(value):
    return np.asarray(value, np.complex128)


@handles("complex.create")
def create(run, op, args, env):
    return join(args[0], args[1], run.numerics.dtype(result_element(op)))


@handles("complex.re")
def real(run, op, args, env):
    return np.real(args[0])[()]


@handles("complex.im")
def imaginary(run, op, args, env):
    return np.imag(args[0])[()]


@handles("complex.abs")
def absolute(run, op, args, env):
    return run.numerics.fit(np.abs(wide(args[0])), result_element(op))[()]


@handles("complex.angle")
def angle(run, op, args, env):
    return run.numerics.fit(np.angle(wide(args[0])), result_element(op))[()]


@handles("complex.eq", "complex.neq")
def equal(run, op, args, env):
    return truth((args[0] == args[1]) == (op.name == "complex.eq"))


def by_parts(run, op, pairs):
    """The parts of the result, each from an operation on floats that rounds on its own."""
    kind = result_element(op)
    fit = run.numerics.fit
    return join(fit(pairs[0], kind.part), fit(pairs[1], kind.part), run.numerics.dtype(kind))


@handles("complex.add", "complex.sub")
def add(run, op, args, env):
    (a, b), sign = args, np.add if op.name == "complex.add" else np.subtract
    return by_parts(run, op, (sign(np.real(a), np.real(b)), sign(np.imag(a), np.imag(b))))


@handles("complex.neg", "complex.conj")
def negate(run, op, args, env):
    real_part = -np.real(args[0]) if op.name == "complex.neg" else np.real(args[0])
    return by_parts(run, op, (real_part, -np.imag(args[0])))


@handles("complex.mul")
def multiply(run, op, args, env):
    kind = result_element(op)
    a, b, c, d = np.real(args[0]), np.imag(args[0]), np.real(args[1]), np.imag(args[1])

    def product(x, y):
        return run.numerics.fit(x * y, kind.part)
    return by_parts(run, op, (product(a, c) - product(b, d), product(a, d) + product(b, c)))


@handles("complex.div")
def divide(run, op, args, env):
    return run.numerics.fit_complex(wide(args[0]) / wide(args[1]), result_element(op))[()]


def sign_of(x):
    size = np.abs(x)
    return np.where(size == 0, x, x / np.where(size == 0, 1, size))


def expm1(z):
    """exp(x) cos(y) - 1 without cancellation: expm1(x) cos(y) - 2 sin(y / 2)^2."""
    x, y = z.real, z.imag
    return join(np.expm1(x) * np.cos(y) - 2 * np.sin(y / 2) ** 2, np.exp(x) * np.sin(y),
                np.complex128)


def log1p(z):
    """log|1 + z| = log1p(x (2 + x) + y^2) / 2."""
    x, y = z.real, z.imag
    near = np.log1p(x * (2 + x) + y * y) / 2
    far = np.log(np.hypot(1 + x, y))
    return join(np.where(np.abs(z) < 0.5, near, far), np.arctan2(y, 1 + x), np.complex128)


UNARY = {"sqrt": np.sqrt, "rsqrt": lambda z: 1 / np.sqrt(z), "exp": np.exp, "expm1": expm1,
         "log": np.log, "log1p": log1p, "sin": np.sin, "cos": np.cos, "tan": np.tan,
         "tanh": np.tanh, "sign": sign_of}


def unary(function):
    def handler(run, op, args, env):
        return run.numerics.fit_complex(function(wide(args[0])), result_element(op))[()]
    return handler


for _name, _function in UNARY.items():
    handles("complex." + _name)(unary(_function))


@handles("complex.pow", "complex.powi")
def power(run, op, args, env):
    return run.numerics.fit_complex(np.power(wide(args[0]), wide(args[1])), result_element(op))[()]


@handles("complex.atan2")
def atan2(run, op, args, env):
    y, x = wide(args[0]), wide(args[1])
    return run.numerics.fit_complex(-1j * np.log((x + 1j * y) / np.sqrt(x * x + y * y)),
                                    result_element(op))[()]
