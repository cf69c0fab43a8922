// What placement, planning and their verifier know of an allocation: its size, its life, its limits.
#pragma once

#include "ir/Plim/Plim.h"
#include "targets/TargetDescription.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <optional>

namespace plim::ir {

/// The operations of a function, numbered in program order. Buffers of a loop body live within one
/// iteration, so the order of the text is an order of lifetimes.
class Positions {
public:
  explicit Positions(mlir::func::FuncOp function);
  int64_t operator[](mlir::Operation *op) const { return positions.lookup(op); }
  int64_t size() const { return positions.size(); }

private:
  llvm::DenseMap<mlir::Operation *, int64_t> positions;
};

/// How long an allocation lives.
struct Life {
  /// It may be carried out of the block that allocates it, or released elsewhere or under another
  /// name.
  bool carried = false;
  /// A terminator of the function is what carries it.
  bool returned = false;
  /// Its one release, in its own block; null if it lives until the function returns.
  mlir::memref::DeallocOp release;
  /// The last op of its block that uses it, itself or in a region; the release is none.
  mlir::Operation *lastUse = nullptr;
  /// It is allocated once a call.
  bool inEntry = false;

  /// Only an allocation that does not escape may be given the same memory each time.
  bool escapes() const { return carried || (!release && !inEntry); }
};
Life lifeOf(mlir::Operation *allocation);

/// The half-open interval of positions in which an allocation that does not escape is live.
std::pair<int64_t, int64_t> interval(AllocOp alloc, const Life &life, const Positions &positions);

/// Most bytes that an allocation can take, of its static size, `max_bytes` and the constant bounds of
/// its extents; none if there is no bound.
std::optional<int64_t> boundBytes(AllocOp alloc);

/// A number and who said it: "target", "engine", "load", "policy", "function" or "allocation".
struct Limit {
  int64_t bytes = 0;
  llvm::StringRef level = "target";
};

struct Limits {
  Limit single; // largest stack allocation that the engine chooses by itself
  Limit budget; // stack of a whole call tree
  /// Why nothing may be on the stack at all; empty if something may.
  std::string noStack;
  llvm::StringRef noStackLevel;
};

/// The limits for an allocation or a function, each from the strongest level that has it. `policy`
/// has been checked.
Limits limitsFor(mlir::Operation *op, const targets::DeviceDescription &device,
                 llvm::StringRef policy);

/// The alignment of slabs and of the offsets in them, bytes: the target's, or what the engine or the
/// load says.
int64_t workspaceAlignment(mlir::ModuleOp module, const targets::DeviceDescription &device);

/// Emits an error unless `policy` is auto, stack, workspace, heap or fixed:N.
mlir::LogicalResult checkPolicy(mlir::ModuleOp module, llvm::StringRef policy);

/// The functions that another one calls, directly.
llvm::DenseSet<mlir::StringAttr> calledFunctions(mlir::ModuleOp module);

} // namespace plim::ir
