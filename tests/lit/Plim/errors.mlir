// RUN: plimsoll-opt %s -split-input-file -verify-diagnostics

func.func private @work() attributes {plim.dispatch_function}
func.func @count(%a: memref<4xf32>, %o: memref<4xf32>) {
  // expected-error @below {{'plim.dispatch' op has 1 accesses for 2 bindings}}
  plim.dispatch @work ins(%a : memref<4xf32>) outs(%o : memref<4xf32>)
      {accesses = [#plim.access<writeonly>]}
  return
}

// -----

// Scalars are no bindings.
func.func private @work() attributes {plim.dispatch_function}
func.func @scalar(%s: f32, %o: memref<4xf32>) {
  // expected-error @below {{'plim.dispatch' op has 2 accesses for 1 bindings}}
  plim.dispatch @work ins(%s : f32) outs(%o : memref<4xf32>)
      {accesses = [#plim.access<readonly>, #plim.access<writeonly>]}
  return
}

// -----

func.func private @work() attributes {plim.dispatch_function}
func.func @input(%s: f32, %a: memref<4xf32>, %o: memref<4xf32>) {
  // expected-error @below {{'plim.dispatch' op input #1 must be readonly}}
  plim.dispatch @work ins(%s, %a : f32, memref<4xf32>) outs(%o : memref<4xf32>)
      {accesses = [#plim.access<readwrite>, #plim.access<writeonly>]}
  return
}

// -----

func.func private @work() attributes {plim.dispatch_function}
func.func @output(%a: memref<4xf32>, %o: memref<4xf32>) {
  // expected-error @below {{'plim.dispatch' op output #1 can't be readonly}}
  plim.dispatch @work ins(%a : memref<4xf32>) outs(%o : memref<4xf32>)
      {accesses = [#plim.access<readonly>, #plim.access<readonly>]}
  return
}

// -----

func.func private @work() attributes {plim.dispatch_function}
func.func @attribute(%o: memref<4xf32>) {
  // expected-error @below {{attribute 'accesses' failed to satisfy constraint: accesses, one per binding}}
  plim.dispatch @work outs(%o : memref<4xf32>) {accesses = ["writeonly"]}
  return
}

// -----

func.func private @work() attributes {plim.dispatch_function}
func.func @mixed(%o: tensor<4xf32>, %p: memref<4xf32>) {
  // expected-error @below {{'plim.dispatch' op must have outputs that are all tensors or all memrefs}}
  plim.dispatch @work outs(%o, %p : tensor<4xf32>, memref<4xf32>)
  return
}

// -----

func.func private @work() attributes {plim.dispatch_function}
func.func @no_result(%o: tensor<4xf32>) {
  // expected-error @below {{'plim.dispatch' op must have one result per tensor output and none for memrefs}}
  plim.dispatch @work outs(%o : tensor<4xf32>)
  return
}

// -----

func.func private @work() attributes {plim.dispatch_function}
func.func @result_of_memref(%o: memref<4xf32>) {
  // expected-error @below {{must have one result per tensor output and none for memrefs}}
  %r = plim.dispatch @work outs(%o : memref<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func private @work() attributes {plim.dispatch_function}
func.func @result_type(%o: tensor<4xf32>) {
  // expected-error @below {{expected type of operand #0 ('tensor<4xf32>') to match type of corresponding result ('tensor<8xf32>')}}
  %r = plim.dispatch @work outs(%o : tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @missing(%o: memref<4xf32>) {
  // expected-error @below {{'plim.dispatch' op refers to nowhere, which is no function}}
  plim.dispatch @nowhere outs(%o : memref<4xf32>)
  return
}

// -----

memref.global "private" @data : memref<4xf32>
func.func @global(%o: memref<4xf32>) {
  // expected-error @below {{'plim.dispatch' op refers to data, which is no function}}
  plim.dispatch @data outs(%o : memref<4xf32>)
  return
}

// -----

func.func private @plain()
func.func @unmarked(%o: memref<4xf32>) {
  // expected-error @below {{'plim.dispatch' op refers to plain, which is no dispatch function}}
  plim.dispatch @plain outs(%o : memref<4xf32>)
  return
}

// -----

func.func @slab() {
  %context = plim.context : !plim.context
  // expected-error @below {{'plim.workspace' op result #0 must be}}
  %slab = plim.workspace %context : memref<?xf32>
  return
}

// -----

func.func private @work() attributes {plim.dispatch_function}
func.func @keyword(%o: memref<4xf32>) {
  // expected-error @below {{expected ::plim::ir::Access to be one of: readonly, writeonly, readwrite}}
  // expected-error @below {{failed to parse Plim_AccessAttr parameter 'value'}}
  plim.dispatch @work outs(%o : memref<4xf32>) {accesses = [#plim.access<sometimes>]}
  return
}

// -----

func.func private @work() attributes {plim.dispatch_function}
func.func @alone(%o: memref<4xf32>) {
  // expected-error @below {{'plim.concurrent' op must hold at least two dispatches}}
  plim.concurrent {
    plim.dispatch @work outs(%o : memref<4xf32>)
  }
  return
}

// -----

func.func private @work() attributes {plim.dispatch_function}
func.func @tensors(%o: tensor<4xf32>) {
  plim.concurrent {
    // expected-error @below {{'plim.dispatch' op can't be part of plim.concurrent, which holds dispatches on buffers}}
    %r = plim.dispatch @work outs(%o : tensor<4xf32>) -> tensor<4xf32>
  }
  return
}

// -----

func.func @other_op(%a: memref<4xf32>, %o: memref<4xf32>) {
  plim.concurrent {
    // expected-error @below {{'memref.copy' op can't be part of plim.concurrent, which holds dispatches on buffers}}
    memref.copy %a, %o : memref<4xf32> to memref<4xf32>
  }
  return
}

// -----

func.func private @work() attributes {plim.dispatch_function}
func.func @write_after_read(%a: memref<4xf32>, %o: memref<4xf32>) {
  plim.concurrent {
    plim.dispatch @work ins(%a : memref<4xf32>) outs(%o : memref<4xf32>)
    // expected-error @below {{'plim.dispatch' op shares binding #0 with another dispatch of plim.concurrent, and one of them writes it}}
    plim.dispatch @work outs(%a : memref<4xf32>)
  }
  return
}

// -----

func.func private @work() attributes {plim.dispatch_function}
func.func @read_after_write(%a: memref<4xf32>, %o: memref<4xf32>) {
  plim.concurrent {
    plim.dispatch @work outs(%a : memref<4xf32>)
    // expected-error @below {{'plim.dispatch' op shares binding #0 with another dispatch of plim.concurrent, and one of them writes it}}
    plim.dispatch @work ins(%a : memref<4xf32>) outs(%o : memref<4xf32>)
  }
  return
}

// -----

func.func @empty() {
  // expected-error @below {{'plim.concurrent' op must hold at least two dispatches}}
  plim.concurrent {
  }
  return
}
