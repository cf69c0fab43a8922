#include "engine/session/Background.h"

#include "support/Profiler.h"

#include <unistd.h>
#include <utility>

namespace plim {

Background::Background() : process(getpid()) {}

Background::~Background() {
  if (process != getpid()) {
    // The thread is not there to be joined or detached, and the mutex may be locked for ever.
    if (thread.joinable())
      (void)new std::thread(std::move(thread));
    return;
  }
  {
    std::lock_guard lock(mutex);
    stop.request_stop();
    condition.notify_one();
  }
  if (thread.joinable())
    thread.join();
}

void Background::submit(Job job) {
  if (process != getpid())
    return;
  std::lock_guard lock(mutex);
  if (!thread.joinable())
    thread = std::thread([this] { run(); });
  jobs.push_back(std::move(job));
  condition.notify_one();
}

void Background::run() {
  Profiler::nameThread("background");
  std::unique_lock lock(mutex);
  for (;;) {
    condition.wait(lock, [&] { return stop.stop_requested() || !jobs.empty(); });
    if (stop.stop_requested())
      return;
    Job job = std::move(jobs.front());
    jobs.pop_front();
    lock.unlock();
    job(stop.get_token());
    job = {};
    lock.lock();
  }
}

} // namespace plim
