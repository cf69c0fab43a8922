#include "jit/VectorMath.h"

#include "jit/MathSymbols.h"

#include <array>
#include <deque>
#include <string>

namespace plim::jit {

namespace {

struct Entry {
  llvm::VecDesc description;
  int64_t bits;
};

/// Everything that libmvec exports, under the name of the C function and of LLVM's intrinsic.
class Table {
public:
  Table() {
    constexpr std::array<const char *, 23> unary = {
        "acos",  "acosh", "asin", "asinh", "atan",  "atanh", "cbrt",  "cos",
        "cosh",  "erf",   "erfc", "exp",   "exp10", "exp2",  "expm1", "log",
        "log10", "log1p", "log2", "sin",   "sinh",  "tan",   "tanh"};
    for (const char *name : unary)
      add(name, "v");
    for (const char *name : {"atan2", "pow"})
      add(name, "vv");
  }
  const std::deque<Entry> &all() const { return entries; }

private:
  void add(const std::string &name, const std::string &parameters) {
    // The letters of the vector ABI: SSE, AVX2, AVX-512.
    for (auto [isa, bits] : {std::pair('b', 128), std::pair('d', 256), std::pair('e', 512)})
      for (bool isDouble : {false, true}) {
        int lanes = bits / (isDouble ? 64 : 32);
        std::string scalar = name + (isDouble ? "" : "f");
        std::string shape = "N" + std::to_string(lanes) + parameters;
        const std::string &vector = keep("_ZGV" + std::string(1, isa) + shape + "_" + scalar);
        if (!mathSymbol(vector))
          continue;
        const std::string &prefix = keep("_ZGV_LLVM_" + shape);
        for (const std::string &alias : {scalar, "llvm." + name + (isDouble ? ".f64" : ".f32")})
          entries.push_back({llvm::VecDesc(keep(alias), vector, llvm::ElementCount::getFixed(lanes),
                                           /*Masked=*/false, prefix, std::nullopt),
                             bits});
      }
  }
  const std::string &keep(std::string text) { return strings.emplace_back(std::move(text)); }

  std::deque<std::string> strings;
  std::deque<Entry> entries;
};

} // namespace

std::vector<llvm::VecDesc> vectorMathFunctions(int64_t vectorBits) {
  static const Table table;
  std::vector<llvm::VecDesc> functions;
  for (const Entry &entry : table.all())
    if (entry.bits <= vectorBits)
      functions.push_back(entry.description);
  return functions;
}

} // namespace plim::jit
