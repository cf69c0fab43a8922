#include "planner/Blocks.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <tuple>

namespace plim::planner {

namespace {

constexpr uint32_t none = ~0u;

class Joiner {
public:
  Joiner(const Packing &packing, const std::function<bool()> &isStopped)
      : packing(packing), isStopped(isStopped) {}

  Blocks run(uint64_t seed) {
    std::vector<uint32_t> order(packing.boxes.size());
    std::iota(order.begin(), order.end(), 0u);
    std::mt19937_64 random(seed);
    for (size_t i = order.size(); seed && i > 1; --i)
      std::swap(order[i - 1], order[random() % i]);
    for (const Box &box : packing.boxes)
      nodes.push_back({box.stride, {}, none, 0});
    size_t steps = 0;
    for (uint32_t i : order) {
      if (steps++ % 64 == 0 && isStopped())
        break;
      // Only what is nothing but a rectangle.
      const Box &box = packing.boxes[i];
      if (box.pin >= 0 || box.parts.size() != 1)
        continue;
      nodes[i].part = packing.parts[box.parts.first];
      if (nodes[i].part.low != 0 || nodes[i].part.high != box.extent)
        continue;
      for (uint32_t node = i; node != none;)
        node = joinOnce(node);
    }
    return finish();
  }

private:
  struct Node {
    Stride stride;
    Piece part;
    uint32_t parent = none; // what it has become a part of
    int64_t delta = 0;      // from the offset of that
  };
  /// Two numbers that have to be the same, and a stride.
  using Key = std::tuple<int64_t, int64_t, int64_t, int64_t>;
  using Index = std::multimap<Key, uint32_t>;

  static int64_t rounded(const Node &node) {
    int64_t modulus = node.stride.modulus;
    return (node.part.high + modulus - 1) / modulus * modulus;
  }
  static Key keyOf(const Node &node, int64_t first, int64_t second) {
    return {first, second, node.stride.modulus, node.stride.residue};
  }
  static Key sectionsOf(const Node &node) { return keyOf(node, node.part.first, node.part.last); }
  static Key startOf(const Node &node) { return keyOf(node, node.part.first, rounded(node)); }
  static Key endOf(const Node &node) { return keyOf(node, node.part.last, rounded(node)); }

  static uint32_t find(const Index &index, const Key &key) {
    auto it = index.find(key);
    return it == index.end() ? none : it->second;
  }
  static void erase(Index &index, const Key &key, uint32_t node) {
    auto [it, end] = index.equal_range(key);
    while (it->second != node)
      ++it;
    index.erase(it);
  }

  /// What the node becomes a part of; none if there is nothing to join it with yet.
  uint32_t joinOnce(uint32_t index) {
    Node node = nodes[index];
    Node whole{node.stride, node.part, none, 0};
    int64_t delta = 0;
    uint32_t other = find(bySections, sectionsOf(node));
    if (other != none) {
      delta = rounded(node);
      whole.part.high = delta + nodes[other].part.high;
    } else {
      other = find(byEnd, startOf(node));
      if (other == none)
        other = find(byStart, endOf(node));
      if (other == none) {
        bySections.emplace(sectionsOf(node), index);
        byStart.emplace(startOf(node), index);
        byEnd.emplace(endOf(node), index);
        return none;
      }
      const Piece &beside = nodes[other].part;
      whole.part.first = std::min(node.part.first, beside.first);
      whole.part.last = std::max(node.part.last, beside.last);
      whole.part.high = std::max(node.part.high, beside.high);
    }
    erase(bySections, sectionsOf(nodes[other]), other);
    erase(byStart, startOf(nodes[other]), other);
    erase(byEnd, endOf(nodes[other]), other);
    nodes[index].parent = nodes[other].parent = uint32_t(nodes.size());
    nodes[other].delta = delta;
    nodes.push_back(whole);
    return nodes[index].parent;
  }

  Blocks finish() {
    Blocks blocks;
    Packing &result = blocks.packing;
    result.numSections = packing.numSections;
    result.unit = packing.unit;
    result.step = packing.step;
    result.isExact = packing.isExact;
    result.lowerBound = packing.lowerBound;
    // Wholes come after what they are made of.
    std::vector<Blocks::Place> places(nodes.size());
    for (uint32_t i = uint32_t(nodes.size()); i-- > 0;) {
      const Node &node = nodes[i];
      if (node.parent != none) {
        places[i] = {places[node.parent].block, places[node.parent].delta + node.delta};
        continue;
      }
      places[i] = {uint32_t(result.boxes.size()), 0};
      Box box = i < packing.boxes.size() ? packing.boxes[i] : Box();
      Range parts = box.parts;
      box.parts.first = uint32_t(result.parts.size());
      if (i < packing.boxes.size()) {
        result.parts.insert(result.parts.end(), packing.parts.begin() + parts.first,
                            packing.parts.begin() + parts.last);
      } else {
        box.stride = node.stride;
        box.extent = node.part.high;
        result.parts.push_back(node.part);
      }
      box.parts.last = uint32_t(result.parts.size());
      result.boxes.push_back(box);
    }
    places.resize(packing.boxes.size());
    blocks.places = std::move(places);
    return blocks;
  }

  const Packing &packing;
  const std::function<bool()> &isStopped;
  std::vector<Node> nodes;          // the boxes, then what they are joined to
  Index bySections, byStart, byEnd; // of those that are not joined
};

} // namespace

std::vector<int64_t> Blocks::offsetsOf(const std::vector<int64_t> &blocks) const {
  std::vector<int64_t> offsets;
  offsets.reserve(places.size());
  for (Place place : places)
    offsets.push_back(blocks[place.block] + place.delta);
  return offsets;
}

Blocks join(const Packing &packing, uint64_t seed, const std::function<bool()> &isStopped) {
  Blocks blocks = Joiner(packing, isStopped).run(seed);
  // Fewer sections are maximal then, so that more boxes may be of the same.
  for (;;) {
    size_t before = blocks.packing.boxes.size();
    renumber(blocks.packing);
    Blocks next = Joiner(blocks.packing, isStopped).run(seed);
    if (next.packing.boxes.size() == before)
      return blocks;
    for (Blocks::Place &place : blocks.places) {
      const Blocks::Place &there = next.places[place.block];
      place = {there.block, place.delta + there.delta};
    }
    blocks.packing = std::move(next.packing);
  }
}

} // namespace plim::planner
