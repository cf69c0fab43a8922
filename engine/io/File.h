// File: reading a whole file of known size, mapping it, and writing one, with Status for errors.
//
// Only regular files, but for readWhole(): their size is known before anything is read, so that no size found inside is
// trusted. Messages begin with the path. Thread safety: const members may be called from any thread.
#pragma once

#include "engine/runtime/Buffer.h"
#include "support/Status.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace plim::io {

/// The bytes of a mapped file, which stays so until the last copy of the pointer is gone.
using Mapping = std::shared_ptr<const std::span<const std::byte>>;

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

  /// The whole file, mapped read-only and private. An empty file gives an empty span. The file must
  /// be neither written nor truncated meanwhile; that it is replaced or removed does not matter.
  StatusOr<Mapping> map() const;

private:
  File(std::string path, int descriptor, uint64_t length)
      : name(std::move(path)), descriptor(descriptor), length(length) {}

  std::string name;
  int descriptor;
  uint64_t length;
};

inline constexpr size_t maxPipeBytes = size_t(1) << 30;
inline constexpr std::chrono::seconds pipePatience{10};

/// All of a file, or of a pipe until its writers have closed it. NotFound, PermissionDenied; InvalidArgument for what is
/// neither, as a device, which may have no end; of pipes, DeadlineExceeded if nothing comes for pipePatience, and
/// ResourceExhausted for more than maxPipeBytes.
StatusOr<std::string> readWhole(const std::string &path);

/// A read-only buffer of `elements`, which lie in the mapping and keep it, where alignment is as of Buffer::wrapUnaligned().
StatusOr<runtime::Buffer> wrapMapping(const Mapping &mapping, std::span<const std::byte> elements,
                                      runtime::ElementType type, std::span<const int64_t> shape);

/// Gives the pages of such a buffer back to the system, which reads them again where they are needed. Nothing else
/// changes, whoever else has the buffer or its file. Of other buffers nothing is given back.
void dropPages(const runtime::Buffer &buffer);

/// Creates or replaces the file with the pieces, one after another. On failure what is left of it
/// is removed.
Status writeFile(const std::string &path, std::span<const std::span<const std::byte>> pieces);

} // namespace plim::io
