// A coefficient so large that the bounds of the index would wrap: each index is looked at.
// RUN: plimsoll run %s -f main -i 5xf32=1 -i 1xf32=0 | FileCheck %s --check-prefix=GOOD
// RUN: not plimsoll run %s -f main -i 5xf32=1 -i 5xf32=0 2>&1 | FileCheck %s --check-prefix=BAD
// RUN: not plimsoll run %s --oracle -f main -i 5xf32=1 -i 5xf32=0 2>&1 | FileCheck %s --check-prefix=BAD

// GOOD: result[0]: 1xf32=[1]
// BAD: leave dimension 0 of argument #0 (%x), which has 5

func.func @main(%x: tensor<?xf32>, %o: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i * 4611686018427387904)>,
                                        affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%o : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
