#!/usr/bin/env python3
"""Certificates of generated instances are accepted, and forged ones refused.

    certificate_test.py PLIMSOLL [--seed N]

That an accepted peak is the best one is compared with trying all plans of the smallest instances.
"""

import argparse
import itertools
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time
import unittest

import check_certificate
from check_certificate import Fault

arguments = argparse.ArgumentParser()
arguments.add_argument("plimsoll")
arguments.add_argument("--seed", type=int, default=int(time.time()) % 1_000_000)
arguments = arguments.parse_args()
HEADER = "id,lower,upper,size,alignment,gaps,offset"


def replacing(draw, count, load, largest, slack):
    """What ends is replaced by as many bytes in other pieces: the best peak is often above the load."""
    rows, live, now, missing = [], [], 0, load
    while len(rows) + len(live) < count:
        while missing > slack and len(rows) + len(live) < count:
            live.append((now, draw.randint(1, min(largest, missing))))
            missing -= live[-1][1]
        now += 1
        for _ in range(draw.randint(1, max(1, len(live) // 2))):
            start, size = live.pop(draw.randrange(len(live)))
            rows.append((start, now, size))
            missing += size
    rows += [(start, now, size) for start, size in live]
    return [f"b{i},{start},{end},{size},,," for i, (start, end, size) in enumerate(rows)]


def anything(draw, count):
    """Alignments, holes, buffers of no bytes or no lifetime, and now and then one that is pinned."""
    rows = []
    for i in range(count):
        lower = draw.randint(0, 6)
        upper = lower + (draw.randint(1, 6) if draw.random() < 0.95 else 0)
        gap = f"{lower + 1}-{upper - 1}" if upper - lower > 2 and draw.random() < 0.3 else ""
        size = draw.randint(1, 7) if draw.random() < 0.95 else 0
        rows.append(f"b{i},{lower},{upper},{size},{draw.choice(['', 1, 2, 3, 4])},{gap},{8 if draw.random() < 0.04 else ''}")
    return rows


def smallest_peak(buffers):
    """By trying all orders in which buffers can be put as low as those before them allow. No pins."""
    buffers = [b for b in buffers if b.size]
    best = sum(b.size + b.alignment for b in buffers)

    def put(placed, left, peak):
        nonlocal best
        if peak >= best:
            return
        if not left:
            best = peak
            return
        for i, b in enumerate(left):
            # Offsets never fall along the order: each order of offsets is tried once.
            offset = b.align(max([o for o, _ in placed[-1:]] + [o + c.size for o, c in placed if c.lives_with(b)], default=0))
            put(placed + [(offset, b)], left[:i] + left[i + 1:], max(peak, offset + b.size))

    put([], buffers, 0)
    return best


class CertificateTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)

    def plan(self, rows):
        """The buffers, the lines of the certificate and the solution; None if no plan is proved to be the best."""
        problem, certificate, solution = (self.folder / name for name in ("problem.csv", "certificate", "solution.csv"))
        problem.write_text("\n".join([HEADER, *rows]) + "\n")
        run = subprocess.run([arguments.plimsoll, "plan", problem, "--threads", "1", "--certificate", certificate, "-o", solution],
                             capture_output=True, text=True)
        if "status: optimal" not in run.stdout:
            return None
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return (check_certificate.read_problem(problem), certificate.read_text(encoding="ascii").splitlines(),
                check_certificate.read_problem(solution))

    def accept(self, rows):
        planned = self.plan(rows)
        self.assertIsNotNone(planned, rows)
        buffers, lines, solution = planned
        peak, lemmas = check_certificate.check_certificate(buffers, lines)
        check_certificate.check_solution(buffers, solution, peak)
        # A least offset of 0 is not written.
        self.assertNotRegex("\n".join(line for line in lines if line.startswith("lemma")), r":0\b")
        return buffers, lines, peak, lemmas

    def test_accepted_where_the_best_peak_is_above_the_load(self):
        draw, deep, i = random.Random(arguments.seed), 0, 0
        while deep < 3:  # about every tenth
            i += 1
            with self.subTest(seed=arguments.seed, i=i):
                deep += self.accept(replacing(draw, draw.randint(18, 28), draw.choice([14, 20]), 8, 0))[3] > 0
            self.assertLess(i, 300)

    def test_accepted_whatever_constrains_buffers(self):
        draw, proved = random.Random(arguments.seed + 1), 0
        for i in range(40):
            with self.subTest(seed=arguments.seed, i=i):
                rows = anything(draw, draw.randint(1, 12))
                if "8" in {row.split(",")[-1] for row in rows} and self.plan(rows) is None:
                    continue  # pins that collide
                self.accept(rows)
                proved += 1
        self.assertGreater(proved, 25)

    def test_what_is_accepted_is_the_best_of_all(self):
        draw = random.Random(arguments.seed + 2)
        for i in range(15):
            with self.subTest(seed=arguments.seed, i=i):
                rows = [row.rsplit(",", 1)[0] + "," for row in anything(draw, draw.randint(4, 7))]
                buffers, _, peak, _ = self.accept(rows)
                self.assertEqual(peak, smallest_peak(buffers))

    def refuse(self, buffers, lines):
        with self.assertRaises(Fault, msg="\n".join(lines)):
            check_certificate.check_certificate(buffers, lines)

    def deep(self):
        """An instance whose certificate has lemmas."""
        draw = random.Random(arguments.seed + 3)
        while True:
            planned = self.plan(replacing(draw, 18, 14, 7, 0))
            if planned and len(planned[1]) > 12:
                return draw, *planned

    def test_nothing_false_is_accepted(self):
        """A peak that is too high, whatever else is changed: each is false, so all must be refused."""
        draw, buffers, lines, _ = self.deep()
        peak = int(lines[1].split()[1])
        for i in range(200):
            forged = [*lines]
            forged[1] = f"peak {peak + draw.randint(1, 3)}"
            for _ in range(draw.randint(0, 4)):
                k = draw.randrange(3, len(forged))
                numbers = [*re.finditer(r"\d+", forged[k])]
                change = draw.randrange(5)
                if change == 0 and k < len(forged) - 1:
                    del forged[k]
                elif change == 1:
                    forged.insert(k, forged[draw.randrange(3, len(forged))])
                elif change == 2 and len(forged[k].split()) > 2:
                    words = forged[k].split()
                    del words[draw.randrange(1, len(words))]
                    forged[k] = " ".join(words)
                elif numbers:
                    which = draw.choice(numbers)
                    value = max(0, int(which[0]) + draw.choice([-2, -1, 1, 2, 100, -1000]))
                    forged[k] = forged[k][:which.start()] + str(value) + forged[k][which.end():]
            self.refuse(buffers, forged)

    def test_problems_that_have_a_better_plan_are_told(self):
        """A certificate of another problem, in which a buffer is smaller or gone so that less is enough."""
        draw, buffers, lines, _ = self.deep()
        peak = int(lines[1].split()[1])
        tried = 0
        for i in range(len(buffers)):
            others = [*buffers]
            b = buffers[i]
            others[i] = check_certificate.Buffer(b.name, b.live, max(0, b.size - 2), b.alignment, b.offset)
            rows = [f"{o.name},{o.live[0][0]},{o.live[-1][1]},{o.size},,," for o in others]
            planned = self.plan(rows)
            if planned and int(planned[1][1].split()[1]) < peak:
                self.refuse(others, lines)
                tried += 1
        self.assertGreater(tried, 0)

    def test_no_branch_can_be_left_out(self):
        """A lemma without one of its branches, one that needs a later lemma or itself, and what is cut off."""
        _, buffers, lines, _ = self.deep()
        for k in range(3, len(lines)):
            with self.subTest(line=lines[k]):
                if lines[k].startswith("  "):
                    self.refuse(buffers, lines[:k] + lines[k + 1:])
                self.refuse(buffers, lines[:k])
                later = re.sub(r"N\d+$", f"N{len(lines)}", lines[k])
                if later != lines[k]:
                    self.refuse(buffers, lines[:k] + [later] + lines[k + 1:])
        itself = next(k for k, line in enumerate(lines) if line.startswith("lemma 0 "))
        self.refuse(buffers, lines[:itself + 1] + [re.sub(r":.*", ": N0", lines[itself + 1])] + lines[itself + 2:])

    def test_each_step_is_looked_at(self):
        """Small forgeries, each of which names a rule that does not apply."""
        rows = ["a,0,2,4,,,", "b,1,3,4,,,", "c,2,4,4,2,,"]
        buffers, lines, peak, lemmas = self.accept(rows)
        self.assertEqual((peak, lemmas, lines[3]), (8, 0, "root: L1"))
        for root in ["L0", "L3", "L99", "", "H0", "H9", "N0", "D0,0", "D0,1", "R0,1,4", "R0,1,4 H0", "R2,2,4 L2", "P0,0 L1", "P1,1 L1",
                     "P0,1 P1,1 L2", "X", "L", "L-1", "L1,1", "L1 L1", "H٣"]:
            with self.subTest(root):
                forged = lines[:1] + ["peak 9"] + lines[2:3] + [f"root: {root}"]
                self.refuse(buffers, forged)
        self.refuse(buffers, ["plimsoll certificate 2"] + lines[1:])
        self.refuse(buffers, lines[:2] + ["buffers 4"] + lines[3:])
        self.refuse(buffers, lines + [lines[3]])
        # Lemmas of states that do not exist or are not looked at in full.
        for lemma in ["lemma 0 at 1: 0 1", "lemma 0 at 1: 0:9 1:9\n  put 0: H1\n  put 1: H0", "lemma 0 at 1: 0 0 1", "lemma 0 at 1: 7",
                      "lemma 1 at 1: 0 1", "lemma 0 at 9: 0 1", "lemma 0 at 1: 0 1\n  put 0: N0\n  put 1: N0\n  none: N0",
                      "lemma 0 at 2: 1:1 2:1\n  put 1: H2\n  put 2: H1\n  none: L2", "lemma 0 at 1: 0 1\n  put 0: H1\n  put 0: H1\n  put 1: H0"]:
            with self.subTest(lemma):
                self.refuse(buffers, lines[:1] + ["peak 9"] + lines[2:3] + lemma.split("\n") + ["root: N0"])

    def test_solutions_are_checked(self):
        buffers, _, peak, _ = self.accept(["a,0,2,4,,,", "b,1,3,4,,,", "c,2,4,4,2,,"])
        _, _, solution = self.plan(["a,0,2,4,,,", "b,1,3,4,,,", "c,2,4,4,2,,"])
        for i, offset in itertools.product(range(3), [None, 1, 8, 3]):
            b = solution[i]
            wrong = [*solution]
            wrong[i] = check_certificate.Buffer(b.name, b.live, b.size, b.alignment, offset)
            with self.assertRaises(Fault):
                check_certificate.check_solution(buffers, wrong, peak)
        with self.assertRaises(Fault):
            check_certificate.check_solution(buffers, solution[:2], peak)

    def test_none_is_written_where_nothing_is_proved(self):
        problem, certificate = self.folder / "none.csv", self.folder / "none"
        problem.write_text("id,lower,upper,size\na,0,2,4\nb,1,3,4\n")
        for options, message in [(["--pool", "x", "--pool", "y"], "a certificate is of one pool"), (["--pool", "x=:64"], "without an alignment")]:
            run = subprocess.run([arguments.plimsoll, "plan", problem, "--certificate", certificate, *options], capture_output=True, text=True)
            self.assertEqual(run.returncode, 1)
            self.assertIn(message, run.stderr)


if __name__ == "__main__":
    print(f"seed {arguments.seed}", file=sys.stderr)
    unittest.main(argv=sys.argv[:1])
