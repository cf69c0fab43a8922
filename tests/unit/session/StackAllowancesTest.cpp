// What functions outside of generated code touch of the stack, against the allowance they have.
#include "engine/abi/plim_abi.h"
#include "jit/MathSymbols.h"
#include "jit/StackUse.h"
#include "tests/unit/engine/PaintedStack.h"
#include "tests/unit/engine/RuntimeFixture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>
#include <string>
#include <thread>
#include <vector>

namespace plim {
namespace {

using namespace runtime;
using testing::PaintedStack;

constexpr size_t stackBytes = 256 << 10;

class StackAllowance : public ::testing::Test {
protected:
  void SetUp() override {
    if (!PLIM_MEASURES_STACKS)
      GTEST_SKIP() << "frames of an instrumented runtime are larger";
  }

  /// The depth of `call` on a fresh thread.
  template <typename CallT> size_t depthOf(CallT call) {
    size_t depth = 0;
    PaintedStack stack(stackBytes);
    stack.run([&] { depth = stack.depthOf(call); });
    return depth;
  }

  void check(const std::string &what, size_t depth, int64_t allowance) {
    EXPECT_LE(depth, static_cast<size_t>(allowance)) << what;
    if (depth > deepest) {
      deepest = depth;
      RecordProperty("deepest", std::to_string(depth) + " of " + what);
    }
  }
  void TearDown() override {
    if (getenv("PLIM_PRINT_STACKS"))
      std::cout << "deepest: " << deepest << "\n";
  }

  size_t deepest = 0;
};

template <typename T>
constexpr T arguments[] = {T(0),
                           T(-0.0),
                           T(0.5),
                           T(1.5),
                           T(-3.25),
                           T(700.5),
                           T(1e6),
                           T(1e22),
                           std::numeric_limits<T>::max(),
                           std::numeric_limits<T>::min(),
                           std::numeric_limits<T>::denorm_min(),
                           std::numeric_limits<T>::infinity(),
                           std::numeric_limits<T>::quiet_NaN()};

TEST_F(StackAllowance, OfTheMathLibrary) {
  for (std::string name :
       {"acos", "acosh", "asin", "asinh", "atan",  "atanh",     "cbrt",  "ceil",
        "cos",  "cosh",  "erf",  "erfc",  "exp",   "exp10",     "exp2",  "expm1",
        "fabs", "floor", "log",  "log10", "log1p", "log2",      "rint",  "round",
        "sin",  "sinh",  "sqrt", "tan",   "tanh",  "roundeven", "trunc", "nearbyint"}) {
    auto wide = reinterpret_cast<double (*)(double)>(jit::mathSymbol(name));
    auto narrow = reinterpret_cast<float (*)(float)>(jit::mathSymbol(name + "f"));
    ASSERT_TRUE(wide && narrow) << name;
    check(name, depthOf([=] {
            for (double x : arguments<double>)
              wide(x);
          }),
          jit::StackAllowances::math);
    check(name + "f", depthOf([=] {
            for (float x : arguments<float>)
              narrow(x);
          }),
          jit::StackAllowances::math);
  }
  for (std::string name : {"atan2", "fmax", "fmin", "fmod", "pow"}) {
    auto wide = reinterpret_cast<double (*)(double, double)>(jit::mathSymbol(name));
    auto narrow = reinterpret_cast<float (*)(float, float)>(jit::mathSymbol(name + "f"));
    ASSERT_TRUE(wide && narrow) << name;
    check(name, depthOf([=] {
            for (double x : arguments<double>)
              for (double y : arguments<double>)
                wide(x, y);
          }),
          jit::StackAllowances::math);
    check(name + "f", depthOf([=] {
            for (float x : arguments<float>)
              for (float y : arguments<float>)
                narrow(x, y);
          }),
          jit::StackAllowances::math);
  }
}

#if defined(__x86_64__)
template <typename T, int Bytes> struct Vector {
  typedef T Type __attribute__((vector_size(Bytes)));
};

/// Calls a vector function of `bytes` per register with extreme lanes.
#define PLIM_CALL_VECTOR(name, feature, bytes)                                                     \
  template <typename T> [[gnu::target(feature)]] void name(void *function, bool binary) {          \
    using Type = typename Vector<T, bytes>::Type;                                                  \
    volatile T sink;                                                                               \
    for (size_t i = 0; i < std::size(arguments<T>); ++i) {                                         \
      Type x, y;                                                                                   \
      for (size_t lane = 0; lane < bytes / sizeof(T); ++lane) {                                    \
        x[lane] = arguments<T>[(i + lane) % std::size(arguments<T>)];                              \
        y[lane] = arguments<T>[(i + 3 * lane) % std::size(arguments<T>)];                          \
      }                                                                                            \
      Type r = binary ? reinterpret_cast<Type (*)(Type, Type)>(function)(x, y)                     \
                      : reinterpret_cast<Type (*)(Type)>(function)(x);                             \
      sink = r[0];                                                                                 \
    }                                                                                              \
    (void)sink;                                                                                    \
  }
PLIM_CALL_VECTOR(callSse, "sse2", 16)
PLIM_CALL_VECTOR(callAvx2, "avx2", 32)
PLIM_CALL_VECTOR(callAvx512, "avx512f", 64)
#undef PLIM_CALL_VECTOR

TEST_F(StackAllowance, OfTheVectorMathLibrary) {
  if (!jit::mathSymbol("_ZGVbN2v_sin"))
    GTEST_SKIP() << "there is none";
  for (std::string name :
       {"acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "cos",   "cosh",
        "erf",  "erfc",  "exp",  "exp10", "exp2", "expm1", "log",  "log10", "log1p",
        "log2", "sin",   "sinh", "tan",   "tanh", "atan2", "pow"}) {
    bool binary = name == "atan2" || name == "pow";
    auto symbol = [&](char isa, int lanes, const char *suffix) {
      std::string text = "_ZGV" + std::string(1, isa) + "N" + std::to_string(lanes) +
                         (binary ? "vv_" : "v_") + name + suffix;
      void *address = jit::mathSymbol(text);
      EXPECT_NE(address, nullptr) << text;
      return address;
    };
    constexpr int64_t allowance = jit::StackAllowances::library;
    void *d = symbol('b', 2, ""), *f = symbol('b', 4, "f");
    check(name, depthOf([=] { callSse<double>(d, binary); }), allowance);
    check(name, depthOf([=] { callSse<float>(f, binary); }), allowance);
    if (__builtin_cpu_supports("avx2")) {
      d = symbol('d', 4, ""), f = symbol('d', 8, "f");
      check(name, depthOf([=] { callAvx2<double>(d, binary); }), allowance);
      check(name, depthOf([=] { callAvx2<float>(f, binary); }), allowance);
    }
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) {
      d = symbol('e', 8, ""), f = symbol('e', 16, "f");
      check(name, depthOf([=] { callAvx512<double>(d, binary); }), allowance);
      check(name, depthOf([=] { callAvx512<float>(f, binary); }), allowance);
    }
  }
}
#endif

TEST_F(StackAllowance, OfMemoryFunctions) {
  std::vector<char> from(1 << 20), to(1 << 20);
  auto copy = reinterpret_cast<void *(*)(void *, const void *, size_t)>(jit::mathSymbol("memcpy"));
  auto move = reinterpret_cast<void *(*)(void *, const void *, size_t)>(jit::mathSymbol("memmove"));
  auto fill = reinterpret_cast<void *(*)(void *, int, size_t)>(jit::mathSymbol("memset"));
  for (size_t bytes : {size_t(1), size_t(100), size_t(5000), to.size()}) {
    char *out = to.data(), *in = from.data();
    check("memcpy", depthOf([=] { copy(out, in, bytes); }), jit::StackAllowances::support);
    check("memmove", depthOf([=] { move(out, in, bytes); }), jit::StackAllowances::support);
    check("memset", depthOf([=] { fill(out, 1, bytes); }), jit::StackAllowances::support);
  }
}

TEST_F(StackAllowance, OfTheRuntime) {
  for (size_t bytes : {size_t(100), size_t(1) << 20, size_t(64) << 20}) {
    RuntimeParts parts(1);
    Call call(parts);
    plim_context *context = call.context();
    int64_t size = static_cast<int64_t>(bytes);
    void *block = nullptr;
    check("plim_rt_allocate", depthOf([&] { block = plim_rt_allocate(context, 1, &size, 1); }),
          jit::StackAllowances::runtime);
    check("plim_rt_release", depthOf([&] { plim_rt_release(context, block); }),
          jit::StackAllowances::runtime);
    check("plim_rt_scratch", depthOf([&] { plim_rt_scratch(context, size); }),
          jit::StackAllowances::runtime);
  }
  RuntimeParts parts(1);
  int64_t absurd[] = {int64_t(1) << 62, 4}, negative = -1;
  {
    Call call(parts);
    plim_context *context = call.context();
    check("a size that overflows", depthOf([&] { plim_rt_allocate(context, 2, absurd, 8); }),
          jit::StackAllowances::runtime);
  }
  {
    Call call(parts);
    plim_context *context = call.context();
    check("memory that is not there", depthOf([&] { plim_rt_allocate(context, 1, absurd, 1); }),
          jit::StackAllowances::runtime);
  }
  {
    Call call(parts);
    plim_context *context = call.context();
    check("scratch of a negative size", depthOf([&] { plim_rt_scratch(context, negative); }),
          jit::StackAllowances::runtime);
  }
  {
    Call call(parts);
    plim_context *context = call.context();
    std::string message(5000, 'x');
    check("plim_rt_fail", depthOf([&] { plim_rt_fail(context, 9, message.c_str()); }),
          jit::StackAllowances::runtime);
  }
}

plim_code work(plim_context *, void *const *, const int64_t *, int64_t, int64_t) {
  std::this_thread::yield();
  return 0;
}
plim_code failing(plim_context *, void *const *, const int64_t *, int64_t, int64_t) { return 9; }
plim_code throwing(plim_context *, void *const *, const int64_t *, int64_t, int64_t) { throw 1; }

TEST_F(StackAllowance, OfADispatch) {
  for (int threads : {1, 2, 4})
    for (plim_dispatch_entry entry : {&work, &failing, &throwing})
      for (int64_t cost : {cheap, dear}) {
        // The first parallel dispatch starts the workers, the later ones find them.
        RuntimeParts parts(threads);
        std::vector<uint64_t> chain = {0};
        while (chain.size() < PLIM_SCHEDULE_LIMIT)
          chain.push_back(uint64_t{1} << (chain.size() - 1));
        for (int i = 0; i < 20; ++i) {
          const bool inOrder = i % 2 == 1;
          Call call(parts);
          plim_context *context = call.context();
          plim_dispatch dispatch = dispatchOf(entry, &firstScalar, "work", cost);
          // Every workgroup yields, which takes long where the machine has other work.
          int64_t count = 500, few = 20;
          check(std::to_string(threads) + " threads, cost " + std::to_string(cost),
                depthOf([&] { plim_rt_dispatch(context, &dispatch, nullptr, &count); }),
                jit::StackAllowances::dispatch);
          Call scheduled(parts);
          plim_context *other = scheduled.context();
          std::vector<plim_launch> launches(PLIM_SCHEDULE_LIMIT, {&dispatch, nullptr, &few});
          const plim_schedule schedule = {launches.size(), inOrder ? chain.data() : nullptr};
          check("a schedule, " + std::to_string(threads) + " threads, cost " + std::to_string(cost),
                depthOf([&] { plim_rt_schedule(other, &schedule, launches.data()); }),
                jit::StackAllowances::dispatch);
        }
      }
}

} // namespace
} // namespace plim
