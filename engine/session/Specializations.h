// Specializations: code of a module's functions for extents that its calls keep coming with.
//
// The extents that the source leaves open are the key. Each call looks for code for its extents in
// a table of a fixed number of slots. Of the calls that find none a sample is timed. Extents that
// took long enough in all are compiled in the background; the host may also ask for code at once.
// Until then calls run the general code. When all slots are taken, the slot that was not used for
// longest is emptied, if no call runs its code and it has not been used of late.
//
// Variables, parameters, pools, host functions and constants are those of the module. Extents whose
// code needs a pool that the general code does not, or whose compilation fails, are remembered and
// not tried again.
//
// A call that runs code of a slot counts itself in and out there, on one of several cache lines. A
// slot is emptied in the order: no call finds it any more, then no call is in it. Both sides are
// sequentially consistent, so a call that counted itself in too late sees that the slot is not its
// own, and leaves.
//
// Threads: any, for all methods. Calls neither wait nor allocate.
#pragma once

#include "engine/runtime/Value.h"
#include "engine/session/DevicePool.h"
#include "engine/session/Engine.h"
#include "engine/session/FunctionCode.h"
#include "jit/Compiler.h"
#include "jit/Session.h"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace plim {

/// What code calls outside of itself; it must live as long as the code does.
using Externals = std::vector<std::unique_ptr<const plim_external>>;

/// Code for certain extents, with what it borrows.
struct SpecializedCode {
  FunctionCode code;
  jit::FunctionSignature signature;
  Externals externals; // its own: dispatches of devices
  /// Those that it was linked with; copies where only this code needs them aligned.
  std::vector<runtime::Buffer> parameters;
  std::unique_ptr<jit::LinkedModule> linked;
  std::unique_ptr<CallPlanner> planner;
  /// As Module::State has them, for the pools of this code.
  std::vector<std::unique_ptr<DevicePool>> devicePools;
  /// Of the pools and variables that the code knows, in its order, the positions among the
  /// module's; of what devices give, nothing is to be found there.
  std::vector<uint32_t> pools, variables;
};

/// What a module was compiled from.
struct ModuleSource {
  std::string_view text; // or bytecode
  Digest digest;         // Engine::State::digestOf(text)
  std::string name;
  jit::CompileOptions options; // of the general code
  HostFunctions functions;     // of the load
};

class Specializations : public std::enable_shared_from_this<Specializations> {
  struct Slot;
  struct Stripe;

public:
  /// Extents that took so long in the general code, as the sample tells, are compiled: about what
  /// it takes.
  static constexpr double hotSeconds = 0.05;
  /// One call of so many is looked at, at random: sizes that come in turn must not hide behind a
  /// step.
  static constexpr uint32_t sampleEvery = 8;
  /// A slot that no call used during so many samples may be emptied for other extents.
  static constexpr uint64_t idleSamples = 512;

  /// For a module, which calls close() before it goes; null if no function has dynamic extents.
  static std::shared_ptr<Specializations> create(Module &module, ModuleSource source,
                                                 const SpecializationOptions &options);

  /// One call: what it runs, and that it does. Lives until no generated code of it runs any more.
  class Call {
  public:
    /// `table` may be null.
    Call(Specializations *table, size_t function, std::span<const runtime::Value> arguments);
    ~Call() { leave(); }
    Call(const Call &) = delete;
    Call &operator=(const Call &) = delete;

    /// Null: the general code.
    const SpecializedCode *code() const { return special; }
    /// Runs the general code after all.
    void leave();
    /// Right before and after the code runs; `end` when it has succeeded.
    void begin() {
      if (isSampled)
        start = std::chrono::steady_clock::now();
    }
    void end();

  private:
    Specializations *table;
    const size_t function;
    const std::span<const runtime::Value> arguments;
    uint64_t hash = 0;
    bool isSampled = false;
    const SpecializedCode *special = nullptr;
    Stripe *stripe = nullptr;
    std::chrono::steady_clock::time_point start;
  };

  /// Compiles for the extents of the arguments, which fit the signature, before it returns. Ok if
  /// there is such code already, or nothing to specialise. ResourceExhausted if every slot is in
  /// use by a call.
  Status make(size_t function, std::span<const runtime::Value> arguments);

  SpecializationStatistics statistics() const;

  /// No code is made any more, and that which is goes. When no call runs.
  void close();

  ~Specializations();

private:
  /// Of a function: which extents of which arguments are the key.
  struct Positions {
    std::vector<std::pair<uint32_t, uint32_t>> extents; // argument, dimension
    std::vector<std::vector<int64_t>> failed;           // by `mutex`: extents that have no code
  };
  /// Extents that calls came with.
  struct Heat {
    uint64_t hash = 0; // 0: free
    size_t function = 0;
    std::vector<int64_t> extents;
    double seconds = 0;
    uint64_t lastSeen = 0; // of `samples`
  };

  Specializations(Module &module, ModuleSource source, const SpecializationOptions &options);

  uint64_t hashOf(size_t function, std::span<const runtime::Value> arguments) const;
  bool matches(std::span<const int64_t> extents, size_t ofFunction, size_t function,
               std::span<const runtime::Value> arguments) const;
  std::vector<int64_t> extentsOf(size_t function, std::span<const runtime::Value> arguments) const;
  void record(size_t function, std::span<const runtime::Value> arguments, uint64_t hash,
              double seconds);
  /// In the background.
  void makeHot(size_t function, const std::vector<int64_t> &extents, uint64_t hash,
               const std::stop_token &stop);
  /// From the cache or the compiler. Does not touch the module.
  StatusOr<jit::Artifact> compile(const jit::Specialization &specialization, bool onWorkers,
                                  const std::stop_token &stop) const;

  // With `mutex`.
  /// Takes the externals if it succeeds.
  StatusOr<std::unique_ptr<SpecializedCode>> link(size_t function, const jit::Artifact &artifact,
                                                  Externals &externals) const;
  /// Links and puts it in a slot: a free one, or one that was not used during the last `idle`
  /// samples. `gone` gets what is to be destroyed when the mutex is free again.
  Status publish(size_t function, const std::vector<int64_t> &extents, uint64_t hash,
                 const jit::Artifact &artifact, Externals &externals, uint64_t idle,
                 std::unique_ptr<SpecializedCode> &gone);
  bool canEmpty(size_t slot, uint64_t idle) const;
  bool hasRoom() const;
  bool isThere(size_t function, const std::vector<int64_t> &extents, uint64_t hash) const;

  ModuleSource source; // immutable when it is made
  const SpecializationOptions options;
  Engine::State &engine;            // outlives the thread that jobs run on
  std::vector<std::string> names;   // of the functions, in the order of the artifact
  std::vector<Positions> functions; // likewise

  /// By slot, what calls search; 0 where nothing is to be found.
  std::unique_ptr<std::atomic<uint64_t>[]> hashes;
  std::vector<std::unique_ptr<Slot>> slots;
  std::atomic<uint64_t> samples{0}; // calls looked at, and slots filled

  mutable std::mutex mutex;
  // Under it.
  Module *module; // null when it is closed
  std::vector<Heat> heats;
  SpecializationStatistics counts;
};

} // namespace plim
