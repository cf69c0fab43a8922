// A program for a debugger to look at: calls a kernel of generated code that GDB was told of.
#include "engine/session/Engine.h"
#include "tests/unit/jit/Sources.h"

#include <cstdio>

int main() {
  auto engine = plim::Engine::create({.threads = 1, .debugger = true});
  if (!engine.ok())
    return 1;
  auto module = (*engine)->load(plim::testing::saxpySource, "saxpy.mlir");
  if (!module.ok())
    return 1;
  auto function = (*module)->lookup("saxpy");
  if (!function.ok())
    return 1;
  float x[] = {1, 2, 3}, y[] = {10, 20, 30};
  auto saxpy =
      reinterpret_cast<void (*)(float, float *, int64_t, float *, int64_t)>(function->rawPointer());
  saxpy(2, x, 3, y, 3);
  std::printf("y = %g %g %g\n", static_cast<double>(y[0]), static_cast<double>(y[1]),
              static_cast<double>(y[2]));
  return 0;
}
