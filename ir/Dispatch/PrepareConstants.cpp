#include "ir/Analysis/Arrangement.h"
#include "ir/Analysis/Destinations.h"
#include "ir/Analysis/FixedValues.h"
#include "ir/Dispatch/Passes.h"
#include "ir/Plim/Plim.h"
#include "support/CheckedMath.h"
#include "support/Hash.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMPREPARECONSTANTS
#include "ir/Dispatch/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;
using plim::checkedMul;

namespace {

/// A prepared value may take so many times the memory of its sources. Bytes that become floats take
/// four times.
constexpr int64_t mostGrowth = 4;

/// Of a tensor of static shape.
int64_t bytesOf(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  int64_t bytes = elementBytes(tensor.getElementType());
  for (int64_t extent : tensor.getShape())
    bytes = checkedMul(bytes, extent).value_or(INT64_MAX);
  return bytes;
}

/// Copies `value` and all that it is computed from to where `builder` stands.
Value cloneAll(OpBuilder &builder, Value value, IRMapping &mapping) {
  if (Value clone = mapping.lookupOrNull(value))
    return clone;
  Operation *op = value.getDefiningOp();
  llvm::SetVector<Value> used;
  used.insert_range(op->getOperands());
  getUsedValuesDefinedAbove(op->getRegions(), used);
  for (Value each : used)
    cloneAll(builder, each, mapping);
  builder.clone(*op, mapping);
  return mapping.lookup(value);
}

struct PrepareConstants : plim::ir::impl::PlimPrepareConstantsBase<PrepareConstants> {
  using PlimPrepareConstantsBase::PlimPrepareConstantsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FixedValues fixed(module);
    SmallVector<Operation *> found;
    for (auto function : module.getOps<func::FuncOp>())
      if (!function->hasAttr(kernelAttr))
        function.walk<WalkOrder::PreOrder>([&](Operation *op) {
          if (isWorthwhile(op, fixed) && isNeeded(op->getResult(0), fixed))
            found.push_back(op);
          return isa<linalg::LinalgOp>(op) ? WalkResult::skip() : WalkResult::advance();
        });
    if (found.empty())
      return;

    // Before what they are made of is replaced.
    sources.clear();
    SymbolTable symbols(module);
    SmallVector<DictionaryAttr> arrangements = llvm::map_to_vector(
        found, [&](Operation *op) { return arrangementOfGlobal(op->getResult(0), symbols); });

    auto builder = OpBuilder::atBlockEnd(module.getBody());
    Location loc = module.getLoc();
    auto function =
        func::FuncOp::create(builder, loc, prepareFunction.str(), builder.getFunctionType({}, {}));
    function->setAttr(preparedAttr, builder.getUnitAttr());
    symbols.insert(function);
    auto body = OpBuilder::atBlockBegin(function.addEntryBlock());
    llvm::StringMap<memref::GlobalOp> globals;
    llvm::StringMap<Value> clones; // in the function
    IRMapping mapping;
    for (auto [op, arrangement] : llvm::zip_equal(found, arrangements)) {
      Value value = op->getResult(0);
      auto type = cast<RankedTensorType>(value.getType());
      auto memrefType = MemRefType::get(type.getShape(), type.getElementType());
      const std::string name = nameOf(value);
      memref::GlobalOp &global = globals[name];
      if (!global) {
        builder.setInsertionPoint(function);
        global =
            memref::GlobalOp::create(builder, op->getLoc(), name, builder.getStringAttr("private"),
                                     memrefType, builder.getUnitAttr(), /*constant=*/false,
                                     /*alignment=*/IntegerAttr());
        global->setAttr(preparedAttr, builder.getUnitAttr());
        symbols.insert(global);
        ++prepared;
        if (arrangement) {
          global->setAttr(arrangementAttr, arrangement);
          ++arranged;
        } else {
          Value computed = cloneAll(body, value, mapping);
          Value memory = memref::GetGlobalOp::create(body, op->getLoc(), memrefType, name);
          computeIn(body, computed, memory);
          auto write = bufferization::MaterializeInDestinationOp::create(body, op->getLoc(), Type(),
                                                                         computed, memory);
          write.setRestrict(true);
          write.setWritable(true);
          clones[name] = computed;
        }
      }
      builder.setInsertionPoint(op);
      Value memory = memref::GetGlobalOp::create(builder, op->getLoc(), memrefType, name);
      Value ready = bufferization::ToTensorOp::create(builder, op->getLoc(), type, memory,
                                                      /*restrict=*/true);
      value.replaceAllUsesWith(ready);
      // The function reads what it has computed itself, and otherwise what is there before it runs.
      if (Value clone = clones.lookup(name))
        mapping.map(ready, clone);
    }
    func::ReturnOp::create(body, loc);
    if (clones.empty())
      symbols.erase(function);
    IRRewriter rewriter(&getContext());
    (void)runRegionDCE(rewriter, module->getRegions());
  }

  /// How a value is arranged of a global; null if it is not, or if code has the elements of the
  /// global in itself.
  DictionaryAttr arrangementOfGlobal(Value value, SymbolTable &symbols) {
    std::optional<Arrangement> arrangement = arrangementOf(value);
    memref::GlobalOp global = arrangement ? globalOf(arrangement->origin, symbols) : nullptr;
    if (!global || !global.getType().getLayout().isIdentity() ||
        isInlineConstant(global.getInitialValueAttr(), inlineConstantBytes))
      return {};
    SmallVector<int64_t> extents, of, steps;
    for (const Arrangement::Dimension &dimension : arrangement->dimensions) {
      extents.push_back(dimension.extent);
      of.push_back(dimension.of);
      steps.push_back(dimension.step);
    }
    Builder builder(value.getContext());
    return builder.getDictionaryAttr(
        {builder.getNamedAttr("source", FlatSymbolRefAttr::get(global.getSymNameAttr())),
         builder.getNamedAttr("extents", builder.getDenseI64ArrayAttr(extents)),
         builder.getNamedAttr("of", builder.getDenseI64ArrayAttr(of)),
         builder.getNamedAttr("steps", builder.getDenseI64ArrayAttr(steps))});
  }

  /// What a tensor is the value of; null if that is no global. Constants get one.
  memref::GlobalOp globalOf(Value tensor, SymbolTable &symbols) {
    if (auto toTensor = tensor.getDefiningOp<bufferization::ToTensorOp>()) {
      auto get = toTensor.getBuffer().getDefiningOp<memref::GetGlobalOp>();
      return get ? symbols.lookup<memref::GlobalOp>(get.getName()) : nullptr;
    }
    auto constant = tensor.getDefiningOp<arith::ConstantOp>();
    if (!constant)
      return {};
    auto elements = cast<ElementsAttr>(constant.getValue());
    memref::GlobalOp &global = sources[elements];
    if (!global) {
      auto builder = OpBuilder::atBlockBegin(getOperation().getBody());
      auto type = MemRefType::get(elements.getShapedType().getShape(), elements.getElementType());
      global =
          memref::GlobalOp::create(builder, constant.getLoc(), (prepareFunction + ".source").str(),
                                   builder.getStringAttr("private"), type, elements,
                                   /*constant=*/true, /*alignment=*/IntegerAttr());
      symbols.insert(global);
    }
    return global;
  }

  /// Makes a buffer the destination of the op that computes `value`, where that does not read it.
  static void computeIn(OpBuilder &builder, Value value, Value buffer) {
    auto op = value.getDefiningOp<linalg::LinalgOp>();
    OpOperand &init = op.getDpsInitsMutable()[0];
    if (readsDestination(op, init))
      return;
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfterValue(buffer);
    init.set(bufferization::ToTensorOp::create(builder, value.getLoc(), value.getType(), buffer,
                                               /*restrict=*/true, /*writable=*/true));
    op->moveAfter(init.get().getDefiningOp());
  }

  /// Does the op compute, from constants alone, and is what it makes not much larger than what it
  /// is made of?
  bool isWorthwhile(Operation *op, FixedValues &fixed) const {
    auto computing = dyn_cast<linalg::LinalgOp>(op);
    if (!computing || !computing.hasPureTensorSemantics() || isa<linalg::FillOp>(op) ||
        op->getNumResults() != 1 || op->hasAttr(deviceAttr) || hasPinnedResult(computing) ||
        !fixed.isFixed(op))
      return false;
    int64_t read = 0;
    for (Value operand : computing.getDpsInputs())
      if (isa<RankedTensorType>(operand.getType()))
        read = std::max(read, bytesOf(operand.getType()));
    const int64_t written = bytesOf(op->getResult(0).getType());
    return written > inlineConstantBytes &&
           written <= checkedMul(mostGrowth, read).value_or(INT64_MAX);
  }

  /// Does anything want the value itself that is not prepared as well?
  bool isNeeded(Value value, FixedValues &fixed) const {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      if (!isa<func::ReturnOp>(user) && user->getBlock() != value.getParentBlock())
        return true;
      if (isWorthwhile(user, fixed))
        return false;
      return !fixed.isFixed(user) || user->getNumResults() != 1 ||
             isNeeded(user->getResult(0), fixed);
    });
  }

  /// The same for the same value, in whatever module: code for certain extents finds what is there
  /// for all.
  static std::string nameOf(Value value) {
    OpBuilder builder(value.getContext());
    auto function = func::FuncOp::create(value.getLoc(), "value", builder.getFunctionType({}, {}));
    auto body = OpBuilder::atBlockBegin(function.addEntryBlock());
    IRMapping mapping;
    cloneAll(body, value, mapping);
    std::string text;
    llvm::raw_string_ostream stream(text);
    function->print(stream, OpPrintingFlags().elideLargeElementsAttrs().elideLargeResourceString());
    plim::Hasher hasher;
    hasher.updateField(text);
    function.walk([&](arith::ConstantOp constant) {
      ArrayRef<char> bytes;
      if (auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
          dense && !dense.getElementType().isIntOrIndexOrFloat())
        return;
      else if (dense)
        bytes = dense.getRawData();
      else if (auto resource = dyn_cast<DenseResourceElementsAttr>(constant.getValue()))
        if (AsmResourceBlob *blob = resource.getRawHandle().getBlob())
          bytes = blob->getData();
      hasher.updateField({bytes.data(), bytes.size()});
    });
    function->erase();
    return (prepareFunction + "." + hasher.digest().hex().substr(0, 32)).str();
  }

  llvm::DenseMap<Attribute, memref::GlobalOp> sources; // globals of constants
};

} // namespace
