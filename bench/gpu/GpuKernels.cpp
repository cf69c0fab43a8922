// How fast a GPU runs what ir/Gpu makes of dispatches, apart from copies to and from the host: all arguments
// are in memory of the device, filled by a dispatch too. A row is one launch, from the host's call to its return.
//
//   GpuKernels --device=cuda0 [options of google-benchmark]
//
// bytes_per_second counts each operand and each result once. Without the device nothing runs, which the last line says.
#include "devices/GpuDevice.h"
#include "devices/GpuLaunch.h"
#include "ir/Gpu/GpuCompiler.h"
#include "targets/Resolve.h"

#include <benchmark/benchmark.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace {

using namespace plim;

struct Gpu {
  targets::DeviceDescription description;
  std::shared_ptr<devices::GpuDevice> device;
};

[[noreturn]] void stop(const std::string &why) {
  std::fprintf(stderr, "GpuKernels: %s\n", why.c_str());
  std::exit(1);
}

template <typename T> T require(StatusOr<T> value) {
  if (!value.ok())
    stop(value.status().toString());
  return std::move(*value);
}

/// A tensor in memory of the device.
class DeviceTensor {
public:
  DeviceTensor(Gpu &gpu, std::vector<int64_t> sizes, size_t elementBytes)
      : gpu(gpu), sizes(std::move(sizes)), bytes(elementBytes) {
    for (int64_t size : this->sizes)
      bytes *= static_cast<size_t>(size);
    memory = gpu.device->allocate(bytes, 256);
    if (!memory)
      stop("no memory for " + std::to_string(bytes) + " bytes");
  }
  ~DeviceTensor() { gpu.device->release(memory, bytes); }
  DeviceTensor(const DeviceTensor &) = delete;

  plim_view view() { return {memory, sizes.data(), nullptr}; }
  size_t byteCount() const { return bytes; }

private:
  Gpu &gpu;
  std::vector<int64_t> sizes;
  size_t bytes;
  void *memory;
};

/// A dispatch, ready to be launched on the same tensors again and again.
class Launch {
public:
  Launch(Gpu &gpu, const std::string &text, const std::vector<DeviceTensor *> &tensors) {
    ir::DeviceAnswer answer =
        ir::compileForGpu({gpu.description.name, "f", text}, gpu.description, /*strict=*/false);
    if (answer.kind != ir::DeviceAnswer::Taken)
      stop(answer.text + "\n" + text);
    program = require(gpu.device->load(require(devices::decodeGpuCode(answer.text))));
    numbers.emplace(program->code());
    for (DeviceTensor *tensor : tensors)
      views.push_back(tensor->view());
    if (Status status = numbers->compute(views.data()); !status.ok())
      stop(status.toString());
  }
  void run() {
    if (Status status = program->run(numbers->launch()); !status.ok())
      stop(status.toString());
  }

private:
  std::shared_ptr<devices::GpuProgram> program;
  std::optional<devices::LaunchNumbers> numbers;
  std::vector<plim_view> views;
};

std::string tensor(const std::vector<int64_t> &sizes, const std::string &element) {
  std::string text = "tensor<";
  for (size_t i = 0; i < sizes.size(); ++i)
    text += "?x";
  return text + element + ">";
}

/// Numbers around zero that no machine can guess: those of the chip's clock depend on what it computes with.
void fill(Gpu &gpu, DeviceTensor &target, size_t rank, const std::string &element) {
  const std::string type = tensor(std::vector<int64_t>(rank), element);
  std::string dims, indices, sum = "%i0";
  for (size_t i = 0; i < rank; ++i)
    dims += (i ? ", d" : "d") + std::to_string(i);
  std::string iterators, ops;
  for (size_t i = 0; i < rank; ++i) {
    iterators += (i ? ", \"parallel\"" : "\"parallel\"");
    const std::string n = std::to_string(i);
    ops += "    %x" + n + " = linalg.index " + n + " : index\n    %i" + n +
           " = arith.index_cast %x" + n + " : index to i32\n    %p" + n + " = arith.muli %i" + n +
           ", %prime : i32\n    %s" + std::to_string(i + 1) + " = arith.xori " +
           (i ? "%m" + n : "%prime") + ", %p" + n + " : i32\n    %m" + std::to_string(i + 1) +
           " = arith.muli %s" + std::to_string(i + 1) + ", %odd : i32\n";
  }
  const std::string last = "%m" + std::to_string(rank);
  std::string text =
      "func.func @f(%out: " + type + ") -> " + type +
      " {\n  %prime = arith.constant 1540483477 : i32\n"
      "  %odd = arith.constant 668265261 : i32\n"
      "  %shift = arith.constant 9 : i32\n  %scale = arith.constant 2.3e-7 : f32\n"
      "  %r = linalg.generic {indexing_maps = [affine_map<(" +
      dims + ") -> (" + dims + ")>], iterator_types = [" + iterators + "]} outs(%out : " + type +
      ") {\n  ^bb0(%o: " + element + "):\n" + ops + "    %b = arith.shrsi " + last +
      ", %shift : i32\n    %f = arith.sitofp %b : i32 to f32\n    %v = arith.mulf %f, "
      "%scale : f32\n";
  if (element == "f32")
    text += "    linalg.yield %v : f32\n";
  else
    text += "    %n = arith.truncf %v : f32 to " + element + "\n    linalg.yield %n : " + element +
            "\n";
  text += "  } -> " + type + "\n  return %r : " + type + "\n}\n";
  Launch(gpu, text, {&target}).run();
}

struct Case {
  std::string name;
  std::string text;
  struct Tensor {
    std::vector<int64_t> sizes;
    std::string element;
  };
  std::vector<Tensor> tensors; // the last one is the result
  double operations = 0;       // of floats, a launch
};

size_t bytesOf(const std::string &element) { return element == "f32" ? 4 : 2; }

std::string generic(const std::string &maps, const std::string &iterators, const std::string &ins,
                    const std::string &inTypes, const std::string &out, const std::string &outType,
                    const std::string &body) {
  return "linalg.generic {indexing_maps = [" + maps + "], iterator_types = [" + iterators +
         "]} ins(" + ins + " : " + inTypes + ") outs(" + out + " : " + outType + ") {\n" + body +
         "} -> " + outType + "\n";
}

const std::string same = "affine_map<(d0, d1) -> (d0, d1)>", rows = "affine_map<(d0, d1) -> (d0)>",
                  both = "\"parallel\", \"parallel\"", along = "\"parallel\", \"reduction\"";

/// %g: gelu of %a.
const std::string geluOfA =
    "    %h = arith.constant 0.5 : f32\n    %i = arith.constant 0.70710677 : f32\n"
    "    %one = arith.constant 1.0 : f32\n    %b = arith.mulf %a, %i : f32\n"
    "    %c = math.erf %b : f32\n    %d = arith.addf %c, %one : f32\n"
    "    %e = arith.mulf %a, %h : f32\n    %g = arith.mulf %e, %d : f32\n";

std::vector<Case> cases() {
  const std::string t = "tensor<?x?xf32>", v = "tensor<?xf32>";
  auto unary = [&](const std::string &body) {
    return "func.func @f(%x: " + t + ", %out: " + t + ") -> " + t + " {\n  %r = " +
           generic(same + ", " + same, both, "%x", t, "%out", t,
                   "  ^bb0(%a: f32, %o: f32):\n" + body) +
           "  return %r : " + t + "\n}\n";
  };
  auto reduce = [&](const std::string &result, const std::string &input, const std::string &init,
                    const std::string &body) {
    return "  %e" + result + " = tensor.empty(%m) : " + v + "\n  %f" + result +
           " = linalg.fill ins(" + init + " : f32) outs(%e" + result + " : " + v + ") -> " + v +
           "\n  %" + result + " = " +
           generic(same + ", " + rows, along, input, t, "%f" + result, v,
                   "  ^bb0(%a: f32, %o: f32):\n" + body);
  };
  std::vector<Case> all;
  const Case::Tensor square{{8192, 8192}, "f32"};
  all.push_back({"copy", unary("    linalg.yield %a : f32\n"), {square, square}});
  all.push_back({"gelu", unary(geluOfA + "    linalg.yield %g : f32\n"), {square, square}});
  all.push_back(
      {"add_row",
       "func.func @f(%x: " + t + ", %y: " + v + ", %out: " + t + ") -> " + t + " {\n  %r = " +
           generic(same + ", affine_map<(d0, d1) -> (d1)>, " + same, both, "%x, %y", t + ", " + v,
                   "%out", t,
                   "  ^bb0(%a: f32, %b: f32, %o: f32):\n    %c = arith.addf %a, %b : f32\n"
                   "    linalg.yield %c : f32\n") +
           "  return %r : " + t + "\n}\n",
       {square, {{8192}, "f32"}, square}});
  all.push_back({"transpose",
                 "func.func @f(%x: " + t + ", %out: " + t + ") -> " + t + " {\n  %r = " +
                     generic("affine_map<(d0, d1) -> (d1, d0)>, " + same, both, "%x", t, "%out", t,
                             "  ^bb0(%a: f32, %o: f32):\n    linalg.yield %a : f32\n") +
                     "  return %r : " + t + "\n}\n",
                 {square, square}});
  const std::string begin = "  %zero = arith.constant 0.0 : f32\n"
                            "  %low = arith.constant 0xFF800000 : f32\n"
                            "  %c0 = arith.constant 0 : index\n"
                            "  %m = tensor.dim %x, %c0 : tensor<?x?xf32>\n";
  all.push_back({"row_sum",
                 "func.func @f(%x: " + t + ", %out: " + v + ") -> " + v + " {\n" + begin +
                     "  %f = linalg.fill ins(%zero : f32) outs(%out : " + v + ") -> " + v +
                     "\n  %r = " +
                     generic(same + ", " + rows, along, "%x", t, "%f", v,
                             "  ^bb0(%a: f32, %o: f32):\n    %s = arith.addf %a, %o : f32\n"
                             "    linalg.yield %s : f32\n") +
                     "  return %r : " + v + "\n}\n",
                 {square, {{8192}, "f32"}}});
  all.push_back(
      {"softmax",
       "func.func @f(%x: " + t + ", %out: " + t + ") -> " + t + " {\n" + begin +
           reduce("max", "%x", "%low",
                  "    %s = arith.maximumf %a, %o : f32\n    linalg.yield %s : f32\n") +
           "  %ex = " +
           generic(same + ", " + rows + ", " + same, both, "%x, %max", t + ", " + v, "%out", t,
                   "  ^bb0(%a: f32, %b: f32, %o: f32):\n    %s = arith.subf %a, %b : f32\n"
                   "    %e = math.exp %s : f32\n    linalg.yield %e : f32\n") +
           reduce("sum", "%ex", "%zero",
                  "    %s = arith.addf %a, %o : f32\n    linalg.yield %s : f32\n") +
           "  %r = " +
           generic(same + ", " + rows + ", " + same, both, "%ex, %sum", t + ", " + v, "%out", t,
                   "  ^bb0(%a: f32, %b: f32, %o: f32):\n    %s = arith.divf %a, %b : f32\n"
                   "    linalg.yield %s : f32\n") +
           "  return %r : " + t + "\n}\n",
       {square, square}});
  for (const auto &[element, size] : {std::pair("f32", 512),
                                      {"f32", 1024},
                                      {"f32", 2048},
                                      {"f32", 8192},
                                      {"bf16", 512},
                                      {"bf16", 1024},
                                      {"bf16", 2048},
                                      {"f16", 4096},
                                      {"bf16", 4096},
                                      {"bf16", 8192}}) {
    const std::string narrow = "tensor<?x?x" + std::string(element) + ">";
    const std::string extend = element == std::string("f32")
                                   ? "    %p = arith.mulf %a, %b : f32\n"
                                   : "    %c = arith.extf %a : " + std::string(element) +
                                         " to f32\n    %d = arith.extf %b : " + element +
                                         " to f32\n    %p = arith.mulf %c, %d : f32\n";
    all.push_back(
        {"matmul_" + std::string(element) + "_" + std::to_string(size),
         "func.func @f(%x: " + narrow + ", %y: " + narrow + ", %out: " + t + ") -> " + t +
             " {\n  %zero = arith.constant 0.0 : f32\n  %f = linalg.fill ins(%zero : f32) "
             "outs(%out : " +
             t + ") -> " + t + "\n  %r = " +
             generic("affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, "
                     "affine_map<(d0, d1, d2) -> (d0, d1)>",
                     both + ", \"reduction\"", "%x, %y", narrow + ", " + narrow, "%f", t,
                     "  ^bb0(%a: " + std::string(element) + ", %b: " + element + ", %o: f32):\n" +
                         extend + "    %s = arith.addf %o, %p : f32\n    linalg.yield %s : f32\n") +
             "  return %r : " + t + "\n}\n",
         {{{size, size}, element}, {{size, size}, element}, {{size, size}, "f32"}},
         2.0 * size * size * size});
  }
  // What a layer of a transformer does: a product, a bias, gelu, and bf16 again.
  const std::string narrow = "tensor<?x?xbf16>", wide = "tensor<?x?xf32>";
  all.push_back(
      {"dense_gelu_bf16_4096",
       "func.func @f(%x: " + narrow + ", %y: " + narrow + ", %v: tensor<?xf32>, %out: " + narrow +
           ") -> " + narrow +
           " {\n  %zero = arith.constant 0.0 : f32\n  %c0 = arith.constant 0 : index\n"
           "  %m = tensor.dim %x, %c0 : " +
           narrow +
           "\n  %n = tensor.dim %v, %c0 : tensor<?xf32>\n  %empty = tensor.empty(%m, %n) : " +
           wide + "\n  %init = linalg.fill ins(%zero : f32) outs(%empty : " + wide + ") -> " +
           wide + "\n  %p = linalg.matmul ins(%x, %y : " + narrow + ", " + narrow +
           ") outs(%init : " + wide + ") -> " + wide + "\n  %r = " +
           generic(same + ", affine_map<(d0, d1) -> (d1)>, " + same, both, "%p, %v",
                   wide + ", tensor<?xf32>", "%out", narrow,
                   "  ^bb0(%p0: f32, %b0: f32, %o: bf16):\n    %a = arith.addf %p0, %b0 : f32\n" +
                       geluOfA +
                       "    %t = arith.truncf %g : f32 to bf16\n    linalg.yield %t : bf16\n") +
           "  return %r : " + narrow + "\n}\n",
       {{{4096, 4096}, "bf16"}, {{4096, 4096}, "bf16"}, {{4096}, "f32"}, {{4096, 4096}, "bf16"}},
       2.0 * 4096 * 4096 * 4096});
  return all;
}

void run(benchmark::State &state, Gpu &gpu, const Case &which) {
  std::vector<std::unique_ptr<DeviceTensor>> tensors;
  std::vector<DeviceTensor *> arguments;
  size_t bytes = 0;
  for (const Case::Tensor &each : which.tensors) {
    tensors.push_back(std::make_unique<DeviceTensor>(gpu, each.sizes, bytesOf(each.element)));
    fill(gpu, *tensors.back(), each.sizes.size(), each.element);
    arguments.push_back(tensors.back().get());
    bytes += tensors.back()->byteCount();
  }
  Launch launch(gpu, which.text, arguments);
  launch.run();
  for (auto _ : state)
    launch.run();
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(bytes));
  if (which.operations > 0)
    state.counters["flop/s"] =
        benchmark::Counter(which.operations, benchmark::Counter::kIsIterationInvariantRate);
}

} // namespace

int main(int argc, char **argv) {
  std::string name = "cuda0";
  benchmark::Initialize(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], "--device=", 9) != 0)
      stop("unknown option " + std::string(argv[i]));
    name = argv[i] + 9;
  }
  targets::TargetDescription target = require(targets::resolveTarget("host", {}));
  const targets::DeviceDescription *description = target.findDevice(name);
  if (!description || !ir::isGpu(*description)) {
    std::printf("this machine has no %s\n", name.c_str());
    return 0;
  }
  Gpu gpu{*description, nullptr};
  const int ordinal = name.back() - '0';
  gpu.device =
      require(description->kind == targets::DeviceKind::Cuda ? devices::openCuda(ordinal)
                                                             : devices::openVulkan(ordinal));
  const std::vector<Case> all = cases();
  for (const Case &each : all)
    benchmark::RegisterBenchmark(each.name.c_str(),
                                 [&](benchmark::State &state) { run(state, gpu, each); })
        ->UseRealTime()
        ->Unit(benchmark::kMicrosecond);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
