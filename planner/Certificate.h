// A proof that no plan has a lower peak, as text that another program can check. Standard library only.
//
// docs/reference/certificate.md has the format, and tests/planner/check_certificate.py is a checker that
// has no code in common with the planner.
#pragma once

#include "planner/Planner.h"

namespace plim::planner {

struct Certificate {
  std::string text;    // empty if there is none
  std::string message; // why, one sentence
};

/// For an optimal plan of one pool and of buffers that have neither bases nor listed conflicts nor
/// pairs in place. Proves anew, in at most `nodes` placements, and only what fits in some hundred
/// megabytes: for up to some 50 buffers whose best peak is above the load, and for any number where it
/// is the load. The same for the same plan.
Certificate certify(const Problem &problem, const Plan &plan, uint64_t nodes);

} // namespace plim::planner
