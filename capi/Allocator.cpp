#include "capi/Allocator.h"

namespace plim::capi {

namespace {

void *allocate(void *self, size_t bytes, size_t alignment, const char *memory) noexcept {
  const auto &allocator = *static_cast<HostAllocator *>(self);
  return allocator.callbacks.allocate(allocator.user.user, bytes, alignment, memory);
}

void release(void *self, void *pointer, size_t bytes) noexcept {
  const auto &allocator = *static_cast<HostAllocator *>(self);
  allocator.callbacks.release(allocator.user.user, pointer, bytes);
}

} // namespace

Status readAllocator(const plim_allocator *given, std::shared_ptr<HostAllocator> &out,
                     runtime::Allocator &allocator) {
  plim_allocator callbacks;
  PLIM_RETURN_IF_ERROR(readStruct(given, "allocator", callbacks));
  PLIM_RETURN_IF_ERROR(checkFlags(callbacks.flags, 0, "allocator"));
  if (!callbacks.allocate || !callbacks.release)
    return invalidArgumentError("an allocator needs both allocate and release");
  out = std::make_shared<HostAllocator>(callbacks);
  allocator = {out.get(), &allocate, &release, out};
  return okStatus();
}

} // namespace plim::capi
