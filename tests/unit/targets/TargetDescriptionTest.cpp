#include "targets/TargetDescription.h"

#include "tests/unit/targets/SampleTarget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace plim::targets {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

void expectFault(const Status &status, std::string_view message) {
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument) << status.toString();
  EXPECT_THAT(std::string(status.message()), HasSubstr(message));
}

void expectJsonFault(std::string_view json, std::string_view message) {
  SCOPED_TRACE(json);
  expectFault(fromJson(json).status(), message);
}

TEST(TargetJson, RoundTripsEveryField) {
  TargetDescription target = sampleTarget();
  StatusOr<TargetDescription> back = fromJson(toJson(target));
  ASSERT_TRUE(back.ok()) << back.status().toString();
  EXPECT_EQ(*back, target);
}

TEST(TargetJson, RoundTripsRandomTargets) {
  uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int i = 0; i < 500; ++i) {
    TargetDescription target = randomTarget(random);
    ASSERT_TRUE(verify(target).ok()) << verify(target).toString();
    StatusOr<TargetDescription> back = fromJson(toJson(target));
    ASSERT_TRUE(back.ok()) << back.status().toString();
    ASSERT_EQ(*back, target) << toJson(target);
  }
}

TEST(TargetJson, RandomBytesAreAnErrorOrATarget) {
  uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  std::string good = toJson(sampleTarget());
  for (int i = 0; i < 2000; ++i) {
    std::string text = good;
    for (int edits = 1 + random() % 4; edits > 0; --edits)
      text[random() % text.size()] = static_cast<char>(random());
    if (StatusOr<TargetDescription> target = fromJson(text); target.ok()) {
      EXPECT_TRUE(verify(*target).ok()) << text;
    }
  }
}

TEST(TargetJson, KeepsTheOrderOfTheStructs) {
  std::string json = toJson(sampleTarget());
  EXPECT_LT(json.find("\"triple\""), json.find("\"features\""));
  EXPECT_LT(json.find("\"devices\""), json.find("\"memories\""));
  EXPECT_THAT(json, HasSubstr("\n  \"devices\": [\n    {\n      \"name\": \"host\""));
}

TEST(TargetJson, AbsentKeysKeepTheirDefaults) {
  StatusOr<TargetDescription> target = fromJson(R"({"devices": [{"name": "host"}]})");
  ASSERT_TRUE(target.ok()) << target.status().toString();
  DeviceDescription expected;
  expected.name = "host";
  EXPECT_EQ(target->devices[0], expected);
}

TEST(TargetJson, SortsFeatures) {
  StatusOr<TargetDescription> target =
      fromJson(R"({"devices": [{"name": "host", "features": ["+b", "-a"]}]})");
  ASSERT_TRUE(target.ok()) << target.status().toString();
  EXPECT_THAT(target->devices[0].features, ElementsAre("-a", "+b"));
}

TEST(TargetJson, ReplacesBytesThatAreNotUtf8) {
  TargetDescription target = sampleTarget();
  target.devices[0].description = "caf\xe9";
  EXPECT_TRUE(fromJson(toJson(target)).ok());
}

TEST(TargetJson, NamesThePathOfAFault) {
  expectJsonFault("{", "parse error at line 1, column 2");
  expectJsonFault("[]", "target: expected an object, got array");
  expectJsonFault("{}", "devices: a target needs at least one device");
  expectJsonFault(R"({"devices": 1})", "devices: expected an array, got number");
  expectJsonFault(R"({"devices": [{"name": "a", "cores": "1"}]})",
                  "devices[0].cores: expected a whole number, got string");
  expectJsonFault(R"({"devices": [{"name": "a", "cores": 1.5}]})",
                  "devices[0].cores: expected a whole number");
  expectJsonFault(R"({"devices": [{"name": "a", "cores": 9223372036854775808}]})",
                  "devices[0].cores: does not fit in 64 bits");
  expectJsonFault(R"({"devices": [{"name": "a", "cores": 0}]})",
                  "devices[0].cores: must be at least 1");
  expectJsonFault(R"({"devices": [{"name": "a", "vector_bits": -1}]})",
                  "devices[0].vector_bits: must not be negative");
  expectJsonFault(R"({"devices": [{"name": "a", "stack_addressable": 1}]})",
                  "devices[0].stack_addressable: expected true or false, got number");
  expectJsonFault(R"({"devices": [{"name": "a", "colour": 1}]})", "devices[0].colour: unknown key");
  expectJsonFault(R"({"devices": [{"name": "a", "cores": 1, "cores": 2}]})",
                  "key \"cores\" is given twice");
  expectJsonFault(R"({"devices": [{"name": "a", "kind": "tpu"}]})",
                  "devices[0].kind: expected one of cpu, cuda, vulkan, npu");
  expectJsonFault(R"({"devices": [{"name": "a", "triple": null}]})",
                  "devices[0].triple: expected a string, got null");
  expectJsonFault(R"({"devices": [{"name": "a", "caches": [{"level": 1, "bytes": 1},
                                                           {"level": 2, "bytes": "x"}]}]})",
                  "devices[0].caches[1].bytes: expected a whole number");
  expectJsonFault(R"({"devices": [{"name": "a", "caches": [{"level": 1, "bytes": 0}]}]})",
                  "devices[0].caches[0].bytes: must be at least 1");
  expectJsonFault(R"({"devices": [{"name": ""}]})", "devices[0].name: must be letters");
  expectJsonFault(R"({"devices": [{"name": "plim.x"}]})", "devices[0].name: must not begin with");
  expectJsonFault(R"({"devices": [{"name": "a"}, {"name": "a"}]})",
                  "devices[1].name: \"a\" is given twice");
  expectJsonFault(R"({"devices": [{"name": "a", "features": ["avx2"]}]})",
                  "devices[0].features[0]: expected \"+name\" or \"-name\"");
  expectJsonFault(R"({"devices": [{"name": "a", "features": ["+avx2", "-avx2"]}]})",
                  "devices[0].features[1]: \"avx2\" is given more than once");
  expectJsonFault(R"({"devices": [{"name": "a", "huge_page_bytes": [1, 3]}]})",
                  "devices[0].huge_page_bytes[1]: must be a power of two");
  expectJsonFault(R"({"devices": [{"name": "a", "page_bytes": 3}]})",
                  "devices[0].page_bytes: must be 0 or a power of two");
  auto memory = [](const std::string &fields) {
    return R"({"devices": [{"name": "a"}], "memories": [{"name": "m", )" + fields + "}]}";
  };
  expectJsonFault(memory(R"("alignment": 48)"), "memories[0].alignment: must be a power of two");
  expectJsonFault(memory(R"("alignment": 0)"), "memories[0].alignment: must be a power of two");
  expectJsonFault(memory(R"("accessible_by": ["b"])"),
                  "memories[0].accessible_by[0]: there is no device \"b\"");
  expectJsonFault(memory(R"("accessible_by": ["a", "a"])"),
                  "memories[0].accessible_by[1]: \"a\" is given twice");
  expectJsonFault(memory(R"("read_gbps": -0.5)"), "memories[0].read_gbps: must be finite");
  expectJsonFault(memory(R"("read_gbps": "fast")"), "memories[0].read_gbps: expected a number");
  expectJsonFault(memory(R"("numa_node": -2)"), "memories[0].numa_node: must be a node number");
}

TEST(TargetJson, BoundsNesting) {
  std::string deep(100000, '[');
  expectJsonFault(deep, "");
  expectJsonFault(deep + std::string(100000, ']'), "nested too deep");
  expectJsonFault(std::string(16, '[') + "1" + std::string(16, ']'), "expected an object");
  expectJsonFault(std::string(17, '[') + "1" + std::string(17, ']'), "nested too deep");
  expectJsonFault(std::string(16, '[') + "{\"a\": 1, \"a\": 2}" + std::string(16, ']'),
                  "nested too deep");
  expectJsonFault(std::string(15, '[') + "{\"a\": 1, \"a\": 2}" + std::string(15, ']'),
                  "key \"a\" is given twice");
}

TEST(TargetVerify, FindsWhatJsonCannotSay) {
  TargetDescription target = sampleTarget();
  target.memories[0].readGBps = std::nan("");
  expectFault(verify(target), "memories[0].read_gbps: must be finite");
  target = sampleTarget();
  target.devices[1].kind = static_cast<DeviceKind>(17);
  expectFault(verify(target), "devices[1].kind: is not one of");
  target = sampleTarget();
  target.devices[0].features = {"+b", "+a"};
  expectFault(verify(target), "devices[0].features[1]: features must be sorted");
}

TEST(TargetFeatures, SetAndAsk) {
  DeviceDescription device;
  device.setFeature("sse", true);
  device.setFeature("avx", true);
  device.setFeature("bmi", false);
  EXPECT_THAT(device.features, ElementsAre("+avx", "-bmi", "+sse"));
  device.setFeature("avx", false);
  EXPECT_THAT(device.features, ElementsAre("-avx", "-bmi", "+sse"));
  EXPECT_TRUE(device.hasFeature("sse"));
  EXPECT_FALSE(device.hasFeature("avx"));
  EXPECT_FALSE(device.hasFeature("ss"));
}

TEST(TargetLookup, ByName) {
  TargetDescription target = sampleTarget();
  EXPECT_EQ(target.findDevice("cuda0"), &target.devices[1]);
  EXPECT_EQ(target.findDevice("cuda1"), nullptr);
  EXPECT_EQ(target.findMemory("dram"), &target.memories[0]);
  EXPECT_EQ(target.findMemory(""), nullptr);
}

TEST(TargetDescription, CodeForScalableVectorsNeedsTheirLength) {
  DeviceDescription device = sampleTarget().devices[0];
  device.features = {"+neon", "+sve"};
  for (auto [bits, feature] : {std::pair(0, ""), {128, ""}, {256, "sve256"}, {512, ""}}) {
    device.vectorBits = bits;
    EXPECT_EQ(device.scalableVectorFeature(), feature);
    EXPECT_EQ(device.scalableVectorBits(), *feature ? bits : 0);
  }
  device.vectorBits = 256;
  device.setFeature("sve", false);
  EXPECT_EQ(device.scalableVectorBits(), 0);
}

TEST(TargetOverride, EveryKindOfPath) {
  TargetDescription target = sampleTarget();
  auto set = [&](std::string_view assignment) {
    Status status = overrideField(target, assignment);
    EXPECT_TRUE(status.ok()) << status.toString();
  };
  set("vector_bits=256");
  EXPECT_EQ(target.devices[0].vectorBits, 256);
  set("devices.host.stack_budget_bytes=65536");
  EXPECT_EQ(target.devices[0].stackBudgetBytes, 65536);
  set("devices[1].cores=132");
  EXPECT_EQ(target.devices[1].cores, 132);
  set("devices.cuda0.subgroup_size=32");
  EXPECT_EQ(target.devices[1].subgroupSize, 32);
  set("memories.dram.bytes=1024");
  EXPECT_EQ(target.memories[0].bytes, 1024);
  set("memories.cuda0.global.read_gbps=3350.5");
  EXPECT_EQ(target.memories[1].readGBps, 3350.5);
  set("memories.cuda0.global.accessible_by=[\"cuda0\"]");
  EXPECT_THAT(target.memories[1].accessibleBy, ElementsAre("cuda0"));
  set("caches[1].bytes=1048576");
  EXPECT_EQ(target.devices[0].caches[1].bytes, 1 << 20);
  set("external_workspace_only=false");
  EXPECT_FALSE(target.devices[0].externalWorkspaceOnly);
}

TEST(TargetOverride, StringsAreBareOrQuoted) {
  TargetDescription target = sampleTarget();
  ASSERT_TRUE(overrideField(target, "tune_cpu=haswell").ok());
  EXPECT_EQ(target.devices[0].tuneCpu, "haswell");
  ASSERT_TRUE(overrideField(target, "tune_cpu=\"znver4\"").ok());
  EXPECT_EQ(target.devices[0].tuneCpu, "znver4");
  ASSERT_TRUE(overrideField(target, "description=a=b").ok());
  EXPECT_EQ(target.devices[0].description, "a=b");
  ASSERT_TRUE(overrideField(target, "cpu=").ok());
  EXPECT_EQ(target.devices[0].cpu, "");
  ASSERT_TRUE(overrideField(target, "kind=vulkan").ok());
  EXPECT_EQ(target.devices[0].kind, DeviceKind::Vulkan);
}

TEST(TargetOverride, FeaturesAreEditedOrReplaced) {
  TargetDescription target = sampleTarget();
  ASSERT_TRUE(overrideField(target, "features=-avx512f,+fma").ok());
  EXPECT_THAT(target.devices[0].features, ElementsAre("-amx-tile", "+avx2", "-avx512f", "+fma"));
  ASSERT_TRUE(overrideField(target, "features=[\"+sse\", \"+avx\"]").ok());
  EXPECT_THAT(target.devices[0].features, ElementsAre("+avx", "+sse"));
}

TEST(TargetOverride, NamesWithAPrefixInCommon) {
  TargetDescription target = sampleTarget();
  target.memories.push_back({.name = "cuda0"});
  target.memories.push_back({.name = "cuda0.global.bytes"});
  ASSERT_TRUE(overrideField(target, "memories.cuda0.global.bytes=7").ok());
  EXPECT_EQ(target.findMemory("cuda0.global")->bytes, 7);
  ASSERT_TRUE(overrideField(target, "memories.cuda0.global.bytes.bytes=8").ok());
  EXPECT_EQ(target.findMemory("cuda0.global.bytes")->bytes, 8);
  ASSERT_TRUE(overrideField(target, "memories.cuda0.bytes=9").ok());
  EXPECT_EQ(target.findMemory("cuda0")->bytes, 9);
}

TEST(TargetOverride, FailuresLeaveTheTargetAlone) {
  const TargetDescription before = sampleTarget();
  auto refuse = [&](std::string_view assignment, std::string_view message) {
    SCOPED_TRACE(assignment);
    TargetDescription target = before;
    expectFault(overrideField(target, assignment), message);
    EXPECT_EQ(target, before);
  };
  refuse("vector_bits", "expected path=value");
  refuse("", "expected path=value");
  refuse("=1", "there is no field \"\"");
  refuse("colour=1", "there is no field \"colour\"");
  refuse("devices.gpu7.cores=1", "there is no field \"devices.gpu7.cores\"");
  refuse("devices[2].cores=1", "there is no field");
  refuse("devices[.cores=1", "there is no field");
  refuse("devices[99999999999999999999].cores=1", "there is no field");
  refuse("devices.host.=1", "there is no field");
  refuse("devices.host.cores.x=1", "there is no field");
  refuse("vector_bits=wide", "parse error");
  refuse("vector_bits=\"512\"", "devices[0].vector_bits: expected a whole number, got string");
  refuse("vector_bits=", "parse error");
  refuse("features=+", "expected +name or -name, got \"+\"");
  refuse("features=+a,,+b", "expected +name or -name, got \"\"");
  refuse("kind=tpu", "devices[0].kind: expected one of");
  refuse("workspace_alignment=48", "devices[0].workspace_alignment: must be a power of two");
  refuse("memories.dram.accessible_by=[\"gpu\"]", "there is no device \"gpu\"");
  refuse("name=other", "there is no device \"host\"");
  refuse("vector_bits=" + std::string(100000, '['), "");
}

} // namespace
} // namespace plim::targets
