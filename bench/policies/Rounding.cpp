#include "bench/policies/Rounding.h"

#include "ir/Pipelines/Pipelines.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Parser/Parser.h"

#include "llvm/Support/thread.h"

#include <algorithm>
#include <cmath>

namespace plim::bench {

namespace {

using namespace mlir;

/// Half of the distance from 1 to the next number; 0 for what is not rounded.
double unitRoundoff(Type type) {
  Type element = getElementTypeOrSelf(type);
  if (auto complex = dyn_cast<ComplexType>(element))
    element = complex.getElementType();
  auto floating = dyn_cast<FloatType>(element);
  return floating ? std::ldexp(1.0, -static_cast<int>(floating.getFPMantissaWidth())) : 0;
}

class Roundings {
public:
  explicit Roundings(int64_t extent) : extent(static_cast<double>(std::max<int64_t>(extent, 1))) {}

  /// The squares of the roundings of all operations.
  double of(ModuleOp module) {
    double sum = 0;
    module.walk([&](Operation *op) {
      if (op->getParentOfType<linalg::LinalgOp>())
        return; // counted with it
      double unit = 0;
      for (Type type : op->getResultTypes())
        unit = std::max(unit, unitRoundoff(type));
      for (Type type : op->getOperandTypes())
        unit = std::max(unit, unitRoundoff(type));
      sum += terms(op) * repetitions(op) * unit * unit;
    });
    return sum;
  }

private:
  /// Roundings on the way to one number of the result.
  double terms(Operation *op) const {
    if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
      double product = 1;
      const SmallVector<int64_t> ranges = structured.getStaticLoopRanges();
      for (auto [range, kind] : llvm::zip(ranges, structured.getIteratorTypesArray()))
        if (kind == utils::IteratorType::reduction)
          product *= ShapedType::isDynamic(range) ? extent : static_cast<double>(range);
      int64_t inside = 0;
      structured->getRegion(0).walk([&](Operation *each) {
        inside +=
            llvm::any_of(each->getResultTypes(), [](Type type) { return unitRoundoff(type); });
      });
      return product * static_cast<double>(inside);
    }
    if (isa<arith::ArithDialect, math::MathDialect, complex::ComplexDialect>(op->getDialect()))
      return op->hasTrait<OpTrait::ConstantLike>() ? 0 : 1;
    // Any of them may be a sum along a dimension.
    double most = 0;
    if (isa<tosa::TosaDialect, vector::VectorDialect>(op->getDialect()))
      for (Type type : op->getOperandTypes())
        if (auto shaped = dyn_cast<ShapedType>(type); shaped && shaped.hasRank())
          for (int64_t size : shaped.getShape())
            most = std::max(most, ShapedType::isDynamic(size) ? extent : static_cast<double>(size));
    return most;
  }

  double repetitions(Operation *op) const {
    double product = 1;
    for (auto loop = op->getParentOfType<LoopLikeOpInterface>(); loop;
         loop = loop->getParentOfType<LoopLikeOpInterface>()) {
      std::optional<APInt> count = loop.getStaticTripCount();
      product *= count ? count->roundToDouble() : extent;
    }
    return product;
  }

  double extent;
};

} // namespace

StatusOr<double> relativeRounding(std::string_view source, std::string_view name, int64_t extent) {
  double sum = -1;
  // The parser needs a large stack.
  llvm::thread thread(std::optional<unsigned>(16 << 20), [&] {
    DialectRegistry registry;
    ir::registerDialects(registry);
    MLIRContext context(registry, MLIRContext::Threading::DISABLED);
    context.getDiagEngine().registerHandler([](mlir::Diagnostic &) { return success(); });
    if (OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
            llvm::StringRef(source), ParserConfig(&context), llvm::StringRef(name)))
      sum = Roundings(extent).of(*module);
  });
  thread.join();
  if (sum < 0)
    return invalidArgumentError(std::string(name) + ": the text is malformed");
  return std::sqrt(sum);
}

} // namespace plim::bench
