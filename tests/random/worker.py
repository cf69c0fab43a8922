"""Loads and calls modules for run.py, which reads the answers. Dies where the engine does."""
import os
import pickle
import sys

import numpy as np

import plimsoll


def main():
    # Nothing but answers on the pipe.
    source, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    engines = {}
    while True:
        try:
            text, arrays, options = pickle.load(source)
        except EOFError:
            return
        key = (options["threads"], options["checked"])
        if key not in engines:
            engines[key] = plimsoll.Engine(threads=options["threads"], checked=options["checked"])
        policy = None if options["policy"] == "auto" else options["policy"]
        try:
            module = engines[key].loads(text, "random.mlir", policy=policy, oracle=options["oracle"],
                                        numerics="strict" if options["strict"] else None,
                                        specialization="on_request" if options["specialize"] else None)
            function = module.main
            if options["specialize"]:
                function.specialize(*arrays)
            before = [array.copy() for array in arrays]
            # Twice: a second call meets what the first one left.
            first = results(function(*arrays))
            second = results(function(*arrays))
            answer = first, None
            if any(a.tobytes() != b.tobytes() for a, b in zip(arrays, before)):
                answer = None, "an argument has changed"
            elif not all(a.tobytes() == b.tobytes() for a, b in zip(first, second)):
                answer = None, "the second call gives other results"
        except plimsoll.Error as error:
            answer = None, f"{type(error).__name__}: {error}"
        pickle.dump(answer, answers)
        answers.flush()


def results(value):
    return [np.array(one) for one in (value if isinstance(value, tuple) else (value,))]


if __name__ == "__main__":
    main()
