// What Engine, Module and Function share behind the facade: their states. For engine/session alone.
//
// Members are destroyed in reverse, so that their order matters. Threads: what Engine::create() or
// a link filled in is not changed any more; what may change has a mutex, or is an object that any
// thread may use.
#pragma once

#include "engine/abi/plim_abi.h"
#include "engine/runtime/Executor.h"
#include "engine/runtime/FaultGuard.h"
#include "engine/runtime/GuardedMemory.h"
#include "engine/runtime/HostCall.h"
#include "engine/session/Background.h"
#include "engine/session/CallPlanner.h"
#include "engine/session/Checks.h"
#include "engine/session/Deferred.h"
#include "engine/session/DevicePool.h"
#include "engine/session/Engine.h"
#include "engine/session/EventPool.h"
#include "engine/session/GuardedData.h"
#include "engine/session/LoadThreads.h"
#include "engine/session/Specializations.h"
#include "engine/session/TileFallback.h"
#include "jit/ArtifactCache.h"
#include "jit/CompileWorkers.h"
#include "jit/Session.h"

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plim {

/// Names and addresses for the linker. Borrows the externals.
std::vector<jit::ExternalBinding> bindingsOf(const Externals &externals);

struct Engine::State {
  EngineOptions options;
  targets::TargetDescription target;
  /// What this machine really is; `target` may be another one, or have been overridden.
  targets::TargetDescription host;
  /// GPUs of the target that the engine runs by itself.
  Devices gpus;
  /// There are none unless both this machine and the target have tile registers.
  std::optional<session::TileFallback> tiles;
  targets::TargetDescription targetWithoutTiles;
  /// Null unless the engine is checked.
  std::shared_ptr<runtime::GuardedMemory> guarded;
  std::optional<runtime::FaultHandlers> handlers;
  std::shared_ptr<runtime::MemoryPool> pool;
  /// Of workspaces. Keeps what calls ran with at once, whatever its size: see ~Module.
  std::unique_ptr<runtime::MemoryPool> slabs;
  /// Of scratch; kept by the executor's cache.
  std::shared_ptr<runtime::MemoryPool> scratch;
  /// Of modules with policy heap: one malloc for each buffer.
  std::shared_ptr<runtime::MemoryPool> heap;
  std::unique_ptr<runtime::Executor> executor;
  std::shared_ptr<EventPool> events = std::make_shared<EventPool>();
  std::shared_ptr<jit::Session> session;
  std::optional<jit::ArtifactCache> cache;
  // What keys of the cache have of the target, and of the program of compile workers.
  std::string compiledTarget, compiledTargetWithoutTiles, workerIdentity;
  std::optional<jit::CompileWorkers> compileWorkers;

  struct Compiled {
    jit::Artifact artifact;
    jit::CompileTimes times; // zero if it is from the cache
    bool fromCache = false;
  };
  /// What the cache's key has of a source.
  Digest digestOf(std::string_view source) const;
  /// From the cache or the compiler, for `target`.
  StatusOr<Compiled> compile(std::string_view source, const Digest &digest,
                             std::string_view sourceName,
                             const jit::CompileOptions &compileOptions);
  /// The same for this process: without tile registers if the kernel refuses them to it.
  StatusOr<Compiled> compileToRun(std::string_view source, const Digest &digest,
                                  std::string_view sourceName,
                                  const jit::CompileOptions &compileOptions);
  /// What keys of the cache have of a target.
  static std::string keyOf(const targets::TargetDescription &target);
  StatusOr<Compiled> compileFor(const targets::TargetDescription &codeTarget,
                                const std::string &targetKey, std::string_view source,
                                const Digest &digest, std::string_view sourceName,
                                const jit::CompileOptions &compileOptions);

  /// Borrows the workers.
  jit::ParallelFor parallelFor() {
    return [this](size_t count, const std::function<void(size_t)> &job) {
      executor->parallelFor(count, job);
    };
  }

  /// Notes that constants of a module are in these memories, which no other module's may be.
  Status claim(const std::vector<HostMemory> &memories) {
    std::lock_guard lock(claimsMutex);
    for (const HostMemory &memory : memories)
      for (const HostMemory &other : claims)
        if (session::overlap(memory, other))
          return invalidArgumentError("a pool holds the constants of another module: give this one "
                                      "other memory");
    claims.insert(claims.end(), memories.begin(), memories.end());
    return okStatus();
  }
  /// Binds functions of the load or else of the engine, and loads the code of devices.
  /// FailedPrecondition for what nobody has, InvalidArgument for a function of another type, and
  /// whatever a device says of its code.
  StatusOr<Externals> bindExternals(const jit::Artifact &artifact, const HostFunctions &ofLoad);
  std::vector<jit::DeviceCompiler> deviceCompilers() const;
  /// Of the host application, or a GPU of our own, which the target may leave out: code may come
  /// from elsewhere. Null: none.
  std::shared_ptr<const Device> deviceOf(const std::string &name) const;
  /// The device that brings a memory of the target; null: none.
  const Device *providerOf(const targets::MemoryDescription &memory) const;
  /// The memories of the target that devices bring.
  std::vector<std::string> deviceMemories() const;
  std::vector<std::unique_ptr<DevicePool>> makeDevicePools(const jit::Artifact &artifact) const;
  /// Tells the devices that the module has code for of its constants, which must have their values.
  /// The result goes before the module.
  std::vector<std::shared_ptr<const void>> keepConstants(const Externals &externals,
                                                         const jit::LinkedModule &module) const;
  /// Is there a compiler for the device of that name? Empty is none.
  Status checkDevice(const std::string &name) const;
  /// What the host functions with this function and user take turns with.
  std::shared_ptr<std::timed_mutex> turnOf(const HostFunction &function) {
    std::lock_guard lock(turnsMutex);
    std::erase_if(turns, [](const auto &turn) { return turn.second.expired(); });
    std::weak_ptr<std::timed_mutex> &turn = turns[{function.function, function.user}];
    std::shared_ptr<std::timed_mutex> mutex = turn.lock();
    if (!mutex)
      turn = mutex = std::make_shared<std::timed_mutex>();
    return mutex;
  }
  void release(const std::vector<HostMemory> &memories) {
    std::lock_guard lock(claimsMutex);
    for (const HostMemory &memory : memories)
      std::erase_if(claims, [&](const HostMemory &other) { return other.data == memory.data; });
  }

private:
  std::mutex claimsMutex;
  std::vector<HostMemory> claims;
  std::mutex turnsMutex;
  std::map<std::pair<plim_host_function, void *>, std::weak_ptr<std::timed_mutex>> turns;

public:
  /// Last: their jobs use the rest.
  Background background;
  std::optional<LoadThreads> loads;
};

struct Module::State {
  std::shared_ptr<Engine> engine;
  jit::Artifact artifact; // its objects and data are dropped after linking
  Parameters parameters;
  Pools pools;                       // bound at load, without what constants take of them
  std::vector<HostMemory> constants; // in the pools, claimed from the engine
  std::map<std::string, std::byte *, std::less<>> pinned; // those constants, by name
  std::optional<GuardedData> guarded; // all other data, if the engine is checked
  Externals externals;
  /// By the position of the pool, null for those that no device has memory for; empty: all of them.
  std::vector<std::unique_ptr<DevicePool>> devicePools;
  std::unique_ptr<jit::LinkedModule> linked;
  std::vector<std::shared_ptr<const void>>
      keptConstants;                         // by devices; before what they lie in goes
  std::shared_ptr<runtime::MemoryPool> pool; // of results and unplanned buffers
  std::shared_ptr<const StateLayout> layout;
  std::shared_ptr<ModuleState> variables; // of calls that name no others
  LoadStatistics statistics;
  /// Of the functions whose temporaries have sizes that only a call knows.
  std::map<const jit::FunctionSignature *, std::unique_ptr<CallPlanner>> planners;
  /// Null if there are none.
  std::shared_ptr<Specializations> specializations;
  /// Null unless the module is lazy: then it has no code, and no data, of its own.
  std::unique_ptr<session::DeferredFunctions> deferred;
  /// Held by calls that use pools bound at load.
  mutable std::timed_mutex poolMutex;
};

} // namespace plim
