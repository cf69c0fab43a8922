// RUN: plimsoll-opt %s -plim-check-operations -split-input-file -verify-diagnostics

func.func @print(%a: f32) {
  // expected-error @below {{'vector.print' is not supported: a function returns what it computes, and the host application prints it}}
  vector.print %a : f32
  return
}

// -----

// Nothing uses it, and still.
func.func @vscale() {
  // expected-error @below {{'vector.vscale' is not supported: vectors have a size that the module says}}
  %n = vector.vscale
  return
}

// -----

func.func @llvm(%a: i32) -> i32 {
  // expected-error @below {{'llvm.add' is not supported: the llvm dialect is what the compiler makes, not what it takes}}
  %r = llvm.add %a, %a : i32
  return %r : i32
}

// -----

func.func @cast(%a: i32) -> index {
  // expected-error @below {{'builtin.unrealized_conversion_cast' is not supported: it says nothing of what is converted}}
  %r = builtin.unrealized_conversion_cast %a : i32 to index
  return %r : index
}

// -----

func.func @shape(%x: tensor<?x3xf32>) -> !tosa.shape<1> {
  // expected-error @below {{'tosa.dim' is not supported: a shape must be a tosa.const_shape}}
  %n = tosa.dim %x {axis = 0 : i32} : (tensor<?x3xf32>) -> !tosa.shape<1>
  return %n : !tosa.shape<1>
}

// -----

func.func @float(%a: f32) -> f32 {
  // expected-error @below {{'arith.truncf' is not supported on 'f8E3M4': floats are f8E4M3FN, f8E5M2, f16, bf16, f32 and f64}}
  %t = arith.truncf %a : f32 to f8E3M4
  %r = arith.extf %t : f8E3M4 to f32
  return %r : f32
}

// -----

func.func @float_in_body(%m: memref<4xf32>) {
  // expected-error @below {{'memref.alloc' is not supported on 'f4E2M1FN': floats are f8E4M3FN, f8E5M2, f16, bf16, f32 and f64}}
  %a = memref.alloc() : memref<4xvector<4xf4E2M1FN>>
  return
}

// -----

func.func @softmax(%x: memref<2x3xf32>) {
  // expected-error @below {{'linalg.softmax' is not supported: it works on tensors, not on memrefs}}
  linalg.softmax dimension(1) ins(%x : memref<2x3xf32>) outs(%x : memref<2x3xf32>)
  return
}

// -----

// What has a meaning here stays: constant shapes, floats that are known, a restrict tensor of a buffer.
func.func @fine(%x: tensor<6xbf16>, %m: memref<4xf32>) -> (tensor<2x3xbf16>, tensor<4xf32>) {
  %s = tosa.const_shape {values = dense<[2, 3]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r = tosa.reshape %x, %s : (tensor<6xbf16>, !tosa.shape<2>) -> tensor<2x3xbf16>
  %t = bufferization.to_tensor %m restrict : memref<4xf32> to tensor<4xf32>
  return %r, %t : tensor<2x3xbf16>, tensor<4xf32>
}

// -----

func.func @combine(%v: vector<4xf8E5M2>) -> f8E5M2 {
  // expected-error @below {{'vector.reduction' is not supported on 'f8E5M2': what combines numbers does so in f32; convert them with arith.extf}}
  %r = vector.reduction <add>, %v : vector<4xf8E5M2> into f8E5M2
  return %r : f8E5M2
}

// -----

func.func @rounding(%a: f32) -> f8E4M3FN {
  // expected-error @below {{'arith.truncf' is not supported on 'f8E4M3FN': conversions round to nearest even}}
  %r = arith.truncf %a toward_zero : f32 to f8E4M3FN
  return %r : f8E4M3FN
}

// -----

// A window of stride 1 would be read from the front of this image.
func.func @misspelt(%a: tensor<1x8x29x29xf32>, %b: tensor<32x8x3x3xf32>, %c: tensor<1x32x14x14xf32>)
    -> tensor<1x32x14x14xf32> {
  // expected-error @below {{'linalg.conv_2d_nchw_fchw' op has no attribute 'strids'; is it 'strides'?}}
  %r = linalg.conv_2d_nchw_fchw {strids = dense<2> : tensor<2xi64>}
      ins(%a, %b : tensor<1x8x29x29xf32>, tensor<32x8x3x3xf32>) outs(%c : tensor<1x32x14x14xf32>) -> tensor<1x32x14x14xf32>
  return %r : tensor<1x32x14x14xf32>
}

// -----

// One of a dialect in front hides none.
func.func @turned(%a: tensor<1x8x29x29xf32>, %b: tensor<32x8x3x3xf32>, %c: tensor<1x32x14x14xf32>)
    -> tensor<1x32x14x14xf32> {
  // expected-error @below {{'linalg.conv_2d_nchw_fchw' op has no attribute 'stirdes'; is it 'strides'?}}
  %r = linalg.conv_2d_nchw_fchw {my.note = 1, stirdes = dense<2> : tensor<2xi64>}
      ins(%a, %b : tensor<1x8x29x29xf32>, tensor<32x8x3x3xf32>) outs(%c : tensor<1x32x14x14xf32>) -> tensor<1x32x14x14xf32>
  return %r : tensor<1x32x14x14xf32>
}

// -----

// In a short name one letter may be another.
func.func @short(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error @below {{'linalg.matmul' op has no attribute 'cost'; is it 'cast'?}}
  %r = linalg.matmul {cost = 1} ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%a : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// -----

// What is farther from all names is a note, and so is what stands beside the one that it is like.
func.func @notes(%a: tensor<4x4xf32>, %i: tensor<1x8x29x29xf32>, %b: tensor<32x8x3x3xf32>, %c: tensor<1x32x14x14xf32>)
    -> (tensor<4x4xf32>, tensor<1x32x14x14xf32>) {
  %r = linalg.matmul {coat = 1} ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%a : tensor<4x4xf32>) -> tensor<4x4xf32>
  %s = linalg.conv_2d_nchw_fchw {strides = dense<2> : tensor<2xi64>, stride = 3, stripped = 1, a.dilations = 1}
      ins(%i, %b : tensor<1x8x29x29xf32>, tensor<32x8x3x3xf32>) outs(%c : tensor<1x32x14x14xf32>) -> tensor<1x32x14x14xf32>
  return %r, %s : tensor<4x4xf32>, tensor<1x32x14x14xf32>
}

// -----

// Notes of those who made the module are kept, and so are attributes of dialects.
func.func @annotated(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %r = linalg.copy {note = "of a layer", my.strides = 1, strides_of_source} ins(%a : tensor<4xf32>) outs(%b : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
