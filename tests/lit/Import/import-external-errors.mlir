// RUN: plimsoll-opt %s -plim-import -split-input-file -verify-diagnostics

// expected-error @below {{argument #1 of 'vector' has type 'vector<4xf32>'; ranked tensors, memrefs and scalars can cross}}
func.func private @vector(!plim.context, vector<4xf32>)

// -----

// expected-error @below {{result #1 of 'buffer' has type 'memref<4xf32>'; a function of the host application returns scalars and tensors}}
func.func private @buffer() -> (f32, memref<4xf32>)

// -----

// expected-error @below {{argument #1 of 'other' has type 'tensor<3xf32>' and is donated to result #0, which is 'tensor<4xf32>'; it must be the same tensor}}
func.func private @other(f32, tensor<3xf32> {plim.donate = 0 : index}) -> tensor<4xf32>

// -----

// expected-error @below {{argument #0 of 'beyond' is donated, but 'plim.donate' is not the index of a result}}
func.func private @beyond(tensor<4xf32> {plim.donate = 1 : index}) -> tensor<4xf32>

// -----

// expected-error @below {{argument #1 of 'both' is donated to result #0, and so is another one}}
func.func private @both(tensor<4xf32> {plim.donate = 0 : index}, tensor<4xf32> {plim.donate = 0 : index}) -> tensor<4xf32>

// -----

// expected-error @below {{argument #0 of 'kept' is donated, but is declared readonly}}
func.func private @kept(tensor<4xf32> {plim.donate = 0 : index, plim.access = #plim.access<readonly>}) -> tensor<4xf32>

// -----

// expected-error @below {{argument #0 of 'value' is a tensor that is not donated, which is readonly, but is declared writeonly}}
func.func private @value(tensor<4xf32> {plim.access = #plim.access<writeonly>})

// -----

// expected-error @below {{argument #1 of 'scalar' is a scalar, but is declared readonly}}
func.func private @scalar(!plim.context, f32 {plim.access = #plim.access<readonly>})

// -----

// expected-error @below {{argument #0 of 'writes' may be written, but 'plim.pure' says that the function only computes its results}}
func.func private @writes(memref<4xf32>) attributes {plim.pure}

// -----

func.func private @taken()
func.func @takes() {
  // expected-error @below {{uses 'taken', a function of the host application, which can only be called}}
  %f = func.constant @taken : () -> ()
  return
}

// -----

func.func private @cost(f32) -> f32 attributes {plim.pure}
func.func @body(%a: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]}
      ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%x: f32, %o: f32):
    // expected-error @below {{calls 'cost', a function of the host application, from the body of 'linalg.generic', which has no order}}
    %y = func.call @cost(%x) : (f32) -> f32
    linalg.yield %y : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

func.func private @note(index)
func.func @parallel(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    // expected-error @below {{calls 'note', a function of the host application, from the body of 'scf.parallel', which has no order}}
    func.call @note(%i) : (index) -> ()
  }
  return
}

// -----

func.func private @get(!plim.context)
func.func @carried(%p: i1) {
  %a = plim.context : !plim.context
  %b = plim.context : !plim.context
  // expected-error @below {{passes the context on; it goes from plim.context to calls of functions of the host application and nowhere else}}
  %c = arith.select %p, %a, %b : !plim.context
  func.call @get(%c) : (!plim.context) -> ()
  return
}

// -----

func.func private @get(!plim.context)
func.func private @returned() -> !plim.context attributes {no_inline} {
  %a = plim.context : !plim.context
  // expected-error @below {{passes the context on; it goes from plim.context to calls of functions of the host application and nowhere else}}
  return %a : !plim.context
}
func.func @caller() {
  %a = func.call @returned() {no_inline} : () -> !plim.context
  func.call @get(%a) : (!plim.context) -> ()
  return
}
