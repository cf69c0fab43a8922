// TargetMachines: LLVM's description of a device as its code generators want it.
//
// Making one reads the features of the device, which are the same for all modules of a compilation.
// So they go from one module to the next.
//
// Threads: any. A machine serves one module at a time.
#pragma once

#include "jit/ObjectEmitter.h"
#include "support/Status.h"
#include "targets/TargetDescription.h"

#include <memory>
#include <mutex>
#include <vector>

namespace llvm {
class TargetMachine;
}

namespace plim::jit {

class TargetMachines {
public:
  /// `device` is borrowed.
  explicit TargetMachines(const targets::DeviceDescription &device);
  ~TargetMachines();
  TargetMachines(const TargetMachines &) = delete;
  TargetMachines &operator=(const TargetMachines &) = delete;

  /// A machine for code of such a kind, one that was given back or a new one; the caller's until it
  /// gives it back. Machines for the oracle serve nothing else. Unimplemented for a triple without
  /// a code generator.
  StatusOr<std::unique_ptr<llvm::TargetMachine>> take(CodeKind kind);
  /// Gives a machine back, for others to take. Nothing may use it any more.
  void give(std::unique_ptr<llvm::TargetMachine> machine);

private:
  const targets::DeviceDescription &device;
  std::mutex mutex;
  std::vector<std::unique_ptr<llvm::TargetMachine>> idle; // by `mutex`
};

} // namespace plim::jit
