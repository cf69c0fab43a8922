#include "planner/Certificate.h"

#include "planner/Proof.h"
#include "planner/Search.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace plim::planner {

namespace {

using Rule = Proof::Rule;

/// Those that refute most, first. Each is tried shortly before any is tried for long.
constexpr Strategy strategies[] = {
    {Strategy::Choice::FewestOptions, Strategy::First::Width},
    {Strategy::Choice::FewestOptions, Strategy::First::Size},
    {Strategy::Choice::Failures, Strategy::First::LoadSize},
    {Strategy::Choice::FewestLowest, Strategy::First::Area},
};

/// Why the format cannot say it.
std::string faultOf(const Problem &problem, const Plan &plan) {
  if (problem.pools.size() != 1 || problem.pools[0].alignment != 1 || !problem.conflicts.empty() ||
      !problem.inPlace.empty() ||
      std::any_of(problem.buffers.begin(), problem.buffers.end(),
                  [](const Buffer &buffer) { return buffer.base.has_value(); }))
    return "a certificate is of one pool without an alignment, and of buffers without parts, "
           "listed "
           "conflicts and pairs in place";
  if (plan.status != Status::Optimal)
    return "there is no certificate, since the plan is not proved to be optimal";
  return "";
}

bool isLiveAt(const Buffer &buffer, int64_t time) {
  return std::any_of(buffer.lifetime.begin(), buffer.lifetime.end(),
                     [&](const Interval &live) { return live.lower <= time && time < live.upper; });
}

/// For each section a time when its boxes are live.
std::vector<int64_t> timesOf(const Problem &problem, const Packing &packing,
                             const std::vector<uint32_t> &bufferOf) {
  std::vector<std::vector<uint32_t>> boxesOf(packing.numSections);
  for (uint32_t box = 0; box < packing.boxes.size(); ++box)
    for (uint32_t i = packing.boxes[box].parts.first; i < packing.boxes[box].parts.last; ++i)
      for (uint32_t s = packing.parts[i].first; s < packing.parts[i].last; ++s)
        boxesOf[s].push_back(box);
  std::map<std::vector<uint32_t>, uint32_t> sectionOf;
  for (uint32_t s = 0; s < packing.numSections; ++s)
    sectionOf.emplace(boxesOf[s], s);
  std::set<int64_t> starts; // a maximal set is all there at the start of one of its lifetimes
  for (const Buffer &buffer : problem.buffers)
    for (const Interval &live : buffer.lifetime)
      starts.insert(live.lower);
  std::vector<int64_t> times(packing.numSections, 0);
  for (int64_t time : starts) {
    std::vector<uint32_t> there;
    for (uint32_t box = 0; box < packing.boxes.size(); ++box)
      if (packing.boxes[box].extent > 0 && isLiveAt(problem.buffers[bufferOf[box]], time))
        there.push_back(box);
    if (auto it = sectionOf.find(there); it != sectionOf.end())
      times[it->second] = time;
  }
  return times;
}

class Writer {
public:
  Writer(const std::vector<uint32_t> &bufferOf, const std::vector<int64_t> &times)
      : bufferOf(bufferOf), times(times) {}

  std::string write(const Proof &proof, int64_t peak) {
    text = "plimsoll certificate 1\npeak " + std::to_string(peak) + "\nbuffers " +
           std::to_string(bufferOf.size()) + "\n";
    for (size_t i = 0; i < proof.lemmas.size(); ++i) {
      const Proof::Lemma &lemma = proof.lemmas[i];
      text += "lemma " + std::to_string(i) + " at " + std::to_string(times[lemma.section]) + ":";
      for (auto [box, low] : lemma.lows) {
        text += " " + std::to_string(bufferOf[box]);
        if (low > 0)
          text += ":" + std::to_string(low);
      }
      text += "\n";
      for (const Proof::Branch &branch : lemma.branches) {
        text += branch.box == Proof::Branch::leave
                    ? "  none:"
                    : "  put " + std::to_string(bufferOf[branch.box]) + ":";
        add(branch.steps);
      }
    }
    text += "root:";
    add(proof.root);
    return std::move(text);
  }

private:
  void add(const std::vector<Proof::Step> &steps) {
    for (const Proof::Step &step : steps) {
      text += " ";
      text += char(step.rule);
      auto number = [&, separator = ""](int64_t value) mutable {
        text += separator + std::to_string(value);
        separator = ",";
      };
      if (step.rule == Rule::Known)
        number(step.what);
      else if (step.rule != Rule::Load)
        number(bufferOf[step.what]);
      if (step.rule != Rule::Known && step.rule != Rule::High)
        number(times[step.section]);
      if (step.rule == Rule::Raise)
        number(step.to);
    }
    text += "\n";
  }

  const std::vector<uint32_t> &bufferOf; // of a box
  const std::vector<int64_t> &times;     // of sections
  std::string text;
};

} // namespace

Certificate certify(const Problem &problem, const Plan &plan, uint64_t nodes) {
  constexpr size_t mostNumbers = size_t(1) << 24;
  Model model;
  std::string fault = build(problem, {}, model);
  if (fault.empty())
    fault = faultOf(problem, plan);
  if (!fault.empty())
    return {"", fault};
  std::vector<uint32_t> items(model.items.size()), bufferOf;
  std::iota(items.begin(), items.end(), 0u);
  Packing packing = packingOf(model, items, 0);
  for (const Box &box : packing.boxes)
    bufferOf.push_back(model.members[model.items[box.item].members.first].buffer);
  auto write = [&](const Proof &proof) {
    return Certificate{
        Writer(bufferOf, timesOf(problem, packing, bufferOf)).write(proof, plan.peaks[0]), ""};
  };
  if (plan.peaks[0] == 0)
    return write(Proof(0));
  uint64_t spent = 0;
  for (uint64_t limit = 256; spent < nodes; limit *= 4)
    for (const Strategy &strategy : strategies) {
      Proof proof(mostNumbers);
      Search search(packing, plan.peaks[0] - 1, strategy, &proof);
      Attempt attempt =
          search.run(std::min(limit, nodes - std::min(nodes, spent)), [] { return false; });
      spent += std::max<uint64_t>(1, attempt.nodes);
      if (attempt.outcome == Outcome::Exhausted) {
        proof.prune();
        return write(proof);
      }
    }
  return {"", "there is no certificate, since the proof is too long"};
}

} // namespace plim::planner
