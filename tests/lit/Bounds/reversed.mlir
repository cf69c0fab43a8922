// An index that runs backwards.
// RUN: plimsoll run %s -f main -i 4xf32=1,2,3,4 -i 4xf32=0 | FileCheck %s --check-prefix=GOOD0
// RUN: plimsoll run %s -f main -i 4xf32=1,2,3,4 -i 2xf32=0 | FileCheck %s --check-prefix=GOOD1
// RUN: plimsoll run %s -f main -i 0xf32= -i 0xf32= | FileCheck %s --check-prefix=GOOD2
// RUN: not plimsoll run %s -f main -i 4xf32=1 -i 5xf32=0 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD0
// RUN: not plimsoll run %s --oracle -f main -i 4xf32=1 -i 5xf32=0 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD0
// RUN: not plimsoll run %s -f main -i 3xf32=1 -i 2xf32=0 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD1
// RUN: not plimsoll run %s --oracle -f main -i 3xf32=1 -i 2xf32=0 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD1

// GOOD0: result[0]: 4xf32=[4, 3, 2, 1]
// GOOD1: result[0]: 2xf32=[4, 3]
// GOOD2: result[0]: 0xf32=[]
// BAD0: 'linalg.generic': indices from -1 to 3 leave dimension 0 of argument #0 (%x), which has 4
// BAD1: indices from 2 to 3 leave dimension 0 of argument #0 (%x), which has 3

func.func @main(%x: tensor<?xf32>, %o: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (3 - i)>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%o : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
