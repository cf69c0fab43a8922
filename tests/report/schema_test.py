#!/usr/bin/env python3
"""Are the fields of reports those of docs/reference/report.md?

    schema_test.py PLIMSOLL SOURCE_DIR
"""

import json
import pathlib
import re
import sys
import tempfile
import unittest

import modules

PROGRAM, SOURCE = sys.argv[1:3]
TYPES = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "string or integer": (str, int),
         "array of 6 integers": list}


def documented():
    """Of each field its type, and whether it may be absent."""
    fields = {}
    for line in (pathlib.Path(SOURCE) / "docs/reference/report.md").read_text(encoding="utf-8").splitlines():
        row = re.match(r"\|\s*`([^`]+)`\s*\|\s*([^|]+?)\s*\|\s*([^|]*?)\s*\|", line)
        if row:
            fields[row[1]] = TYPES[row[2]], "optional" in row[3]
    return fields


def leaves(value, path, fields):
    """Yields (path, value) for what the page has a row of, or what it should have one of."""
    if isinstance(value, dict) and f"{path}.*" in fields:
        for each in value.values():
            yield f"{path}.*", each
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from leaves(each, f"{path}.{key}" if path else key, fields)
    elif isinstance(value, list) and path not in fields:
        for each in value:
            if f"{path}[]" in fields:
                yield f"{path}[]", each
            else:
                yield from leaves(each, f"{path}[]", fields)
    else:
        yield path, value


def missing(value, path, fields):
    """Yields fields that must be there, beside those that are."""
    if isinstance(value, list):
        for each in value:
            yield from missing(each, f"{path}[]", fields)
    if not isinstance(value, dict):
        return
    for field, (_, is_optional) in fields.items():
        inner = field[len(path) + 1:] if path and field.startswith(f"{path}.") else field if not path else None
        if inner is None or is_optional or "*" in inner:
            continue
        key = re.match(r"\w+", inner)[0]
        if inner == key and key not in value:
            yield field
    for key, each in value.items():
        yield from missing(each, f"{path}.{key}" if path else key, fields)


class SchemaTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.commands = modules.Commands(PROGRAM, cls.folder.name)
        cls.fields = documented()
        cls.commands.write("layers.mlir", modules.layers(6))
        cls.commands.write("open.mlir", modules.OPEN)
        cls.explained = json.loads(cls.commands.run("explain", "layers.mlir", "--policies", "--json"))
        cls.profiled = json.loads(cls.commands.run("profile", "layers.mlir", "--repeat", "3", "--json"))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def check(self, report):
        for path, value in leaves(report, "", self.fields):
            self.assertIn(path, self.fields)
            self.assertIsInstance(value, self.fields[path][0], path)
        self.assertEqual(list(missing(report, "", self.fields)), [])

    def test_fields_of_explain(self):
        self.check(self.explained)
        self.assertNotIn("profile", self.explained)

    def test_fields_of_profile(self):
        self.check(self.profiled)
        for path in self.fields:
            if path.startswith("profile."):
                self.assertIn(path, dict(leaves(self.profiled, "", self.fields)))

    def test_fields_where_the_call_knows_the_sizes(self):
        self.check(json.loads(self.commands.run("explain", "open.mlir", "--json")))

    def test_bindings_name_their_memory(self):
        [function] = self.explained["functions"]
        first, second = function["dispatches"][:2]
        self.assertIn({"type": "memref<64x64xf32>", "access": "readonly", "bytes": 64 * 64 * 4, "data": ["argument #0"]}, first["bindings"])
        [written] = [binding["buffers"] for binding in first["bindings"] if binding["access"] == "writeonly"]
        self.assertTrue(any(binding.get("buffers") == written and binding["access"] != "writeonly" for binding in second["bindings"]))
        for index in written:
            self.assertEqual(self.explained["allocations"][index]["function"], "main")

    def test_operations_are_counted(self):
        [function] = self.explained["functions"]
        product = function["dispatches"][0]
        self.assertEqual(product["operations"], 2 * 64 * 64 * 96 + 64 * 96)  # with the tanh

    def test_layers_are_found(self):
        [function] = self.explained["functions"]
        self.assertTrue(any(each["count"] >= 5 for each in function["repetitions"]), function["repetitions"])
        self.assertEqual(sum(each["length"] * each["count"] for each in function["repetitions"]), len(function["dispatches"]))

    def test_dispatches_have_an_order(self):
        """Each of a chain waits for the one before it, and may run beside all of the other chain."""
        square, count, last = "tensor<?x?xf32>", 3, ["%x0", "%x1"]
        text = f"func.func @chains(%x0: {square}, %x1: {square}, %z0: {square}, %z1: {square}) -> ({square}, {square}) {{\n"
        for step in range(count):
            for chain in range(2):
                text += f"  %p{step}{chain} = linalg.matmul ins({last[chain]}, %x{chain} : {square}, {square}) outs(%z{chain} : {square}) -> {square}\n"
                last[chain] = f"%p{step}{chain}"
        self.commands.write("chains.mlir", text + f"  return {', '.join(last)} : {square}, {square}\n}}\n")
        [function] = json.loads(self.commands.run("explain", "chains.mlir", "--json"))["functions"]
        self.assertEqual(len(function["dispatches"]), 2 * count)
        for i, dispatch in enumerate(function["dispatches"]):
            self.assertEqual(dispatch["after"], [i - 2] if i >= 2 else [])
            self.assertEqual(dispatch["beside"], [j for j in range(2 * count) if (i - j) % 2])

    def test_times_are_those_of_a_call(self):
        [function] = self.profiled["functions"]
        measured = [dispatch["measured"] for dispatch in function["dispatches"]]
        names = [dispatch["name"] for dispatch in function["dispatches"]]
        self.assertEqual([each["runs"] for each in measured], [3 * names.count(name) for name in names])
        self.assertEqual(self.profiled["profile"]["calls"]["count"], 3)
        for each in measured:
            self.assertLessEqual(each["min_seconds"], each["mean_seconds"] * 1.001)
        self.assertGreater(self.profiled["profile"]["ceilings"]["memory_gbps"], 0.1)
        self.assertGreater(self.profiled["profile"]["ceilings"]["product_gops"], 0.1)

    def test_runs_of_other_dispatches_are_not_counted(self):
        """One in a loop runs as often as it turns; one of another function, of the same code, does not run."""
        self.commands.write("turns.mlir", """
            func.func @turns(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
              %c0 = arith.constant 0 : index
              %c1 = arith.constant 1 : index
              %c7 = arith.constant 7 : index
              %r = scf.for %i = %c0 to %c7 step %c1 iter_args(%a = %x) -> tensor<64x64xf32> {
                %t = math.tanh %a : tensor<64x64xf32>
                scf.yield %t : tensor<64x64xf32>
              }
              return %r : tensor<64x64xf32>
            }
            func.func @once(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
              %t = math.tanh %x : tensor<64x64xf32>
              return %t : tensor<64x64xf32>
            }""")
        for name, runs in (("turns", 7), ("once", 1)):
            report = json.loads(self.commands.run("profile", "turns.mlir", "--function", name, "--repeat", "2", "--json"))
            for function in report["functions"]:
                counts = [dispatch["measured"]["runs_per_call"] for dispatch in function["dispatches"] if "measured" in dispatch]
                self.assertEqual(sum(counts), runs if function["name"] == name else 0)

    def test_an_artifact_has_no_source(self):
        self.commands.run("compile", "layers.mlir", "-o", "layers.plimart")
        self.assertNotIn("source", json.loads(self.commands.run("explain", "layers.plimart", "--json")))
        report = json.loads(self.commands.run("profile", "layers.plimart", "--repeat", "1", "--json"))
        self.assertNotIn("source", report)
        self.assertIn("profile", report)

    def test_faults_are_told_before_the_work(self):
        for command in ("explain", "profile"):
            self.assertRegex(self.commands.run(command, "layers.mlir", "--html", "none/page.html", status=1), "^error: cannot write 'none/page.html': No such")
            self.assertIn("write over the module", self.commands.run(command, "layers.mlir", "--html", "./layers.mlir", status=1))
            self.assertIn("not '-'", self.commands.run(command, "layers.mlir", "--html", "-", status=1))
            self.assertRegex(self.commands.run(command, "none.mlir", "--html", "page.html", status=1), "^error: .*none.mlir")
            self.assertRegex(self.commands.run(command, "layers.mlir", "--hmtl", "page.html", status=2), "did you mean '--html'")
        self.assertRegex(self.commands.run("profile", "open.mlir", status=1), r"^error: argument #0 is \?x8xf32, of which only a call knows the extents: give --input")
        self.assertRegex(self.commands.run("profile", "layers.mlir", "--repeat", "0", status=2), "^error: --repeat: Value 0 not in range 1 to ")
        self.assertFalse((pathlib.Path(self.folder.name) / "page.html").exists())

    def test_profile_as_text(self):
        text = self.commands.run("profile", "open.mlir", "-i", "16x8xf32=rnd:1", "-i", "8x8xf32=rnd:2", "--repeat", "2")
        self.assertRegex(text, r"(?s)^summary\n.*  time            .* a call of @open, the median of 2\n.*dispatches of a call, by their code, at their fastest; memory does .*\n  dispatch ")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
