#!/usr/bin/env python3
"""Are the tests good? Puts small faults into a copy of the sources and says which of them no test notices.

Faults are drawn with a printed seed and built all at once, each behind a branch that processes take which are told of its number.
One run of the tests says which of them come to which fault, and how long they take; then each fault is given to those, the quickest
first, until one fails. The tests are those that every check of a change runs: neither the longest nor random programs.
"""
import argparse
import dataclasses
import json
import multiprocessing
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree
from pathlib import Path

import faults

root = Path(__file__).resolve().parents[2]
layers = ["support", "targets", "planner", "ir", "jit", "engine", "capi", "importers", "devices", "python", "tools"]
other_hardware = re.compile(r"Cuda")  # drives what is not in every machine
left_out = "^(long|random|gpu|export|cross)$"  # labels
most_faults = 4095  # as Fault.h has it
rounds = [20, 100, float("inf")]  # seconds of tests, in a row, that all faults get before one gets more


@dataclasses.dataclass
class Test:
    seconds: float
    reached: bytes  # a byte for each fault: whether it comes there


class Copy:
    """A checkout of its own, with a build of its own."""

    def __init__(self, folder):
        self.folder, self.build, self.records = folder, folder / "build", folder / "build" / "faults"
        folder.mkdir(parents=True, exist_ok=True)
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
        self.log = folder / "mutate.log"
        self.log.unlink(missing_ok=True)
        if not (self.build / "build.ninja").exists():
            subprocess.run(["cmake", "--preset", "release", "-DPLIM_BUILD_BENCHMARKS=OFF"], cwd=folder, check=True,
                           stdout=subprocess.DEVNULL)
        if not self.make()[0]:
            sys.exit(f"it does not build without a fault; see {self.log}")
        self.commands = {each["file"]: each for each in json.loads((self.build / "compile_commands.json").read_text())}

    def record(self, text):
        with open(self.log, "a") as log:
            log.write(text)

    def make(self):
        """Builds all. Whether it could, and the places (path, line) that are named where not."""
        done = subprocess.run(["ninja", "-C", self.build, "-k", "0"], cwd=self.folder, text=True, errors="replace",
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.record(done.stdout)
        places = re.findall(r"^([^:\s]+):(\d+):\d+: ", done.stdout, re.M)
        return done.returncode == 0, [(os.path.relpath(self.build / path, self.folder), int(line)) for path, line in places]

    def faults_of(self, path):
        command = self.commands.get(str(self.folder / path))
        if not command:  # it is not built here
            return []
        return faults.faults_of(path, self.folder / path, faults.arguments_of(command["command"]), command["directory"])

    def write(self, numbered, paths):
        """Puts faults (by number) into the files, in place of those that are there."""
        for path in paths:
            here = [(number, fault) for number, fault in numbered.items() if fault.path == path]
            (self.folder / path).write_bytes(faults.write((root / path).read_bytes(), here))

    def put(self, drawn):
        """Builds with all that compile of the faults. Returns them, by number."""
        numbered = dict(enumerate(drawn, 1))
        self.write(numbered, {fault.path for fault in drawn})
        while True:
            built, places = self.make()
            if built:
                return numbered
            bad = {number for number, fault in numbered.items() if any(fault.is_at(*place) for place in places)}
            if not bad:
                sys.exit(f"it does not build, and no fault is why; see {self.log}")
            paths = {numbered[number].path for number in bad}
            numbered = {number: fault for number, fault in numbered.items() if number not in bad}
            self.write({number: fault for number, fault in numbered.items() if fault.path in paths}, paths)

    def test(self, arguments, environment, seconds=None):
        """What ctest prints, and whether it ended in time."""
        command = ["ctest", "--test-dir", str(self.build), "-j", str(os.cpu_count()), "--no-tests=error", *arguments]
        process = subprocess.Popen(command, env={**os.environ, **environment}, stdin=subprocess.DEVNULL, text=True, errors="replace",
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            text, late = process.communicate(timeout=seconds)[0], False
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            text, late = process.communicate()[0], True
        self.record(text)
        return text, late

    def run_all(self):
        """All tests that pass without a fault, by name."""
        shutil.rmtree(self.records, ignore_errors=True)
        self.records.mkdir()
        for listed in self.build.rglob("CTestTestfile.cmake"):
            text = re.sub(r"(?m)^set_tests_properties.* # of faults\n", "", listed.read_text())
            for name in re.findall(r"(?m)^add_test\(\[?=*\[?\"?([\w.+-]+)", text):
                (self.records / name).write_bytes(bytes(most_faults + 1))
                text += (f"set_tests_properties({name} PROPERTIES ENVIRONMENT_MODIFICATION "
                         f"PLIM_FAULTS_REACHED=set:{self.records / name}) # of faults\n")
            listed.write_text(text)
        report = self.records / "report.xml"
        self.test(["-LE", left_out, "--output-junit", str(report)], {})
        tests = {}
        for case in xml.etree.ElementTree.parse(report).getroot().iter("testcase"):
            if case.get("status") == "run":
                tests[case.get("name")] = Test(float(case.get("time")), (self.records / case.get("name")).read_bytes())
            elif case.get("status") == "fail":
                print("fails without a fault, and is not asked:", case.get("name"))
        return tests

    def failing(self, number, names, seconds):
        """The first of the tests that fails with a fault, "no end" if they do not end, or None."""
        text, late = self.test(["-R", f"^({'|'.join(map(re.escape, names))})$", "--stop-on-failure"],
                               {"PLIM_FAULT": str(number), "GTEST_FAIL_FAST": "1", "LIT_OPTS": "--max-failures=1"}, seconds)
        found = re.search(r"(\S+) \.+[\w ]*\*\*\*", text)
        return found.group(1) if found else "no end" if late else None


def rounds_of(names, seconds, limits):
    """The names, those of the least seconds first, apart where their sum comes to a limit. Every limit has its list."""
    parts, total = [[] for _ in limits], 0
    for name in sorted(names, key=lambda each: (seconds[each], each)):
        total += seconds[name]
        parts[next(index for index, limit in enumerate(limits) if total <= limit)].append(name)
    return parts


def draw(copy, paths, count, seed):
    """Faults by chance, as many in a file as it is long; some more than asked, as not all compile."""
    generator = random.Random(seed)
    weights = [len((root / path).read_text().splitlines()) for path in paths]
    wanted = generator.choices(paths, weights, k=min(count * 5 // 4 + 4, most_faults))
    drawn = []
    with multiprocessing.Pool() as pool:
        for path, there in zip(sorted(set(wanted)), pool.map(copy.faults_of, sorted(set(wanted)))):
            drawn += generator.sample(there, min(wanted.count(path), len(there)))
    generator.shuffle(drawn)
    return faults.apart(drawn)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", metavar="FILE", help="files and folders; all layers unless told")
    parser.add_argument("--count", type=int, default=20, help="how many faults are tried (20)")
    parser.add_argument("--seed", type=int, help="of a run that is to be done again; another one each time unless told")
    parser.add_argument("--only", type=int, nargs="+", metavar="NUMBER",
                        help="of the same faults these, as the report numbers them: with its seed, count and files")
    parser.add_argument("--folder", type=Path, default=root / "build-mutate", help="where the copy is")
    options = parser.parse_args()
    if options.seed is None:
        if options.only:
            parser.error("--only needs the --seed of the report: others have other faults")
        options.seed = int(time.time())

    files = subprocess.run(["git", "ls-files", "*.cpp"], cwd=root, check=True, text=True, capture_output=True).stdout.split()
    paths = [path for path in files if path.split("/")[0] in layers and not other_hardware.search(path)
             and (not options.files or path.startswith(tuple(options.files)))]
    if not paths:
        sys.exit("no sources there")
    print(f"{len(paths)} files; seed {options.seed}", flush=True)
    copy = Copy(options.folder.resolve())
    numbered = copy.put(draw(copy, paths, options.count, options.seed))
    numbered = dict(list(numbered.items())[:options.count])
    if unknown := set(options.only or ()) - set(numbered):
        sys.exit(f"not among the faults of this seed and count: {', '.join(map(str, sorted(unknown)))}")
    tests = copy.run_all()
    print(f"{len(numbered)} faults in {len({each.path for each in numbered.values()})} files; {len(tests)} tests pass without one",
          flush=True)

    seconds = {name: test.seconds for name, test in tests.items()}
    asked = {number: rounds_of([name for name, test in tests.items() if test.reached[number]], seconds, rounds)
             for number in options.only or numbered}
    verdicts = {}
    for index in range(len(rounds)):
        for number in asked:
            names = asked[number][index]
            if number in verdicts or not names:
                continue
            start = time.time()
            found = copy.failing(number, names, 30 + 2 * sum(map(seconds.get, names)))
            if found:
                verdicts[number] = found
                print(f"[{time.time() - start:4.0f} s] {number}: {found}: {numbered[number]}", flush=True)
    print(f"{len(verdicts)} of {len(asked)} faults caught ({100 * len(verdicts) / len(asked):.0f}%)")
    for number in asked:
        if number not in verdicts:
            print("  survives" if any(asked[number]) else "  not reached", f"{number}: {numbered[number]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
