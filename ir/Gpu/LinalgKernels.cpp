#include "ir/Analysis/Reductions.h"
#include "ir/Gpu/DispatchWriter.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace plim::ir;
using namespace plim::ir::gpukernels;
using Kind = Numbers::Kind;

namespace {

/// Reductions of fewer elements are done by one invocation each.
constexpr int64_t minSharedReduction = 32;

} // namespace

Number DispatchWriter::sameAs(Number number) const {
  for (auto found = same.find(number); found != same.end(); found = same.find(number))
    number = found->second;
  return number;
}

Number DispatchWriter::unify(Number a, Number b) {
  a = sameAs(a);
  b = sameAs(b);
  // What is known is the better one, else the earlier.
  if (!numbers.constantOf(a) && (numbers.constantOf(b) || b < a))
    std::swap(a, b);
  if (a != b && !numbers.constantOf(b))
    same[b] = a;
  return a;
}

LogicalResult DispatchWriter::loopsOf(linalg::LinalgOp op, Loops &loops) {
  SmallVector<std::optional<Number>> sizes(op.getNumLoops());
  for (OpOperand &operand : op->getOpOperands()) {
    const View *view = views.find(operand.get());
    if (!view && isa<MemRefType>(operand.get().getType()))
      return op.emitError() << "it works on memory that it does not know";
    if (!view)
      continue;
    for (auto [i, expression] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
      if (auto loop = dyn_cast<AffineDimExpr>(expression)) {
        std::optional<Number> &size = sizes[loop.getPosition()];
        size = size ? unify(*size, view->sizes[i]) : sameAs(view->sizes[i]);
      }
  }
  // Loops of results first, in the order of memory.
  AffineMap written = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  for (AffineExpr expression : written.getResults())
    if (auto loop = dyn_cast<AffineDimExpr>(expression))
      loops.parallel.push_back(loop.getPosition());
  for (auto [i, kind] : llvm::enumerate(op.getIteratorTypesArray())) {
    if (!sizes[i])
      return op.emitError() << "it has a loop that no operand gives an extent";
    loops.sizes.push_back(*sizes[i]);
    const bool isParallel = kind == utils::IteratorType::parallel;
    if (isParallel && !llvm::is_contained(loops.parallel, i))
      loops.parallel.push_back(unsigned(i));
    if (!isParallel)
      loops.reduction.push_back(unsigned(i));
  }
  for (OpOperand &init : op.getDpsInitsMutable()) {
    AffineMap map = op.getMatchingIndexingMap(&init);
    if (!views.find(init.get()) ||
        llvm::any_of(loops.reduction, [&](unsigned loop) { return map.isFunctionOfDim(loop); }) ||
        !llvm::all_of(loops.parallel, [&](unsigned loop) { return map.isFunctionOfDim(loop); }))
      return op.emitError() << "it writes elements more than once";
  }
  return success();
}

SmallVector<Value> DispatchWriter::indicesOf(AffineMap map, ArrayRef<Value> positions,
                                             KernelWriter &kernel) {
  return llvm::map_to_vector(map.getResults(), [&](AffineExpr expression) {
    return affine::expandAffineExpr(kernel.builder(), kernel.builder().getLoc(), expression,
                                    positions, {});
  });
}

FailureOr<SmallVector<Value>> DispatchWriter::writeBody(linalg::LinalgOp op,
                                                        ArrayRef<Value> positions,
                                                        ArrayRef<Value> accumulators,
                                                        KernelWriter &kernel, IRMapping known) {
  ImplicitLocOpBuilder &b = kernel.builder();
  Block *body = op.getBlock();
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(&operand);
    if (argument.use_empty() || known.contains(argument))
      continue;
    const View *view = views.find(operand.get());
    if (op.isDpsInit(&operand)) {
      known.map(argument,
                accumulators[operand.getOperandNumber() - unsigned(op.getNumDpsInputs())]);
    } else if (view) {
      known.map(argument, kernel.load(*view, indicesOf(op.getMatchingIndexingMap(&operand),
                                                       positions, kernel)));
    } else {
      if (failed(capture(operand.get(), kernel, known)))
        return failure();
      known.map(argument, known.lookup(operand.get()));
    }
  }
  WalkResult captured = body->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (!op->isProperAncestor(parentOf(operand)) && failed(capture(operand, kernel, known)))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  if (captured.wasInterrupted())
    return failure();
  for (Operation &inner : body->without_terminator()) {
    Operation *copy = b.clone(inner, known);
    if (failed(finishCopy(copy, positions, kernel)))
      return failure();
    for (auto [old, made] : llvm::zip_equal(inner.getResults(), lastResults))
      known.map(old, made);
  }
  return llvm::map_to_vector(body->getTerminator()->getOperands(),
                             [&](Value value) { return known.lookupOrDefault(value); });
}

Operation *DispatchWriter::parentOf(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getOwner()->getParentOp();
  return value.getDefiningOp();
}

LogicalResult DispatchWriter::finishCopy(Operation *copy, ArrayRef<Value> positions,
                                         KernelWriter &kernel) {
  lastResults = SmallVector<Value>(copy->getResults());
  ImplicitLocOpBuilder &b = kernel.builder();
  SmallVector<Operation *> ops;
  copy->walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(op);
    Value made;
    if (auto index = dyn_cast<linalg::IndexOp>(op)) {
      made = positions[index.getDim()];
    } else if (auto load = dyn_cast<memref::LoadOp>(op)) {
      if (const View *view = views.find(load.getMemRef()))
        made = kernel.load(*view, load.getIndices());
    } else if (auto dim = dyn_cast<memref::DimOp>(op)) {
      const View *view = views.find(dim.getSource());
      if (std::optional<int64_t> at = dim.getConstantIndex(); view && at)
        made = kernel.word(view->sizes[size_t(*at)]);
    }
    if (!made) {
      if (llvm::any_of(op->getOperandTypes(), llvm::IsaPred<ShapedType>) ||
          llvm::any_of(op->getResultTypes(), llvm::IsaPred<ShapedType>))
        return op->emitError() << "it has a " << op->getName() << " in a body";
      continue;
    }
    if (op == copy)
      lastResults = {made};
    op->getResult(0).replaceAllUsesWith(made);
    op->erase();
  }
  return success();
}

LogicalResult DispatchWriter::writeLinalg(linalg::LinalgOp op) {
  Loops loops;
  if (failed(loopsOf(op, loops)))
    return failure();
  if (std::optional<Product> product = matchProduct(op, loops))
    return writeProduct(op, loops, *product);
  SmallVector<Operation *> combiners;
  LogicalResult isWritten = success();
  KernelWriter kernel = begin(op.getLoc());
  Number workgroups, iterations = numbers.constant(1);
  if (loops.reduction.empty() && isFlat(op)) {
    const View *result = views.find(op.getDpsInits()[0]);
    const Number total = numbers.product(result->sizes);
    workgroups = workgroupsOf(total);
    kernel.forEachInvocation(total, options.elementsAtOnce, [&](ArrayRef<Value> positions) {
      if (succeeded(isWritten))
        isWritten = writeFlat(op, positions, kernel);
    });
  } else if (matchSharedReduction(op, loops, combiners)) {
    const Number total = numbers.product(loops.sizesOf(loops.parallel));
    workgroups = total;
    iterations = numbers.apply(Kind::Add, iterations,
                               numbers.apply(Kind::CeilDivide,
                                             numbers.product(loops.sizesOf(loops.reduction)),
                                             numbers.constant(options.workgroupSize)));
    kernel.forEachWorkgroup(total, [&](Value position) {
      isWritten = writeSharedReduction(op, loops, combiners, position, kernel);
    });
  } else {
    const Number total = numbers.product(loops.sizesOf(loops.parallel));
    workgroups = workgroupsOf(total);
    Number ofNest = iterations;
    for (Number size : loops.sizesOf(loops.reduction)) {
      ofNest = numbers.apply(Kind::Multiply, ofNest, size);
      iterations = numbers.apply(Kind::Add, iterations, ofNest);
    }
    kernel.forEachInvocation(
        total, [&](Value position) { isWritten = writeElement(op, loops, position, kernel); });
  }
  if (failed(isWritten))
    return failure();
  SmallVector<const View *> overwritten = finishResults(op);
  end(std::move(kernel), workgroups, overwritten, iterations);
  return success();
}

SmallVector<const View *> DispatchWriter::finishResults(linalg::LinalgOp op) {
  SmallVector<const View *> overwritten;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    llvm::erase_if(fills, [&](linalg::FillOp fill) { return fill.getOutputs()[0] == init.get(); });
    if (op.getMatchingIndexingMap(&init).isProjectedPermutation())
      overwritten.push_back(views.find(init.get()));
  }
  return overwritten;
}

bool DispatchWriter::isFlat(linalg::LinalgOp op) {
  const bool knowsPositions =
      op.getBlock()->walk([](linalg::IndexOp) { return WalkResult::interrupt(); }).wasInterrupted();
  return !knowsPositions && llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
    const View *view = views.find(operand.get());
    return !view || (op.getMatchingIndexingMap(&operand).isIdentity() && views.isDense(*view));
  });
}

LogicalResult DispatchWriter::writeFlat(linalg::LinalgOp op, ArrayRef<Value> positions,
                                        KernelWriter &kernel) {
  auto flat = [&](Value operand) {
    View view = *views.find(operand);
    view.sizes = {numbers.product(view.sizes)};
    view.strides = {numbers.constant(1)};
    return view;
  };
  // All loads come before the first computation.
  SmallVector<IRMapping, 0> inputs(positions.size());
  SmallVector<SmallVector<Value>> accumulators(positions.size()), results;
  for (auto [i, position] : llvm::enumerate(positions)) {
    for (OpOperand *operand : op.getDpsInputOperands())
      if (BlockArgument argument = op.getMatchingBlockArgument(operand);
          !argument.use_empty() && views.find(operand->get()))
        inputs[i].map(argument, kernel.load(flat(operand->get()), position));
    for (OpOperand &init : op.getDpsInitsMutable())
      accumulators[i].push_back(op.getMatchingBlockArgument(&init).use_empty()
                                    ? Value()
                                    : kernel.load(flat(init.get()), position));
  }
  for (size_t i = 0; i < positions.size(); ++i) {
    FailureOr<SmallVector<Value>> values =
        writeBody(op, {}, accumulators[i], kernel, std::move(inputs[i]));
    if (failed(values))
      return failure();
    results.push_back(std::move(*values));
  }
  for (auto [position, values] : llvm::zip_equal(positions, results))
    for (auto [init, value] : llvm::zip_equal(op.getDpsInits(), values))
      kernel.store(value, flat(init), position);
  return success();
}

LogicalResult DispatchWriter::beginnings(linalg::LinalgOp op, ArrayRef<Value> positions,
                                         KernelWriter &kernel, SmallVectorImpl<Value> &values) {
  for (OpOperand &init : op.getDpsInitsMutable()) {
    auto fill = llvm::find_if(
        fills, [&](linalg::FillOp each) { return each.getOutputs()[0] == init.get(); });
    if (fill != fills.end()) {
      IRMapping known;
      Value value = fill->getInputs()[0];
      if (failed(capture(value, kernel, known)))
        return failure();
      values.push_back(known.lookup(value));
    } else if (op.getNumReductionLoops() == 0 && op.getMatchingBlockArgument(&init).use_empty()) {
      // Never read. A reduction that runs no time leaves what was there.
      ImplicitLocOpBuilder &b = kernel.builder();
      values.push_back(arith::ConstantOp::create(
          b, b.getZeroAttr(cast<MemRefType>(init.get().getType()).getElementType())));
    } else {
      values.push_back(kernel.load(*views.find(init.get()),
                                   indicesOf(op.getMatchingIndexingMap(&init), positions, kernel)));
    }
  }
  return success();
}

FailureOr<SmallVector<Value>>
DispatchWriter::beginningsOfTile(linalg::LinalgOp op, int64_t count, ArrayRef<Value> positions,
                                 llvm::function_ref<Value(int64_t)> moveTo, KernelWriter &kernel) {
  ImplicitLocOpBuilder &b = kernel.builder();
  Value init = op.getDpsInits()[0];
  const bool isFilled =
      llvm::any_of(fills, [&](linalg::FillOp fill) { return fill.getOutputs()[0] == init; });
  SmallVector<Value> values;
  if (isFilled) {
    if (failed(beginnings(op, positions, kernel, values)))
      return failure();
    return SmallVector<Value>(size_t(count), values[0]);
  }
  Type element = cast<MemRefType>(init.getType()).getElementType();
  SmallVector<Value> all;
  for (int64_t i = 0; i < count; ++i) {
    Value isThere = moveTo(i);
    auto inside = scf::IfOp::create(b, element, isThere, /*withElseRegion=*/true);
    b.setInsertionPointToStart(inside.thenBlock());
    values.clear();
    if (failed(beginnings(op, positions, kernel, values)))
      return failure();
    scf::YieldOp::create(b, values);
    b.setInsertionPointToStart(inside.elseBlock());
    scf::YieldOp::create(b, ValueRange(arith::ConstantOp::create(b, b.getZeroAttr(element))));
    b.setInsertionPointAfter(inside);
    all.push_back(inside.getResult(0));
  }
  return all;
}

void DispatchWriter::storeResults(linalg::LinalgOp op, ArrayRef<Value> positions,
                                  ArrayRef<Value> values, KernelWriter &kernel) {
  for (auto [init, value] : llvm::zip_equal(op.getDpsInitsMutable(), values))
    kernel.store(value, *views.find(init.get()),
                 indicesOf(op.getMatchingIndexingMap(&init), positions, kernel));
}

SmallVector<Value> DispatchWriter::parallelPositions(const Loops &loops, Value position,
                                                     KernelWriter &kernel) {
  SmallVector<Value> positions(loops.sizes.size(), kernel.index(0));
  SmallVector<Value> indices = kernel.delinearize(position, loops.sizesOf(loops.parallel));
  for (auto [loop, index] : llvm::zip_equal(loops.parallel, indices))
    positions[loop] = index;
  return positions;
}

LogicalResult DispatchWriter::writeElement(linalg::LinalgOp op, const Loops &loops, Value position,
                                           KernelWriter &kernel) {
  ImplicitLocOpBuilder &b = kernel.builder();
  SmallVector<Value> positions = parallelPositions(loops, position, kernel);
  SmallVector<Value> values;
  if (failed(beginnings(op, positions, kernel, values)))
    return failure();
  OpBuilder::InsertionGuard guard(b);
  SmallVector<scf::ForOp> nest;
  Value zero = kernel.index(0), one = kernel.index(1);
  for (unsigned loop : loops.reduction) {
    auto made = scf::ForOp::create(b, zero, kernel.word(loops.sizes[loop]), one, values);
    positions[loop] = made.getInductionVar();
    values = llvm::to_vector(ValueRange(made.getRegionIterArgs()));
    nest.push_back(made);
    b.setInsertionPointToStart(made.getBody());
  }
  FailureOr<SmallVector<Value>> results = writeBody(op, positions, values, kernel, {});
  if (failed(results))
    return failure();
  values = *results;
  for (scf::ForOp loop : llvm::reverse(nest)) {
    scf::YieldOp::create(b, values);
    b.setInsertionPointAfter(loop);
    values = llvm::to_vector(ValueRange(loop.getResults()));
  }
  storeResults(op, positions, values, kernel);
  return success();
}

bool DispatchWriter::matchSharedReduction(linalg::LinalgOp op, const Loops &loops,
                                          SmallVectorImpl<Operation *> &combiners) {
  if (loops.reduction.empty() || (options.strict && !isExact(op)))
    return false;
  std::optional<int64_t> count =
      numbers.constantOf(numbers.product(loops.sizesOf(loops.reduction)));
  if (count && *count < minSharedReduction)
    return false;
  // Neighbours in memory are read together.
  const bool isAlongMemory = llvm::all_of(op.getDpsInputOperands(), [&](OpOperand *operand) {
    AffineMap map = op.getMatchingIndexingMap(operand);
    if (!views.find(operand->get()) || map.getNumResults() == 0)
      return true;
    AffineExpr last = map.getResults().back();
    return llvm::any_of(loops.reduction, [&](unsigned loop) { return last.isFunctionOfDim(loop); });
  });
  // Products have better ways to share what they read.
  const bool hasFewElements = [&] {
    std::optional<int64_t> elements =
        numbers.constantOf(numbers.product(loops.sizesOf(loops.parallel)));
    return elements && *elements <= 64;
  }();
  if (!isAlongMemory && !hasFewElements)
    return false;
  for (unsigned i = 0; i < op.getNumDpsInits(); ++i) {
    SmallVector<Operation *, 4> found;
    if (!matchReduction(op.getRegionOutputArgs(), i, found) || found.size() != 1 ||
        found[0]->getNumOperands() != 2 || !neutralElement(found[0]))
      return false;
    combiners.push_back(found[0]);
  }
  return plim::ir::mayReorderReduction(op);
}

bool DispatchWriter::isExact(linalg::LinalgOp op) {
  return llvm::none_of(op.getDpsInits(), [](Value init) {
    return isa<FloatType>(getElementTypeOrSelf(init.getType()));
  });
}

LogicalResult DispatchWriter::writeSharedReduction(linalg::LinalgOp op, const Loops &loops,
                                                   ArrayRef<Operation *> combiners, Value position,
                                                   KernelWriter &kernel) {
  ImplicitLocOpBuilder &b = kernel.builder();
  SmallVector<Value> positions = parallelPositions(loops, position, kernel);
  SmallVector<Value> neutral, memories;
  for (Operation *combiner : combiners) {
    neutral.push_back(arith::ConstantOp::create(b, neutralElement(combiner)));
    memories.push_back(kernel.workgroupMemory(neutral.back().getType(), kernel.workgroupSize()));
  }
  // Each invocation folds every so manieth element,
  const SmallVector<Number> sizes = loops.sizesOf(loops.reduction);
  Value thread = kernel.threadId();
  auto loop = scf::ForOp::create(b, thread, kernel.word(numbers.product(sizes)),
                                 kernel.index(kernel.workgroupSize()), neutral);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    for (auto [each, index] :
         llvm::zip_equal(loops.reduction, kernel.delinearize(loop.getInductionVar(), sizes)))
      positions[each] = index;
    FailureOr<SmallVector<Value>> results =
        writeBody(op, positions, llvm::to_vector(ValueRange(loop.getRegionIterArgs())), kernel, {});
    if (failed(results))
      return failure();
    scf::YieldOp::create(b, *results);
  }
  for (auto [value, memory] : llvm::zip_equal(loop.getResults(), memories))
    kernel.storeShared(value, memory, thread);
  kernel.barrier();
  auto combine = [&](Operation *combiner, Value a, Value c) {
    Operation *copy = b.clone(*combiner);
    copy->setOperands({a, c});
    return copy->getResult(0);
  };
  // then the workgroup those, halves upon halves.
  for (unsigned half = kernel.workgroupSize() / 2; half > 0; half /= 2) {
    Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, thread, kernel.index(half));
    auto fold = scf::IfOp::create(b, isFirst);
    b.setInsertionPointToStart(fold.thenBlock());
    Value other = arith::AddIOp::create(b, thread, kernel.index(half));
    for (auto [combiner, memory, type] :
         llvm::zip_equal(combiners, memories, ValueRange(neutral).getTypes())) {
      Value a = kernel.loadShared(memory, type, thread);
      Value c = kernel.loadShared(memory, type, other);
      kernel.storeShared(combine(combiner, a, c), memory, thread);
    }
    b.setInsertionPointAfter(fold);
    kernel.barrier();
  }
  Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, thread, kernel.index(0));
  auto finish = scf::IfOp::create(b, isFirst);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(finish.thenBlock());
    SmallVector<Value> values;
    if (failed(beginnings(op, positions, kernel, values)))
      return failure();
    for (auto [value, combiner, memory] : llvm::zip_equal(values, combiners, memories))
      value = combine(combiner, value, kernel.loadShared(memory, value.getType(), kernel.index(0)));
    storeResults(op, positions, values, kernel);
  }
  b.setInsertionPointAfter(finish);
  // Before the next element's are there.
  kernel.barrier();
  return success();
}
