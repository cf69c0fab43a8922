// Constants: in memory once, in pages that cannot be written, out of the cache without a copy.
#include "tests/unit/session/EngineFixture.h"
#include "tests/unit/session/Mappings.h"
#include "tests/unit/tools/TemporaryFile.h"

#include "ir/Pipelines/Pipelines.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <sstream>
#include <thread>

namespace plim {
namespace {

using namespace testing;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// "dense<...>" with `bytes` bytes, which differ by `seed`.
std::string denseBytes(int64_t bytes, int seed) {
  std::ostringstream text;
  text << "dense<\"0x";
  for (int64_t i = 0; i < bytes; ++i) {
    const char *digits = "0123456789ABCDEF";
    int64_t value = (i * 7 + i / 256 * 13 + seed) % 256;
    text << digits[value / 16] << digits[value % 16];
  }
  text << "\">";
  return text.str();
}

/// A constant @c of `count` f32 and a kernel @address_c that yields where it is; with the names of `name`.
std::string constantSource(const std::string &name, int64_t count, int seed,
                           const std::string &type = "f32", int64_t elementBytes = 4) {
  std::string memref = "memref<" + std::to_string(count) + "x" + type + ">";
  return "memref.global \"private\" constant @" + name + " : " + memref + " = " +
         denseBytes(count * elementBytes, seed) + "\nfunc.func @address_" + name +
         "() -> index {\n  %c = memref.get_global @" + name + " : " + memref +
         "\n  %p = memref.extract_aligned_pointer_as_index %c : " + memref +
         " -> index\n  return %p : index\n}\n";
}

const uint8_t *addressOf(const std::shared_ptr<Module> &module, const std::string &name) {
  std::vector<Value> results = callOk(lookup(module, "address_" + name), {});
  return results.empty() ? nullptr
                         : reinterpret_cast<const uint8_t *>(std::get<Scalar>(results[0]).bits);
}

TEST(Constants, EqualOnesOfAModuleAreInMemoryOnce) {
  std::shared_ptr<Engine> engine = makeEngine();
  for (int64_t count : {64, 1024, 5000}) {
    SCOPED_TRACE(count);
    std::shared_ptr<Module> module = load(
        *engine, constantSource("a", count, 1) + constantSource("b", count, 2) +
                     constantSource("c", count, 1) + constantSource("d", count / 2, 1, "i64", 8));
    ASSERT_TRUE(module);
    EXPECT_EQ(addressOf(module, "a"), addressOf(module, "c"));
    EXPECT_EQ(addressOf(module, "a"), addressOf(module, "d"));
    EXPECT_NE(addressOf(module, "a"), addressOf(module, "b"));
    EXPECT_THAT(module->report(),
                AllOf(HasSubstr("\"constants\":" + std::to_string(8 * count)),
                      HasSubstr("\"duplicate_constants\":2"),
                      HasSubstr("\"duplicate_constant_bytes\":" + std::to_string(8 * count))));
    EXPECT_EQ(addressOf(module, "b")[3], (3 * 7 + 2) % 256);
  }
}

TEST(Constants, ModulesOfAnEngineShareThem) {
  std::shared_ptr<Engine> engine = makeEngine();
  std::string source = constantSource("a", 5000, 1);
  std::shared_ptr<Module> first = load(*engine, source);
  std::shared_ptr<Module> second =
      load(*engine, constantSource("z", 1024, 9) + constantSource("other", 5000, 1));
  std::shared_ptr<Module> different = load(*engine, constantSource("a", 5000, 2));
  const uint8_t *address = addressOf(first, "a");
  EXPECT_EQ(addressOf(second, "other"), address);
  EXPECT_NE(addressOf(different, "a"), address);
  EXPECT_EQ(first->statistics().sharedConstantBytes, 0);
  EXPECT_EQ(second->statistics().sharedConstantBytes, 20000);
  EXPECT_EQ(different->statistics().sharedConstantBytes, 0);
  std::shared_ptr<Engine> stranger = makeEngine();
  EXPECT_NE(addressOf(load(*stranger, source), "a"), address);

  // They live as long as the last module that has them.
  first.reset();
  EXPECT_EQ(address[4], (4 * 7 + 1) % 256);
  second.reset();
  EXPECT_EQ(mappingAt(address), "");
  EXPECT_EQ(load(*engine, source)->statistics().sharedConstantBytes, 0);
}

TEST(Constants, ThreadsThatLoadAtOnceShareThem) {
  std::shared_ptr<Engine> engine = makeEngine();
  std::string source = constantSource("a", 5000, 1);
  std::vector<std::shared_ptr<Module>> modules(4);
  std::vector<std::thread> threads;
  for (std::shared_ptr<Module> &module : modules)
    threads.emplace_back([&] { module = load(*engine, source); });
  for (std::thread &thread : threads)
    thread.join();
  for (const std::shared_ptr<Module> &module : modules)
    EXPECT_EQ(addressOf(module, "a"), addressOf(modules[0], "a"));
}

TEST(Constants, CannotBeWritten) {
  std::shared_ptr<Engine> engine = makeEngine();
  for (int64_t count : {4, 5000}) {
    std::shared_ptr<Module> module = load(*engine, constantSource("a", count, 1));
    const uint8_t *address = addressOf(module, "a");
    EXPECT_THAT(mappingAt(address), StartsWith("r--p"));
    EXPECT_DEATH(*const_cast<uint8_t *>(address) = 1, "");
  }
}

TEST(Constants, WithoutBytesOrContentsHaveAPlaceOfTheirOwn) {
  std::string source = "memref.global \"private\" constant @empty : memref<0xf32> = dense<>\n" +
                       constantSource("a", 30, 1) + constantSource("b", 30, 2);
  source += "func.func @address_empty() -> index {\n"
            "  %c = memref.get_global @empty : memref<0xf32>\n"
            "  %p = memref.extract_aligned_pointer_as_index %c : memref<0xf32> -> index\n"
            "  return %p : index\n}\n";
  std::shared_ptr<Module> module = load(*makeEngine(), source);
  ASSERT_TRUE(module);
  EXPECT_NE(addressOf(module, "empty"), nullptr);
  EXPECT_EQ(addressOf(module, "a")[119], (119 * 7 + 1) % 256);
  EXPECT_EQ(addressOf(module, "b")[119], (119 * 7 + 2) % 256);
}

// What is small is part of the code, which cannot be written either.
TEST(Constants, SmallOnesAreInlined) {
  std::string source = constantSource("a", 4, 1) + R"(
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.mul ins(%x, %c : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>)
      -> tensor<4xf32>
  return %r : tensor<4xf32>
})";
  std::shared_ptr<Engine> engine = makeEngine();
  for (bool oracle : {false, true}) {
    std::shared_ptr<Module> module = load(*engine, source, {.oracle = oracle});
    ASSERT_TRUE(module);
    EXPECT_THAT(module->report(), HasSubstr(oracle ? "\"constants\":32," : "\"constants\":0,"));
    EXPECT_EQ(addressOf(module, "a")[15], (15 * 7 + 1) % 256);
    EXPECT_THAT(mappingAt(addressOf(module, "a")), StartsWith("r--p"));
    EXPECT_EQ(elements<float>(
                  callOk(lookup(module, "main"), {makeBuffer<float>({4}, {1, 1, 2, 2})}).at(0)),
              (std::vector<float>{1, 2, 6, 8}));
  }
}

// A loop over a small table is straight code with its elements in it.
TEST(Constants, SmallOnesAreFolded) {
  std::string source = R"(
func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %c = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i)>, affine_map<(i, k) -> (k)>,
                                        affine_map<(i, k) -> (i)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%x, %c : tensor<64xf32>, tensor<8xf32>) outs(%f : tensor<64xf32>) {
  ^bb0(%v: f32, %t: f32, %o: f32):
    %p = arith.mulf %o, %v : f32
    %s = arith.addf %p, %t : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  return %r : tensor<64xf32>
})";
  std::shared_ptr<Engine> engine = makeEngine();
  for (bool oracle : {false, true}) {
    std::string assembly;
    std::shared_ptr<Module> module =
        load(*engine, source, {.oracle = oracle, .assembly = &assembly});
    ASSERT_TRUE(module);
    // Neither the table nor, where it is data, its symbol.
    bool mentionsTable = assembly.find("constant_8xf32") != std::string::npos;
    EXPECT_EQ(mentionsTable, oracle);
  }
}

// Two variables that begin alike are two, and apart from the constant that they begin with.
TEST(Constants, VariablesAreNotShared) {
  std::string type = "memref<4096xi8>";
  std::string source =
      "memref.global \"private\" constant @c : " + type + " = " + denseBytes(4096, 3) + "\n";
  for (const char *name : {"v", "w"})
    source += "memref.global \"private\" @" + std::string(name) + " : " + type + " = " +
              denseBytes(4096, 3) + "\nfunc.func @set_" + name +
              "(%x: i8) {\n  %i = arith.constant 5 : index\n  %m = memref.get_global @" + name +
              " : " + type + "\n  memref.store %x, %m[%i] : " + type + "\n  return\n}\n";
  for (const char *name : {"c", "v", "w"})
    source += "func.func @get_" + std::string(name) +
              "() -> i8 {\n  %i = arith.constant 5 : index\n  %m = memref.get_global @" + name +
              " : " + type + "\n  %x = memref.load %m[%i] : " + type + "\n  return %x : i8\n}\n";
  std::shared_ptr<Engine> engine = makeEngine();
  std::shared_ptr<Module> one = load(*engine, source), two = load(*engine, source);
  auto get = [](const std::shared_ptr<Module> &module, const std::string &name) {
    return std::get<Scalar>(callOk(lookup(module, "get_" + name), {}).at(0)).bits & 255;
  };
  callOk(lookup(one, "set_v"), {Scalar{ElementType::I8, 77}});
  EXPECT_EQ(get(one, "v"), 77u);
  for (const auto &[module, name] : {std::pair(one, "c"), std::pair(one, "w"), std::pair(two, "v"),
                                     std::pair(two, "w"), std::pair(two, "c")})
    EXPECT_EQ(get(module, name), (5u * 7 + 3) % 256) << name;
}

TEST(Constants, OfTheCacheAreUsedWhereTheyLie) {
  TemporaryFolder folder;
  std::string source = constantSource("a", 5000, 1) + constantSource("b", 1024, 2);
  {
    std::shared_ptr<Engine> engine = makeEngine({.cacheFolder = folder.path()});
    EXPECT_FALSE(load(*engine, source)->statistics().fromCache);
  }
  std::shared_ptr<Engine> engine = makeEngine({.cacheFolder = folder.path()});
  std::shared_ptr<Module> module = load(*engine, source);
  ASSERT_TRUE(module->statistics().fromCache);
  for (const char *name : {"a", "b"})
    EXPECT_THAT(mappingAt(addressOf(module, name)),
                AllOf(StartsWith("r--p"), EndsWith(".plimart")));
  EXPECT_EQ(addressOf(module, "a")[19999], (19999 * 7 + 19999 / 256 * 13 + 1) % 256);
  EXPECT_DEATH(*const_cast<uint8_t *>(addressOf(module, "a")) = 1, "");

  // The entry goes: what is mapped stays, and so do the bytes that new modules share.
  ASSERT_EQ(folder.files(".plimart").size(), 1u);
  std::filesystem::remove(folder.files(".plimart")[0]);
  EXPECT_EQ(addressOf(module, "b")[4095], (4095 * 7 + 4095 / 256 * 13 + 2) % 256);
  std::shared_ptr<Module> again = load(*engine, source);
  EXPECT_FALSE(again->statistics().fromCache);
  EXPECT_EQ(again->statistics().sharedConstantBytes, 24096);
  EXPECT_EQ(addressOf(again, "a"), addressOf(module, "a"));
}

TEST(Constants, DamagedOnesOfTheCacheAreCompiledAnew) {
  TemporaryFolder folder;
  std::shared_ptr<Engine> engine = makeEngine({.cacheFolder = folder.path()});
  std::string source = constantSource("a", 5000, 1);
  load(*engine, source);
  ASSERT_EQ(folder.files(".plimart").size(), 1u);
  std::fstream file(folder.files(".plimart")[0], std::ios::in | std::ios::out | std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  // The middle of the block, which begins with 01 08 0F.
  size_t begin = bytes.find(std::string("\x01\x08\x0f\x16", 4));
  ASSERT_NE(begin, std::string::npos);
  file.clear();
  file.seekp(static_cast<std::streamoff>(begin + 10000));
  file.put(static_cast<char>(bytes[begin + 10000] ^ 16));
  file.close();
  std::shared_ptr<Module> module = load(*engine, source);
  EXPECT_FALSE(module->statistics().fromCache);
  EXPECT_EQ(addressOf(module, "a")[10000], (10000 * 7 + 10000 / 256 * 13 + 1) % 256);
  EXPECT_TRUE(load(*engine, source)->statistics().fromCache);
}

/// A module with the constant @c of 4096 f32 as a resource aligned to `alignment`, in bytecode.
std::string bytecode(size_t alignment) {
  mlir::DialectRegistry registry;
  ir::registerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  auto module =
      mlir::parseSourceString<mlir::ModuleOp>(constantSource("c", 4096, 0), &context, "in.mlir");
  module->walk([&](mlir::memref::GlobalOp global) {
    auto value = mlir::cast<mlir::DenseElementsAttr>(*global.getInitialValue());
    global.setInitialValueAttr(mlir::DenseResourceElementsAttr::get(
        value.getType(), "c",
        mlir::HeapAsmResourceBlob::allocateAndCopyWithAlign(value.getRawData(), alignment)));
  });
  std::string bytes;
  llvm::raw_string_ostream stream(bytes);
  EXPECT_TRUE(mlir::succeeded(mlir::writeBytecodeToFile(*module, stream)));
  return bytes;
}

TEST(Constants, OfABytecodeFileAreUsedWhereTheyLie) {
  std::shared_ptr<Engine> engine = makeEngine();
  for (size_t alignment : {4, 64, 4096}) {
    SCOPED_TRACE(alignment);
    std::string bytes = bytecode(alignment);
    auto file = std::make_unique<TemporaryFile>(bytes);
    StatusOr<std::shared_ptr<Module>> module = engine->loadFile(file->path());
    ASSERT_TRUE(module.ok()) << module.status().toString();
    const uint8_t *address = addressOf(*module, "c");
    EXPECT_EQ(reinterpret_cast<uintptr_t>(address) % PLIM_BUFFER_ALIGNMENT, 0u);
    EXPECT_THAT(mappingAt(address), StartsWith("r--p"));
    if (alignment >= PLIM_BUFFER_ALIGNMENT)
      EXPECT_THAT(mappingAt(address), EndsWith(file->path()));
    file.reset(); // what is mapped stays
    EXPECT_EQ(address[16383], (16383 * 7 + 16383 / 256 * 13) % 256);
    EXPECT_DEATH(*const_cast<uint8_t *>(address) = 1, "");

    // From memory, wherever it begins, there is a copy.
    module->reset();
    std::string shifted = "x" + bytes;
    StatusOr<std::shared_ptr<Module>> copied =
        engine->load(std::string_view(shifted).substr(1), "in.mlirbc");
    ASSERT_TRUE(copied.ok()) << copied.status().toString();
    shifted.assign(shifted.size(), 'x');
    EXPECT_EQ(addressOf(*copied, "c")[16383], (16383 * 7 + 16383 / 256 * 13) % 256);
  }
}

TEST(Constants, OfABytecodeFileGoThroughTheCache) {
  TemporaryFolder folder;
  TemporaryFile file(bytecode(64));
  for (bool fromCache : {false, true}) {
    std::shared_ptr<Engine> engine = makeEngine({.cacheFolder = folder.path()});
    StatusOr<std::shared_ptr<Module>> module = engine->loadFile(file.path());
    ASSERT_TRUE(module.ok()) << module.status().toString();
    EXPECT_EQ((*module)->statistics().fromCache, fromCache);
    EXPECT_EQ(addressOf(*module, "c")[16383], (16383 * 7 + 16383 / 256 * 13) % 256);
    // The key is that of the bytes, however they come.
    StatusOr<std::shared_ptr<Module>> fromMemory = engine->load(file.read(), file.path());
    ASSERT_TRUE(fromMemory.ok());
    EXPECT_TRUE((*fromMemory)->statistics().fromCache);
    EXPECT_EQ(addressOf(*fromMemory, "c"), addressOf(*module, "c"));
  }
}

} // namespace
} // namespace plim
