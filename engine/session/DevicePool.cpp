#include "engine/session/DevicePool.h"

namespace plim {

DevicePool::DevicePool(runtime::Allocator allocator, std::string memory, size_t bytes,
                       size_t alignment)
    : allocator(std::move(allocator)), name(std::move(memory)), size(bytes), alignment(alignment) {}

DevicePool::~DevicePool() {
  for (void *block : free)
    allocator.release(allocator.user, block, size);
}

DevicePool::Block DevicePool::take(const std::stop_token &stop) {
  std::unique_lock lock(mutex);
  if (free.empty()) {
    free.reserve(++count);
    lock.unlock();
    if (void *block = allocator.allocate(allocator.user, size, alignment, name.c_str()))
      return Block(*this, block);
    lock.lock();
    --count;
    given.notify_all(); // those that counted on this one
    if (!given.wait(lock, stop, [this] { return !free.empty() || count == 0; }) || free.empty())
      return Block();
  }
  void *block = free.back();
  free.pop_back();
  return Block(*this, block);
}

void DevicePool::give(void *block) {
  {
    std::lock_guard lock(mutex);
    free.push_back(block);
  }
  given.notify_one();
}

} // namespace plim
