// Content hashes: how the object cache, constants and artifacts are named and checked.
//
// The function is BLAKE2b with a digest of 256 bits and no key, written from its specification,
// RFC 7693 (M-J. Saarinen, J-P. Aumasson, 2015): portable C++, about 1 GB/s on one core, and
// collision-resistant, so that equal digests may be taken for equal content. It detects damage and
// names content; it authenticates nothing.
//
// Standard library only. A Hasher belongs to one thread at a time; digests are values.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace plim {

struct Digest {
  static constexpr size_t byteCount = 32;
  std::array<uint8_t, byteCount> bytes{};

  auto operator<=>(const Digest &) const = default;
  /// 64 lower-case hexadecimal digits.
  std::string hex() const;
};

/// Hashes a stream of bytes given in pieces; the digest does not depend on where they were cut.
class Hasher {
public:
  Hasher();

  /// Appends `size` bytes; `data` may be null when `size` is 0.
  Hasher &update(const void *data, size_t size);
  /// Appends the bytes of `text` alone: two calls with "ab", "c" and with "a", "bc" look the same.
  Hasher &update(std::string_view text) { return update(text.data(), text.size()); }
  /// Appends eight bytes, lowest first, on every machine.
  Hasher &updateInteger(uint64_t value);
  /// Appends the length of `text`, then `text`: for keys made of several fields.
  Hasher &updateField(std::string_view text) { return updateInteger(text.size()).update(text); }

  /// The digest of all bytes so far. The hasher is unchanged: more may be appended.
  Digest digest() const;

private:
  static constexpr size_t blockBytes = 128;
  void compress(const uint8_t *block, bool isLast);

  std::array<uint64_t, 8> state;
  std::array<uint8_t, blockBytes> pending;
  /// Bytes held in `pending`; the block that may be the last one stays there until digest().
  size_t pendingBytes = 0;
  /// Bytes compressed so far. 64 bits of the 128 that the function counts: 16 EiB are enough.
  uint64_t compressedBytes = 0;
};

/// The digest of `size` bytes at `data`.
Digest hashBytes(const void *data, size_t size);
inline Digest hashBytes(std::string_view text) { return hashBytes(text.data(), text.size()); }

} // namespace plim
