#include "engine/io/Safetensors.h"

#include "engine/runtime/ByteSize.h"
#include "support/Json.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>

namespace plim::io {
namespace {

using runtime::Buffer;
using runtime::ElementType;

constexpr size_t lengthBytes = 8;
// The bound of the format's own reader.
constexpr uint64_t maxHeaderBytes = 100'000'000;

StatusOr<ElementType> elementTypeOf(std::string_view name) {
  struct Row {
    std::string_view name;
    ElementType type;
  };
  static constexpr Row rows[] = {
      {"BOOL", ElementType::I1},        {"I8", ElementType::I8},
      {"U8", ElementType::I8},          {"I16", ElementType::I16},
      {"U16", ElementType::I16},        {"I32", ElementType::I32},
      {"U32", ElementType::I32},        {"I64", ElementType::I64},
      {"U64", ElementType::I64},        {"F16", ElementType::F16},
      {"F32", ElementType::F32},        {"F64", ElementType::F64},
      {"BF16", ElementType::BF16},      {"F8_E4M3", ElementType::F8E4M3FN},
      {"F8_E5M2", ElementType::F8E5M2},
  };
  for (const Row &row : rows)
    if (row.name == name)
      return row.type;
  return unimplementedError("elements of type '" + std::string(name) + "'");
}

/// The value as a count, or nothing: neither negative, nor fractional, nor of another type.
std::optional<int64_t> countOf(const Json &value) {
  if (!value.integer() || *value.integer() < 0)
    return std::nullopt;
  return *value.integer();
}

StatusOr<Json> parseHeader(std::string_view text) {
  StatusOr<Json> header = Json::parse(text);
  if (!header.ok())
    return header.status().withContext("the header");
  if (!header->object())
    return invalidArgumentError("the header is not a JSON object");
  return header;
}

StatusOr<SafetensorsEntry> parseEntry(const Json &object, std::span<const std::byte> data) {
  const Json *dtype = object.find("dtype");
  const Json *shape = object.find("shape");
  const Json *offsets = object.find("data_offsets");
  if (!dtype || !shape || !offsets)
    return invalidArgumentError("expected dtype, shape and data_offsets");
  if (!dtype->string() || !shape->array() || !offsets->array() || offsets->array()->size() != 2)
    return invalidArgumentError("dtype, shape or data_offsets is of the wrong kind");

  SafetensorsEntry entry;
  PLIM_ASSIGN_OR_RETURN(entry.type, elementTypeOf(*dtype->string()));
  for (const Json &value : *shape->array()) {
    std::optional<int64_t> extent = countOf(value);
    if (!extent)
      return invalidArgumentError("an extent is no count");
    entry.shape.push_back(*extent);
  }
  PLIM_ASSIGN_OR_RETURN(int64_t bytes, runtime::byteSizeOf(entry.shape, elementBytes(entry.type)));
  std::optional<int64_t> begin = countOf(offsets->array()->front());
  std::optional<int64_t> end = countOf(offsets->array()->back());
  if (!begin || !end || *begin > *end || static_cast<uint64_t>(*end) > data.size())
    return invalidArgumentError("its offsets lie outside of the data");
  if (*end - *begin != bytes)
    return invalidArgumentError(std::to_string(*end - *begin) + " bytes where its shape takes " +
                                std::to_string(bytes));
  entry.elements = data.subspan(static_cast<size_t>(*begin), static_cast<size_t>(bytes));
  if (entry.type == ElementType::I1 && std::any_of(entry.elements.begin(), entry.elements.end(),
                                                   [](std::byte b) { return b > std::byte{1}; }))
    return invalidArgumentError("a bool that is neither 0 nor 1");
  return entry;
}

/// Every byte of `data` must belong to exactly one tensor.
Status checkCover(const std::map<std::string, SafetensorsEntry> &tensors,
                  std::span<const std::byte> data) {
  std::vector<std::span<const std::byte>> ranges;
  for (const auto &[name, entry] : tensors)
    if (!entry.elements.empty())
      ranges.push_back(entry.elements);
  std::sort(ranges.begin(), ranges.end(),
            [](const auto &a, const auto &b) { return a.data() < b.data(); });
  const std::byte *covered = data.data();
  for (std::span<const std::byte> range : ranges) {
    if (range.data() < covered)
      return invalidArgumentError("two tensors overlap");
    if (range.data() > covered)
      return invalidArgumentError("bytes between tensors belong to none");
    covered = range.data() + range.size();
  }
  if (covered != data.data() + data.size())
    return invalidArgumentError("bytes after the last tensor");
  return okStatus();
}

StatusOr<std::map<std::string, SafetensorsEntry>> parse(std::span<const std::byte> file) {
  if (file.size() < lengthBytes)
    return invalidArgumentError("not a safetensors file");
  uint64_t headerBytes = 0;
  for (size_t i = 0; i < lengthBytes; ++i)
    headerBytes |= static_cast<uint64_t>(file[i]) << (8 * i);
  if (headerBytes > maxHeaderBytes || headerBytes > file.size() - lengthBytes)
    return invalidArgumentError("a header of " + std::to_string(headerBytes) +
                                " bytes in a file of " + std::to_string(file.size()));
  std::string_view text(reinterpret_cast<const char *>(file.data()) + lengthBytes, headerBytes);
  std::span<const std::byte> data = file.subspan(lengthBytes + headerBytes);

  PLIM_ASSIGN_OR_RETURN(Json header, parseHeader(text));
  std::map<std::string, SafetensorsEntry> tensors;
  for (const auto &[name, object] : *header.object()) {
    if (name == "__metadata__")
      continue;
    StatusOr<SafetensorsEntry> entry = parseEntry(object, data);
    if (!entry.ok())
      return entry.status().withContext("tensor '" + name + "'");
    tensors.emplace(name, std::move(*entry));
  }
  PLIM_RETURN_IF_ERROR(checkCover(tensors, data));
  return tensors;
}

} // namespace

StatusOr<SafetensorsFile> SafetensorsFile::open(const std::string &path) {
  PLIM_ASSIGN_OR_RETURN(File file, File::open(path));
  SafetensorsFile result;
  result.path = path;
  PLIM_ASSIGN_OR_RETURN(result.mapping, file.map());
  StatusOr<std::map<std::string, SafetensorsEntry>> tensors = parse(*result.mapping);
  if (!tensors.ok())
    return tensors.status().withContext(path);
  result.tensors = std::move(*tensors);
  return result;
}

StatusOr<Buffer> SafetensorsFile::tensor(const std::string &name, const Logger &log) const {
  auto found = tensors.find(name);
  if (found == tensors.end())
    return notFoundError(path + ": no tensor '" + name + "'");
  const SafetensorsEntry &entry = found->second;
  auto alignment = static_cast<size_t>(elementAlignment(entry.type));
  if (reinterpret_cast<uintptr_t>(entry.elements.data()) % alignment == 0)
    return wrapMapping(mapping, entry.elements, entry.type, entry.shape);
  log.log(LogLevel::Info, path, ": tensor '", name,
          "' is copied, since the file does not align its ", elementTypeName(entry.type),
          " elements");
  void *copy = std::malloc(entry.elements.size());
  if (!copy)
    return resourceExhaustedError(path + ": no memory for tensor '" + name + "'");
  std::memcpy(copy, entry.elements.data(), entry.elements.size());
  auto release = [](void *, void *memory) { std::free(memory); };
  StatusOr<Buffer> buffer =
      Buffer::wrap(copy, entry.type, entry.shape, /*readOnly=*/true, release, nullptr);
  if (!buffer.ok())
    std::free(copy);
  return buffer;
}

} // namespace plim::io
