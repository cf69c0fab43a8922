// Modules in bytecode. Only truncation is tried on bad ones: bytecode is taken from trusted places,
// since its reader is not made for input that was tampered with.
#include "jit/Compiler.h"

#include "ir/Pipelines/Pipelines.h"
#include "targets/Resolve.h"
#include "tests/unit/jit/Sources.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

namespace plim::jit {
namespace {

std::string bytecodeOf(const char *source, bool unknownDialects = false) {
  mlir::DialectRegistry registry;
  ir::registerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.allowUnregisteredDialects(unknownDialects);
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceString<mlir::ModuleOp>(source, &context, "in.mlir");
  EXPECT_TRUE(bool(module));
  std::string bytes;
  llvm::raw_string_ostream stream(bytes);
  EXPECT_TRUE(mlir::succeeded(mlir::writeBytecodeToFile(*module, stream)));
  return bytes;
}

StatusOr<Artifact> compileBytes(std::string_view source) {
  return compile(source, "in.mlirbc", *targets::resolveTarget("host-cpu", {}), {});
}

TEST(Bytecode, CompilesToTheSameCodeAsText) {
  std::string bytes = bytecodeOf(testing::sumSource);
  StatusOr<Artifact> binary = compileBytes(bytes);
  ASSERT_TRUE(binary.ok()) << binary.status().toString();
  StatusOr<Artifact> text =
      compile(testing::sumSource, "in.mlirbc", *targets::resolveTarget("host-cpu", {}), {});
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(binary->objects, text->objects);
  ASSERT_EQ(binary->functions.size(), 1u);
  EXPECT_EQ(binary->functions[0].results, text->functions[0].results);
}

TEST(Bytecode, EveryTruncationIsAnError) {
  for (const char *source : {testing::sumSource, testing::stateSource}) {
    std::string bytes = bytecodeOf(source);
    for (size_t size = 0; size < bytes.size(); size += 3) {
      StatusOr<Artifact> artifact = compileBytes(std::string_view(bytes).substr(0, size));
      ASSERT_FALSE(artifact.ok()) << size;
      EXPECT_EQ(artifact.status().code(), StatusCode::InvalidArgument);
      EXPECT_FALSE(artifact.status().message().empty()) << size;
    }
  }
}

TEST(Bytecode, NamesTheSourceInMessages) {
  std::string bytes = bytecodeOf(testing::sumSource);
  StatusOr<Artifact> artifact = compileBytes(std::string_view(bytes).substr(0, bytes.size() / 2));
  ASSERT_FALSE(artifact.ok());
  EXPECT_NE(artifact.status().message().find("in.mlirbc"), std::string_view::npos)
      << artifact.status().toString();
}

TEST(Bytecode, OfUnknownDialects) {
  for (const char *source : {"func.func @f() {\n  \"gpu.barrier\"() : () -> ()\n  return\n}",
                             "func.func @f(%t: !gpu.async.token) {\n  return\n}",
                             "func.func @f() attributes {a = #gpu.b<c>} {\n  return\n}"}) {
    Status status = compileBytes(bytecodeOf(source, /*unknownDialects=*/true)).status();
    EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
    EXPECT_TRUE(
        status.message().starts_with("in.mlirbc:0:0: unknown dialect 'gpu'; known are affine"))
        << status.toString();
  }
}

} // namespace
} // namespace plim::jit
