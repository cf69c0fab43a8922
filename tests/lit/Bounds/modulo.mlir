// A ring: an upper bound of the remainder is not enough where not every remainder occurs.
// RUN: plimsoll run %s -f main -i 4xf32=1,2,3,4 -i 5xf32=0 | FileCheck %s --check-prefix=GOOD0
// RUN: plimsoll run %s -f main -i 3xf32=1,2,3 -i 5xf32=0 | FileCheck %s --check-prefix=GOOD1
// RUN: plimsoll run %s -f main -i 1xf32=7 -i 1xf32=0 | FileCheck %s --check-prefix=GOOD2
// RUN: not plimsoll run %s -f main -i 2xf32=1 -i 2xf32=0 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD0
// RUN: not plimsoll run %s --oracle -f main -i 2xf32=1 -i 2xf32=0 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD0

// GOOD0: result[0]: 5xf32=[1, 3, 1, 3, 1]
// GOOD1: result[0]: 5xf32=[1, 3, 1, 3, 1]
// GOOD2: result[0]: 1xf32=[7]
// BAD0: leave dimension 0 of argument #0 (%x), which has 2

func.func @main(%x: tensor<?xf32>, %o: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> ((i * 2) mod 4)>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%o : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
