// RUN: plimsoll-opt %s -plim-attach-target=tag=x86-64-v4 -plim-keep-quantized -split-input-file | FileCheck %s

// Blocks of 32 along what is summed, with a scale each: 128 columns are four panels of two vectors. What follows takes that shape.
// CHECK-DAG: #[[$X:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d3, d4)>
// CHECK-DAG: #[[$Q:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d1, d3, d4, d2)>
// CHECK-DAG: #[[$S:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d1, d3, d2)>
// CHECK-DAG: #[[$Y:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2)>
// CHECK-LABEL: func.func @blocks
//  CHECK-SAME:   %[[XS:.*]]: tensor<?x256xf32>
//       CHECK:   %[[XE:.*]] = tensor.expand_shape %[[XS]] {{\[}}[0], [1, 2]] {{.*}} : tensor<?x256xf32> into tensor<?x8x32xf32>
//       CHECK:   %[[QT:.*]] = linalg.transpose ins(%{{.*}} : tensor<4x32x8x32xi8>) outs(%{{.*}} : tensor<4x8x32x32xi8>) permutation = [0, 2, 3, 1]
//       CHECK:   %[[ST:.*]] = linalg.transpose ins(%{{.*}} : tensor<4x32x8xf32>) outs(%{{.*}} : tensor<4x8x32xf32>) permutation = [0, 2, 1]
//       CHECK:   %[[FILL:.*]] = linalg.fill {{.*}} -> tensor<?x4x32xf32>
//       CHECK:   %[[P:.*]] = linalg.generic {indexing_maps = [#[[$X]], #[[$Q]], #[[$S]], #[[$Y]]]
//  CHECK-SAME:     ins(%[[XE]], %[[QT]], %[[ST]] : tensor<?x8x32xf32>, tensor<4x8x32x32xi8>, tensor<4x8x32xf32>) outs(%[[FILL]] : tensor<?x4x32xf32>)
//       CHECK:     arith.sitofp %{{.*}} : i8 to f32
//       CHECK:     arith.mulf
//       CHECK:     arith.mulf
//       CHECK:     arith.addf
//       CHECK:   %[[R:.*]] = linalg.generic {{.*}} ins(%[[P]] : tensor<?x4x32xf32>)
//       CHECK:   tensor.collapse_shape %[[R]] {{\[}}[0], [1, 2]] : tensor<?x4x32xf32> into tensor<?x128xf32>
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"host" = #dlti.target_device_spec<"plim.kind" = "cpu", "plim.page_bytes" = 4096 : i64>>} {
  memref.global "private" @q : memref<128x8x32xi8>
  memref.global "private" @s : memref<128x8xf32>
  func.func @blocks(%x: tensor<?x256xf32>, %n: index) -> tensor<?x128xf32> {
    %zero = arith.constant 0.0 : f32
    %gq = memref.get_global @q : memref<128x8x32xi8>
    %q = bufferization.to_tensor %gq restrict : memref<128x8x32xi8> to tensor<128x8x32xi8>
    %gs = memref.get_global @s : memref<128x8xf32>
    %s = bufferization.to_tensor %gs restrict : memref<128x8xf32> to tensor<128x8xf32>
    %e = tensor.empty() : tensor<128x8x32xf32>
    %w = linalg.generic {indexing_maps = [affine_map<(n, b, k) -> (n, b, k)>, affine_map<(n, b, k) -> (n, b)>, affine_map<(n, b, k) -> (n, b, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%q, %s : tensor<128x8x32xi8>, tensor<128x8xf32>) outs(%e : tensor<128x8x32xf32>) {
    ^bb0(%in: i8, %scale: f32, %out: f32):
      %float = arith.sitofp %in : i8 to f32
      %weight = arith.mulf %float, %scale : f32
      linalg.yield %weight : f32
    } -> tensor<128x8x32xf32>
    %c = tensor.collapse_shape %w [[0], [1, 2]] : tensor<128x8x32xf32> into tensor<128x256xf32>
    %room = tensor.empty(%n) : tensor<?x128xf32>
    %fill = linalg.fill ins(%zero : f32) outs(%room : tensor<?x128xf32>) -> tensor<?x128xf32>
    %p = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %c : tensor<?x256xf32>, tensor<128x256xf32>) outs(%fill : tensor<?x128xf32>) {
    ^bb0(%a: f32, %b: f32, %out: f32):
      %ab = arith.mulf %a, %b : f32
      %sum = arith.addf %out, %ab : f32
      linalg.yield %sum : f32
    } -> tensor<?x128xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
        ins(%p : tensor<?x128xf32>) outs(%room : tensor<?x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %positive = arith.maximumf %in, %zero : f32
      linalg.yield %positive : f32
    } -> tensor<?x128xf32>
    return %r : tensor<?x128xf32>
  }
}

// -----

// Numbers of 4 bits in words, less a zero point, become bytes, once. One scale for each column, and the operand as it is given: columns innermost.
// CHECK-LABEL: func.func @columns
//       CHECK:   %[[BYTES:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<256x128xi32>) outs(%{{.*}} : tensor<256x128xi8>)
//       CHECK:     %[[NUMBER:.*]] = arith.subf
//       CHECK:     %[[INTEGER:.*]] = arith.fptosi %[[NUMBER]] : f32 to i32
//       CHECK:     arith.trunci %[[INTEGER]] : i32 to i8
//       CHECK:   linalg.transpose ins(%{{.*}} : tensor<256x4x32xi8>) outs(%{{.*}} : tensor<4x256x32xi8>) permutation = [1, 0, 2]
//       CHECK:   tensor.expand_shape %{{.*}} {{\[}}[0, 1]] {{.*}} : tensor<128xf32> into tensor<4x32xf32>
//       CHECK:   linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel", "reduction"]
//  CHECK-SAME:     ins(%{{.*}} : tensor<3x256xf32>, tensor<4x256x32xi8>, tensor<4x32xf32>)
//       CHECK:     %[[FLOAT:.*]] = arith.sitofp %{{.*}} : i8 to f32
//  CHECK-NEXT:     arith.mulf %[[FLOAT]]
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"host" = #dlti.target_device_spec<"plim.kind" = "cpu", "plim.page_bytes" = 4096 : i64>>} {
  memref.global "private" @q : memref<256x128xi32>
  memref.global "private" @s : memref<128xf32>
  func.func @columns(%x: tensor<3x256xf32>, %y: tensor<3x128xf32>) -> tensor<3x128xf32> {
    %low = arith.constant 15 : i32
    %eight = arith.constant 8.0 : f32
    %gq = memref.get_global @q : memref<256x128xi32>
    %q = bufferization.to_tensor %gq restrict : memref<256x128xi32> to tensor<256x128xi32>
    %gs = memref.get_global @s : memref<128xf32>
    %s = bufferization.to_tensor %gs restrict : memref<128xf32> to tensor<128xf32>
    %words = tensor.empty() : tensor<256x128xi32>
    %numbers = linalg.generic {indexing_maps = [affine_map<(k, n) -> (k, n)>, affine_map<(k, n) -> (k, n)>], iterator_types = ["parallel", "parallel"]}
        ins(%q : tensor<256x128xi32>) outs(%words : tensor<256x128xi32>) {
    ^bb0(%in: i32, %out: i32):
      %number = arith.andi %in, %low : i32
      linalg.yield %number : i32
    } -> tensor<256x128xi32>
    %e = tensor.empty() : tensor<256x128xf32>
    %w = linalg.generic {indexing_maps = [affine_map<(k, n) -> (k, n)>, affine_map<(k, n) -> (n)>, affine_map<(k, n) -> (k, n)>], iterator_types = ["parallel", "parallel"]}
        ins(%numbers, %s : tensor<256x128xi32>, tensor<128xf32>) outs(%e : tensor<256x128xf32>) {
    ^bb0(%in: i32, %scale: f32, %out: f32):
      %float = arith.sitofp %in : i32 to f32
      %number = arith.subf %float, %eight : f32
      %weight = arith.mulf %number, %scale : f32
      linalg.yield %weight : f32
    } -> tensor<256x128xf32>
    %p = linalg.matmul ins(%x, %w : tensor<3x256xf32>, tensor<256x128xf32>) outs(%y : tensor<3x128xf32>) -> tensor<3x128xf32>
    return %p : tensor<3x128xf32>
  }
}

// -----

// Beside a product whose weights are bytes, those whose weights are floats: given with the call, or constants.
// CHECK-LABEL: func.func @beside
//  CHECK-SAME:   %[[X:[^:]*]]: tensor<3x256xf32>, %[[GIVEN:[^:]*]]: tensor<256x128xf32>
//       CHECK:   %[[FLOATS:.*]] = bufferization.to_tensor %{{.*}} restrict : memref<256x128xf32>
//       CHECK:   linalg.generic {{.*}} ins(%[[X]], %{{.*}} : tensor<3x256xf32>, tensor<4x256x32xi8>)
//       CHECK:   linalg.matmul ins(%[[X]], %[[GIVEN]] : tensor<3x256xf32>, tensor<256x128xf32>)
//       CHECK:   linalg.matmul ins(%[[X]], %[[FLOATS]] : tensor<3x256xf32>, tensor<256x128xf32>)
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"host" = #dlti.target_device_spec<"plim.kind" = "cpu", "plim.page_bytes" = 4096 : i64>>} {
  memref.global "private" @q : memref<256x128xi8>
  memref.global "private" @f : memref<256x128xf32>
  func.func @beside(%x: tensor<3x256xf32>, %given: tensor<256x128xf32>, %y: tensor<3x128xf32>) -> (tensor<3x128xf32>, tensor<3x128xf32>, tensor<3x128xf32>) {
    %g = memref.get_global @q : memref<256x128xi8>
    %q = bufferization.to_tensor %g restrict : memref<256x128xi8> to tensor<256x128xi8>
    %h = memref.get_global @f : memref<256x128xf32>
    %floats = bufferization.to_tensor %h restrict : memref<256x128xf32> to tensor<256x128xf32>
    %e = tensor.empty() : tensor<256x128xf32>
    %w = linalg.generic {indexing_maps = [affine_map<(k, n) -> (k, n)>, affine_map<(k, n) -> (k, n)>], iterator_types = ["parallel", "parallel"]} ins(%q : tensor<256x128xi8>) outs(%e : tensor<256x128xf32>) {
    ^bb0(%in: i8, %out: f32):
      %float = arith.sitofp %in : i8 to f32
      linalg.yield %float : f32
    } -> tensor<256x128xf32>
    %p = linalg.matmul ins(%x, %w : tensor<3x256xf32>, tensor<256x128xf32>) outs(%y : tensor<3x128xf32>) -> tensor<3x128xf32>
    %r = linalg.matmul ins(%x, %given : tensor<3x256xf32>, tensor<256x128xf32>) outs(%y : tensor<3x128xf32>) -> tensor<3x128xf32>
    %s = linalg.matmul ins(%x, %floats : tensor<3x256xf32>, tensor<256x128xf32>) outs(%y : tensor<3x128xf32>) -> tensor<3x128xf32>
    return %p, %r, %s : tensor<3x128xf32>, tensor<3x128xf32>, tensor<3x128xf32>
  }
}

// -----

// Of many rows, of columns that fill no panels, and of integers of 16 bits: floats, once.
// CHECK-LABEL: func.func @floats
//       CHECK:   linalg.matmul
//       CHECK:   linalg.matmul
//       CHECK:   linalg.matmul
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"host" = #dlti.target_device_spec<"plim.kind" = "cpu", "plim.page_bytes" = 4096 : i64>>} {
  memref.global "private" @q : memref<256x128xi8>
  memref.global "private" @odd : memref<256x100xi8>
  memref.global "private" @wide : memref<256x128xi16>
  func.func @floats(%x: tensor<64x256xf32>, %few: tensor<3x256xf32>, %y: tensor<64x128xf32>, %z: tensor<3x100xf32>, %v: tensor<3x128xf32>) -> (tensor<64x128xf32>, tensor<3x100xf32>, tensor<3x128xf32>) {
    %g = memref.get_global @q : memref<256x128xi8>
    %q = bufferization.to_tensor %g restrict : memref<256x128xi8> to tensor<256x128xi8>
    %h = memref.get_global @odd : memref<256x100xi8>
    %odd = bufferization.to_tensor %h restrict : memref<256x100xi8> to tensor<256x100xi8>
    %i = memref.get_global @wide : memref<256x128xi16>
    %wide = bufferization.to_tensor %i restrict : memref<256x128xi16> to tensor<256x128xi16>
    %e = tensor.empty() : tensor<256x128xf32>
    %eo = tensor.empty() : tensor<256x100xf32>
    %w = linalg.generic {indexing_maps = [affine_map<(k, n) -> (k, n)>, affine_map<(k, n) -> (k, n)>], iterator_types = ["parallel", "parallel"]} ins(%q : tensor<256x128xi8>) outs(%e : tensor<256x128xf32>) {
    ^bb0(%in: i8, %out: f32):
      %float = arith.sitofp %in : i8 to f32
      linalg.yield %float : f32
    } -> tensor<256x128xf32>
    %wo = linalg.generic {indexing_maps = [affine_map<(k, n) -> (k, n)>, affine_map<(k, n) -> (k, n)>], iterator_types = ["parallel", "parallel"]} ins(%odd : tensor<256x100xi8>) outs(%eo : tensor<256x100xf32>) {
    ^bb0(%in: i8, %out: f32):
      %float = arith.sitofp %in : i8 to f32
      linalg.yield %float : f32
    } -> tensor<256x100xf32>
    %ww = linalg.generic {indexing_maps = [affine_map<(k, n) -> (k, n)>, affine_map<(k, n) -> (k, n)>], iterator_types = ["parallel", "parallel"]} ins(%wide : tensor<256x128xi16>) outs(%e : tensor<256x128xf32>) {
    ^bb0(%in: i16, %out: f32):
      %float = arith.sitofp %in : i16 to f32
      linalg.yield %float : f32
    } -> tensor<256x128xf32>
    %p = linalg.matmul ins(%x, %w : tensor<64x256xf32>, tensor<256x128xf32>) outs(%y : tensor<64x128xf32>) -> tensor<64x128xf32>
    %o = linalg.matmul ins(%few, %wo : tensor<3x256xf32>, tensor<256x100xf32>) outs(%z : tensor<3x100xf32>) -> tensor<3x100xf32>
    %t = linalg.matmul ins(%few, %ww : tensor<3x256xf32>, tensor<256x128xf32>) outs(%v : tensor<3x128xf32>) -> tensor<3x128xf32>
    return %p, %o, %t : tensor<64x128xf32>, tensor<3x100xf32>, tensor<3x128xf32>
  }
}
