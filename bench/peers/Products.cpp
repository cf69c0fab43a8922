// Matrix products of every form beside OpenBLAS and oneDNN, and the machine's multiply-add peak.
//
// All get the same memory, dense and row-major, and the same number of threads, and write a result that is there; none has
// seen the right-hand side before, so whoever packs it packs it each time. Elements drawn at random are checked against
// sums in f64, of ours and of the peers. Work is 2 m n k. A small product counts what a call costs.
//
// Counters beside those of Contest: best, our speed by that of the faster peer, median over the rounds.

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
  std::string family;
  Product product;
  bool dynamic = false;
};

std::string shape(std::initializer_list<int64_t> extents, ElementType type, bool dynamic) {
  std::string text = "tensor<";
  for (int64_t extent : extents)
    text += (dynamic ? "?" : std::to_string(extent)) + "x";
  return text + std::string(runtime::elementTypeName(type)) + ">";
}

/// @main(a, b, c) of a product, with the maps of linalg where an operand is transposed.
std::string moduleOf(const Case &each) {
  const Product &p = each.product;
  const bool isBatch = p.batch > 1;
  auto tensor = [&](int64_t rows, int64_t columns, ElementType type) {
    return isBatch ? shape({p.batch, rows, columns}, type, each.dynamic)
                   : shape({rows, columns}, type, each.dynamic);
  };
  const std::string a = p.transposeA ? tensor(p.k, p.m, p.input) : tensor(p.m, p.k, p.input);
  const std::string b = p.transposeB ? tensor(p.n, p.k, p.input) : tensor(p.k, p.n, p.input);
  const std::string c = tensor(p.m, p.n, p.result);
  const std::string batch = isBatch ? "b, " : "";
  auto map = [&](const char *results) {
    return "affine_map<(" + batch + "m, n, k) -> (" + batch + results + ")>";
  };
  const std::string element(runtime::elementTypeName(p.result));
  const std::string zero = runtime::isFloat(p.result) ? "0.0" : "0";
  return "func.func @main(%a: " + a + ", %b: " + b + ", %c: " + c + ") -> " + c +
         " {\n"
         "  %zero = arith.constant " +
         zero + " : " + element +
         "\n"
         "  %z = linalg.fill ins(%zero : " +
         element + ") outs(%c : " + c + ") -> " + c +
         "\n"
         "  %r = linalg." +
         (isBatch ? "batch_matmul" : "matmul") +
         "\n"
         "      indexing_maps = [" +
         map(p.transposeA ? "k, m" : "m, k") + ", " + map(p.transposeB ? "n, k" : "k, n") + ", " +
         map("m, n") +
         "]\n"
         "      ins(%a, %b : " +
         a + ", " + b + ") outs(%z : " + c + ") -> " + c +
         "\n"
         "  return %r : " +
         c + "\n}\n";
}

/// Some elements, those of the corners among them, beside their sums in f64.
void check(const char *what, const Product &p, const Buffer &a, const Buffer &b, const Buffer &c) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 200; ++i) {
    const int64_t batch = int64_t(random() % uint64_t(p.batch));
    const int64_t row = i & 1 ? int64_t(random() % uint64_t(p.m)) : i & 2 ? p.m - 1 : 0;
    const int64_t column = i & 4 ? int64_t(random() % uint64_t(p.n)) : i & 8 ? p.n - 1 : 0;
    double sum = 0, magnitude = 0;
    for (int64_t depth = 0; depth < p.k; ++depth) {
      const double left =
          read(a, batch * p.m * p.k + (p.transposeA ? depth * p.m + row : row * p.k + depth));
      const double right =
          read(b, batch * p.k * p.n + (p.transposeB ? column * p.k + depth : depth * p.n + column));
      sum += left * right;
      magnitude += std::fabs(left * right);
    }
    const int64_t where = (batch * p.m + row) * p.n + column;
    checkSum(what, where, p.result, read(c, where), sum, magnitude, p.k);
  }
}

Buffer make(const Product &p, int64_t rows, int64_t columns, ElementType type, uint64_t seed) {
  std::vector<int64_t> extents = {rows, columns};
  if (p.batch > 1)
    extents.insert(extents.begin(), p.batch);
  return randomBuffer(type, std::move(extents), seed);
}

void product(benchmark::State &state, const Case &each, int threads) {
  const Product &p = each.product;
  static const uint64_t seed = std::random_device()();
  Buffer a = p.transposeA ? make(p, p.k, p.m, p.input, seed) : make(p, p.m, p.k, p.input, seed);
  Buffer b =
      p.transposeB ? make(p, p.n, p.k, p.input, seed + 1) : make(p, p.k, p.n, p.input, seed + 1);
  Buffer c = make(p, p.m, p.n, p.result, seed + 2);
  auto engine = makeEngine(threads);
  auto module = orFail(engine->load(moduleOf(each), "product.mlir"));
  Function main = orFail(module->lookup("main"));
  std::vector<Value> arguments = {a, b, c}, results(1);
  std::vector<Buffer> outputs = {c};
  CallOptions call;
  call.outputs = outputs;

  const double operations = 2.0 * double(p.batch) * double(p.m) * double(p.n) * double(p.k);
  const int64_t calls = std::clamp<int64_t>(int64_t(2e8 / operations), 1, 200);
  auto repeated = [calls](auto once) {
    return [calls, once] {
      for (int64_t i = 0; i < calls; ++i)
        once();
    };
  };
  auto ours = [&] { orFail(main.callInto(arguments, results, call)); };
  ours();
  check("plimsoll", p, a, b, c);
  Contest contest(state, "GFLOPS");
  contest.add("plimsoll", repeated(ours), operations, calls);
  for (const Peer &peer : peersOf(p, threads, a.data(), b.data(), c.mutableData())) {
    std::memset(c.mutableData(), 0, size_t(c.bytes()));
    peer.run();
    check(peer.name.c_str(), p, a, b, c);
    contest.add(peer.name, repeated(peer.run), operations, calls);
  }
  addPeak(contest, threads);
  contest.run();
  countBest(state);
}

std::vector<Case> allCases() {
  std::vector<Case> cases;
  auto add = [&](std::string family, Product product, bool dynamic = false) {
    cases.push_back({std::move(family), product, dynamic});
  };
  for (int64_t n : {16, 32, 64, 128, 200, 256, 512, 1000, 1024, 1536, 2000, 2048, 4096})
    add("square", {.m = n, .n = n, .k = n});
  for (auto [m, n, k] : std::initializer_list<std::array<int64_t, 3>>{{1, 4096, 4096},
                                                                      {4096, 1, 4096},
                                                                      {8, 4096, 1024},
                                                                      {4096, 8, 1024},
                                                                      {2000, 64, 64},
                                                                      {64, 2000, 64},
                                                                      {1000, 17, 333},
                                                                      {17, 1000, 333},
                                                                      {333, 333, 17},
                                                                      {127, 131, 137},
                                                                      {13, 4099, 101},
                                                                      {200, 2, 200},
                                                                      {200, 3, 200},
                                                                      {7, 3, 5000}})
    add("skinny", {.m = m, .n = n, .k = k});
  add("skinny", {.m = 64, .n = 1, .k = 1000, .transposeA = true});
  add("skinny", {.m = 4096, .n = 1, .k = 16, .transposeA = true});
  for (auto [m, n, k] : std::initializer_list<std::array<int64_t, 3>>{{4096, 512, 512},
                                                                      {512, 4096, 512},
                                                                      {512, 512, 4096},
                                                                      {32, 32, 65536},
                                                                      {256, 256, 16384}})
    add("deep", {.m = m, .n = n, .k = k});
  for (auto [m, n, k] : std::initializer_list<std::array<int64_t, 3>>{
           {128, 768, 768}, {128, 3072, 768}, {128, 768, 3072}, {64, 512, 784}, {512, 768, 768}})
    add("layer", {.m = m, .n = n, .k = k});
  for (int64_t n : {64, 512, 1000})
    for (int form = 1; form < 4; ++form)
      add("transposed",
          {.m = n, .n = n, .k = n, .transposeA = (form & 1) != 0, .transposeB = (form & 2) != 0});
  add("batched", {.batch = 12, .m = 128, .n = 128, .k = 64, .transposeB = true});
  add("batched", {.batch = 12, .m = 128, .n = 64, .k = 128});
  add("batched", {.batch = 12, .m = 1024, .n = 1024, .k = 64, .transposeB = true});
  add("batched", {.batch = 64, .m = 32, .n = 32, .k = 32});
  for (int64_t n : {64, 512, 1000})
    add("dynamic", {.m = n, .n = n, .k = n}, true);
  for (auto [input, result] :
       std::initializer_list<std::array<ElementType, 2>>{{ElementType::F64, ElementType::F64},
                                                         {ElementType::BF16, ElementType::F32},
                                                         {ElementType::F16, ElementType::F32},
                                                         {ElementType::F16, ElementType::F16},
                                                         {ElementType::I8, ElementType::I32}})
    for (int64_t n : {64, 512, 1000})
      add("types", {.m = n, .n = n, .k = n, .input = input, .result = result});
  return cases;
}

void registerAll() {
  for (const Case &each : allCases())
    for (int threads : {1, 2}) {
      const Product &p = each.product;
      std::string name = each.family + "/";
      if (p.batch > 1)
        name += std::to_string(p.batch) + "x";
      name += std::to_string(p.m) + "x" + std::to_string(p.n) + "x" + std::to_string(p.k);
      name += p.transposeA || p.transposeB
                  ? std::string("/") + (p.transposeA ? "t" : "n") + (p.transposeB ? "t" : "n")
                  : "";
      if (each.family == "types")
        name += "/" + std::string(runtime::elementTypeName(p.input)) + "-" +
                std::string(runtime::elementTypeName(p.result));
      benchmark::RegisterBenchmark(
          (name + "/threads:" + std::to_string(threads)).c_str(),
          [each, threads](benchmark::State &state) { product(state, each, threads); })
          ->UseManualTime()
          ->Unit(benchmark::kMicrosecond)
          ->Iterations(7);
    }
}

} // namespace

int main(int argc, char **argv) {
  prepareForPeers(argv);
  return runBenchmarks(argc, argv, registerAll);
}
