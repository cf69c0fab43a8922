"""What the tests of the Python package share: sources, and an engine with two threads."""

import numpy as np
import pytest

import plimsoll as pl

ELEMENTS = {"i1": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
            "f16": np.float16, "bf16": np.uint16, "f32": np.float32, "f64": np.float64,
            "index": np.int64}

SAXPY = """
func.func @saxpy(%a: tensor<f32>, %x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> ()>, affine_map<(i) -> (i)>,
                                        affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]}
      ins(%a, %x, %y : tensor<f32>, tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%s: f32, %u: f32, %v: f32, %o: f32):
    %p = arith.mulf %s, %u : f32
    %q = arith.addf %p, %v : f32
    linalg.yield %q : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
"""

COUNTER = """
ml_program.global private mutable @total(dense<[10.0, 20.0]> : tensor<2xf32>) : tensor<2xf32>
func.func @add(%x: tensor<2xf32>) -> tensor<2xf32> {
  %old = ml_program.global_load @total : tensor<2xf32>
  %new = arith.addf %old, %x : tensor<2xf32>
  ml_program.global_store @total = %new : tensor<2xf32>
  return %new : tensor<2xf32>
}
"""

# Long enough to see what happens meanwhile: the loop is host code, which a stop ends.
SLOW = """
func.func private @tick(i64)
func.func @slow(%n: index, %x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> tensor<4xf32> {
    %one = arith.constant dense<1.0> : tensor<4xf32>
    %s = arith.addf %v, %one : tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
"""


@pytest.fixture(scope="session")
def engine():
    return pl.Engine(threads=2)


@pytest.fixture(scope="session")
def saxpy(engine):
    return engine.loads(SAXPY, "saxpy.mlir").saxpy


def copy_source(element, shape="?x?"):
    """@copy gives a tensor back, in memory of its own; @put writes a memref."""
    tensor, memref = f"tensor<{shape}x{element}>", f"memref<{shape}x{element}>"
    if shape == "":
        tensor, memref = f"tensor<{element}>", f"memref<{element}>"
    return f"""
func.func @copy(%x: {tensor}) -> {tensor} {{ return %x : {tensor} }}
func.func @put(%x: {memref}, %y: {memref}) {{
  memref.copy %x, %y : {memref} to {memref}
  return
}}
"""


def sample(element, shape, seed=1):
    """Random bits that are numbers."""
    random = np.random.default_rng(seed)
    if element == "i1":
        return random.integers(0, 2, shape).astype(bool)
    if element == "bf16":
        return pl.to_bf16(random.standard_normal(shape).astype(np.float32))
    kind = np.dtype(ELEMENTS[element])
    if kind.kind == "f":
        return random.standard_normal(shape).astype(kind)
    return random.integers(-100, 100, shape).astype(kind)
