// The C interface: functions in any order, with anything that a host may hand in. Handles are live, null or of another
// kind, and memory is as large as it is said to be; all else is arbitrary. Then nothing is touched that was not given,
// what is refused leaves its outputs alone, nothing is a fault of the library's own, and in the end all memory is given
// back, once.

#include "tests/fuzz/CCallsHandles.h"
#include "tests/fuzz/CCallsHost.h"

#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

using namespace plim;
using namespace plim::fuzz;

namespace {

/// The calls of one input.
class Session {
public:
  explicit Session(FuzzedDataProvider &data) : data(data) {
    handles.retain(fixture->module);
    handles.retain(fixture->engine);
    handles.retain(fixture->artifact);
    for (plim_function *function : fixture->functions)
      handles.retain(function);
  }
  ~Session() {
    while (handles.size() > 0)
      handles.release(handles.size() - 1);
    waitForCalls();
  }
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;

  void step() {
    static constexpr void (Session::*steps[])() = {
        &Session::retain,      &Session::release,      &Session::askBuffer,
        &Session::allocate,    &Session::copy,         &Session::wrap,
        &Session::wrap,        &Session::import,       &Session::exportBuffer,
        &Session::call,        &Session::call,         &Session::call,
        &Session::callAsync,   &Session::callAsync,    &Session::askFunction,
        &Session::askFunction, &Session::workspace,    &Session::event,
        &Session::event,       &Session::state,        &Session::parameters,
        &Session::bytes,       &Session::stop,         &Session::hostFunctions,
        &Session::device,      &Session::target,       &Session::engine,
        &Session::module,      &Session::report,       &Session::loadArtifact,
        &Session::constants,   &Session::createEngine, &Session::loadFile,
    };
    (this->*steps[any<uint8_t>() % std::size(steps)])();
    temporaries.clear();
    while (handles.size() > 64)
      handles.release(0);
  }

private:
  // What the input decides.

  bool once(uint8_t in) { return data.ConsumeIntegralInRange<uint8_t>(1, in) == in; }
  template <typename T> T upTo(T last) { return data.ConsumeIntegralInRange<T>(0, last); }
  template <typename T> T any() { return data.ConsumeIntegral<T>(); }
  template <typename T> T *pick() { return handles.pick<T>(any<uint8_t>()); }

  /// Owns what `create`, which gets an out_ parameter, makes. Null if it makes nothing.
  template <typename T> T *make(const std::function<plim_status *(T **)> &create) {
    if (once(64)) {
      REQUIRE(!succeeds(create(nullptr)));
      return nullptr;
    }
    T *const untouched = reinterpret_cast<T *>(this);
    T *made = untouched;
    bool isMade = succeeds(create(&made));
    REQUIRE(isMade == (made != untouched));
    if (!isMade)
      return nullptr;
    REQUIRE(made);
    handles.add(made);
    return made;
  }

  /// A struct with a size that may be wrong, in memory that is not larger than that.
  template <typename T> T *passed(T value) {
    if (once(64))
      return nullptr;
    value.struct_size = once(16) ? any<uint32_t>() >> upTo(32U) % 32 : sizeof(T);
    size_t room = std::clamp<size_t>(value.struct_size, sizeof(uint32_t), 4096);
    std::byte *memory = temporary(room);
    std::memset(memory, once(8) ? 1 : 0, room);
    std::memcpy(memory, &value, std::min(room, sizeof(T)));
    return reinterpret_cast<T *>(memory);
  }
  /// Memory until the step has ended.
  std::byte *temporary(size_t bytes) {
    temporaries.push_back(std::make_unique_for_overwrite<std::byte[]>(bytes));
    return temporaries.back().get();
  }
  /// Memory until no call runs any more.
  void *lent(size_t bytes) {
    isLent = true;
    void *memory = nullptr;
    REQUIRE(posix_memalign(&memory, PLIM_MEMORY_ALIGNMENT, bytes) == 0);
    lentMemory.emplace_back(memory, &std::free);
    return memory;
  }

  const char *name() {
    static constexpr const char *names[] = {"saxpy", "total",  "w",      "sram",
                                            "host",  "note",   "totals", "",
                                            "i32",   "f8E5M2", "\xff",   "complex<f64>"};
    size_t choice = upTo<size_t>(std::size(names) + 1);
    if (choice < std::size(names))
      return names[choice];
    if (choice == std::size(names))
      return nullptr;
    std::string text = data.ConsumeRandomLengthString(40);
    return static_cast<const char *>(
        std::memcpy(temporary(text.size() + 1), text.c_str(), text.size() + 1));
  }

  plim_element_type element() {
    return once(32) ? any<plim_element_type>() : data.ConsumeIntegralInRange<uint32_t>(1, PLIM_I4);
  }
  int64_t extent() {
    static constexpr int64_t odd[] = {-1,  INT64_MIN, INT64_MAX, int64_t(1) << 32, int64_t(1) << 61,
                                      1000};
    return once(16) ? odd[upTo(std::size(odd) - 1)] : upTo<int64_t>(5);
  }
  std::vector<int64_t> shape() {
    std::vector<int64_t> extents(once(32) ? upTo<size_t>(100) : upTo<size_t>(4));
    std::generate(extents.begin(), extents.end(), [&] { return extent(); });
    return extents;
  }
  std::vector<int64_t> strides(size_t rank) {
    std::vector<int64_t> steps(rank);
    std::generate(steps.begin(), steps.end(), [&] {
      return once(16) ? any<int64_t>() : data.ConsumeIntegralInRange<int64_t>(-8, 8);
    });
    return steps;
  }

  // What must hold.

  static size_t elementBytes(const plim_buffer *buffer) {
    return plim_element_type_bytes(plim_buffer_element_type(buffer));
  }

  /// Do all elements lie between `before` bytes before its data and `behind` bytes behind?
  static bool fits(const plim_buffer *buffer, size_t before, size_t behind) {
    if (plim_buffer_element_count(buffer) == 0)
      return true;
    __int128 each = static_cast<__int128>(elementBytes(buffer)), first = 0, last = each;
    for (uint32_t i = 0; i < plim_buffer_rank(buffer); ++i) {
      __int128 reach = static_cast<__int128>(plim_buffer_shape(buffer)[i] - 1) *
                       plim_buffer_strides(buffer)[i] * each;
      (reach < 0 ? first : last) += reach;
    }
    return -first <= static_cast<__int128>(before) && last <= static_cast<__int128>(behind);
  }

  static void checkBuffer(const plim_buffer *buffer, plim_element_type element,
                          const std::vector<int64_t> &shape) {
    REQUIRE(plim_buffer_element_type(buffer) == element);
    REQUIRE(plim_buffer_rank(buffer) == shape.size());
    REQUIRE(std::equal(shape.begin(), shape.end(), plim_buffer_shape(buffer)));
    __int128 count = 1;
    for (int64_t extent : shape) {
      REQUIRE(extent >= 0);
      if (std::count(shape.begin(), shape.end(), 0) == 0)
        count *= extent;
      else
        count = 0;
    }
    REQUIRE(plim_buffer_element_count(buffer) == static_cast<size_t>(count));
    REQUIRE(plim_buffer_bytes(buffer) == static_cast<size_t>(count) * elementBytes(buffer));
  }

  /// Writes all of a buffer that nobody else has.
  static void fill(plim_buffer *buffer) {
    if (size_t bytes = plim_buffer_bytes(buffer); bytes != 0)
      std::memset(plim_buffer_mutable_data(buffer), 1, bytes);
  }

  // Buffers.

  void allocate() {
    plim_engine *engine = pick<plim_engine>();
    plim_element_type type = element();
    std::vector<int64_t> extents = shape();
    allocate(engine, type, extents);
  }
  plim_buffer *allocate(plim_engine *engine, plim_element_type type,
                        const std::vector<int64_t> &extents) {
    plim_buffer *buffer = make<plim_buffer>([&](plim_buffer **out) {
      return plim_buffer_allocate(engine, type, static_cast<uint32_t>(extents.size()),
                                  extents.data(), out);
    });
    if (!buffer)
      return nullptr;
    checkBuffer(buffer, type, extents);
    REQUIRE(plim_buffer_is_dense(buffer) && !plim_buffer_is_read_only(buffer));
    fill(buffer);
    return buffer;
  }

  void copy() {
    plim_engine *engine = pick<plim_engine>();
    plim_element_type type = element();
    std::vector<int64_t> extents = shape();
    auto bytes = upTo<size_t>(256);
    if (any<bool>()) { // as many as it needs
      bytes = plim_element_type_bytes(type);
      for (int64_t extent : extents)
        bytes *= static_cast<size_t>(std::clamp<int64_t>(extent, 0, 5));
      bytes = std::min<size_t>(bytes, 1 << 14);
    }
    const void *from = once(32) ? nullptr : std::memset(temporary(bytes), 3, bytes);
    plim_buffer *buffer = make<plim_buffer>([&](plim_buffer **out) {
      return plim_buffer_copy(engine, type, static_cast<uint32_t>(extents.size()), extents.data(),
                              from, bytes, out);
    });
    if (!buffer)
      return;
    checkBuffer(buffer, type, extents);
    REQUIRE(plim_buffer_bytes(buffer) == bytes);
    REQUIRE(bytes == 0 || std::memcmp(plim_buffer_data(buffer), from, bytes) == 0);
  }

  void wrap() {
    plim_element_type type = element();
    std::vector<int64_t> extents = shape();
    wrap(type, extents, any<bool>() ? strides(extents.size()) : std::vector<int64_t>());
  }
  plim_buffer *wrap(plim_element_type type, const std::vector<int64_t> &extents,
                    const std::vector<int64_t> &steps) {
    size_t before = upTo<size_t>(40) * (once(8) ? 1 : 16), behind = upTo<size_t>(640);
    auto *host = new HostMemory(before, behind);
    plim_buffer_memory memory = {};
    memory.flags = once(8) ? PLIM_BUFFER_READ_ONLY : once(64) ? any<uint32_t>() : 0;
    memory.element = type;
    memory.rank = static_cast<uint32_t>(extents.size());
    memory.shape = once(64) ? nullptr : extents.data();
    memory.strides = steps.empty() ? nullptr : steps.data();
    memory.data = once(32) ? nullptr : host->data;
    memory.bytes = behind;
    memory.bytes_before = before;
    memory.user = host;
    if (!once(16))
      memory.release = [](void *user, void *data) {
        auto *host = static_cast<HostMemory *>(user);
        REQUIRE(!data || data == host->data);
        delete host;
      };
    plim_buffer_memory *given = passed(memory);
    plim_buffer *buffer =
        make<plim_buffer>([&](plim_buffer **out) { return plim_buffer_wrap(given, out); });
    if (!buffer) {
      delete host; // once more if the library has done so
      return nullptr;
    }
    if (!memory.release) {
      isLent = true;
      lentMemory.emplace_back(host, [](void *memory) { delete static_cast<HostMemory *>(memory); });
    }
    checkBuffer(buffer, type, extents);
    REQUIRE(fits(buffer, before, behind));
    REQUIRE(plim_buffer_data(buffer) == memory.data);
    REQUIRE(plim_buffer_is_read_only(buffer) == (memory.flags == PLIM_BUFFER_READ_ONLY));
    REQUIRE(steps.empty() ? plim_buffer_is_dense(buffer)
                          : std::equal(steps.begin(), steps.end(), plim_buffer_strides(buffer)));
    return buffer;
  }

  void import() {
    size_t before = upTo<size_t>(20) * 16, behind = upTo<size_t>(640);
    auto *host = new HostMemory(before, behind);
    host->shape = shape();
    host->strides = strides(host->shape.size());
    plim_dlpack_managed_tensor &managed = host->managed;
    managed.version_major = once(32) ? any<uint32_t>() : 1;
    managed.version_minor = any<uint8_t>();
    managed.manager_context = host;
    managed.deleter = [](plim_dlpack_managed_tensor *self) {
      delete static_cast<HostMemory *>(self->manager_context);
    };
    managed.flags = any<bool>() ? PLIM_DLPACK_SUBBYTE_PADDED : any<uint8_t>();
    plim_dlpack_tensor &tensor = managed.tensor;
    tensor.data = once(32) ? nullptr : host->data;
    tensor.device_type = once(32) ? any<int32_t>() : once(8) ? 3 : 1;
    tensor.device_id = any<int8_t>();
    tensor.ndim = once(64) ? -1 : static_cast<int32_t>(host->shape.size());
    tensor.type_code = upTo<uint8_t>(13);
    tensor.type_bits = once(16) ? any<uint8_t>() : static_cast<uint8_t>(2 << upTo(6));
    tensor.type_lanes = once(32) ? any<uint16_t>() : 1;
    tensor.shape = once(64) ? nullptr : host->shape.data();
    tensor.strides = any<bool>() ? nullptr : host->strides.data();
    tensor.byte_offset = any<bool>() ? 0 : once(16) ? any<uint64_t>() : upTo(behind);
    plim_buffer *buffer = make<plim_buffer>([&](plim_buffer **out) {
      return plim_buffer_from_dlpack(reinterpret_cast<DLManagedTensorVersioned *>(&managed), out);
    });
    if (!buffer) {
      delete host;
      return;
    }
    checkBuffer(buffer, plim_buffer_element_type(buffer), host->shape);
    // The interface cannot know how much memory there is.
    size_t offset = tensor.data ? tensor.byte_offset : 0;
    if (offset > behind || !fits(buffer, before + offset, behind - offset))
      handles.release(handles.size() - 1);
  }

  void exportBuffer() {
    plim_buffer *buffer = pick<plim_buffer>();
    plim_dlpack_request request = {};
    request.flags = once(64);
    request.major = upTo(2U);
    request.minor = upTo(2U);
    request.device_type = upTo(2);
    request.device_id = once(32);
    request.stream = once(32);
    plim_dlpack_request *given = any<bool>() ? nullptr : passed(request);
    DLManagedTensorVersioned *out = nullptr;
    if (!succeeds(plim_buffer_to_dlpack(buffer, given, once(64) ? nullptr : &out))) {
      REQUIRE(!out);
      return;
    }
    auto *managed = reinterpret_cast<plim_dlpack_managed_tensor *>(out);
    REQUIRE(managed->tensor.data == plim_buffer_data(buffer));
    REQUIRE(static_cast<uint32_t>(managed->tensor.ndim) == plim_buffer_rank(buffer));
    plim_buffer *again = nullptr;
    if (any<bool>()) {
      REQUIRE(succeeds(plim_buffer_from_dlpack(out, &again)));
      REQUIRE(plim_buffer_element_count(again) == plim_buffer_element_count(buffer));
      REQUIRE(plim_buffer_is_dense(again) == plim_buffer_is_dense(buffer));
      REQUIRE(plim_buffer_is_read_only(again) == plim_buffer_is_read_only(buffer));
      handles.add(again);
    } else {
      managed->deleter(managed);
    }
  }

  void askBuffer() {
    plim_buffer *buffer = pick<plim_buffer>();
    bool isBuffer = handles.isLive(buffer);
    REQUIRE(isBuffer == (plim_buffer_element_type(buffer) != 0));
    REQUIRE(isBuffer || (plim_buffer_rank(buffer) == 0 && plim_buffer_bytes(buffer) == 0));
    REQUIRE(isBuffer || (!plim_buffer_shape(buffer) && !plim_buffer_strides(buffer)));
    REQUIRE(isBuffer || (!plim_buffer_data(buffer) && !plim_buffer_mutable_data(buffer)));
    REQUIRE(isBuffer || (!plim_buffer_is_dense(buffer) && !plim_buffer_is_read_only(buffer)));
    REQUIRE(isBuffer || plim_buffer_element_count(buffer) == 0);
    REQUIRE(!plim_buffer_is_read_only(buffer) || !plim_buffer_mutable_data(buffer));
  }

  // Calls.

  /// Could a call with it take long? Strides and extents of zero make many turns of little memory.
  static bool isLarge(const plim_buffer *buffer) {
    for (uint32_t i = 0; i < plim_buffer_rank(buffer); ++i)
      if (plim_buffer_shape(buffer)[i] > 4096)
        return true;
    return plim_buffer_element_count(buffer) > 65536;
  }

  /// A buffer for a call, mostly of its type.
  plim_buffer *bufferOf(const plim_value_type &type) {
    uint8_t choice = any<uint8_t>();
    if (choice < 16) {
      plim_buffer *buffer = pick<plim_buffer>();
      return isLarge(buffer) ? nullptr : buffer;
    }
    if (choice < 160)
      for (size_t i = 0; i < handles.size(); ++i) {
        auto *buffer = handles.get<plim_buffer>((choice + i) % handles.size());
        if (buffer && plim_buffer_element_type(buffer) == type.element &&
            plim_buffer_rank(buffer) == type.rank && !isLarge(buffer))
          return buffer;
      }
    std::vector<int64_t> extents(type.shape, type.shape + type.rank);
    for (int64_t &extent : extents)
      if (extent == PLIM_DYNAMIC)
        extent = upTo<int64_t>(4);
    if (choice < 208)
      return allocate(fixture->engine, type.element, extents);
    return wrap(type.element, extents,
                type.strides ? strides(extents.size()) : std::vector<int64_t>());
  }

  plim_value anyValue() {
    plim_value value = plim_value_bits(element(), any<uint64_t>());
    value.kind = upTo(3U);
    if (value.kind == PLIM_BUFFER)
      value.as.buffer = pick<plim_buffer>();
    return value;
  }

  /// Arguments for a call, mostly such as fit, in memory that is not larger.
  std::span<plim_value> argumentsFor(const plim_function *function) {
    size_t count = once(32) ? upTo<size_t>(12) : plim_function_argument_count(function);
    auto *values = reinterpret_cast<plim_value *>(temporary(count * sizeof(plim_value)));
    for (size_t i = 0; i < count; ++i) {
      auto type = sized<plim_value_type>();
      if (once(64) || !succeeds(plim_function_argument_type(function, i, &type)))
        values[i] = anyValue();
      else if (type.kind == PLIM_SCALAR)
        values[i] = plim_value_bits(type.element, any<bool>() ? any<uint8_t>() : any<uint64_t>());
      else
        values[i] = plim_value_buffer(bufferOf(type));
    }
    return {values, count};
  }

  plim_call_options *callOptions(const plim_function *function, std::span<plim_value> arguments) {
    plim_call_options options = {};
    options.flags = once(64);
    if (once(4)) {
      options.output_count = once(32) ? upTo<size_t>(12) : plim_function_result_count(function);
      auto **outputs =
          reinterpret_cast<plim_buffer **>(temporary(options.output_count * sizeof(plim_buffer *)));
      for (size_t i = 0; i < options.output_count; ++i) {
        auto type = sized<plim_value_type>();
        bool isBuffer = succeeds(plim_function_result_type(function, i, &type)) &&
                        type.kind != PLIM_SCALAR && !once(4);
        outputs[i] = isBuffer ? bufferOf(type) : once(8) ? pick<plim_buffer>() : nullptr;
      }
      options.outputs = once(64) ? nullptr : outputs;
    }
    if (once(4)) {
      auto needed = sized<plim_workspace>();
      size_t bytes = upTo<size_t>(512);
      if (any<bool>() &&
          succeeds(plim_function_workspace(function, arguments.data(), arguments.size(), &needed)))
        bytes = std::min<size_t>(needed.bytes, 1 << 16);
      size_t apart = once(8) ? upTo<size_t>(64) : 0;
      options.workspace =
          once(32) ? nullptr : static_cast<std::byte *>(lent(bytes + apart)) + apart;
      options.workspace_bytes = bytes;
    }
    if (once(4)) {
      waitForCalls(); // memories may be lent to one at a time
      lendPools(options);
    }
    if (once(4)) {
      isLent = true;
      options.state = pick<plim_state>();
    }
    if (once(8))
      options.stop = pick<plim_stop>();
    return passed(options);
  }

  /// Owns or gives back the results of a call.
  void takeResults(const plim_function *function, std::span<plim_value> results) {
    for (size_t i = 0; i < results.size(); ++i) {
      if (handles.isLive(function)) {
        auto type = sized<plim_value_type>();
        REQUIRE(succeeds(plim_function_result_type(function, i, &type)));
        bool isScalar = type.kind == PLIM_SCALAR;
        REQUIRE(results[i].kind == (isScalar ? PLIM_SCALAR : PLIM_BUFFER));
        REQUIRE(!isScalar || results[i].element == type.element);
        REQUIRE(isScalar || plim_buffer_element_type(results[i].as.buffer) == type.element);
        REQUIRE(isScalar || plim_buffer_is_dense(results[i].as.buffer));
      }
      if (results[i].kind == PLIM_BUFFER && any<bool>()) {
        handles.add(results[i].as.buffer);
      } else {
        plim_value_release(&results[i]);
        REQUIRE(results[i].kind == PLIM_NONE);
      }
    }
  }
  /// Memory for results, and whether it is as it was.
  std::span<plim_value> room(size_t count) {
    auto *values = reinterpret_cast<plim_value *>(temporary(count * sizeof(plim_value)));
    if (count != 0)
      std::memset(static_cast<void *>(values), 7, count * sizeof(plim_value));
    return {values, count};
  }
  static bool isUntouched(std::span<const plim_value> values) {
    std::span<const std::byte> bytes = std::as_bytes(values);
    return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte(7); });
  }

  void call() {
    plim_function *function = pick<plim_function>();
    std::span<plim_value> arguments = argumentsFor(function);
    plim_call_options *options = any<bool>() ? nullptr : callOptions(function, arguments);
    std::span<plim_value> results =
        room(once(8) ? upTo<size_t>(3) : plim_function_result_count(function));
    if (succeeds(plim_function_call(function, arguments.data(), arguments.size(), results.data(),
                                    results.size(), options)))
      takeResults(function, results);
    else
      REQUIRE(isUntouched(results));
  }

  void callAsync() {
    plim_function *function = pick<plim_function>();
    std::span<plim_value> arguments = argumentsFor(function);
    plim_async_options async = {};
    async.priority = once(32) ? any<int32_t>() : data.ConsumeIntegralInRange(-1, 1);
    if (any<bool>())
      async.call = callOptions(function, arguments);
    async.after_count = any<bool>() ? 0 : upTo<size_t>(3);
    auto **after =
        reinterpret_cast<plim_event **>(temporary(async.after_count * sizeof(plim_event *)));
    std::generate(after, after + async.after_count, [&] { return pick<plim_event>(); });
    async.after = once(64) ? nullptr : after;
    plim_async_options *options = any<bool>() ? nullptr : passed(async);
    plim_event *event = make<plim_event>([&](plim_event **out) {
      return plim_function_call_async(function, arguments.data(), arguments.size(), options, out);
    });
    // A call to which nothing is lent may go on when nobody has its event any more.
    if (!event || (!isLent && any<bool>()))
      return;
    plim_event_retain(event);
    calls.push_back(event);
  }

  void waitForCalls() {
    for (plim_event *event : calls) {
      succeeds(plim_event_wait(event));
      REQUIRE(plim_event_is_done(event));
      plim_event_release(event);
    }
    calls.clear();
  }

  void workspace() {
    plim_function *function = pick<plim_function>();
    std::span<plim_value> arguments = argumentsFor(function);
    plim_workspace *out = passed(plim_workspace());
    if (any<bool>())
      arguments = {};
    succeeds(plim_function_workspace(function, arguments.data(), arguments.size(), out));
    if (once(16))
      succeeds(plim_function_specialize(function, arguments.data(), arguments.size()));
  }

  void askFunction() {
    plim_function *function = pick<plim_function>();
    bool isFunction = handles.isLive(function);
    REQUIRE(isFunction == (plim_function_name(function) != nullptr));
    REQUIRE(isFunction == (plim_function_stack_bytes(function) != 0));
    REQUIRE(isFunction || plim_function_argument_count(function) == 0);
    REQUIRE(isFunction || !plim_function_raw_pointer(function));
    size_t index = once(8) ? any<size_t>() : upTo<size_t>(12);
    plim_value_type *type = passed(plim_value_type());
    if (succeeds(plim_function_argument_type(function, index, type)))
      REQUIRE(index < plim_function_argument_count(function));
    type = passed(plim_value_type());
    if (succeeds(plim_function_result_type(function, index, type)))
      REQUIRE(index < plim_function_result_count(function));
    if (isFunction && std::strcmp(plim_function_name(function), "sum") == 0) {
      auto sum =
          reinterpret_cast<int64_t (*)(int64_t, int64_t)>(plim_function_raw_pointer(function));
      REQUIRE(sum && sum(20, 3) == 23);
    }
  }

  void event() {
    plim_event *event = pick<plim_event>();
    bool isEvent = handles.isLive(event);
    switch (upTo(5)) {
    case 0:
      REQUIRE(isEvent || !plim_event_is_done(event));
      break;
    case 1:
      succeeds(plim_event_wait(event));
      REQUIRE(isEvent == plim_event_is_done(event));
      break;
    case 2: {
      bool isDone = false, *out = once(32) ? nullptr : &isDone;
      uint64_t nanoseconds = any<bool>() ? UINT64_MAX - upTo(1) : upTo(100000);
      bool isRight = succeeds(plim_event_wait_for(event, nanoseconds, out));
      REQUIRE(isRight == (isEvent && out));
      REQUIRE(!isDone || plim_event_is_done(event));
      break;
    }
    case 3: {
      std::span<plim_value> results = room(any<bool>() ? 1 : upTo<size_t>(12));
      if (succeeds(plim_event_results(event, results.data(), results.size())))
        takeResults(nullptr, results);
      else
        REQUIRE(isUntouched(results));
      break;
    }
    case 4:
      REQUIRE(succeeds(plim_event_cancel(event)) == isEvent);
      break;
    case 5:
      then(event);
      break;
    }
  }

  void then(plim_event *event) {
    auto *user = new User;
    plim_event_callback callback = any<bool>() ? [](void *user, plim_event *ended) {
      REQUIRE(++static_cast<User *>(user)->calls == 1);
      REQUIRE(plim_event_is_done(ended));
      plim_value result = {};
      if (succeeds(plim_event_results(ended, &result, 1)))
        plim_value_release(&result);
    } : [](void *user, plim_event *ended) {
      REQUIRE(++static_cast<User *>(user)->calls == 1);
      plim_value arguments[] = {plim_value_i64(1), plim_value_i64(2)};
      plim_async_options options = sized<plim_async_options>();
      options.after = &ended;
      options.after_count = 1;
      plim_event *next = nullptr;
      REQUIRE(succeeds(plim_function_call_async(fixture->sum, arguments, 2, &options, &next)));
      plim_event_release(next);
    };
    if (!succeeds(plim_event_then(event, once(32) ? nullptr : callback, user, &releaseUser)))
      delete user;
  }

  void state() {
    plim_state *state = pick<plim_state>();
    switch (upTo(2)) {
    case 0: {
      plim_module *module = pick<plim_module>();
      make<plim_state>([&](plim_state **out) { return plim_state_create(module, out); });
      break;
    }
    case 1: {
      const char *variable = any<bool>() ? "total" : name();
      plim_buffer *buffer = make<plim_buffer>(
          [&](plim_buffer **out) { return plim_state_variable(state, variable, out); });
      if (buffer)
        checkBuffer(buffer, PLIM_F32, {2});
      break;
    }
    case 2:
      waitForCalls();
      REQUIRE(succeeds(plim_state_reset(state)) == handles.isLive(state));
      break;
    }
  }

  // Sets and other objects.

  void parameters() {
    plim_parameters *parameters = pick<plim_parameters>();
    const char *key = name();
    const char *path = fixture->paths[upTo(fixture->paths.size() - 1)].c_str();
    switch (upTo(5)) {
    case 0:
      make<plim_parameters>([](plim_parameters **out) { return plim_parameters_create(out); });
      break;
    case 1: {
      plim_buffer *buffer = pick<plim_buffer>();
      if (succeeds(plim_parameters_set(parameters, key, buffer)))
        REQUIRE(handles.isLive(parameters) && key && handles.isLive(buffer));
      break;
    }
    case 2:
      make<plim_buffer>(
          [&](plim_buffer **out) { return plim_parameters_get(parameters, key, out); });
      break;
    case 3: {
      size_t count = plim_parameters_count(parameters);
      REQUIRE(count == 0 || handles.isLive(parameters));
      REQUIRE(!plim_parameters_name(parameters, count));
      for (size_t i = 0; i < count; ++i) {
        plim_buffer *buffer = nullptr;
        const char *each = plim_parameters_name(parameters, i);
        REQUIRE(succeeds(plim_parameters_get(parameters, each, &buffer)));
        plim_buffer_release(buffer);
      }
      break;
    }
    case 4:
      succeeds(plim_parameters_load_npy(parameters, key, path));
      break;
    case 5:
      succeeds(plim_parameters_load_safetensors(parameters, path));
      break;
    }
  }

  /// For one call or load, in `options`: memories that the module has or not, which may be none.
  template <typename OptionsT> void lendPools(OptionsT &options) {
    isLent = true;
    options.pool_count = upTo<size_t>(2);
    auto *pools = reinterpret_cast<plim_pool *>(temporary(2 * sizeof(plim_pool)));
    for (size_t i = 0; i < 2; ++i) {
      size_t bytes = any<bool>() ? 256 : upTo<size_t>(512), apart = once(8) ? upTo<size_t>(64) : 0;
      void *memory = once(32) ? nullptr : static_cast<std::byte *>(lent(bytes + apart)) + apart;
      pools[i] = {once(8) ? name() : "sram", memory, once(32) ? SIZE_MAX : bytes};
    }
    options.pools = once(32) ? nullptr : pools;
  }

  plim_limits limits() {
    plim_limits limits = {};
    limits.struct_size = once(16) ? any<uint32_t>() : sizeof limits;
    limits.external_workspace_only = upTo(3U);
    const auto number = [&] { return once(4) ? any<int64_t>() : upTo<int64_t>(1 << 20) - 1; };
    limits.max_stack_alloca_bytes = number();
    limits.stack_budget_bytes = number();
    limits.workspace_alignment = int64_t(1) << upTo(31);
    limits.max_rank = number();
    return limits;
  }

  void stop() {
    plim_stop *stop = pick<plim_stop>();
    switch (upTo(2)) {
    case 0:
      make<plim_stop>([](plim_stop **out) { return plim_stop_create(out); });
      break;
    case 1:
      REQUIRE(succeeds(plim_stop_request(stop)) == handles.isLive(stop));
      REQUIRE(plim_stop_is_requested(stop) == handles.isLive(stop));
      break;
    case 2:
      REQUIRE(!plim_stop_is_requested(stop) || handles.isLive(stop));
      break;
    }
  }

  void hostFunctions() {
    if (any<bool>()) {
      make<plim_host_functions>(
          [](plim_host_functions **out) { return plim_host_functions_create(out); });
      return;
    }
    plim_host_functions *functions = pick<plim_host_functions>();
    const char *key = name();
    std::string signature =
        any<bool>() ? "(i32, tensor<?xf32>) -> tensor<?xf32>" : data.ConsumeRandomLengthString(40);
    auto *user = new User;
    plim_host_function_options options = {};
    options.kind = once(32) ? any<uint32_t>() : upTo(2U);
    options.function = once(32) ? nullptr : &fuzz::host;
    options.user = user;
    options.release_user = &releaseUser;
    options.signature = any<bool>() ? nullptr : signature.c_str();
    if (!succeeds(plim_host_functions_add(functions, key, passed(options))))
      delete user;
  }

  void device() {
    auto *user = new User;
    plim_allocator memory = {};
    memory.allocate = once(32) ? nullptr : &fuzz::allocate;
    memory.release = once(32) ? nullptr : &giveBack;
    plim_device_options options = {};
    options.flags = once(32);
    options.name = name();
    options.version = name();
    if (any<bool>())
      options.compile = [](plim_device_job *, void *, const char *, const char *, size_t) {
        return plim_code(PLIM_UNIMPLEMENTED);
      };
    if (!once(32))
      options.load = [](plim_device_job *, void *, const char *, const void *, size_t,
                        plim_host_function_options *) { return plim_code(PLIM_UNIMPLEMENTED); };
    options.user = user;
    options.release_user = &releaseUser;
    options.memory = any<bool>() ? nullptr : passed(memory);
    plim_device_options *given = passed(options);
    if (!make<plim_device>([&](plim_device **out) { return plim_device_create(given, out); }))
      delete user;
  }

  void target() {
    plim_target *target = pick<plim_target>();
    plim_engine *engine = pick<plim_engine>();
    // What reads all targets takes long.
    switch (once(8) ? upTo(2) : 3 + upTo(1)) {
    case 0: {
      std::string assignment = data.ConsumeRandomLengthString(60);
      const char *const overrides[] = {"vector_bits=256",
                                       any<bool>() ? assignment.c_str() : nullptr};
      make<plim_target>([&](plim_target **out) {
        return plim_target_create("x86-64-v3", once(32) ? nullptr : overrides, upTo<size_t>(2),
                                  out);
      });
      break;
    }
    case 1: {
      std::string json = data.ConsumeRandomLengthString(60);
      make<plim_target>([&](plim_target **out) {
        return plim_target_create_from_json(json.data(), json.size(), out);
      });
      break;
    }
    case 2:
      make<plim_report>([](plim_report **out) { return plim_target_list(out); });
      break;
    case 3:
      make<plim_report>([&](plim_report **out) { return plim_target_describe(target, out); });
      break;
    case 4:
      make<plim_target>([&](plim_target **out) { return plim_engine_target(engine, out); });
      break;
    }
  }

  void engine() {
    plim_engine *engine = pick<plim_engine>();
    switch (upTo(4)) {
    case 0:
      REQUIRE((plim_engine_threads(engine) != 0) == handles.isLive(engine));
      break;
    case 1:
      succeeds(plim_engine_memory_statistics(engine, passed(plim_memory_statistics())));
      break;
    case 2:
      REQUIRE(succeeds(plim_engine_trim(engine)) == handles.isLive(engine));
      break;
    case 3:
      make<plim_report>([&](plim_report **out) { return plim_engine_statistics(engine, out); });
      break;
    case 4:
      make<plim_report>([&](plim_report **out) { return plim_engine_trace(engine, out); });
      break;
    }
  }

  void createEngine() {
    plim_engine_options options = {};
    // Sanitizers do not go together with what oneTBB loads to look for nodes and kinds of cores.
    options.flags = once(8) ? any<uint32_t>() & ~(PLIM_ENGINE_PERF_MAP | PLIM_ENGINE_NUMA_NODE) : 0;
    options.target = any<bool>() ? nullptr : pick<plim_target>();
    options.threads = 1 + upTo(1U);
    options.numerics = upTo(4U);
    options.policy = any<bool>() ? nullptr : name();
    const plim_limits limits = this->limits();
    options.limits = any<bool>() ? nullptr : &limits;
    options.host_functions = any<bool>() ? nullptr : pick<plim_host_functions>();
    options.cores = once(16) ? 3 : 0;
    options.specialization = upTo(4U);
    plim_device *const devices[] = {pick<plim_device>(), pick<plim_device>()};
    options.devices = devices;
    options.device_count = upTo<size_t>(2);
    if (engines++ == 0 && once(32)) {
      plim_engine_options *given = passed(options);
      make<plim_engine>([&](plim_engine **out) { return plim_engine_create(given, out); });
    }
  }

  void module() {
    plim_module *module = pick<plim_module>();
    switch (upTo(4)) {
    case 0: {
      size_t count = plim_module_function_count(module);
      REQUIRE((count != 0) == handles.isLive(module));
      size_t index = any<bool>() ? any<size_t>() : upTo<size_t>(20);
      REQUIRE((plim_module_function_name(module, index) != nullptr) == (index < count));
      break;
    }
    case 1: {
      const char *function = name();
      make<plim_function>(
          [&](plim_function **out) { return plim_module_function(module, function, out); });
      break;
    }
    case 2:
      if (once(4))
        make<plim_report>([&](plim_report **out) { return plim_module_explain(module, out); });
      break;
    case 3:
      succeeds(plim_module_statistics(module, passed(plim_load_statistics())));
      break;
    case 4:
      succeeds(
          plim_module_specialization_statistics(module, passed(plim_specialization_statistics())));
      break;
    }
  }

  /// The compiled module, whole or damaged.
  void loadArtifact() {
    plim_engine *engine = pick<plim_engine>();
    const auto *content = static_cast<const char *>(plim_bytes_data(fixture->artifact));
    std::vector<char> artifact(content, content + plim_bytes_size(fixture->artifact));
    bool isDamaged = !once(64) || loads++ != 0;
    if (isDamaged) {
      artifact.resize(artifact.size() - (any<bool>() ? upTo(artifact.size() - 9) : 0));
      artifact[upTo(artifact.size() - 1 - 8) + 8] ^= static_cast<char>(1 << upTo(7));
    }
    plim_load_options options = {};
    options.flags = once(32) ? any<uint32_t>() : 0;
    options.parameters = any<bool>() ? nullptr : pick<plim_parameters>();
    options.host_functions = any<bool>() ? nullptr : pick<plim_host_functions>();
    if (any<bool>())
      lendPools(options);
    options.stop = any<bool>() ? nullptr : pick<plim_stop>();
    options.numerics = once(32) ? any<uint32_t>() : 0;
    options.specialization = once(32) ? any<uint32_t>() : 0;
    options.device = once(32) ? name() : nullptr;
    plim_load_options *given = passed(options);
    const char *called = name();
    plim_module *module = make<plim_module>([&](plim_module **out) {
      return plim_module_load(engine, artifact.data(), artifact.size(), called, given, out);
    });
    REQUIRE(!module || !isDamaged);
  }

  void loadFile() {
    plim_engine *engine = pick<plim_engine>();
    size_t path = loads++ == 0 && once(64) ? 2 : 3 + upTo<size_t>(2);
    plim_load_options *given = passed(plim_load_options());
    make<plim_module>([&](plim_module **out) {
      return plim_module_load_file(engine, fixture->paths[path].c_str(), given, out);
    });
  }

  void report() {
    plim_report *report = pick<plim_report>();
    const char *text = plim_report_text(report);
    REQUIRE((text != nullptr) == handles.isLive(report));
    REQUIRE(plim_report_size(report) == 0 || text[plim_report_size(report)] == '\0');
  }

  void bytes() {
    plim_bytes *bytes = pick<plim_bytes>();
    const auto *data = static_cast<const char *>(plim_bytes_data(bytes));
    REQUIRE((data != nullptr) == handles.isLive(bytes));
    REQUIRE(!data || data[plim_bytes_size(bytes)] == '\0');
    REQUIRE(data || plim_bytes_size(bytes) == 0);
  }

  void constants() {
    plim_element_type type = element();
    const char *called = plim_element_type_name(type);
    REQUIRE((called != nullptr) == (plim_element_type_bytes(type) != 0));
    REQUIRE(!called || plim_element_type_from_name(called) == type);
    const char *other = name();
    plim_element_type found = plim_element_type_from_name(other);
    REQUIRE(found == 0 || std::strcmp(plim_element_type_name(found), other) == 0);
    REQUIRE(plim_code_name(any<plim_code>()));
    REQUIRE(succeeds(plim_version_check(plim_version())));
    succeeds(plim_version_check(any<uint32_t>()));
    REQUIRE(std::strlen(plim_version_string()) >= 5);
  }

  // Owners.

  void retain() {
    if (handles.size() > 0)
      handles.retain(upTo(handles.size() - 1));
  }

  void release() {
    static constexpr const Kind *kinds[] = {
        kindOf<plim_engine>, kindOf<plim_function>, kindOf<plim_buffer>, kindOf<plim_event>,
        kindOf<plim_report>, kindOf<plim_bytes>,    kindOf<plim_stop>};
    const Kind *kind = kinds[upTo(std::size(kinds) - 1)];
    kind->retain(nullptr);
    kind->release(nullptr);
    if (handles.size() == 0)
      return;
    size_t index = upTo(handles.size() - 1);
    if (once(4))
      handles.mistake(index, kind);
    else
      handles.release(index);
  }

  FuzzedDataProvider &data;
  Handles handles;
  std::vector<plim_event *> calls; // that must end before what they were lent goes
  bool isLent = false;
  std::vector<std::unique_ptr<void, void (*)(void *)>> lentMemory;
  std::vector<std::unique_ptr<std::byte[]>> temporaries;
  int engines = 0, loads = 0; // which take long
};

/// Blocks until calls that nobody has an event of have ended and all is given back.
void checkNothingIsLeft() {
  auto end = std::chrono::steady_clock::now() + std::chrono::seconds(3);
  while (memories != 0 || users != 0 || liveBytes() != fixture->liveBytes) {
    if (std::chrono::steady_clock::now() > end) {
      std::fprintf(stderr, "left: %d memories and %d users of the host's, %llu bytes\n",
                   memories.load(), users.load(),
                   static_cast<unsigned long long>(liveBytes() - fixture->liveBytes));
      std::abort();
    }
    std::this_thread::yield();
  }
}

} // namespace

// The entry point has the name and signature that libFuzzer looks for.
// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  static const auto *host = new Fixture;
  FuzzedDataProvider data(bytes, size);
  {
    Session session(data);
    while (data.remaining_bytes() > 0)
      session.step();
  }
  checkNothingIsLeft();
  static unsigned inputs = 0;
  if (++inputs % 64 == 0) {
    checkSaxpy();
    REQUIRE(succeeds(plim_engine_trim(host->engine)));
    REQUIRE(allocated == host->allocatedBytes);
  }
  return 0;
}
