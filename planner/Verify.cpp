#include "planner/Planner.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

namespace plim::planner {

namespace {

class Verifier {
public:
  Verifier(const Problem &problem, const Plan &plan) : problem(problem), plan(plan) {}

  std::string run() {
    if (!plan.isFound())
      return "there is no plan";
    if (plan.offsets.size() != problem.buffers.size() ||
        plan.pools.size() != problem.buffers.size() || plan.peaks.size() != problem.pools.size() ||
        plan.lowerBounds.size() != problem.pools.size())
      return "the plan is of another problem";
    for (auto [a, b] : problem.inPlace)
      pairs.insert(std::minmax(a, b));
    roots.resize(problem.buffers.size());
    std::vector<int64_t> peaks(problem.pools.size(), 0);
    for (uint32_t i = 0; i < problem.buffers.size(); ++i)
      if (std::string fault = checkOne(i, peaks); !fault.empty())
        return fault;
    for (size_t pool = 0; pool < peaks.size(); ++pool) {
      std::string name = "pool " + std::to_string(pool);
      if (peaks[pool] != plan.peaks[pool])
        return name + " has peak " + std::to_string(peaks[pool]) + ", not " +
               std::to_string(plan.peaks[pool]);
      if (plan.lowerBounds[pool] > peaks[pool])
        return name + " has a lower bound above its peak";
      if (problem.pools[pool].capacity && peaks[pool] > *problem.pools[pool].capacity)
        return name + " has peak " + std::to_string(peaks[pool]) + ", above its capacity";
    }
    for (auto [a, b] : problem.conflicts)
      if (share(a, b) && !mayShare(a, b))
        return conflictOf(a, b);
    return sweep();
  }

private:
  std::string checkOne(uint32_t index, std::vector<int64_t> &peaks) {
    const Buffer &buffer = problem.buffers[index];
    std::string name = "buffer " + std::to_string(index);
    int64_t offset = plan.offsets[index];
    uint32_t pool = plan.pools[index];
    if (pool >= problem.pools.size())
      return name + " is in no pool";
    if (!buffer.pools.empty() &&
        std::find(buffer.pools.begin(), buffer.pools.end(), pool) == buffer.pools.end())
      return name + " is in a pool that is none of its candidates";
    if (buffer.accessors & ~problem.pools[pool].accessors)
      return name + " is in a pool that not all of its accessors reach";
    if (offset < 0 || offset > std::numeric_limits<int64_t>::max() - buffer.bytes)
      return name + " has an offset that is out of range";
    if (offset % buffer.alignment || (!buffer.base && offset % problem.pools[pool].alignment))
      return name + " is not aligned";
    if (buffer.offset && offset != *buffer.offset)
      return name + " is not where it is pinned";
    roots[index] = index;
    if (buffer.base) {
      if (plan.pools[*buffer.base] != pool || offset - plan.offsets[*buffer.base] != buffer.delta)
        return name + " is not at its distance from its base";
      while (problem.buffers[roots[index]].base)
        roots[index] = *problem.buffers[roots[index]].base;
    }
    if (buffer.bytes > 0)
      peaks[pool] = std::max(peaks[pool], offset + buffer.bytes);
    return "";
  }

  bool share(uint32_t a, uint32_t b) const {
    return plan.pools[a] == plan.pools[b] && problem.buffers[a].bytes > 0 &&
           problem.buffers[b].bytes > 0 &&
           plan.offsets[a] < plan.offsets[b] + problem.buffers[b].bytes &&
           plan.offsets[b] < plan.offsets[a] + problem.buffers[a].bytes;
  }

  bool mayShare(uint32_t a, uint32_t b) const {
    return roots[a] == roots[b] ||
           (plan.offsets[a] == plan.offsets[b] && pairs.count(std::minmax(a, b)));
  }

  static std::string conflictOf(uint32_t a, uint32_t b) {
    return "buffers " + std::to_string(std::min(a, b)) + " and " + std::to_string(std::max(a, b)) +
           " conflict and share bytes";
  }

  /// Goes through time and keeps, for every byte of every pool, who holds it. The bytes are kept in
  /// segments with the same holders: the segment at a key ends where the next one begins.
  std::string sweep() const {
    struct Event {
      int64_t time;
      bool starts; // ends come first
      uint32_t buffer;
    };
    std::vector<Event> events;
    for (uint32_t i = 0; i < problem.buffers.size(); ++i)
      for (Interval live : problem.buffers[i].lifetime)
        if (live.lower < live.upper && problem.buffers[i].bytes > 0) {
          events.push_back({live.lower, true, i});
          events.push_back({live.upper, false, i});
        }
    std::sort(events.begin(), events.end(), [](const Event &a, const Event &b) {
      return std::tie(a.time, a.starts, a.buffer) < std::tie(b.time, b.starts, b.buffer);
    });
    using Segments = std::map<int64_t, std::vector<uint32_t>>;
    std::vector<Segments> held(problem.pools.size(), {{0, {}}});
    for (const Event &event : events) {
      Segments &segments = held[plan.pools[event.buffer]];
      auto cut = [&](int64_t at) {
        auto it = std::prev(segments.upper_bound(at));
        return it->first == at ? it : segments.emplace(at, it->second).first;
      };
      int64_t offset = plan.offsets[event.buffer];
      auto first = cut(offset), last = cut(offset + problem.buffers[event.buffer].bytes);
      for (auto it = first; it != last; ++it) {
        if (!event.starts) {
          std::erase(it->second, event.buffer);
          continue;
        }
        for (uint32_t other : it->second)
          if (!mayShare(event.buffer, other))
            return conflictOf(event.buffer, other);
        it->second.push_back(event.buffer);
      }
      if (!event.starts) {
        // Join what has become the same, so that the number of segments follows what is live.
        last = std::next(last);
        if (first != segments.begin())
          --first;
        while (std::next(first) != last && std::next(first) != segments.end())
          if (std::next(first)->second == first->second)
            segments.erase(std::next(first));
          else
            ++first;
      }
    }
    return "";
  }

  const Problem &problem;
  const Plan &plan;
  std::set<std::pair<uint32_t, uint32_t>> pairs;
  std::vector<uint32_t> roots;
};

} // namespace

std::string verify(const Problem &problem, const Plan &plan) {
  return Verifier(problem, plan).run();
}

} // namespace plim::planner
