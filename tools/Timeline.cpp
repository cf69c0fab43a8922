#include "tools/Timeline.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace plim::tools {

using llvm::json::Array;
using llvm::json::Object;

std::string placeOf(const Profiler::Counter &counter) {
  llvm::StringRef place = counter.location;
  place.consume_back(": ");
  return place.str();
}

llvm::json::Object timelineOf(const Profiler::Snapshot &snapshot, size_t mostSpans) {
  std::vector<const Profiler::Span *> spans;
  for (const Profiler::Span &span : snapshot.spans)
    if (span.what->kind != Profiler::Kind::Memory)
      spans.push_back(&span);
  std::sort(spans.begin(), spans.end(), [](const auto *a, const auto *b) {
    return a->begin != b->begin ? a->begin < b->begin : a->end > b->end;
  });
  const size_t leftOut = spans.size() > mostSpans ? spans.size() - mostSpans : 0;
  if (leftOut > 0) {
    auto middle = spans.begin() + static_cast<std::ptrdiff_t>(mostSpans / 2);
    spans.erase(middle, middle + static_cast<std::ptrdiff_t>(leftOut));
  }
  std::unordered_map<const Profiler::Counter *, int64_t> indices;
  Array names, list, rows(snapshot.rows);
  for (const Profiler::Span *span : spans) {
    const Profiler::Counter &what = *span->what;
    auto [index, isNew] = indices.try_emplace(&what, static_cast<int64_t>(names.size()));
    if (isNew)
      names.push_back(Object{{"kind", std::string(Profiler::kindName(what.kind))},
                             {"name", llvm::json::fixUTF8(what.name)},
                             {"location", llvm::json::fixUTF8(placeOf(what))}});
    list.push_back(Array{index->second, int64_t(span->row), span->begin, span->end - span->begin,
                         span->firstWorkgroup, span->lastWorkgroup});
  }
  return Object{{"rows", std::move(rows)},
                {"names", std::move(names)},
                {"spans", std::move(list)},
                {"dropped_spans", static_cast<int64_t>(snapshot.droppedSpans)},
                {"left_out_spans", static_cast<int64_t>(leftOut)}};
}

} // namespace plim::tools
