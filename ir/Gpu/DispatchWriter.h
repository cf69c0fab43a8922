// DispatchWriter: goes through a dispatch on buffers, and writes a kernel for whatever it does.
#pragma once

#include "ir/Gpu/KernelWriter.h"
#include "ir/Gpu/Kernels.h"
#include "ir/Gpu/Views.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"

namespace plim::ir::gpukernels {

using namespace mlir;

/// Loops of an op: where they come from and how many times they run.
struct Loops {
  SmallVector<unsigned> parallel, reduction; // positions, in the order in which they nest
  SmallVector<Number> sizes;                 // of each loop of the op

  SmallVector<Number> sizesOf(ArrayRef<unsigned> which) const {
    return llvm::map_to_vector(which, [&](unsigned loop) { return sizes[loop]; });
  }
};

/// A product of two operands: loops that both have, or one of them, and the result.
struct Product {
  SmallVector<unsigned> batch, rows, columns, depth;
  OpOperand *left = nullptr, *right = nullptr; // with the rows, with the columns
  linalg::LinalgOp epilogue;                   // what joins it, or null
};

/// What a workgroup computes of a product at a time, and with what.
struct ProductTile {
  enum { Invocations, MatrixUnits, WarpgroupUnits } by = Invocations;
  int64_t rows = 0, columns = 0;
  int64_t enough = 1; // tiles for the device to be busy
};
/// What a workgroup with matrix units has of an operand of a product, which has one loop in each
/// direction.
struct MatrixOperand {
  const View *view = nullptr;
  AffineMap map;
  unsigned across = 0;       // the loop of rows, or of columns
  int64_t side = 0;          // of the tile
  bool isDepthInner = false; // in memory of the operand
  Value memory;              // stages one behind the other
  Value first;               // row or column of the tile
  Value extent;              // of all rows or columns
  Value isAligned;           // may pieces of 16 bytes be copied as they are? Null: never
};
constexpr int64_t warpgroupRows = 128, warpgroupColumns = 256; // of a tile on the units of sm_90a

/// One instance writes one dispatch, once. Borrows all that it is given; `kernels` is filled in.
/// The last `outputs` arguments of the dispatch are destinations.
class DispatchWriter {
public:
  DispatchWriter(func::FuncOp dispatch, unsigned outputs, gpu::GPUModuleOp module,
                 const KernelOptions &options, Kernels &kernels)
      : dispatch(dispatch), outputs(outputs), module(module), options(options), kernels(kernels),
        numbers(kernels.numbers), views(numbers) {}

  /// Fails with a diagnostic at the op that no kernel does; the module has some kernels then.
  LogicalResult write();

private:
  // Kernels.cpp: buffers, copies, values.

  LogicalResult declareArguments();
  LogicalResult write(Operation *op);
  LogicalResult addTemporary(memref::AllocOp op, ArrayRef<OpFoldResult> extents);
  LogicalResult addTemporary(Value memref, MemRefType type, ArrayRef<Number> sizes);
  LogicalResult writeConstant(memref::GetGlobalOp op);
  KernelWriter begin(Location loc) const;
  /// Notes what the kernel has done to arguments since the last time. `overwritten`: views that
  /// have new elements everywhere.
  void noteAccesses(KernelWriter &kernel, ArrayRef<const View *> overwritten);
  /// The same, and the end of the kernel. `iterations`: of its loops, for one of the positions that
  /// workgroups share.
  void end(KernelWriter kernel, Number workgroups, ArrayRef<const View *> overwritten,
           Number iterations);
  Number workgroupsOf(Number invocations) const;
  /// Writes the fills that wait for what is in `op`, unless it begins its sums with them.
  void flushFills(Operation *op);
  /// Does a reduction start from the fill, and read it nowhere else?
  static bool isBeginOf(linalg::FillOp fill, Operation *op);
  void writeFill(linalg::FillOp fill);
  LogicalResult writeCopy(Operation *op, Value source, Value target);
  LogicalResult writeStore(memref::StoreOp op);
  LogicalResult writeReturn(func::ReturnOp op);
  /// What a kernel uses of the dispatch around it, computed there.
  LogicalResult capture(Value value, KernelWriter &kernel, IRMapping &known);
  /// Is it an operand, which nothing writes?
  bool isConstantBuffer(unsigned buffer) const;

  // LinalgKernels.cpp: an op of linalg.

  /// Extents that operands of one op give to a loop are equal: numbers of them that are written
  /// otherwise.
  Number sameAs(Number number) const;
  /// Notes that two numbers are equal, and gives one for both.
  Number unify(Number a, Number b);
  LogicalResult loopsOf(linalg::LinalgOp op, Loops &loops);
  SmallVector<Value> indicesOf(AffineMap map, ArrayRef<Value> positions, KernelWriter &kernel);
  /// One run of the body at `positions` of the loops, on `accumulators` in place of what results
  /// are. `known` may have elements of operands already.
  FailureOr<SmallVector<Value>> writeBody(linalg::LinalgOp op, ArrayRef<Value> positions,
                                          ArrayRef<Value> accumulators, KernelWriter &kernel,
                                          IRMapping known);
  static Operation *parentOf(Value value);
  /// Replaces what only the dispatch knows in a copied op: positions, and loads of its buffers. Its
  /// results are `lastResults` then.
  LogicalResult finishCopy(Operation *copy, ArrayRef<Value> positions, KernelWriter &kernel);
  LogicalResult writeLinalg(linalg::LinalgOp op);
  /// What no kernel needs to write any more once `op` has, and the views that it has overwritten.
  SmallVector<const View *> finishResults(linalg::LinalgOp op);
  /// Are all operands walked in the order of memory, so that one position serves all?
  bool isFlat(linalg::LinalgOp op);
  LogicalResult writeFlat(linalg::LinalgOp op, ArrayRef<Value> positions, KernelWriter &kernel);
  /// What results begin with: a fill that waits, or what memory holds.
  LogicalResult beginnings(linalg::LinalgOp op, ArrayRef<Value> positions, KernelWriter &kernel,
                           SmallVectorImpl<Value> &values);
  /// The same for `count` elements of a tile, of an op with one result. `moveTo` changes what
  /// `positions` refers to, so that it is the element's, and returns whether it is there; one that
  /// is not begins with zero.
  FailureOr<SmallVector<Value>> beginningsOfTile(linalg::LinalgOp op, int64_t count,
                                                 ArrayRef<Value> positions,
                                                 llvm::function_ref<Value(int64_t)> moveTo,
                                                 KernelWriter &kernel);
  void storeResults(linalg::LinalgOp op, ArrayRef<Value> positions, ArrayRef<Value> values,
                    KernelWriter &kernel);
  /// Positions of all loops: parallel ones at `position`, the others unknown yet.
  SmallVector<Value> parallelPositions(const Loops &loops, Value position, KernelWriter &kernel);
  /// One element of each result, by one invocation.
  LogicalResult writeElement(linalg::LinalgOp op, const Loops &loops, Value position,
                             KernelWriter &kernel);
  /// Shall a workgroup compute an element together? `combiners`: what folds two accumulators of
  /// each result.
  bool matchSharedReduction(linalg::LinalgOp op, const Loops &loops,
                            SmallVectorImpl<Operation *> &combiners);
  /// Does it give the same in whatever order?
  static bool isExact(linalg::LinalgOp op);
  LogicalResult writeSharedReduction(linalg::LinalgOp op, const Loops &loops,
                                     ArrayRef<Operation *> combiners, Value position,
                                     KernelWriter &kernel);

  // RowKernels.cpp: ops that follow each other on rows, in one kernel.

  /// Can the ops of the group and this one be one kernel, a workgroup for each row?
  bool joinsRows(linalg::LinalgOp op);
  /// Is a buffer of the op one of the group's?
  bool touchesGroup(Operation *op);
  /// Writes the ops that wait.
  LogicalResult flushGroup();
  LogicalResult writeRows(ArrayRef<linalg::LinalgOp> ops);
  LogicalResult writeRowElements(linalg::LinalgOp op, const Loops &loops, unsigned rows,
                                 Value position, KernelWriter &kernel);

  // ProductKernels.cpp: products, whose operands a workgroup shares.

  std::optional<Product> matchProduct(linalg::LinalgOp op, const Loops &loops);
  /// A kernel for each size of tiles: those of the largest run if there are enough for the device.
  LogicalResult writeProduct(linalg::LinalgOp op, const Loops &loops, const Product &product);
  /// Is the op all that uses the product which waits alone, element by element, so that the kernel
  /// of that can do it with what it has in registers?
  bool joinsProduct(linalg::LinalgOp op);
  /// Where the op has the elements of the product.
  AffineMap sumsMap(linalg::LinalgOp op, const View *sums);
  /// Stores an element of a product, or what its epilogue makes of that.
  LogicalResult storeProduct(linalg::LinalgOp op, const Product &product, ArrayRef<Value> positions,
                             Value value, KernelWriter &kernel);
  SmallVector<ProductTile> tilesFor(linalg::LinalgOp op, const Product &product);
  /// Tiles of all batches, which is what workgroups are for: squares of so many elements a side.
  Number tilesOf(const Product &product, const Loops &loops, int64_t rows, int64_t columns);
  /// `own`: rows, and columns, of the tile that an invocation has.
  LogicalResult writeProductTile(linalg::LinalgOp op, const Loops &loops, const Product &product,
                                 int64_t own, Value position, KernelWriter &kernel);

  // MatrixKernels.cpp: products on matrix units.

  bool isForMatrixUnits(linalg::LinalgOp op, const Product &product);
  /// Zero in a launch where pieces of 16 bytes, of 16-bit elements along dimension `inner`, are at
  /// multiples of their size.
  Number misalignment(const View &view, unsigned inner);
  /// `tile`: its number among those of `side` rows or columns.
  MatrixOperand matrixOperand(linalg::LinalgOp op, const Loops &loops, const Product &product,
                              OpOperand *operand, Value tile, int64_t side, int64_t stagesElements,
                              KernelWriter &kernel);
  /// Copies a slice of `slice` by `side`, which begins at depth `begin`, to workgroup memory: by
  /// `copyPieces` where the operand is aligned, otherwise element by element. `place`: of a row and
  /// a column, as they are in memory of the operand. What is outside of the operand is zero.
  /// `indices`: of the operand at (across, depth).
  static void copySlice(const MatrixOperand &operand, Value begin, int64_t slice, Value depth,
                        llvm::function_ref<SmallVector<Value>(Value, Value)> indices,
                        llvm::function_ref<Value(Value, Value)> place,
                        llvm::function_ref<void()> copyPieces, KernelWriter &kernel);
  /// Does the view begin at a multiple of 16 bytes in memory? An argument may be a slice of what an
  /// earlier launch has left.
  static Value isAtPiece(const View &view, KernelWriter &kernel);
  /// `side`: of a square tile, 128 or 64.
  LogicalResult writeMatrixTile(linalg::LinalgOp op, const Loops &loops, const Product &product,
                                int64_t side, Value position, KernelWriter &kernel);

  // WarpgroupKernels.cpp: the same on those of sm_90a.

  LogicalResult writeWarpgroupTile(linalg::LinalgOp op, const Loops &loops, const Product &product,
                                   Value position, KernelWriter &kernel);

  func::FuncOp dispatch;
  unsigned outputs;
  gpu::GPUModuleOp module;
  const KernelOptions &options;
  Kernels &kernels;
  Numbers &numbers;
  Views views;
  llvm::DenseMap<Number, Number> same;
  /// By argument: has an earlier kernel written to it? Then it has written all of it, or the
  /// argument counts as read already.
  std::vector<bool> wasWritten;
  SmallVector<linalg::LinalgOp> group; // that wait for more ops on the same rows, or elements
  bool isProductGroup = false;         // a product, and an op that joins it
  SmallVector<linalg::FillOp> fills;   // that no kernel has written yet
  SmallVector<Value> lastResults;      // of finishCopy()
  bool hasFailed = false;
};

} // namespace plim::ir::gpukernels
