// From one LLVM dialect module to one relocatable object: translation, LLVM's optimiser, its code
// generator, for the features of a device.
//
// Each instance belongs to one module and may run on any thread once made; only translation, in the
// constructor, touches MLIR.
#pragma once

#include "jit/Compiler.h"
#include "jit/Patience.h"
#include "jit/StackUse.h"
#include "support/Profiler.h"
#include "support/Status.h"
#include "targets/TargetDescription.h"

#include <memory>
#include <string>
#include <vector>

namespace llvm {
class LLVMContext;
class Module;
class TargetMachine;
} // namespace llvm
namespace mlir {
class ModuleOp;
}

namespace plim::jit {

enum class CodeKind {
  Kernel, // optimised hard, vectorised
  Host,   // orchestration: compiled fast
  Plain,  // the oracle: no optimisation that could hide a fault
};

class ObjectEmitter {
public:
  /// `device` is borrowed. A failed translation emits a diagnostic.
  ObjectEmitter(mlir::ModuleOp module, const targets::DeviceDescription &device, CodeKind kind,
                Numerics numerics);
  ~ObjectEmitter();
  ObjectEmitter(ObjectEmitter &&) noexcept;

  bool translated() const { return module != nullptr; }

  /// Instructions, before anything is optimised. Needs translated().
  size_t size() const;

  /// Needs translated(). Optimises and generates code. Call once. The profiler, if there is one, gets two
  /// spans that begin with `name`. Its status soon after `patience` is over: between two passes of the
  /// optimiser, between two functions of the code generator.
  Status emit(bool wantAssembly, Profiler *profiler = nullptr, const std::string &name = "",
              const Patience &patience = {});

  std::string object;                // after emit()
  std::string assembly;              // after emit(), if wanted
  std::vector<FunctionFrame> frames; // after emit(): of the functions in the object
  double optimiseSeconds = 0;
  double codegenSeconds = 0;

private:
  Status optimise(llvm::TargetMachine &machine, const Patience &patience);

  const targets::DeviceDescription *device;
  CodeKind kind;
  Numerics numerics;
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
};

} // namespace plim::jit
