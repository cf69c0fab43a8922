// From one LLVM dialect module to one relocatable object: translation, LLVM's optimiser, its code
// generator, for the features of a device.
//
//   ObjectEmitter emitter(module, device, CodeKind::Dispatch, Numerics::Default);
//   if (!emitter.translated())
//     ...                                             // the diagnostic handlers know why
//   Status status = emitter.emit(machines, options, patience);
//   use(emitter.code.object);
//
// Only translation, in the constructor, touches MLIR; then the MLIR module may go. Threads: an
// emitter has an LLVM context of its own, so that several may run at once; each belongs to one
// thread at a time.
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

/// How hard code is worked on.
enum class CodeKind {
  Dispatch, // optimised hard, vectorised
  Kernel,   // the same for loops that are as their author wrote them
  Once,     // prepares constants: run at the link and never again
  Host,     // orchestration, compiled fast, and sequential loops over elements, vectorised
  Plain,    // the oracle: no optimisation that could hide a fault
  /// All of a module that is exported: optimised for speed, or for size where the device has little
  /// memory.
  Whole,
};

class ObjectCache;
class TargetMachines;

/// What code generation makes of a module.
struct ObjectCode {
  std::string object;                // relocatable ELF
  std::vector<FunctionFrame> frames; // of the functions in it
};

struct EmitOptions {
  bool assembly = false; // wanted, besides the object
  /// If not null, code that is in it is taken from it, unless assembly is wanted, and new code is
  /// added. Borrowed.
  const ObjectCache *cache = nullptr;
  /// If not null, gets spans that begin with `name`. Borrowed.
  Profiler *profiler = nullptr;
  std::string name; // of the dispatch or kernel, for people
};

class ObjectEmitter {
public:
  /// Translates `module`, which holds only llvm ops. `device` is borrowed. A failed translation
  /// emits a diagnostic and leaves translated() false.
  ObjectEmitter(mlir::ModuleOp module, const targets::DeviceDescription &device, CodeKind kind,
                Numerics numerics);
  ~ObjectEmitter();
  ObjectEmitter(ObjectEmitter &&) noexcept;

  bool translated() const { return module != nullptr; }

  /// Instructions, before anything is optimised. Needs translated().
  size_t size() const;

  /// Are there instructions for tile registers (AMX)? Needs translated().
  bool usesTiles() const;

  /// Needs translated(). Optimises and generates code, with a machine for `device`, or takes it
  /// from the cache. Call once; blocks, for seconds if the module is large. Ends with the status of
  /// `patience` soon after that is over: between two passes of the optimiser, between two functions
  /// of the code generator. Unimplemented for a device without a code generator; also the errors of
  /// readFrames().
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
