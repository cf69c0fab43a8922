"""Kernels of loops beside clang: the computations of tests/random/loops, as MLIR over memrefs and as C.

C is compiled by `clang -O3 -march=native`, with arrays that are `restrict`: ours finds out at each call that they do not
overlap. Both have the same numbers in arrays of their own, which are put back before each call, outside of the clock. "ratio"
is the peer's time by ours, of the least of all calls: above 1 we are faster. Results are compared before any clock is read.
"""

import argparse
import ast
import ctypes
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import numpy as np

import plimsoll as pl

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "random"))
from loops.numbers import numbers_for  # noqa: E402
from loops.translate import Loops, Memrefs, indices_of, read  # noqa: E402

SIZES = {"NI": 200, "NJ": 220, "NK": 240, "NL": 210, "M": 400, "N": 450, "R": 30, "Q": 35, "P": 60, "S": 60, "TS": 20, "L": 100000}
LESS = {"conv2d": {"N": 32, "M": 64, "P": 18, "Q": 24}, "gramschmidt": {"M": 450, "N": 400}}
TYPES = {"f32": (ctypes.c_float, np.float32, "float"), "f64": (ctypes.c_double, np.float64, "double")}
OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
             ast.Eq: "==", ast.NotEq: "!=", ast.And: "&&", ast.Or: "||"}


class C(Loops):
    """Its text in C. Where only the call knows the extents, they are its first parameters."""

    def __init__(self, function, sizes, element, is_open):
        super().__init__(function, sizes, element)
        names = {each.id for each in ast.walk(function) if isinstance(each, ast.Name)}
        self.open = [name for name in sizes if name in names and name not in self.parameters] if is_open else []

    def text(self):
        self.kind = TYPES[self.element][2]
        parameters = [f"int {name}" for name in self.open]
        parameters += [f"{self.kind} {name}" + (self.dimensions(name) if name in self.extents else "") for name in self.parameters]
        variables = {target.id for each in ast.walk(ast.Module(self.body, [])) if isinstance(each, ast.Assign)
                     for target in each.targets if isinstance(target, ast.Name)}
        declared = "".join(f"{self.kind} {name};\n" for name in sorted(variables))
        return f"#include <math.h>\nvoid {self.name}({', '.join(parameters)}) {{\n{declared}{self.block(self.body)}}}\n"

    def dimensions(self, array):
        first, *others = map(self.of, self.extents[array])
        return f"[restrict {first}]" + "".join(f"[{extent}]" for extent in others)

    def block(self, statements):
        return "".join(getattr(self, "do_" + type(statement).__name__)(statement) for statement in statements)

    def do_For(self, loop):
        arguments = [self.of(argument) for argument in loop.iter.args]
        first, last = arguments[:2] if len(arguments) > 1 else ("0", arguments[0])
        step, name = arguments[2] if len(arguments) > 2 else "1", loop.target.id
        order = ">" if step.startswith("(-") else "<"
        return f"for (int {name} = {first}; {name} {order} {last}; {name} += {step}) {{\n{self.block(loop.body)}}}\n"

    def do_If(self, choice):
        otherwise = f" else {{\n{self.block(choice.orelse)}}}" if choice.orelse else ""
        return f"if {self.of(choice.test)} {{\n{self.block(choice.body)}}}{otherwise}\n"

    def do_Assign(self, assignment):
        return f"{self.of(assignment.targets[0])} = {self.of(assignment.value)};\n"

    def do_AugAssign(self, assignment):
        value = self.of(ast.BinOp(assignment.target, assignment.op, assignment.value))
        return f"{self.of(assignment.target)} = {value};\n"

    def of(self, node):
        match node:
            case ast.Name():
                return node.id if node.id in self.open else str(self.sizes.get(node.id, node.id))
            case ast.Constant():
                return repr(node.value) + ("f" if isinstance(node.value, float) and self.element == "f32" else "")
            case ast.UnaryOp():
                return f"(-{self.of(node.operand)})"
            case ast.BinOp():
                return f"({self.of(node.left)} {OPERATORS[type(node.op)]} {self.of(node.right)})"
            case ast.Compare():
                return f"({self.of(node.left)} {OPERATORS[type(node.ops[0])]} {self.of(node.comparators[0])})"
            case ast.BoolOp():
                return f"({self.of(node.values[0])} {OPERATORS[type(node.op)]} {self.of(node.values[1])})"
            case ast.IfExp():
                return f"({self.of(node.test)} ? {self.of(node.body)} : {self.of(node.orelse)})"
            case ast.Subscript():
                return node.value.id + "".join(f"[{self.of(index)}]" for index in indices_of(node))
        name, operands = node.func.id, [self.of(argument) for argument in node.args]
        if name == "number":
            return f"(({self.kind}){operands[0]})"
        if name in ("most", "least"):
            left, right = operands
            return f"({left} {'>' if name == 'most' else '<'} {right} ? {left} : {right})"
        return f"{name}{'f' * (self.element == 'f32')}({', '.join(operands)})"


def compile_c(kernel, compiler, folder):
    source, library = folder / f"{kernel.name}.c", folder / f"{kernel.name}.so"
    source.write_text(kernel.text(), encoding="utf-8")
    subprocess.run([compiler, "-O3", "-march=native", "-fno-math-errno", "-w", "-shared", "-fPIC", source, "-o", library, "-lm"],
                   check=True)
    return getattr(ctypes.CDLL(str(library)), kernel.name)


def copied(values):
    return [value.copy() if isinstance(value, np.ndarray) else value for value in values]


def least(call, arguments, values, rounds):
    """Seconds of the fastest of some calls, each with the numbers of the first."""
    result = float("inf")
    for _ in range(rounds):
        for argument, value in zip(arguments, values):
            if isinstance(argument, np.ndarray):
                argument[...] = value
        start = time.perf_counter()
        call()
        result = min(result, time.perf_counter() - start)
    return result


def measure(given, function, engine, folder):
    sizes = SIZES | LESS.get(function.name, {})
    kernel = Memrefs(function, sizes, given.element, is_open=given.open, is_parallel=given.parallel)
    in_c = C(function, sizes, given.element, given.open)
    theirs = compile_c(in_c, given.compiler, folder)
    values = [value.astype(TYPES[given.element][1]) if isinstance(value, np.ndarray) else value
              for value in numbers_for(kernel, np.random.default_rng(given.seed)).values()]
    mine, others = copied(values), copied(values)
    start = time.perf_counter()
    ours = getattr(engine.loads(kernel.text()), function.name)
    load = time.perf_counter() - start
    number = TYPES[given.element][0]
    raw = [sizes[name] for name in in_c.open]
    raw += [ctypes.c_void_p(each.ctypes.data) if isinstance(each, np.ndarray) else number(each) for each in others]
    ours(*mine)
    theirs(*raw)
    for have, want in zip(mine, others):
        if isinstance(have, np.ndarray):
            np.testing.assert_allclose(have, want, rtol=2e-2 if given.element == "f32" else 1e-6, atol=1e-4, err_msg=function.name)
    times = [(least(lambda: ours(*mine), mine, values, 3), least(lambda: theirs(*raw), others, values, 3))
             for _ in range(given.rounds)]
    mine_least, theirs_least = (min(each) for each in zip(*times))
    return {"ours": mine_least, "peer": theirs_least, "ratio": theirs_least / mine_least, "load": load}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--filter", "--benchmark_filter", default="", help="a regular expression for names of rows")
    parser.add_argument("--element", choices=TYPES, default="f64")
    parser.add_argument("--open", action="store_true", help="extents that only the call knows")
    parser.add_argument("--parallel", action="store_true", help="loops in any order are scf.parallel, for ours")
    parser.add_argument("--threads", type=int, default=1, help="of ours")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--compiler", default="clang-22")
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(3), "little"))
    parser.add_argument("--json", help="a file for the results")
    given = parser.parse_args()
    engine = pl.Engine(threads=given.threads)
    functions, rows = read(pathlib.Path(sys.path[-1]) / "loops" / "computations.py"), {}
    print(f"plimsoll {pl.__version__}, {given.element}, seed {given.seed}; microseconds, the load in milliseconds")
    with tempfile.TemporaryDirectory() as folder:
        for name, function in functions.items():
            if re.search(given.filter, name):
                rows[name] = measure(given, function, engine, pathlib.Path(folder))
    print(f"{'':24} {'ours':>9} {'clang':>9} {'ratio':>6} {'load':>6}")
    for name, each in sorted(rows.items(), key=lambda item: item[1]["ratio"]):
        print(f"{name:24} {each['ours'] * 1e6:9.1f} {each['peer'] * 1e6:9.1f} {each['ratio']:6.2f} {each['load'] * 1e3:6.0f}")
    if given.json:
        with open(given.json, "w", encoding="utf-8") as file:
            json.dump({"seed": given.seed, "unit": "seconds", "benchmarks": rows}, file, indent=1)


if __name__ == "__main__":
    main()
