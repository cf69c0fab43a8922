"""Operations on vectors over their families of shapes, positions, masks and kinds, against NumPy."""

import itertools
import math

import numpy as np
import pytest

import plimsoll as pl
from families import Family, element, shaped, vector, whole

SHAPES = [(4,), (1,), (4, 8), (3, 5), (1, 4), (4, 1), (2, 3, 4)]
FLOAT_KINDS = {"add": np.add, "mul": np.multiply, "minimumf": np.minimum, "maximumf": np.maximum,
               "minnumf": np.fmin, "maxnumf": np.fmax}
INTEGER_KINDS = {"add": np.add, "mul": np.multiply, "minsi": np.minimum, "maxsi": np.maximum,
                 "minui": lambda a, b: unsigned(np.minimum, a, b),
                 "maxui": lambda a, b: unsigned(np.maximum, a, b),
                 "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}

def unsigned(function, a, b):
    return function(np.asarray(a).view(np.uint32), np.asarray(b).view(np.uint32)).view(np.int32)


def reduced(function, source, start, dimensions, mask=None):
    result = np.array(start)
    for index in np.ndindex(*source.shape):
        if mask is None or mask[index]:
            place = tuple(at for d, at in enumerate(index) if d not in dimensions)
            pair = np.asarray(result[place]).reshape(1), np.asarray(source[index]).reshape(1)
            result[place] = function(*pair)[0]
    return result


def masked(mask, operation, result):
    return f"vector.mask {mask} {{ {operation} }} : {result}"


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.bool_])
def test_positions(dtype):
    """Every choice of positions that are dynamic, of elements and of rows."""
    family = Family()
    for shape in SHAPES + [(2, 2, 2, 3)]:
        source = family.numbers(dtype, *shape)
        for depth in range(1, len(shape) + 1):
            for dynamic in itertools.product([False, True], repeat=depth):
                place = tuple(int(family.random.integers(0, extent)) for extent in shape[:depth])
                names = iter(range(depth))
                text = ", ".join(f"%p{next(names)}" if is_dynamic else str(at)
                                 for at, is_dynamic in zip(place, dynamic))
                positions = [at for at, is_dynamic in zip(place, dynamic) if is_dynamic]
                part = np.asarray(source[place])
                kind = vector(part) if part.ndim else element(part)
                family.add(f"extract {shape} {dynamic}", [source],
                           f"%r = vector.extract %v0[{text}] : {kind} from {vector(source)}", part,
                           positions)
                changed = source.copy()
                if part.ndim:
                    inputs, load = [source, family.numbers(dtype, *part.shape)], ""
                    value = "%v1"
                else:
                    inputs, value = [source, family.numbers(dtype, 1)], "%e"
                    load = f"%e = vector.extract %v1[0] : {kind} from {vector(inputs[1])}\n"
                changed[place] = inputs[1] if part.ndim else inputs[1][0]
                family.add(f"insert {shape} {dynamic}", inputs,
                           f"{load}%r = vector.insert {value}, %v0[{text}] : {kind} into {vector(source)}",
                           changed, positions)
    family.check()


@pytest.mark.parametrize("is_masked", [False, True], ids=["whole", "masked"])
@pytest.mark.parametrize("dtype, kinds", [(np.float32, FLOAT_KINDS), (np.int32, INTEGER_KINDS)],
                         ids=["f32", "i32"])
def test_reductions(dtype, kinds, is_masked):
    family = Family()
    for kind, function in kinds.items():
        values = family.factors if kind == "mul" else family.numbers
        for shape in SHAPES if kind == "add" else [(1,), (7,), (3, 5)]:
            for count in range(len(shape) + 1):
                for dimensions in itertools.combinations(range(len(shape)), count):
                    kept = tuple(extent for d, extent in enumerate(shape) if d not in dimensions)
                    source, start = values(dtype, *shape), values(dtype, *(kept or (1,)))
                    mask = family.numbers(np.bool_, *shape)
                    wanted = reduced(function, source, start if kept else start[0], dimensions,
                                     mask if is_masked else None)
                    result = vector(start) if kept else element(start)
                    load = "" if kept else f"%s = vector.extract %v1[0] : {result} from {vector(start)}\n"
                    operation = (f"vector.multi_reduction <{kind}>, %v0, {'%v1' if kept else '%s'} "
                                 f"{list(dimensions)} : {vector(source)} to {result}")
                    if is_masked:
                        operation = masked("%v2", operation, f"{vector(mask)} -> {result}")
                    family.add(f"{kind} {shape} {dimensions}", [source, start, mask],
                               f"{load}%r = {operation}", wanted)
        for size in (1, 2, 3, 8, 17):
            source, start = values(dtype, size), values(dtype, 1)
            mask = family.numbers(np.bool_, size)
            wanted = reduced(function, source, start[0], (0,), mask if is_masked else None)
            operation = f"vector.reduction <{kind}>, %v0, %s : {vector(source)} into {element(source)}"
            if is_masked:
                operation = masked("%v2", operation, f"{vector(mask)} -> {element(source)}")
            family.add(f"{kind} {size}", [source, start, mask],
                       f"%s = vector.extract %v1[0] : {element(start)} from {vector(start)}\n"
                       f"%r = {operation}", wanted)
    family.check()


SIZES = {"m": 3, "n": 4, "k": 5, "b": 2}
CONTRACTIONS = [(a, b, c) for a in ("mk", "km") for b in ("kn", "nk") for c in ("mn", "nm")]
CONTRACTIONS += [("mk", "k", "m"), ("k", "kn", "n"), ("k", "k", ""), ("mk", "mk", ""), ("mk", "mk", "m"),
                 ("bmk", "bkn", "bmn"), ("bmk", "bkn", "mn"), ("mb", "nb", "mn")]


@pytest.mark.parametrize("is_masked", [False, True], ids=["whole", "masked"])
@pytest.mark.parametrize("dtype, kind", [(np.float32, "add"), (np.int32, "add"), (np.float32, "maximumf"),
                                         (np.int32, "minsi"), (np.int32, "xor")])
def test_contractions(dtype, kind, is_masked):
    family = Family()
    function = (FLOAT_KINDS if dtype == np.float32 else INTEGER_KINDS)[kind]
    for left, right, result in CONTRACTIONS:
        loops = sorted(set(left + right + result))
        shape = tuple(SIZES[loop] for loop in loops)
        a, b = (family.numbers(dtype, *(SIZES[loop] for loop in operand)) for operand in (left, right))
        start = family.numbers(dtype, *([SIZES[loop] for loop in result] or [1]))
        mask = family.numbers(np.bool_, *shape)
        wanted = start.copy()
        for index in np.ndindex(*shape):
            at = dict(zip(loops, index))
            if is_masked and not mask[index]:
                continue
            place = tuple(at[loop] for loop in result) or (0,)
            product = a[tuple(at[loop] for loop in left)] * b[tuple(at[loop] for loop in right)]
            wanted[place] = function(wanted[place].reshape(1), product.reshape(1))[0]
        maps = ", ".join(f"affine_map<({', '.join(loops)}) -> ({', '.join(operand)})>"
                         for operand in (left, right, result))
        iterators = ", ".join('"parallel"' if loop in result else '"reduction"' for loop in loops)
        kept = vector(start) if result else element(start)
        load = "" if result else f"%s = vector.extract %v2[0] : {kept} from {vector(start)}\n"
        operation = (f"vector.contract {{indexing_maps = [{maps}], iterator_types = [{iterators}], "
                     f"kind = #vector.kind<{kind}>}} %v0, %v1, {'%v2' if result else '%s'} : "
                     f"{vector(a)}, {vector(b)} into {kept}")
        if is_masked:
            operation = masked("%v3", operation, f"{vector(mask)} -> {kept}")
        family.add(f"{left} {right} {result}", [a, b, start, mask], f"{load}%r = {operation}",
                   wanted if result else wanted[0])
    family.check()


# Memory, vector, the dimension of the memory that each dimension of the vector is, where it begins.
TRANSFERS = [((7,), (4,), (0,), (0,)), ((7,), (4,), (0,), (5,)), ((7,), (4,), (0,), (9,)),
             ((5, 6), (3, 4), (0, 1), (1, 1)), ((5, 6), (3, 4), (0, 1), (4, 4)),
             ((5, 6), (4, 3), (1, 0), (3, 4)), ((5, 6), (4,), (0,), (3, 1)),
             ((5, 6), (4,), (1,), (3, 3)), ((5, 6), (3, 4), (None, 1), (1, 4)),
             ((5, 6), (3, 4), (0, None), (3, 4)), ((5, 6), (4, 3), (None, 0), (3, 1)),
             ((3, 4, 5), (2, 3), (2, 0), (1, 1, 3)), ((3, 4, 5), (2, 3, 2), (2, 0, 1), (1, 1, 3)),
             ((3, 4, 5), (2, 3, 2), (0, 1, 2), (2, 2, 4)), ((3, 4, 5), (2, 2), (0, 2), (2, 1, 4)),
             ((3, 4), (2, 2, 2), (0, None, 1), (2, 1)), ((4,), (1,), (0,), (4,))]


@pytest.mark.parametrize("mask_by", [None, "operand", "region"])
def test_transfers(mask_by):
    family = Family()
    for shape, sizes, dimensions, start in TRANSFERS:
        rank, used = len(shape), sorted(d for d in dimensions if d is not None)
        source, value = family.numbers(np.float32, *shape), family.numbers(np.float32, *sizes)
        mask = family.numbers(np.bool_, *(sizes[dimensions.index(d)] for d in used))
        read, written = np.full(sizes, -99, np.float32), source.copy()
        for index in np.ndindex(*sizes):
            moved = dict((d, at) for d, at in zip(dimensions, index) if d is not None)
            place = tuple(first + moved.get(d, 0) for d, first in enumerate(start))
            if (not mask_by or mask[tuple(moved[d] for d in used)]) and \
                    all(at < extent for at, extent in zip(place, shape)):
                read[index], written[place] = source[place], value[index]
        memory = f"memref<{'x'.join('?' * rank)}xf32>"
        loops = [f"d{d}" for d in range(rank)]
        results = ["0" if d is None else f"d{d}" for d in dimensions]
        inside = ", ".join("true" if d is None else "false" for d in dimensions)
        suffix = (f"{{permutation_map = affine_map<({', '.join(loops)}) -> ({', '.join(results)})>, "
                  f"in_bounds = [{inside}]}} : ")
        places = ", ".join(f"%p{d}" for d in range(rank))
        own = ", %v2" if mask_by == "operand" else ""
        begin = f"%d = memref.cast %m0 : {shaped('memref', source)} to {memory}\n"
        operation = f"vector.transfer_read %d[{places}], %pad{own} {suffix}{memory}, {vector(value)}"
        if mask_by == "region":
            operation = masked("%v2", operation, f"{vector(mask)} -> {vector(value)}")
        family.add(f"read {shape} {dimensions} {start}", [source, value, mask],
                   f"{begin}%pad = arith.constant -99.0 : f32\n%r = {operation}", read, start)
        if None in dimensions:
            continue
        operation = f"vector.transfer_write %v1, %d[{places}]{own} {suffix}{vector(value)}, {memory}"
        if mask_by == "region":
            operation = masked("%v2", operation, vector(mask))
        family.add(f"write {shape} {dimensions} {start}", [source, value, mask],
                   begin + operation + "\n" + whole("%r", "%m0", source, "%z0"), written, start)
    family.check()


def test_rows():
    """Loads and stores of several rows."""
    family = Family()
    source, value = family.numbers(np.float32, 3, 8), family.numbers(np.float32, 2, 4)
    mask = family.numbers(np.bool_, 2, 4)
    for row, column in ((0, 0), (1, 3), (1, 4)):
        part = slice(row, row + 2), slice(column, column + 4)
        at, types = [row, column], f"{shaped('memref', source)}, {vector(value)}"
        family.add("load", [source], f"%r = vector.load %m0[%p0, %p1] : {types}", source[part], at)
        family.add("maskedload", [source, mask, value],
                   f"%r = vector.maskedload %m0[%p0, %p1], %v1, %v2 : {shaped('memref', source)}, "
                   f"{vector(mask)}, {vector(value)} into {vector(value)}",
                   np.where(mask, source[part], value), at)
        for is_masked in (False, True):
            written = source.copy()
            written[part] = np.where(mask, value, source[part]) if is_masked else value
            store = (f"vector.maskedstore %m0[%p0, %p1], %v1, %v2 : {shaped('memref', source)}, "
                     f"{vector(mask)}, {vector(value)}") if is_masked else \
                f"vector.store %v2, %m0[%p0, %p1] : {types}"
            family.add("store", [source, mask, value],
                       store + "\n" + whole("%r", "%m0", source, "%z0"), written, at)
    family.check()


def test_shapes():
    """What only moves elements."""
    family = Family()
    for dtype in (np.float32, np.bool_):
        for shape in SHAPES + [(2, 1, 3, 2)]:
            source = family.numbers(dtype, *shape)
            for order in itertools.permutations(range(len(shape))):
                wanted = source.transpose(order)
                family.add(f"transpose {shape} {order}", [source],
                           f"%r = vector.transpose %v0, {list(order)} : {vector(source)} to {vector(wanted)}",
                           wanted)
            count = math.prod(shape)
            for other in [(count,), (1, count), (count, 1)]:
                wanted = source.reshape(other)
                family.add(f"shape_cast {shape} {other}", [source],
                           f"%r = vector.shape_cast %v0 : {vector(source)} to {vector(wanted)}", wanted)
            for other in [shape, (2,) + shape, (3, 2) + shape]:
                wanted = np.broadcast_to(source, other)
                family.add(f"broadcast {shape} {other}", [source],
                           f"%r = vector.broadcast %v0 : {vector(source)} to {vector(wanted)}", wanted)
    for shape in ((4,), (1,), (2, 3), (2, 3, 4)):
        a, b = family.numbers(np.float32, *shape), family.numbers(np.float32, *shape)
        both = np.stack([a, b], -1).reshape(shape[:-1] + (-1,))
        family.add(f"interleave {shape}", [a, b],
                   f"%r = vector.interleave %v0, %v1 : {vector(a)} -> {vector(both)}", both)
        for names, wanted in (("%r, %q", a), ("%q, %r", b)):
            family.add(f"deinterleave {shape}", [both],
                       f"{names} = vector.deinterleave %v0 : {vector(both)} -> {vector(a)}", wanted)
        for other in (np.int32, np.int64) if shape[-1] % 2 == 0 else (np.int32,):
            bits = a.view(other)
            family.add(f"bitcast {shape}", [a], f"%r = vector.bitcast %v0 : {vector(a)} to {vector(bits)}", bits)
            family.add(f"bitcast back {shape}", [bits],
                       f"%r = vector.bitcast %v0 : {vector(bits)} to {vector(a)}", a)
    family.check()


def test_a_row_outside_fails():
    module = pl.loads("""
    func.func @row(%m: memref<4x8xf32>, %i: index, %j: index) -> f32 {
      %c0 = arith.constant 0 : index
      %z = arith.constant 0.0 : f32
      %v = vector.transfer_read %m[%c0, %c0], %z : memref<4x8xf32>, vector<4x8xf32>
      %e = vector.extract %v[%i, %j] : f32 from vector<4x8xf32>
      return %e : f32
    }
    """)
    memory = np.arange(32, dtype=np.float32).reshape(4, 8)
    assert module.row(memory, 3, 7) == 31
    for i, j, dimension in ((4, 0, 0), (-1, 0, 0), (0, 8, 1), (0, -1, 1), (1 << 62, 0, 0)):
        with pytest.raises(pl.FailedPreconditionError, match=f"out of range in dimension {dimension}"):
            module.row(memory, i, j)
