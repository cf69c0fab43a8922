// Reads handwritten digits with the network of digits.mlir, through the C++ interface.
//
//   digits FOLDER      the folder with digits.mlir, weights.safetensors and the test split
//
// Prints the accuracy, a few digits beside what the network makes of them, how long loading takes
// with an empty cache and with a filled one, the time per batch, and what the engine decided.
#include "engine/io/Npy.h"
#include "engine/io/Safetensors.h"
#include "engine/session/Engine.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace plim;
using runtime::Buffer;
using runtime::ElementType;
using runtime::Value;

namespace {

constexpr int64_t side = 8;
constexpr int64_t pixels = side * side;

using Clock = std::chrono::steady_clock;

double millisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// A folder for the object cache, gone at the end: the first load must find it empty.
class CacheFolder {
public:
  static StatusOr<CacheFolder> create() {
    std::string path = (std::filesystem::temp_directory_path() / "digits-XXXXXX").string();
    if (!mkdtemp(path.data()))
      return unavailableError("cannot make a folder for the cache: " + path);
    return CacheFolder(path);
  }
  CacheFolder(CacheFolder &&other) noexcept : path(std::exchange(other.path, {})) {}
  CacheFolder &operator=(CacheFolder &&) = delete;
  ~CacheFolder() {
    std::error_code ignored;
    if (!path.empty())
      std::filesystem::remove_all(path, ignored);
  }
  const std::string &name() const { return path; }

private:
  explicit CacheFolder(std::string path) : path(std::move(path)) {}
  std::string path;
};

struct TestSplit {
  Buffer images;
  Buffer labels;

  int64_t count() const { return images.shape()[0]; }
  const float *image(int64_t i) const {
    return static_cast<const float *>(images.data()) + i * pixels;
  }
  int32_t label(int64_t i) const { return static_cast<const int32_t *>(labels.data())[i]; }
};

StatusOr<TestSplit> readTestSplit(const std::string &folder) {
  auto pool = std::make_shared<runtime::MemoryPool>();
  TestSplit split;
  PLIM_ASSIGN_OR_RETURN(split.images, io::readNpy(folder + "/test_images.npy", pool));
  PLIM_ASSIGN_OR_RETURN(split.labels, io::readNpy(folder + "/test_labels.npy", pool));
  bool fits = split.images.type() == ElementType::F32 && split.images.shape().size() == 4 &&
              split.images.elementCount() == split.images.shape()[0] * pixels &&
              split.labels.type() == ElementType::I32 && split.labels.shape().size() == 1 &&
              split.labels.shape()[0] == split.images.shape()[0];
  if (!fits)
    return invalidArgumentError(folder + ": the test split is not Nx8x8x1 f32 and N i32");
  return split;
}

// The network, ready to run. The function keeps its module alive, the module its engine.
struct Network {
  std::shared_ptr<Module> module;
  Function classify;
};

StatusOr<Network> loadNetwork(const std::string &folder, const std::string &cache) {
  // The weights stay in the mapped file: the engine binds them by name, without a copy.
  LoadOptions options;
  PLIM_ASSIGN_OR_RETURN(auto weights, io::SafetensorsFile::open(folder + "/weights.safetensors"));
  for (const auto &[name, entry] : weights.entries()) {
    PLIM_ASSIGN_OR_RETURN(options.parameters[name], weights.tensor(name));
  }
  EngineOptions engineOptions;
  engineOptions.cacheFolder = cache;
  PLIM_ASSIGN_OR_RETURN(std::shared_ptr<Engine> engine, Engine::create(engineOptions));
  PLIM_ASSIGN_OR_RETURN(std::shared_ptr<Module> module,
                        engine->loadFile(folder + "/digits.mlir", options));
  PLIM_ASSIGN_OR_RETURN(Function function, module->lookup("classify"));
  return Network{std::move(module), std::move(function)};
}

// The first `count` images of the split as an argument; they stay where they are.
StatusOr<Value> firstImages(const TestSplit &split, int64_t count) {
  int64_t shape[] = {count, side, side, 1};
  PLIM_ASSIGN_OR_RETURN(Buffer batch,
                        Buffer::wrap(const_cast<float *>(split.image(0)), ElementType::F32, shape,
                                     /*readOnly=*/true, nullptr, nullptr));
  return Value(std::move(batch));
}

struct Predictions {
  Buffer labels;
  Buffer probabilities;
  int32_t label(int64_t i) const { return static_cast<const int32_t *>(labels.data())[i]; }
  float certainty(int64_t i) const {
    return static_cast<const float *>(probabilities.data())[i * 10 + label(i)];
  }
};

StatusOr<Predictions> classify(const Network &network, const TestSplit &split, int64_t count) {
  PLIM_ASSIGN_OR_RETURN(Value batch, firstImages(split, count));
  PLIM_ASSIGN_OR_RETURN(std::vector<Value> results, network.classify.call({&batch, 1}));
  return Predictions{std::get<Buffer>(results[0]), std::get<Buffer>(results[1])};
}

// Images side by side, one character for two columns of the terminal per pixel.
void draw(const TestSplit &split, const Predictions &found, std::span<const int64_t> chosen) {
  constexpr std::string_view shades = " .:-=+*#%@";
  for (int64_t row = 0; row < side; ++row) {
    for (int64_t i : chosen) {
      for (int64_t column = 0; column < side; ++column) {
        float grey = std::clamp(split.image(i)[row * side + column], 0.0f, 1.0f);
        char shade = shades[static_cast<size_t>(grey * static_cast<float>(shades.size() - 1))];
        std::printf("%c%c", shade, shade);
      }
      std::printf("   ");
    }
    std::printf("\n");
  }
  for (int64_t i : chosen) {
    std::string verdict =
        found.label(i) == split.label(i) ? " right" : ", wrong: " + std::to_string(split.label(i));
    char caption[40];
    std::snprintf(caption, sizeof(caption), "%d (%.0f%%)%s", found.label(i),
                  100.0 * static_cast<double>(found.certainty(i)), verdict.c_str());
    std::printf("%-19s", caption);
  }
  std::printf("\n\n");
}

// The accuracy, and the first digits that were read rightly and wrongly. An error below 95%.
Status showDigits(const TestSplit &split, const Predictions &found) {
  std::vector<int64_t> right, wrong;
  for (int64_t i = 0; i < split.count(); ++i)
    (found.label(i) == split.label(i) ? right : wrong).push_back(i);
  double accuracy = static_cast<double>(right.size()) / static_cast<double>(split.count());
  std::printf("\naccuracy %.2f%% of %lld images\n\n", 100 * accuracy,
              static_cast<long long>(split.count()));
  right.resize(std::min<size_t>(right.size(), 4));
  wrong.resize(std::min<size_t>(wrong.size(), 4));
  draw(split, found, right);
  if (!wrong.empty())
    draw(split, found, wrong);
  return accuracy > 0.95 ? okStatus() : internalError("the accuracy must be over 95%");
}

Status timeBatches(const Network &network, const TestSplit &split) {
  std::printf("batch   per batch (median of 100)   per image\n");
  for (int64_t count : {int64_t(1), int64_t(32), split.count()}) {
    std::vector<double> times;
    for (int i = 0; i < 100; ++i) {
      auto start = Clock::now();
      PLIM_RETURN_IF_ERROR(classify(network, split, count).status());
      times.push_back(1000 * millisecondsSince(start));
    }
    std::nth_element(times.begin(), times.begin() + 50, times.end());
    std::printf("%5lld   %20.1f us %14.2f us\n", static_cast<long long>(count), times[50],
                times[50] / static_cast<double>(count));
  }
  std::printf("\n");
  return okStatus();
}

// Every placement and access with its reason, from the module's report.
Status explain(const Module &module) {
  auto report = nlohmann::json::parse(module.report(), nullptr, /*allow_exceptions=*/false);
  if (!report.is_object())
    return internalError("the report is not JSON");
  auto text = [](const nlohmann::json &object, const char *key) {
    return object.value(key, std::string("?"));
  };
  for (const auto &function : report.value("functions", nlohmann::json::array())) {
    std::printf("@%s, workspace of one call: %lld bytes\n", text(function, "name").c_str(),
                static_cast<long long>(function.value("workspace_bytes", int64_t(0))));
    for (const auto &dispatch : function.value("dispatches", nlohmann::json::array())) {
      std::printf("  dispatch %s on %s\n", text(dispatch, "name").c_str(),
                  text(dispatch, "device").c_str());
      for (const auto &binding : dispatch.value("bindings", nlohmann::json::array()))
        std::printf("    %-9s %s\n", text(binding, "access").c_str(),
                    text(binding, "type").c_str());
    }
  }
  for (const auto &allocation : report.value("allocations", nlohmann::json::array()))
    std::printf("%s of @%s in %s: %s\n", text(allocation, "type").c_str(),
                text(allocation, "function").c_str(), text(allocation, "scope").c_str(),
                text(allocation, "reason").c_str());
  return okStatus();
}

Status run(const std::string &folder) {
  PLIM_ASSIGN_OR_RETURN(TestSplit split, readTestSplit(folder));
  PLIM_ASSIGN_OR_RETURN(CacheFolder cache, CacheFolder::create());

  for (const char *how : {"empty", "filled"}) {
    auto start = Clock::now();
    PLIM_ASSIGN_OR_RETURN(Network network, loadNetwork(folder, cache.name()));
    PLIM_RETURN_IF_ERROR(classify(network, split, 1).status());
    std::printf("%s cache: loaded in %.1f ms%s, first answer after %.1f ms\n", how,
                1000 * network.module->statistics().totalSeconds,
                network.module->statistics().fromCache ? " from it" : "", millisecondsSince(start));
  }

  PLIM_ASSIGN_OR_RETURN(Network network, loadNetwork(folder, cache.name()));
  PLIM_ASSIGN_OR_RETURN(Predictions found, classify(network, split, split.count()));
  PLIM_RETURN_IF_ERROR(showDigits(split, found));
  PLIM_RETURN_IF_ERROR(timeBatches(network, split));
  return explain(*network.module);
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: digits FOLDER\n");
    return 2;
  }
  Status status = run(argv[1]);
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.toString().c_str());
    return 1;
  }
  return 0;
}
