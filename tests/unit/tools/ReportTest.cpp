#include "tools/ExplainReport.h"
#include "tools/ReportPage.h"
#include "tools/Timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plim::tools {
namespace {

using llvm::json::Array;
using llvm::json::Object;
using ::testing::HasSubstr;
using ::testing::Not;

Object completed(const std::string &json, std::string_view source = "") {
  StatusOr<Object> report = parseReport(json);
  EXPECT_TRUE(report.ok());
  targets::TargetDescription target;
  target.name = "t";
  target.devices.emplace_back().description = "one ";
  const PolicyCosts costs = {{"auto", costOf(*report)}};
  completeReport(*report, {.module = "m.mlir", .source = source, .target = target, .costs = costs});
  return std::move(*report);
}

size_t linesOf(const Object &report) {
  return report.getObject("source")->getArray("lines")->size();
}

TEST(Report, HasTheSourceAsFarAsPeopleReadIt) {
  Object report = completed("{}", "a\n\nb");
  EXPECT_EQ(*report.getObject("source")->getArray("lines"), Array({"a", "", "b"}));
  EXPECT_EQ(linesOf(completed("{}", "a\n")), 1U);
  EXPECT_EQ(completed("{}").get("source"), nullptr);
  EXPECT_EQ(completed("{}", std::string_view("ML\xef\0", 4)).get("source"), nullptr);

  report = completed("{}", std::string(1000, 'x') + "\n\xff\n");
  const Array &lines = *report.getObject("source")->getArray("lines");
  EXPECT_EQ(lines[0].getAsString()->size(), 404U);
  EXPECT_EQ(*lines[1].getAsString(), "\xef\xbf\xbd"); // the replacement character

  report = completed("{}", std::string(20001, '\n'));
  EXPECT_EQ(linesOf(report), 20000U);
  EXPECT_EQ(report.getObject("source")->getBoolean("cut"), true);
}

TEST(Report, SaysWhatFollowsFromWhatTheCompilerLeft) {
  Object report = completed(R"({"functions": [{"name": "f", "dispatches": [
      {"name": "d", "bindings": [{"type": "memref<4xf32>"}, {"type": "memref<?xf32>"}]}, {"name": "d"}, {"name": "d"}]}],
      "allocations": [{"function": "f", "scope": "global.stack"},
        {"function": "f", "scope": "global.workspace", "bytes": 64, "offset": 64, "lifetime": [2, 5]},
        {"function": "f", "scope": "global.workspace", "bytes": 64, "offset": 0, "lifetime": [1, 3]}]})");
  EXPECT_EQ(report.getString("machine"), "one");
  const Object &function = *(*report.getArray("functions"))[0].getAsObject();
  EXPECT_EQ(*function.getArray("repetitions"),
            Array({Object{{"begin", 0}, {"length", 1}, {"count", 3}}}));
  const Array &bindings =
      *(*function.getArray("dispatches"))[0].getAsObject()->getArray("bindings");
  EXPECT_EQ(bindings[0].getAsObject()->getInteger("bytes"), 16);
  EXPECT_EQ(bindings[1].getAsObject()->getInteger("bytes"), std::nullopt);
  const Object &memory = *(*report.getArray("memories"))[0].getAsObject();
  EXPECT_EQ(*memory.getArray("buffers"), Array({2, 1}));
  EXPECT_EQ(memory.getInteger("fullest_position"), 2);
  EXPECT_EQ(memory.getInteger("lower_bound_bytes"), 128);
  EXPECT_FALSE(parseReport("{").ok());
}

TEST(Page, HasModulesAsDataAlone) {
  const std::string page =
      pageOf(completed(R"({"functions": [{"name": "</script><b>@POLICY@"}]})"));
  EXPECT_THAT(page, HasSubstr(R"("name":"\u003c/script>\u003cb>@POLICY@")"));
  EXPECT_THAT(page, Not(HasSubstr("@STYLE@")));
  EXPECT_THAT(page, HasSubstr("default-src 'none'; script-src 'sha256-"));
  EXPECT_THAT(page, HasSubstr("Permission is hereby granted")); // of the library
}

TEST(Page, SaysWhenItCannotBeWritten) {
  EXPECT_THAT(std::string(writePage({}, "/no/such/folder/page.html").message()),
              HasSubstr("cannot write '/no/such/folder/page.html': No such file"));
  EXPECT_THAT(std::string(writePage({}, "/dev/full").message()),
              HasSubstr("cannot write '/dev/full'"));
}

TEST(Timeline, LeavesOutTheMiddle) {
  Profiler profiler;
  Profiler::Subject &subject = profiler.subject(Profiler::Kind::Range, "d", "f.mlir:1:2: ");
  for (int i = 0; i < 10; ++i)
    profiler.keep(subject, 10 * i, 10 * i + 5, i, i + 1);
  profiler.noteMemory({.buffers = 1});
  Object timeline = timelineOf(profiler.snapshot(), 4);
  EXPECT_EQ(*timeline.getArray("names"),
            Array({Object{{"kind", "range"}, {"name", "d"}, {"location", "f.mlir:1:2"}}}));
  EXPECT_EQ(*timeline.getArray("spans"),
            Array({Array{0, 0, 0, 5, 0, 1}, Array{0, 0, 10, 5, 1, 2}, Array{0, 0, 80, 5, 8, 9},
                   Array{0, 0, 90, 5, 9, 10}}));
  EXPECT_EQ(timeline.getInteger("left_out_spans"), 6);
  EXPECT_EQ(timelineOf(profiler.snapshot(), 10).getInteger("left_out_spans"), 0);
}

} // namespace
} // namespace plim::tools
