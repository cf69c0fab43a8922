#include "planner/Blocks.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <tuple>

namespace plim::planner {

namespace {

constexpr uint32_t none = BlockNode::none;

class Joiner {
public:
  Joiner(const Packing &packing, const std::function<bool()> &isStopped)
      : packing(packing), isStopped(isStopped), nodes(nodesOf(packing)) {}

  Blocks run(uint64_t seed) {
    std::vector<uint32_t> order(packing.boxes.size());
    std::iota(order.begin(), order.end(), 0u);
    std::mt19937_64 random(seed);
    for (size_t i = order.size(); seed && i > 1; --i)
      std::swap(order[i - 1], order[random() % i]);
    size_t steps = 0;
    for (uint32_t i : order) {
      if (steps++ % 64 == 0 && isStopped())
        break;
      if (!nodes[i].isRectangle)
        continue;
      for (uint32_t node = i; node != none;)
        node = joinOnce(node);
    }
    return assemble(packing, nodes);
  }

private:
  using Node = BlockNode;
  /// Two numbers that have to be the same, and a stride.
  using Key = std::tuple<int64_t, int64_t, int64_t, int64_t>;
  using Index = std::multimap<Key, uint32_t>;

  static Key keyOf(const Node &node, int64_t first, int64_t second) {
    return {first, second, node.stride.modulus, node.stride.residue};
  }
  static Key sectionsOf(const Node &node) { return keyOf(node, node.part.first, node.part.last); }
  static Key startOf(const Node &node) { return keyOf(node, node.part.first, node.rounded()); }
  static Key endOf(const Node &node) { return keyOf(node, node.part.last, node.rounded()); }

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
    Node whole{node.stride, node.part, none, 0, true};
    int64_t delta = 0;
    uint32_t other = find(bySections, sectionsOf(node));
    if (other != none) {
      delta = node.rounded();
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

int64_t BlockNode::rounded() const {
  return (part.high + stride.modulus - 1) / stride.modulus * stride.modulus;
}

std::vector<BlockNode> nodesOf(const Packing &packing) {
  std::vector<BlockNode> nodes;
  for (const Box &box : packing.boxes) {
    BlockNode &node = nodes.emplace_back();
    node.stride = box.stride;
    if (box.parts.size() != 1)
      continue;
    node.part = packing.parts[box.parts.first];
    node.isRectangle = box.pin < 0 && node.part.low == 0 && node.part.high == box.extent;
  }
  return nodes;
}

Blocks assemble(const Packing &packing, const std::vector<BlockNode> &nodes) {
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
    const BlockNode &node = nodes[i];
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

Blocks takeApart(const Packing &packing, const Blocks &blocks, const std::vector<bool> &isKept) {
  Blocks result;
  Packing &rest = result.packing;
  rest.numSections = packing.numSections;
  rest.unit = packing.unit;
  rest.step = packing.step;
  rest.isExact = packing.isExact;
  rest.lowerBound = packing.lowerBound;
  std::vector<uint32_t> indexOf(isKept.size(), none);
  for (uint32_t i = 0; i < packing.boxes.size(); ++i) {
    auto [block, delta] = blocks.places[i];
    Box box = packing.boxes[i];
    Range parts = box.parts;
    if (isKept[block] && indexOf[block] != none) {
      // Only rectangles were joined.
      Piece &part = rest.parts[rest.boxes[indexOf[block]].parts.first];
      part.first = std::min(part.first, packing.parts[parts.first].first);
      part.last = std::max(part.last, packing.parts[parts.first].last);
      result.places.push_back({indexOf[block], delta});
      continue;
    }
    result.places.push_back({uint32_t(rest.boxes.size()), isKept[block] ? delta : 0});
    box.parts.first = uint32_t(rest.parts.size());
    rest.parts.insert(rest.parts.end(), packing.parts.begin() + parts.first,
                      packing.parts.begin() + parts.last);
    box.parts.last = uint32_t(rest.parts.size());
    if (isKept[block]) {
      indexOf[block] = uint32_t(rest.boxes.size());
      if (int64_t extent = blocks.packing.boxes[block].extent; extent != box.extent)
        box.extent = rest.parts.back().high = extent;
    }
    rest.boxes.push_back(box);
  }
  return result;
}

Blocks joinRepeatedly(Blocks blocks, const std::function<Blocks(const Packing &)> &joinOnce) {
  for (;;) {
    size_t before = blocks.packing.boxes.size();
    renumber(blocks.packing);
    Blocks next = joinOnce(blocks.packing);
    if (next.packing.boxes.size() == before)
      return blocks;
    for (Blocks::Place &place : blocks.places) {
      const Blocks::Place &there = next.places[place.block];
      place = {there.block, place.delta + there.delta};
    }
    blocks.packing = std::move(next.packing);
  }
}

Blocks join(const Packing &packing, uint64_t seed, const std::function<bool()> &isStopped) {
  auto joinOnce = [&](const Packing &rest) { return Joiner(rest, isStopped).run(seed); };
  return joinRepeatedly(joinOnce(packing), joinOnce);
}

} // namespace plim::planner
