// StackUse: how much stack generated code needs, read back from its objects.
//
// The code generator writes the frame size of each function into the object (.stack_sizes), and
// each call leaves a relocation, calls that only the code generator made (memset, fmod) included:
// an object alone is the whole truth. readFrames() takes it out of one object; StackUse adds it up
// over all objects of an artifact. docs/design/stack-safety.md says what is counted and why.
//
// ELF of any CPU. Stateless but for StackUse's table; an instance belongs to one thread.
#pragma once

#include "support/Status.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llvm {
class Module;
}

namespace plim::jit {

/// Bytes that a function outside of the objects may use, with all that it calls. Found by painting
/// stacks (tests/unit/session/StackAllowancesTest.cpp does it again), then doubled and rounded up.
struct StackAllowances {
  /// plim_rt_*, at a first call that takes memory from the system or formats a message. For
  /// plim_rt_call PLIM_HOST_STACK comes on top.
  static constexpr int64_t runtime = 8 << 10;
  /// plim_rt_dispatch above the entry that it runs: oneTBB, and the start of its workers.
  static constexpr int64_t dispatch = 24 << 10;
  /// Functions that copy and fill memory, and the compiler's own (those with __ in front).
  static constexpr int64_t support = 512;
  /// Scalar math functions.
  static constexpr int64_t math = 1 << 10;
  /// Vector math functions, and any function that none of the above says.
  static constexpr int64_t library = 4 << 10;
};

/// One function of an object.
struct FunctionFrame {
  std::string name;
  /// Bound of its frame: return address, red zone, alignment and pushed arguments included.
  int64_t bytes = 0;
  /// What it may call: functions of its object, of others, of the runtime and of the C library.
  std::vector<std::string> calls;
  /// What plim_rt_dispatch may call for it.
  std::vector<std::string> dispatches;
};

/// The functions of `object`, which was generated from `module`. Internal, naming the function, if
/// one has a frame without a bound.
StatusOr<std::vector<FunctionFrame>> readFrames(std::string_view object,
                                                const llvm::Module &module);

/// Bytes that a call of a function needs of the stack it runs on.
struct StackNeed {
  /// Generated code alone.
  int64_t frames = 0;
  /// Generated code and the library functions that it calls: what the budget of a device is for.
  int64_t code = 0;
  /// The runtime's frames as well.
  int64_t total = 0;
  /// The deepest dispatch that it issues, as it runs on a worker. 0: it issues none.
  int64_t worker = 0;
  /// It may come back to itself, or call what does: the others are for one turn.
  bool recursive = false;
};

/// The call graph over all objects of an artifact.
class StackUse {
public:
  /// The functions of each object, as readFrames() gives them.
  explicit StackUse(std::vector<std::vector<FunctionFrame>> objects);

  /// Internal if there is no such function.
  StatusOr<StackNeed> needOf(const std::string &function);

private:
  struct Entry {
    size_t object;
    const FunctionFrame *frame;
    StackNeed need;
    enum { Unknown, Active, Known, Cyclic } state = Unknown;
  };
  Entry *find(size_t object, const std::string &name);
  /// Fills in the need of the entry; false if its calls come to a cycle.
  StatusOr<bool> complete(Entry &entry);
  StatusOr<StackNeed> boundOfCycle(Entry &entry);

  std::vector<std::vector<FunctionFrame>> objects;
  std::map<std::pair<size_t, std::string>, Entry, std::less<>> entries; // by object and name
  std::map<std::string, Entry *, std::less<>> exported;                 // by name alone
};

} // namespace plim::jit
