#include "planner/Search.h"

#include "planner/Nogoods.h"
#include "planner/Proof.h"
#include "planner/RangeMaximum.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

namespace plim::planner {

namespace {

constexpr int64_t none = std::numeric_limits<int64_t>::max();
constexpr uint32_t nobody = ~0u;

} // namespace

class Search::Searcher {
public:
  Searcher(const Packing &packing, int64_t capacity, Strategy strategy, Proof *proof)
      : packing(packing), capacity(capacity), strategy(strategy), proof(proof),
        sumCapacity((capacity + packing.unit - 1) / packing.unit * packing.unit),
        low(packing.boxes.size()), support(packing.boxes.size()), position(packing.boxes.size()),
        needed(packing.numSections, 0), sections(packing.numSections),
        failures(packing.numSections, 1), crossing(packing.numSections + 1, 0),
        nogoods(uint32_t(packing.boxes.size())) {
    for (uint32_t i = 0; i < packing.boxes.size(); ++i) {
      low[i] = packing.boxes[i].lowest();
      if (packing.boxes[i].parts.size() > 0)
        live.push_back(i);
    }
    // Not section by section: of many boxes that would take longer than a stop may.
    std::vector<int64_t> steps(packing.numSections + 1, 0);
    for (const Piece &part : packing.parts) {
      steps[part.first] += rounded(part);
      steps[part.last] -= rounded(part);
    }
    std::partial_sum(steps.begin(), steps.end() - 1, needed.begin());
    rankBoxes();
    for (uint32_t i = 0; i < live.size(); ++i)
      position[live[i]] = i;
    end = uint32_t(live.size());
    for (uint32_t i = 0; i < packing.boxes.size() && !isOver; ++i)
      if (const Box &box = packing.boxes[i];
          box.parts.size() == 0 && box.extent > 0 && box.lowest() + box.extent > capacity) {
        least = box.lowest() + box.extent;
        endWith(Rule::High, i);
        refute();
      }
  }

  Attempt run(uint64_t more, const std::function<bool()> &isStopped) {
    uint64_t before = nodes, limit = more < none - before ? before + more : none;
    Attempt attempt;
    shouldStop = &isStopped;
    attempt.outcome = search(limit, isStopped);
    attempt.nodes = nodes - before;
    if (attempt.outcome == Outcome::Found)
      attempt.offsets = low;
    if (attempt.outcome == Outcome::Exhausted)
      attempt.least =
          least == none ? none : (least + packing.step - 1) / packing.step * packing.step;
    return attempt;
  }

private:
  /// What the boxes that are not yet placed say of a section.
  struct Section {
    int64_t floor = none;   // of the lowest of them
    int64_t top = none;     // least end of one of them
    int64_t nextTop = none; // of another one
    uint32_t topOf = nobody;
    int64_t floorIfLeft = none; // if none of those on the floor is placed on it
    uint32_t options = 0;       // boxes that could be placed on the floor
    bool isReady = true;        // nothing else could get below those
  };
  struct Option {
    uint32_t box; // in a frame of parts: how many boxes one has
    int64_t support;
  };
  /// A decision, or parts that are placed one after the other.
  struct Frame {
    uint32_t begin, end; // in `live`
    size_t mark;         // of the trail
    uint64_t hash;       // of the boxes
    size_t firstOption, nextOption, lastOption;
    bool mayLeave; // none of the options stays on the floor
    bool isApart;
    size_t proofMark, proofOpen; // of the proof
  };
  struct Change {
    uint32_t box;
    int64_t low; // before; -1: was not placed
  };

  template <typename Function> void forSections(uint32_t box, Function function) const {
    for (uint32_t i = packing.boxes[box].parts.first; i < packing.boxes[box].parts.last; ++i)
      for (uint32_t s = packing.parts[i].first; s < packing.parts[i].last; ++s)
        function(s, packing.parts[i]);
  }

  int64_t rounded(const Piece &part) const {
    int64_t bytes = part.high - part.low;
    return packing.unit == 1 ? bytes : (bytes + packing.unit - 1) / packing.unit * packing.unit;
  }

  using Rule = Proof::Rule;

  /// What is looked at is refuted by this, for the proof.
  void endWith(Rule rule, uint32_t what, uint32_t section = 0) {
    if (proof)
      proof->end({rule, what, section});
  }

  /// Where the box leaves the least room above it.
  uint32_t fullestOf(uint32_t box) const {
    uint32_t fullest = 0;
    int64_t most = -1;
    forSections(box, [&](uint32_t s, const Piece &part) {
      if (needed[s] + part.low > most) {
        most = needed[s] + part.low;
        fullest = s;
      }
    });
    return fullest;
  }

  /// Of bytes that boxes need one above the other, rounded. If it is, it would not be with `least`.
  bool isTooMuch(int64_t bytes) const {
    if (bytes <= sumCapacity)
      return false;
    least = std::min(least, bytes - packing.unit + 1);
    return true;
  }

  void rankBoxes() {
    using First = Strategy::First;
    std::vector<std::tuple<double, double, double, uint32_t>> keys;
    RangeMaximum loads(needed);
    for (uint32_t i : live) {
      double width = 0, load = 0, size = double(packing.boxes[i].extent);
      for (uint32_t k = packing.boxes[i].parts.first; k < packing.boxes[i].parts.last; ++k) {
        const Piece &part = packing.parts[k];
        width += part.last - part.first;
        load = std::max(load, double(loads.in(part.first, part.last)));
      }
      switch (strategy.first) {
      case First::Area:
        keys.push_back({-width * size, 0, 0, i});
        break;
      case First::Width:
        keys.push_back({-width, -size, 0, i});
        break;
      case First::Size:
        keys.push_back({-size, -width, 0, i});
        break;
      case First::LoadArea:
        keys.push_back({-load, -width * size, 0, i});
        break;
      case First::LoadWidth:
        keys.push_back({-load, -width, -size, i});
        break;
      case First::LoadSize:
        keys.push_back({-load, -size, 0, i});
        break;
      }
    }
    std::sort(keys.begin(), keys.end());
    if (strategy.noise) {
      uint64_t state = strategy.noise * 0x9E3779B97F4A7C15u;
      for (size_t i = 0; i < keys.size(); ++i) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        std::get<0>(keys[i]) =
            double(i) + 0.2 * double(keys.size()) * double(state >> 11) * 0x1p-53;
      }
      std::sort(keys.begin(), keys.end());
    }
    rank.resize(packing.boxes.size());
    for (uint32_t i = 0; i < keys.size(); ++i)
      rank[std::get<3>(keys[i])] = i;
  }

  void moveTo(uint32_t box, uint32_t where) {
    uint32_t other = live[where];
    std::swap(live[where], live[position[box]]);
    std::swap(position[other], position[box]);
  }

  void raise(uint32_t box, int64_t to) {
    trail.push_back({box, low[box]});
    low[box] = to;
  }

  /// Places a box of live[begin, end) where it is, below all others that it meets, as live[begin].
  void put(uint32_t box, uint32_t begin, uint32_t end) {
    moveTo(box, begin);
    trail.push_back({box, -1});
    const Box &placed = packing.boxes[box];
    forSections(box, [&](uint32_t s, const Piece &part) { needed[s] -= rounded(part); });
    for (uint32_t k = begin + 1; k < end; ++k) {
      uint32_t other = live[k];
      int64_t floor = low[other];
      Range parts = packing.boxes[other].parts;
      for (uint32_t i = placed.parts.first; i < placed.parts.last; ++i)
        for (uint32_t j = parts.first; j < parts.last; ++j) {
          const Piece &p = packing.parts[i], &q = packing.parts[j];
          if (p.first < q.last && q.first < p.last)
            floor = std::max(floor, low[box] + p.high - q.low);
        }
      if (floor > low[other])
        raise(other, packing.boxes[other].stride.atLeast(floor));
    }
  }

  void undo(size_t mark) {
    while (trail.size() > mark) {
      Change change = trail.back();
      trail.pop_back();
      if (change.low >= 0)
        low[change.box] = change.low;
      else
        forSections(change.box, [&](uint32_t s, const Piece &part) { needed[s] += rounded(part); });
    }
  }

  /// A node of many boxes takes long: the question whether to stop comes up within it, too. What it
  /// has found by then does no harm, and it is looked at again.
  bool isCutShort(uint32_t box) {
    constexpr uint64_t sectionsPerQuestion = 1 << 18;
    for (uint32_t i = packing.boxes[box].parts.first; i < packing.boxes[box].parts.last; ++i)
      unasked += packing.parts[i].last - packing.parts[i].first;
    if (unasked >= sectionsPerQuestion) {
      unasked = 0;
      cutShort = (*shouldStop)();
    }
    return cutShort;
  }

  /// Fills in `sections` for live[begin, end), which are in [first, last). False if they cannot
  /// fit.
  bool look(uint32_t begin, uint32_t end, uint32_t &first, uint32_t &last) {
    first = packing.numSections;
    last = 0;
    for (uint32_t k = begin; k < end; ++k) {
      Range parts = packing.boxes[live[k]].parts;
      first = std::min(first, packing.parts[parts.first].first);
      last = std::max(last, packing.parts[parts.last - 1].last);
    }
    std::fill(sections.begin() + first, sections.begin() + last, Section());
    std::fill(crossing.begin() + first, crossing.begin() + last + 1, 0);
    effort = hash = 0;
    for (uint32_t k = begin; k < end; ++k) {
      uint32_t box = live[k];
      if (isCutShort(box))
        return false;
      hash += Nogoods::hashOf(box);
      const Box &what = packing.boxes[box];
      if (what.pin >= 0 && low[box] > what.pin) {
        endWith(Rule::High, box);
        return false;
      }
      if (low[box] + what.extent > capacity) {
        least = std::min(least, low[box] + what.extent);
        endWith(Rule::High, box);
        return false;
      }
      ++crossing[packing.parts[what.parts.first].first + 1];
      --crossing[packing.parts[what.parts.last - 1].last];
      for (uint32_t i = what.parts.first; i < what.parts.last; ++i) {
        const Piece &part = packing.parts[i];
        int64_t floor = low[box] + part.low, top = low[box] + part.high;
        effort += part.last - part.first;
        for (uint32_t s = part.first; s < part.last; ++s) {
          Section &section = sections[s];
          section.floor = std::min(section.floor, floor);
          if (top < section.top) {
            section.nextTop = section.top;
            section.top = top;
            section.topOf = box;
          } else {
            section.nextTop = std::min(section.nextTop, top);
          }
        }
      }
    }
    for (uint32_t s = first; s < last; ++s)
      if (sections[s].floor != none && isTooMuch(sections[s].floor + needed[s])) {
        ++failures[s];
        endWith(Rule::Load, 0, s);
        return false;
      }
    return true;
  }

  enum class Finding { Open, Raised, Dead };

  /// What could be on the floors, and how high they are if nothing is. Or raises boxes that cannot
  /// be where they are.
  Finding count(uint32_t begin, uint32_t end) {
    bool isRaised = false;
    for (uint32_t k = begin; k < end; ++k) {
      uint32_t box = live[k];
      if (isCutShort(box))
        return Finding::Raised;
      const Box &what = packing.boxes[box];
      // A box that does not rest on what is placed rests on another.
      int64_t rest = none, most = 0;
      for (uint32_t i = what.parts.first; i < what.parts.last; ++i) {
        const Piece &part = packing.parts[i];
        for (uint32_t s = part.first; s < part.last; ++s) {
          const Section &section = sections[s];
          int64_t top = section.topOf == box ? section.nextTop : section.top;
          if (top != none)
            rest = std::min(rest, top - part.low);
          most = std::max(most, needed[s] + part.low);
        }
      }
      bool isReady = rest > low[box];
      // Where nothing gets below it, all others would be above it.
      if (isReady && isTooMuch(low[box] + most)) {
        if (rest == none || what.pin >= 0) {
          if (proof)
            endWith(Rule::Dead, box, fullestOf(box));
          return Finding::Dead;
        }
        raise(box, what.stride.atLeast(rest));
        if (proof)
          proof->take({Rule::Raise, box, fullestOf(box), low[box]});
        isRaised = true;
      }
      if (isRaised)
        continue;
      support[box] =
          rest == none || what.pin >= 0 ? none : what.stride.atLeast(std::max<int64_t>(rest, 0));
      forSections(box, [&](uint32_t s, const Piece &part) {
        Section &section = sections[s];
        if (low[box] + part.low != section.floor) {
          section.floorIfLeft = std::min(section.floorIfLeft, low[box] + part.low);
          return;
        }
        ++section.options;
        section.isReady &= isReady;
        int64_t left = support[box] == none ? none : support[box] + part.low;
        // One that is pinned to the floor cannot be left out, and one that nothing supports
        // neither.
        if (left == none)
          section.floorIfLeft = -1;
        else if (section.floorIfLeft >= 0)
          section.floorIfLeft = std::min(section.floorIfLeft, left);
      });
    }
    return isRaised ? Finding::Raised : Finding::Open;
  }

  bool canLeave(uint32_t s) const {
    return sections[s].floorIfLeft >= 0 && sections[s].floorIfLeft != none &&
           !isTooMuch(sections[s].floorIfLeft + needed[s]);
  }

  /// The section to branch on; nobody if one has no option left.
  uint32_t choose(uint32_t first, uint32_t last) const {
    uint32_t best = nobody;
    std::tuple<double, int64_t> least;
    for (uint32_t s = first; s < last; ++s) {
      const Section &section = sections[s];
      if (section.floor == none || !section.isReady)
        continue;
      uint32_t options = section.options + canLeave(s);
      if (options == 1)
        return s;
      int64_t slack = sumCapacity - section.floor - needed[s];
      std::tuple<double, int64_t> key;
      switch (strategy.choice) {
      case Strategy::Choice::FewestOptions:
        key = {options, slack};
        break;
      case Strategy::Choice::Failures:
        key = {double(options) / failures[s], 0};
        break;
      case Strategy::Choice::LeastSlack:
        key = {double(slack), options};
        break;
      case Strategy::Choice::Lowest:
        key = {double(section.floor), options};
        break;
      case Strategy::Choice::FewestLowest:
        key = {options, section.floor};
        break;
      }
      if (best == nobody || key < least) {
        best = s;
        least = key;
      }
    }
    return best;
  }

  /// Parts of live[begin, end) that share no section are placed apart: where one has no place, no
  /// other place of the others helps it. Pushes a frame with them, the tightest first, if there are
  /// several.
  bool splitApart(uint32_t begin, uint32_t end, uint32_t first, uint32_t last) {
    int across = 0;
    uint32_t count = 1;
    for (uint32_t s = first + 1; s < last; ++s) {
      across += crossing[s];
      count += across == 0;
    }
    if (count == 1)
      return false;
    componentOf.resize(packing.numSections);
    std::vector<std::tuple<int64_t, uint32_t, uint32_t>> bySlack(count); // slack, component, boxes
    uint32_t component = 0;
    across = 0;
    std::get<0>(bySlack[0]) = none;
    for (uint32_t s = first; s < last; ++s) {
      across += s > first ? crossing[s] : 0;
      if (s > first && across == 0) {
        ++component;
        bySlack[component] = {none, component, 0};
      }
      componentOf[s] = component;
      if (sections[s].floor != none)
        std::get<0>(bySlack[component]) =
            std::min(std::get<0>(bySlack[component]), sumCapacity - sections[s].floor - needed[s]);
    }
    auto of = [&](uint32_t box) {
      return componentOf[packing.parts[packing.boxes[box].parts.first].first];
    };
    for (uint32_t k = begin; k < end; ++k)
      ++std::get<2>(bySlack[of(live[k])]);
    std::sort(bySlack.begin(), bySlack.end());
    std::vector<uint32_t> turn(count);
    for (uint32_t i = 0; i < count; ++i)
      turn[std::get<1>(bySlack[i])] = i;
    std::sort(live.begin() + begin, live.begin() + end, [&](uint32_t a, uint32_t b) {
      return std::pair(turn[of(a)], a) < std::pair(turn[of(b)], b);
    });
    for (uint32_t k = begin; k < end; ++k)
      position[live[k]] = k;
    Frame frame = frameOf(begin, end);
    frame.isApart = true;
    for (auto [slack, which, boxes] : bySlack)
      options.push_back({boxes, 0});
    frame.lastOption = options.size();
    stack.push_back(frame);
    return true;
  }

  bool isSame(uint32_t a, uint32_t b) const {
    const Box &x = packing.boxes[a], &y = packing.boxes[b];
    if (x.extent != y.extent || x.pin != y.pin || x.stride.modulus != y.stride.modulus ||
        x.stride.residue != y.stride.residue || x.parts.size() != y.parts.size())
      return false;
    for (uint32_t i = 0; i < x.parts.size(); ++i) {
      const Piece &p = packing.parts[x.parts.first + i], &q = packing.parts[y.parts.first + i];
      if (std::tie(p.first, p.last, p.low, p.high) != std::tie(q.first, q.last, q.low, q.high))
        return false;
    }
    return true;
  }

  enum class Step { Enter, Branch, Succeed, Fail };

  Outcome search(uint64_t limit, const std::function<bool()> &isStopped) {
    while (!isOver) {
      switch (step) {
      case Step::Enter:
        if (begin == end) {
          step = Step::Succeed;
          break;
        }
        if (cutShort || nodes >= limit || (nodes >= nextQuestion && isStopped())) {
          cutShort = false;
          return Outcome::Stopped;
        }
        if (nodes >= nextQuestion)
          nextQuestion = nodes + 64;
        step = enter();
        break;
      case Step::Branch:
        step = branch();
        break;
      case Step::Succeed:
        step = succeed();
        break;
      case Step::Fail:
        step = fail();
        break;
      }
    }
    return result;
  }

  Step finish(Outcome outcome) {
    isOver = true;
    result = outcome;
    return Step::Fail;
  }

  Step refute() {
    if (proof)
      proof->closeRoot();
    return finish(Outcome::Exhausted);
  }

  Frame frameOf(uint32_t first, uint32_t last) const {
    size_t at = options.size();
    Frame frame = {first, last, trail.size(), hash, at, at, at, false, false, 0, 0};
    if (proof) {
      frame.proofMark = proof->mark();
      frame.proofOpen = proof->numOpen();
    }
    return frame;
  }

  /// Places live[begin, end), none of which may be below its `low`, as far as there is one option.
  Step enter() {
    nodes += 1 + effort / sectionsPerNode;
    uint32_t first, last;
    cutShort = false;
    bool fits = look(begin, end, first, last);
    if (cutShort)
      return Step::Enter;
    if (!fits)
      return Step::Fail;
    if (std::optional<uint32_t> known =
            nogoods.find(hash, live.data() + begin, live.data() + end, low)) {
      endWith(Rule::Known, *known);
      return Step::Fail;
    }
    if (splitApart(begin, end, first, last))
      return Step::Branch;
    Finding finding = count(begin, end);
    if (cutShort)
      return Step::Enter;
    if (finding != Finding::Open)
      return finding == Finding::Raised ? Step::Enter : Step::Fail;
    uint32_t floorOf = choose(first, last);
    // Shapes that interlock may leave nothing to decide on: given up, nothing is proved.
    if (floorOf == nobody)
      return packing.isExact ? Step::Fail : finish(Outcome::Stopped);
    Frame frame = frameOf(begin, end);
    for (uint32_t k = begin; k < end; ++k)
      if (isOn(live[k], floorOf))
        options.push_back({live[k], support[live[k]]});
    frame.lastOption = options.size();
    frame.mayLeave = canLeave(floorOf);
    if (options.size() - frame.firstOption == 1 && !frame.mayLeave) {
      // No need to come back here.
      if (proof)
        proof->take({Rule::Put, options.back().box, floorOf});
      put(options.back().box, begin++, end);
      options.pop_back();
      return Step::Enter;
    }
    std::sort(options.begin() + frame.firstOption, options.end(),
              [&](const Option &a, const Option &b) { return rank[a.box] < rank[b.box]; });
    if (proof)
      proof->open(floorOf);
    stack.push_back(frame);
    return Step::Branch;
  }

  /// Takes the next option of the last frame.
  Step branch() {
    Frame &frame = stack.back();
    end = frame.end;
    begin = frame.begin;
    if (frame.isApart) {
      for (size_t i = frame.firstOption; i < frame.nextOption; ++i)
        begin += options[i].box;
      end = begin + options[frame.nextOption++].box;
      return Step::Enter;
    }
    while (frame.nextOption < frame.lastOption) {
      uint32_t box = options[frame.nextOption].box;
      bool isRepeated = false;
      for (size_t j = frame.firstOption; j < frame.nextOption; ++j)
        isRepeated |= isSame(options[j].box, box);
      ++frame.nextOption;
      if (isRepeated)
        continue;
      if (proof)
        proof->branch(box, frame.proofMark);
      put(box, begin++, end);
      return Step::Enter;
    }
    if (frame.mayLeave) {
      frame.mayLeave = false;
      if (proof)
        proof->branch(Proof::Branch::leave, frame.proofMark);
      for (size_t i = frame.firstOption; i < frame.lastOption; ++i)
        raise(options[i].box, options[i].support);
      return Step::Enter;
    }
    undo(frame.mark);
    uint32_t lemma = 0;
    if (proof) {
      proof->backTo(frame.proofMark);
      lemma = proof->conclude(live.data() + begin, live.data() + end, low);
    }
    nogoods.add(frame.hash, live.data() + begin, live.data() + end, low, lemma);
    pop();
    return Step::Fail;
  }

  void pop() {
    options.resize(stack.back().firstOption);
    if (proof)
      proof->discard(stack.back().proofOpen);
    stack.pop_back();
  }

  /// All of a part has a place: what is decided there is not looked at again.
  Step succeed() {
    while (!stack.empty() &&
           !(stack.back().isApart && stack.back().nextOption < stack.back().lastOption))
      pop();
    if (proof && !stack.empty())
      proof->backTo(stack.back().proofMark);
    return stack.empty() ? finish(Outcome::Found) : Step::Branch;
  }

  /// Back to the last decision.
  Step fail() {
    while (!stack.empty() && stack.back().isApart)
      pop();
    if (stack.empty())
      return refute();
    if (proof) {
      proof->close(stack.back().proofMark);
      if (proof->isTooLarge())
        return finish(Outcome::Stopped);
    }
    undo(stack.back().mark);
    return Step::Branch;
  }

  bool isOn(uint32_t box, uint32_t s) const {
    Range parts = packing.boxes[box].parts;
    for (uint32_t i = parts.first; i < parts.last; ++i)
      if (packing.parts[i].first <= s && s < packing.parts[i].last)
        return low[box] + packing.parts[i].low == sections[s].floor;
    return false;
  }

  const Packing &packing;
  const int64_t capacity;
  const Strategy strategy;
  Proof *const proof;
  const int64_t sumCapacity;      // rounded up, as sums of boxes are
  std::vector<int64_t> low;       // of boxes: least offset, the offset once placed
  std::vector<int64_t> support;   // of boxes: least offset on another that is not placed
  std::vector<uint32_t> position; // of boxes in `live`
  std::vector<uint32_t> live;     // the boxes; those of a call are a range
  std::vector<uint32_t> rank;
  std::vector<int64_t> needed; // by section: sum of what is not placed
  std::vector<Section> sections;
  std::vector<uint32_t> failures;
  std::vector<int> crossing; // steps of the number of boxes across the border before a section
  std::vector<Change> trail;
  std::vector<uint32_t> componentOf; // of sections
  std::vector<Option> options;       // of all frames
  std::vector<Frame> stack;
  Nogoods nogoods;
  uint64_t hash = 0;           // of the boxes that the last node looked at
  uint32_t begin = 0, end = 0; // of `live`, what is placed next
  Step step = Step::Enter;
  bool isOver = false, cutShort = false;
  const std::function<bool()> *shouldStop = nullptr;
  uint64_t unasked = 0; // sections looked at since
  Outcome result = Outcome::Stopped;
  uint64_t nodes = 0, nextQuestion = 64;
  uint64_t effort = 0;          // sections that the last node looked at
  mutable int64_t least = none; // capacity that would have allowed more
};

Search::Search(const Packing &packing, int64_t capacity, Strategy strategy, Proof *proof)
    : searcher(std::make_unique<Searcher>(packing, capacity, strategy, proof)) {}
Search::Search(Search &&) noexcept = default;
Search &Search::operator=(Search &&) noexcept = default;
Search::~Search() = default;

Attempt Search::run(uint64_t nodes, const std::function<bool()> &isStopped) {
  return searcher->run(nodes, isStopped);
}

Attempt search(const Packing &packing, int64_t capacity, Strategy strategy, uint64_t nodes,
               const std::function<bool()> &isStopped) {
  return Search(packing, capacity, strategy).run(nodes, isStopped);
}

} // namespace plim::planner
