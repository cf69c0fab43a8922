// Target descriptions from files: no text may do more than fail, what is read must survive a round
// trip, and overriding a field must leave a valid description or none.

#include "targets/TargetDescription.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

using plim::StatusOr;
using plim::targets::TargetDescription;

// The entry point has the name and signature that libFuzzer looks for.
// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view text(reinterpret_cast<const char *>(data), size);
  // The first line, if there are several, is an assignment.
  size_t lineEnd = text.find('\n');
  std::string_view assignment;
  if (lineEnd != std::string_view::npos && text.substr(0, lineEnd).find('=') != text.npos) {
    assignment = text.substr(0, lineEnd);
    text.remove_prefix(lineEnd + 1);
  }

  StatusOr<TargetDescription> target = plim::targets::fromJson(text);
  if (!target.ok())
    return 0;
  StatusOr<TargetDescription> again = plim::targets::fromJson(plim::targets::toJson(*target));
  if (!again.ok() || *again != *target)
    std::abort();

  TargetDescription changed = *target;
  if (!plim::targets::overrideField(changed, assignment).ok() && changed != *target)
    std::abort();
  return 0;
}
