// Which in-place pairs are taken. Internal to planner/.
#pragma once

#include "planner/Model.h"

namespace plim::planner {

/// Choices of in-place pairs worth planning, as indices into Problem::inPlace: none first. `areAll`
/// says whether these are all that are possible.
std::vector<std::vector<uint32_t>> inPlaceChoices(const Problem &problem, const Model &model,
                                                  bool &areAll);

} // namespace plim::planner
