#include "planner/Model.h"

#include "planner/Printable.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

namespace plim::planner {

namespace {

/// Offsets stay below this, so that sums of two never overflow.
constexpr int64_t limit = int64_t(1) << 62;

int64_t saturatedAdd(int64_t a, int64_t b) {
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum) || sum > limit ? limit : sum;
}

int64_t remainder(int64_t value, int64_t modulus) {
  int64_t rest = value % modulus;
  return rest < 0 ? rest + modulus : rest;
}

/// a * b modulo `modulus`; all below it, which is at most 2^62.
int64_t multiply(int64_t a, int64_t b, int64_t modulus) {
  int64_t product = 0;
  for (; b; b >>= 1, a = (a + a) % modulus)
    if (b & 1)
      product = (product + a) % modulus;
  return product;
}

/// What both strides hold; false if there is nothing, or nothing below the limit.
bool intersect(Stride &stride, Stride other) {
  if (stride.modulus < other.modulus)
    std::swap(stride, other);
  if (stride.modulus % other.modulus == 0)
    return stride.residue % other.modulus == other.residue;
  int64_t common = std::gcd(stride.modulus, other.modulus);
  int64_t distance = other.residue - stride.residue, step = other.modulus / common, product;
  if (distance % common || __builtin_mul_overflow(stride.modulus, step, &product) ||
      product > limit)
    return false;
  // stride.residue + k * stride.modulus = other.residue modulo other.modulus, with Euclid's
  // inverse.
  int64_t a = remainder(stride.modulus / common, step), b = step, x = 1, y = 0;
  while (b) {
    int64_t quotient = a / b;
    std::tie(a, b) = std::pair(b, a % b);
    std::tie(x, y) = std::pair(y, x - quotient * y);
  }
  int64_t k = multiply(remainder(distance / common, step), remainder(x, step), step);
  stride = {product, stride.residue + k * stride.modulus};
  return true;
}

class Builder {
public:
  Builder(const Problem &problem, Model &model) : problem(problem), model(model) {}

  std::string run(const std::vector<uint32_t> &fused) {
    for (auto step : {&Builder::checkPools, &Builder::checkBuffers, &Builder::checkPairs})
      if (std::string fault = (this->*step)(); !fault.empty())
        return fault;
    if (std::string fault = group(fused); !fault.empty())
      return fault;
    collectItems();
    for (Item &item : model.items)
      if (std::string fault = constrain(item); !fault.empty())
        return fault;
    formSections();
    formPieces();
    formPairs();
    return checkPins();
  }

private:
  uint32_t numBuffers() const { return uint32_t(problem.buffers.size()); }
  std::string name(uint32_t buffer) const { return nameOf(problem, buffer); }

  std::string checkPools() {
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

  std::string checkBuffers() {
    total = 0;
    for (uint32_t i = 0; i < numBuffers(); ++i) {
      const Buffer &buffer = problem.buffers[i];
      if (buffer.bytes < 0)
        return name(i) + " has a negative size";
      if (buffer.alignment < 1)
        return name(i) + " has an alignment below 1";
      if (buffer.offset && *buffer.offset < 0)
        return name(i) + " is pinned to a negative offset";
      if (buffer.offset && *buffer.offset % buffer.alignment)
        return name(i) + " is pinned to " + std::to_string(*buffer.offset) +
               ", which is no multiple of its alignment " + std::to_string(buffer.alignment);
      for (size_t j = 0; j < buffer.lifetime.size(); ++j) {
        if (buffer.lifetime[j].upper < buffer.lifetime[j].lower)
          return name(i) + " has a lifetime that ends before it begins";
        if (j > 0 && buffer.lifetime[j].lower < buffer.lifetime[j - 1].upper)
          return name(i) + " has a lifetime whose intervals are not ascending and disjoint";
      }
      for (size_t j = 0; j < buffer.pools.size(); ++j) {
        if (buffer.pools[j] >= problem.pools.size())
          return name(i) + " may be in pool " + std::to_string(buffer.pools[j]) +
                 ", which does not exist";
        if (std::find(buffer.pools.begin(), buffer.pools.begin() + j, buffer.pools[j]) !=
            buffer.pools.begin() + j)
          return name(i) + " has " + nameOfPool(problem, buffer.pools[j]) +
                 " twice among its pools";
      }
      if (buffer.base && *buffer.base >= numBuffers())
        return name(i) + " has a base that does not exist";
      if (buffer.delta == std::numeric_limits<int64_t>::min())
        return name(i) + " has a distance from its base that is out of range";
      total = saturatedAdd(total, buffer.bytes);
      total = saturatedAdd(total, buffer.base ? std::abs(buffer.delta) : 0);
      total = saturatedAdd(total, buffer.offset.value_or(0));
      if (total >= limit)
        return "the sizes, pins and distances of the buffers add up to 2^62 bytes or more";
    }
    return "";
  }

  std::string checkPairs() {
    for (auto *list : {&problem.conflicts, &problem.inPlace})
      for (auto [a, b] : *list) {
        std::string what = list == &problem.conflicts ? "a conflict" : "an in-place pair";
        if (a >= numBuffers() || b >= numBuffers())
          return what + " names buffer " + std::to_string(std::max(a, b)) +
                 ", which does not exist";
        if (a == b)
          return what + " is of " + name(a) + " and itself";
      }
    return "";
  }

  /// The root of a buffer's group; `delta` becomes its distance from it.
  uint32_t find(uint32_t buffer, int64_t &delta) {
    uint32_t root = buffer;
    delta = 0;
    for (; parent[root] != root; root = parent[root])
      delta += distance[root];
    int64_t rest = delta;
    while (parent[buffer] != root && buffer != root) {
      int64_t step = distance[buffer];
      distance[buffer] = rest;
      rest -= step;
      buffer = std::exchange(parent[buffer], root);
    }
    return root;
  }

  std::string group(const std::vector<uint32_t> &fused) {
    parent.resize(numBuffers());
    std::iota(parent.begin(), parent.end(), 0u);
    distance.assign(numBuffers(), 0);
    for (uint32_t i = 0; i < numBuffers(); ++i) {
      if (!problem.buffers[i].base)
        continue;
      int64_t mine, theirs;
      uint32_t root = find(i, mine), base = find(*problem.buffers[i].base, theirs);
      if (root == base)
        return name(i) + " is its own base, over others or directly";
      parent[root] = base;
      distance[root] = theirs + problem.buffers[i].delta - mine;
    }
    for (uint32_t index : fused) {
      auto [a, b] = problem.inPlace[index];
      int64_t mine, theirs;
      uint32_t root = find(a, mine), base = find(b, theirs);
      if (root == base)
        continue;
      parent[root] = base;
      distance[root] = theirs - mine;
    }
    return "";
  }

  void collectItems() {
    model = {};
    model.itemOf.assign(numBuffers(), 0);
    std::vector<uint32_t> itemOfRoot(numBuffers(), ~0u);
    std::vector<int64_t> lowest;
    std::vector<int64_t> deltas(numBuffers());
    for (uint32_t i = 0; i < numBuffers(); ++i) {
      uint32_t root = find(i, deltas[i]);
      if (itemOfRoot[root] == ~0u) {
        itemOfRoot[root] = uint32_t(model.items.size());
        model.items.emplace_back();
        lowest.push_back(deltas[i]);
      }
      uint32_t item = model.itemOf[i] = itemOfRoot[root];
      ++model.items[item].members.last;
      lowest[item] = std::min(lowest[item], deltas[i]);
    }
    uint32_t first = 0;
    for (Item &item : model.items) {
      uint32_t count = item.members.last;
      item.members = {first, first}; // `last` grows as they are filled in
      first += count;
    }
    model.members.resize(numBuffers());
    for (uint32_t i = 0; i < numBuffers(); ++i) {
      uint32_t item = model.itemOf[i];
      model.members[model.items[item].members.last++] = {i, deltas[i] - lowest[item]};
    }
  }

  /// The pin, and the pools with what they cost and where in them.
  std::string constrain(Item &item) {
    uint32_t first = model.members[item.members.first].buffer;
    Stride own;
    for (uint32_t m = item.members.first; m < item.members.last; ++m) {
      auto [index, delta] = model.members[m];
      const Buffer &buffer = problem.buffers[index];
      if (!intersect(own, {buffer.alignment, remainder(-delta, buffer.alignment)}))
        return name(index) + " cannot be aligned together with those it hangs together with";
      if (!buffer.offset)
        continue;
      if (*buffer.offset < delta)
        return name(index) + " is pinned so low that others of its group would begin below 0";
      if (item.pin && *item.pin != *buffer.offset - delta)
        return name(index) + " is pinned against a pin of its group";
      item.pin = *buffer.offset - delta;
    }
    if (item.pin && !own.holds(*item.pin))
      return name(first) + " is in a group that is pinned against an alignment";

    item.candidates.first = uint32_t(model.candidates.size());
    std::string why;
    const std::vector<uint32_t> &listed = problem.buffers[first].pools;
    uint32_t count = uint32_t(listed.empty() ? problem.pools.size() : listed.size());
    for (uint32_t i = 0; i < count; ++i) {
      Candidate candidate{listed.empty() ? i : listed[i], own, 0};
      std::string fault = admit(item, candidate);
      if (!fault.empty()) {
        if (why.empty())
          why = fault;
        continue;
      }
      auto worse = std::upper_bound(
          model.candidates.begin() + item.candidates.first, model.candidates.end(), candidate,
          [](const Candidate &a, const Candidate &b) { return a.cost < b.cost; });
      model.candidates.insert(worse, candidate);
    }
    item.candidates.last = uint32_t(model.candidates.size());
    if (item.candidates.size() == 0)
      return why;
    int64_t largest = 0;
    for (uint32_t c = item.candidates.first; c < item.candidates.last; ++c)
      largest = std::max(largest, model.candidates[c].stride.modulus);
    total = saturatedAdd(total, largest);
    if (total >= limit)
      return "the sizes and alignments of the buffers add up to 2^62 bytes or more";
    return "";
  }

  /// Completes the candidate; why the item cannot be in the pool, if it cannot.
  std::string admit(const Item &item, Candidate &candidate) const {
    const Pool &pool = problem.pools[candidate.pool];
    for (uint32_t m = item.members.first; m < item.members.last; ++m) {
      auto [index, delta] = model.members[m];
      const Buffer &buffer = problem.buffers[index];
      auto it = std::find(buffer.pools.begin(), buffer.pools.end(), candidate.pool);
      if (!buffer.pools.empty() && it == buffer.pools.end())
        return name(index) + " has no pool in common with those it hangs together with";
      if (buffer.accessors & ~pool.accessors)
        return name(index) + " has accessors that do not reach " +
               nameOfPool(problem, candidate.pool) + ", nor all of them another of its pools";
      if (!buffer.base &&
          !intersect(candidate.stride, {pool.alignment, remainder(-delta, pool.alignment)}))
        return name(index) + " cannot have the alignment of " + nameOfPool(problem, candidate.pool);
      size_t rank = buffer.pools.empty() ? candidate.pool : it - buffer.pools.begin();
      candidate.cost += double(buffer.bytes) * double(rank);
    }
    if (item.pin && !candidate.stride.holds(*item.pin))
      return name(model.members[item.members.first].buffer) +
             " is pinned against the alignment of " + nameOfPool(problem, candidate.pool);
    return "";
  }

  struct Live {
    uint32_t buffer, first, last; // sections
  };

  /// Two lifetimes overlap if and only if they share a maximal set of what is live at once: a new
  /// one begins with the first start after an end.
  void formSections() {
    struct Event {
      int64_t time;
      bool starts; // ends come first
      uint32_t live;
    };
    std::vector<Event> events;
    for (uint32_t i = 0; i < numBuffers(); ++i)
      for (Interval interval : problem.buffers[i].lifetime)
        if (interval.lower < interval.upper && problem.buffers[i].bytes > 0) {
          events.push_back({interval.lower, true, uint32_t(lives.size())});
          events.push_back({interval.upper, false, uint32_t(lives.size())});
          lives.push_back({i, 0, 0});
        }
    std::sort(events.begin(), events.end(), [](const Event &a, const Event &b) {
      return std::tie(a.time, a.starts, a.live) < std::tie(b.time, b.starts, b.live);
    });
    uint32_t section = 0;
    bool ended = false;
    for (const Event &event : events) {
      if (event.starts) {
        section += ended;
        ended = false;
        lives[event.live].first = section;
      } else {
        ended = true;
        lives[event.live].last = section + 1;
      }
    }
    model.numSections = events.empty() ? 0 : section + 1;
    coverConflicts();
  }

  /// Listed conflicts become sections of their own, as few cliques as are found greedily.
  void coverConflicts() {
    std::vector<std::pair<uint32_t, uint32_t>> edges;
    for (auto [a, b] : problem.conflicts)
      if (problem.buffers[a].bytes > 0 && problem.buffers[b].bytes > 0 &&
          model.itemOf[a] != model.itemOf[b]) {
        edges.push_back({a, b});
        edges.push_back({b, a});
      }
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    auto find = [&](uint32_t a, uint32_t b) {
      auto it = std::lower_bound(edges.begin(), edges.end(), std::pair(a, b));
      return it != edges.end() && *it == std::pair(a, b) ? it - edges.begin() : -1;
    };
    std::vector<bool> covered(edges.size());
    std::vector<uint32_t> clique;
    for (size_t e = 0; e < edges.size(); ++e) {
      auto [a, b] = edges[e];
      if (covered[e])
        continue;
      clique = {a, b};
      for (size_t i = find(a, b) + 1; i < edges.size() && edges[i].first == a; ++i) {
        uint32_t next = edges[i].second;
        if (std::all_of(clique.begin(), clique.end(),
                        [&](uint32_t other) { return find(next, other) >= 0; }))
          clique.push_back(next);
      }
      for (uint32_t one : clique) {
        lives.push_back({one, model.numSections, model.numSections + 1});
        for (uint32_t other : clique)
          if (one != other)
            covered[find(one, other)] = true;
      }
      ++model.numSections;
    }
  }

  void formPieces() {
    std::sort(lives.begin(), lives.end(), [&](const Live &a, const Live &b) {
      return std::tuple(model.itemOf[a.buffer], a.first, a.buffer) <
             std::tuple(model.itemOf[b.buffer], b.first, b.buffer);
    });
    std::vector<int64_t> deltas(numBuffers());
    for (Model::Member member : model.members)
      deltas[member.buffer] = member.delta;
    size_t at = 0;
    for (uint32_t i = 0; i < model.items.size(); ++i) {
      Item &item = model.items[i];
      item.pieces.first = uint32_t(model.pieces.size());
      for (; at < lives.size() && model.itemOf[lives[at].buffer] == i; ++at) {
        Live live = lives[at];
        int64_t low = deltas[live.buffer];
        Piece piece{live.first, live.last, low, low + problem.buffers[live.buffer].bytes};
        bool isNew = model.pieces.size() == item.pieces.first;
        Piece *before = isNew ? nullptr : &model.pieces.back();
        if (before && before->low == piece.low && before->high == piece.high &&
            piece.first <= before->last)
          before->last = std::max(before->last, piece.last);
        else
          model.pieces.push_back(piece);
      }
      item.pieces.last = uint32_t(model.pieces.size());
      for (uint32_t m = item.members.first; m < item.members.last; ++m) {
        const Buffer &buffer = problem.buffers[model.members[m].buffer];
        for (Interval live : buffer.lifetime)
          item.duration += double(live.upper) - double(live.lower);
        int64_t bytes = buffer.bytes;
        if (bytes > 0)
          item.extent = std::max(item.extent, model.members[m].delta + bytes);
      }
      model.loadsOf(i, [&](Model::Load load) { item.bytes = std::max(item.bytes, load.bytes); });
    }
  }

  void formPairs() {
    for (uint32_t i = 0; i < problem.inPlace.size(); ++i) {
      auto [a, b] = problem.inPlace[i];
      if (model.itemOf[a] == model.itemOf[b])
        continue;
      int64_t saved = std::min(problem.buffers[a].bytes, problem.buffers[b].bytes);
      model.pairs.push_back({i, model.itemOf[a], model.itemOf[b], saved});
    }
  }

  std::string checkPins() const {
    std::vector<uint32_t> pinned;
    for (uint32_t i = 0; i < model.items.size(); ++i)
      if (model.items[i].pin && model.items[i].candidates.size() == 1)
        pinned.push_back(i);
    auto pin = [&](uint32_t item) { return *model.items[item].pin; };
    auto pool = [&](uint32_t item) {
      return model.candidates[model.items[item].candidates.first].pool;
    };
    std::sort(pinned.begin(), pinned.end(), [&](uint32_t a, uint32_t b) {
      return std::tuple(pool(a), pin(a), a) < std::tuple(pool(b), pin(b), b);
    });
    for (size_t i = 0; i < pinned.size(); ++i)
      for (size_t j = i + 1; j < pinned.size() && pool(pinned[j]) == pool(pinned[i]) &&
                             pin(pinned[j]) < pin(pinned[i]) + model.items[pinned[i]].extent;
           ++j) {
        uint32_t a = pinned[i], b = pinned[j];
        if (!model.collide(a, pin(a), b, pin(b)))
          continue;
        auto offsetOf = [&](uint32_t buffer) {
          const Item &item = model.items[model.itemOf[buffer]];
          uint32_t m = item.members.first;
          while (model.members[m].buffer != buffer)
            ++m;
          return *item.pin + model.members[m].delta;
        };
        bool mayBeInPlace =
            std::any_of(model.pairs.begin(), model.pairs.end(), [&](const Model::Pair &pair) {
              auto [one, other] = problem.inPlace[pair.index];
              return std::minmax(pair.a, pair.b) == std::minmax(a, b) &&
                     offsetOf(one) == offsetOf(other);
            });
        if (!mayBeInPlace)
          return name(model.members[model.items[a].members.first].buffer) + " and " +
                 name(model.members[model.items[b].members.first].buffer) +
                 " conflict and are pinned onto each other";
      }
    return "";
  }

  const Problem &problem;
  Model &model;
  int64_t total = 0;
  std::vector<uint32_t> parent;  // by buffer: of its group, to its root
  std::vector<int64_t> distance; // from its parent
  std::vector<Live> lives;
};

} // namespace

std::vector<uint32_t> cutsOf(const std::vector<Piece> &pieces) {
  std::vector<uint32_t> cuts;
  for (const Piece &piece : pieces) {
    cuts.push_back(piece.first);
    cuts.push_back(piece.last);
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  return cuts;
}

void Model::loadsOf(uint32_t index, const std::function<void(Load)> &add) const {
  const Item &item = items[index];
  auto first = pieces.begin() + item.pieces.first, last = pieces.begin() + item.pieces.last;
  if (item.pieces.size() <= 1) {
    for (; first != last; ++first)
      add({first->first, first->last, first->high - first->low});
    return;
  }
  std::vector<Piece> byOffset(first, last);
  std::vector<uint32_t> cuts = cutsOf(byOffset);
  std::sort(byOffset.begin(), byOffset.end(),
            [](const Piece &a, const Piece &b) { return a.low < b.low; });
  for (size_t i = 0; i + 1 < cuts.size(); ++i) {
    int64_t bytes = 0, end = 0;
    for (const Piece &piece : byOffset)
      if (piece.first <= cuts[i] && cuts[i] < piece.last && end < piece.high) {
        bytes += piece.high - std::max(end, piece.low);
        end = piece.high;
      }
    if (bytes > 0)
      add({cuts[i], cuts[i + 1], bytes});
  }
}

bool Model::collide(uint32_t a, int64_t offsetA, uint32_t b, int64_t offsetB) const {
  for (uint32_t i = items[a].pieces.first; i < items[a].pieces.last; ++i)
    for (uint32_t j = items[b].pieces.first; j < items[b].pieces.last; ++j) {
      const Piece &p = pieces[i], &q = pieces[j];
      if (p.first < q.last && q.first < p.last && offsetA + p.low < offsetB + q.high &&
          offsetB + q.low < offsetA + p.high)
        return true;
    }
  return false;
}

std::string build(const Problem &problem, const std::vector<uint32_t> &fused, Model &model) {
  return Builder(problem, model).run(fused);
}

int64_t lowerBound(const Model &model, const std::vector<uint32_t> &items) {
  std::vector<int64_t> steps(model.numSections + 1, 0);
  std::vector<bool> isIn(model.items.size());
  int64_t most = 0;
  for (uint32_t item : items) {
    isIn[item] = true;
    if (model.items[item].extent > 0)
      most = std::max(most, model.items[item].extent + model.items[item].pin.value_or(0));
    model.loadsOf(item, [&](Model::Load load) {
      steps[load.first] += load.bytes;
      steps[load.last] -= load.bytes;
    });
  }
  for (const Model::Pair &pair : model.pairs) {
    if (!isIn[pair.a] || !isIn[pair.b])
      continue;
    // Where both are live; where the pair is not, the bound is only looser.
    for (uint32_t i = model.items[pair.a].pieces.first; i < model.items[pair.a].pieces.last; ++i)
      for (uint32_t j = model.items[pair.b].pieces.first; j < model.items[pair.b].pieces.last;
           ++j) {
        uint32_t first = std::max(model.pieces[i].first, model.pieces[j].first);
        uint32_t last = std::min(model.pieces[i].last, model.pieces[j].last);
        if (first >= last)
          continue;
        steps[first] -= pair.saved;
        steps[last] += pair.saved;
      }
  }
  int64_t now = 0;
  for (int64_t step : steps)
    most = std::max(most, now += step);
  return most;
}

std::string nameOf(const Problem &problem, uint32_t buffer) {
  const std::string &name = problem.buffers[buffer].name;
  return name.empty() ? "buffer " + std::to_string(buffer) : "buffer '" + printable(name) + "'";
}

std::string nameOfPool(const Problem &problem, uint32_t pool) {
  const std::string &name = problem.pools[pool].name;
  return name.empty() ? "pool " + std::to_string(pool) : "pool '" + printable(name) + "'";
}

std::string check(const Problem &problem) {
  Model model;
  return build(problem, {}, model);
}

} // namespace plim::planner
