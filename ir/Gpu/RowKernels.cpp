#include "ir/Gpu/DispatchWriter.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <utility>

using namespace mlir;
using namespace plim::ir;
using namespace plim::ir::gpukernels;

// A softmax is a maximum of each row, differences from it, their sum, quotients by that: four kernels, each of which reads what the
// one before wrote. Here it is one, in which a workgroup does all of that with a row, with a barrier between two ops: what an op
// writes to a row only ops on the same row read, and it is in the caches then.

namespace {

/// Fewer leave most of the device without work.
constexpr int64_t minRows = 64;

/// Are the first dimensions of the operand those of the rows, so that a row has a part of its own?
bool isByRows(AffineMap map, ArrayRef<unsigned> rows) {
  if (map.getNumResults() < rows.size())
    return false;
  for (auto [expression, loop] : llvm::zip(map.getResults(), rows)) {
    auto dimension = dyn_cast<AffineDimExpr>(expression);
    if (!dimension || dimension.getPosition() != loop)
      return false;
  }
  return llvm::none_of(map.getResults().drop_front(rows.size()), [&](AffineExpr expression) {
    return llvm::any_of(rows, [&](unsigned loop) { return expression.isFunctionOfDim(loop); });
  });
}

} // namespace

bool DispatchWriter::touchesGroup(Operation *op) {
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    const View *view = views.find(operand);
    return view && llvm::any_of(group, [&](linalg::LinalgOp other) {
             return llvm::any_of(other->getOperands(), [&](Value theirs) {
               const View *known = views.find(theirs);
               return known && known->buffer == view->buffer;
             });
           });
  });
}

bool DispatchWriter::joinsRows(linalg::LinalgOp op) {
  if (group.empty() || !options.sharesBuffers)
    return false;
  // The rows are those of a reduction, of which there is one at least.
  SmallVector<linalg::LinalgOp> all = group;
  all.push_back(op);
  std::optional<SmallVector<Number>> rows;
  SmallVector<Loops> loopsOfAll;
  for (linalg::LinalgOp each : all) {
    Loops &loops = loopsOfAll.emplace_back();
    SmallVector<Operation *> combiners;
    const bool hasLoads = each.getBlock()
                              ->walk([](memref::LoadOp) { return WalkResult::interrupt(); })
                              .wasInterrupted();
    ScopedDiagnosticHandler quiet(op->getContext(), [](mlir::Diagnostic &) { return success(); });
    if (hasLoads || failed(loopsOf(each, loops)))
      return false;
    if (loops.reduction.empty())
      continue;
    if (matchProduct(each, loops) || !matchSharedReduction(each, loops, combiners))
      return false;
    SmallVector<Number> own = loops.sizesOf(loops.parallel);
    if (rows && *rows != own)
      return false;
    rows = own;
  }
  if (!rows) // of ops without a reduction the first may wait for one
    return group.size() == 1;
  std::optional<int64_t> count = numbers.constantOf(numbers.product(*rows));
  if (rows->empty() || (count && *count < minRows))
    return false;
  for (auto [each, loops] : llvm::zip_equal(all, loopsOfAll)) {
    if (loops.parallel.size() < rows->size() ||
        ArrayRef(loops.sizesOf(loops.parallel)).take_front(rows->size()) != ArrayRef(*rows))
      return false;
    ArrayRef<unsigned> own = ArrayRef(loops.parallel).take_front(rows->size());
    for (OpOperand &operand : each->getOpOperands()) {
      const View *view = views.find(operand.get());
      if (!view)
        continue;
      // A buffer that one of them writes is the row's alone, and the same view for all.
      const bool isWritten = llvm::any_of(all, [&](linalg::LinalgOp other) {
        return llvm::any_of(other.getDpsInits(),
                            [&](Value init) { return views.find(init)->buffer == view->buffer; });
      });
      const bool isOneView = llvm::all_of(all, [&](linalg::LinalgOp other) {
        return llvm::all_of(other->getOperands(), [&](Value theirs) {
          const View *known = views.find(theirs);
          return !known || known->buffer != view->buffer || *known == *view;
        });
      });
      if (isWritten && (!isOneView || !isByRows(each.getMatchingIndexingMap(&operand), own)))
        return false;
    }
  }
  return true;
}

LogicalResult DispatchWriter::flushGroup() {
  SmallVector<linalg::LinalgOp> waiting = std::move(group);
  group.clear();
  // Its second op may have said more of the extents since.
  if (std::exchange(isProductGroup, false)) {
    Loops loops;
    if (failed(loopsOf(waiting[0], loops)))
      return failure();
    if (std::optional<Product> product = matchProduct(waiting[0], loops)) {
      product->epilogue = waiting[1];
      return writeProduct(waiting[0], loops, *product);
    }
    return failure(failed(writeLinalg(waiting[0])) || failed(writeLinalg(waiting[1])));
  }
  auto reduction =
      llvm::find_if(waiting, [](linalg::LinalgOp op) { return op.getNumReductionLoops() > 0; });
  if (waiting.size() > 1 && reduction != waiting.end())
    return writeRows(waiting);
  for (linalg::LinalgOp op : waiting)
    if (failed(writeLinalg(op)))
      return failure();
  return success();
}

LogicalResult DispatchWriter::writeRows(ArrayRef<linalg::LinalgOp> ops) {
  Number total = 0;
  unsigned rows = 0;
  for (linalg::LinalgOp op : ops) {
    Loops loops;
    if (failed(loopsOf(op, loops)))
      return failure();
    if (loops.reduction.empty())
      continue;
    rows = unsigned(loops.parallel.size());
    total = numbers.product(loops.sizesOf(loops.parallel));
  }
  linalg::LinalgOp first = ops.front();
  KernelWriter kernel = begin(first.getLoc());
  LogicalResult isWritten = success();
  kernel.forEachWorkgroup(total, [&](Value position) {
    for (linalg::LinalgOp op : ops) {
      Loops loops;
      SmallVector<Operation *> combiners;
      isWritten = loopsOf(op, loops);
      if (succeeded(isWritten) && loops.reduction.empty()) {
        isWritten = writeRowElements(op, loops, rows, position, kernel);
      } else if (succeeded(isWritten)) {
        // Later ops may have said more of its extents.
        isWritten = matchSharedReduction(op, loops, combiners)
                        ? writeSharedReduction(op, loops, combiners, position, kernel)
                        : op.emitError() << "it has rows whose length is known too late";
      }
      if (failed(isWritten))
        return;
      noteAccesses(kernel, finishResults(op));
    }
  });
  if (failed(isWritten))
    return failure();
  // No driver that runs rows as one kernel counts.
  end(std::move(kernel), total, {}, numbers.constant(1));
  return success();
}

LogicalResult DispatchWriter::writeRowElements(linalg::LinalgOp op, const Loops &loops,
                                               unsigned rows, Value position,
                                               KernelWriter &kernel) {
  ArrayRef<unsigned> outer = ArrayRef(loops.parallel).take_front(rows),
                     inner = ArrayRef(loops.parallel).drop_front(rows);
  SmallVector<Value> row(loops.sizes.size(), kernel.index(0));
  auto set = [&](SmallVectorImpl<Value> &all, ArrayRef<unsigned> which, Value value) {
    for (auto [loop, index] :
         llvm::zip_equal(which, kernel.delinearize(value, loops.sizesOf(which))))
      all[loop] = index;
  };
  set(row, outer, position);
  LogicalResult isWritten = success();
  auto write = [&](ArrayRef<Value> places) -> LogicalResult {
    SmallVector<SmallVector<Value>> positions, results;
    for (Value place : places) {
      SmallVector<Value> &own = positions.emplace_back(row);
      set(own, inner, place);
      SmallVector<Value> values;
      if (failed(beginnings(op, own, kernel, values)))
        return failure();
      FailureOr<SmallVector<Value>> made = writeBody(op, own, values, kernel, {});
      if (failed(made))
        return failure();
      results.push_back(std::move(*made));
    }
    for (auto [own, values] : llvm::zip_equal(positions, results))
      storeResults(op, own, values, kernel);
    return success();
  };
  kernel.forEachInWorkgroup(numbers.product(loops.sizesOf(inner)), options.elementsAtOnce,
                            [&](ArrayRef<Value> places) {
                              if (succeeded(isWritten))
                                isWritten = write(places);
                            });
  kernel.barrier();
  return isWritten;
}
