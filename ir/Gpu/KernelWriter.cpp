#include "ir/Gpu/KernelWriter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace plim::ir;

Type plim::ir::storedType(Type element) {
  Builder b(element.getContext());
  if (element.isIndex())
    return b.getI64Type();
  if (!element.isIntOrFloat())
    return {};
  if (element.isInteger(1))
    return b.getI8Type();
  if (isa<BFloat16Type, Float8E4M3FNType, Float8E5M2Type>(element))
    return b.getIntegerType(element.getIntOrFloatBitWidth());
  const bool isKnown = element.isF16() || element.isF32() || element.isF64() ||
                       (element.isSignlessInteger() &&
                        llvm::is_contained({8u, 16u, 32u, 64u}, element.getIntOrFloatBitWidth()));
  return isKnown ? element : Type();
}

KernelWriter::KernelWriter(gpu::GPUModuleOp module, Location loc, Numbers &numbers,
                           unsigned workgroupSize)
    : numbers(numbers), b(loc, module.getContext()), size(workgroupSize) {
  b.setInsertionPointToEnd(module.getBody());
  const auto count =
      std::distance(module.getOps<gpu::GPUFuncOp>().begin(), module.getOps<gpu::GPUFuncOp>().end());
  function = gpu::GPUFuncOp::create(b, "kernel" + std::to_string(count), b.getFunctionType({}, {}));
  function->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
  function.setKnownBlockSize(ArrayRef<int32_t>{static_cast<int32_t>(workgroupSize), 1, 1});
  b.setInsertionPointToStart(&function.getBody().front());
}

Value KernelWriter::index(int64_t value) { return arith::ConstantIndexOp::create(b, value); }

Value KernelWriter::argument(Type type) {
  return function.getBody().front().addArgument(type, b.getLoc());
}

Value KernelWriter::word(Number number) {
  if (std::optional<int64_t> known = numbers.constantOf(number))
    return index(*known);
  Value &value = wordArguments[{number, b.getIndexType()}];
  if (!value)
    value = argument(b.getIndexType());
  return value;
}

Value KernelWriter::scalar(unsigned position, Type type) {
  if (type.isIndex())
    return word(numbers.scalar(position));
  const unsigned width = type.getIntOrFloatBitWidth();
  auto carried = b.getIntegerType(width <= 32 ? 32 : 64), own = b.getIntegerType(width);
  Value &value = wordArguments[{numbers.scalar(position), carried}];
  if (!value)
    value = argument(carried);
  Value bits = carried == own ? value : arith::TruncIOp::create(b, own, value).getResult();
  return own == type ? bits : arith::BitcastOp::create(b, type, bits).getResult();
}

Value KernelWriter::threadId() { return gpu::ThreadIdOp::create(b, gpu::Dimension::x); }
Value KernelWriter::workgroupId() { return gpu::BlockIdOp::create(b, gpu::Dimension::x); }
Value KernelWriter::workgroups() { return gpu::GridDimOp::create(b, gpu::Dimension::x); }

Value KernelWriter::buffer(unsigned position, Type element) {
  Value &value = bufferArguments[position];
  if (!value)
    value = argument(MemRefType::get({ShapedType::kDynamic}, storedType(element)));
  return value;
}

Value KernelWriter::position(const View &view, ValueRange indices) {
  Value sum;
  auto add = [&](Value term) {
    sum = sum ? arith::AddIOp::create(b, sum, term).getResult() : term;
  };
  if (!numbers.isConstant(view.offset, 0))
    add(word(view.offset));
  for (auto [at, stride, extent] : llvm::zip_equal(indices, view.strides, view.sizes)) {
    // There is one place in such a dimension.
    if (numbers.isConstant(extent, 1))
      continue;
    add(numbers.isConstant(stride, 1) ? Value(at)
                                      : arith::MulIOp::create(b, at, word(stride)).getResult());
  }
  return sum ? sum : index(0);
}

Value KernelWriter::fromStored(Value value, Type element) {
  if (value.getType() == element)
    return value;
  if (element.isIndex())
    return arith::IndexCastOp::create(b, element, value);
  if (element.isInteger(1)) {
    Value zero = arith::ConstantOp::create(b, b.getZeroAttr(value.getType()));
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, value, zero);
  }
  return arith::BitcastOp::create(b, element, value);
}

Value KernelWriter::toStored(Value value) {
  Type type = value.getType(), stored = storedType(type);
  if (type == stored)
    return value;
  if (type.isIndex())
    return arith::IndexCastOp::create(b, stored, value);
  if (type.isInteger(1))
    return arith::ExtUIOp::create(b, stored, value);
  return arith::BitcastOp::create(b, stored, value);
}

Value KernelWriter::load(const View &view, ValueRange indices) {
  loads.insert(view.buffer);
  Value memory = buffer(view.buffer, view.element);
  return fromStored(memref::LoadOp::create(b, memory, position(view, indices)), view.element);
}

void KernelWriter::store(Value value, const View &view, ValueRange indices) {
  stores.insert(view.buffer);
  Value memory = buffer(view.buffer, view.element);
  memref::StoreOp::create(b, toStored(value), memory, position(view, indices));
}

Value KernelWriter::valueIf(Value condition, Type type, llvm::function_ref<Value()> value) {
  auto choice = scf::IfOp::create(b, type, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  scf::YieldOp::create(b, value());
  b.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(b, ValueRange(arith::ConstantOp::create(b, b.getZeroAttr(type))));
  return choice.getResult(0);
}

Value KernelWriter::workgroupMemory(Type element, int64_t count) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&function.getBody().front());
  auto space = gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
  return memref::AllocOp::create(
      b, MemRefType::get({count}, storedType(element), MemRefLayoutAttrInterface(), space));
}

Value KernelWriter::loadShared(Value memory, Type element, Value at) {
  return fromStored(memref::LoadOp::create(b, memory, at), element);
}

void KernelWriter::storeShared(Value value, Value memory, Value at) {
  memref::StoreOp::create(b, toStored(value), memory, at);
}

Value KernelWriter::address(const View &view, ValueRange indices, unsigned space) {
  loads.insert(view.buffer);
  return sharedAddress(buffer(view.buffer, view.element), position(view, indices), space);
}

Value KernelWriter::behind(Value pointer, Type element, Value count) {
  Value offset = arith::IndexCastOp::create(b, b.getI64Type(), count);
  return LLVM::GEPOp::create(b, pointer.getType(), storedType(element), pointer,
                             ArrayRef<LLVM::GEPArg>{offset});
}

Value KernelWriter::sharedAddress(Value memory, Value at, unsigned space) {
  return UnrealizedConversionCastOp::create(b, LLVM::LLVMPointerType::get(b.getContext(), space),
                                            ValueRange{memory, at})
      .getResult(0);
}

void KernelWriter::barrier() { gpu::BarrierOp::create(b); }

void KernelWriter::forStrided(Value first, Value step, Number total,
                              llvm::function_ref<void(Value)> body) {
  auto loop = scf::ForOp::create(b, first, word(total), step);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

void KernelWriter::forStrided(Value first, Value step, Number total, unsigned count,
                              llvm::function_ref<void(ArrayRef<Value>)> body) {
  if (count == 1)
    return forStrided(first, step, total, [&](Value position) { body(position); });
  // Of the position the last one of a group is below the total for as many groups as there are whole ones.
  Value reach = arith::MulIOp::create(b, step, index(count - 1)),
        groupStep = arith::MulIOp::create(b, step, index(count));
  Value end = word(total);
  Value limit = arith::SubIOp::create(b, end, arith::MinUIOp::create(b, end, reach));
  auto groups = scf::ForOp::create(b, first, limit, groupStep, ValueRange(first));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(groups.getBody());
    SmallVector<Value> positions{groups.getInductionVar()};
    while (positions.size() < count)
      positions.push_back(arith::AddIOp::create(b, positions.back(), step));
    body(positions);
    Value next = arith::AddIOp::create(b, groups.getInductionVar(), groupStep);
    scf::YieldOp::create(b, next);
  }
  forStrided(groups.getResult(0), step, total, [&](Value position) { body(position); });
}

void KernelWriter::forEachInvocation(Number total, llvm::function_ref<void(Value)> body) {
  forEachInvocation(total, 1, [&](ArrayRef<Value> positions) { body(positions[0]); });
}

void KernelWriter::forEachInvocation(Number total, unsigned count,
                                     llvm::function_ref<void(ArrayRef<Value>)> body) {
  Value invocations = index(size);
  Value first = arith::AddIOp::create(
      b, arith::MulIOp::create(b, workgroupId(), invocations).getResult(), threadId());
  forStrided(first, arith::MulIOp::create(b, workgroups(), invocations), total, count, body);
}

void KernelWriter::forEachInWorkgroup(Number total, unsigned count,
                                      llvm::function_ref<void(ArrayRef<Value>)> body) {
  forStrided(threadId(), index(size), total, count, body);
}

void KernelWriter::forEachWorkgroup(Number total, llvm::function_ref<void(Value)> body) {
  forStrided(workgroupId(), workgroups(), total, body);
}

SmallVector<Value> KernelWriter::delinearize(Value position, ArrayRef<Number> sizes) {
  SmallVector<Value> indices(sizes.size());
  // Extents of one have no part in it; the slowest of the others gets what is left.
  std::optional<size_t> slowest;
  for (size_t i = sizes.size(); i-- > 0;)
    if (!numbers.isConstant(sizes[i], 1))
      slowest = i;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (numbers.isConstant(sizes[i], 1)) {
      indices[i] = index(0);
    } else if (i == slowest) {
      indices[i] = position;
    } else {
      Value extent = word(sizes[i]);
      indices[i] = arith::RemUIOp::create(b, position, extent);
      position = arith::DivUIOp::create(b, position, extent);
    }
  }
  return indices;
}

Kernel KernelWriter::finish(Number workgroups, Number iterations) {
  b.setInsertionPointToEnd(&function.getBody().front());
  gpu::ReturnOp::create(b);
  // Buffers first.
  Block &entry = function.getBody().front();
  Kernel kernel{function, {}, {}, workgroups, iterations};
  SmallVector<Value> order;
  for (auto &[position, value] : bufferArguments) {
    kernel.buffers.push_back(position);
    order.push_back(value);
  }
  for (auto &[key, value] : wordArguments) {
    kernel.words.push_back(key.first);
    order.push_back(value);
  }
  SmallVector<Type> types;
  const unsigned count = entry.getNumArguments();
  for (Value old : order) {
    types.push_back(old.getType());
    old.replaceAllUsesWith(entry.addArgument(old.getType(), old.getLoc()));
  }
  entry.eraseArguments(0, count);
  function.setFunctionType(b.getFunctionType(types, {}));
  return kernel;
}
