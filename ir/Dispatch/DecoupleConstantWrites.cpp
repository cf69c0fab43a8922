#include "ir/Analysis/Destinations.h"
#include "ir/Dispatch/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMDECOUPLECONSTANTWRITES
#include "ir/Dispatch/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;

namespace {

/// Must the memory of the value stay as it is, whatever becomes of the value?
bool isFixed(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
    auto writable = function ? function.getArgAttrOfType<BoolAttr>(
                                   argument.getArgNumber(),
                                   bufferization::BufferizationDialect::kWritableAttrName)
                             : BoolAttr();
    return writable && !writable.getValue();
  }
  if (auto toTensor = value.getDefiningOp<bufferization::ToTensorOp>())
    return !toTensor.getWritable();
  if (auto slice = value.getDefiningOp<tensor::ExtractSliceOp>())
    return plim::ir::isDenseSlice(slice, slice.getSourceType()) && isFixed(slice.getSource());
  Operation *op = value.getDefiningOp();
  // The same memory by another shape.
  if (isa_and_nonnull<tensor::CastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op))
    return isFixed(op->getOperand(0));
  return isa_and_nonnull<arith::ConstantOp>(op);
}

struct DecoupleConstantWrites
    : plim::ir::impl::PlimDecoupleConstantWritesBase<DecoupleConstantWrites> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa<LoopLikeOpInterface, DestinationStyleOpInterface>(op))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      if (auto loop = dyn_cast<scf::WhileOp>(op))
        copyCarried(loop);
      while (OpOperand *write = fixedDestination(op))
        op = decouple(*write);
      if (auto generic = dyn_cast<linalg::GenericOp>(op))
        readInPlace(generic);
    }
  }

  /// Is the memory of the value the loop's own, whatever the run: what it carries, or what an op in it makes?
  static bool isOwnedBy(scf::WhileOp loop, Value value) {
    if (!loop->isAncestor(value.getParentBlock()->getParentOp()))
      return false;
    if (auto argument = dyn_cast<BlockArgument>(value))
      return argument.getOwner()->getParentOp() == loop;
    Operation *op = value.getDefiningOp();
    if (isa<tensor::ExtractSliceOp, tensor::CastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp>(
            op))
      return isOwnedBy(loop, op->getOperand(0));
    unsigned result = cast<OpResult>(value).getResultNumber();
    if (auto branch = dyn_cast<scf::IfOp>(op))
      return isOwnedBy(loop, branch.thenYield().getOperand(result)) &&
             isOwnedBy(loop, branch.elseYield().getOperand(result));
    if (auto inner = dyn_cast<scf::ForOp>(op))
      return isOwnedBy(loop, inner.getInitArgs()[result]) &&
             isOwnedBy(loop, inner.getYieldedValues()[result]);
    return isa<DestinationStyleOpInterface, tensor::EmptyOp, plim::ir::AllocOp>(op);
  }

  /// Upstream's bufferization does not see that the regions of a while loop may write over what they hand
  /// to each other. What is not the loop's own must be copied before.
  void copyCarried(scf::WhileOp loop) {
    for (Operation *terminator :
         {loop.getConditionOp().getOperation(), loop.getYieldOp().getOperation()})
      for (OpOperand &operand : terminator->getOpOperands()) {
        Value value = operand.get();
        auto type = dyn_cast<RankedTensorType>(value.getType());
        if (!type || isOwnedBy(loop, value))
          continue;
        OpBuilder builder(terminator);
        Location loc = terminator->getLoc();
        Value destination = tensor::EmptyOp::create(
            builder, loc, tensor::getMixedSizes(builder, loc, value), type.getElementType());
        operand.set(linalg::CopyOp::create(builder, loc, value, destination).getResult(0));
        ++copied;
      }
  }

  static OpOperand *fixedDestination(Operation *op) {
    for (OpOperand &operand : op->getOpOperands())
      if (isa<RankedTensorType>(operand.get().getType()) && isDestination(operand) &&
          isFixed(operand.get()))
        return &operand;
    return nullptr;
  }

  /// Does bufferization give the result of the op the memory of the operand, if it may?
  static bool isDestination(OpOperand &operand) {
    Operation *op = operand.getOwner();
    // What an argument holds is copied only if the loop writes, which is for bufferization to say.
    if (auto loop = dyn_cast<LoopLikeOpInterface>(op))
      return operand.get().getDefiningOp<arith::ConstantOp>() &&
             llvm::is_contained(
                 llvm::map_range(loop.getInitsMutable(), [](OpOperand &init) { return &init; }),
                 &operand);
    auto destinationStyle = dyn_cast<DestinationStyleOpInterface>(op);
    return destinationStyle && destinationStyle.isDpsInit(&operand);
  }

  /// Gives it another destination. The op, which may have been built anew.
  Operation *decouple(OpOperand &write) {
    Operation *op = write.getOwner();
    OpBuilder builder(op);
    Location loc = op->getLoc();
    Value old = write.get();
    auto type = cast<RankedTensorType>(old.getType());
    Value destination = tensor::EmptyOp::create(
        builder, loc, tensor::getMixedSizes(builder, loc, old), type.getElementType());
    ++decoupled;
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (linalgOp && !plim::ir::readsDestination(linalgOp, write)) {
      write.set(destination);
      return op;
    }
    Value scalar;
    if (TypedAttr splat = splatOf(old))
      scalar = arith::ConstantOp::create(builder, loc, splat);
    if (auto generic = dyn_cast<linalg::GenericOp>(op); generic && visitsOnce(generic, write))
      return readAsInput(generic, write, scalar, destination);
    if (scalar) {
      destination = linalg::FillOp::create(builder, loc, scalar, destination).getResult(0);
    } else {
      destination = linalg::CopyOp::create(builder, loc, old, destination).getResult(0);
      ++copied;
    }
    write.set(destination);
    return op;
  }

  /// The value of all elements, if an attribute can say it: a complex number cannot.
  static TypedAttr splatOf(Value value) {
    auto constant = value.getDefiningOp<arith::ConstantOp>();
    auto elements =
        constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
    return elements && elements.isSplat() && !isa<ComplexType>(elements.getElementType())
               ? elements.getSplatValue<TypedAttr>()
               : TypedAttr();
  }

  /// Does an iteration alone touch an element of the operand?
  static bool visitsOnce(linalg::GenericOp op, OpOperand &operand) {
    return op.getNumReductionLoops() == 0 && op.getMatchingIndexingMap(&operand).isPermutation();
  }

  /// Is the value what a loop carries, or a donated argument?
  static bool isGivenAway(BlockArgument value) {
    Operation *parent = value.getOwner()->getParentOp();
    if (auto function = dyn_cast<func::FuncOp>(parent))
      return bool(function.getArgAttr(value.getArgNumber(), plim::ir::donateAttr));
    return isa<LoopLikeOpInterface>(parent);
  }

  /// May the op write its result over the input? It is the destination already, or else it was given
  /// away and nothing behind the op needs it, while the destination is any memory.
  static bool isOverwritten(OpOperand &input, OpOperand &init) {
    if (input.get() == init.get())
      return true;
    auto value = dyn_cast<BlockArgument>(input.get());
    Operation *op = input.getOwner();
    if (!value || value.getOwner() != op->getBlock() || !isGivenAway(value) ||
        value.getType() != init.get().getType() || !init.get().getDefiningOp<tensor::EmptyOp>())
      return false;
    return isUsedBefore(value, op, &input);
  }

  /// Do only ops in front of `op` read the value, `except` of its uses aside, whole or in part?
  static bool isUsedBefore(Value value, Operation *op, OpOperand *except) {
    return llvm::all_of(value.getUses(), [&](OpOperand &use) {
      Operation *user = use.getOwner();
      if (isa<tensor::ExtractSliceOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp>(user))
        return isUsedBefore(user->getResult(0), op, except);
      return &use == except || isa<tensor::DimOp>(user) ||
             (isa<linalg::LinalgOp>(user) && user->getBlock() == op->getBlock() &&
              user->isBeforeInBlock(op));
    });
  }

  /// An elementwise op that overwrites an input: as one operand the two can be one buffer.
  void readInPlace(linalg::GenericOp op) {
    for (OpOperand &init : op.getDpsInitsMutable())
      for (OpOperand *input : op.getDpsInputOperands()) {
        if (!visitsOnce(op, init) || !isOverwritten(*input, init) ||
            op.getMatchingIndexingMap(input) != op.getMatchingIndexingMap(&init))
          continue;
        unsigned position = input->getOperandNumber();
        init.set(input->get());
        op.getMatchingBlockArgument(input).replaceAllUsesWith(op.getMatchingBlockArgument(&init));
        SmallVector<Value> inputs = op.getDpsInputs();
        SmallVector<AffineMap> maps = op.getIndexingMapsArray();
        inputs.erase(inputs.begin() + position);
        maps.erase(maps.begin() + position);
        op.getBody()->eraseArgument(position);
        rebuild(op, inputs, llvm::to_vector(op.getDpsInits()), maps);
        ++inPlace;
        return;
      }
  }

  /// An elementwise op visits each element once: it can as well read the old value where it is, or as a
  /// scalar if that is the value of all.
  Operation *readAsInput(linalg::GenericOp op, OpOperand &init, Value scalar, Value destination) {
    unsigned inputCount = op.getNumDpsInputs();
    unsigned position = init.getOperandNumber();
    SmallVector<Value> inputs = op.getDpsInputs();
    SmallVector<Value> outputs = llvm::to_vector(op.getDpsInits());
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    inputs.push_back(scalar ? scalar : init.get());
    outputs[position - inputCount] = destination;
    maps.insert(maps.begin() + inputCount,
                scalar ? AffineMap::get(op.getNumLoops(), 0, op.getContext()) : maps[position]);
    BlockArgument input = op.getBody()->insertArgument(
        inputCount, getElementTypeOrSelf(init.get().getType()), op.getLoc());
    op.getBody()->getArgument(position + 1).replaceAllUsesWith(input);
    ++reread;
    return rebuild(op, inputs, outputs, maps);
  }

  /// The op with other operands, and its body, whose arguments are those of the new one already.
  static Operation *rebuild(linalg::GenericOp op, ValueRange inputs, ValueRange outputs,
                            ArrayRef<AffineMap> maps) {
    OpBuilder builder(op);
    auto fresh =
        linalg::GenericOp::create(builder, op.getLoc(), op.getResultTypes(), inputs, outputs,
                                  builder.getAffineMapArrayAttr(maps), op.getIteratorTypesAttr(),
                                  /*doc=*/nullptr, /*libraryCall=*/nullptr);
    fresh->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    fresh.getRegion().takeBody(op.getRegion());
    op->replaceAllUsesWith(fresh);
    op->erase();
    return fresh;
  }
};

} // namespace
