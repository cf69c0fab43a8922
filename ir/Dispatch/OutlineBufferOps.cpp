#include "ir/Dispatch/KernelDispatches.h"
#include "ir/Dispatch/Passes.h"
#include "ir/Plim/Plim.h"
#include "support/CheckedMath.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMOUTLINEBUFFEROPS
#include "ir/Dispatch/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

/// Scalar operations of an op that is known to have no more, and that stays where it is: a dispatch would be felt.
constexpr int64_t fewOperations = int64_t(1) << 12;

/// One operation of linalg on buffers, as one on tensors.
class BufferOp {
public:
  /// Nothing where the op has to stay: if buffers may be parts of each other, or if it reads what it writes elsewhere.
  static std::optional<BufferOp> of(linalg::LinalgOp op) {
    BufferOp result(op);
    // Of several results one may be what another had: on tensors it would have it still. What else a body does, it does once.
    if (!op.hasPureBufferSemantics() || op.getNumDpsInits() != 1 || isa<linalg::FillOp>(op) ||
        isSmall(op) ||
        !llvm::all_of(*op.getBlock(), [](Operation &each) { return isMemoryEffectFree(&each); }) ||
        op->getParentOfType<scf::ParallelOp>() || op->getParentOfType<scf::ForallOp>() ||
        op->getParentOfType<affine::AffineParallelOp>())
      return std::nullopt;
    for (OpOperand &operand : op->getOpOperands()) {
      Value value = operand.get();
      if (!canBeBound(value.getType()) || (isa<MemRefType>(value.getType()) && !isWhole(value)))
        return std::nullopt;
    }
    OpOperand *init = op.getDpsInitOperand(0);
    result.output = init->get();
    // Of each element only itself is read.
    const AffineMap map = op.getMatchingIndexingMap(init);
    for (OpOperand *input : op.getDpsInputOperands()) {
      if (input->get() != result.output)
        result.inputs.insert(input->get());
      else if (op.getMatchingIndexingMap(input) != map || !map.isPermutation())
        return std::nullopt;
    }
    getUsedValuesDefinedAbove(op->getRegions(), result.captured);
    for (Value value : result.captured) {
      if (isa<MemRefType>(value.getType()) || !canBeBound(value.getType()))
        return std::nullopt;
      result.addScalar(value);
    }
    result.findFill();
    result.mayOverlap = countArguments(result.operands()) > 1;
    return result;
  }

  void outline(SymbolTable &symbols, StringAttr host) {
    auto kernel = op->getParentOfType<func::FuncOp>();
    const Location at = op.getLoc();
    func::FuncOp body = makeDispatchFunction(kernel, op->getName().stripDialect(), at, symbols);
    fillIn(body, at);

    OpBuilder builder(op);
    auto dispatchAt = [&](OpBuilder &b) {
      auto dispatch = DispatchOp::create(b, at, TypeRange(), body.getSymName(),
                                         inputs.getArrayRef(), output, ArrayAttr());
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
    if (!candidate || candidate.getOutputs()[0] != output ||
        !canBeBound(candidate.getInputs()[0].getType()))
      return;
    fill = candidate;
    addScalar(fill.getInputs()[0]);
  }

  void addScalar(Value value) {
    if (!matchPattern(value, m_Constant()))
      inputs.insert(value);
  }

  /// Of the dispatch.
  SmallVector<Value> operands() const {
    SmallVector<Value> all = llvm::to_vector(inputs);
    all.push_back(output);
    return all;
  }

  /// The same on tensors.
  void fillIn(func::FuncOp body, Location at) {
    auto tensorOf = [](Value value) -> Type {
      auto type = dyn_cast<MemRefType>(value.getType());
      return type ? RankedTensorType::get(type.getShape(), type.getElementType()) : value.getType();
    };
    Block *entry = &body.front();
    IRMapping mapping;
    for (Value value : operands())
      mapping.map(value, entry->addArgument(tensorOf(value), value.getLoc()));
    OpBuilder builder = OpBuilder::atBlockEnd(entry);
    auto scalarIn = [&](Value value) {
      if (!mapping.contains(value))
        mapping.map(value, builder.clone(*value.getDefiningOp())->getResult(0));
      return mapping.lookup(value);
    };
    if (fill) {
      Value filled =
          linalg::FillOp::create(builder, at, scalarIn(fill.getInputs()[0]), mapping.lookup(output))
              .getResult(0);
      mapping.map(output, filled);
    }
    const Type result = tensorOf(output);
    const SmallVector<Value> tensors = llvm::map_to_vector(
        op->getOperands(), [&](Value operand) { return mapping.lookup(operand); });
    for (Value value : captured)
      scalarIn(value);
    auto onTensors = cast<linalg::LinalgOp>(mlir::clone(builder, op, result, tensors));
    for (Value value : captured)
      replaceAllUsesInRegionWith(value, mapping.lookup(value), onTensors->getRegion(0));
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
    body.setFunctionType(builder.getFunctionType(entry->getArgumentTypes(), result));
  }

  /// The body takes an operand that is the result from there.
  static void readInPlace(linalg::LinalgOp op) {
    auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
    if (!generic)
      return;
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    for (unsigned i = generic.getInputs().size(); i-- > 0;) {
      if (generic.getInputs()[i] != generic.getOutputs()[0])
        continue;
      Block &body = *generic.getBody();
      body.getArgument(i).replaceAllUsesWith(body.getArguments().back());
      body.eraseArgument(i);
      maps.erase(maps.begin() + i);
      generic.getInputsMutable().erase(i);
    }
    generic.setIndexingMapsAttr(Builder(op.getContext()).getAffineMapArrayAttr(maps));
  }

  linalg::LinalgOp op;
  linalg::FillOp fill;
  llvm::SetVector<Value> inputs;   // and scalars
  llvm::SetVector<Value> captured; // by the body
  Value output;
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
    const StringAttr host = hostDevice(getOperation());
    if (!host)
      return signalPassFailure();
    SymbolTable symbols(getOperation());
    for (BufferOp &op : ops) {
      op.outline(symbols, host);
      ++outlined;
    }
  }
};

} // namespace
