// Engines: compile modules for one target and run them (engine.h).
//
//   plimsoll::EngineOptions options = {.threads = 4};
//   plimsoll::Result<plimsoll::Engine> engine = plimsoll::Engine::create(options);
//   plimsoll::Result<plimsoll::Module> module = engine->load(source, "net.mlir");
//
// Threads: any, for all members, at any time, as in C; not so for options while they are used.
#pragma once

#include "plimsoll/device.hpp"
#include "plimsoll/engine.h"
#include "plimsoll/module.hpp"
#include "plimsoll/target.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace plimsoll {

/// plim_compile_workers.
struct CompileWorkers {
  uint32_t processes = 0;
  uint64_t memoryBytes = 0;
  std::chrono::nanoseconds deadline{0};
  std::string program = {};
  uint32_t flags = 0; // PLIM_COMPILE_WORKERS_...
};

/// plim_engine_options. Read by Engine::create() and not kept, but for the target, devices and host
/// functions, which it retains, and `log` and the allocator, which it copies.
struct EngineOptions {
  uint32_t flags = 0; // PLIM_ENGINE_...
  const Target *target = nullptr;
  uint32_t threads = 0;
  std::string policy = {};
  plim_numerics numerics = PLIM_NUMERICS_UNSPECIFIED;
  Limits limits = {};
  std::string cacheFolder = {};
  uint64_t cacheBytes = 0;
  plim_log_level logLevel = PLIM_LOG_WARNING; // messages below it are not made
  /// Empty: silent. Called from any thread, several at once; must not throw. The engine's copy is
  /// destroyed when the engine has ended.
  std::function<void(plim_log_level level, std::string_view message)> log = {};
  const plim_allocator *allocator = nullptr;
  const HostFunctions *hostFunctions = nullptr;
  plim_core_kind cores = PLIM_CORES_ANY;
  uint32_t numaNode = 0; // with PLIM_ENGINE_NUMA_NODE
  plim_specialization specialization = PLIM_SPECIALIZATION_DEFAULT;
  uint32_t specializationCount = 0;
  std::vector<Device> devices = {};
  std::optional<CompileWorkers> compileWorkers = {};
};

/// What Engine::exportCode() makes.
struct ExportedCode {
  /// Takes over one owner of the object.
  explicit ExportedCode(plim_bytes *object) : object(object) {}
  Bytes object; // relocatable ELF
  Bytes header; // text
};

/// A plim_engine. Modules, functions, states and events keep it; its threads end with the last of
/// them all, whose destructor waits for that.
class Engine : public detail::Handle<plim_engine, plim_engine_retain, plim_engine_release> {
public:
  using Handle::Handle;

  static Result<Engine> create(const EngineOptions &options = {}) {
    using Log = std::function<void(plim_log_level, std::string_view)>;
    const plim_limits limits = detail::limitsOf(options.limits);
    auto given = detail::sized<plim_engine_options>();
    given.flags = options.flags;
    given.target = options.target ? options.target->get() : nullptr;
    given.threads = options.threads;
    given.policy = detail::orNull(options.policy);
    given.numerics = options.numerics;
    given.limits = &limits;
    given.cache_folder = detail::orNull(options.cacheFolder);
    given.cache_bytes = options.cacheBytes;
    given.allocator = options.allocator;
    given.host_functions = options.hostFunctions ? options.hostFunctions->get() : nullptr;
    given.cores = options.cores;
    given.numa_node = options.numaNode;
    given.specialization = options.specialization;
    given.specialization_count = options.specializationCount;
    std::vector<const plim_device *> devices;
    for (const Device &device : options.devices)
      devices.push_back(device.get());
    given.devices = devices.data();
    given.device_count = devices.size();
    auto workers = detail::sized<plim_compile_workers>();
    if (options.compileWorkers) {
      workers.processes = options.compileWorkers->processes;
      workers.memory_bytes = options.compileWorkers->memoryBytes;
      workers.deadline_nanoseconds = uint64_t(options.compileWorkers->deadline.count());
      workers.program = detail::orNull(options.compileWorkers->program);
      workers.flags = options.compileWorkers->flags;
      given.compile_workers = &workers;
    }
    std::unique_ptr<Log> log;
    auto logger = detail::sized<plim_logger>();
    if (options.log) {
      log = std::make_unique<Log>(options.log);
      logger.level = options.logLevel;
      logger.log = [](void *user, plim_log_level level, const char *message, size_t size) noexcept {
        (*static_cast<Log *>(user))(level, {message, size});
      };
      logger.user = log.get();
      logger.release_user = detail::destroy<Log>;
      given.logger = &logger;
    }
    auto engine = detail::make<Engine, plim_engine>(
        [&](plim_engine **out) { return plim_engine_create(&given, out); });
    if (engine)
      static_cast<void>(log.release());
    return engine;
  }

  /// plim_module_load(). Blocks; `source` may go when it returns.
  Result<Module> load(std::string_view source, const std::string &name,
                      const LoadOptions &options = {}) const {
    return with<Module, plim_module>(options, [&](auto *given, plim_module **out) {
      return plim_module_load(get(), source.data(), source.size(), name.c_str(), given, out);
    });
  }
  Result<Module> loadFile(const std::string &path, const LoadOptions &options = {}) const {
    return with<Module, plim_module>(options, [&](auto *given, plim_module **out) {
      return plim_module_load_file(get(), path.c_str(), given, out);
    });
  }
  /// plim_module_load_async(): the same without waiting for it. `source` and `options` may go when
  /// it returns, but for the memory of pools.
  Result<LoadEvent> loadAsync(std::string_view source, const std::string &name,
                              const LoadOptions &options = {}) const {
    return startLoad(options, [&](auto *given, plim_event **out) {
      return plim_module_load_async(get(), source.data(), source.size(), name.c_str(), given, out);
    });
  }
  Result<LoadEvent> loadFileAsync(const std::string &path, const LoadOptions &options = {}) const {
    return startLoad(options, [&](auto *given, plim_event **out) {
      return plim_module_load_file_async(get(), path.c_str(), given, out);
    });
  }
  /// plim_module_compile(): an artifact.
  Result<Bytes> compile(std::string_view source, const std::string &name,
                        const LoadOptions &options = {}) const {
    return with<Bytes, plim_bytes>(options, [&](auto *given, plim_bytes **out) {
      return plim_module_compile(get(), source.data(), source.size(), name.c_str(), given, out);
    });
  }

  /// plim_module_export(): an object and a C header, for programs without the engine.
  Result<ExportedCode> exportCode(std::string_view source, const std::string &name,
                                  const std::string &exportName,
                                  const LoadOptions &options = {}) const {
    plim_bytes *header = nullptr;
    auto code = with<ExportedCode, plim_bytes>(options, [&](auto *given, plim_bytes **out) {
      return plim_module_export(get(), source.data(), source.size(), name.c_str(),
                                exportName.c_str(), given, out, &header);
    });
    if (code)
      code->header = Bytes(header);
    return code;
  }

  Result<Target> target() const {
    return detail::make<Target, plim_target>(
        [&](plim_target **out) { return plim_engine_target(get(), out); });
  }
  uint32_t threads() const { return plim_engine_threads(get()); }
  Result<plim_memory_statistics> memoryStatistics() const {
    auto statistics = detail::sized<plim_memory_statistics>();
    if (Status status(plim_engine_memory_statistics(get(), &statistics)); !status.ok())
      return status;
    return statistics;
  }
  /// Gives memory that is kept for later calls back.
  Status trim() const { return Status(plim_engine_trim(get())); }
  Result<Report> statistics() const {
    return detail::make<Report, plim_report>(
        [&](plim_report **out) { return plim_engine_statistics(get(), out); });
  }
  Result<Report> trace() const {
    return detail::make<Report, plim_report>(
        [&](plim_report **out) { return plim_engine_trace(get(), out); });
  }

private:
  using Progress = std::function<void(double)>;

  /// The event of a load that `begin` begins, which has a copy of what progress is told to.
  template <typename BeginT>
  static Result<LoadEvent> startLoad(const LoadOptions &options, BeginT begin) {
    auto progress = std::make_unique<Progress>(options.progress);
    auto event = with<LoadEvent, plim_event>(options, begin, progress.get());
    if (!event || !*progress)
      return event;
    auto ignore = [](void *, plim_event *) noexcept {};
    if (Status status(
            plim_event_then(event->get(), ignore, progress.get(), detail::destroy<Progress>));
        !status.ok()) {
      static_cast<void>(event->cancel());
      static_cast<void>(event->wait());
      return status;
    }
    static_cast<void>(progress.release());
    return event;
  }

  /// What `create` makes with these options, and with `progress` in place of theirs if it is given.
  template <typename HandleT, typename T, typename CreateT>
  static Result<HandleT> with(const LoadOptions &options, CreateT create,
                              const Progress *progress = nullptr) {
    if (!progress)
      progress = &options.progress;
    const plim_limits limits = detail::limitsOf(options.limits);
    auto given = detail::sized<plim_load_options>();
    given.flags = (options.oracle ? PLIM_LOAD_ORACLE : 0) | (options.lazy ? PLIM_LOAD_LAZY : 0);
    given.numerics = options.numerics;
    given.timeout_nanoseconds = static_cast<uint64_t>(options.timeout.count());
    given.policy = detail::orNull(options.policy);
    given.limits = &limits;
    given.parameters = options.parameters ? options.parameters->get() : nullptr;
    given.host_functions = options.hostFunctions ? options.hostFunctions->get() : nullptr;
    const std::vector<plim_pool> pools = detail::poolsOf(options.pools);
    given.pools = pools.data();
    given.pool_count = pools.size();
    given.specialization = options.specialization;
    given.specialization_count = options.specializationCount;
    given.device = detail::orNull(options.device);
    given.stop = options.stop ? options.stop->get() : nullptr;
    if (*progress) {
      given.progress = [](void *user, double fraction) noexcept {
        (*static_cast<const Progress *>(user))(fraction);
      };
      given.progress_user = const_cast<Progress *>(progress);
    }
    return detail::make<HandleT, T>([&](T **out) { return create(&given, out); });
  }
};

inline Result<Buffer> Buffer::allocate(const Engine &engine, plim_element_type element,
                                       std::span<const int64_t> shape) {
  return detail::make<Buffer, plim_buffer>([&](plim_buffer **out) {
    return plim_buffer_allocate(engine.get(), element, static_cast<uint32_t>(shape.size()),
                                shape.data(), out);
  });
}

template <typename T, size_t ExtentV>
Result<Buffer> Buffer::copy(const Engine &engine, std::span<T, ExtentV> elements,
                            std::span<const int64_t> shape) {
  return detail::make<Buffer, plim_buffer>([&](plim_buffer **out) {
    return plim_buffer_copy(engine.get(), elementTypeOf<T>(), static_cast<uint32_t>(shape.size()),
                            shape.data(), elements.data(), elements.size_bytes(), out);
  });
}

} // namespace plimsoll
