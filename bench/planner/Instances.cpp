#include "bench/planner/Instances.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace plim::bench {

namespace {

using planner::Buffer;
using planner::Interval;
using planner::Problem;

/// Distributions of the standard library differ between libraries; these do not.
class Draw {
public:
  explicit Draw(int seed) : random(uint64_t(seed)) {}
  int64_t operator()(int64_t low, int64_t high) {
    return low + int64_t(random() % uint64_t(high - low + 1));
  }
  double unit() { return double(random() >> 11) / double(uint64_t(1) << 53); }

private:
  std::mt19937_64 random;
};

void add(Problem &problem, int64_t lower, int64_t upper, int64_t bytes) {
  Buffer &buffer = problem.buffers.emplace_back();
  buffer.lifetime = {{lower, upper}};
  buffer.bytes = bytes;
}

struct Rectangle {
  int64_t lower, upper, low, high;
  double area() const { return double(upper - lower) * double(high - low); }
};

/// Divides the largest piece until there are `count`.
template <typename Divide> Problem dissect(int count, Divide divide) {
  auto isSmaller = [](const Rectangle &a, const Rectangle &b) { return a.area() < b.area(); };
  std::vector<Rectangle> pieces = {{0, int64_t(8) * count, 0, int64_t(1) << 20}}; // a heap by area
  while (int(pieces.size()) < count) {
    std::pop_heap(pieces.begin(), pieces.end(), isSmaller);
    Rectangle piece = pieces.back();
    pieces.pop_back();
    for (const Rectangle &part : divide(piece)) {
      pieces.push_back(part);
      std::push_heap(pieces.begin(), pieces.end(), isSmaller);
    }
  }
  Problem problem;
  std::sort(pieces.begin(), pieces.end(), [](const Rectangle &a, const Rectangle &b) {
    return std::pair(a.lower, a.low) < std::pair(b.lower, b.low);
  });
  for (const Rectangle &piece : pieces)
    add(problem, piece.lower, piece.upper, piece.high - piece.low);
  return problem;
}

void trim(Problem &problem, Draw &draw) {
  for (Buffer &buffer : problem.buffers) {
    Interval &live = buffer.lifetime[0];
    // In finer steps of time, so that there is something to trim.
    int64_t duration = 1000 * (live.upper - live.lower);
    live = {1000 * live.lower + draw(0, duration / 50), 1000 * live.upper - draw(0, duration / 50)};
    buffer.bytes -= draw(0, buffer.bytes / 100);
  }
}

} // namespace

Problem layers(int count) {
  Draw draw(count);
  Problem problem;
  problem.pools[0].alignment = 64;
  constexpr int64_t shapes[] = {49, 100, 196, 256, 784, 1000};
  for (int i = 0; i < count; ++i) {
    int64_t duration = draw(1, 10) == 1 ? draw(10, 10 + count / 4) : draw(2, 6);
    int64_t bytes = shapes[draw(0, 5)] * (int64_t(64) << draw(0, 6));
    // Every third step has a second buffer beside the first: branches, scratch.
    add(problem, i - i % 3, i - i % 3 + duration, bytes);
  }
  return problem;
}

Problem cuts(int count) {
  Draw draw(count);
  return dissect(count, [&](const Rectangle &whole) {
    Rectangle piece = whole, rest = whole;
    int64_t duration = piece.upper - piece.lower, bytes = piece.high - piece.low;
    bool cutsTime = duration > 1 && (bytes < 2 || draw(0, 1));
    auto cut = [&](int64_t length) {
      return std::clamp<int64_t>(int64_t(double(length) * (0.2 + 0.6 * draw.unit())), 1,
                                 length - 1);
    };
    if (cutsTime)
      piece.upper = rest.lower = piece.lower + cut(duration);
    else
      piece.high = rest.low = piece.low + cut(bytes);
    return std::vector{piece, rest};
  });
}

Problem trims(int count) {
  Draw draw(count);
  Problem problem = cuts(count);
  trim(problem, draw);
  return problem;
}

Problem pinwheels(int count) {
  Draw draw(count);
  Problem problem = dissect(count, [&](const Rectangle &w) {
    // From `first` to `second` is the one in the middle.
    auto cut = [&](int64_t length, int64_t &first, int64_t &second) {
      first = std::max<int64_t>(1, int64_t(double(length) * (0.2 + 0.25 * draw.unit())));
      second = std::max(first + 1, int64_t(double(length) * (0.55 + 0.25 * draw.unit())));
    };
    int64_t t1 = 0, t2 = 0, b1 = 0, b2 = 0;
    cut(w.upper - w.lower, t1, t2);
    cut(w.high - w.low, b1, b2);
    t1 += w.lower, t2 += w.lower, b1 += w.low, b2 += w.low;
    std::vector<Rectangle> middle = {{t1, t2, b1, b2}};
    if (draw(0, 1))
      middle.insert(middle.end(), {{w.lower, t2, w.low, b1},
                                   {t2, w.upper, w.low, b2},
                                   {t1, w.upper, b2, w.high},
                                   {w.lower, t1, b1, w.high}});
    else
      middle.insert(middle.end(), {{t1, w.upper, w.low, b1},
                                   {t2, w.upper, b1, w.high},
                                   {w.lower, t2, b2, w.high},
                                   {w.lower, t1, w.low, b2}});
    return middle;
  });
  trim(problem, draw);
  return problem;
}

Problem gaps(int count, int seed, int64_t load, int64_t largest, int64_t slack) {
  Draw draw(1000 * count + seed);
  struct Live {
    int64_t lower, bytes;
  };
  std::vector<Live> live;
  Problem problem;
  int64_t time = 0, missing = load;
  for (int made = 0; made < count;) {
    for (; missing > slack && made < count; ++made) {
      live.push_back({time, draw(1, std::min(largest, missing))});
      missing -= live.back().bytes;
    }
    ++time;
    for (int64_t ends = draw(1, std::max<int64_t>(1, int64_t(live.size()) / 2)); ends > 0; --ends) {
      size_t which = size_t(draw(0, int64_t(live.size()) - 1));
      add(problem, live[which].lower, time, live[which].bytes);
      missing += live[which].bytes;
      live.erase(live.begin() + ptrdiff_t(which));
    }
  }
  for (const Live &left : live)
    add(problem, left.lower, time, left.bytes);
  return problem;
}

Problem scatter(int count, double share) {
  Draw draw(count);
  Problem problem;
  problem.pools[0].alignment = 64;
  int64_t end = int64_t(10) * count;
  for (int i = 0; i < count; ++i) {
    int64_t duration = std::max<int64_t>(1, int64_t(double(end) * share * 2 * draw.unit()));
    int64_t lower = draw(0, end - 1);
    add(problem, lower, std::min(lower + duration, end),
        64 * int64_t(std::pow(1000.0, draw.unit())));
  }
  return problem;
}

int64_t countPairs(const Problem &problem) {
  std::vector<int64_t> uppers;
  for (const Buffer &buffer : problem.buffers)
    uppers.push_back(buffer.lifetime[0].upper);
  std::sort(uppers.begin(), uppers.end());
  // All pairs, less those of which one has ended when the other begins.
  int64_t count = int64_t(problem.buffers.size()), pairs = count * (count - 1) / 2;
  for (const Buffer &buffer : problem.buffers)
    pairs -=
        std::upper_bound(uppers.begin(), uppers.end(), buffer.lifetime[0].lower) - uppers.begin();
  return pairs;
}

} // namespace plim::bench
