#include "planner/LooseBlocks.h"

#include <algorithm>
#include <numeric>
#include <queue>
#include <random>
#include <span>

namespace plim::planner {

namespace {

constexpr uint32_t none = BlockNode::none;

class LooseJoiner {
public:
  LooseJoiner(const Packing &packing, int64_t most, uint64_t seed, double overlooked,
              const std::function<bool()> &isStopped)
      : packing(packing), most(most), isStopped(isStopped), noise(seed ? 0.5 : 0),
        overlooked(overlooked), random(seed), nodes(nodesOf(packing)),
        loads(packing.numSections + 1, 0) {
    for (const Box &box : packing.boxes)
      for (uint32_t i = box.parts.first; i < box.parts.last; ++i) {
        const Piece &part = packing.parts[i];
        loads[part.first] += part.high - part.low;
        loads[part.last] -= part.high - part.low;
      }
    std::partial_sum(loads.begin(), loads.end(), loads.begin());
  }

  Blocks run() {
    for (uint32_t i = 0; i < packing.boxes.size(); ++i)
      if (nodes[i].isRectangle && !isStopped())
        consider(i);
    for (size_t steps = 1; !candidates.empty(); ++steps) {
      if (steps % 64 == 0 && isStopped())
        break;
      Candidate next = candidates.top();
      candidates.pop();
      if (nodes[next.a].parent == none && nodes[next.b].parent == none)
        joinIfRoom(next.a, next.b);
    }
    Blocks blocks = assemble(packing, nodes);
    int64_t fullest = *std::max_element(loads.begin(), loads.end());
    blocks.packing.lowerBound = std::max(packing.lowerBound, fullest);
    return blocks;
  }

private:
  struct Candidate {
    double waste; // of the area of the whole, perturbed
    uint32_t a, b;
    bool operator<(const Candidate &other) const { return waste > other.waste; }
  };

  static bool areApart(const Piece &a, const Piece &b) {
    return a.last <= b.first || b.last <= a.first;
  }

  /// The second on top of the first, or side by side.
  static BlockNode wholeOf(const BlockNode &a, const BlockNode &b) {
    BlockNode whole = a;
    whole.part.first = std::min(a.part.first, b.part.first);
    whole.part.last = std::max(a.part.last, b.part.last);
    whole.part.high =
        areApart(a.part, b.part) ? std::max(a.part.high, b.part.high) : a.rounded() + b.part.high;
    return whole;
  }

  static double areaOf(const BlockNode &node) {
    return double(node.part.last - node.part.first) * double(node.part.high);
  }

  double unit() { return double(random() >> 11) * 0x1p-53; }

  /// All that the node might be joined with, and then the node itself for others.
  void consider(uint32_t node) {
    constexpr double mostWaste = 0.12;
    std::erase_if(waiting, [&](uint32_t other) { return nodes[other].parent != none; });
    for (uint32_t other : waiting) {
      const BlockNode &a = nodes[other], &b = nodes[node];
      if (a.stride.modulus != b.stride.modulus || a.stride.residue != b.stride.residue)
        continue;
      double area = areaOf(wholeOf(a, b)), waste = 1 - (areaOf(a) + areaOf(b)) / area;
      if (waste > mostWaste || (overlooked > 0 && unit() < overlooked))
        continue;
      waste *= 1 + noise * (2 * unit() - 1);
      candidates.push({waste, other, node});
    }
    waiting.push_back(node);
  }

  void joinIfRoom(uint32_t a, uint32_t b) {
    BlockNode whole = wholeOf(nodes[a], nodes[b]);
    auto more = [&](uint32_t section) {
      int64_t bytes = whole.part.high;
      for (const Piece &part : {nodes[a].part, nodes[b].part})
        if (part.first <= section && section < part.last)
          bytes -= part.high;
      return bytes;
    };
    for (uint32_t s = whole.part.first; s < whole.part.last; ++s)
      if (loads[s] + more(s) > most)
        return;
    for (uint32_t s = whole.part.first; s < whole.part.last; ++s)
      loads[s] += more(s);
    uint32_t index = uint32_t(nodes.size());
    if (!areApart(nodes[a].part, nodes[b].part))
      nodes[b].delta = nodes[a].rounded();
    nodes[a].parent = nodes[b].parent = index;
    nodes.push_back(whole);
    consider(index);
  }

  const Packing &packing;
  const int64_t most; // bytes of a section
  const std::function<bool()> &isStopped;
  const double noise;
  const double overlooked; // share of the pairs
  std::mt19937_64 random;
  std::vector<BlockNode> nodes;  // the boxes, then what they are joined to
  std::vector<int64_t> loads;    // by section
  std::vector<uint32_t> waiting; // nodes that are not joined, and some that are
  std::priority_queue<Candidate> candidates;
};

/// A few blocks that are live at the time of one of them, or next to it.
std::vector<bool> allButSome(const Packing &packing, std::mt19937_64 &random) {
  uint32_t count = uint32_t(packing.boxes.size());
  std::vector<bool> isKept(count, true);
  auto partsOf = [&](uint32_t box) {
    return std::span(packing.parts)
        .subspan(packing.boxes[box].parts.first, packing.boxes[box].parts.size());
  };
  auto middle = partsOf(uint32_t(random() % count));
  std::vector<uint32_t> there;
  for (uint32_t i = 0; i < count && !middle.empty(); ++i)
    if (auto parts = partsOf(i); !parts.empty() && parts.front().first <= middle.back().last &&
                                 middle.front().first <= parts.back().last)
      there.push_back(i);
  for (uint64_t left = 2 + random() % 6; left > 0 && !there.empty(); --left) {
    std::swap(there[random() % there.size()], there.back());
    isKept[there.back()] = false;
    there.pop_back();
  }
  return isKept;
}

} // namespace

Blocks joinLoosely(const Packing &packing, int64_t most, uint64_t seed,
                   const std::function<bool()> &isStopped) {
  auto joinOnce = [&](const Packing &rest) {
    return LooseJoiner(rest, most, seed, 0, isStopped).run();
  };
  return joinRepeatedly(joinOnce(packing), joinOnce);
}

Blocks joinBetter(const Packing &packing, Blocks blocks, int64_t most, uint64_t seed,
                  const std::function<bool(uint64_t)> &spend,
                  const std::function<bool()> &isStopped) {
  constexpr int tries = 200;
  std::mt19937_64 random(seed);
  for (int i = 0; i < tries && !isStopped(); ++i) {
    Blocks next = takeApart(packing, blocks, allButSome(blocks.packing, random));
    if (!spend(packing.boxes.size() / 16 + nodesOfJoining(next.packing.boxes.size())))
      break;
    uint64_t order = random() | 1;
    // Two that match by chance may waste less than any that belong together. Then they are joined
    // first again, in any order of the rest: they have to be overlooked.
    double overlooked = 0.1 * (i % 5);
    next = joinRepeatedly(std::move(next), [&](const Packing &rest) {
      return LooseJoiner(rest, most, order, overlooked, isStopped).run();
    });
    if (next.packing.boxes.size() <= blocks.packing.boxes.size())
      blocks = std::move(next);
  }
  return blocks;
}

} // namespace plim::planner
