// Ctrl-C while the main thread is in the library: Python only notes the signal and would raise
// KeyboardInterrupt when the thread is back. What makes it come back is a stop. plimsoll/_interrupt.py has a
// thread that is told of signals and calls interrupt().
//
// With the GIL, all of it.
#pragma once

#include "plimsoll/plimsoll.h"
#include "python/native/Python.h"

namespace plim::python {

/// Ends what the main thread does in the library, if it does anything.
void interrupt();

/// For a call or a load of this thread: the stop that Ctrl-C requests. Of no effect on other threads, or
/// where Ctrl-C has another handler than Python's.
class Interruptible {
public:
  /// `given` is the caller's stop, or null.
  explicit Interruptible(plim_stop *given);
  ~Interruptible();
  Interruptible(const Interruptible &) = delete;
  Interruptible &operator=(const Interruptible &) = delete;

  /// For the library: `given`, or one of this package's, or null.
  plim_stop *stop() const { return own; }
  /// If Ctrl-C ended it: frees `status` and raises.
  bool raise(plim_status *status) const;

private:
  plim_stop *own;
  Interruptible *outer = nullptr;
  bool isListed = false;
  bool wasInterrupted = false;
  friend void interrupt();
};

extern PyMethodDef interruptMethods[];

} // namespace plim::python
