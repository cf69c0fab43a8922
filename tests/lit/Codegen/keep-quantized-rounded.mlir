// RUN: plimsoll-opt %s -plim-attach-target=tag=x86-64-v4 -plim-keep-quantized -split-input-file | FileCheck %s
// RUN: plimsoll-opt %s -plim-attach-target=tag=sapphirerapids -plim-keep-quantized -split-input-file | FileCheck %s --check-prefix=BYTES
// RUN: plimsoll-opt %s -plim-attach-target=tag=sapphirerapids -plim-keep-quantized=strict=true -split-input-file | FileCheck %s --check-prefix=STRICT

// Rows that may be rounded, and weights of 4 bits less a zero point in blocks of 128, of which a body has half. Eight weights make a word,
// once. Groups are four numbers where the host multiplies bytes, two of 16 bits where it does not.
//  CHECK-DAG: #[[$FIRST:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d3, d4, 0)>
//  CHECK-DAG: #[[$LAST:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d3, d4, 31)>
//  CHECK-DAG: #[[$WORD:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d1, d3, d4, 7, d2)>
//  CHECK-DAG: #[[$SCALE:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d1, d3, d2)>
//  CHECK-LABEL: func.func @rounded
//   CHECK-SAME:   %[[X:.*]]: tensor<?x256xf32>
// The largest number of a block, the step that 127 of make it, and rows in steps.
//        CHECK:   %[[E:.*]] = tensor.expand_shape %[[X]] {{\[}}[0], [1, 2, 3]] {{.*}} : tensor<?x256xf32> into tensor<?x2x2x64xf32>
//        CHECK:   %[[LARGEST:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%[[E]] : tensor<?x2x2x64xf32>)
//        CHECK:     math.absf
//        CHECK:     arith.maximumf
//        CHECK:   %[[STEP:.*]] = linalg.generic {{.*}} ins(%[[LARGEST]] : tensor<?x2x2xf32>)
//        CHECK:     arith.divf
//        CHECK:   %[[ROWS:.*]] = linalg.generic {{.*}} ins(%[[E]], %[[E]], %{{.*}} : {{.*}}) outs(%{{.*}} : tensor<?x2x2x32xi32>)
// CHECK-COUNT-2:     math.roundeven
//        CHECK:   %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[ROWS]] : tensor<?x2x2x32xi32>)
//        CHECK:     plim.dot_groups %{{.*}}, %{{.*}}, %{{.*}} of i16
//        CHECK:   %[[WORDS:.*]] = tensor.expand_shape %{{.*}} : tensor<4x2x16x32xi32> into tensor<4x2x2x8x32xi32>
//        CHECK:   linalg.generic {indexing_maps = [#[[$FIRST]], {{.*}}, #[[$LAST]], {{.*}}, #[[$WORD]], #[[$SCALE]], #{{[a-z0-9]*}}], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
// CHECK-COUNT-32:    plim.dot_groups {{.*}} of i16
//    CHECK-NOT:     plim.dot_groups
//        CHECK:     %[[FLOAT:.*]] = arith.sitofp
//        CHECK:     %[[LESS:.*]] = arith.mulf
//        CHECK:     arith.subf %[[FLOAT]], %[[LESS]]
//        CHECK:     arith.addf
// 64 weights: eight words of two groups of four.
//  BYTES-LABEL: func.func @rounded
//        BYTES:   math.absf
// BYTES-COUNT-4:   math.roundeven
//        BYTES:   iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]
// BYTES-COUNT-16:  plim.dot_groups {{.*}} of i8
//    BYTES-NOT:   plim.dot_groups
// STRICT-LABEL: func.func @rounded
//   STRICT-NOT:   plim.dot_groups
//       STRICT:   iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]
//       STRICT:     arith.sitofp
//   STRICT-NOT:   plim.dot_groups
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"host" = #dlti.target_device_spec<"plim.kind" = "cpu", "plim.page_bytes" = 4096 : i64>>} {
  memref.global "private" @bytes : memref<128x2x128xi8>
  memref.global "private" @s : memref<128x2xf32>
  func.func @rounded(%x: tensor<?x256xf32>, %n: index) -> tensor<?x128xf32> {
    %zero = arith.constant 0.0 : f32
    %low = arith.constant 15 : i8
    %eight = arith.constant 8.0 : f32
    %gb = memref.get_global @bytes : memref<128x2x128xi8>
    %bytes = bufferization.to_tensor %gb restrict : memref<128x2x128xi8> to tensor<128x2x128xi8>
    %gs = memref.get_global @s : memref<128x2xf32>
    %s = bufferization.to_tensor %gs restrict : memref<128x2xf32> to tensor<128x2xf32>
    %eq = tensor.empty() : tensor<128x2x128xi8>
    %q = linalg.generic {indexing_maps = [affine_map<(n, b, k) -> (n, b, k)>, affine_map<(n, b, k) -> (n, b, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%bytes : tensor<128x2x128xi8>) outs(%eq : tensor<128x2x128xi8>) {
    ^bb0(%in: i8, %out: i8):
      %number = arith.andi %in, %low : i8
      linalg.yield %number : i8
    } -> tensor<128x2x128xi8>
    %e = tensor.empty() : tensor<128x2x128xf32>
    %w = linalg.generic {indexing_maps = [affine_map<(n, b, k) -> (n, b, k)>, affine_map<(n, b, k) -> (n, b)>, affine_map<(n, b, k) -> (n, b, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%q, %s : tensor<128x2x128xi8>, tensor<128x2xf32>) outs(%e : tensor<128x2x128xf32>) {
    ^bb0(%in: i8, %scale: f32, %out: f32):
      %float = arith.uitofp %in : i8 to f32
      %less = arith.subf %float, %eight : f32
      %weight = arith.mulf %less, %scale : f32
      linalg.yield %weight : f32
    } -> tensor<128x2x128xf32>
    %c = tensor.collapse_shape %w [[0], [1, 2]] : tensor<128x2x128xf32> into tensor<128x256xf32>
    %room = tensor.empty(%n) : tensor<?x128xf32>
    %fill = linalg.fill ins(%zero : f32) outs(%room : tensor<?x128xf32>) -> tensor<?x128xf32>
    %p = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %c : tensor<?x256xf32>, tensor<128x256xf32>) outs(%fill : tensor<?x128xf32>) {
    ^bb0(%a: f32, %b: f32, %out: f32):
      %ab = arith.mulf %a, %b {plim.round_rows} : f32
      %sum = arith.addf %out, %ab : f32
      linalg.yield %sum : f32
    } -> tensor<?x128xf32>
    return %p : tensor<?x128xf32>
  }
}

// -----

// Numbers of 64 bits that a mask of the body makes fit 4 are bytes first.
// BYTES-LABEL: func.func @wide
// STRICT-LABEL: func.func @wide
// CHECK-LABEL: func.func @wide
//       CHECK:   linalg.generic {{.*}} outs(%{{.*}} : tensor<128x256xi8>)
//       CHECK:     %[[LOW:.*]] = arith.andi %{{.*}}, %{{.*}} : i64
//       CHECK:     arith.trunci %[[LOW]] : i64 to i8
//       CHECK:   plim.dot_groups
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"host" = #dlti.target_device_spec<"plim.kind" = "cpu", "plim.page_bytes" = 4096 : i64>>} {
  memref.global "private" @q : memref<128x256xi64>
  memref.global "private" @s : memref<128xf32>
  func.func @wide(%x: tensor<3x256xf32>, %y: tensor<3x128xf32>) -> tensor<3x128xf32> {
    %low = arith.constant 15 : i64
    %gq = memref.get_global @q : memref<128x256xi64>
    %q = bufferization.to_tensor %gq restrict : memref<128x256xi64> to tensor<128x256xi64>
    %gs = memref.get_global @s : memref<128xf32>
    %s = bufferization.to_tensor %gs restrict : memref<128xf32> to tensor<128xf32>
    %e = tensor.empty() : tensor<128x256xf32>
    %w = linalg.generic {indexing_maps = [affine_map<(n, k) -> (n, k)>, affine_map<(n, k) -> (n)>, affine_map<(n, k) -> (n, k)>], iterator_types = ["parallel", "parallel"]}
        ins(%q, %s : tensor<128x256xi64>, tensor<128xf32>) outs(%e : tensor<128x256xf32>) {
    ^bb0(%in: i64, %scale: f32, %out: f32):
      %number = arith.andi %in, %low : i64
      %float = arith.sitofp %number : i64 to f32
      %weight = arith.mulf %float, %scale : f32
      linalg.yield %weight : f32
    } -> tensor<128x256xf32>
    %p = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<3x256xf32>, tensor<128x256xf32>) outs(%y : tensor<3x128xf32>) {
    ^bb0(%a: f32, %b: f32, %out: f32):
      %ab = arith.mulf %a, %b {plim.round_rows} : f32
      %sum = arith.addf %out, %ab : f32
      linalg.yield %sum : f32
    } -> tensor<3x128xf32>
    return %p : tensor<3x128xf32>
  }
}
