// Functions: public functions of modules, and how they are called (function.h).
#pragma once

#include "plimsoll/event.hpp"
#include "plimsoll/function.h"
#include "plimsoll/lent.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace plimsoll {

/// plim_call_options. All is borrowed for the call; for one that runs by itself, see AsyncOptions.
/// Calls that run at once must not share any of it but `stop`.
struct CallOptions {
  std::span<const Buffer> outputs = {};
  std::span<std::byte> workspace = {};
  std::span<const Pool> pools = {};
  const State *state = nullptr;
  const Stop *stop = nullptr;
};

/// plim_async_options. Buffers, states, stops and events in it are retained; workspace and the
/// memory of pools must stay until the call has ended; spans and structs need not.
struct AsyncOptions {
  CallOptions call = {};
  plim_priority priority = PLIM_PRIORITY_NORMAL;
  std::span<const Event> after = {};
};

template <typename SignatureT> class TypedFunction;

namespace detail {

/// "f32", "?x4xf32".
inline std::string typeText(const plim_value_type &type) {
  std::string text;
  for (uint32_t i = 0; i < type.rank; ++i)
    text += (type.shape[i] == PLIM_DYNAMIC ? "?" : std::to_string(type.shape[i])) + "x";
  return text + plim_element_type_name(type.element);
}

/// Does the memory of an argument stay when the expression that it stands in is over?
template <typename T>
constexpr bool stays =
    std::is_lvalue_reference_v<T> || !std::ranges::range<T> || std::ranges::borrowed_range<T>;

/// Which arguments of a signature a C++ type can be.
template <typename T> struct Parameter {
  static_assert(ResultType<T>,
                "an argument is a number, an Index, a Buffer, or a std::span of numbers");
  static bool fits(const plim_value_type &type) { return Results<T>::fit(&type); }
};
template <typename T, size_t ExtentV> struct Parameter<std::span<T, ExtentV>> {
  static bool fits(const plim_value_type &type) {
    return type.kind != PLIM_SCALAR && type.rank == 1 && type.element == elementTypeOf<T>() &&
           (!std::is_const_v<T> || type.access == PLIM_READ_ONLY);
  }
};

} // namespace detail

/// A plim_function. It keeps its module and engine. Any thread; calls run concurrently.
///
/// There are three ways to call it. call() and callAsync() with the types of the results compare
/// these with the function each time. TypedFunction compares once, arguments too. callWith() and
/// callAsync() with a span of Arguments are for types that are known at run time alone.
class Function : public detail::Handle<plim_function, plim_function_retain, plim_function_release> {
public:
  using Handle::Handle;
  /// The name in the source; lives as long as the function.

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
  /// plim_function_raw_pointer(): a pointer to a C function, whose type the caller must know;
  /// nothing checks it. Null for functions that have none. Valid as long as the function.
  template <typename FunctionT> FunctionT *rawPointer() const {
    return reinterpret_cast<FunctionT *>(plim_function_raw_pointer(get()));
  }

  /// plim_function_call(), with as many results as the function has. Blocks until the call is over.
  Result<std::vector<Value>> callWith(std::span<const Argument> arguments,
                                      const CallOptions &options = {}) const {
    std::vector<plim_value> values = valuesOf(arguments), results(resultCount());
    if (Status status = callRaw(values, results, options); !status.ok())
      return status;
    return std::vector<Value>(results.begin(), results.end());
  }

  /// plim_function_call_async(). Memory of ranges among the arguments must stay until the call has
  /// ended: an Argument that wraps one may go, its range may not.
  Result<Event> callAsync(std::span<const Argument> arguments,
                          const AsyncOptions &options = {}) const {
    return startRaw(valuesOf(arguments), options);
  }

  /// A call whose results are known: `call<float>(x, y)`, `call<Buffer>(2.0F, x)`, `call<void>(x,
  /// out)`, `call<std::tuple<Buffer, Index>>(x)`. InvalidArgument if the function has others:
  /// nothing has run then. `call<void>` drops whatever there is. A type that no result can be does
  /// not compile.
  template <typename ResultT, typename... Args> Outcome<ResultT> call(Args &&...args) const {
    return callTyped<ResultT>(CallOptions(), std::forward<Args>(args)...);
  }

  /// The same into buffers, one for each result (plim_call_options::outputs). Results come back in
  /// no other way.
  template <typename... Args>
  Status callInto(std::span<const Buffer> outputs, Args &&...args) const {
    CallOptions options;
    options.outputs = outputs;
    return callTyped<void>(options, std::forward<Args>(args)...);
  }

  /// The same with what the call is lent.
  template <typename ResultT, typename... Args>
  Outcome<ResultT> callTyped(const CallOptions &options, Args &&...args) const {
    if (Status status = checkResults<ResultT>(); !status.ok())
      return status;
    return callUnchecked<ResultT>(options, std::forward<Args>(args)...);
  }

  /// The same without waiting for it: `callAsync<Buffer>(2.0F, x)`. Memory of the arguments must
  /// stay until the call has ended: a range that would be gone before does not compile.
  template <typename ResultT, typename... Args>
  Result<TypedEvent<ResultT>> callAsync(Args &&...args) const {
    return callAsyncTyped<ResultT>(AsyncOptions(), std::forward<Args>(args)...);
  }
  template <typename ResultT, typename... Args>
  Result<TypedEvent<ResultT>> callAsyncTyped(const AsyncOptions &options, Args &&...args) const {
    if (Status status = checkResults<ResultT>(); !status.ok())
      return status;
    return callAsyncUnchecked<ResultT>(options, std::forward<Args>(args)...);
  }

  /// With its signature: `typed<Buffer(float, std::span<const float>)>()`. InvalidArgument, with
  /// what is there and what was asked for, if it has another.
  template <typename SignatureT> Result<TypedFunction<SignatureT>> typed() const {
    if (Status status = TypedFunction<SignatureT>::check(*this); !status.ok())
      return status;
    return TypedFunction<SignatureT>(*this);
  }

private:
  template <typename SignatureT> friend class TypedFunction;

  template <typename ResultT> Status checkResults() const {
    if constexpr (std::is_void_v<ResultT>) {
      return Status(); // who wants none gets none
    } else {
      constexpr size_t count = detail::Results<ResultT>::count;
      if (Status status = checkCount(resultCount(), count, "results"); !status.ok())
        return status;
      std::array<plim_value_type, count> types;
      for (size_t i = 0; i < count; ++i) {
        Result<plim_value_type> type = resultType(i);
        if (!type)
          return type.status();
        types[i] = *type;
      }
      if (detail::Results<ResultT>::fit(types.data()))
        return Status();
      std::string have;
      for (const plim_value_type &type : types)
        have += (have.empty() ? "" : ", ") + detail::typeText(type);
      return Status(PLIM_INVALID_ARGUMENT,
                    "the results of '" + std::string(name()) +
                        "' have other types than they were asked for as: " + have);
    }
  }
  Status checkCount(size_t have, size_t asked, const char *what) const {
    if (have == asked || !*this) // the call says what is wrong with none
      return Status();
    return Status(PLIM_INVALID_ARGUMENT, "'" + std::string(name()) + "' has " +
                                             std::to_string(have) + " " + what + ", asked for as " +
                                             std::to_string(asked));
  }

  template <typename ResultT, typename... Args>
  Outcome<ResultT> callUnchecked(const CallOptions &options, Args &&...args) const {
    // Arguments that wrap a range keep it wrapped until the call is over.
    const std::array<Argument, sizeof...(Args)> kept{Argument(std::forward<Args>(args))...};
    const auto values = valuesOf(kept);
    return detail::resultsOf<ResultT>(
        [&](std::span<plim_value> results) { return callRaw(values, results, options); });
  }

  template <typename ResultT, typename... Args>
  Result<TypedEvent<ResultT>> callAsyncUnchecked(const AsyncOptions &options,
                                                 Args &&...args) const {
    static_assert((detail::stays<Args> && ...),
                  "the memory of a range must stay until the call has ended");
    const std::array<Argument, sizeof...(Args)> kept{Argument(std::forward<Args>(args))...};
    Result<Event> event = startRaw(valuesOf(kept), options);
    if (!event)
      return event.status();
    return TypedEvent<ResultT>(*std::move(event));
  }

  template <size_t CountV>
  static std::array<plim_value, CountV> valuesOf(const std::array<Argument, CountV> &arguments) {
    std::array<plim_value, CountV> values{};
    for (size_t i = 0; i < CountV; ++i)
      values[i] = arguments[i].get();
    return values;
  }
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

  Result<Event> startRaw(std::span<const plim_value> values, const AsyncOptions &options) const {
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

/// A function whose signature was compared with that of C++ when it was looked up: `Buffer(float,
/// std::span<const float>)`. Numbers and Index are scalars of that very type, a Buffer is any
/// tensor or memref, a std::span one of rank 1 with such elements, which are const only where the
/// function does not write. Arguments of other types do not compile.
template <typename ResultT, typename... Args> class TypedFunction<ResultT(Args...)> {
public:
  TypedFunction() = default;

  /// Calls it, as Function::call() does.
  Outcome<ResultT> operator()(const Args &...args) const { return call(CallOptions(), args...); }
  Outcome<ResultT> call(const CallOptions &options, const Args &...args) const {
    return untyped.template callUnchecked<ResultT>(options, args...);
  }
  /// As Function::callAsync() does: memory of spans and buffers must stay until the call has ended.
  Result<TypedEvent<ResultT>> callAsync(const Args &...args) const {
    return callAsync(AsyncOptions(), args...);
  }
  Result<TypedEvent<ResultT>> callAsync(const AsyncOptions &options, const Args &...args) const {
    return untyped.template callAsyncUnchecked<ResultT>(options, args...);
  }

  const Function &function() const { return untyped; }

private:
  friend class Function;
  explicit TypedFunction(Function function) : untyped(std::move(function)) {}

  static Status check(const Function &function) {
    if (!function)
      return Status(PLIM_INVALID_ARGUMENT, "function is null");
    if constexpr (std::is_void_v<ResultT>) {
      if (Status status = function.checkCount(function.resultCount(), 0, "results"); !status.ok())
        return status;
    }
    if (Status status = function.checkResults<ResultT>(); !status.ok())
      return status;
    if (Status status = function.checkCount(function.argumentCount(), sizeof...(Args), "arguments");
        !status.ok())
      return status;
    return checkArguments(function, std::index_sequence_for<Args...>());
  }
  template <size_t... Is>
  static Status checkArguments(const Function &function, std::index_sequence<Is...>) {
    Status status;
    static_cast<void>(((status = checkArgument<Args>(function, Is)).ok() && ...));
    return status;
  }
  template <typename T> static Status checkArgument(const Function &function, size_t index) {
    Result<plim_value_type> type = function.argumentType(index);
    if (!type || detail::Parameter<T>::fits(*type))
      return type.status();
    return Status(PLIM_INVALID_ARGUMENT,
                  "argument #" + std::to_string(index) +
                      (type->name ? " (%" + std::string(type->name) + ")" : "") + " of '" +
                      std::string(function.name()) + "' is " + detail::typeText(*type) +
                      (type->access == PLIM_READ_ONLY ? "" : ", which is written") +
                      ", and was asked for as another type");
  }

  Function untyped;
};

} // namespace plimsoll
