/* Engine: compiles modules for one target and runs them on threads of its own.
 *
 * There is no global state: engines with different options live in one process. An engine lives as
 * long as its handle, its modules, functions, states and events, and loads that run by themselves;
 * its threads end with it.
 *
 * Threads: any, for all functions, at any time. The process may end at any time and in any way,
 * while calls and loads run: exit() waits for none of them.
 *
 * Threads and fork() do not mix. In a child of the process the engines of its parent, their
 * modules, functions, states and events are FAILED_PRECONDITION, and releasing them does nothing.
 * Functions that only read their names and types work. The child may make engines of its own.
 */
#ifndef PLIMSOLL_ENGINE_H
#define PLIMSOLL_ENGINE_H

#include "plimsoll/allocator.h"
#include "plimsoll/base.h"
#include "plimsoll/limits.h"
#include "plimsoll/logger.h"

PLIM_C_BEGIN

/* For plim_engine_options::flags. */
enum {
  /* Looks for accesses out of range and for writes to what is read-only while generated code runs:
   * such a call ends with OUT_OF_RANGE and names dispatch, source and buffer, and the engine goes
   * on. Handles that were released are kept for a while, so that their use is an INVALID_ARGUMENT.
   * Slow: every buffer has pages of its own, arguments are copied, and the allocator is not asked.
   * While such an engine lives, SIGSEGV, SIGBUS and SIGFPE have handlers, which hand on what is not
   * of generated code. */
  PLIM_ENGINE_CHECKED = 1u << 0,
  /* Lets GDB see the names of generated code; perf, through /tmp/perf-PID.map. */
  PLIM_ENGINE_DEBUGGER = 1u << 1,
  PLIM_ENGINE_PERF_MAP = 1u << 2,
  /* Counts and times calls, dispatches, loads and the compiler's jobs: plim_engine_statistics(). */
  PLIM_ENGINE_COUNTERS = 1u << 3,
  /* The same, and keeps when each of them ran: plim_engine_trace(). */
  PLIM_ENGINE_TRACE = 1u << 4,
  /* The workers of the oneTBB arena that the calling thread is in help, as many of them as the
   * arena has and `threads` allows, instead of threads of the engine's own. Without `numa_node` and
   * `cores`. */
  PLIM_ENGINE_WORKERS_OF_CALLER = 1u << 5,
  /* `numa_node` counts. */
  PLIM_ENGINE_NUMA_NODE = 1u << 6,
  /* `cache_folder` is the user's: $XDG_CACHE_HOME/plimsoll, or $HOME/.cache/plimsoll where that
   * variable is not set or is no absolute path; the command line has it too. Without either
   * variable there is no cache, which is logged. INVALID_ARGUMENT beside a `cache_folder`. */
  PLIM_ENGINE_USER_CACHE = 1u << 7
};

/* On a machine with one kind of cores all are of it. */
typedef uint32_t plim_core_kind;
enum { PLIM_CORES_ANY = 0, PLIM_CORES_PERFORMANCE = 1, PLIM_CORES_EFFICIENCY = 2 };

/* Processes that compile text for an engine. Whatever a text does to the compiler is then the
 * status of its load, and the host lives; the next load works. If the compiler ended, that is the
 * error that it had said before, or INTERNAL with the signal and the place of what it was
 * compiling. If it took too long, DEADLINE_EXCEEDED; if it ran out of memory, RESOURCE_EXHAUSTED or
 * INTERNAL. The code is the same as without such processes. Bytecode is trusted, and compiled in
 * this process.
 *
 * The processes are started when a load needs them. They read nothing but what they are asked, open
 * no files but those of the cache's folder, and end with the engine or with this process. Such an
 * engine sends no signals, and leaves no child to be waited for. */
typedef struct plim_compile_workers {
  uint32_t struct_size; /* sizeof(plim_compile_workers) */
  /* Loads at once, at most 1024, the others wait. 0: as many as the engine has threads. */
  uint32_t processes;
  /* Address space of each, in bytes. 0: 16 GiB. */
  uint64_t memory_bytes;
  /* Of one compilation. 0: none. */
  uint64_t deadline_nanoseconds;
  /* The program. NULL: plimsoll-compile-worker where it was installed with this library, or where
   * the environment variable PLIMSOLL_COMPILE_WORKER says when the engine is made; loads are
   * NOT_FOUND if it was not there. */
  const char *program;
  uint32_t flags; /* PLIM_COMPILE_WORKERS_... */
} plim_compile_workers;

enum {
  /* Processes that rest serve all engines of this process that set this flag, and have an equal
   * `memory_bytes` and the same program. So an engine's first load need not start one, and many
   * engines hold no more than the one with the most `processes` may. What one text did to a
   * compiler that goes on working is then a matter of the other engines as well. The processes end
   * with the last of the engines. */
  PLIM_COMPILE_WORKERS_SHARED = 1u << 0
};

/* A field of zero, or NULL, has the meaning that its comment gives. What is pointed at is read
 * before plim_engine_create() returns and not kept, except where it says so. */
typedef struct plim_engine_options {
  uint32_t struct_size; /* sizeof(plim_engine_options) */
  uint32_t flags;       /* PLIM_ENGINE_... */
  /* NULL: this machine without its accelerators. Retained. */
  const plim_target *target;
  /* Threads that work at once on one call, the caller included, at most 1024. 0: all that this
   * process may use. */
  uint32_t threads;
  plim_numerics numerics; /* of modules that do not choose their own */
  /* Where temporaries live: "auto" (NULL), "stack", "workspace", "heap" (each from malloc), or
   * "fixed:N" (on the stack up to N bytes). For modules that do not choose their own. */
  const char *policy;
  /* NULL: those of the target, and of limits.h. */
  const plim_limits *limits;
  /* Folder of the artifact cache, made if it is not there. NULL: no cache, unless there is
   * PLIM_ENGINE_USER_CACHE. A folder that cannot be used is logged, not fatal. */
  const char *cache_folder;
  /* The most that the cache keeps there, in bytes. 0: 1 GiB. */
  uint64_t cache_bytes;
  /* NULL: silent. */
  const plim_logger *logger;
  /* NULL: the system's. */
  const plim_allocator *allocator;
  /* What modules may declare and call; NULL: nothing. Retained; what is added to it later does not
   * count. */
  const plim_host_functions *host_functions;
  /* Where threads run that work on calls: on this kind of cores, */
  plim_core_kind cores;
  /* and, with PLIM_ENGINE_NUMA_NODE, on this node; numbers are oneTBB's. INVALID_ARGUMENT if it is
   * not there. */
  uint32_t numa_node;
  /* For modules that do not choose their own. Not with PLIM_ENGINE_CHECKED. */
  plim_specialization specialization;
  /* For how many extents a module has code at a time; what was not used for longest goes first. 0:
   * 8. */
  uint32_t specialization_count;
  /* Accelerators of the host's own, each name once. Retained. NULL: none. */
  const plim_device *const *devices;
  size_t device_count;
  /* NULL: modules are compiled in this process. */
  const plim_compile_workers *compile_workers;
} plim_engine_options;

/* Starts an engine. `options` may be NULL. The caller owns `*out_engine`. INVALID_ARGUMENT for
 * options that cannot be, UNAVAILABLE if this process may not execute what it writes,
 * RESOURCE_EXHAUSTED on a thread with less than 20 KiB of stack. */
PLIM_NODISCARD PLIM_API plim_status *plim_engine_create(const plim_engine_options *options,
                                                        plim_engine **out_engine);

/* What it compiles for. The caller owns `*out_target`. */
PLIM_NODISCARD PLIM_API plim_status *plim_engine_target(const plim_engine *engine,
                                                        plim_target **out_target);

/* Threads that work at once on one call, the caller included; 0 for what is no engine. */
PLIM_API uint32_t plim_engine_threads(const plim_engine *engine);

/* Memory of all calls, in bytes. A snapshot: under concurrent use the numbers need not be of one
 * instant. */
typedef struct plim_memory_statistics {
  uint32_t struct_size; /* sizeof(plim_memory_statistics), set by the caller */
  uint32_t reserved;    /* 0 */
  uint64_t live_bytes;  /* in use now: results, workspaces, scratch */
  uint64_t peak_bytes;  /* the most there ever was of each, added up */
  uint64_t kept_bytes;  /* free, waiting for the next call */
  uint64_t allocations; /* blocks handed out so far */
  uint64_t reused;      /* those that came from what is kept */
} plim_memory_statistics;

/* Fills in `out_statistics`, whose struct_size must be set. */
PLIM_NODISCARD PLIM_API plim_status *
plim_engine_memory_statistics(const plim_engine *engine, plim_memory_statistics *out_statistics);

/* Gives all memory that is kept for later calls back to the system, or to the allocator. */
PLIM_NODISCARD PLIM_API plim_status *plim_engine_trim(plim_engine *engine);

/* What was counted so far: {"memory": {...}, "counters": [{"kind", "name", "location", "runs",
 * "workgroups", "bytes", "total_ns", "min_ns", "max_ns"}, ...]}, "bytes" being what dispatches read
 * and wrote, as far as that is known; no counters without PLIM_ENGINE_COUNTERS or
 * PLIM_ENGINE_TRACE. Calls may go on. The caller owns `*out_report`. */
PLIM_NODISCARD PLIM_API plim_status *plim_engine_statistics(const plim_engine *engine,
                                                            plim_report **out_report);

/* What ran when, as ui.perfetto.dev and chrome://tracing read it. FAILED_PRECONDITION without
 * PLIM_ENGINE_TRACE. Calls may go on. The caller owns `*out_report`. */
PLIM_NODISCARD PLIM_API plim_status *plim_engine_trace(const plim_engine *engine,
                                                       plim_report **out_report);

/* One more owner; one less, and the last one, of the engine and of all that keeps it, ends it: that
 * blocks until its threads have. NULL is ignored by both. */
PLIM_API void plim_engine_retain(plim_engine *engine);
PLIM_API void plim_engine_release(plim_engine *engine);

PLIM_C_END

#endif /* PLIMSOLL_ENGINE_H */
