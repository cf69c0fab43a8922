#include "ir/Gpu/GpuCompiler.h"

#include "devices/GpuCode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace plim::ir {
namespace {

using devices::GpuCode;
using devices::GpuCodeKind;
using devices::GpuNumber;
using targets::DeviceDescription;
using targets::DeviceKind;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

DeviceDescription vulkan() {
  DeviceDescription device;
  device.name = "vulkan0";
  device.kind = DeviceKind::Vulkan;
  device.features = {"+shaderFloat16",
                     "+shaderFloat64",
                     "+shaderInt16",
                     "+shaderInt64",
                     "+shaderInt8",
                     "+storageBuffer16BitAccess",
                     "+storageBuffer8BitAccess"};
  device.maxWorkgroupSize = 1024;
  return device;
}

DeviceDescription vulkanWithout(std::initializer_list<std::string_view> features) {
  DeviceDescription device = vulkan();
  for (std::string_view feature : features)
    device.setFeature(feature, false);
  return device;
}

DeviceDescription cuda() {
  DeviceDescription device;
  device.name = "cuda0";
  device.kind = DeviceKind::Cuda;
  device.cpu = "sm_80";
  device.cores = 4;
  device.maxWorkgroupSize = 1024;
  return device;
}

std::vector<DeviceDescription> both() { return {vulkan(), cuda()}; }

DeviceAnswer answerTo(const std::string &text, const DeviceDescription &device,
                      bool strict = false) {
  return compileForGpu({device.name, "f", text}, device, strict);
}

GpuCode compile(const std::string &text, const DeviceDescription &device, bool strict = false) {
  DeviceAnswer answer = answerTo(text, device, strict);
  EXPECT_EQ(answer.kind, DeviceAnswer::Taken) << answer.text;
  if (answer.kind != DeviceAnswer::Taken)
    return {};
  StatusOr<GpuCode> code = devices::decodeGpuCode(answer.text);
  EXPECT_TRUE(code.ok()) << code.status().toString();
  if (!code.ok())
    return {};
  EXPECT_EQ(encode(*code), answer.text);
  return std::move(*code);
}

void expectRefusal(const std::string &text, const DeviceDescription &device,
                   const std::string &reason) {
  DeviceAnswer answer = answerTo(text, device);
  EXPECT_EQ(answer.kind, DeviceAnswer::Refused) << text;
  EXPECT_THAT(answer.text, HasSubstr(reason)) << text;
}

/// One op on elements of a vector: `body` of %a gives %b.
std::string unary(const std::string &element, const std::string &body,
                  const std::string &shape = "?x") {
  const std::string type = "tensor<" + shape + element + ">";
  return "func.func @f(%x: " + type + ", %out: " + type + ") -> " + type +
         " {\n  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> "
         "(i)>],\n"
         "    iterator_types = [\"parallel\"]} ins(%x : " +
         type + ") outs(%out : " + type + ") {\n  ^bb0(%a: " + element + ", %o: " + element +
         "):\n    " + body + "\n    linalg.yield %b : " + element + "\n  } -> " + type +
         "\n  return %r : " + type + "\n}\n";
}

const std::string add = unary("f32", "%b = arith.addf %a, %a : f32");

std::string matmul(bool isFilled) {
  return std::string(
             "func.func @f(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>, %out: tensor<?x?xf32>) "
             "-> tensor<?x?xf32> {\n  %c = arith.constant 0.0 : f32\n") +
         (isFilled
              ? "  %i = linalg.fill ins(%c : f32) outs(%out : tensor<?x?xf32>) -> tensor<?x?xf32>\n"
              : "") +
         "  %r = linalg.matmul ins(%x, %y : tensor<?x?xf32>, tensor<?x?xf32>) outs(" +
         (isFilled ? "%i" : "%out") +
         " : tensor<?x?xf32>) -> tensor<?x?xf32>\n  return %r : tensor<?x?xf32>\n}\n";
}

TEST(GpuCompilerTest, KnowsItsDevices) {
  EXPECT_TRUE(isGpu(vulkan()));
  EXPECT_TRUE(isGpu(cuda()));
  DeviceDescription other;
  for (DeviceKind kind : {DeviceKind::Cpu, DeviceKind::Npu}) {
    other.kind = kind;
    EXPECT_FALSE(isGpu(other));
  }
}

TEST(GpuCompilerTest, MakesAKernel) {
  for (const DeviceDescription &device : both()) {
    const GpuCode code = compile(add, device);
    ASSERT_EQ(code.kernels.size(), 1u);
    ASSERT_EQ(code.modules.size(), 1u);
    EXPECT_EQ(code.kernels[0].workgroupSize, (std::array<uint32_t, 3>{256, 1, 1}));
    EXPECT_THAT(code.kernels[0].buffers, ElementsAre(0u, 1u));
    EXPECT_THAT(code.temporaries, IsEmpty());
    // Equal bytes for equal dispatches: keys of caches are made of them.
    EXPECT_EQ(code, compile(add, device));
  }
  const GpuCode spirv = compile(add, vulkan());
  EXPECT_EQ(spirv.kind, GpuCodeKind::Spirv);
  uint32_t magic = 0;
  std::memcpy(&magic, spirv.modules[0].data(), sizeof magic);
  EXPECT_EQ(magic, 0x07230203u);
  EXPECT_LT(spirv.maxElements, int64_t(1) << 31);
  const GpuCode ptx = compile(add, cuda());
  EXPECT_EQ(ptx.kind, GpuCodeKind::Ptx);
  EXPECT_THAT(ptx.features, ElementsAre("sm_80"));
  EXPECT_THAT(ptx.modules[0], HasSubstr(".target sm_80"));
  EXPECT_THAT(ptx.modules[0], HasSubstr(".entry " + ptx.kernels[0].entry));
}

TEST(GpuCompilerTest, TakesWorkgroupsThatTheDeviceHas) {
  for (DeviceDescription device : both())
    for (auto [most, size] : {std::pair(1024, 256u), {256, 256}, {128, 128}, {100, 64}, {1, 1}}) {
      device.maxWorkgroupSize = most;
      EXPECT_EQ(compile(add, device).kernels[0].workgroupSize[0], size);
      EXPECT_EQ(compile(matmul(true), device).kernels[0].workgroupSize[0], size);
    }
}

TEST(GpuCompilerTest, FoldsKnownNumbers) {
  for (const DeviceDescription &device : both()) {
    const GpuCode code = compile(unary("f32", "%b = arith.addf %a, %a : f32", "1000x"), device);
    for (const GpuNumber &number : code.numbers)
      EXPECT_EQ(number.kind, GpuNumber::Constant);
    ASSERT_EQ(code.kernels.size(), 1u);
    EXPECT_THAT(code.kernels[0].words, IsEmpty());
    EXPECT_EQ(code.numbers[code.kernels[0].workgroups].a, 4);
  }
}

TEST(GpuCompilerTest, HandsOverScalars) {
  const std::string text = R"(
func.func @f(%s: f64, %b: i8, %x: tensor<?xf64>, %out: tensor<?xf64>) -> tensor<?xf64> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
    iterator_types = ["parallel"]} ins(%x : tensor<?xf64>) outs(%out : tensor<?xf64>) {
  ^bb0(%a: f64, %o: f64):
    %n = arith.sitofp %b : i8 to f64
    %p = arith.mulf %a, %s : f64
    %q = arith.addf %p, %n : f64
    linalg.yield %q : f64
  } -> tensor<?xf64>
  return %r : tensor<?xf64>
})";
  for (const DeviceDescription &device : both()) {
    const GpuCode code = compile(text, device);
    ASSERT_EQ(code.arguments.size(), 4u);
    EXPECT_EQ(code.arguments[0], (devices::GpuArgument{.isTensor = false, .bytes = 8}));
    EXPECT_EQ(code.arguments[1], (devices::GpuArgument{.isTensor = false, .bytes = 1}));
    ASSERT_EQ(code.kernels.size(), 1u);
    std::vector<std::pair<int64_t, uint32_t>> scalars; // argument, bits
    for (const devices::GpuWord &word : code.kernels[0].words)
      if (const GpuNumber &number = code.numbers[word.number]; number.kind == GpuNumber::Scalar)
        scalars.emplace_back(number.a, word.bits);
    EXPECT_THAT(scalars, testing::UnorderedElementsAre(std::pair(0, 64u), std::pair(1, 32u)));
  }
  EXPECT_THAT(compile(text, vulkan()).features, testing::Contains("shaderFloat64"));
}

TEST(GpuCompilerTest, KnowsWhatIsReadAndWritten) {
  struct {
    const char *what;
    std::string text;
    std::vector<std::pair<bool, bool>> arguments; // read, written
  } const cases[] = {
      {"a result that is overwritten", add, {{true, false}, {false, true}}},
      {"a result that is added to", matmul(false), {{true, false}, {true, false}, {true, true}}},
      {"a result that is filled first",
       matmul(true),
       {{true, false}, {true, false}, {false, true}}},
      {"an operand that nobody reads",
       R"(
func.func @f(%x: tensor<8xf32>, %out: tensor<8xf32>) -> tensor<8xf32> {
  %c = arith.constant 1.0 : f32
  %r = linalg.fill ins(%c : f32) outs(%out : tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
})",
       {{false, false}, {false, true}}},
      {"a part of a result",
       R"(
func.func @f(%x: tensor<3xf32>, %out: tensor<8xf32>) -> tensor<8xf32> {
  %r = tensor.insert_slice %x into %out[2] [3] [1] : tensor<3xf32> into tensor<8xf32>
  return %r : tensor<8xf32>
})",
       {{true, false}, {true, true}}},
      {"a part of a result that was overwritten as a whole",
       R"(
func.func @f(%x: tensor<3xf32>, %out: tensor<8xf32>) -> tensor<8xf32> {
  %c = arith.constant 1.0 : f32
  %i = linalg.fill ins(%c : f32) outs(%out : tensor<8xf32>) -> tensor<8xf32>
  %r = tensor.insert_slice %x into %i[2] [3] [1] : tensor<3xf32> into tensor<8xf32>
  return %r : tensor<8xf32>
})",
       {{true, false}, {false, true}}},
      {"an operand that is the result",
       "func.func @f(%x: tensor<?xf32>, %out: tensor<?xf32>) -> tensor<?xf32> {\n"
       "  return %x : tensor<?xf32>\n}\n",
       {{true, false}, {false, true}}},
      {"a result that stays",
       "func.func @f(%out: tensor<?xf32>) -> tensor<?xf32> {\n  return %out : tensor<?xf32>\n}\n",
       {{false, false}}},
  };
  for (const DeviceDescription &device : both())
    for (const auto &[what, text, arguments] : cases) {
      std::vector<std::pair<bool, bool>> found;
      for (const devices::GpuArgument &argument : compile(text, device).arguments)
        found.emplace_back(argument.isRead, argument.isWritten);
      EXPECT_EQ(found, arguments) << what << " on " << device.name;
    }
}

TEST(GpuCompilerTest, NothingToDoIsNoKernel) {
  const std::string text =
      "func.func @f(%out: tensor<?xf32>) -> tensor<?xf32> {\n  return %out : tensor<?xf32>\n}\n";
  for (const DeviceDescription &device : both()) {
    const GpuCode code = compile(text, device);
    EXPECT_THAT(code.kernels, IsEmpty());
    EXPECT_THAT(code.modules, IsEmpty());
    EXPECT_EQ(code.arguments.size(), 1u);
  }
}

TEST(GpuCompilerTest, PutsWhatIsBetweenKernelsIntoTemporaries) {
  const std::string text = R"(
func.func @f(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>, %z: tensor<?x?xf32>, %out: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %y, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p = linalg.matmul ins(%x, %y : tensor<?x?xf32>, tensor<?x?xf32>) outs(%i : tensor<?x?xf32>) -> tensor<?x?xf32>
  %j = linalg.fill ins(%zero : f32) outs(%out : tensor<?x?xf32>) -> tensor<?x?xf32>
  %r = linalg.matmul ins(%p, %z : tensor<?x?xf32>, tensor<?x?xf32>) outs(%j : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
})";
  for (const DeviceDescription &device : both()) {
    const GpuCode code = compile(text, device);
    const size_t sizesOfTiles = device.kind == DeviceKind::Cuda ? 2 : 1;
    ASSERT_EQ(code.kernels.size(), 2 * sizesOfTiles); // fills are the begin of sums
    ASSERT_EQ(code.temporaries.size(), 1u);
    EXPECT_EQ(code.temporaries[0].elementBytes, 4u);
    EXPECT_EQ(code.numbers[code.temporaries[0].bytes].kind, GpuNumber::Multiply);
    EXPECT_THAT(code.kernels[0].buffers, testing::UnorderedElementsAre(0u, 1u, 4u));
    EXPECT_THAT(code.kernels.back().buffers, testing::UnorderedElementsAre(2u, 3u, 4u));
    EXPECT_FALSE(code.arguments[3].isRead);
  }
}

TEST(GpuCompilerTest, CallsNoFunctions) {
  for (const char *op : {"exp", "log", "tanh", "sin", "cos", "erf", "sqrt", "rsqrt", "atan",
                         "log1p", "expm1", "floor", "ceil", "round"}) {
    const std::string text = unary("f32", "%b = math." + std::string(op) + " %a : f32");
    const GpuCode code = compile(text, cuda());
    ASSERT_EQ(code.modules.size(), 1u) << op;
    EXPECT_THAT(code.modules[0], Not(HasSubstr(".extern"))) << op;
    EXPECT_THAT(code.modules[0], Not(HasSubstr("__nv_"))) << op;
    compile(text, vulkan());
  }
}

TEST(GpuCompilerTest, StrictCodeFusesNothing) {
  EXPECT_THAT(compile(matmul(true), cuda(), /*strict=*/false).modules[0], HasSubstr("fma.rn.f32"));
  EXPECT_THAT(compile(matmul(true), cuda(), /*strict=*/true).modules[0],
              Not(HasSubstr("fma.rn.f32")));
}

TEST(GpuCompilerTest, PositionsAreNarrowOnVulkanUnlessTheyAreNumbers) {
  auto bitsOf = [](const GpuCode &code) {
    std::vector<uint32_t> bits;
    for (const devices::GpuKernel &kernel : code.kernels)
      for (const devices::GpuWord &word : kernel.words)
        bits.push_back(word.bits);
    return bits;
  };
  EXPECT_THAT(bitsOf(compile(add, vulkan())), testing::Each(32u));
  EXPECT_THAT(bitsOf(compile(add, cuda())), testing::Each(64u));
  const std::string indices = unary("index", "%b = arith.addi %a, %a : index");
  EXPECT_THAT(bitsOf(compile(indices, vulkan())), testing::Each(64u));
  expectRefusal(indices, vulkanWithout({"shaderInt64"}), "shaderInt64");
}

TEST(GpuCompilerTest, RefusesTypes) {
  for (const DeviceDescription &device : both()) {
    expectRefusal(unary("complex<f32>", "%b = complex.add %a, %a : complex<f32>"), device,
                  "elements of type 'complex<f32>'");
    expectRefusal(unary("i4", "%b = arith.addi %a, %a : i4"), device, "elements of type 'i4'");
  }
  struct {
    const char *element, *body, *feature;
  } const cases[] = {{"f64", "%b = arith.addf %a, %a : f64", "shaderFloat64"},
                     {"i64", "%b = arith.addi %a, %a : i64", "shaderInt64"},
                     {"f16", "%b = arith.addf %a, %a : f16", "shaderFloat16"},
                     {"i16", "%b = arith.addi %a, %a : i16", "shaderInt16"},
                     {"i8", "%b = arith.addi %a, %a : i8", "shaderInt8"},
                     {"i8", "%b = arith.addi %a, %a : i8", "storageBuffer8BitAccess"},
                     {"i16", "%b = arith.addi %a, %a : i16", "storageBuffer16BitAccess"}};
  for (const auto &[element, body, feature] : cases) {
    compile(unary(element, body), vulkan());
    compile(unary(element, body), cuda());
    expectRefusal(unary(element, body), vulkanWithout({feature}),
                  "the device has no " + std::string(feature));
  }
}

TEST(GpuCompilerTest, RefusesFunctions) {
  const std::string fma = unary("f32", "%b = math.fma %a, %a, %a : f32");
  expectRefusal(fma, vulkan(), "math.fma, which Vulkan may round twice");
  EXPECT_THAT(compile(fma, cuda()).modules[0], HasSubstr("fma.rn.f32"));
  const std::string wide = unary("f64", "%b = math.exp %a : f64");
  expectRefusal(wide, vulkan(), "f64");
  expectRefusal(wide, cuda(), "it has a math.exp of type 'f64'");
  DeviceDescription unknown = cuda();
  unknown.cpu = "";
  expectRefusal(add, unknown, "no architecture");
}

TEST(GpuCompilerTest, RefusesWhatIsNoListOfKernels) {
  const std::string loop = R"(
func.func @f(%n: index, %x: tensor<8xf32>, %out: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> (tensor<8xf32>) {
    %e = linalg.negf ins(%v : tensor<8xf32>) outs(%v : tensor<8xf32>) -> tensor<8xf32>
    scf.yield %e : tensor<8xf32>
  }
  return %r : tensor<8xf32>
})";
  const std::string placed = R"(
func.func @f(%at: tensor<1xindex>, %x: tensor<8xf32>, %out: tensor<2xf32>) -> tensor<2xf32> {
  %c0 = arith.constant 0 : index
  %p = tensor.extract %at[%c0] : tensor<1xindex>
  %r = tensor.extract_slice %x[%p] [2] [1] : tensor<8xf32> to tensor<2xf32>
  return %r : tensor<2xf32>
})";
  std::string elements = "0.0";
  for (int i = 1; i < 257; ++i)
    elements += ", " + std::to_string(i) + ".0";
  const std::string constant =
      "func.func @f(%out: tensor<257xf32>) -> tensor<257xf32> {\n  %c = arith.constant dense<[" +
      elements +
      "]> : tensor<257xf32>\n"
      "  %r = linalg.negf ins(%c : tensor<257xf32>) outs(%out : tensor<257xf32>) -> "
      "tensor<257xf32>\n"
      "  return %r : tensor<257xf32>\n}\n";
  for (const DeviceDescription &device : both()) {
    expectRefusal(loop, device, "it has a scf.for");
    expectRefusal(placed, device, "a slice whose place a launch cannot compute");
    expectRefusal(constant, device, "a constant of more than 256 elements");
  }
}

TEST(GpuCompilerTest, RefusesMoreSizesThanPushConstants) {
  // Strides of all operands, each of which has extents of its own.
  const std::string type = "tensor<?x?x?x?x?xf32>";
  std::string arguments, operands, types, maps, values,
      sums = "    %s0 = arith.addf %a0, %a0 : f32\n";
  const int count = 8;
  for (int i = 0; i < count; ++i) {
    const std::string n = std::to_string(i), comma = i ? ", " : "";
    arguments.append("%x").append(n).append(": ").append(type).append(", ");
    operands.append(comma).append("%x").append(n);
    types.append(comma).append(type);
    maps += "affine_map<(a, b, c, d, e) -> (e, d, c, b, a)>, ";
    values.append("%a").append(n).append(": f32, ");
    if (i)
      sums.append("    %s")
          .append(n)
          .append(" = arith.addf %s")
          .append(std::to_string(i - 1))
          .append(", %a")
          .append(n)
          .append(" : f32\n");
  }
  const std::string text =
      "func.func @f(" + arguments + "%out: " + type + ") -> " + type +
      " {\n  %r = linalg.generic {indexing_maps = [" + maps +
      "affine_map<(a, b, c, d, e) -> (a, b, c, d, e)>], iterator_types = [\"parallel\", "
      "\"parallel\", \"parallel\", \"parallel\", \"parallel\"]} ins(" +
      operands + " : " + types + ") outs(%out : " + type + ") {\n  ^bb0(" + values + "%o: f32):\n" +
      sums + "    linalg.yield %s" + std::to_string(count - 1) + " : f32\n  } -> " + type +
      "\n  return %r : " + type + "\n}\n";
  expectRefusal(text, vulkan(), "more sizes than a launch hands over");
  EXPECT_GT(compile(text, cuda()).kernels[0].words.size(), 32u);
}

/// A softmax of the rows of ?x? or ROWSx?.
std::string softmax(const std::string &rows) {
  const std::string t = "tensor<" + rows + "x?xf32>", v = "tensor<" + rows + "xf32>";
  const std::string maps =
      "#both = affine_map<(i, j) -> (i, j)>\n#row = affine_map<(i, j) -> (i)>\n";
  auto fold = [&](const std::string &result, const std::string &from, const std::string &init,
                  const std::string &op) {
    return "  %f" + result + " = linalg.fill ins(%" + init + " : f32) outs(%e : " + v + ") -> " +
           v + "\n  %" + result +
           " = linalg.generic {indexing_maps = [#both, #row], iterator_types = [\"parallel\", "
           "\"reduction\"]} ins(%" +
           from + " : " + t + ") outs(%f" + result + " : " + v +
           ") {\n  ^bb0(%a: f32, %o: f32):\n    %s = " + op +
           " %a, %o : f32\n    linalg.yield %s : f32\n  } -> " + v + "\n";
  };
  auto combine = [&](const std::string &result, const std::string &from, const std::string &by,
                     const std::string &body) {
    return "  %" + result +
           " = linalg.generic {indexing_maps = [#both, #row, #both], iterator_types = "
           "[\"parallel\", \"parallel\"]} ins(%" +
           from + ", %" + by + " : " + t + ", " + v + ") outs(%out : " + t +
           ") {\n  ^bb0(%a: f32, %b: f32, %o: f32):\n" + body +
           "    linalg.yield %r : f32\n  } -> " + t + "\n";
  };
  const std::string sizes = rows == "?" ? "  %c0 = arith.constant 0 : index\n  %m = tensor.dim %x, "
                                          "%c0 : " +
                                              t + "\n  %e = tensor.empty(%m) : " + v + "\n"
                                        : "  %e = tensor.empty() : " + v + "\n";
  return maps + "func.func @f(%x: " + t + ", %out: " + t + ") -> " + t +
         " {\n  %low = arith.constant 0xFF800000 : f32\n  %zero = arith.constant 0.0 : f32\n" +
         sizes + fold("max", "x", "low", "arith.maximumf") +
         combine("e2", "x", "max",
                 "    %d = arith.subf %a, %b : f32\n    %r = math.exp %d : f32\n") +
         fold("sum", "e2", "zero", "arith.addf") +
         combine("q", "e2", "sum", "    %r = arith.divf %a, %b : f32\n") + "  return %q : " + t +
         "\n}\n";
}

TEST(GpuCompilerTest, OpsOnTheSameRowsAreOneKernel) {
  const GpuCode one = compile(softmax("?"), cuda());
  EXPECT_EQ(one.kernels.size(), 1u);
  ASSERT_EQ(one.arguments.size(), 2u);
  // The kernel reads what it has written itself.
  EXPECT_FALSE(one.arguments[1].isRead);
  EXPECT_TRUE(one.arguments[1].isWritten);
  EXPECT_EQ(compile(softmax("64"), cuda()).kernels.size(), 1u);
  // Few rows are too little work for a device; other orders are not strict; Vulkan's barriers order workgroup memory.
  EXPECT_EQ(compile(softmax("63"), cuda()).kernels.size(), 4u);
  EXPECT_GE(compile(softmax("?"), cuda(), /*strict=*/true).kernels.size(), 4u);
  EXPECT_EQ(compile(softmax("?"), vulkan()).kernels.size(), 4u);
}

/// A product of narrow floats with sums of f32.
std::string narrowProduct(const std::string &element) {
  const std::string t = "tensor<?x?x" + element + ">", f = "tensor<?x?xf32>";
  return "func.func @f(%x: " + t + ", %y: " + t + ", %out: " + f + ") -> " + f +
         " {\n  %c = arith.constant 0.0 : f32\n  %i = linalg.fill ins(%c : f32) outs(%out : " + f +
         ") -> " + f + "\n  %r = linalg.matmul ins(%x, %y : " + t + ", " + t + ") outs(%i : " + f +
         ") -> " + f + "\n  return %r : " + f + "\n}\n";
}

TEST(GpuCompilerTest, ProductsOfNarrowFloatsUseMatrixUnits) {
  for (const char *element : {"f16", "bf16"}) {
    const std::string text = narrowProduct(element);
    const std::string code = compile(text, cuda()).modules[0];
    const std::string types = std::string(".f32.") + element + "." + element + ".f32";
    EXPECT_THAT(code, HasSubstr("mma.sync.aligned.m16n8k16.row.col" + types));
    EXPECT_THAT(code, HasSubstr("ldmatrix.sync.aligned.m8n8.x4.trans"));
    EXPECT_THAT(code, HasSubstr("cp.async.cg.shared.global"));
    // In the order of the source, or without such units.
    EXPECT_THAT(compile(text, cuda(), /*strict=*/true).modules[0], Not(HasSubstr("mma.sync")));
    DeviceDescription older = cuda();
    older.cpu = "sm_75";
    EXPECT_THAT(compile(text, older).modules[0], Not(HasSubstr("mma.sync")));
  }
  EXPECT_THAT(compile(matmul(true), cuda()).modules[0], Not(HasSubstr("mma.sync")));
}

TEST(GpuCompilerTest, ProductsOfNarrowFloatsUseTheUnitsOfOneArchitecture) {
  DeviceDescription hopper = cuda();
  hopper.cpu = "sm_90a";
  for (const char *element : {"f16", "bf16"}) {
    const std::string text = narrowProduct(element);
    const GpuCode code = compile(text, hopper);
    const std::string types = std::string(".f32.") + element + "." + element;
    EXPECT_THAT(code.modules[0], HasSubstr("wgmma.mma_async.sync.aligned.m64n256k16" + types));
    EXPECT_THAT(code.features, ElementsAre("sm_90a"));
    EXPECT_EQ(code.kernels[0].workgroupMemory, 4u * (128 + 256) * 64 * 2);
    DeviceDescription portable = hopper;
    portable.cpu = "sm_90";
    EXPECT_THAT(compile(text, portable).modules[0], Not(HasSubstr("wgmma")));
    EXPECT_THAT(compile(text, hopper, /*strict=*/true).modules[0], Not(HasSubstr("wgmma")));
  }
}

/// A product of f32 with `rows` rows and columns of tiles of 128.
std::string squareProduct(int rows) {
  const std::string n = std::to_string(128 * rows), t = "tensor<" + n + "x" + n + "xf32>";
  return "func.func @f(%x: " + t + ", %y: " + t + ", %out: " + t + ") -> " + t +
         " {\n  %r = linalg.matmul ins(%x, %y : " + t + ", " + t + ") outs(%out : " + t + ") -> " +
         t + "\n  return %r : " + t + "\n}\n";
}

TEST(GpuCompilerTest, ProductsHaveTilesThatKeepTheDeviceBusy) {
  auto workgroupsOf = [](const GpuCode &code, size_t kernel) {
    return code.numbers[code.kernels[kernel].workgroups];
  };
  DeviceDescription device = cuda();
  device.cores = 16;
  // As many large tiles as cores,
  const GpuCode enough = compile(squareProduct(4), device);
  ASSERT_EQ(enough.kernels.size(), 1u);
  EXPECT_EQ(workgroupsOf(enough, 0), (GpuNumber{GpuNumber::Constant, 16, 0}));
  // fewer, so that there are four small ones in place of each,
  const GpuCode few = compile(squareProduct(3), device);
  ASSERT_EQ(few.kernels.size(), 1u);
  EXPECT_EQ(workgroupsOf(few, 0), (GpuNumber{GpuNumber::Constant, 36, 0}));
  // or as many as the call has. The sums begin with what the result holds.
  const GpuCode unknown = compile(matmul(true), device);
  EXPECT_EQ(unknown.kernels.size(), 2u);
  EXPECT_THAT(unknown.modules[0], HasSubstr("cp.async.ca.shared.global"));
  EXPECT_EQ(compile(matmul(true), vulkan()).kernels.size(), 1u);
}

/// A product, and `body` of each of its elements %a and an element %b of a vector; `then`: what follows.
std::string layer(const std::string &body,
                  const std::string &then = "  return %r : tensor<?x?xf32>\n") {
  return R"(#at = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>
#turned = affine_map<(i, j) -> (j, i)>
func.func @f(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>, %v: tensor<?xf32>, %out: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %y, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p = linalg.matmul ins(%x, %y : tensor<?x?xf32>, tensor<?x?xf32>) outs(%i : tensor<?x?xf32>) -> tensor<?x?xf32>
  %r = linalg.generic {indexing_maps = [#at, #column, #at], iterator_types = ["parallel", "parallel"]}
      ins(%p, %v : tensor<?x?xf32>, tensor<?xf32>) outs(%out : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
)" + body +
         "  } -> tensor<?x?xf32>\n" + then + "}\n";
}

TEST(GpuCompilerTest, ProductsStoreWhatIsMadeOfTheirElements) {
  const std::string add = "    %s = arith.addf %a, %b : f32\n    linalg.yield %s : f32\n";
  const GpuCode one = compile(layer(add), vulkan());
  EXPECT_EQ(one.kernels.size(), 1u);
  EXPECT_THAT(one.kernels[0].buffers, testing::UnorderedElementsAre(0u, 1u, 2u, 3u));
  EXPECT_FALSE(one.arguments[3].isRead);
  // What the result holds may have a part in it.
  const GpuCode onto =
      compile(layer("    %s = arith.addf %a, %o : f32\n    linalg.yield %s : f32\n"), vulkan());
  EXPECT_EQ(onto.kernels.size(), 1u);
  EXPECT_TRUE(onto.arguments[3].isRead);
  // The result may have its elements in another order.
  std::string turned = layer(add);
  turned.replace(turned.find("[#at, #column"), 4, "[#turned");
  EXPECT_EQ(compile(turned, vulkan()).kernels.size(), 1u);
  // Not where the product is wanted once more.
  const std::string again =
      R"(  %q = linalg.generic {indexing_maps = [#at, #turned, #at], iterator_types = ["parallel", "parallel"]}
      ins(%r, %p : tensor<?x?xf32>, tensor<?x?xf32>) outs(%i : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  return %q : tensor<?x?xf32>
)";
  EXPECT_GE(compile(layer(add, again), vulkan()).kernels.size(), 3u);
  // What no kernel does is refused as it is alone.
  std::string racing = layer("    linalg.yield %a : f32\n");
  racing.replace(racing.find("#column, #at]"), 12, "#column, affine_map<(i, j) -> (i, 0)>");
  for (const DeviceDescription &device : both())
    expectRefusal(racing, device, "it writes elements more than once");
  // With matrix units it is the same.
  DeviceDescription hopper = cuda();
  hopper.cpu = "sm_90a";
  EXPECT_EQ(compile(layer(add), hopper).kernels.size(), 2u); // large tiles and small ones
}

TEST(GpuCompilerTest, WhatJoinsAProductLeavesRoomForItsSizes) {
  // The sum of a product of batches and of `count` tensors more.
  auto sum = [](int count) {
    const std::string t = "tensor<?x?x?xf32>";
    std::string arguments, names = "%p", types = t, maps = "#at, #at", block = "%a: f32", body;
    for (int i = 0; i < count; ++i) {
      const std::string n = std::to_string(i);
      arguments += "%t" + n + ": " + t + ", ";
      names += ", %t" + n;
      types += ", " + t;
      maps += ", #at";
      block += ", %b" + n + ": f32";
      body += "    %s" + n + " = arith.addf " + (i ? "%s" + std::to_string(i - 1) : "%a") + ", %b" +
              n + " : f32\n";
    }
    return "#at = affine_map<(b, i, j) -> (b, i, j)>\nfunc.func @f(%x: " + t + ", %y: " + t + ", " +
           arguments + "%out: " + t + ") -> " + t +
           " {\n  %zero = arith.constant 0.0 : f32\n  %i = linalg.fill ins(%zero : f32) outs(%out "
           ": " +
           t + ") -> " + t + "\n  %p = linalg.batch_matmul ins(%x, %y : " + t + ", " + t +
           ") outs(%i : " + t + ") -> " + t + "\n  %r = linalg.generic {indexing_maps = [" + maps +
           "], iterator_types = [\"parallel\", \"parallel\", \"parallel\"]} ins(" + names + " : " +
           types + ") outs(%out : " + t + ") {\n  ^bb0(" + block + ", %o: f32):\n" + body +
           "    linalg.yield %s" + std::to_string(count - 1) + " : f32\n  } -> " + t +
           "\n  return %r : " + t + "\n}\n";
  };
  EXPECT_EQ(compile(sum(2), vulkan()).kernels.size(), 1u);
  EXPECT_EQ(compile(sum(16), vulkan()).kernels.size(), 2u);
}

TEST(GpuCompilerTest, AsksForSpecialValuesOfTheFloatsThatItHas) {
  auto needs = [](const std::string &element, const DeviceDescription &device) {
    return compile(unary(element, "%b = arith.addf %a, %a : " + element), device).features;
  };
  DeviceDescription device = vulkan();
  EXPECT_THAT(needs("f32", device), IsEmpty());
  for (const char *width : {"16", "32", "64"})
    device.setFeature(std::string("shaderSignedZeroInfNanPreserveFloat") + width, true);
  EXPECT_THAT(needs("f32", device), ElementsAre("shaderSignedZeroInfNanPreserveFloat32"));
  EXPECT_THAT(needs("f64", device), testing::UnorderedElementsAre(
                                        "shaderFloat64", "shaderSignedZeroInfNanPreserveFloat32",
                                        "shaderSignedZeroInfNanPreserveFloat64"));
  // OpExecutionMode, once for its kernel.
  const GpuCode code = compile(unary("f32", "%b = arith.addf %a, %a : f32"), device);
  std::vector<uint32_t> words(code.modules[0].size() / 4);
  std::memcpy(words.data(), code.modules[0].data(), code.modules[0].size());
  int modes = 0;
  for (size_t at = 5; at < words.size(); at += words[at] >> 16)
    modes += (words[at] & 0xFFFF) == 16 && words[at + 2] == 4461 && words[at + 3] == 32;
  EXPECT_EQ(modes, 1);
}

TEST(GpuCompilerTest, CountsIterations) {
  auto iterationsOf = [](const std::string &text) {
    const GpuCode code = compile(text, vulkan());
    EXPECT_EQ(code.kernels.size(), 1u);
    const GpuNumber &number = code.numbers[code.kernels[0].iterations];
    EXPECT_EQ(number.kind, GpuNumber::Constant);
    return number.a;
  };
  // 65535 workgroups of 256 invocations have 16776960 elements at once.
  auto copy = [](const std::string &count) {
    const std::string t = "tensor<" + count + "xf32>";
    return "func.func @f(%x: " + t + ", %out: " + t + ") -> " + t +
           " {\n  %r = linalg.exp ins(%x : " + t + ") outs(%out : " + t + ") -> " + t +
           "\n  return %r : " + t + "\n}\n";
  };
  EXPECT_EQ(iterationsOf(copy("16776960")), 1);
  EXPECT_EQ(iterationsOf(copy("16776961")), 2);
  // The loops of a nest: 1 + 3 + 3 * 5 for each element, whose sum is not kept in a workgroup.
  auto sums = [](const std::string &outer, const std::string &inner, const std::string &kept) {
    const std::string t = "tensor<" + outer + "x" + inner + "x" + kept + "xf32>",
                      v = "tensor<" + kept + "xf32>";
    return "func.func @f(%x: " + t + ", %out: " + v + ") -> " + v +
           " {\n  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (j, k, i)>, "
           "affine_map<(i, j, k) -> (i)>], iterator_types = [\"parallel\", \"reduction\", "
           "\"reduction\"]} ins(%x : " +
           t + ") outs(%out : " + v +
           ") {\n  ^bb0(%a: f32, %o: f32):\n    %s = arith.addf %a, %o : f32\n    linalg.yield %s "
           ": "
           "f32\n  } -> " +
           v + "\n  return %r : " + v + "\n}\n";
  };
  EXPECT_EQ(iterationsOf(sums("3", "5", "100000")), 1 + 3 + 15);
  // 2000 elements for each of 256 invocations.
  EXPECT_EQ(iterationsOf(sums("1000", "512", "2")), 1 + 2000);
  // Slices of 16, and what is in them.
  const std::string a = "tensor<64x100xf32>", b = "tensor<100x64xf32>", c = "tensor<64x64xf32>";
  EXPECT_EQ(iterationsOf("func.func @f(%x: " + a + ", %y: " + b + ", %out: " + c + ") -> " + c +
                         " {\n  %r = linalg.matmul ins(%x, %y : " + a + ", " + b +
                         ") outs(%out : " + c + ") -> " + c + "\n  return %r : " + c + "\n}\n"),
            2 + 100 + 6);
}

TEST(GpuCompilerTest, TextThatIsNone) {
  for (const DeviceDescription &device : both()) {
    DeviceAnswer answer = answerTo("func.func @f( {", device);
    EXPECT_EQ(answer.kind, DeviceAnswer::Failed);
    EXPECT_THAT(answer.text, HasSubstr("its text is not read: "));
    expectRefusal("func.func @g() { return }", device, "it has no function 'f'");
  }
}

} // namespace
} // namespace plim::ir
