"""Runs programs on the engine, in a process of its own, and compares what comes back.

A crash ends the child, not the run: the parent knows which program and which configuration it was at.
"""
import copy
import dataclasses
import os
import pathlib
import pickle
import random
import select
import subprocess
import sys

import numpy as np

import reference

from .values import FLOATS

WORKER = pathlib.Path(__file__).resolve().parents[1] / "worker.py"


@dataclasses.dataclass(frozen=True)
class Configuration:
    oracle: bool = False
    policy: str = "auto"
    threads: int = 1
    specialize: bool = False
    checked: bool = False
    strict: bool = False

    def flags(self):
        """The same for `plimsoll run`."""
        words = ["--oracle"] if self.oracle else []
        if self.policy != "auto":
            words.append(f"--policy {self.policy}")
        words.append(f"--threads {self.threads}")
        words += ["--numerics strict"] * self.strict
        return " ".join(words + ["--specialize"] * self.specialize + ["--checked"] * self.checked)


ORACLE = Configuration(oracle=True)


def configurations(seed, count):
    """The oracle and some others, which the seed chooses."""
    source = random.Random(seed ^ 0x5EED)
    out = [ORACLE]
    while len(out) < count + 1:
        chosen = Configuration(
            policy=source.choice(["auto", "auto", "stack", "workspace", "heap"]),
            threads=source.choice([1, 2]), specialize=source.random() < 0.25,
            checked=source.random() < 0.2, strict=source.random() < 0.25)
        if chosen.checked:  # Which has a policy of its own, and one code for all extents.
            chosen = dataclasses.replace(chosen, policy="auto", specialize=False)
        if chosen not in out:
            out.append(chosen)
    return out


# --- Data -----------------------------------------------------------------------------------------


def data(program, seed):
    """Arrays for the arguments: float64 or int64, before they are rounded to their types. Some exact
    programs get special values: order changes nothing about these either. A cast of them to an
    integer would have no value."""
    special = program.exact and seed % 4 == 0 and "arith.fptosi" not in program.text()
    out = []
    for i, value in enumerate(program.arguments):
        source = np.random.default_rng([seed, i])
        if value.element in FLOATS:
            bound = int(value.bound)
            if program.exact:
                array = source.integers(-bound, bound + 1, value.shape).astype(np.float64)
                if special:
                    strange = source.choice([np.nan, np.inf, -np.inf, -0.0, -0.0], value.shape)
                    array = np.where(source.random(value.shape) < 0.1, strange, array)
                out.append(array)
            else:
                out.append(np.round(source.uniform(-1, 1, value.shape) * 128) / 128 * value.bound)
        elif value.element == "i1":
            out.append(source.integers(0, 2, value.shape))
        else:
            bits = 64 if value.element == "index" else int(value.element[1:])
            high = 1 << (bits - 1) if source.random() < 0.5 else 4
            out.append(source.integers(-high, high, value.shape, dtype=np.int64))
    return out


def shortened(program, arrays, seed):
    """The data with one open extent of one argument less: what the program says of its extents then
    may not hold, and the call must fail. None where nothing is open."""
    source = random.Random(seed)
    places = [(i, axis) for i, value in enumerate(program.arguments)
              for axis, is_open in enumerate(value.open) if is_open and value.shape[axis] > 1]
    if not places:
        return None
    i, axis = source.choice(places)
    arrays = list(arrays)
    arrays[i] = np.delete(arrays[i], -1, axis)
    return arrays


def expected(program, module, arrays):
    """What the reference gives, for the results in order."""
    machine = reference.Machine(module, exact=program.exact, steps=2_000_000)
    kinds = machine.function_type("main").inputs
    with np.errstate(all="ignore"):
        args = [np.array(machine.numerics.constant(array, kind.element))
                for array, kind in zip(arrays, kinds)]
    return [np.asarray(value) for value in machine.call("main", args)]


def needs_what_fails(program, arrays):
    """Does the call fail also without what no result needs? If not, the engine may leave that out, and its
    errors with it."""
    rest = copy.deepcopy(program)
    before = list(rest.arguments)
    rest.clean(branches=True)
    (module,) = reference.parse_modules([rest.text()])
    kept = {id(value) for value in rest.arguments}
    try:
        expected(rest, module, [array for array, value in zip(arrays, before) if id(value) in kept])
        return False
    except reference.CallFailed:
        return True


# --- Arrays of the Python package -----------------------------------------------------------------

DTYPES = {"i1": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
          "index": np.int64, "f16": np.float16, "f32": np.float32, "f64": np.float64}


def to_engine(array, element):
    if element == "bf16":
        return np.asarray(reference.numerics.bits_from_float(
            array, reference.irtypes.Float("bf16"))).astype(np.uint16).reshape(array.shape)
    return np.array(array, DTYPES[element], order="C")


def from_engine(array, element):
    array = np.asarray(array)
    if element == "bf16":
        return np.asarray(reference.numerics.float_from_bits(
            array.astype(np.uint64), reference.irtypes.Float("bf16")))
    return array.astype(np.float64 if element in FLOATS else np.int64)


def difference(program, text, got, want):
    """None, or the first result that is not what it should be."""
    if len(got) != len(want):
        return f"{len(got)} results, wanted {len(want)}"
    for i, (value, have, wish) in enumerate(zip(program.results, got, want)):
        have = from_engine(have, value.element)
        if have.shape != wish.shape:
            return f"result {i} has the extents {have.shape}, wanted {wish.shape}"
        wish = wish.astype(have.dtype)
        if value.element in FLOATS:
            wrong = ~((have == wish) | (np.isnan(have) & np.isnan(wish)))
            if program.exact:
                # Of zeros with different signs, maxnumf and minnumf may give either.
                if "numf" not in text:
                    wrong |= (have == 0) & (np.signbit(have) != np.signbit(wish))
            else:
                with np.errstate(invalid="ignore"):
                    wrong &= ~(np.abs(have - wish) <= 2 * value.error + 1e-300)
        else:
            wrong = have != wish
        if wrong.any():
            place = tuple(int(k[0]) for k in np.nonzero(np.atleast_1d(wrong)))
            have, wish = (np.atleast_1d(a)[place] for a in (have, wish))
            return (f"result {i}, {value.element}, at {list(place)}: {have!r}, wanted {wish!r}; "
                    f"{int(wrong.sum())} of {wrong.size} differ")
    return None


def unlike(plain, strict):
    """None, or the first result of strict code that is not the oracle's, bit by bit."""
    for i, (a, b) in enumerate(zip(plain, strict, strict=True)):
        same = a == b
        if a.dtype.kind == "f":
            same = np.where(a == 0, same & (np.signbit(a) == np.signbit(b)), same | ((a != a) & (b != b)))
        if not np.all(same):
            place = tuple(int(k[0]) for k in np.nonzero(np.atleast_1d(~same)))
            a, b = (np.atleast_1d(each)[place] for each in (a, b))
            return f"result {i} at {list(place)}: strict code gives {b!r}, the oracle {a!r}"
    return None


# --- The child ------------------------------------------------------------------------------------


class Engine:
    """The child, started again after it died. Environment: that of this process."""

    def __init__(self, timeout=60):
        self.timeout = timeout
        self.child = None

    def start(self):
        self.child = subprocess.Popen([sys.executable, "-B", str(WORKER)], stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        os.set_blocking(self.child.stderr.fileno(), False)

    def close(self):
        if self.child:
            self.child.kill()
            self.child.wait()
            self.child.stdin.close()
            self.child.stdout.close()
            self.child.stderr.close()
            self.child = None

    def call(self, text, arrays, configuration):
        """(results, None) or (None, what went wrong)."""
        if self.child is None:
            self.start()
        try:
            pickle.dump((text, arrays, dataclasses.asdict(configuration)), self.child.stdin)
            self.child.stdin.flush()
            ready, _, _ = select.select([self.child.stdout], [], [], self.timeout)
            if not ready:
                self.close()
                return None, f"no result after {self.timeout} s"
            return pickle.load(self.child.stdout)
        except (EOFError, BrokenPipeError, pickle.UnpicklingError):
            status = self.child.wait()
            text = (self.child.stderr.read() or b"").decode(errors="replace").strip()
            self.close()
            how = f"signal {-status}" if status < 0 else f"exit {status}"
            last = text.splitlines()[-1] if text else ""
            return None, f"crash, {how}: {last}"


def judge(program, seed, engine, chosen, module=None):
    """[(configuration, what is wrong)]."""
    if module is None:
        (module,) = reference.parse_modules([program.text()])
    text = program.text()
    arrays = data(program, seed)
    want = expected(program, module, arrays)
    calls = [(arrays, want)]
    if program.exact:
        less = shortened(program, arrays, seed)
        if less is not None:
            try:
                calls.append((less, expected(program, module, less)))
            except reference.CallFailed as error:
                if needs_what_fails(program, less):
                    calls.append((less, error))
    failures = []
    for configuration in chosen:
        for which, (arrays, want) in enumerate(calls):
            given = [to_engine(array, value.element)
                     for array, value in zip(arrays, program.arguments)]
            got, why = engine.call(text, given, configuration)
            if isinstance(want, Exception):
                if why is None:
                    why = f"no error, wanted one: {want}"
                elif why and not why.startswith(("crash", "no result")):
                    why = None
            else:
                why = why or difference(program, text, got, want)
            if configuration.strict and got is not None and not why:
                plain, why = engine.call(text, given, ORACLE)
                why = why or unlike(plain, got)
            if why:
                failures.append((configuration, ("with less elements, " if which else "") + why))
                break
    return failures


def describe(program, seed, configuration, why):
    """A file that shows the failure by itself, in the form of a conformance module."""
    arrays = data(program, seed)
    lines = [f"// Random program, seed {seed}, {configuration.flags()}", f"// {why}",
             "// RUN-FUNCTION: @main", f"// TOLERANCE: {0 if program.exact else '1e-2'}", "// CASE:"]
    for array, value in zip(arrays, program.arguments):
        shape = "".join(f"{extent}x" for extent in value.shape)
        numbers = " ".join(repr(number) for number in np.reshape(array, -1).tolist())
        lines.append(f"// INPUT: {shape}{value.element}={numbers}")
    return "\n".join([*lines, "", program.text()])
