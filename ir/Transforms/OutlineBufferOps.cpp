#include "ir/Plim/Plim.h"
#include "ir/Transforms/LoopWork.h"
#include "ir/Transforms/Passes.h"
#include "support/CheckedMath.h"
#include "targets/dlti/Dlti.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMOUTLINEBUFFEROPS
#include "ir/Transforms/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

/// Scalar operations of an op that is known to have no more, and that stays where it is: a dispatch would be felt.
constexpr int64_t fewOperations = int64_t(1) << 12;

/// Where the elements of a buffer are: an argument of the kernel, or memory that it takes. Null if nobody knows.
Operation *memoryOf(Value buffer) {
  Operation *op = buffer.getDefiningOp();
  return isa_and_nonnull<AllocOp, memref::AllocOp, memref::AllocaOp, memref::GetGlobalOp>(op)
             ? op
             : nullptr;
}

bool isArgument(Value buffer) {
  auto argument = dyn_cast<BlockArgument>(buffer);
  return argument && isa<func::FuncOp>(argument.getOwner()->getParentOp());
}

/// One operation of linalg on buffers, as one on tensors.
class BufferOp {
public:
  /// Nothing where the op has to stay: if buffers may be parts of each other, or if it reads what it writes elsewhere.
  static std::optional<BufferOp> of(linalg::LinalgOp op) {
    BufferOp result(op);
    if (!op.hasPureBufferSemantics() || isa<linalg::FillOp>(op) || isSmall(op) ||
        op->getParentOfType<scf::ParallelOp>() || op->getParentOfType<scf::ForallOp>() ||
        op->getParentOfType<affine::AffineParallelOp>())
      return std::nullopt;
    for (OpOperand &operand : op->getOpOperands()) {
      Value value = operand.get();
      auto type = dyn_cast<MemRefType>(value.getType());
      if (!type) {
        if (!value.getType().isIntOrIndexOrFloat())
          return std::nullopt;
        result.inputs.insert(value);
        continue;
      }
      if (!type.getLayout().isIdentity() || type.getMemorySpace() ||
          !type.getElementType().isIntOrIndexOrFloat() || (!isArgument(value) && !memoryOf(value)))
        return std::nullopt;
      if (!op.isDpsInit(&operand)) {
        result.inputs.insert(value);
        continue;
      }
      if (llvm::is_contained(result.outputs, value))
        return std::nullopt;
      // Of each element only itself is read.
      const AffineMap map = op.getMatchingIndexingMap(&operand);
      for (OpOperand *input : op.getDpsInputOperands())
        if (input->get() == value && (op.getMatchingIndexingMap(input) != map || !map.isPermutation()))
          return std::nullopt;
      result.outputs.push_back(value);
    }
    for (Value output : result.outputs)
      result.inputs.remove(output);
    result.findFill();
    llvm::SetVector<Value> arguments;
    for (Value value : llvm::concat<const Value>(result.inputs.getArrayRef(), result.outputs))
      if (isa<MemRefType>(value.getType()) && isArgument(value))
        arguments.insert(value);
    result.mayOverlap = arguments.size() > 1;
    return result;
  }

  void outline(SymbolTable &symbols, StringAttr host) {
    auto kernel = op->getParentOfType<func::FuncOp>();
    const Location at = op.getLoc();
    OpBuilder builder(op);
    OpBuilder moduleBuilder(kernel);
    auto body = func::FuncOp::create(
        moduleBuilder, at, (kernel.getName() + "_" + op->getName().stripDialect()).str(),
        moduleBuilder.getFunctionType({}, {}));
    body.setPrivate();
    body->setAttr(dispatchFunctionAttr, builder.getUnitAttr());
    if (Attribute limits = kernel->getAttr(limitsAttr))
      body->setAttr(limitsAttr, limits);
    symbols.insert(body);
    fillIn(body, at);

    Operation *begin = fill ? fill.getOperation() : op.getOperation();
    builder.setInsertionPoint(begin);
    auto dispatchAt = [&](OpBuilder &b) {
      auto dispatch = DispatchOp::create(b, at, TypeRange(), body.getSymName(), inputs.getArrayRef(),
                                         outputs, ArrayAttr());
      dispatch->setAttr(deviceAttr, host);
    };
    if (!mayOverlap) {
      dispatchAt(builder);
      op.erase();
      if (fill)
        fill.erase();
      return;
    }
    Value areApart = AreApartOp::create(builder, at, builder.getI1Type());
    auto choice = scf::IfOp::create(builder, at, areApart, /*withElseRegion=*/true);
    OpBuilder apart = choice.getThenBodyBuilder();
    dispatchAt(apart);
    Operation *otherwise = choice.elseBlock()->getTerminator();
    if (fill)
      fill->moveBefore(otherwise);
    op->moveBefore(otherwise);
  }

private:
  explicit BufferOp(linalg::LinalgOp op) : op(op) {}

  static bool isSmall(linalg::LinalgOp op) {
    int64_t work = std::max<int64_t>(1, llvm::range_size(op.getBlock()->without_terminator()));
    for (int64_t size : op.getStaticLoopRanges()) {
      if (ShapedType::isDynamic(size))
        return false;
      work = plim::checkedMul(work, size).value_or(INT64_MAX);
    }
    return work <= fewOperations;
  }

  /// What gives the result its first value, right in front of the op.
  void findFill() {
    Operation *before = op->getPrevNode();
    while (before && isMemoryEffectFree(before))
      before = before->getPrevNode();
    auto candidate = dyn_cast_or_null<linalg::FillOp>(before);
    if (!candidate || outputs.size() != 1 || candidate.getOutputs()[0] != outputs[0] ||
        !candidate.getInputs()[0].getType().isIntOrIndexOrFloat())
      return;
    fill = candidate;
    if (Value value = fill.getInputs()[0]; !matchPattern(value, m_Constant()))
      inputs.insert(value);
  }

  /// The same on tensors.
  void fillIn(func::FuncOp body, Location at) {
    auto tensorOf = [](Value value) -> Type {
      auto type = dyn_cast<MemRefType>(value.getType());
      return type ? RankedTensorType::get(type.getShape(), type.getElementType()) : value.getType();
    };
    Block *entry = body.addEntryBlock();
    IRMapping mapping;
    for (Value value : llvm::concat<const Value>(inputs.getArrayRef(), outputs))
      mapping.map(value, entry->addArgument(tensorOf(value), value.getLoc()));
    OpBuilder builder = OpBuilder::atBlockEnd(entry);
    if (fill) {
      Value first = fill.getInputs()[0];
      first = mapping.contains(first) ? mapping.lookup(first)
                                      : builder.clone(*first.getDefiningOp())->getResult(0);
      Value filled =
          linalg::FillOp::create(builder, at, first, mapping.lookup(outputs[0])).getResult(0);
      mapping.map(outputs[0], filled);
    }
    const SmallVector<Type> results = llvm::map_to_vector(outputs, tensorOf);
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(mapping.lookup(operand));
    auto onTensors = cast<linalg::LinalgOp>(mlir::clone(builder, op, results, operands));
    IRRewriter rewriter(builder);
    rewriter.setInsertionPoint(onTensors);
    if (FailureOr<linalg::GenericOp> generic = linalg::generalizeNamedOp(rewriter, onTensors);
        succeeded(generic))
      onTensors = cast<linalg::LinalgOp>(generic->getOperation());
    readInPlace(onTensors);
    SmallVector<int64_t> loops;
    for (auto [loop, kind] : llvm::enumerate(onTensors.getIteratorTypesArray()))
      if (kind == utils::IteratorType::parallel)
        loops.push_back(int64_t(loop));
    body->setAttr(parallelLoopsAttr, builder.getDenseI64ArrayAttr(loops));
    builder.setInsertionPointToEnd(entry);
    func::ReturnOp::create(builder, at, onTensors->getResults());
    body.setFunctionType(builder.getFunctionType(entry->getArgumentTypes(), results));
  }

  /// The body takes what an operand and a result have in common from the result.
  static void readInPlace(linalg::LinalgOp &op) {
    auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
    if (!generic)
      return;
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    for (int64_t i = op.getNumDpsInputs(); i-- > 0;)
      for (OpOperand &init : op.getDpsInitsMutable())
        if (init.get() == generic.getInputs()[unsigned(i)]) {
          generic.getBody()->getArgument(unsigned(i)).replaceAllUsesWith(
              op.getMatchingBlockArgument(&init));
          generic.getBody()->eraseArgument(unsigned(i));
          maps.erase(maps.begin() + i);
          generic.getInputsMutable().erase(unsigned(i));
          break;
        }
    generic.setIndexingMapsAttr(Builder(op.getContext()).getAffineMapArrayAttr(maps));
  }

  linalg::LinalgOp op;
  linalg::FillOp fill;
  llvm::SetVector<Value> inputs; // and scalars
  SmallVector<Value> outputs;
  bool mayOverlap = false;
};

struct OutlineBufferOps : plim::ir::impl::PlimOutlineBufferOpsBase<OutlineBufferOps> {
  void runOnOperation() override {
    SmallVector<BufferOp> ops;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function->hasAttr(kernelAttr))
        function.walk([&](linalg::LinalgOp op) {
          if (std::optional<BufferOp> found = BufferOp::of(op))
            ops.push_back(*found);
          else
            ++kept;
        });
    if (ops.empty())
      return;
    FailureOr<plim::targets::TargetDescription> target =
        plim::targets::dlti::fromDlti(getOperation());
    if (failed(target))
      return signalPassFailure();
    SymbolTable symbols(getOperation());
    for (BufferOp &op : ops) {
      op.outline(symbols, StringAttr::get(&getContext(), target->devices[0].name));
      ++outlined;
    }
  }
};

} // namespace
