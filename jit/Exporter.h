// Exporter: of a lowered module, code for a program without the engine: functions that C calls with typed arguments, over
// nothing but the memory that they are given (docs/design/export.md).
//
// What the runtime does for code of the engine is a few instructions here, and is inlined: dispatches are called one after
// the other, results go where the caller says, scratch lies behind the slab. Nothing is allocated.
#pragma once

#include "jit/Signatures.h"
#include "targets/TargetDescription.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <string_view>

namespace plim::jit {

/// InvalidArgument unless C can have it in front of names.
Status checkExportName(std::string_view name);

/// The symbol of a function of the application: its own, with '_' for what C has no names with.
std::string applicationSymbol(std::string_view function);

/// What a device has to do, in the order of the fields of its struct, behind the `context` that they get.
enum class DeviceField { Context, Open, Activate, Run, Deactivate, Close, Count };

/// The symbol of a public function: that of the export, '_', and its own, with '_' for what C has no names with.
std::string exportedSymbol(std::string_view exportName, std::string_view function);

/// Behind the symbol of a function whose workspace depends on extents: what tells its size.
inline constexpr std::string_view workspaceQuerySuffix = "_workspace_bytes";
/// Whether that takes the argument, a scalar: sizes depend on integers alone.
bool isQueried(const ValueType &type);
/// How many of its extents a call gives or gets.
size_t openExtents(const ValueType &type);
/// Is the size of the slab known at a call only?
bool isSlabOpen(const FunctionSignature &function);
/// Bytes of the slab behind what its plan says: of scratch, and to round its base up.
int64_t beyondPlan(const FunctionSignature &function);

/// What the structs of the header have.
struct ExportedStructs {
  bool slab = false, slabIsOpen = false; // the latter: of some function
  /// Of functions that know it, with the scratch of dispatches behind the buffers.
  int64_t slabBytes = 0;
  /// The pools that are used, by their positions in the artifact, with the most that a function needs.
  std::vector<size_t> pools;
  std::vector<PoolNeed> poolNeeds;
  int64_t parameters = 0, variables = 0;
  std::vector<std::string> devices; // accelerators that run something, by name
  bool hasWorkspaces() const { return slab || !pools.empty(); }
  /// Fields before those of pools.
  size_t slabFields() const { return size_t(slab) + size_t(slabIsOpen); }
};
ExportedStructs exportedStructs(const Artifact &artifact);
/// Where scratch begins in the slab.
int64_t exportedSlabBytes(const Artifact &artifact);

/// The structs that a function takes: those that it has a use for.
struct ExportedContext {
  bool workspaces = false, parameters = false, state = false, devices = false, threads = false;
  int64_t threadScratchBytes = 0; // of one thread, for any function
};

/// Defines the functions of the artifact in `module`, behind collectData(), with their constants, and makes all else local.
/// `externals` are those of the artifact. Unimplemented, with the place in the source, for what needs the engine: memory of
/// an allocator, recursion. Two functions with the same symbol are InvalidArgument.
/// Gives what each takes.
StatusOr<std::vector<ExportedContext>> exportFunctions(mlir::ModuleOp module,
                                                       const Artifact &artifact,
                                                       const std::vector<ExternalTypes> &externals,
                                                       const targets::DeviceDescription &device,
                                                       std::string_view exportName);

/// Is it a keyword of C11 or C++20, or a name that headers of C may have: int32_t, NULL, INT8_MAX?
bool isReservedInC(std::string_view name);

/// The header for C11 and C++20. `undefined`: symbols that the program has to bring. InvalidArgument if two things in it
/// would have one name.
StatusOr<std::string>
exportHeader(const Artifact &artifact, const std::vector<ExternalTypes> &externals,
             const std::vector<ExportedContext> &contexts, const targets::TargetDescription &target,
             std::string_view exportName, const std::vector<std::string> &undefined);

/// The symbols that an ELF object leaves to others, sorted.
StatusOr<std::vector<std::string>> undefinedSymbols(std::string_view object);

} // namespace plim::jit
