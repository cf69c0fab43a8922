// RUN: plimsoll-opt %s -plim-collapse-reductions -split-input-file | FileCheck %s

// The two loops of each plane are one; extents need not be known.
// CHECK-LABEL: func.func @planes(
//       CHECK: %[[A:.*]] = tensor.collapse_shape %arg0 {{\[}}[0], [1], [2, 3]] : tensor<?x512x?x7xf32> into tensor<?x512x?xf32>
//       CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[A]] : tensor<?x512x?xf32>)
func.func @planes(%a: tensor<?x512x?x7xf32>, %c: tensor<?x512xf32>) -> tensor<?x512xf32> {
  %r = linalg.reduce { arith.maximumf } ins(%a : tensor<?x512x?x7xf32>) outs(%c : tensor<?x512xf32>) dimensions = [2, 3]
  return %r : tensor<?x512xf32>
}

// -----

// Of three loops the first one lies apart. Those around it follow in what lies between.
// CHECK-LABEL: func.func @apart(
//       CHECK: linalg.generic {{.*}}iterator_types = ["reduction", "parallel", "reduction"]} ins(%{{.*}} : tensor<8x64x3136xi32>)
func.func @apart(%a: tensor<8x64x56x56xi32>, %c: tensor<64xi32>) -> tensor<64xi32> {
  %r = linalg.reduce { arith.addi } ins(%a : tensor<8x64x56x56xi32>) outs(%c : tensor<64xi32>) dimensions = [0, 2, 3]
  return %r : tensor<64xi32>
}

// -----

// Two inputs that have the loops in the same order, and one that has them in another.
#abc = affine_map<(a, b, c) -> (a, b, c)>
#acb = affine_map<(a, b, c) -> (a, c, b)>
#a = affine_map<(a, b, c) -> (a)>
// CHECK-LABEL: func.func @weighted(
//       CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]} ins(%{{.*}}, %{{.*}} : tensor<9x20xf32>, tensor<9x20xf32>)
//       CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction", "reduction"]} ins(%{{.*}}, %{{.*}} : tensor<9x4x5xf32>, tensor<9x5x4xf32>)
func.func @weighted(%x: tensor<9x4x5xf32>, %w: tensor<9x4x5xf32>, %y: tensor<9x4x5xf32>,
                    %v: tensor<9x5x4xf32>, %c: tensor<9xf32>) -> (tensor<9xf32>, tensor<9xf32>) {
  %r = linalg.generic {indexing_maps = [#abc, #abc, #a], iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%x, %w : tensor<9x4x5xf32>, tensor<9x4x5xf32>) outs(%c : tensor<9xf32>) {
  ^bb0(%p: f32, %q: f32, %s: f32):
    %m = arith.mulf %p, %q : f32
    %n = arith.addf %s, %m : f32
    linalg.yield %n : f32
  } -> tensor<9xf32>
  %t = linalg.generic {indexing_maps = [#abc, #acb, #a], iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%y, %v : tensor<9x4x5xf32>, tensor<9x5x4xf32>) outs(%c : tensor<9xf32>) {
  ^bb0(%p: f32, %q: f32, %s: f32):
    %m = arith.mulf %p, %q : f32
    %n = arith.addf %s, %m : f32
    linalg.yield %n : f32
  } -> tensor<9xf32>
  return %r, %t : tensor<9xf32>, tensor<9xf32>
}

// -----

// Left alone: what reads its input too could be computed along with it; what asks for positions; loops that are not side by
// side; what is for a device.
// CHECK-LABEL: func.func @company(
//   CHECK-NOT: collapse_shape
//       CHECK: return
#all = affine_map<(i, j, k) -> (i, j, k)>
#row = affine_map<(i, j, k) -> (i)>
func.func @company(%a: tensor<6x7x8xf32>, %b: tensor<6x7x8xf32>, %d: tensor<6x7x8xf32>, %e: tensor<6x7x8xf32>, %c: tensor<6xf32>,
                   %i: tensor<6xindex>, %f: tensor<7xf32>)
    -> (tensor<6xf32>, tensor<6xf32>, tensor<6xindex>, tensor<7xf32>, tensor<6xf32>) {
  %r = linalg.reduce { arith.addf } ins(%a : tensor<6x7x8xf32>) outs(%c : tensor<6xf32>) dimensions = [1, 2]
  %s = linalg.reduce { arith.maximumf } ins(%a : tensor<6x7x8xf32>) outs(%c : tensor<6xf32>) dimensions = [1, 2]
  %t = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%b : tensor<6x7x8xf32>) outs(%i : tensor<6xindex>) {
  ^bb0(%p: f32, %q: index):
    %k = linalg.index 2 : index
    %m = arith.addi %q, %k : index
    linalg.yield %m : index
  } -> tensor<6xindex>
  %u = linalg.reduce { arith.addf } ins(%d : tensor<6x7x8xf32>) outs(%f : tensor<7xf32>) dimensions = [0, 2]
  %v = linalg.reduce { arith.addf } ins(%e : tensor<6x7x8xf32>) outs(%c : tensor<6xf32>) dimensions = [1, 2] {plim.device = "npu"}
  return %r, %s, %t, %u, %v : tensor<6xf32>, tensor<6xf32>, tensor<6xindex>, tensor<7xf32>, tensor<6xf32>
}

// -----

// Nothing times an unknown number is nothing, which the types would say, and the buffers not.
// CHECK-LABEL: func.func @nothing(
//   CHECK-NOT: collapse_shape
//       CHECK: return
#ijk = affine_map<(i, j, k) -> (i, j, k)>
#only = affine_map<(i, j, k) -> (i)>
func.func @nothing(%x: tensor<0x0x?xi32>, %o: tensor<?xi32>) -> tensor<?xi32> {
  %r = linalg.generic {indexing_maps = [#ijk, #only], iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%x : tensor<0x0x?xi32>) outs(%o : tensor<?xi32>) {
  ^bb0(%a: i32, %s: i32):
    %t = arith.addi %s, %a : i32
    linalg.yield %t : i32
  } -> tensor<?xi32>
  return %r : tensor<?xi32>
}

// -----

// Windows without gaps are rows if they are wide; what says how wide goes.
// CHECK-LABEL: func.func @windows
//       CHECK:   %[[R:.*]] = tensor.expand_shape %{{.*}} {{\[}}[0], [1, 2]] output_shape [8, 5, 100] : tensor<8x500xf32> into tensor<8x5x100xf32>
//       CHECK:   linalg.generic {{.*}} ins(%[[R]] : tensor<8x5x100xf32>)
// A rest, a gap, or a window that is short.
//   CHECK-NOT:   tensor.expand_shape
//       CHECK:   return
#rest = affine_map<(r, o, w) -> (r, o * 100 + w)>
#gap = affine_map<(r, o, w) -> (r, o * 125 + w)>
#short = affine_map<(r, o, w) -> (r, o * 20 + w)>
#width = affine_map<(r, o, w) -> (w)>
#out = affine_map<(r, o, w) -> (r, o)>
func.func @windows(%x: tensor<8x500xf32>, %y: tensor<8x520xf32>, %w: tensor<100xf32>, %v: tensor<20xf32>, %o: tensor<8x5xf32>, %p: tensor<8x4xf32>, %q: tensor<8x25xf32>)
    -> (tensor<8x5xf32>, tensor<8x5xf32>, tensor<8x4xf32>, tensor<8x25xf32>) {
  %a = linalg.generic {indexing_maps = [#rest, #width, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<8x500xf32>, tensor<100xf32>) outs(%o : tensor<8x5xf32>) {
  ^bb0(%in: f32, %unused: f32, %so: f32):
    %m = arith.maximumf %in, %so : f32
    linalg.yield %m : f32
  } -> tensor<8x5xf32>
  %b = linalg.generic {indexing_maps = [#rest, #width, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%y, %w : tensor<8x520xf32>, tensor<100xf32>) outs(%o : tensor<8x5xf32>) {
  ^bb0(%in: f32, %unused: f32, %so: f32):
    %m = arith.maximumf %in, %so : f32
    linalg.yield %m : f32
  } -> tensor<8x5xf32>
  %c = linalg.generic {indexing_maps = [#gap, #width, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<8x500xf32>, tensor<100xf32>) outs(%p : tensor<8x4xf32>) {
  ^bb0(%in: f32, %unused: f32, %so: f32):
    %m = arith.maximumf %in, %so : f32
    linalg.yield %m : f32
  } -> tensor<8x4xf32>
  %d = linalg.generic {indexing_maps = [#short, #width, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %v : tensor<8x500xf32>, tensor<20xf32>) outs(%q : tensor<8x25xf32>) {
  ^bb0(%in: f32, %unused: f32, %so: f32):
    %m = arith.maximumf %in, %so : f32
    linalg.yield %m : f32
  } -> tensor<8x25xf32>
  return %a, %b, %c, %d : tensor<8x5xf32>, tensor<8x5xf32>, tensor<8x4xf32>, tensor<8x25xf32>
}

// -----

// Places of the largest elements of three columns are chosen along rows.
// CHECK-LABEL: func.func @argmax(
//       CHECK: %[[ROWS:.*]] = linalg.transpose ins(%{{.*}} : tensor<?x3xf32>) {{.*}} permutation = [1, 0]
//       CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]} ins(%[[ROWS]] : tensor<3x?xf32>)
//       CHECK: linalg.index 1
func.func @argmax(%x: tensor<?x3xf32>, %m: tensor<3xf32>, %p: tensor<3xindex>) -> tensor<3xindex> {
  %r:2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d1)>],
                         iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<?x3xf32>) outs(%m, %p : tensor<3xf32>, tensor<3xindex>) {
  ^bb0(%e: f32, %most: f32, %place: index):
    %i = linalg.index 0 : index
    %is = arith.cmpf ogt, %e, %most : f32
    %v = arith.select %is, %e, %most : f32
    %w = arith.select %is, %i, %place : index
    linalg.yield %v, %w : f32, index
  } -> (tensor<3xf32>, tensor<3xindex>)
  return %r#1 : tensor<3xindex>
}

// Five columns are not few.
// CHECK-LABEL: func.func @wide(
//   CHECK-NOT: linalg.transpose
func.func @wide(%x: tensor<?x5xf32>, %m: tensor<5xf32>, %p: tensor<5xindex>) -> tensor<5xindex> {
  %r:2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d1)>],
                         iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<?x5xf32>) outs(%m, %p : tensor<5xf32>, tensor<5xindex>) {
  ^bb0(%e: f32, %most: f32, %place: index):
    %i = linalg.index 0 : index
    %is = arith.cmpf ogt, %e, %most : f32
    %v = arith.select %is, %e, %most : f32
    %w = arith.select %is, %i, %place : index
    linalg.yield %v, %w : f32, index
  } -> (tensor<5xf32>, tensor<5xindex>)
  return %r#1 : tensor<5xindex>
}
