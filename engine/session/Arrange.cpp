#include "engine/session/Arrange.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

namespace plim::session {

namespace {

/// One dimension that elements are counted along.
struct Loop {
  int64_t extent = 0;
  ptrdiff_t from = 0, to = 0; // bytes from one to the next
  uint32_t of = 0;            // which of the source's
  int64_t step = 0;           // elements along that one
};

/// Elements that are copied row by row before the next ones of each row are: so many lines of the source stay in the nearest
/// cache until all of them is read.
constexpr int64_t block = 64;
constexpr int64_t pieceBytes = int64_t(1) << 18;

template <typename Element>
void copyRows(const std::byte *from, std::byte *to, const Loop &rows, const Loop &row) {
  for (int64_t begin = 0; begin < row.extent; begin += block) {
    const int64_t end = std::min(row.extent, begin + block);
    for (int64_t r = 0; r < rows.extent; ++r) {
      const std::byte *source = from + r * rows.from + begin * row.from;
      std::byte *target = to + r * rows.to + begin * row.to;
      for (int64_t i = begin; i < end; ++i, source += row.from, target += row.to)
        std::memcpy(target, source, sizeof(Element));
    }
  }
}

/// How one is carried out.
class Arranging {
public:
  explicit Arranging(const ArrangedData &data)
      : from(static_cast<const std::byte *>(data.from)), to(static_cast<std::byte *>(data.to)),
        sizes(data.source->type.shape), isPadded(std::max<size_t>(sizes.size(), 1)) {
    std::vector<ptrdiff_t> strides(sizes.size());
    unit = data.source->bytes;
    for (size_t d = 0; d < sizes.size(); ++d)
      strides[d] = unit /= sizes[d];
    ptrdiff_t stride = data.symbol->bytes;
    std::vector<int64_t> last(sizes.size());
    for (const jit::Arrangement::Dimension &each : data.symbol->arrangement->dimensions) {
      stride /= each.extent;
      last[each.of] += (each.extent - 1) * each.step;
      loops.push_back({each.extent, each.step * strides[each.of], stride, each.of, each.step});
    }
    for (size_t d = 0; d < sizes.size(); ++d)
      isPadded[d] = last[d] >= sizes[d];
    // What lies side by side on both sides is copied at once.
    while (!loops.empty() && loops.back().from == unit && loops.back().to == unit &&
           !isPadded[loops.back().of]) {
      unit *= loops.back().extent;
      loops.pop_back();
    }
    while (loops.size() < 2)
      loops.insert(loops.begin(), {.extent = 1});
    // The target is written in runs, the source read in order.
    std::ranges::sort(loops.begin(), loops.end() - 1, std::greater(), &Loop::from);
    for (size_t i = loops.size() - 2; i-- > 0;)
      if (areOne(loops[i], loops[i + 1])) {
        loops[i + 1].extent *= loops[i].extent;
        loops.erase(loops.begin() + static_cast<ptrdiff_t>(i));
      }
  }

  /// In how many parts it is best done.
  int64_t pieces(int64_t bytes) const {
    return std::clamp<int64_t>(bytes / pieceBytes, 1, loops.front().extent);
  }

  void run(int64_t piece, int64_t ofPieces) const {
    Arranging part = *this;
    const Loop &outer = loops.front();
    const int64_t begin = outer.extent * piece / ofPieces;
    part.loops.front().extent = outer.extent * (piece + 1) / ofPieces - begin;
    part.from += begin * outer.from;
    part.to += begin * outer.to;
    part.indices.assign(std::max<size_t>(sizes.size(), 1), 0);
    part.indices[outer.of] = begin * outer.step;
    part.nest(0, part.from, part.to);
  }

private:
  /// Does the outer one go on where the inner one ends, on both sides?
  bool areOne(const Loop &outer, const Loop &inner) const {
    return outer.from == inner.from * inner.extent && outer.to == inner.to * inner.extent &&
           !isPadded[outer.of] && !isPadded[inner.of];
  }

  /// Iterations of a loop that there are elements for.
  int64_t iterations(const Loop &loop) const {
    if (loop.step == 0 || !isPadded[loop.of])
      return loop.extent;
    const int64_t left = sizes[loop.of] - indices[loop.of];
    return left <= 0 ? 0 : std::min(loop.extent, (left + loop.step - 1) / loop.step);
  }

  void nest(size_t depth, const std::byte *source, std::byte *target) {
    const Loop &loop = loops[depth];
    const int64_t count = iterations(loop);
    const bool isRagged =
        loop.step != 0 && isPadded[loop.of] && loops.back().step != 0 && loops.back().of == loop.of;
    if (depth + 2 == loops.size() && !isRagged) {
      Loop rows = loop, row = loops.back();
      rows.extent = count;
      row.extent = iterations(row);
      copy(source, target, rows, row);
      return;
    }
    if (depth + 1 == loops.size()) {
      Loop row = loop;
      row.extent = count;
      copy(source, target, {.extent = 1}, row);
      return;
    }
    const int64_t index = indices[loop.of];
    for (int64_t i = 0; i < count; ++i) {
      indices[loop.of] = index + i * loop.step;
      nest(depth + 1, source + i * loop.from, target + i * loop.to);
    }
    indices[loop.of] = index;
  }

  void copy(const std::byte *source, std::byte *target, const Loop &rows, const Loop &row) const {
    switch (unit) {
    case 1:
      return copyRows<uint8_t>(source, target, rows, row);
    case 2:
      return copyRows<uint16_t>(source, target, rows, row);
    case 4:
      return copyRows<uint32_t>(source, target, rows, row);
    case 8:
      return copyRows<uint64_t>(source, target, rows, row);
    default:
      for (int64_t r = 0; r < rows.extent; ++r)
        for (int64_t i = 0; i < row.extent; ++i)
          std::memcpy(target + r * rows.to + i * row.to, source + r * rows.from + i * row.from,
                      static_cast<size_t>(unit));
    }
  }

  const std::byte *from;
  std::byte *to;
  std::vector<int64_t> sizes;   // of the source
  std::vector<bool> isPadded;   // its dimensions that loops go beyond
  std::vector<Loop> loops;      // two or more, the last the innermost of the target
  ptrdiff_t unit = 0;           // bytes that are copied at once
  std::vector<int64_t> indices; // along the source, of the loops that run
};

} // namespace

void arrange(std::span<const ArrangedData> data, const jit::ParallelFor &parallelFor) {
  struct Piece {
    size_t arranging;
    int64_t number, of;
  };
  std::vector<Arranging> all;
  std::vector<Piece> pieces;
  for (const ArrangedData &each : data) {
    const int64_t count = all.emplace_back(each).pieces(each.symbol->bytes);
    for (int64_t i = 0; i < count; ++i)
      pieces.push_back({all.size() - 1, i, count});
  }
  auto run = [&](size_t i) { all[pieces[i].arranging].run(pieces[i].number, pieces[i].of); };
  if (pieces.size() == 1)
    run(0);
  else if (!pieces.empty())
    parallelFor(pieces.size(), run);
}

} // namespace plim::session
