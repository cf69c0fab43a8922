#!/usr/bin/env python3
"""Runs random programs on the engine and compares it with the reference, for a time or a count.

  PYTHONPATH=build/python tests/random/run.py [--seed N] [--count N | --seconds S]

Each program runs with the oracle and with some other configurations that its seed chooses. One that
fails is made smaller and written to a file; its seed is printed. Exit status 1 when one failed.
"""
import argparse
import collections
import pathlib
import sys
import time

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
# Behind the standard library: this folder's name is that of one of its modules.
sys.path += [str(HERE), str(HERE.parent)]

import reference  # noqa: E402
from programs import check, shrink  # noqa: E402
from programs.generate import generate  # noqa: E402
from programs.values import FLOATS, INTEGERS  # noqa: E402

BATCH = 25  # Programs that upstream's printer takes at once.


def usable_elements(engine):
    """The element types that this machine can round to."""
    out = list(INTEGERS)
    for element in FLOATS:
        text = (f"func.func @main(%x: tensor<1x{element}>) -> tensor<1x{element}> {{\n"
                f"  %y = arith.addf %x, %x : tensor<1x{element}>\n  return %y : tensor<1x{element}>\n}}\n")
        array = check.to_engine(np.ones(1), element)
        if engine.call(text, [array], check.ORACLE)[1] is None:
            out.append(element)
        else:
            print(f"without {element}: the engine cannot compile it here", flush=True)
    return out


def main():
    parser = argparse.ArgumentParser(description="Run random programs against the reference.")
    parser.add_argument("--seed", type=int, help="the first seed (default: from the clock)")
    parser.add_argument("--count", type=int, help="how many programs (default 500)")
    parser.add_argument("--seconds", type=float, help="for that long, whatever the count")
    parser.add_argument("--configurations", type=int, default=1,
                        help="how many of each program, besides the oracle (default 1)")
    parser.add_argument("--failures", type=pathlib.Path, default=pathlib.Path("random-failures"),
                        help="folder for programs that fail (default random-failures)")
    parser.add_argument("--shrink-seconds", type=float, default=60, help="for each failure (default 60)")
    parser.add_argument("--most", type=int, default=5, help="failures after which it ends (default 5)")
    parser.add_argument("--print", action="store_true", help="only print the program of --seed")
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else int(time.time()) * 1000

    def make(one):
        return generate(one, elements)
    if options.print:
        elements = [*INTEGERS, *FLOATS]
        program = make(seed)
        print(program.text(), end="")
        return 0
    engine = check.Engine()
    elements = usable_elements(engine)
    count = options.count or (sys.maxsize if options.seconds else 500)
    end = time.monotonic() + options.seconds if options.seconds else None
    print(f"random programs from seed {seed}", flush=True)
    done, failed, skipped = 0, [], collections.Counter()
    while done < count and (end is None or time.monotonic() < end) and len(failed) < options.most:
        seeds = range(seed + done, seed + min(done + BATCH, count))
        programs = [make(one) for one in seeds]
        modules = reference.parse_modules([program.text() for program in programs])
        for one, program, module in zip(seeds, programs, modules):
            done += 1
            chosen = check.configurations(one, options.configurations)
            try:
                failures = check.judge(program, one, engine, chosen, module)
            except (reference.CallFailed, reference.Unsupported) as error:
                skipped[str(error)] += 1
                continue
            if failures:
                failed.append(one)
                report(one, failures, engine, make, options)
                if len(failed) >= options.most:
                    break
            if end is not None and time.monotonic() >= end:
                break
    engine.close()
    for why, number in skipped.items():
        print(f"{number} skipped, for the reference: {why}")
    print(f"{done} programs, {len(failed)} failed" + (f": seeds {failed}" if failed else ""))
    return 1 if failed or not done or sum(skipped.values()) * 10 > done else 0


def report(seed, failures, engine, make, options):
    for configuration, why in failures:
        print(f"FAIL seed {seed}, {configuration.flags()}: {why}", flush=True)
    configuration = failures[0][0]
    small, why = shrink.shrink(lambda: make(seed), seed, engine, configuration,
                               options.shrink_seconds)
    options.failures.mkdir(parents=True, exist_ok=True)
    path = options.failures / f"seed-{seed}.mlir"
    path.write_text(check.describe(small, seed, configuration, why or failures[0][1]))
    print(f"     {path}: plimsoll run with {configuration.flags()}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
