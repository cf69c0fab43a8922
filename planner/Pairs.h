// Branch and bound over which of two pieces is above the other. Internal to planner/.
#pragma once

#include "planner/Search.h"

namespace plim::planner {

/// As Search, for shapes that interlock: slower, but Exhausted proves that there is no packing
/// whatever the shapes are, and gaps within items are used. No pairs are listed: memory is linear
/// in the pieces and the decisions.
class PairSearch {
public:
  PairSearch(const Model &model, const Packing &packing, int64_t capacity);
  PairSearch(PairSearch &&) noexcept;
  PairSearch &operator=(PairSearch &&) noexcept;
  ~PairSearch();

  Attempt run(uint64_t nodes, const std::function<bool()> &isStopped);

private:
  class Searcher;
  std::unique_ptr<Searcher> searcher;
};

} // namespace plim::planner
