#include "planner/Model.h"

#include "planner/Printable.h"

#include <algorithm>

namespace plim::planner {

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

} // namespace plim::planner
