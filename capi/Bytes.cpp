#include "plimsoll/bytes.h"

#include "capi/Objects.h"

using namespace plim::capi;

extern "C" {

const void *plim_bytes_data(const plim_bytes *bytes) {
  return isLive(bytes) ? bytes->content.c_str() : nullptr;
}

size_t plim_bytes_size(const plim_bytes *bytes) {
  return isLive(bytes) ? bytes->content.size() : 0;
}

void plim_bytes_retain(plim_bytes *bytes) { retain(bytes); }
void plim_bytes_release(plim_bytes *bytes) { release(bytes); }

} // extern "C"
