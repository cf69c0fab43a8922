#!/usr/bin/env python3
"""Trains the network of digits.mlir and writes its parameters and the test split beside it.

The data is the 8x8 digits set that scikit-learn carries (1,797 images by 13 writers: the test set
of UCI's "Optical Recognition of Handwritten Digits"). NumPy does the rest: forward, backward, Adam.
The same seed gives the same split and the same order; sums may differ in the last bit between BLAS
builds, so the committed weights are the reference, not a second training.

  python3 train.py            under a minute; writes weights.safetensors, test_{images,labels}.npy
  python3 train.py --check    no training: accuracy of the committed files, exit 1 below 95%
"""
import argparse
import json
import pathlib
import struct
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
SEED = 8
TEST_IMAGES = 360
EPOCHS = 60
BATCH = 64


def load_digits():
    from sklearn.datasets import load_digits as load
    data = load()
    images = (data.images / 16.0).astype(np.float32)[..., np.newaxis]
    labels = data.target.astype(np.int32)
    order = np.random.default_rng(SEED).permutation(len(labels))
    images, labels = images[order], labels[order]
    return images[TEST_IMAGES:], labels[TEST_IMAGES:], images[:TEST_IMAGES], labels[:TEST_IMAGES]


def initial_parameters(rng):
    def he(*shape):
        fan_in = int(np.prod(shape[:-1]))
        return (rng.standard_normal(shape) * np.sqrt(2 / fan_in)).astype(np.float32)

    return {
        "conv1_weight": he(3, 3, 1, 8), "conv1_bias": np.zeros(8, np.float32),
        "conv2_weight": he(3, 3, 8, 16), "conv2_bias": np.zeros(16, np.float32),
        "dense_weight": he(256, 10), "dense_bias": np.zeros(10, np.float32),
    }


def patches(x):
    """Every 3x3 neighbourhood of the zero-padded images: n h w c -> n h w (3 3 c)."""
    n, h, w, c = x.shape
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    views = [padded[:, i:i + h, j:j + w, :] for i in range(3) for j in range(3)]
    return np.stack(views, axis=3).reshape(n, h, w, 9 * c)


def unpatch(gradient, channels):
    """The transpose of `patches`: gradients of the neighbourhoods summed back onto the pixels."""
    n, h, w, _ = gradient.shape
    padded = np.zeros((n, h + 2, w + 2, channels), np.float32)
    parts = gradient.reshape(n, h, w, 9, channels)
    for k in range(9):
        i, j = divmod(k, 3)
        padded[:, i:i + h, j:j + w, :] += parts[:, :, :, k, :]
    return padded[:, 1:-1, 1:-1, :]


def convolve(x, weight, bias):
    columns = patches(x)
    return columns @ weight.reshape(-1, weight.shape[-1]) + bias, columns


def forward(p, images):
    """Probabilities and what the backward pass needs."""
    pre1, columns1 = convolve(images, p["conv1_weight"], p["conv1_bias"])
    out1 = np.maximum(pre1, 0)
    pre2, columns2 = convolve(out1, p["conv2_weight"], p["conv2_bias"])
    out2 = np.maximum(pre2, 0)
    n, h, w, c = out2.shape
    windows = out2.reshape(n, h // 2, 2, w // 2, 2, c).transpose(0, 1, 3, 5, 2, 4).reshape(-1, 4)
    winners = windows.argmax(1)
    pooled = windows.max(1).reshape(n, -1)
    logits = pooled @ p["dense_weight"] + p["dense_bias"]
    shifted = np.exp(logits - logits.max(1, keepdims=True))
    probabilities = shifted / shifted.sum(1, keepdims=True)
    return probabilities, (columns1, out1, columns2, out2, winners, pooled)


def backward(p, probabilities, labels, saved):
    """Gradients of the mean cross entropy."""
    columns1, out1, columns2, out2, winners, pooled = saved
    n, h, w, c = out2.shape
    d_logits = probabilities.copy()
    d_logits[np.arange(n), labels] -= 1
    d_logits /= n
    g = {"dense_weight": pooled.T @ d_logits, "dense_bias": d_logits.sum(0)}
    d_windows = np.zeros((winners.size, 4), np.float32)
    d_windows[np.arange(winners.size), winners] = (d_logits @ p["dense_weight"].T).ravel()
    d_out2 = (d_windows.reshape(n, h // 2, w // 2, c, 2, 2).transpose(0, 1, 4, 2, 5, 3)
              .reshape(n, h, w, c))

    def layer(name, d_out, out, columns):
        weight = p[name + "_weight"]
        d_pre = d_out * (out > 0)
        flat = d_pre.reshape(-1, weight.shape[-1])
        g[name + "_weight"] = (columns.reshape(flat.shape[0], -1).T @ flat).reshape(weight.shape)
        g[name + "_bias"] = flat.sum(0)
        return unpatch(d_pre @ weight.reshape(-1, weight.shape[-1]).T, weight.shape[2])

    d_out1 = layer("conv2", d_out2, out2, columns2)
    layer("conv1", d_out1, out1, columns1)
    return g


def shifted(images, rng):
    """Each image moved by at most one pixel along each axis, zeros moving in."""
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1), (0, 0)))
    moves = rng.integers(0, 3, (len(images), 2))
    return np.stack([image[i:i + 8, j:j + 8] for image, (i, j) in zip(padded, moves)])


def train(images, labels):
    rng = np.random.default_rng(SEED)
    p = initial_parameters(rng)
    mean = {name: np.zeros_like(value) for name, value in p.items()}
    square = {name: np.zeros_like(value) for name, value in p.items()}
    step = 0
    for epoch in range(EPOCHS):
        rate = 2e-3 * 0.5 * (1 + np.cos(np.pi * epoch / EPOCHS))
        order = rng.permutation(len(labels))
        loss = 0.0
        for start in range(0, len(order), BATCH):
            chosen = order[start:start + BATCH]
            probabilities, saved = forward(p, shifted(images[chosen], rng))
            loss -= np.log(probabilities[np.arange(len(chosen)), labels[chosen]] + 1e-12).sum()
            step += 1
            for name, gradient in backward(p, probabilities, labels[chosen], saved).items():
                mean[name] = 0.9 * mean[name] + 0.1 * gradient
                square[name] = 0.999 * square[name] + 0.001 * gradient * gradient
                update = (mean[name] / (1 - 0.9**step)) / (
                    np.sqrt(square[name] / (1 - 0.999**step)) + 1e-8)
                p[name] = (p[name] - rate * update).astype(np.float32)
        if epoch % 10 == 9:
            print(f"epoch {epoch + 1}: loss {loss / len(order):.4f}")
    return p


def write_safetensors(path, tensors):
    """Eight bytes of header length, the header as JSON padded with blanks to eight bytes, the data."""
    header, data = {}, b""
    for name, value in tensors.items():
        raw = np.ascontiguousarray(value, "<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": list(value.shape),
                        "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def read_safetensors(path):
    content = path.read_bytes()
    (length,) = struct.unpack_from("<Q", content)
    header = json.loads(content[8:8 + length])
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        raw = content[8 + length + begin:8 + length + end]
        tensors[name] = np.frombuffer(raw, "<f4").reshape(entry["shape"])
    return tensors


def accuracy(p, images, labels):
    return float((forward(p, images)[0].argmax(1) == labels).mean())


def main():
    parser = argparse.ArgumentParser(description="Train the digits network.")
    parser.add_argument("--check", action="store_true", help="only check the committed files")
    options = parser.parse_args()
    if not options.check:
        train_images, train_labels, test_images, test_labels = load_digits()
        p = train(train_images, train_labels)
        print(f"training accuracy {accuracy(p, train_images, train_labels):.4f}")
        write_safetensors(HERE / "weights.safetensors", p)
        np.save(HERE / "test_images.npy", test_images)
        np.save(HERE / "test_labels.npy", test_labels)
    score = accuracy(read_safetensors(HERE / "weights.safetensors"),
                     np.load(HERE / "test_images.npy"), np.load(HERE / "test_labels.npy"))
    print(f"test accuracy {score:.4f}")
    return 0 if score > 0.95 else 1


if __name__ == "__main__":
    sys.exit(main())
