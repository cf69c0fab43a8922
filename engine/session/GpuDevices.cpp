#include "engine/session/GpuDevices.h"

#include "devices/GpuDevice.h"
#include "devices/GpuLaunch.h"
#include "engine/runtime/ElementType.h"
#include "targets/VisibleDevices.h"

#include <algorithm>
#include <charconv>
#include <mutex>
#include <new>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace plim::session {
namespace {

using devices::GpuDevice;

/// Opens its driver when it is first wanted.
class LazyGpu {
public:
  LazyGpu(std::string name, bool isCuda, int ordinal)
      : name(std::move(name)), isCuda(isCuda), ordinal(ordinal) {}

  StatusOr<std::shared_ptr<GpuDevice>> get() {
    if (targets::isHidden(name))
      return unavailableError("PLIMSOLL_VISIBLE_DEVICES leaves it out");
    std::lock_guard lock(mutex);
    // What failed may be there the next time.
    if (!device) {
      PLIM_ASSIGN_OR_RETURN(device,
                            isCuda ? devices::openCuda(ordinal) : devices::openVulkan(ordinal));
    }
    return device;
  }

  /// Null before get().
  std::shared_ptr<GpuDevice> opened() {
    std::lock_guard lock(mutex);
    return device;
  }

private:
  const std::string name;
  const bool isCuda;
  const int ordinal;
  std::mutex mutex;
  std::shared_ptr<GpuDevice> device; // by `mutex`
};

StatusOr<HostFunction> load(LazyGpu &gpu, std::string_view code) {
  PLIM_ASSIGN_OR_RETURN(devices::GpuCode decoded, devices::decodeGpuCode(code));
  PLIM_ASSIGN_OR_RETURN(std::shared_ptr<GpuDevice> device, gpu.get());
  PLIM_ASSIGN_OR_RETURN(std::shared_ptr<devices::GpuProgram> program,
                        device->load(std::move(decoded)));
  devices::LaunchFunction function = devices::makeLaunchFunction(std::move(program), &plim_rt_fail);
  return HostFunction{
      .function = function.function, .user = function.user, .owner = std::move(function.owner)};
}

void *allocate(void *user, size_t bytes, size_t alignment, const char *) noexcept {
  try {
    StatusOr<std::shared_ptr<GpuDevice>> device = static_cast<LazyGpu *>(user)->get();
    return device.ok() ? (*device)->allocate(bytes, alignment) : nullptr;
  } catch (const std::bad_alloc &) {
    return nullptr;
  }
}

void release(void *user, void *memory, size_t bytes) noexcept {
  if (std::shared_ptr<GpuDevice> device = static_cast<LazyGpu *>(user)->opened())
    device->release(memory, bytes);
}

std::optional<int> ordinalIn(std::string_view name, std::string_view kind) {
  if (!name.starts_with(kind))
    return std::nullopt;
  name.remove_prefix(kind.size());
  int ordinal = 0;
  auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), ordinal);
  const bool isNumber = error == std::errc() && end == name.data() + name.size() && ordinal >= 0;
  return isNumber ? std::optional(ordinal) : std::nullopt;
}

/// The arguments in "(tensor<?x4xf32>, index) -> ...": what is between commas that no bracket encloses.
std::vector<std::string_view> argumentsOf(std::string_view signature) {
  std::vector<std::string_view> arguments;
  int depth = 0;
  size_t begin = 1;
  for (size_t i = 0; i < signature.size(); ++i) {
    const char c = signature[i];
    const bool isArrow = c == '>' && i > 0 && signature[i - 1] == '-';
    depth += (c == '(' || c == '<' || c == '[') - ((c == ')' || c == '>' || c == ']') && !isArrow);
    const bool isEnd = depth == 0;
    if ((isEnd || (depth == 1 && c == ',')) && i > begin)
      arguments.push_back(signature.substr(begin, i - begin));
    if (isEnd)
      break;
    if (depth == 1 && c == ',')
      begin = i + 2;
  }
  return arguments;
}

/// "tensor<?x4xf32> writeonly as result 0" or "index".
bool takes(const devices::GpuArgument &argument, std::string_view type) {
  const size_t open = type.find('<'), close = type.rfind('>');
  if (argument.isTensor != (open != type.npos && close != type.npos))
    return false;
  std::string_view element = type;
  uint32_t rank = 0;
  if (argument.isTensor) {
    element = type.substr(open + 1, close - open - 1);
    element = element.substr(0, element.find(','));
    for (size_t end; (end = element.find_first_not_of("?0123456789")) != element.npos && end > 0 &&
                     element[end] == 'x';
         ++rank)
      element.remove_prefix(end + 1);
  }
  const std::optional<runtime::ElementType> known = runtime::elementTypeFromName(element);
  const bool mayWrite = type.find("write", close) != type.npos;
  return known && elementBytes(*known) == argument.bytes && rank == argument.rank &&
         (mayWrite || !argument.isWritten);
}

} // namespace

Status checkGpuCode(std::string_view signature, std::string_view code) {
  PLIM_ASSIGN_OR_RETURN(devices::GpuCode decoded, devices::decodeGpuCode(code));
  if (std::ranges::equal(decoded.arguments, argumentsOf(signature), takes))
    return okStatus();
  return dataLossError("the code for a GPU does not take the arguments of its dispatch, " +
                       std::string(signature));
}

std::shared_ptr<const Device> makeGpuDevice(const std::string &name) {
  const std::optional<int> cuda = ordinalIn(name, "cuda"), vulkan = ordinalIn(name, "vulkan");
  if (!cuda && !vulkan)
    return nullptr;
  auto gpu = std::make_shared<LazyGpu>(name, cuda.has_value(), cuda ? *cuda : *vulkan);
  auto device = std::make_shared<Device>();
  device->name = name;
  device->load = [gpu](std::string_view, std::string_view code) { return load(*gpu, code); };
  device->memory = {.user = gpu.get(), .allocate = &allocate, .release = &release, .owner = gpu};
  device->keepConstant = [gpu](std::span<const std::byte> constant) -> std::shared_ptr<const void> {
    StatusOr<std::shared_ptr<GpuDevice>> opened = gpu->get();
    return opened.ok() ? (*opened)->keepConstant(constant.data(), constant.size()) : nullptr;
  };
  return device;
}

} // namespace plim::session
