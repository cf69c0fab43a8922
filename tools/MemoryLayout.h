// MemoryLayout: what a module puts into the memories of its target: constants, variables, memory of
// calls, and the stack, one behind the other as a linker may place them.
//
// Reads the JSON that the compiler leaves, as ExplainReport does. Any thread.
#pragma once

#include "targets/TargetDescription.h"

#include "llvm/Support/JSON.h"

#include <cstdint>
#include <string>
#include <vector>

namespace plim::tools {

struct MemoryLayout {
  struct Part {
    std::string what; // "constant", "variable", "workspace", "pool" or "stack"
    std::string name; // of the symbol; may be empty
    int64_t offset, bytes;
  };
  std::string memory, kind;
  int64_t capacity = 0; // 0: not known
  int64_t used = 0;
  std::vector<Part> parts; // lowest first

  /// Bytes that there is no room for.
  int64_t missing() const { return capacity > 0 && used > capacity ? used - capacity : 0; }
};

/// One for each memory of the target, in its order. Of what calls take, the most of any function.
/// What nobody puts anywhere is where the header of an export says: constants in the first memory
/// that is read only, the rest in the first that all devices of the module reach. Parameters are the
/// program's.
std::vector<MemoryLayout> memoryLayoutsOf(const llvm::json::Object &report,
                                          const targets::TargetDescription &target);

} // namespace plim::tools
