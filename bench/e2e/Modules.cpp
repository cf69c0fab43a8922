#include "bench/e2e/Modules.h"

#include <initializer_list>
#include <utility>

namespace plim::bench {

namespace {

/// The template with every `$name` replaced by its text.
std::string expand(std::string text,
                   std::initializer_list<std::pair<std::string, std::string>> names) {
  for (const auto &[name, value] : names)
    for (size_t at = text.find(name); at != std::string::npos; at = text.find(name))
      text.replace(at, name.size(), value);
  return text;
}

std::string matrix(int64_t rows, int64_t columns) {
  return "tensor<" + std::to_string(rows) + "x" + std::to_string(columns) + "xf32>";
}
std::string vector(int64_t elements) { return "tensor<" + std::to_string(elements) + "xf32>"; }

constexpr const char *maps = R"(
#full = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
#column = affine_map<(i, j) -> (i)>
)";

} // namespace

std::string saxpyKernel() {
  return R"(
func.func @main(%a: f32, %x: memref<?xf32>, %y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %xi = memref.load %x[%i] : memref<?xf32>
    %yi = memref.load %y[%i] : memref<?xf32>
    %product = arith.mulf %a, %xi : f32
    %sum = arith.addf %product, %yi : f32
    memref.store %sum, %y[%i] : memref<?xf32>
  }
  return
})";
}

std::string addTensors() {
  return R"(
func.func @main(%a: tensor<16xf32>, %b: tensor<16xf32>) -> tensor<16xf32> {
  %empty = tensor.empty() : tensor<16xf32>
  %sum = linalg.add ins(%a, %b : tensor<16xf32>, tensor<16xf32>)
      outs(%empty : tensor<16xf32>) -> tensor<16xf32>
  return %sum : tensor<16xf32>
})";
}

std::string scaleShiftReluModule(int64_t rows, int64_t columns) {
  return expand(std::string(maps) + R"(
func.func @main(%x: $matrix, %w: $vector, %b: $vector) -> $matrix {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : $matrix
  %y = linalg.generic {indexing_maps = [#full, #row, #row, #full],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x, %w, %b : $matrix, $vector, $vector) outs(%empty : $matrix) {
  ^bb0(%xi: f32, %wi: f32, %bi: f32, %out: f32):
    %product = arith.mulf %xi, %wi : f32
    %sum = arith.addf %product, %bi : f32
    %positive = arith.maximumf %sum, %zero : f32
    linalg.yield %positive : f32
  } -> $matrix
  return %y : $matrix
})",
                {{"$matrix", matrix(rows, columns)}, {"$vector", vector(columns)}});
}

std::string geluModule(int64_t rows, int64_t columns) {
  return expand(std::string(maps) + R"(
func.func @main(%x: $matrix) -> $matrix {
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %scale = arith.constant 0.707106781 : f32
  %empty = tensor.empty() : $matrix
  %y = linalg.generic {indexing_maps = [#full, #full], iterator_types = ["parallel", "parallel"]}
      ins(%x : $matrix) outs(%empty : $matrix) {
  ^bb0(%xi: f32, %out: f32):
    %scaled = arith.mulf %xi, %scale : f32
    %erf = math.erf %scaled : f32
    %shifted = arith.addf %erf, %one : f32
    %halved = arith.mulf %xi, %half : f32
    %product = arith.mulf %halved, %shifted : f32
    linalg.yield %product : f32
  } -> $matrix
  return %y : $matrix
})",
                {{"$matrix", matrix(rows, columns)}});
}

std::string softmaxModule(int64_t rows, int64_t columns) {
  return expand(std::string(maps) + R"(
func.func @main(%x: $matrix) -> $matrix {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %rows = tensor.empty() : $vector
  %full = tensor.empty() : $matrix
  %lows = linalg.fill ins(%lowest : f32) outs(%rows : $vector) -> $vector
  %top = linalg.generic {indexing_maps = [#full, #column],
                         iterator_types = ["parallel", "reduction"]}
      ins(%x : $matrix) outs(%lows : $vector) {
  ^bb0(%xi: f32, %out: f32):
    %larger = arith.maximumf %xi, %out : f32
    linalg.yield %larger : f32
  } -> $vector
  %exp = linalg.generic {indexing_maps = [#full, #column, #full],
                         iterator_types = ["parallel", "parallel"]}
      ins(%x, %top : $matrix, $vector) outs(%full : $matrix) {
  ^bb0(%xi: f32, %ti: f32, %out: f32):
    %below = arith.subf %xi, %ti : f32
    %e = math.exp %below : f32
    linalg.yield %e : f32
  } -> $matrix
  %zeros = linalg.fill ins(%zero : f32) outs(%rows : $vector) -> $vector
  %sum = linalg.generic {indexing_maps = [#full, #column],
                         iterator_types = ["parallel", "reduction"]}
      ins(%exp : $matrix) outs(%zeros : $vector) {
  ^bb0(%ei: f32, %out: f32):
    %s = arith.addf %ei, %out : f32
    linalg.yield %s : f32
  } -> $vector
  %y = linalg.generic {indexing_maps = [#full, #column, #full],
                       iterator_types = ["parallel", "parallel"]}
      ins(%exp, %sum : $matrix, $vector) outs(%full : $matrix) {
  ^bb0(%ei: f32, %si: f32, %out: f32):
    %quotient = arith.divf %ei, %si : f32
    linalg.yield %quotient : f32
  } -> $matrix
  return %y : $matrix
})",
                {{"$matrix", matrix(rows, columns)}, {"$vector", vector(rows)}});
}

std::string matmulModule(int64_t m, int64_t n, int64_t k) {
  return expand(R"(
func.func @main(%a: $a, %b: $b) -> $c {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : $c
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : $c) -> $c
  %c = linalg.matmul ins(%a, %b : $a, $b) outs(%zeros : $c) -> $c
  return %c : $c
})",
                {{"$a", matrix(m, k)}, {"$b", matrix(k, n)}, {"$c", matrix(m, n)}});
}

std::string denseModule(int64_t m, int64_t n, int64_t k) {
  return expand(
      std::string(maps) + R"(
func.func @main(%a: $a, %w: $w, %b: $b) -> $c {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : $c
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : $c) -> $c
  %product = linalg.matmul ins(%a, %w : $a, $w) outs(%zeros : $c) -> $c
  %y = linalg.generic {indexing_maps = [#full, #row, #full],
                       iterator_types = ["parallel", "parallel"]}
      ins(%product, %b : $c, $b) outs(%empty : $c) {
  ^bb0(%pi: f32, %bi: f32, %out: f32):
    %sum = arith.addf %pi, %bi : f32
    %positive = arith.maximumf %sum, %zero : f32
    linalg.yield %positive : f32
  } -> $c
  return %y : $c
})",
      {{"$a", matrix(m, k)}, {"$w", matrix(k, n)}, {"$b", vector(n)}, {"$c", matrix(m, n)}});
}

std::string convolutionModule(int64_t side, int64_t channels) {
  auto image = [&](int64_t extent) {
    return "tensor<1x" + std::to_string(extent) + "x" + std::to_string(extent) + "x" +
           std::to_string(channels) + "xf32>";
  };
  return expand(R"(
func.func @main(%x: $in, %w: $w) -> $out {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : $out
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : $out) -> $out
  %y = linalg.conv_2d_nhwc_hwcf ins(%x, %w : $in, $w) outs(%zeros : $out) -> $out
  return %y : $out
})",
                {{"$in", image(side + 2)},
                 {"$out", image(side)},
                 {"$w", "tensor<3x3x" + std::to_string(channels) + "x" + std::to_string(channels) +
                            "xf32>"}});
}

} // namespace plim::bench
