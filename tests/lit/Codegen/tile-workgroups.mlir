// RUN: plimsoll-opt %s -plim-choose-workgroups -plim-tile-workgroups -split-input-file | FileCheck %s

#map = affine_map<(d0, d1) -> (d0, d1)>

// A large contraction with its consumer: one forall, all ops inside on tiles, the output written in place. A few
// workgroups for the one core; as many rows as the second-level cache has room for, which divide the extent, so that
// all tiles are whole.
// CHECK-LABEL: func.func private @contraction(
//  CHECK-SAME: plim.cost = {{[1-9][0-9]*}} : i64
//       CHECK: %[[RESULT:.*]] = scf.forall (%[[I:.*]]) = (0) to (1024) step (128) shared_outs(%[[O:.*]] = %{{.*}})
//       CHECK: linalg.fill {{.*}} outs(%{{.*}} : tensor<128x1024xf32>)
//       CHECK: linalg.matmul {{.*}} -> tensor<128x1024xf32>
//       CHECK: tensor.extract_slice %[[O]][%[[I]], 0]
//       CHECK: linalg.generic
//       CHECK: tensor.parallel_insert_slice %{{.*}} into %[[O]][%[[I]], 0]
//   CHECK-NOT: linalg.
//       CHECK: bufferization.materialize_in_destination %[[RESULT]]
func.func private @contraction(%a: memref<1024x1024xf32>, %o: memref<1024x1024xf32>)
    attributes {plim.dispatch_function, plim.parallel_loops = array<i64: 0, 1>} {
  %z = arith.constant 0.0 : f32
  %at = bufferization.to_tensor %a restrict : memref<1024x1024xf32> to tensor<1024x1024xf32>
  %ot = bufferization.to_tensor %o restrict writable : memref<1024x1024xf32> to tensor<1024x1024xf32>
  %e = tensor.empty() : tensor<1024x1024xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %m = linalg.matmul ins(%at, %at : tensor<1024x1024xf32>, tensor<1024x1024xf32>)
                     outs(%f : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %r = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%m : tensor<1024x1024xf32>) outs(%ot : tensor<1024x1024xf32>) {
  ^bb0(%x: f32, %old: f32):
    %y = arith.maximumf %x, %z : f32
    linalg.yield %y : f32
  } -> tensor<1024x1024xf32>
  bufferization.materialize_in_destination %r in restrict writable %o
      : (tensor<1024x1024xf32>, memref<1024x1024xf32>) -> ()
  return
}

// -----

// Sums of products that lie along the reduction, no product of matrices: no columns that should be together.
// CHECK-LABEL: func.func private @dots(
//       CHECK: scf.forall (%{{.*}}) in (8)
func.func private @dots(%x: memref<8x262144xf32>, %y: memref<8x262144xf32>, %o: memref<8xf32>)
    attributes {plim.dispatch_function, plim.parallel_loops = array<i64: 0>} {
  %xt = bufferization.to_tensor %x restrict : memref<8x262144xf32> to tensor<8x262144xf32>
  %yt = bufferization.to_tensor %y restrict : memref<8x262144xf32> to tensor<8x262144xf32>
  %ot = bufferization.to_tensor %o restrict writable : memref<8xf32> to tensor<8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%xt, %yt : tensor<8x262144xf32>, tensor<8x262144xf32>) outs(%ot : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  bufferization.materialize_in_destination %r in restrict writable %o : (tensor<8xf32>, memref<8xf32>) -> ()
  return
}

// -----

// No number of rows near the plan divides a prime or an unknown extent: whole register tiles, in about equal numbers where that
// can be known.
// CHECK-LABEL: func.func private @prime_rows(
//       CHECK: scf.forall (%{{.*}}) = (0) to (1021) step (132)
func.func private @prime_rows(%a: memref<1021x1024xf32>, %b: memref<1024x1024xf32>,
                              %o: memref<1021x1024xf32>)
    attributes {plim.dispatch_function, plim.parallel_loops = array<i64: 0, 1>} {
  %at = bufferization.to_tensor %a restrict : memref<1021x1024xf32> to tensor<1021x1024xf32>
  %bt = bufferization.to_tensor %b restrict : memref<1024x1024xf32> to tensor<1024x1024xf32>
  %ot = bufferization.to_tensor %o restrict writable : memref<1021x1024xf32> to tensor<1021x1024xf32>
  %m = linalg.matmul ins(%at, %bt : tensor<1021x1024xf32>, tensor<1024x1024xf32>)
                     outs(%ot : tensor<1021x1024xf32>) -> tensor<1021x1024xf32>
  bufferization.materialize_in_destination %m in restrict writable %o
      : (tensor<1021x1024xf32>, memref<1021x1024xf32>) -> ()
  return
}
// CHECK-LABEL: func.func private @unknown_rows(
//       CHECK: scf.forall (%{{.*}}, %{{.*}}) = (0, 0) to (%{{.*}}, 1024) step (120, 512)
func.func private @unknown_rows(%a: memref<?x1024xf32>, %b: memref<1024x1024xf32>,
                                %o: memref<?x1024xf32>)
    attributes {plim.dispatch_function, plim.parallel_loops = array<i64: 0, 1>} {
  %at = bufferization.to_tensor %a restrict : memref<?x1024xf32> to tensor<?x1024xf32>
  %bt = bufferization.to_tensor %b restrict : memref<1024x1024xf32> to tensor<1024x1024xf32>
  %ot = bufferization.to_tensor %o restrict writable : memref<?x1024xf32> to tensor<?x1024xf32>
  %m = linalg.matmul ins(%at, %bt : tensor<?x1024xf32>, tensor<1024x1024xf32>)
                     outs(%ot : tensor<?x1024xf32>) -> tensor<?x1024xf32>
  bufferization.materialize_in_destination %m in restrict writable %o
      : (tensor<?x1024xf32>, memref<?x1024xf32>) -> ()
  return
}

// -----

// More cores get more and smaller workgroups, a smaller cache fewer rows.
module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "host" = #dlti.target_device_spec<"plim.kind" = "cpu", "plim.cores" = 16 : i64,
        "plim.caches" = [#dlti.map<"level" = 2 : i64, "bytes" = 262144 : i64>]>>} {
// CHECK-LABEL: func.func private @many_cores(
//       CHECK: scf.forall (%{{.*}}, %{{.*}}) = (0, 0) to (1024, 1024) step (64, 256)
func.func private @many_cores(%a: memref<1024x1024xf32>, %o: memref<1024x1024xf32>)
    attributes {plim.dispatch_function, plim.parallel_loops = array<i64: 0, 1>} {
  %at = bufferization.to_tensor %a restrict : memref<1024x1024xf32> to tensor<1024x1024xf32>
  %ot = bufferization.to_tensor %o restrict writable : memref<1024x1024xf32> to tensor<1024x1024xf32>
  %m = linalg.matmul ins(%at, %at : tensor<1024x1024xf32>, tensor<1024x1024xf32>)
                     outs(%ot : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  bufferization.materialize_in_destination %m in restrict writable %o
      : (tensor<1024x1024xf32>, memref<1024x1024xf32>) -> ()
  return
}
}

// -----

// Columns that are split make workgroups of equal widths, where there is such a number. One row reads each of its factors once, which costs
// more than to multiply them.
// CHECK-LABEL: func.func private @columns_divide(
//       CHECK: scf.forall (%{{.*}}) = (0) to (3072) step (768)
//       CHECK: linalg.matmul {{.*}} -> tensor<1x768xf32>
func.func private @columns_divide(%a: memref<1x768xf32>, %b: memref<768x3072xf32>, %o: memref<1x3072xf32>)
    attributes {plim.dispatch_function, plim.parallel_loops = array<i64: 0, 1>} {
  %at = bufferization.to_tensor %a restrict : memref<1x768xf32> to tensor<1x768xf32>
  %bt = bufferization.to_tensor %b restrict : memref<768x3072xf32> to tensor<768x3072xf32>
  %ot = bufferization.to_tensor %o restrict writable : memref<1x3072xf32> to tensor<1x3072xf32>
  %r = linalg.matmul ins(%at, %bt : tensor<1x768xf32>, tensor<768x3072xf32>)
                     outs(%ot : tensor<1x3072xf32>) -> tensor<1x3072xf32>
  bufferization.materialize_in_destination %r in restrict writable %o
      : (tensor<1x3072xf32>, memref<1x3072xf32>) -> ()
  return
}

// -----

// Where there is none, rows are split instead.
// CHECK-LABEL: func.func private @columns_whole(
//       CHECK: scf.forall (%{{.*}}) = (0) to (200) step ({{[0-9]+}})
//       CHECK: linalg.matmul {{.*}} -> tensor<{{[0-9]+}}x200xf32>
func.func private @columns_whole(%a: memref<200x200xf32>, %b: memref<200x200xf32>, %o: memref<200x200xf32>)
    attributes {plim.dispatch_function, plim.parallel_loops = array<i64: 0, 1>} {
  %at = bufferization.to_tensor %a restrict : memref<200x200xf32> to tensor<200x200xf32>
  %bt = bufferization.to_tensor %b restrict : memref<200x200xf32> to tensor<200x200xf32>
  %ot = bufferization.to_tensor %o restrict writable : memref<200x200xf32> to tensor<200x200xf32>
  %r = linalg.matmul ins(%at, %bt : tensor<200x200xf32>, tensor<200x200xf32>)
                     outs(%ot : tensor<200x200xf32>) -> tensor<200x200xf32>
  bufferization.materialize_in_destination %r in restrict writable %o
      : (tensor<200x200xf32>, memref<200x200xf32>) -> ()
  return
}

// -----

// ... unless there are too few.
// CHECK-LABEL: func.func private @columns_rest(
//       CHECK: scf.forall (%{{.*}}) = (0) to (5003) step ({{[0-9]+}})
//       CHECK: linalg.matmul {{.*}} -> tensor<3x?xf32>
func.func private @columns_rest(%a: memref<3x512xf32>, %b: memref<512x5003xf32>, %o: memref<3x5003xf32>)
    attributes {plim.dispatch_function, plim.parallel_loops = array<i64: 0, 1>} {
  %at = bufferization.to_tensor %a restrict : memref<3x512xf32> to tensor<3x512xf32>
  %bt = bufferization.to_tensor %b restrict : memref<512x5003xf32> to tensor<512x5003xf32>
  %ot = bufferization.to_tensor %o restrict writable : memref<3x5003xf32> to tensor<3x5003xf32>
  %r = linalg.matmul ins(%at, %bt : tensor<3x512xf32>, tensor<512x5003xf32>)
                     outs(%ot : tensor<3x5003xf32>) -> tensor<3x5003xf32>
  bufferization.materialize_in_destination %r in restrict writable %o
      : (tensor<3x5003xf32>, memref<3x5003xf32>) -> ()
  return
}

// -----

// No columns at all.
// CHECK-LABEL: func.func private @no_columns(
//   CHECK-NOT: scf.forall
//       CHECK: linalg.matvec
func.func private @no_columns(%a: memref<0x1xf32>, %b: memref<1xf32>, %o: memref<0xf32>)
    attributes {plim.dispatch_function, plim.parallel_loops = array<i64: 0>} {
  %at = bufferization.to_tensor %a restrict : memref<0x1xf32> to tensor<0x1xf32>
  %bt = bufferization.to_tensor %b restrict : memref<1xf32> to tensor<1xf32>
  %ot = bufferization.to_tensor %o restrict writable : memref<0xf32> to tensor<0xf32>
  %r = linalg.matvec ins(%at, %bt : tensor<0x1xf32>, tensor<1xf32>) outs(%ot : tensor<0xf32>) -> tensor<0xf32>
  bufferization.materialize_in_destination %r in restrict writable %o
      : (tensor<0xf32>, memref<0xf32>) -> ()
  return
}

// -----

// What needs whole rows of a product does not leave it one row at a time.
// CHECK-LABEL: func.func private @row_sums(
//       CHECK: scf.forall (%{{.*}}) = (0) to (128) step (64)
func.func private @row_sums(%a: memref<128x768xf32>, %b: memref<768x768xf32>, %o: memref<128xf32>)
    attributes {plim.dispatch_function, plim.parallel_loops = array<i64: 0>} {
  %z = arith.constant 0.0 : f32
  %at = bufferization.to_tensor %a restrict : memref<128x768xf32> to tensor<128x768xf32>
  %bt = bufferization.to_tensor %b restrict : memref<768x768xf32> to tensor<768x768xf32>
  %ot = bufferization.to_tensor %o restrict writable : memref<128xf32> to tensor<128xf32>
  %e = tensor.empty() : tensor<128x768xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<128x768xf32>) -> tensor<128x768xf32>
  %m = linalg.matmul ins(%at, %bt : tensor<128x768xf32>, tensor<768x768xf32>)
                     outs(%f : tensor<128x768xf32>) -> tensor<128x768xf32>
  %r = linalg.reduce {arith.addf} ins(%m : tensor<128x768xf32>) outs(%ot : tensor<128xf32>) dimensions = [1]
  bufferization.materialize_in_destination %r in restrict writable %o : (tensor<128xf32>, memref<128xf32>) -> ()
  return
}

// -----

// Only the loops listed are split.
// CHECK-LABEL: func.func private @rows_only(
//       CHECK: scf.forall (%[[I:.*]]) = (0) to (%{{.*}}) step ({{[0-9]+}})
//       CHECK: tensor.extract_slice %{{.*}}[%[[I]], 0]
//       CHECK: linalg.exp
func.func private @rows_only(%a: memref<?x?xf32>)
    attributes {plim.dispatch_function, plim.parallel_loops = array<i64: 0>} {
  %t = bufferization.to_tensor %a restrict writable : memref<?x?xf32> to tensor<?x?xf32>
  %r = linalg.exp ins(%t : tensor<?x?xf32>) outs(%t : tensor<?x?xf32>) -> tensor<?x?xf32>
  bufferization.materialize_in_destination %r in restrict writable %a
      : (tensor<?x?xf32>, memref<?x?xf32>) -> ()
  return
}

// -----

// A small problem is one workgroup; its cost is recorded all the same.
// CHECK-LABEL: func.func private @small(
//  CHECK-SAME: plim.cost = 1040 : i64
//   CHECK-NOT: scf.forall
//       CHECK: linalg.exp
func.func private @small(%a: memref<16xf32>)
    attributes {plim.dispatch_function, plim.parallel_loops = array<i64: 0>} {
  %t = bufferization.to_tensor %a restrict writable : memref<16xf32> to tensor<16xf32>
  %r = linalg.exp ins(%t : tensor<16xf32>) outs(%t : tensor<16xf32>) -> tensor<16xf32>
  bufferization.materialize_in_destination %r in restrict writable %a
      : (tensor<16xf32>, memref<16xf32>) -> ()
  return
}

// -----

// No loop may be split.
// CHECK-LABEL: func.func private @no_loops(
//   CHECK-NOT: scf.forall
//       CHECK: return
func.func private @no_loops(%a: memref<?xf32>)
    attributes {plim.dispatch_function, plim.parallel_loops = array<i64>} {
  %t = bufferization.to_tensor %a restrict writable : memref<?xf32> to tensor<?xf32>
  %r = linalg.exp ins(%t : tensor<?xf32>) outs(%t : tensor<?xf32>) -> tensor<?xf32>
  bufferization.materialize_in_destination %r in restrict writable %a
      : (tensor<?xf32>, memref<?xf32>) -> ()
  return
}

// -----

// A reduction is never split between workgroups.
// CHECK-LABEL: func.func private @reduction(
//       CHECK: scf.forall (%[[I:.*]]) = (0) to (65536) step
//       CHECK: tensor.extract_slice %{{.*}}[%[[I]], 0] [%{{.*}}, 4096] [1, 1]
//       CHECK: linalg.reduce
func.func private @reduction(%a: memref<65536x4096xf32>, %o: memref<65536xf32>)
    attributes {plim.dispatch_function, plim.parallel_loops = array<i64: 0>} {
  %at = bufferization.to_tensor %a restrict : memref<65536x4096xf32> to tensor<65536x4096xf32>
  %ot = bufferization.to_tensor %o restrict writable : memref<65536xf32> to tensor<65536xf32>
  %r = linalg.reduce {arith.addf} ins(%at : tensor<65536x4096xf32>) outs(%ot : tensor<65536xf32>)
      dimensions = [1]
  bufferization.materialize_in_destination %r in restrict writable %o
      : (tensor<65536xf32>, memref<65536xf32>) -> ()
  return
}

// -----

// What is no linalg op at its end, and what is no dispatch function, stays whole.
// CHECK-LABEL: func.func private @no_root(
//   CHECK-NOT: scf.forall
//       CHECK: return
func.func private @no_root(%a: memref<4194304xf32>, %o: memref<8388608xf32>)
    attributes {plim.dispatch_function, plim.parallel_loops = array<i64>} {
  %at = bufferization.to_tensor %a restrict : memref<4194304xf32> to tensor<4194304xf32>
  %ot = bufferization.to_tensor %o restrict writable : memref<8388608xf32> to tensor<8388608xf32>
  %r = tensor.insert_slice %at into %ot[0] [4194304] [1]
      : tensor<4194304xf32> into tensor<8388608xf32>
  bufferization.materialize_in_destination %r in restrict writable %o
      : (tensor<8388608xf32>, memref<8388608xf32>) -> ()
  return
}
// CHECK-LABEL: func.func @host(
//   CHECK-NOT: scf.forall
//   CHECK-NOT: plim.cost
//       CHECK: return
func.func @host(%a: memref<?xf32>) {
  %t = bufferization.to_tensor %a restrict writable : memref<?xf32> to tensor<?xf32>
  %r = linalg.exp ins(%t : tensor<?xf32>) outs(%t : tensor<?xf32>) -> tensor<?xf32>
  bufferization.materialize_in_destination %r in restrict writable %a
      : (tensor<?xf32>, memref<?xf32>) -> ()
  return
}

// -----

// Whole rows of a consumer take a quarter of the second-level cache, or are few.
// CHECK-LABEL: func.func private @whole_rows(
//       CHECK: scf.forall (%{{.*}}) = (0) to (2048) step (64)
//       CHECK: linalg.matmul {{.*}} -> tensor<64x2048xf32>
func.func private @whole_rows(%a: memref<2048x512xf32>, %b: memref<512x2048xf32>, %o: memref<2048x2048xf32>)
    attributes {plim.dispatch_function, plim.parallel_loops = array<i64: 0>} {
  %at = bufferization.to_tensor %a restrict : memref<2048x512xf32> to tensor<2048x512xf32>
  %bt = bufferization.to_tensor %b restrict : memref<512x2048xf32> to tensor<512x2048xf32>
  %ot = bufferization.to_tensor %o restrict writable : memref<2048x2048xf32> to tensor<2048x2048xf32>
  %r = linalg.matmul ins(%at, %bt : tensor<2048x512xf32>, tensor<512x2048xf32>)
                     outs(%ot : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  bufferization.materialize_in_destination %r in restrict writable %o
      : (tensor<2048x2048xf32>, memref<2048x2048xf32>) -> ()
  return
}

// Rows that a producer makes longer than those of the result have to fit into the cache as well: 512 of their 4096 elements at a time
// (plim-online-softmax).
// CHECK-LABEL: func.func private @long_producer(
//       CHECK: scf.forall (%{{.*}}) = (0) to (960) step (60)
func.func private @long_producer(%a: memref<960x64xf32>, %b: memref<64x4096xf32>, %c: memref<4096x64xf32>, %o: memref<960x64xf32>)
    attributes {plim.dispatch_function, plim.parallel_loops = array<i64: 0>} {
  %z = arith.constant 0.0 : f32
  %at = bufferization.to_tensor %a restrict : memref<960x64xf32> to tensor<960x64xf32>
  %bt = bufferization.to_tensor %b restrict : memref<64x4096xf32> to tensor<64x4096xf32>
  %ct = bufferization.to_tensor %c restrict : memref<4096x64xf32> to tensor<4096x64xf32>
  %ot = bufferization.to_tensor %o restrict writable : memref<960x64xf32> to tensor<960x64xf32>
  %e = tensor.empty() : tensor<960x4096xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<960x4096xf32>) -> tensor<960x4096xf32>
  %m = linalg.matmul ins(%at, %bt : tensor<960x64xf32>, tensor<64x4096xf32>) outs(%f : tensor<960x4096xf32>) -> tensor<960x4096xf32>
  %g = linalg.fill ins(%z : f32) outs(%ot : tensor<960x64xf32>) -> tensor<960x64xf32>
  %r = linalg.matmul ins(%m, %ct : tensor<960x4096xf32>, tensor<4096x64xf32>) outs(%g : tensor<960x64xf32>) -> tensor<960x64xf32>
  bufferization.materialize_in_destination %r in restrict writable %o : (tensor<960x64xf32>, memref<960x64xf32>) -> ()
  return
}
