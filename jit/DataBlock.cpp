#include "jit/DataBlock.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/xxhash.h"

#include <sys/mman.h>
#include <unistd.h>

namespace plim::jit {

namespace {

SharedBytes unmappedAtTheEnd(void *memory, size_t bytes) {
  std::shared_ptr<const void> owner(
      memory, [bytes](const void *base) { munmap(const_cast<void *>(base), bytes); });
  return {std::move(owner), std::string_view(static_cast<const char *>(memory), bytes)};
}

} // namespace

void ContentHasher::update(std::string_view piece) {
  auto hash = llvm::xxh3_128bits(
      llvm::ArrayRef(reinterpret_cast<const uint8_t *>(piece.data()), piece.size()));
  // What came before, its length included, is part of the next value.
  const uint64_t chain[] = {state.low, state.high, hash.low64, hash.high64, piece.size()};
  hash = llvm::xxh3_128bits(llvm::ArrayRef(reinterpret_cast<const uint8_t *>(chain), sizeof chain));
  state = {hash.low64, hash.high64};
}

ContentHash hashContents(std::string_view bytes) {
  ContentHasher hasher;
  for (size_t done = 0; done < bytes.size(); done += ContentHasher::pieceBytes)
    hasher.update(bytes.substr(done, ContentHasher::pieceBytes));
  return hasher.result();
}

int64_t blockThreshold() {
  static const int64_t bytes = sysconf(_SC_PAGESIZE);
  return bytes;
}

std::optional<SharedBytes> makePages(size_t bytes, const std::function<void(char *)> &fill) {
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return std::nullopt;
  SharedBytes pages = unmappedAtTheEnd(memory, bytes);
  fill(static_cast<char *>(memory));
  if (mprotect(memory, bytes, PROT_READ) != 0)
    return std::nullopt;
  return pages;
}

std::optional<SharedBytes> mapFile(int descriptor, size_t bytes) {
  void *memory = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (memory == MAP_FAILED)
    return std::nullopt;
  return unmappedAtTheEnd(memory, bytes);
}

} // namespace plim::jit
