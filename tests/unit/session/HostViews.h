// What functions of the host get, as the tests of them read and write it.
#pragma once

#include "engine/abi/plim_abi.h"

#include <cstdint>

namespace plim::testing {

template <typename T> T &at(const plim_view &view, int64_t i = 0) {
  return static_cast<T *>(view.data)[i];
}

} // namespace plim::testing
