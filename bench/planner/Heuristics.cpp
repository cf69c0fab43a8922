#include "bench/planner/Heuristics.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace plim::bench {

namespace {

using planner::Buffer;
using planner::Problem;

/// Buffers in the order of their offsets.
struct Placed {
  int64_t lower, upper, offset, end;
};

int64_t roundUp(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

int64_t offsetOf(const std::vector<Placed> &placed, const Buffer &buffer, int64_t alignment,
                 bool wantsBest) {
  int64_t best = -1, least = std::numeric_limits<int64_t>::max(), top = 0;
  for (const Placed &other : placed) {
    if (other.upper <= buffer.lifetime[0].lower || buffer.lifetime[0].upper <= other.lower)
      continue;
    int64_t slack = other.offset - top - buffer.bytes;
    if (slack >= 0 && slack < least) {
      if (!wantsBest)
        return top;
      best = top;
      least = slack;
    }
    top = std::max(top, roundUp(other.end, alignment));
  }
  return best >= 0 ? best : top;
}

/// What each rule wants most of.
std::vector<double> weightsOf(const Problem &problem, Rule rule) {
  std::vector<int64_t> lowers, uppers;
  for (const Buffer &buffer : problem.buffers) {
    lowers.push_back(buffer.lifetime[0].lower);
    uppers.push_back(buffer.lifetime[0].upper);
  }
  std::sort(lowers.begin(), lowers.end());
  std::sort(uppers.begin(), uppers.end());
  std::vector<double> weights;
  for (const Buffer &buffer : problem.buffers) {
    auto [lower, upper] = buffer.lifetime[0];
    // Buffers that begin before its end, less buffers that end before it begins.
    auto conflicts = (std::lower_bound(lowers.begin(), lowers.end(), upper) - lowers.begin()) -
                     (std::upper_bound(uppers.begin(), uppers.end(), lower) - uppers.begin());
    double duration = double(upper) - double(lower), size = double(buffer.bytes);
    weights.push_back(rule == Rule::ByConflicts  ? double(conflicts)
                      : rule == Rule::ByArea     ? size * duration
                      : rule == Rule::ByDuration ? duration
                                                 : size);
  }
  return weights;
}

} // namespace

const char *nameOf(Rule rule) {
  switch (rule) {
  case Rule::BestFitBySize:
    return "best_fit_by_size";
  case Rule::FirstFitBySize:
    return "first_fit_by_size";
  case Rule::ByConflicts:
    return "by_conflicts";
  case Rule::ByArea:
    return "by_area";
  case Rule::ByDuration:
    return "by_duration";
  }
}

planner::Plan planByRule(const Problem &problem, Rule rule) {
  std::vector<double> weights = weightsOf(problem, rule);
  std::vector<uint32_t> order(problem.buffers.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return std::pair(-weights[a], a) < std::pair(-weights[b], b);
  });
  planner::Plan plan;
  plan.status = planner::Status::Feasible;
  plan.offsets.assign(problem.buffers.size(), 0);
  plan.pools.assign(problem.buffers.size(), 0);
  plan.peaks = plan.lowerBounds = {0};
  std::vector<Placed> placed;
  for (uint32_t index : order) {
    const Buffer &buffer = problem.buffers[index];
    auto [lower, upper] = buffer.lifetime[0];
    if (buffer.bytes == 0 || lower == upper)
      continue;
    int64_t alignment = std::lcm(buffer.alignment, problem.pools[0].alignment);
    int64_t offset = offsetOf(placed, buffer, alignment, rule == Rule::BestFitBySize);
    Placed entry = {lower, upper, offset, offset + buffer.bytes};
    placed.insert(std::upper_bound(placed.begin(), placed.end(), offset,
                                   [](int64_t at, const Placed &b) { return at < b.offset; }),
                  entry);
    plan.offsets[index] = offset;
    plan.peaks[0] = std::max(plan.peaks[0], entry.end);
  }
  // Those without a life need a place all the same.
  for (const Buffer &buffer : problem.buffers)
    plan.peaks[0] = std::max(plan.peaks[0], buffer.bytes);
  return plan;
}

} // namespace plim::bench
