#!/usr/bin/env python3
"""Are the tests good? Puts small faults into a copy of the sources, one at a time, and says which no test notices.

A fault is a comparison that is off by one or turned around, a sum that became a difference, a condition that is not asked,
a call that is left out. Each is built and given to the tests of its layer first, then to those of what stands on it; the
first that fails has caught it. What does not compile is no fault. Faults are drawn with a printed seed; one may be given
as FILE:LINE:NUMBER, as the report names it.
"""
import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

root = Path(__file__).resolve().parents[2]
most_seconds = 3600  # of the tests of one label without a fault
layers = ["support", "targets", "planner", "ir", "jit", "engine", "capi"]

# What stands in code, outside of comments and strings, and what a fault makes of it.
replacements = [
    (r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > "),
    (r" == ", " != "), (r" != ", " == "), (r" && ", " || "), (r" \|\| ", " && "),
    (r" \+ (?!=)", " - "), (r" - (?!=)", " + "), (r" \* (?=\w)", " + "), (r" \+ 1\b", ""), (r" - 1\b", ""),
    (r" \+= ", " -= "), (r"\+\+(?=\w)", "--"), (r"\bif \(!", "if ("), (r"\bstd::min\b", "std::max"),
    (r"\bstd::max\b", "std::min"), (r"\breturn true;", "return false;"), (r"\breturn false;", "return true;"),
    (r"\bcontinue;", "break;"), (r"\bPLIM_RETURN_IF_ERROR\(", "(void)("),
]
call = re.compile(r"^\s+[A-Za-z_][\w.>:\-\[\]]*\([^{}]*\);$")
no_call = re.compile(r"^\s+(return|PLIM_|assert|static_assert|case|else|delete|throw)\b")


def mask(text):
    """The text with blanks in place of comments, strings and what is included."""
    pattern = r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|^#[^\n]*'
    return re.sub(pattern, lambda found: re.sub(r"[^\n]", " ", found.group()), text, flags=re.S | re.M)


def faults_of(path):
    """(line, number, how, lines with the fault) of a file."""
    text = (root / path).read_text()
    lines, masked = text.splitlines(), mask(text).splitlines()
    for index, code in enumerate(masked):
        number = 0
        for pattern, replacement in replacements:
            if "operator" in code or "template" in code:
                break
            for found in re.finditer(pattern, code):
                line = lines[index]
                changed = line[:found.start()] + found.expand(replacement) + line[found.end():]
                number += 1
                yield index + 1, number, line.strip(), changed
        if call.match(code) and not no_call.match(code) and code.count("(") == code.count(")"):
            yield index + 1, number + 1, lines[index].strip(), ""


def run(command, cwd, seconds, log):
    """"ok", "failed" or "late"."""
    try:
        done = subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=log, stderr=log, timeout=seconds)
        return "ok" if done.returncode == 0 else "failed"
    except subprocess.TimeoutExpired:
        return "late"


class Copy:
    """A checkout of its own, with a build of its own."""

    def __init__(self, folder, preset):
        self.folder, self.build = folder, folder / "build"
        if not folder.exists():
            folder.mkdir(parents=True)
        tracked = subprocess.run(["git", "ls-files", "-z"], cwd=root, check=True, capture_output=True).stdout
        names = list(filter(None, tracked.decode().split("\0")))
        for old in folder.rglob("*.*"):
            if self.build in old.parents or folder / ".git" in old.parents:
                continue
            if old.is_file() and str(old.relative_to(folder)) not in names:
                old.unlink()
        for name in names:
            source, target = root / name, folder / name
            if not source.exists() or (target.exists() and target.read_bytes() == source.read_bytes()):
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)  # with the time of now, or the build would keep what is older
            shutil.copymode(source, target)
        self.log = open(folder / "mutate.log", "w")
        if not (self.build / "build.ninja").exists():
            configured = run(["cmake", "--preset", preset, "-DPLIM_BUILD_BENCHMARKS=OFF"], folder, 600, self.log)
            assert configured == "ok", "it does not configure; see mutate.log"
        assert self.make(7200), "it does not build without a fault; see mutate.log"
        self.limits = {}  # seconds, by label

    def make(self, seconds=1800):
        return run(["ninja", "-C", str(self.build)], self.folder, seconds, self.log) == "ok"

    def measure(self, label):
        """The same tests without a fault. They set the limit for those with one."""
        start = time.time()
        result = self.test(label, most_seconds)
        self.limits[label] = limit_of(time.time() - start)
        return result == "ok"

    def test(self, label, seconds=None):
        return run(["ctest", "--test-dir", str(self.build), "-L", label, "-j", str(os.cpu_count()), "--stop-on-failure",
                    "--no-tests=error", "--timeout", "120", "-Q"], self.folder, seconds or self.limits[label], self.log)


def limit_of(seconds):
    """How long the tests of a label may take with a fault that took so long without."""
    return 4 * seconds + 60


def judge(labels, test):
    """(label, "failed") of the first whose tests fail, or else (label, "late") of the first that take too long, or None."""
    late = None
    for label in labels:
        result = test(label)
        if result == "failed":
            return label, result
        if result == "late":
            late = late or (label, result)
    return late


def tests_of(path):
    """Labels of the tests that may notice a fault, the nearest first, then what takes least time."""
    layer = path.split("/")[0]
    own = {"engine": "^(engine|session)$", "ir": "^lit$"}.get(layer, f"^{layer}$")
    others = ["^reference$", "^operations$", "^lit$", "^random$", "^conformance$", "^capi$", "^unit$", "^python$"]
    return [own, *(label for label in others if label != own)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("faults", nargs="*", metavar="FILE[:LINE:NUMBER]", help="where; all layers unless told")
    parser.add_argument("--count", type=int, default=20, help="how many are tried that compile (20)")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--skip", type=int, default=0, help="how many of the drawn were tried before (0)")
    parser.add_argument("--list", action="store_true", help="say which there are, and try none")
    parser.add_argument("--folder", type=Path, default=root / "build-mutate", help="where the copy is")
    options = parser.parse_args()

    files = subprocess.run(["git", "ls-files", "*.cpp", "*.h"], cwd=root, check=True, text=True, capture_output=True)
    chosen = {entry.split(":")[0] for entry in options.faults}
    paths = [path for path in files.stdout.split()
             if path.split("/")[0] in layers and (not chosen or any(path.startswith(each) for each in chosen))]
    faults = [(path, *fault) for path in paths for fault in faults_of(path)]
    exact = {entry for entry in options.faults if ":" in entry}
    if exact:
        faults = [fault for fault in faults if ":".join(map(str, fault[:3])) in exact]
    else:
        print(f"{len(faults)} faults in {len(paths)} files; seed {options.seed}")
        random.Random(options.seed).shuffle(faults)
        faults = faults[options.skip:]
    if options.list:
        for path, line, number, before, after in faults:
            print(f"{path}:{line}:{number}: {before}  =>  {after.strip() or '(left out)'}")
        return 0

    copy = Copy(options.folder, "release")
    caught, late, survivors = 0, 0, []
    tried = 0
    for path, line, number, before, after in faults:
        if not exact and caught + late + len(survivors) == options.count:
            break
        tried += 1
        target = copy.folder / path
        original = target.read_text()  # the tree it came from may change meanwhile
        lines = original.splitlines()
        lines[line - 1] = after
        faulty = "\n".join(lines) + "\n"
        target.write_text(faulty)
        start = time.time()

        def test(label):
            if label not in copy.limits:  # a test that fails anyway would catch everything
                target.write_text(original)
                if not (copy.make() and copy.measure(label)):
                    sys.exit(f"without a fault tests fail, or are not there, that are labelled {label}; see {copy.folder}/mutate.log")
                target.write_text(faulty)
                copy.make()
            return copy.test(label)

        try:
            is_fault = copy.make()
            found = judge(tests_of(path), test) if is_fault else None
        finally:
            target.write_text(original)
        name = f"{path}:{line}:{number}"
        text = f"{name}: {before}  =>  {after.strip() or '(left out)'}"
        verdict = "SURVIVES" if is_fault else "caught by the compiler"
        if found:
            label, how = found
            verdict = f"caught by {label}" if how == "failed" else f"LATE: {label} took over {copy.limits[label]:.0f} s"
            caught += how == "failed"
            late += how == "late"
        elif is_fault:
            survivors.append(text)
        print(f"[{time.time() - start:4.0f} s] {verdict}: {text}", flush=True)
    total = caught + late + len(survivors)
    print(f"{caught} of {total} faults caught" + (f" ({100 * caught / total:.0f}%)" if total else "")
          + (f", {late} made tests too slow" if late else "")
          + ("" if exact else f"; the next are drawn with --skip {options.skip + tried}"))
    for text in survivors:
        print("  survives:", text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
