#include "support/Trace.h"

#include "support/Json.h"

#include <cstdio>
#include <ostream>
#include <utility>

namespace plim {

namespace {

using Kind = Profiler::Kind;

void writeMicroseconds(int64_t nanoseconds, std::ostream &out) {
  char text[32];
  std::snprintf(text, sizeof text, "%lld.%03d", static_cast<long long>(nanoseconds / 1000),
                static_cast<int>(nanoseconds % 1000));
  out << text;
}

void writeArguments(const Profiler::Span &span, std::ostream &out) {
  bool isFirst = true;
  auto begin = [&](std::string_view name) -> std::ostream & {
    return out << (std::exchange(isFirst, false) ? "" : ",") << '"' << name << "\":";
  };
  out << ",\"args\":{";
  std::string_view location = span.what->location;
  if (location.ends_with(": "))
    location.remove_suffix(2);
  if (!location.empty())
    writeJsonString(location, begin("source"));
  if (span.what->kind == Kind::Range) {
    begin("first") << span.firstWorkgroup;
    begin("last") << span.lastWorkgroup - 1;
  }
  if (span.lastWorkgroup > span.firstWorkgroup)
    begin("workgroups") << span.lastWorkgroup - span.firstWorkgroup;
  out << '}';
}

void writeSpan(const Profiler::Span &span, std::ostream &out) {
  const Kind kind = span.what->kind;
  out << "{\"name\":";
  writeJsonString(kind == Kind::Memory ? "memory in use, bytes" : span.what->name, out);
  out << ",\"ph\":\"" << (kind == Kind::Memory ? 'C' : 'X')
      << "\",\"pid\":1,\"tid\":" << span.row + 1 << ",\"ts\":";
  writeMicroseconds(span.begin, out);
  if (kind == Kind::Memory) {
    out << ",\"args\":{\"buffers\":" << span.memory.buffers
        << ",\"workspaces\":" << span.memory.workspaces << ",\"scratch\":" << span.memory.scratch
        << '}';
  } else {
    out << ",\"dur\":";
    writeMicroseconds(span.end - span.begin, out);
    out << ",\"cat\":\"" << Profiler::kindName(kind) << '"';
    writeArguments(span, out);
  }
  out << '}';
}

} // namespace

void writeTrace(const Profiler &profiler, std::ostream &out) {
  const Profiler::Snapshot snapshot = profiler.snapshot();
  out << "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"dropped_spans\":" << snapshot.droppedSpans
      << "},\"traceEvents\":[\n"
         "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1,\"args\":{\"name\":\"plimsoll\"}}";
  for (size_t i = 0; i < snapshot.rows.size(); ++i) {
    out << ",\n{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":1,\"tid\":" << i + 1
        << ",\"args\":{\"name\":";
    writeJsonString(snapshot.rows[i], out);
    out << "}}";
  }
  for (const Profiler::Span &span : snapshot.spans) {
    out << ",\n";
    writeSpan(span, out);
  }
  out << "\n]}\n";
}

} // namespace plim
