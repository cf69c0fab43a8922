// StackProofs: how much stack each function of an artifact may take, and how much it does take once it is code
// (docs/design/stack-safety.md).
//
//   StackProofs proofs(module);                      // behind the stage Schedule: budgets, and what placement counted on
//   ... objects ...
//   proofs.prove(artifact, StackUse(frames), "");    // from the frames that the code generator laid out
//   if (int64_t reserve = proofs.reserve())          // lower again, with so much less for allocations
//
// Of one lowering and one thread.
#pragma once

#include "jit/Artifact.h"
#include "jit/StackUse.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

#include <string_view>
#include <vector>

namespace plim::jit {

class StackProofs {
public:
  StackProofs() = default;
  /// Of its dispatches and public functions; nothing is proven yet. The module stands behind the stage Schedule.
  explicit StackProofs(mlir::ModuleOp module);

  /// Fills in what the frames come to, here and in the signatures of the artifact, and hands the proofs on to it. Exported code
  /// (`exportName` is not empty) has public functions alone, the others are part of them. Internal where code is missing or
  /// has a frame without a bound.
  Status prove(Artifact &artifact, StackUse use, std::string_view exportName);

  /// How many bytes of the budget another lowering should leave to frames; 0 if all is within it, or if nothing is on the
  /// stack that could go elsewhere.
  int64_t reserve() const;

  /// Nobody looks for exported code whether there is so much stack: FailedPrecondition, with its frames, if a function
  /// of `artifact` takes more than its budget.
  Status checkExported(const Artifact &artifact, const std::vector<FunctionFrame> &frames) const;

  /// For the report: [{"name", "estimated", "proven", "budget", "call"}], all in bytes; `call` is for a whole call of a
  /// public function, or a whole range of a dispatch.
  llvm::json::Array report() const;

private:
  std::vector<StackProof> proofs;
  std::vector<int64_t> totals; // parallel to the proofs
};

} // namespace plim::jit
