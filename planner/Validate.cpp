#include "planner/Validate.h"

#include "planner/Model.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>

namespace plim::planner {

namespace {

std::string checkPools(const Problem &problem) {
  if (problem.buffers.size() > std::numeric_limits<uint32_t>::max() / 4)
    return "there are too many buffers";
  if (problem.pools.empty() && !problem.buffers.empty())
    return "there are buffers and no pool";
  for (uint32_t i = 0; i < problem.pools.size(); ++i) {
    const Pool &pool = problem.pools[i];
    if (pool.capacity && *pool.capacity < 0)
      return nameOfPool(problem, i) + " has a negative capacity";
    if (pool.alignment < 1)
      return nameOfPool(problem, i) + " has an alignment below 1";
    if (pool.weight < 0)
      return nameOfPool(problem, i) + " has a negative weight";
  }
  return "";
}

std::string checkBuffers(const Problem &problem, int64_t &total) {
  total = 0;
  for (uint32_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer &buffer = problem.buffers[i];
    if (buffer.bytes < 0)
      return nameOf(problem, i) + " has a negative size";
    if (buffer.alignment < 1)
      return nameOf(problem, i) + " has an alignment below 1";
    if (buffer.offset && *buffer.offset < 0)
      return nameOf(problem, i) + " is pinned to a negative offset";
    if (buffer.offset && *buffer.offset % buffer.alignment)
      return nameOf(problem, i) + " is pinned to " + std::to_string(*buffer.offset) +
             ", which is no multiple of its alignment " + std::to_string(buffer.alignment);
    for (size_t j = 0; j < buffer.lifetime.size(); ++j) {
      if (buffer.lifetime[j].upper < buffer.lifetime[j].lower)
        return nameOf(problem, i) + " has a lifetime that ends before it begins";
      if (j > 0 && buffer.lifetime[j].lower < buffer.lifetime[j - 1].upper)
        return nameOf(problem, i) +
               " has a lifetime whose intervals are not ascending and disjoint";
    }
    for (size_t j = 0; j < buffer.pools.size(); ++j) {
      if (buffer.pools[j] >= problem.pools.size())
        return nameOf(problem, i) + " may be in pool " + std::to_string(buffer.pools[j]) +
               ", which does not exist";
      if (std::find(buffer.pools.begin(), buffer.pools.begin() + j, buffer.pools[j]) !=
          buffer.pools.begin() + j)
        return nameOf(problem, i) + " has " + nameOfPool(problem, buffer.pools[j]) +
               " twice among its pools";
    }
    if (buffer.base && *buffer.base >= problem.buffers.size())
      return nameOf(problem, i) + " has a base that does not exist";
    if (buffer.delta == std::numeric_limits<int64_t>::min())
      return nameOf(problem, i) + " has a distance from its base that is out of range";
    total = saturatedAdd(total, buffer.bytes);
    total = saturatedAdd(total, buffer.base ? std::abs(buffer.delta) : 0);
    total = saturatedAdd(total, buffer.offset.value_or(0));
    if (total >= offsetLimit)
      return "the sizes, pins and distances of the buffers add up to 2^62 bytes or more";
  }
  return "";
}

std::string checkPairs(const Problem &problem) {
  for (auto *list : {&problem.conflicts, &problem.inPlace})
    for (auto [a, b] : *list) {
      std::string what = list == &problem.conflicts ? "a conflict" : "an in-place pair";
      if (a >= problem.buffers.size() || b >= problem.buffers.size())
        return what + " names buffer " + std::to_string(std::max(a, b)) + ", which does not exist";
      if (a == b)
        return what + " is of " + nameOf(problem, a) + " and itself";
    }
  return "";
}

} // namespace

std::string validate(const Problem &problem, int64_t &total) {
  std::string fault = checkPools(problem);
  if (fault.empty())
    fault = checkBuffers(problem, total);
  return fault.empty() ? checkPairs(problem) : fault;
}

} // namespace plim::planner
