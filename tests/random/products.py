"""What random products and convolutions have in common: what reads their results, and the loop of the program."""
import argparse
import random
import re
import sys
import time

import numpy as np
import plimsoll as pl

# Of bf16 NumPy has the bits.
TYPES = {"f16": np.float16, "bf16": np.uint16, "f32": np.float32, "f64": np.float64, "i64": np.int64, "i32": np.int32, "i16": np.int16, "i8": np.int8, "i4": np.int8}


# Of the left operand, the right one and the sum.
ELEMENTS = [("f32", "f32", "f32")] * 4 + [("bf16", "bf16", "f32"), ("i8", "i8", "i32")] * 2 + [
    ("f64", "f64", "f64"), ("f16", "f16", "f32"), ("i32", "i32", "i32"), ("i16", "i16", "i32"), ("i8", "i16", "i32"), ("i16", "i8", "i32"), ("i8", "i4", "i32"),
    ("i4", "i8", "i32")]


class Elements:
    """The types of a product, and how its operands are widened to that of the sum."""

    def __init__(self, rng, types=ELEMENTS):
        *self.operands, self.sum = rng.choice(types)
        self.extensions = ["extf" if self.sum[0] == "f" else rng.choice(["extsi", "extsi", "extui"]) for _ in range(2)]

    def widening(self):
        """Lines of a body with %x and %y, and the names of the factors."""
        lines, factors = [], []
        for wide, narrow, element, extension in zip("uv", "xy", self.operands, self.extensions):
            if element != self.sum:
                lines.append(f"    %{wide} = arith.{extension} %{narrow} : {element} to {self.sum}")
            factors.append(f"%{narrow if element == self.sum else wide}")
        return lines, factors

    def typed(self, operands):
        """As arguments or parameters: NumPy does not have all types."""
        return {name: pl.Buffer(array, element) if element in ("bf16", "i4") else array
                for (name, array), element in zip(operands.items(), self.operands)}

    def widened(self, operand, number):
        element = self.operands[number]
        if element == "bf16":
            return pl.from_bf16(operand).astype(np.float64)
        if self.sum[0] == "f":
            return operand.astype(np.float64)
        if element == "i4":
            return operand.astype(np.int64) & 15 if self.extensions[number] == "extui" else operand.astype(np.int64)
        if element != self.sum and self.extensions[number] == "extui":
            operand = operand.view(operand.dtype.str.replace("i", "u"))
        return operand.astype(np.int64)


def draw(shape, element, values):
    """A tensor of random elements."""
    if element == "bf16":
        return pl.to_bf16(values.standard_normal(shape))
    if element[0] == "f":
        return values.standard_normal(shape).astype(TYPES[element])
    # Of the smaller types any, the least too.
    bits = int(element[1:])
    low, high = (-100, 100) if element == "i32" else (-(2 ** (bits - 1)), 2 ** (bits - 1))
    return np.where(values.random(shape) < 0.1, low, values.integers(low, high, shape)).astype(TYPES[element])


def tensor_type(letters, sizes, unknown, element):
    return "tensor<" + "".join(("?" if letter in unknown else str(sizes[letter])) + "x" for letter in letters) + element + ">"


def choose_parameters(rng, types):
    """Those of the first arguments, by name, that are parameters of the module instead: their extents are known."""
    return {name: kind for name, kind in types.items() if "?" not in kind and rng.random() < 0.4}


def with_parameters(source, parameters):
    """The same source with arguments of @main as parameters of the module."""
    head, brace, body = source.partition("{\n")
    for name, kind in parameters.items():
        assert f"%{name}: {kind}, " in head
        head = head.replace(f"%{name}: {kind}, ", "", 1)
        body = f"  %{name} = ml_program.global_load_const @{name} : {kind}\n{body}"
    names = [f"ml_program.global private @{name}(#ml_program.extern<{kind}>) : {kind}\n" for name, kind in parameters.items()]
    return "".join(names) + head + brace + body


class Consumer:
    """An op that reads a result element by element, or none: what is added lies along one of its dimensions, along all of them
    in any order, or both; what comes out may have its dimensions in another order, and may be summed along one of them."""

    def __init__(self, rng, letters, sizes, unknown, element):
        self.letters, self.sizes, self.unknown, self.element = letters, sizes, unknown, element
        self.is_there = rng.random() < 0.6
        self.result = "".join(rng.sample(letters, len(letters))) if rng.random() < 0.3 else letters
        self.operands = ([rng.choice(letters)] if rng.random() < 0.7 else []) + (
            ["".join(rng.sample(letters, len(letters))) if rng.random() < 0.3 else letters] if rng.random() < 0.4 else [])
        self.clamps = rng.random() < 0.6
        self.summed = rng.choice(letters) if rng.random() < 0.2 and len(letters) > 1 else None
        if not self.is_there:
            self.result, self.operands, self.summed = letters, [], None

    def type(self, letters):
        return tensor_type(letters, self.sizes, self.unknown, self.element)

    @property
    def final(self):
        """The dimensions of what comes out."""
        return self.result.replace(self.summed, "") if self.summed else self.result

    def arguments(self):
        """Of the function, the ops' destinations last."""
        return "".join(f", %e{i}: {self.type(letters)}" for i, letters in enumerate([*self.operands, *self.destinations()]))

    def destinations(self):
        return [] if not self.is_there else [self.result] + ([self.final] if self.summed else [])

    def lines(self):
        """From %r and %zero to %s."""
        if not self.is_there:
            return []
        kind = "f" if self.element[0] == "f" else "i"
        loops = ", ".join(self.letters)
        layouts = [self.letters, *self.operands, self.result]
        maps = ", ".join(f"affine_map<({loops}) -> ({', '.join(letters)})>" for letters in layouts)
        kinds = ", ".join('"parallel"' for _ in self.letters)
        types = ", ".join(self.type(letters) for letters in layouts[:-1])
        names = ", ".join(["%r", *(f"%e{i}" for i in range(len(self.operands)))])
        out = f"%e{len(self.operands)}"
        body, value = [], "%x"
        for i in range(len(self.operands)):
            body.append(f"    %y{i} = arith.add{kind} {value}, %x{i} : {self.element}")
            value = f"%y{i}"
        if self.clamps:
            body.append(f"    %m = arith.max{'imumf' if kind == 'f' else 'si'} {value}, %zero : {self.element}")
            value = "%m"
        scalars = ", ".join(f"{name}: {self.element}" for name in ("%x", *(f"%x{i}" for i in range(len(self.operands))), "%o"))
        lines = [f"  %q = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}",
                 f"      ins({names} : {types}) outs({out} : {self.type(self.result)}) {{", f"  ^bb0({scalars}):", *body,
                 f"    linalg.yield {value} : {self.element}", f"  }} -> {self.type(self.result)}"]
        if not self.summed:
            return lines
        out, shape = f"%e{len(self.operands) + 1}", self.type(self.final)
        return [*lines, f"  %f = linalg.fill ins(%zero : {self.element}) outs({out} : {shape}) -> {shape}",
                f"  %w = linalg.reduce {{arith.add{kind}}} ins(%q : {self.type(self.result)}) outs(%f : {shape}) "
                f"dimensions = [{self.result.index(self.summed)}]"]

    @property
    def value(self):
        return "%w" if self.summed else "%q" if self.is_there else "%r"

    def values(self, operand):
        """Arguments of a call, made by `operand` from a shape."""
        return [operand([self.sizes[letter] for letter in letters]) for letters in [*self.operands, *self.destinations()]]

    def reference(self, product, values):
        if not self.is_there:
            return product
        for letters, value in zip(self.operands, values):
            axes = [letters.index(letter) for letter in self.letters if letter in letters]
            shape = [self.sizes[letter] if letter in letters else 1 for letter in self.letters]
            product = product + value.astype(product.dtype).transpose(axes).reshape(shape)
        if self.clamps:
            product = np.maximum(self.wrapped(product), 0)
        product = product.transpose([self.letters.index(letter) for letter in self.result])
        return product.sum(axis=self.result.index(self.summed)) if self.summed else product

    def wrapped(self, product):
        """Integers as wide as those of the program."""
        return product.astype(np.int64).astype(TYPES[self.element]) if self.element[0] == "i" else product

    @property
    def terms(self):
        """As many results are summed, the greatest of which counts."""
        return self.sizes[self.summed] if self.summed else 1


def compare(have, want, element, depth, terms):
    """What is wrong, or nothing."""
    if element[0] == "i":
        return None if (have == want.astype(np.int64).astype(TYPES[element])).all() else "not the sums"
    epsilon = np.finfo(TYPES[element]).eps
    error = np.abs(have - want)
    # Sums of as many products of normal numbers grow with the root of their number, and the errors on the way with the
    # root of that again times as much; of sums in f64 the reference has the same.
    allowed = epsilon * (8 * np.abs(want) + (2 * depth + 16) * terms)
    return None if (error <= allowed).all() else f"off by {error.max()}"


def compare_floats(have, want):
    """The same where errors have come a long way: measured by the largest number there is."""
    if have.shape != want.shape:
        return f"has shape {have.shape}, not {want.shape}"
    error, allowed = np.abs(have - want).max(initial=0), 1e-4 * (1 + np.abs(want).max(initial=0))
    return None if error <= allowed else f"off by {error}"


class OnDevice:
    """An engine whose modules are a device's, as far as that takes them."""

    def __init__(self, engine, device):
        self.engine, self.device = engine, device

    def loads(self, *arguments, **options):
        return self.engine.loads(*arguments, device=self.device, **options)


def run(doc, make, check, **options):
    """The program: makes cases of random numbers, checks each with engines of one and of two threads."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--device", help="a GPU, which gets all that it takes; status 77 if it is not there")
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}", flush=True)
    if arguments.device:
        target = pl.Target("host")
        if arguments.device not in [device["name"] for device in target.describe()["devices"]]:
            print(f"there is no {arguments.device}")
            sys.exit(77)
        options["target"] = target
    engines = [pl.Engine(threads=threads, **options) for threads in (1, 2)]
    if arguments.device:
        engines = [OnDevice(engine, arguments.device) for engine in engines]
    start, done, wrong = time.time(), 0, 0
    while time.time() - start < arguments.seconds if arguments.seconds else done < arguments.count:
        rng = random.Random(f"{arguments.seed} {done}")
        case = make(rng)
        if arguments.device:
            case.isStrict = False  # a GPU may round divisions and roots otherwise than the host
        try:
            fault = check(case, engines, np.random.default_rng(rng.randrange(2 ** 32)))
        except pl.Error as error:
            # Mesa's driver in software has a limit, and answers beyond it with an error.
            ends = arguments.device and re.search(r"goes through loops \d+ times; 'llvmpipe", str(error))
            fault = None if ends else f"does not run: {error}"
        done += 1
        if fault:
            wrong += 1
            print(f"number {done}: {fault}: {case.sizes}\n{case.source()}", flush=True)
    print(f"{done} cases, {wrong} wrong")
    sys.exit(wrong != 0)
