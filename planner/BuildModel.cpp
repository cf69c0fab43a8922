// From a problem to its model: rigid groups, the pools that each may be in, sections, pieces.
#include "planner/Model.h"
#include "planner/Validate.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace plim::planner {

namespace {

class Builder {
public:
  Builder(const Problem &problem, Model &model) : problem(problem), model(model) {}

  std::string run(const std::vector<uint32_t> &fused) {
    if (std::string fault = validate(problem, total); !fault.empty())
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
    if (total >= offsetLimit)
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

std::string build(const Problem &problem, const std::vector<uint32_t> &fused, Model &model) {
  return Builder(problem, model).run(fused);
}

std::string check(const Problem &problem) {
  Model model;
  return build(problem, {}, model);
}

} // namespace plim::planner
