/* Parameters: constants that a module only names, and that get their values when it is loaded.
 *
 * A set of buffers by name. A module uses them where they lie, and what it computed of them when it
 * was loaded. So no buffer may be written while a module lives that has it, and no file that one
 * came from may be truncated. A file may be replaced or removed.
 *
 * Threads: functions that take a const handle may be called from any thread at once, the others by
 * one thread while no other uses the set.
 */
#ifndef PLIMSOLL_PARAMETERS_H
#define PLIMSOLL_PARAMETERS_H

#include "plimsoll/base.h"

PLIM_C_BEGIN

/* An empty set. The caller owns `*out_parameters`. */
PLIM_NODISCARD PLIM_API plim_status *plim_parameters_create(plim_parameters **out_parameters);

/* Gives `name` the value `buffer`, which is retained, in place of what it had. */
PLIM_NODISCARD PLIM_API plim_status *plim_parameters_set(plim_parameters *parameters,
                                                         const char *name, plim_buffer *buffer);

/* Adds all tensors of a .safetensors file by their names, or `name` with the array of a .npy file.
 * The file stays mapped, read-only, until the last of its buffers is gone; what it does not align
 * to its elements is copied, and so are arrays in Fortran order. NOT_FOUND, PERMISSION_DENIED,
 * INVALID_ARGUMENT for a malformed file, UNIMPLEMENTED for an element type that there is none of,
 * ALREADY_EXISTS for a tensor whose name is in the set; nothing is added then. */
PLIM_NODISCARD PLIM_API plim_status *plim_parameters_load_safetensors(plim_parameters *parameters,
                                                                      const char *path);
PLIM_NODISCARD PLIM_API plim_status *plim_parameters_load_npy(plim_parameters *parameters,
                                                              const char *name, const char *path);

/* How many there are, and the name of each, in alphabetical order; 0 and NULL for what is none. A
 * name lives until the set changes. */
PLIM_API size_t plim_parameters_count(const plim_parameters *parameters);
PLIM_API const char *plim_parameters_name(const plim_parameters *parameters, size_t index);

/* The value of `name`. The caller owns `*out_buffer`. NOT_FOUND if there is none. */
PLIM_NODISCARD PLIM_API plim_status *
plim_parameters_get(const plim_parameters *parameters, const char *name, plim_buffer **out_buffer);

/* One more owner; one less, and the last one frees it. NULL is ignored by both. */
PLIM_API void plim_parameters_retain(plim_parameters *parameters);
PLIM_API void plim_parameters_release(plim_parameters *parameters);

PLIM_C_END

#endif /* PLIMSOLL_PARAMETERS_H */
