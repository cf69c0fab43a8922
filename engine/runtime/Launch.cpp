#include "engine/runtime/Launch.h"

#include "engine/runtime/CallContext.h"
#include "engine/runtime/FaultGuard.h"
#include "engine/runtime/FaultReport.h"
#include "engine/runtime/GuardedMemory.h"

#include <algorithm>
#include <optional>

namespace plim::runtime {
namespace {

/// An entry gets a piece of this much at a time: code that does not vectorise takes a millisecond for it.
constexpr int64_t pieceOperations = 25 * operationsPerMicrosecond;

constexpr plim_code codeOf(StatusCode code) { return static_cast<plim_code>(code); }

} // namespace

void Launch::run(CallFrame &frame, int64_t begin, int64_t end) const {
  ScratchArena::Mark mark = frame.scratchMark();
  // A division costs as much as a small dispatch.
  int64_t step =
      work() <= pieceOperations ? end - begin : std::max<int64_t>(pieceOperations / cost(), 1);
  while (begin < end && !frame.call().failed()) {
    int64_t next = end - begin > step ? begin + step : end;
    runPiece(frame, begin, next);
    frame.resetScratch(mark);
    begin = next;
  }
}

void Launch::runPiece(CallFrame &frame, int64_t begin, int64_t end) const {
  CallContext &call = frame.call();
  plim_code code;
  try {
    if (!call.checked()) [[likely]]
      code = dispatch().entry(frame.context(), launch->bindings, launch->scalars, begin, end);
    else
      code = runChecked(frame, begin, end);
  } catch (...) {
    code = codeOf(StatusCode::Unknown);
    call.latch(code, std::string("an exception left dispatch ") + dispatch().name);
  }
  // An entry that reports through plim_rt_fail has latched already.
  if (code != 0 && !call.failed())
    call.latch(code, std::string("dispatch ") + dispatch().name + " failed without a message");
}

plim_code Launch::runChecked(CallFrame &frame, int64_t begin, int64_t end) const {
  CallContext &call = frame.call();
  plim_code code = 0;
  std::optional<Fault> fault = FaultGuard::run([&] {
    code = dispatch().entry(frame.context(), launch->bindings, launch->scalars, begin, end);
  });
  if (!fault)
    return code;
  latchFault(call,
             describeFault(*fault, *call.checked()->memory, "binding", dispatch().binding_count,
                           [&](size_t i) { return launch->bindings[i]; }));
  return call.failed();
}

void Launch::countAccesses(CallContext &call, bool begin) const {
  GuardedMemory &memory = *call.checked()->memory;
  for (uint64_t i = 0; i < dispatch().binding_count; ++i) {
    bool writes = dispatch().access[i] & PLIM_ACCESS_WRITE;
    begin ? memory.beginAccess(launch->bindings[i], writes)
          : memory.endAccess(launch->bindings[i], writes);
  }
}

void Launch::checkSlack(CallContext &call) const {
  for (uint64_t i = 0; i < dispatch().binding_count; ++i) {
    if (!(dispatch().access[i] & PLIM_ACCESS_WRITE))
      continue;
    if (auto damage = call.checked()->memory->takeDamage(launch->bindings[i]))
      latchFault(call, describeDamage(*damage, "binding #" + std::to_string(i)));
  }
}

void Launch::latchFault(CallContext &call, const std::string &what) const {
  call.latch(codeOf(StatusCode::OutOfRange),
             std::string(dispatch().location ? dispatch().location : "") + "dispatch '" +
                 dispatch().name + "' " + what);
}

} // namespace plim::runtime
