// Branch and bound over which of two pieces is above the other. Internal to planner/.
#pragma once

#include "planner/Search.h"

namespace plim::planner {

/// As Search, for shapes that interlock: slower, but Exhausted proves that there is no packing
/// whatever the shapes are, and gaps within items are used. No pairs are listed: memory is linear
/// in the pieces and the decisions.
///
/// Once it is decided for some pairs of pieces which one is above, the boxes push each other up to
/// a least solution. If two pieces share bytes there, the search decides about them next. Of one
/// thread at a time.
class PairSearch {
public:
  /// Borrows both. `packing` is of items of `model`, not of blocks. `capacity` is in bytes.
  PairSearch(const Model &model, const Packing &packing, int64_t capacity);
  PairSearch(PairSearch &&) noexcept;
  PairSearch &operator=(PairSearch &&) noexcept;
  ~PairSearch();

  /// Makes up to about `nodes` further decisions. Found: `offsets` of the boxes. Exhausted: `least`
  /// is the least capacity that was missed. Stopped: by the number, or by `isStopped`, which is
  /// asked between decisions; call it again to go on.
  Attempt run(uint64_t nodes, const std::function<bool()> &isStopped);

private:
  class Searcher;
  std::unique_ptr<Searcher> searcher;
};

} // namespace plim::planner
