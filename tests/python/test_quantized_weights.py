"""Products with weights that are stored as narrow integers, of which floats are made by scales and zero points."""
import numpy as np
import pytest

import plimsoll as pl

from hosts import HOSTS

ROWS = ("0", "1", "3", "8", "63", "?", "64", "130")  # from 64 on the weights are floats


class Case:
    """`x` times weights, in blocks of them along what is summed, or with one scale for a column, or for all."""

    def __init__(self, random, rows):
        def one(*values):
            return values[int(random.integers(len(values)))]
        self.rows = rows
        self.columns, self.block, self.blocks = one(64, 96, 128, 40), one(1, 16, 32, 128), one(1, 2, 5, 9)
        self.scaled = one("blocks", "blocks", "columns", "all")
        if self.block * self.blocks * self.columns < 1 << 14:
            self.blocks = -(-(1 << 14) // (self.block * self.columns))
        self.stored = one("i8", "u8", "nibbles", "i16", "i4")
        self.zero = one("none", "same", "floats", "integers")
        self.columns_first, self.transposed, self.bias, self.behind, self.rounded = (bool(random.integers(2)) for _ in range(5))

    def order(self, *extents):
        """Of columns, blocks and places in a block, those that are there, in memory."""
        return list(extents) if self.columns_first else [*extents[1:], extents[0]]

    def draw(self, random):
        low, high = {"i8": (-128, 128), "u8": (0, 256), "nibbles": (0, 16), "i16": (-1000, 1000), "i4": (-8, 8)}[self.stored]
        self.q = random.integers(low, high, self.order(self.columns, self.blocks, self.block))
        few = {"blocks": self.order(self.columns, self.blocks), "columns": [self.columns], "all": []}[self.scaled]
        self.s = (random.random(few) / 64 + 0.01).astype(np.float32)
        self.z = {"none": np.zeros(few), "same": np.full(few, 7), "floats": np.round(random.random(few) * 9, 2),
                  "integers": random.integers(0, 16, few)}[self.zero]
        self.added = random.standard_normal(self.columns).astype(np.float32)
        magnitude = (1, 1, 1e-37, 1e30)[int(random.integers(4))]
        return (magnitude * random.standard_normal((17 if self.rows == "?" else int(self.rows), self.block * self.blocks))).astype(np.float32)

    def wanted(self, x):
        def whole(few):
            if self.scaled == "blocks":
                return np.expand_dims(few, 2 if self.columns_first else 1)
            return np.reshape(few, (-1, 1, 1) if self.columns_first and few.ndim else (-1,))
        w = (self.q - whole(self.z.astype(np.float32).astype(np.float64))) * whole(self.s)
        w = w.reshape(self.columns, -1).T if self.columns_first else w.reshape(-1, self.columns)
        y = x.astype(np.float64) @ w
        # How far each is off where rows are rounded: at most half a step for each weight, of 127 to the largest number of a block.
        size = self.block if self.scaled == "blocks" else self.block * self.blocks
        step = np.abs(x.astype(np.float64)).reshape(len(x), x.shape[1] // size, size).max(2) / 127
        self.most_off = step @ np.abs(w).reshape(-1, size, self.columns).sum(1) / 2
        self.deviation = np.sqrt(step**2 @ (w**2).reshape(-1, size, self.columns).sum(1) / 12)
        y += self.added if self.bias else 0
        return np.maximum(y, 0) + self.added if self.behind else y

    def about(self):
        return {name: value for name, value in vars(self).items() if not isinstance(value, np.ndarray)}

    def text(self, name):
        depth = self.block * self.blocks
        maps = {"blocks": "(n, b)" if self.columns_first else "(b, n)", "columns": "(n)", "all": "()"}[self.scaled]
        loops = "(n, b, k)" if self.columns_first else "(b, k, n)"
        whole, each = f"affine_map<{loops} -> {loops}>", f"affine_map<{loops} -> {maps}>"

        def kind(shape, element):
            return f"tensor<{'x'.join(map(str, [*shape, element]))}>"

        def constant(name, array, dtype, element):
            array = np.asarray(array, dtype)
            text = f'"0x{array.tobytes().hex()}"' if array.ndim else str(array)
            return f"  %{name} = arith.constant dense<{text}> : {kind(array.shape, element)}"
        element, dtype = {"i8": ("i8", "i1"), "u8": ("i8", "u1"), "nibbles": ("i8", "u1"), "i16": ("i16", "i2"), "i4": ("i4", "i1")}[self.stored]
        wide, x, y = kind(self.q.shape, "f32"), kind([self.rows, depth], "f32"), kind([self.rows, self.columns], "f32")
        lines = [f"func.func @{name}(%x: {x}) -> {y} {{", constant("s", self.s, "f4", "f32"), constant("added", self.added, "f4", "f32")]
        q, inner = kind(self.q.shape, element), "i32"
        if self.stored == "nibbles":  # two in a byte, behind each other along the innermost dimension
            pairs = self.q.reshape(-1, 2)
            flat = kind([len(pairs), 2], "i32")
            lines += [constant("bytes", pairs[:, 0] + 16 * pairs[:, 1], "u1", "i8"), f"  %room = tensor.empty() : {flat}",
                      "  %numbers = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], "
                      'iterator_types = ["parallel", "parallel"]}', f"      ins(%bytes : {kind([len(pairs)], 'i8')}) outs(%room : {flat}) {{",
                      "  ^bb0(%in: i8, %out: i32):", "    %j = linalg.index 1 : index", "    %at = arith.index_cast %j : index to i32",
                      "    %four = arith.constant 4 : i32", "    %low = arith.constant 15 : i32", "    %shift = arith.muli %at, %four : i32",
                      "    %byte = arith.extui %in : i8 to i32", "    %shifted = arith.shrui %byte, %shift : i32",
                      "    %number = arith.andi %shifted, %low : i32", "    linalg.yield %number : i32", f"  }} -> {flat}"]
            q, count = kind(self.q.shape, "i32"), self.q.size
            lines += [f"  %flat = tensor.collapse_shape %numbers [[0, 1]] : {flat} into {kind([count], 'i32')}",
                      f"  %q = tensor.expand_shape %flat [[0, 1, 2]] output_shape [{', '.join(map(str, self.q.shape))}] : "
                      f"{kind([count], 'i32')} into {q}"]
        elif self.stored == "i4":
            bytes_ = kind(self.q.shape, "i8")
            lines += [constant("bytes", self.q, "i1", "i8"), f"  %q = arith.trunci %bytes : {bytes_} to {q}"]
        else:
            lines.append(constant("q", self.q, dtype, element))
        inputs, types, zeros, made = ["%s"], [kind(self.s.shape, "f32")], "", []
        if self.zero in ("floats", "integers"):
            to = "f32" if self.zero == "floats" else "i8"
            lines.append(constant("z", self.z, "f4" if to == "f32" else "i1", to))
            inputs, types, zeros = ["%s", "%z"], [*types, kind(self.z.shape, to)], f", %zero: {to}"
        number, taken = "%in", "i32" if self.stored == "nibbles" else element
        if self.zero == "integers":  # before there are floats
            if taken != inner:
                made.append(f"    %wide = arith.{'extui' if self.stored == 'u8' else 'extsi'} %in : {taken} to i32")
                number = "%wide"
            made += ["    %widezero = arith.extsi %zero : i8 to i32", f"    %less = arith.subi {number}, %widezero : i32"]
            number, taken = "%less", "i32"
        made.append(f"    %float = arith.{'uitofp' if self.stored == 'u8' and taken == 'i8' else 'sitofp'} {number} : {taken} to f32")
        number = "%float"
        if self.zero in ("same", "floats"):
            made += ["    %seven = arith.constant 7.0 : f32", f"    %lessf = arith.subf %float, {'%seven' if self.zero == 'same' else '%zero'} : f32"]
            number = "%lessf"
        arguments = f"%in: {'i32' if self.stored == 'nibbles' else element}, %scale: f32{zeros}, %out: f32"
        lines += [f"  %space = tensor.empty() : {wide}",
                  f"  %w = linalg.generic {{indexing_maps = [{', '.join([whole, *[each] * len(inputs), whole])}], "
                  'iterator_types = ["parallel", "parallel", "parallel"]}',
                  f"      ins({', '.join(['%q', *inputs])} : {', '.join([q, *types])}) outs(%space : {wide}) {{", f"  ^bb0({arguments}):",
                  *made, f"    %weight = arith.mulf {number}, %scale : f32", "    linalg.yield %weight : f32", f"  }} -> {wide}"]
        matrix = [self.columns, depth] if self.columns_first else [depth, self.columns]
        groups = "[[0], [1, 2]]" if self.columns_first else "[[0, 1], [2]]"
        lines.append(f"  %m = tensor.collapse_shape %w {groups} : {wide} into {kind(matrix, 'f32')}")
        of_columns, m = self.columns_first, "%m"
        if self.transposed:
            lines += [f"  %turned = tensor.empty() : {kind(matrix[::-1], 'f32')}",
                      f"  %t = linalg.transpose ins(%m : {kind(matrix, 'f32')}) outs(%turned : {kind(matrix[::-1], 'f32')}) permutation = [1, 0]"]
            of_columns, m, matrix = not of_columns, "%t", matrix[::-1]
        dynamic = self.rows == "?"
        lines += ["  %c0 = arith.constant 0 : index", "  %none = arith.constant 0.0 : f32"]
        if dynamic:
            lines.append(f"  %d = tensor.dim %x, %c0 : {x}")
        lines.append(f"  %e = tensor.empty({'%d' if dynamic else ''}) : {y}")
        row, both = "affine_map<(m, n) -> (n)>", "affine_map<(m, n) -> (m, n)>"
        parallel = 'iterator_types = ["parallel", "parallel"]'
        if self.bias:
            lines += [f"  %i = linalg.generic {{indexing_maps = [{row}, {both}], {parallel}}} ins(%added : {kind([self.columns], 'f32')}) outs(%e : {y}) {{",
                      "  ^bb0(%in: f32, %out: f32):", "    linalg.yield %in : f32", f"  }} -> {y}"]
        else:
            lines.append(f"  %i = linalg.fill ins(%none : f32) outs(%e : {y}) -> {y}")
        lines += ["  %p = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, "
                  f"affine_map<(m, n, k) -> {'(n, k)' if of_columns else '(k, n)'}>, affine_map<(m, n, k) -> (m, n)>], "
                  'iterator_types = ["parallel", "parallel", "reduction"]}',
                  f"      ins(%x, {m} : {x}, {kind(matrix, 'f32')}) outs(%i : {y}) {'attrs = {plim.round_rows} ' if self.rounded else ''}{{",
                  "  ^bb0(%a: f32, %b: f32, %o: f32):", "    %ab = arith.mulf %a, %b : f32", "    %sum = arith.addf %o, %ab : f32", "    linalg.yield %sum : f32", f"  }} -> {y}"]
        result = "%p"
        if self.behind:
            lines += [f"  %r = linalg.generic {{indexing_maps = [{both}, {row}, {both}], {parallel}}} "
                      f"ins(%p, %added : {y}, {kind([self.columns], 'f32')}) outs(%e : {y}) {{", "  ^bb0(%in: f32, %b: f32, %out: f32):",
                      "    %positive = arith.maximumf %in, %none : f32", "    %moved = arith.addf %positive, %b : f32",
                      "    linalg.yield %moved : f32", f"  }} -> {y}"]
            result = "%r"
        return "\n".join([*lines, f"  return {result} : {y}", "}"])


@pytest.mark.parametrize("rows", ROWS)
def test_weights_of_integers(rows):
    seed = int(np.random.default_rng().integers(1 << 32))
    random = np.random.default_rng(seed)
    for number in range(6):
        case = Case(random, rows)
        x = case.draw(random)
        source, wanted = case.text("f"), case.wanted(x)
        for threads, host in enumerate(HOSTS, 1):
            for numerics in ("default", "strict")[:2 if host == "host" else 1]:
                module = pl.Engine(target=host, threads=threads).loads(source, numerics=numerics)
                got, about = np.asarray(module.f(x)), f"{number} {case.about()} on {host}, {numerics}, seed {seed}"
                off, rounding = np.abs(got - wanted), 1e-5 * np.abs(wanted).max(initial=0)
                may_round = case.rounded and numerics == "default"
                assert (off <= rounding + may_round * case.most_off).all(), f"off by {off.max()}: {about}"
                assert np.linalg.norm(off) <= np.sqrt(off.size) * rounding + 4 * may_round * np.linalg.norm(case.deviation), about
                if numerics == "strict":  # the same floats in the same order
                    plain = pl.Engine(target=host, threads=1).loads(source, numerics=numerics, oracle=True)
                    np.testing.assert_array_equal(got.view(np.uint32), np.asarray(plain.f(x)).view(np.uint32), err_msg=about)


def bytes_text(array):
    return f'dense<"0x{array.tobytes().hex()}">'


def test_rows_of_one_number():
    """Each weight times the same number: an operand that is no tensor."""
    random = np.random.default_rng(3)
    q, s = random.integers(-128, 128, (128, 8, 32)).astype(np.int8), random.random((128, 8)).astype(np.float32)
    module = pl.loads(f"""
func.func @f(%x: f32, %y: tensor<128xf32>) -> tensor<128xf32> {{
  %q = arith.constant {bytes_text(q)} : tensor<128x8x32xi8>
  %s = arith.constant {bytes_text(s)} : tensor<128x8xf32>
  %e = tensor.empty() : tensor<128x8x32xf32>
  %w = linalg.generic {{indexing_maps = [affine_map<(n, b, k) -> (n, b, k)>, affine_map<(n, b, k) -> (n, b)>, affine_map<(n, b, k) -> (n, b, k)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}}
      ins(%q, %s : tensor<128x8x32xi8>, tensor<128x8xf32>) outs(%e : tensor<128x8x32xf32>) {{
  ^bb0(%in: i8, %scale: f32, %out: f32):
    %float = arith.sitofp %in : i8 to f32
    %weight = arith.mulf %float, %scale : f32
    linalg.yield %weight : f32
  }} -> tensor<128x8x32xf32>
  %m = tensor.collapse_shape %w [[0], [1, 2]] : tensor<128x8x32xf32> into tensor<128x256xf32>
  %r = linalg.generic {{indexing_maps = [affine_map<(n, k) -> ()>, affine_map<(n, k) -> (n, k)>, affine_map<(n, k) -> (n)>],
                       iterator_types = ["parallel", "reduction"]}} ins(%x, %m : f32, tensor<128x256xf32>) outs(%y : tensor<128xf32>) {{
  ^bb0(%a: f32, %b: f32, %o: f32):
    %ab = arith.mulf %a, %b : f32
    %sum = arith.addf %o, %ab : f32
    linalg.yield %sum : f32
  }} -> tensor<128xf32>
  return %r : tensor<128xf32>
}}""")
    y = random.random(128).astype(np.float32)
    wanted = y + 1.5 * (q * s[:, :, None].astype(np.float64)).sum((1, 2))
    np.testing.assert_allclose(np.asarray(module.f(np.float32(1.5), y)), wanted, rtol=0, atol=1e-5 * np.abs(wanted).max())


def test_numbers_that_are_not_written():
    """All but one row of the integers are what was there before, and no bytes."""
    random = np.random.default_rng(4)
    before, a = random.integers(500, 1000, (256, 256)).astype(np.int32), random.integers(0, 1000, 256).astype(np.int32)
    module = pl.loads(f"""
func.func @f(%x: tensor<3x256xf32>) -> tensor<3x256xf32> {{
  %before = arith.constant {bytes_text(before)} : tensor<256x256xi32>
  %a = arith.constant {bytes_text(a)} : tensor<256xi32>
  %low = arith.constant 15 : i32
  %zero = arith.constant 0.0 : f32
  %q = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i, 5)>], iterator_types = ["parallel"]}}
      ins(%a : tensor<256xi32>) outs(%before : tensor<256x256xi32>) {{
  ^bb0(%in: i32, %out: i32):
    %number = arith.andi %in, %low : i32
    linalg.yield %number : i32
  }} -> tensor<256x256xi32>
  %e = tensor.empty() : tensor<256x256xf32>
  %w = linalg.generic {{indexing_maps = [affine_map<(k, n) -> (k, n)>, affine_map<(k, n) -> (k, n)>], iterator_types = ["parallel", "parallel"]}}
      ins(%q : tensor<256x256xi32>) outs(%e : tensor<256x256xf32>) {{
  ^bb0(%in: i32, %out: f32):
    %float = arith.sitofp %in : i32 to f32
    linalg.yield %float : f32
  }} -> tensor<256x256xf32>
  %room = tensor.empty() : tensor<3x256xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%room : tensor<3x256xf32>) -> tensor<3x256xf32>
  %p = linalg.matmul ins(%x, %w : tensor<3x256xf32>, tensor<256x256xf32>) outs(%fill : tensor<3x256xf32>) -> tensor<3x256xf32>
  return %p : tensor<3x256xf32>
}}""")
    x = random.random((3, 256)).astype(np.float32)
    weights = before.astype(np.float64)
    weights[:, 5] = a & 15
    np.testing.assert_allclose(np.asarray(module.f(x)), x @ weights, rtol=1e-5)


def rounded(q, s, body, zero=None):
    """64 columns of 8 blocks of 32 bytes each; `body` makes %y of a byte %in, %scale and %zero, if there is one."""
    each, whole = "affine_map<(n, b, k) -> (n, b)>", "affine_map<(n, b, k) -> (n, b, k)>"
    has = zero is not None
    given = f"  %z = arith.constant {bytes_text(zero)} : tensor<64x8xi8>" if has else ""
    return pl.Engine(threads=1), f"""
func.func @f(%x: tensor<?x256xf32>, %y0: tensor<?x64xf32>) -> tensor<?x64xf32> {{
  %q = arith.constant {bytes_text(q)} : tensor<64x8x32xi8>
  %s = arith.constant {bytes_text(s)} : tensor<64x8xf32>
{given}
  %e = tensor.empty() : tensor<64x8x32xf32>
  %w = linalg.generic {{indexing_maps = [{", ".join([whole, each, *[each] * has, whole])}], iterator_types = ["parallel", "parallel", "parallel"]}}
      ins(%q, %s{", %z" * has} : tensor<64x8x32xi8>, tensor<64x8xf32>{", tensor<64x8xi8>" * has}) outs(%e : tensor<64x8x32xf32>) {{
  ^bb0(%in: i8, %scale: f32{", %zero: i8" * has}, %out: f32):
    {body}
    linalg.yield %y : f32
  }} -> tensor<64x8x32xf32>
  %m = tensor.collapse_shape %w [[0], [1, 2]] : tensor<64x8x32xf32> into tensor<64x256xf32>
  %r = linalg.generic {{indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%x, %m : tensor<?x256xf32>, tensor<64x256xf32>) outs(%y0 : tensor<?x64xf32>) attrs = {{plim.round_rows}} {{
  ^bb0(%a: f32, %b: f32, %o: f32):
    %ab = arith.mulf %a, %b : f32
    %sum = arith.addf %o, %ab : f32
    linalg.yield %sum : f32
  }} -> tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}}"""


@pytest.mark.parametrize("body", (
    # What a wide integer is as another, or with another sign.
    "%c = arith.extsi %zero : i8 to i32\n%v = arith.extsi %in : i8 to i32\n%d = arith.subi %v, %c : i32\n"
    "%f = arith.uitofp %d : i32 to f32\n%y = arith.mulf %f, %scale : f32",
    "%v = arith.extsi %in : i8 to i16\n%d = arith.extui %v : i16 to i32\n%f = arith.sitofp %d : i32 to f32\n%y = arith.mulf %f, %scale : f32",
    "%v = arith.extsi %in : i8 to i16\n%c = arith.constant -32768 : i16\n%d = arith.subi %v, %c : i16\n%f = arith.sitofp %d : i16 to f32\n"
    "%y = arith.mulf %f, %scale : f32",
    "%v = arith.extsi %in : i8 to i9\n%c = arith.extui %zero : i8 to i9\n%d = arith.subi %v, %c : i9\n%f = arith.sitofp %d : i9 to f32\n"
    "%y = arith.mulf %f, %scale : f32",
    # And what does not wrap.
    "%c = arith.extsi %zero : i8 to i32\n%v = arith.extui %in : i8 to i32\n%d = arith.subi %v, %c : i32\n%f = arith.sitofp %d : i32 to f32\n"
    "%y = arith.mulf %f, %scale : f32"))
def test_conversions_that_wrap(body):
    random = np.random.default_rng(5)
    zero = random.integers(-128, 128, (64, 8)).astype(np.int8) if "%zero" in body else None
    engine, source = rounded(random.integers(-128, 128, (64, 8, 32)).astype(np.int8), (random.random((64, 8)) + 0.5).astype(np.float32), body, zero)
    x, y = random.standard_normal((3, 256)).astype(np.float32), np.zeros((3, 64), np.float32)
    wanted = np.asarray(engine.loads(source, numerics="strict").f(x, y))
    assert np.linalg.norm(np.asarray(engine.loads(source).f(x, y)) - wanted) < 0.02 * np.linalg.norm(wanted)


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("wide", ("i8", "i16", "i32", "i64"))
@pytest.mark.parametrize("end", ("%f = arith.uitofp %d : {wide} to f32", "%f = arith.sitofp %d : {wide} to f32",
                                 "%t = arith.trunci %d : {wide} to i8\n%f = arith.uitofp %t : i8 to f32"))
def test_masked_numbers(host, wide, end):
    """The low half of a byte, of any width: floats are the source's, and rows are rounded where they may be."""
    if wide == "i8" and "trunci" in end:
        return
    extension = "" if wide == "i8" else f"%v = arith.extui %in : i8 to {wide}\n"
    body = (extension + f"%c = arith.constant 15 : {wide}\n%d = arith.andi {'%in' if wide == 'i8' else '%v'}, %c : {wide}\n" + end.format(wide=wide) +
            "\n%y = arith.mulf %f, %scale : f32")
    random = np.random.default_rng(7)
    q, s = random.integers(-128, 128, (64, 8, 32)).astype(np.int8), (random.random((64, 8)) + 0.5).astype(np.float32)
    _, source = rounded(q, s, body)
    engine = pl.Engine(threads=2, target=host)
    x, y = random.standard_normal((7, 256)).astype(np.float32), np.zeros((7, 64), np.float32)
    wanted = x.astype(np.float64) @ ((q & 15) * s[:, :, None].astype(np.float64)).reshape(64, 256).T

    def off(text):
        return np.linalg.norm(np.asarray(engine.loads(text).f(x, y)) - wanted) / np.linalg.norm(wanted)
    assert off(source.replace("attrs = {plim.round_rows} ", "")) < 1e-6
    assert off(source) < 0.02
    if host in ("x86-64-v3", "x86-64-v4"):  # have instructions for groups
        assert off(source) > 1e-5


def test_rows_that_are_not_finite():
    """Those of zeros and of denormals are zero, and only a row's own results are no numbers."""
    random = np.random.default_rng(6)
    q, s = random.integers(-128, 128, (64, 8, 32)).astype(np.int8), (random.random((64, 8)) + 0.5).astype(np.float32)
    engine, source = rounded(q, s, "%f = arith.sitofp %in : i8 to f32\n%y = arith.mulf %f, %scale : f32")
    x, y = random.standard_normal((6, 256)).astype(np.float32), np.ones((6, 64), np.float32)
    x[1], x[2] = 0, 1e-42
    x[3, 7], x[4, 9] = np.inf, np.nan
    got = np.asarray(engine.loads(source).f(x, y))
    wanted = 1 + x.astype(np.float64) @ (q * s[:, :, None].astype(np.float64)).reshape(64, 256).T
    np.testing.assert_array_equal(got[1:3], 1)
    assert np.isnan(got[3:5]).all()
    assert np.linalg.norm((got - wanted)[[0, 5]]) < 0.02 * np.linalg.norm(wanted[[0, 5]])
