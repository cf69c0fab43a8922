// RUN: plimsoll-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{rows, columns and lanes are 1 or more, and loops are loops}}
func.func private @rows() attributes {plim.strategy = [#plim.registers<rows = 0, row_loop = 0, columns = 32, column_loop = 1, lanes = 16, terms = 0, because = "">]}

// -----

// expected-error @+1 {{depths and lines are 1 or more, columns 0 or more}}
func.func private @depth() attributes {plim.strategy = [#plim.panels<panel = copied, rows = in_place, depth = [0], columns = 32, lines = 1, because = "">]}

// -----

// expected-error @+1 {{tiles are 0 or more}}
func.func private @tiles() attributes {plim.workgroups = #plim.workgroups<tiles = [-1], because = "">}

// -----

func.func @loop(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>, %c: tensor<4x16xf32>) -> tensor<4x16xf32> {
  // expected-error @+1 {{"plim.registers" does not fit the op}}
  %r = linalg.matmul {plim.registers = #plim.registers<rows = 4, row_loop = 0, columns = 16, column_loop = 3, lanes = 8, terms = 0, because = "">}
      ins(%a, %b : tensor<4x8xf32>, tensor<8x16xf32>) outs(%c : tensor<4x16xf32>) -> tensor<4x16xf32>
  return %r : tensor<4x16xf32>
}

// -----

func.func @depths(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>, %c: tensor<4x16xf32>) -> tensor<4x16xf32> {
  // expected-error @+1 {{"plim.panels" does not fit the op}}
  %r = linalg.matmul {plim.panels = #plim.panels<panel = copied, rows = in_place, depth = [8, 8], columns = 16, lines = 1, because = "">}
      ins(%a, %b : tensor<4x8xf32>, tensor<8x16xf32>) outs(%c : tensor<4x16xf32>) -> tensor<4x16xf32>
  return %r : tensor<4x16xf32>
}
