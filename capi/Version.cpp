#include "plimsoll/version.h"

#include "capi/Border.h"

#include <string>

using namespace plim;
using namespace plim::capi;

#define PLIM_TEXT_INNER(number) #number
#define PLIM_TEXT(number) PLIM_TEXT_INNER(number)
#define PLIM_VERSION_TEXT                                                                          \
  PLIM_TEXT(PLIM_VERSION_MAJOR)                                                                    \
  "." PLIM_TEXT(PLIM_VERSION_MINOR) "." PLIM_TEXT(PLIM_VERSION_PATCH)

extern "C" {

uint32_t plim_version(void) { return PLIM_VERSION; }

const char *plim_version_string(void) { return PLIM_VERSION_TEXT; }

plim_status *plim_version_check(uint32_t version) {
  return enter([&]() -> Status {
    uint32_t major = version >> 16, minor = version >> 8 & 0xff;
    // Before 1.0 a minor version may change anything.
    bool fits =
        major == PLIM_VERSION_MAJOR && (PLIM_VERSION_MAJOR != 0 || minor == PLIM_VERSION_MINOR);
    if (fits)
      return okStatus();
    return Status(StatusCode::FailedPrecondition,
                  "the host was compiled for version " + std::to_string(major) + "." +
                      std::to_string(minor) + ", but this library is " PLIM_VERSION_TEXT);
  });
}

} // extern "C"
