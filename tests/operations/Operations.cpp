// What the driver asks of the engine, in one process: a program that starts for each call would start some
// thousand times.
//
//   plim_operations --registered   prints the operations that a source may name: those of all registered
//                                  dialects, and of what these need
//   plim_operations                answers calls. One a line: a file, a function and its inputs, with tabs
//                                  between; what `plimsoll run` prints comes back, and 'exit STATUS' behind it
#include "ir/Pipelines/Pipelines.h"
#include "tools/RunCommand.h"

#include "mlir/IR/MLIRContext.h"

#include <iostream>
#include <sstream>
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

void answerCalls() {
  for (std::string line; std::getline(std::cin, line);) {
    plim::tools::RunOptions options;
    options.module.threads = 1;
    std::istringstream words(line);
    std::getline(words, options.module.file, '\t');
    std::getline(words, options.call.function, '\t');
    for (std::string input; std::getline(words, input, '\t');)
      options.call.inputs.push_back(input);
    int status = plim::tools::runRunCommand(options, std::cout, std::cout);
    std::cout << "exit " << status << std::endl;
  }
}

} // namespace

int main(int argc, char **argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--registered")
    printRegistered();
  else
    answerCalls();
  return 0;
}
