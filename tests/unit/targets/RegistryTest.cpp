#include "targets/Registry.h"

#include "targets/Resolve.h"
#include "tests/unit/targets/SampleTarget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace plim::targets {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

void expectFault(const Status &status, StatusCode code, std::string_view message) {
  EXPECT_EQ(status.code(), code) << status.toString();
  EXPECT_THAT(std::string(status.message()), HasSubstr(message));
}

TargetDescription get(const Registry &registry, std::string_view name) {
  StatusOr<TargetDescription> target = registry.lookup(name);
  EXPECT_TRUE(target.ok()) << target.status().toString();
  return target.ok() ? *target : sampleTarget();
}

TEST(RegistryTest, EveryBuiltinTagIsATarget) {
  Registry registry;
  Status added = registry.addBuiltinTags();
  ASSERT_TRUE(added.ok()) << added.toString();
  std::vector<std::string> names;
  for (const TagInfo &tag : registry.tags()) {
    SCOPED_TRACE(tag.name);
    names.push_back(tag.name);
    EXPECT_FALSE(tag.about.empty());
    TargetDescription target = get(registry, tag.name);
    EXPECT_EQ(target.name, tag.name);
    EXPECT_FALSE(target.devices[0].triple.empty());
    EXPECT_LE(target.devices[0].maxStackAllocaBytes, target.devices[0].stackBudgetBytes);
    EXPECT_FALSE(target.memories.empty());
    for (const MemoryDescription &memory : target.memories)
      EXPECT_FALSE(memory.accessibleBy.empty()) << memory.name;
    for (const std::string &alias : tag.aliases)
      EXPECT_EQ(get(registry, alias), target);
  }
  EXPECT_THAT(names,
              testing::IsSupersetOf({"x86-64-v2", "x86-64-v3", "x86-64-v4", "sapphirerapids",
                                     "aarch64-neoverse-v1", "aarch64-neoverse-v2", "cortex-m7",
                                     "cortex-m55-ethos-u55", "nvidia-sm90", "vulkan-generic"}));
}

TEST(RegistryTest, BuiltinTagsInherit) {
  Registry registry;
  ASSERT_TRUE(registry.addBuiltinTags().ok());
  TargetDescription v3 = get(registry, "x86-64-v3"), v4 = get(registry, "x86-64-v4");
  EXPECT_TRUE(v3.devices[0].hasFeature("sse4.2"));
  EXPECT_TRUE(v3.devices[0].hasFeature("avx2"));
  EXPECT_FALSE(v3.devices[0].hasFeature("avx512f"));
  EXPECT_EQ(v3.devices[0].vectorBits, 256);
  EXPECT_TRUE(v4.devices[0].hasFeature("avx2"));
  EXPECT_TRUE(v4.devices[0].hasFeature("avx512f"));
  TargetDescription spr = get(registry, "spr");
  EXPECT_TRUE(spr.devices[0].hasFeature("amx-tile"));
  EXPECT_EQ(spr.findMemory("dram")->readGBps, 307.2);
  EXPECT_THAT(spr.findMemory("dram")->accessibleBy, ElementsAre("host"));
  TargetDescription h100 = get(registry, "nvidia-sm90");
  EXPECT_EQ(h100.devices[0].name, "host");
  EXPECT_EQ(h100.devices[1].cpu, "sm_90a");
}

TEST(RegistryTest, NothingGoesOnTheStackOfAnEthosBoard) {
  Registry registry;
  ASSERT_TRUE(registry.addBuiltinTags().ok());
  TargetDescription target = get(registry, "cortex-m55-ethos-u55");
  EXPECT_FALSE(target.devices[0].stackAddressable);
  EXPECT_EQ(target.devices[0].maxStackAllocaBytes, 0);
  EXPECT_EQ(target.devices[0].stackBudgetBytes, 0);
  EXPECT_TRUE(target.devices[0].externalWorkspaceOnly);
  EXPECT_THAT(target.findMemory("sram")->accessibleBy, ElementsAre("host", "ethos-u55"));
  EXPECT_EQ(target.findMemory("flash")->kind, MemoryKind::Flash);
}

constexpr std::string_view base = R"({
  "name": "base", "about": "the base", "aliases": ["b"],
  "devices": [{"name": "host", "cores": 2, "features": ["+a", "-b"],
               "huge_page_bytes": [4096, 8192]}],
  "memories": [{"name": "ram", "bytes": 10, "accessible_by": ["host"]}]})";

TEST(RegistryTest, MergesByName) {
  Registry registry;
  // In this order: a parent may come later.
  ASSERT_TRUE(registry
                  .addTag(R"({"name": "child", "inherits": "b",
                    "devices": [{"name": "host", "features": ["+b", "+c"],
                                 "huge_page_bytes": [65536]}, {"name": "npu", "kind": "npu"}],
                    "memories": [{"name": "rom", "kind": "flash"},
                                 {"name": "ram", "accessible_by": ["host", "npu"]}]})",
                          "child.json")
                  .ok());
  ASSERT_TRUE(registry.addTag(base, "base.json").ok());
  TargetDescription child = get(registry, "child");
  EXPECT_EQ(child.name, "child");
  ASSERT_EQ(child.devices.size(), 2u);
  EXPECT_EQ(child.devices[0].cores, 2);
  EXPECT_THAT(child.devices[0].features, ElementsAre("+a", "+b", "+c"));
  EXPECT_THAT(child.devices[0].hugePageBytes, ElementsAre(65536));
  EXPECT_EQ(child.devices[1].kind, DeviceKind::Npu);
  ASSERT_EQ(child.memories.size(), 2u);
  EXPECT_EQ(child.memories[0].name, "ram");
  EXPECT_EQ(child.memories[0].bytes, 10);
  EXPECT_THAT(child.memories[0].accessibleBy, ElementsAre("host", "npu"));
  EXPECT_EQ(get(registry, "base").devices.size(), 1u);
}

TEST(RegistryTest, ProbesAreCalledAtEachLookupAndCanBeInherited) {
  Registry registry;
  int calls = 0;
  ASSERT_TRUE(registry
                  .addProbe("here", "counts",
                            [&]() -> StatusOr<TargetDescription> {
                              ++calls;
                              return sampleTarget();
                            })
                  .ok());
  ASSERT_TRUE(registry
                  .addTag(R"({"name": "mine", "inherits": "here",
                              "devices": [{"name": "host", "vector_bits": 128}]})",
                          "mine.json")
                  .ok());
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(get(registry, "here").devices, sampleTarget().devices);
  TargetDescription mine = get(registry, "mine");
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(mine.devices[0].vectorBits, 128);
  EXPECT_EQ(mine.devices[1], sampleTarget().devices[1]);
}

TEST(RegistryTest, AFailingProbeIsTheFailureOfTheLookup) {
  Registry registry;
  ASSERT_TRUE(
      registry
          .addProbe("here", "fails",
                    []() -> StatusOr<TargetDescription> { return unavailableError("no topology"); })
          .ok());
  expectFault(registry.lookup("here").status(), StatusCode::Unavailable, "no topology");
}

TEST(RegistryTest, UnknownNamesSuggestTheNearest) {
  Registry registry;
  expectFault(registry.lookup("x").status(), StatusCode::NotFound, "there is no target \"x\"");
  ASSERT_TRUE(registry.addBuiltinTags().ok());
  expectFault(registry.lookup("saphirerapids").status(), StatusCode::NotFound,
              "there is no target \"saphirerapids\"; the nearest name is \"sapphirerapids\"");
  expectFault(registry.lookup("h10").status(), StatusCode::NotFound,
              "the nearest name is \"h100\"");
  expectFault(registry.lookup("").status(), StatusCode::NotFound, "there is no target \"\"");
}

TEST(RegistryTest, FaultyTags) {
  Registry registry;
  ASSERT_TRUE(registry.addTag(base, "base.json").ok());
  auto refuse = [&](std::string_view json, StatusCode code, std::string_view message) {
    SCOPED_TRACE(json);
    expectFault(registry.addTag(json, "bad.json"), code, message);
    EXPECT_EQ(registry.tags().size(), 1u);
  };
  refuse("{", StatusCode::InvalidArgument, "bad.json: parse error");
  refuse("[]", StatusCode::InvalidArgument, "bad.json: expected an object");
  refuse("{}", StatusCode::InvalidArgument, "bad.json: a tag needs a name");
  refuse(R"({"name": 1})", StatusCode::InvalidArgument, "bad.json: name: expected a string");
  refuse(R"({"name": "x", "inherits": 1})", StatusCode::InvalidArgument,
         "inherits: expected a string");
  refuse(R"({"name": "x", "about": []})", StatusCode::InvalidArgument, "about: expected a string");
  refuse(R"({"name": "x", "aliases": "y"})", StatusCode::InvalidArgument,
         "aliases: expected an array of strings");
  refuse(R"({"name": "x", "aliases": {"y": "z"}})", StatusCode::InvalidArgument,
         "aliases: expected an array of strings");
  refuse(R"({"name": "x", "aliases": [1]})", StatusCode::InvalidArgument,
         "aliases: expected an array of strings");
  refuse(R"({"name": "x", "aliases": [""]})", StatusCode::InvalidArgument, "needs a name");
  refuse(R"({"name": "base"})", StatusCode::AlreadyExists, "bad.json: the name \"base\" is taken");
  refuse(R"({"name": "b"})", StatusCode::AlreadyExists, "the name \"b\" is taken");
  refuse(R"({"name": "x", "aliases": ["base"]})", StatusCode::AlreadyExists, "\"base\" is taken");
  refuse(R"({"name": "x", "aliases": ["x"]})", StatusCode::AlreadyExists, "\"x\" is taken");
  refuse(R"({"name": "x", "aliases": ["y", "y"]})", StatusCode::AlreadyExists, "\"y\" is taken");
  expectFault(registry.addProbe("base", "", [] { return sampleTarget(); }),
              StatusCode::AlreadyExists, "\"base\" is taken");
}

TEST(RegistryTest, FaultyInheritance) {
  Registry registry;
  ASSERT_TRUE(registry.addTag(R"({"name": "orphan", "inherits": "nobody"})", "o.json").ok());
  ASSERT_TRUE(registry.addTag(R"({"name": "self", "inherits": "self"})", "s.json").ok());
  ASSERT_TRUE(registry.addTag(R"({"name": "p", "inherits": "q"})", "p.json").ok());
  ASSERT_TRUE(
      registry.addTag(R"({"name": "q", "inherits": "r", "aliases": ["qq"]})", "q.json").ok());
  ASSERT_TRUE(registry.addTag(R"({"name": "r", "inherits": "qq"})", "r.json").ok());
  ASSERT_TRUE(registry.addTag(R"({"name": "bad", "colour": 1})", "bad.json").ok());
  auto invalid = StatusCode::InvalidArgument;
  expectFault(registry.lookup("orphan").status(), invalid,
              "o.json: inherits \"nobody\", which is not there");
  expectFault(registry.lookup("self").status(), invalid, "s.json: inherits \"self\"");
  expectFault(registry.lookup("p").status(), invalid,
              "r.json: inherits \"qq\", which inherits from it");
  expectFault(registry.lookup("bad").status(), invalid, "bad.json: colour: unknown key");
}

class FolderTest : public testing::Test {
protected:
  FolderTest() {
    std::string pattern = fs::temp_directory_path() / "plim-tags-XXXXXX";
    folder = mkdtemp(pattern.data());
  }
  ~FolderTest() override {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  }
  std::string write(const std::string &name, std::string_view text) {
    std::ofstream(folder / name) << text;
    return folder / name;
  }
  fs::path folder;
};

TEST_F(FolderTest, AddsJsonFilesOnly) {
  write("base.json", base);
  write("notes.txt", "no tag");
  Registry registry;
  Status status = registry.addFolder(folder);
  ASSERT_TRUE(status.ok()) << status.toString();
  EXPECT_EQ(registry.tags().size(), 1u);
  EXPECT_EQ(get(registry, "b").name, "base");
}

TEST_F(FolderTest, NamesTheFaultyFile) {
  write("a.json", base);
  std::string second = write("b.json", base);
  Registry registry;
  expectFault(registry.addFolder(folder), StatusCode::AlreadyExists,
              second + ": the name \"b\" is taken");
  EXPECT_EQ(registry.tags().size(), 1u);
  expectFault(registry.addFolder(folder / "nowhere"), StatusCode::NotFound, "nowhere");
}

TEST_F(FolderTest, AFolderNamedLikeAFileIsAnError) {
  fs::create_directory(folder / "x.json");
  Registry registry;
  expectFault(registry.addFolder(folder), StatusCode::DataLoss, "x.json: cannot be read");
}

TEST_F(FolderTest, ResolvesFiles) {
  std::vector<std::string> none;
  std::string plain = write("plain.json", toJson(sampleTarget()));
  StatusOr<TargetDescription> target = resolveTarget(plain, none);
  ASSERT_TRUE(target.ok()) << target.status().toString();
  EXPECT_EQ(*target, sampleTarget());

  std::string child = write("child.json", R"({"name": "mine", "inherits": "x86-64-v3",
                                              "devices": [{"name": "host", "cores": 7}]})");
  target = resolveTarget(child, none);
  ASSERT_TRUE(target.ok()) << target.status().toString();
  EXPECT_EQ(target->devices[0].cores, 7);
  EXPECT_TRUE(target->devices[0].hasFeature("avx2"));

  expectFault(resolveTarget((folder / "no.json").string(), none).status(), StatusCode::NotFound,
              "no.json: cannot be opened");
  std::string broken = write("broken.json", "{");
  expectFault(resolveTarget(broken, none).status(), StatusCode::InvalidArgument,
              "broken.json: parse error");
}

TEST(ResolveTest, Host) {
  std::vector<std::string> none;
  std::vector<Status> warnings;
  StatusOr<TargetDescription> all = resolveTarget("host", none, &warnings);
  ASSERT_TRUE(all.ok()) << all.status().toString();
  EXPECT_EQ(all->name, "host");
  EXPECT_EQ(all->devices[0].name, "host");
  StatusOr<TargetDescription> alone = resolveTarget("host-cpu", none);
  ASSERT_TRUE(alone.ok()) << alone.status().toString();
  ASSERT_EQ(alone->devices.size(), 1u);
  EXPECT_EQ(alone->devices[0], all->devices[0]);
}

TEST(ResolveTest, OverridesInOrder) {
  std::vector<std::string> overrides = {"vector_bits=128", "vector_bits=256", "features=-avx2"};
  StatusOr<TargetDescription> target = resolveTarget("x86-64-v4", overrides);
  ASSERT_TRUE(target.ok()) << target.status().toString();
  EXPECT_EQ(target->devices[0].vectorBits, 256);
  EXPECT_FALSE(target->devices[0].hasFeature("avx2"));

  overrides = {"colour=red"};
  expectFault(resolveTarget("x86-64-v4", overrides).status(), StatusCode::InvalidArgument,
              "override \"colour=red\"");
  expectFault(resolveTarget("x86-64-v9", {}).status(), StatusCode::NotFound,
              "the nearest name is \"x86-64-v");
}

} // namespace
} // namespace plim::targets
