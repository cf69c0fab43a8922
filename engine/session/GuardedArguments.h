// GuardedArguments: the arguments of one call in memory of which a misuse is a fault.
//
// Memory of the host's has no guards, so a checked call works on copies: each buffer in pages of
// its own; memrefs that overlap in a copy of all that they span, so that they overlap there as
// well. What the function only reads cannot be written while the call runs. What it leaves in the
// others goes back in the end, however it ends. Only elements are read and written, never what lies
// between them.
//
// Belongs to one thread.
#pragma once

#include "engine/abi/plim_abi.h"
#include "engine/runtime/GuardedMemory.h"
#include "engine/runtime/Value.h"
#include "jit/Artifact.h"

#include <span>
#include <vector>

namespace plim {

class GuardedArguments {
public:
  /// Borrows the memory, which must outlive it.
  explicit GuardedArguments(runtime::GuardedMemory &memory) : memory(memory) {}
  /// Gives the memory back.
  ~GuardedArguments();
  GuardedArguments(const GuardedArguments &) = delete;
  GuardedArguments &operator=(const GuardedArguments &) = delete;

  /// Copies the buffers among `values`, which are borrowed until the end, and points their views at
  /// the copies. `types` and `views` have one for each value. ResourceExhausted without memory.
  /// Once.
  Status copyIn(std::span<const jit::ValueType> types, std::span<const runtime::Value> values,
                plim_view *views);
  /// Copies back the elements of memrefs that the function writes. After the call, however it
  /// ended.
  void copyBack();

private:
  struct Copy {
    const runtime::Buffer *buffer;
    bool isWritten;
    std::byte *data; // of element 0
  };
  /// Memory that some of the copies share.
  struct Piece {
    void *block;
    bool isWritten;
  };

  runtime::GuardedMemory &memory;
  std::vector<Copy> copies;
  std::vector<Piece> pieces;
};

} // namespace plim
