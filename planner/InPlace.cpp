#include "planner/InPlace.h"

#include <algorithm>
#include <set>

namespace plim::planner {

namespace {

/// So many pairs are tried in all combinations.
constexpr size_t maxExhaustive = 6;

class Chooser {
public:
  Chooser(const Problem &problem, const Model &model) : problem(problem), model(model) {
    for (auto [a, b] : problem.inPlace)
      pairs.insert(std::minmax(a, b));
    for (auto [a, b] : problem.conflicts)
      conflicts.insert(std::minmax(a, b));
  }

  /// May these pairs be in place at the same time? Members that come together by them must not
  /// conflict, unless they are a pair themselves.
  bool isPossible(const std::vector<uint32_t> &fused) const {
    Model variant;
    if (!build(problem, fused, variant).empty())
      return false;
    std::vector<int64_t> deltas(problem.buffers.size());
    for (Model::Member member : variant.members)
      deltas[member.buffer] = member.delta;
    for (uint32_t index : fused) // both ends of a pair may have been in one group, elsewhere
      if (deltas[problem.inPlace[index].first] != deltas[problem.inPlace[index].second])
        return false;
    for (const Item &item : variant.items)
      for (uint32_t i = item.members.first; i < item.members.last; ++i)
        for (uint32_t j = i + 1; j < item.members.last; ++j) {
          auto [a, deltaA] = variant.members[i];
          auto [b, deltaB] = variant.members[j];
          if (model.itemOf[a] == model.itemOf[b] || (deltaA == deltaB && pairs.count({a, b})))
            continue;
          if (deltaA < deltaB + problem.buffers[b].bytes &&
              deltaB < deltaA + problem.buffers[a].bytes && conflict(a, b))
            return false;
        }
    return true;
  }

private:
  bool conflict(uint32_t a, uint32_t b) const {
    if (problem.buffers[a].bytes == 0 || problem.buffers[b].bytes == 0)
      return false;
    if (conflicts.count(std::minmax(a, b)))
      return true;
    for (Interval x : problem.buffers[a].lifetime)
      for (Interval y : problem.buffers[b].lifetime)
        if (std::max(x.lower, y.lower) < std::min(x.upper, y.upper))
          return true;
    return false;
  }

  const Problem &problem;
  const Model &model;
  std::set<std::pair<uint32_t, uint32_t>> pairs, conflicts;
};

} // namespace

std::vector<std::vector<uint32_t>> inPlaceChoices(const Problem &problem, const Model &model,
                                                  bool &areAll) {
  std::vector<std::vector<uint32_t>> choices = {{}};
  areAll = true;
  if (model.pairs.empty())
    return choices;
  Chooser chooser(problem, model);
  areAll = model.pairs.size() <= maxExhaustive;
  if (areAll) {
    for (uint32_t mask = 1; mask < 1u << model.pairs.size(); ++mask) {
      std::vector<uint32_t> fused;
      for (size_t i = 0; i < model.pairs.size(); ++i)
        if (mask >> i & 1)
          fused.push_back(model.pairs[i].index);
      if (chooser.isPossible(fused))
        choices.push_back(fused);
    }
    return choices;
  }
  // Of many: as many as go together, those that save most first.
  std::vector<Model::Pair> bySaving = model.pairs;
  std::sort(bySaving.begin(), bySaving.end(), [](const Model::Pair &a, const Model::Pair &b) {
    return std::pair(-a.saved, a.index) < std::pair(-b.saved, b.index);
  });
  std::vector<uint32_t> fused;
  for (const Model::Pair &pair : bySaving) {
    fused.push_back(pair.index);
    if (!chooser.isPossible(fused))
      fused.pop_back();
  }
  if (!fused.empty())
    choices.push_back(fused);
  return choices;
}

} // namespace plim::planner
