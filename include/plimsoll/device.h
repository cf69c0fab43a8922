/* Device: an accelerator that the host application brings.
 *
 * An engine cuts programs over tensors into dispatches. A device gets those that the source
 * annotates with `plim.device = "NAME"`, and, with plim_load_options::device, all that the source
 * gives to no device.
 *
 *   compile    when a module is compiled: turns the text of a dispatch into code of whatever form.
 *              The code is part of the compiled module, in the cache and in what
 *              plim_module_compile() makes
 *   load       when the module is loaded: turns that code into a function
 *   call       the engine calls the function in place of code of its own, in the order that the
 *              program needs, several at once where the order does not matter
 *
 * GPUs of the engine's target, "vulkan0" or "cuda0" of "host", need none of this: the library has a
 * compiler and drivers for them, and plim_load_options::device or `plim.device` names them. A
 * device with the name of such a GPU takes its place.
 *
 * Threads: a device never changes; any thread may use, retain and release it. Its callbacks come
 * from any thread, several at once; they may call functions of the library, and must neither throw
 * nor longjmp out.
 */
#ifndef PLIMSOLL_DEVICE_H
#define PLIMSOLL_DEVICE_H

#include "plimsoll/allocator.h"
#include "plimsoll/base.h"
#include "plimsoll/host_functions.h"
#include "plimsoll/status.h"

PLIM_C_BEGIN

/* What a device is asked for by compile or load. Belongs to the library; valid until that
 * returns. */
typedef struct plim_device_job plim_device_job;

/* Compiles the public function `name` of a module: `size` bytes of `text`, MLIR in upstream
 * dialects. Its arguments are tensors and scalars. The last of them are destinations, one for each
 * result, in order; it returns what is to be in them. Operations of linalg such as products and
 * fills have their names, the rest is linalg.generic: look for what you cannot do, too. Writes the
 * code with plim_device_job_write().
 *
 * Returns PLIM_OK, or PLIM_UNIMPLEMENTED for what the device does not take: the host then runs the
 * dispatch, unless the source gives it to the device. Any other code fails the load.
 * plim_device_job_fail() may give the reason before. */
typedef plim_code (*plim_device_compile)(plim_device_job *job, void *user, const char *name,
                                         const char *text, size_t size);

/* Makes code ready to be run: `size` bytes of `code`, which compile wrote for the function `name`,
 * here or on another machine. Code may be of another version: recognise your own. Fills in
 * `out_function`, whose struct_size is set:
 *
 *   function      gets what the function in the text gets, and each destination once more as the
 *                 result, whose memory it fills before it returns. All tensors are dense. Memory is
 *                 that of the host, which nothing else writes meanwhile, or that of the device
 *                 (plim_device_options::memory). It may take PLIM_DEVICE_LAUNCH_STACK bytes of
 *                 stack
 *   kind          with PLIM_HOST_SERIAL the device runs one launch at a time
 *   release_user  is called when the module is gone, or if the load fails
 *   signature     is not looked at
 *
 * Returns PLIM_OK, or a code that fails the load; then nothing of `out_function` is looked at. */
typedef plim_code (*plim_device_load)(plim_device_job *job, void *user, const char *name,
                                      const void *code, size_t size,
                                      plim_host_function_options *out_function);

/* Stack that a launch may take, in bytes. */
#define PLIM_DEVICE_LAUNCH_STACK (128 << 10)

/* A device. What is pointed at is read before plim_device_create() returns and not kept, except
 * where it says so. */
typedef struct plim_device_options {
  uint32_t struct_size; /* sizeof(plim_device_options) */
  uint32_t flags;       /* 0 */
  /* The name of a device of the target that is no CPU. If the target has no device of that name,
   * one of kind "npu" is added. It counts as one that reaches all memory of the host: its launches
   * copy what it does not reach. */
  const char *name;
  /* Of its compiler: compiled modules in caches are for one version. NULL: "". */
  const char *version;
  /* NULL: the device runs what was compiled elsewhere, and the source of a module can give it
   * nothing. */
  plim_device_compile compile;
  /* NULL, beside compile: its code is for plim_module_compile() and plim_module_export() here, and
   * runs elsewhere; a module with such code is not loaded: FAILED_PRECONDITION. */
  plim_device_load load;
  void *user;
  plim_user_release release_user; /* called when nobody has the device any more; may be NULL */
  /* If not NULL, gives memories of the target that this device reaches and the host does not, by
   * their names: temporaries that the device alone touches are there then, as far as their sizes
   * are known at load. What allocate() returns need be no address of this process: the library adds
   * offsets to it and hands it to launches. A call takes one block of each memory that its module
   * needs, which is kept until the module goes. If allocate() gives NULL, the call waits for a
   * block of another call of the module, or fails with RESOURCE_EXHAUSTED if there is none. */
  const plim_allocator *memory;
} plim_device_options;

/* The caller owns `*out_device`. */
PLIM_NODISCARD PLIM_API plim_status *plim_device_create(const plim_device_options *options,
                                                        plim_device **out_device);

/* For compile: appends `size` bytes to the code. Returns PLIM_OK; INVALID_ARGUMENT in load,
 * RESOURCE_EXHAUSTED without memory, with which the job has failed. */
PLIM_API plim_code plim_device_job_write(plim_device_job *job, const void *data, size_t size);

/* For compile and load: the job fails with `code`, which is not PLIM_OK, and `message`, which is
 * copied; NULL is none. The first failure counts, whatever the callback returns. Returns `code`, to
 * be returned. */
PLIM_API plim_code plim_device_job_fail(plim_device_job *job, plim_code code, const char *message);

/* One more owner; one less, and the last one, engines and modules included, frees it. NULL is
 * ignored by both. */
PLIM_API void plim_device_retain(plim_device *device);
PLIM_API void plim_device_release(plim_device *device);

PLIM_C_END

#endif /* PLIMSOLL_DEVICE_H */
