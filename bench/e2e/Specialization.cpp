// Extents known to the code: what it gains that they are static.
//
// The same functions with dynamic extents, run by the general code; the same calls by code that was
// made for their extents; and a module whose source has them static. In turns, one thread. A call
// includes the engine's whole overhead, the search for the code too. All three are compared with
// the oracle first. "vs_general" of the specialised code above 1 is what a hot size gains.

#include "bench/harness/Contest.h"
#include "bench/harness/Main.h"
#include "bench/harness/Workload.h"

#include <algorithm>

using namespace plim;
using namespace plim::bench;
using runtime::Value;

namespace {

constexpr float tolerance = 1e-4F;

/// An extent of the source: a number, or negative for one that is open.
std::string matrixType(int64_t rows, int64_t columns) {
  auto text = [](int64_t extent) { return extent < 0 ? "?" : std::to_string(extent); };
  return "tensor<" + text(rows) + "x" + text(columns) + "xf32>";
}

/// `%name`, a product of `a` and `b` with `rows` x `columns` results, whose open extents are %rows
/// and %columns.
std::string product(const std::string &name, const std::string &a, const std::string &aType,
                    const std::string &b, const std::string &bType, int64_t rows, int64_t columns) {
  std::string type = matrixType(rows, columns);
  std::string sizes = rows < 0 && columns < 0 ? "%rows, %columns"
                      : rows < 0              ? "%rows"
                      : columns < 0           ? "%columns"
                                              : "";
  std::string text;
  text += "  %" + name + "e = tensor.empty(" + sizes + ") : " + type + "\n";
  text += "  %" + name + "z = linalg.fill ins(%zero : f32) outs(%" + name + "e : " + type +
          ") -> " + type + "\n";
  text += "  %" + name + " = linalg.matmul ins(" + a + ", " + b + " : " + aType + ", " + bType +
          ") outs(%" + name + "z : " + type + ") -> " + type + "\n";
  return text;
}

std::string dims(const std::string &a, const std::string &aType, const std::string &b,
                 const std::string &bType) {
  return "  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n"
         "  %zero = arith.constant 0.0 : f32\n"
         "  %rows = tensor.dim " +
         a + ", %c0 : " + aType + "\n  %columns = tensor.dim " + b + ", %c1 : " + bType + "\n";
}

std::string matmulSource(int64_t m, int64_t k, int64_t n) {
  std::string a = matrixType(m, k), b = matrixType(k, n), c = matrixType(m, n);
  return "func.func @main(%a: " + a + ", %b: " + b + ") -> " + c + " {\n" + dims("%a", a, "%b", b) +
         product("c", "%a", a, "%b", b, m, n) + "  return %c : " + c + "\n}\n";
}

/// Four elementwise ops, one of them tanh.
std::string chainSource(int64_t rows, int64_t columns) {
  std::string t = matrixType(rows, columns);
  return "func.func @main(%x: " + t + ", %y: " + t + ") -> " + t +
         " {\n  %a = arith.mulf %x, %y : " + t + "\n  %b = arith.addf %a, %x : " + t +
         "\n  %c = math.tanh %b : " + t + "\n  %d = arith.maximumf %c, %y : " + t +
         "\n  return %d : " + t + "\n}\n";
}

/// Two layers, 64 to 128 to 10, of any batch.
std::string mlpSource(int64_t batch) {
  std::string x = matrixType(batch, 64), h = matrixType(batch, 128), y = matrixType(batch, 10);
  std::string v = matrixType(64, 128), w = matrixType(128, 10);
  return "#id = affine_map<(i, j) -> (i, j)>\nfunc.func @main(%x: " + x + ", %v: " + v +
         ", %w: " + w + ") -> " + y + " {\n" + dims("%x", x, "%w", w) +
         product("h", "%x", x, "%v", v, batch, 128) +
         "  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = [\"parallel\", "
         "\"parallel\"]} ins(%h : " +
         h + ") outs(%he : " + h +
         ") {\n  ^bb0(%i: f32, %o: f32):\n    %m = arith.maximumf %i, %zero : f32\n"
         "    linalg.yield %m : f32\n  } -> " +
         h + "\n" + product("y", "%r", h, "%w", w, batch, 10) + "  return %y : " + y + "\n}\n";
}

void contest(benchmark::State &state, const std::string &open, const std::string &closed,
             const std::vector<Value> &arguments, double operations) {
  auto engine = makeEngine(1);
  CheckedFunction general = loadChecked(*engine, open, "main", arguments, tolerance);
  CheckedFunction fixed = loadChecked(*engine, closed, "main", arguments, tolerance);
  LoadOptions options;
  options.specialization = SpecializationOptions{Specialization::OnRequest};
  std::shared_ptr<Module> module = orFail(engine->load(open, "open.mlir", options));
  Function special = orFail(module->lookup("main"));
  orFail(special.specialize(arguments));
  std::vector<Value> results = orFail(special.call(arguments));
  checkClose("specialised code", elements(std::get<runtime::Buffer>(results[0])), general.expected,
             tolerance);
  if (module->specializationStatistics().calls != 1)
    fail("the call did not take the specialised code");

  const int64_t calls =
      std::clamp<int64_t>(static_cast<int64_t>(2e7 / std::max(operations, 1.0)), 1, 1000);
  auto turns = [&](const Function &function) {
    return [&function, &arguments, &results, calls] {
      for (int64_t i = 0; i < calls; ++i)
        orFail(function.callInto(arguments, results));
    };
  };
  Contest contest(state);
  contest.add("special", turns(special), 0, calls);
  contest.add("general", turns(general.function), 0, calls);
  contest.add("static", turns(fixed.function), 0, calls);
  contest.run();
}

void matmul(benchmark::State &state) {
  int64_t n = state.range(0);
  contest(state, matmulSource(-1, -1, -1), matmulSource(n, n, n),
          {randomTensor({n, n}), randomTensor({n, n})}, 2.0 * static_cast<double>(n * n * n));
}

void chain(benchmark::State &state) {
  int64_t rows = state.range(0), columns = state.range(1);
  contest(state, chainSource(-1, -1), chainSource(rows, columns),
          {randomTensor({rows, columns}), randomTensor({rows, columns})},
          40.0 * static_cast<double>(rows * columns));
}

void mlp(benchmark::State &state) {
  int64_t batch = state.range(0);
  contest(state, mlpSource(-1), mlpSource(batch),
          {randomTensor({batch, 64}), randomTensor({64, 128}), randomTensor({128, 10})},
          2.0 * 64 * 138 * static_cast<double>(batch));
}

void registerAll() {
  auto add = [](const char *name, void (*function)(benchmark::State &)) {
    return benchmark::RegisterBenchmark(name, function)
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond)
        ->Iterations(31);
  };
  auto *products = add("matmul", matmul);
  for (int64_t n : {4, 8, 16, 17, 31, 64, 128, 200, 256})
    products->Arg(n);
  add("chain", chain)->Args({1, 64})->Args({7, 33})->Args({16, 1000})->Args({512, 512});
  auto *layers = add("mlp", mlp);
  for (int64_t batch : {1, 5, 8, 32, 100})
    layers->Arg(batch);
}

} // namespace

int main(int argc, char **argv) { return plim::bench::runBenchmarks(argc, argv, registerAll); }
