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
  Dispatch, // optimised hard, vectorised
  Kernel,   // the same for loops that are as their author wrote them
  Once,     // prepares constants: run at the link and never again
  Host,     // orchestration: compiled fast
  Plain,    // the oracle: no optimisation that could hide a fault
  Whole, // all of a module that is exported: optimised for speed, or for size where the device has little memory
};

class ObjectCache;
class TargetMachines;

/// What code generation makes of a module.
struct ObjectCode {
  std::string object;                // relocatable ELF
  std::vector<FunctionFrame> frames; // of the functions in it
};

struct EmitOptions {
  bool assembly = false;
  /// If not null, code that is there is taken from it, unless its assembly is wanted, and what is new is added.
  const ObjectCache *cache = nullptr;
  /// If not null, gets spans that begin with `name`.
  Profiler *profiler = nullptr;
  std::string name;
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

  /// Are there instructions for tile registers (AMX)? Needs translated().
  bool usesTiles() const;

  /// Needs translated(). Optimises and generates code, with a machine for `device`. Call once. Its status soon after
  /// `patience` is over: between two passes of the optimiser, between two functions of the code generator.
  Status emit(TargetMachines &machines, const EmitOptions &options, const Patience &patience);

  // After emit().
  ObjectCode code;
  std::string assembly; // if wanted
  bool isFromCache = false;
  double optimiseSeconds = 0;
  double codegenSeconds = 0;

private:
  Status emit(llvm::TargetMachine &machine, const EmitOptions &options, const Patience &patience);
  /// Tells the module all that code generation depends on of the device.
  void describeTarget(const llvm::TargetMachine &machine);
  Status generate(llvm::TargetMachine &machine, const EmitOptions &options,
                  const Patience &patience);
  Status optimise(llvm::TargetMachine &machine, const Patience &patience);

  const targets::DeviceDescription *device;
  CodeKind kind;
  Numerics numerics;
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
};

} // namespace plim::jit
