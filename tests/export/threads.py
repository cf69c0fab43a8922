#!/usr/bin/env python3
"""An export for the processor here, whose workgroups run on threads of POSIX.

  tests/export/threads.py --bin build/bin

Exit status 1 if a bit differs from what one thread gives.
"""
import argparse
import pathlib
import platform
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = """
func.func @main(%x: tensor<?x64xf32>, %w: tensor<64x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %r = linalg.matmul ins(%x, %w : tensor<?x64xf32>, tensor<64x64xf32>) outs(%f : tensor<?x64xf32>) -> tensor<?x64xf32>
  %s = linalg.matmul ins(%r, %w : tensor<?x64xf32>, tensor<64x64xf32>) outs(%f : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %s : tensor<?x64xf32>
}
"""
TARGETS = {"x86_64": "x86-64", "aarch64": "aarch64-neoverse-v2"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="the folder of plimsoll")
    parser.add_argument("--compiler", default="clang-22")
    arguments = parser.parse_args()
    target = TARGETS.get(platform.machine())
    if not target:
        print(f"skipped, there is no target for {platform.machine()}")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "case.mlir").write_text(SOURCE)
        for command in ([arguments.bin.resolve() / "plimsoll", "compile", "case.mlir", "--target", target, "-o", "case.o", "--header", "case.h", "--name",
                         "case"],
                        [arguments.compiler, "-std=c11", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I.", HERE / "threads.c", "case.o", "-o",
                         "program", "-pthread", "-lm"]):
            subprocess.run(command, check=True, cwd=folder, timeout=120)
        done = subprocess.run(["./program"], capture_output=True, text=True, cwd=folder, timeout=120)
    if done.returncode != 0 or done.stdout != "1 calls, status 77\n":
        print(f"ends with {done.returncode} and prints {done.stdout!r}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
