// NumPy files: no bytes may do more than fail.

#include "engine/io/Npy.h"

#include "engine/runtime/MemoryPool.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

// The entry point has the name and signature that libFuzzer looks for.
// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const auto pool = std::make_shared<plim::runtime::MemoryPool>();
  int file = memfd_create("npy", MFD_CLOEXEC);
  if (file < 0 || write(file, data, size) != static_cast<ssize_t>(size))
    std::abort();
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  if (plim::io::readNpy(path, pool).ok() != plim::io::mapNpy(path).ok())
    std::abort();
  close(file);
  return 0;
}
