// The probes of accelerators: CUDA against drivers made for the purpose, Vulkan against whatever
// is installed (lavapipe on the machines that build this).
#include "targets/cuda/Cuda.h"
#include "targets/vulkan/Vulkan.h"

#include "tests/unit/targets/SampleTarget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

namespace plim::targets {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TargetDescription hostOnly() {
  TargetDescription target;
  target.devices.push_back({});
  target.devices[0].name = "host";
  target.memories.push_back({.name = "dram", .accessibleBy = {"host"}});
  return target;
}

std::string fakeDriver(const std::string &name) {
  return std::string(PLIM_FAKE_CUDA_FOLDER) + "/libfake_cuda_" + name + ".so";
}

/// A path that exists and is no library.
class NotALibrary {
public:
  NotALibrary() : path("/tmp/plim-not-a-library-XXXXXX") {
    close(mkstemp(path.data()));
    std::ofstream(path) << "text";
  }
  ~NotALibrary() { unlink(path.c_str()); }
  std::string path;
};

void expectUnavailable(const Status &status, std::string_view message) {
  EXPECT_EQ(status.code(), StatusCode::Unavailable) << status.toString();
  EXPECT_THAT(std::string(status.message()), HasSubstr(message));
}

TEST(CudaTest, DescribesEveryDevice) {
  TargetDescription target = hostOnly();
  Status status = queryCuda(target, fakeDriver("ok"));
  ASSERT_TRUE(status.ok()) << status.toString();
  ASSERT_EQ(target.devices.size(), 3u);
  const DeviceDescription &modern = target.devices[1];
  EXPECT_EQ(modern.name, "cuda0");
  EXPECT_EQ(modern.kind, DeviceKind::Cuda);
  EXPECT_EQ(modern.description, "Fake H100");
  EXPECT_EQ(modern.triple, "nvptx64-nvidia-cuda");
  EXPECT_EQ(modern.cpu, "sm_90a");
  EXPECT_THAT(modern.features, ElementsAre("+ptx87"));
  EXPECT_EQ(modern.cores, 132);
  EXPECT_EQ(modern.hardwareThreads, 132 * 2048);
  EXPECT_EQ(modern.clockMHz, 1980);
  EXPECT_EQ(modern.scratchBytes, 48 << 10);
  EXPECT_EQ(modern.subgroupSize, 32);
  EXPECT_EQ(modern.maxWorkgroupSize, 1024);
  EXPECT_TRUE(modern.unifiedAddressing);
  EXPECT_FALSE(modern.stackAddressable);
  ASSERT_EQ(modern.caches.size(), 1u);
  EXPECT_EQ(modern.caches[0].bytes, 50 << 20);

  const MemoryDescription *global = target.findMemory("cuda0.global");
  ASSERT_NE(global, nullptr);
  EXPECT_EQ(global->bytes, int64_t{80} << 30);
  EXPECT_NEAR(global->readGBps, 3352.3, 0.1);
  EXPECT_THAT(global->accessibleBy, ElementsAre("cuda0"));
  EXPECT_EQ(target.findMemory("cuda0.shared")->bytes, 227 << 10);
  EXPECT_THAT(target.findMemory("cuda0.managed")->accessibleBy, ElementsAre("host", "cuda0"));
  EXPECT_THAT(target.findMemory("cuda.pinned")->accessibleBy, ElementsAre("host", "cuda0"));
  EXPECT_THAT(target.findMemory("dram")->accessibleBy, ElementsAre("host", "cuda0"));
}

TEST(CudaTest, WhatADriverDoesNotKnowIsAbsent) {
  TargetDescription target = hostOnly();
  ASSERT_TRUE(queryCuda(target, fakeDriver("ok")).ok());
  const DeviceDescription &old = target.devices[2];
  EXPECT_EQ(old.cpu, "sm_52");
  EXPECT_EQ(old.hardwareThreads, 1);
  EXPECT_TRUE(old.caches.empty());
  EXPECT_FALSE(old.unifiedAddressing);
  EXPECT_EQ(target.findMemory("cuda1.global")->readGBps, 0);
  EXPECT_EQ(target.findMemory("cuda1.shared")->bytes, 16384);
  EXPECT_EQ(target.findMemory("cuda1.managed"), nullptr);
}

TEST(CudaTest, NoneIsQuiet) {
  for (const std::string &library :
       {std::string("libplim-no-such-driver.so.1"), std::string("/nowhere/libcuda.so.1"),
        fakeDriver("none"), fakeDriver("no_device"), fakeDriver("stub")}) {
    SCOPED_TRACE(library);
    TargetDescription target = hostOnly();
    Status status = queryCuda(target, library);
    EXPECT_TRUE(status.ok()) << status.toString();
    EXPECT_EQ(target, hostOnly());
  }
}

TEST(CudaTest, BrokenIsAStatusAndChangesNothing) {
  NotALibrary file;
  TargetDescription target = hostOnly();
  expectUnavailable(queryCuda(target, file.path), file.path);
  expectUnavailable(queryCuda(target, fakeDriver("broken")), "cuInit: error 999, unknown error");
  expectUnavailable(queryCuda(target, fakeDriver("incomplete")), "no symbol cuDeviceTotalMem_v2");
  expectUnavailable(queryCuda(target, fakeDriver("nameless")),
                    "cuDeviceGetName: error 7, no description");
  EXPECT_EQ(target, hostOnly());
}

TEST(CudaTest, ATakenNameChangesNothing) {
  TargetDescription target = hostOnly();
  target.devices.push_back(target.devices[0]);
  target.devices[1].name = "cuda0";
  TargetDescription before = target;
  EXPECT_FALSE(queryCuda(target, fakeDriver("ok")).ok());
  EXPECT_EQ(target, before);
}

TEST(VulkanTest, DescribesWhatIsInstalled) {
  TargetDescription target = hostOnly();
  Status status = queryVulkan(target);
  ASSERT_TRUE(status.ok()) << status.toString();
  if (target.devices.size() == 1)
    GTEST_SKIP() << "no Vulkan device here";
  const DeviceDescription &device = target.devices[1];
  EXPECT_EQ(device.name, "vulkan0");
  EXPECT_EQ(device.kind, DeviceKind::Vulkan);
  EXPECT_FALSE(device.description.empty());
  EXPECT_THAT(device.triple, testing::MatchesRegex("spirv-unknown-vulkan1\\.[123]-compute"));
  // The least that the standard lets a device have.
  EXPECT_GE(device.scratchBytes, 16384);
  EXPECT_GE(device.maxWorkgroupSize, 128);
  EXPECT_GE(device.subgroupSize, 1);
  EXPECT_FALSE(device.features.empty());
  const MemoryDescription *heap = target.findMemory("vulkan0.heap0");
  ASSERT_NE(heap, nullptr);
  EXPECT_GT(heap->bytes, 0);
  EXPECT_THAT(heap->accessibleBy, testing::Contains("vulkan0"));
  ASSERT_NE(target.findMemory("vulkan0.shared"), nullptr);

  TargetDescription again = hostOnly();
  ASSERT_TRUE(queryVulkan(again).ok());
  EXPECT_EQ(again, target);
}

TEST(VulkanTest, NoneIsQuiet) {
  for (const char *library : {"libplim-no-such-loader.so.1", "/nowhere/libvulkan.so.1"}) {
    TargetDescription target = hostOnly();
    Status status = queryVulkan(target, library);
    EXPECT_TRUE(status.ok()) << status.toString();
    EXPECT_EQ(target, hostOnly());
  }
}

TEST(VulkanTest, ALoaderWithoutDriversIsQuiet) {
  // In a process of its own: the loader reads this once.
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    setenv("VK_DRIVER_FILES", "/nowhere/icd.json", 1);
    setenv("VK_ICD_FILENAMES", "/nowhere/icd.json", 1);
    TargetDescription target = hostOnly();
    _exit(queryVulkan(target).ok() && target == hostOnly() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(VulkanTest, BrokenIsAStatusAndChangesNothing) {
  NotALibrary file;
  TargetDescription target = hostOnly();
  expectUnavailable(queryVulkan(target, file.path), file.path);
  expectUnavailable(queryVulkan(target, fakeDriver("ok")), "no symbol vkGetInstanceProcAddr");
  EXPECT_EQ(target, hostOnly());
}

} // namespace
} // namespace plim::targets
