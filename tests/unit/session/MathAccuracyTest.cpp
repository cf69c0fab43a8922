// The error of vectorised functions against a reference in higher precision, in units in the last
// place, beside the bounds that docs/design/numerics.md states.
//
// f32 arguments are every PLIM_MATH_STRIDE-th bit pattern from a random first one, NaN, infinities and
// denormals included; with PLIM_MATH_STRIDE=1 that is all of them (an hour on one core).
#include "tests/unit/session/EngineFixture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <sstream>
#include <tuple>

namespace plim {
namespace {

using namespace testing;

template <typename T>
using Wider = std::conditional_t<std::is_same_v<T, float>, double, long double>;

/// Distance in units in the last place of the result that is wanted; 0 for two NaN.
template <typename T> double ulps(T have, Wider<T> want) {
  T rounded = static_cast<T>(want);
  if (std::isnan(want) || std::isnan(have))
    return std::isnan(want) == std::isnan(have) ? 0 : std::numeric_limits<double>::infinity();
  if (std::isinf(rounded) || std::isinf(have))
    return rounded == have ? 0 : std::numeric_limits<double>::infinity();
  int exponent = std::numeric_limits<T>::min_exponent;
  if (std::fabs(rounded) >= std::numeric_limits<T>::min())
    std::frexp(rounded, &exponent);
  Wider<T> unit = std::ldexp(Wider<T>(1), exponent - std::numeric_limits<T>::digits);
  return static_cast<double>(std::fabs(have - want) / unit);
}

/// A function over a vector whose element is `body`, from %x to %r.
std::string source(const std::string &type, std::string body) {
  std::string text = R"(
func.func @main(%a: tensor<?xT>) -> tensor<?xT> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xT>
  %e = tensor.empty(%n) : tensor<?xT>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]}
      ins(%a : tensor<?xT>) outs(%e : tensor<?xT>) {
  ^bb0(%x: T, %o: T):
    BODY
    linalg.yield %r : T
  } -> tensor<?xT>
  return %y : tensor<?xT>
})";
  text.replace(text.find("BODY"), 4, body);
  for (size_t at = text.find(" T"); at != std::string::npos; at = text.find(" T"))
    text.replace(at, 2, " " + type);
  for (size_t at = text.find("xT"); at != std::string::npos; at = text.find("xT"))
    text.replace(at, 2, "x" + type);
  return text;
}

template <typename T> struct Accuracy {
  const char *name;
  const char *body;
  Wider<T> (*reference)(T);
  double bound;
};
template <typename T> void PrintTo(const Accuracy<T> &accuracy, std::ostream *stream) {
  *stream << accuracy.name;
}

template <typename T> struct Worst {
  double error = 0;
  T argument = 0;
};

template <typename T>
void measure(Worst<T> &worst, const Function &function, const Accuracy<T> &accuracy,
             const std::vector<T> &arguments) {
  std::vector<Value> results =
      callOk(function, {makeBuffer({static_cast<int64_t>(arguments.size())}, arguments)});
  const T *have = static_cast<const T *>(std::get<Buffer>(results[0]).data());
  for (size_t i = 0; i < arguments.size(); ++i) {
    Wider<T> want = accuracy.reference(arguments[i]);
    double error = ulps<T>(have[i], want);
    if (error > worst.error)
      worst = {error, arguments[i]};
    if (want == 0 && std::signbit(have[i]) != std::signbit(want))
      ADD_FAILURE() << "the sign of zero is lost at " << arguments[i];
  }
}

template <typename T>
void report(const Worst<T> &worst, const Accuracy<T> &accuracy, const std::string &sampling) {
  std::ostringstream text;
  text << worst.error << " at " << std::hexfloat << worst.argument;
  std::printf("%s: %s units, %s\n", accuracy.name, text.str().c_str(), sampling.c_str());
  ::testing::Test::RecordProperty("ulp", std::to_string(worst.error));
  EXPECT_LE(worst.error, accuracy.bound) << accuracy.name << " " << text.str() << ", " << sampling;
}

// Machines without fused multiply-add round more often, those with AVX-512 have other exponentials, logarithms and powers.
std::vector<const char *> f32Targets() {
  std::vector<const char *> targets = {"host-cpu"};
#if defined(__x86_64__)
  targets.push_back("x86-64-v2");
  if (__builtin_cpu_supports("avx512f"))
    targets.push_back("x86-64-v3");
#endif
  return targets;
}

class AccuracyF32 : public ::testing::TestWithParam<std::tuple<const char *, Accuracy<float>>> {};

TEST_P(AccuracyF32, StaysWithinItsBound) {
  const auto &[target, accuracy] = GetParam();
  std::shared_ptr<Engine> engine = makeEngine({.target = target});
  Function function = lookup(load(*engine, source("f32", accuracy.body)), "main");
  const char *text = std::getenv("PLIM_MATH_STRIDE");
  const uint64_t stride = text ? std::max(1ULL, std::strtoull(text, nullptr, 10)) : 16381;
  const uint64_t first = std::random_device()() % stride;

  Worst<float> worst;
  std::vector<float> arguments;
  for (float edge : {0.0F, 0x1p-149F, 0x1p-127F, 0x1p-126F, 0x1p-24F, 0.5F, 1.0F, 4.0F, 9.25F,
                     87.5F, 88.8F, 89.0F, 103.9F, 0x1p31F, 0x1.fffffep127F, HUGE_VALF, NAN})
    for (float sign : {1.0F, -1.0F})
      for (float towards : {-HUGE_VALF, HUGE_VALF})
        arguments.insert(arguments.end(), {sign * edge, std::nextafter(sign * edge, towards)});
  for (uint64_t bits = first; bits < uint64_t(1) << 32; bits += stride) {
    arguments.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
    if (arguments.size() == size_t(1) << 20) {
      measure(worst, function, accuracy, arguments);
      arguments.clear();
    }
  }
  measure(worst, function, accuracy, arguments);
  report(worst, accuracy,
         std::string(target) + ", stride " + std::to_string(stride) + " from " +
             std::to_string(first));
}

INSTANTIATE_TEST_SUITE_P(
    Functions, AccuracyF32,
    ::testing::Combine(
        ::testing::ValuesIn(f32Targets()),
        ::testing::Values(
            Accuracy<float>{"exp", "%r = math.exp %x : T",
                            [](float x) { return std::exp(double(x)); }, 1.1},
            Accuracy<float>{"exp2", "%r = math.exp2 %x : T",
                            [](float x) { return std::exp2(double(x)); }, 1.1},
            Accuracy<float>{"expm1", "%r = math.expm1 %x : T",
                            [](float x) { return std::expm1(double(x)); }, 2},
            Accuracy<float>{"tanh", "%r = math.tanh %x : T",
                            [](float x) { return std::tanh(double(x)); }, 2},
            Accuracy<float>{"erf", "%r = math.erf %x : T",
                            [](float x) { return std::erf(double(x)); }, 2.1},
            Accuracy<float>{"log", "%r = math.log %x : T",
                            [](float x) { return std::log(double(x)); }, 1},
            Accuracy<float>{"log2", "%r = math.log2 %x : T",
                            [](float x) { return std::log2(double(x)); }, 2},
            Accuracy<float>{"log10", "%r = math.log10 %x : T",
                            [](float x) { return std::log10(double(x)); }, 2},
            Accuracy<float>{"log1p", "%r = math.log1p %x : T",
                            [](float x) { return std::log1p(double(x)); }, 1.6},
            Accuracy<float>{"sin", "%r = math.sin %x : T",
                            [](float x) { return std::sin(double(x)); }, 4},
            Accuracy<float>{"cos", "%r = math.cos %x : T",
                            [](float x) { return std::cos(double(x)); }, 4},
            Accuracy<float>{"rsqrt", "%r = math.rsqrt %x : T",
                            [](float x) { return 1 / std::sqrt(double(x)); }, 1.5},
            Accuracy<float>{"pow_2", "%c = arith.constant 2.0 : T\n%r = math.powf %x, %c : T",
                            [](float x) { return std::pow(double(x), double(2)); }, 0.5},
            Accuracy<float>{"pow_3", "%c = arith.constant 3.0 : T\n%r = math.powf %x, %c : T",
                            [](float x) { return std::pow(double(x), double(3)); }, 1.3},
            Accuracy<float>{"pow_4", "%c = arith.constant 4.0 : T\n%r = math.powf %x, %c : T",
                            [](float x) { return std::pow(double(x), double(4)); }, 2},
            Accuracy<float>{"pow_minus_1",
                            "%c = arith.constant -1.0 : T\n%r = math.powf %x, %c : T",
                            [](float x) { return std::pow(double(x), double(-1)); }, 0.5},
            Accuracy<float>{"pow_2_7", "%c = arith.constant 2.7 : T\n%r = math.powf %x, %c : T",
                            [](float x) { return std::pow(double(x), double(2.7F)); }, 1.2},
            Accuracy<float>{"pow_x_x", "%r = math.powf %x, %x : T",
                            [](float x) { return std::pow(double(x), double(x)); }, 1.2})),
    [](const auto &info) {
      std::string target = std::get<0>(info.param);
      std::replace(target.begin(), target.end(), '-', '_');
      return target + "_" + std::get<1>(info.param).name;
    });

class AccuracyF64 : public ::testing::TestWithParam<Accuracy<double>> {};

TEST_P(AccuracyF64, StaysWithinItsBound) {
  std::shared_ptr<Engine> engine = makeEngine();
  Function function = lookup(load(*engine, source("f64", GetParam().body)), "main");
  const uint32_t seed = std::random_device()();
  std::mt19937_64 random(seed);
  std::vector<double> arguments;
  for (double edge : {0.0, 0x1p-1074, 0x1p-1023, 0x1p-1022, 0.75, 1.0, 1.5, 0x1.fffffffffffffp1023,
                      HUGE_VAL, double(NAN)})
    for (double sign : {1.0, -1.0})
      for (double towards : {-HUGE_VAL, HUGE_VAL})
        arguments.insert(arguments.end(), {sign * edge, std::nextafter(sign * edge, towards)});
  std::uniform_real_distribution<double> mantissa(1, 2);
  std::uniform_int_distribution<int> exponent(-40, 9), sign(0, 1), digits(1, 52);
  for (int i = 0; i < 100'000; ++i)
    arguments.push_back(
        std::ldexp(sign(random) != 0 ? -mantissa(random) : mantissa(random), exponent(random)));
  for (int i = 0; i < 50'000; ++i) // near 1
    arguments.push_back(1 + std::ldexp(mantissa(random) - 1.5, -digits(random)));
  Worst<double> worst;
  measure(worst, function, GetParam(), arguments);
  report(worst, GetParam(), "seed " + std::to_string(seed));
}

/// A bound of what has functions of its own where there is AVX-512.
double boundWithVectorFunctions(double bound) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f"))
    return bound;
#endif
  return 4;
}

// Most are the C library's vector functions, which promise 4 units.
INSTANTIATE_TEST_SUITE_P(
    Functions, AccuracyF64,
    ::testing::Values(
        Accuracy<double>{"exp", "%r = math.exp %x : T",
                         [](double x) { return std::exp((long double)(x)); },
                         boundWithVectorFunctions(0.8)},
        Accuracy<double>{"exp2", "%r = math.exp2 %x : T",
                         [](double x) { return std::exp2((long double)(x)); },
                         boundWithVectorFunctions(0.8)},
        Accuracy<double>{"expm1", "%r = math.expm1 %x : T",
                         [](double x) { return std::expm1((long double)(x)); }, 4},
        Accuracy<double>{"tanh", "%r = math.tanh %x : T",
                         [](double x) { return std::tanh((long double)(x)); }, 4},
        Accuracy<double>{"erf", "%r = math.erf %x : T",
                         [](double x) { return std::erf((long double)(x)); }, 4},
        Accuracy<double>{"log", "%r = math.log %x : T",
                         [](double x) { return std::log((long double)(x)); },
                         boundWithVectorFunctions(0.6)},
        Accuracy<double>{"log2", "%r = math.log2 %x : T",
                         [](double x) { return std::log2((long double)(x)); },
                         boundWithVectorFunctions(0.6)},
        Accuracy<double>{"log10", "%r = math.log10 %x : T",
                         [](double x) { return std::log10((long double)(x)); },
                         boundWithVectorFunctions(0.6)},
        Accuracy<double>{"sin", "%r = math.sin %x : T",
                         [](double x) { return std::sin((long double)(x)); }, 4},
        Accuracy<double>{"cos", "%r = math.cos %x : T",
                         [](double x) { return std::cos((long double)(x)); }, 4},
        Accuracy<double>{"rsqrt", "%r = math.rsqrt %x : T",
                         [](double x) { return 1 / std::sqrt((long double)(x)); }, 1.5},
        Accuracy<double>{"pow_2", "%c = arith.constant 2.0 : T\n%r = math.powf %x, %c : T",
                         [](double x) { return std::pow((long double)(x), (long double)(2)); },
                         0.5},
        Accuracy<double>{"pow_3", "%c = arith.constant 3.0 : T\n%r = math.powf %x, %c : T",
                         [](double x) { return std::pow((long double)(x), (long double)(3)); },
                         1.3},
        Accuracy<double>{"pow_4", "%c = arith.constant 4.0 : T\n%r = math.powf %x, %c : T",
                         [](double x) { return std::pow((long double)(x), (long double)(4)); }, 2},
        Accuracy<double>{"pow_minus_1", "%c = arith.constant -1.0 : T\n%r = math.powf %x, %c : T",
                         [](double x) { return std::pow((long double)(x), (long double)(-1)); },
                         0.5},
        Accuracy<double>{"pow_2_7", "%c = arith.constant 2.7 : T\n%r = math.powf %x, %c : T",
                         [](double x) { return std::pow((long double)(x), (long double)(2.7)); },
                         boundWithVectorFunctions(0.9)},
        Accuracy<double>{"pow_x_x", "%r = math.powf %x, %x : T",
                         [](double x) { return std::pow((long double)(x), (long double)(x)); },
                         boundWithVectorFunctions(0.9)}),
    [](const auto &info) { return info.param.name; });

} // namespace
} // namespace plim
