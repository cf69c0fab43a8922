#include "ir/Analysis/Borders.h"
#include "ir/Dispatch/Passes.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMINFERBORDERS
#include "ir/Dispatch/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

struct InferBorders : plim::ir::impl::PlimInferBordersBase<InferBorders> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    llvm::MapVector<func::FuncOp, SmallVector<DispatchOp>> dispatches;
    getOperation().walk([&](DispatchOp dispatch) {
      if (auto function = symbols.lookup<func::FuncOp>(dispatch.getFunction()))
        dispatches[function].push_back(dispatch);
    });
    for (auto &[function, calls] : dispatches) {
      for (unsigned position = 0; position < function.getNumArguments(); ++position) {
        SmallVector<int64_t> borders;
        for (auto [number, dispatch] : llvm::enumerate(calls)) {
          const SmallVector<int64_t> here = bordersOf(dispatch->getOperand(position), symbols);
          if (number == 0 || here.empty())
            borders = here;
          for (auto [least, other] : llvm::zip(borders, here))
            least = std::min(least, other);
          if (borders.empty())
            break;
        }
        if (llvm::all_of(borders, [](int64_t width) { return width == 0; }))
          continue;
        function.setArgAttr(position, zeroBordersAttr,
                            DenseI64ArrayAttr::get(&getContext(), borders));
        ++found;
      }
    }
  }

  /// Of what a dispatch makes by inserting it into zeros; none of anything else.
  static SmallVector<int64_t> bordersOf(Value value, SymbolTable &symbols) {
    auto dispatch = value.getDefiningOp<DispatchOp>();
    auto function =
        dispatch ? symbols.lookup<func::FuncOp>(dispatch.getFunction()) : func::FuncOp();
    if (!function || function.isExternal())
      return {};
    Value result =
        function.front().getTerminator()->getOperand(cast<OpResult>(value).getResultNumber());
    std::optional<Interior> interior = interiorOf(result);
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!interior || !type)
      return {};
    SmallVector<int64_t> borders;
    for (auto [extent, offset, size] :
         llvm::zip(type.getShape(), interior->offsets, interior->sizes)) {
      const std::optional<int64_t> begin = getConstantIntValue(offset),
                                   length = size ? getConstantIntValue(size) : std::nullopt;
      borders.push_back(begin.value_or(0));
      borders.push_back(
          begin && length && !ShapedType::isDynamic(extent) ? extent - *begin - *length : 0);
    }
    return borders;
  }
};

} // namespace
