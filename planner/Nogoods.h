// What a search has refuted already, so that it is not refuted again. Internal to planner/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace plim::planner {

/// Remembers states of a search: which boxes were still to be placed, and the least offset of each.
/// A state without a packing has none either where the same boxes may only be higher (dominance).
/// Sets are found by a hash and then compared, box by box: nothing that is said rests on the hash.
///
/// Holds some 8 MiB of offsets; then new states replace old ones, which costs time and no proof. It
/// grows in steps, each of which forgets what was held. Not for use by several threads.
class Nogoods {
public:
  /// Boxes are the numbers below `numBoxes`.
  explicit Nogoods(uint32_t numBoxes);

  /// The hash of a set is the sum of these, modulo 2^64, so that a search can keep it up to date.
  /// One output of SplitMix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number
  /// Generators", 2014).
  static uint64_t hashOf(uint32_t box);

  /// The tag of a known state that implies that this one has no packing. The state is of the boxes
  /// [first, last), each once, in any order; `hash` is that of their set. `low` is by box, and not
  /// negative. O(boxes of the set).
  std::optional<uint32_t> find(uint64_t hash, const uint32_t *first, const uint32_t *last,
                               const std::vector<int64_t> &low) const;
  bool holds(uint64_t hash, const uint32_t *first, const uint32_t *last,
             const std::vector<int64_t> &low) const {
    return find(hash, first, last, low).has_value();
  }
  /// Remembers a state that was refuted, with a tag that find() gives back: the lemma of a proof.
  /// May forget others, and allocates while it grows.
  void add(uint64_t hash, const uint32_t *first, const uint32_t *last,
           const std::vector<int64_t> &low, uint32_t tag = 0);

private:
  struct Entry {
    uint64_t hash = 0;
    uint32_t size = 0; // of the set; 0: free
    uint32_t tag = 0;
  };

  std::size_t setOf(uint64_t hash) const { return std::size_t(hash >> 20) % turn.size(); }
  void grow();

  static constexpr std::size_t ways = 4; // entries where a set may be
  std::size_t numBoxes, mostSets, added = 0;
  std::vector<Entry> entries;
  std::vector<int64_t> lows; // by entry and box; -1: not in the set
  std::vector<uint8_t> turn; // which way is replaced next
};

} // namespace plim::planner
