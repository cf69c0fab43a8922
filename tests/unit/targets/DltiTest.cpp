#include "targets/dlti/Dlti.h"

#include "tests/unit/targets/SampleTarget.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plim::targets::dlti {
namespace {

using testing::HasSubstr;

class DltiTest : public testing::Test {
protected:
  DltiTest() {
    context.loadDialect<mlir::DLTIDialect>();
    context.getDiagEngine().registerHandler([this](mlir::Diagnostic &diagnostic) {
      llvm::raw_string_ostream stream(diagnostics);
      stream << diagnostic.getLocation() << ": " << diagnostic << "\n";
    });
  }

  mlir::OwningOpRef<mlir::ModuleOp> parse(llvm::StringRef text) {
    return mlir::parseSourceString<mlir::ModuleOp>(text, &context, "target.mlir");
  }

  void expectFault(llvm::StringRef spec, std::string_view message) {
    SCOPED_TRACE(spec.str());
    diagnostics.clear();
    mlir::OwningOpRef<mlir::ModuleOp> module =
        parse(("module attributes {dlti.target_system_spec = " + spec + "} {}").str());
    ASSERT_TRUE(module) << diagnostics;
    EXPECT_FALSE(targetOf(*module));
    EXPECT_THAT(diagnostics, HasSubstr(message));
    EXPECT_THAT(diagnostics, HasSubstr("target.mlir\":1:1"));
  }

  mlir::MLIRContext context;
  std::string diagnostics;
};

TEST_F(DltiTest, RoundTripsThroughText) {
  uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int i = 0; i < 200; ++i) {
    TargetDescription target = i == 0 ? sampleTarget() : randomTarget(random);
    mlir::OwningOpRef<mlir::ModuleOp> module =
        mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
    attachTarget(*module, target);
    ASSERT_TRUE(mlir::succeeded(mlir::verify(*module))) << diagnostics;
    std::string text;
    llvm::raw_string_ostream(text) << *module;
    mlir::OwningOpRef<mlir::ModuleOp> parsed = parse(text);
    ASSERT_TRUE(parsed) << diagnostics << text;
    std::shared_ptr<const TargetDescription> back = targetOf(*parsed);
    ASSERT_TRUE(back) << diagnostics << text;
    ASSERT_EQ(*back, target) << text;
  }
}

TEST_F(DltiTest, AttachReplaces) {
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
  attachTarget(*module, sampleTarget());
  TargetDescription other = sampleTarget();
  other.devices[0].vectorBits = 128;
  attachTarget(*module, other);
  std::shared_ptr<const TargetDescription> back = targetOf(*module);
  ASSERT_TRUE(back) << diagnostics;
  EXPECT_EQ(*back, other);
}

TEST_F(DltiTest, CacheKnowsTargetsByTheirContents) {
  mlir::DialectRegistry registry;
  registerTargetCache(registry);
  context.appendDialectRegistry(registry);
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
  attachTarget(*module, sampleTarget());
  std::shared_ptr<const TargetDescription> first = targetOf(*module);
  ASSERT_TRUE(first) << diagnostics;
  EXPECT_EQ(*first, sampleTarget());
  EXPECT_EQ(targetOf(*module), first);
  TargetDescription other = sampleTarget();
  other.devices[0].vectorBits = 128;
  attachTarget(*module, other);
  std::shared_ptr<const TargetDescription> second = targetOf(*module);
  ASSERT_TRUE(second) << diagnostics;
  EXPECT_EQ(*second, other);
  attachTarget(*module, sampleTarget());
  EXPECT_EQ(targetOf(*module), first);
  // What cannot be read is told of each time.
  expectFault(
      "#dlti.target_system_spec<\"host\" = #dlti.target_device_spec<\"plim.cores\" = true>>",
      "'host.plim.cores': expected a 64-bit integer");
  diagnostics.clear();
  expectFault(
      "#dlti.target_system_spec<\"host\" = #dlti.target_device_spec<\"plim.cores\" = true>>",
      "'host.plim.cores': expected a 64-bit integer");
}

TEST_F(DltiTest, ReadsAShortHandWrittenTarget) {
  mlir::OwningOpRef<mlir::ModuleOp> module = parse(R"(
    module attributes {dlti.target_system_spec = #dlti.target_system_spec<
      "host" = #dlti.target_device_spec<"plim.vector_bits" = 256, "plim.cores" = 3 : i32,
                                        "plim.page_bytes" = 4096 : ui16,
                                        "plim.features" = ["+b", "-a"],
                                        "L1_cache_size_in_bytes" = 4096 : ui32>,
      "plim.memories" = #dlti.target_device_spec<
        "sram" = #dlti.map<"kind" = "scratch", "bytes" = 65536, "accessible_by" = ["host"]>>>} {}
  )");
  ASSERT_TRUE(module) << diagnostics;
  std::shared_ptr<const TargetDescription> target = targetOf(*module);
  ASSERT_TRUE(target) << diagnostics;
  TargetDescription expected;
  DeviceDescription &host = expected.devices.emplace_back();
  host.name = "host";
  host.vectorBits = 256;
  host.cores = 3;
  host.pageBytes = 4096;
  host.features = {"-a", "+b"};
  expected.memories.push_back(
      {.name = "sram", .kind = MemoryKind::Scratch, .bytes = 65536, .accessibleBy = {"host"}});
  EXPECT_EQ(*target, expected);
}

TEST_F(DltiTest, AnswersUpstreamQueries) {
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
  attachTarget(*module, sampleTarget());
  mlir::FailureOr<mlir::Attribute> bits =
      mlir::dlti::query(*module, llvm::ArrayRef<llvm::StringRef>{"host", "plim.vector_bits"});
  ASSERT_TRUE(mlir::succeeded(bits)) << diagnostics;
  EXPECT_EQ(llvm::cast<mlir::IntegerAttr>(*bits).getInt(), 512);
  mlir::FailureOr<mlir::Attribute> bytes = mlir::dlti::query(
      *module, llvm::ArrayRef<llvm::StringRef>{"plim.memories", "cuda0.global", "bytes"});
  ASSERT_TRUE(mlir::succeeded(bytes)) << diagnostics;
}

/// Stands for the project's dialect: the keys begin with its name, and MLIR asks a dialect about
/// keys that do.
class PlimDialect : public mlir::Dialect {
public:
  explicit PlimDialect(mlir::MLIRContext *context)
      : Dialect("plim", context, mlir::TypeID::get<PlimDialect>()) {}
  static llvm::StringRef getDialectNamespace() { return "plim"; }
};

TEST_F(DltiTest, VerifiesWhereADialectOwnsThePrefix) {
  context.loadDialect<PlimDialect>();
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
  attachTarget(*module, sampleTarget());
  EXPECT_TRUE(mlir::succeeded(mlir::verify(*module))) << diagnostics;
}

TEST_F(DltiTest, LocatedDiagnostics) {
  mlir::OwningOpRef<mlir::ModuleOp> module = parse("module {}");
  EXPECT_FALSE(targetOf(*module));
  EXPECT_THAT(diagnostics, HasSubstr("the module has no 'dlti.target_system_spec' attribute"));
  EXPECT_THAT(diagnostics, HasSubstr("target.mlir\":1:1"));

  auto host = [](const std::string &entries) {
    return "#dlti.target_system_spec<\"host\" = #dlti.target_device_spec<" + entries + ">>";
  };
  expectFault(host(R"("plim.colour" = 1)"), "'host.plim.colour': unknown key");
  expectFault(host(R"("plim.name" = "x")"), "'host.plim.name': unknown key");
  expectFault(host(R"("plim.cores" = "1")"), "'host.plim.cores': expected a 64-bit integer");
  expectFault(host(R"("plim.cores" = true)"), "'host.plim.cores': expected a 64-bit integer");
  expectFault(host(R"("plim.cores" = 18446744073709551615 : ui64)"), "expected a 64-bit integer");
  expectFault(host(R"("plim.cores" = 18446744073709551616 : i128)"), "expected a 64-bit integer");
  expectFault(host(R"("plim.cores" = 0)"), "invalid target: devices[0].cores: must be at least 1");
  expectFault(host(R"("plim.kind" = "tpu")"), "expected one of cpu, cuda, vulkan, npu");
  expectFault(host(R"("plim.triple" = 1)"), "expected a string");
  expectFault(host(R"("plim.stack_addressable" = 1)"), "expected true or false");
  expectFault(host(R"("plim.features" = "+a")"), "expected an array");
  expectFault(host(R"("plim.features" = [1])"), "'host.plim.features[0]': expected a string");
  expectFault(host(R"("plim.caches" = [1])"), "'host.plim.caches[0]': expected #dlti.map");
  expectFault(host(R"("plim.caches" = [#dlti.map<"level" = 1, "size" = 2>])"),
              "'host.plim.caches[0].size': unknown key");
  expectFault("#dlti.target_system_spec<\"plim.target\" = "
              "#dlti.target_device_spec<\"plim.name\" = \"x\">>",
              "invalid target: devices: a target needs at least one device");
  expectFault("#dlti.target_system_spec<\"plim.target\" = "
              "#dlti.target_device_spec<\"name\" = \"x\">>",
              "'plim.target': unknown key");
  expectFault("#dlti.target_system_spec<\"plim.memories\" = "
              "#dlti.target_device_spec<\"m\" = #dlti.map<\"read_gbps\" = 1>>>",
              "'plim.memories.m.read_gbps': expected a float");
  expectFault("#dlti.target_system_spec<\"plim.memories\" = #dlti.target_device_spec<\"m\" = 1>>",
              "'plim.memories.m': expected #dlti.map");
}

} // namespace
} // namespace plim::targets::dlti
