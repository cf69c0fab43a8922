// Runs LLVM's passes on a text, for a processor with 16 vectors of 256 bits.
#pragma once

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace plim::jit {

/// The module behind them. Null, and a failure of the test, if the text is none.
inline std::unique_ptr<llvm::Module> runPasses(llvm::LLVMContext &context, const std::string &text,
                                               llvm::ModulePassManager passes) {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  llvm::SMDiagnostic error;
  std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(text, error, context);
  if (!module) {
    ADD_FAILURE() << error.getMessage().str();
    return nullptr;
  }
  std::string message;
  const llvm::Triple triple("x86_64-unknown-linux-gnu");
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, message);
  std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(triple, "x86-64-v3", "", {}, std::nullopt));
  module->setTargetTriple(triple);
  module->setDataLayout(machine->createDataLayout());
  for (llvm::Function &function : *module)
    function.addFnAttr("target-cpu", "x86-64-v3");
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(machine.get());
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  passes.run(*module, modules);
  return module;
}

} // namespace plim::jit
