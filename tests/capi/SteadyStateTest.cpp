// Calls through the C interface that repeat the sizes of an earlier one take no memory from the system.
#include "tests/unit/engine/AllocationCounter.h"

#include "plimsoll/plimsoll.h"

#include <cstdio>
#include <cstring>

namespace {

constexpr const char *source = R"(
func.func @add(%a: f32, %x: tensor<?xf32>) -> (tensor<?xf32>, f32) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.exp ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %r, %a : tensor<?xf32>, f32
}
)";

void require(plim_status *status) {
  if (!status)
    return;
  std::fprintf(stderr, "%s\n", plim_status_message(status));
  std::exit(1);
}

template <typename CallT> bool isSteady(const char *what, CallT call) {
  for (int i = 0; i < 8; ++i)
    call();
  int64_t before = allocationCount;
  for (int i = 0; i < 100; ++i)
    call();
  int64_t taken = allocationCount - before;
  if (taken != 0)
    std::fprintf(stderr, "%s: %lld allocations in 100 calls\n", what,
                 static_cast<long long>(taken));
  return taken == 0;
}

/// Nothing is left of it, handles neither: as many blocks are given back as are taken. A leak leaves something every
/// time; what outlives the calls, such as a table of LLVM's session, may grow once.
template <typename CallT> bool leavesNothing(const char *what, int count, CallT call) {
  for (int i = 0; i < 8; ++i)
    call();
  int64_t left = 0;
  for (int round = 0; round < 3; ++round) {
    int64_t before = allocationCount - releaseCount;
    for (int i = 0; i < count; ++i)
      call();
    left = allocationCount - releaseCount - before;
    if (left == 0)
      return true;
    std::fprintf(stderr, "%s: %lld blocks are left of %d\n", what, static_cast<long long>(left),
                 count);
  }
  return false;
}

} // namespace

int main() {
  plim_engine_options options{};
  options.struct_size = sizeof options;
  options.threads = 1;
  plim_engine *engine = nullptr;
  plim_module *module = nullptr;
  plim_function *add = nullptr;
  require(plim_engine_create(&options, &engine));
  require(plim_module_load(engine, source, std::strlen(source), "add.mlir", nullptr, &module));
  require(plim_module_function(module, "add", &add));
  const int64_t shape[] = {100};
  plim_buffer *x = nullptr, *out = nullptr;
  require(plim_buffer_allocate(engine, PLIM_F32, 1, shape, &x));
  require(plim_buffer_allocate(engine, PLIM_F32, 1, shape, &out));
  std::memset(plim_buffer_mutable_data(x), 0, plim_buffer_bytes(x));
  plim_value arguments[] = {plim_value_f32(2), plim_value_buffer(x)}, results[2];
  bool isOk = isSteady("results of the engine's", [&] {
    require(plim_function_call(add, arguments, 2, results, 2, nullptr));
    plim_value_release(&results[0]);
  });
  plim_stop *stop = nullptr;
  require(plim_stop_create(&stop));
  plim_buffer *outputs[] = {out, nullptr};
  plim_call_options lent{};
  lent.struct_size = sizeof lent;
  lent.outputs = outputs;
  lent.output_count = 2;
  lent.stop = stop;
  isOk &= isSteady("results of the host's",
                   [&] { require(plim_function_call(add, arguments, 2, nullptr, 0, &lent)); });
  isOk &= isSteady("buffers", [&] {
    plim_buffer *buffer = nullptr;
    require(plim_buffer_allocate(engine, PLIM_F32, 1, shape, &buffer));
    plim_buffer_release(buffer);
  });
  isOk &= leavesNothing("events and what follows them", 100, [&] {
    plim_event *event = nullptr;
    require(plim_function_call_async(add, arguments, 2, nullptr, &event));
    int ended = 0;
    for (int i = 0; i < 3; ++i)
      require(plim_event_then(
          event, [](void *count, plim_event *) { ++*static_cast<int *>(count); }, &ended, nullptr));
    require(plim_event_wait(event));
    if (ended != 3)
      std::exit(1);
    plim_event_release(event);
  });
  isOk &= leavesNothing("refusals", 100, [&] {
    plim_buffer *buffer = nullptr;
    plim_status *refused = plim_buffer_allocate(engine, 99, 1, shape, &buffer);
    if (!refused)
      std::exit(1);
    plim_status_release(refused);
  });
  isOk &= leavesNothing("modules", 10, [&] {
    plim_module *another = nullptr;
    plim_function *function = nullptr;
    require(plim_module_load(engine, source, std::strlen(source), "add.mlir", nullptr, &another));
    require(plim_module_function(another, "add", &function));
    plim_module_release(another);
    plim_function_release(function);
  });
  if (static_cast<const float *>(plim_buffer_data(out))[99] != 1)
    isOk = false;
  plim_stop_release(stop);
  plim_buffer_release(x);
  plim_buffer_release(out);
  plim_function_release(add);
  plim_module_release(module);
  plim_engine_release(engine);
  return isOk ? 0 : 1;
}
