// Engine, Module, Function: the facade that a host application uses.
//
// An engine owns a target description, worker threads, memory pools, a JIT session and, if asked
// for, an artifact cache. It has no global state: two engines with different options live in one
// process. Modules and functions keep their engine alive.
//
//   auto engine = Engine::create({});
//   auto module = (*engine)->load(source, "net.mlir");
//   auto function = (*module)->lookup("main");
//   std::vector<Value> arguments = {...};
//   StatusOr<std::vector<Value>> results = function->call(arguments);
//
// Constants are in memory once. Those of a page and more that have the same bytes are shared by all
// modules of an engine, lie in pages that nobody can write, and go with the last of the modules.
// What comes from the artifact cache, or from a bytecode file and is aligned there, is used where
// it lies in the mapped file.
//
// Threads: every method of every class here may be called from any thread at any time; calls of one
// function run concurrently, each with memory of its own. The exception are functions that use
// variables of their module: their calls run one after the other, unless each has a ModuleState of
// its own.
#pragma once

#include "engine/abi/plim_abi.h"
#include "engine/runtime/Executor.h"
#include "engine/runtime/MemoryPool.h"
#include "engine/runtime/Value.h"
#include "engine/session/Device.h"
#include "engine/session/Event.h"
#include "engine/session/FunctionCode.h"
#include "engine/session/HostFunctions.h"
#include "engine/session/ModuleState.h"
#include "engine/session/Parameters.h"
#include "jit/Artifact.h"
#include "jit/CompileWorkers.h"
#include "jit/Compiler.h"
#include "support/Hash.h"
#include "support/Log.h"
#include "support/Profiler.h"
#include "support/Status.h"
#include "targets/TargetDescription.h"

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace plim {

namespace session {
class Call;
class DeferredFunction;
class DeferredFunctions;
class LentMemory;
class Linking;
} // namespace session

class Engine;
class Module;
class Specializations;

/// Which extents get code of their own, where the source leaves them open.
enum class Specialization {
  None,
  OnRequest, // those of Function::specialize()
  Hot,       // those as well that calls keep coming with, in the background
};

/// Docs: docs/design/dynamic-shapes.md.
struct SpecializationOptions {
  Specialization mode = Specialization::None;
  /// Of one module at a time. What was not used for longest goes first.
  int atMost = 8;
};

struct EngineOptions {
  /// A tag, "host", "host-cpu" (this machine without its accelerators, whose drivers take tens of
  /// milliseconds to load), or a path of a target in JSON; see targets/Resolve.h.
  std::string target = "host-cpu";
  /// `path=value` assignments on top of it, the last one strongest.
  std::vector<std::string> targetOverrides;
  /// If given, the target, instead of both.
  std::optional<targets::TargetDescription> description = std::nullopt;
  /// Threads that work at once on one call, the caller included, at most 1024; 0: all this process
  /// may use.
  int threads = 0;
  /// Whose threads they are, and where they run.
  runtime::WorkerOptions workers;
  /// Allocation policy of modules that do not choose their own: auto, stack, workspace, heap,
  /// fixed:N.
  std::string policy = "auto";
  /// Of modules that do not choose their own.
  jit::Numerics numerics = jit::Numerics::Default;
  /// Stack limits, stronger than the target's, and limits of sources, as `name=value`; see
  /// jit::CompileOptions.
  std::vector<std::string> limits;
  /// Folder of the artifact cache; empty: no cache. jit::ArtifactCache::defaultFolder() is usual.
  std::string cacheFolder;
  int64_t cacheBytes = int64_t(1) << 30;
  /// Lets GDB, or perf, see the names of generated code.
  bool debugger = false;
  bool perfMap = false;
  Logger logger;
  /// Where buffers, workspaces and scratch come from; by default the system.
  runtime::Allocator allocator;
  /// What modules may declare and call. Registered once, for all modules.
  HostFunctions functions;
  /// Accelerators that the host brings, each name once.
  Devices devices;
  /// Looks for accesses out of range and writes to what is read-only, while generated code runs.
  /// Every buffer has pages of its own between guarded ones, ending with them as nearly as its
  /// alignment allows; what a dispatch only reads is write-protected while it runs. A fault becomes
  /// OutOfRange, which names the dispatch or kernel, its location and the buffer, and the engine
  /// goes on. The policy is heap whatever is asked for, `allocator` is not asked, arguments and
  /// parameters are copied, outputs as well. Not looked after: pools of the host's, raw pointers,
  /// buffers that the source puts on the stack. While such an engine lives SIGSEGV, SIGBUS and
  /// SIGFPE have handlers, which hand on to those before what is no fault of generated code. Slow,
  /// and calls take memory from the system.
  bool checked = false;
  /// Counts and times calls, dispatches, loads and the compiler's jobs
  /// (docs/design/observability.md). May be shared by several engines. Null: nothing is measured.
  std::shared_ptr<Profiler> profiler;
  /// If given, text is compiled in processes of their own, and what it does to the compiler is a
  /// status (docs/design/isolation.md): of 0 processes and threads there are as many as `threads`
  /// says. Empty: in this process.
  std::optional<jit::WorkerOptions> compileWorkers = std::nullopt;
  /// Of modules that do not choose their own. By default none: code for certain extents may differ
  /// from the general code in the last digits of a reduction, so that results would depend on when
  /// the background got to it, and a host has not asked for a thread that compiles. Not for a
  /// checked engine, nor for the oracle.
  SpecializationOptions specialization;
};

/// Memory of the host's, borrowed.
struct HostMemory {
  void *data = nullptr;
  size_t bytes = 0;
};

/// Memories for the pools that a module uses, by the name that the target gives them. Aligned to
/// PLIM_BUFFER_ALIGNMENT, or to what an allocation in the pool asks for.
using Pools = std::map<std::string, HostMemory>;

struct LoadOptions {
  /// Empty: the engine's.
  std::string policy;
  /// Stronger than the engine's; weaker than what the source says of a function or an allocation.
  std::vector<std::string> limits;
  /// The plain lowering that every optimisation is compared with: one dispatch per operation, no
  /// tiling, no vectorisation, every buffer from the heap.
  bool oracle = false;
  /// Stronger than the engine's.
  std::optional<jit::Numerics> numerics = std::nullopt;
  Parameters parameters;
  /// Stronger than the engine's. One that the module does not call is ignored.
  HostFunctions functions;
  /// The device that gets what the source gives to none, as far as it takes it: one of
  /// EngineOptions::devices, or a GPU of the target, "vulkan0" or "cuda0" of the target "host".
  /// What it refuses the host runs. InvalidArgument for one that the engine does not have,
  /// Unavailable where its driver is not there when it is linked. Empty: the host.
  std::string device;
  /// If not null, keeps the memory of the source, which nobody may write until the last copy of it
  /// is gone: large constants of bytecode that begins a page are then used where they lie, if they
  /// are aligned to PLIM_BUFFER_ALIGNMENT. Without, the module has copies.
  std::shared_ptr<const void> sourceOwner;
  /// Pools of all calls, which must outlive the module. Calls that use one of them run one after
  /// the other. Constants that the source puts in a pool take its end, which then belongs to this
  /// module alone, calls the rest.
  Pools pools;
  /// If not null, receives the assembly; the cache is then not read.
  std::string *assembly = nullptr;
  /// See jit::CompileOptions: what the IR is behind these stages; the cache is then not read.
  std::vector<std::string> irAfter = {};
  std::function<void(std::string_view stage, std::string_view text)> takeIr = {};
  /// Is told how far the compilation is, see jit::ProgressCallback; not for what comes from the
  /// cache.
  jit::ProgressCallback progress;
  /// Ends the load with Cancelled when a stop is requested: between two passes of the compiler, and
  /// between two functions of LLVM's code generator. Parsing runs to its end.
  std::stop_token stop = {};
  /// Ends the compilation with DeadlineExceeded in the same places, or anywhere in a process of its
  /// own. 0: never.
  std::chrono::nanoseconds timeout{0};
  /// What that is counted from; the load, unless it is a part of something that began before.
  std::optional<std::chrono::steady_clock::time_point> begin = {};
  /// Each function is compiled, with what it calls, when it is called first: the load parses and
  /// verifies the source, which the module keeps (docs/design/compile-time.md). What a function
  /// does to a memref its signature does not know: readwrite. Unimplemented, with the place, for a
  /// source with variables; InvalidArgument beside pools, assembly or IR, and for compile() and
  /// exportCode().
  bool lazy = false;
  /// Stronger than the engine's. A module that may have some keeps its source, or the mapped file.
  std::optional<SpecializationOptions> specialization;
};

/// What Engine::exportCode() makes.
struct ExportedCode {
  std::string object; // relocatable ELF
  std::string header; // for C11 and C++20
};

/// What the caller lends to one call. Calls that run at once must not share any of it.
struct CallOptions {
  /// Stronger than those bound at load.
  Pools pools;
  /// Buffers to write the results into, one for each of the signature, an empty handle where the
  /// call shall make one; or none at all. Dense, writable, of the result's type and extents, and
  /// apart from parameters, pools, donated arguments and each other; none for a result that an
  /// argument is donated to. They may overlap arguments: such a result is made in memory of the
  /// engine's and copied in the end, so that it is what it would be if all arguments had been
  /// copied before. What a failed call leaves in them is not defined.
  std::span<const runtime::Buffer> outputs = {};
  /// Memory for all that is planned, as large as Function::workspaceRequirement() says. With it
  /// only these take memory of the engine's or the system's: results without an output or with one
  /// that overlaps an argument, tensors that overlap a memref, the first call of a thread, which
  /// asks for the bounds of its stack, and the first one of sizes that have to be planned.
  std::optional<HostMemory> workspace;
  /// The variables of the call, made by the same module; null: those of the module.
  std::shared_ptr<ModuleState> state = nullptr;
  /// Ends the call with Cancelled when a stop is requested, as Event::cancel() does: loops of all
  /// functions, recursion and waits look for it, host functions do not.
  std::stop_token stop = {};
};

/// How a call runs by itself.
struct AsyncOptions {
  /// What it lends must stay until the call has ended; the span of outputs need not.
  CallOptions call;
  /// Which call a free worker begins first.
  runtime::Priority priority = runtime::Priority::Normal;
  /// The calls, of any engine, that must have ended before this one begins. If one of them fails
  /// this one does not run and has the same code. Results get from one to the other in buffers that
  /// are outputs of the first and arguments of the second.
  std::span<const Event> after = {};
};

struct WorkspaceRequirement {
  size_t bytes = 0;
  size_t alignment = PLIM_BUFFER_ALIGNMENT;
};

/// What a load did.
struct LoadStatistics {
  bool fromCache = false;
  bool precompiled = false; // the source was an artifact
  /// Of the module's constants, bytes that were in memory already, for other modules of the engine.
  int64_t sharedConstantBytes = 0;
  jit::CompileTimes compile; // zero when from the cache
  double linkSeconds = 0;
  double totalSeconds = 0;
};

/// Code of a module for certain extents.
struct SpecializationStatistics {
  int64_t made = 0;    // since the load
  int64_t inWork = 0;  // in the background, now
  int64_t failed = 0;  // in the background; not tried again
  int64_t evicted = 0; // of those made
  int64_t calls = 0;   // that found code for their extents
};

/// Memory of all calls, by what it is for.
struct EngineMemoryStatistics {
  runtime::MemoryPoolStatistics buffers;    // results, and buffers that have no plan
  runtime::MemoryPoolStatistics workspaces; // the slabs of calls
  runtime::MemoryPoolStatistics scratch;    // of the dispatches that run

  /// `peakBytes` adds up the peaks: calls never held more at once.
  runtime::MemoryPoolStatistics total() const;
};

/// A public function of a module; a light handle.
class Function {
public:
  const jit::FunctionSignature &signature() const { return *description; }

  /// Checks the arguments against the signature, runs the function and returns its results in
  /// buffers of their own. Blocks until the call is over.
  ///
  /// A buffer must be dense unless its type has strides; those that are static must agree.
  /// Arguments may overlap. A tensor is the value that it had before the call; memrefs are memory,
  /// which the function reads and writes in the order of its source. A donated tensor (`donatedTo`
  /// in the signature) is given up: its buffer comes back as the result that it is donated to,
  /// whose extents it must have. That buffer must be writable and apart from all other memory of
  /// the call. What a failed call leaves in it is not defined.
  ///
  /// The function runs on the calling thread if that has `signature().stackBytes` left, otherwise
  /// on a thread of the engine; ResourceExhausted if none can have so much. Needs 16 KiB on the
  /// calling thread.
  ///
  /// A failure inside the function comes back with its location. (Extents that only the call finds
  /// out are such a failure.) All other errors are found before anything runs:
  ///
  /// - InvalidArgument names the argument that does not fit, and how. Also an argument to be
  ///   written that overlaps a parameter or a constant, and any that overlaps a pool, the workspace
  ///   or a variable;
  /// - InvalidArgument for memory in `options` that cannot be: a pool that the module does not
  ///   have, a state of another module, a wrong alignment, memory that is given twice, an output
  ///   that does not fit;
  /// - FailedPrecondition for a pool that nobody bound, or a workspace where the function can have
  ///   none;
  /// - ResourceExhausted, with what is missing, for memory that is too small.
  StatusOr<std::vector<runtime::Value>> call(std::span<const runtime::Value> arguments,
                                             const CallOptions &options = {}) const;

  /// The same into `results`, one for each of the signature, whose old contents are dropped, or
  /// none, where nobody wants them. In steady state it takes no memory from the system. On failure
  /// `results` are untouched.
  Status callInto(std::span<const runtime::Value> arguments, std::span<runtime::Value> results,
                  const CallOptions &options = {}) const;

  /// The same without waiting. The call runs on a worker of the engine's, or on a thread that waits
  /// for its end. Without workers, and after a fork, it runs before this returns; started inside of
  /// another such call, it runs when that one has ended. The engine, the arguments and the outputs
  /// are kept until the call has ended; nobody may write them in between. All errors are the
  /// event's. In steady state it takes no memory from the system.
  Event callAsync(std::span<const runtime::Value> arguments,
                  const AsyncOptions &options = {}) const;

  /// What CallOptions::workspace must have for any call of this function: the slab, and the scratch
  /// of every thread that may run a part of it. FailedPrecondition, with the reason, if the
  /// function takes memory from the allocator for other than its results, or if its temporaries are
  /// as large as its arguments make them. Constant while the engine lives.
  StatusOr<WorkspaceRequirement> workspaceRequirement() const;
  /// The same for a call with these arguments, whose extents alone count; also the errors of call()
  /// for arguments that do not fit.
  StatusOr<WorkspaceRequirement>
  workspaceRequirement(std::span<const runtime::Value> arguments) const;

  /// The stack that a call needs on the thread that runs its host code. 0 for a function of a lazy
  /// module that has no code yet.
  size_t stackBytes() const;

  /// Makes code for the extents of these arguments, of which nothing else counts, before it
  /// returns. Calls with these extents use it from then on, as long as it is not evicted. The
  /// results are the same but for the order in which sums are taken, and so are all errors. Ok if
  /// there is such code. FailedPrecondition if the module may have none
  /// (LoadOptions::specialization); also the errors of call() for arguments that do not fit, and of
  /// a load.
  Status specialize(std::span<const runtime::Value> arguments) const;

  /// The raw pointer of a kernel, valid while the module lives. Null for other functions, and for
  /// kernels whose signature says `rawTakesContext`. In a lazy module the function is compiled
  /// first if it has no code, and null means as well that this fails.
  ///
  /// It has C's calling convention. Its arguments are those of the signature in order: a scalar by
  /// value; a memref as a pointer to its first element, followed by one int64_t for each dynamic
  /// extent and, if its layout is strided, one for each dynamic stride.
  ///
  /// All of it runs on the thread that calls, parallel loops too. Nothing checks that thread's
  /// stack, which must have `signature().stackBytes` left. What would fail a call, such as a
  /// division by zero, ends this one silently, with a result of zero. Nothing stops it.
  void *rawPointer() const;

private:
  friend class Module;
  friend class Event;
  friend class session::Call;
  friend class session::DeferredFunctions;
  friend class session::LentMemory;
  Function(std::shared_ptr<const Module> module, const jit::FunctionSignature *description);
  runtime::Executor &executor() const;
  Status callDeferred(std::span<const runtime::Value> arguments, std::span<runtime::Value> results,
                      const CallOptions &options) const;

  std::shared_ptr<const Module> module;
  const jit::FunctionSignature *description;
  session::DeferredFunction *deferred = nullptr; // of a lazy module; null in others
  FunctionCode general;                          // of the module; none in a lazy one
  Specializations *specializations = nullptr;    // of the module; null if there are none
  size_t position;                               // among its functions
  std::vector<runtime::ElementType> argumentTypes, resultTypes;
  static constexpr size_t noDonor = ~size_t(0);
  std::vector<size_t> donors; // by result: the argument whose memory it takes
  bool writesArguments = false;
  bool hasVariants;  // a kernel that runs faster where its memrefs have no byte in common
  bool mixesTensors; // and memrefs
};

/// A linked module. Its code and data are freed with the last handle to it and its functions.
class Module : public std::enable_shared_from_this<Module> {
public:
  ~Module();

  /// NotFound, with the nearest name, if the module has no such public function.
  StatusOr<Function> lookup(std::string_view name) const;
  const std::vector<jit::FunctionSignature> &functions() const;
  /// Variables of their own for calls that name them, as they are in the beginning. Never fails for
  /// a module without variables. ResourceExhausted without memory.
  StatusOr<std::shared_ptr<ModuleState>> createState() const;
  /// Is each function compiled when it is called first?
  bool isLazy() const;
  /// JSON: every placement, access and dispatch, with the reason. Empty for a lazy module.
  const std::string &report() const;
  const LoadStatistics &statistics() const;
  SpecializationStatistics specializationStatistics() const;

private:
  friend class Engine;
  friend class Function;
  friend class Specializations;
  friend class session::Call;
  friend class session::DeferredFunctions;
  friend class session::LentMemory;
  friend class session::Linking;
  Module();
  /// Runs the function that writes them, once.
  Status prepareConstants(const jit::FunctionSignature &preparing) const;
  struct State;
  std::unique_ptr<State> state;
};

class Engine : public std::enable_shared_from_this<Engine> {
public:
  /// Resolves the target, starts the JIT session. InvalidArgument for an unknown policy or limit;
  /// InvalidArgument or NotFound for a bad target, Unavailable if executable memory cannot be
  /// mapped. A cache that cannot be used is logged, not fatal.
  static StatusOr<std::shared_ptr<Engine>> create(EngineOptions options);
  ~Engine();

  const targets::TargetDescription &target() const;
  const EngineOptions &options() const;
  int threads() const;

  /// A dense buffer in memory of the engine, which results come from too: see
  /// runtime::Buffer::allocate.
  StatusOr<runtime::Buffer> allocate(runtime::ElementType type,
                                     std::span<const int64_t> shape) const;

  EngineMemoryStatistics memoryStatistics() const;
  /// Gives all memory that waits for reuse back to the system; the next calls take it anew.
  void trimMemory();

  /// Compiles `source` (MLIR text or bytecode), or takes it from the cache, and links it. A located
  /// message for a source that is not accepted; FailedPrecondition for a parameter, or a function
  /// of the host application, that is missing, or a pool that constants live in; InvalidArgument
  /// for one that does not fit, or a parameter or pool that the module does not have;
  /// ResourceExhausted for a pool too small for its constants. `source` may also be what
  /// jit::serialize() wrote of an artifact that compile() made, by this very version of the
  /// library; then nothing is compiled. Code is trusted: load only your own. Policy, limits,
  /// oracle, assembly and specialization are for compiling, so that they are InvalidArgument here.
  /// DataLoss for one that is damaged or of another version; also the errors of link().
  StatusOr<std::shared_ptr<Module>> load(std::string_view source, std::string_view sourceName,
                                         const LoadOptions &options = {});
  /// The same for a file, with the errors of readSource. Bytecode is mapped: while the module lives
  /// its file must be neither written nor truncated; that it is replaced or removed does not
  /// matter.
  StatusOr<std::shared_ptr<Module>> loadFile(const std::string &path,
                                             const LoadOptions &options = {});

  /// A load that runs by itself, on a thread of its own (LoadThreads.h): `work`, mostly load() or
  /// loadFile() with these options, whose `stop` is then that of the event, which the given one
  /// requests as well. As many as the engine has threads run at once, others wait for their turn;
  /// `timeout` counts from here. All errors of the load are the event's. The engine, and what
  /// `work` and `options` have, are kept until it has ended; what they borrow must stay.
  /// ResourceExhausted without a thread; FailedPrecondition in a forked child.
  using LoadWork =
      std::function<StatusOr<std::shared_ptr<Module>>(Engine &engine, const LoadOptions &options)>;
  StatusOr<Event> loadAsync(LoadWork work, LoadOptions options = {});

  /// The whole of a file or a pipe, as io::readWhole() reads it, with its errors.
  static StatusOr<std::string> readSource(const std::string &path);

  /// Compiles, or takes it from the cache, without linking.
  StatusOr<jit::Artifact> compile(std::string_view source, std::string_view sourceName,
                                  const LoadOptions &options);
  /// Code for a program without the engine, whose functions have `exportName` and '_' in front of
  /// their names (docs/design/export.md). InvalidArgument for a name that C cannot have;
  /// Unimplemented, with the place, for what needs the engine; FailedPrecondition for a function
  /// that takes more stack than the target has. Parameters, host functions and pools are the
  /// program's.
  StatusOr<ExportedCode> exportCode(std::string_view source, std::string_view sourceName,
                                    std::string_view exportName, const LoadOptions &options = {});
  /// Links what compile() made, here or in another process. FailedPrecondition for code of another
  /// architecture or with an ISA feature that this machine does not have, or if only one of engine
  /// and code is checked.
  StatusOr<std::shared_ptr<Module>> link(jit::Artifact artifact, Parameters parameters,
                                         const Pools &pools = {},
                                         const HostFunctions &functions = {});

private:
  friend class Function;
  friend class Module;
  friend class Specializations;
  friend class session::Call;
  friend class session::DeferredFunctions;
  friend class session::LentMemory;
  friend class session::Linking;
  Engine();
  const std::string &policyOf(const LoadOptions &options) const;
  /// InvalidArgument for a device that the engine does not have.
  StatusOr<jit::CompileOptions> compileOptionsOf(const LoadOptions &options) const;
  /// `digest` is State::digestOf(source). With `only`, of that function alone.
  StatusOr<std::shared_ptr<Module>> load(std::string_view source, const Digest &digest,
                                         std::string_view sourceName, const LoadOptions &options,
                                         std::chrono::steady_clock::time_point start,
                                         std::string_view only = {});
  StatusOr<std::shared_ptr<Module>> loadLazily(std::string_view source, const Digest &digest,
                                               std::string_view sourceName,
                                               const LoadOptions &options,
                                               std::chrono::steady_clock::time_point start);
  StatusOr<std::shared_ptr<Module>> loadCompiled(jit::Artifact artifact, std::string_view name,
                                                 const LoadOptions &options,
                                                 std::chrono::steady_clock::time_point start);
  StatusOr<std::shared_ptr<Module>> linkTimed(jit::Artifact artifact, const LoadOptions &options,
                                              LoadStatistics statistics,
                                              std::chrono::steady_clock::time_point start);
  struct State;
  std::unique_ptr<State> state;
};

} // namespace plim
