// ShapeChecks: what must hold of indices and extents when a call comes to an op, so that it touches nothing outside of its operands, as code
// in front of it. Each function returns how many requirements there are that do not hold by themselves.
#pragma once

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace plim::ir {

/// Every access of a single element in the function, as by tensor.extract or memref.store. Accesses at affine indices become those at
/// the values of the indices first.
unsigned checkElements(mlir::func::FuncOp function);

/// Slices, views, casts, reshapes and copies. An op of another kind has none.
unsigned checkView(mlir::Operation *op);

/// Reads and writes of whole vectors, masked ones, gathers and scatters. An op of another kind has none.
unsigned checkVectorAccess(mlir::Operation *op);

/// Extents that one loop runs along agree, and whatever else is read or written exists.
unsigned checkLoops(mlir::linalg::LinalgOp op);

} // namespace plim::ir
