// The stack that is proven for a call against the stack that it really touches: every conformance
// module is run on a painted stack.
#include "engine/runtime/CallContext.h"
#include "engine/runtime/Executor.h"
#include "engine/runtime/RuntimeSymbols.h"
#include "engine/session/CallPlanner.h"
#include "jit/Session.h"
#include "jit/StackUse.h"
#include "targets/host/Host.h"
#include "tests/unit/engine/PaintedStack.h"
#include "tests/unit/session/EngineFixture.h"
#include "tools/io/ValueText.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>

namespace plim {
namespace {

using namespace testing;
namespace fs = std::filesystem;

constexpr size_t stackBytes = 1 << 20;

/// A function of a linked module, called below the facade.
class Linked {
public:
  Linked(std::string_view source, const std::string &name, const LoadOptions &options, int threads)
      : executor(pool, {.threads = threads}) {
    StatusOr<jit::Artifact> compiled = engine().compile(source, name, options);
    if (!compiled.ok()) {
      ADD_FAILURE() << compiled.status().toString();
      return;
    }
    artifact = std::move(*compiled);
    std::vector<jit::HostSymbol> symbols;
    for (const runtime::RuntimeSymbol &symbol : runtime::runtimeSymbols())
      symbols.push_back({symbol.name, symbol.address});
    session = *jit::Session::create(symbols);
    (void)targets::requestTiles(); // as engines do for code with tiles; false where there are none
    for (const jit::FunctionSignature &function : artifact.functions)
      memory.slabBytes = std::max(memory.slabBytes, static_cast<size_t>(function.workspaceBytes));
    for (const jit::DataSymbol &symbol : artifact.symbols) {
      if (symbol.kind != jit::DataKind::Variable)
        continue;
      auto &value = values.emplace_back(static_cast<size_t>(symbol.bytes) + 1);
      if (std::optional<std::string_view> contents = contentsOf(artifact, symbol))
        std::memcpy(value.data(), contents->data(), contents->size());
      variables.push_back(value.data());
    }
    memory.variables = variables.data();
    StatusOr<std::unique_ptr<jit::LinkedModule>> linked = session->link(artifact, {});
    if (linked.ok())
      module = std::move(*linked);
  }

  /// False for a module whose parameters would have to be bound.
  explicit operator bool() const { return module != nullptr; }

  const jit::FunctionSignature &signature(std::string_view name) const {
    return *std::find_if(artifact.functions.begin(), artifact.functions.end(),
                         [&](const auto &function) { return function.name == name; });
  }

  /// The depth of one call of the entry; whether it succeeds does not matter.
  size_t depthOf(std::string_view name, const std::vector<Value> &arguments) {
    const jit::FunctionSignature &function = signature(name);
    std::vector<plim_view> views, results;
    for (const Value &value : arguments) {
      if (const auto *scalar = std::get_if<Scalar>(&value)) {
        views.push_back({const_cast<uint64_t *>(&scalar->bits), nullptr, nullptr});
        continue;
      }
      const Buffer &buffer = std::get<Buffer>(value);
      views.push_back({const_cast<void *>(buffer.data()),
                       const_cast<int64_t *>(buffer.shape().data()),
                       const_cast<int64_t *>(buffer.strides().data())});
    }
    std::vector<std::vector<int64_t>> extents;
    std::vector<uint64_t> scalars(function.results.size());
    for (size_t i = 0; i < function.results.size(); ++i) {
      extents.emplace_back(function.results[i].shape.size());
      results.push_back({&scalars[i], extents.back().data(), nullptr});
    }
    plim_function_entry entry = module->entry(name);
    runtime::CallMemory memory = this->memory;
    std::vector<int64_t> offsets(function.plan.buffers.size());
    if (!offsets.empty()) {
      std::vector<int64_t> needed(static_cast<size_t>(function.plan.extentCount));
      std::vector<plim_view> out;
      for (int64_t &extent : needed)
        out.push_back({&extent, nullptr, nullptr});
      plim_context context{};
      module->entry(function.plan.function)(&context, views.data(), out.data());
      StatusOr<size_t> bytes = CallPlanner(function).plan(needed, offsets);
      if (!bytes.ok())
        return 0;
      memory.slabBytes = *bytes;
      memory.offsets = offsets.data();
    }
    size_t depth = 0;
    PaintedStack stack(stackBytes);
    stack.run([&] {
      runtime::CallContext call(executor, *pool, *pool, memory);
      plim_context *context = call.context();
      const plim_view *in = views.data(), *out = results.data();
      depth = stack.depthOf([=] { entry(context, in, out); });
    });
    return depth;
  }

  static Engine &engine() {
    static const std::shared_ptr<Engine> made = makeEngine({.threads = 1});
    return *made;
  }

  jit::Artifact artifact;
  std::shared_ptr<runtime::MemoryPool> pool = std::make_shared<runtime::MemoryPool>();
  runtime::Executor executor;

private:
  std::shared_ptr<jit::Session> session;
  runtime::CallMemory memory;
  std::vector<std::vector<std::byte>> values; // of variables
  std::vector<void *> variables;
  std::unique_ptr<jit::LinkedModule> module;
};

struct Case {
  std::string function;
  std::vector<std::string> inputs;
};

/// The cases in the header of a conformance module.
std::vector<Case> casesOf(const std::string &source) {
  std::vector<Case> cases;
  std::string function;
  auto after = [](const std::string &line, std::string_view key) -> std::optional<std::string> {
    if (!line.starts_with(key))
      return std::nullopt;
    return line.substr(line.find_first_not_of(' ', key.size()));
  };
  std::istringstream lines(source);
  for (std::string line; std::getline(lines, line);) {
    if (auto text = after(line, "// RUN-FUNCTION:"))
      function = text->substr(1);
    else if (line.starts_with("// CASE:"))
      cases.push_back({function, {}});
    else if (auto input = after(line, "// INPUT:"); input && !cases.empty())
      cases.back().inputs.push_back(*input);
  }
  return cases;
}

/// The values of a case, a scalar in a buffer where the signature wants one. None if a file is meant.
std::optional<std::vector<Value>> valuesOf(const Case &test, const jit::FunctionSignature &function,
                                           const std::shared_ptr<runtime::MemoryPool> &pool) {
  std::vector<Value> values;
  for (size_t i = 0; i < test.inputs.size(); ++i) {
    if (test.inputs[i].find('@') != std::string::npos)
      return std::nullopt;
    StatusOr<Value> value = tools::parseValue(test.inputs[i], pool);
    if (!value.ok())
      return std::nullopt;
    const auto *scalar = std::get_if<Scalar>(&*value);
    if (scalar && function.arguments[i].isShaped) {
      auto bytes = std::as_bytes(std::span(&scalar->bits, 1));
      *value = *Buffer::fromCopy(pool, scalar->type, {},
                                 bytes.first(static_cast<size_t>(elementBytes(scalar->type))));
    }
    values.push_back(std::move(*value));
  }
  return values;
}

class StackProof : public ::testing::TestWithParam<std::string> {
protected:
  void SetUp() override {
    if (!PLIM_MEASURES_STACKS)
      GTEST_SKIP() << "frames of an instrumented runtime are larger";
  }
};

std::vector<std::string> foldersOfModules() {
  std::vector<std::string> folders;
  for (const fs::directory_entry &entry : fs::directory_iterator(PLIM_CONFORMANCE_FOLDER))
    if (entry.is_directory())
      folders.push_back(entry.path().filename());
  std::sort(folders.begin(), folders.end());
  return folders;
}

TEST_P(StackProof, CoversWhatEveryModuleTouches) {
  std::vector<double> ratios;
  for (const fs::directory_entry &entry :
       fs::directory_iterator(fs::path(PLIM_CONFORMANCE_FOLDER) / GetParam())) {
    if (entry.path().extension() != ".mlir")
      continue;
    std::ifstream file(entry.path());
    std::string source{std::istreambuf_iterator<char>(file), {}};
    std::string name = entry.path().filename();
    for (bool oracle : {false, true}) {
      Linked linked(source, name, {.oracle = oracle}, 1);
      if (!linked)
        continue; // needs parameters
      std::vector<Case> cases = casesOf(source);
      for (size_t i = 0; i < cases.size(); ++i) {
        const jit::FunctionSignature &function = linked.signature(cases[i].function);
        auto values = valuesOf(cases[i], function, linked.pool);
        if (!values || values->size() != function.arguments.size())
          continue;
        size_t depth = linked.depthOf(function.name, *values);
        EXPECT_LE(depth, static_cast<size_t>(function.stackBytes))
            << name << " case " << i << (oracle ? " plain" : "");
        ratios.push_back(double(function.stackBytes) / double(depth));
        if (getenv("PLIM_PRINT_STACKS"))
          std::cout << GetParam() << "/" << name << (oracle ? " plain" : "") << " touched " << depth
                    << " proven " << function.stackBytes << "\n";
      }
    }
  }
  ASSERT_FALSE(ratios.empty());
  std::sort(ratios.begin(), ratios.end());
  RecordProperty("calls", std::to_string(ratios.size()));
  RecordProperty("median_ratio", std::to_string(ratios[ratios.size() / 2]));
}

INSTANTIATE_TEST_SUITE_P(Conformance, StackProof, ::testing::ValuesIn(foldersOfModules()),
                         [](const auto &info) { return info.param; });

} // namespace
} // namespace plim
