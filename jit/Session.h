// Session: one ORC execution session of an engine; link() turns artifacts into running code.
//
// Code is linked with JITLink, one JITDylib per linked module; destroying a LinkedModule unmaps its
// code and data. Generated code sees the symbols it is given and the vector math functions of an
// explicit list, nothing else of the process.
//
// Threads: link() and the destruction of modules may run on any threads at once.
#pragma once

#include "engine/abi/plim_abi.h"
#include "jit/Artifact.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace plim::jit {

/// A name that generated code may call, and where it is.
struct HostSymbol {
  const char *name;
  void *address;
};

struct SessionOptions {
  /// Registers code with a debugger that listens (GDB's JIT interface). Costs time per module.
  bool debugger = false;
  /// Appends the symbols of linked code to /tmp/perf-PID.map, where perf looks for them.
  bool perfMap = false;
};

/// The memory that a parameter, or a constant in a pool, is bound to; it must outlive the module.
using DataBinding = std::pair<std::string, const void *>;

/// What a function of the host application is bound to; it must outlive the module.
using ExternalBinding = std::pair<std::string, const plim_external *>;

/// Code and constants of one artifact in memory; variables are the engine's. Immutable; constants
/// lie in pages that cannot be written; what only arrangements read is not kept. Blocks of the
/// artifact (DataBlock.h) are used where they lie, or where another module of the session has the
/// same bytes.
class LinkedModule {
public:
  ~LinkedModule();
  LinkedModule(const LinkedModule &) = delete;
  LinkedModule &operator=(const LinkedModule &) = delete;

  /// The entry of a public function; null if there is none of that name.
  plim_function_entry entry(std::string_view function) const;
  /// The raw pointer of a kernel; null if there is none.
  void *raw(std::string_view function) const;
  /// Where a small constant with these contents lies; null if there is none.
  const void *find(std::string_view contents) const;
  /// Where data of kind Prepared lies, writable until protectPrepared(); null if there is none of
  /// that name, or if it was bound.
  void *prepared(std::string_view name) const;
  /// To be called once it has been written. False if the system refuses.
  bool protectPrepared();
  /// What neither code nor anybody else writes, once protectPrepared() was called, as long as the
  /// module and what it is bound to live: small constants together, each other constant and dense
  /// parameter.
  std::span<const std::span<const std::byte>> constants() const;
  /// Bytes of large constants that were in memory already, for other modules of the session.
  int64_t sharedConstantBytes() const;

private:
  friend class Session;
  struct State;
  explicit LinkedModule(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

class Session {
public:
  /// `symbols` are copied. Unavailable if this process may not map executable memory.
  static StatusOr<std::shared_ptr<Session>> create(std::span<const HostSymbol> symbols,
                                                   SessionOptions options = {});
  ~Session();
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;

  /// Links all of `artifact`. Every parameter that it names, every constant with a pool and every
  /// function of the host application must be bound; other data may be. Memory must have the size
  /// and alignment of its type, which the caller has checked. The module keeps the session alive.
  /// Modules are linked one at a time; others wait.
  ///
  /// FailedPrecondition for what is not bound, Internal when the objects do not link,
  /// ResourceExhausted without memory. If it was LLVM that had no memory, every later link() fails
  /// as well (isBroken()); modules that are linked keep working.
  StatusOr<std::unique_ptr<LinkedModule>> link(const Artifact &artifact,
                                               std::span<const DataBinding> bindings,
                                               std::span<const ExternalBinding> externals = {});

  /// LLVM ran out of memory: link() links nothing any more.
  bool isBroken() const;

private:
  friend class LinkedModule;
  Session();
  struct Impl;
  std::unique_ptr<Impl> impl;
  std::weak_ptr<Session> self;
};

} // namespace plim::jit
