// RUN: plimsoll-opt %s -plim-view-slices -split-input-file | FileCheck %s
// RUN: plimsoll-opt %s -plim-view-slices -plim-form-dispatches -split-input-file \
// RUN:   | FileCheck %s --check-prefix=FORM

// Parts that lie one behind the other are made in their places. They need no dispatch to get there.
// CHECK-LABEL: func.func @rows(
//       CHECK: %[[E:.*]] = tensor.empty() : tensor<7x8xf32>
//       CHECK: %[[S:.*]] = tensor.extract_slice %[[E]][0, 0] [4, 8] [1, 1]
//       CHECK: %[[X:.*]] = linalg.exp ins(%{{.*}}) outs(%[[S]] : tensor<4x8xf32>)
//       CHECK: %[[I:.*]] = tensor.insert_slice %[[X]] into %[[E]][0, 0] [4, 8] [1, 1]
//       CHECK: %[[T:.*]] = tensor.extract_slice %[[I]][4, 0] [3, 8] [1, 1]
//       CHECK: linalg.exp ins(%{{.*}}) outs(%[[T]] : tensor<3x8xf32>)
// FORM-LABEL: func.func @rows(
//       FORM: %[[S:.*]] = tensor.extract_slice
//       FORM: %[[X:.*]] = plim.dispatch @rows_elementwise_0 ins(%{{.*}}) outs(%[[S]] : tensor<4x8xf32>)
//       FORM: %[[I:.*]] = tensor.insert_slice %[[X]]
//       FORM: %[[T:.*]] = tensor.extract_slice %[[I]]
//       FORM: %[[Y:.*]] = plim.dispatch @rows_elementwise_1 ins(%{{.*}}) outs(%[[T]] : tensor<3x8xf32>)
//       FORM: tensor.insert_slice %[[Y]]
func.func @rows(%a: tensor<4x8xf32>, %b: tensor<3x8xf32>) -> tensor<7x8xf32> {
  %ea = tensor.empty() : tensor<4x8xf32>
  %x = linalg.exp ins(%a : tensor<4x8xf32>) outs(%ea : tensor<4x8xf32>) -> tensor<4x8xf32>
  %eb = tensor.empty() : tensor<3x8xf32>
  %y = linalg.exp ins(%b : tensor<3x8xf32>) outs(%eb : tensor<3x8xf32>) -> tensor<3x8xf32>
  %e = tensor.empty() : tensor<7x8xf32>
  %0 = tensor.insert_slice %x into %e[0, 0] [4, 8] [1, 1] : tensor<4x8xf32> into tensor<7x8xf32>
  %1 = tensor.insert_slice %y into %0[4, 0] [3, 8] [1, 1] : tensor<3x8xf32> into tensor<7x8xf32>
  return %1 : tensor<7x8xf32>
}

// -----

// Columns are not dense: no dispatch could be bound to them.
// CHECK-LABEL: func.func @columns(
//   CHECK-NOT: tensor.extract_slice
//       CHECK: return
// FORM-LABEL: func.func private @columns_insert_slice_1
func.func @columns(%a: tensor<4x2xf32>, %d: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x2xf32>
  %x = linalg.exp ins(%a : tensor<4x2xf32>) outs(%e : tensor<4x2xf32>) -> tensor<4x2xf32>
  %r = tensor.insert_slice %x into %d[0, 3] [4, 2] [1, 1] : tensor<4x2xf32> into tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

// Rows that ops read are bound as they are; columns, and rows that the function returns, are not.
// FORM-LABEL: func.func private @read_extract_slice_1
// FORM-LABEL: func.func private @read_extract_slice_2
// FORM-LABEL: func.func @read(
//       FORM: %[[ROWS:.*]] = tensor.extract_slice %{{.*}}[1, 0] [2, 4] [1, 1]
//       FORM: plim.dispatch @read_elementwise_0 ins(%[[ROWS]] : tensor<2x4xf32>)
//       FORM: plim.dispatch @read_extract_slice_1
//       FORM: plim.dispatch @read_extract_slice_2
func.func @read(%a: tensor<4x4xf32>) -> (tensor<2x4xf32>, tensor<4x2xf32>, tensor<1x4xf32>) {
  %rows = tensor.extract_slice %a[1, 0] [2, 4] [1, 1] : tensor<4x4xf32> to tensor<2x4xf32>
  %e = tensor.empty() : tensor<2x4xf32>
  %x = linalg.exp ins(%rows : tensor<2x4xf32>) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  %columns = tensor.extract_slice %a[0, 1] [4, 2] [1, 1] : tensor<4x4xf32> to tensor<4x2xf32>
  %row = tensor.extract_slice %a[3, 0] [1, 4] [1, 1] : tensor<4x4xf32> to tensor<1x4xf32>
  return %x, %columns, %row : tensor<2x4xf32>, tensor<4x2xf32>, tensor<1x4xf32>
}
