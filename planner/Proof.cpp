#include "planner/Proof.h"

namespace plim::planner {

void Proof::branch(uint32_t box, size_t mark) {
  backTo(mark);
  opened.back().branches.push_back({box, {}});
}

void Proof::close(size_t mark) {
  std::vector<Step> &branch = opened.back().branches.back().steps;
  branch.assign(steps.begin() + ptrdiff_t(mark), steps.end());
  branch.push_back(last);
  numbers += 3 * branch.size();
}

uint32_t Proof::conclude(const uint32_t *first, const uint32_t *end,
                         const std::vector<int64_t> &low) {
  uint32_t index = uint32_t(lemmas.size());
  Lemma &lemma = lemmas.emplace_back(std::move(opened.back()));
  opened.pop_back();
  for (; first != end; ++first)
    lemma.lows.emplace_back(*first, low[*first]);
  numbers += 2 * lemma.lows.size();
  last = {Rule::Known, index};
  return index;
}

void Proof::closeRoot() {
  root = steps;
  root.push_back(last);
}

void Proof::prune() {
  std::vector<bool> isNeeded(lemmas.size(), false);
  auto need = [&](const std::vector<Step> &of) {
    if (!of.empty() && of.back().rule == Rule::Known)
      isNeeded[of.back().what] = true;
  };
  need(root);
  for (size_t i = lemmas.size(); i-- > 0;)
    for (size_t k = 0; isNeeded[i] && k < lemmas[i].branches.size(); ++k)
      need(lemmas[i].branches[k].steps);
  std::vector<uint32_t> indexOf(lemmas.size());
  size_t count = 0;
  auto rename = [&](std::vector<Step> &of) {
    if (!of.empty() && of.back().rule == Rule::Known)
      of.back().what = indexOf[of.back().what];
  };
  for (size_t i = 0; i < lemmas.size(); ++i) {
    if (!isNeeded[i])
      continue;
    for (Branch &branch : lemmas[i].branches)
      rename(branch.steps);
    indexOf[i] = uint32_t(count);
    if (count != i)
      lemmas[count] = std::move(lemmas[i]);
    ++count;
  }
  lemmas.resize(count);
  rename(root);
}

} // namespace plim::planner
