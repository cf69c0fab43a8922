"""ONNX files beside ONNX Runtime: the models of examples/models at their full size, and trained ones (trained.py).

As models.py, but both sides read the file. All have open extents, the batch at least: ours is called with code for the
extents of the calls, or with `--open` with that for any. "load" is until a model can be called, "for" what the code for the
extents takes then, "again" a load with the first one's code in a cache. With `--memory` the most that a process takes that
loads and calls the model, beyond what it had before.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import numpy as np

import models
import onnx_runtime
import plimsoll as pl
import plimsoll.onnx
import trained

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "examples" / "models"))
import build

# Extents of the calls.
ROWS = {"resnet-18": {}, "resnet-50": {}, "mobilenet-v2": {}, "efficientnet-lite": {}, "unet": {}, "vit": {},
        "bert, 1 x 128": {}, "bert, 8 x 16": {"batch": 8, "length": 16},
        "gpt2, prompt of 128": {}, "gpt2, token after 255": {"length": 1, "past": 255},
        "gpt2, 4 prompts of 32": {"batch": 4, "length": 32},
        "llama, prompt of 128": {}, "llama, token after 255": {"length": 1, "past": 255},
        "lstm, 1 x 64": {"length": 64}, "dlrm, batch 64": {"batch": 64}}


def memory_of(side, path, library):
    """MB that a process takes to load a model and to call it once."""
    run = subprocess.run([sys.executable, "-B", __file__, library, "--side", side, "--file", str(path)],
                         capture_output=True, text=True, check=True)
    return float(run.stdout)


def greatest():
    """MB; what getrusage() tells begins with the most that the parent had."""
    status = pathlib.Path("/proc/self/status").read_text(encoding="ascii")
    return int(re.search(r"VmHWM:\s*(\d+)", status)[1]) / 1024


def one_side(given):
    inputs = dict(np.load(given.file.with_suffix(".npz")))
    if given.side == "ours":
        engine, before = pl.Engine(threads=1), greatest()
        pl.load(given.file, engine=engine).main(*inputs.values())
    else:
        library, before = onnx_runtime.Library(given.peer), greatest()
        outputs = dict(np.load(given.file.with_suffix(".out.npz")))
        onnx_runtime.Session(library, given.file, 1).bind(inputs, outputs)()
    print(greatest() - before)


def built(given, row, folder):
    """A file, what it is called with, the names of its results, and the bytes of its weights."""
    name, _, _ = row.partition(",")
    graph = build.build(name, given.seed)
    inputs = build.arguments(graph, given.seed, **ROWS[row])
    path = folder / f"{name}.onnx"
    with open(path, "wb") as file:
        for part in graph.parts():
            file.write(part)
    return path, inputs, list(graph.outputs), sum(each.nbytes for each in graph.weights.values())


def fetched(given, row, folder):
    path = trained.fetch(row, pathlib.Path(given.peer).parent.parent / "trained")
    link = folder / "model.onnx"
    link.symlink_to(path.resolve())
    outputs = [each.name for each in plimsoll.onnx.load(path).get_outputs()]
    return link, trained.inputs(row, given.seed), outputs, path.stat().st_size


def measure(given, library, row, folder):
    path, inputs, outputs, weights = (built if row in ROWS else fetched)(given, row, folder)
    values, results = list(inputs.values()), []
    for threads in given.threads:
        engine = pl.Engine(threads=threads, cache=str(folder / f"cache{threads}"), specialization="on_request")
        loads = []
        for _ in range(2):
            begin = time.perf_counter()
            module = pl.load(path, engine=engine)
            loads.append(time.perf_counter() - begin)
        begin = time.perf_counter()
        if not given.open:
            module.main.specialize(*values)
        special = time.perf_counter() - begin
        got = module.main(*values)
        got = got if isinstance(got, tuple) else (got,)
        begin = time.perf_counter()
        session = onnx_runtime.Session(library, path, threads)
        peer_load = time.perf_counter() - begin
        expected = {each: np.empty(array.shape, array.dtype) for each, array in zip(outputs, got)}
        out = tuple(np.empty_like(array) for array in got)
        target = out if len(out) > 1 else out[0]
        main = module["main"]
        ours, peers = lambda: main(*values, out=target), session.bind(inputs, expected)
        ours(), peers()
        models.compare(outputs, out, expected.values(), models.TOLERANCE)
        times = models.race((ours, peers), given.rounds)
        result = {**models.figures(times), "ours_load": loads[0],
                  "ours_load_again": loads[1], "ours_special": special, "peer_load": peer_load, "weights": weights}
        if given.memory:
            np.savez(path.with_suffix(".npz"), **inputs)
            np.savez(path.with_suffix(".out.npz"), **expected)
            for side in ("ours", "peer"):
                result[f"{side}_memory"] = memory_of(side, path, given.peer)
        results.append((threads, result))
        print(f"{row + ', ' + str(threads) + ' thread' + 's'[:threads != 1]:36} {result['ours_median'] * 1e3:9.3f} "
              f"{result['peer_median'] * 1e3:9.3f} {result['ratio']:6.2f} {result['spread']:6.0%} {loads[0] * 1e3:7.0f} "
              f"{special * 1e3:7.0f} {loads[1] * 1e3:7.0f} {peer_load * 1e3:7.0f}"
              + (f" {result['ours_memory']:7.0f} {result['peer_memory']:7.0f} {weights / 1e6:7.0f}" if given.memory else ""),
              flush=True)
        del module, session, main, engine
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("peer", help="libonnxruntime.so.1")
    parser.add_argument("--filter", "--benchmark_filter", default="", help="a regular expression for names of rows")
    parser.add_argument("--threads", type=int, nargs="*", default=sorted({1, min(2, os.cpu_count())}))
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(3), "little"))
    parser.add_argument("--json", help="a file for the results")
    parser.add_argument("--memory", action="store_true", help="also measure the memory of a process")
    parser.add_argument("--open", action="store_true", help="call code for any extents")
    parser.add_argument("--side", choices=("ours", "peer"), help=argparse.SUPPRESS)
    parser.add_argument("--file", type=pathlib.Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.side:
        return one_side(given)
    library, rows = onnx_runtime.Library(given.peer), {}
    print(f"ONNX Runtime {library.version}, plimsoll {pl.__version__}, seed {given.seed}; milliseconds, MB")
    print(f"{'':36} {'ours':>9} {'peer':>9} {'ratio':>6} spread {'load':>7} {'for':>7} {'again':>7} {'peer':>7}"
          + (f" {'ours':>7} {'peer':>7} {'weights':>7}" if given.memory else ""))
    for row in (*ROWS, *trained.ROWS):
        if re.search(given.filter, row):
            with tempfile.TemporaryDirectory() as folder:
                for threads, result in measure(given, library, row, pathlib.Path(folder)):
                    rows[f"{row}, {threads} thread{'s'[:threads != 1]}"] = result
    if given.json:
        with open(given.json, "w", encoding="utf-8") as file:
            json.dump({"seed": given.seed, "unit": "seconds", "peer": library.version, "benchmarks": rows}, file,
                      indent=1)


if __name__ == "__main__":
    main()
