// Extents whose product wraps, or of which two are negative, are not those of the source.
// RUN: plimsoll run %s -f main -i 6xf32=1,2,3,4,5,6 -i index=2 -i index=3 | FileCheck %s --check-prefix=GOOD0
// RUN: plimsoll run %s -f main -i 0xf32= -i index=0 -i index=7 | FileCheck %s --check-prefix=GOOD1
// RUN: not plimsoll run %s -f main -i 6xf32=1 -i index=2 -i index=4 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD0
// RUN: not plimsoll run %s --oracle -f main -i 6xf32=1 -i index=2 -i index=4 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD0
// RUN: not plimsoll run %s -f main -i 0xf32= -i index=4294967296 -i index=4294967296 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD1
// RUN: not plimsoll run %s --oracle -f main -i 0xf32= -i index=4294967296 -i index=4294967296 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD1
// RUN: not plimsoll run %s -f main -i 6xf32=1 -i index=-2 -i index=-3 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD2
// RUN: not plimsoll run %s --oracle -f main -i 6xf32=1 -i index=-2 -i index=-3 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD2

// GOOD0: result[0]: 2x3xf32={{[[][[]}}1, 2, 3], [4, 5, 6]]
// GOOD1: result[0]: 0x7xf32=[]
// BAD0: 'tensor.expand_shape': extent 0, which is 6, cannot be expanded to the extents given
// BAD1: extent 0, which is 0, cannot be expanded
// BAD2: extent 0, which is 6, cannot be expanded

func.func @main(%x: tensor<?xf32>, %m: index, %n: index) -> tensor<?x?xf32> {
  %r = tensor.expand_shape %x [[0, 1]] output_shape [%m, %n] : tensor<?xf32> into tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
