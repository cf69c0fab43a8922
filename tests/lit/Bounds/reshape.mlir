// As many elements as there are, in the extents that the type says.
// RUN: plimsoll run %s -f main -i 2x3xf32=1,2,3,4,5,6 -i 2xi64=3,2 | FileCheck %s --check-prefix=GOOD0
// RUN: plimsoll run %s -f main -i 0x3xf32= -i 2xi64=5,0 | FileCheck %s --check-prefix=GOOD1
// RUN: plimsoll run %s -f flat -i 6xf32=1 -i 1xindex=6 | FileCheck %s --check-prefix=GOOD2
// RUN: not plimsoll run %s -f main -i 2x6xf32=1 -i 2xi64=3,5 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD0
// RUN: not plimsoll run %s --oracle -f main -i 2x6xf32=1 -i 2xi64=3,5 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD0
// RUN: not plimsoll run %s -f main -i 2x6xf32=1 -i 2xi64=30000,50000 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD1
// RUN: not plimsoll run %s --oracle -f main -i 2x6xf32=1 -i 2xi64=30000,50000 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD1
// RUN: not plimsoll run %s -f main -i 2x6xf32=1 -i 2xi64=-3,-4 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD2
// RUN: not plimsoll run %s --oracle -f main -i 2x6xf32=1 -i 2xi64=-3,-4 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD2
// RUN: not plimsoll run %s -f main -i 0x6xf32= -i 2xi64=4294967296,4294967296 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD3
// RUN: not plimsoll run %s --oracle -f main -i 0x6xf32= -i 2xi64=4294967296,4294967296 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD3
// RUN: not plimsoll run %s -f flat -i 6xf32=1 -i 1xindex=5 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD4
// RUN: not plimsoll run %s --oracle -f flat -i 6xf32=1 -i 1xindex=5 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD4
// RUN: not plimsoll run %s -f flat -i 5xf32=1 -i 1xindex=6 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD5
// RUN: not plimsoll run %s --oracle -f flat -i 5xf32=1 -i 1xindex=6 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD5

// GOOD0: result[0]: 3x2xf32={{[[][[]}}1, 2], [3, 4], [5, 6]]
// GOOD1: result[0]: 5x0xf32=[]
// GOOD2: result[0]: 6xf32=[1, 1, 1, 1, 1, 1]
// BAD0: 'tensor.reshape': 12 elements cannot take the extents given
// BAD1: 12 elements cannot take the extents given
// BAD2: 12 elements cannot take the extents given
// BAD3: 0 elements cannot take the extents given
// BAD4: 'tensor.reshape': extent 0 is 5, but the type says 6
// BAD5: 5 elements cannot take the extents given

func.func @main(%x: tensor<?x?xf32>, %s: tensor<2xi64>) -> tensor<?x?xf32> {
  %r = tensor.reshape %x(%s) : (tensor<?x?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
func.func @flat(%x: tensor<?xf32>, %s: tensor<1xindex>) -> tensor<6xf32> {
  %r = tensor.reshape %x(%s) : (tensor<?xf32>, tensor<1xindex>) -> tensor<6xf32>
  return %r : tensor<6xf32>
}
