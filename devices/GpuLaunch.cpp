#include "devices/GpuLaunch.h"

#include "devices/internal/FramePool.h"
#include "support/CheckedMath.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <string>

namespace plim::devices {
namespace {

template <typename T> int64_t readAs(const void *data) {
  T value;
  std::memcpy(&value, data, sizeof value);
  return value;
}

int64_t readScalar(const void *data, uint32_t bytes) {
  switch (bytes) {
  case 1:
    return readAs<int8_t>(data);
  case 2:
    return readAs<int16_t>(data);
  case 4:
    return readAs<int32_t>(data);
  default:
    return readAs<int64_t>(data);
  }
}

int64_t wrapped(GpuNumber::Kind kind, int64_t a, int64_t b) {
  auto left = static_cast<uint64_t>(a), right = static_cast<uint64_t>(b);
  return static_cast<int64_t>(kind == GpuNumber::Add ? left + right : left - right);
}

/// The divisor is not zero and the quotient fits.
int64_t divided(GpuNumber::Kind kind, int64_t a, int64_t b) {
  int64_t quotient = a / b, remainder = a % b;
  bool isBelow = (remainder < 0) != (b < 0); // the exact quotient is, where there is a remainder
  switch (kind) {
  case GpuNumber::FloorDivide:
    return quotient - (remainder != 0 && isBelow);
  case GpuNumber::CeilDivide:
    return quotient + (remainder != 0 && !isBelow);
  case GpuNumber::Remainder:
    return remainder;
  default:
    return quotient;
  }
}

size_t bytesInLaunch(GpuCodeKind kind, const GpuWord &word) {
  return kind == GpuCodeKind::Ptx || word.bits == 64 ? 8 : 4;
}

} // namespace

LaunchNumbers::LaunchNumbers(const GpuCode &code)
    : code(code), numbers(code.numbers.size()), buffers(code.arguments.size()),
      temporaryBytes(code.temporaries.size()), kernels(code.kernels.size()) {
  std::vector<size_t> sizes;
  size_t total = 0;
  for (const GpuKernel &kernel : code.kernels) {
    size_t &size = sizes.emplace_back(0);
    for (const GpuWord &word : kernel.words)
      size += bytesInLaunch(code.kind, word);
    total += size;
  }
  words.resize(total);
  std::span<const std::byte> rest = words;
  for (size_t i = 0; i < kernels.size(); ++i) {
    kernels[i].words = rest.first(sizes[i]);
    rest = rest.subspan(sizes[i]);
  }
}

Status LaunchNumbers::compute(const plim_view *arguments) {
  PLIM_RETURN_IF_ERROR(computeNumbers(arguments));
  PLIM_RETURN_IF_ERROR(computeBuffers(arguments));
  PLIM_RETURN_IF_ERROR(computeTemporaries());
  return computeKernels();
}

Status LaunchNumbers::computeNumbers(const plim_view *arguments) {
  for (size_t i = 0; i < numbers.size(); ++i) {
    const GpuNumber &number = code.numbers[i];
    auto a = static_cast<size_t>(number.a), b = static_cast<size_t>(number.b);
    switch (number.kind) {
    case GpuNumber::Constant:
      numbers[i] = number.a;
      break;
    case GpuNumber::Extent:
      numbers[i] = arguments[a].sizes[b];
      break;
    case GpuNumber::Scalar:
      numbers[i] = readScalar(arguments[a].data, code.arguments[a].bytes);
      break;
    case GpuNumber::Add:
    case GpuNumber::Subtract:
      numbers[i] = wrapped(number.kind, numbers[a], numbers[b]);
      break;
    case GpuNumber::Multiply:
      if (__builtin_mul_overflow(numbers[a], numbers[b], &numbers[i]))
        return outOfRangeError("a size of the launch is " + std::to_string(numbers[a]) + " times " +
                               std::to_string(numbers[b]));
      break;
    case GpuNumber::Minimum:
      numbers[i] = std::min(numbers[a], numbers[b]);
      break;
    case GpuNumber::Maximum:
      numbers[i] = std::max(numbers[a], numbers[b]);
      break;
    case GpuNumber::FloorDivide:
    case GpuNumber::CeilDivide:
    case GpuNumber::Remainder:
    case GpuNumber::Divide:
      if (numbers[b] == 0 || (numbers[a] == INT64_MIN && numbers[b] == -1))
        return outOfRangeError("a size of the launch divides " + std::to_string(numbers[a]) +
                               " by " + std::to_string(numbers[b]));
      numbers[i] = divided(number.kind, numbers[a], numbers[b]);
      break;
    }
  }
  return okStatus();
}

StatusOr<size_t> LaunchNumbers::bytesOf(size_t argument, const int64_t *sizes) const {
  uint32_t rank = code.arguments[argument].rank;
  std::optional<int64_t> elements = 1;
  bool isEmpty = false;
  for (uint32_t i = 0; i < rank; ++i) {
    if (sizes[i] < 0)
      return invalidArgumentError("argument #" + std::to_string(argument) + " has the extent " +
                                  std::to_string(sizes[i]));
    isEmpty |= sizes[i] == 0;
    elements = elements ? checkedMul(*elements, sizes[i]) : elements;
  }
  if (isEmpty)
    return size_t{0};
  if (!elements || *elements > code.maxElements)
    return outOfRangeError("argument #" + std::to_string(argument) + " has more than " +
                           std::to_string(code.maxElements) +
                           " elements, the most that this code counts");
  std::optional<int64_t> bytes =
      checkedMul(*elements, static_cast<int64_t>(code.arguments[argument].bytes));
  if (!bytes)
    return outOfRangeError("the size of argument #" + std::to_string(argument) + " overflows");
  return static_cast<size_t>(*bytes);
}

Status LaunchNumbers::computeBuffers(const plim_view *arguments) {
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (!code.arguments[i].isTensor)
      continue;
    PLIM_ASSIGN_OR_RETURN(size_t bytes, bytesOf(i, arguments[i].sizes));
    buffers[i] = {arguments[i].data, bytes};
  }
  return okStatus();
}

Status LaunchNumbers::computeTemporaries() {
  for (size_t i = 0; i < temporaryBytes.size(); ++i) {
    int64_t bytes = numbers[code.temporaries[i].bytes];
    if (bytes < 0 || bytes / code.temporaries[i].elementBytes > code.maxElements)
      return outOfRangeError("a temporary buffer of " + std::to_string(bytes) + " bytes");
    temporaryBytes[i] = static_cast<size_t>(bytes);
  }
  return okStatus();
}

Status LaunchNumbers::computeKernels() {
  std::byte *out = words.data();
  for (size_t i = 0; i < kernels.size(); ++i) {
    for (const GpuWord &word : code.kernels[i].words) {
      int64_t value = numbers[word.number];
      if (word.bits == 32 && value != static_cast<int32_t>(value))
        return outOfRangeError("kernel '" + code.kernels[i].entry + "' takes " +
                               std::to_string(value) + " as 32 bits");
      size_t bytes = bytesInLaunch(code.kind, word);
      std::memcpy(out, &value, bytes); // its low bytes: hosts here are little-endian
      out += bytes;
    }
    int64_t workgroups = numbers[code.kernels[i].workgroups];
    kernels[i].workgroups = static_cast<uint32_t>(std::clamp<int64_t>(workgroups, 0, INT32_MAX));
    kernels[i].iterations = numbers[code.kernels[i].iterations];
  }
  return okStatus();
}

namespace {

/// What `user` points at.
struct Launcher {
  std::shared_ptr<GpuProgram> program;
  ReportFailure report;
  internal::FramePool<LaunchNumbers> frames;

  Status run(const plim_view *arguments) {
    auto make = [&]() -> StatusOr<std::unique_ptr<LaunchNumbers>> {
      return std::make_unique<LaunchNumbers>(program->code());
    };
    PLIM_ASSIGN_OR_RETURN(auto frame, frames.take(make));
    PLIM_RETURN_IF_ERROR(frame->compute(arguments));
    return program->run(frame->launch());
  }
};

plim_code runLauncher(plim_context *context, void *user, const plim_view *arguments,
                      const plim_view *) {
  auto &launcher = *static_cast<Launcher *>(user);
  try {
    Status status = launcher.run(arguments);
    if (status.ok())
      return 0;
    return launcher.report(context, static_cast<plim_code>(status.code()),
                           std::string(status.message()).c_str());
  } catch (const std::bad_alloc &) {
    return launcher.report(context, static_cast<plim_code>(StatusCode::ResourceExhausted),
                           "no memory for a launch");
  }
}

} // namespace

LaunchFunction makeLaunchFunction(std::shared_ptr<GpuProgram> program, ReportFailure report) {
  auto launcher = std::make_shared<Launcher>();
  launcher->program = std::move(program);
  launcher->report = report;
  return {&runLauncher, launcher.get(), launcher};
}

} // namespace plim::devices
