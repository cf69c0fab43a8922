// Of two loops one counts back: the extremes are not at the corners that upstream's verifier looks at.
// RUN: not plimsoll run %s -f main -i 3xf32=1 -i 3x2xf32=0 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD0
// RUN: not plimsoll run %s --oracle -f main -i 3xf32=1 -i 3x2xf32=0 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD0

// BAD0: indices from 0 to 3 leave dimension 0 of argument #0 (%x), which has 3

func.func @main(%x: tensor<3xf32>, %o: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i - j + 1)>,
                                        affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<3xf32>) outs(%o : tensor<3x2xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<3x2xf32>
  return %r : tensor<3x2xf32>
}
