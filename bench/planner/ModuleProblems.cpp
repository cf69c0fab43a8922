#include "bench/planner/ModuleProblems.h"

#include "bench/harness/Workload.h"
#include "ir/Pipelines/Load.h"
#include "ir/Pipelines/Pipelines.h"
#include "ir/Plim/Plim.h"
#include "targets/Resolve.h"
#include "targets/dlti/Dlti.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"

#include <algorithm>

namespace plim::bench {

std::vector<ModuleProblem> problemsOf(std::string_view source, const std::string &name) {
  static const targets::TargetDescription target = orFail(targets::resolveTarget("host-cpu", {}));
  mlir::DialectRegistry registry;
  ir::registerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  mlir::OwningOpRef<mlir::ModuleOp> module = ir::loadModule(context, source, name);
  if (!module)
    fail("cannot load " + name);
  targets::dlti::attachTarget(*module, target);
  ir::PipelineOptions options;
  options.policy = "workspace";
  mlir::PassManager manager(&context);
  ir::buildTensorPipeline(manager, options);
  ir::buildBufferPipeline(manager, options);
  if (mlir::failed(manager.run(*module)))
    fail("cannot lower " + name);

  std::vector<ModuleProblem> problems;
  module->walk([&](mlir::func::FuncOp function) {
    size_t first = problems.size();
    function.walk([&](ir::AllocOp alloc) {
      if (!alloc.getOffset() || !alloc.getLifetime())
        return;
      // Scopes of planned buffers name the slab, the scratch or the pool.
      std::string text = name + "." + function.getName().str() + "." + alloc.getScope().str();
      auto it = std::find_if(problems.begin() + first, problems.end(),
                             [&](const ModuleProblem &problem) { return problem.name == text; });
      if (it == problems.end()) {
        it = problems.insert(problems.end(), ModuleProblem{text, {}, 0});
        it->problem.pools[0].alignment = 64;
      }
      planner::Buffer &buffer = it->problem.buffers.emplace_back();
      buffer.bytes = int64_t(*alloc.getBytes());
      buffer.lifetime = {{(*alloc.getLifetime())[0], (*alloc.getLifetime())[1]}};
      int64_t &alignment = it->problem.pools[0].alignment;
      alignment = std::max(alignment, int64_t(alloc.getAlignment().value_or(1)));
      it->plannedBytes = std::max(it->plannedBytes, int64_t(*alloc.getOffset()) + buffer.bytes);
    });
  });
  return problems;
}

std::string hourglassModule(int count) {
  constexpr int depth = 5, rows = 64;
  auto matrix = [](int64_t height, int64_t width) {
    return "tensor<" + std::to_string(height) + "x" + std::to_string(width) + "xf32>";
  };
  // Widths that are no powers of two: buffers of many sizes.
  auto width = [](int level) { return int64_t(1440 >> level); };
  std::string text = "func.func @main(%x: " + matrix(rows, width(0));
  for (int i = 0; i < depth; ++i)
    text += ", %down" + std::to_string(i) + ": " + matrix(width(i), width(i + 1)) + ", %up" +
            std::to_string(i) + ": " + matrix(width(i + 1), width(i));
  text += ") -> " + matrix(rows, width(0)) + " {\n  %zero = arith.constant 0.0 : f32\n";
  int next = 0;
  auto product = [&](const std::string &a, int from, const std::string &w, int to) {
    std::string result = "%v" + std::to_string(next++), type = matrix(rows, width(to));
    text += "  " + result + "e = tensor.empty() : " + type + "\n  " + result +
            "z = linalg.fill ins(%zero : f32) outs(" + result + "e : " + type + ") -> " + type +
            "\n  " + result + " = linalg.matmul ins(" + a + ", " + w + " : " +
            matrix(rows, width(from)) + ", " + matrix(width(from), width(to)) + ") outs(" + result +
            "z : " + type + ") -> " + type + "\n";
    return result;
  };
  std::string value = "%x";
  for (int i = 0; i < count; ++i) {
    std::vector<std::string> across;
    for (int level = 0; level < depth; ++level) {
      across.push_back(value);
      value = product(value, level, "%down" + std::to_string(level), level + 1);
    }
    for (int level = depth - 1; level >= 0; --level) {
      value = product(value, level + 1, "%up" + std::to_string(level), level);
      std::string sum = "%v" + std::to_string(next++), type = matrix(rows, width(level));
      text += "  " + sum + "e = tensor.empty() : " + type + "\n  " + sum + " = linalg.add ins(" +
              value + ", " + across[level] + " : " + type + ", " + type + ") outs(" + sum +
              "e : " + type + ") -> " + type + "\n";
      value = sum;
    }
  }
  return text + "  return " + value + " : " + matrix(rows, width(0)) + "\n}\n";
}

} // namespace plim::bench
