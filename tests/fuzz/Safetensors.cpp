// Parameter files: no bytes may do more than fail, and every tensor of a good file can be read.

#include "engine/io/Safetensors.h"
#include "support/Hash.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

using plim::StatusOr;
using plim::io::SafetensorsFile;

// The entry point has the name and signature that libFuzzer looks for.
// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  int file = memfd_create("safetensors", MFD_CLOEXEC);
  if (file < 0 || write(file, data, size) != static_cast<ssize_t>(size))
    std::abort();
  StatusOr<SafetensorsFile> parameters =
      SafetensorsFile::open("/proc/self/fd/" + std::to_string(file));
  close(file);
  if (!parameters.ok())
    return 0;
  static volatile uint8_t touched = 0;
  for (const auto &[name, entry] : parameters->entries()) {
    StatusOr<plim::runtime::Buffer> tensor = parameters->tensor(name);
    if (!tensor.ok())
      std::abort();
    // Touches every byte that the entry claims.
    touched = touched ^ plim::hashBytes(entry.elements.data(), entry.elements.size()).bytes[0];
  }
  return 0;
}
