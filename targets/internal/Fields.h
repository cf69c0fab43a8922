// The one list of the fields of every struct in TargetDescription.h: key, member and the rule that
// its value must obey. The JSON codec, overrides, the verifier and the DLTI codec all walk it, so a
// new field is one line here and one member there.
//
// This header must not know any codec: it names keys and rules, nothing else.
#pragma once

#include "targets/TargetDescription.h"

#include <array>
#include <tuple>
#include <utility>

namespace plim::targets::internal {

/// What a number must be. Strings, booleans and lists have the rule Any.
enum class Rule { Any, NonNegative, Positive, PowerOfTwo, PowerOfTwoOrZero, NodeNumber };

/// One field: what JSON calls it, where it is, what it must be.
template <typename S, typename T> struct Field {
  std::string_view key;
  T S::*member;
  Rule rule;
};

template <typename S, typename T>
constexpr Field<S, T> field(std::string_view key, T S::*member, Rule rule = Rule::Any) {
  return {key, member, rule};
}

/// The fields of S as a tuple `list`, in the order in which they are written; for a struct that is
/// not `known` there are none.
template <typename S> struct Fields {
  static constexpr bool known = false;
};

template <> struct Fields<CacheDescription> {
  static constexpr bool known = true;
  using S = CacheDescription;
  static constexpr auto list = std::tuple(
      field("level", &S::level, Rule::Positive), field("bytes", &S::bytes, Rule::Positive),
      field("line_bytes", &S::lineBytes, Rule::PowerOfTwoOrZero),
      field("shared_by", &S::sharedBy, Rule::Positive));
};

template <> struct Fields<MemoryDescription> {
  static constexpr bool known = true;
  using S = MemoryDescription;
  static constexpr auto list = std::tuple(field("name", &S::name), field("kind", &S::kind),
                                          field("bytes", &S::bytes, Rule::NonNegative),
                                          field("alignment", &S::alignment, Rule::PowerOfTwo),
                                          field("read_gbps", &S::readGBps, Rule::NonNegative),
                                          field("write_gbps", &S::writeGBps, Rule::NonNegative),
                                          field("latency_ns", &S::latencyNs, Rule::NonNegative),
                                          field("accessible_by", &S::accessibleBy),
                                          field("can_map_read_only", &S::canMapReadOnly),
                                          field("numa_node", &S::numaNode, Rule::NodeNumber));
};

template <> struct Fields<DeviceDescription> {
  static constexpr bool known = true;
  using S = DeviceDescription;
  static constexpr auto list = std::tuple(
      field("name", &S::name), field("kind", &S::kind), field("description", &S::description),
      field("triple", &S::triple), field("cpu", &S::cpu), field("tune_cpu", &S::tuneCpu),
      field("features", &S::features), field("vector_bits", &S::vectorBits, Rule::NonNegative),
      field("cores", &S::cores, Rule::Positive),
      field("hardware_threads", &S::hardwareThreads, Rule::Positive),
      field("numa_nodes", &S::numaNodes, Rule::Positive),
      field("clock_mhz", &S::clockMHz, Rule::NonNegative),
      field("page_bytes", &S::pageBytes, Rule::PowerOfTwoOrZero),
      field("huge_page_bytes", &S::hugePageBytes, Rule::PowerOfTwo), field("caches", &S::caches),
      field("stack_addressable", &S::stackAddressable),
      field("main_thread_stack_bytes", &S::mainThreadStackBytes, Rule::NonNegative),
      field("worker_stack_bytes", &S::workerStackBytes, Rule::NonNegative),
      field("caller_stack_bytes", &S::callerStackBytes, Rule::NonNegative),
      field("max_stack_alloca_bytes", &S::maxStackAllocaBytes, Rule::NonNegative),
      field("stack_budget_bytes", &S::stackBudgetBytes, Rule::NonNegative),
      field("external_workspace_only", &S::externalWorkspaceOnly),
      field("workspace_alignment", &S::workspaceAlignment, Rule::PowerOfTwo),
      field("scratch_bytes", &S::scratchBytes, Rule::NonNegative),
      field("subgroup_size", &S::subgroupSize, Rule::Positive),
      field("max_workgroup_size", &S::maxWorkgroupSize, Rule::Positive),
      field("unified_addressing", &S::unifiedAddressing));
};

template <> struct Fields<TargetDescription> {
  static constexpr bool known = true;
  using S = TargetDescription;
  static constexpr auto list = std::tuple(field("name", &S::name), field("devices", &S::devices),
                                          field("memories", &S::memories));
};

template <typename T>
concept Described = Fields<T>::known;

/// Calls `function(field)` for every field of S, in order.
template <Described S, typename Function> constexpr void forEachField(Function &&function) {
  std::apply([&](auto... fields) { (function(fields), ...); }, Fields<S>::list);
}

/// The names of the enumerators of E as an array `list`.
template <typename E> struct EnumNames;

template <> struct EnumNames<DeviceKind> {
  static constexpr auto list =
      std::to_array<std::pair<DeviceKind, std::string_view>>({{DeviceKind::Cpu, "cpu"},
                                                              {DeviceKind::Cuda, "cuda"},
                                                              {DeviceKind::Vulkan, "vulkan"},
                                                              {DeviceKind::Npu, "npu"}});
};

template <> struct EnumNames<MemoryKind> {
  static constexpr auto list =
      std::to_array<std::pair<MemoryKind, std::string_view>>({{MemoryKind::Stack, "stack"},
                                                              {MemoryKind::Host, "host"},
                                                              {MemoryKind::Pinned, "pinned"},
                                                              {MemoryKind::Unified, "unified"},
                                                              {MemoryKind::Device, "device"},
                                                              {MemoryKind::Scratch, "scratch"},
                                                              {MemoryKind::Flash, "flash"}});
};

/// Empty for a value that is not an enumerator.
template <typename E> constexpr std::string_view enumName(E value) {
  for (auto [candidate, name] : EnumNames<E>::list)
    if (candidate == value)
      return name;
  return {};
}

/// False for a name that is not an enumerator's; `value` is then unchanged.
template <typename E> constexpr bool parseEnum(std::string_view text, E &value) {
  for (auto [candidate, name] : EnumNames<E>::list) {
    if (name == text) {
      value = candidate;
      return true;
    }
  }
  return false;
}

/// "cpu, cuda, vulkan, npu", for messages.
template <typename E> std::string enumChoices() {
  std::string text;
  for (auto [value, name] : EnumNames<E>::list)
    text.append(text.empty() ? "" : ", ").append(name);
  return text;
}

template <typename T> struct IsVector : std::false_type {};
template <typename T> struct IsVector<std::vector<T>> : std::true_type {};

/// "features" are kept sorted by name; decoders call this after filling them from a list in any
/// order. Entries that are not "+name" or "-name" are left for the verifier to find.
void sortFeatures(DeviceDescription &device);

} // namespace plim::targets::internal
