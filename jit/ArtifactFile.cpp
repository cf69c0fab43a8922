#include "jit/ArtifactFile.h"

#include "support/FileSizeSignal.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace plim::jit {

namespace {

/// Closes it in the end.
struct Descriptor {
  int value;
  ~Descriptor() {
    if (value >= 0)
      ::close(value);
  }
};

} // namespace

bool FileSource::read(uint64_t offset, std::span<char> out) const {
  while (!out.empty()) {
    ssize_t count = ::pread(descriptor, out.data(), out.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return false;
    offset += static_cast<uint64_t>(count);
    out = out.subspan(static_cast<size_t>(count));
  }
  return true;
}

std::optional<SharedBytes> FileSource::share(uint64_t offset, uint64_t count) const {
  if (!mapping && !(mapping = mapFile(descriptor, bytes)))
    return std::nullopt;
  return SharedBytes{mapping->owner, mapping->bytes.substr(offset, count)};
}

bool writeAll(int descriptor, std::string_view bytes) {
  const WithoutFileSizeSignal shield;
  while (!bytes.empty()) {
    ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return false;
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

StatusOr<Artifact> readArtifact(const std::string &path) {
  Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  struct stat status;
  if (file.value < 0 || fstat(file.value, &status) != 0) {
    StatusCode code = errno == ENOENT   ? StatusCode::NotFound
                      : errno == EACCES ? StatusCode::PermissionDenied
                                        : StatusCode::Unavailable;
    return Status(code, "cannot read '" + path + "': " + std::strerror(errno));
  }
  StatusOr<Artifact> artifact =
      deserialize(FileSource(file.value, static_cast<uint64_t>(status.st_size)));
  if (!artifact.ok())
    return artifact.status().withContext(path);
  return artifact;
}

Status writeArtifact(const Artifact &artifact, const std::string &given) {
  // The file behind a link, and no device.
  std::error_code error;
  std::filesystem::path path = std::filesystem::weakly_canonical(given, error);
  if (error)
    path = given;
  if (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error))
    return unavailableError("cannot write '" + given + "': it is no file");
  static std::atomic<uint64_t> counter{0};
  const std::string temporary = path.string() + "." + std::to_string(getpid()) + "." +
                                std::to_string(counter.fetch_add(1)) + ".tmp";
  Descriptor file{::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)};
  auto fail = [&] {
    int code = errno;
    if (file.value >= 0)
      ::unlink(temporary.c_str());
    return unavailableError("cannot write '" + given + "': " + std::strerror(code));
  };
  if (file.value < 0)
    return fail();
  if (!serialize(artifact, [&](std::string_view piece) { return writeAll(file.value, piece); }) ||
      ::rename(temporary.c_str(), path.c_str()) != 0)
    return fail();
  return okStatus();
}

} // namespace plim::jit
