"""Makes a program from a seed: the same one on every machine."""
import math
import random

from .bodies import LARGEST_ERROR, Body, limit, unit
from .graph import Block, Call, For, If, Program, While
from .nodes import (ArgExtreme, Cast, Collapse, Complex, Concat, Constant, Contract, Convolve,
                    Elementwise, Expand, Gather, Pad, Reduce, Slice, Transpose, Walk)
from .values import FLOATS, INTEGERS, Invalid, Step, Value

EXTENTS = [0, 1, 1, 2, 3, 4, 5, 7, 8, 9, 13, 15, 16, 17, 31, 32, 33, 61, 64, 127]
LARGEST = 3000  # Elements of a tensor.


class Generator:
    def __init__(self, seed, elements):
        self.random = random.Random(seed)
        self.exact = self.random.random() < 0.65
        self.available = elements
        count = self.random.choice([1, 2, 2, 3])
        self.elements = self.random.sample(elements, min(count, len(elements)))
        if not self.exact and not any(element in FLOATS for element in self.elements):
            floats = [element for element in elements if element in FLOATS]
            self.elements.append(self.random.choice(floats))
        self.extents = [self.random.choice(EXTENTS) for _ in range(4)] + [self.random.choice([2, 3, 5])]
        self.openness = self.random.choice(["static", "open", "mixed", "open"])
        self.arguments = []
        self.calls = 0

    # --- Values -----------------------------------------------------------------------------------

    def shape(self, rank):
        shape = [self.random.choice(self.extents) for _ in range(rank)]
        while math.prod(shape) > LARGEST:
            shape[self.random.randrange(rank)] = self.random.choice([1, 2, 3])
        return tuple(shape)

    def flags(self, rank):
        if self.openness == "mixed":
            return tuple(self.random.random() < 0.5 for _ in range(rank))
        return (self.openness == "open",) * rank

    def fresh(self, shape, element, inside=False):
        """A new argument; inside functions, and sometimes elsewhere, a constant."""
        bound = 3.0 if self.exact else 1.0
        if inside or self.random.random() < 0.15:
            splat = self.random.choice([None, None, 0, 1, 2])
            seed = self.random.randrange(1 << 30)

            def numbers(count):
                source = random.Random(seed)
                low = 0 if element in ("i1", "index") else -3
                return [source.randint(low, 1 if element == "i1" else 3) for _ in range(count)]
            value = Value(shape, (False,) * len(shape), element, 3.0)
            return value, Constant([], [value], splat=splat, numbers=numbers)
        value = Value(shape, self.flags(len(shape)), element, bound)
        self.arguments.append(value)
        return value, None

    def pick(self, scope, test=lambda value: True):
        found = [value for value in scope.values if test(value)]
        if not found:
            return None
        if self.random.random() < 0.6:
            return found[-1 - self.random.randrange(min(3, len(found)))]
        return self.random.choice(found)

    def need(self, scope, shape, element):
        """A value of that shape, and any openness."""
        value = self.pick(scope, lambda v: v.shape == shape and v.element == element)
        if value is None or self.random.random() < 0.3:
            value, node = self.fresh(shape, element, scope.closed)
            if node:
                scope.nodes.append(node)
            scope.values.append(value)
        return value

    # --- Nodes: each gives a node, or None ------------------------------------------------------------

    def fitting(self, scope, value, target):
        """A random way to read `value` in the space of `target`: axes, or "0" for an extent of one."""
        map_, free = [], set(range(len(target.shape)))
        for extent in value.shape:
            axes = [axis for axis in free if target.shape[axis] == extent]
            if axes and not (extent == 1 and self.random.random() < 0.3):
                # Mostly in order.
                axis = axes[0] if self.random.random() < 0.7 else self.random.choice(axes)
                free.discard(axis)
                map_.append(axis)
            elif extent == 1:
                map_.append("0")
            else:
                return None
        return map_

    def elementwise(self, scope, target=None, order=None, close=None):
        target = target or self.pick(scope, lambda v: True)
        rank = len(target.shape)
        inputs, maps = [target], [list(range(rank))]
        for _ in range(self.random.choice([0, 1, 1, 2])):
            other = self.pick(scope)
            map_ = self.fitting(scope, other, target)
            if map_ is not None:
                inputs.append(other)
                maps.append(map_)
        if order is None:
            order = list(range(rank))
            if self.random.random() < 0.2:
                self.random.shuffle(order)
        init = None
        if self.random.random() < 0.25 and close is None:
            shape = tuple(target.shape[a] for a in order)
            flags = tuple(target.open[a] for a in order)
            found = self.pick(scope, lambda v: v.shape == shape and v.open == flags)
            if found:
                init = len(inputs)
                inputs.append(found)
                maps.append(list(order))
        body = Body(self, inputs)
        has_index = False
        if rank and self.random.random() < 0.2:
            has_index = body.index(self.random.randrange(rank), self.random.choice(self.elements)) \
                is not None
        for _ in range(self.random.choice([1, 2, 2, 3, 5])):
            body.grow(target.element if close else None)
        if close is not None:
            taken = [close(body)]
        else:
            last = len(body.numbers) - 1
            if init is not None:
                taken = [body.cast(last, inputs[init].element)]
                if taken[0] is None:
                    taken = [init]
            else:
                taken = [last]
                if self.random.random() < 0.15:
                    taken.append(self.random.randrange(len(body.numbers)))
        numbers = [body.numbers[at] for at in taken]
        outputs = [number.like() for number in numbers]
        plain = not has_index and init is None and order == list(range(rank)) and \
            all(map_ == order for map_ in maps)
        static = not any(flag for value in inputs for flag in value.open)
        constants = any(step.kind == "constant" for step in body.steps)
        whole = plain and (static or not constants) and bool(body.steps) and \
            all(at >= len(inputs) for at in taken) and len({value.open for value in inputs}) == 1 and \
            self.random.random() < 0.4
        return Elementwise(inputs, outputs, maps=maps, space=[(0, a) for a in range(rank)], order=order,
                           init=init, steps=body.steps, taken=taken, whole_tensors=whole)

    def reduce(self, scope):
        source = self.pick(scope, lambda v: v.shape)
        if source is None:
            return None
        rank = len(source.shape)
        axes = sorted(self.random.sample(range(rank), self.random.randint(1, rank)))
        count = math.prod(source.shape[a] for a in axes)
        element = source.element
        names = {True: ["addf", "addf", "maximumf", "minimumf", "maxnumf", "mulf", "turn", "half"],
                 False: ["addi", "muli", "maxsi", "minsi", "maxui", "minui", "andi", "ori", "xori", "turn",
                         "half"]}[element in FLOATS]
        if element == "i1":
            names = ["andi", "ori", "xori"]
        name = self.random.choice(names)
        kept = [a for a in range(rank) if a not in axes]
        inputs, start = [source], 0
        first = Value((), (), element, 0.0)
        if self.random.random() < 0.3:
            shape, flags = tuple(source.shape[a] for a in kept), tuple(source.open[a] for a in kept)
            found = self.pick(scope, lambda v: v.shape == shape and v.open == flags and
                              v.element == element)
            if found:
                inputs.append(found)
                first = found
        square = name in ("addf", "addi") and self.random.random() < 0.3
        if len(inputs) == 1:
            start = {"mulf": 1, "muli": 1, "andi": 1 if element == "i1" else -1,
                     "maximumf": -math.inf, "minimumf": math.inf, "maxnumf": -math.inf}.get(name, 0)
            if name in ("addf", "turn") and self.random.random() < 0.2:
                start, first.bound = 2, 2.0
            if abs(start) == math.inf and count == 0:
                return None
            if abs(start) == 1:
                first.bound = 1.0
        steps = []
        x, acc = 0, 1

        def add(op, *operands):
            steps.append(Step("same", op, operands, element, element))
            return 1 + len(steps)
        bound, error, whole = max(source.bound, first.bound), max(source.error, first.error), \
            source.whole and first.whole
        term, u = source.bound, unit(element) if element in FLOATS else 0
        term_error = source.error
        if square:
            x = add("arith.mulf" if element in FLOATS else "arith.muli", 0, 0)
            term, term_error = term * term, 2 * term * term_error + u * term * term
        if name == "turn":
            add("arith.subf" if element in FLOATS else "arith.subi", x, acc)
        elif name == "half":
            if element in FLOATS:
                steps.append(Step("constant", "0.5", (), element, element))
                half = add("arith.mulf", acc, 2)
                add("arith.addf", half, x)
            else:
                steps.append(Step("constant", "3", (), element, element))
                add("arith.addi", add("arith.muli", acc, 2), x)
        else:
            add("arith." + name, acc, x) if self.random.random() < 0.5 else add("arith." + name, x, acc)
        if element in FLOATS:
            if name in ("addf", "turn"):
                bound = first.bound + count * term
                error = first.error + count * (term_error + u * bound)
                if self.exact and (not whole or bound > limit(element)):
                    return None
            elif name == "mulf":
                if count > 30 or self.exact and not whole or max(term, first.bound) ** (count + 1) > \
                        (limit(element) if self.exact else 100):
                    return None
                top = max(term, first.bound, 1.0)
                bound = top ** (count + 1)
                error = (count + 1) * bound * (max(term_error, first.error) + u)
            elif name == "half":
                bound = first.bound + 2 * term
                error = first.error + 2 * term_error + 4 * u * bound
                whole = False
                if bound > 2.0 ** 30 or u * bound > 1 and self.exact:
                    return None
            if not self.exact and error > LARGEST_ERROR:
                return None
        output = Value((), (), element, bound, error if not self.exact else 0.0, whole)
        named = self.random.random() < 0.3
        return Reduce(inputs, [output], axes=axes, steps=steps, named=named, start=start)

    def fold(self, scope):
        """A reduction whose combiner is made of any steps: its order counts."""
        source = self.pick(scope, lambda v: v.shape and v.whole and
                           (v.element in INTEGERS or self.exact))
        if source is None:
            return None
        rank, element = len(source.shape), source.element
        axes = sorted(self.random.sample(range(rank), self.random.randint(1, rank)))
        bound = float(math.ceil(max(source.bound, 4.0))) if element in FLOATS else math.inf
        if element in FLOATS and bound > limit(element) / 4:
            return None
        body = Body(self, [source, Value((), (), element, bound)])
        for _ in range(self.random.choice([1, 2, 3, 4])):
            body.grow(element)
        at = len(body.numbers) - 1
        while at > 1 and (body.numbers[at].element != element or not body.numbers[at].whole):
            at -= 1
        if at < 2:
            return None
        del body.steps[at - 1:], body.numbers[at + 1:]
        # What is the accumulator's next value has seen both, or the order would not count.
        if self.random.random() < 0.7:
            more = body.arithmetic(self.random.choice(["subf", "addf"]), at, 1) \
                if element in FLOATS else body.integer(at, 1)
            at = at if more is None else more
        if element in FLOATS:
            at = body.clamp(at, bound)
        if at != len(body.numbers) - 1:
            return None
        return Reduce([source], [Value((), (), element, bound)], axes=axes, steps=body.steps,
                      named=self.random.random() < 0.3, start=self.random.choice([0, 0, 1]))

    def arg_extreme(self, scope):
        source = self.pick(scope, lambda v: v.shape and v.element != "i1" and
                           (v.element in INTEGERS or self.exact))
        if source is None:
            return None
        axis = self.random.randrange(len(source.shape))
        least = self.random.random() < 0.5
        if source.element in FLOATS:
            if source.shape[axis] == 0:
                return None
            start = math.inf if least else -math.inf
        else:
            bits = 64 if source.element == "index" else int(source.element[1:])
            start = (1 << (bits - 1)) - 1 if least else -(1 << (bits - 1))
        outputs = [source.like(), Value((), (), self.random.choice(["i32", "i64", "index"]))]
        return ArgExtreme([source], outputs, axis=axis, least=least, start=start)

    def contract(self, scope):
        left = self.pick(scope, lambda v: v.shape and v.element not in ("i1", "index"))
        if left is None:
            return None
        rank = len(left.shape)
        k = self.random.randrange(rank)
        batch = [a for a in range(rank) if a != k and self.random.random() < 0.25][:1]
        # Letters: dimensions of the space. The left operand has one for each axis.
        letters = list(range(rank))
        right_letters = [k, *batch]
        extra = self.random.choice([0, 1, 1, 1, 2]) if rank - len(batch) < 3 else 0
        right_letters += [rank + i for i in range(extra)]
        self.random.shuffle(right_letters)
        extents = dict(enumerate(left.shape))
        for letter in range(rank, rank + extra):
            extents[letter] = self.random.choice(self.extents[:4] + [3])
        shape = tuple(extents[letter] for letter in right_letters)
        result_letters = [letter for letter in range(rank + extra) if letter != k]
        if math.prod(shape) > LARGEST or math.prod(extents[x] for x in result_letters) > LARGEST:
            return None
        right = self.need(scope, shape, left.element)
        self.random.shuffle(result_letters)
        element = left.element
        if self.random.random() < 0.25:
            element = {"i8": "i32", "f16": "f32", "bf16": "f32", "i16": "i32"}.get(element, element)
        bound, error, whole = math.inf, 0.0, True
        if element in FLOATS:
            count = extents[k]
            bound = count * left.bound * right.bound
            error = count * (left.bound * right.error + right.bound * left.error +
                             2 * unit(element) * bound)
            whole = left.whole and right.whole
            if self.exact and (not whole or bound > limit(element)):
                return None
            if not self.exact and error > LARGEST_ERROR:
                return None
        # The space may have its dimensions in any order.
        names = list(range(rank + extra))
        self.random.shuffle(names)
        maps = [[names[x] for x in part] for part in (letters, right_letters, result_letters)]
        named = None
        if element == left.element and (rank, len(right_letters), len(batch)) == (2, 2, 0) and \
                result_letters[0] < rank and self.random.random() < 0.6:
            m, n = result_letters
            order = {m: 0, n: 1, k: 2}
            maps = [[order[x] for x in part] for part in (letters, right_letters, result_letters)]
            named = "linalg.matmul"
        return Contract([left, right], [Value((), (), element, bound, error if not self.exact else 0.0,
                                              whole)],
                        maps=maps, rank=rank + extra, named=named)

    def transpose(self, scope):
        value = self.pick(scope, lambda v: len(v.shape) > 1)
        if value is None:
            return None
        order = list(range(len(value.shape)))
        self.random.shuffle(order)
        return Transpose([value], [value.like()], order=order)

    def cuts(self, shape):
        out = []
        for extent in shape:
            stride = self.random.choice([1, 1, 1, 2, 3])
            offset = self.random.randrange(max(extent, 1))
            most = max((extent - offset - 1) // stride + 1, 0)
            size = most if self.random.random() < 0.5 else self.random.randint(0, most)
            if size == 0:
                offset = self.random.randint(0, extent)
            out.append((offset, size, stride))
        return out

    def dropped(self, cuts):
        ones = [a for a, cut in enumerate(cuts) if cut[1] == 1]
        return [a for a in ones if self.random.random() < 0.5]

    def extract_slice(self, scope):
        value = self.pick(scope, lambda v: v.shape)
        if value is None:
            return None
        cuts = self.cuts(value.shape)
        dropped = self.dropped(cuts)
        return Slice([value], [value.like()], cuts=cuts, dropped=dropped,
                     open_offsets=self.random.random() < 0.5, open_sizes=self.random.random() < 0.6)

    def insert_slice(self, scope):
        whole = self.pick(scope, lambda v: v.shape)
        if whole is None:
            return None
        cuts = self.cuts(whole.shape)
        dropped = self.dropped(cuts)
        shape = tuple(cut[1] for a, cut in enumerate(cuts) if a not in dropped)
        part = self.need(scope, shape, whole.element)
        output = whole.like(bound=max(part.bound, whole.bound), error=max(part.error, whole.error),
                            whole=part.whole and whole.whole)
        return Slice([part, whole], [output], cuts=cuts, dropped=dropped, open_sizes=False,
                     open_offsets=self.random.random() < 0.5)

    def pad(self, scope):
        value = self.pick(scope, lambda v: v.shape)
        if value is None:
            return None
        low = [self.random.choice([0, 0, 1, 2]) for _ in value.shape]
        high = [self.random.choice([0, 0, 1, 3]) for _ in value.shape]
        return Pad([value], [value.like(bound=max(value.bound, 1))], low=low, high=high,
                   number=self.random.choice([0, 1]))

    def concat(self, scope):
        first = self.pick(scope, lambda v: v.shape)
        if first is None:
            return None
        axis = self.random.randrange(len(first.shape))
        values = [first]
        for _ in range(self.random.choice([1, 1, 2])):
            shape = list(first.shape)
            shape[axis] = self.random.choice(self.extents)
            if math.prod(shape) > LARGEST:
                continue
            values.append(self.need(scope, tuple(shape), first.element))
        self.random.shuffle(values)
        return Concat(values, [Value((), (), first.element, max(v.bound for v in values),
                                     max(v.error for v in values), all(v.whole for v in values))],
                      axis=axis)

    def reshape(self, scope):
        value = self.pick(scope, lambda v: v.shape)
        if value is None:
            return None
        at = self.random.randrange(len(value.shape))
        if self.random.random() < 0.5:
            if at + 1 == len(value.shape):
                return None
            return Collapse([value], [value.like()], at=at)
        extent = value.shape[at]
        firsts = [n for n in (1, 2, 3, 4, 5, 8) if extent % n == 0]
        return Expand([value], [value.like()], at=at, first=self.random.choice(firsts))

    def cast(self, scope):
        value = self.pick(scope, lambda v: v.shape)
        return value and Cast([value], [value.like()], to_open=not all(value.open))

    def walk(self, scope):
        value = self.pick(scope, lambda v: v.shape)
        if value is None:
            return None
        return Walk([value], [value.like()], axis=self.random.randrange(len(value.shape)),
                    step=self.random.choice([1, 1, 2, 3]))

    def gather(self, scope):
        table = self.pick(scope, lambda v: v.shape and v.shape[0] > 0)
        if table is None:
            return None
        element = self.random.choice(["index", "i32", "i64"])
        places = self.pick(scope, lambda v: v.element == element and len(v.shape) == 1)
        if places is None:
            places = self.need(scope, self.shape(1), element)
        if math.prod(places.shape) * math.prod(table.shape[1:]) > LARGEST:
            return None
        return Gather([table, places], [table.like()])

    def convolve(self, scope):
        element = self.random.choice([e for e in self.elements if e not in ("i1", "index")] or ["f32"])
        op, layout = self.random.choice([
            ("linalg.conv_1d", ("w", "W", "w")),
            ("linalg.conv_2d", ("hw", "HW", "hw")),
            ("linalg.conv_1d_nwc_wcf", ("nwc", "Wcf", "nwf")),
            ("linalg.conv_1d_ncw_fcw", ("ncw", "fcW", "nfw")),
            ("linalg.conv_2d_nhwc_hwcf", ("nhwc", "HWcf", "nhwf")),
            ("linalg.conv_2d_nchw_fchw", ("nchw", "fcHW", "nfhw")),
            ("linalg.conv_2d_nhwc_fhwc", ("nhwc", "fHWc", "nhwf")),
            ("linalg.depthwise_conv_2d_nhwc_hwc", ("nhwc", "HWc", "nhwc")),
            ("linalg.depthwise_conv_2d_nhwc_hwcm", ("nhwc", "HWcm", "nhwcm"))])
        # The plain ones have no strides.
        free = op not in ("linalg.conv_1d", "linalg.conv_2d")
        count = sum(letter in "hw" for letter in layout[0])
        strides = [self.random.choice([1, 1, 2, 3]) if free else 1 for _ in range(count)]
        dilations = [self.random.choice([1, 1, 2]) if free else 1 for _ in range(count)]
        extents = {"n": self.random.choice([1, 2]), "c": self.random.choice([1, 3, 4]),
                   "f": self.random.choice([1, 2, 8]), "m": self.random.choice([1, 2]),
                   "h": self.random.choice([5, 7, 8]), "w": self.random.choice([5, 9, 16]),
                   "H": self.random.choice([1, 2, 3]), "W": self.random.choice([1, 2, 3])}
        image, window = (self.need(scope, tuple(extents[x] for x in part), element)
                         for part in layout[:2])
        bound, error, whole = math.inf, 0.0, True
        if element in FLOATS:
            terms = extents["H"] * extents["W"] * extents["c"]
            bound = terms * image.bound * window.bound
            error = terms * (image.bound * window.error + window.bound * image.error +
                             2 * unit(element) * bound)
            whole = image.whole and window.whole
            if self.exact and (not whole or bound > limit(element)):
                return None
            if not self.exact and error > LARGEST_ERROR:
                return None
        return Convolve([image, window], [Value((), (), element, bound, 0.0 if self.exact else error,
                                                whole)],
                        op=op, layout=layout, strides=strides, dilations=dilations)

    def complex(self, scope):
        a = self.pick(scope, lambda v: v.element == "f32" and v.whole)
        if a is None:
            return None
        b = self.pick(scope, lambda v: v.same_type(a) and v.whole)
        top = max(a.bound, b.bound)
        bound = 2 * top * top + top
        error = 4 * top * max(a.error, b.error) + 8 * unit("f32") * bound + max(a.error, b.error)
        if bound > (limit("f32") if self.exact else 1000) or error > LARGEST_ERROR:
            return None
        return Complex([a, b], [a.like(bound=bound, error=0.0 if self.exact else error)
                                for _ in range(2)])

    # --- Blocks -----------------------------------------------------------------------------------

    def carried(self, scope):
        kind = self.random.choice([For, For, While, If, Call])
        count = self.random.choice([1, 1, 2])
        inputs = [self.pick(scope) for _ in range(count)]
        trips = self.random.choice([0, 1, 2, 3, 5])
        bounds = [float(math.ceil(v.bound)) if v.element in FLOATS else v.bound for v in inputs]
        outputs = [value.like(bound=bound) for value, bound in zip(inputs, bounds)]
        node = kind(inputs, outputs, trips=trips)
        if kind is If:
            node.extent = None
            node.numbers = (self.random.choice([1, 3]), 2)
            shaped = self.pick(scope, lambda v: v.shape)
            if shaped and self.random.random() < 0.7:
                node.extent = (shaped, self.random.randrange(len(shaped.shape)))
                node.numbers = (0, self.random.choice(self.extents) + 1)
        if kind is Call:
            node.number = self.calls
            self.calls += 1
        if kind is While:
            trips = 2 * trips + 1  # How often a block runs: both go around.
        for _ in range(2 if kind in (If, While) else 1):
            arguments = [value.like(bound=bound) for value, bound in zip(inputs, bounds)]
            inner = Scope([] if kind is Call else list(scope.values), [], scope.depth + 1,
                          closed=scope.closed or kind is Call)
            if self.exact or kind is Call and self.exact:
                inner.values += arguments
            block = Block(arguments, inner.nodes, [])
            self.fill(inner, self.random.choice([0, 1, 2]), carried=self.exact)
            for argument, output in zip(arguments, outputs):
                block.results.append(self.close(inner, argument, output, trips))
            if len(arguments) == 2 and arguments[0].same_type(arguments[1]) and \
                    self.random.random() < 0.3 and self.exact and kind in (For, While):
                if outputs[0].bound == outputs[1].bound and outputs[0].whole == outputs[1].whole:
                    block.results.reverse()
            node.blocks.append(block)
        return node

    def close(self, inner, argument, output, trips):
        """A value like the argument, no larger than it, from what the block has made."""
        element, bound = argument.element, argument.bound

        def last(body):
            if element not in FLOATS:
                at = len(body.numbers) - 1
                while at and body.numbers[at].element != element:
                    at -= 1
                return at
            if not self.exact:  # The mean with another value from outside: errors do not grow.
                inputs = len(body.numbers) - len(body.steps)
                half = body.constant(element, 0.5)
                left = body.binary("mulf", 0, half, bound)
                at = 1 if inputs > 1 and body.numbers[1].element == element else 0
                other = body.numbers[at]
                right = body.binary("mulf", at, half, other.bound)
                top = max(bound, other.bound)
                output.bound = max(output.bound, top)
                output.error = max(output.error, argument.error, other.error) + \
                    4 * (trips + 2) * unit(element) * top
                return body.binary("addf", left, right, top)
            at = len(body.numbers) - 1
            while at and (body.numbers[at].element != element or
                          not body.numbers[at].whole and argument.whole):
                at -= 1
            return body.clamp(at, bound)
        saved = list(inner.values)
        if not self.exact:
            inner.values = [v for v in saved if v.element == element] or [argument]
        node = self.elementwise(inner, argument, list(range(len(argument.shape))), last)
        inner.values = saved
        node.infer()
        inner.nodes.append(node)
        if node.outputs[0].same_type(argument):
            return node.outputs[0]
        return argument

    # --- Programs ---------------------------------------------------------------------------------

    KINDS = [(6, "elementwise"), (6, "reduce"), (3, "fold"), (3, "contract"), (1, "arg_extreme"), (1, "transpose"),
             (2, "extract_slice"), (2, "insert_slice"), (1, "pad"), (2, "concat"), (2, "reshape"),
             (1, "cast"), (1, "walk"), (1, "gather"), (1, "convolve"), (1, "complex"), (2, "carried")]

    def fill(self, scope, count, carried=True):
        for _ in range(count * 4):
            if count == 0:
                return
            kinds = [kind for kind in self.KINDS if kind[1] != "carried" or scope.depth < 2]
            name = self.random.choices([kind[1] for kind in kinds], [kind[0] for kind in kinds])[0]
            if not scope.values:
                return
            node = getattr(self, name)(scope)
            if node is None:
                continue
            try:
                node.infer()
            except Invalid:
                continue
            if any(math.prod(value.shape) > LARGEST or len(value.shape) > 5 for value in node.outputs):
                continue
            scope.nodes.append(node)
            scope.values += node.outputs
            count -= 1

    def program(self):
        scope = Scope([], [], 0, False)
        for _ in range(self.random.choice([1, 2, 2, 3])):
            element = self.random.choice(self.elements)
            value, node = self.fresh(self.shape(self.random.choice([0, 1, 1, 2, 2, 2, 3, 4])), element)
            if node:
                scope.nodes.append(node)
            scope.values.append(value)
        self.fill(scope, self.random.choice([1, 2, 3, 4, 6, 8]))
        made = [value for node in scope.nodes for value in node.outputs]
        results = made[-1:] if made else scope.values[-1:]
        for _ in range(self.random.choice([0, 0, 1, 2])):
            results.append(self.random.choice(scope.values))
        self.random.shuffle(results)
        program = Program(self.arguments, scope.nodes, results, self.exact)
        program.infer()
        return program.clean()


class Scope:
    """The values that a new node may use, and where nodes go. closed: nothing from outside."""

    def __init__(self, values, nodes, depth, closed):
        self.values, self.nodes, self.depth, self.closed = values, nodes, depth, closed


def generate(seed, elements):
    return Generator(seed, elements).program()
