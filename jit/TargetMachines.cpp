#include "jit/TargetMachines.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <utility>

namespace plim::jit {
namespace {

llvm::CodeGenOptLevel levelOf(CodeKind kind) {
  switch (kind) {
  case CodeKind::Dispatch:
  case CodeKind::Kernel:
    return llvm::CodeGenOptLevel::Aggressive;
  case CodeKind::Plain:
    return llvm::CodeGenOptLevel::None;
  case CodeKind::Once:
  case CodeKind::Host:
  case CodeKind::Whole:
    return llvm::CodeGenOptLevel::Default;
  }
  return llvm::CodeGenOptLevel::Default;
}

StatusOr<std::unique_ptr<llvm::TargetMachine>> makeMachine(const targets::DeviceDescription &device,
                                                           llvm::CodeGenOptLevel level) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeAllTargetInfos();
    llvm::InitializeAllTargets();
    llvm::InitializeAllTargetMCs();
    llvm::InitializeAllAsmPrinters();
  });
  // Normal: "none-eabihf" would be a system, and the environment that says how floats are passed not there.
  llvm::Triple triple(llvm::Triple::normalize(device.triple));
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return unimplementedError("no code generator for triple '" + device.triple + "': " + error);
  llvm::TargetOptions options;
  // What readFrames() needs to see each frame and each call.
  options.EmitStackSizeSection = true;
  options.FunctionSections = true;
  options.DataSections = true;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, device.cpu, llvm::join(device.features, ","), options,
      // Without an operating system nothing moves it.
      triple.getOS() == llvm::Triple::UnknownOS ? llvm::Reloc::Static : llvm::Reloc::PIC_,
      llvm::CodeModel::Small, level, /*JIT=*/true));
  if (!machine)
    return unimplementedError("no code generator for triple '" + device.triple + "'");
  return machine;
}

} // namespace

TargetMachines::TargetMachines(const targets::DeviceDescription &device) : device(device) {}
TargetMachines::~TargetMachines() = default;

StatusOr<std::unique_ptr<llvm::TargetMachine>> TargetMachines::take(CodeKind kind) {
  const llvm::CodeGenOptLevel level = levelOf(kind);
  std::unique_ptr<llvm::TargetMachine> machine;
  {
    std::lock_guard lock(mutex);
    // LLVM sets more than the level for code that is not optimised.
    auto found = llvm::find_if(idle, [&](const std::unique_ptr<llvm::TargetMachine> &each) {
      return (each->getOptLevel() == llvm::CodeGenOptLevel::None) ==
             (level == llvm::CodeGenOptLevel::None);
    });
    if (found != idle.end()) {
      machine = std::move(*found);
      idle.erase(found);
    }
  }
  if (!machine)
    return makeMachine(device, level);
  machine->setOptLevel(level);
  return machine;
}

void TargetMachines::give(std::unique_ptr<llvm::TargetMachine> machine) {
  std::lock_guard lock(mutex);
  idle.push_back(std::move(machine));
}

} // namespace plim::jit
