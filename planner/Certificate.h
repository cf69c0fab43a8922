// A proof that no plan has a lower peak, as text that another program can check. Standard library
// only.
//
// docs/reference/certificate.md has the format, and tests/planner/check_certificate.py is a checker
// that has no code in common with the planner.
#pragma once

#include "planner/Planner.h"

namespace plim::planner {

/// A certificate, or why there is none.
struct Certificate {
  std::string text;    // empty if there is none
  std::string message; // why there is none, one sentence
};

/// For an optimal plan of one pool without an alignment of its own, and of buffers that have
/// neither bases nor listed conflicts nor pairs in place. Proves anew, in about `nodes` placements,
/// and only what fits in some hundred megabytes: for up to some 50 buffers whose best peak is above
/// the load, and for any number where it is the load. The same for the same plan. `plan` is one of
/// `problem`. Blocks until it is done; any thread.
Certificate certify(const Problem &problem, const Plan &plan, uint64_t nodes);

} // namespace plim::planner
