// Code of dispatches that comes out of the cache under other names: equal to what is compiled anew, for all
// conformance modules, and only where all that LLVM is given is the same.
#include "jit/ArtifactCache.h"
#include "jit/Compiler.h"
#include "targets/Resolve.h"
#include "tests/unit/engine/Random.h"
#include "tests/unit/jit/Sources.h"

#include "llvm/Object/ELFObjectFile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

namespace fs = std::filesystem;

namespace plim::jit {
namespace {

using ::testing::Gt;

class ObjectCacheTest : public ::testing::Test {
protected:
  ObjectCacheTest() {
    std::string pattern = ::testing::TempDir() + "plim.objects.XXXXXX";
    EXPECT_NE(mkdtemp(pattern.data()), nullptr);
    folder = pattern;
    cache = *ArtifactCache::open(folder, int64_t(1) << 30);
  }
  ~ObjectCacheTest() override {
    std::error_code error;
    fs::remove_all(folder, error);
  }

  StatusOr<Artifact> compileCached(const std::string &source, CompileOptions options = {},
                                   const targets::TargetDescription &target = host()) {
    options.cache = &*cache;
    times = {};
    return compile(source, "in.mlir", target, options, &times);
  }

  static const targets::TargetDescription &host() {
    static const targets::TargetDescription target = *targets::resolveTarget("host-cpu", {});
    return target;
  }

  std::string folder;
  std::optional<ArtifactCache> cache;
  CompileTimes times;
};

/// All of an object but the names of its sections, as text: sections, symbols and relocations in their order.
std::string describe(const std::string &object) {
  auto file = cantFail(
      llvm::object::ObjectFile::createELFObjectFile(llvm::MemoryBufferRef(object, "object")));
  const auto &elf = llvm::cast<llvm::object::ELFObjectFileBase>(*file);
  std::ostringstream text;
  for (llvm::object::ELFSectionRef section : elf.sections()) {
    if (section.getType() == llvm::ELF::SHT_STRTAB || section.getType() == llvm::ELF::SHT_SYMTAB ||
        section.getType() == llvm::ELF::SHT_REL || section.getType() == llvm::ELF::SHT_RELA)
      continue;
    text << "section " << section.getType() << " " << section.getFlags() << " "
         << section.getAlignment().value() << " " << section.getSize() << "\n";
    if (!section.isBSS())
      text << cantFail(section.getContents()).str() << "\n";
    for (llvm::object::ELFRelocationRef relocation : section.relocations()) {
      const llvm::object::symbol_iterator symbol = relocation.getSymbol();
      llvm::StringRef name;
      if (symbol != elf.symbol_end())
        name = cantFail(symbol->getName());
      text << "relocation " << relocation.getOffset() << " " << relocation.getType() << " "
           << (relocation.getAddend() ? *relocation.getAddend() : 0) << " "
           << (name.starts_with(".") ? "" : name.str()) << "\n";
    }
  }
  std::vector<std::string> symbols;
  for (llvm::object::ELFSymbolRef symbol : elf.symbols()) {
    const llvm::StringRef name = cantFail(symbol.getName());
    std::ostringstream line;
    line << (name.starts_with(".") ? "" : name.str()) << " " << int(symbol.getBinding()) << " "
         << int(symbol.getELFType()) << " " << cantFail(symbol.getValue()) << " "
         << symbol.getSize();
    symbols.push_back(line.str());
  }
  std::ranges::sort(symbols);
  for (const std::string &symbol : symbols)
    text << symbol << "\n";
  return text.str();
}

void expectEqual(const Artifact &cached, const Artifact &fresh) {
  ASSERT_EQ(cached.objects.size(), fresh.objects.size());
  for (size_t i = 0; i < fresh.objects.size(); ++i)
    EXPECT_EQ(describe(cached.objects[i]), describe(fresh.objects[i])) << "object " << i;
  // With what is on the stack.
  EXPECT_EQ(cached.report, fresh.report);
  for (size_t i = 0; i < fresh.functions.size(); ++i) {
    EXPECT_EQ(cached.functions[i].stackBytes, fresh.functions[i].stackBytes);
    EXPECT_EQ(cached.functions[i].workerStackBytes, fresh.functions[i].workerStackBytes);
  }
}

/// Every function of the source, and all that is called after it, has a longer name.
std::string renamed(const std::string &source) {
  return std::regex_replace(source, std::regex("@([A-Za-z_])"), "@z_another_$1");
}

std::vector<fs::path> conformanceModules() {
  std::vector<fs::path> files;
  for (const fs::directory_entry &entry : fs::recursive_directory_iterator(PLIM_CONFORMANCE_FOLDER))
    if (entry.path().extension() == ".mlir")
      files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

TEST_F(ObjectCacheTest, CodeUnderOtherNamesIsThatOfAFreshCompilation) {
  PLIM_TRACE_SEED();
  std::mt19937_64 random(testing::testSeed());
  std::vector<fs::path> files = conformanceModules();
  ASSERT_THAT(files.size(), Gt(200u));
  std::ranges::shuffle(files, random);
  files.resize(std::min<size_t>(files.size(), size_t(40) * size_t(testing::testScale())));
  targets::TargetDescription arm = *targets::resolveTarget("aarch64-neoverse-v2", {});
  int64_t found = 0;
  for (const fs::path &path : files) {
    std::ifstream stream(path);
    const std::string source(std::istreambuf_iterator<char>(stream), {});
    const targets::TargetDescription &target = random() % 4 == 0 ? arm : host();
    if (!compileCached(source, {}, target).ok())
      continue; // refused for good: needs a device, or another target
    StatusOr<Artifact> cached = compileCached(renamed(source), {}, target);
    ASSERT_TRUE(cached.ok()) << path << ": " << cached.status().toString();
    found += times.cachedObjects;
    StatusOr<Artifact> fresh = compile(renamed(source), "in.mlir", target, {});
    ASSERT_TRUE(fresh.ok()) << path;
    SCOPED_TRACE(path.string());
    expectEqual(*cached, *fresh);
  }
  EXPECT_THAT(found, Gt(int64_t(files.size() / 2)));
}

TEST_F(ObjectCacheTest, AnEditCompilesOnlyWhatItChanges) {
  const std::string source = testing::temporariesSource;
  ASSERT_TRUE(compileCached(source).ok());
  const int64_t objects = times.objects;
  ASSERT_THAT(objects, Gt(2));
  EXPECT_EQ(times.cachedObjects, 0);
  ASSERT_TRUE(compileCached(source).ok());
  EXPECT_EQ(times.cachedObjects, objects);
  // An operation more in front renumbers what follows.
  std::string edited = source;
  const std::string first = "  %p = linalg.matmul ins(%x, %w";
  ASSERT_NE(edited.find(first), std::string::npos);
  edited.replace(edited.find(first), first.size(),
                 "  %x2 = math.absf %x : tensor<8x16xf32>\n"
                 "  %p = linalg.matmul ins(%x2, %w");
  StatusOr<Artifact> cached = compileCached(edited);
  ASSERT_TRUE(cached.ok()) << cached.status().toString();
  EXPECT_THAT(times.cachedObjects, Gt(0));
  EXPECT_LT(times.cachedObjects, times.objects);
  expectEqual(*cached, *compile(edited, "in.mlir", host(), {}));
}

TEST_F(ObjectCacheTest, WhatDecidesAboutCodeIsPartOfTheKey) {
  const std::string source = testing::sumSource;
  ASSERT_TRUE(compileCached(source).ok());
  const auto found = [&](const CompileOptions &options,
                         const targets::TargetDescription &target = host()) {
    EXPECT_TRUE(compileCached(source, options, target).ok());
    return times.cachedObjects;
  };
  EXPECT_EQ(found({}), times.objects);
  CompileOptions oracle, strict;
  oracle.oracle = true;
  strict.numerics = Numerics::Strict;
  EXPECT_EQ(found(oracle), 0);
  EXPECT_EQ(found(strict), 0);
  targets::TargetDescription other = host();
  other.devices[0].hardwareThreads += 1; // nothing to code
  EXPECT_EQ(found({}, other), times.objects);
  other.devices[0].tuneCpu = "generic";
  EXPECT_EQ(found({}, other), 0);
  // Constants are contents.
  std::string edited = source;
  edited.replace(edited.find("0.0"), 3, "1.0");
  ASSERT_TRUE(compileCached(edited).ok());
  EXPECT_EQ(times.cachedObjects, 0);
}

TEST_F(ObjectCacheTest, AssemblyIsMadeAnew) {
  ASSERT_TRUE(compileCached(testing::sumSource).ok());
  std::string assembly;
  CompileOptions options;
  options.assembly = &assembly;
  ASSERT_TRUE(compileCached(testing::sumSource, options).ok());
  EXPECT_EQ(times.cachedObjects, 0);
  EXPECT_NE(assembly.find("plim.raw.sum"), assembly.npos);
}

TEST_F(ObjectCacheTest, DamagedAndForeignEntriesAreCompiledAnew) {
  PLIM_TRACE_SEED();
  std::mt19937_64 random(testing::testSeed());
  StatusOr<Artifact> first = compileCached(testing::sumSource);
  ASSERT_TRUE(first.ok());
  ASSERT_EQ(times.objects, 1);
  std::vector<fs::path> files;
  for (const fs::directory_entry &entry : fs::directory_iterator(folder))
    files.push_back(entry.path());
  ASSERT_EQ(files.size(), 1u);
  std::ifstream stream(files[0], std::ios::binary);
  const std::string good(std::istreambuf_iterator<char>(stream), {});
  auto write = [&](const std::string &bytes) {
    std::ofstream(files[0], std::ios::binary) << bytes;
  };
  for (int i = 0; i < 40; ++i) {
    std::string bad = good;
    if (i % 4 == 0) {
      bad.resize(random() % bad.size());
    } else {
      const size_t bit = random() % (bad.size() * 8);
      bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
    }
    write(bad);
    StatusOr<Artifact> again = compileCached(testing::sumSource);
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(times.cachedObjects, 0);
    EXPECT_EQ(again->objects, first->objects);
    // It stands there again.
    ASSERT_TRUE(compileCached(testing::sumSource).ok());
    EXPECT_EQ(times.cachedObjects, 1);
  }
}

TEST_F(ObjectCacheTest, AFolderThatIsGoneCostsNothing) {
  fs::remove_all(folder);
  EXPECT_TRUE(compileCached(testing::sumSource).ok());
  EXPECT_EQ(times.cachedObjects, 0);
}

} // namespace
} // namespace plim::jit
