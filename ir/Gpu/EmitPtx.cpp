#include "ir/Gpu/Emit.h"

#include "ir/Cleanup/Cleanup.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <mutex>

using namespace mlir;
using namespace plim::ir;

extern "C" {
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

namespace {

constexpr unsigned globalSpace = 1, sharedSpace = 3;
/// More workgroup memory than that can only be asked for by a launch.
constexpr int64_t maxDeclaredBytes = 48 * 1024;

/// One kernel as a function of LLVM's dialect.
class FunctionWriter {
public:
  FunctionWriter(gpu::GPUFuncOp source, ModuleOp module)
      : module(module), source(source), b(source.getLoc(), source.getContext()) {}

  /// Returns how many bytes of workgroup memory a launch has to give.
  uint32_t write() {
    Block &entry = source.getBody().front();
    b.setInsertionPointToStart(&entry);
    replaceArguments(entry);
    int64_t bytes = 0;
    source.walk([&](memref::AllocOp alloc) { bytes += bytesOf(alloc); });
    isDynamic = bytes > maxDeclaredBytes;
    SmallVector<Operation *> ops;
    source.walk([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : ops) {
      b.setInsertionPoint(op);
      replace(op);
    }
    for (memref::AllocOp alloc : allocations)
      alloc.erase();
    entry.eraseArguments(0, oldArguments);
    moveBody(entry);
    return dynamicBytes;
  }

private:
  void replaceArguments(Block &entry) {
    oldArguments = entry.getNumArguments();
    for (unsigned i = 0; i < oldArguments; ++i) {
      BlockArgument old = entry.getArgument(i);
      if (isa<MemRefType>(old.getType())) {
        auto pointer = LLVM::LLVMPointerType::get(b.getContext(), globalSpace);
        pointers[old] = entry.addArgument(pointer, old.getLoc());
      } else if (old.getType().isIndex()) {
        Value word = entry.addArgument(b.getI64Type(), old.getLoc());
        old.replaceAllUsesWith(arith::IndexCastOp::create(b, b.getIndexType(), word));
      } else {
        old.replaceAllUsesWith(entry.addArgument(old.getType(), old.getLoc()));
      }
    }
  }

  void replace(Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](memref::AllocOp alloc) { share(alloc); })
        .Case([&](memref::LoadOp load) {
          Value address = addressOf(load.getMemRef(), load.getIndices()[0]);
          replaceBy(op, LLVM::LoadOp::create(b, load.getType(), address));
        })
        .Case([&](memref::StoreOp store) {
          Value address = addressOf(store.getMemRef(), store.getIndices()[0]);
          LLVM::StoreOp::create(b, store.getValueToStore(), address);
          op->erase();
        })
        .Case([&](UnrealizedConversionCastOp address) {
          replaceBy(op, addressOf(address.getOperand(0), address.getOperand(1)));
        })
        .Case([&](gpu::ThreadIdOp) { read<NVVM::ThreadIdXOp>(op); })
        .Case([&](gpu::BlockIdOp) { read<NVVM::BlockIdXOp>(op); })
        .Case([&](gpu::GridDimOp) { read<NVVM::GridDimXOp>(op); })
        .Case([&](gpu::BarrierOp) {
          NVVM::Barrier0Op::create(b);
          op->erase();
        })
        .Case([&](gpu::ReturnOp) {
          LLVM::ReturnOp::create(b, ValueRange());
          op->erase();
        });
  }

  void replaceBy(Operation *op, Value value) {
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
  }

  template <typename RegisterT> void read(Operation *op) {
    Value number = RegisterT::create(b, b.getI32Type());
    replaceBy(op, arith::IndexCastUIOp::create(b, b.getIndexType(), number));
  }

  Value addressOf(Value memref, Value index) {
    Value base = pointers.lookup(memref);
    Value at = arith::IndexCastOp::create(b, b.getI64Type(), index);
    return LLVM::GEPOp::create(b, base.getType(),
                               cast<MemRefType>(memref.getType()).getElementType(), base,
                               ArrayRef<LLVM::GEPArg>{at}, LLVM::GEPNoWrapFlags::inbounds);
  }

  static int64_t bytesOf(memref::AllocOp alloc) {
    return alloc.getType().getDimSize(0) * alloc.getType().getElementTypeBitWidth() / 8;
  }

  /// All of it is behind one symbol, which has no size of its own.
  void shareDynamic(memref::AllocOp alloc) {
    constexpr unsigned alignment = 1024; // what a swizzle of 128 bytes repeats in
    const StringRef name = "workgroup_memory";
    auto global = module.lookupSymbol<LLVM::GlobalOp>(name);
    if (!global) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(module.getBody());
      global = LLVM::GlobalOp::create(b, LLVM::LLVMArrayType::get(b.getI8Type(), 0),
                                      /*isConstant=*/false, LLVM::Linkage::External, name,
                                      Attribute(), alignment, sharedSpace);
    }
    Value base = LLVM::AddressOfOp::create(b, global);
    pointers[alloc] =
        LLVM::GEPOp::create(b, base.getType(), b.getI8Type(), base,
                            ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(dynamicBytes)});
    allocations.push_back(alloc);
    dynamicBytes += static_cast<uint32_t>(llvm::alignTo(uint64_t(bytesOf(alloc)), alignment));
  }

  void share(memref::AllocOp alloc) {
    if (isDynamic)
      return shareDynamic(alloc);
    auto array = LLVM::LLVMArrayType::get(alloc.getType().getElementType(),
                                          unsigned(alloc.getType().getDimSize(0)));
    LLVM::GlobalOp global;
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(module.getBody());
      const std::string name = (source.getName() + ".shared" + Twine(allocations.size())).str();
      global = LLVM::GlobalOp::create(b, array, /*isConstant=*/false, LLVM::Linkage::Internal, name,
                                      Attribute(), /*alignment=*/16, sharedSpace);
      // What it holds first is nothing: other initial values have no meaning there.
      b.createBlock(&global.getInitializerRegion());
      LLVM::ReturnOp::create(b, LLVM::UndefOp::create(b, array).getResult());
    }
    pointers[alloc] = LLVM::AddressOfOp::create(b, global);
    allocations.push_back(alloc);
  }

  void moveBody(Block &entry) {
    b.setInsertionPointToEnd(module.getBody());
    auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()),
                                            llvm::to_vector(entry.getArgumentTypes()));
    auto function = LLVM::LLVMFuncOp::create(b, source.getName(), type);
    function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), b.getUnitAttr());
    function->setAttr(NVVM::NVVMDialect::getMaxntidAttrName(),
                      b.getDenseI32ArrayAttr({(*source.getKnownBlockSize())[0]}));
    function.getBody().takeBody(source.getBody());
  }

  ModuleOp module;
  gpu::GPUFuncOp source;
  ImplicitLocOpBuilder b;
  unsigned oldArguments = 0;
  bool isDynamic = false;
  uint32_t dynamicBytes = 0;
  DenseMap<Value, Value> pointers;
  SmallVector<memref::AllocOp> allocations;
};

/// Of what is left, what instructions there are for.
LogicalResult checkFunctions(ModuleOp module) {
  Operation *missing = nullptr;
  module.walk([&](Operation *op) {
    if (isa<math::MathDialect>(op->getDialect()) &&
        !isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp, math::CountLeadingZerosOp,
             math::CountTrailingZerosOp, math::CtPopOp, math::FloorOp, math::FmaOp,
             math::RoundEvenOp, math::RoundOp, math::SqrtOp, math::TruncOp>(op))
      missing = op;
  });
  if (missing)
    return missing->emitError() << "it has a " << missing->getName() << " of type "
                                << missing->getResult(0).getType();
  return success();
}

LogicalResult convertToLLVM(ModuleOp module) {
  MLIRContext *context = module.getContext();
  PassManager manager(context);
  manager.addPass(createConvertNVVMToLLVMPass());
  manager.addPass(createSCFToControlFlowPass());
  if (failed(manager.run(module)))
    return failure();
  LowerToLLVMOptions options(context);
  options.overrideIndexBitwidth(64);
  LLVMTypeConverter types(context, options);
  RewritePatternSet patterns(context);
  arith::populateArithToLLVMConversionPatterns(types, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(types, patterns);
  populateMathToLLVMConversionPatterns(types, patterns, /*approximateLog1p=*/false);
  ub::populateUBToLLVMConversionPatterns(types, patterns);
  ConversionTarget target(*context);
  target.addLegalOp<ModuleOp>();
  target.addLegalDialect<LLVM::LLVMDialect, NVVM::NVVMDialect>();
  return applyFullConversion(module, target, std::move(patterns));
}

/// The version of PTX to ask for: no later than code needs, since drivers know no later one than their own.
std::string ptxFeature(const plim::targets::DeviceDescription &device) {
  constexpr int enoughUpTo90 = 80;
  int known = enoughUpTo90;
  for (StringRef feature : device.features)
    if (feature.consume_front("+ptx"))
      (void)feature.getAsInteger(10, known);
  int architecture = 0;
  (void)StringRef(device.cpu)
      .drop_front(3)
      .take_while(llvm::isDigit)
      .getAsInteger(10, architecture);
  return "+ptx" + std::to_string(architecture > 90 ? known : std::min(known, enoughUpTo90));
}

FailureOr<std::string> assemble(ModuleOp module, const plim::targets::DeviceDescription &device,
                                bool strict) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code = translateModuleToLLVMIR(module, context, "plimsoll");
  if (!code)
    return failure();
  const llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string problem;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, problem);
  if (!target)
    return module.emitError() << problem;
  llvm::TargetOptions options;
  options.AllowFPOpFusion = strict ? llvm::FPOpFusion::Strict : llvm::FPOpFusion::Fast;
  std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(triple, device.cpu, ptxFeature(device), options, std::nullopt,
                                  std::nullopt, llvm::CodeGenOptLevel::Aggressive));
  code->setTargetTriple(triple);
  code->setDataLayout(machine->createDataLayout());

  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graphs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder passes(machine.get());
  passes.registerModuleAnalyses(modules);
  passes.registerCGSCCAnalyses(graphs);
  passes.registerFunctionAnalyses(functions);
  passes.registerLoopAnalyses(loops);
  passes.crossRegisterProxies(loops, functions, graphs, modules);
  passes.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(*code, modules);

  llvm::SmallString<0> text;
  llvm::raw_svector_ostream out(text);
  llvm::legacy::PassManager emission;
  if (machine->addPassesToEmitFile(emission, out, nullptr, llvm::CodeGenFileType::AssemblyFile))
    return module.emitError() << "no text of PTX is made";
  emission.run(*code);
  return text.str().str();
}

} // namespace

LogicalResult plim::ir::emitPtx(ModuleOp module, const Kernels &kernels,
                                const targets::DeviceDescription &device, bool strict,
                                devices::GpuCode &code) {
  if (!StringRef(device.cpu).starts_with("sm_"))
    return module.emitError() << "the device has no architecture";
  code.features.push_back(device.cpu);
  if (kernels.all.empty())
    return success();
  for (auto [kernel, described] : llvm::zip_equal(kernels.all, code.kernels))
    described.workgroupMemory = FunctionWriter(kernel.function, module).write();
  for (gpu::GPUModuleOp each : llvm::make_early_inc_range(module.getOps<gpu::GPUModuleOp>()))
    each.erase();
  if (failed(checkFunctions(module)) || failed(convertToLLVM(module)))
    return failure();
  FailureOr<std::string> text = assemble(module, device, strict);
  if (failed(text))
    return failure();
  code.modules.push_back(std::move(*text));
  return success();
}
