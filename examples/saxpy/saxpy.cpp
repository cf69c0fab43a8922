// a * x + y, compiled while the program runs, in C++. saxpy.c is the same in C.
#include <plimsoll/plimsoll.hpp>

#include <cstdio>
#include <vector>

static constexpr const char *source = R"(
func.func @saxpy(%a: f32, %x: memref<?xf32>, %y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %u = memref.load %x[%i] : memref<?xf32>
    %v = memref.load %y[%i] : memref<?xf32>
    %p = arith.mulf %a, %u : f32
    %q = arith.addf %p, %v : f32
    memref.store %q, %y[%i] : memref<?xf32>
  }
  return
}
)";

static int report(const plimsoll::Status &status) {
  std::fprintf(stderr, "error: %s\n", std::string(status.message()).c_str());
  return 1;
}

int main() {
  auto engine = plimsoll::Engine::create();
  if (!engine)
    return report(engine.status());
  auto module = engine->load(source, "saxpy.mlir");
  if (!module)
    return report(module.status());
  auto saxpy = module->function("saxpy");
  if (!saxpy)
    return report(saxpy.status());

  const std::vector<float> x = {1, 2, 3};
  std::vector<float> y = {10, 10, 10};
  if (plimsoll::Status status = saxpy->call<void>(2.0F, x, y); !status.ok())
    return report(status);
  std::printf("%g %g %g\n", y[0], y[1], y[2]);
  return 0;
}
