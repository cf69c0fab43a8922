// RUN: plimsoll-opt %s -plim-tile-borders -canonicalize | FileCheck %s

// A part of lines, of which the first and the last have some of the border; all of each line.
// CHECK-LABEL: func.func private @lines
//   CHECK-NOT:   tensor<58x58x64xf32>
//       CHECK:   scf.forall (%[[I:.*]]) = (0) to (56) step (7)
//   CHECK-DAG:     %[[FROM:.*]] = affine.min {{.*}}
//   CHECK-DAG:     %[[FILLED:.*]] = linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : tensor<9x58x64xf32>)
//       CHECK:     %[[SOME:.*]] = tensor.extract_slice %{{.*}}[%{{.*}}, 0, 0] [%[[COUNT:.*]], 56, 64] [1, 1, 1] : tensor<56x56x64xf32>
//       CHECK:     %[[PART:.*]] = tensor.insert_slice %[[SOME]] into %[[FILLED]][%{{.*}}, 1, 0] [%[[COUNT]], 56, 64]
//       CHECK:     linalg.generic {{.*}} ins(%[[PART]], %{{.*}} : tensor<9x58x64xf32>, tensor<3x3xf32>)
#window = affine_map<(h, w, c, y, x) -> (h + y, w + x, c)>
#taps = affine_map<(h, w, c, y, x) -> (y, x)>
#out = affine_map<(h, w, c, y, x) -> (h, w, c)>
func.func private @lines(%x: tensor<56x56x64xf32>, %t: tensor<3x3xf32>, %o: tensor<56x56x64xf32>) -> tensor<56x56x64xf32>
    attributes {plim.dispatch_function} {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<58x58x64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<58x58x64xf32>) -> tensor<58x58x64xf32>
  %p = tensor.insert_slice %x into %f[1, 1, 0] [56, 56, 64] [1, 1, 1] : tensor<56x56x64xf32> into tensor<58x58x64xf32>
  %r = scf.forall (%i) = (0) to (56) step (7) shared_outs(%s = %o) -> (tensor<56x56x64xf32>) {
    %a = tensor.extract_slice %p[%i, 0, 0] [9, 58, 64] [1, 1, 1] : tensor<58x58x64xf32> to tensor<9x58x64xf32>
    %b = tensor.extract_slice %s[%i, 0, 0] [7, 56, 64] [1, 1, 1] : tensor<56x56x64xf32> to tensor<7x56x64xf32>
    %c = linalg.generic {indexing_maps = [#window, #taps, #out],
                         iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
        ins(%a, %t : tensor<9x58x64xf32>, tensor<3x3xf32>) outs(%b : tensor<7x56x64xf32>) {
    ^bb0(%u: f32, %v: f32, %w: f32):
      %m = arith.mulf %u, %v : f32
      %n = arith.addf %w, %m : f32
      linalg.yield %n : f32
    } -> tensor<7x56x64xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %s[%i, 0, 0] [7, 56, 64] [1, 1, 1] : tensor<7x56x64xf32> into tensor<56x56x64xf32>
    }
  }
  return %r : tensor<56x56x64xf32>
}
