#!/usr/bin/env python3
"""Tests of the evaluator, with values that follow from the definitions of the operations."""
import pathlib
import struct
import sys
import unittest

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import reference  # noqa: E402
from reference import affine, numerics, values  # noqa: E402
from reference.irtypes import Float, Int  # noqa: E402
from reference.syntax import Reader  # noqa: E402

NAN, INF = float("nan"), float("inf")


def evaluate(text, *args, exact=True, function="main"):
    """The results of @main for arguments in the grammar of `plimsoll run --input`."""
    (module,) = reference.parse_modules([text])
    machine = reference.Machine(module, exact)
    kind = machine.function_type(function)
    given = [values.argument(machine, arg, kind) for arg, kind in zip(args, kind.inputs)]
    return machine.call(function, given), given


def scalar(op, *args, exact=True):
    """One operation on scalars: `op` names it, its type after a colon: 'arith.addi : i8'."""
    name, kinds = op.split(" : ")
    source, _, target = kinds.partition(" to ")
    target = target or ("i1" if ".cmp" in name or ".is" in name else source)
    name, _, predicate = name.partition(" ")
    predicate = predicate + ", " if predicate else ""
    names = [f"%{chr(ord('a') + i)}" for i in range(len(args))]
    inputs = ", ".join(f"{n}: {source}" for n in names)
    suffix = f" to {target}" if " to " in kinds else ""
    text = (f"func.func @main({inputs}) -> {target} {{\n"
            f"  %r = {name} {predicate}{', '.join(names)} : {source}{suffix}\n"
            f"  return %r : {target}\n}}\n")
    results, _ = evaluate(text, *[f"{source}={arg}" for arg in args], exact=exact)
    return results[0].item()


class Case(unittest.TestCase):
    def same(self, got, want):
        got, want = np.asarray(got, np.float64), np.asarray(want, np.float64)
        self.assertEqual(got.shape, want.shape)
        self.assertTrue(np.array_equal(got, want, equal_nan=True) and
                        np.array_equal(np.signbit(got[got == 0]), np.signbit(want[want == 0])),
                        f"{got.tolist()} is not {want.tolist()}")


class SyntaxTest(Case):
    def test_types(self):
        for text in ("tensor<4x?xf32>", "memref<?x2xi8, strided<[?, 1], offset: ?>>", "i1", "index",
                     "complex<f64>", "vector<2x3xbf16>", "(i1, f32) -> (tensor<f16>)", "f8E4M3FN",
                     "!tosa.shape<2>", "tensor<*xf32>", "memref<4xf32, affine_map<(d0) -> (d0)>>",
                     "tensor<0x3xcomplex<f32>>"):
            reader = Reader(text)
            reader.type()
            self.assertEqual(reader.at, len(text))
        self.assertEqual(Reader("memref<2xf32, strided<[-1], offset: 3>>").type().layout, ((-1,), 3))

    def test_affine(self):
        map_ = affine.parse_map("(d0, d1)[s0] -> (d0 * 2 + s0, -d1 floordiv 2, d0 ceildiv 3, d1 mod 4)")
        self.assertEqual(map_((4, 5), (7,)), [15, -3, 2, 1])
        set_ = affine.parse_set("(d0)[s0] : (d0 - 1 >= 0, s0 - d0 == 0)")
        self.assertTrue(set_.holds([1, 1]))
        self.assertFalse(set_.holds([0, 0]))
        self.assertFalse(set_.holds([1, 2]))

    def test_constants(self):
        text = """func.func @main() -> ({}) {{
          %0 = arith.constant dense<{}> : {}
          return %0 : {}
        }}"""
        for body, kind, want in (
                ("[1, -1]", "tensor<2xi8>", [1, -1]), ("7", "tensor<2x1xi64>", [[7], [7]]),
                ("true", "tensor<2xi1>", [1, 1]), ("[[1.5], [-0.0]]", "tensor<2x1xf32>", [[1.5], [-0.0]]),
                ("0x7F800000", "tensor<1xf32>", [INF]), ("0xFFC0", "tensor<1xbf16>", [NAN]),
                ("", "tensor<0xf32>", []), ('"0x000080BF00000040"', "tensor<2xf32>", [-1, 2]),
                ("0.1", "tensor<f16>", 0.0999755859375), ("255", "tensor<1xi8>", [-1]),
                ("[18446744073709551615, 1]", "tensor<2xi64>", [-1, 1])):
            (got,), _ = evaluate(text.format(kind, body, kind, kind))
            self.same(got, want)
        (got,), _ = evaluate(text.format("tensor<2xcomplex<f32>>", "[(1.0, 2.0), (-0.5, 0.0)]",
                                         "tensor<2xcomplex<f32>>", "tensor<2xcomplex<f32>>"))
        self.assertEqual(got.tolist(), [1 + 2j, -0.5])

    def test_resources(self):
        text = """func.func @main() -> tensor<2xf32> {
          %0 = arith.constant dense_resource<two> : tensor<2xf32>
          return %0 : tensor<2xf32>
        }
        {-# dialect_resources: { builtin: { two: "0x040000000000803F00000040" } } #-}"""
        self.same(evaluate(text)[0][0], [1, 2])

    def test_what_cannot_be_read(self):
        with self.assertRaises(reference.ParseError):
            reference.parse_modules(["func.func @main("])
        with self.assertRaises(reference.Unsupported):
            evaluate('func.func @main() { "test.unknown"() : () -> () return }')


class IntegerTest(Case):
    def test_wrap(self):
        self.assertEqual(scalar("arith.addi : i8", 100, 100), -56)
        self.assertEqual(scalar("arith.muli : i16", 300, 300), 24464)
        self.assertEqual(scalar("arith.subi : i64", -2**63, 1), 2**63 - 1)
        self.assertEqual(scalar("arith.muli : i64", 2**62, 4), 0)
        self.assertEqual(scalar("arith.addi : i1", 1, 1), 0)
        self.assertEqual(scalar("arith.addi : i4", 7, 1), -8)

    def test_division(self):
        for name, want in (("divsi", -3), ("remsi", -1), ("floordivsi", -4), ("ceildivsi", -3)):
            self.assertEqual(scalar(f"arith.{name} : i32", -7, 2), want, name)
        self.assertEqual(scalar("arith.ceildivsi : i8", -128, 3), -42)
        self.assertEqual(scalar("arith.ceildivsi : i8", 127, 1), 127)
        self.assertEqual(scalar("arith.floordivsi : i8", 7, -2), -4)
        self.assertEqual(scalar("arith.divui : i8", -1, 2), 127)
        self.assertEqual(scalar("arith.remui : i64", -1, 10), 5)
        self.assertEqual(scalar("arith.ceildivui : i8", -1, 2), -128)
        for name in ("divsi", "divui", "remsi", "remui", "ceildivsi", "ceildivui", "floordivsi"):
            with self.assertRaises(reference.CallFailed):
                scalar(f"arith.{name} : i32", 1, 0)

    def test_shifts(self):
        self.assertEqual(scalar("arith.shli : i8", 1, 7), -128)
        self.assertEqual(scalar("arith.shrsi : i8", -128, 7), -1)
        self.assertEqual(scalar("arith.shrui : i8", -128, 7), 1)
        self.assertEqual(scalar("arith.shrui : i64", -1, 63), 1)
        self.assertEqual(scalar("arith.shrui : i64", 7720578262352342254, 7), 60317017674627673)
        self.assertEqual(scalar("arith.shrui : i64", -1, 64), 0)

    def test_compare(self):
        for predicate, want in (("slt", 1), ("ult", 0), ("uge", 1), ("sge", 0), ("ne", 1), ("eq", 0)):
            self.assertEqual(scalar(f"arith.cmpi {predicate} : i16", -1, 1), want, predicate)
        self.assertEqual(scalar("arith.cmpi slt : i1", 1, 0), 1)  # True is -1.
        self.assertEqual(scalar("arith.cmpi ult : i1", 1, 0), 0)
        self.assertEqual(scalar("arith.maxui : i8", -1, 1), -1)
        self.assertEqual(scalar("arith.minsi : i1", 1, 0), 1)

    def test_casts(self):
        self.assertEqual(scalar("arith.extsi : i1 to i8", 1), -1)
        self.assertEqual(scalar("arith.extui : i8 to i32", -1), 255)
        self.assertEqual(scalar("arith.trunci : i32 to i8", 384), -128)
        self.assertEqual(scalar("arith.index_cast : i1 to index", 1), -1)
        self.assertEqual(scalar("arith.index_castui : i8 to index", -1), 255)
        self.assertEqual(scalar("arith.sitofp : i64 to f32", 2**24 + 1), 2.0**24)
        self.assertEqual(scalar("arith.sitofp : i64 to bf16", 2**62 + 2**54 + 1), 2.0**62 + 2.0**55)
        self.assertEqual(scalar("arith.uitofp : i64 to f64", -1), 2.0**64)
        self.assertEqual(scalar("arith.sitofp : i1 to f32", 1), -1)
        self.assertEqual(scalar("arith.fptosi : f32 to i8", -3.9), -3)
        self.assertEqual(scalar("arith.fptosi : f32 to i8", 1000), 127)
        self.assertEqual(scalar("arith.fptosi : f64 to i64", 1e300), 2**63 - 1)
        self.assertEqual(scalar("arith.fptosi : f64 to i64", "nan"), 0)
        self.assertEqual(scalar("arith.fptoui : f32 to i8", 200.5), -56)
        self.assertEqual(scalar("arith.bitcast : f32 to i32", -1), struct.unpack("i", struct.pack("f", -1))[0])
        self.assertEqual(scalar("arith.bitcast : i16 to bf16", 0x3FC0), 1.5)

    def test_bits(self):
        self.assertEqual(scalar("math.ctpop : i8", -1), 8)
        self.assertEqual(scalar("math.ctlz : i16", 1), 15)
        self.assertEqual(scalar("math.cttz : i32", 0), 32)
        self.assertEqual(scalar("math.ipowi : i8", 3, 5), -13)
        self.assertEqual(scalar("math.absi : i8", -128), -128)


class FloatTest(Case):
    def test_each_type_rounds(self):
        self.assertEqual(scalar("arith.addf : f32", 16777216, 1), 16777216)
        self.assertEqual(scalar("arith.addf : f16", 2048, 1), 2048)
        self.assertEqual(scalar("arith.addf : bf16", 256, 1), 256)
        self.assertEqual(scalar("arith.addf : bf16", 256, 3), 260)
        self.assertEqual(scalar("arith.mulf : f16", 60000, 2), INF)
        self.assertEqual(scalar("arith.addf : f32", 16777216, 1, exact=False), 16777217)
        self.assertEqual(scalar("arith.mulf : f16", 60000, 2, exact=False), INF)

    def test_formats(self):
        e4m3, e5m2 = Float("f8E4M3FN"), Float("f8E5M2")
        self.assertEqual(numerics.format_of(e4m3).largest, 448)
        self.assertEqual(numerics.format_of(e5m2).largest, 57344)
        with np.errstate(all="ignore"):
            self.same(numerics.round_to([464, 465, 17, 19, 2.0**-9, 2.0**-10, NAN], e4m3),
                      [448, NAN, 16, 20, 2.0**-9, 0, NAN])
            self.same(numerics.round_to([61439, 61440, 2.0**-16, 2.0**-17, -INF], e5m2),
                      [57344, INF, 2.0**-16, 0, -INF])
        self.assertEqual(numerics.float_from_bits(0x7E, e4m3), 448)
        self.assertTrue(np.isnan(numerics.float_from_bits(0x7F, e4m3)))
        for kind in (e4m3, e5m2, Float("bf16"), Float("f16")):
            bits = np.arange(1 << numerics.format_of(kind).bits)
            numbers = numerics.float_from_bits(bits, kind)
            known = ~np.isnan(numbers)
            self.assertTrue(np.array_equal(numerics.bits_from_float(numbers, kind)[known], bits[known]))

    def test_rounding_agrees_with_numpy(self):
        bits = np.random.default_rng(1).integers(0, 1 << 63, 20000, dtype=np.uint64)
        numbers = bits.view(np.float64)
        with np.errstate(all="ignore"):
            self.same(numerics.round_to(numbers, Float("f32")), numbers.astype(np.float32))
        small = np.ldexp(np.random.default_rng(2).standard_normal(20000), np.arange(20000) % 40 - 28)
        with np.errstate(all="ignore"):
            self.same(numerics.round_to(small, Float("f16")), small.astype(np.float16))

    def test_special_values(self):
        self.same(scalar("arith.maximumf : f32", "nan", 1), NAN)
        self.same(scalar("arith.maxnumf : f32", "nan", 1), 1)
        self.same(scalar("arith.maximumf : f32", -0.0, 0.0), 0.0)
        self.same(scalar("arith.minimumf : f32", 0.0, -0.0), -0.0)
        self.same(scalar("arith.negf : f64", 0), -0.0)
        self.same(scalar("arith.subf : f32", 0, 0), 0.0)
        self.same(scalar("arith.divf : f32", -1, 0), -INF)
        self.same(scalar("arith.remf : f32", -5.5, 2), -1.5)
        self.same(scalar("math.roundeven : f32", 2.5), 2)
        self.same(scalar("math.round : f32", -2.5), -3)
        self.same(scalar("math.round : f64", 0.49999999999999994), 0.0)
        self.same(scalar("math.trunc : f32", -0.5), -0.0)
        self.same(scalar("math.copysign : f32", 3, -0.0), -3)

    def test_compare(self):
        for predicate, want in (("oeq", 0), ("ueq", 1), ("one", 0), ("une", 1), ("ord", 0), ("uno", 1),
                                ("olt", 0), ("ult", 1), ("false", 0), ("true", 1)):
            self.assertEqual(scalar(f"arith.cmpf {predicate} : f32", "nan", 1), want, predicate)
        for predicate, want in (("olt", 1), ("ugt", 0), ("one", 1), ("ole", 1), ("oge", 0)):
            self.assertEqual(scalar(f"arith.cmpf {predicate} : f32", 1, 2), want, predicate)

    def test_fused(self):
        # 4097^2 = 2^24 + 2^13 + 1 needs 25 bits.
        self.assertEqual(scalar("math.fma : f32", 4097, 4097, -16785408), 1)
        self.assertEqual(scalar("math.fma : f64", 2.0**27 + 1, 2.0**27 + 1, -2.0**54 - 2.0**28), 1)
        # 1 + 2^-24 is a tie in f32; what lies below float64's digits decides.
        tiny = 2.0**-80
        self.assertEqual(scalar("math.fma : f32", tiny, 1, 1), 1)
        self.assertEqual(scalar("math.fma : f32", 4097 * 2.0**-12, 4097 * 2.0**-12, tiny),
                         1 + 2.0**-11 + 2.0**-23)

    def test_functions(self):
        self.assertEqual(scalar("math.exp : f64", 0), 1)
        self.assertEqual(scalar("math.rsqrt : f32", 16), 0.25)
        self.assertEqual(scalar("math.erf : f64", "inf"), 1)
        self.assertEqual(scalar("math.powf : f32", -2, 3), -8)
        self.same(scalar("math.log : f32", -1), NAN)
        self.assertEqual(scalar("math.exp : f32", 89, exact=False), INF)


GENERIC = """func.func @main(%x: {0}, %y: {1}) -> {1} {{
  %r = linalg.generic {{indexing_maps = [affine_map<{2}>, affine_map<{3}>],
                       iterator_types = [{4}]}}
      ins(%x : {0}) outs(%y : {1}) {{
  ^bb0(%a: {5}, %b: {6}):
    {7}
  }} -> {1}
  return %r : {1}
}}"""


class StructuredTest(Case):
    def generic(self, kinds, maps, iterators, body, *args):
        words = ", ".join(f'"{word}"' for word in iterators)
        elements = [kind[kind.rindex("x") + 1:-1] if "x" in kind.replace("index", "") else kind[7:-1]
                    for kind in kinds]
        text = GENERIC.format(*kinds, *maps, words, *elements, body)
        return evaluate(text, *args)[0][0]

    def test_program_order(self):
        maps = ("(i) -> (i)", "(i) -> ()")
        for body, want in (("%s = arith.addf %b, %a : f32\n linalg.yield %s : f32", 10),
                           ("%s = arith.subf %a, %b : f32\n linalg.yield %s : f32", 2),
                           ("%h = arith.constant 0.5 : f32\n %p = arith.mulf %b, %h : f32\n"
                            "%s = arith.addf %p, %a : f32\n linalg.yield %s : f32", 6.125)):
            self.same(self.generic(("tensor<4xf32>", "tensor<f32>"), maps, ["reduction"], body,
                                   "4xf32=1 2 3 4", "f32=0"), want)

    def test_rounding_in_program_order(self):
        # 2^24 + 1 + 1 stays in f32, one after the other.
        body = "%s = arith.addf %b, %a : f32\n linalg.yield %s : f32"
        self.same(self.generic(("tensor<3xf32>", "tensor<f32>"), ("(i) -> (i)", "(i) -> ()"),
                               ["reduction"], body, "3xf32=16777216 1 1", "f32=0"), 16777216)

    def test_combiners(self):
        maps, kinds = ("(i, j) -> (i, j)", "(i, j) -> (j)"), ("tensor<2x3xi8>", "tensor<3xi8>")
        # At once, and one by one.
        for name in ("addi", "muli", "maxsi", "minsi", "minui", "maxui", "andi", "ori", "xori"):
            plain = f"%s = arith.{name} %b, %a : i8\n linalg.yield %s : i8"
            # A use more keeps the known combiner from being seen.
            looped = (f"%s = arith.{name} %b, %a : i8\n %t = arith.addi %s, %b : i8\n"
                      "%u = arith.subi %t, %b : i8\n linalg.yield %u : i8")
            args = ("2x3xi8=127 2 -1 16 6 2", "3xi8=2 3 5")
            self.same(self.generic(kinds, maps, ["reduction", "parallel"], plain, *args),
                      self.generic(kinds, maps, ["reduction", "parallel"], looped, *args))
        body = "%s = arith.addi %b, %a : i8\n linalg.yield %s : i8"
        self.same(self.generic(kinds, maps, ["reduction", "parallel"], body,
                               "2x3xi8=127 2 -1 16 6 2", "3xi8=2 3 5"), [-111, 11, 6])
        body = "%s = arith.maxui %b, %a : i8\n linalg.yield %s : i8"
        self.same(self.generic(kinds, maps, ["reduction", "parallel"], body,
                               "2x3xi8=127 2 -1 16 6 2", "3xi8=2 3 5"), [127, 6, -1])

    def test_signs_of_zeros(self):
        body = "%s = arith.maximumf %b, %a : f32\n linalg.yield %s : f32"
        maps, kinds = ("(i) -> (i)", "(i) -> ()"), ("tensor<2xf32>", "tensor<f32>")
        self.same(self.generic(kinds, maps, ["reduction"], body, "2xf32=-0 0", "f32=-0"), 0.0)
        self.same(self.generic(kinds, maps, ["reduction"], body, "2xf32=-0 -0", "f32=-0"), -0.0)
        self.same(self.generic(kinds, maps, ["reduction"], body, "2xf32=-5 nan", "f32=0"), NAN)

    def test_maps(self):
        body = "linalg.yield %a : i32"
        kinds = ("tensor<3xi32>", "tensor<3xi32>")
        self.same(self.generic(kinds, ("(i) -> (2 - i)", "(i) -> (i)"), ["parallel"], body,
                               "3xi32=1 2 3", "3xi32=0"), [3, 2, 1])
        self.same(self.generic(("tensor<5xi32>", "tensor<3xi32>"), ("(i) -> (i * 2)", "(i) -> (i)"),
                               ["parallel"], body, "5xi32=1 2 3 4 5", "3xi32=0"), [1, 3, 5])
        with self.assertRaises(reference.CallFailed):
            self.generic(("tensor<?xi32>", "tensor<?xi32>"), ("(i) -> (i * 2)", "(i) -> (i)"),
                         ["parallel"], body, "4xi32=1 2 3 4", "3xi32=0")
        with self.assertRaises(reference.CallFailed):
            self.generic(("tensor<?xi32>", "tensor<?xi32>"), ("(i) -> (i)", "(i) -> (i)"),
                         ["parallel"], body, "4xi32=1 2 3 4", "3xi32=0")
        self.same(self.generic(("tensor<2x3xi32>", "tensor<3x2xi32>"), ("(i, j) -> (j, i)", "(i, j) -> (i, j)"),
                               ["parallel", "parallel"], body, "2x3xi32=1 2 3 4 5 6", "3x2xi32=0"),
                  [[1, 4], [2, 5], [3, 6]])

    def test_branches_in_a_body(self):
        body = """%c = arith.cmpi sgt, %a, %b : i32
          %s = scf.if %c -> i32 {
            %d = arith.divsi %a, %b : i32
            scf.yield %d : i32
          } else {
            scf.yield %b : i32
          }
          linalg.yield %s : i32"""
        self.same(self.generic(("tensor<3xi32>", "tensor<3xi32>"), ("(i) -> (i)", "(i) -> (i)"),
                               ["parallel"], body, "3xi32=9 -1 5", "3xi32=2 0 7"), [4, 0, 7])

    def test_empty(self):
        body = "%s = arith.divsi %a, %b : i32\n linalg.yield %s : i32"
        self.same(self.generic(("tensor<?xi32>", "tensor<i32>"), ("(i) -> (i)", "(i) -> ()"),
                               ["reduction"], body, "0xi32=", "i32=0"), 0)

    def test_named(self):
        def named(op, kinds, *args):
            *ins, out = kinds
            inputs = ", ".join(f"%x{i}: {kind}" for i, kind in enumerate(kinds))
            names = ", ".join(f"%x{i}" for i in range(len(ins)))
            text = (f"func.func @main({inputs}) -> {out} {{\n %r = {op} ins({names} : {', '.join(ins)}) "
                    f"outs(%x{len(ins)} : {out}) -> {out}\n return %r : {out}\n}}\n")
            return evaluate(text, *args)[0][0]
        self.same(named("linalg.matmul", ["tensor<2x2xi32>"] * 3, "2x2xi32=1 2 3 4", "2x2xi32=5 6 7 8",
                        "2x2xi32=1"), [[20, 23], [44, 51]])
        self.same(named("linalg.batch_matmul", ["tensor<1x1x2xi32>", "tensor<1x2x1xi32>", "tensor<1x1x1xi32>"],
                        "1x1x2xi32=1 2", "1x2x1xi32=3 4", "1x1x1xi32=0"), [[[11]]])
        self.same(named("linalg.matvec", ["tensor<2x2xi32>", "tensor<2xi32>", "tensor<2xi32>"],
                        "2x2xi32=1 2 3 4", "2xi32=1 10", "2xi32=0"), [21, 43])
        self.same(named("linalg.vecmat", ["tensor<2xi32>", "tensor<2x2xi32>", "tensor<2xi32>"],
                        "2xi32=1 10", "2x2xi32=1 2 3 4", "2xi32=0"), [31, 42])
        self.same(named("linalg.conv_1d", ["tensor<4xi32>", "tensor<2xi32>", "tensor<3xi32>"],
                        "4xi32=1 2 3 4", "2xi32=1 10", "3xi32=0"), [21, 32, 43])
        strided = "linalg.conv_1d_nwc_wcf {strides = dense<2> : tensor<1xi64>, dilations = dense<2> : tensor<1xi64>}"
        self.same(named(strided, ["tensor<1x5x1xi32>", "tensor<2x1x1xi32>", "tensor<1x2x1xi32>"],
                        "1x5x1xi32=1 2 3 4 5", "2x1x1xi32=1 10", "1x2x1xi32=0"), [[[31], [53]]])
        self.same(named("linalg.conv_2d_nchw_fchw", ["tensor<1x1x2x2xi32>", "tensor<2x1x1x2xi32>",
                                                     "tensor<1x2x2x1xi32>"],
                        "1x1x2x2xi32=1 2 3 4", "2x1x1x2xi32=1 1 1 -1", "1x2x2x1xi32=0"),
                  [[[[3], [7]], [[-1], [-1]]]])
        self.same(named("linalg.depthwise_conv_2d_nhwc_hwcm", ["tensor<1x1x1x2xi32>", "tensor<1x1x2x2xi32>",
                                                               "tensor<1x1x1x2x2xi32>"],
                        "1x1x1x2xi32=2 3", "1x1x2x2xi32=1 2 3 4", "1x1x1x2x2xi32=0"), [[[[[2, 4], [9, 12]]]]])
        self.same(named("linalg.pooling_nhwc_max", ["tensor<1x2x2x1xi32>", "tensor<2x2xi32>", "tensor<1x1x1x1xi32>"],
                        "1x2x2x1xi32=1 7 3 4", "2x2xi32=0", "1x1x1x1xi32=0"), [[[[7]]]])
        self.same(named("linalg.mmt4d", ["tensor<1x1x2x1xi32>", "tensor<1x1x2x1xi32>", "tensor<1x1x2x2xi32>"],
                        "1x1x2x1xi32=1 2", "1x1x2x1xi32=3 4", "1x1x2x2xi32=0"), [[[[3, 4], [6, 8]]]])


class TensorTest(Case):
    def one(self, signature, body, *args):
        return evaluate(f"func.func @main{signature} {{\n{body}\n}}\n", *args)[0][0]

    def test_slices(self):
        self.same(self.one("(%x: tensor<6xi32>, %o: index) -> tensor<2xi32>",
                           "%r = tensor.extract_slice %x[%o] [2] [3] : tensor<6xi32> to tensor<2xi32>\n"
                           "return %r : tensor<2xi32>", "6xi32=0 1 2 3 4 5", "index=2"), [2, 5])
        with self.assertRaises(reference.CallFailed):
            self.one("(%x: tensor<6xi32>, %o: index) -> tensor<2xi32>",
                     "%r = tensor.extract_slice %x[%o] [2] [3] : tensor<6xi32> to tensor<2xi32>\n"
                     "return %r : tensor<2xi32>", "6xi32=0 1 2 3 4 5", "index=3")
        self.same(self.one("(%x: tensor<2xi32>, %y: tensor<2x3xi32>) -> tensor<2x3xi32>",
                           "%r = tensor.insert_slice %x into %y[0, 1] [2, 1] [1, 1] : tensor<2xi32> into "
                           "tensor<2x3xi32>\nreturn %r : tensor<2x3xi32>", "2xi32=7 8", "2x3xi32=0"),
                  [[0, 7, 0], [0, 8, 0]])

    def test_shapes(self):
        self.same(self.one("(%x: tensor<2x?xi32>) -> tensor<?xi32>",
                           "%r = tensor.collapse_shape %x [[0, 1]] : tensor<2x?xi32> into tensor<?xi32>\n"
                           "return %r : tensor<?xi32>", "2x2xi32=1 2 3 4"), [1, 2, 3, 4])
        self.same(self.one("(%x: tensor<2xi32>) -> tensor<5xi32>",
                           "%c = arith.constant 9 : i32\n%r = tensor.pad %x low[1] high[2] {\n^bb0(%i: index):\n"
                           "tensor.yield %c : i32\n} : tensor<2xi32> to tensor<5xi32>\nreturn %r : tensor<5xi32>",
                           "2xi32=1 2"), [9, 1, 2, 9, 9])
        with self.assertRaises(reference.CallFailed):
            self.one("(%x: tensor<?xi32>) -> tensor<3xi32>",
                     "%r = tensor.cast %x : tensor<?xi32> to tensor<3xi32>\nreturn %r : tensor<3xi32>", "2xi32=1 2")

    def test_pack(self):
        body = """%e = tensor.empty() : tensor<2x2xi32>
          %p = linalg.pack %x padding_value(%c : i32) inner_dims_pos = [0] inner_tiles = [2] into %e
              : tensor<3xi32> -> tensor<2x2xi32>
          %f = tensor.empty() : tensor<3xi32>
          %u = linalg.unpack %p inner_dims_pos = [0] inner_tiles = [2] into %f : tensor<2x2xi32> -> tensor<3xi32>
          return %p, %u : tensor<2x2xi32>, tensor<3xi32>"""
        results, _ = evaluate("func.func @main(%x: tensor<3xi32>, %c: i32) -> (tensor<2x2xi32>, tensor<3xi32>) {\n"
                              + body + "}", "3xi32=1 2 3", "i32=9")
        self.same(results[0], [[1, 2], [3, 9]])
        self.same(results[1], [1, 2, 3])

    def test_indices_out_of_range(self):
        for index in (-1, 3):
            with self.assertRaises(reference.CallFailed):
                self.one("(%x: tensor<3xi32>, %i: index) -> i32",
                         "%r = tensor.extract %x[%i] : tensor<3xi32>\nreturn %r : i32", "3xi32=1 2 3",
                         f"index={index}")


class ControlTest(Case):
    def test_loops_and_branches(self):
        results, _ = evaluate("""func.func @main(%n: index) -> (i64, i64) {
          %c0 = arith.constant 0 : index
          %c1 = arith.constant 1 : index
          %z = arith.constant 0 : i64
          %o = arith.constant 1 : i64
          %a:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %z, %y = %o) -> (i64, i64) {
            %s = arith.addi %x, %y : i64
            scf.yield %y, %s : i64, i64
          }
          %b = scf.while (%v = %n) : (index) -> index {
            %c = arith.cmpi ugt, %v, %c1 : index
            scf.condition(%c) %v : index
          } do {
          ^bb0(%v: index):
            %m = arith.subi %v, %c1 : index
            scf.yield %m : index
          }
          %r = arith.index_cast %b : index to i64
          return %a#0, %r : i64, i64
        }""", "index=10")
        self.assertEqual([int(value) for value in results], [55, 1])

    def test_blocks(self):
        text = """func.func @main(%n: i32) -> i32 {
          %z = arith.constant 0 : i32
          %o = arith.constant 1 : i32
          cf.br ^head(%n, %z : i32, i32)
        ^head(%i: i32, %s: i32):
          %more = arith.cmpi sgt, %i, %z : i32
          cf.cond_br %more, ^body, ^end
        ^body:
          %t = arith.addi %s, %i : i32
          %j = arith.subi %i, %o : i32
          cf.br ^head(%j, %t : i32, i32)
        ^end:
          cf.switch %s : i32, [
            default: ^out(%s : i32),
            15: ^out(%n : i32)
          ]
        ^out(%r: i32):
          return %r : i32
        }"""
        self.assertEqual(evaluate(text, "i32=4")[0][0], 10)
        self.assertEqual(evaluate(text, "i32=5")[0][0], 5)

    def test_recursion_and_state(self):
        text = """ml_program.global private mutable @total(dense<1> : tensor<i64>) : tensor<i64>
        func.func @main(%n: i64) -> tensor<i64> {
          %z = arith.constant 0 : i64
          %o = arith.constant 1 : i64
          %end = arith.cmpi eq, %n, %z : i64
          scf.if %end {
          } else {
            %t = ml_program.global_load @total : tensor<i64>
            %s = tensor.splat %n : tensor<i64>
            %p = arith.muli %t, %s : tensor<i64>
            ml_program.global_store @total = %p : tensor<i64>
            %m = arith.subi %n, %o : i64
            %u = func.call @main(%m) : (i64) -> tensor<i64>
          }
          %r = ml_program.global_load @total : tensor<i64>
          return %r : tensor<i64>
        }"""
        self.assertEqual(evaluate(text, "i64=20")[0][0], 2432902008176640000)

    def test_assert(self):
        text = 'func.func @main(%c: i1) {\n cf.assert %c, "no"\n return\n}\n'
        evaluate(text, "i1=1")
        with self.assertRaisesRegex(reference.CallFailed, "no"):
            evaluate(text, "i1=0")


class MemoryTest(Case):
    def test_views_alias(self):
        _, (memory,) = evaluate("""func.func @main(%x: memref<6xi32>) {
          %c0 = arith.constant 0 : index
          %c1 = arith.constant 1 : index
          %v = memref.subview %x[1] [2] [3] : memref<6xi32> to memref<2xi32, strided<[3], offset: 1>>
          %a = memref.load %v[%c1] : memref<2xi32, strided<[3], offset: 1>>
          memref.store %a, %v[%c0] : memref<2xi32, strided<[3], offset: 1>>
          return
        }""", "6xi32=0 1 2 3 4 5")
        self.same(memory, [0, 4, 2, 3, 4, 5])

    def test_affine_and_vector(self):
        _, (memory, out) = evaluate("""func.func @main(%x: memref<5xf32>, %y: memref<4xf32>) {
          %z = arith.constant -1.0 : f32
          affine.for %i = 0 to 5 step 2 {
            affine.store %z, %x[%i] : memref<5xf32>
          }
          %c3 = arith.constant 3 : index
          %c0 = arith.constant 0 : index
          %v = vector.transfer_read %x[%c3], %z : memref<5xf32>, vector<4xf32>
          vector.transfer_write %v, %y[%c0] : vector<4xf32>, memref<4xf32>
          return
        }""", "5xf32=1 2 3 4 5", "4xf32=0")
        self.same(memory, [-1, 2, -1, 4, -1])
        self.same(out, [4, -1, -1, -1])


class ComplexTest(Case):
    def test_operations(self):
        text = """func.func @main(%a: f32, %b: f32, %c: f32, %d: f32) -> (f32, f32) {{
          %x = complex.create %a, %b : complex<f32>
          %y = complex.create %c, %d : complex<f32>
          %r = complex.{} : complex<f32>
          %s = complex.re %r : complex<f32>
          %t = complex.im %r : complex<f32>
          return %s, %t : f32, f32
        }}"""
        args = ["f32=1", "f32=2", "f32=3", "f32=-4"]
        for op, want in (("mul %x, %y", (11, 2)), ("div %x, %y", (-0.2, 0.4)), ("conj %x", (1, -2)),
                         ("sub %x, %y", (-2, 6)), ("neg %x", (-1, -2))):
            results, _ = evaluate(text.format(op), *args)
            self.same(results, np.float32(want))


class ValuesTest(Case):
    def test_random_elements(self):
        # The first words of SplitMix64 from the seed 1234567, by its published test vectors.
        self.assertEqual([int(word) for word in values.random_words(1234567, 3)],
                         [6457827717110365317, 3203168211198807973, 9817491932198370423])
        numbers = values.random_elements(Float("f32"), 1, 1000)
        self.assertTrue((numbers >= -1).all() and (numbers < 1).all())
        self.same(numbers, numbers.astype(np.float32))
        integers = values.random_elements(Int(8), 1, 1000)
        self.assertEqual((integers.min(), integers.max()), (-8, 7))

    def test_text(self):
        self.assertEqual(values.parse("2x1xi8=[[255], [-1]]")[0], (2, 1))
        self.same(values.parse("3xf32=0.5")[2], [0.5] * 3)
        with self.assertRaises(values.BadValue):
            values.parse("2xf32=1 2 3")


if __name__ == "__main__":
    unittest.main()
