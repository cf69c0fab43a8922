#include "engine/io/File.h"

#include "support/FileSizeSignal.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <limits>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace plim::io {
namespace {

StatusCode codeOf(int error) {
  if (error == ENOENT || error == ENOTDIR)
    return StatusCode::NotFound;
  if (error == EACCES || error == EPERM || error == EROFS)
    return StatusCode::PermissionDenied;
  if (error == ENOSPC || error == EDQUOT || error == ENOMEM || error == EMFILE)
    return StatusCode::ResourceExhausted;
  if (error == EISDIR)
    return StatusCode::Unavailable;
  return StatusCode::Unknown;
}

Status systemError(const std::string &path, int error) {
  return Status(codeOf(error), path + ": " + std::generic_category().message(error));
}

} // namespace

StatusOr<File> File::open(const std::string &path) {
  // Not blocking: a pipe without a writer must be an error, not a wait.
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0)
    return systemError(path, errno);
  struct stat status;
  if (fstat(descriptor, &status) != 0) {
    Status failure = systemError(path, errno);
    close(descriptor);
    return failure;
  }
  if (!S_ISREG(status.st_mode)) {
    close(descriptor);
    return invalidArgumentError(path + ": not a regular file");
  }
  return File(path, descriptor, static_cast<uint64_t>(status.st_size));
}

File::File(File &&other) noexcept
    : name(std::move(other.name)), descriptor(std::exchange(other.descriptor, -1)),
      length(other.length) {}

File::~File() {
  if (descriptor >= 0)
    close(descriptor);
}

Status File::read(uint64_t offset, std::span<std::byte> out) const {
  while (!out.empty()) {
    ssize_t got = pread(descriptor, out.data(), out.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return systemError(name, errno);
    if (got == 0)
      return dataLossError(name + ": the file ends too early");
    offset += static_cast<uint64_t>(got);
    out = out.subspan(static_cast<size_t>(got));
  }
  return okStatus();
}

StatusOr<Mapping> File::map() const {
  using Bytes = const std::span<const std::byte>;
  if (length == 0)
    return std::make_shared<Bytes>();
  void *memory = mmap(nullptr, length, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (memory == MAP_FAILED)
    return systemError(name, errno);
  auto unmap = [](Bytes *bytes) {
    munmap(const_cast<std::byte *>(bytes->data()), bytes->size());
    delete bytes;
  };
  return std::shared_ptr<Bytes>(new Bytes(static_cast<const std::byte *>(memory), length), unmap);
}

namespace {
void releaseMapping(void *user, void *) { delete static_cast<Mapping *>(user); }
} // namespace

StatusOr<runtime::Buffer> wrapMapping(const Mapping &mapping, std::span<const std::byte> elements,
                                      runtime::ElementType type, std::span<const int64_t> shape) {
  auto *keep = new Mapping(mapping);
  StatusOr<runtime::Buffer> buffer =
      runtime::Buffer::wrapUnaligned(const_cast<std::byte *>(elements.data()), type, shape,
                                     /*readOnly=*/true, releaseMapping, keep);
  if (!buffer.ok())
    delete keep;
  return buffer;
}

void dropPages(const runtime::Buffer &buffer) {
  if (!buffer.isReleasedBy(releaseMapping))
    return;
  // Pages that a neighbour has a part of stay.
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<uintptr_t>(buffer.data());
  const uintptr_t first = (begin + page - 1) / page * page;
  const uintptr_t end = (begin + buffer.bytes()) / page * page;
  if (end > first)
    (void)madvise(reinterpret_cast<void *>(first), end - first, MADV_DONTNEED);
}

StatusOr<std::string> readWhole(const std::string &path) {
  auto fail = [&](StatusCode code, const std::string &reason) {
    return Status(code, "cannot read '" + path + "': " + reason);
  };
  auto systemFail = [&](int error) {
    return fail(codeOf(error), std::generic_category().message(error));
  };
  // Not blocking: a pipe without a writer is waited for no longer than others.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0)
    return systemFail(errno);
  struct Closer {
    int descriptor;
    ~Closer() { close(descriptor); }
  } closer{descriptor};
  struct stat status;
  if (fstat(descriptor, &status) != 0)
    return systemFail(errno);
  if (S_ISDIR(status.st_mode))
    return systemFail(EISDIR);
  if (!S_ISREG(status.st_mode) && !S_ISFIFO(status.st_mode))
    return fail(StatusCode::InvalidArgument, "it is neither a file nor a pipe");
  // What the system makes up, below /proc, is a file of no size.
  const bool isSized = S_ISREG(status.st_mode) && status.st_size > 0;
  const size_t most = isSized ? std::numeric_limits<size_t>::max() : maxPipeBytes;
  size_t piece = isSized ? static_cast<size_t>(status.st_size) + 1 : size_t(1) << 16;
  std::string text;
  while (text.size() <= most) {
    pollfd waiting{descriptor, POLLIN, 0};
    if (poll(&waiting, 1, static_cast<int>(std::chrono::milliseconds(pipePatience).count())) == 0)
      return fail(StatusCode::DeadlineExceeded,
                  "nothing came for " + std::to_string(pipePatience.count()) + " s");
    const size_t have = text.size();
    text.resize(have + piece);
    const ssize_t got = ::read(descriptor, text.data() + have, piece);
    const int error = errno;
    text.resize(have + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0)
      return text;
    if (got < 0 && error != EINTR && error != EAGAIN)
      return systemFail(error);
    piece = size_t(1) << 16;
  }
  return fail(StatusCode::ResourceExhausted,
              "more than " + std::to_string(maxPipeBytes) + " bytes came");
}

Status writeFile(const std::string &path, std::span<const std::span<const std::byte>> pieces) {
  const WithoutFileSizeSignal shield;
  std::FILE *file = std::fopen(path.c_str(), "wbe");
  if (!file)
    return systemError(path, errno);
  int error = 0;
  for (std::span<const std::byte> piece : pieces) {
    if (!error && !piece.empty() && std::fwrite(piece.data(), piece.size(), 1, file) != 1)
      error = errno;
  }
  if (std::fclose(file) != 0 && !error)
    error = errno;
  if (!error)
    return okStatus();
  struct stat status;
  if (stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode))
    unlink(path.c_str());
  return systemError(path, error);
}

} // namespace plim::io
