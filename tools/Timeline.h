// What a profiler kept of when what ran, as a report has it. Any thread; the profiler may be in use.
#pragma once

#include "support/Profiler.h"

#include "llvm/Support/JSON.h"

#include <string>

namespace plim::tools {

/// "file:line:column" of a counter, as reports have it.
std::string placeOf(const Profiler::Counter &counter);

/// "timeline" of docs/reference/report.md. Of more spans than `mostSpans` those in the middle are left out: a page has to stay small.
llvm::json::Object timelineOf(const Profiler::Snapshot &snapshot, size_t mostSpans);

} // namespace plim::tools
