#include "engine/session/GuardedArguments.h"

#include "engine/session/Overlap.h"

#include <algorithm>
#include <cstring>

namespace plim {

using runtime::Buffer;
using runtime::Value;
using session::Interval;
using session::intervalOf;

namespace {

// The widest element, to which every address of the host's may be aligned alike.
constexpr uintptr_t widest = 8;

/// Elements from one buffer to another of the same extents and strides.
void copyElements(const Buffer &buffer, std::byte *to, const std::byte *from,
                  size_t dimension = 0) {
  auto each = static_cast<size_t>(elementBytes(buffer.type()));
  if (buffer.isDense()) {
    std::memcpy(to, from, buffer.bytes());
    return;
  }
  if (dimension == buffer.shape().size()) {
    std::memcpy(to, from, each);
    return;
  }
  int64_t step = buffer.strides()[dimension] * static_cast<int64_t>(each);
  for (int64_t i = 0; i < buffer.shape()[dimension]; ++i)
    copyElements(buffer, to + i * step, from + i * step, dimension + 1);
}

/// Buffers to be copied as one: a tensor, or memrefs of which each overlaps another.
struct Span {
  Interval interval;
  bool isMemref;
  bool isWritten; // one of them
  std::vector<size_t> arguments;
};

bool isWritten(const jit::ValueType &type) { return type.access != jit::Access::ReadOnly; }

} // namespace

GuardedArguments::~GuardedArguments() {
  for (const Piece &piece : pieces) {
    if (!piece.isWritten)
      memory.endAccess(piece.block, /*writes=*/false);
    memory.release(piece.block);
  }
}

Status GuardedArguments::copyIn(std::span<const jit::ValueType> types,
                                std::span<const Value> values, plim_view *views) {
  std::vector<Span> spans;
  for (size_t i = 0; i < values.size(); ++i) {
    const auto *buffer = std::get_if<Buffer>(&values[i]);
    if (!buffer)
      continue;
    Span span = {intervalOf(*buffer), types[i].isMemref, isWritten(types[i]), {i}};
    if (buffer->elementCount() == 0)
      span.interval = {};
    // Those that it joins may have been apart from each other.
    for (size_t j = 0; span.isMemref && j < spans.size();) {
      if (!spans[j].isMemref || !spans[j].interval.meets(span.interval)) {
        ++j;
        continue;
      }
      span.interval = {std::min(span.interval.begin, spans[j].interval.begin),
                       std::max(span.interval.end, spans[j].interval.end)};
      span.isWritten |= spans[j].isWritten;
      span.arguments.insert(span.arguments.end(), spans[j].arguments.begin(),
                            spans[j].arguments.end());
      spans.erase(spans.begin() + static_cast<ptrdiff_t>(j));
      j = 0;
    }
    spans.push_back(std::move(span));
  }
  for (const Span &span : spans) {
    // Alone, a buffer ends with its last element at the guard. Several keep the alignment of each.
    const auto &first = std::get<Buffer>(values[span.arguments[0]]);
    bool isAlone = span.arguments.size() == 1;
    size_t lead = isAlone ? 0 : span.interval.begin % widest;
    size_t bytes = span.interval.end - span.interval.begin + lead;
    void *block =
        memory.allocate(bytes, isAlone ? static_cast<size_t>(elementBytes(first.type())) : widest);
    if (!block)
      return resourceExhaustedError("no memory for a guarded copy of argument #" +
                                    std::to_string(span.arguments[0]));
    pieces.push_back({block, span.isWritten});
    for (size_t i : span.arguments) {
      const auto &buffer = std::get<Buffer>(values[i]);
      std::byte *data = static_cast<std::byte *>(block) + lead;
      if (buffer.elementCount() != 0) {
        data += reinterpret_cast<uintptr_t>(buffer.data()) - span.interval.begin;
        copyElements(buffer, data, static_cast<const std::byte *>(buffer.data()));
      }
      copies.push_back({&buffer, isWritten(types[i]), data});
      views[i].data = data;
    }
    if (!span.isWritten)
      memory.beginAccess(block, /*writes=*/false);
  }
  return okStatus();
}

void GuardedArguments::copyBack() {
  for (const Copy &copy : copies)
    if (copy.isWritten && copy.buffer->elementCount() != 0)
      copyElements(*copy.buffer, static_cast<std::byte *>(copy.buffer->mutableData()), copy.data);
}

} // namespace plim
