// compile: source and target in, artifact out.
//
// Everything of MLIR and of LLVM's code generators lives and dies inside one call: a fresh context
// per compilation costs two milliseconds and leaks nothing. Must not know the runtime or the engine:
// parallelism is borrowed from the caller as a function.
#pragma once

#include "jit/Artifact.h"
#include "jit/ArtifactCache.h"
#include "support/Profiler.h"
#include "targets/TargetDescription.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace plim::jit {

/// Runs job(0) ... job(count - 1), in any order, possibly at once; returns when all are done. Jobs
/// need 4 MiB of stack and do not throw.
using ParallelFor = std::function<void(size_t count, const std::function<void(size_t)> &job)>;

/// How far the compilation of a module is.
struct CompileProgress {
  /// Dispatches and kernels, and host code, as one each; `total` is 0 as long as the source is lowered to them. `done`
  /// never falls and comes to `total` in the end; `total` grows when too much was on the stack and all is compiled once more.
  size_t done = 0, total = 0;
  /// The part of the work that is done, 0 to 1, by passes, then by the size of the code before optimisation. It never
  /// falls, and is an estimate.
  double fraction = 0;
};

/// Called at once, then between passes, and after each job: by several threads, one after the other. Must
/// neither throw nor call into the engine. Not called any more after a job has failed.
using ProgressCallback = std::function<void(const CompileProgress &)>;

/// Does the source begin like bytecode? Four bytes are enough to tell.
bool isBytecode(std::string_view source);

/// Code of one function for certain extents.
struct Specialization {
  std::string function; // public; empty: all of the module, for all extents
  /// Of its arguments, those that the source leaves open, in order.
  std::vector<int64_t> extents;
};

/// The compiler of an accelerator of the target. It gets a dispatch: the name of a public function, and
/// the text of the module that it stands in, in upstream dialects (docs/design/devices.md). It gives the
/// code, any bytes, or Unimplemented for what the device does not take; what else it says fails the
/// compilation. Called by the thread that compiles, with 64 MiB of stack; several compilations may run at
/// once.
struct DeviceCompiler {
  std::string device;
  std::function<StatusOr<std::string>(std::string_view name, std::string_view text)> compile;
};

/// How far results may be from those of the source, operation by operation (docs/design/numerics.md).
enum class Numerics {
  /// Products may be contracted with sums, sums reassociated, those of f16 and bf16 are taken in f32, and
  /// functions have errors of some units in the last place. For one code the results of equal calls are equal,
  /// whatever the threads.
  Default,
  /// None of that: every operation rounds as the source says, in its order, and functions are those of the
  /// C library. Bit for bit what the oracle gives, NaNs counting as equal.
  Strict,
};

/// What a witness is told before a source is parsed.
inline constexpr std::string_view whileParsing = "while parsing";

/// The stages that a source goes through, in order, by the names of their folders in ir/.
std::vector<std::string_view> stageNames();

struct CompileOptions {
  /// auto, stack, workspace, heap or fixed:N.
  std::string policy = "auto";
  /// `name=value`, stronger than the target's: max_stack_alloca_bytes, stack_budget_bytes,
  /// workspace_alignment (bytes), external_workspace_only (true or false); and what a source may hold,
  /// targets::SourceLimits. Those of the load are stronger than the engine's, and than what the source says of its
  /// module.
  std::vector<std::string> engineLimits, loadLimits;
  /// The plain lowering that every optimisation is compared with.
  bool oracle = false;
  Numerics numerics = Numerics::Default;
  /// For data that lies in memory of its own, right before pages that may not be touched: all constants
  /// are data, and code counts on no more than the alignment of their elements.
  bool guarded = false;
  /// How per-dispatch code generation is run; sequentially when empty.
  ParallelFor parallelFor;
  /// If not null, keeps the memory of the source, which nobody may write while it does: large constants
  /// of bytecode that lie there, aligned to dataAlignment, stay there.
  std::shared_ptr<const void> sourceOwner;
  /// The oracle has none. For GPUs of the target that none of these is for the compiler is our own.
  std::vector<DeviceCompiler> devices;
  /// Devices of the target that nobody compiles for, GPUs among them: their drivers take other code than ours.
  std::vector<std::string> devicesWithoutCompiler;
  /// The device that gets what the source gives to none, as far as it takes it. Empty: none.
  std::string preferredDevice;
  /// Memories of the target that their devices bring to a call, so that temporaries may be there.
  std::vector<std::string> deviceMemories;
  /// If not null, code of dispatches that it has is not generated anew, and what is is added. Borrowed.
  const ArtifactCache *cache = nullptr;
  /// If not null, receives the assembly of all objects; the cache is then not read.
  std::string *assembly = nullptr;
  /// The stages behind which `takeIr` gets the IR, as text, when it stands there: once more where too much was on the
  /// stack and all is lowered again. A name that is none of stageNames() is InvalidArgument. With one the cache is not read.
  std::vector<std::string> irAfter = {};
  std::function<void(std::string_view stage, std::string_view text)> takeIr = {};
  /// If not empty: code for a program without the engine, whose functions have this in front of their names
  /// (docs/design/export.md). The artifact has one object and the header, and cannot be linked.
  std::string exportName = {};
  /// If not empty, the public function that is compiled, with what it calls. All others are parsed
  /// and verified alone.
  std::string onlyFunction = {};
  /// The source is parsed and verified, and nothing is compiled: the artifact says what public
  /// functions there are and which parameters, and cannot be linked. What a function does to a
  /// memref is not known then. Unimplemented, with the place, for a source with variables.
  bool describesOnly = false;
  ProgressCallback progress;
  /// If set, is told each error when the compiler says it, and, as a note at the place of what is compiled, what begins
  /// now: "while parsing", "in pass 'canonicalize'". For who may not live to hear the end. Any thread.
  std::function<void(const Diagnostic &)> witness;
  /// With a function the artifact has that one alone, called like the general one; its signature
  /// has the types of the source.
  Specialization specialization;
  /// Ends it with Cancelled: between two passes, and between two functions of LLVM's code generator.
  std::stop_token stop;
  /// Ends it with DeadlineExceeded in the same places; in a process of its own, anywhere. 0: never.
  std::chrono::nanoseconds timeout{0};
  /// What that is counted from; the call, unless it is a part of something that began before.
  std::optional<std::chrono::steady_clock::time_point> begin = {};
  /// If not null, gets spans of the steps, the passes and the jobs.
  Profiler *profiler = nullptr;
};

/// What a compilation did, and where its time went, in seconds.
struct CompileTimes {
  /// Dispatches and kernels, and host code, as one object each; those that were in the cache.
  int64_t objects = 0, cachedObjects = 0;
  double parse = 0;    // and the start of MLIR
  double lower = 0;    // MLIR passes
  double optimise = 0; // LLVM's optimiser, summed over modules
  double codegen = 0;  // LLVM's code generator, summed over modules
};

/// "file:line:column: message", or the message alone.
inline std::string toString(const Diagnostic &diagnostic) {
  if (diagnostic.file.empty())
    return diagnostic.message;
  return diagnostic.file + ":" + std::to_string(diagnostic.line) + ":" +
         std::to_string(diagnostic.column) + ": " + diagnostic.message;
}

/// The first diagnostic, "file:line:column: message", is the message of the status: InvalidArgument
/// for a source that cannot be parsed, verified or lowered, or a specialisation that does not fit,
/// Unimplemented for a target without a code generator. A bytecode whose memory begins a page is
/// read where it lies. `sourceName` stands in locations. Blocks; any thread; several at once.
StatusOr<Artifact> compile(std::string_view source, std::string_view sourceName,
                           const targets::TargetDescription &target, const CompileOptions &options,
                           CompileTimes *times = nullptr);

} // namespace plim::jit
