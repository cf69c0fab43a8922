#!/usr/bin/env python3
"""Runs a module for every operation there is, and keeps the table of them.

  tests/operations/run.py build/bin/plimsoll build/bin/plimsoll-opt --served build/bin/plim_served [FILE...]

Each section of each file is a module: its functions are called and what they print is compared with
literal values, or it is refused with the words that it names. One line per failure; exit status 1
when there was one. README.md in this folder has the format.

With --table nothing runs. Each operation that is registered must be in a module that runs or is refused, or
in unlisted.txt with a reason, and the table must say what the modules do; --update writes it.
"""
import argparse
import concurrent.futures
import dataclasses
import importlib.util
import itertools
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SPEC = importlib.util.spec_from_file_location("conformance", HERE.parent / "conformance" / "run.py")
conformance = importlib.util.module_from_spec(SPEC)
sys.modules["conformance"] = conformance  # where its dataclasses look for their module
SPEC.loader.exec_module(conformance)
commands = conformance.commands
ModuleError = conformance.ModuleError

DIRECTIVE = re.compile(r"//\s*(EACH|TOLERANCE|REFUSED|FAILS|USE|CASE|INPUT|EXPECT):\s*(.*?)\s*$")
ROW = re.compile(r"//\s{2,}(\S.*?)\s*$")
FUNCTION = re.compile(r"\s*func\.func\s+@([\w$.]+)")
VARIABLE = re.compile(r"\$([A-Z]+)")
OPERATION = re.compile(r'"([a-z_0-9]+\.[a-zA-Z_0-9.]+)"')
USES = ("argument, result", "storage", "constant", "computed")


@dataclasses.dataclass
class Case:
    function: str
    tolerance: float
    inputs: list
    expected: dict
    fails: str


@dataclasses.dataclass
class Module:
    """A section with its variables replaced."""
    path: pathlib.Path
    line: int
    text: str
    cases: list
    refused: tuple  # (operation, words) or None
    use: tuple  # (use, type) or None
    operations: dict = dataclasses.field(default_factory=dict)  # by function
    failures: list = dataclasses.field(default_factory=list)

    def name(self):
        return f"{self.path.name}:{self.line}"


# --- Reading ------------------------------------------------------------------------------------------


def read_tables(lines, where):
    """The rows of each EACH of a section, as maps of a variable to its text."""
    tables, columns = [], None
    for line in lines:
        match = DIRECTIVE.match(line)
        if match:
            columns = None
            if match.group(1) == "EACH":
                names, _, values = match.group(2).partition(" = ")
                columns = names.split()
                tables.append([{columns[0]: value} for value in values.split()])
            continue
        match = ROW.match(line)
        if columns and match:
            cells = match.group(1).split()
            if len(cells) != len(columns):
                raise ModuleError(f"{where}: {len(columns)} columns, but a row '{match.group(1)}'")
            tables[-1].append(dict(zip(columns, [cell.replace("~", " ") for cell in cells])))
        else:
            columns = None
    return tables


def replace(text, values, where):
    def value(match):
        if match.group(1) not in values:
            raise ModuleError(f"{where}: no EACH for ${match.group(1)}")
        return values[match.group(1)]
    return VARIABLE.sub(value, text)


def read_cases(lines, values, where):
    """The cases above the public functions of a section."""
    cases, tolerance = [], 0.0
    pending = None
    waiting = []  # for their function
    for line in lines:
        match = FUNCTION.match(line)
        if match:
            for case in waiting:
                case.function = replace(match.group(1), values, where)
            if not waiting:
                raise ModuleError(f"{where}: no case above @{match.group(1)}")
            cases += waiting
            pending, waiting = None, []
            continue
        match = DIRECTIVE.match(line)
        if not match or match.group(1) in ("EACH", "REFUSED", "USE"):
            continue
        key, text = match.group(1), replace(match.group(2), values, where)
        if key == "TOLERANCE":
            tolerance = float(text)
            continue
        if key == "CASE" or pending is None:
            pending = Case("", tolerance, [], {}, "")
            waiting.append(pending)
        if key == "INPUT":
            pending.inputs.append(text)
        elif key == "FAILS":
            pending.fails = text
        elif key == "EXPECT":
            match = conformance.PRINTED.match(text)
            if not match:
                raise ModuleError(f"{where}: EXPECT must be 'result[N]: value' or 'arg[N]: value'")
            pending.expected[match.group(1)] = conformance.parse_value(match.group(2))
    for case in cases:
        if not case.expected and not case.fails:
            raise ModuleError(f"{where}: a case of @{case.function} expects nothing")
    return cases


def read_modules(path):
    """The modules of a file: one a section, or one a row where each is refused or shows the use of a type."""
    modules = []
    line, sections = 1, re.split(r"(?m)^// -----\n", path.read_text(encoding="utf-8"))
    for section in sections:
        where = f"{path.name}:{line}"
        lines = section.splitlines()
        found = {key: text for key, text in
                 (match.groups() for match in map(DIRECTIVE.match, lines) if match)}
        code = "".join(text + "\n" for text in lines if not re.match(r"\s*//", text))
        tables = read_tables(lines, where)
        instances = [{name: text for row in rows for name, text in row.items()}
                     for rows in itertools.product(*tables)]
        alone = "REFUSED" in found or "USE" in found
        for group in [[values] for values in instances] if alone else [instances]:
            refused = use = None
            if "REFUSED" in found:
                operation, _, words = replace(found["REFUSED"], group[0], where).partition(": ")
                refused = (operation, words)
                if not words:
                    raise ModuleError(f"{where}: REFUSED must be 'OPERATION: words of the message'")
            if "USE" in found:
                what, _, element = replace(found["USE"], group[0], where).partition(": ")
                if what not in USES:
                    raise ModuleError(f"{where}: USE must be 'WHAT: TYPE' with one of {USES}")
                use = (what, element)
            # What no variable is in stands once: aliases, functions that the others call.
            shared, own = split_code(code) if len(group) > 1 else ("", code)
            text = shared + "".join(replace(own, values, where) for values in group)
            cases = [] if refused else [case for values in group
                                        for case in read_cases(lines, values, where)]
            if not refused and not cases:
                raise ModuleError(f"{where}: no case")
            modules.append(Module(path, line, text, cases, refused, use))
        line += section.count("\n") + 1
    return modules


def split_code(code):
    """What stands before the first line with a variable and a function, and the rest."""
    match = re.search(r"(?m)^func\.func[^\n]*\$", code)
    return (code[:match.start()], code[match.start():]) if match else ("", code)


# --- Running ------------------------------------------------------------------------------------------


def operations_of(text):
    """What each function of generic MLIR contains, as (uses tensors, operations)."""
    parts = re.split(r'(?m)^  (?="[a-z_]+\.)', text)
    functions = {}
    for number, part in enumerate(parts[1:]):
        name = re.search(r'^"func\.func"\(\) <\{.*?sym_name = "([^"]*)"', part)
        key = name.group(1) if name else f"#{number}"
        # A kernel has no tensors, not even in what it calls.
        tensors = "tensor<" in part or '"func.call"' in part
        functions[key] = (tensors, set(OPERATION.findall(part)))
    return functions


def prepare(modules, options):
    """Writes the modules to files, and finds the operations in them, many modules at once."""
    by_file = {}
    for module in modules:
        by_file.setdefault(module.path, []).append(module)
    for path, group in by_file.items():
        parsed = [module for module in group]
        text = "\n// -----\n".join(module.text for module in parsed)
        done = subprocess.run([options.opt, "-", "--split-input-file", "--mlir-print-op-generic",
                               "--verify-each=0"],
                              input=text, capture_output=True, text=True, check=False)
        outputs = done.stdout.split("// -----\n")
        if done.returncode != 0 or len(outputs) != len(parsed):
            raise ModuleError(f"{path}: {done.stderr.strip() or 'modules are lost'}")
        for module, output in zip(parsed, outputs):
            module.operations = operations_of(output)


def write(module, number, folder):
    file = pathlib.Path(folder) / f"{module.path.stem}-{module.line}-{number}.mlir"
    file.write_text(module.text, encoding="utf-8")
    return file


def run_module(module, file, options):
    """Notes the failures of a module."""
    def fail(what, command):
        module.failures.append(f"{module.name()}: {what}: {shlex.join(map(str, command))}")

    def run(function, inputs):
        """(how it ended, command)"""
        command = [options.tool, "run", file, "--print", "full", "--threads", "1"] + options.flags
        command += ["--function", function] if function else []
        command += ["--input=" + value for value in inputs]
        try:
            return commands.run(command, options.timeout, options.served), command
        except subprocess.TimeoutExpired:
            why = f"no end after {options.timeout:g} s"
            return subprocess.CompletedProcess(command, None, "", why), command

    if module.refused:
        done, command = run("", [])
        message = done.stderr.strip()
        if done.returncode != 1 or module.refused[1] not in message:
            return fail(f"exit {done.returncode}, refused with '{message[:300]}'", command)
        if not re.search(re.escape(str(file)) + r":\d+:\d+: ", message):
            return fail(f"refused without a place: '{message[:300]}'", command)
        return None
    for case in module.cases:
        done, command = run(case.function, case.inputs)
        message = done.stderr.strip()
        if case.fails:
            if done.returncode != 1 or case.fails not in message:
                fail(f"@{case.function}: wanted '{case.fails}', got exit {done.returncode} and '{message[:300]}'",
                     command)
            continue
        if done.returncode != 0:
            why = f"exit {done.returncode}: {message[:300]}"
        else:
            got = {match.group(1): conformance.parse_value(match.group(2))
                   for match in map(conformance.PRINTED.match, done.stdout.splitlines()) if match}
            why = conformance.check(got, case.expected, case.tolerance, every_label=False)
        if why:
            fail(f"@{case.function}: {why}", command)
        if why and done.returncode != 0:
            break  # Most likely it is not compiled at all.
    return None


# --- The table ----------------------------------------------------------------------------------------


@dataclasses.dataclass
class Entry:
    """What the modules say of an operation."""
    runs: set = dataclasses.field(default_factory=set)  # of "tensor", "kernel"
    refused: set = dataclasses.field(default_factory=set)
    words: list = dataclasses.field(default_factory=list)


def collect(modules):
    entries = {}
    for module in modules:
        if module.refused:
            operation, words = module.refused
            places = {"tensor" if tensors else "kernel"
                      for tensors, operations in module.operations.values()
                      if operation in operations}
            if not places:
                module.failures.append(f"{module.name()}: '{operation}' is not in the module")
            entry = entries.setdefault(operation, Entry())
            entry.refused |= places
            if words not in entry.words:
                entry.words.append(words)
            continue
        if module.failures:
            continue
        for tensors, operations in module.operations.values():
            for operation in operations:
                entries.setdefault(operation, Entry()).runs.add("tensor" if tensors else "kernel")
    return entries


def read_unlisted():
    """Reasons by operation, or by dialect: 'llvm.*'."""
    reasons = {}
    for line in (HERE / "unlisted.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            operation, _, reason = line.partition(" ")
            reasons[operation] = reason.strip()
    return reasons


def check_registered(entries, registered, reasons):
    failures = []
    for operation in registered:
        dialect = operation.split(".")[0] + ".*"
        known = operation in entries
        listed = operation in reasons or dialect in reasons
        if not known and not listed:
            failures.append(f"{operation}: in no module that runs or is refused, and not in unlisted.txt")
        if known and operation in reasons:
            failures.append(f"{operation}: in unlisted.txt, but there is a module")
    for operation in reasons:
        if not operation.endswith(".*") and operation not in registered:
            failures.append(f"{operation}: in unlisted.txt, but not registered")
    return failures


HEADER = """# Operations

What a source may contain. *Tensor functions* have tensors among their arguments, results or values, or call
such functions; *kernels* have none. An operation **runs** there, or a load that contains it is **refused**
with a message that says where it stands and why; a cell is empty where no test has the operation in such a
function. The note has the words of refusals: of all uses, or of some where the operation runs as well.

`tests/operations/run.py --update` writes this file from the modules of `tests/operations`.
"""


def cell(entry, place):
    if place in entry.runs:
        return "runs"
    return "refused" if place in entry.refused else ""


def table(entries, registered, reasons, modules):
    lines = [HEADER]
    lines += type_table(modules)
    dialects = {}
    for operation in registered:
        dialects.setdefault(operation.split(".")[0], []).append(operation)
    for dialect, operations in sorted(dialects.items()):
        if dialect + ".*" in reasons:
            lines.append(f"## {dialect}\n\n{reasons[dialect + '.*']}\n")
            continue
        lines += [f"## {dialect}\n", "| operation | tensor functions | kernels | note |",
                  "|---|---|---|---|"]
        for operation in sorted(operations):
            entry = entries.get(operation, Entry())
            note = "; ".join(word.replace("|", "\\|") for word in entry.words)
            note = reasons.get(operation, note)
            if entry.runs and entry.words:
                note = "refused: " + note
            lines.append(f"| `{operation}` | {cell(entry, 'tensor')} | {cell(entry, 'kernel')} | {note} |")
        lines.append("")
    return "\n".join(lines).rstrip("\n") + "\n"


def type_table(modules):
    cells, types = {}, []
    for module in modules:
        if module.use:
            what, element = module.use
            if element not in types:
                types.append(element)
            cells[(element, what)] = ("no" if module.refused else "yes") if not module.failures else "?"
    if not types:
        return []
    lines = ["## Types of elements and scalars\n", "| type | " + " | ".join(USES) + " |",
             "|---" * (len(USES) + 1) + "|"]
    for element in types:
        lines.append(f"| `{element}` | " +
                     " | ".join(cells.get((element, use), "") for use in USES) + " |")
    return lines + [""]


def main():
    parser = argparse.ArgumentParser(description="Run a module for every operation.")
    parser.add_argument("tool", help="the plimsoll program")
    parser.add_argument("opt", help="the plimsoll-opt program")
    parser.add_argument("paths", nargs="*", type=pathlib.Path, help="files (default: all in this folder)")
    parser.add_argument("--served", help="plim_served, which runs the cases with one start")
    parser.add_argument("--registered", help="plim_operations, which lists what a source may name; with --table")
    parser.add_argument("--table", type=pathlib.Path, help="only compare with this table")
    parser.add_argument("--update", action="store_true", help="write the table")
    parser.add_argument("--flags", type=shlex.split, default=[],
                        help="extra flags for each run: --flags='--policy heap'")
    parser.add_argument("--jobs", type=int, default=1, help="modules at once (default 1)")
    parser.add_argument("--timeout", type=float, default=120, help="seconds per command (default 120)")
    parser.add_argument("--keep", type=pathlib.Path, help="write the modules here and leave them")
    options = parser.parse_intermixed_args()

    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or temporary
        os.makedirs(folder, exist_ok=True)
        try:
            modules = [module for path in options.paths or sorted(HERE.glob("*.mlir"))
                       for module in read_modules(path)]
            prepare(modules, options)
        except (ModuleError, ValueError, OSError) as error:
            print(f"run.py: {error}", file=sys.stderr)
            return 1
        if not options.table:
            files = [write(module, number, folder) for number, module in enumerate(modules)]
            with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
                list(pool.map(lambda pair: run_module(*pair, options), zip(modules, files)))
            if not commands.finish():
                return 1
    entries = collect(modules)
    failures = [failure for module in modules for failure in module.failures]
    if options.table:
        done = subprocess.run([options.registered], capture_output=True, text=True, check=True)
        registered, reasons = done.stdout.split(), read_unlisted()
        failures += check_registered(entries, registered, reasons)
        text = table(entries, registered, reasons, modules)
        if options.update:
            options.table.write_text(text, encoding="utf-8")
        elif text != options.table.read_text(encoding="utf-8"):
            failures.append(f"{options.table} is stale: run.py with --update writes it")
    for failure in failures:
        print(f"FAIL {failure}")
    cases = sum(len(module.cases) or 1 for module in modules)
    print(f"{len(modules)} modules, {cases} cases and refusals, {len(failures)} failures")
    return 1 if failures or not modules else 0


if __name__ == "__main__":
    sys.exit(main())
