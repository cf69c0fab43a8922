// RUN: plimsoll-opt %s -plim-import-allocations -split-input-file -verify-diagnostics

// expected-error @below {{'plim.bounds' of argument #0 of 'f' must be an array with one dictionary for each of the 2 dimensions of 'tensor<?x4xf32>'}}
func.func @f(%x: tensor<?x4xf32> {plim.bounds = [{max = 4}]}) {
  return
}

// -----

// expected-error @below {{'plim.bounds' of argument #0 of 'f' must be an array}}
func.func @f(%x: tensor<?xf32> {plim.bounds = 4}) {
  return
}

// -----

// expected-error @below {{'plim.bounds' of argument #1 of 'f' is no dictionary in dimension 0}}
func.func @f(%a: f32, %x: tensor<?xf32> {plim.bounds = [4]}) {
  return
}

// -----

// expected-error @below {{'plim.bounds' of argument #0 of 'f' has 'most', but there are 'min' and 'max' only in dimension 0}}
func.func @f(%x: tensor<?xf32> {plim.bounds = [{most = 4}]}) {
  return
}

// -----

// expected-error @below {{'plim.bounds' of argument #0 of 'f' has a 'min' that is no i64 of 0 or more in dimension 0}}
func.func @f(%x: memref<?xf32> {plim.bounds = [{min = -1}]}) {
  return
}

// -----

// expected-error @below {{'plim.bounds' of argument #0 of 'f' has a 'max' that is no i64 of 0 or more in dimension 0}}
func.func @f(%x: memref<?xf32> {plim.bounds = [{max = 4.0}]}) {
  return
}

// -----

// expected-error @below {{'plim.bounds' of argument #0 of 'f' has a 'max' less than its 'min' in dimension 1}}
func.func @f(%x: memref<?x?xf32> {plim.bounds = [{}, {max = 4, min = 5}]}) {
  return
}

// -----

// expected-error @below {{'plim.bounds' of argument #0 of 'f' bounds dimension 1, which is 4 already}}
func.func @f(%x: tensor<?x4xf32> {plim.bounds = [{max = 4}, {max = 4}]}) {
  return
}

// -----

// expected-error @below {{'plim.bounds' of argument #0 of 'f' belongs on a tensor or memref, not on 'f32'}}
func.func @f(%x: f32 {plim.bounds = [{max = 4}]}) {
  return
}

// -----

// expected-error @below {{'plim.bounds' of argument #0 of 'f' belongs on a tensor or memref}}
func.func @f(%x: index {plim.bounds = {max = 4}}) {
  return
}

// -----

// expected-error @below {{'plim.bounds' belongs on arguments of public functions}}
func.func private @f(%x: tensor<?xf32> {plim.bounds = [{max = 4}]}) {
  return
}
func.func @g(%x: tensor<?xf32>) {
  func.call @f(%x) : (tensor<?xf32>) -> ()
  return
}

// -----

// expected-error @below {{the arguments of 'f' are bounded, but functions of the module call this one}}
func.func @f(%x: tensor<?xf32> {plim.bounds = [{max = 4}]}) {
  return
}
func.func @g(%x: tensor<?xf32>) {
  func.call @f(%x) : (tensor<?xf32>) -> ()
  return
}

// -----

// Nothing is wrong with these.
func.func @f(%x: tensor<?x4x?xf32> {plim.bounds = [{max = 4, min = 4}, {}, {}]},
             %y: memref<?xf32> {plim.bounds = [{min = 0}]}) {
  return
}
