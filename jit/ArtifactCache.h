// ArtifactCache: compiled artifacts, and the code of single dispatches, on disk and shared between processes.
//
// One file per entry, named by the digest of its key. A file holds what is kept with its checksums and
// the whole key again; what does not match in either is ignored and written anew. Entries are
// written to a file of a unique name and renamed, so that a reader sees all of an entry or none,
// whoever else writes or dies meanwhile. Large constants are used where they lie in the file, which is
// mapped: an entry is never written in place, and one that goes lives on until it is unmapped. They are not synced: what a power failure leaves behind
// fails its checksum, and a sync costs more than most compilations. Reading marks an entry as used; when the folder grows
// beyond its bound the longest unused entries go.
//
// The cache runs what it reads: its folder must belong to the user and be writable by nobody else, and nobody else may be
// able to put another in its place; otherwise it is not used. Folders above it are the user's or root's, with the sticky
// bit where others may write (/tmp). A group that may write is accepted where it is the process's and has the user's
// number, by which systems with a group for each user number those.
//
// Threads: all methods may be called from any thread; several processes may share a folder.
#pragma once

#include "jit/Artifact.h"
#include "support/Hash.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace plim::jit {

class ArtifactCache {
public:
  /// $XDG_CACHE_HOME/plimsoll, or $HOME/.cache/plimsoll where that is not set or no absolute path; empty without either.
  static std::string defaultFolder();

  /// Creates the folder if need be, and those above it, for the user alone. It is found again whatever the process's
  /// working directory and links become. PermissionDenied if others could write to it, or replace it, or a folder above it;
  /// Unavailable if it cannot be created.
  static StatusOr<ArtifactCache> open(std::string folder, int64_t maxBytes);

  /// The artifact stored under `key`, if there is a sound one. Its blocks are mapped.
  std::optional<Artifact> load(std::string_view key) const;

  /// Stores an artifact. A failure (no space, read-only) leaves no trace and costs only the entry.
  Status store(std::string_view key, const Artifact &artifact) const;

  /// The bytes that storeCode() stored for this content, if they are sound.
  std::optional<std::string> loadCode(const Digest &content) const;
  /// Stores bytes like an artifact, but keeps to the bound of the folder only when an artifact follows: that of the
  /// module which the code is of.
  Status storeCode(const Digest &content, std::string_view bytes) const;

  /// Absolute, without links.
  const std::string &folder() const { return path; }

private:
  ArtifactCache(std::string path, int64_t bound) : path(std::move(path)), bound(bound) {}
  std::string pathOf(std::string_view name, std::string_view suffix) const;
  void prune() const;

  std::string path;
  int64_t bound;
};

} // namespace plim::jit
