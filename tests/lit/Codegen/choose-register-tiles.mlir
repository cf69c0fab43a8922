// RUN: plimsoll-opt %s -plim-attach-target=tag=x86-64-v2 -plim-choose-register-tiles -split-input-file | FileCheck %s --check-prefix=V2
// RUN: plimsoll-opt %s -plim-attach-target=tag=x86-64-v3 -plim-choose-register-tiles -split-input-file | FileCheck %s --check-prefix=V3
// RUN: plimsoll-opt %s -plim-attach-target=tag=x86-64-v4 -plim-choose-register-tiles -split-input-file | FileCheck %s --check-prefix=V4
// RUN: plimsoll-opt %s -plim-attach-target=tag=aarch64-neoverse-v2 -plim-choose-register-tiles -split-input-file | FileCheck %s --check-prefix=NEON
// RUN: plimsoll-opt %s -plim-attach-target=tag=cortex-m7 -plim-choose-register-tiles -split-input-file | FileCheck %s --check-prefix=SCALAR

// As many accumulators as the registers of the target hold; none where it has no vectors.
//   V2: plim.strategy = [#plim.registers<rows = 4, row_loop = 0, columns = 8, column_loop = 1, lanes = 4, terms = 0, because = "8 of 16 registers">]
//   V3: plim.strategy = [#plim.registers<rows = 6, row_loop = 0, columns = 16, column_loop = 1, lanes = 8, terms = 0, because = "12 of 16 registers">]
//   V4: plim.strategy = [#plim.registers<rows = 12, row_loop = 0, columns = 32, column_loop = 1, lanes = 16, terms = 0, because = "24 of 32 registers">]
// NEON: plim.strategy = [#plim.registers<rows = 8, row_loop = 0, columns = 8, column_loop = 1, lanes = 4, terms = 0, because = "16 of 32 registers">]
// SCALAR-NOT: plim.registers
func.func private @product(%a: tensor<120x600xf32>, %b: tensor<600x64xf32>, %c: tensor<120x64xf32>) -> tensor<120x64xf32>
    attributes {plim.dispatch_function} {
  %r = linalg.matmul ins(%a, %b : tensor<120x600xf32>, tensor<600x64xf32>) outs(%c : tensor<120x64xf32>) -> tensor<120x64xf32>
  return %r : tensor<120x64xf32>
}

// -----

// Sums of four terms or fewer are unrolled whole: one vector a row, so that the elements of the rows are operands in memory.
//   V3: rows = 12, row_loop = 0, columns = 8, column_loop = 1, lanes = 8, terms = 0, because = "12 of 16 registers"
//   V4: rows = 24, row_loop = 0, columns = 16, column_loop = 1, lanes = 16, terms = 0, because = "24 of 32 registers"
//   V4: rows = 12, row_loop = 0, columns = 32,
func.func private @fewTerms(%a: tensor<120x4xf32>, %b: tensor<4x60xf32>, %c: tensor<120x60xf32>,
                            %d: tensor<120x5xf32>, %e: tensor<5x60xf32>, %f: tensor<120x60xf32>)
    -> (tensor<120x60xf32>, tensor<120x60xf32>) attributes {plim.dispatch_function} {
  %r = linalg.matmul ins(%a, %b : tensor<120x4xf32>, tensor<4x60xf32>) outs(%c : tensor<120x60xf32>) -> tensor<120x60xf32>
  %s = linalg.matmul ins(%d, %e : tensor<120x5xf32>, tensor<5x60xf32>) outs(%f : tensor<120x60xf32>) -> tensor<120x60xf32>
  return %r, %s : tensor<120x60xf32>, tensor<120x60xf32>
}

// -----

// 14 rows where 14 divides them and 12 does not; rows of 4096 bytes fall on one set.
//   V4: because = "28 of 32 registers"
//   V4: because = "rows fall on one set of the nearest cache, 12 of 32 registers"
func.func private @rows(%a: tensor<112x600xf32>, %b: tensor<600x64xf32>, %c: tensor<112x64xf32>,
                        %d: tensor<112x1024xf32>, %e: tensor<1024x64xf32>, %f: tensor<112x64xf32>)
    -> (tensor<112x64xf32>, tensor<112x64xf32>) attributes {plim.dispatch_function} {
  %r = linalg.matmul ins(%a, %b : tensor<112x600xf32>, tensor<600x64xf32>) outs(%c : tensor<112x64xf32>) -> tensor<112x64xf32>
  %s = linalg.matmul ins(%d, %e : tensor<112x1024xf32>, tensor<1024x64xf32>) outs(%f : tensor<112x64xf32>) -> tensor<112x64xf32>
  return %r, %s : tensor<112x64xf32>, tensor<112x64xf32>
}

// -----

// Columns of many rows wait in the nearest cache while others see the same rows, eight of them; none wait
// where there are few rows, or no more columns than a tile has.
//   V3: rows = 1, row_loop = -1, columns = 32, column_loop = 0, lanes = 8, terms = 8, because = "4 of 16 registers, other columns wait in the nearest cache"
//   V4: rows = 1, row_loop = -1, columns = 64, column_loop = 0, lanes = 16, terms = 8, because = "4 of 32 registers, other columns wait in the nearest cache"
//   V4: columns = 128, column_loop = 0, lanes = 16, terms = 0, because = "8 of 32 registers"
//   V4: columns = 64, column_loop = 0, lanes = 16, terms = 0,
func.func private @columns(%a: tensor<65x1024xf32>, %b: tensor<65x500xf32>, %c: tensor<?x?xf32>, %d: tensor<64x1024xf32>,
                           %e: tensor<500x64xf32>, %ra: tensor<1024xf32>, %rb: tensor<500xf32>, %rc: tensor<?xf32>, %re: tensor<64xf32>)
    -> (tensor<1024xf32>, tensor<500xf32>, tensor<?xf32>, tensor<1024xf32>, tensor<64xf32>) attributes {plim.dispatch_function} {
  %0 = linalg.generic {indexing_maps = [affine_map<(j, i) -> (i, j)>, affine_map<(j, i) -> (j)>], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<65x1024xf32>) outs(%ra : tensor<1024xf32>) {
  ^bb0(%x: f32, %s: f32):
    %t = arith.addf %s, %x : f32
    linalg.yield %t : f32
  } -> tensor<1024xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(j, i) -> (i, j)>, affine_map<(j, i) -> (j)>], iterator_types = ["parallel", "reduction"]}
      ins(%b : tensor<65x500xf32>) outs(%rb : tensor<500xf32>) {
  ^bb0(%x: f32, %s: f32):
    %t = arith.addf %s, %x : f32
    linalg.yield %t : f32
  } -> tensor<500xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(j, i) -> (i, j)>, affine_map<(j, i) -> (j)>], iterator_types = ["parallel", "reduction"]}
      ins(%c : tensor<?x?xf32>) outs(%rc : tensor<?xf32>) {
  ^bb0(%x: f32, %s: f32):
    %t = arith.addf %s, %x : f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  %3 = linalg.generic {indexing_maps = [affine_map<(j, i) -> (i, j)>, affine_map<(j, i) -> (j)>], iterator_types = ["parallel", "reduction"]}
      ins(%d : tensor<64x1024xf32>) outs(%ra : tensor<1024xf32>) {
  ^bb0(%x: f32, %s: f32):
    %t = arith.addf %s, %x : f32
    linalg.yield %t : f32
  } -> tensor<1024xf32>
  %4 = linalg.generic {indexing_maps = [affine_map<(j, i) -> (i, j)>, affine_map<(j, i) -> (j)>], iterator_types = ["parallel", "reduction"]}
      ins(%e : tensor<500x64xf32>) outs(%re : tensor<64xf32>) {
  ^bb0(%x: f32, %s: f32):
    %t = arith.addf %s, %x : f32
    linalg.yield %t : f32
  } -> tensor<64xf32>
  return %0, %1, %2, %3, %4 : tensor<1024xf32>, tensor<500xf32>, tensor<?xf32>, tensor<1024xf32>, tensor<64xf32>
}

// -----

// Rows beside a mean of each are reduced as rows: the columns of the mean are no columns of what is summed.
// V4-LABEL: func.func private @deviations(
//   V4-NOT: plim.registers
func.func private @deviations(%x: tensor<512x1024xf32>, %mean: tensor<512xf32>, %o: tensor<512xf32>) -> tensor<512xf32>
    attributes {plim.dispatch_function} {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%x, %mean : tensor<512x1024xf32>, tensor<512xf32>) outs(%o : tensor<512xf32>) {
  ^bb0(%e: f32, %m: f32, %s: f32):
    %d = arith.subf %e, %m : f32
    %q = arith.mulf %d, %d : f32
    %t = arith.addf %s, %q : f32
    linalg.yield %t : f32
  } -> tensor<512xf32>
  return %r : tensor<512xf32>
}
