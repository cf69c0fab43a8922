// File: reading a whole file of known size, mapping it, and writing one, with Status for errors.
//
// Only regular files: their size is known before anything is read, so that no size found inside is
// trusted. Messages begin with the path. Thread safety: const members may be called from any thread.
#pragma once

#include "support/Status.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace plim::tools {

class File {
public:
  /// Opens for reading. NotFound, PermissionDenied or InvalidArgument (no regular file).
  static StatusOr<File> open(const std::string &path);
  File(File &&other) noexcept;
  File &operator=(File &&other) = delete;
  ~File();

  const std::string &path() const { return name; }
  /// Bytes, when it was opened.
  uint64_t size() const { return length; }

  /// Fills `out` from `offset`. DataLoss when the file ends before that or cannot be read.
  Status read(uint64_t offset, std::span<std::byte> out) const;

  /// The whole file, mapped read-only and private; unmapped with the last copy of the pointer. An
  /// empty file gives an empty span. The file must not be truncated meanwhile.
  StatusOr<std::shared_ptr<const std::span<const std::byte>>> map() const;

private:
  File(std::string path, int descriptor, uint64_t length)
      : name(std::move(path)), descriptor(descriptor), length(length) {}

  std::string name;
  int descriptor;
  uint64_t length;
};

/// Creates or replaces the file with the pieces, one after another. On failure what is left of it
/// is removed.
Status writeFile(const std::string &path, std::span<const std::span<const std::byte>> pieces);

} // namespace plim::tools
