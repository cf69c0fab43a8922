#include "plimsoll/engine.h"

#include "capi/Allocator.h"
#include "capi/Border.h"
#include "capi/Limits.h"
#include "capi/Numerics.h"
#include "capi/Objects.h"
#include "capi/Specialization.h"
#include "jit/ArtifactCache.h"
#include "support/Json.h"
#include "support/Trace.h"

#include <limits>
#include <sstream>

using namespace plim;
using namespace plim::capi;

namespace {

Status readLogger(const plim_logger *given, std::shared_ptr<UserData> &user, Logger &logger) {
  plim_logger callback;
  PLIM_RETURN_IF_ERROR(readStruct(given, "logger", callback));
  if (!callback.log)
    return invalidArgumentError("a logger needs log");
  if (callback.level < PLIM_LOG_TRACE || callback.level > PLIM_LOG_ERROR)
    return invalidArgumentError("the level of the logger is none");
  user = std::make_shared<UserData>(callback.user, callback.release_user);
  logger =
      Logger(static_cast<LogLevel>(callback.level),
             [log = callback.log, user](LogLevel level, std::string_view message) {
               log(user->user, static_cast<plim_log_level>(level), message.data(), message.size());
             });
  return okStatus();
}

void writeCounter(const Profiler::Counter &counter, std::ostream &out) {
  out << "{\"kind\": ";
  writeJsonString(Profiler::kindName(counter.kind), out);
  out << ", \"name\": ";
  writeJsonString(counter.name, out);
  out << ", \"location\": ";
  writeJsonString(counter.location, out);
  out << ", \"runs\": " << counter.runs << ", \"workgroups\": " << counter.workgroups
      << ", \"bytes\": " << counter.bytes << ", \"total_ns\": " << counter.totalNanoseconds
      << ", \"min_ns\": " << counter.minNanoseconds << ", \"max_ns\": " << counter.maxNanoseconds
      << "}";
}

void writeMemory(const runtime::MemoryPoolStatistics &memory, std::ostream &out) {
  out << "{\"live_bytes\": " << memory.liveBytes << ", \"peak_bytes\": " << memory.peakBytes
      << ", \"kept_bytes\": " << memory.keptBytes << ", \"allocations\": " << memory.allocations
      << ", \"reused\": " << memory.poolHits << "}";
}

Status readWorkers(const plim_engine_options &given, runtime::WorkerOptions &out) {
  out.ofCaller = given.flags & PLIM_ENGINE_WORKERS_OF_CALLER;
  if (given.flags & PLIM_ENGINE_NUMA_NODE) {
    if (given.numa_node > static_cast<uint32_t>(std::numeric_limits<int>::max()))
      return invalidArgumentError("there is no NUMA node " + std::to_string(given.numa_node));
    out.numaNode = static_cast<int>(given.numa_node);
  } else if (given.numa_node != 0) {
    return invalidArgumentError("numa_node is set without PLIM_ENGINE_NUMA_NODE");
  }
  switch (given.cores) {
  case PLIM_CORES_ANY:
    return okStatus();
  case PLIM_CORES_PERFORMANCE:
    out.cores = runtime::CoreKind::Performance;
    return okStatus();
  case PLIM_CORES_EFFICIENCY:
    out.cores = runtime::CoreKind::Efficiency;
    return okStatus();
  default:
    return invalidArgumentError(std::to_string(given.cores) + " is no kind of cores");
  }
}

Status readCacheFolder(const plim_engine_options &given, std::string &out) {
  if (given.flags & PLIM_ENGINE_USER_CACHE) {
    if (given.cache_folder)
      return invalidArgumentError("cache_folder is set beside PLIM_ENGINE_USER_CACHE");
    out = jit::ArtifactCache::defaultFolder();
  } else if (given.cache_folder) {
    out = given.cache_folder;
  }
  return okStatus();
}

Status readCompileWorkers(const plim_compile_workers *given,
                          std::optional<jit::WorkerOptions> &out) {
  plim_compile_workers workers;
  PLIM_RETURN_IF_ERROR(readStruct(given, "compile_workers", workers));
  constexpr auto most = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  PLIM_RETURN_IF_ERROR(checkFlags(workers.flags, PLIM_COMPILE_WORKERS_SHARED, "compile_workers"));
  if (workers.memory_bytes > most || workers.deadline_nanoseconds > most)
    return invalidArgumentError("compile_workers have a limit that is no 63-bit number");
  out.emplace();
  out->processes = workers.processes;
  out->areShared = (workers.flags & PLIM_COMPILE_WORKERS_SHARED) != 0;
  if (workers.memory_bytes != 0)
    out->memoryBytes = static_cast<int64_t>(workers.memory_bytes);
  out->deadline = std::chrono::ceil<std::chrono::milliseconds>(
      std::chrono::nanoseconds(workers.deadline_nanoseconds));
  if (workers.program)
    out->program = workers.program;
  return okStatus();
}

} // namespace

extern "C" {

plim_status *plim_engine_create(const plim_engine_options *options, plim_engine **out_engine) {
  return enter([&]() -> Status {
    PLIM_RETURN_IF_ERROR(checkPointer(out_engine, "out_engine"));
    plim_engine_options given;
    PLIM_RETURN_IF_ERROR(readStruct(options, "options", given));
    constexpr uint32_t known = PLIM_ENGINE_CHECKED | PLIM_ENGINE_DEBUGGER | PLIM_ENGINE_PERF_MAP |
                               PLIM_ENGINE_COUNTERS | PLIM_ENGINE_TRACE |
                               PLIM_ENGINE_WORKERS_OF_CALLER | PLIM_ENGINE_NUMA_NODE |
                               PLIM_ENGINE_USER_CACHE;
    PLIM_RETURN_IF_ERROR(checkFlags(given.flags, known, "options"));
    EngineOptions engineOptions;
    if (given.target) {
      PLIM_RETURN_IF_ERROR(checkHandle(given.target));
      engineOptions.description = given.target->description;
    }
    if (given.threads > static_cast<uint32_t>(std::numeric_limits<int>::max()))
      return invalidArgumentError("threads are too many");
    engineOptions.threads = static_cast<int>(given.threads);
    PLIM_RETURN_IF_ERROR(readWorkers(given, engineOptions.workers));
    std::optional<jit::Numerics> numerics;
    PLIM_RETURN_IF_ERROR(readNumerics(given.numerics, numerics));
    engineOptions.numerics = numerics.value_or(jit::Numerics::Default);
    std::optional<SpecializationOptions> specialization;
    PLIM_RETURN_IF_ERROR(
        readSpecialization(given.specialization, given.specialization_count, specialization));
    if (specialization)
      engineOptions.specialization = *specialization;
    if (given.policy)
      engineOptions.policy = given.policy;
    PLIM_RETURN_IF_ERROR(readLimits(given.limits, engineOptions.limits));
    PLIM_RETURN_IF_ERROR(readCacheFolder(given, engineOptions.cacheFolder));
    if (given.cache_bytes > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
      return invalidArgumentError("cache_bytes are too many");
    if (given.cache_bytes != 0)
      engineOptions.cacheBytes = static_cast<int64_t>(given.cache_bytes);
    PLIM_RETURN_IF_ERROR(checkArray(given.devices, given.device_count, "devices"));
    for (size_t i = 0; i < given.device_count; ++i) {
      PLIM_RETURN_IF_ERROR(checkHandle(given.devices[i]));
      engineOptions.devices.push_back(given.devices[i]->device);
    }
    if (given.compile_workers)
      PLIM_RETURN_IF_ERROR(readCompileWorkers(given.compile_workers, engineOptions.compileWorkers));
    engineOptions.checked = given.flags & PLIM_ENGINE_CHECKED;
    engineOptions.debugger = given.flags & PLIM_ENGINE_DEBUGGER;
    engineOptions.perfMap = given.flags & PLIM_ENGINE_PERF_MAP;
    if (given.flags & (PLIM_ENGINE_COUNTERS | PLIM_ENGINE_TRACE))
      engineOptions.profiler = std::make_shared<Profiler>(
          given.flags & PLIM_ENGINE_TRACE ? Profiler::defaultMaxSpans : 0);
    std::shared_ptr<UserData> loggerUser;
    if (given.logger)
      PLIM_RETURN_IF_ERROR(readLogger(given.logger, loggerUser, engineOptions.logger));
    std::shared_ptr<HostAllocator> allocator;
    if (given.allocator)
      PLIM_RETURN_IF_ERROR(readAllocator(given.allocator, allocator, engineOptions.allocator));
    if (given.host_functions) {
      PLIM_RETURN_IF_ERROR(checkHandle(given.host_functions));
      engineOptions.functions = given.host_functions->byName;
    }
    if (given.target)
      for (const Status &warning : given.target->warnings)
        engineOptions.logger.log(LogLevel::Warning, warning.toString());
    if (given.flags & PLIM_ENGINE_USER_CACHE && engineOptions.cacheFolder.empty())
      engineOptions.logger.log(LogLevel::Warning,
                               "no cache: neither XDG_CACHE_HOME nor HOME is set");
    std::shared_ptr<Quarantine> quarantine;
    if (engineOptions.checked)
      quarantine = std::make_shared<Quarantine>(engineOptions.logger);
    PLIM_ASSIGN_OR_RETURN(std::shared_ptr<Engine> engine, Engine::create(std::move(engineOptions)));
    *out_engine = makeHandle<plim_engine>(std::move(quarantine), std::move(engine));
    if (loggerUser)
      loggerUser->take();
    if (allocator)
      allocator->user.take();
    return okStatus();
  });
}

plim_status *plim_engine_target(const plim_engine *engine, plim_target **out_target) {
  return enter([&]() -> Status {
    PLIM_RETURN_IF_ERROR(checkHandle(engine));
    PLIM_RETURN_IF_ERROR(checkPointer(out_target, "out_target"));
    *out_target = makeHandle<plim_target>(nullptr, engine->engine->target(), std::vector<Status>());
    return okStatus();
  });
}

uint32_t plim_engine_threads(const plim_engine *engine) {
  return isLive(engine) ? static_cast<uint32_t>(engine->engine->threads()) : 0;
}

plim_status *plim_engine_memory_statistics(const plim_engine *engine,
                                           plim_memory_statistics *out_statistics) {
  return enter([&]() -> Status {
    PLIM_RETURN_IF_ERROR(checkHandle(engine));
    PLIM_RETURN_IF_ERROR(checkOutStruct(out_statistics, "out_statistics"));
    runtime::MemoryPoolStatistics total = engine->engine->memoryStatistics().total();
    writeStruct(out_statistics, {0, 0, total.liveBytes, total.peakBytes, total.keptBytes,
                                 total.allocations, total.poolHits});
    return okStatus();
  });
}

plim_status *plim_engine_trim(plim_engine *engine) {
  return enter([&]() -> Status {
    PLIM_RETURN_IF_ERROR(checkHandle(engine));
    engine->engine->trimMemory();
    return okStatus();
  });
}

plim_status *plim_engine_statistics(const plim_engine *engine, plim_report **out_report) {
  return enter([&]() -> Status {
    PLIM_RETURN_IF_ERROR(checkHandle(engine));
    PLIM_RETURN_IF_ERROR(checkPointer(out_report, "out_report"));
    std::ostringstream out;
    EngineMemoryStatistics memory = engine->engine->memoryStatistics();
    out << "{\"memory\": {\"buffers\": ";
    writeMemory(memory.buffers, out);
    out << ", \"workspaces\": ";
    writeMemory(memory.workspaces, out);
    out << ", \"scratch\": ";
    writeMemory(memory.scratch, out);
    out << "},\n \"counters\": [";
    if (const Profiler *profiler = engine->engine->options().profiler.get()) {
      const char *separator = "\n  ";
      for (const Profiler::Counter &counter : profiler->counters()) {
        out << separator;
        writeCounter(counter, out);
        separator = ",\n  ";
      }
    }
    out << "]}\n";
    *out_report = makeHandle<plim_report>(nullptr, std::move(out).str());
    return okStatus();
  });
}

plim_status *plim_engine_trace(const plim_engine *engine, plim_report **out_report) {
  return enter([&]() -> Status {
    PLIM_RETURN_IF_ERROR(checkHandle(engine));
    PLIM_RETURN_IF_ERROR(checkPointer(out_report, "out_report"));
    const Profiler *profiler = engine->engine->options().profiler.get();
    if (!profiler || !profiler->keepsSpans())
      return failedPreconditionError("the engine was created without PLIM_ENGINE_TRACE");
    std::ostringstream out;
    writeTrace(*profiler, out);
    *out_report = makeHandle<plim_report>(nullptr, std::move(out).str());
    return okStatus();
  });
}

void plim_engine_retain(plim_engine *engine) { retain(engine); }
void plim_engine_release(plim_engine *engine) { release(engine); }

} // extern "C"
