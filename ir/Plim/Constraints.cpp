#include "ir/Plim/Constraints.h"

#include "ir/Plim/Plim.h"
#include "targets/AllocationOptions.h"

#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace plim::ir;

std::optional<Scope> Scope::parse(StringRef text) {
  if (text == "global")
    return Scope{Global};
  if (text == "local")
    return Scope{Local};
  if (text == "workgroup")
    return Scope{Workgroup};
  if (!text.consume_front("global.") || text.empty())
    return std::nullopt;
  if (text == "stack")
    return Scope{Stack};
  if (text == "workspace")
    return Scope{Workspace};
  return Scope{Pool, text};
}

namespace {

LogicalResult verifyNames(Attribute names, StringRef what, EmitError emitError) {
  auto array = dyn_cast<ArrayAttr>(names);
  if (!array)
    return emitError() << "'" << what << "' must be a list of names";
  llvm::SmallDenseSet<Attribute> seen;
  for (Attribute name : array) {
    if (!isa<StringAttr>(name) || cast<StringAttr>(name).empty())
      return emitError() << "'" << what << "' must be a list of names";
    if (!seen.insert(name).second)
      return emitError() << "'" << what << "' names " << name << " twice";
  }
  return success();
}

} // namespace

bool plim::ir::isAlignment(int64_t bytes) {
  return bytes > 0 && bytes <= (int64_t(1) << 30) && llvm::isPowerOf2_64(bytes);
}

LogicalResult plim::ir::verifyLimits(Attribute limits, StringRef what, bool onModule,
                                     EmitError emitError) {
  auto dictionary = dyn_cast<DictionaryAttr>(limits);
  if (!dictionary)
    return emitError() << "'" << what << "' must be a dictionary";
  for (NamedAttribute limit : dictionary) {
    StringRef name = limit.getName();
    plim::targets::LimitValue value = false;
    if (auto flag = dyn_cast<BoolAttr>(limit.getValue()))
      value = flag.getValue();
    else if (auto number = dyn_cast<IntegerAttr>(limit.getValue());
             number && number.getType().isInteger(64))
      value = number.getInt();
    else
      return emitError() << "limit '" << name << "' must be an i64, or true or false";
    if (name == "workspace_alignment" && !onModule)
      return emitError() << "limit 'workspace_alignment' holds for a module";
    if (plim::Status status = plim::targets::checkStackLimit(name, value); !status.ok())
      return emitError() << status.message();
  }
  return success();
}

LogicalResult plim::ir::verifyConstraints(StringRef scope, Attribute pools, Attribute accessors,
                                          Attribute maxBytes, Attribute limits,
                                          EmitError emitError) {
  std::optional<Scope> parsed = Scope::parse(scope);
  if (!parsed)
    return emitError() << "unknown scope '" << scope << "'; known are global, global.stack, "
                       << "global.workspace, global.POOL, local and workgroup";
  if (pools) {
    if (failed(verifyNames(pools, "candidate_pools", emitError)))
      return failure();
    if (cast<ArrayAttr>(pools).empty())
      return emitError() << "'candidate_pools' names no place";
    if (parsed->kind != Scope::Global)
      return emitError() << "scope '" << scope << "' names one place: 'candidate_pools' is for "
                         << "scope 'global'";
  }
  if (accessors && failed(verifyNames(accessors, "accessors", emitError)))
    return failure();
  if (maxBytes) {
    auto number = dyn_cast<IntegerAttr>(maxBytes);
    if (!number || !number.getType().isInteger(64) || number.getInt() < 0)
      return emitError() << "'max_bytes' must be an i64 that is not negative";
  }
  return limits ? verifyLimits(limits, "limits", /*onModule=*/false, emitError) : success();
}

LogicalResult plim::ir::verifyConstantScope(Operation *op, Attribute scope) {
  auto text = dyn_cast<StringAttr>(scope);
  std::optional<Scope> parsed = text ? Scope::parse(text.getValue()) : std::nullopt;
  if (!parsed || (parsed->kind != Scope::Global && parsed->kind != Scope::Pool))
    return op->emitError() << "scope " << scope << " is not for a constant; known are \"global\" "
                           << "and \"global.POOL\"";
  auto memory = dyn_cast<memref::GlobalOp>(op);
  auto program = dyn_cast<ml_program::GlobalOp>(op);
  bool isConstant =
      memory ? memory.getConstant() && isa_and_nonnull<ElementsAttr>(memory.getInitialValueAttr())
             : !program.getIsMutable() && isa_and_nonnull<ElementsAttr>(program.getValueAttr());
  if (!isConstant)
    return op->emitError() << "only a constant has a scope; parameters stay where the host "
                           << "application has them, variables with the module";
  return success();
}
