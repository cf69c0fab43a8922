#include "ir/Import/Passes.h"
#include "ir/Plim/Locations.h"
#include "ir/Plim/Plim.h"
#include "support/CheckedMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMIMPORTALLOCATIONS
#include "ir/Import/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

constexpr StringLiteral constraintAttrs[] = {scopeAttr, candidatePoolsAttr, accessorsAttr,
                                             maxBytesAttr, limitsAttr};

struct ImportAllocations : plim::ir::impl::PlimImportAllocationsBase<ImportAllocations> {
  void runOnOperation() override {
    SmallVector<Operation *> annotated;
    bool ok = true;
    getOperation().walk([&](Operation *op) {
      ok &= succeeded(checkSource(op));
      if (ok && op->removeAttr(roundRowsAttr))
        factorsOf(cast<linalg::LinalgOp>(op))->setAttr(roundRowsAttr, UnitAttr::get(&getContext()));
      if (isa<tensor::EmptyOp, bufferization::AllocTensorOp, memref::AllocOp>(op) &&
          llvm::any_of(constraintAttrs, [&](StringRef name) { return op->hasAttr(name); }))
        annotated.push_back(op);
    });
    if (!ok)
      return signalPassFailure();
    for (Operation *op : annotated)
      ok &= succeeded(import(op));
    if (!ok)
      signalPassFailure();
  }

  /// Later stages believe what the engine says of an op: a source must not say it.
  static LogicalResult checkSource(Operation *op) {
    if (isa_and_nonnull<PlimDialect>(op->getDialect()) && !isa<ContextOp>(op))
      return op->emitError() << "'" << op->getName()
                             << "' is formed by the engine and cannot stand in a source";
    auto check = [&](DictionaryAttr attributes, bool isArgument) -> LogicalResult {
      for (NamedAttribute attribute : attributes) {
        StringRef name = attribute.getName();
        if (isArgument && name == accessAttr) {
          if (!isa<AccessAttr>(attribute.getValue()))
            return op->emitError() << "'" << accessAttr << "' must be #plim.access<readonly>, "
                                   << "<writeonly> or <readwrite>";
          continue;
        }
        if (isArgument && name == donateAttr)
          continue; // plim-import checks it
        if (isArgument && name == boundsAttr) {
          if (failed(checkBounds(op)))
            return failure();
          continue;
        }
        if (name == pureAttr) {
          auto function = dyn_cast<FunctionOpInterface>(op);
          if (isArgument || !function || !function.isExternal() ||
              !isa<UnitAttr>(attribute.getValue()))
            return op->emitError() << "'" << pureAttr << "' is a unit attribute of the declaration "
                                   << "of a function of the host application";
          continue;
        }
        if (name == deviceAttr && !isArgument) {
          if (failed(checkDevice(op, attribute.getValue())))
            return failure();
          continue;
        }
        if (name == roundRowsAttr && !isArgument) {
          auto product = dyn_cast<linalg::LinalgOp>(op);
          if (!product || !linalg::isaContractionOpInterface(product) || !factorsOf(product) ||
              !isa<UnitAttr>(attribute.getValue()))
            return op->emitError() << "'" << roundRowsAttr
                                   << "' is a unit attribute of linalg's products of floats";
          continue;
        }
        if (name.starts_with("plim.") && !llvm::is_contained(constraintAttrs, name) &&
            name != engineLimitsAttr)
          return refuse(op, name);
      }
      return success();
    };
    if (failed(check(op->getDiscardableAttrDictionary(), /*isArgument=*/false)))
      return failure();
    if (auto function = dyn_cast<FunctionOpInterface>(op))
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        if (DictionaryAttr attributes = function.getArgAttrDict(i))
          if (failed(check(attributes, /*isArgument=*/true)))
            return failure();
    return success();
  }

  static LogicalResult refuse(Operation *op, StringRef name) {
    SmallVector<StringRef> known(std::begin(constraintAttrs), std::end(constraintAttrs));
    known.append({donateAttr, boundsAttr, pureAttr, deviceAttr, roundRowsAttr});
    auto edits = [&](StringRef each) { return name.edit_distance(each); };
    auto nearest =
        llvm::min_element(known, [&](StringRef a, StringRef b) { return edits(a) < edits(b); });
    InFlightDiagnostic error = op->emitError() << "attribute '" << name;
    if (*nearest == name)
      return error << "' cannot stand here";
    error << "' is none that a source may have";
    if (edits(*nearest) <= 2)
      error << "; did you mean '" << *nearest << "'?";
    return error;
  }

  /// The op in the body of a product that multiplies floats; null if none does.
  static arith::MulFOp factorsOf(linalg::LinalgOp product) {
    auto all = product.getBlock()->getOps<arith::MulFOp>();
    return all.empty() ? arith::MulFOp() : *all.begin();
  }

  /// Only what becomes the root of a dispatch keeps it: all others would lose it without a word.
  static LogicalResult checkDevice(Operation *op, Attribute device) {
    if (!isa<StringAttr>(device))
      return op->emitError() << "'" << deviceAttr << "' must be the name of a device";
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (linalgOp && linalgOp.hasPureTensorSemantics())
      return success();
    return op->emitError() << "'" << deviceAttr
                           << "' belongs on operations of linalg on tensors, other than those that "
                              "are made of several";
  }

  /// Calls of the host are checked; what calls inside of the module pass on is not.
  static LogicalResult checkBounds(Operation *op) {
    auto function = dyn_cast<func::FuncOp>(op);
    if (!function || !function.isPublic() || function.isExternal())
      return op->emitError() << "'" << boundsAttr << "' belongs on arguments of public functions";
    if (!SymbolTable::symbolKnownUseEmpty(function, function->getParentOp()))
      return op->emitError() << "the arguments of '" << function.getName()
                             << "' are bounded, but functions of the module call this one";
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (function.getArgAttr(i, boundsAttr) && !isa<ShapedType>(function.getArgumentTypes()[i]))
        return op->emitError() << "'" << boundsAttr << "' of argument #" << i << " of '"
                               << function.getName() << "' belongs on a tensor or memref";
    return success();
  }

  LogicalResult import(Operation *op) {
    OpBuilder builder(op);
    Location loc = op->getLoc();
    auto type = cast<ShapedType>(op->getResult(0).getType());
    SmallVector<Value> sizes;
    Value copied;
    if (auto alloc = dyn_cast<bufferization::AllocTensorOp>(op)) {
      copied = alloc.getCopy();
      sizes = llvm::to_vector(alloc.getDynamicSizes());
      for (int64_t i = 0; copied && i < type.getRank(); ++i)
        if (type.isDynamicDim(i))
          sizes.push_back(tensor::DimOp::create(builder, loc, copied, i));
    } else if (auto alloc = dyn_cast<memref::AllocOp>(op)) {
      if (!alloc.getType().getLayout().isIdentity() || alloc.getType().getMemorySpace())
        return op->emitError() << "allocates " << type << "; an allocation must be dense, "
                               << "row-major, in the default memory space";
      sizes = llvm::to_vector(alloc.getDynamicSizes());
    } else {
      sizes = llvm::to_vector(op->getOperands());
    }
    auto alloc = AllocOp::create(builder, loc, type, sizes);
    if (auto scope = op->getAttrOfType<StringAttr>(scopeAttr))
      alloc.setScopeAttr(scope);
    alloc.setCandidatePoolsAttr(op->getAttrOfType<ArrayAttr>(candidatePoolsAttr));
    alloc.setAccessorsAttr(op->getAttrOfType<ArrayAttr>(accessorsAttr));
    alloc.setMaxBytesAttr(op->getAttrOfType<IntegerAttr>(maxBytesAttr));
    alloc.setLimitsAttr(op->getAttrOfType<DictionaryAttr>(limitsAttr));
    if (auto original = dyn_cast<memref::AllocOp>(op))
      alloc.setAlignmentAttr(original.getAlignmentAttr());
    if (failed(checkMaxBytes(alloc)))
      return failure();
    Value result = alloc.getResult();
    if (copied)
      result = linalg::CopyOp::create(builder, loc, copied, result).getResult(0);
    op->replaceAllUsesWith(ValueRange(result));
    op->erase();
    ++imported;
    return success();
  }

  /// A dynamic size must keep the bound that its author promised; a static one must not exceed it.
  LogicalResult checkMaxBytes(AllocOp alloc) {
    if (!alloc.getMaxBytes())
      return success();
    ShapedType type = alloc.getType();
    int64_t most = *alloc.getMaxBytes(), each = elementBytes(type.getElementType());
    for (int64_t extent : type.getShape())
      if (!ShapedType::isDynamic(extent))
        each = plim::checkedMul(each, extent).value_or(INT64_MAX);
    if (type.hasStaticShape() && each > most)
      return alloc.emitError() << "takes " << each << " bytes, more than its max_bytes of " << most;
    if (type.hasStaticShape() || each == 0)
      return success();
    // floor(floor(room / a) / b) >= 1 just when a * b <= room, so nothing can overflow.
    OpBuilder builder(alloc);
    Location loc = alloc.getLoc();
    auto constant = [&](int64_t value) -> Value {
      return arith::ConstantIndexOp::create(builder, loc, value);
    };
    Value zero = constant(0), one = constant(1), room = constant(most / each);
    Value empty = arith::ConstantIntOp::create(builder, loc, 0, 1);
    for (Value size : alloc.getDynamicSizes()) {
      using P = arith::CmpIPredicate;
      Value none = arith::CmpIOp::create(builder, loc, P::eq, size, zero);
      empty = arith::OrIOp::create(builder, loc, empty, none);
      // A negative size is caught where the memory is taken; as unsigned it is too large here.
      Value divisor = arith::SelectOp::create(builder, loc, none, one, size);
      room = arith::DivUIOp::create(builder, loc, room, divisor);
    }
    Value fits = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::uge, room, one);
    fits = arith::OrIOp::create(builder, loc, fits, empty);
    RequireOp::create(builder, loc, fits,
                      locationText(loc) + "the allocation takes more than its max_bytes of " +
                          std::to_string(most),
                      ValueRange());
    return success();
  }
};

} // namespace
