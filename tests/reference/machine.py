"""Runs functions of a module: blocks in order, branches between them, calls.

Values live in one dictionary for each call, by the names that the text gives them. A tensor or vector
is an array that nobody writes after it was made; a memref is a view of an array that others see as
well, so that subviews alias as they should.
"""
import math
import sys

import numpy as np

from .base import HANDLERS, CallFailed, Unsupported, require
from .irtypes import DYNAMIC, Complex, Index, Int, Shaped
from .numerics import Numerics, float_from_bits
from .syntax import Dense, Resource, Symbol, Typed
from . import (ops_affine, ops_arith, ops_complex, ops_control, ops_linalg, ops_math,  # noqa: F401
               ops_memref, ops_tensor, ops_tosa, ops_vector)

sys.setrecursionlimit(20000)
ELEMENTWISE = ("arith.", "math.", "complex.")  # On tensors: of the same extents.
JUMPS = {"cf.br", "cf.cond_br", "cf.switch"}

__all__ = ["CallFailed", "Machine", "Unsupported"]


class Machine:
    """One loaded module: its variables keep their values from call to call.

    parameters: arrays by the names of `ml_program.extern`. host: Python functions by name, for
    functions without a body. steps: how many operations may run, so that a loop without end ends.
    """

    def __init__(self, module, exact, parameters=None, host=None, steps=50_000_000):
        self.module = module
        self.symbols = module.symbols()
        self.numerics = Numerics(exact)
        self.parameters = parameters or {}
        self.host = host or {}
        self.variables = {}
        self.iteration = None  # Index arrays of the linalg operation whose body runs.
        self.steps = steps

    # --- Calls ------------------------------------------------------------------------------------

    def function_type(self, name):
        return self.function(name).attributes["function_type"]

    def function(self, name):
        op = self.symbols.get(name)
        if op is None or op.name != "func.func":
            raise Unsupported(f"no function @{name}")
        return op

    def call(self, name, args):
        """The results. args: arrays as `argument` makes them; memrefs are written in place."""
        op = self.function(name)
        kind = op.attributes["function_type"]
        require(len(args) == len(kind.inputs), "the number of arguments")
        for value, wanted in zip(args, kind.inputs):
            self.check_shape(value, wanted)
        if not op.regions[0]:
            if name not in self.host:
                raise Unsupported(f"@{name} has no body")
            return list(self.host[name](*args))
        with np.errstate(all="ignore"):  # Infinities and NaNs are results like others.
            _, values = self.region(op.regions[0], args, {})
        return values

    @staticmethod
    def check_shape(value, kind):
        if not isinstance(kind, Shaped) or kind.shape is None:
            return
        shape = np.shape(value)
        require(len(shape) == len(kind.shape) and
                all(extent in (DYNAMIC, size) for extent, size in zip(kind.shape, shape)),
                f"the extents {shape} are not those of the type")

    def region(self, blocks, args, env):
        """Runs from the first block to an operation that leaves the region: it and its operands."""
        block = blocks[0]
        while True:
            for (name, _), value in zip(block.arguments, args):
                env[name] = value
            for op in block.ops[:-1]:
                self.step(op, env)
            last = block.ops[-1]
            values = [env[name] for name in last.operands]
            if last.name not in JUMPS:
                return last, values
            label, args = HANDLERS[last.name](self, last, values, env)
            block = next(block for block in blocks if block.label == label)

    def step(self, op, env):
        handler = op.handler
        if handler is None:
            handler = op.handler = HANDLERS.get(op.name)
            if handler is None:
                raise Unsupported(f"the operation {op.name}")
        self.steps -= 1
        if self.steps < 0:
            raise Unsupported("too many operations")
        values = [env[name] for name in op.operands]
        if op.name.startswith(ELEMENTWISE) and isinstance(op.result_types[0], Shaped):
            shapes = {np.shape(value) for value, kind in zip(values, op.operand_types)
                      if isinstance(kind, Shaped)}
            require(len(shapes) < 2 or op.name == "arith.select" and values[0].ndim == 0,
                    f"extents differ: {shapes}")
        result = handler(self, op, values, env)
        if len(op.results) == 1:
            env[op.results[0]] = result
        elif op.results:
            for name, value in zip(op.results, result):
                env[name] = value

    # --- Constants --------------------------------------------------------------------------------

    def decode(self, value, kind=None):
        """The array or number of an attribute."""
        if isinstance(value, bool):
            return np.int64(value)
        if isinstance(value, Typed):
            return self.numerics.constant(in_range(value.value), value.type)[()]
        if isinstance(value, (int, float)):
            return self.numerics.constant(value, kind)[()]
        if isinstance(value, Dense):
            return self.elements(value.body, value.type)
        if isinstance(value, Resource):
            # The first four bytes of a blob are its alignment.
            return self.elements(self.module.resources[value.name][4:], value.type)
        if isinstance(value, list):
            parts = [self.decode(part) for part in value]
            return self.numerics.constant(complex(*parts), kind)[()]
        raise Unsupported(f"the constant {value}")

    def elements(self, body, kind):
        element, shape = kind.element, kind.shape
        if isinstance(body, bytes):
            flat = self.from_bytes(body, element)
            if element == Int(1) and flat.size != math.prod(shape) and flat.size > 1:
                bits = np.unpackbits(np.frombuffer(body, np.uint8), bitorder="little")
                flat = bits[:math.prod(shape)].astype(np.int64)
        else:
            flat = [literal(text, element) for text in flatten(body)]
            flat = [in_range(value) for value in flat]
        flat = self.numerics.constant(flat, element).reshape(-1)
        if flat.size == 1:
            return np.full(shape, flat[0])
        return flat.reshape(shape)

    @staticmethod
    def from_bytes(data, element):
        if isinstance(element, Complex):
            kind = {"f32": "<c8", "f64": "<c16"}[element.part.name]
            return np.frombuffer(data, kind)
        if isinstance(element, Index):
            return np.frombuffer(data, "<i8")
        width = getattr(element, "width", None)
        if width is not None:
            size = 1 if width <= 8 else width // 8
            return np.frombuffer(data, f"<i{size}").astype(np.int64)
        size = {"f64": 8, "f32": 4, "f16": 2, "bf16": 2}.get(element.name, 1)
        return float_from_bits(np.frombuffer(data, f"<u{size}").astype(np.uint64), element)

    def initial(self, op, attribute):
        """The first value of a global variable."""
        value = op.attributes[attribute]
        if hasattr(value, "text"):  # #ml_program.extern<...>: the caller binds it.
            name = op.attributes["sym_name"]
            if name not in self.parameters:
                raise Unsupported(f"the parameter {name} is not given")
            return self.numerics.constant(self.parameters[name], op.attributes["type"].element)
        return self.decode(value, op.attributes["type"])

    def symbol(self, value):
        return self.symbols[value.name if isinstance(value, Symbol) else value]


def in_range(value):
    """Numbers as NumPy takes them: an i64 may be written without sign."""
    return value - (1 << 64) if isinstance(value, int) and value >= 1 << 63 else value


def flatten(body):
    if isinstance(body, list):
        for part in body:
            yield from flatten(part)
    else:
        yield body


def literal(text, element):
    from .syntax import number
    if isinstance(text, tuple):
        return complex(literal(text[0], element.part), literal(text[1], element.part))
    return number(text, element)
