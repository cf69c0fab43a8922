#include "targets/VisibleDevices.h"

#include <gmock/gmock.h>

namespace plim::targets {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TargetDescription machine() {
  TargetDescription target;
  target.name = "host";
  for (const char *name : {"host", "cuda0", "cuda1", "vulkan0"})
    target.devices.emplace_back().name = name;
  auto add = [&](const char *name, std::vector<std::string> devices) {
    MemoryDescription &memory = target.memories.emplace_back();
    memory.name = name;
    memory.accessibleBy = std::move(devices);
  };
  add("dram", {"host", "cuda0"});
  add("cuda0.global", {"cuda0"});
  add("cuda1.global", {"cuda1"});
  add("cuda.managed", {"cuda0", "cuda1"});
  add("vulkan0.heap0", {"host", "vulkan0"});
  add("flash", {});
  return target;
}

std::vector<std::string> devicesOf(const TargetDescription &target) {
  std::vector<std::string> names;
  for (const DeviceDescription &device : target.devices)
    names.push_back(device.name);
  return names;
}

std::vector<std::string> memoriesOf(const TargetDescription &target) {
  std::vector<std::string> names;
  for (const MemoryDescription &memory : target.memories)
    names.push_back(memory.name);
  return names;
}

TEST(VisibleDevices, AreThoseOfTheList) {
  TargetDescription target = machine();
  ASSERT_TRUE(keepVisibleDevices(" cuda1 ,vulkan0", target).ok());
  EXPECT_THAT(devicesOf(target), ElementsAre("host", "cuda1", "vulkan0"));
  EXPECT_THAT(memoriesOf(target),
              ElementsAre("dram", "cuda1.global", "cuda.managed", "vulkan0.heap0", "flash"));
  EXPECT_THAT(target.memories[0].accessibleBy, ElementsAre("host"));
  EXPECT_TRUE(verify(target).ok());
}

TEST(VisibleDevices, OfAnEmptyListThereIsTheHost) {
  for (const char *list : {"", " ", ",", " , "}) {
    TargetDescription target = machine();
    ASSERT_TRUE(keepVisibleDevices(list, target).ok());
    EXPECT_THAT(devicesOf(target), ElementsAre("host")) << list;
    EXPECT_THAT(memoriesOf(target), ElementsAre("dram", "flash")) << list;
  }
}

TEST(VisibleDevices, ThatAreNotThereAreNamed) {
  TargetDescription target = machine();
  Status status = keepVisibleDevices("cuda7,cuda0,cuda", target);
  EXPECT_EQ(status.code(), StatusCode::NotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("'cuda7', 'cuda'"));
  EXPECT_THAT(devicesOf(target), ElementsAre("host", "cuda0"));
}

} // namespace
} // namespace plim::targets
