#include "jit/ProgressReport.h"

#include <algorithm>

namespace plim::jit {

namespace {

constexpr double leastStep = 0.005;

} // namespace

void ProgressReport::advance(double fraction) {
  if (callback && fraction >= progress.fraction + leastStep)
    tell(fraction);
}

void ProgressReport::begin(llvm::ArrayRef<size_t> sizes) {
  if (!callback)
    return;
  progress.total += sizes.size();
  for (size_t size : sizes)
    totalSize += size;
  jobsBegin = progress.fraction + leastStep;
  tell(jobsBegin);
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
    tell(jobsBegin + (1 - jobsBegin) * part);
}

void ProgressReport::tell(double fraction) {
  progress.fraction = std::max(progress.fraction, fraction);
  callback(progress);
}

} // namespace plim::jit
