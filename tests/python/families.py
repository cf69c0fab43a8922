"""Families of cases of operations on vectors: one module, a function for each case."""

import numpy as np

import plimsoll as pl

NAMES = {"bool": "i1", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "float16": "f16",
         "float32": "f32", "float64": "f64"}
SEED = 20


def element(array):
    return NAMES[np.asarray(array).dtype.name]


def shaped(kind, array):
    return f"{kind}<{''.join(f'{extent}x' for extent in np.shape(array))}{element(array)}>"


def vector(array):
    return shaped("vector", array)


def zero(name):
    return "false" if name == "i1" else f"{'0.0' if name[0] == 'f' else '0'} : {name}"


def whole(value, memory, array, zero="%none"):
    zeros, inside = ", ".join(["%c0"] * array.ndim), ", ".join(["true"] * array.ndim)
    suffix = f"[{zeros}], {zero} {{in_bounds = [{inside}]}} : {shaped('memref', array)}, {vector(array)}"
    return f"{value} = vector.transfer_read {memory}{suffix}"


class Family:
    """Cases: inputs are vectors %v0, %v1, ... of the memories %m0, %m1, ...; positions are indices %p0, ...; the body gives %r."""

    def __init__(self):
        self.random = np.random.default_rng(SEED)
        self.cases = []

    def numbers(self, dtype, *shape):
        low, high = (0, 2) if dtype == np.bool_ else (-8, 9)
        return self.random.integers(low, high, shape).astype(dtype)

    def factors(self, dtype, *shape):
        return self.random.choice(np.array([-1, 1, 2], dtype), shape)

    def add(self, name, inputs, body, wanted, positions=()):
        self.cases.append((name, inputs, positions, body, np.asarray(wanted)))

    def source(self):
        functions = []
        for number, (_, inputs, positions, body, wanted) in enumerate(self.cases):
            arguments = [f"%m{i}: {shaped('memref', array)}" for i, array in enumerate(inputs)]
            arguments += [f"%p{i}: index" for i in range(len(positions))]
            lines = ["%c0 = arith.constant 0 : index"]
            for i, array in enumerate(inputs):
                lines.append(f"%z{i} = arith.constant {zero(element(array))}")
                lines.append(whole(f"%v{i}", f"%m{i}", array, f"%z{i}"))
            lines += body.strip().splitlines()
            if wanted.ndim:
                arguments.append(f"%out: {shaped('memref', wanted)}")
                zeros, inside = ", ".join(["%c0"] * wanted.ndim), ", ".join(["true"] * wanted.ndim)
                lines.append(f"vector.transfer_write %r, %out[{zeros}] {{in_bounds = [{inside}]}} : "
                             f"{vector(wanted)}, {shaped('memref', wanted)}")
                lines.append("return")
                result = ""
            else:
                lines.append(f"return %r : {element(wanted)}")
                result = f" -> {element(wanted)}"
            functions.append(f"func.func @f{number}({', '.join(arguments)}){result} {{\n  "
                             + "\n  ".join(lines) + "\n}\n")
        return "".join(functions)

    def check(self, same=np.array_equal):
        module = pl.loads(self.source())
        wrong = []
        for number, (name, inputs, positions, _, wanted) in enumerate(self.cases):
            arguments = [array.copy() for array in inputs] + list(positions)
            function = getattr(module, f"f{number}")
            if wanted.ndim:
                got = np.zeros(wanted.shape, wanted.dtype)
                function(*arguments, got)
            else:
                got = function(*arguments)
            if not same(got, wanted):
                wrong.append(f"{name}: {np.asarray(got).tolist()}, not {wanted.tolist()}")
        assert not wrong, f"{len(wrong)} of {len(self.cases)} (seed {SEED}): " + "; ".join(wrong[:10])
