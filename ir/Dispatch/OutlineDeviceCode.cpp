#include "ir/Dispatch/Passes.h"
#include "ir/Plim/Plim.h"
#include "targets/dlti/Dlti.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <type_traits>

namespace plim::ir {
#define GEN_PASS_DEF_PLIMOUTLINEDEVICECODE
#include "ir/Dispatch/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

/// As `plim.cost`, in scalar operations, in place of an estimate: about 100 microseconds, so that schedules call
/// another thread to go on meanwhile.
constexpr int64_t launchCost = 1 << 24;

struct OutlineDeviceCode : plim::ir::impl::PlimOutlineDeviceCodeBase<OutlineDeviceCode> {
  explicit OutlineDeviceCode(CompileForDevice compiler) : compiler(std::move(compiler)) {}

  void runOnOperation() override {
    auto target = plim::targets::dlti::targetOf(getOperation());
    if (!target)
      return signalPassFailure();
    llvm::MapVector<StringAttr, SmallVector<DispatchOp>> dispatches;
    getOperation().walk([&](DispatchOp dispatch) {
      auto name = dispatch->getAttrOfType<StringAttr>(deviceAttr);
      const plim::targets::DeviceDescription *device =
          name ? target->findDevice(name.getValue().str()) : nullptr;
      if (device && device->kind != plim::targets::DeviceKind::Cpu)
        dispatches[dispatch.getFunctionAttr().getAttr()].push_back(dispatch);
    });
    SymbolTable symbols(getOperation());
    for (auto &[name, group] : dispatches)
      if (failed(outline(symbols.lookup<func::FuncOp>(name), group, symbols)))
        return signalPassFailure();
  }

  LogicalResult outline(func::FuncOp function, ArrayRef<DispatchOp> dispatches,
                        SymbolTable &symbols) {
    DispatchOp first = dispatches.front();
    auto device = first->getAttrOfType<StringAttr>(deviceAttr);
    for (DispatchOp other : dispatches)
      if (other->getAttr(deviceAttr) != device)
        return other.emitError() << "'" << function.getName() << "' runs on device " << device
                                 << " too: each needs a function of its own";
    DeviceAnswer answer = compile(function, device.getValue());
    auto fallback = first->getAttrOfType<StringAttr>(fallbackDeviceAttr);
    for (DispatchOp dispatch : dispatches)
      dispatch->removeAttr(fallbackDeviceAttr);
    if (answer.kind == DeviceAnswer::Taken) {
      std::string symbol = (device.getValue() + "." + function.getName()).str();
      if (symbols.lookup(symbol))
        return first.emitError() << "'" << symbol << "', the name of its code for device '"
                                 << device.getValue() << "', is taken";
      call(function, device, answer.text, symbols);
      ++outlined;
      return success();
    }
    if (answer.kind == DeviceAnswer::Failed || !fallback)
      return first.emitError() << "device '" << device.getValue() << "' does not "
                               << (answer.kind == DeviceAnswer::Failed ? "compile" : "take")
                               << " this: " << answer.text;
    auto reason = StringAttr::get(&getContext(), device.getValue() + ": " + answer.text);
    for (DispatchOp dispatch : dispatches) {
      dispatch->setAttr(deviceAttr, fallback);
      dispatch->setAttr(refusalAttr, reason);
    }
    ++refused;
    return success();
  }

  DeviceAnswer compile(func::FuncOp function, StringRef device) {
    Operation *ours = nullptr;
    function.getBody().walk([&](Operation *op) {
      if (isa<PlimDialect>(op->getDialect()) && !isa<AllocOp>(op))
        ours = op;
    });
    if (isa_and_nonnull<CheckOp>(ours))
      return {DeviceAnswer::Refused, "it checks indices while it runs"};
    if (ours)
      return {DeviceAnswer::Refused, ("it has a " + ours->getName().getStringRef()).str()};
    std::string text = textOf(function);
    if (!compiler)
      return {DeviceAnswer::Taken, std::move(text)};
    return compiler({device, function.getName(), text});
  }

  /// The function as a module of its own, without what only we know.
  std::string textOf(func::FuncOp function) {
    OwningOpRef<ModuleOp> module = ModuleOp::create(function.getLoc());
    OpBuilder builder = OpBuilder::atBlockBegin(module->getBody());
    auto copy = cast<func::FuncOp>(builder.clone(*function));
    copy.setPublic();
    for (NamedAttribute attribute : llvm::to_vector(copy->getDiscardableAttrs()))
      copy->removeDiscardableAttr(attribute.getName());
    copy.removeArgAttrsAttr();
    copy.removeResAttrsAttr();
    SmallVector<AllocOp> allocations(copy.getOps<AllocOp>());
    for (AllocOp alloc : allocations) {
      builder.setInsertionPoint(alloc);
      Value empty = tensor::EmptyOp::create(builder, alloc.getLoc(), alloc.getMixedSizes(),
                                            alloc.getType().getElementType());
      alloc.replaceAllUsesWith(empty);
      alloc.erase();
    }
    copy.walk([](Operation *op) {
      if (op->hasAttr(deviceAttr))
        op->removeAttr(deviceAttr);
    });
    SmallVector<linalg::GenericOp> generics;
    copy.walk([&](linalg::GenericOp op) { generics.push_back(op); });
    for (linalg::GenericOp op : generics)
      nameIfSame(op);
    std::string text;
    llvm::raw_string_ostream out(text);
    module->print(out, OpPrintingFlags().enableDebugInfo(false));
    return text;
  }

  /// Puts a named operation in place of one that says the same: upstream's choice, which is compared since it
  /// makes a plain matmul of one with a transposed operand, or one of those that upstream does not know.
  static void nameIfSame(linalg::GenericOp op) {
    IRRewriter rewriter(op);
    auto trial = cast<linalg::GenericOp>(rewriter.clone(*op));
    FailureOr<linalg::LinalgOp> named = linalg::specializeGenericOp(rewriter, trial);
    if (failed(named))
      rewriter.eraseOp(trial);
    else if (takesItsPlace(*named, op, rewriter))
      return;
    if (!isa<FloatType>(getElementTypeOrSelf(op->getResult(0).getType())))
      return;
    nameAs<linalg::AbsOp, linalg::CeilOp, linalg::ErfOp, linalg::FloorOp, linalg::LogOp,
           linalg::NegFOp, linalg::ReciprocalOp, linalg::RoundOp, linalg::RsqrtOp, linalg::SqrtOp,
           linalg::SquareOp, linalg::TanhOp, linalg::MaxOp, linalg::MinOp>(op, rewriter);
  }

  template <typename... OpTs> static void nameAs(linalg::GenericOp op, IRRewriter &rewriter) {
    bool isDone = false;
    auto nameAsOne = [&](auto tag) {
      using OpT = typename decltype(tag)::type;
      constexpr bool isBinary =
          std::is_same_v<OpT, linalg::MaxOp> || std::is_same_v<OpT, linalg::MinOp>;
      if (isDone || op->getNumResults() != 1 || op.getNumDpsInputs() != (isBinary ? 2 : 1) ||
          !llvm::all_of(op.getDpsInputs(),
                        [&](Value input) { return input.getType() == op->getResult(0).getType(); }))
        return;
      auto named = OpT::create(rewriter, op.getLoc(), op->getResultTypes(), op.getDpsInputs(),
                               op.getDpsInits());
      isDone = takesItsPlace(cast<linalg::LinalgOp>(named.getOperation()), op, rewriter);
    };
    (nameAsOne(std::type_identity<OpTs>()), ...);
  }

  /// Does it say the same? It goes if it does not.
  static bool takesItsPlace(linalg::LinalgOp named, linalg::GenericOp op, IRRewriter &rewriter) {
    bool isSame = named.getIndexingMapsArray() == op.getIndexingMapsArray() &&
                  named.getIteratorTypesArray() == op.getIteratorTypesArray() &&
                  OperationEquivalence::isRegionEquivalentTo(&named->getRegion(0), &op.getRegion(),
                                                             OperationEquivalence::IgnoreLocations);
    named->removeDiscardableAttr(linalg::LinalgDialect::kMemoizedIndexingMapsAttrName);
    if (isSame)
      rewriter.replaceOp(op, named);
    else
      rewriter.eraseOp(named);
    return isSame;
  }

  /// Leaves nothing in the function but the call of the device.
  void call(func::FuncOp function, StringAttr device, StringRef code, SymbolTable &symbols) {
    Location loc = function.getLoc();
    OpBuilder builder(function);
    FunctionType type = function.getFunctionType();
    const auto outputs = int64_t(type.getNumInputs() - type.getNumResults());
    SmallVector<Attribute> accesses;
    for (unsigned i = 0; i < type.getNumInputs(); ++i)
      if (isa<ShapedType>(type.getInput(i)))
        accesses.push_back(function.getArgAttr(i, accessAttr));
    auto range = [&](int64_t first) {
      return builder.getDenseI64ArrayAttr(
          llvm::to_vector(llvm::seq(first, first + int64_t(type.getNumResults()))));
    };
    auto external =
        ExternalOp::create(builder, loc, (device.getValue() + "." + function.getName()).str(),
                           "private", type, builder.getArrayAttr(accesses), range(outputs),
                           /*pure=*/true, device, builder.getStringAttr(code));
    symbols.insert(external);

    Block &entry = function.front();
    function->setAttr(parallelLoopsAttr, builder.getDenseI64ArrayAttr({}));
    function->setAttr(costAttr, builder.getI64IntegerAttr(launchCost));
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(entry)))
      op.erase();
    builder.setInsertionPointToStart(&entry);
    SmallVector<Value> arguments = {
        ContextOp::create(builder, loc, ContextType::get(&getContext()))};
    llvm::append_range(arguments, entry.getArguments());
    // The context stands before the operands.
    auto result = CallOp::create(builder, loc, type.getResults(), external.getSymName(), arguments,
                                 builder.getArrayAttr(accesses), range(outputs + 1), /*pure=*/true);
    func::ReturnOp::create(builder, loc, result.getResults());
  }

  CompileForDevice compiler;
};

} // namespace

std::unique_ptr<Pass> plim::ir::createPlimOutlineDeviceCode(CompileForDevice compiler) {
  return std::make_unique<OutlineDeviceCode>(std::move(compiler));
}
