// Signatures: what an artifact says of functions and of what they call, read off the IR.
#pragma once

#include "jit/Artifact.h"
#include "jit/SourceNames.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace plim::jit {

/// Of a scalar, tensor or memref.
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
