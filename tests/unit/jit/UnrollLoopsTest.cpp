// Which loops run several iterations at a time, and what keeps their loads apart.
#include "jit/UnrollLoops.h"
#include "tests/unit/jit/RunPasses.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/IR/Instructions.h"

#include <gtest/gtest.h>

#include <string>

namespace plim::jit {
namespace {

/// `text` for each of so many, with the number in the place of each '#'.
std::string forEach(int count, llvm::StringRef text) {
  std::string all;
  for (int i = 0; i < count; ++i)
    for (char letter : text) {
      if (letter == '#')
        all += std::to_string(i);
      else
        all += letter;
    }
  return all;
}

/// Sums of so many vectors: each iteration adds the products of a column and an element to each, of rows that begin one
/// element after the other. With `body` in each iteration too.
std::string sumsOf(int sums, llvm::StringRef iterations, llvm::StringRef body = "") {
  std::string text = R"(
declare <8 x float> @llvm.fma.v8f32(<8 x float>, <8 x float>, <8 x float>)
define void @f(ptr noalias readonly %p, ptr noalias readonly %q, ptr noalias %out, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
)";
  text += forEach(sums, "  %s# = phi <8 x float> [ zeroinitializer, %entry ], [ %t#, %loop ]\n");
  text += R"(
  %row = getelementptr float, ptr %p, i64 %i
  %column = getelementptr <8 x float>, ptr %q, i64 %i
  %w = load <8 x float>, ptr %column
)";
  text += forEach(sums, R"(
  %at# = getelementptr float, ptr %row, i64 #
  %x# = load float, ptr %at#
  %i# = insertelement <8 x float> poison, float %x#, i64 0
  %b# = shufflevector <8 x float> %i#, <8 x float> poison, <8 x i32> zeroinitializer
  %t# = call <8 x float> @llvm.fma.v8f32(<8 x float> %b#, <8 x float> %w, <8 x float> %s#)
)");
  text += body;
  text += "  %next = add nuw nsw i64 %i, 1\n  %more = icmp ult i64 %next, ";
  text += iterations;
  text += "\n  br i1 %more, label %loop, label %end\nend:\n";
  text += forEach(sums, "  %to# = getelementptr <8 x float>, ptr %out, i64 #\n"
                        "  store <8 x float> %t#, ptr %to#\n");
  text += "  ret void\n}\n";
  return text;
}

struct Counts {
  int products = 0, fences = 0, elements = 0;
};

/// What is left in the function.
Counts unroll(const std::string &text) {
  llvm::LLVMContext context;
  llvm::ModulePassManager passes;
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(UnrollLoops()));
  const std::unique_ptr<llvm::Module> module = runPasses(context, text, std::move(passes));
  if (!module)
    return {};
  Counts counts;
  for (const llvm::BasicBlock &block : *module->getFunction("f"))
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
