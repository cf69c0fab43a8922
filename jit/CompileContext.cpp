#include "jit/CompileContext.h"

#include "ir/Pipelines/Pipelines.h"

#include "mlir/IR/Action.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace plim::jit {

namespace {

DialectRegistry allDialects() {
  DialectRegistry registry;
  ir::registerDialects(registry);
  return registry;
}

} // namespace

CompileContext::CompileContext(StringRef source, StringRef name,
                               const std::function<void(const Diagnostic &)> &witness,
                               const Patience &patience)
    : context(allDialects(), MLIRContext::Threading::DISABLED),
      diagnostics(context, source, name, witness) {
  context.loadAllAvailableDialects();
  context.printOpOnDiagnostic(false); // places say it
  if (patience.isFinite())
    context.registerActionHandler(
        [&patience](llvm::function_ref<void()> action, const tracing::Action &kind) {
          if (!isa<PassExecutionAction>(kind) || !patience.isOver())
            action();
        });
}

} // namespace plim::jit
