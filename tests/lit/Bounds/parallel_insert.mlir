// Each iteration inserts somewhere.
// RUN: plimsoll run %s -f main -i 2xf32=1,2 -i 4xf32=0 -i index=1 | FileCheck %s --check-prefix=GOOD0
// RUN: not plimsoll run %s -f main -i 2xf32=1,2 -i 4xf32=0 -i index=3 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD0
// RUN: not plimsoll run %s --oracle -f main -i 2xf32=1,2 -i 4xf32=0 -i index=3 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD0

// GOOD0: result[0]: 4xf32=[0, 1, 2, 0]
// BAD0: 'tensor.parallel_insert_slice': the slice of 1 elements from 4

func.func @main(%x: tensor<?xf32>, %d: tensor<?xf32>, %o: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %r = scf.forall (%i) in (%n) shared_outs(%t = %d) -> tensor<?xf32> {
    %e = tensor.extract_slice %x[%i] [1] [1] : tensor<?xf32> to tensor<1xf32>
    %at = arith.addi %i, %o : index
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %e into %t[%at] [1] [1] : tensor<1xf32> into tensor<?xf32>
    }
  }
  return %r : tensor<?xf32>
}
