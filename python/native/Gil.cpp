#include "python/native/Gil.h"

#include <atomic>
#include <pthread.h>
#include <thread>
#include <unistd.h>

namespace plim::python {

namespace {
std::atomic<bool> isClosed{false};
std::atomic<int> inside{0};
std::atomic<unsigned> generation{0};
std::thread::id closer;
/// How much of `inside` is this thread's.
thread_local int depth = 0;

void leave() {
  --depth;
  inside.fetch_sub(1);
}

/// May this thread ask for the GIL? If so it must leave().
bool enter() {
  // Sequentially consistent, as in closeGil(): either it sees this thread, or this thread sees it.
  inside.fetch_add(1);
  ++depth;
  if (!isClosed.load() || std::this_thread::get_id() == closer) [[likely]]
    return true;
  leave();
  return false;
}
} // namespace

GilScope::GilScope() {
  if (PyGILState_Check()) {
    held = true;
    return;
  }
  if (!enter())
    return;
  state = PyGILState_Ensure();
  held = mustRelease = true;
}

GilScope::~GilScope() {
  if (!mustRelease)
    return;
  PyGILState_Release(state);
  leave();
}

WithoutGil::~WithoutGil() {
  if (!enter()) [[unlikely]]
    while (true)
      pause();
  PyEval_RestoreThread(state);
  leave();
}

void closeGil() {
  closer = std::this_thread::get_id();
  isClosed.store(true);
  WithoutGil others;
  while (inside.load() != depth)
    std::this_thread::yield();
}

unsigned forkGeneration() { return generation.load(std::memory_order_relaxed); }

void watchForks() {
  pthread_atfork(nullptr, nullptr, [] {
    generation.fetch_add(1, std::memory_order_relaxed);
    inside.store(depth); // of the threads this one alone is here
  });
}

void dropReference(void *user) {
  if (GilScope gil; gil)
    Py_DECREF(static_cast<PyObject *>(user));
}

} // namespace plim::python
