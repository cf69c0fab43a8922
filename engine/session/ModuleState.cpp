#include "engine/session/ModuleState.h"

#include "engine/session/State.h"
#include "support/Nearest.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

namespace plim {

using runtime::Buffer;

namespace {

void *alignUp(void *block, size_t alignment) {
  auto address = reinterpret_cast<uintptr_t>(block);
  return static_cast<std::byte *>(block) + (alignment - address % alignment) % alignment;
}

} // namespace

StateLayout::StateLayout(const jit::Artifact &artifact) {
  for (const jit::DataSymbol &symbol : artifact.symbols) {
    if (symbol.kind != jit::DataKind::Variable)
      continue;
    Variable variable = {.name = symbol.name,
                         .type = symbol.type,
                         .bytes = static_cast<size_t>(symbol.bytes),
                         .alignment = static_cast<size_t>(symbol.alignment),
                         .initial = {}};
    if (symbol.block >= 0) {
      variable.initial = artifact.blocks[static_cast<size_t>(symbol.block)].contents;
    } else if (std::optional<std::string_view> contents = contentsOf(artifact, symbol)) {
      auto copy = std::make_shared<const std::string>(*contents);
      variable.initial = {copy, *copy};
    }
    variables.push_back(std::move(variable));
  }
}

StatusOr<std::shared_ptr<ModuleState>>
ModuleState::create(std::shared_ptr<const StateLayout> layout,
                    std::shared_ptr<runtime::MemoryPool> pool,
                    std::shared_ptr<runtime::GuardedMemory> guarded) {
  std::shared_ptr<ModuleState> state(
      new ModuleState(std::move(layout), std::move(pool), std::move(guarded)));
  for (const StateLayout::Variable &variable : state->layout->variables) {
    auto element =
        static_cast<size_t>(elementBytes(*runtime::elementTypeFromName(variable.type.element)));
    void *block = state->guarded ? state->guarded->allocate(variable.bytes, element,
                                                            "variable '" + variable.name + "'")
                                 : state->pool->allocate(variable.bytes + variable.alignment);
    if (!block)
      return resourceExhaustedError("no memory for variable '" + variable.name + "' of " +
                                    std::to_string(variable.bytes) + " bytes");
    state->blocks.push_back(block);
    state->bases.push_back(variable.alignment == 0 ? block : alignUp(block, variable.alignment));
  }
  state->reset();
  return state;
}

ModuleState::~ModuleState() {
  for (void *block : blocks)
    guarded ? guarded->release(block) : pool->release(block);
}

StatusOr<Buffer> ModuleState::variable(std::string_view name) {
  auto found = std::ranges::find(layout->variables, name, &StateLayout::Variable::name);
  if (found == layout->variables.end()) {
    std::vector<std::string> names;
    for (const StateLayout::Variable &variable : layout->variables)
      names.push_back(variable.name);
    return notFoundError("the module has no variable '" + std::string(name) + "'" +
                         suggestion(name, names));
  }
  auto kept = std::make_unique<std::shared_ptr<ModuleState>>(shared_from_this());
  auto release = [](void *user, void *) {
    delete static_cast<std::shared_ptr<ModuleState> *>(user);
  };
  PLIM_ASSIGN_OR_RETURN(Buffer buffer,
                        Buffer::wrap(bases[static_cast<size_t>(found - layout->variables.begin())],
                                     *runtime::elementTypeFromName(found->type.element),
                                     found->type.shape, /*readOnly=*/false, release, kept.get()));
  static_cast<void>(kept.release());
  return buffer;
}

bool ModuleState::overlaps(const void *memory, size_t bytes) const {
  auto begin = reinterpret_cast<uintptr_t>(memory);
  for (size_t i = 0; i < bases.size(); ++i) {
    auto base = reinterpret_cast<uintptr_t>(bases[i]);
    if (bytes != 0 && begin < base + layout->variables[i].bytes && base < begin + bytes)
      return true;
  }
  return false;
}

void ModuleState::reset() {
  for (size_t i = 0; i < bases.size(); ++i) {
    const StateLayout::Variable &variable = layout->variables[i];
    std::string_view initial = variable.initial.bytes;
    if (initial.empty())
      std::memset(bases[i], 0, variable.bytes);
    else
      std::memcpy(bases[i], initial.data(), initial.size());
  }
}

} // namespace plim
