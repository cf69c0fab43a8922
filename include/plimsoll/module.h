/* Module: compiled code that is ready to be called.
 *
 * A source, MLIR text or bytecode, is compiled for the target of an engine, or comes from its
 * cache. After that nothing of the compiler is left. Code and constants go with the last of the
 * module, its functions and its calls.
 *
 * Threads: any, for all functions, at any time.
 */
#ifndef PLIMSOLL_MODULE_H
#define PLIMSOLL_MODULE_H

#include "plimsoll/base.h"
#include "plimsoll/limits.h"
#include "plimsoll/pools.h"

PLIM_C_BEGIN

/* For plim_load_options::flags. */
enum {
  /* The plain lowering that every optimisation is compared with: one dispatch for each operation,
   * no tiling, no vectorisation, every buffer from the heap. Slow; to look for faults. */
  PLIM_LOAD_ORACLE = 1u << 0,
  /* Each function is compiled, with what it calls, when it is called first, and not before. The
   * load parses and verifies the source, which the module keeps, or its mapped file: what is wrong
   * there is the load's error. All else that a load may be refused for (what cannot be lowered,
   * parameters, host functions and devices that are missing) the calls of the functions that need
   * it say, each time, with the place. The first call of a function takes as long as a load of it;
   * calls that come meanwhile wait for it. `stop` of a call ends both, and the next call begins
   * again. plim_function_workspace(), plim_function_specialize() and plim_function_raw_pointer()
   * compile as a call does; the last gives NULL if that fails. plim_function_stack_bytes() is 0
   * before. Names, types and counts are there at once, but for what a function does to a memref:
   * PLIM_READ_WRITE is said of each, whatever it is. `progress`, `stop` and `timeout_nanoseconds`
   * are of the load alone, `specialization_count` of each function.
   *
   * UNIMPLEMENTED, with the place, for a source with variables. INVALID_ARGUMENT beside `pools`,
   * for an artifact, and for plim_module_compile() and plim_module_export();
   * plim_module_explain() is FAILED_PRECONDITION. */
  PLIM_LOAD_LAZY = 1u << 1
};

/* Is told the part of the compilation that is done, 0 to 1: as it begins, between passes, and when
 * code of a dispatch is there; it never falls, and is an estimate. By several threads, one after
 * the other; it must neither throw nor call the library. */
typedef void (*plim_progress_callback)(void *user, double fraction);

/* A field of zero, or NULL, has the meaning that its comment gives. What is pointed at is read
 * before the load returns and not kept, except where it says so. */
typedef struct plim_load_options {
  uint32_t struct_size; /* sizeof(plim_load_options) */
  uint32_t flags;       /* PLIM_LOAD_... */
  /* As in plim_engine_options; NULL: the engine's. */
  const char *policy;
  const plim_limits *limits; /* stronger than the engine's; NULL: those */
  /* Values of the module's parameters, all that its code needs; one that nothing reads is not
   * looked at. The buffers are retained for as long as code may read them: at most as long as the
   * module. */
  const plim_parameters *parameters;
  /* Stronger than the engine's. Those that the module does not declare are ignored. */
  const plim_host_functions *host_functions;
  /* Memories for all calls of the module, which must outlive it. Calls that use one of them run one
   * after the other. Constants that the source puts in a pool take its end, which then is this
   * module's alone. */
  const plim_pool *pools;
  size_t pool_count;
  /* Not called for what comes from the cache. */
  plim_progress_callback progress;
  void *progress_user;
  /* If not NULL, the source of plim_module_load() stays, and is not written, until this is called,
   * once, with `source_user`. That may be before the load returns; on failure it is not called.
   * Large constants of bytecode that begins a page are then used where they lie, if they are
   * aligned to PLIM_MEMORY_ALIGNMENT. So are weights of a model in ONNX's format, wherever it
   * begins, if they are aligned to their elements. NULL: the module has copies. */
  plim_user_release release_source;
  void *source_user;
  /* As in plim_engine_options. A module that may have such code keeps its source.
   * `specialization_count` counts where `specialization` is not the default. */
  plim_specialization specialization;
  uint32_t specialization_count;
  /* The name of the device that gets the dispatches which the source gives to no device: one of the
   * engine's, or a GPU of its target, "vulkan0" or "cuda0" of the target "host". The host runs
   * those that the device does not take; plim_module_explain() says why. INVALID_ARGUMENT for a
   * device that the engine does not have; UNAVAILABLE if the GPU or its driver is not there when
   * its code is linked; FAILED_PRECONDITION if the GPU lacks what its code needs. NULL: the host
   * runs them all. */
  const char *device;
  /* Ends the load with CANCELLED when it is requested: between two passes of the compiler, and
   * between two functions of its code generator. NULL: nothing does. */
  const plim_stop *stop;
  /* Stronger than the engine's. */
  plim_numerics numerics;
  uint32_t reserved; /* 0 */
  /* Ends the load with DEADLINE_EXCEEDED, where `stop` would, or anywhere with compile workers. 0:
   * never. */
  uint64_t timeout_nanoseconds;
} plim_load_options;

/* Loads `size` bytes of `source`. `name` stands in locations: "net.mlir". `options` may be NULL.
 * Blocks; several loads may run at once. The caller owns `*out_module`. The source is one of these:
 *
 * - MLIR text or bytecode, which is compiled, or what it was compiled to comes from the cache.
 * - A model in ONNX's format, or StableHLO's text, which is imported. A model is the function
 *   "main"; of StableHLO all functions that are not private are there. Weights are parameters,
 *   which those of `options` with equal names replace. External data lies beside the file that
 *   `name` is. UNIMPLEMENTED for what is not supported, FAILED_PRECONDITION for ONNX without
 *   libplimsoll-onnx.
 * - What plim_module_compile() made. Policy, limits, PLIM_LOAD_ORACLE, numerics, specialization and
 *   device come too late for it and are INVALID_ARGUMENT; those of the engine do not count.
 *
 * FAILED_PRECONDITION for a parameter, a host function or a pool of constants that is not bound;
 * INVALID_ARGUMENT for one that does not fit, or that the module does not have. RESOURCE_EXHAUSTED
 * on a thread with less than 20 KiB of stack.
 *
 * With plim_engine_options::compile_workers text may be anything: text that is no module is
 * INVALID_ARGUMENT with its place, text that ends the compiler is INTERNAL. Without them a text may
 * end this process, if it was made to, or is mistyped in certain places. Bytecode is trusted: load
 * only your own, and only whole. Upstream's reader has no checksum, and one damaged byte in fifty
 * ends the process or never comes back. An artifact has a checksum. */
PLIM_NODISCARD PLIM_API plim_status *plim_module_load(plim_engine *engine, const void *source,
                                                      size_t size, const char *name,
                                                      const plim_load_options *options,
                                                      plim_module **out_module);

/* The same without waiting for it, on a thread of its own. What is returned is about the handles
 * and options alone; errors of the load are the event's. The caller owns `*out_event`, whose
 * plim_event_module() is the module; plim_event_cancel() and `stop` of the options end it. As many
 * loads run at once as the engine has threads, others wait for their turn; the time that `options`
 * give counts from here.
 *
 * The source is copied, unless `options` say how it is released: then it stays until that is
 * called, once, which it is in any case when this has returned NULL, also where the load fails.
 * `progress` may be called until the event is done, the memory of pools must stay as in a load, and
 * all else that is pointed at is read or retained before this returns. The engine is kept until the
 * load has ended. RESOURCE_EXHAUSTED if no thread can be started. */
PLIM_NODISCARD PLIM_API plim_status *plim_module_load_async(plim_engine *engine, const void *source,
                                                            size_t size, const char *name,
                                                            const plim_load_options *options,
                                                            plim_event **out_event);

/* Compiles as plim_module_load() does, but links nothing: parameters, host functions and pools need
 * not be there, and the engine's target may be another machine. The caller owns `*out_artifact`.
 *
 * The artifact is for plim_module_load() and plim_module_load_file() of this very version of the
 * library, here or elsewhere. They fail with DATA_LOSS for one of another version or one that is
 * damaged. They fail with FAILED_PRECONDITION on a machine that it cannot run on, or if only one of
 * its engine and the engine that loads it is PLIM_ENGINE_CHECKED. It is machine code, and trusted:
 * load only your own. */
PLIM_NODISCARD PLIM_API plim_status *plim_module_compile(plim_engine *engine, const void *source,
                                                         size_t size, const char *name,
                                                         const plim_load_options *options,
                                                         plim_bytes **out_artifact);

/* Compiles for a program without this library, on the machine of the engine's target. `*out_object`
 * is a relocatable ELF object, `*out_header` the text of a header for C11 and C++20; the caller
 * owns both. The header has a typed function for each of the module, called `export_name`_FUNCTION,
 * whose caller gives all memory that a call needs (docs/design/export.md). `export_name` is what C
 * can have in front of a name. Takes the options of plim_module_compile().
 *
 * INVALID_ARGUMENT for another name, or for two functions that C would call the same.
 * UNIMPLEMENTED, with its place, for what needs the library: strides that are not known, memory of
 * a branch or a dispatch whose size only a call knows, memory that outlives the block which takes
 * it, recursion, parameters of kernels. FAILED_PRECONDITION for a function that takes more than its
 * stack_budget_bytes. */
PLIM_NODISCARD PLIM_API plim_status *
plim_module_export(plim_engine *engine, const void *source, size_t size, const char *name,
                   const char *export_name, const plim_load_options *options,
                   plim_bytes **out_object, plim_bytes **out_header);

/* The same as plim_module_load() for a file, whose path is its name. Bytecode and models in ONNX's
 * format are mapped, with the files of their external data. While the module lives these files must
 * be neither written nor truncated; they may be replaced or removed. Memory then has the weights of
 * a model once, but for those that its code reads in two orders. A pipe is read until its writers
 * close it.
 *
 * DEADLINE_EXCEEDED if nothing comes from a pipe for 10 s, RESOURCE_EXHAUSTED for more than 1 GiB
 * of it. NOT_FOUND, PERMISSION_DENIED or UNAVAILABLE if the file cannot be read. INVALID_ARGUMENT
 * for what is neither a file nor a pipe, and for options with release_source. */
PLIM_NODISCARD PLIM_API plim_status *plim_module_load_file(plim_engine *engine, const char *path,
                                                           const plim_load_options *options,
                                                           plim_module **out_module);

/* The same without waiting for it, as plim_module_load_async() does: that there is no such file is
 * an error of the event. */
PLIM_NODISCARD PLIM_API plim_status *plim_module_load_file_async(plim_engine *engine,
                                                                 const char *path,
                                                                 const plim_load_options *options,
                                                                 plim_event **out_event);

/* How many public functions it has, and the name of each, in the order of the source; 0 and NULL
 * for what is none. A name lives as long as the module. */
PLIM_API size_t plim_module_function_count(const plim_module *module);
PLIM_API const char *plim_module_function_name(const plim_module *module, size_t index);

/* The public function of that name. The caller owns `*out_function`, which keeps the module.
 * NOT_FOUND, with the nearest name, if there is none. */
PLIM_NODISCARD PLIM_API plim_status *
plim_module_function(const plim_module *module, const char *name, plim_function **out_function);

/* Every placement, access, copy and dispatch, with the reason. The caller owns `*out_report`.
 * FAILED_PRECONDITION for a lazy module. */
PLIM_NODISCARD PLIM_API plim_status *plim_module_explain(const plim_module *module,
                                                         plim_report **out_report);

/* What loading took. Seconds; those of the compiler are 0 for what came from the cache. */
typedef struct plim_load_statistics {
  uint32_t struct_size; /* sizeof(plim_load_statistics), set by the caller */
  uint32_t from_cache;  /* 0 or 1 */
  uint64_t
      shared_constant_bytes; /* of its constants, those that other modules had in memory already */
  double parse_seconds;
  double lower_seconds;    /* from MLIR to LLVM */
  double optimise_seconds; /* LLVM's optimiser, summed over threads */
  double codegen_seconds;  /* LLVM's code generator, summed over threads */
  double link_seconds;
  double total_seconds; /* from call to return */
  /* Dispatches, kernels and the code that calls them, as one object each, and those of them that
   * were in the cache while the module was not: what an edit leaves as it was. 0 if from_cache. */
  uint64_t objects;
  uint64_t cached_objects;
} plim_load_statistics;

/* Fills in `out_statistics`, whose struct_size must be set. */
PLIM_NODISCARD PLIM_API plim_status *plim_module_statistics(const plim_module *module,
                                                            plim_load_statistics *out_statistics);

/* Code of a module for certain extents. */
typedef struct plim_specialization_statistics {
  uint32_t struct_size; /* sizeof(plim_specialization_statistics), set by the caller */
  uint32_t in_work;     /* in the background, now */
  uint64_t made;        /* since the load */
  uint64_t failed;      /* in the background; not tried again */
  uint64_t evicted;     /* of those made */
  uint64_t calls;       /* that found code for their extents */
} plim_specialization_statistics;

/* Fills in `out_statistics`, whose struct_size must be set. All are 0 for a module that has
 * none. */
PLIM_NODISCARD PLIM_API plim_status *
plim_module_specialization_statistics(const plim_module *module,
                                      plim_specialization_statistics *out_statistics);

/* One more owner; one less, and the last one, of the module and of all that keeps it, frees it.
 * NULL is ignored by both. */
PLIM_API void plim_module_retain(plim_module *module);
PLIM_API void plim_module_release(plim_module *module);

PLIM_C_END

#endif /* PLIMSOLL_MODULE_H */
