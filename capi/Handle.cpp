#include "capi/Handle.h"

#include <pthread.h>
#include <string>

namespace plim::capi {

constinit std::atomic<uint32_t> forkGeneration{0};

namespace {
// If there is no memory for it, children are not told.
[[maybe_unused]] const int watchesForks = pthread_atfork(
    nullptr, nullptr, [] { forkGeneration.fetch_add(1, std::memory_order_relaxed); });
} // namespace

Status handleOfParent(const char *name) {
  return failedPreconditionError(
      std::string(name) +
      " was made before fork() by the parent of this process, which alone has its threads; "
      "an engine made here can be used");
}

Quarantine::~Quarantine() {
  for (void *memory : kept)
    ::operator delete(memory);
}

void Quarantine::keep(void *memory) {
  std::lock_guard lock(mutex);
  kept.push_back(memory);
  if (kept.size() <= capacity)
    return;
  ::operator delete(kept.front());
  kept.pop_front();
}

void Quarantine::report(const char *verb, const char *name) const {
  log.log(LogLevel::Error, "a ", name, " is ", verb, " that was released before");
}

Status badHandle(const char *name, uint32_t word) {
  bool wasReleased = word == static_cast<uint32_t>(Word::Released) ||
                     word == static_cast<uint32_t>(Word::Quarantined);
  return invalidArgumentError(wasReleased ? std::string(name) + " was released"
                                          : std::string("what was given as ") + name + " is none");
}

Status checkHandle(const plim_buffer *handle) {
  if (!handle)
    return invalidArgumentError("buffer is null");
  if (isLive(handle))
    return okStatus();
  return badHandle("buffer", reinterpret_cast<const std::atomic<uint32_t> *>(handle)->load(
                                 std::memory_order_relaxed));
}

} // namespace plim::capi
