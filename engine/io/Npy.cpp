#include "engine/io/Npy.h"

#include "engine/io/File.h"
#include "engine/runtime/ByteSize.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

namespace plim::io {
namespace {

using runtime::Buffer;
using runtime::ElementType;
using runtime::MemoryPool;
using runtime::Scalar;
using runtime::Value;

constexpr std::string_view magic = "\x93NUMPY";
constexpr size_t prefixBytes = 8; // magic and two version bytes
// A header holds a type and a shape; anything near this is no such thing.
constexpr uint64_t maxHeaderBytes = uint64_t{1} << 20;

struct Header {
  std::string_view descr;
  bool fortranOrder = false;
  std::vector<int64_t> shape;
};

/// Reads the header, a Python dictionary literal, of which NumPy writes a small part.
class HeaderParser {
public:
  explicit HeaderParser(std::string_view text) : text(text) {}

  /// Nothing if it is malformed, lacks one of the three keys or has another or the same twice.
  std::optional<Header> parse() {
    Header header;
    bool descr = false, order = false, shape = false;
    if (!consume('{'))
      return std::nullopt;
    while (!consume('}')) {
      std::optional<std::string_view> key = string();
      if (!key || !consume(':'))
        return std::nullopt;
      bool valid = false;
      if (*key == "descr" && !std::exchange(descr, true))
        valid = descrValue(header);
      else if (*key == "fortran_order" && !std::exchange(order, true))
        valid = orderValue(header);
      else if (*key == "shape" && !std::exchange(shape, true))
        valid = shapeValue(header);
      if (!valid)
        return std::nullopt;
      if (!consume(',') && peek() != '}')
        return std::nullopt;
    }
    skipBlanks();
    if (!text.empty() || !descr || !order || !shape)
      return std::nullopt;
    return header;
  }

private:
  void skipBlanks() {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\n\r"), text.size()));
  }
  char peek() {
    skipBlanks();
    return text.empty() ? '\0' : text.front();
  }
  bool consume(char c) {
    if (peek() != c || text.empty())
      return false;
    text.remove_prefix(1);
    return true;
  }
  bool consume(std::string_view word) {
    skipBlanks();
    if (!text.starts_with(word))
      return false;
    text.remove_prefix(word.size());
    return true;
  }
  std::optional<std::string_view> string() {
    char quote = peek();
    if (quote != '\'' && quote != '"')
      return std::nullopt;
    size_t end = text.find(quote, 1);
    if (end == std::string_view::npos)
      return std::nullopt;
    std::string_view content = text.substr(1, end - 1);
    text.remove_prefix(end + 1);
    return content;
  }

  bool descrValue(Header &header) {
    // A structured type is a list; it is told apart from garbage for the sake of the message.
    if (peek() == '[') {
      header.descr = "structured";
      size_t end = text.rfind(']');
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
      return true;
    }
    std::optional<std::string_view> descr = string();
    if (descr)
      header.descr = *descr;
    return descr.has_value();
  }
  bool orderValue(Header &header) {
    header.fortranOrder = consume("True");
    return header.fortranOrder || consume("False");
  }
  bool shapeValue(Header &header) {
    if (!consume('('))
      return false;
    while (!consume(')')) {
      skipBlanks();
      int64_t extent = 0;
      auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), extent);
      if (error != std::errc() || extent < 0)
        return false;
      text.remove_prefix(static_cast<size_t>(stop - text.data()));
      header.shape.push_back(extent);
      // One extent in parentheses without a comma is a number, not a tuple.
      if (!consume(',') && (peek() != ')' || header.shape.size() == 1))
        return false;
    }
    return true;
  }

  std::string_view text;
};

StatusOr<ElementType> elementTypeOf(std::string_view descr) {
  if (descr.size() == 3) {
    char order = descr[0], kind = descr[1], bytes = descr[2];
    if (order == '>' && bytes != '1')
      return invalidArgumentError("big-endian elements");
    bool known = order == '<' || order == '|' || order == '=' || order == '>';
    bool integer = kind == 'i' || kind == 'u';
    if (known && kind == 'b' && bytes == '1')
      return ElementType::I1;
    if (known && integer && bytes == '1')
      return ElementType::I8;
    if (known && integer && bytes == '2')
      return ElementType::I16;
    if (known && integer && bytes == '4')
      return ElementType::I32;
    if (known && integer && bytes == '8')
      return ElementType::I64;
    if (known && kind == 'f' && bytes == '2')
      return ElementType::F16;
    if (known && kind == 'f' && bytes == '4')
      return ElementType::F32;
    if (known && kind == 'f' && bytes == '8')
      return ElementType::F64;
    if (known && kind == 'c' && bytes == '8')
      return ElementType::ComplexF32;
  }
  if (descr.size() == 4 && descr.substr(1) == "c16")
    return descr[0] == '>' ? StatusOr<ElementType>(invalidArgumentError("big-endian elements"))
                           : ElementType::ComplexF64;
  return unimplementedError("elements of NumPy type '" + std::string(descr) + "'");
}

/// NumPy's name of the type, or nothing.
std::optional<std::string_view> descrOf(ElementType type) {
  switch (type) {
  case ElementType::I1:
    return "|b1";
  case ElementType::I8:
    return "|i1";
  case ElementType::I16:
    return "<i2";
  case ElementType::I32:
    return "<i4";
  case ElementType::I64:
  case ElementType::Index:
    return "<i8";
  case ElementType::F16:
    return "<f2";
  case ElementType::ComplexF32:
    return "<c8";
  case ElementType::ComplexF64:
    return "<c16";
  case ElementType::I2:
  case ElementType::I4:
  case ElementType::BF16:
  case ElementType::F8E4M3FN:
  case ElementType::F8E5M2:
    return std::nullopt;
  case ElementType::F32:
    return "<f4";
  case ElementType::F64:
    return "<f8";
  }
  return std::nullopt;
}

/// Copies elements from column-major to row-major order.
void transpose(std::span<const int64_t> shape, size_t bytes, const std::byte *from, std::byte *to) {
  int64_t count = 1;
  std::vector<int64_t> stride(shape.size());
  for (size_t d = 0; d < shape.size(); ++d) {
    stride[d] = count;
    count *= shape[d];
  }
  std::vector<int64_t> index(shape.size(), 0);
  int64_t source = 0;
  for (int64_t i = 0; i < count; ++i, to += bytes) {
    std::memcpy(to, from + static_cast<size_t>(source) * bytes, bytes);
    for (size_t d = shape.size(); d-- > 0;) {
      source += stride[d];
      if (++index[d] < shape[d])
        break;
      source -= stride[d] * shape[d];
      index[d] = 0;
    }
  }
}

/// Where the header's text lies in the file.
struct HeaderPlace {
  uint64_t offset;
  uint64_t bytes;
};

StatusOr<HeaderPlace> findHeader(const File &file) {
  std::array<std::byte, prefixBytes + 4> start;
  if (file.size() < prefixBytes + 2)
    return invalidArgumentError("not a NumPy file");
  size_t present = std::min<size_t>(start.size(), file.size());
  PLIM_RETURN_IF_ERROR(file.read(0, std::span(start).first(present)));
  if (std::memcmp(start.data(), magic.data(), magic.size()) != 0)
    return invalidArgumentError("not a NumPy file");
  auto major = static_cast<int>(start[6]);
  auto minor = static_cast<int>(start[7]);
  if (major < 1 || major > 3 || minor != 0)
    return unimplementedError("NumPy format version " + std::to_string(major) + "." +
                              std::to_string(minor));
  size_t lengthBytes = major == 1 ? 2 : 4;
  HeaderPlace place{.offset = prefixBytes + lengthBytes, .bytes = 0};
  for (size_t i = 0; i < lengthBytes; ++i)
    place.bytes |= static_cast<uint64_t>(start[prefixBytes + i]) << (8 * i);
  if (place.offset > file.size() || place.bytes > file.size() - place.offset)
    return invalidArgumentError("the file ends inside its header");
  if (place.bytes > maxHeaderBytes)
    return invalidArgumentError("a header of " + std::to_string(place.bytes) + " bytes");
  return place;
}

/// What the header says, checked against the size of the file.
struct Array {
  ElementType type;
  std::vector<int64_t> shape;
  bool fortranOrder; // and it makes a difference
  uint64_t begin;    // of the elements
  uint64_t bytes;
};

StatusOr<Array> describeArray(const File &file) {
  PLIM_ASSIGN_OR_RETURN(HeaderPlace place, findHeader(file));
  std::string text(place.bytes, '\0');
  PLIM_RETURN_IF_ERROR(file.read(place.offset, std::as_writable_bytes(std::span(text))));
  std::optional<Header> header = HeaderParser(text).parse();
  if (!header)
    return invalidArgumentError("malformed header");
  PLIM_ASSIGN_OR_RETURN(ElementType type, elementTypeOf(header->descr));
  PLIM_ASSIGN_OR_RETURN(int64_t bytes, runtime::byteSizeOf(header->shape, elementBytes(type)));
  uint64_t begin = place.offset + place.bytes;
  if (file.size() - begin != static_cast<uint64_t>(bytes))
    return invalidArgumentError(std::to_string(file.size() - begin) +
                                " bytes of elements where the header tells of " +
                                std::to_string(bytes));
  bool fortranOrder = header->fortranOrder && header->shape.size() > 1;
  return Array{type, std::move(header->shape), fortranOrder, begin, static_cast<uint64_t>(bytes)};
}

Status checkElements(ElementType type, std::span<const std::byte> elements) {
  if (type == ElementType::I1 &&
      std::any_of(elements.begin(), elements.end(), [](std::byte b) { return b > std::byte{1}; }))
    return invalidArgumentError("a bool that is neither 0 nor 1");
  return okStatus();
}

StatusOr<Buffer> readArray(const File &file, const Array &array,
                           const std::shared_ptr<MemoryPool> &pool) {
  PLIM_ASSIGN_OR_RETURN(Buffer buffer, Buffer::allocate(pool, array.type, array.shape));
  std::span<std::byte> elements(static_cast<std::byte *>(buffer.mutableData()), buffer.bytes());
  if (!array.fortranOrder) {
    PLIM_RETURN_IF_ERROR(file.read(array.begin, elements));
  } else {
    PLIM_ASSIGN_OR_RETURN(Buffer columns, Buffer::allocate(pool, array.type, array.shape));
    auto *source = static_cast<std::byte *>(columns.mutableData());
    PLIM_RETURN_IF_ERROR(file.read(array.begin, {source, columns.bytes()}));
    transpose(array.shape, static_cast<size_t>(elementBytes(array.type)), source, elements.data());
  }
  PLIM_RETURN_IF_ERROR(checkElements(array.type, elements));
  return buffer;
}

StatusOr<Buffer> readArray(const File &file, const std::shared_ptr<MemoryPool> &pool) {
  PLIM_ASSIGN_OR_RETURN(Array array, describeArray(file));
  return readArray(file, array, pool);
}

StatusOr<Buffer> mapArray(const File &file, const Logger &log) {
  PLIM_ASSIGN_OR_RETURN(Array array, describeArray(file));
  bool isAligned = array.begin % static_cast<uint64_t>(elementAlignment(array.type)) == 0;
  if (array.fortranOrder || !isAligned) {
    log.log(LogLevel::Info, file.path(), ": copied, since it is ",
            array.fortranOrder ? "in Fortran order" : "not aligned to its elements");
    return readArray(file, array, std::make_shared<MemoryPool>());
  }
  PLIM_ASSIGN_OR_RETURN(Mapping mapping, file.map());
  std::span<const std::byte> elements = mapping->subspan(array.begin, array.bytes);
  PLIM_RETURN_IF_ERROR(checkElements(array.type, elements));
  return wrapMapping(mapping, elements, array.type, array.shape);
}

/// Puts the path in front of the message of a failure, once.
StatusOr<Buffer> named(const std::string &path, StatusOr<Buffer> array) {
  if (!array.ok() && !array.status().message().starts_with(path))
    return array.status().withContext(path);
  return array;
}

} // namespace

StatusOr<Buffer> readNpy(const std::string &path, const std::shared_ptr<MemoryPool> &pool) {
  PLIM_ASSIGN_OR_RETURN(File file, File::open(path));
  return named(path, readArray(file, pool));
}

StatusOr<Buffer> mapNpy(const std::string &path, const Logger &log) {
  PLIM_ASSIGN_OR_RETURN(File file, File::open(path));
  return named(path, mapArray(file, log));
}

Status checkNpyElements(ElementType type) {
  return descrOf(type) ? okStatus()
                       : unimplementedError("NumPy has no type for elements of " +
                                            std::string(elementTypeName(type)));
}

Status writeNpy(const std::string &path, const Value &value) {
  const auto *buffer = std::get_if<Buffer>(&value);
  const auto *scalar = std::get_if<Scalar>(&value);
  ElementType type = buffer ? buffer->type() : scalar->type;
  PLIM_RETURN_IF_ERROR(checkNpyElements(type).withContext(path));
  std::optional<std::string_view> descr = descrOf(type);
  std::string header =
      "{'descr': '" + std::string(*descr) + "', 'fortran_order': False, 'shape': (";
  if (buffer)
    for (int64_t extent : buffer->shape())
      header += std::to_string(extent) + ", ";
  header += "), }";

  // The elements begin at a multiple of 64; the header ends in a line break before that.
  size_t lengthBytes = header.size() < 0xff00 ? 2 : 4;
  size_t unpadded = prefixBytes + lengthBytes + header.size() + 1;
  header.append((64 - unpadded % 64) % 64, ' ');
  header += '\n';
  std::string prefix(magic);
  prefix += {static_cast<char>(lengthBytes == 2 ? 1 : 2), '\0'};
  for (size_t i = 0; i < lengthBytes; ++i)
    prefix += static_cast<char>(header.size() >> (8 * i));

  std::span<const std::byte> elements =
      buffer ? std::span(static_cast<const std::byte *>(buffer->data()), buffer->bytes())
             : std::as_bytes(std::span(&scalar->bits, 1))
                   .first(static_cast<size_t>(elementBytes(type)));
  const std::span<const std::byte> pieces[] = {std::as_bytes(std::span(prefix)),
                                               std::as_bytes(std::span(header)), elements};
  return writeFile(path, pieces);
}

} // namespace plim::io
