#!/usr/bin/env python3
"""Products, layers, and softmax of rows, on a device against the oracle of the host.

    products.py PLIMSOLL DEVICE [--quick] [options of tests/conformance/run.py]

Writes conformance modules, which run.py runs: products of f16, bf16 and f32 with sums in f32, each operand in both
orders, in batches, added to what the result held, and as layers with an activation; extents from 0 to 1704, odd to
every tile. --quick: those that are small. Exit status 77 without the device.
"""

import concurrent.futures
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
RUN = HERE.parent / "conformance" / "run.py"
# Rows, columns, depth.
QUICK = [(1, 1, 1), (17, 33, 65), (32, 32, 0), (0, 5, 7), (130, 136, 40)]
SHAPES = QUICK + [(16, 16, 16), (128, 128, 32), (129, 127, 31), (256, 256, 64), (200, 304, 504),
                  (64, 1000, 8), (1000, 40, 72), (130, 136, 1000)]
# Enough large tiles for a device with up to 150 multiprocessors.
LARGE = [(1301, 1703, 71), (1288, 1704, 136)]
ROWS = [(64, 1), (100, 7), (2, 3), (0, 4), (333, 1025), (1, 5000), (70, 256), (128, 257)]
ORDERS = ["nn", "nt", "tn", "tt"]


def argument(extents, element, seed):
    empty = any(extent == 0 for extent in extents)
    return f"{'x'.join(map(str, extents))}x{element}={'[]' if empty else f'rnd:{seed}'}"


def header(what, function, tolerance, cases):
    lines = [f"// {what}", f"// RUN-FUNCTION: @{function}", f"// TOLERANCE: {tolerance}"]
    for inputs in cases:
        lines += ["// CASE:"] + [f"// INPUT: {value}" for value in inputs]
    return "\n".join(lines) + "\n"


def product(element, order, batch, accumulates, shapes):
    """`order`: n for an operand with the depth where linalg.matmul has it, t for one that is transposed."""
    before = "b, " if batch else ""
    dims = f"({before}i, j, k)"
    left = f"({before}{'i, k' if order[0] == 'n' else 'k, i'})"
    right = f"({before}{'k, j' if order[1] == 'n' else 'j, k'})"
    rank = 3 if batch else 2
    narrow, wide = (f"tensor<{'?x' * rank}{kind}>" for kind in (element, "f32"))
    kinds = ", ".join(['"parallel"'] * rank + ['"reduction"'])
    maps = ", ".join(f"affine_map<{dims} -> {to}>" for to in (left, right, f"({before}i, j)"))
    widen, a, b = "", "%a", "%b"
    if element != "f32":
        widen = (f"    %aw = arith.extf %a : {element} to f32\n"
                 f"    %bw = arith.extf %b : {element} to f32\n")
        a, b = "%aw", "%bw"
    init = "" if accumulates else (
        f"  %zero = arith.constant 0.0 : f32\n"
        f"  %init = linalg.fill ins(%zero : f32) outs(%z : {wide}) -> {wide}\n")
    first = (3,) if batch else ()
    cases = [(argument(first + ((m, k) if order[0] == "n" else (k, m)), element, 1),
              argument(first + ((k, n) if order[1] == "n" else (n, k)), element, 2),
              argument(first + (m, n), "f32", 3)) for m, n, k in shapes]
    return header("A product.", "main", 2e-4, cases) + f"""
func.func @main(%x: {narrow}, %y: {narrow}, %z: {wide}) -> {wide} {{
{init}  %r = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}
      ins(%x, %y : {narrow}, {narrow}) outs({'%z' if accumulates else '%init'} : {wide}) {{
  ^bb0(%a: {element}, %b: {element}, %c: f32):
{widen}    %p = arith.mulf {a}, {b} : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }} -> {wide}
  return %r : {wide}
}}
"""


def dense(element, activation, shapes):
    """What a layer does: a product, a vector of each column beside it, an activation, and f32 or the element again."""
    gelu = activation == "gelu"
    narrow, wide = f"tensor<?x?x{element}>", "tensor<?x?xf32>"
    result = narrow if gelu else wide
    body = "    %s = arith.addf %p, %b : f32\n"
    if gelu:
        body += """    %i = arith.constant 0.70710677 : f32
    %h = arith.constant 0.5 : f32
    %one = arith.constant 1.0 : f32
    %t = arith.mulf %s, %i : f32
    %u = math.erf %t : f32
    %v = arith.addf %u, %one : f32
    %w = arith.mulf %s, %h : f32
    %r = arith.mulf %v, %w : f32
"""
    else:
        body += "    %zero = arith.constant 0.0 : f32\n    %r = arith.maximumf %s, %zero : f32\n"
    if gelu and element != "f32":
        body += f"    %z = arith.truncf %r : f32 to {element}\n    linalg.yield %z : {element}\n"
    else:
        body += "    linalg.yield %r : f32\n"
    widen, a, b = "", "%a", "%b"
    if element != "f32":
        widen = f"    %c = arith.extf %a : {element} to f32\n    %d = arith.extf %b : {element} to f32\n"
        a, b = "%c", "%d"
    cases = [(argument((m, k), element, 1), argument((k, n), element, 2), argument((n,), "f32", 3))
             for m, n, k in shapes]
    # A result in bf16 may be one place off where sums are in another order.
    return header("A layer.", "main", 1e-2 if gelu and element != "f32" else 2e-4, cases) + f"""
func.func @main(%x: {narrow}, %y: {narrow}, %bias: tensor<?xf32>) -> {result} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %none = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : {narrow}
  %n = tensor.dim %y, %c1 : {narrow}
  %e = tensor.empty(%m, %n) : {wide}
  %f = linalg.fill ins(%none : f32) outs(%e : {wide}) -> {wide}
  %product = linalg.generic {{indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>,
      affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%x, %y : {narrow}, {narrow}) outs(%f : {wide}) {{
  ^bb0(%a: {element}, %b: {element}, %o: f32):
{widen}    %q = arith.mulf {a}, {b} : f32
    %s = arith.addf %o, %q : f32
    linalg.yield %s : f32
  }} -> {wide}
  %out = tensor.empty(%m, %n) : {result}
  %r = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>,
      affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}}
      ins(%product, %bias : {wide}, tensor<?xf32>) outs(%out : {result}) {{
  ^bb0(%p: f32, %b: f32, %o: {result[result.rindex('x') + 1:-1]}):
{body}  }} -> {result}
  return %r : {result}
}}
"""


def softmax(rows):
    cases = [(argument(extents, "f32", 1), argument(extents, "f32", 2)) for extents in rows]

    def fold(name, operand, init, op):
        return f"""  %e{name} = tensor.empty(%m) : tensor<?xf32>
  %f{name} = linalg.fill ins({init} : f32) outs(%e{name} : tensor<?xf32>) -> tensor<?xf32>
  %{name} = linalg.generic {{indexing_maps = [#both, #row], iterator_types = ["parallel", "reduction"]}}
      ins({operand} : tensor<?x?xf32>) outs(%f{name} : tensor<?xf32>) {{
  ^bb0(%a: f32, %c: f32):
    %s = {op} %a, %c : f32
    linalg.yield %s : f32
  }} -> tensor<?xf32>
"""

    def each(name, operand, by, body):
        return f"""  %{name} = linalg.generic {{indexing_maps = [#both, #row, #both], iterator_types = ["parallel", "parallel"]}}
      ins({operand}, {by} : tensor<?x?xf32>, tensor<?xf32>) outs(%out : tensor<?x?xf32>) {{
  ^bb0(%a: f32, %b: f32, %c: f32):
{body}    linalg.yield %s : f32
  }} -> tensor<?x?xf32>
"""

    return (header("Softmax of each row.", "main", 1e-5, cases) + """
#both = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @main(%x: tensor<?x?xf32>, %out: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
""" + fold("max", "%x", "%low", "arith.maximumf")
            + each("exp", "%x", "%max", "    %d = arith.subf %a, %b : f32\n    %s = math.exp %d : f32\n")
            + fold("sum", "%exp", "%zero", "arith.addf")
            + each("r", "%exp", "%sum", "    %s = arith.divf %a, %b : f32\n")
            + "  return %r : tensor<?x?xf32>\n}\n")


def check_large(tool, device, folder):
    """The faults of LARGE, whose results are too long to be text: arrays of the device beside those of the host."""
    try:
        import numpy
    except ImportError:
        return ["the large ones need NumPy"]

    def run(path, inputs, where):
        result = path.with_suffix(f".{where}.npy")
        command = [tool, "run", path, "--isolation", "none", "--threads", "2", "-o", result]
        command += [word for value in inputs for word in ("-i", value)]
        if where == device:
            command += ["--device", device]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=120, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr.strip())
        return numpy.load(result)

    def check(element, what, shape):
        m, n, k = shape
        name = f"{element}_{what}_{m}"
        path = folder / f"{name}.mlir"
        order = what if what in ORDERS else "nn"
        inputs = [argument((m, k) if order[0] == "n" else (k, m), element, 1),
                  argument((k, n) if order[1] == "n" else (n, k), element, 2)]
        if what == "relu":
            path.write_text(dense(element, what, []))
            inputs.append(argument((n,), "f32", 3))
        else:
            path.write_text(product(element, order, False, what == "onto", []))
            inputs.append(argument((m, n), "f32", 3))
        try:
            got, want = run(path, inputs, device), run(path, inputs, "host")
        except (RuntimeError, OSError, subprocess.TimeoutExpired) as error:
            return f"{name}: {error}"
        error = numpy.abs(got - want).max() / numpy.sqrt(numpy.mean(numpy.square(want, dtype=numpy.float64)))
        return None if got.shape == want.shape and error <= 2e-4 else f"{name}: error {error:.2g}"

    cases = [(element, what, shape) for element in ("f16", "bf16", "f32") for shape in LARGE
             for what in ORDERS + ["onto", "relu"]]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        faults = [fault for fault in pool.map(lambda case: check(*case), cases) if fault]
    print(f"{len(cases)} large ones, {len(faults)} faults")
    return faults


def main():
    tool, device, *rest = sys.argv[1:]
    quick = "--quick" in rest
    rest = [word for word in rest if word != "--quick"]
    shapes, rows = (QUICK, ROWS[:4]) if quick else (SHAPES, ROWS)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for element in ("f16", "bf16", "f32"):
            for order in ORDERS:
                (folder / f"{element}_{order}.mlir").write_text(
                    product(element, order, False, False, shapes))
            (folder / f"{element}_batch.mlir").write_text(product(element, "nn", True, False, shapes))
            (folder / f"{element}_onto.mlir").write_text(product(element, "nn", False, True, shapes))
            for activation in ("relu", "gelu"):
                (folder / f"{element}_{activation}.mlir").write_text(dense(element, activation, shapes))
        (folder / "softmax.mlir").write_text(softmax(rows))
        command = [sys.executable, "-B", str(RUN), tool, str(folder), "--threads", "2",
                   "--no-reference", "--needs", device, *rest]
        if not any(word.startswith("--flags") for word in rest):
            command.append(f"--flags=--device {device}")
        status = subprocess.run(command, check=False).returncode
        if status == 0 and not quick:
            large = folder / "large"
            large.mkdir()
            for fault in check_large(tool, device, large):
                print("FAIL", fault)
                status = 1
        sys.exit(status)


if __name__ == "__main__":
    main()
