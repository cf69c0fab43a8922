#include "jit/ProgressReport.h"

#include <algorithm>

namespace plim::jit {

void ProgressReport::advance(double fraction) {
  constexpr double leastStep = 0.005;
  if (callback && fraction >= progress.fraction + leastStep)
    tell(fraction);
}

void ProgressReport::begin(llvm::ArrayRef<ObjectEmitter> emitters) {
  if (!callback)
    return;
  progress.total += emitters.size();
  for (const ObjectEmitter &emitter : emitters)
    totalSize += emitter.size();
  tell(begins::objects);
}

void ProgressReport::end(size_t size, bool ok) {
  if (!callback)
    return;
  std::lock_guard lock(mutex);
  hasFailed |= !ok;
  ++progress.done;
  doneSize += size;
  const double part =
      totalSize == 0 ? 1 : static_cast<double>(doneSize) / static_cast<double>(totalSize);
  if (!hasFailed)
    tell(begins::objects + (1 - begins::objects) * part);
}

void ProgressReport::tell(double fraction) {
  progress.fraction = std::max(progress.fraction, fraction);
  callback(progress);
}

} // namespace plim::jit
