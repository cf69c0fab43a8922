// What the attributes of the dialect may say, and where they belong.
#include "ir/Plim/Constraints.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace plim::ir;

LogicalResult WorkgroupsAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                                     ArrayRef<int64_t> tiles, StringRef) {
  if (llvm::any_of(tiles, [](int64_t tile) { return tile < 0; }))
    return emitError() << "tiles are 0 or more";
  return success();
}

LogicalResult PanelsAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, OperandForm,
                                 OperandForm, ArrayRef<int64_t> depth, int64_t columns,
                                 int64_t lines, StringRef) {
  if (llvm::any_of(depth, [](int64_t tile) { return tile < 1; }) || columns < 0 || lines < 1)
    return emitError() << "depths and lines are 1 or more, columns 0 or more";
  return success();
}

LogicalResult RegistersAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                                    int64_t rows, int64_t rowLoop, int64_t columns,
                                    int64_t columnLoop, int64_t lanes, int64_t terms, StringRef) {
  if (rows < 1 || columns < 1 || lanes < 1 || terms < 0 || rowLoop < -1 || columnLoop < 0)
    return emitError() << "rows, columns and lanes are 1 or more, and loops are loops";
  return success();
}

/// Is a strategy of the kind that its name says, and of an op that has its loops?
static LogicalResult verifyStrategy(Operation *op, NamedAttribute attribute) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  auto registers = dyn_cast<RegistersAttr>(attribute.getValue());
  auto panels = dyn_cast<PanelsAttr>(attribute.getValue());
  bool fits = isa<WorkgroupsAttr>(attribute.getValue()) && isa<FunctionOpInterface>(op);
  if (attribute.getName() == registersAttr)
    fits = registers && linalgOp &&
           std::max(registers.getRowLoop(), registers.getColumnLoop()) <
               int64_t(linalgOp.getNumLoops());
  if (attribute.getName() == panelsAttr)
    fits = panels && linalgOp && panels.getDepth().size() == linalgOp.getNumReductionLoops();
  if (!fits)
    return op->emitError() << attribute.getName() << " does not fit the op";
  return success();
}

LogicalResult PlimDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  auto emitError = [&] { return op->emitError(); };
  StringRef name = attribute.getName();
  if (name == workgroupsAttr || name == panelsAttr || name == registersAttr)
    return verifyStrategy(op, attribute);
  if (name == engineLimitsAttr || name == limitsAttr) {
    if (isa<ModuleOp>(op) || (isa<FunctionOpInterface>(op) && name == limitsAttr))
      return verifyLimits(attribute.getValue(), name, isa<ModuleOp>(op), emitError);
    if (name == engineLimitsAttr)
      return emitError() << "'" << name << "' belongs on the module";
  }
  if (name != scopeAttr && name != candidatePoolsAttr && name != accessorsAttr &&
      name != maxBytesAttr && name != limitsAttr)
    return success();
  if (isa<memref::GlobalOp, ml_program::GlobalOp>(op) && name == scopeAttr)
    return verifyConstantScope(op, attribute.getValue());
  if (!isa<tensor::EmptyOp, bufferization::AllocTensorOp, memref::AllocOp, memref::AllocaOp>(op))
    return emitError() << "'" << name << "' belongs on an allocation";
  auto scope = op->getAttrOfType<StringAttr>(scopeAttr);
  if (!scope && op->hasAttr(scopeAttr))
    return emitError() << "'" << scopeAttr << "' must be a string";
  return verifyConstraints(scope ? scope.getValue() : "global", op->getAttr(candidatePoolsAttr),
                           op->getAttr(accessorsAttr), op->getAttr(maxBytesAttr),
                           op->getAttr(limitsAttr), emitError);
}

/// What is wrong with the bounds of an extent; empty: nothing.
static std::string faultOfBounds(Attribute attribute) {
  auto bounds = dyn_cast<DictionaryAttr>(attribute);
  if (!bounds)
    return "is no dictionary";
  for (NamedAttribute each : bounds) {
    auto value = dyn_cast<IntegerAttr>(each.getValue());
    if (each.getName() != "min" && each.getName() != "max")
      return ("has '" + each.getName().getValue() + "', but there are 'min' and 'max' only").str();
    if (!value || !value.getType().isInteger(64) || value.getInt() < 0)
      return ("has a '" + each.getName().getValue() + "' that is no i64 of 0 or more").str();
  }
  ExtentBounds parsed = extentBounds(bounds);
  if (parsed.max && *parsed.max < parsed.min)
    return "has a 'max' less than its 'min'";
  return "";
}

LogicalResult PlimDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned position,
                                                    NamedAttribute attribute) {
  auto function = dyn_cast<func::FuncOp>(op);
  if (!function || attribute.getName() != boundsAttr)
    return success();
  auto refuse = [&]() -> InFlightDiagnostic {
    return op->emitError() << "'" << boundsAttr << "' of argument #" << position << " of '"
                           << function.getName() << "' ";
  };
  Type type = function.getArgumentTypes()[position];
  if (type.isIndex()) {
    std::string fault = faultOfBounds(attribute.getValue());
    return fault.empty() ? success() : LogicalResult(refuse() << fault);
  }
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !shaped.hasRank())
    return refuse() << "belongs on a tensor or memref, not on " << type;
  auto all = dyn_cast<ArrayAttr>(attribute.getValue());
  if (!all || int64_t(all.size()) != shaped.getRank())
    return refuse() << "must be an array with one dictionary for each of the " << shaped.getRank()
                    << " dimensions of " << type;
  for (auto [dimension, each] : llvm::enumerate(all)) {
    if (std::string fault = faultOfBounds(each); !fault.empty())
      return refuse() << fault << " in dimension " << dimension;
    if (!shaped.isDynamicDim(unsigned(dimension)) && !cast<DictionaryAttr>(each).empty())
      return refuse() << "bounds dimension " << dimension << ", which is "
                      << shaped.getDimSize(unsigned(dimension)) << " already";
  }
  return success();
}
