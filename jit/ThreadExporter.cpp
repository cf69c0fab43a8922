#include "jit/ThreadExporter.h"

#include "ir/Conversion/Passes.h"
#include "ir/Plim/Plim.h"

#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;

namespace plim::jit {

void ThreadExporter::callDispatches() {
  constexpr StringLiteral descriptor = "plim.descriptor.";
  for (LLVM::CallOp call : callsOf("plim_rt_scratch")) {
    APInt bytes;
    if (matchPattern(call.getOperand(1), m_ConstantInt(&bytes)))
      threadScratchBytes =
          std::max(threadScratchBytes,
                   int64_t(llvm::alignTo(bytes.getZExtValue(), ir::abi::bufferAlignment)));
  }
  for (LLVM::CallOp call : callsOf("plim_rt_dispatch")) {
    OpBuilder at(call);
    StringRef dispatch = call.getOperand(1).getDefiningOp<LLVM::AddressOfOp>().getGlobalName();
    dispatch.consume_front(descriptor);
    Value context = call.getOperand(0), bindings = call.getOperand(2), scalars = call.getOperand(3);
    // A constant behind inlining, where extents are known.
    Value count =
        LLVM::CallOp::create(at, call.getLoc(), function(ir::countPrefix + dispatch), scalars)
            .getResult();
    // Where its scratch is, for those in the slab.
    auto scratch = call->getAttrOfType<IntegerAttr>(ir::scratchOffsetAttr);
    ir::storeAt(at, call.getLoc(),
                scratch ? ir::constant64(at, call.getLoc(), scratch.getInt())
                        : load(at, word, context, slabEndOffset),
                context, scratchOffset);
    Value status;
    if (device.cores > 1 && !isAlone(dispatch)) {
      status = LLVM::CallOp::create(at, call.getLoc(), parallelOf(dispatch),
                                    ValueRange{context, bindings, scalars, count})
                   .getResult();
    } else {
      Value begin = ir::constant64(at, call.getLoc(), 0);
      status = LLVM::CallOp::create(at, call.getLoc(), function(ir::dispatchPrefix + dispatch),
                                    ValueRange{context, bindings, scalars, begin, count})
                   .getResult();
    }
    call.getResult().replaceAllUsesWith(status);
    call.erase();
  }
}

bool ThreadExporter::isAlone(StringRef dispatch) {
  // The entry calls what counts.
  LLVM::LLVMFuncOp counting = function(ir::countPrefix + dispatch);
  while (counting && llvm::hasSingleElement(counting.getBody())) {
    Value result = counting.getBody().front().getTerminator()->getOperand(0);
    APInt count;
    if (matchPattern(result, m_ConstantInt(&count)))
      return count.ule(1);
    auto call = result.getDefiningOp<LLVM::CallOp>();
    counting = call && call.getCallee() ? function(*call.getCallee()) : nullptr;
  }
  return false;
}

LLVM::LLVMFuncOp ThreadExporter::begin(const std::string &symbol, Type result,
                                       ArrayRef<Type> types) {
  builder.setInsertionPointToEnd(module.getBody());
  auto made =
      LLVM::LLVMFuncOp::create(builder, loc, symbol, LLVM::LLVMFunctionType::get(result, types));
  symbols.insert(made);
  builder.setInsertionPointToStart(made.addEntryBlock(builder));
  return made;
}

Value ThreadExporter::threadsField(Value threads, int32_t field) {
  Value place =
      LLVM::GEPOp::create(builder, loc, pointer, pointer, threads, ArrayRef<LLVM::GEPArg>{field});
  return LLVM::LoadOp::create(builder, loc, pointer, place);
}

/// i32 (argument, thread, begin, end), which the program calls: with a context of its own, whose
/// slab is the scratch of the thread.
LLVM::LLVMFuncOp ThreadExporter::workOf(StringRef dispatch) {
  Type size = builder.getIntegerType(ir::indexBits(module));
  LLVM::LLVMFuncOp made = begin(("plim.work." + dispatch).str(), code, {pointer, size, word, word});
  SmallVector<Value> given;
  for (int32_t slot = 0; slot < 3; ++slot)
    given.push_back(load(builder, pointer, made.getArgument(0), wordBytes * slot));
  Value context = words(exportContextBytes / wordBytes);
  for (int32_t offset = 0; offset < exportContextBytes; offset += wordBytes)
    ir::storeAt(builder, loc, load(builder, word, given[0], offset), context, offset);
  ir::storeAt(builder, loc, LLVM::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0)),
              context, ir::abi::contextStatusOffset);
  if (threadScratchBytes > 0) {
    Value thread = made.getArgument(1);
    if (isNarrow())
      thread = LLVM::ZExtOp::create(builder, loc, word, thread);
    Value offset =
        LLVM::MulOp::create(builder, loc, thread, ir::constant64(builder, loc, threadScratchBytes));
    Value threads = load(builder, pointer, given[0], threadsOffset);
    ir::storeAt(builder, loc, threadsField(threads, 2), context, ir::abi::contextWorkspaceOffset);
    ir::storeAt(builder, loc, offset, context, scratchOffset);
  }
  Value status = LLVM::CallOp::create(builder, loc, function(ir::dispatchPrefix + dispatch),
                                      ValueRange{context, given[1], given[2], made.getArgument(2),
                                                 made.getArgument(3)})
                     .getResult();
  LLVM::ReturnOp::create(builder, loc, status);
  return made;
}

LLVM::LLVMFuncOp ThreadExporter::parallelOf(StringRef dispatch) {
  const std::string symbol = (parallelPrefix + dispatch).str();
  if (LLVM::LLVMFuncOp known = function(symbol))
    return known;
  LLVM::LLVMFuncOp work = workOf(dispatch);
  LLVM::LLVMFuncOp made = begin(symbol, code, {pointer, pointer, pointer, word});
  Value context = made.getArgument(0), count = made.getArgument(3);
  Value threads = load(builder, pointer, context, threadsOffset);
  Value isAlone =
      LLVM::OrOp::create(builder, loc,
                         LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq, threads,
                                              LLVM::ZeroOp::create(builder, loc, pointer)),
                         LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::sle, count,
                                              ir::constant64(builder, loc, 1)));
  Block *straight = new Block, *shared = new Block;
  made.getBody().push_back(straight);
  made.getBody().push_back(shared);
  LLVM::CondBrOp::create(builder, loc, isAlone, straight, shared);
  builder.setInsertionPointToEnd(straight);
  Value status = LLVM::CallOp::create(builder, loc, function(ir::dispatchPrefix + dispatch),
                                      ValueRange{context, made.getArgument(1), made.getArgument(2),
                                                 ir::constant64(builder, loc, 0), count})
                     .getResult();
  LLVM::ReturnOp::create(builder, loc, status);
  builder.setInsertionPointToEnd(shared);
  Value argument = array({context, made.getArgument(1), made.getArgument(2)});
  auto type = LLVM::LLVMFunctionType::get(code, {pointer, pointer, pointer, word});
  Value ran = LLVM::CallOp::create(builder, loc, type,
                                   ValueRange{threadsField(threads, 1), threadsField(threads, 0),
                                              LLVM::AddressOfOp::create(builder, loc, work),
                                              argument, count})
                  .getResult();
  fail(builder, context, ran);
  LLVM::ReturnOp::create(builder, loc, ran);
  return made;
}

} // namespace plim::jit
