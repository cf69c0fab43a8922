// Texts of StableHLO: no bytes may do more than fail, with one message.

#include "importers/stablehlo/Stablehlo.h"

#include "importers/emit/Error.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

// The entry point has the name and signature that libFuzzer looks for.
// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace plim::importers;
  const std::string_view text(reinterpret_cast<const char *>(data), size);
  stablehlo::isStablehlo(text);
  try {
    stablehlo::import(text);
  } catch (const ImportError &error) {
    if (std::string_view(error.what()).find('\n') != std::string_view::npos)
      std::abort();
  }
  return 0;
}
