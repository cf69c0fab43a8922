#!/usr/bin/env python3
"""Random products of tensors, compared with NumPy's einsum in f64 or i64.

  PYTHONPATH=build/python tests/random/contractions.py [--seed N] [--count N | --seconds S]

Each has rows, columns and a sum, and up to two dimensions more that are of a batch, of one operand alone or summed over too;
operands and result lie in any order of their dimensions, some of which only the call knows; the result is added to what is
there, or to zero, and something may read it. Operands may be parameters of the module, and integers may have zero points. Sizes are 1, primes, and beside the sizes of vectors, register tiles and panels;
sums may be so deep that they are split. With one and with two
threads the results are equal, bit for bit. Exit status 1 if any was wrong; its source is printed.
"""
import numpy as np

from products import Consumer, Elements, choose_parameters, compare, draw, run, tensor_type, with_parameters

SIZES = [0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 15, 16, 17, 24, 31, 32, 33, 48, 49, 63, 64, 65, 96, 100, 127, 128, 129, 200, 257,
         512, 513, 600, 1025, 1100]
DEPTHS = [2048, 2051, 3000, 4096, 8191, 20000, 65536, 100003]  # what plim-split-reductions splits
MOST = 3e7  # products


class Contraction:
    """One of them: its source, and what its operands are like."""

    def __init__(self, rng):
        while True:
            self.sizes = dict(zip("mnk", rng.choices(SIZES, k=3)))
            if rng.random() < 0.3:
                self.sizes["k"] = rng.choice(DEPTHS)
            if rng.random() < 0.2:
                self.sizes["n"] = rng.choice([1, 2, 3])
            for name in "bh"[:rng.choice([0, 0, 0, 1, 2])]:
                self.sizes[name] = rng.choice([1, 2, 3, 4])
            if np.prod([float(size) for size in self.sizes.values()]) < MOST:
                break
        roles = {name: rng.choice(["batch", "batch", "left", "right", "sum"]) for name in self.sizes if name in "bh"}

        def order(names, kinds):
            names = list(names) + [name for name, role in roles.items() if role in kinds]
            rng.shuffle(names)
            return "".join(names)

        self.left = order("mk", ("batch", "left", "sum"))
        self.right = order("kn", ("batch", "right", "sum"))
        self.result = order("mn", ("batch", "left", "right"))
        self.loops = order(self.sizes, ())
        self.unknown = {name for name in self.sizes if rng.random() < 0.3}
        self.depth = np.prod([size for name, size in self.sizes.items() if name not in self.result])
        self.elements = Elements(rng)
        self.sum = self.elements.sum
        hasZeroPoints = self.sum == "i32" and "i32" not in self.elements.operands and rng.random() < 0.5
        self.zeroPoints = [rng.choice([0, 0, 1, -128, 127, 255, 123456789, 2**31 - 1]) if hasZeroPoints else 0 for _ in range(2)]
        self.adds = rng.random() < 0.4
        self.consumer = Consumer(rng, self.result, self.sizes, self.unknown, self.sum)
        self.parameters = choose_parameters(
            rng, {"a": self.type(self.left, self.elements.operands[0]), "b": self.type(self.right, self.elements.operands[1])})

    def type(self, names, element):
        return tensor_type(names, self.sizes, self.unknown, element)

    def source(self):
        loops = ", ".join(self.loops)
        maps = ", ".join(f"affine_map<({loops}) -> ({', '.join(names)})>" for names in (self.left, self.right, self.result))
        kinds = ", ".join('"parallel"' if name in self.result else '"reduction"' for name in self.loops)
        (a, b), (widening, factors) = self.elements.operands, self.elements.widening()
        left, right = self.type(self.left, a), self.type(self.right, b)
        result = self.type(self.result, self.sum)
        final = self.type(self.consumer.final, self.sum)
        kind = "f" if self.sum[0] == "f" else "i"
        factors = [f"%z{wide}" if zero else factor for wide, zero, factor in zip("uv", self.zeroPoints, factors)]
        return with_parameters("\n".join([
            f"func.func @main(%a: {left}, %b: {right}, %c: {result}{self.consumer.arguments()}) -> {final} {{",
            f"  %zero = arith.constant {'0.0' if kind == 'f' else '0'} : {self.sum}",
            f"  %z = linalg.fill ins(%zero : {self.sum}) outs(%c : {result}) -> {result}",
            f"  %r = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}",
            f"      ins(%a, %b : {left}, {right}) outs({'%c' if self.adds else '%z'} : {result}) {{",
            f"  ^bb0(%x: {a}, %y: {b}, %sum: {self.sum}):",
            *widening,
            *(line for wide, zero in zip("uv", self.zeroPoints) if zero
              for line in (f"    %c{wide} = arith.constant {zero} : {self.sum}", f"    %z{wide} = arith.subi %{wide}, %c{wide} : {self.sum}")),
            f"    %p = arith.mul{kind} {', '.join(factors)} : {self.sum}",
            f"    %s = arith.add{kind} %sum, %p : {self.sum}",
            f"    linalg.yield %s : {self.sum}",
            f"  }} -> {result}",
            *self.consumer.lines(),
            f"  return {self.consumer.value} : {final}",
            "}"]), self.parameters)

    def shape(self, names):
        return [self.sizes[name] for name in names]

    def draw(self, values):
        """Both operands by name, the other arguments, and what comes out."""
        a, b = (draw(self.shape(names), element, values)
                for names, element in zip((self.left, self.right), self.elements.operands))
        c = draw(self.shape(self.result), self.sum, values)
        more = self.consumer.values(lambda shape: draw(shape, self.sum, values))
        wide = [self.elements.widened(each, number) - self.zeroPoints[number] for number, each in enumerate((a, b))]
        want = np.einsum(f"{self.left},{self.right}->{self.result}", *wide, optimize=True)
        if self.adds:
            want = want + c
        if self.sum == "i32":
            want = want.astype(np.int32).astype(np.int64)  # sums wrap before anything reads them
        return {"a": a, "b": b}, [c, *more], self.consumer.reference(want, more)

    def compare(self, have, want):
        """What is wrong, or nothing."""
        return compare(have, want, self.sum, self.depth, self.consumer.terms)


def check(contraction, engines, values):
    """What is wrong, or nothing."""
    operands, rest, want = contraction.draw(values)
    operands = contraction.elements.typed(operands)
    parameters = {name: operands.pop(name) for name in contraction.parameters}
    have = [np.asarray(engine.loads(contraction.source(), parameters=parameters).main(*operands.values(), *rest))
            for engine in engines]
    if have[0].tobytes() != have[1].tobytes():
        return "one thread and two give different results"
    return contraction.compare(have[0], want)


if __name__ == "__main__":
    run(__doc__, Contraction, check, isolation="none")
