#include "jit/StackProofs.h"

#include "engine/abi/plim_abi.h"
#include "ir/Conversion/Passes.h"
#include "ir/Plim/Plim.h"
#include "jit/Exporter.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace mlir;

namespace plim::jit {

namespace {

/// The one of that name, or null: it is not public.
FunctionSignature *signatureOf(Artifact &artifact, const std::string &name) {
  auto found = llvm::find_if(artifact.functions, [&](const FunctionSignature &signature) {
    return signature.name == name;
  });
  return found == artifact.functions.end() ? nullptr : &*found;
}

} // namespace

StackProofs::StackProofs(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>()) {
    if ((!function.isPublic() && !function->hasAttr(ir::dispatchFunctionAttr)) ||
        function->hasAttr(ir::extentsFunctionAttr))
      continue;
    StackProof &proof = proofs.emplace_back();
    proof.function = function.getName().str();
    proof.budget = function->getAttrOfType<IntegerAttr>(ir::stackBudgetAttr).getInt();
    proof.estimated = function->getAttrOfType<IntegerAttr>(ir::stackBytesAttr).getInt();
  }
}

Status StackProofs::prove(Artifact &artifact, StackUse use, std::string_view exportName) {
  const bool isExport = !exportName.empty();
  if (isExport)
    llvm::erase_if(proofs,
                   [&](const StackProof &proof) { return !signatureOf(artifact, proof.function); });
  for (StackProof &proof : proofs) {
    FunctionSignature *function = signatureOf(artifact, proof.function);
    PLIM_ASSIGN_OR_RETURN(
        StackNeed need,
        use.needOf(isExport
                       ? exportedSymbol(exportName, proof.function)
                       : (function ? ir::entryPrefix : ir::dispatchPrefix).str() + proof.function));
    totals.push_back(need.total);
    proof.proven = need.code;
    if (!function)
      continue;
    function->stackBytes =
        isExport ? need.frames : need.total + (need.recursive ? PLIM_RECURSION_STACK : 0);
    function->workerStackBytes = need.worker;
    // What a raw call runs, without the entry that unpacks views for it.
    if (function->isKernel && !isExport) {
      PLIM_ASSIGN_OR_RETURN(StackNeed raw, use.needOf(ir::rawPrefix.str() + proof.function));
      proof.proven = raw.code;
    }
  }
  artifact.stack = proofs;
  return okStatus();
}

int64_t StackProofs::reserve() const {
  int64_t reserve = 0;
  for (const StackProof &proof : proofs) {
    if (proof.proven <= proof.budget || proof.estimated == 0)
      continue;
    reserve = std::max({reserve, proof.proven - proof.estimated, proof.proven - proof.budget});
  }
  return reserve;
}

Status StackProofs::checkExported(const Artifact &artifact,
                                  const std::vector<FunctionFrame> &frames) const {
  for (const FunctionSignature &function : artifact.functions) {
    auto proof = llvm::find_if(
        proofs, [&](const StackProof &each) { return each.function == function.name; });
    const int64_t budget =
        proof == proofs.end() ? 0 : proof->budget; // 0: nothing is allocated there
    if (budget == 0 || function.stackBytes <= budget)
      continue;
    std::string each;
    for (const FunctionFrame &frame : frames)
      each += (each.empty() ? "" : ", ") + frame.name + " " + std::to_string(frame.bytes);
    return errorAtPlace(
        StatusCode::FailedPrecondition,
        function.location + "'" + function.name + "' takes " + std::to_string(function.stackBytes) +
            " bytes of stack, more than stack_budget_bytes = " + std::to_string(budget) +
            "; frames in bytes: " + each);
  }
  return okStatus();
}

llvm::json::Array StackProofs::report() const {
  llvm::json::Array functions;
  for (auto [proof, total] : llvm::zip(proofs, totals))
    functions.push_back(llvm::json::Object{{"name", proof.function},
                                           {"estimated", proof.estimated},
                                           {"proven", proof.proven},
                                           {"budget", proof.budget},
                                           {"call", total}});
  return functions;
}

} // namespace plim::jit
