// ArtifactFile: serialised artifacts in files, of the cache and of the user.
//
// Threads: any, for different objects.
#pragma once

#include "jit/Artifact.h"

#include <string>

namespace plim::jit {

/// The artifact that the first `bytes` bytes of an open file are. Borrows the descriptor.
class FileSource : public ArtifactSource {
public:
  FileSource(int descriptor, uint64_t bytes) : descriptor(descriptor), bytes(bytes) {}
  uint64_t size() const override { return bytes; }
  bool read(uint64_t offset, std::span<char> out) const override;
  std::optional<SharedBytes> share(uint64_t offset, uint64_t count) const override;

private:
  const int descriptor;
  const uint64_t bytes;
  mutable std::optional<SharedBytes> mapping; // once a block wants it
};

/// Writes all of it. False, with errno, if that fails.
bool writeAll(int descriptor, std::string_view bytes);

/// Reads what writeArtifact() wrote. Large constants are mapped: while they are used the file must be
/// neither written nor truncated. The errors of deserialize(); NotFound, PermissionDenied or Unavailable if
/// the file cannot be read.
StatusOr<Artifact> readArtifact(const std::string &path);

/// Replaces the file, or makes it, at once: there is never a part of it. A link stays, what it names is
/// replaced. Unavailable, with the reason; also for what is there and is no regular file.
Status writeArtifact(const Artifact &artifact, const std::string &path);

} // namespace plim::jit
