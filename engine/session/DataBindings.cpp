#include "engine/session/DataBindings.h"

#include "engine/io/File.h"
#include "support/Nearest.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace plim::session {

using jit::DataKind;
using jit::DataSymbol;
using runtime::Buffer;

StatusOr<std::vector<jit::DataBinding>> bindParameters(const jit::Artifact &artifact,
                                                       Parameters &parameters) {
  std::vector<std::string> names;
  for (const DataSymbol &symbol : artifact.symbols)
    if (symbol.kind == DataKind::Parameter)
      names.push_back(symbol.name);
  for (const std::string &name : artifact.unreadParameters) {
    names.push_back(name);
    parameters.erase(name);
  }
  for (const auto &[name, buffer] : parameters)
    if (std::find(names.begin(), names.end(), name) == names.end())
      return invalidArgumentError(artifact.source + ": the module has no parameter '" + name + "'" +
                                  suggestion(name, names));
  std::vector<jit::DataBinding> bindings;
  for (const DataSymbol &symbol : artifact.symbols) {
    if (symbol.kind != DataKind::Parameter)
      continue;
    const std::string what = symbol.location + "parameter '" + symbol.name + "'";
    auto it = parameters.find(symbol.name);
    if (it == parameters.end() || !it->second)
      return errorAtPlace(StatusCode::FailedPrecondition,
                          what + " of type " + toString(symbol.type) + " is not bound");
    Buffer &buffer = it->second;
    if (elementTypeName(buffer.type()) != symbol.type.element ||
        !shapeFits(symbol.type, buffer.shape()) || !stridesFit(symbol.type, buffer))
      return errorAtPlace(StatusCode::InvalidArgument,
                          what + " is " + typeName(buffer) + expected(symbol.type, &buffer));
    if (!symbol.isSourceOnly) {
      PLIM_ASSIGN_OR_RETURN(buffer, session::aligned(buffer));
    }
    bindings.emplace_back(symbol.name, buffer.data());
  }
  return bindings;
}

StatusOr<PinnedConstants> reserveConstants(const jit::Artifact &artifact, Pools &pools,
                                           std::vector<HostMemory> &taken) {
  std::map<std::string, size_t> needs;
  for (const DataSymbol &symbol : artifact.symbols)
    if (!symbol.pool.empty())
      needs[symbol.pool] += roundUp(symbol.bytes);
  std::map<std::string, std::byte *> next;
  for (const auto &[name, need] : needs) {
    auto pool = pools.find(name);
    if (pool == pools.end())
      return failedPreconditionError("pool '" + name + "' holds " + std::to_string(need) +
                                     " bytes of constants of " + artifact.source +
                                     ": bind it when the module is loaded");
    constexpr size_t alignment = PLIM_BUFFER_ALIGNMENT;
    HostMemory &memory = pool->second;
    if (memory.bytes < need)
      return resourceExhaustedError("pool '" + name + "' has " + std::to_string(memory.bytes) +
                                    " bytes, but the constants of " + artifact.source +
                                    " there need " + std::to_string(need) + ": " +
                                    std::to_string(need - memory.bytes) + " are missing");
    memory.bytes = (memory.bytes - need) / alignment * alignment;
    next[name] = static_cast<std::byte *>(memory.data) + memory.bytes;
    for (const HostMemory &other : taken)
      if (overlap(other, {next[name], need}))
        return invalidArgumentError("pool '" + name +
                                    "' overlaps another one that holds constants");
    if (need != 0)
      taken.push_back({next[name], need});
  }
  PinnedConstants pinned;
  for (const DataSymbol &symbol : artifact.symbols) {
    if (symbol.pool.empty())
      continue;
    std::byte *&address = next[symbol.pool];
    pinned.emplace_back(&symbol, address);
    address += roundUp(symbol.bytes);
  }
  return pinned;
}

namespace {

/// That of an element.
size_t alignmentOf(const DataSymbol &symbol) {
  int64_t count = 1;
  for (int64_t extent : symbol.type.shape)
    count *= extent;
  auto element = static_cast<size_t>(count == 0 ? 1 : symbol.bytes / count);
  return std::min(std::bit_floor(std::max(element, size_t{1})), roundUp(1));
}

} // namespace

Status guardData(const jit::Artifact &artifact, std::vector<jit::DataBinding> &bindings,
                 GuardedData &data) {
  const std::vector<jit::DataBinding> bound = std::exchange(bindings, {});
  const std::map<std::string_view, const void *> parameters(bound.begin(), bound.end());
  for (const DataSymbol &symbol : artifact.symbols) {
    if (!symbol.pool.empty() || symbol.kind == DataKind::Variable)
      continue;
    const auto bytes = static_cast<size_t>(symbol.bytes);
    const void *contents = nullptr;
    if (symbol.kind == DataKind::Parameter)
      contents = parameters.at(symbol.name);
    else if (std::optional<std::string_view> initial = contentsOf(artifact, symbol))
      contents = initial->data();
    const char *kind = symbol.kind == DataKind::Parameter ? "parameter '" : "constant '";
    std::string name = kind + symbol.name + "'";
    void *block = data.add(contents, bytes, alignmentOf(symbol), name);
    if (!block)
      return resourceExhaustedError("no memory for a guarded copy of " + name);
    bindings.emplace_back(symbol.name, block);
  }
  return okStatus();
}

std::vector<ArrangedData> arrangedData(const jit::Artifact &artifact,
                                       const std::vector<jit::DataBinding> &bindings,
                                       const jit::LinkedModule &module) {
  std::map<std::string_view, const DataSymbol *> symbols;
  for (const DataSymbol &symbol : artifact.symbols)
    symbols[symbol.name] = &symbol;
  const std::map<std::string_view, const void *> bound(bindings.begin(), bindings.end());
  std::vector<ArrangedData> data;
  for (const DataSymbol &symbol : artifact.symbols) {
    if (!symbol.arrangement)
      continue;
    const DataSymbol &source = *symbols.at(symbol.arrangement->source);
    ArrangedData &each = data.emplace_back();
    each = {&symbol, &source, nullptr, module.prepared(symbol.name)};
    if (auto binding = bound.find(source.name); binding != bound.end())
      each.from = binding->second;
    else if (std::optional<std::string_view> contents = contentsOf(artifact, source))
      each.from = contents->data();
  }
  return data;
}

void arrangeInParts(std::span<const ArrangedData> data, const Parameters &parameters,
                    const jit::ParallelFor &parallelFor) {
  constexpr int64_t partBytes = int64_t(64) << 20;
  while (!data.empty()) {
    size_t count = 0;
    for (int64_t bytes = 0; count < data.size() && bytes < partBytes; ++count)
      bytes += data[count].symbol->bytes;
    arrange(data.first(count), parallelFor);
    for (const ArrangedData &each : data.first(count))
      if (auto it = parameters.find(each.source->name);
          each.source->kind == DataKind::Parameter && it != parameters.end())
        io::dropPages(it->second);
    data = data.subspan(count);
  }
}

} // namespace plim::session
