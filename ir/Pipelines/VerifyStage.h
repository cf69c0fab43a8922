// What holds behind each stage, as its README says: what later stages count on and would not find out by themselves.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/StringRef.h"

#include <memory>

namespace plim::ir {

/// Says at each place what does not hold behind the stage. An error is a fault of the engine, not of a source.
mlir::LogicalResult verifyStage(mlir::ModuleOp module, llvm::StringRef stage);

/// The same as a pass, `plim-verify-stage=after=STAGE`.
std::unique_ptr<mlir::Pass> createVerifyStage(llvm::StringRef stage = "");

} // namespace plim::ir
