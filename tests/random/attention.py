#!/usr/bin/env python3
"""Random attention, compared with NumPy in f64.

  PYTHONPATH=build/python tests/random/attention.py [--seed N] [--count N | --seconds S]

softmax(Q K^T) V as exporters write it: with batches and heads, of which several may share keys and values, operands stored
in any order, scale, masks that are added, those by position (later keys, with keys of before, those far back, by any comparison), sums that keep their dimension or not, linalg.softmax or its parts,
products of what was collapsed to one batch, extents that are not known, elements of f16, bf16 and f64, probabilities of these. With one and with two threads the
results are equal, bit for bit, and strict code gives the bits of the oracle, for every fourth. Exit status 1 if any was wrong; its
source is printed.
"""
import numpy as np
import plimsoll as pl

from products import TYPES, compare_floats, run, tensor_type

LENGTHS = [1, 2, 3, 7, 16, 31, 48, 64, 65, 96, 128, 200]
# Keys that are gone over in blocks of 512, where a call may bring any number of them, too.
LONG = [511, 512, 513, 700, 1024, 1025, 1537]
DEPTHS = [1, 3, 8, 16, 20, 32, 33, 64]


class ByPlace:
    """What a query sees: keys up to its own place, which is that of its row behind some keys of before; of them the last few, maybe."""

    def __init__(self, rng, batch):
        self.integer = rng.choice(["i32", "i64"])
        self.past = rng.choice(["none", "constant", "scalar", "batch"] if batch else ["none", "constant", "scalar"])
        self.offset = rng.choice([0, 1, 5, 64, 100, -2]) if self.past == "constant" else 0
        self.window = rng.choice([0, 0, 0, 1, 7, 64, 70])
        self.form = rng.choice(["select", "select", "add", "apart"])
        # What f32 has exactly: rows of which nothing is seen show differences.
        self.number = rng.choice([-np.inf, -np.inf, -2.0 ** 100, *([float(np.finfo(np.float32).min), -2.0 ** 30] if self.form == "select" else [])])
        self.low, self.written, self.isUnsigned = "%low", rng.choice(range(4)), rng.random() < 0.3 and self.offset >= 0

    def constants(self, element):
        value = {"f32": "0xFF800000", "f64": "0xFFF0000000000000"}[element] if np.isinf(self.number) else f"{self.number:.17e}"
        return [f"  %low = arith.constant {value} : {element}", f"  %offset = arith.constant {self.offset} : {self.integer}",
                f"  %window = arith.constant {self.window} : {self.integer}"]

    def condition(self, row, column, type):
        """%c: is it hidden?"""
        integer, lines = self.integer, [f"%i = linalg.index {row} : index", f"%j = linalg.index {column} : index"]
        lines += [f"%{each}c = arith.index_cast %{each} : index to {self.integer}" for each in "ij"]
        if self.past in ("scalar", "batch"):
            if self.past == "batch":
                lines.append("%b = linalg.index 0 : index")
            lines.append(f"%past_ = tensor.extract %past[{'%b' if self.past == 'batch' else ''}] : {type}")
        past = {"none": None, "constant": "%offset"}.get(self.past, "%past_")
        own = "%ic"
        if past:
            lines.append(f"%own = arith.addi {past}, %ic : {integer}")
            own = "%own"
        # The same in four ways.
        later = [f"arith.cmpi sgt, %jc, {own}", f"arith.cmpi slt, {own}, %jc", f"arith.cmpi sle, %jc, {own}", f"arith.cmpi sge, %d, %zero_"][self.written]
        if self.written == 3:
            lines += [f"%zero_ = arith.constant 0 : {integer}", f"%d = arith.subi {own}, %jc : {integer}"]
        elif self.isUnsigned and self.past in ("none", "constant"):
            later = later.replace(" s", " u")
        lines.append(f"%later = {later} : {integer}")
        if self.written >= 2:
            lines += ["%true = arith.constant true", "%later_ = arith.xori %later, %true : i1"]
        hidden = "%later_" if self.written >= 2 else "%later"
        if self.window:
            lines += [f"%begin = arith.subi {own}, %window : {integer}", f"%before = arith.cmpi sle, %jc, %begin : {integer}",
                      f"%c = arith.ori {hidden}, %before : i1"]
        else:
            lines += ["%false = arith.constant false", f"%c = arith.ori {hidden}, %false : i1"]
        return "\n    ".join(lines)


class Attention:
    """One of them. Dimensions have letters: batch, heads, groups of heads with the same keys, queries, t for keys, depth, e for what a
    value has."""

    def __init__(self, rng):
        self.rng, self.count, self.lines = rng, 0, []
        self.isStrict = rng.random() < 0.25
        self.element = rng.choice(["f32"] * 6 + ["f64", "f16", "bf16", "bf16"])
        self.narrows = self.element in ("f16", "bf16") and rng.random() < 0.7
        self.sum = "f64" if self.element == "f64" else "f32"
        self.batch = rng.choice(["", "b", "h", "h", "bh", "bh", "hg", "bhg"])
        self.sizes = {"b": rng.choice([1, 2]), "h": rng.choice([1, 2, 3, 12]), "g": rng.choice([2, 3]), "q": rng.choice([0, *LENGTHS]),
                      "t": rng.choice(LENGTHS if rng.random() < 0.6 else LONG), "d": rng.choice(DEPTHS), "e": rng.choice([*DEPTHS, 300])}
        # As torch writes it: one batch, made of all, for products.
        self.collapses = len(self.batch) > 1 and "g" not in self.batch and rng.random() < 0.5
        self.unknown = "" if self.collapses else rng.choice(["", "", "", "q", "t", "qt", "t" + self.batch[:1]])
        self.keepsDims = rng.random() < 0.4
        self.isNamed = rng.random() < 0.3
        self.byPlace = ByPlace(rng, self.batch) if rng.random() < 0.5 else None
        self.masksMuch = rng.random() < 0.5  # some with numbers that nothing is left of
        self.masksBegin = rng.random() < 0.2  # nothing of the first keys is left, whatever they are
        self.grows = rng.random() < 0.3  # later keys have larger scores
        shared = self.batch.replace("g", "")
        self.scores = self.batch + "qt"
        letters = {"Q": self.batch + "qd", "K": shared + "td", "V": shared + "te"}
        if not self.collapses:
            letters = {name: "".join(rng.sample(each, len(each))) if rng.random() < 0.5 else each for name, each in letters.items()}
        if rng.random() < 0.4:
            letters["mask"] = rng.choice(["qt", "t", self.scores])
        if rng.random() < 0.3:
            letters["residual"] = self.batch + "qe"
        if self.byPlace and self.byPlace.past in ("scalar", "batch"):
            letters["past"] = self.batch[:1] if self.byPlace.past == "batch" else ""
        self.arguments = letters
        self.result = self.batch + "qe"
        self.write()

    def name(self):
        self.count += 1
        return f"%v{self.count}"

    def of(self, name):
        if name == "past":
            return self.byPlace.integer
        return self.sum if name in ("mask", "residual") else self.element

    def type(self, letters, element=None):
        return tensor_type(letters, self.sizes, self.unknown, element or self.sum)

    def empty(self, letters, element=None):
        name = self.name()
        sizes = ", ".join(f"%n{letter}" for letter in letters if letter in self.unknown)
        self.lines.append(f"  {name} = tensor.empty({sizes}) : {self.type(letters, element)}")
        return name

    def filled(self, letters, value):
        name, out = self.name(), self.empty(letters)
        self.lines.append(f"  {name} = linalg.fill ins({value} : {self.sum}) outs({out} : {self.type(letters)}) -> {self.type(letters)}")
        return name

    def generic(self, inputs, letters, loops, body, out=None, element=None):
        """`inputs` are names, letters, elements; a letter 1 is a dimension of one element."""
        element = element or self.sum
        name, out = self.name(), out or self.empty(letters, element)
        maps = ", ".join(f"affine_map<({', '.join(loops)}) -> ({', '.join('0' if each == '1' else each for each in some)})>"
                         for some in [each for _, each, _ in inputs] + [letters])
        kinds = ", ".join('"parallel"' if loop in letters else '"reduction"' for loop in loops)
        sizes = {**self.sizes, "1": 1}
        types = ", ".join(tensor_type(each, sizes, self.unknown, its) for _, each, its in inputs)
        ins = f"ins({', '.join(each for each, _, _ in inputs)} : {types})" if inputs else ""
        scalars = ", ".join([f"%a{i}: {its}" for i, (_, _, its) in enumerate(inputs)] + [f"%o: {element}"])
        kind = tensor_type(letters, sizes, self.unknown, element)
        self.lines.append(f"  {name} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}\n"
                          f"      {ins} outs({out} : {kind}) {{\n"
                          f"  ^bb0({scalars}):\n    {body}\n    linalg.yield %r : {element}\n  }} -> {kind}")
        return name

    def product(self, left, right, letters, loops):
        body, names = [], []
        for i, (_, _, element) in enumerate((left, right)):
            names.append(f"%a{i}")
            if element != self.sum:
                names[i] = f"%w{i}"
                body.append(f"%w{i} = arith.extf %a{i} : {element} to {self.sum}")
        body += [f"%p = arith.mulf {names[0]}, {names[1]} : {self.sum}", f"%r = arith.addf %o, %p : {self.sum}"]
        return self.generic([left, right], letters, loops, "\n    ".join(body), self.filled(letters, "%zero"))

    def reshaped(self, value, letters, element, how):
        """Of several batches one, a letter in capitals, or the other way round."""
        name, one = self.name(), [self.sizes[letter] for letter in letters]
        count = len(self.batch)
        groups = [list(range(count)), *([i] for i in range(count, len(letters)))]
        joined = [int(np.prod(one[:count])), *one[count:]]
        types = ["tensor<" + "".join(f"{size}x" for size in sizes) + element + ">" for sizes in (one, joined)]
        if how == "collapse":
            self.lines.append(f"  {name} = tensor.collapse_shape {value} {groups} : {types[0]} into {types[1]}")
        else:
            self.lines.append(f"  {name} = tensor.expand_shape {value} {groups} output_shape {one} : {types[1]} into {types[0]}")
        return name

    def multiplied(self, left, right, letters, loops):
        if not self.collapses:
            return self.product(left, right, letters, loops)
        count = len(self.batch)
        self.sizes["z"] = int(np.prod([self.sizes[letter] for letter in self.batch]))
        sides = [(self.reshaped(value, each, element, "collapse"), "z" + each[count:], element) for value, each, element in (left, right)]
        return self.reshaped(self.product(*sides, "z" + letters[count:], "z" + loops[count:]), letters, self.sum, "expand")

    def reduced(self, value, body, start):
        kept = self.scores[:-1] + ("1" if self.keepsDims else "")
        if not self.keepsDims:
            return self.generic([(value, self.scores, self.sum)], kept, self.scores, body, self.filled(kept, start)), kept
        name, out, kind = self.name(), self.name(), tensor_type(kept, {**self.sizes, "1": 1}, self.unknown, self.sum)
        sizes = ", ".join(f"%n{letter}" for letter in kept if letter in self.unknown)
        self.lines += [f"  {name} = tensor.empty({sizes}) : {kind}",
                       f"  {out} = linalg.fill ins({start} : {self.sum}) outs({name} : {kind}) -> {kind}"]
        return self.generic([(value, self.scores, self.sum)], kept, self.scores, body, out), kept

    def softmax(self, scores):
        kind = self.type(self.scores)
        if self.isNamed:
            name, out = self.name(), self.empty(self.scores)
            self.lines.append(f"  {name} = linalg.softmax dimension({len(self.scores) - 1}) ins({scores} : {kind}) outs({out} : {kind}) -> {kind}")
            return name
        most, kept = self.reduced(scores, f"%r = arith.maximumf %o, %a0 : {self.sum}", "%lowest")
        powers = self.generic([(scores, self.scores, self.sum), (most, kept, self.sum)], self.scores, self.scores,
                              f"%s = arith.subf %a0, %a1 : {self.sum}\n    %r = math.exp %s : {self.sum}")
        total, kept = self.reduced(powers, f"%r = arith.addf %o, %a0 : {self.sum}", "%zero")
        return self.generic([(powers, self.scores, self.sum), (total, kept, self.sum)], self.scores, self.scores,
                            f"%r = arith.divf %a0, %a1 : {self.sum}")

    def masked_by_place(self, scores):
        place, count = self.byPlace, len(self.scores)
        body = place.condition(count - 2, count - 1, self.type(self.arguments.get("past", ""), place.integer))
        if place.form == "select":
            body += f"\n    %r = arith.select %c, {place.low}, %a0 : {self.sum}"
            return self.generic([(scores, self.scores, self.sum)], self.scores, self.scores, body)
        body += f"\n    %r = arith.select %c, {place.low}, %zero : {self.sum}"
        if place.form == "apart":
            added = self.generic([], self.scores, self.scores, body)
            return self.generic([(scores, self.scores, self.sum), (added, self.scores, self.sum)], self.scores, self.scores,
                                f"%r = arith.addf %a0, %a1 : {self.sum}")
        return self.generic([(scores, self.scores, self.sum)], self.scores, self.scores,
                            body.replace("%r =", "%m =") + f"\n    %r = arith.addf %a0, %m : {self.sum}")

    def write(self):
        for letter in self.unknown:
            name = next(each for each, letters in self.arguments.items() if letter in letters)
            letters = self.arguments[name]
            self.lines += [f"  %i{letter} = arith.constant {letters.index(letter)} : index",
                           f"  %n{letter} = tensor.dim %{name}, %i{letter} : {self.type(letters, self.of(name))}"]
        q, k, v = ((f"%{name}", self.arguments[name], self.element) for name in "QKV")
        scores = self.multiplied(q, k, self.scores, self.scores + "d")
        scores = self.generic([(scores, self.scores, self.sum)], self.scores, self.scores, f"%r = arith.mulf %a0, %scale : {self.sum}")
        if "mask" in self.arguments:
            scores = self.generic([(scores, self.scores, self.sum), ("%mask", self.arguments["mask"], self.sum)], self.scores,
                                  self.scores, f"%r = arith.addf %a0, %a1 : {self.sum}")
        if self.byPlace:
            scores = self.masked_by_place(scores)
        scores, kind = self.softmax(scores), self.sum
        if self.narrows:
            kind = self.element
            scores = self.generic([(scores, self.scores, self.sum)], self.scores, self.scores,
                                  f"%r = arith.truncf %a0 : {self.sum} to {kind}", element=kind)
        result = self.multiplied((scores, self.scores, kind), v, self.result, self.result + "t")
        if "residual" in self.arguments:
            result = self.generic([(result, self.result, self.sum), ("%residual", self.result, self.sum)], self.result, self.result,
                                  f"%r = arith.addf %a0, %a1 : {self.sum}")
        self.value = result

    def source(self):
        arguments = ", ".join(f"%{name}: {self.type(letters, self.of(name))}" for name, letters in self.arguments.items())
        lowest = "0xFFF0000000000000" if self.sum == "f64" else "0xFF800000"
        kind = self.type(self.result)
        return "\n".join([f"func.func @main({arguments}) -> {kind} {{", f"  %zero = arith.constant 0.0 : {self.sum}",
                          f"  %scale = arith.constant 0.3 : {self.sum}",
                          *(self.byPlace.constants(self.sum) if self.byPlace else []), f"  %lowest = arith.constant {lowest} : {self.sum}",
                          *self.lines, f"  return {self.value} : {kind}", "}", ""])

    def reference(self, values):
        q, k, v = (numbers(values[name], self.element) for name in "QKV")
        rule = f"{self.arguments['Q']},{self.arguments['K']}->{self.scores}"
        scores = np.einsum(rule, q, k, optimize=True) * np.float64(np.float32(0.3) if self.sum == "f32" else 0.3)
        if "mask" in self.arguments:
            letters = self.arguments["mask"]
            scores = scores + values["mask"].reshape([self.sizes[each] if each in letters else 1 for each in self.scores])
        if self.byPlace:
            place = self.byPlace
            past = np.asarray(values["past"] if "past" in values else place.offset, np.int64)
            rows, columns = np.ogrid[:self.sizes["q"], :self.sizes["t"]]
            own = rows + past.reshape(past.shape + (1,) * (len(self.scores) - past.ndim))
            hidden = (columns > own) | (columns <= own - place.window if place.window else False)
            low = np.float64(place.number)
            scores = np.where(hidden, low, scores) if place.form == "select" else scores + np.where(hidden, low, 0)
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        scores /= scores.sum(axis=-1, keepdims=True)
        result = np.einsum(f"{self.scores},{self.arguments['V']}->{self.result}", scores, v, optimize=True)
        return result + values["residual"] if "residual" in self.arguments else result


def numbers(values, element):
    return pl.from_bf16(values).astype(np.float64) if element == "bf16" else values.astype(np.float64)


def check(case, engines, random):
    """What is wrong, or nothing."""
    values = {name: random.standard_normal([case.sizes[letter] for letter in letters]) for name, letters in case.arguments.items()}
    values = {name: pl.to_bf16(each) if case.of(name) == "bf16" else each.astype(TYPES[case.of(name)]) for name, each in values.items()}

    if "past" in values:
        values["past"] = random.integers(-1, case.sizes["t"] + 2, values["past"].shape).astype(TYPES[case.byPlace.integer])
    if "mask" in values and case.masksMuch:
        values["mask"][random.random(values["mask"].shape) < 0.5] = -2.0 ** 100
    if "mask" in values and case.masksBegin and not case.byPlace:
        values["mask"][..., :random.integers(1, case.sizes["t"] + 1) - 1] = -np.inf
    if "mask" in values and case.grows:
        values["mask"] += np.linspace(0, 300, case.sizes["t"], dtype=values["mask"].dtype)

    def call(engine, **options):
        return np.asarray(engine.loads(case.source(), **options).main(*values.values()))

    have, other = (call(engine) for engine in engines)
    if have.tobytes() != other.tobytes():
        return "one thread and two give different results"
    if case.isStrict:
        strict, oracle = (call(engines[0], **options) for options in ({"numerics": "strict"}, {"oracle": True}))
        # The sign of a NaN is the processor's, or the compiler's.
        strict, oracle = (np.where(np.isnan(each), np.nan, each) for each in (strict, oracle))
        if strict.tobytes() != oracle.tobytes():
            return "strict code and the oracle give different results"
    with np.errstate(invalid="ignore"):
        want = case.reference(values)
    # Of rows of which nothing is seen.
    if (np.isnan(have) != np.isnan(want)).any():
        return "NaN elsewhere"
    have, want = np.nan_to_num(have), np.nan_to_num(want)
    if not case.narrows:
        return compare_floats(have, want)
    # As far as probabilities are rounded.
    error, allowed = np.abs(have - want).max(initial=0), {"f16": 2 ** -10, "bf16": 2 ** -7}[case.element] * (1 + np.abs(want).max(initial=0))
    return None if error <= allowed else f"off by {error}"


if __name__ == "__main__":
    run(__doc__, Attention, check)
