// What a search writes down of a refutation, so that it can be checked by others. Internal to planner/.
//
// Certificate.h makes text of it; docs/design/planner.md says what each step means and why it is sound.
#pragma once

#include "planner/Packing.h"

namespace plim::planner {

/// A tree of branchings is written as lemmas: sets of boxes that have no packing with offsets of at
/// least so much. Each refers to earlier ones only, so that a state that is refuted once is written
/// once. Not for use by several threads.
class Proof {
public:
  enum class Rule : char {
    Put = 'P',   // nothing else can be on the floor of the section, and the box is there
    Raise = 'R', // the box cannot stay, since the section has no room above it then: it is raised
    High = 'H',  // ends: the box is too high
    Load = 'L',  // ends: the section has no room
    Known = 'N', // ends: an earlier lemma
    Dead = 'D',  // ends: the box cannot stay, and has nothing to rest on
  };
  struct Step {
    Rule rule = Rule::High;
    uint32_t what = 0;    // box or lemma
    uint32_t section = 0; // if the rule is about one
    int64_t to = 0;       // of Raise
  };
  struct Branch {
    static constexpr uint32_t leave = ~0u;
    uint32_t box = leave; // put on the floor; or none of those there stays
    std::vector<Step> steps;
  };
  struct Lemma {
    std::vector<std::pair<uint32_t, int64_t>> lows; // boxes and their least offsets
    uint32_t section = 0;                           // that is branched on
    std::vector<Branch> branches;
  };

  /// Holds lemmas of so many numbers together at most; of more, nothing is proved.
  explicit Proof(size_t mostNumbers) : mostNumbers(mostNumbers) {}

  std::vector<Lemma> lemmas;
  std::vector<Step> root; // from the boxes as they are to the end
  bool isTooLarge() const { return numbers > mostNumbers; }

  // What the search says.

  void take(Step step) { steps.push_back(step); }
  /// The end of what is looked at now.
  void end(Step step) { last = step; }
  size_t mark() const { return steps.size(); }
  void backTo(size_t mark) { steps.resize(mark); }

  /// A decision begins, a branch of the last one does, or ends refuted.
  void open(uint32_t section) { opened.push_back({{}, section, {}}); }
  size_t numOpen() const { return opened.size(); }
  void branch(uint32_t box, size_t mark);
  void close(size_t mark);
  /// All branches of the last decision are refuted. Returns the lemma.
  uint32_t conclude(const uint32_t *first, const uint32_t *last, const std::vector<int64_t> &low);
  /// Decisions that came to no refutation.
  void discard(size_t numOpen) { opened.resize(numOpen); }
  void closeRoot();

  /// Drops the lemmas that the root does not need.
  void prune();

private:
  const size_t mostNumbers;
  size_t numbers = 0;
  std::vector<Step> steps; // from the root down to what is looked at, without decisions
  std::vector<Lemma> opened;
  Step last;
};

} // namespace plim::planner
