"""Builds a model of a known kind with random weights, as an ONNX file."""

import argparse
import pathlib

import numpy as np

import language
import vision
from onnx_graph import Graph

# The function that builds it, and what makes it small enough for a test.
MODELS = {
    "resnet-18": (vision.resnet18, {"size": 33, "width": 8, "blocks": (1, 1), "classes": 10}),
    "resnet-50": (vision.resnet50, {"size": 33, "width": 8, "blocks": (1, 1), "classes": 10}),
    "mobilenet-v2": (vision.mobilenet_v2, {"size": 33, "stages": ((1, 16, 1, 1, 3), (6, 24, 2, 2, 3)), "last": 40,
                                           "classes": 10}),
    "efficientnet-lite": (vision.efficientnet_lite, {"size": 33, "stages": ((1, 16, 1, 1, 3), (6, 24, 2, 2, 5)),
                                                     "last": 40, "classes": 10}),
    "unet": (vision.unet, {"size": 16, "width": 4, "depth": 2}),
    "bert": (language.bert, {"vocabulary": 50, "width": 24, "layers": 2, "count": 3, "positions": 20}),
    "vit": (language.vit, {"size": 32, "patch": 8, "width": 24, "layers": 2, "count": 3, "classes": 10}),
    "gpt2": (language.gpt2, {"vocabulary": 50, "width": 24, "layers": 2, "count": 3, "positions": 20}),
    "llama": (language.llama, {"vocabulary": 50, "width": 24, "inner": 40, "layers": 2, "count": 6, "groups": 2,
                               "positions": 20}),
    "lstm": (language.lstm, {"vocabulary": 50, "width": 12}),
    "dlrm": (language.dlrm, {"rows": (30, 7, 5), "width": 8}),
}

# Extents that models leave open, unless a call says something else.
EXTENTS = {"batch": 1, "length": 128, "past": 0}


def build(name, seed=1, small=False):
    function, little = MODELS[name]
    graph = Graph(seed)
    function(graph, **(little if small else {}))
    return graph


def arguments(graph, seed=1, **extents):
    """Random inputs by name. Integers are below 2 where they are masks or kinds of tokens, else below what the
    smallest table has that they choose from."""
    random, extents = np.random.default_rng(seed), {**EXTENTS, **extents}
    values = {}
    for name, (shape, element) in graph.inputs.items():
        shape = [extents[each] if isinstance(each, str) else each for each in shape]
        if element == "int64":
            most = 2 if name in ("attention_mask", "token_type_ids") else rows_of(graph, name)
            values[name] = random.integers(0, most, shape)
            if name == "attention_mask":
                values[name][:, 0] = 1
        else:
            values[name] = random.standard_normal(shape, np.float32)
    return values


def rows_of(graph, name):
    """How many rows the table has that the input chooses from."""
    return next(len(graph.weights[inputs[0]]) for operator, inputs, _, _ in graph.nodes
                if operator == "Gather" and inputs[1] == name)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", choices=MODELS)
    parser.add_argument("-o", "--output", type=pathlib.Path, help="by default the model's name with .onnx")
    parser.add_argument("--seed", type=int, default=1, help="of the weights")
    parser.add_argument("--small", action="store_true", help="few layers, narrow: for a look, or a test")
    given = parser.parse_args()
    path = given.output or pathlib.Path(f"{given.model}.onnx")
    with open(path, "wb") as file:
        for part in build(given.model, given.seed, given.small).parts():
            file.write(part)
    print(f"{path}: {path.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
