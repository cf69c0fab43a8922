// Reports and bytes: what the library tells, and what it writes (report.h, bytes.h).
#pragma once

#include "plimsoll/bytes.h"
#include "plimsoll/handle.hpp"
#include "plimsoll/report.h"

#include <cstddef>
#include <span>
#include <string_view>

namespace plimsoll {

/// A plim_report: what the library tells of itself. It never changes.
class Report : public detail::Handle<plim_report, plim_report_retain, plim_report_release> {
public:
  using Handle::Handle;
  /// JSON. Lives as long as the report.
  std::string_view text() const { return {plim_report_text(get()), plim_report_size(get())}; }
};

/// plim_bytes: what was written for a file or another program. They never change.
class Bytes : public detail::Handle<plim_bytes, plim_bytes_retain, plim_bytes_release> {
public:
  using Handle::Handle;
  /// Lives as long as the object.
  std::span<const std::byte> data() const {
    return {static_cast<const std::byte *>(plim_bytes_data(get())), plim_bytes_size(get())};
  }
  /// The same as characters.
  std::string_view text() const {
    return {static_cast<const char *>(plim_bytes_data(get())), plim_bytes_size(get())};
  }
};

} // namespace plimsoll
