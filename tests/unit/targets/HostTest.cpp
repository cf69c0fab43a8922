#include "targets/host/Host.h"

#include "targets/host/Cgroup.h"
#include "targets/host/Cpu.h"
#include "targets/host/Stacks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <pthread.h>
#include <sched.h>
#include <set>
#include <signal.h>
#include <string>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace plim::targets {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

TEST(HostTest, DescribesThisMachine) {
  StatusOr<TargetDescription> target = queryHost();
  ASSERT_TRUE(target.ok()) << target.status().toString();
  EXPECT_EQ(target->name, "host");
  ASSERT_EQ(target->devices.size(), 1u);
  const DeviceDescription &host = target->devices[0];
  EXPECT_EQ(host.name, "host");
  EXPECT_THAT(host.triple, HasSubstr("linux"));
  EXPECT_FALSE(host.features.empty());
  EXPECT_GE(host.vectorBits, 128);
  EXPECT_LE(host.hardwareThreads, static_cast<int64_t>(std::thread::hardware_concurrency()));
  EXPECT_EQ(host.pageBytes, sysconf(_SC_PAGESIZE));
  for (size_t i = 1; i < host.caches.size(); ++i)
    EXPECT_GT(host.caches[i].level, host.caches[i - 1].level);
  EXPECT_GT(host.mainThreadStackBytes, 0);
  EXPECT_GT(host.callerStackBytes, 0);
  EXPECT_LE(host.maxStackAllocaBytes, host.stackBudgetBytes);
  EXPECT_LE(host.stackBudgetBytes, host.workerStackBytes / 4);
  ASSERT_FALSE(target->memories.empty());
  EXPECT_GT(target->memories[0].bytes, 0);
  EXPECT_TRUE(fromJson(toJson(*target)).ok());
}

TEST(HostTest, IsStableFromCallToCall) {
  StatusOr<TargetDescription> first = queryHost(), second = queryHost();
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(toJson(*first), toJson(*second));
}

#if defined(__x86_64__)
TEST(HostTest, FeaturesAreThoseTheProcessorAnswers) {
  StatusOr<TargetDescription> target = queryHost();
  ASSERT_TRUE(target.ok());
  const DeviceDescription &host = target->devices[0];
  EXPECT_EQ(host.cpu, "x86-64");
  EXPECT_EQ(host.hasFeature("avx2"), bool(__builtin_cpu_supports("avx2")));
  EXPECT_EQ(host.hasFeature("fma"), bool(__builtin_cpu_supports("fma")));
  EXPECT_EQ(host.hasFeature("avx512f"), bool(__builtin_cpu_supports("avx512f")));
  EXPECT_EQ(host.hasFeature("avx512vnni"), bool(__builtin_cpu_supports("avx512vnni")));
  EXPECT_EQ(host.vectorBits, __builtin_cpu_supports("avx512f") ? 512
                             : __builtin_cpu_supports("avx")   ? 256
                                                               : 128);
}

TEST(HostCpu, TuningFollowsTheFeatures) {
  using host::chooseTuneCpu, host::chooseVectorBits;
  host::FeatureMap features;
  EXPECT_EQ(chooseTuneCpu(features), "x86-64");
  EXPECT_EQ(chooseVectorBits(features), 128);
  features["avx"] = features["avx2"] = true;
  EXPECT_EQ(chooseTuneCpu(features), "haswell");
  EXPECT_EQ(chooseVectorBits(features), 256);
  features["avx512f"] = true;
  EXPECT_EQ(chooseTuneCpu(features), "sapphirerapids");
  EXPECT_EQ(chooseVectorBits(features), 512);
  features["sse4a"] = true;
  EXPECT_EQ(chooseTuneCpu(features), "sapphirerapids");
  features["avx512f"] = false;
  EXPECT_EQ(chooseTuneCpu(features), "znver2");
  features["vaes"] = true;
  EXPECT_EQ(chooseTuneCpu(features), "znver3");
}

TEST(HostCpu, TilesAreRefusedToSmallSignalStacks) {
  // In a process of its own: permission, once given, cannot be taken back. An alternate signal
  // stack too small for the tiles makes a kernel with AMX refuse; one without always refuses.
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    static char small[8192];
    stack_t stack = {};
    stack.ss_sp = small;
    stack.ss_size = sizeof(small);
    if (sigaltstack(&stack, nullptr) != 0)
      _exit(2);
    _exit(requestTiles() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(HostCpu, AmxIsDroppedWhereTheKernelHasNoTiles) {
  unsigned long supported = 0; // by ARCH_GET_XCOMP_SUPP; tiles are bit 18
  const bool hasTiles =
      syscall(SYS_arch_prctl, 0x1021, &supported) == 0 && (supported & 1ul << 18) != 0;
  host::FeatureMap features = {{"amx-int8", true}, {"amx-tile", true}, {"avx2", true}};
  host::dropUnsupportedState(features);
  EXPECT_EQ(features["amx-tile"], hasTiles);
  EXPECT_EQ(features["amx-int8"], hasTiles);
  EXPECT_TRUE(features["avx2"]);
  features = {{"amx-int8", true}, {"amx-tile", false}};
  host::dropUnsupportedState(features);
  EXPECT_TRUE(features["amx-int8"]);
}
#endif

TEST(HostCpu, IntersectionKeepsWhatAllHave) {
  host::FeatureMap both = host::intersectFeatures({{"a", true}, {"b", true}, {"c", false}},
                                                  {{"a", true}, {"c", true}, {"d", true}});
  host::FeatureMap expected = {{"a", true}, {"b", false}, {"c", false}, {"d", false}};
  EXPECT_EQ(both, expected);
}

TEST(HostCpu, AsksEveryProcessorNamed) {
  cpu_set_t usable;
  ASSERT_EQ(sched_getaffinity(0, sizeof(usable), &usable), 0);
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &usable))
      cpus.push_back(cpu);
  host::FeatureMap one = host::readFeatures({});
  EXPECT_FALSE(one.empty());
  EXPECT_EQ(host::readFeatures(cpus), one);
  // One that does not exist is passed over.
  cpus.push_back(CPU_SETSIZE + 5);
  EXPECT_EQ(host::readFeatures(cpus), one);
}

TEST(HostAffinity, CountsOnlyTheProcessorsAllowed) {
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  int first = 0;
  while (!CPU_ISSET(first, &before))
    ++first;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  // In a process of its own, for the masks of all threads count; it inherits this thread's.
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  pid_t child = fork();
  if (child == 0) {
    StatusOr<TargetDescription> target = queryHost();
    _exit(target.ok() && target->devices[0].hardwareThreads == 1 && target->devices[0].cores == 1
              ? 0
              : 1);
  }
  sched_setaffinity(0, sizeof(before), &before);
  ASSERT_GE(child, 0);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(HostAffinity, CountsCoresAsTheKernelDoes) {
  cpu_set_t allowed;
  ASSERT_EQ(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
  std::set<std::string> cores; // each by the list of its processors
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed))
      continue;
    std::ifstream file("/sys/devices/system/cpu/cpu" + std::to_string(cpu) +
                       "/topology/thread_siblings_list");
    std::string processors;
    if (!std::getline(file, processors))
      GTEST_SKIP() << "the kernel does not say";
    cores.insert(processors);
  }
  StatusOr<TargetDescription> target = queryHost();
  ASSERT_TRUE(target.ok()) << target.status().toString();
  EXPECT_EQ(target->devices[0].cores, int64_t(cores.size()));
  // A quota may leave fewer.
  EXPECT_LE(target->devices[0].hardwareThreads, CPU_COUNT(&allowed));
}

TEST(HostStacks, WorkersOfOneTbbHaveTheSizeWeSay) {
  std::atomic<int64_t> bytes = 0;
  std::thread::id caller = std::this_thread::get_id();
  tbb::task_arena arena(2);
  for (int attempt = 0; attempt < 1000 && bytes == 0; ++attempt) {
    arena.execute([&] {
      tbb::parallel_for(0, 64, [&](int) {
        if (std::this_thread::get_id() != caller)
          bytes = host::readStackSizes().caller;
        else
          std::this_thread::sleep_for(std::chrono::microseconds(50));
      });
    });
  }
  ASSERT_NE(bytes, 0) << "no worker ever came";
  // The C library counts thread-local storage and the guard differently from version to version,
  // and may hand on the stack of a thread that ended, if it is up to four times what is asked for.
  int64_t expected = host::readStackSizes().worker;
  EXPECT_GE(bytes, expected - (64 << 10));
  EXPECT_LE(bytes, 4 * expected);
}

void *readCaller(void *bytes) {
  *static_cast<int64_t *>(bytes) = host::readStackSizes().caller;
  return nullptr;
}

TEST(HostStacks, SeesASmallCaller) {
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, 256 << 10), 0);
  pthread_t thread;
  int64_t bytes = 0;
  ASSERT_EQ(pthread_create(&thread, &attributes, readCaller, &bytes), 0);
  ASSERT_EQ(pthread_join(thread, nullptr), 0);
  pthread_attr_destroy(&attributes);
  EXPECT_LE(bytes, 256 << 10);
  EXPECT_GT(bytes, 64 << 10);
}

TEST(HostStacks, UnlimitedIsTheUsualSize) {
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
    if (setrlimit(RLIMIT_STACK, &limit) != 0)
      _exit(77);
    _exit(host::readStackSizes().mainThread == 8 << 20 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  if (WEXITSTATUS(status) == 77)
    GTEST_SKIP() << "the limit may not be raised here";
  EXPECT_EQ(status, 0);
}

TEST(HostStacks, LimitsFollowTheSmallestStack) {
  host::StackLimits limits =
      host::chooseStackLimits({.mainThread = 8 << 20, .worker = 4 << 20, .caller = 8 << 20});
  EXPECT_EQ(limits.budget, 1 << 20);
  EXPECT_EQ(limits.maxAlloca, 64 << 10);
  limits = host::chooseStackLimits(
      {.mainThread = 8 << 20, .worker = 4 << 20, .caller = (256 << 10) + 7 * 4});
  EXPECT_EQ(limits.budget, 64 << 10);
  EXPECT_EQ(limits.maxAlloca, 16 << 10);
  limits = host::chooseStackLimits({.mainThread = 1 << 30, .worker = 1 << 30, .caller = 1 << 30});
  EXPECT_EQ(limits.budget, 1 << 20);
}

class CgroupTest : public testing::Test {
protected:
  CgroupTest() {
    std::string pattern = fs::temp_directory_path() / "plim-cgroup-XXXXXX";
    root = mkdtemp(pattern.data());
  }
  ~CgroupTest() override {
    std::error_code ignored;
    fs::remove_all(root, ignored);
  }
  void write(const fs::path &path, std::string_view text) {
    fs::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text;
  }
  fs::path root;
};

TEST_F(CgroupTest, NothingMounted) {
  host::CgroupLimits limits = host::readCgroupLimits(root);
  EXPECT_EQ(limits.cpus, 0);
  EXPECT_EQ(limits.memoryBytes, 0);
}

TEST_F(CgroupTest, Version2TakesTheTightestAncestor) {
  write("proc/self/cgroup", "0::/slice/job\n");
  write("sys/fs/cgroup/slice/job/cpu.max", "400000 100000\n");
  write("sys/fs/cgroup/slice/cpu.max", "150000 100000\n");
  write("sys/fs/cgroup/slice/job/memory.max", "1073741824\n");
  write("sys/fs/cgroup/slice/memory.max", "max\n");
  host::CgroupLimits limits = host::readCgroupLimits(root);
  EXPECT_EQ(limits.cpus, 1.5);
  EXPECT_EQ(limits.memoryBytes, 1 << 30);
}

TEST_F(CgroupTest, Version2InAContainer) {
  write("proc/self/cgroup", "0::/../../elsewhere\n");
  write("sys/fs/cgroup/cpu.max", "50000 100000\n");
  EXPECT_EQ(host::readCgroupLimits(root).cpus, 0.5);
}

TEST_F(CgroupTest, Version1) {
  write("proc/self/cgroup", "5:memory:/job\n4:cpu,cpuacct:/job\n1:name=systemd:/job\n");
  write("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "200000\n");
  write("sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "9223372036854771712\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "2147483648\n");
  host::CgroupLimits limits = host::readCgroupLimits(root);
  EXPECT_EQ(limits.cpus, 2);
  EXPECT_EQ(limits.memoryBytes, int64_t{2} << 30);
}

TEST_F(CgroupTest, NonsenseIsNoLimit) {
  write("proc/self/cgroup", "what\n0::/job\n:\n");
  write("sys/fs/cgroup/job/cpu.max", "100000 0\n");
  write("sys/fs/cgroup/job/memory.max", "12abc\n");
  host::CgroupLimits limits = host::readCgroupLimits(root);
  EXPECT_EQ(limits.cpus, 0);
  EXPECT_EQ(limits.memoryBytes, 0);
}

} // namespace
} // namespace plim::targets
