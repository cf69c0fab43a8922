// DataBlock: the contents of one large constant, in pages that nobody can write.
//
// The pages are anonymous memory that was filled once, or a part of a mapped file: of the source, or
// of an entry of the artifact cache. Handles share them; the last one gives them back. Constants of
// less than a page are no blocks: they lie together in Artifact::data.
//
// Threads: blocks are values; the bytes never change.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

namespace plim::jit {

/// Code may count on this for all data, bytes.
inline constexpr int64_t dataAlignment = 64;

/// Bytes that do not change, and what keeps them.
struct SharedBytes {
  std::shared_ptr<const void> owner;
  std::string_view bytes;
};

/// Finds equal contents and damage: XXH3 with 128 bits, a few times faster than the digest of
/// support/Hash.h and not made against an adversary. Contents with equal hashes are compared before
/// they are taken for equal.
struct ContentHash {
  uint64_t low = 0, high = 0;
  auto operator<=>(const ContentHash &) const = default;
};

struct DataBlock {
  SharedBytes contents; // aligned to dataAlignment
  ContentHash hash;
};

/// Hashes pieces of contents: all but the last must have ContentHasher::pieceBytes.
class ContentHasher {
public:
  static constexpr size_t pieceBytes = size_t(1) << 18;
  void update(std::string_view piece);
  ContentHash result() const { return state; }

private:
  ContentHash state;
};
ContentHash hashContents(std::string_view bytes);

/// From this size on a constant is a block: a page of this machine.
int64_t blockThreshold();

/// Fresh pages, filled by `fill` and read-only from then on. Nothing without memory.
std::optional<SharedBytes> makePages(size_t bytes, const std::function<void(char *)> &fill);

/// The whole of a file of `bytes` bytes, mapped read-only. It must be neither written nor truncated
/// while the mapping lives; that it is replaced or removed does not matter. Nothing if the system
/// refuses; closing `descriptor` is up to the caller.
std::optional<SharedBytes> mapFile(int descriptor, size_t bytes);

} // namespace plim::jit
