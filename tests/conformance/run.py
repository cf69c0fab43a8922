#!/usr/bin/env python3
"""Runs the conformance modules: the engine, its plain lowering, an evaluator that shares nothing with
either (tests/reference), and literal values.

  tests/conformance/run.py build/bin/plimsoll [FILE_OR_FOLDER...] [options]

Each case of each module runs once with --oracle and once per thread count without it. The printed
values are compared with each other, with what the reference computes, and with the case's EXPECT
lines. One line per failure, with the command that reproduces it; exit status 1 when a case failed or
when there was none. README.md in this folder has the format of the modules.
"""
import argparse
import concurrent.futures
import dataclasses
import json
import math
import pathlib
import re
import shlex
import struct
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))  # For the packages `reference` and `commands`.
import commands  # noqa: E402
DIRECTIVE = re.compile(r"//\s*(RUN-FUNCTION|TOLERANCE|PARAM|COUNT|NO-REFERENCE|CASE|INPUT|EXPECT):\s*(.*?)\s*$")
COUNTS = ("copies", "allocations", "dispatches", "kernels", "beside")
LAUNCHES = re.compile(r"launches: (\d+)")
PRINTED = re.compile(r"((?:result|arg)\[\d+\]):\s*(.*?)\s*$")
INTEGER = re.compile(r"i\d+|index")
# Bits of the mantissa, exponent of the smallest normal number, the largest number, what is larger.
FLOATS_OF_8_BITS = {"f8E4M3FN": (3, -6, 448.0, math.nan), "f8E5M2": (2, -14, 57344.0, math.inf)}


class ModuleError(Exception):
    """A header that breaks the format, or a printed value that cannot be read."""


@dataclasses.dataclass
class Case:
    path: pathlib.Path
    number: int
    function: str
    tolerance: float
    params: list
    counts: dict
    reference: bool = True
    inputs: list = dataclasses.field(default_factory=list)
    expected: dict = dataclasses.field(default_factory=dict)

    def command(self, tool, flags):
        command = [tool, "run", str(self.path), "--print", "full", "--function", self.function.lstrip("@")]
        for value in self.inputs:
            # One argument: a value may begin with a dash.
            command.append("--input=" + value)
        for name, file in self.params:
            command += ["--param", f"{name}=@{file}"]
        return command + flags


@dataclasses.dataclass
class Value:
    shape: tuple
    element: str
    elements: list


def read_cases(path):
    """The cases in the header comments of a module, in order."""
    cases, function, tolerance, params, counts, reference = [], None, 0.0, [], {}, True
    for line in path.read_text(encoding="utf-8").splitlines():
        match = DIRECTIVE.match(line)
        if not match:
            continue
        key, text = match.groups()
        if key == "RUN-FUNCTION":
            function = text
        elif key == "TOLERANCE":
            tolerance = float(text)
        elif key == "PARAM":
            name, _, file = text.partition("=@")
            if not file:
                raise ModuleError(f"{path}: PARAM must be name=@file.npy")
            params.append((name, path.parent / file))
        elif key == "COUNT":
            for word in text.split():
                name, _, number = word.partition("=")
                if name not in COUNTS or not number.isdigit():
                    raise ModuleError(f"{path}: COUNT must be {'=N '.join(COUNTS)}=N, or some of them")
                counts[name] = int(number)
        elif key == "NO-REFERENCE":
            if not text:
                raise ModuleError(f"{path}: NO-REFERENCE must say why")
            reference = False
        elif key == "CASE":
            if function is None:
                raise ModuleError(f"{path}: RUN-FUNCTION must come before the first CASE")
            cases.append(Case(path, len(cases) + 1, function, tolerance, list(params), counts,
                              reference))
        elif not cases:
            raise ModuleError(f"{path}: {key} before the first CASE")
        elif key == "INPUT":
            cases[-1].inputs.append(text)
        else:
            match = PRINTED.match(text)
            if not match:
                raise ModuleError(f"{path}: EXPECT must be 'result[N]: value' or 'arg[N]: value'")
            cases[-1].expected[match.group(1)] = parse_value(match.group(2))
    if not cases:
        raise ModuleError(f"{path}: no CASE")
    return cases


def read_float(element, word):
    """The value of that float type nearest to a decimal: other digits may mean the same value."""
    value = float(word)
    if element == "f64" or not math.isfinite(value):
        return value
    if element in FLOATS_OF_8_BITS:
        mantissa, smallest, largest, beyond = FLOATS_OF_8_BITS[element]
        unit = 2.0 ** (max(math.frexp(value)[1] - 1, smallest) - mantissa)
        rounded = round(value / unit) * unit  # Ties to even.
        return math.copysign(rounded if abs(rounded) <= largest else beyond, value)
    try:
        if element == "f16":
            return struct.unpack("e", struct.pack("e", value))[0]
        (bits,) = struct.unpack("I", struct.pack("f", value))
    except OverflowError:
        return math.copysign(math.inf, value)
    if element == "bf16":
        bits = min(bits + 0x7FFF + (bits >> 16 & 1), 0xFFFFFFFF) & 0xFFFF0000
    return struct.unpack("f", struct.pack("I", bits))[0]


def read_complex(element, word):
    """Both parts of `1.5-2j`."""
    value = complex(word)
    return [read_float(element[8:-1], repr(part)) for part in (value.real, value.imag)]


def parse_value(text):
    """Reads `2x3xf32=[[1, 2, 3], [4, 5, 6]]`; integers stay whole: no bit of an i64 is lost. Complex
    numbers are their parts."""
    match = re.fullmatch(r"((?:\d+x)*)([a-z][\w<>]*)=(.*)", text)
    if not match:
        raise ModuleError(f"cannot read the value '{text[:80]}'")
    extents, element, data = match.groups()
    integer = INTEGER.fullmatch(element)
    words = re.sub(r"[\[\],]", " ", data).split()
    try:
        if element.startswith("complex<"):
            elements = [part for word in words for part in read_complex(element, word)]
        else:
            elements = [int(word) if integer else read_float(element, word) for word in words]
    except ValueError:
        raise ModuleError(f"cannot read the value '{text[:80]}'") from None
    shape = tuple(int(extent) for extent in extents.split("x")[:-1])
    if len(words) != math.prod(shape):
        raise ModuleError(f"{math.prod(shape)} elements announced, {len(words)} printed")
    return Value(shape, element, elements)


def compare(got, want, tolerance, signs=False):
    """None, or what differs; with `signs` a zero differs from the one of the other sign. The error is relative to the larger of the wanted element and the root
    mean square of all finite wanted elements: an element near zero through cancellation is held to
    the scale of its tensor."""
    if got.element != want.element or got.shape != want.shape:
        return f"type {got.shape} {got.element}, wanted {want.shape} {want.element}"
    finite = [v for v in want.elements if math.isfinite(v)]
    # Sums of huge integers and floats near the limits must not overflow: scale by the largest.
    largest = max((abs(v) for v in finite), default=0)
    scale = 0.0
    if tolerance > 0 and largest > 0:
        scale = largest * math.sqrt(sum((v / largest) ** 2 for v in finite) / len(finite))
    worst = None
    wrong = 0
    for i, (a, b) in enumerate(zip(got.elements, want.elements)):
        if a == b or (a != a and b != b):
            if not signs or a != 0 or math.copysign(1, a) == math.copysign(1, b):
                continue
        if math.isfinite(a) and math.isfinite(b):
            size = max(abs(b), scale)
            error = abs(a - b) / size if tolerance > 0 and size > 0 else math.inf
            if error <= tolerance:
                continue
        else:
            error = math.inf
        wrong += 1
        if worst is None or error > worst[0]:
            worst = (error, i, a, b)
    if worst is None:
        return None
    error, i, a, b = worst
    by = "" if math.isinf(error) else f" (error {error:.2g}, tolerance {tolerance:g})"
    return f"element {i} is {a!r}, wanted {b!r}{by}; {wrong} of {len(got.elements)} differ"


launches = []  # Of a device, by each run of the side under test that says so. list.append() is atomic.


def execute(command, options, counts=None):
    """(values by label, None) or (None, why not). How often it launched a device goes to `counts`."""
    try:
        done = commands.run(command, options.timeout, options.served)
    except subprocess.TimeoutExpired:
        return None, f"no result after {options.timeout:g} s"
    except OSError as error:
        return None, str(error)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        how = f"signal {-done.returncode}" if done.returncode < 0 else f"exit {done.returncode}"
        return None, f"{how}: {lines[0] if lines else 'nothing on standard error'}"
    values = {}
    for line in done.stdout.splitlines():
        if counts is not None and (match := LAUNCHES.fullmatch(line)):
            counts.append(int(match.group(1)))
        if match := PRINTED.match(line):
            try:
                values[match.group(1)] = parse_value(match.group(2))
            except ModuleError as error:
                return None, f"{match.group(1)}: {error}"
    if not values:
        return None, "printed no value"
    return values, None


def check(got, want, tolerance, every_label, signs=False):
    """The first difference between two maps of label to value, or None. With every_label the two
    must have the same labels; else the labels of `want` suffice."""
    if every_label and got.keys() != want.keys():
        return f"printed {', '.join(sorted(got))}; wanted {', '.join(sorted(want))}"
    for label, value in want.items():
        if label not in got:
            return f"{label}: not printed"
        difference = compare(got[label], value, tolerance, signs)
        if difference:
            return f"{label}: {difference}"
    return None


class Reference:
    """What the evaluator in tests/reference says. Upstream's printer runs once for all modules. Any
    thread."""

    def __init__(self, cases):
        try:
            import reference
            from reference import values
        except ImportError as error:
            raise ModuleError(f"the reference: {error}; --no-reference does without") from None
        self.package, self.values = reference, values
        paths = sorted({case.path for case in cases if case.reference})
        texts = [path.read_text(encoding="utf-8") for path in paths]
        try:
            parsed = reference.parse_modules(texts)
        except reference.ParseError:
            parsed = list(map(self.parse, texts))  # One by one, to see which.
        self.modules = dict(zip(paths, parsed))

    def parse(self, text):
        try:
            return self.package.parse_modules([text])[0]
        except self.package.ParseError as error:
            return error

    def evaluate(self, case):
        """(values by label, None) or (None, why not)."""
        module = self.modules[case.path]
        if isinstance(module, Exception):
            return None, f"cannot read the module: {module}"
        try:
            params = {name: self.values.read_npy(file) for name, file in case.params}
            machine = self.package.Machine(module, case.tolerance == 0, params)
            name = case.function.lstrip("@")
            kind = machine.function_type(name)
            args = [self.values.argument(machine, text, kind, case.path.parent)
                    for text, kind in zip(case.inputs, kind.inputs)]
            results = machine.call(name, args)
        except self.package.CallFailed as error:
            return None, f"the call must fail: {error}"
        except (self.package.Unsupported, self.values.BadValue) as error:
            return None, str(error)
        labelled = [(f"result[{i}]", *pair) for i, pair in enumerate(zip(results, kind.results))]
        labelled += [(f"arg[{i}]", *pair) for i, pair in enumerate(zip(args, kind.inputs))
                     if getattr(pair[1], "kind", None) == "memref"]
        return {label: Value(*self.values.plain(value, kind)) for label, value, kind in labelled}, None


def counts_of(report):
    """What a call of any function costs by the report of `explain --json`."""
    dispatches = [d for function in report["functions"] for d in function["dispatches"]]
    hosts = {function["name"] for function in report["functions"]}
    return {"copies": sum("instead" not in copy for copy in report["copies"]),
            "allocations": sum(a["function"] in hosts for a in report["allocations"]),
            "dispatches": len(dispatches), "kernels": len({d["name"] for d in dispatches}),
            "beside": sum(bool(d.get("beside")) for d in dispatches)}


def check_counts(case, options):
    """The failures of a module's COUNT lines, as (what, command)."""
    command = [options.tool, "explain", str(case.path), "--json"]
    try:
        done = commands.run(command, options.timeout)
        counts = counts_of(json.loads(done.stdout))
    except (subprocess.TimeoutExpired, OSError, ValueError, KeyError) as error:
        return [(f"explain: {error}", command)]
    return [(f"{counts[name]} {name}, wanted {want}", command)
            for name, want in case.counts.items() if counts[name] != want]


def run_case(case, options, reference):
    """The failures of one case, as (what, command). Counts are those of the module: its first case
    checks them."""
    failures = []
    known = None
    if reference and case.reference:
        known, why = reference.evaluate(case)
        if why:
            failures.append((f"reference: {why}", case.command(options.tool, [])))

    def judge(got, who, command):
        """Against literal values and the reference. Where all is exact, zeros have their signs."""
        difference = check(got, case.expected, case.tolerance, every_label=False)
        if difference:
            failures.append((f"{who}against EXPECT: {difference}", command))
        if known is not None:
            difference = check(got, known, case.tolerance, every_label=True,
                               signs=case.tolerance == 0)
            if difference:
                failures.append((f"{who}against the reference: {difference}", command))

    if case.counts and case.number == 1 and not options.flags:
        failures += check_counts(case, options)
    oracle_command = case.command(options.tool, ["--oracle"] + options.oracle_flags)
    oracle, why = execute(oracle_command, options)
    if why:
        failures.append((f"oracle: {why}", oracle_command))
    else:
        judge(oracle, "oracle ", oracle_command)
    for threads in options.threads:
        command = case.command(options.tool, ["--threads", str(threads)] + options.flags)
        got, why = execute(command, options, launches)
        if why:
            failures.append((why, command))
            continue
        found = len(failures)
        judge(got, "", command)
        if len(failures) == found and oracle is not None:
            tolerance = 0.0 if options.exact else case.tolerance
            difference = check(got, oracle, tolerance, every_label=True, signs=options.exact)
            if difference:
                failures.append((f"against the oracle: {difference}", command))
    return failures


def has_device(tool, name):
    """Has this machine, with its accelerators, a device of that name?"""
    done = commands.run([tool, "targets", "host", "--json"], timeout=60)
    return done.returncode == 0 and any(device["name"] == name for device in json.loads(done.stdout)["devices"])


def find_modules(paths):
    for path in paths:
        if path.is_dir():
            yield from sorted(path.rglob("*.mlir"))
        elif path.is_file():
            yield path
        else:
            raise ModuleError(f"{path}: no such file or folder")


def main():
    parser = argparse.ArgumentParser(description="Run the conformance modules.")
    parser.add_argument("tool", help="the plimsoll program")
    parser.add_argument("paths", nargs="*", type=pathlib.Path, default=[HERE],
                        help="modules or folders (default: all of tests/conformance)")
    parser.add_argument("--served", metavar="PROGRAM",
                        help="plim_served, which runs the cases with one start, a module compiled once for all of its "
                             "cases")
    parser.add_argument("--flags", type=shlex.split, default=[],
                        help="extra flags for the side under test: --flags='--policy heap'")
    parser.add_argument("--oracle-flags", type=shlex.split, default=[],
                        help="extra flags for the oracle side")
    parser.add_argument("--threads", default="1,2",
                        type=lambda text: [int(word) for word in text.split(",")],
                        help="thread counts of the side under test (default 1,2)")
    parser.add_argument("--exact", action="store_true",
                        help="every bit must be the oracle's, whatever the tolerance of a case")
    parser.add_argument("--no-reference", action="store_true",
                        help="without the evaluator, which needs NumPy and mlir-opt")
    parser.add_argument("--launches", type=float, metavar="MINIMUM",
                        help="a failure unless this share of the runs, 0 to 1, launched a device")
    parser.add_argument("--needs", metavar="DEVICE",
                        help="exit with 77 unless the target 'host' has this device")
    parser.add_argument("--jobs", type=int, default=2, help="cases that run at once (default 2)")
    parser.add_argument("--timeout", type=float, default=60, help="seconds per run (default 60)")
    options = parser.parse_intermixed_args()
    if options.needs and not has_device(options.tool, options.needs):
        print(f"skipped: no {options.needs}")
        return 77

    try:
        cases = [case for path in find_modules(options.paths) for case in read_cases(path)]
        wanted = not options.no_reference and any(case.reference for case in cases)
        reference = Reference(cases) if wanted else None
    except (ModuleError, ValueError, OSError) as error:
        print(f"run.py: {error}", file=sys.stderr)
        return 1
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        def run(case):
            return run_case(case, options, reference)
        for case, failures in zip(cases, pool.map(run, cases)):
            failed += bool(failures)
            for what, command in failures:
                print(f"FAIL {case.path} case {case.number}: {what}: {shlex.join(command)}")
    failed += not commands.finish()
    print(f"{len(cases) - failed} passed, {failed} failed")
    if options.launches is not None:
        share = sum(count > 0 for count in launches) / max(len(launches), 1)
        print(f"{sum(launches)} launches of a device, in {share:.3f} of {len(launches)} runs")
        if not launches or share < options.launches:
            print(f"FAIL: {options.launches:g} of the runs must launch the device")
            return 1
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
