// What goes through the passes for vectors, and what needs LLVM's vectorisers.
#include "jit/VectorPipeline.h"
#include "tests/unit/jit/RunPasses.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace plim::jit {
namespace {

/// A loop with a body.
std::string loopOf(const std::string &body) {
  return "declare float @outside(float)\n"
         "define internal float @inside(float %x) {\n  ret float %x\n}\n"
         "define void @f(ptr %p, i64 %n) {\nentry:\n  br label %loop\n"
         "loop:\n  %i = phi i64 [ 0, %entry ], [ %next, %loop ]\n"
         "  %at = getelementptr float, ptr %p, i64 %i\n" +
         body +
         "  %next = add i64 %i, 8\n  %more = icmp slt i64 %next, %n\n"
         "  br i1 %more, label %loop, label %end\nend:\n  ret void\n}\n";
}

bool isVectorizedText(const std::string &text) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(text, error, context);
  if (!module) {
    ADD_FAILURE() << error.getMessage().str();
    return false;
  }
  return isVectorized(*module);
}

TEST(VectorPipeline, TakesLoopsOfVectors) {
  EXPECT_TRUE(isVectorizedText(loopOf("  %v = load <8 x float>, ptr %at\n"
                                      "  %s = fadd <8 x float> %v, %v\n"
                                      "  store <8 x float> %s, ptr %at\n")));
  EXPECT_TRUE(isVectorizedText(loopOf("  store <8 x float> zeroinitializer, ptr %at\n")));
  EXPECT_TRUE(isVectorizedText(
      "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n" +
      loopOf("  call void @llvm.memcpy.p0.p0.i64(ptr %at, ptr %p, i64 4096, i1 false)\n")));
  // The C library's functions stay calls in any case.
  EXPECT_TRUE(isVectorizedText(loopOf("  store <8 x float> zeroinitializer, ptr %at\n"
                                      "  %c = call float @outside(float 1.0)\n")));
  EXPECT_TRUE(isVectorizedText("define float @f(float %x) {\n  ret float %x\n}\n"));
}

TEST(VectorPipeline, TakesWhatVectorsLeave) {
  std::string rest = loopOf("  %v = load float, ptr %at\n  %s = fadd float %v, %v\n"
                            "  store float %s, ptr %at\n");
  EXPECT_FALSE(isVectorizedText(rest));
  const std::string back = "label %loop, label %end";
  rest.insert(rest.find(back) + back.size(), ", !llvm.loop !0");
  rest += "!0 = distinct !{!0, !1}\n!1 = !{!\"llvm.loop.isvectorized\", i32 1}\n";
  EXPECT_TRUE(isVectorizedText(rest));
}

/// A loop of so many additions of vectors, and one that does something to elements.
std::string besideVectors(int additions, const std::string &body) {
  std::string vectors = "  %v0 = load <8 x float>, ptr %at\n";
  for (int i = 1; i <= additions; ++i)
    vectors +=
        "  %v" + std::to_string(i) + " = fadd <8 x float> %v" + std::to_string(i - 1) + ", %v0\n";
  vectors += "  store <8 x float> %v" + std::to_string(additions) + ", ptr %at\n";
  return loopOf(vectors) +
         "define void @g(ptr %p, ptr %q, i64 %n) {\nentry:\n  br label %loop\n"
         "loop:\n  %i = phi i64 [ 0, %entry ], [ %next, %loop ]\n"
         "  %across = mul i64 %i, 100\n  %from = getelementptr float, ptr %p, i64 %across\n"
         "  %to = getelementptr float, ptr %q, i64 %i\n" +
         body +
         "  %next = add i64 %i, 1\n  %more = icmp slt i64 %next, %n\n"
         "  br i1 %more, label %loop, label %end\nend:\n  ret void\n}\n";
}

TEST(VectorPipeline, TakesCopiesOfElementsBesideManyVectors) {
  const std::string copy = "  %e = load float, ptr %from\n  store float %e, ptr %to\n";
  EXPECT_TRUE(isVectorizedText(besideVectors(400, copy)));
  EXPECT_FALSE(isVectorizedText(besideVectors(4, copy)));
  EXPECT_TRUE(isVectorizedText(besideVectors(400, "  store float 0.0, ptr %to\n")));
  EXPECT_FALSE(isVectorizedText(besideVectors(400, "  %e = load float, ptr %from\n"
                                                   "  %s = fadd float %e, %e\n"
                                                   "  store float %s, ptr %to\n")));
  EXPECT_FALSE(isVectorizedText(besideVectors(400, "  %c = call float @outside(float 1.0)\n"
                                                   "  store float 1.0, ptr %to\n")));
}

TEST(VectorPipeline, LeavesScalarLoopsToLlvm) {
  EXPECT_FALSE(isVectorizedText(loopOf("  %v = load float, ptr %at\n"
                                       "  %s = fadd float %v, %v\n"
                                       "  store float %s, ptr %at\n")));
  // One that may be inlined.
  EXPECT_FALSE(isVectorizedText(loopOf("  store <8 x float> zeroinitializer, ptr %at\n"
                                       "  %c = call float @inside(float 1.0)\n")));
  // Vectors around a scalar loop do not help it.
  EXPECT_FALSE(isVectorizedText(
      "define void @f(ptr %p) {\nentry:\n  br label %outer\n"
      "outer:\n  %i = phi i64 [ 0, %entry ], [ %i1, %latch ]\n"
      "  store <8 x float> zeroinitializer, ptr %p\n  br label %inner\n"
      "inner:\n  %j = phi i64 [ 0, %outer ], [ %j1, %inner ]\n"
      "  %at = getelementptr float, ptr %p, i64 %j\n  store float 0.0, ptr %at\n"
      "  %j1 = add i64 %j, 1\n  %m = icmp slt i64 %j1, 9\n  br i1 %m, label %inner, label %latch\n"
      "latch:\n  %i1 = add i64 %i, 1\n  %n = icmp slt i64 %i1, 9\n"
      "  br i1 %n, label %outer, label %end\nend:\n  ret void\n}\n"));
}

/// What the host's pipeline makes of it.
std::string hostCode(const std::string &text) {
  llvm::LLVMContext context;
  std::string printed;
  llvm::raw_string_ostream stream(printed);
  if (const std::unique_ptr<llvm::Module> module = runPasses(context, text, makeHostPipeline()))
    module->print(stream, nullptr);
  return printed;
}

/// y[i] = x[i] + x[i] for 1,000 elements, and more in the loop.
std::string sumOfElements(const std::string &more) {
  return "declare void @dispatch()\n"
         "define void @f(ptr noalias %x, ptr noalias %y) {\nentry:\n  br label %loop\n"
         "loop:\n  %i = phi i64 [ 0, %entry ], [ %next, %loop ]\n"
         "  %from = getelementptr inbounds float, ptr %x, i64 %i\n"
         "  %to = getelementptr inbounds float, ptr %y, i64 %i\n"
         "  %v = load float, ptr %from\n  %s = fadd float %v, %v\n  store float %s, ptr %to\n" +
         more +
         "  %next = add nuw nsw i64 %i, 1\n  %more = icmp ult i64 %next, 1000\n"
         "  br i1 %more, label %loop, label %end\nend:\n  ret void\n}\n";
}

TEST(VectorPipeline, LoopsOfElementsInHostCodeBecomeVectors) {
  EXPECT_THAT(hostCode(sumOfElements("")), testing::HasSubstr("fadd <"));
  EXPECT_THAT(hostCode(sumOfElements("  call void @dispatch()\n")),
              testing::Not(testing::HasSubstr("fadd <")));
}

} // namespace
} // namespace plim::jit
