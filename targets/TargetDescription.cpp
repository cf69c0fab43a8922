#include "targets/TargetDescription.h"

#include "targets/internal/Codec.h"
#include "targets/internal/Fields.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <set>

namespace plim::targets {

namespace {

bool isNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.';
}

bool isName(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), isNameCharacter);
}

bool isSignedFeature(std::string_view text) {
  return text.size() > 1 && (text[0] == '+' || text[0] == '-') && isName(text.substr(1));
}

std::string_view unsignedName(std::string_view feature) {
  return feature.empty() ? feature : feature.substr(1);
}

bool isPowerOfTwo(int64_t value) {
  return value > 0 && std::has_single_bit(static_cast<uint64_t>(value));
}

/// What `rule` demands of `value`, or empty if it is met.
std::string_view violated(internal::Rule rule, int64_t value) {
  switch (rule) {
  case internal::Rule::Any:
    return {};
  case internal::Rule::NonNegative:
    return value >= 0 ? "" : "must not be negative";
  case internal::Rule::Positive:
    return value >= 1 ? "" : "must be at least 1";
  case internal::Rule::PowerOfTwo:
    return isPowerOfTwo(value) ? "" : "must be a power of two";
  case internal::Rule::PowerOfTwoOrZero:
    return value == 0 || isPowerOfTwo(value) ? "" : "must be 0 or a power of two";
  case internal::Rule::NodeNumber:
    return value >= -1 ? "" : "must be a node number or -1";
  }
  return {};
}

Status fault(const std::string &path, std::string_view problem) {
  return invalidArgumentError(path + ": " + std::string(problem));
}

template <typename T>
Status verifyValue(const T &value, internal::Rule rule, const std::string &path) {
  if constexpr (internal::Described<T>) {
    Status status;
    internal::forEachField<T>([&](auto field) {
      if (!status.ok())
        return;
      std::string key(field.key);
      status = verifyValue(value.*field.member, field.rule, path.empty() ? key : path + "." + key);
    });
    return status;
  } else if constexpr (internal::IsVector<T>::value) {
    for (size_t i = 0; i < value.size(); ++i)
      PLIM_RETURN_IF_ERROR(verifyValue(value[i], rule, path + "[" + std::to_string(i) + "]"));
  } else if constexpr (std::is_same_v<T, int64_t>) {
    if (std::string_view problem = violated(rule, value); !problem.empty())
      return fault(path, problem);
  } else if constexpr (std::is_same_v<T, double>) {
    if (!std::isfinite(value) || value < 0)
      return fault(path, "must be finite and not negative");
  } else if constexpr (std::is_enum_v<T>) {
    if (internal::enumName(value).empty())
      return fault(path, "is not one of " + internal::enumChoices<T>());
  }
  return okStatus();
}

template <typename T>
Status verifyNames(const std::vector<T> &list, std::string_view key, std::set<std::string> &names) {
  for (size_t i = 0; i < list.size(); ++i) {
    std::string path = std::string(key) + "[" + std::to_string(i) + "].name";
    const std::string &name = list[i].name;
    if (!isName(name))
      return fault(path, "must be letters, digits, '_', '-' and '.'");
    // The DLTI codec keeps its own entries beside the devices under this prefix.
    if (name.starts_with("plim."))
      return fault(path, "must not begin with \"plim.\"");
    if (!names.insert(name).second)
      return fault(path, "\"" + name + "\" is given twice");
  }
  return okStatus();
}

Status verifyFeatures(const std::vector<std::string> &features, const std::string &path) {
  for (size_t i = 0; i < features.size(); ++i) {
    std::string here = path + "[" + std::to_string(i) + "]";
    if (!isSignedFeature(features[i]))
      return fault(here, "expected \"+name\" or \"-name\"");
    if (i == 0)
      continue;
    if (unsignedName(features[i]) == unsignedName(features[i - 1]))
      return fault(here,
                   "\"" + std::string(unsignedName(features[i])) + "\" is given more than once");
    if (unsignedName(features[i]) < unsignedName(features[i - 1]))
      return fault(here, "features must be sorted by name");
  }
  return okStatus();
}

} // namespace

std::string_view deviceKindName(DeviceKind kind) { return internal::enumName(kind); }
std::string_view memoryKindName(MemoryKind kind) { return internal::enumName(kind); }

void internal::sortFeatures(DeviceDescription &device) {
  std::sort(device.features.begin(), device.features.end(),
            [](std::string_view a, std::string_view b) {
              return std::pair(unsignedName(a), a) < std::pair(unsignedName(b), b);
            });
}

bool DeviceDescription::hasFeature(std::string_view feature) const {
  return std::any_of(features.begin(), features.end(), [&](std::string_view candidate) {
    return candidate.starts_with('+') && candidate.substr(1) == feature;
  });
}

void DeviceDescription::setFeature(std::string_view feature, bool enabled) {
  auto place = std::lower_bound(
      features.begin(), features.end(), feature,
      [](std::string_view have, std::string_view want) { return unsignedName(have) < want; });
  std::string entry = (enabled ? "+" : "-") + std::string(feature);
  if (place != features.end() && unsignedName(*place) == feature)
    *place = std::move(entry);
  else
    features.insert(place, std::move(entry));
}

int64_t DeviceDescription::scalableVectorBits() const {
  // In longer ones LLVM 22 loses elements of partial reductions (@llvm.vector.partial.reduce.add) of vectors of 256 bits.
  return vectorBits == 256 && hasFeature("sve") ? vectorBits : 0;
}

std::string DeviceDescription::scalableVectorFeature() const {
  const int64_t bits = scalableVectorBits();
  return bits > 0 ? "sve" + std::to_string(bits) : "";
}

const DeviceDescription *TargetDescription::findDevice(std::string_view name) const {
  auto found = std::find_if(devices.begin(), devices.end(),
                            [&](const DeviceDescription &device) { return device.name == name; });
  return found == devices.end() ? nullptr : &*found;
}

const MemoryDescription *TargetDescription::findMemory(std::string_view name) const {
  auto found = std::find_if(memories.begin(), memories.end(),
                            [&](const MemoryDescription &memory) { return memory.name == name; });
  return found == memories.end() ? nullptr : &*found;
}

std::string toJson(const TargetDescription &target) {
  // Vendors' device names are not always UTF-8.
  return internal::toDocument(target).text();
}

StatusOr<TargetDescription> fromJson(std::string_view json) {
  PLIM_ASSIGN_OR_RETURN(Json document, Json::parse(json));
  return internal::fromDocument(document);
}

TargetDescription compiledPart(TargetDescription target) {
  const DeviceDescription none;
  for (DeviceDescription &device : target.devices) {
    device.description.clear();
    device.hardwareThreads = none.hardwareThreads;
    device.numaNodes = none.numaNodes;
    device.clockMHz = none.clockMHz;
    device.hugePageBytes.clear();
    device.mainThreadStackBytes = none.mainThreadStackBytes;
    device.workerStackBytes = none.workerStackBytes;
    device.callerStackBytes = none.callerStackBytes;
  }
  const MemoryDescription unused;
  for (MemoryDescription &memory : target.memories) {
    memory.readGBps = unused.readGBps;
    memory.writeGBps = unused.writeGBps;
    memory.latencyNs = unused.latencyNs;
    memory.numaNode = unused.numaNode;
  }
  return target;
}

Status verify(const TargetDescription &target) {
  if (target.devices.empty())
    return fault("devices", "a target needs at least one device");
  PLIM_RETURN_IF_ERROR(verifyValue(target, internal::Rule::Any, ""));
  std::set<std::string> deviceNames, memoryNames;
  PLIM_RETURN_IF_ERROR(verifyNames(target.devices, "devices", deviceNames));
  PLIM_RETURN_IF_ERROR(verifyNames(target.memories, "memories", memoryNames));
  for (size_t i = 0; i < target.devices.size(); ++i)
    PLIM_RETURN_IF_ERROR(
        verifyFeatures(target.devices[i].features, "devices[" + std::to_string(i) + "].features"));
  for (size_t i = 0; i < target.memories.size(); ++i) {
    std::set<std::string_view> seen;
    const std::vector<std::string> &users = target.memories[i].accessibleBy;
    for (size_t j = 0; j < users.size(); ++j) {
      std::string path =
          "memories[" + std::to_string(i) + "].accessible_by[" + std::to_string(j) + "]";
      if (!deviceNames.contains(users[j]))
        return fault(path, "there is no device \"" + users[j] + "\"");
      if (!seen.insert(users[j]).second)
        return fault(path, "\"" + users[j] + "\" is given twice");
    }
  }
  return okStatus();
}

//===-- Overrides ---------------------------------------------------------------------------===//
//
// An override edits the JSON document and decodes it again, so that paths, types and rules are the
// codec's own.

namespace {

/// The element of `list` that `rest` begins with, by "[number]" or by ".name"; `rest` loses it.
/// Names may contain dots, so the longest one that fits wins.
Json *findElement(Json::Array &list, std::string_view &rest) {
  if (rest.starts_with('[')) {
    size_t index = 0;
    auto [end, error] = std::from_chars(rest.data() + 1, rest.data() + rest.size(), index);
    if (error != std::errc() || end == rest.data() + rest.size() || *end != ']' ||
        index >= list.size())
      return nullptr;
    rest.remove_prefix(end + 1 - rest.data());
    return &list[index];
  }
  Json *found = nullptr;
  size_t length = 0;
  for (Json &element : list) {
    const Json *name = element.find("name");
    if (!name || !name->string())
      continue;
    std::string prefix = "." + *name->string() + ".";
    if (rest.starts_with(prefix) && name->string()->size() >= length) {
      found = &element;
      length = name->string()->size();
    }
  }
  if (found)
    rest.remove_prefix(1 + length);
  return found;
}

/// The value at `path` below `node`, or null.
Json *findPath(Json &node, std::string_view path) {
  Json *current = &node;
  std::string prefixed = "." + std::string(path);
  std::string_view rest = prefixed;
  while (current && !rest.empty()) {
    if (Json::Array *list = current->array()) {
      current = findElement(*list, rest);
      continue;
    }
    if (!rest.starts_with('.'))
      return nullptr;
    rest.remove_prefix(1);
    std::string_view key = rest.substr(0, rest.find_first_of(".["));
    current = current->find(key);
    rest.remove_prefix(key.size());
  }
  return current;
}

Status editFeatures(Json &list, std::string_view edits) {
  DeviceDescription device;
  for (const Json &feature : *list.array())
    device.features.push_back(*feature.string());
  while (!edits.empty()) {
    std::string_view edit = edits.substr(0, edits.find(','));
    edits.remove_prefix(std::min(edits.size(), edit.size() + 1));
    if (!isSignedFeature(edit))
      return invalidArgumentError("expected +name or -name, got \"" + std::string(edit) + "\"");
    device.setFeature(edit.substr(1), edit[0] == '+');
  }
  list = device.features;
  return okStatus();
}

Status assign(Json &place, bool isFeatures, std::string_view value) {
  if (isFeatures && (value.starts_with('+') || value.starts_with('-')))
    return editFeatures(place, value);
  if (place.string() && !value.starts_with('"')) {
    place = value;
    return okStatus();
  }
  PLIM_ASSIGN_OR_RETURN(place, Json::parse(value));
  return okStatus();
}

Status applyOverride(TargetDescription &target, std::string_view assignment) {
  size_t equals = assignment.find('=');
  if (equals == assignment.npos)
    return invalidArgumentError("expected path=value");
  std::string_view path = assignment.substr(0, equals);
  PLIM_RETURN_IF_ERROR(verify(target));

  Json document = internal::toDocument(target);
  std::string_view first = path.substr(0, path.find_first_of(".["));
  bool fromTop = first == "devices" || first == "memories";
  Json *place = findPath(fromTop ? document : document.find("devices")->array()->front(), path);
  if (!place)
    return invalidArgumentError("there is no field \"" + std::string(path) + "\"");
  bool isFeatures = path == "features" || path.ends_with(".features");
  PLIM_RETURN_IF_ERROR(assign(*place, isFeatures, assignment.substr(equals + 1)));
  PLIM_ASSIGN_OR_RETURN(target, internal::fromDocument(document));
  return okStatus();
}

} // namespace

Status overrideField(TargetDescription &target, std::string_view assignment) {
  return applyOverride(target, assignment)
      .withContext("override \"" + std::string(assignment) + "\"");
}

} // namespace plim::targets
