#include "tests/fuzz/CCallsHost.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>

namespace plim::fuzz {

std::atomic<size_t> allocated = 0;
std::atomic<int> memories = 0;
std::atomic<int> users = 0;
Fixture *fixture = nullptr;

namespace {

const char source[] = R"mlir(
func.func private @host(i32, tensor<?xf32>) -> tensor<?xf32>
func.func private @note(i32, memref<?x3xf64, strided<[?, ?], offset: ?>>) -> i32
ml_program.global private mutable @total(dense<[10.0, 20.0]> : tensor<2xf32>) : tensor<2xf32>
ml_program.global private @w(#ml_program.extern<tensor<3xf32>>) : tensor<3xf32>
func.func @saxpy(%a: f32, %x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%y : tensor<?xf32>) {
  ^bb0(%u: f32, %v: f32):
    %p = arith.mulf %a, %u : f32
    %s = arith.addf %p, %v : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
func.func @sum(%a: i64, %b: i64) -> i64 {
  %r = arith.addi %a, %b : i64
  return %r : i64
}
func.func @divide(%a: i32, %b: i32) -> i32 {
  %r = arith.divsi %a, %b : i32
  return %r : i32
}
func.func @many(%a: i1, %b: i8, %c: i16, %d: i32, %e: i64, %f: f16, %g: bf16, %h: f32, %i: f64,
                %j: index, %k: i4, %l: f8E5M2)
    -> (index, f64, f32, bf16, f16, i64, i32, i16, i8, i1, i4, f8E5M2) {
  return %j, %i, %h, %g, %f, %e, %d, %c, %b, %a, %k, %l
      : index, f64, f32, bf16, f16, i64, i32, i16, i8, i1, i4, f8E5M2
}
func.func @transpose(%x: tensor<4x3xf32>) -> (tensor<3x4xf32>, tensor<f32>) {
  %e = tensor.empty() : tensor<3x4xf32>
  %t = linalg.transpose ins(%x : tensor<4x3xf32>) outs(%e : tensor<3x4xf32>) permutation = [1, 0]
  %c0 = arith.constant 0 : index
  %v = tensor.extract %x[%c0, %c0] : tensor<4x3xf32>
  %s = tensor.from_elements %v : tensor<f32>
  return %t, %s : tensor<3x4xf32>, tensor<f32>
}
func.func @widen(%x: tensor<?x?xi8>, %y: tensor<?x?xf16>) -> (tensor<?x?xi32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x?xi8>
  %m = tensor.dim %x, %c1 : tensor<?x?xi8>
  %e = tensor.empty(%n, %m) : tensor<?x?xi32>
  %r = linalg.map ins(%x : tensor<?x?xi8>) outs(%e : tensor<?x?xi32>)
    (%u: i8, %v: i32) { %p = arith.extsi %u : i8 to i32 linalg.yield %p : i32 }
  %k = tensor.dim %y, %c0 : tensor<?x?xf16>
  %zero = arith.constant 0.0 : f32
  %f = tensor.empty(%k) : tensor<?xf32>
  %i = linalg.fill ins(%zero : f32) outs(%f : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%y : tensor<?x?xf16>) outs(%i : tensor<?xf32>) {
  ^bb0(%u: f16, %v: f32):
    %p = arith.extf %u : f16 to f32
    %q = arith.addf %p, %v : f32
    linalg.yield %q : f32
  } -> tensor<?xf32>
  return %r, %s : tensor<?x?xi32>, tensor<?xf32>
}
func.func @conjugate(%x: tensor<?xcomplex<f32>>, %y: tensor<2x?xi4>)
    -> (tensor<?xcomplex<f32>>, tensor<2x?xi4>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xcomplex<f32>>
  %e = tensor.empty(%n) : tensor<?xcomplex<f32>>
  %r = linalg.map ins(%x : tensor<?xcomplex<f32>>) outs(%e : tensor<?xcomplex<f32>>)
    (%u: complex<f32>, %v: complex<f32>) {
      %p = complex.conj %u : complex<f32>
      linalg.yield %p : complex<f32>
    }
  %z = arith.addi %y, %y : tensor<2x?xi4>
  return %r, %z : tensor<?xcomplex<f32>>, tensor<2x?xi4>
}
func.func @shift(%m: memref<?x?xi16, strided<[?, ?], offset: ?>>, %by: memref<?x2xi16>) -> i16 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %m, %c0 : memref<?x?xi16, strided<[?, ?], offset: ?>>
  %k = memref.dim %m, %c1 : memref<?x?xi16, strided<[?, ?], offset: ?>>
  %l = memref.dim %by, %c0 : memref<?x2xi16>
  %zero = arith.constant 0 : i16
  %s = scf.for %i = %c0 to %l step %c1 iter_args(%a = %zero) -> i16 {
    %v = memref.load %by[%i, %c1] : memref<?x2xi16>
    %b = arith.addi %a, %v : i16
    scf.yield %b : i16
  }
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %k step %c1 {
      %v = memref.load %m[%i, %j] : memref<?x?xi16, strided<[?, ?], offset: ?>>
      %p = arith.addi %v, %s : i16
      memref.store %p, %m[%i, %j] : memref<?x?xi16, strided<[?, ?], offset: ?>>
    }
  }
  return %s : i16
}
func.func @double(%x: tensor<?x3xf32> {plim.donate = 0}, %y: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %r = arith.addf %x, %y : tensor<?x3xf32>
  return %r : tensor<?x3xf32>
}
func.func @count(%x: tensor<2xf32>) -> tensor<2xf32> {
  %old = ml_program.global_load @total : tensor<2xf32>
  %new = arith.addf %old, %x : tensor<2xf32>
  ml_program.global_store @total = %new : tensor<2xf32>
  return %new : tensor<2xf32>
}
func.func @weigh(%x: tensor<3xf32>) -> tensor<3xf32> {
  %w = ml_program.global_load_const @w : tensor<3xf32>
  %r = arith.mulf %x, %w : tensor<3xf32>
  return %r : tensor<3xf32>
}
func.func @scaled(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) {plim.scope = "global.workspace"} : tensor<?xf32>
  %s = linalg.exp ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %zero = arith.constant 0.0 : f32
  %i = tensor.empty() : tensor<f32>
  %z = linalg.fill ins(%zero : f32) outs(%i : tensor<f32>) -> tensor<f32>
  %sum = linalg.reduce ins(%s : tensor<?xf32>) outs(%z : tensor<f32>) dimensions = [0]
    (%a: f32, %b: f32) { %c = arith.addf %a, %b : f32 linalg.yield %c : f32 }
  %o = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>,
                       affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%s, %sum : tensor<?xf32>, tensor<f32>) outs(%o : tensor<?xf32>) {
  ^bb0(%u: f32, %v: f32, %w: f32):
    %q = arith.divf %u, %v : f32
    linalg.yield %q : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
func.func @pooled(%x: tensor<16xf32>) -> tensor<16xf32> {
  %e = tensor.empty() {plim.scope = "global.sram"} : tensor<16xf32>
  %s = linalg.exp ins(%x : tensor<16xf32>) outs(%e : tensor<16xf32>) -> tensor<16xf32>
  %zero = arith.constant 0.0 : f32
  %i = tensor.empty() : tensor<f32>
  %z = linalg.fill ins(%zero : f32) outs(%i : tensor<f32>) -> tensor<f32>
  %sum = linalg.reduce ins(%s : tensor<16xf32>) outs(%z : tensor<f32>) dimensions = [0]
    (%a: f32, %b: f32) { %c = arith.addf %a, %b : f32 linalg.yield %c : f32 }
  %o = tensor.empty() : tensor<16xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>,
                       affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%s, %sum : tensor<16xf32>, tensor<f32>) outs(%o : tensor<16xf32>) {
  ^bb0(%u: f32, %v: f32, %w: f32):
    %q = arith.divf %u, %v : f32
    linalg.yield %q : f32
  } -> tensor<16xf32>
  return %r : tensor<16xf32>
}
func.func @bounded(%x: tensor<?x?xf64> {plim.bounds = [{min = 1, max = 4}, {min = 2}]})
    -> tensor<?x?xf64> {
  %r = arith.negf %x : tensor<?x?xf64>
  return %r : tensor<?x?xf64>
}
func.func @ask(%how: i32, %x: tensor<?xf32>) -> tensor<?xf32> {
  %r = func.call @host(%how, %x) : (i32, tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}
func.func @tell(%how: i32, %m: memref<?x3xf64, strided<[?, ?], offset: ?>>) -> i32 {
  %r = func.call @note(%how, %m) : (i32, memref<?x3xf64, strided<[?, ?], offset: ?>>) -> i32
  return %r : i32
}
func.func @busy(%turns: i32) -> i64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %mask = arith.constant 65535 : i32
  %few = arith.andi %turns, %mask : i32
  %n = arith.index_castui %few : i32 to index
  %one = arith.constant 1 : i64
  %c7 = arith.constant 7 : i64
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %one) -> i64 {
    %s = arith.shli %a, %c7 : i64
    %t = arith.xori %a, %s : i64
    %u = arith.muli %t, %t : i64
    %v = arith.addi %u, %one : i64
    scf.yield %v : i64
  }
  return %r : i64
}
)mlir";

/// A code for a host function to return: any but that of faults of the library's.
plim_code anyCode(int32_t how) { return how >> 3 == PLIM_INTERNAL ? PLIM_UNKNOWN : how >> 3; }

/// Another one, for memory with strides.
plim_code note(plim_host_call *call, void *, const plim_host_value *arguments,
               const plim_host_value *results) {
  int32_t how;
  std::memcpy(&how, arguments[0].data, sizeof(how));
  const plim_host_value &m = arguments[1];
  auto *elements = static_cast<double *>(m.data);
  REQUIRE(m.shape[1] == 3);
  for (int64_t i = 0; i < m.shape[0]; ++i)
    for (int64_t j = 0; j < 3; ++j)
      elements[i * m.strides[0] + j * m.strides[1]] += 1;
  std::memcpy(results[0].data, &how, sizeof(how));
  return how & 1 ? plim_host_call_fail(call, anyCode(how), nullptr) : PLIM_OK;
}

/// The path of a file with these bytes.
std::string makeFile(const void *bytes, size_t size) {
  int file = memfd_create("input", MFD_CLOEXEC);
  REQUIRE(file >= 0 && write(file, bytes, size) == static_cast<ssize_t>(size));
  return "/proc/self/fd/" + std::to_string(file);
}

} // namespace

void require(bool holds, const char *what) {
  if (holds)
    return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

bool succeeds(plim_status *status) {
  if (!status)
    return true;
  plim_code code = plim_status_code(status);
  const char *message = plim_status_message(status);
  if (code <= PLIM_OK || code > PLIM_DATA_LOSS || code == PLIM_INTERNAL || *message == '\0') {
    std::fprintf(stderr, "%s: %s\n", plim_code_name(code), message);
    std::abort();
  }
  REQUIRE(plim_status_file(status) || plim_status_line(status) == 0);
  plim_diagnostic diagnostic = {};
  diagnostic.struct_size = sizeof(diagnostic);
  size_t count = plim_status_diagnostic_count(status);
  plim_status *none = plim_status_diagnostic(status, count, &diagnostic);
  REQUIRE(plim_status_code(none) == PLIM_OUT_OF_RANGE);
  plim_status_release(none);
  REQUIRE(count == 0 || !plim_status_diagnostic(status, 0, &diagnostic));
  plim_status_release(status);
  return false;
}

void *allocate(void *, size_t bytes, size_t alignment, const char *) {
  constexpr size_t most = 4 << 20;
  void *pointer = nullptr;
  if (bytes > most - std::min(most, allocated.load()) ||
      posix_memalign(&pointer, alignment, bytes) != 0)
    return nullptr;
  allocated += bytes;
  return pointer;
}

void giveBack(void *, void *pointer, size_t bytes) {
  allocated -= bytes;
  std::free(pointer);
}

plim_code host(plim_host_call *call, void *, const plim_host_value *arguments,
               const plim_host_value *results) {
  int32_t how;
  std::memcpy(&how, arguments[0].data, sizeof(how));
  const plim_host_value &x = arguments[1];
  const int64_t wrong[] = {how < 0 ? how : int64_t(1) << (how >> 3 & 63)};
  switch (how & 7) {
  case 1:
    return plim_host_call_fail(call, anyCode(how), "as it was told");
  case 2:
    return anyCode(how);
  case 3: // without a result
    return PLIM_OK;
  case 4:
    plim_host_call_make_result(call, 0, wrong);
    return PLIM_OK;
  case 5:
    REQUIRE(!plim_host_call_make_result(call, 1 + static_cast<size_t>(how >> 3 & 7), x.shape));
    return PLIM_OK;
  case 6:
    checkSum(how, 1);
    break;
  default:
    break;
  }
  void *made = plim_host_call_make_result(call, 0, x.shape);
  if (!made)
    return PLIM_RESOURCE_EXHAUSTED;
  REQUIRE(results[0].data == made && results[0].shape[0] == x.shape[0]);
  if (x.shape[0] > 0)
    std::memcpy(made, x.data, static_cast<size_t>(x.shape[0]) * sizeof(float));
  return PLIM_OK;
}

uint64_t liveBytes() {
  auto statistics = sized<plim_memory_statistics>();
  REQUIRE(succeeds(plim_engine_memory_statistics(fixture->engine, &statistics)));
  return statistics.live_bytes;
}

void checkSum(int64_t a, int64_t b) {
  plim_value arguments[] = {plim_value_i64(a), plim_value_i64(b)}, result;
  REQUIRE(succeeds(plim_function_call(fixture->sum, arguments, 2, &result, 1, nullptr)));
  REQUIRE(static_cast<uint64_t>(result.as.i64) ==
          static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

void checkSaxpy() {
  const float x[] = {1, 2, 3, 4, 5}, y[] = {10, 20, 30, 40, 50};
  const int64_t shape[] = {5};
  plim_buffer *buffers[2];
  REQUIRE(
      succeeds(plim_buffer_copy(fixture->engine, PLIM_F32, 1, shape, x, sizeof(x), &buffers[0])));
  REQUIRE(
      succeeds(plim_buffer_copy(fixture->engine, PLIM_F32, 1, shape, y, sizeof(y), &buffers[1])));
  plim_value arguments[] = {plim_value_f32(2), plim_value_buffer(buffers[0]),
                            plim_value_buffer(buffers[1])};
  plim_value result;
  REQUIRE(succeeds(plim_function_call(fixture->saxpy, arguments, 3, &result, 1, nullptr)));
  const auto *elements = static_cast<const float *>(plim_buffer_data(result.as.buffer));
  for (int i = 0; i < 5; ++i)
    REQUIRE(elements[i] == 2 * x[i] + y[i]);
  plim_value_release(&result);
  plim_buffer_release(buffers[0]);
  plim_buffer_release(buffers[1]);
}

Fixture::Fixture() {
  fixture = this;
  const char *const overrides[] = {
      R"(memories=[{"name": "sram", "kind": "host", "accessible_by": ["host"]}])"};
  plim_target *target = nullptr;
  REQUIRE(succeeds(plim_target_create(nullptr, overrides, 1, &target)));
  plim_host_functions *functionsOfHost = nullptr;
  REQUIRE(succeeds(plim_host_functions_create(&functionsOfHost)));
  auto function = sized<plim_host_function_options>();
  function.function = &host;
  REQUIRE(succeeds(plim_host_functions_add(functionsOfHost, "host", &function)));
  function.function = &note;
  function.kind = PLIM_HOST_SERIAL;
  REQUIRE(succeeds(plim_host_functions_add(functionsOfHost, "note", &function)));
  auto allocator = sized<plim_allocator>();
  allocator.allocate = &allocate;
  allocator.release = &giveBack;
  auto options = sized<plim_engine_options>();
  options.target = target;
  options.threads = 2;
  options.allocator = &allocator;
  options.host_functions = functionsOfHost;
  REQUIRE(succeeds(plim_engine_create(&options, &engine)));
  plim_host_functions_release(functionsOfHost);
  plim_target_release(target);

  const size_t size = sizeof(source) - 1;
  REQUIRE(succeeds(plim_module_compile(engine, source, size, "calls.mlir", nullptr, &artifact)));
  static float weights[] = {1, 2, 3};
  auto memory = sized<plim_buffer_memory>();
  const int64_t shape[] = {3};
  memory.element = PLIM_F32;
  memory.rank = 1;
  memory.shape = shape;
  memory.data = weights;
  memory.bytes = sizeof(weights);
  plim_buffer *buffer = nullptr;
  plim_parameters *parameters = nullptr;
  REQUIRE(succeeds(plim_buffer_wrap(&memory, &buffer)));
  REQUIRE(succeeds(plim_parameters_create(&parameters)));
  REQUIRE(succeeds(plim_parameters_set(parameters, "w", buffer)));
  auto loading = sized<plim_load_options>();
  loading.parameters = parameters;
  REQUIRE(succeeds(plim_module_load(engine, plim_bytes_data(artifact), plim_bytes_size(artifact),
                                    "calls.plimart", &loading, &module)));
  plim_parameters_release(parameters);
  plim_buffer_release(buffer);
  for (size_t i = 0; i < plim_module_function_count(module); ++i) {
    plim_function *one = nullptr;
    REQUIRE(succeeds(plim_module_function(module, plim_module_function_name(module, i), &one)));
    functions.push_back(one);
  }
  REQUIRE(succeeds(plim_module_function(module, "saxpy", &saxpy)));
  REQUIRE(succeeds(plim_module_function(module, "sum", &sum)));

  std::string safetensors(R"(________{"w":{"dtype":"F32","shape":[3],"data_offsets":[0,12]}}   )");
  uint64_t header = safetensors.size() - 8;
  std::memcpy(safetensors.data(), &header, 8);
  safetensors.append(reinterpret_cast<const char *>(weights), sizeof(weights));
  std::string npy("\x93NUMPY\x01\x00\x76\x00", 10);
  npy += "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }";
  npy.resize(127, ' ');
  npy += '\n';
  npy.append(reinterpret_cast<const char *>(weights), sizeof(weights));
  paths = {
      makeFile(safetensors.data(), safetensors.size()),
      makeFile(npy.data(), npy.size()),
      makeFile(static_cast<const char *>(plim_bytes_data(artifact)), plim_bytes_size(artifact)),
      "/no/such.file",
      "/",
      ""};

  checkSaxpy();
  checkSum(1, 2);
  liveBytes = fuzz::liveBytes();
  REQUIRE(succeeds(plim_engine_trim(engine)));
  allocatedBytes = allocated;
}

} // namespace plim::fuzz
