// Trace: the spans of a profiler as a file in the Chrome trace-event format, which ui.perfetto.dev and
// chrome://tracing read.
//
// One JSON object: a row for each thread, a complete event ("X") for each span, a counter ("C") for memory
// in use, times in microseconds. Dispatches carry their source location and workgroups. What was dropped is
// in "otherData". Any thread; the profiler may be in use.
#pragma once

#include "support/Profiler.h"

#include <iosfwd>

namespace plim {

/// Whether all could be written is the stream's state.
void writeTrace(const Profiler &profiler, std::ostream &out);

} // namespace plim
