// Decisions read as they are written: of no loop, of one, of several.
// RUN: plimsoll-opt %s | plimsoll-opt | FileCheck %s

//      CHECK: plim.strategy = [#plim.workgroups<tiles = [], because = "all of it is one task">, #plim.workgroups<tiles = [0, 128], because = "">,
// CHECK-SAME: #plim.panels<panel = copied, rows = in_place, depth = [3, 512], columns = 32, lines = 1, because = "">,
// CHECK-SAME: #plim.panels<panel = tiles, rows = prepared, depth = [], columns = 0, lines = 2, because = "">,
// CHECK-SAME: #plim.registers<rows = 12, row_loop = -1, columns = 32, column_loop = 1, lanes = 16, terms = 0, because = "24 of 32 registers">,
// CHECK-SAME: #plim.stores<because = "a \22quoted\22 reason">]
func.func private @f() attributes {plim.strategy = [
  #plim.workgroups<tiles = [], because = "all of it is one task">,
  #plim.workgroups<tiles = [0, 128], because = "">,
  #plim.panels<panel = copied, rows = in_place, depth = [3, 512], columns = 32, lines = 1, because = "">,
  #plim.panels<panel = tiles, rows = prepared, depth = [], columns = 0, lines = 2, because = "">,
  #plim.registers<rows = 12, row_loop = -1, columns = 32, column_loop = 1, lanes = 16, terms = 0, because = "24 of 32 registers">,
  #plim.stores<because = "a \"quoted\" reason">
]}
