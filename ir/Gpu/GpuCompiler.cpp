#include "ir/Gpu/GpuCompiler.h"

#include "ir/Analysis/Reductions.h"
#include "ir/Cleanup/Cleanup.h"
#include "ir/Codegen/MathPolynomials.h"
#include "ir/Conversion/Passes.h"
#include "ir/Conversion/StorageFloats.h"
#include "ir/Gpu/Emit.h"
#include "ir/Gpu/Kernels.h"
#include "ir/Pipelines/Pipelines.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVDialect.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace plim::ir;
using plim::targets::DeviceKind;

namespace {

/// Positions of 32 bits count a stride beyond the last element.
constexpr int64_t maxElementsOf32Bits = (int64_t(1) << 31) - (int64_t(1) << 25);

/// Before memory is chosen: nothing is written that the dispatch may not write.
void protectOperands(func::FuncOp function, unsigned outputs) {
  auto no = BoolAttr::get(function.getContext(), false);
  for (unsigned i = 0; i + outputs < function.getNumArguments(); ++i)
    if (isa<TensorType>(function.getArgumentTypes()[i]))
      function.setArgAttr(i, bufferization::BufferizationDialect::kWritableAttrName, no);
}

/// Gives each op a destination of its own. Ops that share a buffer cannot be one kernel: the next
/// but one would overwrite what the first has left.
void separateDestinations(func::FuncOp function) {
  SmallVector<tensor::EmptyOp> shared;
  function.walk([&](tensor::EmptyOp op) {
    if (!op->use_empty() && !op->hasOneUse())
      shared.push_back(op);
  });
  for (tensor::EmptyOp op : shared) {
    OpBuilder builder(op);
    for (OpOperand &use : llvm::make_early_inc_range(llvm::drop_begin(op->getUses())))
      use.set(builder.clone(*op)->getResult(0));
  }
}

LogicalResult bufferize(ModuleOp module) {
  bufferization::OneShotBufferizePassOptions options;
  options.bufferizeFunctionBoundaries = true;
  options.functionBoundaryTypeConversion = bufferization::LayoutMapOption::IdentityLayoutMap;
  options.unknownTypeConversion = bufferization::LayoutMapOption::IdentityLayoutMap;
  PassManager manager(module.getContext());
  manager.addPass(bufferization::createOneShotBufferizePass(options));
  addCleanup(manager);
  return manager.run(module);
}

/// Sums of narrow floats are taken in f32, as on the host.
void widenSums(func::FuncOp function) {
  SmallVector<linalg::LinalgOp> ops;
  function.walk([&](linalg::LinalgOp op) { ops.push_back(op); });
  unsigned widened = 0;
  for (linalg::LinalgOp op : ops)
    widenAccumulators(op, widened);
}

/// Does it compute with positions, or hold them in memory? Then they may be larger than any buffer.
bool computesWithIndices(func::FuncOp function) {
  auto holds = [](Type type) {
    auto memref = dyn_cast<MemRefType>(type);
    return memref && memref.getElementType().isIndex();
  };
  auto isSmall = [](Operation *op) {
    auto constant = dyn_cast_or_null<arith::ConstantOp>(op);
    auto value = constant ? dyn_cast<IntegerAttr>(constant.getValue()) : nullptr;
    return value && value.getValue().isSignedIntN(32);
  };
  WalkResult found = function.walk([&](Operation *op) {
    if (llvm::any_of(op->getOperandTypes(), holds) || llvm::any_of(op->getResultTypes(), holds))
      return WalkResult::interrupt();
    auto body = op->getParentOfType<linalg::LinalgOp>();
    if (!body || isa<memref::LoadOp>(op))
      return WalkResult::advance();
    const bool isKnown =
        isa<linalg::IndexOp, arith::IndexCastOp, arith::IndexCastUIOp>(op) || isSmall(op);
    auto isIndex = [](Type type) { return type.isIndex(); };
    if (!isKnown && llvm::any_of(op->getResultTypes(), isIndex))
      return WalkResult::interrupt();
    for (Value operand : op->getOperands())
      if (operand.getType().isIndex() && !operand.getDefiningOp<linalg::IndexOp>() &&
          !isSmall(operand.getDefiningOp()))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return found.wasInterrupted();
}

/// Leaves what both SPIR-V and PTX have: our own approximations in place of functions, bits in
/// place of floats that are only stored, results for what has none.
LogicalResult expandArithmetic(ModuleOp module) {
  for (gpu::GPUModuleOp each : module.getOps<gpu::GPUModuleOp>()) {
    PassManager manager(module.getContext(), gpu::GPUModuleOp::getOperationName());
    manager.addPass(createPlimDefineArithmetic());
    // Narrow floats are bits: each operation rounds what f32 gives.
    arith::ArithEmulateUnsupportedFloatsOptions narrow;
    narrow.sourceTypeStrs = {"bf16"};
    narrow.targetTypeStr = "f32";
    manager.addPass(arith::createArithEmulateUnsupportedFloats(narrow));
    if (failed(manager.run(each)))
      return failure();
    // Upstream lets what rounds and widens again go; the host rounds.
    each.walk([](Operation *op) {
      if (isa<arith::ExtFOp, arith::TruncFOp>(op))
        op->setAttr("fastmath",
                    arith::FastMathFlagsAttr::get(op->getContext(), arith::FastMathFlags::none));
    });
    expandStorageFloats(each);
    RewritePatternSet functions(module.getContext());
    populateMathF32ExpansionPatterns(functions, [](StringRef) { return true; });
    populateMathPolynomialPatterns(functions);
    populateExponentialPatterns(functions);
    math::populateExpansionPatterns(functions,
                                    {"sinh", "cosh", "tan", "asinh", "acosh", "atanh", "powf",
                                     "fpowi", "exp2", "exp2f", "rsqrt", "roundeven"});
    if (failed(applySoundPatterns(each, std::move(functions))))
      return failure();
    RewritePatternSet approximations(module.getContext());
    populateMathPolynomialPatterns(approximations);
    populateExponentialPatterns(approximations);
    populateMathPolynomialApproximationPatterns(approximations);
    arith::populateArithExpandOpsPatterns(approximations);
    arith::populateCeilFloorDivExpandOpsPatterns(approximations);
    arith::populateExpandBFloat16Patterns(approximations);
    if (failed(applySoundPatterns(each, std::move(approximations))))
      return failure();
    PassManager cleanup(module.getContext(), gpu::GPUModuleOp::getOperationName());
    addCleanup(cleanup.nestAny());
    if (failed(cleanup.run(each)))
      return failure();
  }
  return success();
}

KernelOptions optionsFor(const plim::targets::DeviceDescription &device, bool strict) {
  KernelOptions options;
  options.strict = strict;
  const int64_t size = std::clamp<int64_t>(device.maxWorkgroupSize, 1, options.workgroupSize);
  options.workgroupSize = static_cast<unsigned>(llvm::bit_floor(static_cast<uint64_t>(size)));
  // A multiprocessor has many at once.
  if (device.kind == DeviceKind::Cuda) {
    options.cores = std::max<int64_t>(device.cores, 1);
    options.maxWorkgroups = options.cores * 64;
    options.sharesBuffers = true;
    options.elementsAtOnce = 4;
    int architecture = 0;
    (void)StringRef(device.cpu)
        .drop_front(3)
        .take_while(llvm::isDigit)
        .getAsInteger(10, architecture);
    options.hasMatrixUnits = architecture >= 80;
    options.hasWarpgroupUnits = device.cpu == "sm_90a";
  }
  return options;
}

FailureOr<std::string> compile(ModuleOp module, StringRef name,
                               const plim::targets::DeviceDescription &device, bool strict) {
  auto function = module.lookupSymbol<func::FuncOp>(name);
  if (!function || function.isDeclaration())
    return module.emitError() << "it has no function '" << name << "'";
  if (device.kind == DeviceKind::Vulkan) {
    Operation *fma = nullptr;
    function.walk([&](math::FmaOp op) { fma = op; });
    if (fma)
      return fma->emitError() << "it has a math.fma, which Vulkan may round twice";
  }
  const unsigned outputs = function.getNumResults();
  protectOperands(function, outputs);
  if (!strict)
    widenSums(function);
  separateDestinations(function);
  if (failed(bufferize(module)))
    return failure();

  const bool isCuda = device.kind == DeviceKind::Cuda;
  const bool wideIndex = isCuda || computesWithIndices(function);
  if (wideIndex && !isCuda && !device.hasFeature("shaderInt64"))
    return function.emitError() << "it computes with indices, and the device has no shaderInt64";

  OpBuilder builder(module.getContext());
  OwningOpRef<ModuleOp> target = ModuleOp::create(builder, module.getLoc());
  builder.setInsertionPointToStart(target->getBody());
  auto kernelModule = gpu::GPUModuleOp::create(builder, module.getLoc(), "kernels");
  KernelOptions options = optionsFor(device, strict);
  if (!isCuda) // of 128 bytes of push constants the product has half
    options.maxJoinedRank = wideIndex ? 4 : 12;
  FailureOr<Kernels> kernels = writeKernels(function, outputs, kernelModule, options);
  if (failed(kernels) || failed(expandArithmetic(*target)))
    return failure();

  plim::devices::GpuCode code;
  code.kind = isCuda ? plim::devices::GpuCodeKind::Ptx : plim::devices::GpuCodeKind::Spirv;
  if (!isCuda)
    code.maxElements = maxElementsOf32Bits;
  code.arguments = kernels->arguments;
  code.temporaries = kernels->temporaries;
  for (Kernel &kernel : kernels->all) {
    plim::devices::GpuKernel &described = code.kernels.emplace_back();
    described.entry = kernel.function.getName().str();
    described.workgroupSize[0] = options.workgroupSize;
    described.buffers.assign(kernel.buffers.begin(), kernel.buffers.end());
    described.workgroups = kernel.workgroups;
    described.iterations = kernel.iterations;
    ArrayRef<Type> types = kernel.function.getArgumentTypes().drop_front(kernel.buffers.size());
    for (auto [number, type] : llvm::zip_equal(kernel.words, types)) {
      const unsigned bits = type.isIndex() ? (wideIndex ? 64 : 32) : type.getIntOrFloatBitWidth();
      described.words.push_back({number, bits});
    }
  }
  code.numbers = kernels->numbers.take();
  LogicalResult emitted = isCuda ? emitPtx(*target, *kernels, device, strict, code)
                                 : emitSpirv(*target, *kernels, device, wideIndex, code);
  if (failed(emitted))
    return failure();
  return encode(code);
}

} // namespace

bool plim::ir::isGpu(const targets::DeviceDescription &device) {
  return device.kind == DeviceKind::Cuda || device.kind == DeviceKind::Vulkan;
}

DeviceAnswer plim::ir::compileForGpu(const DeviceSource &dispatch,
                                     const targets::DeviceDescription &device, bool strict) {
  DialectRegistry registry;
  registerDialects(registry);
  registry.insert<gpu::GPUDialect, NVVM::NVVMDialect, spirv::SPIRVDialect>();
  registerNVVMDialectTranslation(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  context.printOpOnDiagnostic(false);
  std::string reason;
  ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    // The first says why; what follows are its consequences.
    if (reason.empty() && diagnostic.getSeverity() == DiagnosticSeverity::Error)
      reason = diagnostic.str();
  });
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(dispatch.text, ParserConfig(&context), dispatch.name);
  if (!module)
    return {DeviceAnswer::Failed, "its text is not read: " + reason};
  FailureOr<std::string> code = compile(*module, dispatch.name, device, strict);
  if (failed(code))
    return {DeviceAnswer::Refused, reason.empty() ? "it is not lowered" : reason};
  return {DeviceAnswer::Taken, std::move(*code)};
}
