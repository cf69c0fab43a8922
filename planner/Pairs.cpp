#include "planner/Pairs.h"

#include <algorithm>

namespace plim::planner {

namespace {

/// Once it is decided for some pairs of pieces which is above, all boxes have a least offset that any
/// packing with these decisions is above: where boxes only push each other up, there is a least
/// solution. If no two pieces share bytes there, it is a packing; if some do, they are decided next.
class PairSearcher {
public:
  PairSearcher(const Model &model, const Packing &packing, int64_t capacity, uint64_t limit,
               const std::function<bool()> &isStopped)
      : model(model), packing(packing), capacity(capacity), limit(limit), isStopped(isStopped),
        above(packing.boxes.size()) {
    for (const Box &box : packing.boxes)
      offsets.push_back(box.lowest());
    for (uint32_t a = 0; a < packing.boxes.size(); ++a)
      for (uint32_t b = 0; b < a; ++b)
        collect(a, b);
  }

  Attempt run() {
    Attempt attempt;
    bool fits = true;
    for (uint32_t i = 0; i < packing.boxes.size(); ++i)
      fits &= isAllowed(i);
    bool found = fits && decide();
    attempt.nodes = nodes;
    attempt.outcome = found ? Outcome::Found : halted ? Outcome::Stopped : Outcome::Exhausted;
    if (found)
      attempt.offsets = offsets;
    return attempt;
  }

private:
  /// Pieces of two boxes that share a section.
  struct Pair {
    uint32_t a, b;
    int64_t aOverB, bOverA; // how much higher the one's offset has to be if it is above
  };
  struct Edge {
    uint32_t to;
    int64_t distance;
  };
  struct Change {
    uint32_t box;
    int64_t offset;
  };

  void collect(uint32_t a, uint32_t b) {
    const Item &x = model.items[packing.boxes[a].item], &y = model.items[packing.boxes[b].item];
    for (uint32_t i = x.pieces.first; i < x.pieces.last; ++i)
      for (uint32_t j = y.pieces.first; j < y.pieces.last; ++j) {
        const Piece &p = model.pieces[i], &q = model.pieces[j];
        if (p.first < q.last && q.first < p.last)
          pairs.push_back({a, b, q.high - p.low, p.high - q.low});
      }
  }

  bool isAllowed(uint32_t box) const {
    const Box &what = packing.boxes[box];
    return (what.extent == 0 || offsets[box] + what.extent <= capacity) &&
           (what.pin < 0 || offsets[box] <= what.pin);
  }

  /// Lets the box push those above it. False if one is pushed out.
  bool push(uint32_t from) {
    std::vector<uint32_t> &queue = waiting;
    queue.assign(1, from);
    while (!queue.empty()) {
      uint32_t box = queue.back();
      queue.pop_back();
      // Boxes that push each other in a circle would go on to the capacity.
      if (++pushes % 16 == 0 && ++nodes >= limit)
        halted = true;
      if (halted)
        return false;
      for (Edge edge : above[box]) {
        int64_t least = offsets[box] + edge.distance;
        if (least <= offsets[edge.to])
          continue;
        trail.push_back({edge.to, offsets[edge.to]});
        offsets[edge.to] = packing.boxes[edge.to].stride.atLeast(least);
        if (!isAllowed(edge.to))
          return false;
        queue.push_back(edge.to);
      }
    }
    return true;
  }

  bool decide() {
    if (nodes >= limit || isStopped())
      halted = true;
    if (halted)
      return false;
    nodes += 1 + pairs.size() / sectionsPerNode;
    // The pair that is moved most, whichever way.
    const Pair *worst = nullptr;
    int64_t most = 0;
    for (const Pair &pair : pairs) {
      int64_t ifAOver = offsets[pair.b] + pair.aOverB - offsets[pair.a];
      int64_t ifBOver = offsets[pair.a] + pair.bOverA - offsets[pair.b];
      if (std::min(ifAOver, ifBOver) > most) {
        most = std::min(ifAOver, ifBOver);
        worst = &pair;
      }
    }
    if (!worst)
      return true;
    Edge options[2] = {{worst->a, worst->aOverB}, {worst->b, worst->bOverA}};
    uint32_t below[2] = {worst->b, worst->a};
    bool swap = offsets[below[0]] + options[0].distance - offsets[options[0].to] >
                offsets[below[1]] + options[1].distance - offsets[options[1].to];
    for (bool second : {swap, !swap}) {
      size_t mark = trail.size();
      above[below[second]].push_back(options[second]);
      if (push(below[second]) && decide())
        return true;
      above[below[second]].pop_back();
      for (; trail.size() > mark; trail.pop_back())
        offsets[trail.back().box] = trail.back().offset;
      if (halted)
        return false;
    }
    return false;
  }

  const Model &model;
  const Packing &packing;
  const int64_t capacity;
  const uint64_t limit;
  const std::function<bool()> &isStopped;
  std::vector<int64_t> offsets;
  std::vector<Pair> pairs;
  std::vector<std::vector<Edge>> above; // decided, by the box below
  std::vector<Change> trail;
  std::vector<uint32_t> waiting;
  uint64_t nodes = 0, pushes = 0;
  bool halted = false;
};

} // namespace

Attempt searchPairs(const Model &model, const Packing &packing, int64_t capacity, uint64_t nodes,
                    const std::function<bool()> &isStopped) {
  // Small: the number of pairs is what it costs to look, and decisions nest.
  constexpr size_t mostBoxes = 64;
  if (packing.boxes.size() > mostBoxes)
    return {};
  return PairSearcher(model, packing, capacity, nodes, isStopped).run();
}

} // namespace plim::planner
