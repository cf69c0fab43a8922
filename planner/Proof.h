// What a search writes down of a refutation, so that it can be checked by others. Internal to
// planner/.
//
// Certificate.h makes text of it; docs/design/planner.md says what each step means and why it is
// sound.
#pragma once

#include "planner/Packing.h"

namespace plim::planner {

/// A tree of branchings is written as lemmas. A lemma says that a set of boxes has no packing in
/// which each box has at least its least offset. Lemmas refer to earlier ones only, so that a state
/// that is refuted once is written once. Offsets are in bytes. Not for use by several threads.
///
/// The search calls, from a state down to its children and back:
///
///   open(section)              it branches on the floor of this section
///     branch(box, mark)        one branch begins
///       take(step) ...         what follows from it
///       end(step)              why it is refuted; or a decision below it, whose lemma is the end
///     close(mark)              the branch is refuted
///   conclude(boxes, lows)      all branches are refuted: the lemma
class Proof {
public:
  /// What a step says. The letters are those of the text.
  enum class Rule : char {
    Put = 'P',   // nothing else can be on the floor of the section, and the box is there
    Raise = 'R', // the box cannot stay, since the section has no room above it then: it is raised
    High = 'H',  // ends: the box is too high
    Load = 'L',  // ends: the section has no room
    Known = 'N', // ends: an earlier lemma
    Dead = 'D',  // ends: the box cannot stay, and has nothing to rest on
  };
  /// One conclusion within a branch. The last step of a branch is of a rule that ends it.
  struct Step {
    Rule rule = Rule::High;
    uint32_t what = 0;    // box or lemma
    uint32_t section = 0; // if the rule is about one
    int64_t to = 0;       // of Raise
  };
  struct Branch {
    static constexpr uint32_t leave = ~0u; // no box: none of those on the floor stays there
    uint32_t box = leave;                  // that is put on the floor
    std::vector<Step> steps;
  };
  /// `branches` are all that there are, and each is refuted.
  struct Lemma {
    std::vector<std::pair<uint32_t, int64_t>> lows; // boxes and their least offsets
    uint32_t section = 0;                           // that is branched on
    std::vector<Branch> branches;
  };

  /// `mostNumbers` limits the numbers of all lemmas together. Beyond it nothing is proved: who
  /// writes asks isTooLarge() and gives up.
  explicit Proof(size_t mostNumbers) : mostNumbers(mostNumbers) {}

  std::vector<Lemma> lemmas; // a lemma's index is its number
  std::vector<Step> root;    // from the boxes as they are to the end
  bool isTooLarge() const { return numbers > mostNumbers; }

  // What the search says.

  /// A conclusion in the state that is looked at now.
  void take(Step step) { steps.push_back(step); }
  /// The step that refutes this state.
  void end(Step step) { last = step; }
  /// How many steps there are, and back to so many.
  size_t mark() const { return steps.size(); }
  void backTo(size_t mark) { steps.resize(mark); }

  /// A decision begins: which box is on the floor of the section.
  void open(uint32_t section) { opened.push_back({{}, section, {}}); }
  /// Decisions that have begun and not ended.
  size_t numOpen() const { return opened.size(); }
  /// A branch of the last decision begins; steps behind `mark` are dropped.
  void branch(uint32_t box, size_t mark);
  /// That branch ends refuted: its steps are those behind `mark`, and the one of end().
  void close(size_t mark);
  /// All branches of the last decision are refuted. Returns the lemma, about the boxes [first,
  /// last) with their least offsets `low`, by box. The lemma is also the end of the state around
  /// it.
  uint32_t conclude(const uint32_t *first, const uint32_t *last, const std::vector<int64_t> &low);
  /// Drops decisions that came to no refutation, down to the first `numOpen`.
  void discard(size_t numOpen) { opened.resize(numOpen); }
  /// The first state is refuted: its steps become `root`.
  void closeRoot();

  /// Drops the lemmas that the root does not need, and numbers the others anew. When all is
  /// written.
  void prune();

private:
  const size_t mostNumbers;
  size_t numbers = 0;
  std::vector<Step> steps; // from the root down to what is looked at, without decisions
  std::vector<Lemma> opened;
  Step last;
};

} // namespace plim::planner
