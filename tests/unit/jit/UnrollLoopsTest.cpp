// Which loops run several iterations at a time, and what keeps their loads apart.
#include "jit/UnrollLoops.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <gtest/gtest.h>

#include <string>

namespace plim::jit {
namespace {

/// Sums of so many vectors: each iteration adds the products of a column and an element to each, of rows that begin one
/// element after the other. With `body` in each iteration too.
std::string sumsOf(int sums, const std::string &iterations, const std::string &body = "",
                   const std::string &vector = "<8 x float>") {
  std::string phis, products, results = "{ ";
  for (int i = 0; i < sums; ++i) {
    const std::string n = std::to_string(i);
    phis +=
        "  %s" + n + " = phi " + vector + " [ zeroinitializer, %entry ], [ %t" + n + ", %loop ]\n";
    products += "  %at" + n + " = getelementptr float, ptr %row, i64 " + n + "\n  %x" + n +
                " = load float, ptr %at" + n + "\n  %i" + n + " = insertelement " + vector +
                " poison, float %x" + n + ", i64 0\n  %b" + n + " = shufflevector " + vector +
                " %i" + n + ", " + vector + " poison, <8 x i32> zeroinitializer\n  %t" + n +
                " = call " + vector + " @llvm.fma.v8f32(" + vector + " %b" + n + ", " + vector +
                " %w, " + vector + " %s" + n + ")\n";
  }
  std::string stores;
  for (int i = 0; i < sums; ++i) {
    const std::string n = std::to_string(i);
    stores += "  %to" + n + " = getelementptr " + vector + ", ptr %out, i64 " + n + "\n  store " +
              vector + " %t" + n + ", ptr %to" + n + "\n";
  }
  return "declare <8 x float> @llvm.fma.v8f32(<8 x float>, <8 x float>, <8 x float>)\n"
         "define void @f(ptr noalias readonly %p, ptr noalias readonly %q, ptr noalias %out, i64 "
         "%n) {\nentry:\n  br label %loop\n"
         "loop:\n  %i = phi i64 [ 0, %entry ], [ %next, %loop ]\n" +
         phis +
         "  %row = getelementptr float, ptr %p, i64 %i\n"
         "  %column = getelementptr " +
         vector + ", ptr %q, i64 %i\n  %w = load " + vector + ", ptr %column\n" + products + body +
         "  %next = add nuw nsw i64 %i, 1\n  %more = icmp ult i64 %next, " + iterations +
         "\n  br i1 %more, label %loop, label %end\nend:\n" + stores + "  ret void\n}\n";
}

struct Counts {
  int products = 0, fences = 0, elements = 0;
};

/// What is left in the function for a processor with 16 vectors of 256 bits.
Counts unroll(const std::string &text) {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(text, error, context);
  if (!module) {
    ADD_FAILURE() << error.getMessage().str();
    return {};
  }
  std::string message;
  const llvm::Triple triple("x86_64-unknown-linux-gnu");
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, message);
  std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(triple, "x86-64-v3", "", {}, std::nullopt));
  module->setTargetTriple(triple);
  module->setDataLayout(machine->createDataLayout());
  llvm::Function &function = *module->getFunction("f");
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
  llvm::FunctionPassManager passes;
  passes.addPass(UnrollLoops());
  passes.run(function, functions);
  Counts counts;
  for (const llvm::BasicBlock &block : function)
    for (const llvm::Instruction &instruction : block) {
      const auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      counts.products += call && call->getCalledFunction();
      counts.fences += llvm::isa<llvm::FenceInst>(instruction);
      counts.elements +=
          llvm::isa<llvm::LoadInst>(instruction) && instruction.getType()->isFloatTy();
    }
  return counts;
}

TEST(UnrollLoops, RunsIterationsOfSumsTogether) {
  EXPECT_EQ(unroll(sumsOf(4, "512")).products, 4 * 4);
  EXPECT_EQ(unroll(sumsOf(4, "510")).products, 4 * 3);
  EXPECT_EQ(unroll(sumsOf(4, "514")).products, 4 * 2);
  // A prime number of them, many, or nobody knows how many.
  EXPECT_EQ(unroll(sumsOf(4, "509")).products, 4);
  EXPECT_EQ(unroll(sumsOf(4, "%n")).products, 4);
  for (int few : {2, 3, 5, 7})
    EXPECT_EQ(unroll(sumsOf(4, std::to_string(few))).products, 4 * few) << few;
  EXPECT_EQ(unroll(sumsOf(4, "11")).products, 4);
}

TEST(UnrollLoops, LeavesOtherLoopsAlone) {
  EXPECT_EQ(unroll(sumsOf(3, "512")).products, 3);
  EXPECT_EQ(unroll(sumsOf(4, "512", "  store float %x0, ptr %out\n")).products, 4);
  // As much code as that of a tile of four iterations, and no more.
  EXPECT_EQ(unroll(sumsOf(24, "512")).products, 24 * 2);
  EXPECT_EQ(unroll(sumsOf(80, "512")).products, 80);
}

// Four rows of a window along them have six elements in three iterations.
TEST(UnrollLoops, LoadsElementsOnceWhereSumsLeaveRegisters) {
  const Counts few = unroll(sumsOf(4, "3"));
  EXPECT_EQ(few.products, 12);
  EXPECT_EQ(few.elements, 6);
  EXPECT_EQ(few.fences, 0);
  const Counts many = unroll(sumsOf(12, "3"));
  EXPECT_EQ(many.products, 36);
  EXPECT_EQ(many.elements, 36);
  EXPECT_EQ(many.fences, 3);
}

} // namespace
} // namespace plim::jit
