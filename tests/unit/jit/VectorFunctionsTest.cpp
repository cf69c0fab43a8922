#include "jit/VectorFunctions.h"

#include "tests/unit/jit/RunPasses.h"

#include "llvm/IR/Instructions.h"
#include "llvm/IR/Verifier.h"

namespace plim::jit {
namespace {

/// What is left of the calls of a text, behind the pass.
unsigned callsLeft(const std::string &text) {
  llvm::ModulePassManager passes;
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(ExpandVectorFunctions()));
  llvm::LLVMContext context;
  const std::unique_ptr<llvm::Module> module = runPasses(context, text, std::move(passes));
  if (!module)
    return 0;
  std::string message;
  llvm::raw_string_ostream stream(message);
  EXPECT_FALSE(llvm::verifyModule(*module, &stream)) << message;
  unsigned calls = 0;
  for (const llvm::BasicBlock &block : *module->getFunction("f"))
    for (const llvm::Instruction &instruction : block)
      if (const auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction))
        calls += call->getCalledFunction()->getName().starts_with("plim.") ||
                 call->getIntrinsicID() == llvm::Intrinsic::log2;
  return calls;
}

TEST(VectorFunctions, AreExpandedForVectorsOfAnyLength) {
  for (const char *type :
       {"float", "<2 x float>", "<3 x float>", "<16 x float>", "<40 x float>", "<64 x float>"})
    EXPECT_EQ(callsLeft("declare " + std::string(type) + " @plim.pow.f32.4(" + type + ", " + type +
                        ")\ndefine " + type + " @f(" + type + " %x, " + type +
                        " %y) {\n  %a = call " + type + " @plim.pow.f32.4(" + type + " %x, " +
                        type + " %y)\n  %b = call " + type + " @plim.pow.f32.4(" + type + " %y, " +
                        type + " %x)\n  %c = fadd " + type + " %a, %b\n  ret " + type + " %c\n}\n"),
              0U)
        << type;
  EXPECT_EQ(callsLeft("declare <5 x double> @llvm.log2.v5f64(<5 x double>)\n"
                      "define <5 x double> @f(<5 x double> %x) {\n"
                      "  %a = call <5 x double> @llvm.log2.v5f64(<5 x double> %x)\n"
                      "  %b = call <5 x double> @llvm.log2.v5f64(<5 x double> %a)\n"
                      "  ret <5 x double> %b\n}\n"),
            0U);
}

TEST(VectorFunctions, ExponentialsAreExpanded) {
  const auto text = [](const std::string &type, const std::string &function) {
    return "declare " + type + " @" + function + "(" + type + ")\ndefine " + type + " @f(" + type +
           " %x) {\n  %a = call " + type + " @" + function + "(" + type + " %x)\n  ret " + type +
           " %a\n}\n";
  };
  for (const char *type : {"float", "<3 x float>", "<64 x float>"})
    for (const char *function : {"plim.exp.f32", "plim.exp2.f32"})
      EXPECT_EQ(callsLeft(text(type, function)), 0U) << type << " " << function;
  for (const char *type : {"double", "<9 x double>"})
    for (const char *function : {"plim.exp.f64", "plim.exp2.f64"})
      EXPECT_EQ(callsLeft(text(type, function)), 0U) << type << " " << function;
}

TEST(VectorFunctions, OthersStayCalls) {
  EXPECT_EQ(
      callsLeft("declare float @plim.logistic.f32(float)\n"
                "define float @f(float %x) {\n  %a = call float @plim.logistic.f32(float %x)\n"
                "  ret float %a\n}\n"),
      1U);
}

} // namespace
} // namespace plim::jit
