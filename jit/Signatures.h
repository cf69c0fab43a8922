// Signatures: what an artifact says of functions and of what they call, read off the IR.
//
// The order is that of a compilation: nameArguments() and signaturesOf() when the source was
// parsed, completeSignatures() when the pipeline knows access and memory and has lowered nothing,
// externalTypesOf() behind that. On the thread of the module's context.
#pragma once

#include "jit/Artifact.h"
#include "jit/SourceNames.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace plim::jit {

/// The type of a scalar, tensor or memref, as far as the type alone says it: access, donation and
/// bounds are not among that.
ValueType valueTypeOf(mlir::Type type);

/// Gives the arguments of functions the locations that messages of calls take their names from.
void nameArguments(mlir::ModuleOp module, const SourceNames &names);

/// The public functions of a module as its author wrote it.
std::vector<FunctionSignature> signaturesOf(mlir::ModuleOp module, const SourceNames &names);

/// Adds what the pipeline found out about the functions, before they are lowered.
void completeSignatures(mlir::ModuleOp module, Artifact &artifact);

/// What an external function takes and gives.
struct ExternalTypes {
  std::vector<ValueType> arguments; // with access and donation
  std::vector<ValueType> results;   // -1: an extent that it chooses itself
};

/// Those of Artifact::externals, in their order, behind completeSignatures().
std::vector<ExternalTypes> externalTypesOf(mlir::ModuleOp module, const Artifact &artifact);

} // namespace plim::jit
