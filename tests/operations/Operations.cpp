// Prints the operations that a source may name: those of all registered dialects, and of what these need.
#include "ir/Pipelines/Pipelines.h"

#include "mlir/IR/MLIRContext.h"

#include <iostream>
#include <string_view>

namespace {

void printRegistered() {
  mlir::DialectRegistry registry;
  plim::ir::registerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  for (mlir::RegisteredOperationName operation : context.getRegisteredOperations())
    std::cout << std::string_view(operation.getStringRef()) << "\n";
}

} // namespace

int main() {
  printRegistered();
  return 0;
}
