#include "ir/Gpu/Emit.h"

#include "ir/Cleanup/Cleanup.h"

#include "mlir/Conversion/GPUToSPIRV/GPUToSPIRVPass.h"
#include "mlir/Conversion/MathToSPIRV/MathToSPIRVPass.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/Dialect/SPIRV/IR/TargetAndABI.h"
#include "mlir/Dialect/SPIRV/Transforms/Passes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/SPIRV/Serialization.h"

using namespace mlir;
using namespace plim::ir;

namespace {

/// Bytes of push constants that every device has.
constexpr unsigned maxWordBytes = 128;

struct Feature {
  StringLiteral name; // of a device's description
  SmallVector<spirv::Capability> capabilities;
};

const Feature features[] = {
    {"shaderFloat16", {spirv::Capability::Float16}},
    {"shaderFloat64", {spirv::Capability::Float64}},
    {"shaderInt16", {spirv::Capability::Int16}},
    {"shaderInt64", {spirv::Capability::Int64}},
    {"shaderInt8", {spirv::Capability::Int8}},
    {"storageBuffer16BitAccess", {spirv::Capability::StorageBuffer16BitAccess}},
    {"storageBuffer8BitAccess", {spirv::Capability::StorageBuffer8BitAccess}},
};

spirv::TargetEnvAttr environmentOf(const plim::targets::DeviceDescription &device,
                                   MLIRContext *context) {
  SmallVector<spirv::Capability> capabilities = {spirv::Capability::Shader};
  for (const Feature &feature : features)
    if (device.hasFeature(feature.name.str()))
      llvm::append_range(capabilities, feature.capabilities);
  const spirv::Extension extensions[] = {spirv::Extension::SPV_KHR_storage_buffer_storage_class,
                                         spirv::Extension::SPV_KHR_16bit_storage,
                                         spirv::Extension::SPV_KHR_8bit_storage};
  auto triple = spirv::VerCapExtAttr::get(spirv::Version::V_1_3, capabilities, extensions, context);
  return spirv::TargetEnvAttr::get(triple, spirv::getDefaultResourceLimits(context),
                                   spirv::ClientAPI::Vulkan);
}

Type withStorage(Type type, spirv::StorageClass storage) {
  auto memref = cast<MemRefType>(type);
  return MemRefType::get(memref.getShape(), memref.getElementType(), MemRefLayoutAttrInterface(),
                         spirv::StorageClassAttr::get(type.getContext(), storage));
}

/// The name of what says that the device can keep NaNs, infinities and the signs of zeros of such floats.
std::string keepsSpecialValues(int width) {
  return "shaderSignedZeroInfNanPreserveFloat" + std::to_string(width);
}

/// Upstream emulates what a device lacks, or narrows it: neither is what memory holds.
LogicalResult checkTypes(gpu::GPUFuncOp function, const plim::targets::DeviceDescription &device) {
  auto check = [&](Type type) -> StringRef {
    Type element = getElementTypeOrSelf(type);
    const bool isMemory = isa<MemRefType>(type);
    auto need = [&](StringRef feature) {
      return device.hasFeature(feature.str()) ? StringRef() : feature;
    };
    if (!element.isIntOrFloat())
      return {};
    const unsigned width = element.getIntOrFloatBitWidth();
    const bool isFloat = isa<FloatType>(element);
    StringRef lacks = width == 64   ? need(isFloat ? "shaderFloat64" : "shaderInt64")
                      : width == 16 ? need(isFloat ? "shaderFloat16" : "shaderInt16")
                      : width == 8  ? need("shaderInt8")
                                    : StringRef();
    if (lacks.empty() && isMemory && width == 16)
      lacks = need("storageBuffer16BitAccess");
    if (lacks.empty() && isMemory && width == 8)
      lacks = need("storageBuffer8BitAccess");
    return lacks;
  };
  StringRef lacks;
  for (Type type : function.getArgumentTypes())
    if (lacks.empty())
      lacks = check(type);
  function.walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (lacks.empty())
        lacks = check(type);
  });
  if (!lacks.empty())
    return function.emitError() << "the device has no " << lacks;
  return success();
}

/// Loops carry their values in variables: what upstream makes of a loop that does not run has no result.
void carryInVariables(gpu::GPUFuncOp function, bool wideIndex) {
  SmallVector<scf::ForOp> loops;
  function.walk([&](scf::ForOp loop) {
    if (loop.getNumResults() > 0)
      loops.push_back(loop);
  });
  for (scf::ForOp loop : loops) {
    ImplicitLocOpBuilder b(loop.getLoc(), loop);
    SmallVector<Value> variables;
    Value zero = arith::ConstantIndexOp::create(b, 0);
    auto load = [&](Value variable, Type type) -> Value {
      Value value = memref::LoadOp::create(b, variable, zero);
      if (type.isIndex())
        return arith::IndexCastOp::create(b, type, value);
      return type.isInteger(1) ? arith::TruncIOp::create(b, type, value).getResult() : value;
    };
    auto store = [&](Value value, Value variable) {
      if (value.getType().isInteger(1))
        value = arith::ExtUIOp::create(b, b.getI32Type(), value);
      if (value.getType().isIndex())
        value = arith::IndexCastOp::create(b, b.getIntegerType(wideIndex ? 64 : 32), value);
      memref::StoreOp::create(b, value, variable, zero);
    };
    for (Value init : loop.getInitArgs()) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(&function.getBody().front());
      Type held = init.getType();
      if (held.isInteger(1) || held.isIndex())
        held = b.getIntegerType(held.isIndex() && wideIndex ? 64 : 32);
      auto type = MemRefType::get(
          {1}, held, MemRefLayoutAttrInterface(),
          spirv::StorageClassAttr::get(b.getContext(), spirv::StorageClass::Function));
      variables.push_back(memref::AllocaOp::create(b, type));
    }
    for (auto [init, variable] : llvm::zip_equal(loop.getInitArgs(), variables))
      store(init, variable);
    auto plain = scf::ForOp::create(b, loop.getLowerBound(), loop.getUpperBound(), loop.getStep());
    Block *body = plain.getBody();
    body->getTerminator()->erase();
    b.setInsertionPointToStart(body);
    SmallVector<Value> arguments = {plain.getInductionVar()};
    for (auto [init, variable] : llvm::zip_equal(loop.getInitArgs(), variables))
      arguments.push_back(load(variable, init.getType()));
    auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
    IRRewriter rewriter(b);
    rewriter.mergeBlocks(loop.getBody(), body, arguments);
    b.setInsertionPoint(yield);
    for (auto [value, variable] : llvm::zip_equal(yield.getOperands(), variables))
      store(value, variable);
    scf::YieldOp::create(b);
    yield.erase();
    b.setInsertionPointAfter(plain);
    for (auto [result, variable] : llvm::zip_equal(loop.getResults(), variables))
      result.replaceAllUsesWith(load(variable, result.getType()));
    loop.erase();
  }
}

/// Gives arguments their storage, and makes push constants of words.
LogicalResult prepare(const Kernel &kernel, const plim::targets::DeviceDescription &device,
                      bool wideIndex) {
  gpu::GPUFuncOp function = kernel.function;
  if (failed(checkTypes(function, device)))
    return failure();
  MLIRContext *context = function.getContext();
  Block &entry = function.getBody().front();
  ImplicitLocOpBuilder b(function.getLoc(), context);
  b.setInsertionPointToStart(&entry);
  carryInVariables(function, wideIndex);
  const size_t buffers = kernel.buffers.size();
  for (BlockArgument argument : entry.getArguments().take_front(buffers))
    argument.setType(withStorage(argument.getType(), spirv::StorageClass::StorageBuffer));
  function.walk([&](memref::AllocOp op) {
    op.getResult().setType(
        cast<MemRefType>(withStorage(op.getType(), spirv::StorageClass::Workgroup)));
  });

  SmallVector<BlockArgument> words = llvm::to_vector(entry.getArguments().drop_front(buffers));
  auto isWide = [&](Type type) { return type.isInteger(64) || (wideIndex && type.isIndex()); };
  int64_t count = 0;
  for (BlockArgument word : words)
    count += isWide(word.getType()) ? 2 : 1;
  if (count * 4 > int64_t(maxWordBytes))
    return function.emitError() << "it has more sizes than a launch hands over";
  if (count > 0) {
    auto type =
        MemRefType::get({count}, b.getI32Type(), MemRefLayoutAttrInterface(),
                        spirv::StorageClassAttr::get(context, spirv::StorageClass::PushConstant));
    Value all = entry.addArgument(type, function.getLoc());
    int64_t next = 0;
    auto load = [&] {
      Value at = arith::ConstantIndexOp::create(b, next++);
      return memref::LoadOp::create(b, all, at).getResult();
    };
    for (BlockArgument word : words) {
      Value value = load();
      if (isWide(word.getType())) {
        Value low = arith::ExtUIOp::create(b, b.getI64Type(), value);
        Value high = arith::ExtUIOp::create(b, b.getI64Type(), load());
        Value by = arith::ConstantOp::create(b, b.getI64IntegerAttr(32));
        value = arith::OrIOp::create(b, arith::ShLIOp::create(b, high, by).getResult(), low);
      }
      if (word.getType().isIndex())
        value = arith::IndexCastOp::create(b, b.getIndexType(), value);
      word.replaceAllUsesWith(value);
    }
  }
  entry.eraseArguments(buffers, words.size());
  function.setFunctionType(FunctionType::get(context, entry.getArgumentTypes(), {}));
  const ArrayRef<int32_t> size = *function.getKnownBlockSize();
  function->setAttr(spirv::getEntryPointABIAttrName(), spirv::getEntryPointABIAttr(context, size));
  return success();
}

/// Upstream gives push constants a binding, which Vulkan does not allow.
void unbindPushConstants(spirv::ModuleOp module) {
  module.walk([](spirv::GlobalVariableOp variable) {
    if (cast<spirv::PointerType>(variable.getType()).getStorageClass() ==
        spirv::StorageClass::PushConstant) {
      variable->removeAttr("binding");
      variable->removeAttr("descriptor_set");
    }
  });
}

/// Drivers may fuse products and sums, and undo what rounds on purpose, unless an operation says otherwise.
void keepRounding(spirv::ModuleOp module) {
  module.walk([](Operation *op) {
    if (isa<spirv::FAddOp, spirv::FSubOp, spirv::FMulOp, spirv::FDivOp, spirv::FNegateOp>(op))
      op->setAttr("no_contraction", UnitAttr::get(op->getContext()));
  });
}

/// Drivers may take floats for finite, and any zero for another, unless an entry point says otherwise.
void keepSpecialValues(spirv::ModuleOp module, const plim::targets::DeviceDescription &device,
                       plim::devices::GpuCode &code) {
  spirv::VerCapExtAttr has = *module.getVceTriple();
  SmallVector<spirv::Capability> capabilities = llvm::to_vector(has.getCapabilities());
  SmallVector<spirv::Extension> extensions = llvm::to_vector(has.getExtensions());
  SmallVector<int32_t> widths;
  for (auto [width, needs] : {std::pair(16, spirv::Capability::Float16),
                              {32, spirv::Capability::Shader},
                              {64, spirv::Capability::Float64}})
    if (llvm::is_contained(capabilities, needs) && device.hasFeature(keepsSpecialValues(width))) {
      widths.push_back(width);
      code.features.push_back(keepsSpecialValues(width));
    }
  if (widths.empty())
    return;
  ImplicitLocOpBuilder b(module.getLoc(), module.getContext());
  b.setInsertionPointToEnd(module.getBody());
  for (spirv::EntryPointOp entry : module.getOps<spirv::EntryPointOp>())
    for (int32_t width : widths)
      spirv::ExecutionModeOp::create(
          b, entry.getFnAttr(),
          spirv::ExecutionModeAttr::get(b.getContext(),
                                        spirv::ExecutionMode::SignedZeroInfNanPreserve),
          b.getI32ArrayAttr({width}));
  capabilities.push_back(spirv::Capability::SignedZeroInfNanPreserve);
  extensions.push_back(spirv::Extension::SPV_KHR_float_controls);
  module.setVceTripleAttr(
      spirv::VerCapExtAttr::get(has.getVersion(), capabilities, extensions, b.getContext()));
}

} // namespace

LogicalResult plim::ir::emitSpirv(ModuleOp module, const Kernels &kernels,
                                  const targets::DeviceDescription &device, bool wideIndex,
                                  devices::GpuCode &code) {
  if (kernels.all.empty())
    return success();
  MLIRContext *context = module.getContext();
  for (const Kernel &kernel : kernels.all)
    if (failed(prepare(kernel, device, wideIndex)))
      return failure();
  module->setAttr(spirv::getTargetEnvAttrName(), environmentOf(device, context));

  PassManager manager(context);
  manager.addNestedPass<gpu::GPUModuleOp>(createConvertMathToSPIRVPass());
  std::unique_ptr<Pass> conversion = createConvertGPUToSPIRVPass(/*mapMemorySpace=*/false);
  auto refuse = [](const Twine &) { return failure(); };
  if (wideIndex && failed(conversion->initializeOptions("use-64bit-index=true", refuse)))
    return module.emitError() << "indices of 64 bits are not known";
  manager.addPass(std::move(conversion));
  OpPassManager &words = manager.nest<spirv::ModuleOp>();
  words.addPass(spirv::createSPIRVLowerABIAttributesPass());
  addCleanup(words);
  words.addPass(spirv::createSPIRVUpdateVCEPass());
  if (failed(manager.run(module)))
    return failure();

  spirv::ModuleOp made = *module.getOps<spirv::ModuleOp>().begin();
  unbindPushConstants(made);
  keepRounding(made);
  keepSpecialValues(made, device, code);
  SmallVector<uint32_t> binary;
  if (failed(spirv::serialize(made, binary)))
    return failure();
  for (spirv::Capability capability : made.getVceTriple()->getCapabilities())
    for (const Feature &feature : features)
      if (llvm::is_contained(feature.capabilities, capability))
        code.features.push_back(feature.name.str());
  code.modules.emplace_back(reinterpret_cast<const char *>(binary.data()),
                            binary.size() * sizeof(uint32_t));
  return success();
}
