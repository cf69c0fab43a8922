#!/usr/bin/env python3
"""Loads texts that were changed at random: the process lives, every load has a status, the next one works.

  PYTHONPATH=build/python tests/random/mutants.py [--seed N] [--count N | --seconds S] [--keep FOLDER]

The texts are those of the conformance tests and of the corpus of crashers, changed token by token: one left out,
twice there, in the place of another, from another file; numbers made large, negative or odd; brackets and quotes
alone; whole operations moved. Loads are compiled in workers. With --keep, texts that ended a compiler are written
there, one for each way in which it ended. Exit status 1 for a status that tells of a fault of the library, and for
memory or descriptors that stay.
"""
import argparse
import collections
import os
import pathlib
import random
import re
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import plimsoll as pl

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOKEN = re.compile(r'//[^\n]*|"(?:\\.|[^"\\\n])*"|[%@#!^]?[A-Za-z0-9_$.]+(?:-[A-Za-z]+)*|->|::|==|\s+|.', re.S)
NUMBERS = ["0", "1", "-1", "2", "3", "7", "63", "64", "65", "255", "4294967296", "9223372036854775807",
           "-9223372036854775808", "18446744073709551616", "0x7FC00000", "1.0e+40", "0.0", "1e999"]
TYPES = ["f16", "bf16", "f32", "f64", "f80", "f8E4M3FN", "i0", "i1", "i4", "i7", "i8", "i16", "i32", "i64", "i65", "i128", "index",
         "complex<f32>", "none", "tuple<>", "vector<4xf32>", "vector<[4]xf32>", "memref<4xf32>", "tensor<*xf32>"]
ODD = ["(", ")", "[", "]", "{", "}", "<", ">", "\"", ",", ":", "?", "x", "*", "array<index: 1>", "unit", "dense<1>",
       "dense<>", "affine_map<(d0) -> (d0 mod 0)>", "affine_map<() -> ()>", "strided<[1]>", "loc(unknown)", "{-#", "#-}"]
EXPECTED = (pl.InvalidArgumentError, pl.UnimplementedError, pl.FailedPreconditionError, pl.ResourceExhaustedError,
            pl.DeadlineExceededError)
GOOD = "func.func @one() -> i32 { %c = arith.constant 1 : i32 return %c : i32 }"


def corpus():
    files = sorted([*ROOT.glob("tests/conformance/**/*.mlir"), *ROOT.glob("tests/unit/jit/crashers/*.mlir")])
    return [TOKEN.findall(re.sub(r"^//.*\n", "", path.read_text(), flags=re.M)) for path in files]


def is_word(token):
    return not token.isspace() and not token.startswith("//")


def mutate(tokens, everything, rng):
    """One to four changes."""
    tokens = list(tokens)
    for _ in range(rng.choice((1, 1, 1, 2, 2, 4))):
        places = [i for i, token in enumerate(tokens) if is_word(token)]
        if not places:
            break
        at, other = rng.choice(places), rng.choice(places)
        kind = rng.randrange(10)
        if kind == 0:
            del tokens[at]
        elif kind == 1:
            tokens.insert(at, tokens[other])
        elif kind == 2:
            tokens[at], tokens[other] = tokens[other], tokens[at]
        elif kind in (3, 4):
            tokens[at] = rng.choice([token for token in rng.choice(everything) if is_word(token)] or ["x"])
        elif kind == 5:
            numbers = [i for i in places if tokens[i][0].isdigit()]
            tokens[rng.choice(numbers or places)] = rng.choice(NUMBERS)
        elif kind == 6:
            types = [i for i in places if re.fullmatch(r"(?:\d+x|\?x)*(?:[a-z]*f\d+|i\d+|index)", tokens[i])]
            i = rng.choice(types or places)
            tokens[i] = re.sub(r"[a-z]+\d*$", "", tokens[i]) + rng.choice(TYPES)
        elif kind == 7:
            tokens[at] = rng.choice(ODD)
        elif kind == 8:  # one letter
            word = tokens[at]
            i = rng.randrange(len(word))
            tokens[at] = word[:i] + rng.choice("O0lI_.-x\0\\%") + word[i + 1:]
        else:  # some lines' worth
            low, high = sorted((at, other))
            piece = tokens[low:min(high, low + 40)]
            tokens[at:at] = piece
    return "".join(tokens)


def signature(message):
    """What is the same for two texts that end the compiler in the same way."""
    message = re.sub(r"0x[0-9a-f]+|\d+|'[^']*'|\"[^\"]*\"", "N", message.split("it wrote:")[-1])
    return message[:300]


class Run:
    def __init__(self, options):
        self.options = options
        self.engine = pl.Engine(threads=2, compile_deadline=20, limits={"max_operations": 20000})
        self.counts = collections.Counter()
        self.ways = {}
        self.faults = []

    def load(self, text):
        try:
            pl.loads(text, "mutant.mlir", engine=self.engine)
            return "loaded", ""
        except EXPECTED as error:
            return type(error).__name__, str(error)
        except pl.InternalError as error:
            return ("compiler ended" if "the compiler ended" in str(error) else "FAULT"), str(error)
        except (pl.Error, ValueError) as error:  # NUL in a text of Python's is its own error
            return "FAULT", f"{type(error).__name__}: {error}"

    def one(self, text):
        kind, message = self.load(text)
        self.counts[kind] += 1
        if kind == "FAULT":
            self.faults.append((message, text))
        if kind == "compiler ended":
            if self.ways.setdefault(signature(message), text) is text and self.options.keep:
                path = self.options.keep / f"{len(self.ways):03}.mlir"
                path.write_text("// " + message.replace("\n", "\n// ") + "\n" + text)
            if pl.loads(GOOD, engine=self.engine).one() != 1:
                self.faults.append(("the load behind it", text))


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def main():
    parser = argparse.ArgumentParser(description="Load texts that were changed at random.")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--count", type=int, help="how many texts (default 1000)")
    parser.add_argument("--seconds", type=float, help="for that long, whatever the count")
    parser.add_argument("--keep", type=pathlib.Path, help="folder for texts that end the compiler")
    options = parser.parse_args()
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
    print("seed", options.seed, flush=True)
    rng, everything, run = random.Random(options.seed), corpus(), Run(options)
    start, made, batch, settled = time.monotonic(), 0, 200, None
    limit = options.count or (1000 if options.seconds is None else sys.maxsize)
    with ThreadPoolExecutor(2) as threads:
        while made < limit and (options.seconds is None or time.monotonic() - start < options.seconds):
            texts = [mutate(rng.choice(everything), everything, rng) for _ in range(min(batch, limit - made))]
            list(threads.map(run.one, texts))
            made += len(texts)
            settled = settled or (resident(), len(os.listdir("/proc/self/fd")))
    grown = resident() - settled[0]
    more = len(os.listdir("/proc/self/fd")) - settled[1]
    seconds = time.monotonic() - start
    print(f"{made} texts in {seconds:.0f} s:", ", ".join(f"{count} {kind}" for kind, count in run.counts.most_common()))
    print(f"{len(run.ways)} ways to end the compiler; memory grew by {grown / 2**20:.1f} MiB, descriptors by {more}")
    for message, text in run.faults[:5]:
        print("FAULT:", message, "\n", text)
    return 1 if run.faults or more > 8 or grown > (64 << 20) else 0


if __name__ == "__main__":
    sys.exit(main())
