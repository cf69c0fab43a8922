// A dimension that the data names, in the body of an op: the loop goes on, and the call fails.
// RUN: plimsoll run %s -f main -i 2x3xf32=0 -i 3xi32=0,1,0 | FileCheck %s --check-prefix=GOOD
// RUN: not plimsoll run %s -f main -i 2x3xf32=0 -i 3xi32=0,2,0 2>&1 | FileCheck %s --check-prefix=BAD
// RUN: not plimsoll run %s --oracle -f main -i 2x3xf32=0 -i 3xi32=0,-1,0 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD

// GOOD: result[0]: 3xindex=[2, 3, 2]
// BAD: dim_in_body.mlir:19:10: no such dimension of tensor<?x?xf32>

func.func @main(%x: tensor<?x?xf32>, %d: tensor<?xi32>) -> tensor<?xindex> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %d, %c0 : tensor<?xi32>
  %e = tensor.empty(%n) : tensor<?xindex>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]}
      ins(%d : tensor<?xi32>) outs(%e : tensor<?xindex>) {
  ^bb0(%a: i32, %o: index):
    %i = arith.index_cast %a : i32 to index
    %s = tensor.dim %x, %i : tensor<?x?xf32>
    linalg.yield %s : index
  } -> tensor<?xindex>
  return %r : tensor<?xindex>
}
