// RUN: plimsoll-opt %s -plim-attach-target=tag=x86-64-v3 -plim-choose-workgroups | FileCheck %s --check-prefixes=CHECK,V3
// RUN: plimsoll-opt %s -plim-attach-target=tag=sapphirerapids -plim-choose-workgroups | FileCheck %s --check-prefixes=CHECK,SERVER

// Rows by the second-level cache, columns by the cores of the target.
// CHECK-LABEL: func.func private @product(
//     V3-SAME: plim.workgroups = #plim.workgroups<tiles = [60, {{.*}}], because = "4 for each of 4 cores, half the second-level cache has room for 64 rows">
// SERVER-SAME: plim.workgroups = #plim.workgroups<tiles = [{{.*}}], because = "4 for each of {{[0-9]+}} cores, half the second-level cache has room for 512 rows">
func.func private @product(%a: memref<1200x600xf32>, %b: memref<600x1024xf32>, %o: memref<1200x1024xf32>)
    attributes {plim.dispatch_function, plim.parallel_loops = array<i64: 0, 1>} {
  %at = bufferization.to_tensor %a restrict : memref<1200x600xf32> to tensor<1200x600xf32>
  %bt = bufferization.to_tensor %b restrict : memref<600x1024xf32> to tensor<600x1024xf32>
  %ot = bufferization.to_tensor %o restrict writable : memref<1200x1024xf32> to tensor<1200x1024xf32>
  %m = linalg.matmul ins(%at, %bt : tensor<1200x600xf32>, tensor<600x1024xf32>) outs(%ot : tensor<1200x1024xf32>)
      -> tensor<1200x1024xf32>
  bufferization.materialize_in_destination %m in restrict writable %o : (tensor<1200x1024xf32>, memref<1200x1024xf32>) -> ()
  return
}

// CHECK-LABEL: func.func private @small(
//  CHECK-SAME: plim.workgroups = #plim.workgroups<tiles = [0], because = "all of it is one task">
func.func private @small(%a: memref<100xf32>, %o: memref<100xf32>)
    attributes {plim.dispatch_function, plim.parallel_loops = array<i64: 0>} {
  %at = bufferization.to_tensor %a restrict : memref<100xf32> to tensor<100xf32>
  %ot = bufferization.to_tensor %o restrict writable : memref<100xf32> to tensor<100xf32>
  %m = linalg.add ins(%at, %at : tensor<100xf32>, tensor<100xf32>) outs(%ot : tensor<100xf32>) -> tensor<100xf32>
  bufferization.materialize_in_destination %m in restrict writable %o : (tensor<100xf32>, memref<100xf32>) -> ()
  return
}

// What the second-level cache holds is one task, where as many points from further away are several.
// CHECK-LABEL: func.func private @near(
//     V3-SAME: tiles = [32263], because = "each is worth a task"
// SERVER-SAME: tiles = [0], because = "all of it is one task"
func.func private @near(%a: memref<f32> {plim.bytes = 262144 : i64}, %o: memref<f32> {plim.bytes = 262144 : i64})
    attributes {plim.dispatch_function, plim.parallel_loops = array<i64: 0>} {
  %am = memref.reinterpret_cast %a to offset: [0], sizes: [65536], strides: [1] : memref<f32> to memref<65536xf32>
  %om = memref.reinterpret_cast %o to offset: [0], sizes: [65536], strides: [1] : memref<f32> to memref<65536xf32>
  %at = bufferization.to_tensor %am restrict : memref<65536xf32> to tensor<65536xf32>
  %ot = bufferization.to_tensor %om restrict writable : memref<65536xf32> to tensor<65536xf32>
  %m = linalg.add ins(%at, %at : tensor<65536xf32>, tensor<65536xf32>) outs(%ot : tensor<65536xf32>) -> tensor<65536xf32>
  bufferization.materialize_in_destination %m in restrict writable %om : (tensor<65536xf32>, memref<65536xf32>) -> ()
  return
}

// Results of two ops: what one of them computes the other's workgroups would compute anew, each for all of it.
// CHECK-LABEL: func.func private @two(
//   CHECK-NOT: plim.workgroups
func.func private @two(%a: memref<4000000xf32>, %o: memref<4000000xf32>, %p: memref<4000000xf32>)
    attributes {plim.dispatch_function, plim.parallel_loops = array<i64: 0>} {
  %at = bufferization.to_tensor %a restrict : memref<4000000xf32> to tensor<4000000xf32>
  %ot = bufferization.to_tensor %o restrict writable : memref<4000000xf32> to tensor<4000000xf32>
  %pt = bufferization.to_tensor %p restrict writable : memref<4000000xf32> to tensor<4000000xf32>
  %m = linalg.add ins(%at, %at : tensor<4000000xf32>, tensor<4000000xf32>) outs(%ot : tensor<4000000xf32>) -> tensor<4000000xf32>
  %n = linalg.mul ins(%at, %m : tensor<4000000xf32>, tensor<4000000xf32>) outs(%pt : tensor<4000000xf32>) -> tensor<4000000xf32>
  bufferization.materialize_in_destination %m in restrict writable %o : (tensor<4000000xf32>, memref<4000000xf32>) -> ()
  bufferization.materialize_in_destination %n in restrict writable %p : (tensor<4000000xf32>, memref<4000000xf32>) -> ()
  return
}

// What is read across its lines is tiled in both directions, in rows that fill tiles of registers and lines.
// CHECK-LABEL: func.func private @transposed(
//  CHECK-SAME: plim.workgroups = #plim.workgroups<tiles = [64, 256], because = "lines of what is read across are used whole">
func.func private @transposed(%a: memref<2048x2048xi8>, %o: memref<2048x2048xi8>)
    attributes {plim.dispatch_function, plim.parallel_loops = array<i64: 0, 1>} {
  %at = bufferization.to_tensor %a restrict : memref<2048x2048xi8> to tensor<2048x2048xi8>
  %ot = bufferization.to_tensor %o restrict writable : memref<2048x2048xi8> to tensor<2048x2048xi8>
  %m = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%at : tensor<2048x2048xi8>) outs(%ot : tensor<2048x2048xi8>) {
  ^bb0(%x: i8, %old: i8):
    linalg.yield %x : i8
  } -> tensor<2048x2048xi8>
  bufferization.materialize_in_destination %m in restrict writable %o : (tensor<2048x2048xi8>, memref<2048x2048xi8>) -> ()
  return
}

// Where columns are reduced, rows are read in long parts: as many as there are cores, not as many as are worth a task.
// CHECK-LABEL: func.func private @columns(
//     V3-SAME: plim.workgroups = #plim.workgroups<tiles = [1024, 0], because = "parts of rows are long">
// SERVER-SAME: plim.workgroups = #plim.workgroups<tiles = [256, 0], because = "parts of rows are long">
func.func private @columns(%a: memref<4096x4096xf32>, %o: memref<4096xf32>)
    attributes {plim.dispatch_function, plim.parallel_loops = array<i64: 0>} {
  %at = bufferization.to_tensor %a restrict : memref<4096x4096xf32> to tensor<4096x4096xf32>
  %ot = bufferization.to_tensor %o restrict writable : memref<4096xf32> to tensor<4096xf32>
  %m = linalg.generic {indexing_maps = [affine_map<(j, i) -> (i, j)>, affine_map<(j, i) -> (j)>], iterator_types = ["parallel", "reduction"]}
      ins(%at : tensor<4096x4096xf32>) outs(%ot : tensor<4096xf32>) {
  ^bb0(%x: f32, %s: f32):
    %t = arith.addf %s, %x : f32
    linalg.yield %t : f32
  } -> tensor<4096xf32>
  bufferization.materialize_in_destination %m in restrict writable %o : (tensor<4096xf32>, memref<4096xf32>) -> ()
  return
}

// The loop of a kernel: whole rows.
// CHECK-LABEL: func.func private @loop(
//  CHECK-SAME: plim.cost = {{[0-9]+}}
//  CHECK-SAME: plim.workgroups = #plim.workgroups<tiles = [30, 0], because = "each is worth a task">
func.func private @loop(%x: memref<?x1024xf32>, %n: index) attributes {plim.dispatch_function, plim.may_alias} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c1024 = arith.constant 1024 : index
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %c1024) step (%c1, %c1) {
    %v = memref.load %x[%i, %j] : memref<?x1024xf32>
    %w = arith.addf %v, %v : f32
    memref.store %w, %x[%i, %j] : memref<?x1024xf32>
    scf.reduce
  }
  return
}

// Images that get a border and are gone over with a window: as many as 32 KiB have room for.
// CHECK-LABEL: func.func private @borders(
//     V3-SAME: plim.workgroups = #plim.workgroups<tiles = [2, 0, 0, 0, 0], because = "{{.*}}, as many images with their borders as the nearest cache has room for">
func.func private @borders(%x: memref<96x56x56xf32>, %k: memref<96x7x7xf32>, %o: memref<96x56x56xf32>)
    attributes {plim.dispatch_function, plim.parallel_loops = array<i64: 0, 1, 2>} {
  %zero = arith.constant 0.0 : f32
  %xt = bufferization.to_tensor %x restrict : memref<96x56x56xf32> to tensor<96x56x56xf32>
  %kt = bufferization.to_tensor %k restrict : memref<96x7x7xf32> to tensor<96x7x7xf32>
  %ot = bufferization.to_tensor %o restrict writable : memref<96x56x56xf32> to tensor<96x56x56xf32>
  %e = tensor.empty() : tensor<96x62x62xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<96x62x62xf32>) -> tensor<96x62x62xf32>
  %p = tensor.insert_slice %xt into %f[0, 3, 3] [96, 56, 56] [1, 1, 1] : tensor<96x56x56xf32> into tensor<96x62x62xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(c, h, w, y, x) -> (c, h + y, w + x)>, affine_map<(c, h, w, y, x) -> (c, y, x)>, affine_map<(c, h, w, y, x) -> (c, h, w)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%p, %kt : tensor<96x62x62xf32>, tensor<96x7x7xf32>) outs(%ot : tensor<96x56x56xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %m = arith.mulf %a, %b : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<96x56x56xf32>
  bufferization.materialize_in_destination %r in restrict writable %o : (tensor<96x56x56xf32>, memref<96x56x56xf32>) -> ()
  return
}

// Not where images lie side by side, whose vectors go over all of them.
// CHECK-LABEL: func.func private @sideBySide(
//     V3-SAME: plim.workgroups = #plim.workgroups<tiles = [{{[0-9]+}}, 0, {{(0|64)}}, 0, 0], because = "4 for each of 4 cores, half the second-level cache has room for {{[0-9]+}} rows">
func.func private @sideBySide(%x: memref<56x56x64xf32>, %k: memref<3x3x64xf32>, %o: memref<56x56x64xf32>)
    attributes {plim.dispatch_function, plim.parallel_loops = array<i64: 0, 1, 2>} {
  %zero = arith.constant 0.0 : f32
  %xt = bufferization.to_tensor %x restrict : memref<56x56x64xf32> to tensor<56x56x64xf32>
  %kt = bufferization.to_tensor %k restrict : memref<3x3x64xf32> to tensor<3x3x64xf32>
  %ot = bufferization.to_tensor %o restrict writable : memref<56x56x64xf32> to tensor<56x56x64xf32>
  %e = tensor.empty() : tensor<58x58x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<58x58x64xf32>) -> tensor<58x58x64xf32>
  %p = tensor.insert_slice %xt into %f[1, 1, 0] [56, 56, 64] [1, 1, 1] : tensor<56x56x64xf32> into tensor<58x58x64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(h, w, c, y, x) -> (h + y, w + x, c)>, affine_map<(h, w, c, y, x) -> (y, x, c)>, affine_map<(h, w, c, y, x) -> (h, w, c)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%p, %kt : tensor<58x58x64xf32>, tensor<3x3x64xf32>) outs(%ot : tensor<56x56x64xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %m = arith.mulf %a, %b : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<56x56x64xf32>
  bufferization.materialize_in_destination %r in restrict writable %o : (tensor<56x56x64xf32>, memref<56x56x64xf32>) -> ()
  return
}
