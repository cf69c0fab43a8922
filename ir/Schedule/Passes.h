// Which dispatches run at the same time, and which wait for which.
//
// The order is in ir/Pipelines; what each pass does stands in Passes.td, before and after.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace plim::ir {

class PlimDialect;

#define GEN_PASS_DECL
#include "ir/Schedule/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "ir/Schedule/Passes.h.inc"

} // namespace plim::ir
