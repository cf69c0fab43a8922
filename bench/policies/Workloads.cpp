#include "bench/policies/Workloads.h"

#include "tools/Calibrate.h"
#include "tools/Text.h"

namespace plim::bench {
namespace {

std::string replaceAll(std::string text, const std::string &name, const std::string &value) {
  for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at))
    text.replace(at, name.size(), value);
  return text;
}

/// Of each row: a chain of temporaries of 300 elements (1200 bytes), each read backwards, so that
/// none can be kept in registers from one loop to the next.
std::string smallTemporaries(int count) {
  std::string body, release;
  std::string last = "%row";
  for (int i = 0; i < count; ++i) {
    std::string name = "%t" + std::to_string(i);
    body += replaceAll(replaceAll(R"(
    $t = memref.alloc() : memref<300xf32>
    scf.for %j = %c0 to %c300 step %c1 {
      %k = arith.subi %c299, %j : index
      %u = memref.load $s[%k] : memref<300xf32>
      %v = memref.load %row[%j] : memref<300xf32>
      %m = arith.mulf %u, %half : f32
      %w = arith.addf %m, %v : f32
      memref.store %w, $t[%j] : memref<300xf32>
    })",
                                  "$t", name),
                       "$s", last);
    release += "\n    memref.dealloc " + name + " : memref<300xf32>";
    last = name;
  }
  return R"(
func.func @main(%x: memref<64x300xf32>, %y: memref<64x300xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c299 = arith.constant 299 : index
  %c300 = arith.constant 300 : index
  %c64 = arith.constant 64 : index
  %half = arith.constant 0.5 : f32
  scf.for %i = %c0 to %c64 step %c1 {
    %row = memref.alloc() : memref<300xf32>
    scf.for %j = %c0 to %c300 step %c1 {
      %v = memref.load %x[%i, %j] : memref<64x300xf32>
      memref.store %v, %row[%j] : memref<300xf32>
    })" + body +
         replaceAll(R"(
    scf.for %j = %c0 to %c300 step %c1 {
      %k = arith.subi %c299, %j : index
      %v = memref.load $s[%k] : memref<300xf32>
      memref.store %v, %y[%i, %j] : memref<64x300xf32>
    })",
                    "$s", last) +
         release + R"(
    memref.dealloc %row : memref<300xf32>
  }
  return
})";
}

/// softmax(q k^T / 8) v for 4 heads of 128 positions.
std::string attention() {
  return R"(
#full = affine_map<(h, i, j) -> (h, i, j)>
#row = affine_map<(h, i, j) -> (h, i)>
!qv = tensor<4x128x64xf32>
!k = tensor<4x64x128xf32>
!scores = tensor<4x128x128xf32>
!rows = tensor<4x128xf32>
func.func @main(%q: !qv, %k: !k, %v: !qv) -> !qv {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %eighth = arith.constant 0.125 : f32
  %e0 = tensor.empty() : !scores
  %z0 = linalg.fill ins(%zero : f32) outs(%e0 : !scores) -> !scores
  %scores = linalg.batch_matmul ins(%q, %k : !qv, !k) outs(%z0 : !scores) -> !scores
  %e1 = tensor.empty() : !rows
  %z1 = linalg.fill ins(%lowest : f32) outs(%e1 : !rows) -> !rows
  %largest = linalg.generic {indexing_maps = [#full, #row],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%scores : !scores) outs(%z1 : !rows) {
  ^bb0(%x: f32, %m: f32):
    %s = arith.mulf %x, %eighth : f32
    %r = arith.maximumf %m, %s : f32
    linalg.yield %r : f32
  } -> !rows
  %powers = linalg.generic {indexing_maps = [#full, #row, #full],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%scores, %largest : !scores, !rows) outs(%e0 : !scores) {
  ^bb0(%x: f32, %m: f32, %out: f32):
    %s = arith.mulf %x, %eighth : f32
    %d = arith.subf %s, %m : f32
    %r = math.exp %d : f32
    linalg.yield %r : f32
  } -> !scores
  %z2 = linalg.fill ins(%zero : f32) outs(%e1 : !rows) -> !rows
  %sums = linalg.generic {indexing_maps = [#full, #row],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%powers : !scores) outs(%z2 : !rows) {
  ^bb0(%x: f32, %m: f32):
    %r = arith.addf %m, %x : f32
    linalg.yield %r : f32
  } -> !rows
  %shares = linalg.generic {indexing_maps = [#full, #row, #full],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%powers, %sums : !scores, !rows) outs(%e0 : !scores) {
  ^bb0(%x: f32, %m: f32, %out: f32):
    %r = arith.divf %x, %m : f32
    linalg.yield %r : f32
  } -> !scores
  %e3 = tensor.empty() : !qv
  %z3 = linalg.fill ins(%zero : f32) outs(%e3 : !qv) -> !qv
  %out = linalg.batch_matmul ins(%shares, %v : !scores, !qv) outs(%z3 : !qv) -> !qv
  return %out : !qv
})";
}

/// Three 3x3 convolutions of 16 channels with ReLU behind each.
std::string convolutions() {
  std::string body;
  std::string last = "%x";
  for (int i = 0; i < 3; ++i) {
    std::string type = replaceAll("tensor<1x$x$x16xf32>", "$", std::to_string(28 - 2 * i));
    std::string from = replaceAll("tensor<1x$x$x16xf32>", "$", std::to_string(30 - 2 * i));
    std::string text = R"(
  %e$i = tensor.empty() : $type
  %z$i = linalg.fill ins(%zero : f32) outs(%e$i : $type) -> $type
  %c$i = linalg.conv_2d_nhwc_hwcf ins($last, %w$i : $from, tensor<3x3x16x16xf32>)
      outs(%z$i : $type) -> $type
  %r$i = linalg.generic {indexing_maps = [#image, #image],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%c$i : $type) outs(%e$i : $type) {
  ^bb0(%v: f32, %out: f32):
    %p = arith.maximumf %v, %zero : f32
    linalg.yield %p : f32
  } -> $type)";
    for (const auto &[name, value] : {std::pair<std::string, std::string>("$last", last),
                                      {"$from", from},
                                      {"$type", type},
                                      {"$i", std::to_string(i)}})
      text = replaceAll(text, name, value);
    body += text;
    last = "%r" + std::to_string(i);
  }
  return R"(
#image = affine_map<(n, h, w, c) -> (n, h, w, c)>
!weight = tensor<3x3x16x16xf32>
func.func @main(%x: tensor<1x30x30x16xf32>, %w0: !weight, %w1: !weight, %w2: !weight)
    -> tensor<1x24x24x16xf32> {
  %zero = arith.constant 0.0 : f32)" +
         body + "\n  return %r2 : tensor<1x24x24x16xf32>\n}";
}

} // namespace

StatusOr<std::vector<Workload>> makeWorkloads(const std::string &digitsFolder) {
  std::vector<Workload> workloads = {{"13 small temporaries", smallTemporaries(12), {}},
                                     {"attention", attention(), {}},
                                     {"convolutions", convolutions(), {}}};
  Workload digits{"digits", "", {}};
  PLIM_ASSIGN_OR_RETURN(digits.source, Engine::readSource(digitsFolder + "/digits.mlir"));
  digits.call.inputs = {"16x8x8x1xf32=rnd:1"};
  digits.call.parameterFiles = {digitsFolder + "/weights.safetensors"};
  workloads.push_back(std::move(digits));
  for (int64_t bytes = 64; bytes <= 1 << 20; bytes *= 4)
    workloads.push_back(
        {"scratch of " + tools::formatBytes(bytes), tools::scratchKernel(bytes), {}});
  return workloads;
}

} // namespace plim::bench
