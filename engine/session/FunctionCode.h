// FunctionCode: what a call of a function runs, and what that needs. The general code of a
// function, or code for certain extents (Specializations.h).
#pragma once

#include "engine/abi/plim_abi.h"
#include "engine/session/CallPlanner.h"
#include "jit/Artifact.h"

#include <cstdint>
#include <vector>

namespace plim {

/// Borrows all that it points at, which the module owns, or the slot of a specialization. Immutable
/// but for the planner, which any thread may use.
struct FunctionCode {
  const jit::FunctionSignature *signature = nullptr;
  plim_function_entry entry = nullptr; // host code of the function; plim_abi.h
  CallPlanner *planner = nullptr;      // null if all was planned at load
  plim_function_entry extentsEntry =
      nullptr;            // gives the extents that the planner needs; null without one
  bool workersFit = true; // every dispatch fits on the stack of a worker
};

} // namespace plim
