#include "ir/Plim/Plim.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace plim::ir;

#include "ir/Plim/PlimDialect.cpp.inc"
#include "ir/Plim/PlimEnums.cpp.inc"

namespace {

/// A list that may be empty, which upstream's parser of array parameters refuses.
ParseResult parseNumbers(AsmParser &parser, SmallVector<int64_t> &numbers) {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Square, [&] { return parser.parseInteger(numbers.emplace_back()); });
}

void printNumbers(AsmPrinter &printer, ArrayRef<int64_t> numbers) {
  printer << "[";
  llvm::interleaveComma(numbers, printer);
  printer << "]";
}

} // namespace

#define GET_ATTRDEF_CLASSES
#include "ir/Plim/PlimAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "ir/Plim/PlimTypes.cpp.inc"

#define GET_OP_CLASSES
#include "ir/Plim/PlimOps.cpp.inc"

void PlimDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ir/Plim/PlimAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "ir/Plim/PlimTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "ir/Plim/PlimOps.cpp.inc"
      >();
}

int64_t plim::ir::elementBytes(Type element) {
  if (auto vector = dyn_cast<VectorType>(element)) {
    int64_t bits = vector.getElementType().isIndex() ? 64 : vector.getElementTypeBitWidth();
    return llvm::PowerOf2Ceil(llvm::divideCeil(vector.getNumElements() * bits, 8));
  }
  if (auto complex = dyn_cast<ComplexType>(element))
    return 2 * elementBytes(complex.getElementType());
  if (!element.isIntOrFloat())
    return 8;
  return llvm::PowerOf2Ceil(llvm::divideCeil(element.getIntOrFloatBitWidth(), 8));
}

bool plim::ir::isStorageFloat(Type type) { return isa<Float8E4M3FNType, Float8E5M2Type>(type); }

bool plim::ir::fillsItsBytes(Type element) {
  return element.isIntOrFloat() &&
         int64_t(element.getIntOrFloatBitWidth()) == 8 * elementBytes(element);
}

bool plim::ir::isInlineConstant(Attribute value, int64_t limit) {
  auto elements = dyn_cast_or_null<DenseElementsAttr>(value);
  return elements && !elements.empty() && fillsItsBytes(elements.getElementType()) &&
         elements.getNumElements() <= limit / elementBytes(elements.getElementType());
}

OpFoldResult CheckOp::fold(FoldAdaptor adaptor) {
  auto condition = dyn_cast_or_null<BoolAttr>(adaptor.getCondition());
  return condition && condition.getValue() ? getCondition() : Value();
}

bool plim::ir::isAssertion(Operation *op) { return isa<cf::AssertOp, RequireOp>(op); }

StringRef plim::ir::sourceName(Operation *op) {
  if (auto name = op->getAttrOfType<StringAttr>(sourceOpAttr))
    return name.getValue();
  // What upstream makes of an op on whole tensors has that op in it, at its own place.
  if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
    Block &body = *generic.getBody();
    if (body.getOperations().size() == 2 && body.front().getLoc() == op->getLoc())
      return body.front().getName().getStringRef();
  }
  return op->getName().getStringRef();
}

namespace {

struct EraseHolding : OpRewritePattern<RequireOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(RequireOp op, PatternRewriter &rewriter) const override {
    if (!matchPattern(op.getCondition(), m_One()))
      return failure();
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void RequireOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<EraseHolding>(context);
}

void RequireOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  effects.emplace_back(MemoryEffects::Write::get());
}
