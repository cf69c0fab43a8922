// The GIL: given up while the library works, and taken by its threads for callbacks and to give
// back what Python lent.
//
// A thread that asks an interpreter which is ending for the GIL is ended on the spot, in the middle
// of C++. So the end is announced: closeGil(), at exit, waits for those that are inside or about to
// be, and from then on nobody asks. Threads of the engine are told so and leave what they hold as
// it is; those of Python's that come back from a call, which can only be daemons, wait for the
// process to end.
#pragma once

#include "python/native/Python.h"

namespace plim::python {

/// Holds the GIL for as long as it lives, unless the interpreter is ending.
class GilScope {
public:
  GilScope();
  ~GilScope();
  GilScope(const GilScope &) = delete;
  GilScope &operator=(const GilScope &) = delete;

  /// May Python be used?
  explicit operator bool() const { return held; }

private:
  bool held = false;
  bool mustRelease = false;
  PyGILState_STATE state{};
};

/// Lets other threads of Python run for as long as it lives.
class WithoutGil {
public:
  WithoutGil() : state(PyEval_SaveThread()) {}
  ~WithoutGil();
  WithoutGil(const WithoutGil &) = delete;
  WithoutGil &operator=(const WithoutGil &) = delete;

private:
  PyThreadState *state;
};

/// Turns away all other threads from now on and waits for those that are inside. With the GIL.
void closeGil();

/// How often this process came out of a fork() since the module was loaded. Engines of a parent,
/// which has another number, have no threads here.
unsigned forkGeneration();
/// Begins to count. Once.
void watchForks();

/// As callbacks that release: `user` is an object, of which a reference is dropped.
void dropReference(void *user);

} // namespace plim::python
