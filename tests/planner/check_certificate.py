#!/usr/bin/env python3
"""Checks that a memory plan is the best one, with nothing of the planner.

    check_certificate.py PROBLEM.csv CERTIFICATE [--solution SOLUTION.csv]

PROBLEM.csv is what `plimsoll plan` was given, CERTIFICATE what it wrote with --certificate, SOLUTION.csv what it wrote
with --output. Prints what has been shown, or says on standard error what is wrong and exits with 1.

docs/reference/certificate.md has the format and why each step is sound. This file trusts neither the planner nor the
certificate: the problem is read anew, each step is carried out again, and what a step needs is looked up in the problem.
Only Python's standard library is used.
"""

import argparse
import csv
import math
import re
import sys


class Fault(Exception):
    """What is wrong with a problem, a solution or a certificate."""


def number(text):
    if not re.fullmatch(r"\d{1,19}", text, re.ASCII):
        raise Fault(f"'{text[:40]}' is no number")
    return int(text)


# --- Problems -----------------------------------------------------------------------------------------------------


class Buffer:
    def __init__(self, name, live, size, alignment, offset):
        self.name, self.live, self.size, self.alignment, self.offset = name, live, size, alignment, offset

    def lives_with(self, other):
        return any(a < d and c < b for a, b in self.live for c, d in other.live)

    def lives_at(self, time):
        return any(a <= time < b for a, b in self.live)

    def align(self, offset):
        return -(-offset // self.alignment) * self.alignment


def read_problem(path):
    """The buffers, in the order of the rows."""
    names = {"id": "id", "buffer": "id", "buffer_id": "id", "lower": "lower", "begin": "lower", "start": "lower",
             "upper": "upper", "end": "end", "size": "size", "alignment": "alignment", "gaps": "gaps", "offset": "offset"}
    with open(path, newline="", encoding="utf-8") as file:
        rows = [row for row in csv.reader(file, strict=True) if any(cell.strip() for cell in row)]
    if not rows:
        raise Fault(f"{path}: there is no header")
    header = [cell.strip() for cell in rows[0]]
    for column in header:
        if column not in names:
            raise Fault(f"{path}: column '{column}' is not one of those that are understood here")
    header = [names[column] for column in header]
    if len(set(header)) < len(header) or not {"id", "lower", "size"} <= set(header) or ("upper" in header) == ("end" in header):
        raise Fault(f"{path}: these columns do not make a problem")
    buffers = []
    for row in rows[1:]:
        if len(row) != len(header):
            raise Fault(f"{path}: a row has {len(row)} cells, not {len(header)}")
        cell = {column: text.strip() for column, text in zip(header, row)}
        last = 1 if "end" in cell else 0  # end is the last time at which it is live
        lower = number(cell["lower"])
        upper = number(cell["end"]) + 1 if last else number(cell["upper"])
        live = []
        for gap in cell.get("gaps", "").split():
            first, _, after = gap.partition("-")
            first, after = number(first), number(after) + last
            if not lower <= first <= after <= upper:
                raise Fault(f"{path}: gap '{gap}' is not within the lifetime")
            live.append((lower, first))
            lower = after
        live.append((lower, upper))
        alignment = number(cell["alignment"]) if cell.get("alignment") else 1
        if alignment < 1:
            raise Fault(f"{path}: alignment 0")
        buffers.append(Buffer(cell["id"], [(a, b) for a, b in live if a < b], number(cell["size"]), alignment,
                              number(cell["offset"]) if cell.get("offset") else None))
    return buffers


def check_solution(buffers, solution, peak):
    """The solution has the buffers of the problem, apart from each other and not above the peak."""
    if [(b.name, b.live, b.size, b.alignment) for b in buffers] != [(b.name, b.live, b.size, b.alignment) for b in solution]:
        raise Fault("the solution is of another problem")
    for before, after in zip(buffers, solution):
        if after.offset is None or after.offset % after.alignment or before.offset not in (None, after.offset):
            raise Fault(f"buffer '{after.name}' has no offset that it may have")
        if after.size and after.offset + after.size > peak:
            raise Fault(f"buffer '{after.name}' ends above {peak}")
    solution = [b for b in solution if b.size]
    for i, a in enumerate(solution):
        for b in solution[:i]:
            if a.lives_with(b) and a.offset < b.offset + b.size and b.offset < a.offset + a.size:
                raise Fault(f"buffers '{a.name}' and '{b.name}' overlap")


# --- Certificates -------------------------------------------------------------------------------------------------


class Refutation:
    """States of buffers (index: least offset) that are shown to have no plan of at most `capacity` bytes.

    A state asks: can its buffers be placed at their least offsets or above, apart from each other, within the capacity?
    Least offsets are multiples of the alignments, but for those of buffers that cannot be where they have to be.
    """

    def __init__(self, buffers, capacity):
        self.buffers = buffers
        self.capacity = capacity
        self.present = [i for i, b in enumerate(buffers) if b.size]
        self.rivals = {i: [j for j in self.present if j != i and buffers[i].lives_with(buffers[j])] for i in self.present}
        self.unit = 0  # all offsets of what lives are multiples of it
        for i in self.present:
            if buffers[i].live:
                self.unit = math.gcd(self.unit, buffers[i].alignment, buffers[i].offset or 0)
        self.unit = self.unit or 1
        self.at = {}  # time: those present that live then
        self.lemmas = []

    def start(self):
        return {i: self.buffers[i].offset or 0 for i in self.present}

    def top(self, state, i):
        return state[i] + self.buffers[i].size

    def living(self, state, time):
        if time not in self.at:
            self.at[time] = [i for i in self.present if self.buffers[i].lives_at(time)]
        return [i for i in self.at[time] if i in state]

    def lacks_room(self, indices, floor):
        """One above the other from the floor on, the highest of them ends above the capacity."""
        if not indices:
            return False
        sizes = [self.buffers[i].size for i in indices]
        rounded = [-(-size // self.unit) * self.unit for size in sizes]
        return floor + sum(rounded) - max(r - s for r, s in zip(rounded, sizes)) > self.capacity

    def is_ready(self, state, i):
        """Nothing that lives with it can be below it, where it is at its least offset."""
        return all(self.top(state, j) > state[i] for j in self.rivals[i] if j in state)

    def support(self, state, i):
        """The least offset at which it rests on another one; None if it cannot."""
        if self.buffers[i].offset is not None:
            return None
        tops = [self.top(state, j) for j in self.rivals[i] if j in state]
        return self.buffers[i].align(min(tops)) if tops else None

    def put(self, state, i):
        """It is at its least offset: the others that live with it are above."""
        top = self.top(state, i)
        del state[i]
        for j in self.rivals[i]:
            if j in state and state[j] < top:
                state[j] = top if self.buffers[j].offset is not None else self.buffers[j].align(top)

    def floor(self, state, time):
        """Those at `time`, and those of them that are on the floor: all of these must be ready."""
        there = self.living(state, time)
        if not there:
            raise Fault(f"nothing is left at time {time}")
        lowest = min(state[i] for i in there)
        on_floor = [i for i in there if state[i] == lowest]
        for i in on_floor:
            if not self.is_ready(state, i):
                raise Fault(f"something could be below buffer {i}")
        return there, on_floor

    def leave(self, state, time):
        """The state where none of those on the floor stays there; None if that cannot be."""
        there, on_floor = self.floor(state, time)
        supports = {i: self.support(state, i) for i in on_floor}
        if None in supports.values():
            return None
        raised = {**state, **supports}
        return None if self.lacks_room(there, min(raised[i] for i in there)) else raised

    def index(self, state, text):
        i = number(text)
        if i not in state:
            raise Fault(f"buffer {i} is not in this state")
        return i

    def follow(self, state, steps):
        """Changes the state as the steps say. They must end with its refutation."""
        if not steps:
            raise Fault("a branch without steps")
        for step in steps[:-1]:
            rule, arguments = step[0], step[1:].split(",")
            if rule == "P" and len(arguments) == 2:
                i, time = self.index(state, arguments[0]), number(arguments[1])
                if self.floor(state, time)[1] != [i] or self.leave(state, time) is not None:
                    raise Fault(f"{step}: it need not be there")
                self.put(state, i)
            elif rule == "R" and len(arguments) == 3:
                i, time, to = self.index(state, arguments[0]), number(arguments[1]), number(arguments[2])
                self.must_rise(state, i, time)
                support = self.support(state, i)
                if support is None or to > support or to % self.buffers[i].alignment:
                    raise Fault(f"{step}: it might be below that, or cannot be there")
                state[i] = max(state[i], to)
            else:
                raise Fault(f"{step}: no such step")
        step = steps[-1]
        rule, arguments = step[0], step[1:].split(",")
        if rule == "H" and len(arguments) == 1:
            i = self.index(state, arguments[0])
            pin = self.buffers[i].offset
            if self.top(state, i) <= self.capacity and (pin is None or state[i] <= pin):
                raise Fault(f"{step}: it is not too high")
        elif rule == "L" and len(arguments) == 1:
            there = self.living(state, number(arguments[0]))
            if not self.lacks_room(there, min((state[i] for i in there), default=0)):
                raise Fault(f"{step}: there is room")
        elif rule == "N" and len(arguments) == 1:
            which = number(arguments[0])
            if which >= len(self.lemmas):
                raise Fault(f"{step}: no such lemma before")
            if any(i not in state or state[i] < low for i, low in self.lemmas[which].items()):
                raise Fault(f"{step}: the lemma says nothing of this state")
        elif rule == "D" and len(arguments) == 2:
            i, time = self.index(state, arguments[0]), number(arguments[1])
            self.must_rise(state, i, time)
            if self.support(state, i) is not None:
                raise Fault(f"{step}: it could rest on something")
        else:
            raise Fault(f"{step}: no such end")

    def must_rise(self, state, i, time):
        there = self.living(state, time)
        if i not in there or not self.is_ready(state, i) or not self.lacks_room(there, state[i]):
            raise Fault(f"buffer {i} need not rise")

    def stand_alike(self, state, i, j):
        """With their names exchanged, all is as before."""
        a, b = self.buffers[i], self.buffers[j]
        rivals = [{k for k in self.rivals[x] if k in state} - {i, j} for x in (i, j)]
        return (a.size, a.alignment, a.offset, state[i]) == (b.size, b.alignment, b.offset, state[j]) and rivals[0] == rivals[1]

    def add_lemma(self, state, time, branches):
        """`branches`: by buffer on the floor, and of None, where none of them stays; each with its steps."""
        there, on_floor = self.floor(state, time)
        for i in on_floor:
            if i not in branches and not any(j in branches and self.stand_alike(state, i, j) for j in on_floor):
                raise Fault(f"there is no branch for buffer {i}")
        raised = self.leave(state, time)
        if raised is not None and None not in branches:
            raise Fault("there is no branch for none of the buffers")
        for i, steps in branches.items():
            if i is None:
                if raised is not None:
                    self.follow(raised, steps)
                continue
            if i not in on_floor:
                raise Fault(f"buffer {i} is not on the floor")
            after = dict(state)
            self.put(after, i)
            self.follow(after, steps)
        self.lemmas.append(state)


def check_certificate(buffers, lines):
    """The peak that no plan is below, according to the certificate, if that is right."""
    lines = [line.split() for line in lines]
    if len(lines) < 4 or lines[0] != ["plimsoll", "certificate", "1"] or lines[1][:1] != ["peak"] or len(lines[1]) != 2:
        raise Fault("this is no certificate that can be checked here")
    peak = number(lines[1][1])
    if lines[2] != ["buffers", str(len(buffers))]:
        raise Fault("the certificate is of another problem")
    refutation = Refutation(buffers, peak - 1)
    at = 3
    while at < len(lines) and lines[at][:1] == ["lemma"]:
        words = lines[at]
        try:
            if len(words) < 5 or words[1] != str(len(refutation.lemmas)) or words[2] != "at" or words[3][-1] != ":":
                raise Fault("no such lemma")
            time, state = number(words[3][:-1]), {}
            for word in words[4:]:
                i, _, low = word.partition(":")
                i = number(i)
                if i in state or i >= len(buffers) or not buffers[i].size:
                    raise Fault(f"buffer {i} cannot be in this state")
                pin = buffers[i].offset
                state[i] = number(low) if low else 0
                if state[i] % buffers[i].alignment:
                    raise Fault(f"buffer {i} cannot be at its least offset")
                if pin is not None:
                    state[i] = max(state[i], pin)
            at += 1
            branches = {}
            while at < len(lines) and lines[at][:1] in (["put"], ["none:"]):
                words = lines[at]
                key = None
                if words[0] == "put":
                    if len(words) < 2 or words[1][-1] != ":":
                        raise Fault("a branch of no buffer")
                    key = number(words[1][:-1])
                if key in branches:
                    raise Fault("a branch is there twice")
                branches[key] = words[1 if key is None else 2:]
                at += 1
            refutation.add_lemma(state, time, branches)
        except Fault as fault:
            raise Fault(f"lemma {len(refutation.lemmas)}: {fault}") from None
    if at != len(lines) - 1 or lines[at][:1] != ["root:"]:
        raise Fault(f"line {at + 1} is not understood")
    # Nothing is below 0.
    if peak > 0:
        try:
            refutation.follow(refutation.start(), lines[at][1:])
        except Fault as fault:
            raise Fault(f"root: {fault}") from None
    return peak, len(refutation.lemmas)


def main():
    parser = argparse.ArgumentParser(description="Checks that a memory plan is the best one, with nothing of the planner.")
    parser.add_argument("problem", help="the problem, in CSV")
    parser.add_argument("certificate", help="what `plimsoll plan --certificate` wrote")
    parser.add_argument("--solution", help="what `plimsoll plan --output` wrote")
    arguments = parser.parse_args()
    try:
        buffers = read_problem(arguments.problem)
        with open(arguments.certificate, encoding="ascii") as file:
            peak, lemmas = check_certificate(buffers, file.read().splitlines())
        if arguments.solution:
            check_solution(buffers, read_problem(arguments.solution), peak)
    except (Fault, OSError, UnicodeDecodeError, csv.Error) as fault:
        sys.exit(f"error: {fault}")
    print(f"no plan has a peak below {peak} ({lemmas} lemmas)" + (f", and the solution has {peak}" if arguments.solution else ""))


if __name__ == "__main__":
    main()
