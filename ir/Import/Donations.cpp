#include "ir/Import/Donations.h"

#include "ir/Plim/Locations.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace plim::ir {

namespace {

/// Where the function returns: an assertion for each extent that only the call knows.
void checkExtents(func::FuncOp function, unsigned argument, unsigned result) {
  Value donated = function.getArgument(argument);
  auto type = cast<RankedTensorType>(donated.getType());
  for (auto op : function.getOps<func::ReturnOp>()) {
    OpBuilder builder(op);
    Location loc = op.getLoc();
    Value returned = op.getOperand(result);
    for (int64_t d = 0; d < type.getRank(); ++d) {
      if (!type.isDynamicDim(d) || returned == donated)
        continue;
      Value have = tensor::DimOp::create(builder, loc, donated, d);
      Value need = tensor::DimOp::create(builder, loc, returned, d);
      Value fits = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, have, need);
      std::string message = locationText(loc) + "result #" + std::to_string(result) + " of '" +
                            function.getName().str() + "' has other extents than argument #" +
                            std::to_string(argument) + ", which is donated to it";
      cf::AssertOp::create(builder, loc, fits, message);
    }
  }
}

} // namespace

LogicalResult checkDonations(func::FuncOp function, const SymbolUserMap &users) {
  llvm::DenseMap<int64_t, unsigned> donors; // by result
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    Attribute attribute = function.getArgAttr(i, donateAttr);
    if (!attribute)
      continue;
    auto refuse = [&] {
      return function.emitError() << "argument #" << i << " of '" << function.getName() << "' ";
    };
    auto type = dyn_cast<RankedTensorType>(function.getArgument(i).getType());
    if (!type)
      return refuse() << "is donated, but is no tensor: a memref is memory that the function may "
                      << "write as it is";
    if (!function.isPublic() || !users.useEmpty(function))
      return refuse() << "is donated, but functions of the module call this one";
    auto writable = function.getArgAttrOfType<BoolAttr>(
        i, bufferization::BufferizationDialect::kWritableAttrName);
    if (writable && !writable.getValue())
      return refuse() << "is donated, but is declared not writable";
    auto index = dyn_cast<IntegerAttr>(attribute);
    if (!index)
      return refuse() << "is donated, but '" << donateAttr << "' is not the index of a result";
    int64_t result = index.getValue().isSignedIntN(64) ? index.getValue().getSExtValue() : -1;
    if (result < 0 || result >= int64_t(function.getNumResults()))
      return refuse() << "is donated to result #" << result << ", but there are "
                      << function.getNumResults() << " results";
    Type resultType = function.getResultTypes()[unsigned(result)];
    if (resultType != type)
      return refuse() << "is donated to result #" << result << ", which is " << resultType
                      << " and not " << type;
    auto [donor, isFirst] = donors.try_emplace(result, i);
    if (!isFirst)
      return refuse() << "is donated to result #" << result << ", and so is argument #"
                      << donor->second;
    checkExtents(function, i, unsigned(result));
  }
  return success();
}

} // namespace plim::ir
