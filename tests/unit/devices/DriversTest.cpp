// Both drivers: what all devices must do alike, on whatever is installed, and on stand-ins for failures.
#include "devices/GpuLaunch.h"
#include "devices/internal/VulkanProgram.h"
#include "tests/unit/devices/SampleCode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <dlfcn.h>
#include <functional>
#include <new>
#include <pthread.h>
#include <thread>

// Sanitizers have an allocator of their own.
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool countsAllocations = false;
static size_t allocationCount = 0;
#else
constexpr bool countsAllocations = true;
static thread_local size_t allocationCount = 0;

// The other forms end in these.
void *operator new(size_t bytes) {
  ++allocationCount;
  if (void *memory = std::malloc(bytes ? bytes : 1))
    return memory;
  throw std::bad_alloc();
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }
#endif

namespace plim::devices {
namespace {

using testing::HasSubstr;

const std::string fakeCuda = std::string(PLIM_FAKE_FOLDER) + "/libfake_cuda_driver.so";
const std::string vulkanShim = std::string(PLIM_FAKE_FOLDER) + "/libvulkan_shim.so";

/// A function of a stand-in that is a control of tests.
template <typename Function> Function *control(const std::string &library, const char *name) {
  return reinterpret_cast<Function *>(dlsym(dlopen(library.c_str(), RTLD_NOW), name));
}

plim_code keepMessage(plim_context *context, plim_code code, const char *message) {
  *static_cast<std::string *>(context->call) = message;
  return code;
}

/// A program as an engine calls it.
class Launcher {
public:
  explicit Launcher(std::shared_ptr<GpuProgram> program)
      : launch(makeLaunchFunction(std::move(program), &keepMessage)) {}

  Status operator()(std::initializer_list<plim_view> arguments) const {
    std::string message;
    plim_context context = {};
    context.call = &message;
    plim_code code = launch.function(&context, launch.user, arguments.begin(), nullptr);
    return code == 0 ? okStatus() : Status(static_cast<StatusCode>(code), message);
  }

private:
  LaunchFunction launch;
};

plim_view viewOf(float &scalar) { return {&scalar, nullptr, nullptr}; }

void expectOk(const Status &status) { EXPECT_TRUE(status.ok()) << status.toString(); }

void expectAxpy(const Launcher &axpy, size_t size) {
  Vector x(size, 1), y(size, 3);
  float a = 2;
  expectOk(axpy({x.view(), viewOf(a), y.view()}));
  for (size_t i = 0; i < size; ++i)
    ASSERT_EQ(y.elements[i], 3.0f * static_cast<float>(i) + 5) << i << " of " << size;
}

struct Driver {
  const char *name;
  GpuCodeKind kind;
  StatusOr<std::shared_ptr<GpuDevice>> (*open)();
};

std::ostream &operator<<(std::ostream &out, const Driver &driver) { return out << driver.name; }

class DriversTest : public testing::TestWithParam<Driver> {
protected:
  void SetUp() override {
    StatusOr<std::shared_ptr<GpuDevice>> opened = GetParam().open();
    if (!opened.ok() && opened.status().code() == StatusCode::Unavailable)
      GTEST_SKIP() << opened.status().toString();
    ASSERT_TRUE(opened.ok()) << opened.status().toString();
    device = *opened;
  }
  GpuCodeKind kind() const { return GetParam().kind; }
  Launcher load(GpuCode code) {
    StatusOr<std::shared_ptr<GpuProgram>> program = device->load(std::move(code));
    EXPECT_TRUE(program.ok()) << program.status().toString();
    return Launcher(*program);
  }
  StatusCode loadCode(GpuCode code) { return device->load(std::move(code)).status().code(); }

  std::shared_ptr<GpuDevice> device;
};

TEST_P(DriversTest, TakesAnySize) {
  EXPECT_NE(device->model(), "");
  Launcher axpy = load(axpyCode(kind()));
  for (size_t size : {0, 1, 63, 64, 65, 10007, 64, 3, 100000})
    expectAxpy(axpy, size);
}

TEST_P(DriversTest, KeepsTheOrderOfKernels) {
  Launcher tenfold = load(tenfoldCode(kind()));
  for (size_t size : {1, 1000, 65537}) {
    Vector x(size), y(size, -7);
    expectOk(tenfold({x.view(), y.view()}));
    for (size_t i = 0; i < size; ++i)
      ASSERT_EQ(y.elements[i], 10 * static_cast<float>(i));
  }
}

// Mesa's driver in software ends all loops of an invocation after so many rounds, and results are wrong then.
TEST_P(DriversTest, RefusesLoopsThatTheDriverWouldEnd) {
  GpuCode code = axpyCode(kind());
  code.kernels[0].iterations = static_cast<uint32_t>(code.numbers.size());
  code.numbers.push_back({GpuNumber::Constant, 65535, 0});
  expectAxpy(load(code), 100);
  code.numbers.back().a = 65536;
  Launcher axpy = load(code);
  if (!device->model().starts_with("llvmpipe"))
    return expectAxpy(axpy, 100);
  Vector x(100), y(100);
  float a = 1;
  Status status = axpy({x.view(), viewOf(a), y.view()});
  EXPECT_EQ(status.code(), StatusCode::OutOfRange);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("kernel 'axpy' goes through loops 65536 times; 'llvmpipe"));
}

TEST_P(DriversTest, RunsLaunchesOfManyThreads) {
  Launcher axpy = load(axpyCode(kind())), tenfold = load(tenfoldCode(kind()));
  std::vector<std::thread> threads;
  for (size_t thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      for (size_t i = 0; i < 30; ++i) {
        expectAxpy(axpy, 1 + 37 * i + thread);
        Vector x(50 * thread + i + 1, 1), y(50 * thread + i + 1);
        expectOk(tenfold({x.view(), y.view()}));
        ASSERT_EQ(y.elements[i], 10 * x.elements[i]);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST_P(DriversTest, LeavesAloneWhatNoKernelWrites) {
  GpuCode code = tenfoldCode(kind());
  code.arguments.push_back({false, 4, 0, true, false});
  code.numbers.push_back({GpuNumber::Scalar, 2, 0});
  for (GpuKernel &kernel : code.kernels) {
    for (uint32_t &buffer : kernel.buffers)
      buffer += buffer == 2;
    if (kernel.buffers[1] == 1)
      kernel.workgroups = 7;
  }
  Launcher launch = load(code);
  Vector x(100), y(100, 5);
  int32_t workgroups = 0;
  plim_view scalar = {&workgroups, nullptr, nullptr};
  expectOk(launch({x.view(), y.view(), scalar}));
  EXPECT_EQ(y.elements, Vector(100, 5).elements);
  workgroups = -1;
  expectOk(launch({x.view(), y.view(), scalar}));
  EXPECT_EQ(y.elements, Vector(100, 5).elements);
  workgroups = 1; // is enough for 100 elements
  expectOk(launch({x.view(), y.view(), scalar}));
  EXPECT_EQ(y.elements[99], 990);
}

TEST_P(DriversTest, BindsItsOwnMemory) {
  Launcher tenfold = load(tenfoldCode(kind()));
  constexpr size_t bytes = 64 << 10;
  void *memory = device->allocate(bytes, 256);
  ASSERT_NE(memory, nullptr);
  void *other = device->allocate(bytes, 256);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 256, 0u);
  Vector x(1000, 1), y(1000);
  int64_t extent = 1000;
  auto at = [&](void *base, size_t offset) -> plim_view {
    return {static_cast<std::byte *>(base) + offset, &extent, nullptr};
  };
  expectOk(tenfold({x.view(), at(memory, 1024)}));
  expectOk(tenfold({at(memory, 1024), at(memory, bytes - 4096)}));
  expectOk(tenfold({at(memory, bytes - 4096), at(other, 0)}));
  expectOk(tenfold({at(other, 0), y.view()}));
  for (size_t i = 0; i < 1000; ++i)
    ASSERT_EQ(y.elements[i], 10000 * x.elements[i]);
  EXPECT_EQ(tenfold({x.view(), at(memory, bytes - 3840)}).code(), StatusCode::OutOfRange);
  extent = 0;
  expectOk(tenfold({at(memory, bytes), at(other, bytes)}));
  device->release(memory, bytes);
  device->release(other, bytes);
}

TEST_P(DriversTest, BindsItsOwnMemoryFromAnyElementOn) {
  Launcher tenfold = load(tenfoldCode(kind())), axpy = load(axpyCode(kind()));
  constexpr size_t bytes = 64 << 10;
  void *memory = device->allocate(bytes, 256);
  ASSERT_NE(memory, nullptr);
  Vector x(999, 1), y(999);
  auto at = [&](size_t offset) -> plim_view {
    return {static_cast<std::byte *>(memory) + offset, &x.extent, nullptr};
  };
  float a = 2;
  for (auto [from, to] : {std::pair<size_t, size_t>(4, 8192), {8192, 12}, {20, 16388}}) {
    expectOk(tenfold({x.view(), at(from)}));
    expectOk(tenfold({at(from), at(to)}));
    expectOk(axpy({at(from), viewOf(a), at(to)})); // reads and writes it
    expectOk(tenfold({at(to), y.view()}));
    for (size_t i = 0; i < 999; ++i)
      ASSERT_EQ(y.elements[i], 1200 * x.elements[i]) << from << " to " << to;
  }
  EXPECT_EQ(tenfold({x.view(), at(bytes - 3992)}).code(), StatusCode::OutOfRange);
  device->release(memory, bytes);
}

// That a constant is written shows whether launches use their copy.
TEST_P(DriversTest, CopiesConstantsOnce) {
  Launcher tenfold = load(tenfoldCode(kind()));
  Vector x(1000, 1), y(1000);
  auto result = [&](size_t begin, size_t end) {
    int64_t extent = static_cast<int64_t>(end - begin);
    expectOk(
        tenfold({{&x.elements[begin], &extent, nullptr}, {&y.elements[begin], &extent, nullptr}}));
    EXPECT_EQ(y.elements[end - 1] - y.elements[begin], 10 * static_cast<float>(extent - 1));
    return y.elements[begin] / 10 - static_cast<float>(begin);
  };
  auto write = [&](float first) {
    for (float &element : x.elements)
      element = first++;
  };
  auto keep = [&](size_t begin, size_t end) {
    return device->keepConstant(&x.elements[begin], (end - begin) * sizeof(float));
  };
  EXPECT_EQ(keep(0, 0), nullptr);
  std::shared_ptr<const void> constant = keep(100, 200), again = keep(100, 200);
  write(2);
  EXPECT_EQ(result(100, 200), 2);
  write(3);
  EXPECT_EQ(result(100, 200), 2);
  EXPECT_EQ(result(164, 200), 2);
  EXPECT_EQ(result(101, 103), 2);
  for (auto [begin, end] : {std::pair<size_t, size_t>(99, 200), {100, 201}, {0, 100}, {200, 201}})
    EXPECT_EQ(result(begin, end), 3) << begin << " to " << end;
  // One that overlaps it, one within, and one of which both are a part.
  std::shared_ptr<const void> next = keep(150, 300), within = keep(110, 120), all = keep(0, 1000);
  EXPECT_EQ(result(160, 201), 3);
  EXPECT_EQ(result(100, 200), 2);
  EXPECT_EQ(result(100, 210), 3);
  write(4);
  EXPECT_EQ(result(0, 1000), 3);
  EXPECT_EQ(result(111, 113), 4);
  all = nullptr;
  EXPECT_EQ(result(0, 1000), 4);
  EXPECT_EQ(result(160, 201), 3);
  again = nullptr;
  EXPECT_EQ(result(100, 200), 2);
  constant = nullptr;
  EXPECT_EQ(result(100, 200), 4);
  EXPECT_EQ(result(151, 299), 3);
  next = within = nullptr;
  EXPECT_EQ(result(111, 113), 4);
  EXPECT_EQ(result(151, 299), 4);
}

TEST_P(DriversTest, CopiesWhatItWritesAlthoughItIsAConstant) {
  Launcher axpy = load(axpyCode(kind()));
  Vector x(100, 1), y(100, 1);
  std::shared_ptr<const void> constant = device->keepConstant(y.elements.data(), 400);
  float a = 2;
  for (float wanted : {3, 5, 7}) {
    expectOk(axpy({x.view(), viewOf(a), y.view()}));
    EXPECT_EQ(y.elements[0], wanted);
  }
}

TEST_P(DriversTest, HasConstantsThatThreadsWantAtOnce) {
  Launcher tenfold = load(tenfoldCode(kind())), axpy = load(axpyCode(kind()));
  constexpr size_t size = 5000;
  Vector x(size, 1);
  for (int round = 0; round < 10; ++round) {
    // Some threads keep it longer than others.
    std::shared_ptr<const void> constant = device->keepConstant(x.elements.data(), 4 * size);
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread)
      threads.emplace_back([&, thread] {
        Vector y(size);
        for (int i = 0; i < 5; ++i) {
          std::shared_ptr<const void> own =
              i % 2 == thread % 2 ? device->keepConstant(x.elements.data(), 4 * size) : nullptr;
          if (thread == 0 && i == 2)
            constant = nullptr;
          float a = -10;
          expectOk(tenfold({x.view(), y.view()}));
          expectOk(axpy({x.view(), viewOf(a), y.view()}));
          ASSERT_EQ(y.elements, std::vector<float>(size));
        }
      });
    for (std::thread &thread : threads)
      thread.join();
  }
}

TEST_P(DriversTest, HasMemoryThatProgramsShare) {
  Launcher axpy = load(axpyCode(kind()));
  void *memory = device->allocate(1, 1);
  ASSERT_NE(memory, nullptr);
  device->release(memory, 1);
  EXPECT_EQ(device->allocate(size_t{1} << 60, 64), nullptr);
  expectAxpy(axpy, 100);
}

TEST_P(DriversTest, RefusesWhatItCannotRun) {
  GpuCode code = axpyCode(kind());
  code.features = {"a feature of tomorrow"};
  StatusOr<std::shared_ptr<GpuProgram>> refused = device->load(code);
  EXPECT_EQ(refused.status().code(), StatusCode::FailedPrecondition);
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("a feature of tomorrow"));
  bool isPtx = kind() == GpuCodeKind::Ptx;
  EXPECT_EQ(loadCode(axpyCode(isPtx ? GpuCodeKind::Spirv : GpuCodeKind::Ptx)),
            StatusCode::FailedPrecondition);
  code = axpyCode(kind());
  code.kernels[0].workgroupSize = {1 << 20, 1, 1};
  EXPECT_EQ(loadCode(code), StatusCode::FailedPrecondition);
  code = axpyCode(kind());
  code.kernels[0].buffers = {1, 2};
  EXPECT_EQ(loadCode(code), StatusCode::DataLoss);
}

TEST_P(DriversTest, OutlivesItsOwner) {
  Launcher axpy = load(axpyCode(kind()));
  Vector x(10, 1), y(10);
  std::shared_ptr<const void> constant = device->keepConstant(x.elements.data(), 40);
  device = nullptr;
  expectAxpy(axpy, 10);
  float a = 1;
  expectOk(axpy({x.view(), viewOf(a), y.view()}));
  axpy = Launcher(nullptr);
}

TEST_P(DriversTest, TakesNoMemoryForALaunchLikeThoseBefore) {
  if (!countsAllocations || std::getenv("VK_INSTANCE_LAYERS"))
    GTEST_SKIP() << "sanitizers and layers take memory of their own";
  Launcher axpy = load(axpyCode(kind()));
  Vector x(1000), y(1000), constant(1000);
  std::shared_ptr<const void> kept = device->keepConstant(constant.elements.data(), 4000);
  float a = 1;
  auto launch = [&] {
    Status status = axpy({x.view(), viewOf(a), y.view()});
    return status.ok() ? axpy({constant.view(), viewOf(a), y.view()}) : status;
  };
  expectOk(launch());
  expectOk(launch());
  size_t before = allocationCount;
  EXPECT_GT(before, 0u);
  for (int i = 0; i < 10; ++i)
    if (!launch().ok())
      FAIL();
  EXPECT_EQ(allocationCount, before);
}

TEST_P(DriversTest, FitsTheStackOfALaunch) {
  if (!countsAllocations || std::getenv("VK_INSTANCE_LAYERS"))
    GTEST_SKIP() << "sanitizers and layers take a stack of their own";
  Launcher axpy = load(axpyCode(kind()));
  Vector x(1000), y(1000);
  float a = 1;
  Status status = internalError("not run");
  std::function<void()> launch = [&] { status = axpy({x.view(), viewOf(a), y.view()}); };
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  constexpr size_t ofTheThread = 32 << 10; // its descriptor and its variables
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, PLIM_DEVICE_STACK + ofTheThread), 0);
  pthread_t thread;
  auto run = [](void *function) -> void * {
    (*static_cast<std::function<void()> *>(function))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, run, &launch), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  expectOk(status);
}

StatusOr<std::shared_ptr<GpuDevice>> openInstalledVulkan() { return openVulkan(0); }
StatusOr<std::shared_ptr<GpuDevice>> openStagedVulkan() {
  return internal::openVulkanApart(0, "libvulkan.so.1", {.alwaysStage = true});
}
StatusOr<std::shared_ptr<GpuDevice>> openInstalledCuda() { return openCuda(0); }
StatusOr<std::shared_ptr<GpuDevice>> openFakeCuda() { return openCuda(0, fakeCuda); }

INSTANTIATE_TEST_SUITE_P(
    All, DriversTest,
    testing::Values(Driver{"Vulkan", GpuCodeKind::Spirv, &openInstalledVulkan},
                    Driver{"StagedVulkan", GpuCodeKind::Spirv, &openStagedVulkan},
                    Driver{"Cuda", GpuCodeKind::Ptx, &openInstalledCuda},
                    Driver{"FakeCuda", GpuCodeKind::Ptx, &openFakeCuda}),
    [](const testing::TestParamInfo<Driver> &info) { return info.param.name; });

TEST(OpenTest, SaysWhatIsMissing) {
  struct {
    Status status;
    const char *message;
  } failures[] = {{openVulkan(0, "libno-such.so").status(), "no library libno-such.so"},
                  {openVulkan(0, "libm.so.6").status(), "no symbol vkGetInstanceProcAddr"},
                  {openCuda(0, "libno-such.so").status(), "no library libno-such.so"},
                  {openCuda(0, "libm.so.6").status(), "no symbol cuInit"},
                  {openCuda(1, fakeCuda).status(), "no CUDA device #1, there are 1"},
                  {openCuda(-1, fakeCuda).status(), "no CUDA device #-1"}};
  for (const auto &[status, message] : failures) {
    EXPECT_EQ(status.code(), StatusCode::Unavailable);
    EXPECT_THAT(std::string(status.message()), HasSubstr(message));
  }
  EXPECT_EQ(openVulkan(1000).status().code(), StatusCode::Unavailable);
  EXPECT_EQ(openVulkan(-1).status().code(), StatusCode::Unavailable);
}

class VulkanFailures : public testing::Test {
protected:
  static constexpr int outOfDeviceMemory = -2, deviceLost = -4;
  enum Call { Allocate, Submit, Wait };

  void SetUp() override {
    StatusOr<std::shared_ptr<GpuDevice>> opened =
        internal::openVulkanApart(0, vulkanShim, {.alwaysStage = true});
    if (!opened.ok() && opened.status().code() == StatusCode::Unavailable)
      GTEST_SKIP() << opened.status().toString();
    ASSERT_TRUE(opened.ok()) << opened.status().toString();
    device = *opened;
  }
  void TearDown() override {
    device = nullptr;
    EXPECT_EQ(control<int()>(vulkanShim, "shimMemories")(), 0);
    EXPECT_EQ(control<int()>(vulkanShim, "shimFences")(), 0);
  }
  void fail(Call call, int result, int count = 1) {
    control<void(int, int, int)>(vulkanShim, "shimFail")(call, result, count);
  }
  int copies() { return control<int()>(vulkanShim, "shimCopies")(); }
  Launcher load(GpuCode code) { return Launcher(device->load(std::move(code)).value()); }

  std::shared_ptr<GpuDevice> device;
};

TEST_F(VulkanFailures, CopiesWhatIsReadAndWhatIsWritten) {
  Launcher axpy = load(axpyCode(GpuCodeKind::Spirv)),
           tenfold = load(tenfoldCode(GpuCodeKind::Spirv));
  int before = copies();
  expectAxpy(axpy, 10);
  EXPECT_EQ(copies() - before, 3);
  before = copies();
  Vector x(10), y(10);
  expectOk(tenfold({x.view(), y.view()}));
  EXPECT_EQ(copies() - before, 2);
}

TEST_F(VulkanFailures, GivesIdleMemoryBackBeforeItHasNone) {
  Launcher axpy = load(axpyCode(GpuCodeKind::Spirv)),
           tenfold = load(tenfoldCode(GpuCodeKind::Spirv));
  expectAxpy(axpy, 1000);
  fail(Allocate, outOfDeviceMemory);
  Vector x(1000), y(1000);
  expectOk(tenfold({x.view(), y.view()}));
  EXPECT_EQ(control<int()>(vulkanShim, "shimMemories")(), 2); // of the second program
  fail(Allocate, outOfDeviceMemory);
  void *memory = device->allocate(100, 64);
  EXPECT_NE(memory, nullptr);
  EXPECT_EQ(control<int()>(vulkanShim, "shimMemories")(), 1);
  device->release(memory, 100);

  fail(Allocate, outOfDeviceMemory, 2);
  EXPECT_EQ(tenfold({x.view(), y.view()}).code(), StatusCode::ResourceExhausted);
  expectOk(tenfold({x.view(), y.view()}));
  fail(Submit, outOfDeviceMemory, 2);
  EXPECT_EQ(tenfold({x.view(), y.view()}).code(), StatusCode::ResourceExhausted);
  expectOk(tenfold({x.view(), y.view()}));
  EXPECT_EQ(y.elements[999], 9990);
}

TEST_F(VulkanFailures, LosesTheDeviceForGood) {
  for (Call call : {Submit, Wait}) {
    StatusOr<std::shared_ptr<GpuDevice>> opened = openVulkan(0, vulkanShim);
    ASSERT_TRUE(opened.ok());
    device = *opened;
    Launcher axpy = load(axpyCode(GpuCodeKind::Spirv));
    Vector x(10), y(10);
    float a = 1;
    fail(call, deviceLost);
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(axpy({x.view(), viewOf(a), y.view()}).code(), StatusCode::Unavailable);
    EXPECT_EQ(device->load(axpyCode(GpuCodeKind::Spirv)).status().code(), StatusCode::Unavailable);
    EXPECT_EQ(device->allocate(16, 16), nullptr);
  }
}

TEST_F(VulkanFailures, DoesNotTrustAWaitThatFails) {
  Launcher axpy = load(axpyCode(GpuCodeKind::Spirv));
  Vector x(10), y(10);
  float a = 1;
  fail(Wait, outOfDeviceMemory);
  EXPECT_EQ(axpy({x.view(), viewOf(a), y.view()}).code(), StatusCode::Unavailable);
  EXPECT_EQ(axpy({x.view(), viewOf(a), y.view()}).code(), StatusCode::Unavailable);
}

TEST_F(VulkanFailures, RefusesWhatIsNoSpirv) {
  GpuCode code = axpyCode(GpuCodeKind::Spirv);
  code.modules[0] = "text";
  EXPECT_EQ(device->load(code).status().code(), StatusCode::FailedPrecondition);
  code = axpyCode(GpuCodeKind::Spirv);
  for (uint32_t i = 0; i < 10000; ++i)
    code.kernels[0].words.push_back({0, 32});
  StatusOr<std::shared_ptr<GpuProgram>> refused = device->load(code);
  EXPECT_EQ(refused.status().code(), StatusCode::FailedPrecondition);
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("push constants: 40008"));
}

TEST_F(VulkanFailures, CopiesOnTheDeviceWhatBeginsBetweenItsUnits) {
  Launcher tenfold = load(tenfoldCode(GpuCodeKind::Spirv));
  void *memory = device->allocate(1024, 256);
  Vector x(4, 1), y(4);
  plim_view inside = {static_cast<std::byte *>(memory) + 4, &x.extent, nullptr};
  int before = copies();
  expectOk(tenfold({x.view(), inside})); // to staging's, and on the device
  EXPECT_EQ(copies() - before, 2);
  before = copies();
  expectOk(tenfold({inside, y.view()}));
  EXPECT_EQ(copies() - before, 2);
  EXPECT_EQ(y.elements[3], 400);
  device->release(memory, 1024);
}

TEST_F(VulkanFailures, CopiesConstantsOnce) {
  Launcher tenfold = load(tenfoldCode(GpuCodeKind::Spirv));
  Vector x(20 << 18, 1), y(20 << 18); // more than goes through staging at once
  std::shared_ptr<const void> constant =
      device->keepConstant(x.elements.data(), x.elements.size() * 4);
  int before = copies();
  expectOk(tenfold({x.view(), y.view()}));
  EXPECT_EQ(copies() - before, 3);
  EXPECT_EQ(y.elements[(20 << 18) - 1], 10 * (20 << 18));
  before = copies();
  expectOk(tenfold({x.view(), y.view()}));
  EXPECT_EQ(copies() - before, 1); // the result
  constant = nullptr;
  expectOk(tenfold({x.view(), y.view()}));
  EXPECT_EQ(copies() - before, 3);
}

TEST_F(VulkanFailures, CopiesConstantsEachTimeWithoutMemoryForThem) {
  Launcher tenfold = load(tenfoldCode(GpuCodeKind::Spirv));
  Vector x(1000, 1), y(1000);
  expectOk(tenfold({x.view(), y.view()}));
  std::shared_ptr<const void> constant = device->keepConstant(x.elements.data(), 4000);
  for (Call call : {Allocate, Submit}) {
    // Memory comes back, and is not there when it is asked for.
    device->release(device->allocate(100, 64), 100);
    fail(call, outOfDeviceMemory, call == Allocate ? 2 : 1);
    expectOk(tenfold({x.view(), y.view()}));
    EXPECT_EQ(y.elements[999], 10000);
    int before = copies();
    expectOk(tenfold({x.view(), y.view()}));
    EXPECT_EQ(copies() - before, 2);
  }
  device->release(device->allocate(100, 64), 100);
  int before = copies();
  expectOk(tenfold({x.view(), y.view()}));
  EXPECT_EQ(copies() - before, 2);
  expectOk(tenfold({x.view(), y.view()}));
  EXPECT_EQ(copies() - before, 3);
  // The frame goes, and then the constant's copy.
  fail(Allocate, outOfDeviceMemory, 2);
  void *memory = device->allocate(100, 64);
  ASSERT_NE(memory, nullptr);
  EXPECT_EQ(control<int()>(vulkanShim, "shimMemories")(), 1);
  device->release(memory, 100);
}

class CudaTest : public testing::Test {
protected:
  void SetUp() override {
    StatusOr<std::shared_ptr<GpuDevice>> opened = openCuda(0, fakeCuda);
    ASSERT_TRUE(opened.ok()) << opened.status().toString();
    device = *opened;
    clear();
  }
  void TearDown() override {
    device = nullptr;
    EXPECT_EQ(control<int()>(fakeCuda, "fakeLive")(), 0);
    EXPECT_EQ(control<int()>(fakeCuda, "fakeFaults")(), 0);
    EXPECT_EQ(control<int()>(fakeCuda, "fakeDepth")(), 0);
  }
  std::string journal() { return control<const char *()>(fakeCuda, "fakeJournal")(); }
  void clear() { control<void()>(fakeCuda, "fakeClear")(); }
  void fail(const char *call, int result, int count = 1) {
    control<void(const char *, int, int)>(fakeCuda, "fakeFail")(call, result, count);
  }
  Launcher load(GpuCode code) { return Launcher(device->load(std::move(code)).value()); }
  Status run(const Launcher &axpy) {
    float a = 1;
    return axpy({x.view(), viewOf(a), y.view()});
  }

  std::shared_ptr<GpuDevice> device;
  Vector x{100}, y{100};
};

TEST_F(CudaTest, CallsTheDriverInOrder) {
  Launcher axpy = load(axpyCode(GpuCodeKind::Ptx));
  EXPECT_EQ(journal(), "cuCtxPushCurrent\n"
                       "cuModuleLoadDataEx\n"
                       "cuModuleGetFunction axpy\n"
                       "cuStreamCreate 1\n"
                       "cuCtxPopCurrent\n");
  expectOk(run(axpy));
  clear();
  expectOk(run(axpy));
  EXPECT_EQ(journal(), "cuCtxPushCurrent\n"
                       "cuMemcpyHtoDAsync 400\n"
                       "cuMemcpyHtoDAsync 400\n"
                       "cuLaunchKernel axpy 2 1 1 64 1 1 0\n"
                       "cuMemcpyDtoHAsync 400\n"
                       "cuStreamSynchronize\n"
                       "cuCtxPopCurrent\n");
}

TEST_F(CudaTest, CopiesWhatIsReadAndWhatIsWritten) {
  Launcher tenfold = load(tenfoldCode(GpuCodeKind::Ptx));
  clear();
  expectOk(tenfold({x.view(), y.view()}));
  EXPECT_EQ(journal(), "cuCtxPushCurrent\n"
                       "cuMemAlloc 65536\n"
                       "cuMemcpyHtoDAsync 400\n"
                       "cuLaunchKernel scale 2 1 1 64 1 1 0\n"
                       "cuLaunchKernel scale 2 1 1 64 1 1 0\n"
                       "cuLaunchKernel axpy 2 1 1 64 1 1 0\n"
                       "cuMemcpyDtoHAsync 400\n"
                       "cuStreamSynchronize\n"
                       "cuCtxPopCurrent\n");
}

TEST_F(CudaTest, ComparesArchitectures) {
  GpuCode code = axpyCode(GpuCodeKind::Ptx);
  for (const char *runs : {"sm_50", "sm_90", "sm_90a", "sm_90f"}) {
    code.features = {runs};
    EXPECT_TRUE(device->load(code).ok()) << runs;
  }
  for (const char *refused :
       {"sm_91", "sm_100", "sm_80a", "sm_80f", "sm_", "sm_90x", "+ptx80", ""}) {
    code.features = {refused};
    EXPECT_EQ(device->load(code).status().code(), StatusCode::FailedPrecondition) << refused;
  }
}

TEST_F(CudaTest, GivesWorkgroupsTheMemoryThatTheyNeed) {
  GpuCode code = axpyCode(GpuCodeKind::Ptx);
  code.kernels[0].workgroupMemory = 232448;
  clear();
  Launcher axpy = load(code);
  EXPECT_THAT(journal(), HasSubstr("cuModuleGetFunction axpy\ncuFuncSetAttribute axpy 8 232448\n"));
  expectOk(run(axpy));
  EXPECT_THAT(journal(), HasSubstr("cuLaunchKernel axpy 2 1 1 64 1 1 232448\n"));

  code.kernels[0].workgroupMemory = 232449;
  StatusOr<std::shared_ptr<GpuProgram>> refused = device->load(code);
  EXPECT_EQ(refused.status().code(), StatusCode::FailedPrecondition);
  EXPECT_THAT(std::string(refused.status().message()),
              HasSubstr("a workgroup needs 232449 bytes of memory, the device has 232448"));
}

TEST_F(CudaTest, SaysWhyCodeIsRefused) {
  fail("cuModuleLoadDataEx", 218);
  StatusOr<std::shared_ptr<GpuProgram>> refused = device->load(axpyCode(GpuCodeKind::Ptx));
  EXPECT_EQ(refused.status().code(), StatusCode::FailedPrecondition);
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("line 7: syntax error"));
  GpuCode code = axpyCode(GpuCodeKind::Ptx);
  code.kernels[0].entry = "other";
  refused = device->load(code);
  EXPECT_EQ(refused.status().code(), StatusCode::FailedPrecondition);
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("kernel 'other'"));
}

TEST_F(CudaTest, GivesIdleMemoryBackBeforeItHasNone) {
  Launcher axpy = load(axpyCode(GpuCodeKind::Ptx)), other = load(axpyCode(GpuCodeKind::Ptx));
  expectOk(run(axpy));
  fail("cuMemAlloc", 2);
  clear();
  expectOk(run(other));
  EXPECT_THAT(journal(), HasSubstr("cuStreamDestroy\ncuMemFree\n"));
  fail("cuMemAlloc", 2, 2);
  EXPECT_EQ(run(axpy).code(), StatusCode::ResourceExhausted);
  expectOk(run(axpy));
  fail("cuMemAlloc", 2, 2);
  EXPECT_EQ(device->allocate(100, 16), nullptr);
}

/// How often something is copied to the device.
class CudaConstantsTest : public CudaTest {
protected:
  int copies(const std::string &what = "cuMemcpyHtoDAsync") {
    int count = 0;
    for (size_t at = 0; (at = journal().find(what, at)) != std::string::npos; at += what.size())
      ++count;
    return count;
  }
  /// Copies of a launch.
  int copiesOf(const Launcher &tenfold) {
    clear();
    expectOk(tenfold({x.view(), y.view()}));
    EXPECT_EQ(y.elements[99], 990);
    return copies();
  }
  std::shared_ptr<const void> keep() { return device->keepConstant(x.elements.data(), 400); }
  void giveSomethingBack() { device->release(device->allocate(100, 64), 100); }
  Launcher tenfold() { return load(tenfoldCode(GpuCodeKind::Ptx)); }
};

TEST_F(CudaConstantsTest, AreThereBeforeOthersUseThem) {
  Launcher launch = tenfold();
  std::shared_ptr<const void> constant = keep();
  clear();
  expectOk(launch({x.view(), y.view()}));
  EXPECT_EQ(journal(), "cuCtxPushCurrent\n"
                       "cuMemAlloc 400\n"
                       "cuMemcpyHtoDAsync 400\n"
                       "cuStreamSynchronize\n"
                       "cuMemAlloc 65536\n"
                       "cuLaunchKernel scale 2 1 1 64 1 1 0\n"
                       "cuLaunchKernel scale 2 1 1 64 1 1 0\n"
                       "cuLaunchKernel axpy 2 1 1 64 1 1 0\n"
                       "cuMemcpyDtoHAsync 400\n"
                       "cuStreamSynchronize\n"
                       "cuCtxPopCurrent\n");
  EXPECT_EQ(copiesOf(launch), 0);
  EXPECT_EQ(copiesOf(tenfold()), 0);
  constant = nullptr;
  EXPECT_EQ(copiesOf(launch), 1);
}

TEST_F(CudaConstantsTest, AreCopiedByOneOfManyThreads) {
  Launcher launch = tenfold();
  Vector other(100, 1);
  std::shared_ptr<const void> constant = keep(),
                              second = device->keepConstant(other.elements.data(), 400);
  clear();
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 8; ++thread)
    threads.emplace_back([&, thread] {
      Vector result(100);
      Vector &argument = thread % 2 ? x : other;
      expectOk(launch({argument.view(), result.view()}));
      EXPECT_EQ(result.elements[99], thread % 2 ? 990 : 1000);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(copies(), 2);
}

TEST_F(CudaConstantsTest, AreCopiedEachTimeWithoutMemoryForThem) {
  Launcher launch = tenfold();
  EXPECT_EQ(copiesOf(launch), 1);
  std::shared_ptr<const void> constant = keep();
  fail("cuMemAlloc", 2, 2);
  EXPECT_EQ(copiesOf(launch), 1);
  EXPECT_EQ(copies("cuMemAlloc 400"), 2);
  EXPECT_EQ(copiesOf(launch), 1);
  EXPECT_EQ(copies("cuMemAlloc"), 0);
  giveSomethingBack();
  EXPECT_EQ(copiesOf(launch), 1);
  EXPECT_EQ(copiesOf(launch), 0);
}

TEST_F(CudaConstantsTest, GiveWayUnlessALaunchUsesThem) {
  Launcher launch = tenfold(), axpy = load(axpyCode(GpuCodeKind::Ptx));
  Vector other(100), result(100);
  std::shared_ptr<const void> constant = keep();
  EXPECT_EQ(copiesOf(launch), 1);
  // The second program has no memory for its block: frames first, then copies, but not the one that it uses.
  std::shared_ptr<const void> second = device->keepConstant(other.elements.data(), 400);
  float a = 1;
  EXPECT_EQ(run(axpy).code(), StatusCode::Ok);
  axpy = load(axpyCode(GpuCodeKind::Ptx));
  expectOk(load(tenfoldCode(GpuCodeKind::Ptx))({other.view(), result.view()}));
  fail("cuMemAlloc", 2, 2);
  clear();
  expectOk(axpy({other.view(), viewOf(a), result.view()}));
  EXPECT_EQ(copies("cuMemFree"), 2); // a block of a frame, and the copy of x
  EXPECT_EQ(copies(), 1);            // the result, which is added to
  EXPECT_EQ(copiesOf(launch), 1);    // not again before memory comes back
  EXPECT_EQ(copiesOf(launch), 1);
  giveSomethingBack();
  EXPECT_EQ(copiesOf(launch), 1);
  EXPECT_EQ(copiesOf(launch), 0);
  // What the host allocates is worth more as well; then there is nothing left to give.
  fail("cuMemAlloc", 2, 2);
  giveSomethingBack();
  EXPECT_EQ(copiesOf(launch), 1);
  EXPECT_EQ(copiesOf(launch), 0);
  constant = second = nullptr;
  fail("cuMemAlloc", 2, 2);
  EXPECT_EQ(device->allocate(100, 64), nullptr);
}

TEST_F(CudaConstantsTest, AreCopiedAgainOnceAProgramIsGone) {
  Launcher launch = tenfold();
  EXPECT_EQ(copiesOf(launch), 1);
  std::shared_ptr<const void> constant = keep();
  {
    Launcher other = tenfold();
    fail("cuMemAlloc", 2, 2);
    EXPECT_EQ(copiesOf(launch), 1);
    EXPECT_EQ(copiesOf(launch), 1);
  }
  EXPECT_EQ(copiesOf(launch), 1); // the program had memory, maybe
  EXPECT_EQ(copiesOf(launch), 0);
}

TEST_F(CudaConstantsTest, AreCopiedAgainIfTheirMemoryWasNotEnough) {
  Launcher launch = tenfold(), axpy = load(axpyCode(GpuCodeKind::Ptx));
  std::shared_ptr<const void> constant = keep();
  EXPECT_EQ(copiesOf(launch), 1);
  Vector other(100), result(100);
  float a = 1;
  fail("cuMemAlloc", 2, 3);
  EXPECT_EQ(axpy({other.view(), viewOf(a), result.view()}).code(), StatusCode::ResourceExhausted);
  EXPECT_EQ(copiesOf(launch), 1);
  EXPECT_EQ(copiesOf(launch), 0);
}

TEST_F(CudaConstantsTest, AreNoMoreThanTheDevice) {
  Launcher launch = tenfold();
  std::shared_ptr<const void> constant = keep();
  EXPECT_EQ(copiesOf(launch), 1);
  Vector other(100);
  std::shared_ptr<const void> second = device->keepConstant(other.elements.data(), 400);
  fail("cuStreamSynchronize", 700);
  EXPECT_EQ(launch({other.view(), y.view()}).code(), StatusCode::Unavailable);
  EXPECT_EQ(launch({x.view(), y.view()}).code(), StatusCode::Unavailable);
  EXPECT_NE(keep(), nullptr);
}

TEST_F(CudaTest, WaitsAlsoAfterAFault) {
  Launcher axpy = load(axpyCode(GpuCodeKind::Ptx));
  clear();
  fail("cuLaunchKernel", 1);
  Status status = run(axpy);
  EXPECT_EQ(status.code(), StatusCode::Internal);
  EXPECT_THAT(std::string(status.message()), HasSubstr("kernel 'axpy': cuLaunchKernel: error 1"));
  EXPECT_TRUE(journal().ends_with("cuStreamSynchronize\ncuCtxPopCurrent\n"));
  expectOk(run(axpy));
}

TEST_F(CudaTest, LosesTheDeviceForGood) {
  Launcher axpy = load(axpyCode(GpuCodeKind::Ptx));
  fail("cuStreamSynchronize", 700);
  Status status = run(axpy);
  EXPECT_EQ(status.code(), StatusCode::Unavailable);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("error 700 (CUDA_ERROR_ILLEGAL_ADDRESS), an illegal memory access"));
  clear();
  EXPECT_EQ(run(axpy).code(), StatusCode::Unavailable);
  EXPECT_EQ(device->load(axpyCode(GpuCodeKind::Ptx)).status().code(), StatusCode::Unavailable);
  EXPECT_EQ(device->allocate(16, 16), nullptr);
  EXPECT_EQ(journal(), "");
  StatusOr<std::shared_ptr<GpuDevice>> again = openCuda(0, fakeCuda);
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE((*again)->load(axpyCode(GpuCodeKind::Ptx)).ok());
}

TEST_F(CudaTest, SharesOneDevice) {
  StatusOr<std::shared_ptr<GpuDevice>> again = openCuda(0, fakeCuda);
  ASSERT_TRUE(again.ok());
  void *memory = (*again)->allocate(400, 256);
  Launcher tenfold = load(tenfoldCode(GpuCodeKind::Ptx));
  clear();
  expectOk(tenfold({x.view(), {memory, &x.extent, nullptr}}));
  EXPECT_THAT(journal(), testing::Not(HasSubstr("cuMemcpyDtoH")));
  device->release(memory, 400);
}

} // namespace
} // namespace plim::devices
