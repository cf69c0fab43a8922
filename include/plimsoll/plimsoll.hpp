// Plimsoll in C++20: the C interface with owners, spans and typed calls. Header-only.
//
//   auto engine = plimsoll::Engine::create();
//   auto module = engine->load(source, "saxpy.mlir");
//   auto saxpy = module->function("saxpy");
//   std::vector<float> x = {1, 2, 3}, y = {10, 10, 10};
//   plimsoll::Result<plimsoll::Buffer> sum = saxpy->call<plimsoll::Buffer>(2.0F, x, y);
//   if (!sum)
//     std::cerr << sum.status().message() << "\n";
//   for (float element : sum->elements<float>()) ...
//
// What each thing means, who owns what, which threads: as in the C headers, object by object; here stands
// only what C++ adds. Handles are cheap to copy: a copy is one more owner of the same object. A handle
// that was default-constructed or moved from is empty: what it is passed to says so with InvalidArgument.
// Nothing here throws but what the standard library throws when there is no memory, and what a callback of
// the host's throws must not reach the library: it ends the process.
#pragma once

#include "plimsoll/plimsoll.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace plimsoll {

/// Ok, or why something failed.
class [[nodiscard]] Status {
public:
  Status() = default;
  /// Takes the status over; null is ok.
  explicit Status(plim_status *status) : handle(status) {}
  /// One of the wrapper's own. `code` is not PLIM_OK, `message` lives for ever.
  Status(plim_code code, const char *message) : ownCode(code), ownMessage(message) {}
  Status(Status &&other) noexcept
      : handle(std::exchange(other.handle, nullptr)), ownCode(other.ownCode),
        ownMessage(other.ownMessage) {}
  Status &operator=(Status &&other) noexcept {
    std::swap(handle, other.handle);
    std::swap(ownCode, other.ownCode);
    std::swap(ownMessage, other.ownMessage);
    return *this;
  }
  ~Status() { plim_status_release(handle); }

  bool ok() const { return code() == PLIM_OK; }
  plim_code code() const { return handle ? plim_status_code(handle) : ownCode; }
  /// Lives as long as the status, as does file().
  std::string_view message() const { return handle ? plim_status_message(handle) : ownMessage; }
  /// Empty, and 0, where the message speaks of no place.
  std::string_view file() const {
    const char *name = plim_status_file(handle);
    return name ? name : "";
  }
  uint32_t line() const { return plim_status_line(handle); }
  uint32_t column() const { return plim_status_column(handle); }
  /// All that the compiler said; the texts live as long as the status.
  std::vector<plim_diagnostic> diagnostics() const {
    std::vector<plim_diagnostic> all(plim_status_diagnostic_count(handle));
    for (size_t i = 0; i < all.size(); ++i) {
      all[i].struct_size = sizeof(plim_diagnostic);
      plim_status_release(plim_status_diagnostic(handle, i, &all[i]));
    }
    return all;
  }

private:
  plim_status *handle = nullptr;
  plim_code ownCode = PLIM_OK;
  const char *ownMessage = "";
};

/// A value, or the status that says why there is none. Reading the value of a failed one is a fault.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : held(std::move(value)) {}
  /// `status` is not ok.
  Result(Status status) : failure(std::move(status)) {}

  bool ok() const { return held.has_value(); }
  explicit operator bool() const { return ok(); }
  const Status &status() const { return failure; }
  T &operator*() & { return *held; }
  const T &operator*() const & { return *held; }
  T &&operator*() && { return *std::move(held); }
  T *operator->() { return &*held; }
  const T *operator->() const { return &*held; }

private:
  std::optional<T> held;
  Status failure;
};

namespace detail {

/// An owner of an object of the C interface.
template <typename T, void (*RetainV)(T *), void (*ReleaseV)(T *)> class Handle {
public:
  Handle() = default;
  /// Takes over one owner.
  explicit Handle(T *object) : object(object) {}
  Handle(const Handle &other) : object(other.object) { RetainV(object); }
  Handle(Handle &&other) noexcept : object(std::exchange(other.object, nullptr)) {}
  Handle &operator=(Handle other) noexcept {
    std::swap(object, other.object);
    return *this;
  }
  ~Handle() { ReleaseV(object); }

  explicit operator bool() const { return object != nullptr; }
  /// For functions of the C interface: borrowed, and given up.
  T *get() const { return object; }
  T *release() { return std::exchange(object, nullptr); }

private:
  T *object = nullptr;
};

/// What `create(T **out)` of the C interface makes, in its C++ type.
template <typename HandleT, typename T, typename CreateT> Result<HandleT> make(CreateT create) {
  T *object = nullptr;
  if (Status status(create(&object)); !status.ok())
    return status;
  return HandleT(object);
}

template <typename T> T sized() {
  T options{};
  options.struct_size = sizeof options;
  return options;
}

/// `user` of a callback that is a function object.
template <typename FunctionT> void destroy(void *user) { delete static_cast<FunctionT *>(user); }

class CStrings {
public:
  explicit CStrings(const std::vector<std::string> &strings) {
    for (const std::string &string : strings)
      pointers.push_back(string.c_str());
  }
  const char *const *data() const { return pointers.data(); }
  size_t size() const { return pointers.size(); }

private:
  std::vector<const char *> pointers;
};

inline const char *orNull(const std::string &string) {
  return string.empty() ? nullptr : string.c_str();
}

} // namespace detail

template <typename T>
concept ComplexElement = std::is_same_v<std::remove_cv_t<T>, std::complex<float>> ||
                         std::is_same_v<std::remove_cv_t<T>, std::complex<double>>;

/// The element type of a C++ type, std::complex of floats included. Integers have no sign of their own; those of
/// less than 8 bits, and floats of less than 32, have no type here.
template <typename T> constexpr plim_element_type elementTypeOf() {
  using U = std::remove_cv_t<T>;
  static_assert(ComplexElement<U> || (std::is_arithmetic_v<U> && sizeof(U) <= 8),
                "no element type");
  if constexpr (ComplexElement<U>)
    return sizeof(U) == 8 ? PLIM_COMPLEX_F32 : PLIM_COMPLEX_F64;
  else if constexpr (std::is_same_v<U, bool>)
    return PLIM_I1;
  else if constexpr (std::is_floating_point_v<U>)
    return sizeof(U) == 4 ? PLIM_F32 : PLIM_F64;
  else
    return sizeof(U) == 1   ? PLIM_I8
           : sizeof(U) == 2 ? PLIM_I16
           : sizeof(U) == 4 ? PLIM_I32
                            : PLIM_I64;
}

/// An integer that is an `index` of the module.
struct Index {
  int64_t value = 0;
};

class Report : public detail::Handle<plim_report, plim_report_retain, plim_report_release> {
public:
  using Handle::Handle;
  /// JSON. Lives as long as the report.
  std::string_view text() const { return {plim_report_text(get()), plim_report_size(get())}; }
};

/// What was written for a file or another program.
class Bytes : public detail::Handle<plim_bytes, plim_bytes_retain, plim_bytes_release> {
public:
  using Handle::Handle;
  /// Lives as long as the object.
  std::span<const std::byte> data() const {
    return {static_cast<const std::byte *>(plim_bytes_data(get())), plim_bytes_size(get())};
  }
  /// The same as characters.
  std::string_view text() const {
    return {static_cast<const char *>(plim_bytes_data(get())), plim_bytes_size(get())};
  }
};

class Target : public detail::Handle<plim_target, plim_target_retain, plim_target_release> {
public:
  using Handle::Handle;
  static Result<Target> create(const std::string &name = "host-cpu",
                               const std::vector<std::string> &overrides = {}) {
    detail::CStrings strings(overrides);
    return detail::make<Target, plim_target>([&](plim_target **out) {
      return plim_target_create(name.c_str(), strings.data(), strings.size(), out);
    });
  }
  static Result<Target> fromJson(std::string_view json) {
    return detail::make<Target, plim_target>([&](plim_target **out) {
      return plim_target_create_from_json(json.data(), json.size(), out);
    });
  }
  Result<Report> describe() const {
    return detail::make<Report, plim_report>(
        [&](plim_report **out) { return plim_target_describe(get(), out); });
  }
  static Result<Report> list() { return detail::make<Report, plim_report>(plim_target_list); }
};

class Engine;

class Buffer : public detail::Handle<plim_buffer, plim_buffer_retain, plim_buffer_release> {
public:
  using Handle::Handle;

  /// Memory of the host's, which must stay as long as the buffer: elements that are const make one that is
  /// read-only. Without a shape it has rank 1.
  template <typename T, size_t ExtentV>
  static Result<Buffer> wrap(std::span<T, ExtentV> elements, std::span<const int64_t> shape = {},
                             std::span<const int64_t> strides = {}) {
    auto size = static_cast<int64_t>(elements.size());
    auto memory = detail::sized<plim_buffer_memory>();
    memory.flags = std::is_const_v<T> ? PLIM_BUFFER_READ_ONLY : 0;
    memory.element = elementTypeOf<T>();
    memory.rank = shape.data() ? static_cast<uint32_t>(shape.size()) : 1;
    memory.shape = shape.data() ? shape.data() : &size;
    memory.strides = strides.empty() ? nullptr : strides.data();
    memory.data = const_cast<std::remove_const_t<T> *>(elements.data());
    memory.bytes = elements.size_bytes();
    return wrap(memory);
  }
  static Result<Buffer> wrap(const plim_buffer_memory &memory) {
    return detail::make<Buffer, plim_buffer>(
        [&](plim_buffer **out) { return plim_buffer_wrap(&memory, out); });
  }
  /// Dense, in memory of the engine.
  static Result<Buffer> allocate(const Engine &engine, plim_element_type element,
                                 std::span<const int64_t> shape);
  template <typename T, size_t ExtentV>
  static Result<Buffer> copy(const Engine &engine, std::span<T, ExtentV> elements,
                             std::span<const int64_t> shape);
  /// Takes the tensor over if it succeeds.
  static Result<Buffer> fromDlpack(DLManagedTensorVersioned *tensor) {
    return detail::make<Buffer, plim_buffer>(
        [&](plim_buffer **out) { return plim_buffer_from_dlpack(tensor, out); });
  }
  /// The caller calls its deleter.
  Result<DLManagedTensorVersioned *> toDlpack(const plim_dlpack_request *request = nullptr) const {
    DLManagedTensorVersioned *tensor = nullptr;
    if (Status status(plim_buffer_to_dlpack(get(), request, &tensor)); !status.ok())
      return status;
    return tensor;
  }

  plim_element_type elementType() const { return plim_buffer_element_type(get()); }
  std::span<const int64_t> shape() const { return {plim_buffer_shape(get()), rank()}; }
  std::span<const int64_t> strides() const { return {plim_buffer_strides(get()), rank()}; }
  size_t rank() const { return plim_buffer_rank(get()); }
  size_t elementCount() const { return plim_buffer_element_count(get()); }
  size_t bytes() const { return plim_buffer_bytes(get()); }
  bool isDense() const { return plim_buffer_is_dense(get()); }
  bool isReadOnly() const { return plim_buffer_is_read_only(get()); }
  const void *data() const { return plim_buffer_data(get()); }
  void *mutableData() const { return plim_buffer_mutable_data(get()); }

  /// All elements of a dense buffer of that type, in row-major order; nothing of another, or, to write, of
  /// one that is read-only. Lives as long as the buffer.
  template <typename T> std::span<const T> elements() const {
    return holds<T>() ? std::span(static_cast<const T *>(data()), elementCount())
                      : std::span<const T>();
  }
  template <typename T> std::span<T> mutableElements() const {
    return holds<T>() && !isReadOnly() ? std::span(static_cast<T *>(mutableData()), elementCount())
                                       : std::span<T>();
  }

private:
  template <typename T> bool holds() const {
    return isDense() && (elementType() == elementTypeOf<T>() ||
                         (elementType() == PLIM_INDEX && elementTypeOf<T>() == PLIM_I64));
  }
};

/// A result: nothing, a scalar or a buffer, which it owns.
class Value {
public:
  Value() = default;
  /// Takes over what it holds.
  explicit Value(const plim_value &value) : held(value) {}
  Value(Value &&other) noexcept : held(std::exchange(other.held, {})) {}
  Value &operator=(Value &&other) noexcept {
    std::swap(held, other.held);
    return *this;
  }
  ~Value() { plim_value_release(&held); }

  const plim_value &get() const { return held; }
  bool isBuffer() const { return held.kind == PLIM_BUFFER; }
  /// The buffer, whose owner this then is no more; empty if it is none.
  Buffer takeBuffer() { return Buffer(isBuffer() ? std::exchange(held, {}).as.buffer : nullptr); }
  /// The scalar, if it is of that type.
  template <typename T> std::optional<T> scalar() const {
    if (held.kind != PLIM_SCALAR)
      return std::nullopt;
    if constexpr (std::is_same_v<T, Index>) {
      return held.element == PLIM_INDEX ? std::optional(Index{held.as.i64}) : std::nullopt;
    } else {
      if (held.element != elementTypeOf<T>())
        return std::nullopt;
      if constexpr (std::is_same_v<T, float>)
        return held.as.f32;
      else if constexpr (std::is_same_v<T, double>)
        return held.as.f64;
      else
        return static_cast<T>(held.as.bits);
    }
  }

private:
  plim_value held{};
};

/// An argument of a call: a number, an Index, a Buffer, or a range of numbers in one piece, which is a
/// tensor or memref of rank 1 where it lies. As long as the call, no longer.
class Argument {
public:
  template <typename T>
    requires std::is_arithmetic_v<T>
  Argument(T number) {
    if constexpr (std::is_same_v<T, float>)
      value = plim_value_f32(number);
    else if constexpr (std::is_same_v<T, double>)
      value = plim_value_f64(number);
    else
      value = plim_value_bits(elementTypeOf<T>(), static_cast<uint64_t>(number));
  }
  Argument(Index index) : value(plim_value_index(index.value)) {}
  Argument(const Buffer &buffer) : value(plim_value_buffer(buffer.get())) {}
  template <typename RangeT>
    requires std::ranges::contiguous_range<RangeT> && std::ranges::sized_range<RangeT> &&
             (std::is_arithmetic_v<std::ranges::range_value_t<RangeT>> ||
              ComplexElement<std::ranges::range_value_t<RangeT>>)
  Argument(RangeT &&range) {
    Result<Buffer> wrapped =
        Buffer::wrap(std::span(std::ranges::data(range), std::ranges::size(range)));
    // What cannot be wrapped is an empty buffer, which the call refuses with the number of the argument.
    if (wrapped)
      owned = *std::move(wrapped);
    value = plim_value_buffer(owned.get());
  }
  Argument(const plim_value &value) : value(value) {}

  const plim_value &get() const { return value; }

private:
  plim_value value;
  Buffer owned;
};

class Parameters
    : public detail::Handle<plim_parameters, plim_parameters_retain, plim_parameters_release> {
public:
  using Handle::Handle;
  static Result<Parameters> create() {
    return detail::make<Parameters, plim_parameters>(plim_parameters_create);
  }
  Status set(const std::string &name, const Buffer &buffer) {
    return Status(plim_parameters_set(get(), name.c_str(), buffer.get()));
  }
  Status loadSafetensors(const std::string &path) {
    return Status(plim_parameters_load_safetensors(get(), path.c_str()));
  }
  Status loadNpy(const std::string &name, const std::string &path) {
    return Status(plim_parameters_load_npy(get(), name.c_str(), path.c_str()));
  }
  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (size_t i = 0; i < plim_parameters_count(get()); ++i)
      result.emplace_back(plim_parameters_name(get(), i));
    return result;
  }
  Result<Buffer> value(const std::string &name) const {
    return detail::make<Buffer, plim_buffer>(
        [&](plim_buffer **out) { return plim_parameters_get(get(), name.c_str(), out); });
  }
};

/// plim_pool.
struct Pool {
  std::string name = {};
  std::span<std::byte> memory = {};
};

/// plim_limits. What is not set stays as it is.
struct Limits {
  std::optional<bool> externalWorkspaceOnly = {};
  std::optional<uint64_t> maxStackAllocaBytes = {};
  std::optional<uint64_t> stackBudgetBytes = {};
  std::optional<uint64_t> workspaceAlignment = {};
  std::optional<uint64_t> maxTextBytes = {};
  std::optional<uint64_t> maxOperations = {};
  std::optional<uint64_t> maxRank = {};
  std::optional<uint64_t> maxVectorElements = {};
  std::optional<uint64_t> maxConstantBytes = {};
};

namespace detail {

/// Names are borrowed.
inline std::vector<plim_pool> poolsOf(std::span<const Pool> pools) {
  std::vector<plim_pool> all;
  for (const Pool &pool : pools)
    all.push_back({pool.name.c_str(), pool.memory.data(), pool.memory.size()});
  return all;
}

inline plim_limits limitsOf(const Limits &limits) {
  auto number = [](std::optional<uint64_t> limit) -> int64_t {
    if (!limit)
      return 0;
    return *limit == 0 ? PLIM_LIMIT_ZERO : int64_t(std::min(*limit, uint64_t(INT64_MAX)));
  };
  auto given = sized<plim_limits>();
  if (limits.externalWorkspaceOnly)
    given.external_workspace_only =
        *limits.externalWorkspaceOnly ? PLIM_CHOICE_YES : PLIM_CHOICE_NO;
  given.max_stack_alloca_bytes = number(limits.maxStackAllocaBytes);
  given.stack_budget_bytes = number(limits.stackBudgetBytes);
  given.workspace_alignment = number(limits.workspaceAlignment);
  given.max_text_bytes = number(limits.maxTextBytes);
  given.max_operations = number(limits.maxOperations);
  given.max_rank = number(limits.maxRank);
  given.max_vector_elements = number(limits.maxVectorElements);
  given.max_constant_bytes = number(limits.maxConstantBytes);
  return given;
}

} // namespace detail

class Stop : public detail::Handle<plim_stop, plim_stop_retain, plim_stop_release> {
public:
  using Handle::Handle;
  static Result<Stop> create() { return detail::make<Stop, plim_stop>(plim_stop_create); }
  Status request() { return Status(plim_stop_request(get())); }
  bool isRequested() const { return plim_stop_is_requested(get()); }
};

class State : public detail::Handle<plim_state, plim_state_retain, plim_state_release> {
public:
  using Handle::Handle;
  Result<Buffer> variable(const std::string &name) const {
    return detail::make<Buffer, plim_buffer>(
        [&](plim_buffer **out) { return plim_state_variable(get(), name.c_str(), out); });
  }
  Status reset() { return Status(plim_state_reset(get())); }
};

/// A function that a module calls: plim_host_callback without `user`.
using HostFunction = std::function<plim_code(plim_host_call *call, const plim_host_value *arguments,
                                             const plim_host_value *results)>;

class HostFunctions : public detail::Handle<plim_host_functions, plim_host_functions_retain,
                                            plim_host_functions_release> {
public:
  using Handle::Handle;
  static Result<HostFunctions> create() {
    return detail::make<HostFunctions, plim_host_functions>(plim_host_functions_create);
  }
  Status add(const std::string &name, HostFunction function,
             plim_host_function_kind kind = PLIM_HOST_THREAD_SAFE,
             const std::string &signature = "") {
    auto kept = std::make_unique<HostFunction>(std::move(function));
    auto options = detail::sized<plim_host_function_options>();
    options.kind = kind;
    options.function = [](plim_host_call *call, void *user, const plim_host_value *arguments,
                          const plim_host_value *results) noexcept {
      return (*static_cast<HostFunction *>(user))(call, arguments, results);
    };
    options.user = kept.get();
    options.release_user = detail::destroy<HostFunction>;
    options.signature = detail::orNull(signature);
    Status status(plim_host_functions_add(get(), name.c_str(), &options));
    if (status.ok())
      static_cast<void>(kept.release());
    return status;
  }
};

/// What a device gives for its code: a function, and how it may be called.
struct DeviceFunction {
  HostFunction function = {};
  plim_host_function_kind kind = PLIM_HOST_THREAD_SAFE;
};

/// plim_device_options. One that fails calls plim_device_job_fail().
struct DeviceOptions {
  std::string name = {};
  std::string version = {};
  std::function<plim_code(plim_device_job *job, const std::string &name, std::string_view text)>
      compile = {};
  std::function<plim_code(plim_device_job *job, const std::string &name,
                          std::span<const std::byte> code, DeviceFunction &function)>
      load = {};
  const plim_allocator *memory = nullptr;
};

class Device : public detail::Handle<plim_device, plim_device_retain, plim_device_release> {
public:
  using Handle::Handle;
  static Result<Device> create(DeviceOptions options) {
    auto kept = std::make_unique<DeviceOptions>(std::move(options));
    auto given = detail::sized<plim_device_options>();
    given.name = kept->name.c_str();
    given.version = kept->version.c_str();
    if (kept->compile)
      given.compile = [](plim_device_job *job, void *user, const char *name, const char *text,
                         size_t size) noexcept {
        return static_cast<DeviceOptions *>(user)->compile(job, name, {text, size});
      };
    if (kept->load)
      given.load = [](plim_device_job *job, void *user, const char *name, const void *code,
                      size_t size, plim_host_function_options *out) noexcept {
        auto made = std::make_unique<DeviceFunction>();
        plim_code returned = static_cast<DeviceOptions *>(user)->load(
            job, name, {static_cast<const std::byte *>(code), size}, *made);
        if (returned != PLIM_OK || !made->function)
          return returned;
        out->kind = made->kind;
        out->function = [](plim_host_call *call, void *user, const plim_host_value *arguments,
                           const plim_host_value *results) noexcept {
          return static_cast<DeviceFunction *>(user)->function(call, arguments, results);
        };
        out->user = made.release();
        out->release_user = detail::destroy<DeviceFunction>;
        return returned;
      };
    given.user = kept.get();
    given.release_user = detail::destroy<DeviceOptions>;
    given.memory = kept->memory;
    auto device = detail::make<Device, plim_device>(
        [&](plim_device **out) { return plim_device_create(&given, out); });
    if (device)
      static_cast<void>(kept.release());
    return device;
  }
};

/// plim_call_options. All is borrowed for the call.
struct CallOptions {
  std::span<const Buffer> outputs = {};
  std::span<std::byte> workspace = {};
  std::span<const Pool> pools = {};
  const State *state = nullptr;
  const Stop *stop = nullptr;
};

class Function;

class Event : public detail::Handle<plim_event, plim_event_retain, plim_event_release> {
public:
  using Handle::Handle;
  bool isDone() const { return plim_event_is_done(get()); }
  Status wait() const { return Status(plim_event_wait(get())); }
  Result<bool> waitFor(uint64_t nanoseconds) const {
    bool isDone = false;
    if (Status status(plim_event_wait_for(get(), nanoseconds, &isDone)); !status.ok())
      return status;
    return isDone;
  }
  /// Of a call of a function with so many results.
  Result<std::vector<Value>> results(size_t count) const {
    std::vector<plim_value> values(count);
    if (Status status(plim_event_results(get(), values.data(), count)); !status.ok())
      return status;
    return std::vector<Value>(values.begin(), values.end());
  }
  Status cancel() { return Status(plim_event_cancel(get())); }
  Status then(std::function<void(const Event &)> callback) {
    using Callback = std::function<void(const Event &)>;
    auto kept = std::make_unique<Callback>(std::move(callback));
    auto call = [](void *user, plim_event *event) noexcept {
      plim_event_retain(event);
      (*static_cast<Callback *>(user))(Event(event));
    };
    Status status(plim_event_then(get(), call, kept.get(), detail::destroy<Callback>));
    if (status.ok())
      static_cast<void>(kept.release());
    return status;
  }
};

/// plim_async_options.
struct AsyncOptions {
  CallOptions call = {};
  plim_priority priority = PLIM_PRIORITY_NORMAL;
  std::span<const Event> after = {};
};

class Function : public detail::Handle<plim_function, plim_function_retain, plim_function_release> {
public:
  using Handle::Handle;

  std::string_view name() const {
    const char *text = plim_function_name(get());
    return text ? text : "";
  }
  size_t argumentCount() const { return plim_function_argument_count(get()); }
  size_t resultCount() const { return plim_function_result_count(get()); }
  Result<plim_value_type> argumentType(size_t index) const {
    return type(plim_function_argument_type, index);
  }
  Result<plim_value_type> resultType(size_t index) const {
    return type(plim_function_result_type, index);
  }
  size_t stackBytes() const { return plim_function_stack_bytes(get()); }
  Result<plim_workspace> workspace(std::span<const Argument> arguments = {}) const {
    auto need = detail::sized<plim_workspace>();
    std::vector<plim_value> values = valuesOf(arguments);
    const plim_value *given = values.empty() ? nullptr : values.data();
    if (Status status(plim_function_workspace(get(), given, values.size(), &need)); !status.ok())
      return status;
    return need;
  }
  /// plim_function_specialize().
  Status specialize(std::span<const Argument> arguments) const {
    std::vector<plim_value> values = valuesOf(arguments);
    return Status(plim_function_specialize(get(), values.data(), values.size()));
  }
  /// As a pointer to a C function, which the caller must know the type of.
  template <typename FunctionT> FunctionT *rawPointer() const {
    return reinterpret_cast<FunctionT *>(plim_function_raw_pointer(get()));
  }

  /// A call with as many results as it has.
  Result<std::vector<Value>> callWith(std::span<const Argument> arguments,
                                      const CallOptions &options = {}) const {
    std::vector<plim_value> values = valuesOf(arguments), results(resultCount());
    if (Status status = callRaw(values, results, options); !status.ok())
      return status;
    return std::vector<Value>(results.begin(), results.end());
  }

  /// A call whose results are known: `call<float>(x, y)`, `call<Buffer>(2.0F, x)`, `call<void>(x, out)`,
  /// `call<std::tuple<Buffer, Index>>(x)`. InvalidArgument if the function has others: it has run then.
  template <typename ResultT, typename... Args> auto call(Args &&...args) const {
    return callTyped<ResultT>(CallOptions(), std::forward<Args>(args)...);
  }

  /// The same into buffers, one for each result.
  template <typename... Args>
  Status callInto(std::span<const Buffer> outputs, Args &&...args) const {
    CallOptions options;
    options.outputs = outputs;
    return callTyped<void>(options, std::forward<Args>(args)...);
  }

  /// The same with what the call is lent.
  template <typename ResultT, typename... Args>
  auto callTyped(const CallOptions &options, Args &&...args) const
      -> std::conditional_t<std::is_void_v<ResultT>, Status,
                            Result<std::conditional_t<std::is_void_v<ResultT>, int, ResultT>>> {
    // Arguments that wrap a range keep it wrapped until the call is over.
    const std::tuple<std::conditional_t<true, Argument, Args>...> kept(std::forward<Args>(args)...);
    auto values = std::apply(
        [](const auto &...each) { return std::array<plim_value, sizeof...(Args)>{each.get()...}; },
        kept);
    if constexpr (std::is_void_v<ResultT>) {
      return callRaw(values, {}, options);
    } else {
      constexpr size_t count = Typed<ResultT>::count;
      std::array<plim_value, count> results{};
      if (Status status = callRaw(values, results, options); !status.ok())
        return status;
      std::array<Value, count> owned;
      for (size_t i = 0; i < count; ++i)
        owned[i] = Value(results[i]);
      if (std::optional<ResultT> typed = Typed<ResultT>::take(owned.data()))
        return *std::move(typed);
      return Status(PLIM_INVALID_ARGUMENT,
                    "the results of the function have other types than they were asked for as");
    }
  }

  Result<Event> callAsync(std::span<const Argument> arguments,
                          const AsyncOptions &options = {}) const {
    std::vector<plim_value> values = valuesOf(arguments);
    const Lent lent(options.call);
    std::vector<plim_event *> after;
    for (const Event &event : options.after)
      after.push_back(event.get());
    auto given = detail::sized<plim_async_options>();
    given.priority = options.priority;
    given.call = &lent.given;
    given.after = after.data();
    given.after_count = after.size();
    return detail::make<Event, plim_event>([&](plim_event **out) {
      return plim_function_call_async(get(), values.data(), values.size(), &given, out);
    });
  }

private:
  /// How a C++ type is made of results.
  template <typename T> struct Typed {
    static constexpr size_t count = 1;
    static std::optional<T> take(Value *value) {
      if constexpr (std::is_same_v<T, Buffer>)
        return value->isBuffer() ? std::optional(value->takeBuffer()) : std::nullopt;
      else
        return value->template scalar<T>();
    }
  };
  template <typename... Ts> struct Typed<std::tuple<Ts...>> {
    static constexpr size_t count = sizeof...(Ts);
    static std::optional<std::tuple<Ts...>> take(Value *values) {
      return takeEach(values, std::index_sequence_for<Ts...>());
    }
    template <size_t... Is>
    static std::optional<std::tuple<Ts...>> takeEach(Value *values, std::index_sequence<Is...>) {
      std::tuple<std::optional<Ts>...> each{Typed<Ts>::take(values + Is)...};
      if (!(std::get<Is>(each).has_value() && ...))
        return std::nullopt;
      return std::tuple<Ts...>(*std::move(std::get<Is>(each))...);
    }
  };

  static std::vector<plim_value> valuesOf(std::span<const Argument> arguments) {
    std::vector<plim_value> values;
    for (const Argument &argument : arguments)
      values.push_back(argument.get());
    return values;
  }

  /// CallOptions as the C interface has them.
  struct Lent {
    explicit Lent(const CallOptions &options) : pools(detail::poolsOf(options.pools)) {
      for (const Buffer &output : options.outputs)
        outputs.push_back(output.get());
      given.outputs = outputs.data();
      given.output_count = outputs.size();
      given.workspace = options.workspace.data();
      given.workspace_bytes = options.workspace.size();
      given.pools = pools.data();
      given.pool_count = pools.size();
      given.state = options.state ? options.state->get() : nullptr;
      given.stop = options.stop ? options.stop->get() : nullptr;
    }
    Lent(const Lent &) = delete;
    Lent &operator=(const Lent &) = delete;

    std::vector<plim_buffer *> outputs;
    std::vector<plim_pool> pools;
    plim_call_options given = detail::sized<plim_call_options>();
  };

  Status callRaw(std::span<const plim_value> arguments, std::span<plim_value> results,
                 const CallOptions &options) const {
    const Lent lent(options);
    return Status(plim_function_call(get(), arguments.data(), arguments.size(), results.data(),
                                     results.size(), &lent.given));
  }

  template <typename GetT> Result<plim_value_type> type(GetT getter, size_t index) const {
    auto type = detail::sized<plim_value_type>();
    if (Status status(getter(get(), index, &type)); !status.ok())
      return status;
    return type;
  }
};

/// plim_load_options. All is borrowed for the load, but for what that retains.
struct LoadOptions {
  std::string policy = {};
  Limits limits = {};
  bool oracle = false;
  plim_numerics numerics = PLIM_NUMERICS_UNSPECIFIED;
  const Parameters *parameters = nullptr;
  const HostFunctions *hostFunctions = nullptr;
  std::vector<Pool> pools = {};
  std::function<void(double fraction)> progress = {};
  plim_specialization specialization = PLIM_SPECIALIZATION_DEFAULT;
  uint32_t specializationCount = 0;
  std::string device = {};
  const Stop *stop = nullptr;
  std::chrono::nanoseconds timeout{0};
};

class Module : public detail::Handle<plim_module, plim_module_retain, plim_module_release> {
public:
  using Handle::Handle;
  std::vector<std::string> functionNames() const {
    std::vector<std::string> names;
    for (size_t i = 0; i < plim_module_function_count(get()); ++i)
      names.emplace_back(plim_module_function_name(get(), i));
    return names;
  }
  Result<Function> function(const std::string &name) const {
    return detail::make<Function, plim_function>(
        [&](plim_function **out) { return plim_module_function(get(), name.c_str(), out); });
  }
  Result<State> createState() const {
    return detail::make<State, plim_state>(
        [&](plim_state **out) { return plim_state_create(get(), out); });
  }
  Result<Report> explain() const {
    return detail::make<Report, plim_report>(
        [&](plim_report **out) { return plim_module_explain(get(), out); });
  }
  Result<plim_load_statistics> statistics() const {
    auto statistics = detail::sized<plim_load_statistics>();
    if (Status status(plim_module_statistics(get(), &statistics)); !status.ok())
      return status;
    return statistics;
  }
  Result<plim_specialization_statistics> specializationStatistics() const {
    auto statistics = detail::sized<plim_specialization_statistics>();
    if (Status status(plim_module_specialization_statistics(get(), &statistics)); !status.ok())
      return status;
    return statistics;
  }
};

/// plim_compile_workers.
struct CompileWorkers {
  uint32_t processes = 0;
  uint64_t memoryBytes = 0;
  std::chrono::nanoseconds deadline{0};
  std::string program = {};
  uint32_t flags = 0; // PLIM_COMPILE_WORKERS_...
};

/// plim_engine_options.
struct EngineOptions {
  uint32_t flags = 0; // PLIM_ENGINE_...
  const Target *target = nullptr;
  uint32_t threads = 0;
  std::string policy = {};
  plim_numerics numerics = PLIM_NUMERICS_UNSPECIFIED;
  Limits limits = {};
  std::string cacheFolder = {};
  uint64_t cacheBytes = 0;
  plim_log_level logLevel = PLIM_LOG_WARNING;
  std::function<void(plim_log_level level, std::string_view message)> log = {};
  const plim_allocator *allocator = nullptr;
  const HostFunctions *hostFunctions = nullptr;
  plim_core_kind cores = PLIM_CORES_ANY;
  uint32_t numaNode = 0; // with PLIM_ENGINE_NUMA_NODE
  plim_specialization specialization = PLIM_SPECIALIZATION_DEFAULT;
  uint32_t specializationCount = 0;
  std::vector<Device> devices = {};
  std::optional<CompileWorkers> compileWorkers = {};
};

/// What Engine::exportCode() makes.
struct ExportedCode {
  explicit ExportedCode(plim_bytes *object) : object(object) {}
  Bytes object; // relocatable ELF
  Bytes header; // text
};

class Engine : public detail::Handle<plim_engine, plim_engine_retain, plim_engine_release> {
public:
  using Handle::Handle;

  static Result<Engine> create(const EngineOptions &options = {}) {
    using Log = std::function<void(plim_log_level, std::string_view)>;
    const plim_limits limits = detail::limitsOf(options.limits);
    auto given = detail::sized<plim_engine_options>();
    given.flags = options.flags;
    given.target = options.target ? options.target->get() : nullptr;
    given.threads = options.threads;
    given.policy = detail::orNull(options.policy);
    given.numerics = options.numerics;
    given.limits = &limits;
    given.cache_folder = detail::orNull(options.cacheFolder);
    given.cache_bytes = options.cacheBytes;
    given.allocator = options.allocator;
    given.host_functions = options.hostFunctions ? options.hostFunctions->get() : nullptr;
    given.cores = options.cores;
    given.numa_node = options.numaNode;
    given.specialization = options.specialization;
    given.specialization_count = options.specializationCount;
    std::vector<const plim_device *> devices;
    for (const Device &device : options.devices)
      devices.push_back(device.get());
    given.devices = devices.data();
    given.device_count = devices.size();
    auto workers = detail::sized<plim_compile_workers>();
    if (options.compileWorkers) {
      workers.processes = options.compileWorkers->processes;
      workers.memory_bytes = options.compileWorkers->memoryBytes;
      workers.deadline_nanoseconds = uint64_t(options.compileWorkers->deadline.count());
      workers.program = detail::orNull(options.compileWorkers->program);
      workers.flags = options.compileWorkers->flags;
      given.compile_workers = &workers;
    }
    std::unique_ptr<Log> log;
    auto logger = detail::sized<plim_logger>();
    if (options.log) {
      log = std::make_unique<Log>(options.log);
      logger.level = options.logLevel;
      logger.log = [](void *user, plim_log_level level, const char *message, size_t size) noexcept {
        (*static_cast<Log *>(user))(level, {message, size});
      };
      logger.user = log.get();
      logger.release_user = detail::destroy<Log>;
      given.logger = &logger;
    }
    auto engine = detail::make<Engine, plim_engine>(
        [&](plim_engine **out) { return plim_engine_create(&given, out); });
    if (engine)
      static_cast<void>(log.release());
    return engine;
  }

  Result<Module> load(std::string_view source, const std::string &name,
                      const LoadOptions &options = {}) const {
    return with<Module, plim_module>(options, [&](auto *given, plim_module **out) {
      return plim_module_load(get(), source.data(), source.size(), name.c_str(), given, out);
    });
  }
  Result<Module> loadFile(const std::string &path, const LoadOptions &options = {}) const {
    return with<Module, plim_module>(options, [&](auto *given, plim_module **out) {
      return plim_module_load_file(get(), path.c_str(), given, out);
    });
  }
  /// plim_module_compile(): an artifact.
  Result<Bytes> compile(std::string_view source, const std::string &name,
                        const LoadOptions &options = {}) const {
    return with<Bytes, plim_bytes>(options, [&](auto *given, plim_bytes **out) {
      return plim_module_compile(get(), source.data(), source.size(), name.c_str(), given, out);
    });
  }

  /// plim_module_export().
  Result<ExportedCode> exportCode(std::string_view source, const std::string &name,
                                  const std::string &exportName,
                                  const LoadOptions &options = {}) const {
    plim_bytes *header = nullptr;
    auto code = with<ExportedCode, plim_bytes>(options, [&](auto *given, plim_bytes **out) {
      return plim_module_export(get(), source.data(), source.size(), name.c_str(),
                                exportName.c_str(), given, out, &header);
    });
    if (code)
      code->header = Bytes(header);
    return code;
  }

  Result<Target> target() const {
    return detail::make<Target, plim_target>(
        [&](plim_target **out) { return plim_engine_target(get(), out); });
  }
  uint32_t threads() const { return plim_engine_threads(get()); }
  Result<plim_memory_statistics> memoryStatistics() const {
    auto statistics = detail::sized<plim_memory_statistics>();
    if (Status status(plim_engine_memory_statistics(get(), &statistics)); !status.ok())
      return status;
    return statistics;
  }
  Status trim() const { return Status(plim_engine_trim(get())); }
  Result<Report> statistics() const {
    return detail::make<Report, plim_report>(
        [&](plim_report **out) { return plim_engine_statistics(get(), out); });
  }
  Result<Report> trace() const {
    return detail::make<Report, plim_report>(
        [&](plim_report **out) { return plim_engine_trace(get(), out); });
  }

private:
  /// What `create` makes with these options.
  template <typename HandleT, typename T, typename CreateT>
  static Result<HandleT> with(const LoadOptions &options, CreateT create) {
    const plim_limits limits = detail::limitsOf(options.limits);
    auto given = detail::sized<plim_load_options>();
    given.flags = options.oracle ? PLIM_LOAD_ORACLE : 0;
    given.numerics = options.numerics;
    given.timeout_nanoseconds = static_cast<uint64_t>(options.timeout.count());
    given.policy = detail::orNull(options.policy);
    given.limits = &limits;
    given.parameters = options.parameters ? options.parameters->get() : nullptr;
    given.host_functions = options.hostFunctions ? options.hostFunctions->get() : nullptr;
    const std::vector<plim_pool> pools = detail::poolsOf(options.pools);
    given.pools = pools.data();
    given.pool_count = pools.size();
    given.specialization = options.specialization;
    given.specialization_count = options.specializationCount;
    given.device = detail::orNull(options.device);
    given.stop = options.stop ? options.stop->get() : nullptr;
    if (options.progress) {
      given.progress = [](void *user, double fraction) noexcept {
        (*static_cast<const std::function<void(double)> *>(user))(fraction);
      };
      given.progress_user = const_cast<std::function<void(double)> *>(&options.progress);
    }
    return detail::make<HandleT, T>([&](T **out) { return create(&given, out); });
  }
};

inline Result<Buffer> Buffer::allocate(const Engine &engine, plim_element_type element,
                                       std::span<const int64_t> shape) {
  return detail::make<Buffer, plim_buffer>([&](plim_buffer **out) {
    return plim_buffer_allocate(engine.get(), element, static_cast<uint32_t>(shape.size()),
                                shape.data(), out);
  });
}

template <typename T, size_t ExtentV>
Result<Buffer> Buffer::copy(const Engine &engine, std::span<T, ExtentV> elements,
                            std::span<const int64_t> shape) {
  return detail::make<Buffer, plim_buffer>([&](plim_buffer **out) {
    return plim_buffer_copy(engine.get(), elementTypeOf<T>(), static_cast<uint32_t>(shape.size()),
                            shape.data(), elements.data(), elements.size_bytes(), out);
  });
}

} // namespace plimsoll
