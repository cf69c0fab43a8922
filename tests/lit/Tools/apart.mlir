// RUN: plimsoll explain %s --target x86-64-v3 | FileCheck %s
// RUN: plimsoll explain %s --target x86-64-v3 --json | FileCheck %s --check-prefix=JSON

// Of each dispatch, what it was made of, and why it is not one with those that made what it reads.

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
#line = affine_map<(i) -> (i)>

// CHECK-LABEL: function @read_elsewhere,
//       CHECK: dispatch #1
//   CHECK-NOT: memref
//       CHECK: apart from #0: something else needs the result too{{$}}
func.func @read_elsewhere(%x: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %e = tensor.empty() : tensor<64x64xf32>
  %a = linalg.exp ins(%x : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %t = linalg.transpose ins(%a : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) permutation = [1, 0]
  return %a, %t : tensor<64x64xf32>, tensor<64x64xf32>
}
// CHECK-LABEL: function @read_often,
//       CHECK: dispatch #1
//   CHECK-NOT: memref
//       CHECK: apart from #0: a product or convolution reads each element many times{{$}}
func.func @read_often(%x: tensor<64x512xf32>, %w: tensor<512x512xf32>) -> tensor<64x512xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x512xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<64x512xf32>) -> tensor<64x512xf32>
  %a = linalg.exp ins(%x : tensor<64x512xf32>) outs(%e : tensor<64x512xf32>) -> tensor<64x512xf32>
  %r = linalg.matmul ins(%a, %w : tensor<64x512xf32>, tensor<512x512xf32>)
                     outs(%i : tensor<64x512xf32>) -> tensor<64x512xf32>
  return %r : tensor<64x512xf32>
}
// CHECK-LABEL: function @in_steps,
//       CHECK: dispatch #1
//   CHECK-NOT: memref
//       CHECK: apart from #0: the result is read in windows, in steps or along a diagonal{{$}}
func.func @in_steps(%x: tensor<127xf32>) -> tensor<64xf32> {
  %e = tensor.empty() : tensor<127xf32>
  %d = tensor.empty() : tensor<64xf32>
  %a = linalg.exp ins(%x : tensor<127xf32>) outs(%e : tensor<127xf32>) -> tensor<127xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (2 * i)>, #line], iterator_types = ["parallel"]}
    ins(%a : tensor<127xf32>) outs(%d : tensor<64xf32>) {
  ^bb0(%l: f32, %o: f32):
    %s = arith.addf %l, %l : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  return %r : tensor<64xf32>
}
// CHECK-LABEL: function @gathered,
//       CHECK: dispatch #1
//   CHECK-NOT: memref
//       CHECK: apart from #0: the result is read at places that are computed{{$}}
func.func @gathered(%x: tensor<64xf32>, %at: tensor<128xindex>) -> tensor<128xf32> {
  %e = tensor.empty() : tensor<64xf32>
  %d = tensor.empty() : tensor<128xf32>
  %a = linalg.exp ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %r = linalg.generic {indexing_maps = [#line, #line], iterator_types = ["parallel"]}
    ins(%at : tensor<128xindex>) outs(%d : tensor<128xf32>) {
  ^bb0(%l: index, %o: f32):
    %s = tensor.extract %a[%l] : tensor<64xf32>
    linalg.yield %s : f32
  } -> tensor<128xf32>
  return %r : tensor<128xf32>
}
// CHECK-LABEL: function @no_common_loop,
//       CHECK: dispatch #1
//   CHECK-NOT: memref
//       CHECK: apart from #0: no loop could be split among workgroups without computing elements twice{{$}}
func.func @no_common_loop(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %v = tensor.empty() : tensor<64xf32>
  %i = linalg.fill ins(%zero : f32) outs(%v : tensor<64xf32>) -> tensor<64xf32>
  %s = linalg.reduce {arith.addf} ins(%x : tensor<64x64xf32>) outs(%i : tensor<64xf32>) dimensions = [0]
  %r = linalg.generic {indexing_maps = [#row, #column, #id], iterator_types = ["parallel", "parallel"]}
    ins(%s, %s : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%l: f32, %m: f32, %o: f32):
    %q = arith.mulf %l, %m : f32
    linalg.yield %q : f32
  } -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
// CHECK-LABEL: function @whole,
//       CHECK: dispatch #1
//   CHECK-NOT: memref
//       CHECK: apart from #0: no loop could be split among workgroups without computing elements twice{{$}}
func.func @whole(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %v = tensor.empty() : tensor<f32>
  %i = linalg.fill ins(%zero : f32) outs(%v : tensor<f32>) -> tensor<f32>
  %s = linalg.reduce {arith.addf} ins(%x : tensor<64x64xf32>) outs(%i : tensor<f32>) dimensions = [0, 1]
  %r = linalg.generic {indexing_maps = [#id, affine_map<(i, j) -> ()>, #id], iterator_types = ["parallel", "parallel"]}
    ins(%x, %s : tensor<64x64xf32>, tensor<f32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%l: f32, %m: f32, %o: f32):
    %q = arith.mulf %l, %m : f32
    linalg.yield %q : f32
  } -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
// CHECK-LABEL: function @sliced,
//       CHECK: dispatch #1
//   CHECK-NOT: memref
//       CHECK: apart from #0: only a part of the result is read{{$}}
func.func @sliced(%x: tensor<64x64xf32>) -> (tensor<8x64xf32>) {
  %e = tensor.empty() : tensor<64x64xf32>
  %f = tensor.empty() : tensor<8x64xf32>
  %i = arith.constant 0.0 : f32
  %v = tensor.empty() : tensor<64xf32>
  %z = linalg.fill ins(%i : f32) outs(%v : tensor<64xf32>) -> tensor<64xf32>
  %a = linalg.exp ins(%x : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %p = tensor.extract_slice %a[8, 0] [8, 64] [1, 1] : tensor<64x64xf32> to tensor<8x64xf32>
  %r = linalg.exp ins(%p : tensor<8x64xf32>) outs(%f : tensor<8x64xf32>) -> tensor<8x64xf32>
  return %r : tensor<8x64xf32>
}
// CHECK-LABEL: function @reshaped,
//       CHECK: dispatch #1
//   CHECK-NOT: memref
//       CHECK: apart from #0: a reshape lies between them{{$}}
func.func @reshaped(%x: tensor<8x8x64xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %v = tensor.empty() : tensor<8x64xf32>
  %i = linalg.fill ins(%zero : f32) outs(%v : tensor<8x64xf32>) -> tensor<8x64xf32>
  %s = linalg.reduce {arith.addf} ins(%x : tensor<8x8x64xf32>) outs(%i : tensor<8x64xf32>) dimensions = [1]
  %c = tensor.collapse_shape %s [[0, 1]] : tensor<8x64xf32> into tensor<512xf32>
  %x2 = tensor.expand_shape %c [[0, 1]] output_shape [64, 8] : tensor<512xf32> into tensor<64x8xf32>
  %w = tensor.empty() : tensor<8xf32>
  %j = linalg.fill ins(%zero : f32) outs(%w : tensor<8xf32>) -> tensor<8xf32>
  %t = linalg.reduce {arith.maximumf} ins(%x2 : tensor<64x8xf32>) outs(%j : tensor<8xf32>) dimensions = [0]
  return %t : tensor<8xf32>
}

// CHECK-LABEL: function @other_block,
//       CHECK: dispatch #1
//   CHECK-NOT: memref
//       CHECK: apart from #0: a branch or a loop lies between them{{$}}
func.func @other_block(%x: tensor<64x64xf32>, %n: index) -> tensor<64xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<64xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %a = linalg.reduce {arith.addf} ins(%x : tensor<64x64xf32>) outs(%i : tensor<64xf32>) dimensions = [1]
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%y = %a) -> tensor<64xf32> {
    %z = linalg.add ins(%a, %y : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
    scf.yield %z : tensor<64xf32>
  }
  return %r : tensor<64xf32>
}

// A product has rows of its own, and joins nothing; an elementwise part joins, and the next one goes on with it.
// CHECK-LABEL: function @concat,
//       CHECK: dispatch #1
//       CHECK: apart from #0: a product or convolution reads each element many times{{$}}
//       CHECK: dispatch #2
//       CHECK: apart from #1: only what is elementwise is computed where it is inserted{{$}}
//       CHECK: dispatch #3
//       CHECK: made of what is at {{.*}}apart.mlir:[[#@LINE+8]]:8, [[#@LINE+9]]:8{{$}}
//       CHECK: apart from #2: the result is the memory that this one goes on with{{$}}
func.func @concat(%x: tensor<64x8xf32>, %w: tensor<8x8xf32>, %y: tensor<64x8xf32>) -> tensor<64x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x8xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<64x8xf32>) -> tensor<64x8xf32>
  %a = linalg.exp ins(%x : tensor<64x8xf32>) outs(%e : tensor<64x8xf32>) -> tensor<64x8xf32>
  %b = linalg.matmul ins(%a, %w : tensor<64x8xf32>, tensor<8x8xf32>) outs(%i : tensor<64x8xf32>) -> tensor<64x8xf32>
  %n = linalg.negf ins(%y : tensor<64x8xf32>) outs(%e : tensor<64x8xf32>) -> tensor<64x8xf32>
  %c = tensor.concat dim(1) %b, %n : (tensor<64x8xf32>, tensor<64x8xf32>) -> tensor<64x16xf32>
  return %c : tensor<64x16xf32>
}

// What is fused is named by its places, in the order of the source.
// CHECK-LABEL: function @chain,
//       CHECK: dispatch #0
//  CHECK-NEXT: made of what is at {{.*}}apart.mlir:[[#@LINE+5]]:8, [[#@LINE+6]]:8, [[#@LINE+7]]:8{{$}}
//   CHECK-NOT: dispatch #1
//        JSON: "name": "chain"
func.func @chain(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %e = tensor.empty() : tensor<64x64xf32>
  %a = linalg.exp ins(%x : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %b = linalg.add ins(%a, %y : tensor<64x64xf32>, tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %c = linalg.mul ins(%b, %y : tensor<64x64xf32>, tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %c : tensor<64x64xf32>
}
