// RUN: plimsoll-opt %s -plim-specialize-extents="function=main extents=8" -split-input-file -verify-diagnostics

// expected-error @below {{there is no public function 'main' to specialise}}
module {
  func.func private @main(%x: tensor<?xf32>) -> tensor<?xf32> {
    return %x : tensor<?xf32>
  }
}

// -----

// expected-error @below {{'main' has 2 dynamic extents, to be specialised for as many that are not negative}}
func.func @main(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  return %x : tensor<?x?xf32>
}

// -----

// expected-error @below {{'main' has 0 dynamic extents}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{functions of the module call 'main', which is to be specialised}}
func.func @main(%x: tensor<?xf32>, %n: i1) -> tensor<?xf32> {
  %r = scf.if %n -> tensor<?xf32> {
    %f = arith.constant false
    %s = func.call @main(%x, %f) : (tensor<?xf32>, i1) -> tensor<?xf32>
    scf.yield %s : tensor<?xf32>
  } else {
    scf.yield %x : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}
