#include "jit/ArtifactCache.h"

#include "jit/ArtifactFile.h"
#include "support/Folder.h"
#include "support/Hash.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <span>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace fs = std::filesystem;

namespace plim::jit {

namespace {

constexpr std::string_view artifactSuffix = ".plimart";
constexpr std::string_view codeSuffix = ".plimobj";
constexpr std::string_view temporarySuffix = ".tmp";
/// A temporary file of this age belongs to a writer that died.
constexpr auto abandonedAfter = std::chrono::hours(1);

class File {
public:
  explicit File(int descriptor) : descriptor(descriptor) {}
  ~File() {
    if (descriptor >= 0)
      ::close(descriptor);
  }
  File(const File &) = delete;
  File &operator=(const File &) = delete;
  explicit operator bool() const { return descriptor >= 0; }
  int get() const { return descriptor; }

private:
  int descriptor;
};

/// What stands behind the artifact: the key and its length.
std::string trailer(std::string_view key) {
  uint64_t size = key.size();
  return std::string(key) + std::string(reinterpret_cast<const char *>(&size), sizeof size);
}

/// What stands behind other bytes.
std::string checksumOf(std::string_view bytes) {
  const Digest digest = hashBytes(bytes);
  return std::string(reinterpret_cast<const char *>(digest.bytes.data()), Digest::byteCount);
}

/// A file of the folder that ends with a trailer; false if there is none of ours.
class Entry {
public:
  Entry(std::string path, const std::string &trailer)
      : path(std::move(path)),
        file(::open(this->path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)) {
    struct stat status;
    if (!file || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
        status.st_uid != geteuid())
      return;
    std::string stored(trailer.size(), '\0');
    const auto size = static_cast<uint64_t>(status.st_size);
    if (size < stored.size() || !FileSource(file.get(), size).read(size - stored.size(), stored) ||
        stored != trailer)
      return;
    source.emplace(file.get(), size - stored.size());
  }

  explicit operator bool() const { return source.has_value(); }
  /// What stands in front of the trailer.
  const FileSource &contents() const { return *source; }
  /// Pruning looks at this.
  void markAsUsed() const { utimensat(AT_FDCWD, path.c_str(), nullptr, AT_SYMLINK_NOFOLLOW); }

private:
  const std::string path;
  const File file;
  std::optional<FileSource> source;
};

/// Lets `writeContents`, given what writes bytes, fill a file that then takes this place.
Status writeEntry(const std::string &path, const auto &writeContents) {
  static std::atomic<uint64_t> counter{0};
  std::string temporary = path + "." + std::to_string(getpid()) + "." +
                          std::to_string(counter.fetch_add(1)) + std::string(temporarySuffix);
  auto fail = [&](const char *what) {
    int code = errno;
    ::unlink(temporary.c_str());
    return unavailableError(std::string("cannot ") + what + " '" + temporary +
                            "': " + std::strerror(code));
  };
  {
    File file(
        ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file)
      return fail("create");
    if (!writeContents([&](std::string_view bytes) { return writeAll(file.get(), bytes); }))
      return fail("write");
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0)
    return fail("rename");
  return okStatus();
}

/// May members of a group that has others than this user write there? Where users have groups of their own, the numbers
/// are the same (useradd's USERGROUPS_ENAB). An access list grants rights that show as the group's.
bool isWritableByGroup(const char *folder, const struct stat &status) {
  const bool isOwnGroup = status.st_gid == ::getegid() && status.st_gid == ::geteuid();
  return (status.st_mode & S_IWGRP) != 0 &&
         (!isOwnGroup || ::getxattr(folder, "system.posix_acl_access", nullptr, 0) > 0);
}

/// PermissionDenied if others than this user and root could put something else in place of this folder, or of one above it:
/// by owning one, or by writing to one in which what is not theirs is not protected from them. The path has no links.
Status checkParents(const fs::path &folder) {
  for (fs::path inner = folder, parent = inner.parent_path(); parent != inner;
       inner = std::exchange(parent, parent.parent_path())) {
    struct stat status;
    std::string why;
    if (::lstat(parent.c_str(), &status) != 0)
      why = std::string("what may be done to it is not known: ") + std::strerror(errno);
    else if (!S_ISDIR(status.st_mode) || (status.st_uid != 0 && status.st_uid != ::geteuid()))
      why = "it is another user's";
    else if ((status.st_mode & S_ISVTX) == 0 &&
             ((status.st_mode & S_IWOTH) != 0 || isWritableByGroup(parent.c_str(), status)))
      why = "others may write to it";
    if (!why.empty())
      return Status(StatusCode::PermissionDenied,
                    "the cache folder '" + folder.string() +
                        "' is not used: others than its user could replace it in '" +
                        parent.string() + "', since " + why);
  }
  return okStatus();
}

/// Makes the folder, and those above it that are missing, for this user alone whatever the umask says. What cannot be
/// made is found out by who looks for it; 0, or the first reason.
int makeFolders(const fs::path &folder) {
  int reason = 0;
  fs::path made;
  for (const fs::path &part : folder) {
    made /= part;
    if (::mkdir(made.c_str(), 0700) != 0 && errno != EEXIST && reason == 0)
      reason = errno;
  }
  return reason;
}

} // namespace

std::string ArtifactCache::defaultFolder() {
  if (const char *base = std::getenv("XDG_CACHE_HOME"); base && *base == '/')
    return std::string(base) + "/plimsoll";
  if (const char *home = std::getenv("HOME"); home && *home)
    return std::string(home) + "/.cache/plimsoll";
  return "";
}

StatusOr<ArtifactCache> ArtifactCache::open(std::string folder, int64_t maxBytes) {
  // A link would be followed behind a slash.
  while (folder.size() > 1 && folder.ends_with('/'))
    folder.pop_back();
  std::error_code error;
  const fs::path given = fs::absolute(folder, error);
  const int reason = makeFolders(given);
  struct stat status;
  if (error || lstat(given.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))
    return unavailableError("cannot create the cache folder '" + folder + "'" +
                            (reason ? std::string(": ") + std::strerror(reason) : ""));
  // From here on without links, and wherever the process goes.
  const fs::path path = fs::canonical(given, error);
  if (error || lstat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))
    return unavailableError("the cache folder '" + folder + "' is not there any more");
  if (status.st_uid != geteuid() || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return Status(StatusCode::PermissionDenied,
                  "the cache folder '" + folder +
                      "' is writable by others than its user: it is not used");
  PLIM_RETURN_IF_ERROR(checkParents(path));
  return ArtifactCache(path, maxBytes);
}

std::string ArtifactCache::pathOf(std::string_view name, std::string_view suffix) const {
  return path + "/" + std::string(name) + std::string(suffix);
}

std::optional<Artifact> ArtifactCache::load(std::string_view key) const {
  const Entry entry(pathOf(hashBytes(key).hex(), artifactSuffix), trailer(key));
  if (!entry)
    return std::nullopt;
  StatusOr<Artifact> artifact = deserialize(entry.contents());
  if (!artifact.ok())
    return std::nullopt;
  entry.markAsUsed();
  return std::move(*artifact);
}

Status ArtifactCache::store(std::string_view key, const Artifact &artifact) const {
  PLIM_RETURN_IF_ERROR(
      writeEntry(pathOf(hashBytes(key).hex(), artifactSuffix), [&](const auto &write) {
        return serialize(artifact, write) && write(trailer(key));
      }));
  prune();
  return okStatus();
}

std::optional<std::string> ArtifactCache::loadCode(const Digest &content) const {
  const Entry entry(pathOf(content.hex(), codeSuffix), trailer(content.hex()));
  if (!entry || entry.contents().size() < Digest::byteCount)
    return std::nullopt;
  std::string bytes(entry.contents().size(), '\0');
  if (!entry.contents().read(0, bytes))
    return std::nullopt;
  const std::string stored = bytes.substr(bytes.size() - Digest::byteCount);
  bytes.resize(bytes.size() - Digest::byteCount);
  if (stored != checksumOf(bytes))
    return std::nullopt;
  entry.markAsUsed();
  return bytes;
}

Status ArtifactCache::storeCode(const Digest &content, std::string_view bytes) const {
  return writeEntry(pathOf(content.hex(), codeSuffix), [&](const auto &write) {
    return write(bytes) && write(checksumOf(bytes)) && write(trailer(content.hex()));
  });
}

void ArtifactCache::prune() const {
  struct Aged {
    fs::file_time_type used;
    int64_t bytes;
    fs::path path;
  };
  std::vector<Aged> entries;
  int64_t total = 0;
  std::error_code error;
  auto now = fs::file_time_type::clock::now();
  for (const std::string &name : namesIn(path, error)) {
    std::error_code ignored;
    const fs::path file = fs::path(path) / name;
    fs::file_time_type used = fs::last_write_time(file, ignored);
    if (file.extension() == temporarySuffix && now - used > abandonedAfter)
      fs::remove(file, ignored);
    if (file.extension() != artifactSuffix && file.extension() != codeSuffix)
      continue;
    auto bytes = static_cast<int64_t>(fs::file_size(file, ignored));
    if (ignored)
      continue;
    entries.push_back({used, bytes, file});
    total += bytes;
  }
  std::sort(entries.begin(), entries.end(),
            [](const Aged &a, const Aged &b) { return a.used < b.used; });
  for (const Aged &entry : entries) {
    if (total <= bound)
      return;
    std::error_code ignored;
    if (fs::remove(entry.path, ignored))
      total -= entry.bytes;
  }
}

} // namespace plim::jit
