#include "ir/Import/Externals.h"

#include "ir/Import/Supported.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace plim::ir {

namespace {

/// A declaration of a function of the host application, as it is bound and called.
class Declaration {
public:
  explicit Declaration(func::FuncOp function)
      : function(function), builder(function.getContext()),
        hasContext(function.getNumArguments() != 0 &&
                   isa<ContextType>(function.getArgumentTypes()[0])),
        donations(function.getNumResults(), -1) {}

  LogicalResult check() {
    if (failed(checkBoundary(function)))
      return failure();
    bool isPure = function->hasAttr(pureAttr);
    for (auto [i, type] : llvm::enumerate(types()))
      if (failed(checkArgument(unsigned(i), type, isPure)))
        return failure();
    for (auto [i, type] : llvm::enumerate(function.getResultTypes())) {
      auto refuse = [&] {
        return function.emitError()
               << "result #" << i << " of '" << function.getName() << "' has type " << type;
      };
      if (isa<MemRefType>(type))
        return refuse() << "; a function of the host application returns scalars and tensors";
    }
    return success();
  }

  /// Replaces the declaration and all calls of it.
  LogicalResult replace(SymbolTable &symbols, Operation *module) {
    SmallVector<Operation *> users;
    std::optional<SymbolTable::UseRange> uses = SymbolTable::getSymbolUses(function, module);
    for (SymbolTable::SymbolUse use : *uses)
      users.push_back(use.getUser());
    for (Operation *user : users) {
      auto call = dyn_cast<func::CallOp>(user);
      if (!call)
        return user->emitError() << "uses '" << function.getName()
                                 << "', a function of the host application, which can only be "
                                    "called";
      for (Operation *parent = call->getParentOp(); parent != module;
           parent = parent->getParentOp())
        if (isa<linalg::LinalgOp, tensor::GenerateOp, tensor::PadOp, scf::ForallOp, scf::ParallelOp,
                affine::AffineParallelOp>(parent))
          return call.emitError() << "calls '" << function.getName()
                                  << "', a function of the host application, from "
                                  << "the body of '" << parent->getName()
                                  << "', which has no order";
    }
    for (Operation *user : users)
      replace(cast<func::CallOp>(user));
    OpBuilder at(function);
    auto type = FunctionType::get(function.getContext(), types(), function.getResultTypes());
    auto external =
        ExternalOp::create(at, function.getLoc(), function.getName(), "private", type,
                           builder.getArrayAttr(accesses), donations, function->hasAttr(pureAttr),
                           /*device=*/StringAttr(), /*code=*/StringAttr());
    symbols.erase(function);
    symbols.insert(external);
    return success();
  }

private:
  ArrayRef<Type> types() { return function.getArgumentTypes().drop_front(hasContext); }

  /// The argument at position `i`, the context not counted.
  LogicalResult checkArgument(unsigned i, Type type, bool isPure) {
    unsigned position = i + hasContext;
    auto refuse = [&] {
      return function.emitError() << "argument #" << position << " of '" << function.getName()
                                  << "' ";
    };
    auto access = function.getArgAttrOfType<AccessAttr>(position, accessAttr);
    Attribute donation = function.getArgAttr(position, donateAttr);
    if (donation) {
      auto index = dyn_cast<IntegerAttr>(donation);
      int64_t result =
          index && index.getValue().isSignedIntN(64) ? index.getValue().getSExtValue() : -1;
      if (result < 0 || result >= int64_t(donations.size()))
        return refuse() << "is donated, but '" << donateAttr << "' is not the index of a result";
      if (!isa<RankedTensorType>(type) || function.getResultTypes()[unsigned(result)] != type)
        return refuse() << "has type " << type << " and is donated to result #" << result
                        << ", which is " << function.getResultTypes()[unsigned(result)]
                        << "; it must be the same tensor";
      if (donations[unsigned(result)] >= 0)
        return refuse() << "is donated to result #" << result << ", and so is another one";
      donations[unsigned(result)] = i;
    }
    if (!isa<ShapedType>(type)) {
      if (access)
        return refuse() << "is a scalar, but is declared " << stringifyAccess(access.getValue());
      return success();
    }
    bool isWritten = isa<MemRefType>(type) || donation;
    Access value = access ? access.getValue() : isWritten ? Access::ReadWrite : Access::ReadOnly;
    if (isWritten && donation && value == Access::ReadOnly)
      return refuse() << "is donated, but is declared readonly";
    if (!isWritten && value != Access::ReadOnly)
      return refuse() << "is a tensor that is not donated, which is readonly, but is declared "
                      << stringifyAccess(value);
    if (isPure && !donation && value != Access::ReadOnly)
      return refuse() << "may be written, but '" << pureAttr
                      << "' says that the function only computes its results";
    accesses.push_back(AccessAttr::get(function.getContext(), value));
    return success();
  }

  void replace(func::CallOp call) {
    OpBuilder at(call);
    Location loc = call.getLoc();
    SmallVector<Value> operands(call.getOperands());
    // Every such function gets the context, also where its author does not want to see it.
    if (!hasContext)
      operands.insert(operands.begin(),
                      ContextOp::create(at, loc, ContextType::get(at.getContext())));
    SmallVector<Attribute> all = accesses;
    SmallVector<int64_t> destinations;
    for (auto [i, type] : llvm::enumerate(call.getResultTypes())) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      if (!tensor)
        continue;
      if (donations[i] >= 0) {
        destinations.push_back(donations[i] + 1);
        continue;
      }
      if (!tensor.hasStaticShape()) {
        destinations.push_back(CallOp::madeByCallee);
        continue;
      }
      destinations.push_back(int64_t(operands.size()));
      operands.push_back(
          tensor::EmptyOp::create(at, loc, tensor.getShape(), tensor.getElementType()));
      all.push_back(AccessAttr::get(at.getContext(), Access::WriteOnly));
    }
    auto replacement =
        CallOp::create(at, loc, call.getResultTypes(), call.getCallee(), operands,
                       at.getArrayAttr(all), destinations, function->hasAttr(pureAttr));
    call->replaceAllUsesWith(replacement);
    call.erase();
  }

  func::FuncOp function;
  Builder builder;
  bool hasContext;
  SmallVector<int64_t> donations;  // by result: the argument, without the context, or -1
  SmallVector<Attribute> accesses; // of the shaped arguments
};

} // namespace

LogicalResult bindExternals(ModuleOp module, SymbolTable &symbols, unsigned &count) {
  for (auto function : llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
    if (!function.isExternal())
      continue;
    Declaration declaration(function);
    if (failed(declaration.check()) || failed(declaration.replace(symbols, module)))
      return failure();
    ++count;
  }
  return success();
}

} // namespace plim::ir
