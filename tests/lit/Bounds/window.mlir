// A convolution whose image is too small.
// RUN: plimsoll run %s -f main -i 4xf32=1 -i 3xf32=1 -i 2xf32=0 | FileCheck %s --check-prefix=GOOD0
// RUN: plimsoll run %s -f main -i 0xf32= -i 3xf32=1 -i 0xf32= | FileCheck %s --check-prefix=GOOD1
// RUN: not plimsoll run %s -f main -i 4xf32=1 -i 3xf32=1 -i 3xf32=0 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD0
// RUN: not plimsoll run %s --oracle -f main -i 4xf32=1 -i 3xf32=1 -i 3xf32=0 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD0

// GOOD0: result[0]: 2xf32=[3, 3]
// GOOD1: result[0]: 0xf32=[]
// BAD0: 'linalg.conv_1d': indices from 0 to 4 leave dimension 0 of argument #0 (%x), which has 4

func.func @main(%x: tensor<?xf32>, %k: tensor<?xf32>, %o: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.conv_1d ins(%x, %k : tensor<?xf32>, tensor<?xf32>) outs(%o : tensor<?xf32>)
      -> tensor<?xf32>
  return %r : tensor<?xf32>
}
