// GuardedData: the constants and parameters of one module in memory of which a misuse is a fault.
//
// A checked engine copies them: each lies in pages of its own, between guards, and cannot be
// written as long as the module lives. What is in pools stays there.
//
// Belongs to one module; not thread-safe while it is filled.
#pragma once

#include "engine/runtime/GuardedMemory.h"

#include <string>
#include <vector>

namespace plim {

class GuardedData {
public:
  /// Borrows the memory, which must outlive it.
  explicit GuardedData(runtime::GuardedMemory &memory) : memory(memory) {}
  /// Gives the memory back.
  ~GuardedData();
  GuardedData(const GuardedData &) = delete;
  GuardedData &operator=(const GuardedData &) = delete;

  /// A copy of `contents`, or zeros where that is null, of so many bytes; reports of faults call it
  /// `name`. Valid as long as this lives. Null without memory.
  void *add(const void *contents, size_t bytes, size_t alignment, std::string name);

private:
  runtime::GuardedMemory &memory;
  std::vector<void *> blocks;
};

} // namespace plim
