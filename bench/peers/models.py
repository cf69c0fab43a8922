"""Whole models beside ONNX Runtime: the same graph, the same weights, the same arrays.

Results are compared before any clock is read. Both sides of a row run in turns, in bursts of some
milliseconds. "ratio" is the peer's time by ours, round by round: its median, and half the interquartile
range; above 1 we are faster. Results go to arrays that both sides are given. Weights are constants for
both, which ONNX Runtime packs when it opens a model. "load" is the time until a model can be called: ours
with nothing in any cache. A machine that does other work makes the figures wrong: look at the spread.
"""

import argparse
import contextlib
import json
import math
import os
import pathlib
import re
import tempfile
import threading
import time

import numpy as np

import onnx_runtime
import plimsoll as pl
from quantized import Graph


def mlp(batch):
    def build(graph):
        x = graph.relu(graph.linear(graph.input(batch, 784), 512))
        graph.output(graph.linear(graph.relu(graph.linear(x, 512)), 10))
    return build


def heads(graph, x, count):
    """A row of `count` heads beside each other as matrices."""
    rows, width = x.shape
    return graph.transpose(graph.reshape(x, rows, count, width // count), 1, 0, 2)


def attend(graph, q, k, v):
    scores = graph.scale(graph.product(q, k, transposed=True), q.shape[2] ** -0.5)
    return graph.product(graph.softmax(scores), v)


def attention(graph):
    graph.output(attend(graph, *(graph.input(12, 1024, 64) for _ in range(3))))


def feed_forward(graph, x):
    width = x.shape[1]
    return graph.add(x, graph.linear(graph.gelu(graph.linear(graph.normalize(x), 4 * width)), width))


def encoder(graph):
    x = graph.input(128, 768)
    normal = graph.normalize(x)
    q, k, v = (heads(graph, graph.linear(normal, 768), 12) for _ in range(3))
    mixed = graph.reshape(graph.transpose(attend(graph, q, k, v), 1, 0, 2), 128, 768)
    graph.output(feed_forward(graph, graph.add(x, graph.linear(mixed, 768))))


def decoder(graph):
    """One token, and what is kept of 511 before it."""
    x, keys, values = graph.input(1, 768), graph.input(12, 511, 64), graph.input(12, 511, 64)
    normal = graph.normalize(x)
    q, k, v = (graph.reshape(graph.linear(normal, 768), 12, 1, 64) for _ in range(3))
    keys, values = graph.concat(keys, k, 1), graph.concat(values, v, 1)
    mixed = graph.reshape(attend(graph, q, keys, values), 1, 768)
    graph.output(feed_forward(graph, graph.add(x, graph.linear(mixed, 768))))
    graph.output(keys)
    graph.output(values)


def lstm(graph):
    for value in graph.lstm(graph.input(1, 256), graph.input(1, 512), graph.input(1, 512)):
        graph.output(value)


# Filters and strides of blocks.
MOBILENET = ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *[(512, 1)] * 5, (1024, 2), (1024, 1))
RESNET = ((64, 1), (64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1))


def resnet(graph):
    x = graph.relu(graph.convolution(graph.input(1, 3, 224, 224), 64, 7, 2))
    x = graph.max_pool(x, 3, 2)
    for filters, stride in RESNET:
        y = graph.relu(graph.convolution(x, filters, 3, stride))
        y = graph.convolution(y, filters, 3)
        if x.shape != y.shape:
            x = graph.convolution(x, filters, 1, stride)
        x = graph.relu(graph.add(y, x))
    graph.output(graph.linear(graph.average(x), 1000))


def mobilenet(graph):
    x = graph.relu6(graph.convolution(graph.input(1, 3, 224, 224), 32, 3, 2))
    for filters, stride in MOBILENET:
        x = graph.relu6(graph.convolution(x, x.shape[1], 3, stride, depthwise=True))
        x = graph.relu6(graph.convolution(x, filters, 1))
    graph.output(graph.linear(graph.average(x), 1000))


def mlp_of_bytes(batch):
    def build(graph):
        x = graph.quantize(graph.input(batch, 784))
        x = graph.quantized_linear(graph.quantized_linear(x, 512), 512)
        graph.output(graph.dequantize(graph.quantized_linear(x, 10, is_activated=False)))
    return build


def resnet_of_bytes(graph):
    x = graph.quantized_convolution(graph.quantize(graph.input(1, 3, 224, 224)), 64, 7, 2)
    x = graph.quantized_max_pool(x, 3, 2)
    for filters, stride in RESNET:
        y = graph.quantized_convolution(x, filters, 3, stride)
        y = graph.quantized_convolution(y, filters, 3, is_activated=False)
        if x.shape != y.shape:
            x = graph.quantized_convolution(x, filters, 1, stride, is_activated=False)
        x = graph.quantized_add(y, x)
    graph.output(graph.linear(graph.average(graph.dequantize(x)), 1000))


def mobilenet_of_bytes(graph):
    x = graph.quantized_convolution(graph.quantize(graph.input(1, 3, 224, 224)), 32, 3, 2)
    for filters, stride in MOBILENET:
        x = graph.quantized_convolution(x, x.shape[1], 3, stride, depthwise=True)
        x = graph.quantized_convolution(x, filters, 1)
    graph.output(graph.linear(graph.average(graph.dequantize(x)), 1000))


MODELS = {"mlp, batch 1": mlp(1), "mlp, batch 64": mlp(64), "attention, 12 x 1024 x 64": attention,
          "encoder, 128 x 768": encoder, "decoder step, 512 x 768": decoder, "lstm step, 512": lstm,
          "resnet-18": resnet, "mobilenet": mobilenet, "mlp of bytes, batch 1": mlp_of_bytes(1),
          "mlp of bytes, batch 64": mlp_of_bytes(64), "resnet-18 of bytes": resnet_of_bytes,
          "mobilenet of bytes": mobilenet_of_bytes}
# What differs by one step of a byte here differs further on: of the greatest element.
TOLERANCE, TOLERANCE_OF_BYTES = 2e-4, 5e-2


def burst(call, count):
    begin = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - begin) / count


@contextlib.contextmanager
def threads_apart():
    """This thread has a processor of its own, all others of the process have the rest: kernels put threads of short
    tasks on one processor and leave them there, those of one side and not those of the other."""
    processors = os.sched_getaffinity(0)
    if len(processors) < 2:
        yield
        return
    first = min(processors)
    for thread in map(int, os.listdir("/proc/self/task")):
        os.sched_setaffinity(thread, {first} if thread == threading.get_native_id() else processors - {first})
    yield
    os.sched_setaffinity(0, processors)


def race(sides, rounds):
    """Seconds of a call of either side, round by round."""
    counts = [max(1, int(20e-3 / min(burst(call, 1) for _ in range(5)))) for call in sides]
    rows = []
    with threads_apart():
        for i in range(rounds):
            times = {}
            for side in (0, 1) if i % 2 == 0 else (1, 0):
                sides[side]()  # while threads of the other side may still look for work
                times[side] = burst(sides[side], counts[side])
            rows.append([times[0], times[1]])
    return np.array(rows)


def figures(times):
    """What is reported of race(): seconds of a call on either side, the peer's by ours, and half of what lies between the quartiles."""
    low, ratio, high = np.percentile(times[:, 1] / times[:, 0], (25, 50, 75))
    return {"ours_median": float(np.median(times[:, 0])), "peer_median": float(np.median(times[:, 1])),
            "ratio": float(ratio), "spread": float((high - low) / 2 / ratio)}


def compare(names, got, expected, tolerance):
    for name, a, b in zip(names, got, expected):
        error = np.abs(a - b).max() / max(1, np.abs(b).max())
        if not error < tolerance:
            raise SystemExit(f"{name} differs by {error} of its greatest element")


def measure(library, build, threads, arguments, folder, tolerance):
    graph = Graph(arguments.seed)
    build(graph)
    inputs = {name: graph.random.standard_normal(shape).astype(np.float32)
              for name, shape in graph.inputs.items()}
    path = folder / "model.onnx"
    path.write_bytes(graph.onnx())
    engine = pl.Engine(threads=threads)
    begin = time.perf_counter()
    module = pl.loads(graph.mlir(), engine=engine, parameters=graph.weights)
    load = time.perf_counter() - begin
    begin = time.perf_counter()
    session = onnx_runtime.Session(library, path, threads)
    peer_load = time.perf_counter() - begin
    results = [{name: np.empty(shape, np.float32) for name, shape in graph.outputs.items()}
               for _ in range(2)]
    out = tuple(results[0].values())
    out = out if len(out) > 1 else out[0]
    main, values = module["main"], list(inputs.values())
    ours, peers = lambda: main(*values, out=out), session.bind(inputs, results[1])
    ours(), peers()
    compare(graph.outputs, results[0].values(), results[1].values(), tolerance)
    times = race((ours, peers), arguments.rounds)
    return {**figures(times), "ours_load": load, "peer_load": peer_load}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("peer", help="libonnxruntime.so.1")
    parser.add_argument("--filter", "--benchmark_filter", default="", help="a regular expression for names of models")
    parser.add_argument("--threads", type=int, nargs="*", default=sorted({1, min(2, os.cpu_count())}))
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(3), "little"))
    parser.add_argument("--json", help="a file for the results")
    parser.add_argument("--write", type=pathlib.Path, help="a folder for the models as files; nothing is run")
    arguments = parser.parse_args()
    chosen = {name: build for name, build in MODELS.items() if re.search(arguments.filter, name)}
    if arguments.write:
        for name, build in chosen.items():
            graph = Graph(arguments.seed)
            build(graph)
            stem = arguments.write / re.sub(r"\W+", "-", name)
            stem.with_suffix(".mlir").write_text(graph.mlir())
            stem.with_suffix(".onnx").write_bytes(graph.onnx())
        return
    library, rows = onnx_runtime.Library(arguments.peer), {}
    print(f"ONNX Runtime {library.version}, plimsoll {pl.__version__}, seed {arguments.seed}; milliseconds")
    print(f"{'':38} {'ours':>9} {'peer':>9} {'ratio':>6} spread {'load':>7} {'peer':>7}")
    with tempfile.TemporaryDirectory() as folder:
        for name, build in chosen.items():
            for threads in arguments.threads:
                title = f"{name}, {threads} thread{'s'[:threads != 1]}"
                row = rows[title] = measure(library, build, threads, arguments, pathlib.Path(folder),
                                             TOLERANCE_OF_BYTES if "bytes" in name else TOLERANCE)
                print(f"{title:38} {row['ours_median'] * 1e3:9.3f} {row['peer_median'] * 1e3:9.3f} "
                      f"{row['ratio']:6.2f} {row['spread']:6.0%} {row['ours_load'] * 1e3:7.0f} "
                      f"{row['peer_load'] * 1e3:7.0f}", flush=True)
    for threads in arguments.threads:
        ratios = [row["ratio"] for title, row in rows.items() if f" {threads} thread" in title]
        if ratios:
            print(f"geometric mean, {threads} thread{'s'[:threads != 1]}: "
                  f"{math.exp(np.mean(np.log(ratios))):.2f}")
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump({"seed": arguments.seed, "unit": "seconds", "peer": library.version,
                       "benchmarks": rows}, file, indent=1)


if __name__ == "__main__":
    main()
