// Frames and calls read back from objects, and what they add up to.
#include "jit/StackUse.h"

#include "engine/abi/plim_abi.h"

#include "jit/Compiler.h"
#include "targets/Resolve.h"
#include "tests/unit/jit/Sources.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace plim::jit {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// The frames of the object that LLVM IR becomes.
StatusOr<std::vector<FunctionFrame>> framesOf(std::string_view text, const char *tripleText,
                                              const char *features = "") {
  llvm::InitializeAllTargetInfos();
  llvm::InitializeAllTargets();
  llvm::InitializeAllTargetMCs();
  llvm::InitializeAllAsmPrinters();
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  std::unique_ptr<llvm::Module> module =
      llvm::parseAssemblyString(llvm::StringRef(text), diagnostic, context);
  if (!module)
    return invalidArgumentError(diagnostic.getMessage().str());
  llvm::Triple triple(tripleText);
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return unimplementedError(error);
  llvm::TargetOptions options;
  options.EmitStackSizeSection = options.FunctionSections = options.DataSections = true;
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, "", features, options, llvm::Reloc::PIC_, llvm::CodeModel::Small,
      llvm::CodeGenOptLevel::Default, /*JIT=*/true));
  module->setTargetTriple(triple);
  module->setDataLayout(machine->createDataLayout());
  llvm::SmallVector<char, 0> buffer;
  llvm::raw_svector_ostream stream(buffer);
  llvm::legacy::PassManager passes;
  EXPECT_FALSE(
      machine->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile));
  passes.run(*module);
  return readFrames(std::string_view(buffer.data(), buffer.size()), *module);
}

const FunctionFrame &frameOf(const std::vector<FunctionFrame> &frames, std::string_view name) {
  auto it = std::find_if(frames.begin(), frames.end(),
                         [&](const FunctionFrame &frame) { return frame.name == name; });
  EXPECT_NE(it, frames.end()) << name;
  return *it;
}

constexpr const char *callsText = R"(
declare double @sin(double)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare i32 @plim_rt_dispatch(ptr)
declare i32 @plim.dispatch.d()
declare i64 @plim.count.d()
@plim.descriptor.d = internal constant {ptr, ptr} {ptr @plim.dispatch.d, ptr @plim.count.d}
@plim.data.w = external global i8
define internal void @local(ptr %p) noinline {
  call void @llvm.memset.p0.i64(ptr %p, i8 0, i64 1000, i1 0)
  ret void
}
define double @f(double %x) {
  %a = alloca [100 x double], align 64
  call void @local(ptr %a)
  %s = call i32 @plim_rt_dispatch(ptr @plim.descriptor.d)
  %y = call double @sin(double %x)
  %z = frem double %y, %x
  ret double %z
}
define i8 @leaf(double %x, i64 %i) {
  %a = alloca [12 x double]
  %p = getelementptr [12 x double], ptr %a, i64 0, i64 %i
  store volatile double %x, ptr %p
  %v = load volatile i8, ptr @plim.data.w
  ret i8 %v
}
)";

class Frames : public ::testing::TestWithParam<const char *> {};

TEST_P(Frames, TellSizesAndCalls) {
  StatusOr<std::vector<FunctionFrame>> frames = framesOf(callsText, GetParam());
  ASSERT_TRUE(frames.ok()) << frames.status().toString();
  const FunctionFrame &f = frameOf(*frames, "f");
  EXPECT_GE(f.bytes, 800);
  EXPECT_LE(f.bytes, 800 + 512);
  EXPECT_THAT(f.calls, ElementsAre("fmod", "local", "plim_rt_dispatch", "sin"));
  EXPECT_THAT(f.dispatches, ElementsAre("plim.count.d", "plim.dispatch.d"));
  // What the code generator makes of a fill: memset, or what the ABI of the target has for it.
  const FunctionFrame &local = frameOf(*frames, "local");
  ASSERT_EQ(local.calls.size(), 1u);
  EXPECT_THAT(local.calls[0], HasSubstr("mem"));
  const FunctionFrame &leaf = frameOf(*frames, "leaf");
  EXPECT_GE(leaf.bytes, 96) << "the red zone counts";
  EXPECT_THAT(leaf.calls, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Targets, Frames,
                         ::testing::Values("x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu",
                                           "thumbv7em-none-eabihf",
                                           "armv7-unknown-linux-gnueabihf"),
                         [](const auto &info) {
                           return std::string(llvm::Triple(info.param).getArchName());
                         });

TEST(Frames, WithoutABoundAreNamed) {
  for (const char *triple : {"x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"}) {
    StatusOr<std::vector<FunctionFrame>> frames = framesOf(R"(
declare void @use(ptr)
define void @grows(i64 %n) {
  %a = alloca i8, i64 %n
  call void @use(ptr %a)
  ret void
})",
                                                           triple);
    EXPECT_EQ(frames.status().code(), StatusCode::Internal);
    EXPECT_THAT(std::string(frames.status().message()), HasSubstr("'grows'"));
  }
}

TEST(Frames, CountArgumentsThatArePushed) {
  std::string arguments = "i64 1", types = "i64";
  for (int i = 2; i <= 40; ++i) {
    arguments += ", i64 " + std::to_string(i);
    types += ", i64";
  }
  StatusOr<std::vector<FunctionFrame>> frames =
      framesOf("declare void @many(" + types + ")\ndefine void @f() {\n  call void @many(" +
                   arguments + ")\n  call void @many(" + arguments + ")\n  ret void\n}\n",
               "x86_64-unknown-linux-gnu");
  ASSERT_TRUE(frames.ok());
  EXPECT_GE(frameOf(*frames, "f").bytes, 34 * 8);
}

TEST(Frames, CountScalableVectors) {
  std::string text = "declare void @use(ptr)\n"
                     "define void @f() {\n  %a = alloca <vscale x 4 x float>\n"
                     "  %b = alloca <vscale x 4 x float>\n  call void @use(ptr %a)\n"
                     "  call void @use(ptr %b)\n  ret void\n}\n";
  StatusOr<std::vector<FunctionFrame>> frames = framesOf(text, "aarch64-unknown-linux-gnu", "+sve");
  ASSERT_TRUE(frames.ok()) << frames.status().toString();
  EXPECT_GE(frameOf(*frames, "f").bytes, 2 * 256) << "the widest vector that there may be";
}

TEST(Frames, OfWhatIsNoObject) {
  llvm::LLVMContext context;
  llvm::Module module("", context);
  for (const char *bytes : {"", "nonsense",
                            "\x7f"
                            "ELF"})
    EXPECT_EQ(readFrames(bytes, module).status().code(), StatusCode::Internal);
}

TEST(StackUse, AddsUpOverObjects) {
  // Both objects have a function of their own called "local".
  StackUse use({{{"plim.entry.main", 100, {"local", "plim_rt_dispatch"}, {"plim.dispatch.d"}},
                 {"local", 1000, {}, {}}},
                {{"plim.dispatch.d", 200, {"local", "exp"}, {}}, {"local", 10, {"memcpy"}, {}}}});
  StackNeed dispatch = *use.needOf("plim.dispatch.d");
  EXPECT_EQ(dispatch.code, 200 + StackAllowances::math);
  EXPECT_EQ(dispatch.total, dispatch.code);
  EXPECT_EQ(dispatch.worker, 0);
  StackNeed main = *use.needOf("plim.entry.main");
  EXPECT_EQ(main.code, 100 + dispatch.code);
  EXPECT_EQ(main.total, 100 + StackAllowances::dispatch + dispatch.total);
  EXPECT_EQ(main.worker, StackAllowances::dispatch + dispatch.total);
}

TEST(StackUse, AHostFunctionHasAnAllowance) {
  StackUse use({{{"calls", 100, {"plim_rt_call"}, {}}}});
  StackNeed need = *use.needOf("calls");
  EXPECT_EQ(need.code, 100);
  EXPECT_EQ(need.total, 100 + StackAllowances::runtime + PLIM_HOST_STACK);
}

TEST(StackUse, ATurnOfARecursionHasABound) {
  StackUse use({{{"self", 10, {"plim_rt_recurse"}, {}},
                 {"a", 1, {"b", "plim_rt_recurse"}, {}},
                 {"b", 20, {"a", "c", "plim_rt_recurse", "sin"}, {}},
                 {"c", 300, {"plim_rt_dispatch"}, {"d"}},
                 {"main", 5000, {"b"}, {}}},
                {{"d", 2000, {}, {}}}});
  EXPECT_TRUE(use.needOf("self")->recursive);
  EXPECT_EQ(use.needOf("self")->total, 10 + StackAllowances::runtime);
  EXPECT_FALSE(use.needOf("c")->recursive);
  for (const char *name : {"a", "b", "main"}) {
    StackNeed need = *use.needOf(name);
    int64_t frames = 1 + 20 + 300 + 2000 + (name == std::string("main") ? 5000 : 0);
    EXPECT_TRUE(need.recursive);
    EXPECT_EQ(need.code, frames + StackAllowances::math);
    EXPECT_EQ(need.worker, StackAllowances::dispatch + 2000);
    EXPECT_GE(need.total, frames + StackAllowances::dispatch);
  }
}

TEST(StackUse, FaultsAreStatuses) {
  StackUse use(
      {{{"c", 1, {}, {"missing"}}, {"d", 1, {}, {"e"}}, {"e", 1, {"f"}, {}}, {"f", 1, {"e"}, {}}}});
  EXPECT_THAT(std::string(use.needOf("c").status().message()), HasSubstr("'missing'"));
  EXPECT_THAT(std::string(use.needOf("d").status().message()), HasSubstr("cycle"));
  EXPECT_EQ(use.needOf("nobody").status().code(), StatusCode::Internal);
}

/// @main with as many arguments and results, each by a dispatch of its own.
std::string manyResults(int count) {
  std::string arguments, types, body, values;
  for (int i = 0; i < count; ++i) {
    const std::string n = std::to_string(i), comma = i > 0 ? ", " : "";
    arguments += comma + "%a" + n + ": tensor<?xf32>";
    types += comma + "tensor<?xf32>";
    values += comma + "%r" + n;
    body += "  %r" + n + " = math.exp %a" + n + " : tensor<?xf32>\n";
  }
  return "func.func @main(" + arguments + ") -> (" + types + ") {\n" + body + "  return " + values +
         " : " + types + "\n}\n";
}

TEST(StackProofs, HostCodeDoesNotGrowWithItsCalls) {
  StatusOr<targets::TargetDescription> target = targets::resolveTarget("x86-64-v3", {});
  ASSERT_TRUE(target.ok());
  std::vector<int64_t> frames;
  // A schedule of 64 dispatches has the largest arrays.
  for (int count : {80, 320}) {
    StatusOr<Artifact> artifact = compile(manyResults(count), "in.mlir", *target, {});
    ASSERT_TRUE(artifact.ok()) << artifact.status().toString();
    for (const StackProof &proof : artifact->stack)
      if (proof.function == "main")
        frames.push_back(proof.proven);
  }
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_LT(frames[1], frames[0] + 240); // less than a byte for each more
}

TEST(StackProofs, OfEveryTargetThatLlvmGeneratesFor) {
  for (const char *tag :
       {"host-cpu", "x86-64-v2", "x86-64-v4", "sapphirerapids", "aarch64-neoverse-v1",
        "aarch64-neoverse-v2", "cortex-m7", "cortex-m55-ethos-u55"}) {
    StatusOr<targets::TargetDescription> target = targets::resolveTarget(tag, {});
    ASSERT_TRUE(target.ok()) << target.status().toString();
    for (const char *source : {testing::saxpySource, testing::sumSource, testing::matmulSource,
                               testing::temporariesSource}) {
      StatusOr<Artifact> artifact = compile(source, "in.mlir", *target, {});
      ASSERT_TRUE(artifact.ok()) << tag << ": " << artifact.status().toString();
      EXPECT_GE(artifact->stack.size(), artifact->functions.size());
      for (const StackProof &proof : artifact->stack) {
        // Where the return address is in a register, a frame may be empty.
        EXPECT_GE(proof.proven, tag == std::string("host-cpu")) << tag;
        // A panel of a product is the largest: 64 KiB with vectors of 512 bits.
        EXPECT_LT(proof.proven, source == testing::matmulSource ? 84 << 10 : 16 << 10)
            << tag << " " << proof.function;
        EXPECT_EQ(proof.budget, target->devices[0].stackBudgetBytes);
      }
      for (const FunctionSignature &function : artifact->functions) {
        EXPECT_GE(function.stackBytes, tag == std::string("host-cpu"));
        EXPECT_EQ(function.workerStackBytes > 0, !function.isKernel);
      }
      EXPECT_THAT(artifact->report, HasSubstr("\"stack\":{"));
    }
  }
}

} // namespace
} // namespace plim::jit
