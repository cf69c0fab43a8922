// The sums of a product stay in registers: no vector is moved, spilled or loaded again in its innermost loop, whatever LLVM's
// scheduler makes of the target's tuning.
#include "jit/Compiler.h"

#include "targets/Resolve.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace plim::jit {
namespace {

/// @rowsN of products with several numbers of rows.
std::string products(const std::string &element, const std::string &sum) {
  std::string text;
  for (int rows : {6, 12, 13, 14, 25, 28, 64}) {
    auto tensor = [](int height, int width, const std::string &type) {
      return "tensor<" + std::to_string(height) + "x" + std::to_string(width) + "x" + type + ">";
    };
    const std::string a = tensor(rows, 784, element), b = tensor(784, 64, element),
                      c = tensor(rows, 64, sum);
    text += "func.func @rows" + std::to_string(rows) + "(%a: " + a + ", %b: " + b + ", %c: " + c +
            ") -> " + c + " {\n  %r = linalg.matmul ins(%a, %b : " + a + ", " + b +
            ") outs(%c : " + c + ") -> " + c + "\n  return %r : " + c + "\n}\n";
  }
  return text;
}

/// Instructions of innermost loops that multiply many vectors and move one.
std::vector<std::string> movesAmongProducts(const std::string &assembly) {
  static const std::regex label(R"((\.LBB\w+):.*)"),
      jump(R"(\s+(?:j\w+|b\.\w+|cbn?z)\s.*(\.LBB\w+).*)"),
      product(R"(\s+(v(fmadd|dpbf16|pdp|pmaddwd)|fmla|mla).*)"),
      move(R"(\s+vmov\w+\s+(-?\d*\(%rsp\), %[yz]mm\d+|%[yz]mm\d+, (-?\d*\(%rsp\)|%[yz]mm\d+)).*)"),
      folded(R"(\s+v.*\(%rsp\), %[yz]mm.*)"),
      ofAArch64(
          R"(\s+(mov\s+v\d+\.16b, v.*|(str|ldr|stp|ldp)\s+q.*\[sp.*|mov\s+z\d+\.d, z.*|str\s+z.*))");
  std::vector<std::string> lines, moves;
  std::map<std::string, size_t> labels;
  std::istringstream in(assembly);
  for (std::string line; std::getline(in, line); lines.push_back(line)) {
    std::smatch match;
    if (std::regex_match(line, match, label))
      labels[match[1]] = lines.size() + 1;
    if (!std::regex_match(line, match, jump) || labels.count(match[1]) == 0)
      continue;
    const std::vector<std::string> body(lines.begin() + long(labels[match[1]]), lines.end());
    const auto count = [&](const std::regex &what) {
      return std::count_if(body.begin(), body.end(),
                           [&](const std::string &each) { return std::regex_match(each, what); });
    };
    if (count(label) > 0 || count(product) < 8)
      continue;
    for (const std::string &each : body)
      if (std::regex_match(each, move) || std::regex_match(each, folded) ||
          std::regex_match(each, ofAArch64))
        moves.push_back(each);
  }
  return moves;
}

TEST(RegisterTiles, MovesAreSeen) {
  std::string body;
  for (int i = 0; i < 8; ++i)
    body += "\tvfmadd231ps\t%zmm1, %zmm2, %zmm3\n";
  auto movesWith = [&](const std::string &more) {
    return movesAmongProducts(".LBB0_1:\n" + body + more + "\tjne\t.LBB0_1\n").size();
  };
  EXPECT_EQ(movesWith("\tvmovups\t64(%rax), %zmm4\n"), 0U);
  EXPECT_EQ(movesWith("\tvmovaps\t%zmm4, %zmm5\n"), 1U);
  EXPECT_EQ(movesWith("\tvmovaps\t%zmm4, 64(%rsp)\n"), 1U);
  EXPECT_EQ(movesWith("\tvmovaps\t64(%rsp), %zmm5\n"), 1U);
  EXPECT_EQ(movesWith("\tvfmadd231ps\t64(%rsp), %zmm4, %zmm5\n"), 1U);
  EXPECT_EQ(movesWith("\tldr\tq3, [x10, #16]\n"), 0U);
  EXPECT_EQ(movesWith("\tstp\tq10, q9, [sp, #32]\n"), 1U);
  EXPECT_EQ(movesWith("\tmov\tv7.16b, v31.16b\n"), 1U);
  EXPECT_EQ(movesWith("\tldr\tz9, [x15, #1, mul vl]\n"), 0U);
  EXPECT_EQ(movesWith("\tstr\tz9, [x15, #22, mul vl]\n"), 1U);
  EXPECT_EQ(movesWith("\tmov\tz6.d, z16.d\n"), 1U);
}

TEST(RegisterTiles, StayInRegisters) {
  for (const char *tag : {"x86-64-v3", "x86-64-v4", "sapphirerapids", "aarch64-neoverse-v1",
                          "aarch64-neoverse-v2", "host-cpu"})
    for (auto [element, sum] : {std::pair("f32", "f32"), std::pair("f64", "f64"),
                                std::pair("bf16", "f32"), std::pair("i8", "i32")}) {
      SCOPED_TRACE(std::string(tag) + ", " + element);
      const targets::TargetDescription target = *targets::resolveTarget(tag, {});
      std::string assembly;
      CompileOptions options;
      options.assembly = &assembly;
      StatusOr<Artifact> artifact =
          compile(products(element, sum), "products.mlir", target, options);
      ASSERT_TRUE(artifact.ok()) << artifact.status().toString();
      EXPECT_EQ(movesAmongProducts(assembly), std::vector<std::string>());
    }
}

} // namespace
} // namespace plim::jit
