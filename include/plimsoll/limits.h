/* Limits: of the stack that compiled code may take, and of what a source may hold.
 *
 * Given to an engine, for all its modules, and to a load, which is stronger. Those of the stack are stronger than the
 * target's, and weaker than those that stand in the source (docs/design/placement.md).
 */
#ifndef PLIMSOLL_LIMITS_H
#define PLIMSOLL_LIMITS_H

#include "plimsoll/base.h"

PLIM_C_BEGIN

/* A limit of nothing at all, since 0 leaves a limit as it is. */
#define PLIM_LIMIT_ZERO (-1)

/* For plim_limits::external_workspace_only. */
typedef uint32_t plim_choice;
enum { PLIM_CHOICE_UNSPECIFIED = 0, PLIM_CHOICE_YES = 1, PLIM_CHOICE_NO = 2 };

/* A field of 0 leaves a limit as it is, PLIM_LIMIT_ZERO makes it zero. INVALID_ARGUMENT for any other negative number,
 * with the name of the field. Read before the function that gets it returns, and not kept. */
typedef struct plim_limits {
  uint32_t struct_size; /* sizeof(plim_limits) */
  /* Stack and heap hold no temporaries: all of them are in the workspace. */
  plim_choice external_workspace_only;
  /* The most that one allocation may take of the stack, in bytes. */
  int64_t max_stack_alloca_bytes;
  /* The most that a call may take of the stack with all that it calls, in bytes. */
  int64_t stack_budget_bytes;
  /* What workspaces are aligned to, in bytes: a power of two up to 2^30. */
  int64_t workspace_alignment;
  /* Time and memory of a compilation grow with its source: one with more is INVALID_ARGUMENT. Of text, in bytes: 2^30
   * unless it is set; bytecode has no such limit. */
  int64_t max_text_bytes;
  int64_t max_operations;      /* 1000000 unless it is set */
  int64_t max_rank;            /* of tensors, memrefs and vectors: 64 unless it is set */
  int64_t max_vector_elements; /* of one vector: 16384 unless it is set */
  /* Of all constants written out, equal ones once, in bytes: 2^32 unless it is set. */
  int64_t max_constant_bytes;
} plim_limits;

PLIM_C_END

#endif /* PLIMSOLL_LIMITS_H */
