#include "ir/Import/Globals.h"

#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace plim::ir {

namespace {

/// Turns one global and its loads and stores, which are `users`, into a memref global. `replaced` gets those that are to
/// be erased: others may have them among their users.
LogicalResult convertGlobal(ml_program::GlobalOp global, ArrayRef<Operation *> users,
                            SymbolTable &symbols, SmallVectorImpl<Operation *> &replaced) {
  auto type = dyn_cast<RankedTensorType>(global.getType());
  if (!type)
    return global.emitError() << "global '" << global.getSymName() << "' has type "
                              << global.getType() << "; ranked tensors are supported";
  Attribute initial = global.getValueAttr();
  bool isExtern = isa_and_nonnull<ml_program::ExternAttr>(initial);
  if (isExtern && global.getIsMutable())
    return global.emitError() << "extern global '" << global.getSymName()
                              << "' is mutable; a parameter is read-only";
  if (isExtern && !type.hasStaticShape())
    return global.emitError() << "extern global '" << global.getSymName()
                              << "' must have a static shape";
  if (initial && !isExtern && !isa<ElementsAttr>(initial))
    return global.emitError() << "global '" << global.getSymName()
                              << "' has an initial value that is no elements attribute";
  if (!initial && !global.getIsMutable())
    return global.emitError() << "global '" << global.getSymName()
                              << "' is neither mutable nor has a value";
  if (!type.hasStaticShape())
    return global.emitError() << "global '" << global.getSymName() << "' must have a static shape";

  std::string name = global.getSymName().str();
  OpBuilder builder(global);
  auto memrefType = MemRefType::get(type.getShape(), type.getElementType());
  bool isConstant = !global.getIsMutable();
  // One with a place of its own must not be folded into others.
  Attribute scope = global->getAttr(scopeAttr);
  bool isFoldable = isConstant && !isExtern && !scope;
  Attribute memrefInitial;
  if (!isExtern)
    memrefInitial = initial ? initial : UnitAttr::get(builder.getContext());
  auto converted =
      memref::GlobalOp::create(builder, global.getLoc(), name, builder.getStringAttr("private"),
                               memrefType, memrefInitial, isConstant, /*alignment=*/IntegerAttr());
  if (scope)
    converted->setAttr(scopeAttr, scope);
  symbols.remove(global);
  global.erase();
  symbols.insert(converted);

  for (Operation *user : users) {
    builder.setInsertionPoint(user);
    Location loc = user->getLoc();
    // Another attribute that names this one goes with what accesses another.
    if (auto accessed = user->getAttrOfType<SymbolRefAttr>("global");
        accessed && accessed.getRootReference() != name)
      continue;
    if (isa<ml_program::GlobalLoadOp, ml_program::GlobalLoadConstOp>(user)) {
      Value loaded;
      if (isFoldable) {
        loaded = arith::ConstantOp::create(builder, loc, type, cast<TypedAttr>(initial));
      } else {
        Value buffer = memref::GetGlobalOp::create(builder, loc, memrefType, name);
        loaded = bufferization::ToTensorOp::create(builder, loc, type, buffer, /*restrict=*/true);
        // What was loaded must not change when the global is stored to later.
        if (!isConstant)
          loaded = bufferization::AllocTensorOp::create(builder, loc, type, ValueRange(), loaded);
      }
      user->getResult(0).replaceAllUsesWith(loaded);
      replaced.push_back(user);
    } else if (auto store = dyn_cast<ml_program::GlobalStoreOp>(user)) {
      if (isConstant)
        return store.emitError() << "stores to '" << name << "', which is not mutable";
      Value buffer = memref::GetGlobalOp::create(builder, loc, memrefType, name);
      auto write = bufferization::MaterializeInDestinationOp::create(builder, loc, Type(),
                                                                     store.getValue(), buffer);
      write.setRestrict(true);
      write.setWritable(true);
      replaced.push_back(store);
    } else {
      return user->emitError() << "uses global '" << name << "' in an unsupported way";
    }
  }
  if (isFoldable)
    converted.erase();
  return success();
}

} // namespace

LogicalResult convertGlobals(ModuleOp module, SymbolTable &symbols, const SymbolUserMap &users,
                             unsigned &count) {
  SmallVector<Operation *> replaced;
  for (auto global : llvm::make_early_inc_range(module.getOps<ml_program::GlobalOp>())) {
    if (failed(convertGlobal(global, users.getUsers(global), symbols, replaced)))
      return failure();
    ++count;
  }
  for (Operation *op : replaced)
    op->erase();
  return success();
}

} // namespace plim::ir
