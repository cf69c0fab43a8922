// Modules that several tests load.
#pragma once

#include <string>

namespace plim::testing {

/// y += a * x, in place.
inline constexpr const char *saxpySource = R"(
func.func @saxpy(%a: f32, %x: memref<?xf32>, %y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %u = memref.load %x[%i] : memref<?xf32>
    %v = memref.load %y[%i] : memref<?xf32>
    %m = arith.mulf %a, %u : f32
    %s = arith.addf %m, %v : f32
    memref.store %s, %y[%i] : memref<?xf32>
  }
  return
}
)";

/// A kernel that returns a scalar.
inline constexpr const char *sumSource = R"(
func.func @sum(%x: memref<?xf64>) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f64
  %n = memref.dim %x, %c0 : memref<?xf64>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> f64 {
    %u = memref.load %x[%i] : memref<?xf64>
    %t = arith.addf %s, %u : f64
    scf.yield %t : f64
  }
  return %r : f64
}
)";

/// A product of matrices of any shape.
inline constexpr const char *matmulSource = R"(
func.func @matmul(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %n = tensor.dim %b, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %r = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>)
      outs(%f : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
)";

/// Products of products: every step but the last needs a temporary.
inline constexpr const char *temporariesSource = R"(
func.func @main(%x: tensor<8x16xf32>, %w: tensor<16x16xf32>) -> tensor<8x16xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x16xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
  %p = linalg.matmul ins(%x, %w : tensor<8x16xf32>, tensor<16x16xf32>)
      outs(%f : tensor<8x16xf32>) -> tensor<8x16xf32>
  %q = linalg.matmul ins(%p, %w : tensor<8x16xf32>, tensor<16x16xf32>)
      outs(%f : tensor<8x16xf32>) -> tensor<8x16xf32>
  %r = linalg.matmul ins(%q, %w : tensor<8x16xf32>, tensor<16x16xf32>)
      outs(%f : tensor<8x16xf32>) -> tensor<8x16xf32>
  %s = linalg.add ins(%r, %p : tensor<8x16xf32>, tensor<8x16xf32>)
      outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
  return %s : tensor<8x16xf32>
}
)";

/// Reads at indices that are data, which are checked.
inline constexpr const char *gatherSource = R"(
func.func @main(%x: tensor<?xf32>, %i: tensor<?xi32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %i, %c0 : tensor<?xi32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>],
                       iterator_types = ["parallel"]}
      ins(%i : tensor<?xi32>) outs(%e : tensor<?xf32>) {
  ^bb0(%k: i32, %o: f32):
    %j = arith.index_cast %k : i32 to index
    %v = tensor.extract %x[%j] : tensor<?xf32>
    linalg.yield %v : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
)";

/// Products of temporaries whose sizes a call decides.
inline constexpr const char *dynamicProductsSource = R"(
!t = tensor<?x?xf32>
func.func @main(%a: !t, %b: !t) -> !t {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %a, %c0 : !t
  %m = tensor.dim %b, %c1 : !t
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n, %m) : !t
  %z = linalg.fill ins(%zero : f32) outs(%e : !t) -> !t
  %p = linalg.matmul ins(%a, %b : !t, !t) outs(%z : !t) -> !t
  %q = linalg.matmul ins(%p, %b : !t, !t) outs(%z : !t) -> !t
  %r = linalg.matmul ins(%q, %b : !t, !t) outs(%z : !t) -> !t
  return %r : !t
}
)";

/// x + @w, where @w is bound at load.
inline constexpr const char *parameterSource = R"(
ml_program.global private @w(#ml_program.extern<tensor<4xf32>>) : tensor<4xf32>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %w = ml_program.global_load_const @w : tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.add ins(%x, %w : tensor<4xf32>, tensor<4xf32>)
      outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
)";

/// Adds to a variable and returns it.
inline constexpr const char *stateSource = R"(
ml_program.global private mutable @total(dense<[10.0, 20.0]> : tensor<2xf32>) : tensor<2xf32>
func.func @add(%x: tensor<2xf32>) -> tensor<2xf32> {
  %before = ml_program.global_load @total : tensor<2xf32>
  %e = tensor.empty() : tensor<2xf32>
  %s = linalg.add ins(%before, %x : tensor<2xf32>, tensor<2xf32>)
      outs(%e : tensor<2xf32>) -> tensor<2xf32>
  ml_program.global_store @total = %s : tensor<2xf32>
  return %s : tensor<2xf32>
}
)";

} // namespace plim::testing
