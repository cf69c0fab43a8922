#include "capi/Handle.h"

#include <string>

namespace plim::capi {

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

namespace {

uint32_t wordOf(const plim_buffer *handle) {
  return reinterpret_cast<const std::atomic<uint32_t> *>(handle)->load(std::memory_order_relaxed);
}

} // namespace

Status checkHandle(const plim_buffer *handle) {
  if (!handle) [[unlikely]]
    return invalidArgumentError("buffer is null");
  uint32_t word = wordOf(handle);
  if (word != runtime::Buffer::magic) [[unlikely]]
    return badHandle("buffer", word);
  return okStatus();
}

bool isLive(const plim_buffer *handle) {
  return handle && wordOf(handle) == runtime::Buffer::magic;
}

} // namespace plim::capi
