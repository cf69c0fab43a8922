// Which in-place pairs are taken. Internal to planner/.
#pragma once

#include "planner/Model.h"

namespace plim::planner {

/// Choices of in-place pairs worth planning, each a list of indices into Problem::inPlace. The
/// first takes no pair. Up to six pairs are tried in all combinations, and `areAll` becomes true:
/// no other choice is possible. Of more, the only other choice takes as many as go together, those
/// that save most first. `model` is that of the problem without fused pairs.
std::vector<std::vector<uint32_t>> inPlaceChoices(const Problem &problem, const Model &model,
                                                  bool &areAll);

} // namespace plim::planner
