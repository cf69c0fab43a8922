#include "tools/ExplainSummary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace plim::tools {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// "3 x abc, d": count, names of the first, for each repetition.
std::string repetitions(const std::vector<std::string> &names) {
  std::string text;
  for (const Repetition &each : repetitionsIn(names)) {
    text += text.empty() ? "" : ", ";
    if (each.count > 1)
      text += std::to_string(each.count) + " x ";
    for (size_t i = 0; i < each.length; ++i)
      text += names[each.begin + i];
  }
  return text;
}

TEST(Repetitions, AreLayers) {
  EXPECT_EQ(repetitions({}), "");
  EXPECT_EQ(repetitions({"a"}), "a");
  EXPECT_EQ(repetitions({"a", "b", "c", "b", "c", "d"}), "a, 2 x bc, d");
  EXPECT_EQ(repetitions({"a", "b", "b", "a", "b", "b", "a", "b", "b", "c"}), "3 x abb, c");
  EXPECT_EQ(repetitions({"a", "a", "a", "a"}), "4 x a");
  // Two equal ones side by side are shown as they are.
  EXPECT_EQ(repetitions({"a", "b", "b", "c"}), "a, b, b, c");
  EXPECT_EQ(repetitions({"a", "b", "a"}), "a, b, a");
}

std::string summary(const std::string &report) {
  llvm::Expected<llvm::json::Value> parsed = llvm::json::parse(report);
  if (!parsed)
    return llvm::toString(parsed.takeError());
  std::ostringstream out;
  printSummary(summaryOf(*parsed->getAsObject(), costOf(*parsed->getAsObject())), out);
  return out.str();
}

/// A report of one function with these dispatches.
std::string withDispatches(const std::string &dispatches) {
  return R"({"functions": [{"name": "f", "workspace_bytes": 2048, "dispatches": [)" + dispatches +
         R"(]}], "stack": {"functions": [{"name": "f", "proven": 512}]}})";
}

TEST(Summary, CountsDispatchesAndBytes) {
  const std::string text = summary(withDispatches(R"(
    {"name": "d", "bindings": [{"type": "memref<4x8xf32>"}, {"type": "memref<16xi1>"}, {"type": "memref<f64>"}]},
    {"name": "d", "bindings": [{"type": "memref<4xbf16, strided<[2], offset: 3>>"}]},
    {"name": "e", "bindings": [{"type": "memref<2xcomplex<f32>>"}, {"type": "memref<3xindex>"},
                               {"type": "memref<3xf8E4M3FN>"}]})"));
  // 128 + 16 + 8, 8, 16 + 24 + 3
  EXPECT_EQ(text, "summary\n"
                  "  dispatches      3, of 2 kinds\n"
                  "  bytes           203 B, each buffer of a dispatch once\n"
                  "  peak of a call  2 KiB of workspace, 512 B of stack\n"
                  "  copies          none\n"
                  "  time            not known before it runs\n"
                  "  to try          explain --policies for what each policy would cost\n"
                  "                  profile for times against what the machine can do, and when "
                  "they were\n");
}

TEST(Summary, SaysWhatOnlyTheCallKnows) {
  EXPECT_THAT(
      summary(withDispatches(
          R"({"name": "d", "bindings": [{"type": "memref<?x8xf32>"}, {"type": "memref<16xi8>"}]})")),
      HasSubstr("  bytes           at least 16 B, "));
  EXPECT_THAT(summary(withDispatches(R"({"name": "d", "bindings": [{"type": "memref<?xf32>"}]})")),
              HasSubstr("  bytes           known at the call, "));
  EXPECT_THAT(summary(R"({"allocations": [{"slot": 0, "scope": "global.workspace"}]})"),
              HasSubstr("  peak of a call  workspace that is planned at the call, "));
}

TEST(Summary, SaysWhatToTry) {
  const std::string text = summary(R"({"functions": [{"dispatches": [
      {"name": "d", "refusal": "cuda0: no"}, {"name": "e", "refusal": "cuda0: never"}]}],
    "allocations": [{"scope": "global", "reason": "nobody knows"},
                    {"scope": "global", "reason": "it may outlive the block that allocates it"}],
    "copies": [{"type": "memref<256xf32>"}, {"type": "memref<?xf32>"}]})");
  EXPECT_THAT(text, AllOf(HasSubstr("  copies          2, of at least 1 KiB\n"),
                          HasSubstr("look at the copies below"),
                          HasSubstr("see why 2 dispatches are not on cuda0\n"),
                          HasSubstr("give 1 buffer that has no bound one with plim.max_bytes"),
                          HasSubstr("2 buffers from the allocator")));
  EXPECT_THAT(summary("{}"), Not(HasSubstr("copies below")));
}

TEST(Summary, TrustsNoType) {
  for (const char *type :
       {"", "memref<", "memref<x", "memref<*xf32>", "memref<99999999999999999999xf32>",
        "memref<9000000000x9000000000x9xf32>", "memref<4000000000x4000000000xf64>", "memref<4xf>",
        "tensor<4xf32>"})
    EXPECT_THAT(summary(R"({"copies": [{"type": ")" + std::string(type) + "\"}]}"),
                HasSubstr("1, of which the bytes are known at the call"))
        << type;
}

} // namespace
} // namespace plim::tools
