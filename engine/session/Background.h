// Background: a thread for jobs that calls must not wait for.
//
// It is started by the first job. Jobs run one after the other, in order. When this is destroyed no
// job begins any more; the one that runs is asked to stop, and the destructor waits for it. A
// forked child has no such thread: there jobs are dropped.
//
// It is no worker of the executor: an engine of one thread has none, and the compiler runs on a
// stack of its own anyway, so that a worker would only wait for it.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <sys/types.h>
#include <thread>

namespace plim {

class Background {
public:
  using Job = std::function<void(const std::stop_token &stop)>;

  Background();
  ~Background();
  Background(const Background &) = delete;
  Background &operator=(const Background &) = delete;

  /// Any thread; does not wait for the job. The job must not throw, nor own what destroys this: it
  /// would wait for itself. `stop` is requested when this is destroyed. Throws std::bad_alloc, and
  /// std::system_error if the thread does not start; then the job was not taken.
  void submit(Job job);

private:
  void run();

  const pid_t process;
  std::mutex mutex;
  std::condition_variable condition;
  std::deque<Job> jobs; // by `mutex`, like `thread`
  std::stop_source stop;
  std::thread thread;
};

} // namespace plim
