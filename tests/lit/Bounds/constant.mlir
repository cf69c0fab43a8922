// One element for all.
// RUN: plimsoll run %s -f main -i 3xf32=1,2,3 -i 2xf32=0 | FileCheck %s --check-prefix=GOOD0
// RUN: plimsoll run %s -f main -i 1xf32=1 -i 0xf32= | FileCheck %s --check-prefix=GOOD1
// RUN: not plimsoll run %s -f main -i 2xf32=1 -i 1xf32=0 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD0
// RUN: not plimsoll run %s --oracle -f main -i 2xf32=1 -i 1xf32=0 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD0

// GOOD0: result[0]: 2xf32=[3, 3]
// GOOD1: result[0]: 0xf32=[]
// BAD0: indices from 2 to 2 leave dimension 0 of argument #0 (%x), which has 2

func.func @main(%x: tensor<?xf32>, %o: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (2)>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%o : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
