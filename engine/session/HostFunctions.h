// HostFunctions: functions of the host application that modules declare and call.
//
//   EngineOptions options;
//   options.functions["log_row"] = {.function = &logRow, .user = &log};
//
// A module declares one as `func.func private @log_row(f32, memref<?x4xf32>) -> i32` and calls it by
// that symbol; docs/design/external-functions.md says what the types are and what the callee may do.
#pragma once

#include "engine/abi/plim_abi.h"

#include <map>
#include <memory>
#include <string>

namespace plim {

enum class HostFunctionKind {
  ThreadSafe, // several calls may run it at once
  Serial,     // the engine runs it once at a time, for the same `function` and `user`
  Pure,       // thread-safe, and does nothing but compute its results
};

/// `function` and what `user` points at must outlive every module that is bound to them; `owner` can see to
/// that.
struct HostFunction {
  plim_host_function function = nullptr;
  void *user = nullptr;
  HostFunctionKind kind = HostFunctionKind::ThreadSafe;
  /// What it expects, as a report shows it: "(f32, memref<?x4xf32> readonly) -> i32". A declaration
  /// that says otherwise is then not bound to it. Spaces do not count. Empty: it is not compared.
  std::string signature = {};
  /// Kept as long as a module may call it. May be null.
  std::shared_ptr<const void> owner = nullptr;
};

/// By the name that modules declare.
using HostFunctions = std::map<std::string, HostFunction, std::less<>>;

} // namespace plim
