// The host of the fuzzer of the C interface: its checks, memory, callbacks, and one engine with one module, which all
// inputs use. Knows no inputs.
//
// Threads: any, for all of it.
#pragma once

#include "plimsoll/plimsoll.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace plim::fuzz {

/// Ends the process where `what` does not hold.
void require(bool holds, const char *what);
#define REQUIRE(condition) ::plim::fuzz::require((condition), #condition)

/// Whether a call went well. Its status is looked at and given back; one that no call may have ends the process.
bool succeeds(plim_status *status);

template <typename T> T sized() {
  T value = {};
  value.struct_size = sizeof(T);
  return value;
}

// What the library has and must give back.
extern std::atomic<size_t> allocated; // bytes, by the engine
extern std::atomic<int> memories;     // HostMemory
extern std::atomic<int> users;        // User

/// For plim_allocator: little, so that what is too large fails.
void *allocate(void *user, size_t bytes, size_t alignment, const char *memory);
void giveBack(void *user, void *pointer, size_t bytes);

/// Memory of the host's, no byte larger than it is said to be, with somebody else to give it back.
struct HostMemory {
  HostMemory(size_t before, size_t behind) : block(new std::byte[before + behind]) {
    std::memset(block.get(), 1, before + behind);
    data = block.get() + before;
    ++memories;
  }
  ~HostMemory() { --memories; }

  std::unique_ptr<std::byte[]> block;
  std::byte *data;
  // For DLPack.
  plim_dlpack_managed_tensor managed = {};
  std::vector<int64_t> shape, strides;
};

/// `user` of a callback, with somebody else to give it back.
struct User {
  User() { ++users; }
  ~User() { --users; }
  int calls = 0;
};
inline void releaseUser(void *user) { delete static_cast<User *>(user); }

/// A host function that does what its first argument says, and gives back its second one if that is nothing else.
plim_code host(plim_host_call *call, void *user, const plim_host_value *arguments,
               const plim_host_value *results);

/// What all inputs use. Never destroyed.
struct Fixture {
  Fixture();

  plim_engine *engine = nullptr; // with two threads
  plim_module *module = nullptr;
  plim_bytes *artifact = nullptr;         // that the module was loaded from
  std::vector<plim_function *> functions; // in the order of the source
  plim_function *saxpy = nullptr, *sum = nullptr;
  /// Files: a .safetensors, a .npy, the artifact, and some that cannot be read.
  std::vector<std::string> paths;
  uint64_t liveBytes = 0;    // those of the module's variables
  size_t allocatedBytes = 0; // the same while the engine keeps nothing
};
extern Fixture *fixture;

/// Bytes that the engine has in use.
uint64_t liveBytes();

/// Calls functions with arguments that are right, whatever came before.
void checkSum(int64_t a, int64_t b);
void checkSaxpy();

} // namespace plim::fuzz
