// Compiles a filter expression while the program runs and applies it to the columns of a table.
//
//   filter [EXPRESSION [ROWS]]
//
// Three steps: expression to MLIR (Filter.h), MLIR to machine code (Engine::load), one call. The
// columns are the program's own vectors; the engine reads them where they are.
#include "examples/filter/Filter.h"
#include "engine/session/Engine.h"

#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

using namespace plim;
using runtime::Buffer;
using runtime::ElementType;
using runtime::Value;

namespace {

constexpr const char *defaultExpression = "price * qty > 100 && region == 3";

struct Table {
  std::vector<double> price;
  std::vector<int32_t> qty, region;
  std::vector<uint8_t> paid; // an i1 takes one byte: 0 or 1
};

Table makeTable(size_t rows) {
  Table table;
  std::mt19937_64 random(1);
  for (size_t row = 0; row < rows; ++row) {
    table.price.push_back(static_cast<double>(random() % 10000) / 100);
    table.qty.push_back(static_cast<int32_t>(random() % 20));
    table.region.push_back(static_cast<int32_t>(random() % 8));
    table.paid.push_back(static_cast<uint8_t>(random() % 2));
  }
  return table;
}

const std::vector<filter::Column> columns = {{"price", ElementType::F64},
                                             {"qty", ElementType::I32},
                                             {"region", ElementType::I32},
                                             {"paid", ElementType::I1}};

// The column of that index as a buffer: no copy, read-only, owned by the table.
StatusOr<Value> wrapColumn(Table &table, size_t column) {
  void *data[] = {table.price.data(), table.qty.data(), table.region.data(), table.paid.data()};
  int64_t rows = static_cast<int64_t>(table.price.size());
  PLIM_ASSIGN_OR_RETURN(Buffer buffer, Buffer::wrap(data[column], columns[column].type, {&rows, 1},
                                                    /*readOnly=*/true, nullptr, nullptr));
  return Value(std::move(buffer));
}

// The default expression as a programmer would write it.
size_t countByHand(const Table &table) {
  size_t count = 0;
  for (size_t row = 0; row < table.price.size(); ++row)
    count += table.price[row] * table.qty[row] > 100 && table.region[row] == 3;
  return count;
}

// Milliseconds of the fastest of ten runs.
template <typename Work> double fastest(Work work) {
  double best = 1e30;
  for (int i = 0; i < 10; ++i) {
    auto start = std::chrono::steady_clock::now();
    work();
    std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count());
  }
  return best;
}

Status run(const std::string &expression, size_t rows) {
  // Expression to MLIR.
  PLIM_ASSIGN_OR_RETURN(filter::Filter compiled, filter::compileFilter(expression, columns));
  std::printf("%s", compiled.module.c_str());

  // MLIR to machine code, for this processor.
  auto start = std::chrono::steady_clock::now();
  PLIM_ASSIGN_OR_RETURN(std::shared_ptr<Engine> engine, Engine::create({}));
  PLIM_ASSIGN_OR_RETURN(std::shared_ptr<Module> module, engine->load(compiled.module, "filter"));
  PLIM_ASSIGN_OR_RETURN(Function function, module->lookup("filter"));
  std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  std::printf("\ncompiled in %.1f ms\n", took.count());

  // One call with the columns that the expression names.
  Table table = makeTable(rows);
  std::vector<Value> arguments;
  for (size_t column : compiled.columns) {
    PLIM_ASSIGN_OR_RETURN(Value argument, wrapColumn(table, column));
    arguments.push_back(std::move(argument));
  }
  PLIM_ASSIGN_OR_RETURN(std::vector<Value> results, function.call(arguments));
  const auto *mask = static_cast<const uint8_t *>(std::get<Buffer>(results.front()).data());

  auto selected = static_cast<size_t>(std::count(mask, mask + rows, 1));
  std::printf("%zu of %zu rows pass; the first:\n\n     row    price  qty  region  paid\n",
              selected, rows);
  for (size_t row = 0, shown = 0; row < rows && shown < 5; ++row)
    if (mask[row]) {
      std::printf("%8zu %8.2f %4" PRId32 " %7" PRId32 " %5s\n", row, table.price[row],
                  table.qty[row], table.region[row], table.paid[row] ? "yes" : "no");
      ++shown;
    }

  Status failure;
  double milliseconds = fastest([&] {
    if (auto again = function.call(arguments); !again.ok())
      failure = again.status();
  });
  PLIM_RETURN_IF_ERROR(failure);
  std::printf("\nengine  %8.3f ms, %d threads\n", milliseconds, engine->threads());
  if (expression == defaultExpression) {
    size_t expected = 0;
    double loop = fastest([&] { expected = countByHand(table); });
    std::printf("loop    %8.3f ms, written by hand, one thread: %zu rows\n", loop, expected);
    if (expected != selected)
      return internalError("the engine and the loop count different rows");
  }
  return okStatus();
}

} // namespace

int main(int argc, char **argv) {
  char *end = nullptr;
  unsigned long long rows = argc > 2 ? std::strtoull(argv[2], &end, 10) : 1000000;
  if (argc > 3 || (end && (*end != '\0' || rows == 0 || rows > 1000000000))) {
    std::fprintf(stderr, "usage: filter [EXPRESSION [ROWS]]\n");
    return 2;
  }
  Status status = run(argc > 1 ? argv[1] : defaultExpression, rows);
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.toString().c_str());
    return 1;
  }
  return 0;
}
