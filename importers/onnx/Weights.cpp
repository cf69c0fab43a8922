#include "importers/onnx/Weights.h"

#include <cstdint>
#include <string_view>
#include <utility>

namespace plim::importers {

namespace {

// Fields of ONNX's messages, and the kinds of values, as https://protobuf.dev/programming-guides/encoding/ has them.
constexpr uint64_t graphOfModel = 7, initialiserOfGraph = 5, rawDataOfTensor = 9;
constexpr uint64_t varint = 0, fixed64 = 1, lengthDelimited = 2, fixed32 = 5;

/// Smaller ones stay: the importer keeps no others where they lie.
constexpr size_t leastBytes = 1024;

/// A field of a message: its key, and all of it.
struct Field {
  uint64_t number = 0, kind = 0;
  std::string_view whole;   // with the key and the length
  std::string_view payload; // of what has a length
};

std::optional<uint64_t> takeVarint(std::string_view &rest) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !rest.empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(rest.front());
    rest.remove_prefix(1);
    value |= uint64_t(byte & 0x7f) << shift;
    if (!(byte & 0x80))
      return value;
  }
  return std::nullopt;
}

void putVarint(std::string &out, uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

/// The next field; nothing where there is none that can be read.
std::optional<Field> takeField(std::string_view &rest) {
  const std::string_view begin = rest;
  const std::optional<uint64_t> key = takeVarint(rest);
  if (!key)
    return std::nullopt;
  Field field;
  field.number = *key >> 3;
  field.kind = *key & 7;
  uint64_t size = 0;
  if (field.kind == varint || field.kind == lengthDelimited) {
    const std::optional<uint64_t> value = takeVarint(rest);
    if (!value)
      return std::nullopt;
    size = field.kind == varint ? 0 : *value;
  } else if (field.kind == fixed64 || field.kind == fixed32) {
    size = field.kind == fixed64 ? 8 : 4;
  } else {
    return std::nullopt;
  }
  if (size > rest.size())
    return std::nullopt;
  field.payload = rest.substr(0, size);
  rest.remove_prefix(size);
  field.whole = begin.substr(0, begin.size() - rest.size());
  return field;
}

/// The fields of a message but for those that `replace` writes itself. False if they cannot be read.
template <typename Replace>
bool rewrite(std::string_view message, std::string &out, const Replace &replace) {
  while (!message.empty()) {
    const std::optional<Field> field = takeField(message);
    if (!field)
      return false;
    if (field->kind == lengthDelimited) {
      const std::optional<bool> replaced = replace(*field);
      if (!replaced)
        return false;
      if (*replaced)
        continue;
    }
    out += field->whole;
  }
  return true;
}

void putMessage(std::string &out, uint64_t number, const std::string &message) {
  putVarint(out, number << 3 | lengthDelimited);
  putVarint(out, message.size());
  out += message;
}

} // namespace

std::optional<WithoutWeights> takeWeights(std::span<const std::byte> bytes) {
  const std::string_view model(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  WithoutWeights out;
  int position = 0, graphs = 0;
  auto tensor = [&](std::string_view message, std::string &to) {
    bool isThere = false;
    return rewrite(message, to, [&](const Field &field) -> std::optional<bool> {
      if (field.number != rawDataOfTensor)
        return false;
      if (std::exchange(isThere, true))
        return std::nullopt;
      if (field.payload.size() < leastBytes)
        return false;
      out.weights[position] = std::as_bytes(std::span(field.payload));
      return true;
    });
  };
  auto graph = [&](std::string_view message, std::string &to) {
    return rewrite(message, to, [&](const Field &field) -> std::optional<bool> {
      if (field.number != initialiserOfGraph)
        return false;
      std::string without;
      if (!tensor(field.payload, without))
        return std::nullopt;
      putMessage(to, initialiserOfGraph, without);
      ++position;
      return true;
    });
  };
  const bool isRead = rewrite(model, out.model, [&](const Field &field) -> std::optional<bool> {
    if (field.number != graphOfModel)
      return false;
    std::string without;
    // Several graphs are merged by protobuf; nobody writes that.
    if (++graphs > 1 || !graph(field.payload, without))
      return std::nullopt;
    putMessage(out.model, graphOfModel, without);
    return true;
  });
  return isRead ? std::optional(std::move(out)) : std::nullopt;
}

} // namespace plim::importers
