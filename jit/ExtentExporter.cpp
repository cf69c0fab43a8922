#include "jit/ExtentExporter.h"

#include "ir/Conversion/Passes.h"

#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;

namespace plim::jit {

namespace {

Value either(OpBuilder &at, Location loc, Value one, Value other) {
  return one ? LLVM::OrOp::create(at, loc, one, other).getResult() : other;
}

Value compare(OpBuilder &at, Location loc, LLVM::ICmpPredicate how, Value left, int64_t right) {
  return LLVM::ICmpOp::create(at, loc, how, left, ir::constant64(at, loc, right));
}

/// What has to lie below a buffer, those of `order` that come before it, without those that lie
/// below one of these anyway.
SmallVector<size_t> below(const CallPlan &plan, size_t buffer) {
  auto conflict = [&](size_t one, size_t other) {
    const PlannedBuffer &a = plan.buffers[one], &b = plan.buffers[other];
    return a.lower < b.upper && b.lower < a.upper;
  };
  SmallVector<size_t> direct;
  for (size_t i = buffer; i-- > 0;)
    if (conflict(i, buffer) &&
        llvm::none_of(direct, [&](size_t between) { return conflict(i, between); }))
      direct.push_back(i);
  return direct;
}

} // namespace

int64_t ExtentExporter::mostBytes() { return isNarrow() ? INT32_MAX : int64_t(1) << 47; }

Value ExtentExporter::isNegative(OpBuilder &at, Value number) {
  return compare(at, loc, LLVM::ICmpPredicate::slt, number, 0);
}

Value ExtentExporter::product(OpBuilder &at, ArrayRef<Value> factors, int64_t times,
                              Value &isTooLarge) {
  Value all = ir::constant64(at, loc, times);
  Type pair = LLVM::LLVMStructType::getLiteral(module.getContext(), {word, at.getI1Type()});
  for (Value factor : factors)
    if (isNarrow()) {
      // Both are below 2^32, and what is too large stays so.
      all = LLVM::SMinOp::create(at, loc, LLVM::MulOp::create(at, loc, all, factor),
                                 ir::constant64(at, loc, mostBytes() + 1));
    } else {
      Value both = LLVM::SMulWithOverflowOp::create(at, loc, pair, all, factor);
      all = LLVM::ExtractValueOp::create(at, loc, both, 0);
      isTooLarge = either(at, loc, isTooLarge, LLVM::ExtractValueOp::create(at, loc, both, 1));
    }
  isTooLarge =
      either(at, loc, isTooLarge, compare(at, loc, LLVM::ICmpPredicate::sgt, all, mostBytes()));
  return all;
}

void ExtentExporter::refuseExtents(const ValueType &type, ArrayRef<Value> extents) {
  if (extents.empty())
    return;
  Value isWrong;
  SmallVector<Value> factors;
  int64_t known = elementBytes(type);
  for (const auto &[d, extent] : llvm::enumerate(type.shape)) {
    if (extent != -1) {
      known *= extent;
      continue;
    }
    Value open = extents[factors.size()];
    const ExtentBounds bounds = type.bounds.empty() ? ExtentBounds() : type.bounds[d];
    auto refuse = [&](LLVM::ICmpPredicate how, int64_t bound) {
      isWrong = either(builder, loc, isWrong, compare(builder, loc, how, open, bound));
    };
    refuse(LLVM::ICmpPredicate::slt, std::max<int64_t>(bounds.min, 0));
    refuse(LLVM::ICmpPredicate::sgt, std::min(bounds.max, mostBytes()));
    factors.push_back(open);
  }
  refuseIf(isWrong);
  Value isTooLarge;
  product(builder, factors, known, isTooLarge);
  refuseIf(isTooLarge);
}

Value ExtentExporter::sizesOf(const ValueType &type, ArrayRef<Value> open) {
  SmallVector<Value> sizes;
  for (int64_t extent : type.shape)
    if (extent == -1) {
      sizes.push_back(open.front());
      open = open.drop_front();
    } else {
      sizes.push_back(ir::constant64(builder, loc, extent));
    }
  return array(sizes);
}

Value ExtentExporter::roomOf(const ValueType &type, Value capacity) {
  refuseIf(isNegative(builder, capacity));
  Value most = ir::constant64(builder, loc, mostBytes()), isTooLarge;
  Value elements = LLVM::SMinOp::create(builder, loc, capacity, most);
  Value bytes = product(builder, elements, elementBytes(type), isTooLarge);
  return LLVM::SelectOp::create(builder, loc, isTooLarge, most, bytes);
}

void ExtentExporter::view(Value views, size_t index, Value data, Value sizes) {
  store(data, views, viewWords * int64_t(index));
  store(sizes, views, viewWords * int64_t(index) + 1);
  store(LLVM::ZeroOp::create(builder, loc, pointer), views, viewWords * int64_t(index) + 2);
}

void ExtentExporter::limitResults() {
  for (LLVM::CallOp call : callsOf("plim_rt_allocate_result")) {
    APInt index, rank;
    const bool isKnown = matchPattern(call.getOperand(1), m_ConstantInt(&index)) &&
                         matchPattern(call.getOperand(2), m_ConstantInt(&rank));
    assert(isKnown && "positions and ranks are constants");
    (void)isKnown;
    auto isOpen = [&](const FunctionSignature &function) {
      return index.ult(function.results.size()) &&
             llvm::is_contained(function.results[index.getZExtValue()].shape, -1);
    };
    if (llvm::none_of(artifact.functions, isOpen))
      continue;
    OpBuilder at(call);
    Value context = call.getOperand(0), given = call.getOperand(3);
    Value results = load(at, pointer, context, resultsOffset);
    auto slot = [&](Type type, ResultSlot which) {
      return load(at, type, results,
                  int32_t(wordBytes * (ResultSlots * index.getSExtValue() + which)));
    };
    Value sizes = slot(pointer, ResultSizes), isWrong, isTooLarge;
    SmallVector<Value> factors = {call.getOperand(4)};
    for (int32_t d = 0; d < int32_t(rank.getSExtValue()); ++d) {
      Value extent = load(at, word, given, wordBytes * d);
      ir::storeAt(at, loc, extent, sizes, wordBytes * d);
      isWrong = either(at, loc, isWrong, isNegative(at, extent));
      isWrong =
          either(at, loc, isWrong, compare(at, loc, LLVM::ICmpPredicate::sgt, extent, mostBytes()));
      factors.push_back(extent);
    }
    Value bytes = product(at, factors, 1, isTooLarge);
    isTooLarge = either(
        at, loc, isTooLarge,
        LLVM::ICmpOp::create(at, loc, LLVM::ICmpPredicate::sgt, bytes, slot(word, ResultRoom)));
    auto number = [&](int32_t value) -> Value {
      return LLVM::ConstantOp::create(at, loc, at.getI32IntegerAttr(value));
    };
    Value status =
        LLVM::SelectOp::create(at, loc, isTooLarge, number(resourceExhausted), number(0));
    if (isWrong)
      status = LLVM::SelectOp::create(at, loc, isWrong, number(invalidArgument), status);
    fail(at, context, status);
    Value isFine = LLVM::ICmpOp::create(at, loc, LLVM::ICmpPredicate::eq, status, number(0));
    Value memory = LLVM::SelectOp::create(at, loc, isFine, slot(pointer, ResultData),
                                          LLVM::ZeroOp::create(at, loc, pointer));
    call.getResult().replaceAllUsesWith(memory);
    call.erase();
  }
}

LLVM::LLVMFuncOp ExtentExporter::planOf(const FunctionSignature &signature) {
  const std::string symbol = "plim.plan." + signature.name;
  if (LLVM::LLVMFuncOp known = function(symbol))
    return known;
  const CallPlan &plan = signature.plan;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(module.getBody());
  auto made = LLVM::LLVMFuncOp::create(builder, loc, symbol,
                                       LLVM::LLVMFunctionType::get(word, {pointer, pointer}),
                                       LLVM::Linkage::Internal);
  symbols.insert(made);
  builder.setInsertionPointToStart(made.addEntryBlock(builder));
  SmallVector<Value> slots, extents;
  Value results = words(viewWords * plan.extentCount), context = words(exportContextBytes / 8);
  Value none = ir::constant64(builder, loc, 0);
  for (int64_t slot = 0; slot < exportContextBytes / wordBytes; ++slot)
    store(none, context, slot);
  for (int64_t i = 0; i < plan.extentCount; ++i) {
    slots.push_back(words(1));
    view(results, size_t(i), slots.back(), LLVM::ZeroOp::create(builder, loc, pointer));
  }
  // It cannot fail.
  LLVM::CallOp::create(builder, loc, function(ir::entryPrefix + plan.function),
                       ValueRange{context, made.getArgument(0), results});
  for (Value slot : slots)
    extents.push_back(load(builder, word, slot, 0));

  SmallVector<Value> ends;
  Value total = none;
  for (const auto &[i, buffer] : llvm::enumerate(plan.buffers)) {
    Value isWrong;
    SmallVector<Value> factors;
    for (uint32_t position : buffer.extents) {
      isWrong = either(builder, loc, isWrong, isNegative(builder, extents[position]));
      factors.push_back(LLVM::SMinOp::create(builder, loc, extents[position],
                                             ir::constant64(builder, loc, mostBytes() + 1)));
    }
    Value bytes = product(builder, factors, buffer.bytes, isWrong);
    // Whole multiples of the alignment, so that each begins at one.
    Value rounded = LLVM::AndOp::create(
        builder, loc,
        LLVM::AddOp::create(builder, loc, bytes, ir::constant64(builder, loc, plan.alignment - 1)),
        ir::constant64(builder, loc, -plan.alignment));
    rounded = LLVM::SelectOp::create(builder, loc, isWrong, none, rounded);
    Value offset = none;
    for (size_t lower : below(plan, i))
      offset = LLVM::SMaxOp::create(builder, loc, offset, ends[lower]);
    ends.push_back(LLVM::AddOp::create(builder, loc, offset, rounded));
    total = LLVM::SMaxOp::create(builder, loc, total, ends.back());
    // One without memory is a failure where the code comes to it.
    Value place =
        LLVM::SelectOp::create(builder, loc, isWrong, ir::constant64(builder, loc, -1), offset);
    store(place, made.getArgument(1), int64_t(i));
  }
  Value isTooLarge = compare(builder, loc, LLVM::ICmpPredicate::sgt, total, mostBytes());
  LLVM::ReturnOp::create(
      builder, loc,
      LLVM::SelectOp::create(builder, loc, isTooLarge, ir::constant64(builder, loc, -1), total)
          .getResult());
  return made;
}

Value ExtentExporter::planSlab(const FunctionSignature &signature, Value arguments, Value offsets) {
  return LLVM::CallOp::create(builder, loc, planOf(signature), ValueRange{arguments, offsets})
      .getResult();
}

void ExtentExporter::defineQuery(const FunctionSignature &signature) {
  if (!isSlabOpen(signature))
    return;
  SmallVector<Type> types;
  for (const ValueType &type : signature.arguments) {
    if (isQueried(type))
      types.push_back(typeOf(type));
    types.append(openExtents(type), word);
  }
  types.push_back(pointer);
  builder.setInsertionPointToEnd(module.getBody());
  auto query = LLVM::LLVMFuncOp::create(
      builder, loc, exportedSymbol(name, signature.name) + std::string(workspaceQuerySuffix),
      LLVM::LLVMFunctionType::get(code, types));
  query.setResultAttr(0, LLVM::LLVMDialect::getSExtAttrName(), builder.getUnitAttr());
  builder.setInsertionPointToStart(query.addEntryBlock(builder));
  Value out = query.getArguments().back(), null = LLVM::ZeroOp::create(builder, loc, pointer);
  refuseNull(out);
  auto next = query.getArguments().begin();
  Value arguments = words(viewWords * int64_t(signature.arguments.size()));
  for (const auto &[i, type] : llvm::enumerate(signature.arguments)) {
    if (!type.isShaped) {
      Value slot = words(1);
      if (isQueried(type)) {
        if (type.element == "index" && isNarrow())
          refuseWide(*next);
        LLVM::StoreOp::create(builder, loc, *next++, slot);
      } else {
        store(ir::constant64(builder, loc, 0), slot, 0);
      }
      view(arguments, i, slot, null);
      continue;
    }
    SmallVector<Value> open;
    for (size_t count = openExtents(type); count-- > 0;)
      open.push_back(*next++);
    refuseExtents(type, open);
    view(arguments, i, null, sizesOf(type, open));
  }
  Value total = planSlab(signature, arguments, words(int64_t(signature.plan.buffers.size())));
  refuseIf(isNegative(builder, total), resourceExhausted);
  Value bytes =
      LLVM::AddOp::create(builder, loc, total, ir::constant64(builder, loc, beyondPlan(signature)));
  if (isNarrow())
    bytes = LLVM::TruncOp::create(builder, loc, builder.getI32Type(), bytes);
  LLVM::StoreOp::create(builder, loc, bytes, out);
  LLVM::ReturnOp::create(
      builder, loc,
      LLVM::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0)).getResult());
}

} // namespace plim::jit
