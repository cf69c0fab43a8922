#!/usr/bin/env python3
"""Tests of the generator and the shrinker, without the engine."""
import pathlib
import sys
import unittest

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE), str(HERE.parent)]

import reference  # noqa: E402
from programs import check, shrink  # noqa: E402
from programs.generate import generate  # noqa: E402
from programs.nodes import ArgExtreme, Reduce  # noqa: E402
from programs.values import FLOATS, INTEGERS  # noqa: E402
from reference import values  # noqa: E402

ELEMENTS = [*INTEGERS, *FLOATS]


class Stub:
    """An engine that is wrong, or dies, where a program has an operation."""

    def __init__(self, word, answer):
        self.word, self.answer = word, answer

    def call(self, text, arrays, configuration):
        (module,) = reference.parse_modules([text])
        if self.word in text and self.answer == "crash":
            return None, "crash, signal 11: "
        machine = reference.Machine(module, exact=True)
        kinds = machine.function_type("main")
        args = []
        for array, kind in zip(arrays, kinds.inputs):
            array = check.from_engine(array, name_of(kind.element))
            args.append(np.array(machine.numerics.constant(array, kind.element)))
        results = [check.to_engine(np.asarray(value), name_of(kind.element))
                   for value, kind in zip(machine.call("main", args), kinds.results)]
        if self.word in text:
            results = [one if one.dtype.kind == "b" else one + one.dtype.type(1) for one in results]
        return results, None


def name_of(kind):
    return values.type_name(kind)


class GeneratorTest(unittest.TestCase):
    def test_the_same_seed_gives_the_same_program(self):
        for seed in range(20):
            self.assertEqual(generate(seed, ELEMENTS).text(), generate(seed, ELEMENTS).text())

    def test_every_program_is_valid_and_has_a_value(self):
        programs = [generate(seed, ELEMENTS) for seed in range(100)]
        modules = reference.parse_modules([program.text() for program in programs])
        for seed, (program, module) in enumerate(zip(programs, modules)):
            results = check.expected(program, module, check.data(program, seed))
            for value, result in zip(program.results, results):
                self.assertEqual(value.shape, result.shape, f"seed {seed}")
                if value.element in FLOATS and result.size and np.isfinite(result).all():
                    self.assertLessEqual(np.abs(np.asarray(result, np.float64)).max(),
                                         value.bound * 1.01, f"seed {seed}")

    def test_what_must_be_exact_is_exact_in_both_modes(self):
        """Small integers: each operation rounded, or none, must be the same."""
        for seed in range(60):
            program = generate(seed, ELEMENTS)
            if not program.exact or not all(value.whole for value in program.results):
                continue
            (module,) = reference.parse_modules([program.text()])
            arrays = check.data(program, seed)
            exact = check.expected(program, module, arrays)
            program.exact = False
            for a, b in zip(exact, check.expected(program, module, arrays)):
                self.assertTrue(np.array_equal(np.asarray(a, np.float64), np.asarray(b, np.float64),
                                               equal_nan=True), f"seed {seed}")


class ShrinkTest(unittest.TestCase):
    def test_a_crash_is_narrowed_to_its_operation(self):
        seed = next(seed for seed in range(1000) if self.has(seed, ArgExtreme, 5))
        small, why = shrink.shrink(lambda: generate(seed, ELEMENTS), seed, Stub("linalg.index", "crash"),
                                   check.ORACLE, 20)
        self.assertIn("crash", why)
        self.assertLessEqual(len(small.all_nodes()), 2)
        self.assertEqual(len(small.results), 1)

    def test_a_wrong_value_is_narrowed_to_its_operation(self):
        seed = next(seed for seed in range(1000) if self.has(seed, Reduce, 4) and
                    generate(seed, ELEMENTS).exact)
        word = '"reduction"'
        program = generate(seed, ELEMENTS)
        if word not in program.text():
            word = "linalg.reduce"
        small, why = shrink.shrink(lambda: generate(seed, ELEMENTS), seed, Stub(word, "wrong"),
                                   check.ORACLE, 20)
        self.assertIn("wanted", why)
        self.assertLessEqual(len(small.all_nodes()), 3)

    @staticmethod
    def has(seed, kind, count):
        nodes = generate(seed, ELEMENTS).all_nodes()
        return len(nodes) >= count and any(isinstance(node, kind) for node in nodes)


if __name__ == "__main__":
    unittest.main()
