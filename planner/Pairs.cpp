#include "planner/Pairs.h"

#include <algorithm>
#include <limits>

namespace plim::planner {

/// Once it is decided for some pairs of pieces which is above, all boxes have a least offset that
/// any packing with these decisions is above: where boxes only push each other up, there is a least
/// solution. If no two pieces share bytes there, it is a packing; if some do, they are decided
/// next.
class PairSearch::Searcher {
public:
  Searcher(const Model &model, const Packing &packing, int64_t capacity)
      : packing(packing), capacity(capacity), above(packing.boxes.size()) {
    for (uint32_t i = 0; i < packing.boxes.size(); ++i) {
      offsets.push_back(packing.boxes[i].lowest());
      if (!isAllowed(i))
        step = Step::Fail;
      const Item &item = model.items[packing.boxes[i].item];
      for (uint32_t k = item.pieces.first; k < item.pieces.last; ++k)
        pieces.push_back({model.pieces[k], i});
    }
    std::sort(pieces.begin(), pieces.end(), [](const Placed &a, const Placed &b) {
      return std::pair(a.piece.first, a.box) < std::pair(b.piece.first, b.box);
    });
  }

  Attempt run(uint64_t nodesMore, const std::function<bool()> &isStopped) {
    uint64_t before = nodes;
    Attempt attempt;
    constexpr uint64_t most = std::numeric_limits<uint64_t>::max();
    attempt.outcome = search(nodesMore < most - before ? before + nodesMore : most, isStopped);
    attempt.nodes = nodes - before;
    if (attempt.outcome == Outcome::Found)
      attempt.offsets = offsets;
    if (attempt.outcome == Outcome::Exhausted)
      attempt.least = least;
    return attempt;
  }

private:
  enum class Step { Look, Push, Fail, Found, Exhausted };
  struct Placed {
    Piece piece;
    uint32_t box;
  };
  struct Edge {
    uint32_t from = 0, to = 0; // the box below, and the one above it
    int64_t distance = 0;
  };
  struct Decision {
    Edge options[2];
    size_t mark = 0; // of the trail
    int next = 0;
  };
  struct Change {
    uint32_t box;
    int64_t offset;
  };

  bool isAllowed(uint32_t box) {
    const Box &what = packing.boxes[box];
    if (what.pin >= 0 && offsets[box] > what.pin)
      return false;
    if (what.extent == 0 || offsets[box] + what.extent <= capacity)
      return true;
    least = std::min(least, offsets[box] + what.extent);
    return false;
  }

  Outcome search(uint64_t limit, const std::function<bool()> &isStopped) {
    while (step != Step::Found && step != Step::Exhausted) {
      if (nodes >= limit || (step != Step::Fail && isStopped()))
        return Outcome::Stopped;
      switch (step) {
      case Step::Look:
        step = look();
        break;
      case Step::Push:
        step = push(limit);
        break;
      default:
        step = fail();
      }
    }
    return step == Step::Found ? Outcome::Found : Outcome::Exhausted;
  }

  /// Decides on the pair that is moved most, whichever way.
  Step look() {
    Decision decision;
    int64_t most = 0;
    uint64_t seen = 0;
    for (size_t i = 0; i < pieces.size(); ++i)
      for (size_t j = i + 1; j < pieces.size(); ++j) {
        auto [p, a] = pieces[i];
        auto [q, b] = pieces[j];
        if (q.first >= p.last)
          break;
        ++seen;
        if (a == b)
          continue;
        Edge aOverB{b, a, q.high - p.low}, bOverA{a, b, p.high - q.low};
        int64_t ifAOver = offsets[b] + aOverB.distance - offsets[a];
        int64_t ifBOver = offsets[a] + bOverA.distance - offsets[b];
        if (std::min(ifAOver, ifBOver) <= most)
          continue;
        most = std::min(ifAOver, ifBOver);
        decision.options[0] = ifAOver > ifBOver ? bOverA : aOverB;
        decision.options[1] = ifAOver > ifBOver ? aOverB : bOverA;
      }
    nodes += 1 + seen / sectionsPerNode;
    if (most == 0)
      return Step::Found;
    decision.mark = trail.size();
    decisions.push_back(decision);
    return decide();
  }

  Step decide() {
    const Edge &edge = decisions.back().options[decisions.back().next++];
    above[edge.from].push_back(edge);
    waiting.assign(1, edge.from);
    return Step::Push;
  }

  /// Lets boxes push those above them. Those that push each other in a circle go on to the
  /// capacity.
  Step push(uint64_t limit) {
    while (!waiting.empty()) {
      if (pushes >= 16) {
        pushes = 0;
        if (++nodes >= limit)
          return Step::Push;
      }
      ++pushes;
      uint32_t box = waiting.back();
      waiting.pop_back();
      for (const Edge &edge : above[box]) {
        int64_t lowest = offsets[box] + edge.distance;
        if (lowest <= offsets[edge.to])
          continue;
        trail.push_back({edge.to, offsets[edge.to]});
        offsets[edge.to] = packing.boxes[edge.to].stride.atLeast(lowest);
        if (!isAllowed(edge.to))
          return Step::Fail;
        waiting.push_back(edge.to);
      }
    }
    return Step::Look;
  }

  /// The other option of the last decision that has one.
  Step fail() {
    while (!decisions.empty()) {
      Decision &last = decisions.back();
      above[last.options[last.next - 1].from].pop_back();
      for (; trail.size() > last.mark; trail.pop_back())
        offsets[trail.back().box] = trail.back().offset;
      if (last.next < 2)
        return decide();
      decisions.pop_back();
    }
    return Step::Exhausted;
  }

  const Packing &packing;
  const int64_t capacity;
  std::vector<int64_t> offsets;
  std::vector<Placed> pieces;           // ascending by `first`
  std::vector<std::vector<Edge>> above; // decided, by the box below
  std::vector<Decision> decisions;
  std::vector<Change> trail;
  std::vector<uint32_t> waiting; // have moved, and those above them have not
  Step step = Step::Look;
  uint64_t nodes = 0, pushes = 0;
  int64_t least = std::numeric_limits<int64_t>::max(); // capacity that would have allowed more
};

PairSearch::PairSearch(const Model &model, const Packing &packing, int64_t capacity)
    : searcher(std::make_unique<Searcher>(model, packing, capacity)) {}
PairSearch::PairSearch(PairSearch &&) noexcept = default;
PairSearch &PairSearch::operator=(PairSearch &&) noexcept = default;
PairSearch::~PairSearch() = default;

Attempt PairSearch::run(uint64_t nodes, const std::function<bool()> &isStopped) {
  return searcher->run(nodes, isStopped);
}

} // namespace plim::planner
