// Each element several times, rounded down, and up.
// RUN: plimsoll run %s -f main -i 2xf32=1,2 -i 4xf32=10,20,30,40 -i 5xf32=0 | FileCheck %s --check-prefix=GOOD0
// RUN: not plimsoll run %s -f main -i 2xf32=1 -i 5xf32=0 -i 7xf32=0 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD0
// RUN: not plimsoll run %s --oracle -f main -i 2xf32=1 -i 5xf32=0 -i 7xf32=0 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD0
// RUN: not plimsoll run %s -f main -i 2xf32=1 -i 3xf32=0 -i 6xf32=0 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD1
// RUN: not plimsoll run %s --oracle -f main -i 2xf32=1 -i 3xf32=0 -i 6xf32=0 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD1

// GOOD0: result[0]: 5xf32=[11, 21, 21, 32, 32]
// BAD0: indices from 0 to 2 leave dimension 0 of argument #0 (%x), which has 2
// BAD1: indices from 0 to 3 leave dimension 0 of argument #1 (%y), which has 3

func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>, %o: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i floordiv 3)>,
                                        affine_map<(i) -> (i ceildiv 2)>,
                                        affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<?xf32>, tensor<?xf32>) outs(%o : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
