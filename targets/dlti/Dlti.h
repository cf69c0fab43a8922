// The DLTI form of a TargetDescription: how a target travels inside the IR.
//
//   module attributes {dlti.target_system_spec = #dlti.target_system_spec<
//     "plim.target"   = #dlti.target_device_spec<"plim.name" = "host">,
//     "host"          = #dlti.target_device_spec<"plim.kind" = "cpu", "plim.vector_bits" = 512,
//     ...>, "cuda0"         = #dlti.target_device_spec<"plim.kind" = "cuda", ...>, "plim.memories"
//     = #dlti.target_device_spec<"dram" = #dlti.map<"kind" = "host", ...>, ...>>}
//
// One entry per device, in order, the first of which runs host code; one entry for all memories,
// because a memory belongs to no single device; one for the target itself, absent if it has no
// name. A key that is absent keeps the default of TargetDescription.h, so hand-written targets may
// be short; keys of a device without the prefix "plim." belong to others and are ignored.
//
// Owns these names and the codec. Must not know the probes, nor any other dialect. No state but the
// cache, which is a part of the MLIRContext; threads as for that.
#pragma once

#include "targets/TargetDescription.h"

#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/IR/BuiltinOps.h"

#include <memory>

namespace plim::targets::dlti {

/// The attribute of the module that holds the target; upstream's name.
inline constexpr llvm::StringLiteral targetAttrName = "dlti.target_system_spec";
/// In front of every key of a device.
inline constexpr llvm::StringLiteral keyPrefix = "plim.";
/// Entries of the system specification that are not devices.
inline constexpr llvm::StringLiteral targetEntryName = "plim.target";
inline constexpr llvm::StringLiteral memoriesEntryName = "plim.memories";

/// `target` must verify. Loads the DLTI dialect into `context`.
mlir::TargetSystemSpecAttr toDlti(mlir::MLIRContext *context, const TargetDescription &target);

/// The inverse. Diagnostics through `emitError`, one per fault, with the path of the entry.
mlir::FailureOr<TargetDescription>
fromDlti(mlir::TargetSystemSpecAttr spec, llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

/// Reads the module's `dlti.target_system_spec`, once in a context with a target cache, however many passes ask. Null if it
/// is not there or cannot be read, with diagnostics at the module's location. Several threads may ask at once.
std::shared_ptr<const TargetDescription> targetOf(mlir::ModuleOp module);

/// Gives contexts with the DLTI dialect a target cache.
void registerTargetCache(mlir::DialectRegistry &registry);

/// Sets the module's `dlti.target_system_spec`, replacing what is there; where the host has addresses of 32 bits, also `dlti.dl_spec`
/// with as many for `index`.
void attachTarget(mlir::ModuleOp module, const TargetDescription &target);

} // namespace plim::targets::dlti
