// Convolutions of networks that are in use beside oneDNN, and the machine's multiply-add peak.
//
// All get the same number of threads and the same dense memory: images with the border that their
// windows touch, and a result that is there already. Plimsoll runs a module whose filter is a
// constant, as in a network; "argument" is the same with a filter that is given to each call.
// oneDNN runs with the filter as it lies, with a filter that it packed before the clock ran, and,
// where it has kernels for that, with images and results that it reorders in each run. Elements
// drawn at random are checked against sums in f64, of ours and of the peers. Work is two operations
// for each product.
//
// Counters beside those of Contest: best, our speed by that of the fastest peer, median over the
// rounds.

#include "bench/harness/Contest.h"
#include "bench/harness/Main.h"
#include "bench/harness/Workload.h"
#include "bench/peers/Peers.h"
#include "bench/peers/Sums.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

using namespace plim;
using namespace plim::bench;
using runtime::Buffer;
using runtime::ElementType;
using runtime::Value;

namespace {

struct Case {
  std::string family, name;
  Convolution convolution;
};

std::string typeOf(const std::vector<int64_t> &shape, ElementType element) {
  std::string text = "tensor<";
  for (int64_t extent : shape)
    text += std::to_string(extent) + "x";
  return text + std::string(runtime::elementTypeName(element)) + ">";
}

/// @main(image, filter, result), or @main(image) with @filter as a parameter, with the maps of
/// linalg: loops have the letters of their dimensions, those of the window capital ones.
std::string moduleOf(const Convolution &c, bool isConstant) {
  auto indices = [&](const std::string &letters, char of) {
    std::string text;
    for (char letter : letters) {
      const std::string window(1, static_cast<char>(std::toupper(letter))), own(1, letter);
      text += text.empty() ? "" : ", ";
      if (!Convolution::isSpace(letter) || of == 'r')
        text += own;
      else if (of == 'f')
        text += window;
      else
        text += own + " * " + std::to_string(c.axis(letter).stride) + " + " + window + " * " +
                std::to_string(c.axis(letter).dilation);
    }
    return text;
  };
  std::string loops, kinds;
  auto addLoop = [&](char letter, const char *kind) {
    loops += (loops.empty() ? "" : ", ") + std::string(1, letter);
    kinds += (kinds.empty() ? "\"" : ", \"") + std::string(kind) + "\"";
  };
  for (char letter : c.result)
    addLoop(letter, "parallel");
  for (char letter : c.filter)
    if (Convolution::isSpace(letter))
      addLoop(static_cast<char>(std::toupper(letter)), "reduction");
    else if (c.result.find(letter) == std::string::npos)
      addLoop(letter, "reduction");
  auto map = [&](const std::string &letters, char of) {
    return "affine_map<(" + loops + ") -> (" + indices(letters, of) + ")>";
  };
  const std::string image = typeOf(c.imageShape(), c.element),
                    filter = typeOf(c.filterShape(), c.element),
                    result = typeOf(c.resultShape(), c.sum),
                    element(runtime::elementTypeName(c.element)),
                    sum(runtime::elementTypeName(c.sum));
  const bool isFloat = runtime::isFloat(c.sum), isWidened = c.element != c.sum;
  std::string widened;
  for (const char *factor : {"%x", "%y"})
    if (isWidened)
      widened += std::string("    ") + factor + "w = arith." + (isFloat ? "extf " : "extsi ") +
                 factor + " : " + element + " to " + sum + "\n";
  const std::string suffix = isWidened ? "w" : "", kind = isFloat ? "f" : "i";
  const std::string head =
      isConstant ? "ml_program.global private @filter(#ml_program.extern<" + filter +
                       ">) : " + filter + "\nfunc.func @main(%a: " + image + ") -> " + result +
                       " {\n  %b = ml_program.global_load_const @filter : " + filter +
                       "\n  %c = tensor.empty() : " + result + "\n"
                 : "func.func @main(%a: " + image + ", %b: " + filter + ", %c: " + result +
                       ") -> " + result + " {\n";
  return head + "  %zero = arith.constant " + (isFloat ? "0.0" : "0") + " : " + sum +
         "\n  %z = linalg.fill ins(%zero : " + sum + ") outs(%c : " + result + ") -> " + result +
         "\n"
         "  %r = linalg.generic {indexing_maps = [" +
         map(c.image, 'i') + ", " + map(c.filter, 'f') + ", " + map(c.result, 'r') +
         "], iterator_types = [" + kinds + "]}\n      ins(%a, %b : " + image + ", " + filter +
         ") outs(%z : " + result +
         ") {\n"
         "  ^bb0(%x: " +
         element + ", %y: " + element + ", %sum: " + sum + "):\n" + widened + "    %p = arith.mul" +
         kind + " %x" + suffix + ", %y" + suffix + " : " + sum + "\n    %s = arith.add" + kind +
         " %sum, %p : " + sum + "\n    linalg.yield %s : " + sum +
         "\n"
         "  } -> " +
         result + "\n  return %r : " + result + "\n}\n";
}

/// Some elements, the first and the last among them, beside their sums in f64.
void check(const char *what, const Convolution &c, const Buffer &image, const Buffer &filter,
           const Buffer &result) {
  std::mt19937_64 random(7);
  const std::vector<int64_t> shape = c.resultShape();
  auto offset = [](const std::string &letters, const std::vector<int64_t> &extents, auto indexOf) {
    int64_t place = 0;
    for (size_t i = 0; i < letters.size(); ++i)
      place = place * extents[i] + indexOf(letters[i]);
    return place;
  };
  for (int i = 0; i < 100; ++i) {
    const int64_t where = i == 0   ? 0
                          : i == 1 ? result.elementCount() - 1
                                   : int64_t(random() % uint64_t(result.elementCount()));
    int64_t at[128] = {};
    int64_t rest = where;
    for (size_t dimension = shape.size(); dimension-- > 0; rest /= shape[dimension])
      at[size_t(c.result[dimension])] = rest % shape[dimension];
    double sum = 0, magnitude = 0;
    for (int64_t channel = 0; channel < c.channels; ++channel)
      for (int64_t d = 0; d < c.d.window; ++d)
        for (int64_t h = 0; h < c.h.window; ++h)
          for (int64_t w = 0; w < c.w.window; ++w) {
            auto tap = [&](char letter) { return letter == 'd' ? d : letter == 'h' ? h : w; };
            const double x = read(image, offset(c.image, c.imageShape(), [&](char letter) {
                                    if (Convolution::isSpace(letter))
                                      return at[size_t(letter)] * c.axis(letter).stride +
                                             tap(letter) * c.axis(letter).dilation;
                                    return letter == 'c' ? channel : at[size_t(letter)];
                                  }));
            const double y = read(filter, offset(c.filter, c.filterShape(), [&](char letter) {
                                    return Convolution::isSpace(letter) ? tap(letter)
                                           : letter == 'c'              ? channel
                                                                        : at[size_t(letter)];
                                  }));
            sum += x * y;
            magnitude += std::fabs(x * y);
          }
    checkSum(what, where, c.sum, read(result, where), sum, magnitude,
             c.channels * c.d.window * c.h.window * c.w.window);
  }
}

void convolution(benchmark::State &state, const Convolution &c, int threads) {
  static const uint64_t seed = std::random_device()();
  Buffer image = randomBuffer(c.element, c.imageShape(), seed);
  Buffer filter = randomBuffer(c.element, c.filterShape(), seed + 1);
  Buffer result = randomBuffer(c.sum, c.resultShape(), seed + 2);
  auto engine = makeEngine(threads);
  LoadOptions withFilter;
  withFilter.parameters["filter"] = filter;
  auto constant = orFail(engine->load(moduleOf(c, true), "convolution.mlir", withFilter)),
       argument = orFail(engine->load(moduleOf(c, false), "convolution.mlir"));
  Function ofConstant = orFail(constant->lookup("main")),
           ofArgument = orFail(argument->lookup("main"));
  std::vector<Value> images = {image}, arguments = {image, filter, result}, results(1);
  std::vector<Buffer> outputs = {result};
  CallOptions call;
  call.outputs = outputs;

  const double operations = 2.0 * double(result.elementCount()) *
                            double(c.channels * c.d.window * c.h.window * c.w.window);
  const int64_t calls = std::clamp<int64_t>(int64_t(2e8 / operations), 1, 200);
  auto repeated = [calls](auto once) {
    return [calls, once] {
      for (int64_t i = 0; i < calls; ++i)
        once();
    };
  };
  Contest contest(state, "GFLOPS");
  auto add = [&](const std::string &name, const std::function<void()> &once) {
    std::memset(result.mutableData(), 0, size_t(result.bytes()));
    once();
    check(name.c_str(), c, image, filter, result);
    contest.add(name, repeated(once), operations, calls);
  };
  add("plimsoll", [&] { orFail(ofConstant.callInto(images, results, call)); });
  add("argument", [&] { orFail(ofArgument.callInto(arguments, results, call)); });
  for (const Peer &peer : peersOf(c, threads, image.data(), filter.data(), result.mutableData()))
    add(peer.name, peer.run);
  addPeak(contest, threads);
  contest.run();
  countBest(state);
}

std::vector<Case> allCases() {
  std::vector<Case> cases;
  auto add = [&](std::string family, std::string name, Convolution convolution,
                 std::initializer_list<std::array<const char *, 3>> layouts) {
    for (auto [image, filter, result] : layouts) {
      convolution.image = image, convolution.filter = filter, convolution.result = result;
      cases.push_back({family, name + "/" + image + "-" + filter, convolution});
    }
  };
  const std::initializer_list<std::array<const char *, 3>> both = {{"nhwc", "hwcf", "nhwf"},
                                                                   {"nchw", "fchw", "nfhw"}};
  auto square = [](int64_t channels, int64_t filters, int64_t extent, int64_t window,
                   int64_t stride = 1, int64_t dilation = 1) {
    return Convolution{.channels = channels,
                       .filters = filters,
                       .h = {extent, window, stride, dilation},
                       .w = {extent, window, stride, dilation}};
  };
  add("resnet", "7x7s2_3to64_112", square(3, 64, 112, 7, 2), both);
  add("resnet", "3x3_64to64_56", square(64, 64, 56, 3), both);
  add("resnet", "3x3s2_64to128_28", square(64, 128, 28, 3, 2), both);
  add("resnet", "1x1s2_64to128_28", square(64, 128, 28, 1, 2), both);
  add("resnet", "3x3_128to128_28", square(128, 128, 28, 3), both);
  add("resnet", "3x3_256to256_14", square(256, 256, 14, 3), both);
  add("resnet", "3x3_512to512_7", square(512, 512, 7, 3), both);
  add("resnet", "3x3_64to64_56", square(64, 64, 56, 3), {{"nhwc", "fhwc", "nhwf"}});
  add("pointwise", "32to64_112", square(32, 64, 112, 1), both);
  add("pointwise", "64to256_56", square(64, 256, 56, 1), both);
  add("pointwise", "512to512_14", square(512, 512, 14, 1), both);
  add("pointwise", "960to160_7", square(960, 160, 7, 1), both);
  const std::initializer_list<std::array<const char *, 3>> depthwise = {{"nhwg", "hwg", "nhwg"},
                                                                        {"nghw", "ghw", "nghw"}};
  auto separate = [&](int64_t groups, int64_t extent, int64_t window, int64_t stride) {
    Convolution convolution = square(1, 1, extent, window, stride);
    convolution.groups = groups;
    return convolution;
  };
  add("depthwise", "3x3_32_112", separate(32, 112, 3, 1), depthwise);
  add("depthwise", "3x3s2_96_56", separate(96, 56, 3, 2), depthwise);
  add("depthwise", "5x5_240_14", separate(240, 14, 5, 1), depthwise);
  add("depthwise", "3x3_960_7", separate(960, 7, 3, 1), depthwise);
  Convolution grouped = square(4, 4, 56, 3);
  grouped.groups = 32;
  add("grouped", "3x3_32x4to4_56", grouped,
      {{"nhwgc", "gfhwc", "nhwgf"}, {"ngchw", "gfchw", "ngfhw"}});
  add("dilated", "3x3d2_256to256_28", square(256, 256, 28, 3, 1, 2), both);
  add("line", "3_80to512_1500", {.channels = 80, .filters = 512, .w = {1500, 3}},
      {{"nwc", "wcf", "nwf"}, {"ncw", "fcw", "nfw"}});
  // An image one pixel wide, and a single filter that moves by strides.
  add("line", "3x1_128to8_56", {.channels = 128, .filters = 8, .h = {54, 3}, .w = {1, 1}}, both);
  add("line", "2x2s2_128to1_28", square(128, 1, 28, 2, 2), both);
  add("volume", "3x3x3_16to32_16",
      {.channels = 16, .filters = 32, .d = {16, 3}, .h = {16, 3}, .w = {16, 3}},
      {{"ndhwc", "dhwcf", "ndhwf"}, {"ncdhw", "fcdhw", "nfdhw"}});
  Convolution batched = square(128, 128, 14, 3);
  batched.batch = 8;
  add("batched", "8x3x3_128to128_14", batched, both);
  for (auto [element, sum] : std::initializer_list<std::array<ElementType, 2>>{
           {ElementType::I8, ElementType::I32}, {ElementType::BF16, ElementType::F32}}) {
    const std::string type(runtime::elementTypeName(element));
    auto typed = [&, element = element, sum = sum](Convolution convolution) {
      convolution.element = element, convolution.sum = sum;
      return convolution;
    };
    for (auto [channels, extent] :
         std::initializer_list<std::array<int64_t, 2>>{{64, 56}, {128, 28}, {256, 14}, {512, 7}}) {
      const std::string size = std::to_string(channels), sizes = size + "to" + size;
      add("types", type + "_3x3_" + sizes + "_" + std::to_string(extent),
          typed(square(channels, channels, extent, 3)), both);
    }
    add("types", type + "_3x3_64to64_56", typed(square(64, 64, 56, 3)), {{"nhwc", "fhwc", "nhwf"}});
    add("types", type + "_3x3s2_64to128_28", typed(square(64, 128, 28, 3, 2)), both);
    add("types", type + "_1x1_64to256_56", typed(square(64, 256, 56, 1)), both);
    add("types", type + "_7x7s2_3to64_112", typed(square(3, 64, 112, 7, 2)), both);
    Convolution depth = typed(separate(96, 56, 3, 1));
    add("types", type + "_depthwise_3x3_96_56", depth, depthwise);
  }
  return cases;
}

void registerAll() {
  for (const Case &each : allCases())
    for (int threads : {1, 2})
      benchmark::RegisterBenchmark(
          (each.family + "/" + each.name + "/threads:" + std::to_string(threads)).c_str(),
          [each, threads](benchmark::State &state) {
            convolution(state, each.convolution, threads);
          })
          ->UseManualTime()
          ->Unit(benchmark::kMicrosecond)
          ->Iterations(7);
}

} // namespace

int main(int argc, char **argv) {
  prepareForPeers(argv);
  return runBenchmarks(argc, argv, registerAll);
}
