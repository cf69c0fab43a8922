"""The scalar steps in the bodies of operations, and what is known of each number."""
import math

from .values import DIGITS, FLOATS, INTEGERS, Step, Value

LARGEST_ERROR = 0.25


def unit(element):
    return 2.0 ** -DIGITS[element]


def limit(element):
    return 2.0 ** min(DIGITS[element], 40)


class Body:
    """Scalar steps over the elements of some values, and what is known of each number."""

    def __init__(self, generator, values):
        self.generator, self.random = generator, generator.random
        self.numbers = [value.like(shape=(), open=()) for value in values]
        self.steps = []

    def add(self, kind, op, operands, result, bound=math.inf, error=0.0, whole=True):
        source = self.numbers[operands[-1]].element if operands else result
        self.steps.append(Step(kind, op, tuple(operands), source, result))
        self.numbers.append(Value((), (), result, bound, error, whole))
        return len(self.numbers) - 1

    def constant(self, element, number):
        return self.add("constant", str(number), (), element, abs(number))

    def index(self, axis, element):
        at = self.add("index", str(axis), (), "index")
        return self.cast(at, element)

    def binary(self, name, a, b, bound=math.inf, error=0.0, whole=True):
        return self.add("same", "arith." + name, (a, b), self.numbers[a].element, bound, error, whole)

    # Each gives the number of the new value, or None where it could not be exact or near enough.

    def cast(self, a, element):
        value = self.numbers[a]
        source = value.element
        if source == element:
            return a
        if source in INTEGERS and element in INTEGERS:
            if "index" in (source, element):
                if source == "i1":
                    return self.cast(self.cast(a, "i32"), element)
                if element == "i1":
                    return self.cast(self.cast(a, "i32"), element)
                return self.add("cast", "arith.index_cast", (a,), element)
            wider = int(element[1:]) > int(source[1:])
            name = "trunci" if not wider else \
                "extui" if source == "i1" or self.random.random() < 0.3 else "extsi"
            return self.add("cast", "arith." + name, (a,), element)
        if source in INTEGERS:
            if source == "index":
                a = self.cast(a, "i32")
            if source != "i1":  # Few bits, so that every type of float has them all.
                a = self.binary("andi", a, self.constant(self.numbers[a].element, 7))
            name = "uitofp" if source == "i1" else self.random.choice(["sitofp", "uitofp"])
            return self.add("cast", "arith." + name, (a,), element, 7.0)
        if element in INTEGERS:
            if not (self.generator.exact and value.whole and value.bound <= 127 and element != "i1"):
                return None
            if element == "index":
                return self.cast(self.cast(a, "i32"), "index")
            return self.add("cast", "arith.fptosi", (a,), element)
        if {source, element} == {"f16", "bf16"}:  # Neither holds the other.
            middle = self.cast(a, "f32")
            return None if middle is None else self.cast(middle, element)
        if DIGITS[element] > DIGITS[source] or element == "f32" and source == "bf16":
            return self.add("cast", "arith.extf", (a,), element, value.bound, value.error, value.whole)
        if self.generator.exact:
            if value.bound > limit(element) or not value.whole:
                return None
            return self.add("cast", "arith.truncf", (a,), element, value.bound)
        error = value.error + unit(element) * value.bound
        return self.add("cast", "arith.truncf", (a,), element, value.bound, error)

    def arithmetic(self, name, a, b):
        """addf, subf, mulf, and the extremes."""
        x, y = self.numbers[a], self.numbers[b]
        u = unit(x.element)
        whole = x.whole and y.whole
        if name in ("maximumf", "minimumf", "maxnumf", "minnumf"):
            return self.binary(name, a, b, max(x.bound, y.bound), max(x.error, y.error), whole)
        if name == "mulf":
            bound = x.bound * y.bound
            error = x.bound * y.error + y.bound * x.error + 2 * u * bound
            if self.generator.exact and not whole:
                return None
        else:
            bound = x.bound + y.bound
            error = x.error + y.error + u * bound
        if self.generator.exact:
            if whole and bound > limit(x.element) or bound > 2.0 ** 30:
                return None
            return self.binary(name, a, b, bound, 0.0, whole)
        if bound > 1000 or error > LARGEST_ERROR:
            return None
        return self.binary(name, a, b, bound, error)

    def function(self, a):
        """One operand, for floats."""
        x = self.numbers[a]
        u = unit(x.element)
        if self.generator.exact:
            name = self.random.choice(["negf", "absf", "divf"])
            if name == "divf":
                by = self.random.choice([2, 3, 4])
                if self.random.random() < 0.6:
                    return None
                return self.binary(name, a, self.constant(x.element, by), x.bound, 0.0, False)
            op = "arith.negf" if name == "negf" else "math.absf"
            return self.add("same", op, (a,), x.element, x.bound, 0.0, x.whole)
        name = self.random.choice(["tanh", "exp", "sin", "cos", "rsqrt", "divf", "negf", "absf"])
        if name == "negf":
            return self.add("same", "arith.negf", (a,), x.element, x.bound, x.error)
        if name == "absf":
            return self.add("same", "math.absf", (a,), x.element, x.bound, x.error)
        if name == "exp":
            if x.bound > 3:
                return None
            top = math.exp(x.bound)
            return self.add("same", "math.exp", (a,), x.element, top, top * (2 * x.error + 6 * u))
        if name in ("tanh", "sin", "cos"):
            return self.add("same", "math." + name, (a,), x.element, 1.0, x.error + 6 * u)
        one = self.constant(x.element, 1)
        size = self.add("same", "math.absf", (a,), x.element, x.bound, x.error)
        more = self.arithmetic("addf", size, one)
        if more is None:
            return None
        if name == "rsqrt":
            return self.add("same", "math.rsqrt", (more,), x.element, 1.0,
                            self.numbers[more].error + 6 * u)
        return self.binary("divf", a, more, 1.0, 2 * x.error + 6 * u)

    def integer(self, a, b):
        element = self.numbers[a].element
        if element == "i1":
            return self.binary(self.random.choice(["andi", "ori", "xori"]), a, b)
        name = self.random.choice(["addi", "subi", "muli", "andi", "ori", "xori", "maxsi", "minsi",
                                   "maxui", "minui", "shli", "shrsi", "shrui", "divsi", "remsi",
                                   "divui", "remui", "floordivsi", "ceildivsi"])
        if name.startswith("sh"):
            bits = 64 if element == "index" else int(element[1:])
            b = self.constant(element, self.random.randrange(min(bits, 16)))
        elif "div" in name or "rem" in name:
            if self.random.random() < 0.5:
                b = self.constant(element, self.random.choice([1, 2, 3, 7, 10]))
            else:  # Neither zero nor -1, which would overflow with the least number.
                b = self.binary("andi", b, self.constant(element, 7))
                b = self.binary("ori", b, self.constant(element, 1))
        return self.binary(name, a, b)

    def compare(self, a, b, other):
        x = self.numbers[a]
        if x.element in FLOATS:
            if not self.generator.exact:
                return None
            word = self.random.choice(["olt", "ogt", "oge", "ole", "oeq", "une", "ult", "ugt"])
            test = self.add("same", f"arith.cmpf {word},", (a, b), "i1")
        else:
            words = ["slt", "sgt", "ult", "ugt", "eq", "ne", "sge", "ule"]
            test = self.add("same", f"arith.cmpi {self.random.choice(words)},", (a, b), "i1")
        y, z = self.numbers[a], self.numbers[other]
        return self.add("select", "", (test, a, other), x.element, max(y.bound, z.bound),
                        max(y.error, z.error), y.whole and z.whole)

    def grow(self, element=None):
        """A step more, by preference from the number before."""
        last = len(self.numbers) - 1
        a = last if self.random.random() < 0.8 else self.random.randrange(last + 1)
        x = self.numbers[a]
        b = self.random.randrange(last + 1)
        if self.random.random() < 0.15:
            b = self.constant(x.element, 1 if x.element == "i1" else self.random.choice([0, 1, 2, 3]))
        choice = self.random.random()
        if choice < 0.15:
            wanted = element or self.random.choice(self.generator.elements)
            return self.cast(a, wanted)
        if choice < 0.3 and x.element in FLOATS:
            return self.function(a)
        b = self.cast(b, x.element)
        if b is None:
            return None
        if choice < 0.45:
            other = self.cast(self.random.randrange(len(self.numbers)), x.element)
            return None if other is None else self.compare(a, b, other)
        if x.element in FLOATS:
            name = self.random.choice(["addf", "subf", "mulf", "maximumf", "minimumf", "maxnumf",
                                       "minnumf", "addf", "mulf"])
            return self.arithmetic(name, a, b)
        return self.integer(a, b)

    def clamp(self, a, bound):
        x = self.numbers[a]
        if x.bound <= bound:
            return a
        top, low = self.constant(x.element, bound), self.constant(x.element, -bound)
        a = self.binary("minimumf", a, top, x.bound, x.error, x.whole)
        return self.binary("maximumf", a, low, bound, x.error, x.whole)
