// Events: the ends of calls that run by themselves (event.h), and the C++ types of results.
//
//   plimsoll::Result<plimsoll::TypedEvent<plimsoll::Buffer>> event =
//       function->callAsync<plimsoll::Buffer>(2.0F, x);
//   plimsoll::Result<plimsoll::Buffer> sum = event->result();
//
// An event that is dropped stops nothing: its call runs to its end.
#pragma once

#include "plimsoll/event.h"
#include "plimsoll/value.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace plimsoll {

/// What a scalar can be in C++: a number or an Index.
template <typename T>
concept ScalarType =
    (std::is_arithmetic_v<T> && sizeof(T) <= 8 && !std::is_const_v<T>) || std::is_same_v<T, Index>;
/// What a result can be in C++: a scalar or a Buffer.
template <typename T>
concept ResultType = ScalarType<T> || std::is_same_v<T, Buffer>;

namespace detail {

/// The element type of a scalar.
template <ScalarType T> constexpr plim_element_type scalarElementOf() {
  if constexpr (std::is_same_v<T, Index>)
    return PLIM_INDEX;
  else
    return elementTypeOf<T>();
}

/// How a C++ type is made of the results of a call.
template <typename T> struct Results {
  static_assert(ResultType<T>,
                "a result is a number, an Index, a Buffer, void, or a tuple of them");
  static constexpr size_t count = 1;
  static bool fit(const plim_value_type *type) {
    if constexpr (std::is_same_v<T, Buffer>)
      return type->kind != PLIM_SCALAR;
    else
      return type->kind == PLIM_SCALAR && type->element == scalarElementOf<T>();
  }
  /// Of values that fit.
  static T take(Value *value) {
    if constexpr (std::is_same_v<T, Buffer>)
      return value->takeBuffer();
    else
      return *value->template scalar<T>();
  }
};
template <> struct Results<void> {
  static constexpr size_t count = 0;
};
template <typename... Ts> struct Results<std::tuple<Ts...>> {
  static constexpr size_t count = sizeof...(Ts);
  static bool fit(const plim_value_type *types) {
    return fitEach(types, std::index_sequence_for<Ts...>());
  }
  static std::tuple<Ts...> take(Value *values) {
    return takeEach(values, std::index_sequence_for<Ts...>());
  }

private:
  template <size_t... Is>
  static bool fitEach(const plim_value_type *types, std::index_sequence<Is...>) {
    return (Results<Ts>::fit(types + Is) && ...);
  }
  template <size_t... Is>
  static std::tuple<Ts...> takeEach(Value *values, std::index_sequence<Is...>) {
    return {Results<Ts>::take(values + Is)...};
  }
};

/// A Status for void, otherwise a Result.
template <typename T> struct Outcome {
  using Type = Result<T>;
};
template <> struct Outcome<void> {
  using Type = Status;
};

/// What `fill` writes, as results that fit.
template <typename ResultT, typename FillT> typename Outcome<ResultT>::Type resultsOf(FillT fill) {
  constexpr size_t count = Results<ResultT>::count;
  std::array<plim_value, count> results{};
  Status status = fill(std::span<plim_value>(results));
  if constexpr (std::is_void_v<ResultT>) {
    return status;
  } else {
    if (!status.ok())
      return status;
    std::array<Value, count> owned;
    for (size_t i = 0; i < count; ++i)
      owned[i] = Value(results[i]);
    return Results<ResultT>::take(owned.data());
  }
}

} // namespace detail

/// What a call of this result gives: a Status for void, a Result for all else.
template <typename ResultT> using Outcome = typename detail::Outcome<ResultT>::Type;
/// A plim_event. Any thread; copies of the handle are the same event.
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
  /// The results of a call that has ended well, of a function with `count` results. The caller owns
  /// them; each call of this gives owners of the same buffers.
  Result<std::vector<Value>> results(size_t count) const {
    std::vector<plim_value> values(count);
    if (Status status(plim_event_results(get(), values.data(), count)); !status.ok())
      return status;
    return std::vector<Value>(values.begin(), values.end());
  }
  Status cancel() { return Status(plim_event_cancel(get())); }
  /// Calls `callback` once, when the call has ended, and destroys it. It must not throw. On failure
  /// it is destroyed without being called.
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

/// The end of a call whose results are known: what Function::callAsync() gives.
template <typename ResultT> class TypedEvent : public Event {
public:
  TypedEvent() = default;
  /// `event` is of a call of a function with these results.
  explicit TypedEvent(Event event) : Event(std::move(event)) {}

  /// Waits for the end. The results, or why there are none. May be asked for more than once.
  Outcome<ResultT> result() const {
    if (Status status = wait(); !status.ok())
      return status;
    return detail::resultsOf<ResultT>([this](std::span<plim_value> results) {
      return results.empty() ? Status()
                             : Status(plim_event_results(get(), results.data(), results.size()));
    });
  }
};

} // namespace plimsoll
