#include "support/Profiler.h"

#include "support/Trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <atomic>
#include <sstream>
#include <thread>
#include <vector>

namespace plim {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;
using Kind = Profiler::Kind;

json traceOf(const Profiler &profiler) {
  std::ostringstream out;
  writeTrace(profiler, out);
  return json::parse(out.str());
}

std::vector<json> eventsOf(const Profiler &profiler, const std::string &phase) {
  std::vector<json> events;
  const json trace = traceOf(profiler);
  for (const json &event : trace["traceEvents"])
    if (event["ph"] == phase)
      events.push_back(event);
  return events;
}

TEST(Profiler, CountsRuns) {
  Profiler profiler;
  Profiler::Subject &subject = profiler.subject(Kind::Dispatch, "a", "in.mlir:1:2: ");
  profiler.count(subject, 30, {4, 100});
  profiler.count(subject, 10, {2, 0});
  profiler.count(subject, 20, {3, 11});
  std::vector<Profiler::Counter> counters = profiler.counters();
  ASSERT_THAT(counters, SizeIs(1));
  EXPECT_EQ(counters[0].kind, Kind::Dispatch);
  EXPECT_EQ(counters[0].name, "a");
  EXPECT_EQ(counters[0].location, "in.mlir:1:2: ");
  EXPECT_EQ(counters[0].runs, 3U);
  EXPECT_EQ(counters[0].workgroups, 9U);
  EXPECT_EQ(counters[0].bytes, 111U);
  EXPECT_EQ(counters[0].totalNanoseconds, 60);
  EXPECT_EQ(counters[0].minNanoseconds, 10);
  EXPECT_EQ(counters[0].maxNanoseconds, 30);
}

TEST(Profiler, TellsSubjectsApartByKindNameAndLocation) {
  Profiler profiler;
  std::string name = "a";
  Profiler::Subject *first = &profiler.subject(Kind::Dispatch, name, "x");
  name = "b"; // it has a copy
  EXPECT_EQ(first, &profiler.subject(Kind::Dispatch, "a", "x"));
  EXPECT_NE(first, &profiler.subject(Kind::Range, "a", "x"));
  EXPECT_NE(first, &profiler.subject(Kind::Dispatch, "a", "y"));
  EXPECT_NE(first, &profiler.subject(Kind::Dispatch, "b", "x"));
}

TEST(Profiler, NoProfilerNoSpan) {
  ProfilerSpan span(nullptr, Kind::Call, "nothing");
  EXPECT_THAT(Profiler().counters(), IsEmpty());
}

TEST(Profiler, WritesATraceOfNestedSpans) {
  Profiler profiler;
  {
    ProfilerSpan outer(&profiler, Kind::Call, "outer", "in.mlir:3:4: ");
    ProfilerSpan inner(&profiler, Kind::Dispatch, "first name", nullptr, {7, 0});
    inner.rename("inner");
  }
  profiler.keep(profiler.subject(Kind::Range, "inner"), 1234567, 1234999, 3, 5);
  profiler.noteMemory({1, 2, 3});
  profiler.noteMemory({1, 2, 3}); // nothing new
  profiler.noteMemory({1, 2, 4});
  json trace = traceOf(profiler);
  EXPECT_EQ(trace["otherData"]["dropped_spans"], 0);
  std::vector<json> spans = eventsOf(profiler, "X");
  ASSERT_THAT(spans, SizeIs(3));
  auto named = [&](const std::string &name, const std::string &category) {
    for (const json &span : spans)
      if (span["name"] == name && span["cat"] == category)
        return span;
    ADD_FAILURE() << "no " << category << " " << name;
    return json();
  };
  json outer = named("outer", "call"), inner = named("inner", "dispatch"),
       range = named("inner", "range");
  EXPECT_EQ(outer["args"], json({{"source", "in.mlir:3:4"}}));
  EXPECT_EQ(inner["args"], json({{"workgroups", 7}}));
  EXPECT_EQ(range["args"], json({{"first", 3}, {"last", 4}, {"workgroups", 2}}));
  EXPECT_DOUBLE_EQ(range["ts"].get<double>(), 1234.567);
  EXPECT_DOUBLE_EQ(range["dur"].get<double>(), 0.432);
  EXPECT_LE(outer["ts"].get<double>(), inner["ts"].get<double>());
  EXPECT_EQ(outer["tid"], inner["tid"]);

  std::vector<json> memory = eventsOf(profiler, "C");
  ASSERT_THAT(memory, SizeIs(2));
  EXPECT_EQ(memory[1]["args"], json({{"buffers", 1}, {"workspaces", 2}, {"scratch", 4}}));
  bool isNamed = false;
  for (const json &event : eventsOf(profiler, "M"))
    isNamed |= event["name"] == "thread_name" && event["args"]["name"] == "caller 1";
  EXPECT_TRUE(isNamed);
}

TEST(Profiler, NamesThatAreNoJsonAreEscaped) {
  Profiler profiler;
  const std::string name =
      "q\"b\\n\nt\tz\x01 \xc3\xa9 \xff\xc0\xaf \xed\xa0\x80 \xf0\x9f\x9a\xa2 \xe2\x82";
  {
    ProfilerSpan span(&profiler, Kind::Call, name.c_str());
  }
  std::string text = eventsOf(profiler, "X").at(0)["name"];
  // Each byte that belongs to no character is one U+FFFD.
  const std::string bad = "\xef\xbf\xbd";
  EXPECT_EQ(text, "q\"b\\n\nt\tz\x01 \xc3\xa9 " + bad + bad + bad + " " + bad + bad + bad +
                      " \xf0\x9f\x9a\xa2 " + bad + bad);
}

TEST(Profiler, DropsAndCountsWhatDoesNotFit) {
  Profiler profiler(100);
  constexpr uint64_t runs = 3000000;
  Profiler::Subject &subject = profiler.subject(Kind::Dispatch, "a");
  for (uint64_t i = 0; i < runs; ++i) {
    profiler.count(subject, 1);
    profiler.keep(subject, static_cast<int64_t>(i), static_cast<int64_t>(i) + 1);
  }
  Profiler::Snapshot snapshot = profiler.snapshot();
  EXPECT_GE(snapshot.spans.size(), 100U);
  EXPECT_LT(snapshot.spans.size(), 200U);
  EXPECT_EQ(snapshot.spans.size() + snapshot.droppedSpans, runs);
  EXPECT_EQ(profiler.counters().at(0).runs, runs);
  EXPECT_EQ(traceOf(profiler)["otherData"]["dropped_spans"], snapshot.droppedSpans);
}

TEST(Profiler, WithoutSpansCountsAlone) {
  Profiler profiler(0);
  {
    ProfilerSpan span(&profiler, Kind::Call, "a");
  }
  EXPECT_EQ(profiler.counters().at(0).runs, 1U);
  EXPECT_THAT(profiler.snapshot().spans, IsEmpty());
  EXPECT_EQ(profiler.droppedSpans(), 1U);
}

TEST(Profiler, KeepsSpansHoweverManyAreAskedFor) {
  Profiler profiler(SIZE_MAX);
  for (int i = 0; i < 100; ++i)
    ProfilerSpan span(&profiler, Kind::Call, "a");
  EXPECT_EQ(profiler.snapshot().spans.size(), 100U);
  EXPECT_EQ(profiler.droppedSpans(), 0U);
}

TEST(Profiler, NamesBeyondTheLimitAreCountedTogether) {
  Profiler profiler(0);
  constexpr size_t names = Profiler::maxNames + 500;
  for (int round = 0; round < 2; ++round)
    for (size_t i = 0; i < names; ++i)
      profiler.count(profiler.subject(Kind::Compile, "job " + std::to_string(i)), 1);
  std::vector<Profiler::Counter> counters = profiler.counters();
  EXPECT_LE(counters.size(), Profiler::maxNames + 1);
  uint64_t runs = 0;
  for (const Profiler::Counter &counter : counters) {
    runs += counter.runs;
    EXPECT_TRUE(counter.runs == 2 || counter.name == "other") << counter.name;
  }
  EXPECT_EQ(runs, 2 * names);
}

TEST(Profiler, ThreadsHaveRowsOfTheirOwnWhileOthersRead) {
  Profiler profiler;
  constexpr int threads = 4, runs = 2000;
  std::atomic<int> running{threads};
  std::vector<std::thread> workers;
  for (int t = 0; t < threads; ++t)
    workers.emplace_back([&] {
      Profiler::nameThread("worker");
      for (int i = 0; i < runs; ++i) {
        ProfilerSpan outer(&profiler, Kind::Call, "outer");
        ProfilerSpan inner(&profiler, Kind::Dispatch, i % 2 == 0 ? "even" : "odd");
      }
      running.fetch_sub(1);
    });
  while (running.load() != 0)
    for (const Profiler::Span &span : profiler.snapshot().spans)
      ASSERT_LE(span.begin, span.end);
  for (std::thread &worker : workers)
    worker.join();
  Profiler::Snapshot snapshot = profiler.snapshot();
  EXPECT_THAT(snapshot.spans, SizeIs(2 * threads * runs));
  EXPECT_THAT(snapshot.rows, SizeIs(::testing::Le(threads)));
  for (const std::string &row : snapshot.rows)
    EXPECT_THAT(row, StartsWith("worker "));
  uint64_t total = 0;
  for (const Profiler::Counter &counter : profiler.counters())
    total += counter.runs;
  EXPECT_EQ(total, 2U * threads * runs);
}

TEST(Profiler, ThreadsThatComeAndGoNeedNoMoreRowsThanRunAtOnce) {
  Profiler profiler;
  for (int i = 0; i < 3000; ++i)
    std::thread([&] { ProfilerSpan span(&profiler, Kind::Call, "a"); }).join();
  Profiler::Snapshot snapshot = profiler.snapshot();
  EXPECT_EQ(snapshot.spans.size() + snapshot.droppedSpans, 3000U);
  EXPECT_EQ(profiler.counters().at(0).runs, 3000U);
}

} // namespace
} // namespace plim
