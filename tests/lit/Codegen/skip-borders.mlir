// RUN: plimsoll-opt %s -plim-skip-borders -split-input-file | FileCheck %s

// Windows of 3 by 3 with places 6 apart, over lines of one pixel and tiles of eight columns: rows above and below the image are left
// out; of columns none is, since each tile of eight reaches into the image.
// CHECK-DAG:   #[[$BEGIN:.*]] = affine_map<()[s0] -> ((-s0 + 6) ceildiv 6, 0)>
// CHECK-DAG:   #[[$END:.*]] = affine_map<()[s0] -> ((-s0 + 16) ceildiv 6, 3)>
// CHECK-LABEL: func.func private @rows(
//       CHECK:   scf.for %[[Y:.*]] = %c0 to %c10
//       CHECK:     scf.for %[[X:.*]] = %c0 to %c16 step %c8
//       CHECK:       %[[FROM:.*]] = affine.max #[[$BEGIN]]()[%[[Y]]]
//       CHECK:       %[[TO:.*]] = affine.min #[[$END]]()[%[[Y]]]
//       CHECK:       scf.for %[[KY:.*]] = %[[FROM]] to %[[TO]] step %c1
//       CHECK:         scf.for %[[KX:.*]] = %c0 to %c3 step %c1
//   CHECK-NOT:         plim.most_iterations
//       CHECK:         scf.yield
//       CHECK:       } {plim.most_iterations = 3 : i64}
func.func private @rows(%image: tensor<10x16xf32>, %w: tensor<3x3x16xf32>, %r: tensor<10x16x16xf32>) -> tensor<10x16x16xf32> attributes {plim.dispatch_function} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  %c10 = arith.constant 10 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<22x28xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<22x28xf32>) -> tensor<22x28xf32>
  %p = tensor.insert_slice %image into %f[6, 6] [10, 16] [1, 1] : tensor<10x16xf32> into tensor<22x28xf32>
  %z = arith.constant dense<0.0> : vector<8x16xf32>
  %all = scf.for %y = %c0 to %c10 step %c1 iter_args(%ry = %r) -> (tensor<10x16x16xf32>) {
    %line = scf.for %x = %c0 to %c16 step %c8 iter_args(%rx = %ry) -> (tensor<10x16x16xf32>) {
      %s = scf.for %ky = %c0 to %c3 step %c1 iter_args(%sy = %z) -> (vector<8x16xf32>) {
        %t = scf.for %kx = %c0 to %c3 step %c1 iter_args(%sx = %sy) -> (vector<8x16xf32>) {
          %i = affine.apply affine_map<(k)[s] -> (k * 6 + s)>(%ky)[%y]
          %j = affine.apply affine_map<(k)[s] -> (k * 6 + s)>(%kx)[%x]
          %a = vector.transfer_read %p[%i, %j], %zero {in_bounds = [true, true], permutation_map = affine_map<(i, j) -> (j, 0)>} : tensor<22x28xf32>, vector<8x16xf32>
          %b = vector.transfer_read %w[%ky, %kx, %c0], %zero {in_bounds = [true, true], permutation_map = affine_map<(i, j, k) -> (0, k)>} : tensor<3x3x16xf32>, vector<8x16xf32>
          %m = arith.mulf %a, %b : vector<8x16xf32>
          %n = arith.addf %sx, %m : vector<8x16xf32>
          scf.yield %n : vector<8x16xf32>
        }
        scf.yield %t : vector<8x16xf32>
      }
      %u = vector.transfer_write %s, %rx[%y, %x, %c0] {in_bounds = [true, true]} : vector<8x16xf32>, tensor<10x16x16xf32>
      scf.yield %u : tensor<10x16x16xf32>
    }
    scf.yield %line : tensor<10x16x16xf32>
  }
  return %all : tensor<10x16x16xf32>
}

// -----

// One pixel of an argument with a border: of nine places the one in the middle is left.
// CHECK-LABEL: func.func private @pixel(
//       CHECK:   scf.for %{{.*}} = %c1{{.*}} to %c2 step %c1
func.func private @pixel(%p: tensor<3xf32> {plim.zero_borders = array<i64: 1, 1>}, %w: tensor<3x16xf32>, %z: vector<16xf32>) -> vector<16xf32> attributes {plim.dispatch_function} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %s = scf.for %k = %c0 to %c3 step %c1 iter_args(%sum = %z) -> (vector<16xf32>) {
    %a = vector.transfer_read %p[%k], %zero {in_bounds = [true], permutation_map = affine_map<(i) -> (0)>} : tensor<3xf32>, vector<16xf32>
    %b = vector.transfer_read %w[%k, %c0], %zero {in_bounds = [true]} : tensor<3x16xf32>, vector<16xf32>
    %m = arith.mulf %a, %b : vector<16xf32>
    %n = arith.addf %sum, %m : vector<16xf32>
    scf.yield %n : vector<16xf32>
  }
  return %s : vector<16xf32>
}

// Where there is more in the body than products of what is read, a border does count: a maximum of zero and what was there.
// CHECK-LABEL: func.func private @maximum(
//       CHECK:   scf.for %{{.*}} = %c0 to %c3 step %c1
func.func private @maximum(%p: tensor<3xf32> {plim.zero_borders = array<i64: 1, 1>}, %w: tensor<3x16xf32>, %z: vector<16xf32>) -> vector<16xf32> attributes {plim.dispatch_function} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %s = scf.for %k = %c0 to %c3 step %c1 iter_args(%sum = %z) -> (vector<16xf32>) {
    %a = vector.transfer_read %p[%k], %zero {in_bounds = [true], permutation_map = affine_map<(i) -> (0)>} : tensor<3xf32>, vector<16xf32>
    %b = vector.transfer_read %w[%k, %c0], %zero {in_bounds = [true]} : tensor<3x16xf32>, vector<16xf32>
    %m = arith.mulf %a, %b : vector<16xf32>
    %n = arith.maximumf %sum, %m : vector<16xf32>
    scf.yield %n : vector<16xf32>
  }
  return %s : vector<16xf32>
}

// The sum is also scaled in each iteration.
// CHECK-LABEL: func.func private @scaled(
//       CHECK:   scf.for %{{.*}} = %c0 to %c3 step %c1
func.func private @scaled(%p: tensor<3xf32> {plim.zero_borders = array<i64: 1, 1>}, %w: tensor<3x16xf32>, %z: vector<16xf32>) -> vector<16xf32> attributes {plim.dispatch_function} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %s = scf.for %k = %c0 to %c3 step %c1 iter_args(%sum = %z) -> (vector<16xf32>) {
    %a = vector.transfer_read %p[%k], %zero {in_bounds = [true], permutation_map = affine_map<(i) -> (0)>} : tensor<3xf32>, vector<16xf32>
    %b = vector.transfer_read %w[%k, %c0], %zero {in_bounds = [true]} : tensor<3x16xf32>, vector<16xf32>
    %d = arith.addf %sum, %sum : vector<16xf32>
    %m = arith.mulf %a, %b : vector<16xf32>
    %n = arith.addf %d, %m : vector<16xf32>
    scf.yield %n : vector<16xf32>
  }
  return %s : vector<16xf32>
}
