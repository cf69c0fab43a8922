// A module that doubles a thousand numbers, for tests of hosts that lack something.
#pragma once

#include "plimsoll/plimsoll.h"

#include <cstdio>
#include <cstdlib>

namespace twice {

inline constexpr char source[] = R"(
func.func @twice(%x: tensor<1000xf32>) -> tensor<1000xf32> {
  %r = arith.addf %x, %x : tensor<1000xf32>
  return %r : tensor<1000xf32>
}
)";

/// Was it ok? Releases the status, and says why not where PLIM_VERBOSE is set.
inline bool ended(plim_status *status) {
  if (!status)
    return true;
  if (std::getenv("PLIM_VERBOSE"))
    std::fprintf(stderr, "  %s\n", plim_status_message(status));
  plim_status_release(status);
  return false;
}

/// A call; wrong results end the process.
inline bool call(plim_engine *engine, plim_module *module) {
  plim_function *function = nullptr;
  plim_buffer *x = nullptr;
  const int64_t shape[] = {1000};
  bool isOk = ended(plim_module_function(module, "twice", &function)) &&
              ended(plim_buffer_allocate(engine, PLIM_F32, 1, shape, &x));
  if (isOk) {
    auto *elements = static_cast<float *>(plim_buffer_mutable_data(x));
    for (int i = 0; i < 1000; ++i)
      elements[i] = static_cast<float>(i);
    plim_value argument = plim_value_buffer(x), result;
    isOk = ended(plim_function_call(function, &argument, 1, &result, 1, nullptr));
    if (isOk) {
      if (static_cast<const float *>(plim_buffer_data(result.as.buffer))[999] != 1998)
        std::abort();
      plim_value_release(&result);
    }
  }
  plim_buffer_release(x);
  plim_function_release(function);
  return isOk;
}

} // namespace twice
