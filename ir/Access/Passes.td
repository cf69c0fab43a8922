#ifndef PLIM_ACCESS_PASSES
#define PLIM_ACCESS_PASSES

include "mlir/Pass/PassBase.td"

def PlimInferAccess : Pass<"plim-infer-access", "::mlir::ModuleOp"> {
  let summary = "Infer what is read and written, and hold it against what is declared";
  let description = [{
    For a dispatch: an input is `readonly`. An output is `writeonly` when the dispatch function overwrites
    all of it without using what it held: it reaches only destination operands whose element the op's
    body does not use. Else it is `readwrite`. The result stands on the arguments of the dispatch function
    (`plim.access`) and on the dispatches.

    For a memref argument of any other function: what any op does to its memory, through views, control
    flow, calls and returns. What the author declares (`plim.access`) stays, and is an error where an op
    does more. A function must not free an argument, and nothing may write to a constant; a public
    function that returns one would let its caller write.

    ```mlir
    func.func @f(%x: memref<4xf32>, %y: memref<4xf32>) {
      memref.copy %x, %y : memref<4xf32> to memref<4xf32>
    // becomes
    func.func @f(%x: memref<4xf32> {plim.access = #plim.access<readonly>},
                 %y: memref<4xf32> {plim.access = #plim.access<writeonly>}) {
    ```
  }];
  let dependentDialects = ["::plim::ir::PlimDialect"];
  let statistics = [
    Statistic<"readOnly", "readonly", "read-only bindings">,
    Statistic<"writeOnly", "writeonly", "write-only bindings">,
    Statistic<"readWrite", "readwrite", "read-write bindings">];
}

def PlimBindArguments : Pass<"plim-bind-arguments", "::mlir::ModuleOp"> {
  let summary = "Give dispatch functions and kernels their bare-pointer signature";
  let description = [{
    Arguments of a dispatch function or kernel become: a rank-0 memref per binding (a bare pointer
    later), then the scalars, then an index per dynamic extent of the bindings. Dispatch functions
    compute on tensors over these buffers and write their results in place.

    ```mlir
    func.func private @d(%a: tensor<?xf32>, %o: tensor<?xf32>) -> tensor<?xf32>
    // becomes
    func.func private @d(%a: memref<f32>, %o: memref<f32>, %a_0: index, %o_0: index) {
      %m = memref.reinterpret_cast %a to offset: [0], sizes: [%a_0], strides: [1]
      %t = bufferization.to_tensor %m restrict
      ...
      bufferization.materialize_in_destination %r in restrict writable %out
      return
    }
    ```
    A kernel keeps the order of its scalars and buffers in its own argument list.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect", "::mlir::affine::AffineDialect",
                           "::mlir::bufferization::BufferizationDialect"];
  let statistics = [
    Statistic<"buffers", "buffers", "buffers that became bare pointers">,
    Statistic<"extents", "extents", "dynamic extents passed beside them">];
}

#endif
