// Values of the command line: no text may do more than fail, and what is read prints as text that
// reads as the same value.

#include "tools/io/ValueText.h"

#include "engine/runtime/MemoryPool.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

using plim::StatusOr;
using plim::runtime::MemoryPool;
using plim::runtime::Value;

// The entry point has the name and signature that libFuzzer looks for.
// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const auto pool = std::make_shared<MemoryPool>();
  std::string_view text(reinterpret_cast<const char *>(data), size);
  // A file is another fuzzer's; a long shape would only measure memory.
  if (text.find('@') != text.npos || std::min(text.find('='), text.size()) > 9)
    return 0;
  StatusOr<Value> value = plim::tools::parseValue(text, pool);
  if (!value.ok())
    return 0;
  std::string printed = plim::tools::printValue(*value);
  StatusOr<Value> again = plim::tools::parseValue(printed, pool);
  if (!again.ok() || plim::tools::printValue(*again) != printed)
    std::abort();
  return 0;
}
