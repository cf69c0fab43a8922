#!/usr/bin/python3
"""Texts that are wrong: one message with its place, nothing written, no crash. And random damage to good ones.

    bad_test.py PLIMSOLL MUTANTS [--mutations N] [--seed N]
"""

import argparse
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import plimsoll as pl

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import call_cases  # noqa: E402
import cases  # noqa: E402
import complex_cases  # noqa: E402
import models_test  # noqa: E402
import more_cases  # noqa: E402
import special_cases  # noqa: E402
from writer import function, kind_of, module  # noqa: E402

options = None
GOOD = """module @m {
  func.func public @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.add %arg0, %arg0 : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}
"""


def main(*lines, arguments="%arg0: tensor<2x3xf32>", results="tensor<2x3xf32>", returned="%0 : tensor<2x3xf32>"):
    body = "".join(f"    {line}\n" for line in lines)
    return f"func.func @main({arguments}) -> {results} {{\n{body}    return {returned}\n}}\n"


class Wrong(unittest.TestCase):
    def check(self, text, place, *words):
        """`place`: line and column, "" if there is none, None if any will do."""
        with tempfile.TemporaryDirectory() as folder:
            path, out = f"{folder}/bad.mlir", f"{folder}/out"
            with open(path, "wb") as file:
                file.write(text if isinstance(text, bytes) else text.encode())
            run = subprocess.run([options.plimsoll, "import", path, "-o", out], capture_output=True, text=True, timeout=60)
            self.assertEqual(run.returncode, 1, run.stderr)
            self.assertEqual(run.stderr.count("\n"), 1, run.stderr)
            where = r":\d+:\d+" if place is None else f":{place}" if place else ""
            self.assertRegex(run.stderr, f"^error: {re.escape(path)}{where}: ")
            for word in words:
                self.assertIn(word, run.stderr)
            self.assertFalse(os.path.exists(out))

    def test_good(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/good.mlir", "w", encoding="utf-8") as file:
                file.write(GOOD)
            run = subprocess.run([options.plimsoll, "run", f"{folder}/good.mlir", "--input", "2x3xf32=1"], capture_output=True, text=True, timeout=60)
            self.assertEqual(run.stdout, "result[0]: 2x3xf32=[[2, 2, 2], [2, 2, 2]]\n", run.stderr)
            run = subprocess.run([options.plimsoll, "run", "-", "--input", "2x3xf32=1"], input=GOOD, capture_output=True, text=True, timeout=60)
            self.assertEqual(run.stdout, "result[0]: 2x3xf32=[[2, 2, 2], [2, 2, 2]]\n", run.stderr)

    def test_what_is_none(self):
        """MLIR of upstream dialects goes to the engine as it is, whatever its comments and strings say."""
        plain = "// stablehlo.add is not meant\nfunc.func @main(%a: i32) -> i32 {\n  %b = arith.addi %a, %a : i32\n  return %b : i32\n}\n"
        self.assertEqual(int(pl.loads(plain).main(np.int32(4))), 8)
        with self.assertRaises(pl.Error) as caught:
            pl.loads("func.func @main() { // stablehlo.add\n  \"arith.nothing\"() {a = \"stablehlo.add\"} : () -> ()\n  return\n}\n", name="x.mlir")
        self.assertNotIn("must stand here", str(caught.exception))

    def test_bytecode(self):
        self.check(b"ML\xefR\x0dStableHLO_v1.9.3\x00\x07\x01\x02", "", "stablehlo-translate --deserialize FILE -o OUT.mlir")

    def test_truncated(self):
        for size in range(GOOD.index("stablehlo.add") + 14, len(GOOD) - 3, 7):
            self.check(GOOD[:size], None)

    def test_values(self):
        self.check(main("%0 = stablehlo.add %arg0, %1 : tensor<2x3xf32>"), "2:31", "%1 is defined by nothing before it")
        self.check(main("%0 = stablehlo.add %1, %1 : tensor<2x3xf32>", "%1 = stablehlo.add %0, %0 : tensor<2x3xf32>"), "2:24", "%1 is defined by nothing")
        self.check(main("%0 = stablehlo.abs %arg0 : tensor<2x3xf32>", "%0 = stablehlo.abs %arg0 : tensor<2x3xf32>"), "3:10", "%0 is defined twice")
        self.check(main("%0 = stablehlo.abs %arg0#1 : tensor<2x3xf32>"), "2:24", "%arg0 has 1 results")
        self.check(main("%0:2 = stablehlo.abs %arg0 : tensor<2x3xf32>"), "2:12", "it has 1 results")

    def test_types(self):
        self.check(main("%0 = stablehlo.abs %arg0 : tensor<3x2xf32>"), "2:10", "%arg0 is tensor<2x3xf32>, not tensor<3x2xf32>")
        self.check(main("%0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<2x3xf32>"), "2:10",
                   "its result is tensor<3x2xf32>, not tensor<2x3xf32>")
        self.check(main("%0 = stablehlo.abs %arg0 : tensor<2x3xcomplex<f16>>"), "2:43", "complex<f16>")
        self.check(main("%0 = stablehlo.abs %arg0 : tensor<2x3xcomplex<f32>>"), "2:10", "%arg0 is tensor<2x3xf32>, not tensor<2x3xcomplex<f32>>")
        self.check(main("%0 = stablehlo.abs %arg0 : tensor<2x3xf8E4M3FNUZ>"), "2:43", "f8E4M3FNUZ")
        self.check(main("%0 = stablehlo.abs %arg0 : tensor<2x3x!quant.uniform<i8:f32, 1.0>>"), "2:43", "!quant.uniform")
        self.check(main("%0 = stablehlo.abs %arg0 : tensor<2x3xf32>", arguments="%arg0: !own.tiled<8>"), "1:1", "a value of type !own.tiled<8> is not supported")
        self.check(main("%0 = stablehlo.abs %arg0 : tensor<*xf32>"), "2:39", "the rank must be known")
        self.check(main("%0 = stablehlo.abs %arg0 : tensor<2x3xzebra>"), "2:43", "'zebra' is no type")
        self.check(main("%0 = stablehlo.exponential %arg0 : tensor<2x3xi32>", arguments="%arg0: tensor<2x3xi32>"), "2:10", "needs floats")
        self.check(main("%0 = stablehlo.add %arg0, %arg1 : (tensor<2x3xf32>, tensor<2x3xf64>) -> tensor<2x3xf32>",
                        arguments="%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf64>"), "2:10", "elements of types f32 and f64")
        self.check(main("%0 = stablehlo.add %arg0, %arg1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>",
                        arguments="%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>"), "2:10", "different shapes")

    def test_shapes_that_are_values(self):
        def reshape(shape, kind, result="?x3"):
            return main(f"%s = stablehlo.constant {shape} : tensor<{kind}>",
                        f"%0 = stablehlo.dynamic_reshape %arg0, %s : (tensor<2x3xf32>, tensor<{kind}>) -> tensor<{result}xf32>",
                        results=f"tensor<{result}xf32>", returned=f"%0 : tensor<{result}xf32>")
        self.check(reshape("dense<[-1, 3]>", "2xi32"), "3:10", "an extent of -1")
        self.check(reshape("dense<[4611686018427387904, 3]>", "2xi64"), "3:10", "an extent of 4611686018427387904")
        self.check(reshape("dense<[2.0, 3.0]>", "2xf32"), "3:10", "a shape must be a list of integers")
        self.check(reshape("dense<true>", "2xi1"), "3:10", "a shape must be a list of integers")
        self.check(reshape("dense<2>", "2x1xi32"), "3:10", "a shape must be a list of integers")
        self.check(reshape("dense<[2, 1, 3]>", "3xi32"), "3:10", "its shape has 3 extents, but its result a rank of 2")

    def test_complex(self):
        both = "tensor<2x3xcomplex<f32>>"
        for name in ("maximum", "and", "atan2", "remainder", "shift_left"):
            if name != "atan2":
                self.check(main(f"%0 = stablehlo.{name} %arg0, %arg0 : {both}", arguments=f"%arg0: {both}", results=both, returned=f"%0 : {both}"), "2:10",
                           f"stablehlo.{name}")
        for name in ("cbrt", "ceil", "floor", "is_finite", "popcnt", "round_nearest_even"):
            self.check(main(f"%0 = stablehlo.{name} %arg0 : {both}", arguments=f"%arg0: {both}", results=both, returned=f"%0 : {both}"), "2:10",
                       f"stablehlo.{name}")
        self.check(main(f"%0 = stablehlo.compare LT, %arg0, %arg0 : ({both}, {both}) -> tensor<2x3xi1>", arguments=f"%arg0: {both}",
                        results="tensor<2x3xi1>", returned="%0 : tensor<2x3xi1>"), "2:10", "complex numbers have no order")
        self.check(main(f"%0 = stablehlo.bitcast_convert %arg0 : ({both}) -> tensor<2x3xi64>", arguments=f"%arg0: {both}",
                        results="tensor<2x3xi64>", returned="%0 : tensor<2x3xi64>"), "2:10", "the bits of complex numbers")
        for text in ("(1.0, 2.0", "(1.0)", "[(1.0, 2.0), (1.0, 2.0)]", "1.0", "(0x1FFFFFFFF, 0.0)", "\"0x00\""):
            self.check(main(f"%0 = stablehlo.constant dense<{text}> : {both}", results=both, returned=f"%0 : {both}"), None)

    def test_transforms(self):
        half = "tensor<2x2xcomplex<f32>>"
        def fft(kind, length, source="tensor<2x3xf32>", target=half):
            return main(f"%0 = stablehlo.fft %arg0, type = {kind}, length = {length} : ({source}) -> {target}", arguments=f"%arg0: {source}",
                        results=target, returned=f"%0 : {target}")
        self.check(fft("HFFT", [3]), "2:10", "'HFFT' is no fft_type")
        self.check(fft("RFFT", [4]), "2:10", "an extent of 3 does not fit a length of 4")
        self.check(fft("RFFT", []), "2:10", "fft_length has 0 numbers")
        self.check(fft("RFFT", [1, 2, 3]), "2:10", "fft_length has 3 numbers for a rank of 2")
        self.check(fft("FFT", [3]), "2:10", "its types do not fit FFT")
        self.check(fft("IRFFT", [3]), "2:10", "its types do not fit IRFFT")
        self.check(fft("RFFT", [3], "tensor<2x3xf64>"), "2:10", "its types do not fit RFFT")
        self.check(fft("RFFT", [3], "tensor<2x?xf32>"), "2:10", "must be known")
        self.check(fft("RFFT", [-3]), "2:10", "a transform of -3 points")
        self.check(fft("RFFT", [3], target="tensor<2x3xcomplex<f32>>"), "2:10", "its result is tensor<2x2xcomplex<f32>>")

    def test_scan(self):
        region = "{\n^bb0(%a: tensor<3xf32>, %b: tensor<3xf32>):\n  stablehlo.return %a, %b : tensor<3xf32>, tensor<3xf32>\n}"
        def scan(dimension="0", inits="%c", region=region, results="(tensor<2x3xf32>, tensor<3xf32>)", sizes="1, 1", generic=False):
            types = "(tensor<2x3xf32>, tensor<3xf32>) -> " + results
            if generic:
                text = f'%0:2 = "chlo.scan"(%arg0, %c) <{{dimension = {dimension}, operandSegmentSizes = array<i32: {sizes}>}}> ({region}) : {types}'
            else:
                text = f"%0:2 = chlo.scan(%arg0) inits({inits}) dimension={dimension} {region} : {types}"
            return main(text, arguments="%arg0: tensor<2x3xf32>, %c: tensor<3xf32>", returned="%0#0 : tensor<2x3xf32>")
        self.check(scan("2"), "2:12", "dimension has 2")
        self.check(scan(inits=""), "2:12", "it has 1 operands, but types of 2")
        self.check(scan(results="(tensor<3x3xf32>, tensor<3xf32>)"), "2:12", "another extent along dimension 0")
        self.check(scan(results="(tensor<?x3xf32>, tensor<3xf32>)"), "2:12", "must be known")
        self.check(scan(region=region.replace("return %a, %b : tensor<3xf32>, tensor<3xf32>", "return %a : tensor<3xf32>")), None, "returns 1 values")
        self.check(scan(region=region.replace("(%a: tensor<3xf32>, ", "(")), None, "arguments")
        for sizes in ("2, 0, 0", "0, 2", "3, -1", "2"):
            self.check(scan(sizes=sizes, generic=True), "2:12", "operandSegmentSizes")

    def test_shapes(self):
        self.check(main("%0 = stablehlo.iota dim = 0 : tensor<1099511627776x1099511627776xf32>"), "2:35", "too many elements")
        self.check(main("%0 = stablehlo.iota dim = 0 : tensor<99999999999999999999999xf32>"), "2:42", "this extent is too large")
        self.check(main("%0 = stablehlo.iota dim = 0 : tensor<" + "1x" * 80 + "f32>"), "2:35", "at most 64 dimensions")
        self.check(main("%0 = stablehlo.iota dim = 2 : tensor<2x3xf32>"), "2:10", "iota_dimension has 2")
        self.check(main("%0 = stablehlo.reshape %arg0 : (tensor<2x3xf32>) -> tensor<7xf32>"), "2:10", "6 elements")

    def test_names_of_names(self):
        """Each stands for four of the one before: memory would grow with a power of the text."""
        lists = "#a0 = [1, 2]\n" + "".join(f"#a{i + 1} = [#a{i}, #a{i}, #a{i}, #a{i}]\n" for i in range(40))
        self.check(lists + main("%0 = stablehlo.abs %arg0 {x = #a40} : tensor<2x3xf32>"), "8:18", "stand for more than")
        tuples = "!t0 = tuple<tensor<2xf32>>\n" + "".join(f"!t{i + 1} = tuple<!t{i}, !t{i}, !t{i}, !t{i}>\n" for i in range(40))
        self.check(tuples + main("%0 = stablehlo.abs %arg0 : tensor<2x3xf32>"), "9:13", "stand for more than")

    def test_refused(self):
        """Each operation that is known and not supported says why."""
        table = pathlib.Path(__file__).resolve().parents[2] / "importers" / "stablehlo" / "operations" / "Refused.cpp"
        names = re.findall(r'\{"(stablehlo\.\w+)"', table.read_text())
        self.assertGreater(len(names), 8)
        for name in names:
            self.check(main(f'%0 = "{name}"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>'), "2:10", name, "state" if name == "stablehlo.rng" else "")

    def test_operations(self):
        self.check(main("%0 = stablehlo.frobnicate %arg0 : tensor<2x3xf32>"), "2:10", "stablehlo.frobnicate", "not supported")
        self.check(main("%0 = \"stablehlo.frobnicate\"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>"), "2:10", "stablehlo.frobnicate", "not supported")
        self.check(main("%0 = \"stablehlo.all_reduce\"(%arg0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({\n^bb0(%a: tensor<f32>, %b: tensor<f32>):"
                        "\nstablehlo.return %a : tensor<f32>\n}) : (tensor<2x3xf32>) -> tensor<2x3xf32>"), "2:10", "stablehlo.all_reduce", "partitions")
        for groups in ("dense<> : tensor<0x1xi64>", "dense<-1> : tensor<1x1xi64>", "dense<1> : tensor<1x1xi64>"):
            self.check(main('%0 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 0 : i64, replica_groups = ' + groups +
                            '}> : (tensor<2x3xf32>) -> tensor<2x3xf32>'), "2:10", "stablehlo.all_gather", "partitions")
        for name in ("all_gather", "all_to_all", "collective_broadcast", "reduce_scatter"):
            self.check(main(f'%0 = "stablehlo.{name}"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>'), "2:10", name, "partitions")
        self.check(main('%0 = "stablehlo.collective_permute"(%arg0) <{source_target_pairs = dense<[[1, 1]]> : tensor<1x2xi64>}> '
                        ': (tensor<2x3xf32>) -> tensor<2x3xf32>'), "2:10", "stablehlo.collective_permute", "partitions")
        self.check(main('%0 = stablehlo.complex %arg0, %arg0 : tensor<2x3xcomplex<f64>>'), "2:10", "stablehlo.complex", "not made of its operands")
        self.check(main('%0 = "stablehlo.collective_permute"(%arg0) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> '
                        ': (tensor<2x3xf32>) -> tensor<2x3xf32>'), "2:10", "partitions")
        self.check(main("%0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{\"x\"}, {}]>] out_shardings=[<@mesh, [{\"x\"}, {}]>] "
                        "manual_axes={\"x\"} (%a: tensor<1x3xf32>) {\nsdy.return %a : tensor<1x3xf32>\n} : (tensor<2x3xf32>) -> tensor<2x3xf32>"),
                   "2:10", "partitions")
        for config, word in (("ab,cb->ac", "its result is tensor<2x2xf32>"), ("ab,cb", "does not fit its operands"), ("ab->b", "does not fit its operands"),
                             ("ab,cb->aa", "a dimension of the result twice"), ("ab,cb->ad", "that no operand has"), ("ab,c->a", "1 dimensions for a tensor of rank 2"),
                             ("ab,bc->ac", "extents of 3 and 2 are paired"), ("...b,cb->c", "is not of letters")):
            self.check(main(f"%0 = stablehlo.einsum %arg0, %arg0, config = \"{config}\" : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>"), "2:10", word)
        self.check(main("%0 = stablehlo.trace %arg0, \"tag\" : tensor<2x3xf32>"),
                   "2:10", "'stablehlo.trace' is not supported")
        self.check(main("%0 = stablehlo.rng %c, %c, %s, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<2x3xf32>",
                        arguments="%c: tensor<f32>, %s: tensor<2xi64>"), "2:10", "stablehlo.rng", "random")
        for target in ("lapack_sgesdd_ffi", "lapack_xpotrf_ffi", "lapack__ffi", "cu_threefry", "Qr"):
            self.check(main(f"%0 = stablehlo.custom_call @{target}(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>"), "2:10", f"'{target}'")
        call = "%0 = stablehlo.custom_call @lapack_strsm_ffi(%arg0, %arg0) {{mhlo.backend_config = {{{}}}}} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>"
        self.check(main(call.format("uplo = 76 : ui8")), "2:10", "trans_x")
        self.check(main(call.format("diag = 78 : ui8, side = 76 : ui8, trans_x = 90 : ui8, uplo = 76 : ui8")), "2:10", "trans_x is 90")
        self.check(main(call.format("diag = 78 : ui8, side = 3 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8")), "2:10", "side is 3")
        self.check(main(call.format("diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8")), "2:10", "do not fit each other")
        self.check(main("%0 = stablehlo.custom_call @cu_threefry2x32_ffi(%arg0, %arg0, %arg0, %arg0) : "
                        f"({', '.join(['tensor<2x3xf32>'] * 4)}) -> tensor<2x3xf32>"), "2:10", "must be of ui32")
        self.check(main("%0 = stablehlo.custom_call @cublas$gemm(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>"), "2:10", "'cublas$gemm'")
        self.check(main("%0 = \"stablehlo.add\"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>"), "2:10", "it has 1 operands")

    def test_parentheses(self):
        """Operands stand in them only where an operation is always written so."""
        for operation in ("pad(%arg0, %c, low = [0, 0], high = [0, 0], interior = [0, 0]) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>",
                          "transpose(%arg0, dims = [0, 1]) : (tensor<2x3xf32>) -> tensor<2x3xf32>", "abs(%arg0) : tensor<2x3xf32>"):
            name = operation[:operation.index("(")]
            self.check(main(f"%0 = stablehlo.{operation}", arguments="%arg0: tensor<2x3xf32>, %c: tensor<f32>"), f"2:{20 + len(name)}")

    def test_what_kind_of_error(self):
        """What is wrong and what is only not supported are told apart."""
        for text, error in ((main("%0 = stablehlo.add %arg0, %1 : tensor<2x3xf32>"), pl.InvalidArgumentError),
                            (main("%0 = stablehlo.abs %arg0 : tensor<3x2xf32>"), pl.InvalidArgumentError),
                            (main("%0 = stablehlo.frobnicate %arg0 : tensor<2x3xf32>"), pl.UnimplementedError),
                            (main("%0 = stablehlo.abs %arg0 : tensor<2x3xf8E4M3FNUZ>"), pl.UnimplementedError)):
            with self.subTest(text=text), self.assertRaises(error):
                pl.loads(text, name="x.mlir")

    def test_names_of_several_lines(self):
        # As a string a name may have any characters; a message is one line.
        self.check(main('%0 = "stablehlo.a\\0Ab"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>'), "2:10", "stablehlo.a?b: ")
        self.check(main('%0 = "stablehlo.a\\nb"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>'), "2:10", "stablehlo.a?b: ")

    def test_attributes(self):
        self.check(main("%0 = stablehlo.transpose %arg0, dims = [0, 0] : (tensor<2x3xf32>) -> tensor<2x2xf32>"), "2:10", "permutation has 0 twice")
        self.check(main("%0 = stablehlo.transpose %arg0, order = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>"), "2:37", "'order' has no place")
        self.check(main("%0 = \"stablehlo.transpose\"(%arg0) : (tensor<2x3xf32>) -> tensor<3x2xf32>"), "2:10", "'permutation' is missing")
        self.check(main("%0 = stablehlo.slice %arg0 [0:3, 0:3] : (tensor<2x3xf32>) -> tensor<3x3xf32>"), "2:10", "0:3:1 of an extent of 2")
        self.check(main("%0 = stablehlo.compare  XX, %arg0, %arg0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>"), "2:10", "'XX' is no direction")
        self.check(main("%0 = stablehlo.dot_general %arg0, %arg0, contracting_dims = [1] x [5] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>"),
                   "2:10", "rhs_contracting_dimensions has 5")
        self.check(main("%0 = stablehlo.dot_general %arg0, %arg0, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>"),
                   "2:10", "extents of 3 and 2 are paired")

    def test_constants(self):
        self.check(main("%0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2x3xf32>"), "2:36", "'[' must stand here")
        self.check(main("%0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<3xf32>"), "2:35", "2 elements or lists, but the type says 3")
        self.check(main("%0 = stablehlo.constant dense<\"0x0102\"> : tensor<3xf32>"), "2:35", "has 2 bytes, but its type needs 12")
        self.check(main("%0 = stablehlo.constant dense<\"0xZZ02\"> : tensor<3xf32>"), "2:35", "no hexadecimal digit")
        self.check(main("%0 = stablehlo.constant dense<300> : tensor<3xi8>"), "2:35", "300 does not fit into i8")
        self.check(main("%0 = stablehlo.constant dense_resource<gone> : tensor<3xf32>"), "2:10", "no resource 'gone'")
        self.check(main("%0 = stablehlo.constant dense<1.0> : tensor<?xf32>"), "2:35", "known extents")

    def test_regions(self):
        loop = ("%0 = stablehlo.while(%i = %arg0) : tensor<2x3xf32>\n cond {\n  stablehlo.return %i : tensor<2x3xf32>\n } do {\n"
                "  stablehlo.return %i : tensor<2x3xf32>\n }")
        turning = loop.replace("} do {\n  stablehlo.return %i", "} do {\n  %j = stablehlo.abs %i : tensor<2x3xf32>\n  stablehlo.return %j")
        self.check(main(turning), "2:10", "its condition must return a tensor<i1>")
        self.check(main("%0 = \"stablehlo.while\"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>"), "2:10", "stablehlo.while: it has 0 regions")
        self.check(main("%1 = stablehlo.constant dense<0.0> : tensor<f32>", "%0 = \"stablehlo.reduce\"(%arg0, %1) <{dimensions = array<i64: 1>}> ({\n"
                        "^bb0(%a: tensor<f32>):\n stablehlo.return %a : tensor<f32>\n}) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>"),
                   "3:10", "its region needs 2 arguments")
        deep = "%0 = \"stablehlo.if\"(%c) ({\n" * 300
        self.check(main(deep, arguments="%c: tensor<i1>"), None, "more than 256 deep")
        self.check("module {\n" * 400 + "stablehlo.add", "257:8", "more than 256 deep")

    def test_functions(self):
        cycle = main("%0 = call @f(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>", "%1 = stablehlo.abs %0 : tensor<2x3xf32>") + (
            "func.func private @f(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {\n"
            "    %0 = call @f(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>\n    return %0 : tensor<2x3xf32>\n}\n")
        self.check(cycle, "7:10", "call each other")
        self.check(main("%0 = call @g(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>", "%1 = stablehlo.abs %0 : tensor<2x3xf32>"), "2:10", "no function @g")
        self.check(GOOD.replace("public @main", "private @main"), "", "no public function")
        self.check(GOOD.replace("-> tensor<2x3xf32> {", "-> tensor<2x4xf32> {"), "2:3", "result 0 is tensor<2x3xf32>, not tensor<2x4xf32>")
        doubling = "".join(f"func.func private @f{i}(%a: tensor<f32>) -> tensor<f32> {{\n %0 = call @f{i + 1}(%a) : (tensor<f32>) -> tensor<f32>\n"
                           f" %1 = call @f{i + 1}(%0) : (tensor<f32>) -> tensor<f32>\n return %1 : tensor<f32>\n}}\n" for i in range(40))
        last = "func.func private @f40(%a: tensor<f32>) -> tensor<f32> {\n %0 = stablehlo.abs %a : tensor<f32>\n return %0 : tensor<f32>\n}\n"
        start = "func.func @main(%a: tensor<f32>) -> tensor<f32> {\n %0 = call @f0(%a) : (tensor<f32>) -> tensor<f32>\n return %0 : tensor<f32>\n}\n"
        self.check(start + doubling + last, None, "more than 200000 operations")


class Damage(unittest.TestCase):
    """No message is looked at: the process must live, each import end in time, and each error have a place."""

    def texts(self, rng, folder):
        np.seterr(all="ignore")
        everything = [*cases.moving(rng), *more_cases.more(rng), *cases.dimension_numbers(rng, 4)]
        everything += list(cases.elementwise(rng))[::7] + list(call_cases.calls(rng))[::2]
        everything += list(special_cases.special(rng))[::5] + list(complex_cases.complex_numbers(rng))[::5]
        paths = []
        for i, (_, arrays, make, _, _) in enumerate(everything):
            for pretty in (True, False):
                paths.append(f"{folder}/{i}{'p' if pretty else 'g'}.mlir")
                with open(paths[-1], "w", encoding="utf-8") as file:
                    file.write(module([function("main", [(np.shape(a), kind_of(a)) for a in arrays], make, pretty, random.Random(i))]))
        small = lambda *shape: models_test.weights(np.ones(shape, np.float32))  # noqa: E731
        for name, text in (("decode", models_test.DECODE.format(embed=small(20, 16), wq=small(16, 16), wk=small(16, 16), wv=small(16, 16))),
                           ("torch", models_test.TORCH.format(resource="0x04000000" + "00" * 16)),
                           ("mlp", models_test.MLP.format(w1=small(32, 64), b1=small(64), w2=small(64, 10)))):
            paths.append(f"{folder}/{name}.mlir")
            with open(paths[-1], "w", encoding="utf-8") as file:
                file.write(text)
        return paths

    def test_random(self):
        print(f"seed {options.seed}", file=sys.stderr)
        with tempfile.TemporaryDirectory() as folder:
            paths = self.texts(np.random.default_rng(options.seed), folder)
            run = subprocess.run([options.mutants, str(options.seed), str(options.mutations), options.last, *paths],
                                 capture_output=True, text=True, timeout=280)
            print(run.stdout, run.stderr, file=sys.stderr)
            self.assertEqual(run.returncode, 0, f"exit {run.returncode}; the text is {options.last}")

    def test_loaded(self):
        """What is imported in spite of the damage is compiled, or refused with one error."""
        numbers = random.Random(options.seed)
        counts = [0, 0]
        with tempfile.TemporaryDirectory() as folder:
            paths = self.texts(np.random.default_rng(options.seed), folder)
            engine = pl.Engine(threads=1)
            for _ in range(60):
                with open(numbers.choice(paths), encoding="utf-8") as file:
                    text = file.read()
                at = numbers.randrange(len(text))
                text = text[:at] + numbers.choice("0123456789x[],%") + text[at + 1:]
                try:
                    pl.loads(text, name="damaged.mlir", engine=engine)
                    counts[0] += 1
                except pl.Error as error:
                    counts[1] += 1
                    self.assertNotIn("\n", str(error).strip())
        print(f"loaded {counts[0]}, refused {counts[1]}", file=sys.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("plimsoll")
    parser.add_argument("mutants")
    parser.add_argument("--mutations", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--last", default=os.path.join(tempfile.gettempdir(), f"stablehlo-damaged-{os.getpid()}.mlir"))
    options, rest = parser.parse_known_args()
    result = unittest.main(argv=[sys.argv[0], *rest], exit=False).result
    if result.wasSuccessful() and os.path.exists(options.last):
        os.remove(options.last)
    sys.exit(0 if result.wasSuccessful() else 1)
