#include "jit/ArtifactCache.h"

#include "jit/ArtifactFile.h"
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
#include <unistd.h>
#include <vector>

namespace fs = std::filesystem;

namespace plim::jit {

namespace {

constexpr std::string_view entrySuffix = ".plimart";
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

} // namespace

std::string ArtifactCache::defaultFolder() {
  if (const char *base = std::getenv("XDG_CACHE_HOME"); base && *base)
    return std::string(base) + "/plimsoll";
  if (const char *home = std::getenv("HOME"); home && *home)
    return std::string(home) + "/.cache/plimsoll";
  return "";
}

StatusOr<ArtifactCache> ArtifactCache::open(std::string folder, int64_t maxBytes) {
  std::error_code error;
  fs::create_directories(fs::path(folder).parent_path(), error);
  // Ours alone, whatever the umask says.
  ::mkdir(folder.c_str(), 0700);
  struct stat status;
  if (lstat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))
    return unavailableError("cannot create the cache folder '" + folder + "'" +
                            (error ? ": " + error.message() : ""));
  if (status.st_uid != geteuid() || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return Status(StatusCode::PermissionDenied,
                  "the cache folder '" + folder +
                      "' is writable by others than its user: it is not used");
  return ArtifactCache(std::move(folder), maxBytes);
}

std::string ArtifactCache::pathOf(std::string_view key) const {
  return folder + "/" + hashBytes(key).hex() + std::string(entrySuffix);
}

std::optional<Artifact> ArtifactCache::load(std::string_view key) const {
  std::string path = pathOf(key);
  File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat status;
  if (!file || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      status.st_uid != geteuid())
    return std::nullopt;
  const std::string expected = trailer(key);
  std::string stored(expected.size(), '\0');
  const auto size = static_cast<uint64_t>(status.st_size);
  if (size < stored.size() || !FileSource(file.get(), size).read(size - stored.size(), stored) ||
      stored != expected)
    return std::nullopt;
  StatusOr<Artifact> artifact = deserialize(FileSource(file.get(), size - stored.size()));
  if (!artifact.ok())
    return std::nullopt;
  // Used now: pruning looks at this.
  utimensat(AT_FDCWD, path.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
  return std::move(*artifact);
}

Status ArtifactCache::store(std::string_view key, const Artifact &artifact) const {
  static std::atomic<uint64_t> counter{0};
  std::string path = pathOf(key);
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
    auto write = [&](std::string_view bytes) { return writeAll(file.get(), bytes); };
    if (!serialize(artifact, write) || !write(trailer(key)))
      return fail("write");
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0)
    return fail("rename");
  prune();
  return okStatus();
}

void ArtifactCache::prune() const {
  struct Entry {
    fs::file_time_type used;
    int64_t bytes;
    fs::path path;
  };
  std::vector<Entry> entries;
  int64_t total = 0;
  std::error_code error;
  auto now = fs::file_time_type::clock::now();
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    const fs::path &path = it->path();
    fs::file_time_type used = fs::last_write_time(path, ignored);
    if (path.extension() == temporarySuffix && now - used > abandonedAfter)
      fs::remove(path, ignored);
    if (path.extension() != entrySuffix)
      continue;
    auto bytes = static_cast<int64_t>(fs::file_size(path, ignored));
    if (ignored)
      continue;
    entries.push_back({used, bytes, path});
    total += bytes;
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry &a, const Entry &b) { return a.used < b.used; });
  for (const Entry &entry : entries) {
    if (total <= maxBytes)
      return;
    std::error_code ignored;
    if (fs::remove(entry.path, ignored))
      total -= entry.bytes;
  }
}

} // namespace plim::jit
