// Every allocation that an entry point makes fails once, alone and with all behind it, and every thread that it starts:
// a status, and the same call works afterwards. Each attempt runs in a child, so that one which ends it is counted. Of
// many allocations each of the first 40 fails, then ever fewer, by PLIM_TEST_SCALE times more where that is set; each
// single one with PLIM_TEST_SCALE=1000000 (hours). Arguments: names of scenarios, which alone run then.
#include "plimsoll/plimsoll.h"
#include "tests/capi/FailingMemory.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
int main() {
  std::puts("skipped: a sanitizer owns malloc");
  return 0;
}
#else

namespace {

using failing::Kind;

constexpr const char *source = R"(
ml_program.global private mutable @count(dense<0> : tensor<i64>) : tensor<i64>
func.func @twice(%x: tensor<?xf32>) -> tensor<?xf32> {
  %r = arith.addf %x, %x : tensor<?xf32>
  return %r : tensor<?xf32>
}
func.func @add(%a: i64, %b: i64) -> i64 {
  %r = arith.addi %a, %b : i64
  return %r : i64
}
func.func @next() -> i64 {
  %t = ml_program.global_load @count : tensor<i64>
  %v = tensor.extract %t[] : tensor<i64>
  %one = arith.constant 1 : i64
  %w = arith.addi %v, %one : i64
  %e = tensor.from_elements %w : tensor<i64>
  ml_program.global_store @count = %e : tensor<i64>
  return %w : i64
}
)";

/// Enough dispatches for several threads to lower them.
const std::string wideSource = [] {
  std::string text = source;
  for (const char *op :
       {"addf", "subf", "mulf", "divf", "maximumf", "minimumf", "maxnumf", "minnumf", "remf"})
    text += std::string("func.func @") + op +
            "(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {\n  %r = arith." + op +
            " %x, %y : tensor<?xf32>\n  return %r : tensor<?xf32>\n}\n";
  return text;
}();

/// What it asks of its host: a parameter, a function, a device.
constexpr const char *askingSource = R"(
ml_program.global private @w(#ml_program.extern<tensor<3xf32>>) : tensor<3xf32>
func.func private @count(index) -> tensor<?xf32>
func.func @weigh(%x: tensor<3xf32>) -> tensor<3xf32> {
  %w = ml_program.global_load_const @w : tensor<3xf32>
  %r = arith.addf %x, %w : tensor<3xf32>
  return %r : tensor<3xf32>
}
func.func @counted(%n: index) -> tensor<?xf32> {
  %r = func.call @count(%n) : (index) -> tensor<?xf32>
  return %r : tensor<?xf32>
}
func.func @negate(%x: tensor<3xf32>) -> tensor<3xf32> {
  %e = tensor.empty() : tensor<3xf32>
  %r = linalg.negf {plim.device = "npu"} ins(%x : tensor<3xf32>) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}
)";

/// What a device refuses.
constexpr const char *negateSource = R"(
func.func @negate(%x: tensor<3xf32>) -> tensor<3xf32> {
  %e = tensor.empty() : tensor<3xf32>
  %r = linalg.negf {plim.device = "npu"} ins(%x : tensor<3xf32>) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}
)";

plim_engine *engine;
plim_engine *apart;   // compiles in workers
plim_engine *unused;  // links what the other does not any more, once it has run out of memory
plim_engine *several; // has two threads
plim_engine *asked;   // has the device and the functions of `askingSource`
std::string artifact, askingArtifact;
/// Files that scenarios read; in a folder that goes with the test.
std::string folder, artifactFile, npyFile, safetensorsFile;
plim_module *module;
plim_function *twice, *add;

/// Releases the status, whose texts can be read in any case. Was it ok?
bool ended(plim_status *status) {
  if (!status)
    return true;
  volatile size_t length = std::strlen(plim_status_message(status));
  (void)length;
  bool isOk = plim_status_code(status) == PLIM_OK;
  plim_status_release(status);
  return isOk;
}

/// A handle, released with its scope.
template <typename T, void (*release)(T *)> struct Own {
  T *handle = nullptr;
  ~Own() { release(handle); }
  T **operator&() { return &handle; }
  operator T *() const { return handle; }
};
using Buffer = Own<plim_buffer, plim_buffer_release>;
using Engine = Own<plim_engine, plim_engine_release>;
using Event = Own<plim_event, plim_event_release>;
using Function = Own<plim_function, plim_function_release>;
using Module = Own<plim_module, plim_module_release>;
using Parameters = Own<plim_parameters, plim_parameters_release>;
using Report = Own<plim_report, plim_report_release>;
using Bytes = Own<plim_bytes, plim_bytes_release>;
using State = Own<plim_state, plim_state_release>;
using Target = Own<plim_target, plim_target_release>;

plim_engine_options engineOptions() {
  plim_engine_options options{};
  options.struct_size = sizeof options;
  options.threads = 1;
  return options;
}

/// For preparations.
void require(plim_status *status) {
  if (!status)
    return;
  std::fprintf(stderr, "%s\n", plim_status_message(status));
  std::exit(1);
}

struct Scenario {
  const char *name;
  std::function<bool()> run; // true if all went well
  /// Of a hundred attempts that many may end the process: glibc ends it where it gets no memory to note that a variable of
  /// a thread is to be destroyed, as MLIR has some, and hwloc where one of its own allocations fails.
  long mayEnd = 0;
  Kind kind = Kind::Here;
  /// What works afterwards, if not the same.
  std::function<bool()> afterwards = run;
  /// In a process that has made nothing yet.
  bool isFirst = false;
};

const int64_t three[] = {3};

bool buffers() {
  plim_buffer *x = nullptr;
  if (!ended(plim_buffer_allocate(engine, PLIM_F32, 1, three, &x)))
    return false;
  plim_buffer_release(x);
  return true;
}

bool call() {
  plim_value arguments[] = {plim_value_i64(40), plim_value_i64(2)}, result;
  return ended(plim_function_call(add, arguments, 2, &result, 1, nullptr)) && result.as.i64 == 42;
}

bool tensorCall() {
  plim_buffer *x = nullptr;
  if (!ended(plim_buffer_allocate(engine, PLIM_F32, 1, three, &x)))
    return false;
  plim_value argument = plim_value_buffer(x), result;
  bool isOk = ended(plim_function_call(twice, &argument, 1, &result, 1, nullptr));
  if (isOk)
    plim_value_release(&result);
  plim_buffer_release(x);
  return isOk;
}

/// The calls fail in any case, with long messages.
bool wrongCalls() {
  plim_value arguments[] = {plim_value_f32(1), plim_value_i64(2)}, result;
  bool isRefused = !ended(plim_function_call(add, arguments, 2, &result, 1, nullptr));
  isRefused &= !ended(plim_function_call(add, arguments, 1, &result, 1, nullptr));
  plim_function *none = nullptr;
  isRefused &=
      !ended(plim_module_function(module, "a name that is longer than small strings", &none));
  return isRefused && !none;
}

bool handles() {
  plim_function *function = nullptr;
  plim_state *state = nullptr;
  plim_report *report = nullptr;
  plim_stop *stop = nullptr;
  bool isOk = ended(plim_module_function(module, "next", &function)) &&
              ended(plim_state_create(module, &state)) &&
              ended(plim_module_explain(module, &report)) && ended(plim_stop_create(&stop));
  plim_function_release(function);
  plim_state_release(state);
  plim_report_release(report);
  plim_stop_release(stop);
  return isOk;
}

bool targets() {
  plim_target *target = nullptr;
  plim_report *report = nullptr;
  bool isOk =
      ended(plim_engine_target(engine, &target)) && ended(plim_target_describe(target, &report));
  plim_report_release(report);
  plim_target_release(target);
  return isOk;
}

bool engines() {
  const plim_engine_options options = engineOptions();
  plim_engine *other = nullptr;
  bool isOk = ended(plim_engine_create(&options, &other));
  plim_engine_release(other);
  return isOk;
}

bool loadIn(plim_engine *engine, std::string_view text) {
  plim_module *other = nullptr;
  if (!ended(plim_module_load(engine, text.data(), text.size(), "in.mlir", nullptr, &other)))
    return false;
  plim_function *function = nullptr;
  plim_value arguments[] = {plim_value_i64(40), plim_value_i64(2)}, result;
  bool isOk = ended(plim_module_function(other, "add", &function)) &&
              ended(plim_function_call(function, arguments, 2, &result, 1, nullptr)) &&
              result.as.i64 == 42;
  plim_function_release(function);
  plim_module_release(other);
  return isOk;
}

bool links() { return loadIn(engine, artifact); }
bool asksWorkers() { return loadIn(apart, source); }
bool compiles() { return loadIn(engine, source); }
bool compilesOnThreads() { return loadIn(several, wideSource); }
/// What was loaded before still runs, and other engines load.
bool othersWork() { return call() && tensorCall() && loadIn(unused, artifact); }

/// The same without waiting for it; without a text, of the file.
bool loadsByItself(plim_engine *engine, std::string_view text) {
  Event event;
  if (!ended(text.empty()
                 ? plim_module_load_file_async(engine, artifactFile.c_str(), nullptr, &event)
                 : plim_module_load_async(engine, text.data(), text.size(), "in.mlir", nullptr,
                                          &event)))
    return false;
  // Whatever fails on the way, an event ends.
  while (!plim_event_is_done(event))
    (void)ended(plim_event_wait(event));
  Module loaded;
  return ended(plim_event_module(event, &loaded)) && plim_module_function_count(loaded) == 3;
}

bool asynchronousLoads() { return loadsByItself(engine, artifact) && loadsByItself(engine, ""); }

bool withThreads() {
  plim_engine_options options{};
  options.struct_size = sizeof options;
  options.threads = 4;
  plim_engine *other = nullptr;
  bool isOk = ended(plim_engine_create(&options, &other)) && loadIn(other, source) &&
              loadsByItself(other, artifact);
  plim_engine_release(other);
  return isOk;
}

bool copies() {
  const float numbers[] = {1, 2, 3};
  Buffer copy, wrapped, back;
  DLManagedTensorVersioned *tensor = nullptr;
  plim_buffer_memory memory{};
  memory.struct_size = sizeof memory;
  memory.element = PLIM_F32;
  memory.rank = 1;
  memory.shape = three;
  memory.data = const_cast<float *>(numbers);
  memory.bytes = sizeof numbers;
  if (!ended(plim_buffer_copy(engine, PLIM_F32, 1, three, numbers, sizeof numbers, &copy)) ||
      !ended(plim_buffer_wrap(&memory, &wrapped)) ||
      !ended(plim_buffer_to_dlpack(copy, nullptr, &tensor)))
    return false;
  if (ended(plim_buffer_from_dlpack(tensor, &back)))
    return true;
  auto *managed = reinterpret_cast<plim_dlpack_managed_tensor *>(tensor);
  managed->deleter(managed); // still the caller's
  return false;
}

bool asynchronousCalls() {
  Event first, second;
  const plim_value arguments[] = {plim_value_i64(40), plim_value_i64(2)};
  if (!ended(plim_function_call_async(add, arguments, 2, nullptr, &first)))
    return false;
  plim_event *after[] = {first};
  plim_async_options options{};
  options.struct_size = sizeof options;
  options.after = after;
  options.after_count = 1;
  bool isOk = ended(plim_function_call_async(add, arguments, 2, &options, &second));
  std::atomic<int> told = 0;
  auto tell = [](void *user, plim_event *) { ++*static_cast<std::atomic<int> *>(user); };
  const bool isAsked = ended(plim_event_then(first, tell, &told, nullptr));
  for (plim_event *event : {first.handle, second.handle}) {
    if (!event)
      continue;
    plim_value result;
    // Whatever fails on the way, an event ends.
    bool isDone = false;
    (void)ended(plim_event_wait_for(event, 1, &isDone));
    while (!plim_event_is_done(event))
      (void)ended(plim_event_wait(event));
    isOk &= ended(plim_event_results(event, &result, 1)) && result.as.i64 == 42;
    isOk &= ended(plim_event_cancel(event));
  }
  while (isAsked && told == 0) { // told after those who wait
  }
  return isOk && isAsked;
}

bool parameterSets() {
  Parameters parameters;
  Buffer w;
  return ended(plim_parameters_create(&parameters)) &&
         ended(plim_buffer_allocate(engine, PLIM_F32, 1, three, &w)) &&
         ended(plim_parameters_set(parameters, "w", w)) &&
         ended(plim_parameters_load_npy(parameters, "v", npyFile.c_str())) &&
         ended(plim_parameters_load_safetensors(parameters, safetensorsFile.c_str())) &&
         plim_parameters_count(parameters) == 3;
}

bool poolSets() {
  alignas(64) static char memory[4096];
  const plim_pool pools[] = {{"a pool whose name is not short", memory, sizeof memory}};
  const plim_value arguments[] = {plim_value_i64(40), plim_value_i64(2)};
  plim_value result;
  plim_call_options options{};
  options.struct_size = sizeof options;
  options.pools = pools;
  options.pool_count = 1;
  plim_status *status = plim_function_call(add, arguments, 2, &result, 1, &options);
  const bool isOk = plim_status_code(status) == PLIM_INVALID_ARGUMENT &&
                    std::strstr(plim_status_message(status), "no pool 'a pool");
  return !ended(status) && isOk;
}

plim_code count(plim_host_call *call, void *, const plim_host_value *arguments,
                const plim_host_value *) {
  const int64_t n = *static_cast<const int64_t *>(arguments[0].data);
  if (n > 3)
    return plim_host_call_fail(call, PLIM_OUT_OF_RANGE,
                               "more than three, which is all that there is");
  auto *numbers = static_cast<float *>(plim_host_call_make_result(call, 0, &n));
  if (!numbers)
    return PLIM_UNKNOWN;
  for (int64_t i = 0; i < n; ++i)
    numbers[i] = static_cast<float>(i);
  return PLIM_OK;
}

plim_code compileForDevice(plim_device_job *job, void *, const char *, const char *text,
                           size_t size) {
  return plim_device_job_write(job, text, size);
}

plim_code negate(plim_host_call *, void *, const plim_host_value *arguments,
                 const plim_host_value *results) {
  for (int i = 0; i < 3; ++i)
    static_cast<float *>(results[0].data)[i] = -static_cast<const float *>(arguments[0].data)[i];
  return PLIM_OK;
}

plim_code loadForDevice(plim_device_job *, void *, const char *, const void *, size_t,
                        plim_host_function_options *function) {
  function->function = negate;
  return PLIM_OK;
}

/// An engine with a device and functions, as `askingSource` wants it.
bool makeAsked(plim_engine **out) {
  Own<plim_host_functions, plim_host_functions_release> functions;
  Own<plim_device, plim_device_release> npu;
  plim_host_function_options function{};
  function.struct_size = sizeof function;
  function.function = count;
  plim_device_options device{};
  device.struct_size = sizeof device;
  device.name = "npu";
  device.compile = compileForDevice;
  device.load = loadForDevice;
  if (!ended(plim_host_functions_create(&functions)) ||
      !ended(plim_host_functions_add(functions, "count", &function)) ||
      !ended(plim_device_create(&device, &npu)))
    return false;
  const plim_device *devices[] = {npu};
  plim_engine_options options = engineOptions();
  options.host_functions = functions;
  options.devices = devices;
  options.device_count = 1;
  return ended(plim_engine_create(&options, out));
}

/// Loads what asks its host, and calls all of it.
bool loadAsking(plim_engine *engine, std::string_view text) {
  Parameters parameters;
  Buffer x;
  plim_load_options options{};
  options.struct_size = sizeof options;
  const float numbers[] = {1, 2, 3};
  if (!ended(plim_parameters_create(&parameters)) ||
      !ended(plim_buffer_copy(engine, PLIM_F32, 1, three, numbers, sizeof numbers, &x)) ||
      !ended(plim_parameters_set(parameters, "w", x)))
    return false;
  options.parameters = parameters;
  Module module;
  if (!ended(plim_module_load(engine, text.data(), text.size(), "in.mlir", &options, &module)))
    return false;
  auto gives = [&](const char *name, plim_value argument, std::vector<float> expected) {
    Function function;
    plim_value result;
    if (!ended(plim_module_function(module, name, &function)) ||
        !ended(plim_function_call(function, &argument, 1, &result, 1, nullptr)))
      return false;
    bool isEqual = !std::memcmp(plim_buffer_data(result.as.buffer), expected.data(),
                                expected.size() * sizeof(float));
    plim_value_release(&result);
    return isEqual;
  };
  return gives("weigh", plim_value_buffer(x), {2, 4, 6}) &&
         gives("counted", plim_value_index(3), {0, 1, 2}) &&
         gives("negate", plim_value_buffer(x), {-1, -2, -3}) &&
         !gives("counted", plim_value_index(4), {});
}

bool asks() { return loadAsking(asked, askingArtifact); }
bool devices() {
  Engine other;
  return makeAsked(&other) && loadAsking(other, askingArtifact);
}
bool deviceCompilers() {
  Bytes bytes;
  return ended(plim_module_compile(asked, askingSource, std::strlen(askingSource), "in.mlir",
                                   nullptr, &bytes));
}

constexpr char twiceSource[] = "func.func @twice(%x: tensor<10xf32>) -> tensor<10xf32> {\n"
                               "  %y = arith.addf %x, %x : tensor<10xf32>\n"
                               "  return %y : tensor<10xf32>\n"
                               "}\n";

/// A function that is compiled when it is called.
bool lazyLoads() {
  Module lazy;
  Function function;
  Buffer x;
  plim_load_options options{};
  options.struct_size = sizeof options;
  options.flags = PLIM_LOAD_LAZY;
  const int64_t ten[] = {10};
  if (!ended(plim_module_load(engine, twiceSource, std::strlen(twiceSource), "in.mlir", &options,
                              &lazy)) ||
      !ended(plim_module_function(lazy, "twice", &function)) ||
      !ended(plim_buffer_allocate(engine, PLIM_F32, 1, ten, &x)))
    return false;
  const plim_value argument = plim_value_buffer(x);
  bool isOk = true;
  for (int i = 0; i < 2; ++i) {
    plim_value result;
    if (ended(plim_function_call(function, &argument, 1, &result, 1, nullptr)))
      plim_value_release(&result);
    else
      isOk = false;
  }
  return isOk;
}

bool exports() {
  Bytes object, header;
  if (!ended(plim_module_export(engine, twiceSource, std::strlen(twiceSource), "in.mlir", "in",
                                nullptr, &object, &header)))
    return false;
  plim_bytes_retain(header), plim_bytes_release(header);
  return true;
}

bool files() {
  Module other;
  return ended(plim_module_load_file(engine, artifactFile.c_str(), nullptr, &other));
}

/// Code for extents, asked for or made in the background.
bool specialize(plim_specialization kind) {
  Module other;
  Function function;
  Buffer x;
  plim_load_options options{};
  options.struct_size = sizeof options;
  options.specialization = kind;
  if (!ended(plim_module_load(engine, source, std::strlen(source), "in.mlir", &options, &other)) ||
      !ended(plim_module_function(other, "twice", &function)) ||
      !ended(plim_buffer_allocate(engine, PLIM_F32, 1, three, &x)))
    return false;
  const plim_value argument = plim_value_buffer(x);
  bool isOk =
      kind == PLIM_SPECIALIZATION_HOT || ended(plim_function_specialize(function, &argument, 1));
  for (int i = 0; i < 200; ++i) {
    plim_value result;
    if (ended(plim_function_call(function, &argument, 1, &result, 1, nullptr)))
      plim_value_release(&result);
    else
      isOk = false;
  }
  return isOk;
}
bool specializations() { return specialize(PLIM_SPECIALIZATION_ON_REQUEST); }
bool hotSpecializations() { return specialize(PLIM_SPECIALIZATION_HOT); }

bool views() {
  Report statistics, trace;
  State state;
  Buffer variable, x;
  plim_load_statistics load{};
  load.struct_size = sizeof load;
  plim_workspace workspace{};
  workspace.struct_size = sizeof workspace;
  if (!ended(plim_buffer_allocate(engine, PLIM_F32, 1, three, &x)))
    return false;
  const plim_value argument = plim_value_buffer(x);
  return ended(plim_engine_statistics(engine, &statistics)) &&
         ended(plim_engine_trace(engine, &trace)) && ended(plim_engine_trim(engine)) &&
         ended(plim_module_statistics(module, &load)) &&
         ended(plim_function_workspace(twice, &argument, 1, &workspace)) &&
         ended(plim_state_create(module, &state)) &&
         ended(plim_state_variable(state, "count", &variable)) && ended(plim_state_reset(state));
}

/// What says something of a handle, and owners.
bool getters() {
  Buffer x, kept;
  Parameters parameters;
  Event event;
  Own<plim_stop, plim_stop_release> stop;
  plim_memory_statistics memory{};
  memory.struct_size = sizeof memory;
  plim_specialization_statistics codes{};
  codes.struct_size = sizeof codes;
  plim_value_type argument{}, result{};
  argument.struct_size = result.struct_size = sizeof argument;
  const plim_value numbers[] = {plim_value_i64(40), plim_value_i64(2)};
  if (!ended(plim_engine_memory_statistics(engine, &memory)) ||
      !ended(plim_module_specialization_statistics(module, &codes)) ||
      !ended(plim_function_argument_type(twice, 0, &argument)) ||
      !ended(plim_function_result_type(twice, 0, &result)) ||
      !ended(plim_buffer_allocate(engine, PLIM_F32, 1, three, &x)) ||
      !ended(plim_parameters_create(&parameters)) ||
      !ended(plim_parameters_set(parameters, "a name that is longer than small strings", x)) ||
      !ended(plim_parameters_get(parameters, plim_parameters_name(parameters, 0), &kept)) ||
      !ended(plim_function_call_async(add, numbers, 2, nullptr, &event)) ||
      !ended(plim_stop_create(&stop)) || !ended(plim_stop_request(stop)))
    return false;
  while (!plim_event_is_done(event))
    (void)ended(plim_event_wait(event));
  bool isOk = plim_stop_is_requested(stop);
  isOk &= plim_buffer_bytes(x) == 12 && plim_buffer_element_count(x) == 3 &&
          plim_buffer_element_type(x) == PLIM_F32 && plim_buffer_rank(x) == 1 &&
          plim_buffer_is_dense(x) && !plim_buffer_is_read_only(kept) && plim_buffer_mutable_data(x);
  isOk &= plim_buffer_shape(x)[0] == 3 && plim_buffer_strides(x)[0] == 1;
  isOk &= plim_element_type_from_name(plim_element_type_name(PLIM_F32)) == PLIM_F32 &&
          plim_element_type_bytes(PLIM_F32) == 4 && plim_code_name(PLIM_OK) &&
          plim_version() == PLIM_VERSION && plim_version_string();
  isOk &= plim_engine_threads(engine) == 1 && plim_module_function_count(module) == 3 &&
          plim_module_function_name(module, 0) && plim_function_argument_count(add) == 2 &&
          plim_function_result_count(add) == 1 && !std::strcmp(plim_function_name(add), "add") &&
          plim_function_stack_bytes(add) > 0 && plim_function_raw_pointer(add);
  plim_buffer_retain(x), plim_buffer_release(x);
  plim_engine_retain(engine), plim_engine_release(engine);
  plim_event_retain(event), plim_event_release(event);
  plim_function_retain(add), plim_function_release(add);
  plim_module_retain(module), plim_module_release(module);
  plim_parameters_retain(parameters), plim_parameters_release(parameters);
  plim_stop_retain(stop), plim_stop_release(stop);
  return isOk;
}

/// What is retained nowhere else.
bool owners() {
  Own<plim_host_functions, plim_host_functions_release> functions;
  Report report;
  State state;
  Target target;
  if (!ended(plim_host_functions_create(&functions)) ||
      !ended(plim_module_explain(module, &report)) || !ended(plim_state_create(module, &state)) ||
      !ended(plim_engine_target(engine, &target)))
    return false;
  plim_host_functions_retain(functions), plim_host_functions_release(functions);
  plim_report_retain(report), plim_report_release(report);
  plim_state_retain(state), plim_state_release(state);
  plim_target_retain(target), plim_target_release(target);
  return true;
}

/// Calls that are stopped before they begin, by their stop and by their event.
bool stoppedCalls() {
  Own<plim_stop, plim_stop_release> stop;
  if (!ended(plim_stop_create(&stop)) || !ended(plim_stop_request(stop)))
    return false;
  const plim_value arguments[] = {plim_value_i64(40), plim_value_i64(2)};
  plim_value result;
  plim_call_options call{};
  call.struct_size = sizeof call;
  call.stop = stop;
  auto isCancelled = [](plim_status *status) {
    const bool is = plim_status_code(status) == PLIM_CANCELLED;
    return !ended(status) && is;
  };
  if (!isCancelled(plim_function_call(add, arguments, 2, &result, 1, &call)))
    return false;
  plim_async_options options{};
  options.struct_size = sizeof options;
  options.call = &call;
  Event first, second;
  if (!ended(plim_function_call_async(add, arguments, 2, &options, &first)))
    return false;
  plim_event *after[] = {first};
  options.call = nullptr;
  options.after = after;
  options.after_count = 1;
  if (!ended(plim_function_call_async(add, arguments, 2, &options, &second)))
    return false;
  bool isOk = ended(plim_event_cancel(second));
  for (plim_event *event : {first.handle, second.handle}) {
    while (!plim_event_is_done(event))
      (void)ended(plim_event_wait(event));
    isOk &= isCancelled(plim_event_results(event, &result, 1));
  }
  return isOk;
}

/// Of a device whose compiler takes nothing, and says why; who owns it.
bool deviceRefuses() {
  Own<plim_device, plim_device_release> npu;
  plim_device_options device{};
  device.struct_size = sizeof device;
  device.name = "npu";
  device.compile = [](plim_device_job *job, void *, const char *, const char *, size_t) {
    return plim_device_job_fail(job, PLIM_OUT_OF_RANGE, "none of this fits into the device");
  };
  device.load = loadForDevice;
  if (!ended(plim_device_create(&device, &npu)))
    return false;
  plim_device_retain(npu), plim_device_release(npu);
  const plim_device *devices[] = {npu};
  plim_engine_options options = engineOptions();
  options.devices = devices;
  options.device_count = 1;
  Engine refusing;
  Bytes bytes;
  if (!ended(plim_engine_create(&options, &refusing)))
    return false;
  plim_status *status = plim_module_compile(refusing, negateSource, std::strlen(negateSource),
                                            "in.mlir", nullptr, &bytes);
  const bool isOk = plim_status_code(status) == PLIM_OUT_OF_RANGE &&
                    std::strstr(plim_status_message(status), "none of this fits") &&
                    !std::strcmp(plim_status_file(status), "in.mlir") &&
                    plim_status_line(status) > 0 && plim_status_column(status) > 0;
  return !ended(status) && isOk;
}

bool targetsByName() {
  const char *overrides[] = {"vector_bits=256", "features=-avx512f"};
  Target named, read;
  Report text, list;
  return ended(plim_target_create("x86-64-v4", overrides, 2, &named)) &&
         ended(plim_target_describe(named, &text)) &&
         ended(
             plim_target_create_from_json(plim_report_text(text), plim_report_size(text), &read)) &&
         ended(plim_target_list(&list));
}

/// Texts that are refused, with their places.
bool diagnostics() {
  static constexpr std::string_view wrong = "func.func @main() {\n  return %x : f32\n}\n";
  Module none;
  plim_status *status =
      plim_module_load(apart, wrong.data(), wrong.size(), "wrong.mlir", nullptr, &none);
  bool isOk = status && plim_status_diagnostic_count(status) > 0;
  plim_diagnostic diagnostic{};
  diagnostic.struct_size = sizeof diagnostic;
  if (isOk)
    isOk = ended(plim_status_diagnostic(status, 0, &diagnostic)) && diagnostic.line == 2;
  plim_status_release(status);
  return isOk && ended(plim_version_check(PLIM_VERSION));
}

struct Counts {
  long attempts = 0, refused = 0, ended = 0, broken = 0;
};

std::string compileArtifact(plim_engine *compiler, std::string_view text) {
  Bytes bytes;
  require(plim_module_compile(compiler, text.data(), text.size(), "in.mlir", nullptr, &bytes));
  return {static_cast<const char *>(plim_bytes_data(bytes)), plim_bytes_size(bytes)};
}

/// Once, for all children.
void prepareFiles() {
  const plim_engine_options options = engineOptions();
  Engine compiler, asking;
  require(plim_engine_create(&options, &compiler));
  artifact = compileArtifact(compiler, source);
  if (!makeAsked(&asking))
    std::exit(1);
  askingArtifact = compileArtifact(asking, askingSource);
  std::string name = std::filesystem::temp_directory_path() / "plim_exhaustion_XXXXXX";
  if (!::mkdtemp(name.data()))
    std::exit(1);
  folder = name;
  auto write = [](const std::string &path, const std::string &bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  };
  write(artifactFile = folder + "/a.plimart", artifact);
  const std::string numbers(12, '\0');
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }";
  header.resize(117, ' ');
  write(npyFile = folder + "/v.npy",
        std::string("\x93NUMPY\1\0\x76\0", 10) + header + "\n" + numbers);
  header = R"({"u": {"dtype": "F32", "shape": [3], "data_offsets": [0, 12]}})";
  std::string length(8, '\0');
  length[0] = static_cast<char>(header.size());
  write(safetensorsFile = folder + "/u.safetensors", length + header + numbers);
}

/// What the scenarios use, in each child: engines do not get through fork().
void prepare() {
  plim_engine_options options = engineOptions();
  options.flags = PLIM_ENGINE_TRACE;
  require(plim_engine_create(&options, &engine));
  options.flags = 0;
  require(plim_module_load(engine, artifact.data(), artifact.size(), "in.mlir", nullptr, &module));
  require(plim_module_function(module, "twice", &twice));
  require(plim_module_function(module, "add", &add));
  require(plim_engine_create(&options, &unused));
  options.threads = 2;
  require(plim_engine_create(&options, &several));
  options.threads = 1;
  plim_compile_workers workers{};
  workers.struct_size = sizeof workers;
  options.compile_workers = &workers;
  require(plim_engine_create(&options, &apart));
  if (!makeAsked(&asked))
    std::exit(1);
}

/// In a child: 0 if nothing failed any more, 1 if it did and all is well, 2 if the same does not work afterwards.
int attempt(const Scenario &scenario, long count, bool alone) {
  if (!scenario.isFirst)
    prepare();
  failing::isHere = true;
  failing::kind = scenario.kind;
  failing::isAlone = alone;
  failing::failed = 0;
  failing::left = count;
  (void)scenario.run();
  failing::left = LONG_MAX;
  if (failing::failed == 0)
    return 0;
  return scenario.afterwards() ? 1 : 2;
}

Counts exhaust(const Scenario &scenario, bool alone) {
  const char *scale = std::getenv("PLIM_TEST_SCALE");
  const long part = 4 * (scale ? std::max(1l, std::atol(scale)) : 1);
  Counts counts;
  for (long count = 0;; count += 1 + std::max(0l, count - 40) / part) {
    pid_t child = fork();
    if (child == 0) {
      // What ends it says so on its way.
      if (!std::freopen("/dev/null", "w", stderr))
        _exit(3);
      _exit(attempt(scenario, count, alone));
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
      break;
    ++counts.attempts;
    counts.refused += WIFEXITED(status) && WEXITSTATUS(status) == 1;
    counts.broken += WIFEXITED(status) && WEXITSTATUS(status) != 1;
    if (WIFSIGNALED(status)) {
      ++counts.ended;
      if (std::getenv("PLIM_VERBOSE"))
        std::printf("  %s, allocation %ld: signal %d\n", scenario.name, count, WTERMSIG(status));
    }
  }
  return counts;
}

} // namespace

int main(int count, char **names) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  prepareFiles();
  const Scenario scenarios[] = {
      {"buffers", buffers},
      {"a call", call},
      {"a call of tensors", tensorCall},
      {"calls that are refused", wrongCalls},
      {"handles", handles},
      {"targets", targets},
      {"engines", engines},
      {"first engines", engines, 0, Kind::Here, engines, /*isFirst=*/true},
      {"loads of artifacts", links, 0, Kind::Here, othersWork},
      {"loads through workers", asksWorkers, 0, Kind::Here, othersWork},
      {"compilations", compiles, 2, Kind::Everywhere, othersWork},
      {"compilations on threads", compilesOnThreads, 2, Kind::Everywhere, othersWork},
      {"lazy loads", lazyLoads, 2, Kind::Everywhere, othersWork},
      {"loads that run by themselves", asynchronousLoads, 0, Kind::Everywhere, othersWork},
      {"copies, wrapped buffers, DLPack", copies},
      {"asynchronous calls", asynchronousCalls},
      {"asynchronous calls, workers too", asynchronousCalls, 0, Kind::Everywhere},
      {"parameters", parameterSets},
      {"pools", poolSets},
      {"loads with parameters, functions and devices", asks, 0, Kind::Here, othersWork},
      {"engines with devices", devices, 0, Kind::Here, othersWork},
      {"exports", exports, 2, Kind::Everywhere, othersWork},
      {"compilers of devices", deviceCompilers, 2, Kind::Everywhere, othersWork},
      {"files", files, 0, Kind::Here, othersWork},
      {"specialisation", specializations, 2, Kind::Everywhere, othersWork},
      {"specialisation in the background", hotSpecializations, 2, Kind::Everywhere, othersWork},
      {"statistics, traces, states", views},
      {"getters", getters},
      {"owners", owners},
      {"calls that are stopped", stoppedCalls},
      {"devices that refuse", deviceRefuses, 2, Kind::Everywhere, othersWork},
      {"targets by name", targetsByName},
      {"texts that are wrong", diagnostics, 0, Kind::Here, othersWork},
      {"threads", withThreads, 0, Kind::Threads},
  };
  bool isOk = true;
  for (const Scenario &scenario : scenarios) {
    if (count > 1 &&
        std::find(names + 1, names + count, std::string_view(scenario.name)) == names + count)
      continue;
    for (bool alone : {true, false}) {
      Counts counts = exhaust(scenario, alone);
      std::printf("%s, %s: %ld attempts, %ld survived, %ld ended the process, %ld did not work "
                  "afterwards\n",
                  scenario.name, alone ? "one fails" : "all from one on fail", counts.attempts,
                  counts.refused, counts.ended, counts.broken);
      isOk &= counts.broken == 0 && 100 * counts.ended <= scenario.mayEnd * counts.attempts;
    }
  }
  std::filesystem::remove_all(folder);
  return isOk ? 0 : 1;
}
#endif
