#include "importers/emit/Error.h"
#include "importers/onnx/Protobuf.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace plim::importers {

namespace {

using enum ElementType;

/// By ONNX's numbers, which begin with 1.
constexpr std::array<ElementType, 27> numbers{
    F32,        F32,    U8,         I8,  U16, I16,    I32,    I64,  String,
    I1,         F16,    F64,        U32, U64, C64,    C128,   BF16, F8E4M3FN,
    F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, U4,  I4,  F4E2M1, F8E8M0, U2,   I2};

std::string quoted(const std::string &name) { return "'" + name + "'"; }

/// So many elements of them, zero points say, are one in a byte from here on.
constexpr int64_t fewElements = 4096;

/// Bytes of a tensor of that shape, whose elements have so many bits; refuses what overflows.
size_t checkedBytes(const onnx::TensorProto &tensor, size_t bits) {
  uint64_t count = 1;
  bool empty = false;
  for (int64_t extent : tensor.dims()) {
    if (extent < 0)
      invalid("tensor " + quoted(tensor.name()) + " has an extent of " + std::to_string(extent));
    empty |= extent == 0;
    if (extent != 0 && __builtin_mul_overflow(count, static_cast<uint64_t>(extent), &count))
      invalid("tensor " + quoted(tensor.name()) + " has too many elements");
  }
  uint64_t all = 0;
  if (__builtin_mul_overflow(count, bits, &all) || all > uint64_t(1) << 62)
    invalid("tensor " + quoted(tensor.name()) + " has too many elements");
  return empty ? 0 : all / 8 + (all % 8 != 0);
}

template <typename T, typename Field> std::vector<std::byte> packed(const Field &field) {
  std::vector<std::byte> bytes(static_cast<size_t>(field.size()) * sizeof(T));
  for (int i = 0; i < field.size(); ++i) {
    const T value = static_cast<T>(field.Get(i));
    std::memcpy(bytes.data() + static_cast<size_t>(i) * sizeof(T), &value, sizeof(T));
  }
  return bytes;
}

/// What lies in the fields of its type, not in raw_data.
std::vector<std::byte> typedData(const onnx::TensorProto &tensor, ElementType type) {
  switch (type) {
  case ElementType::F32:
  case ElementType::C64:
    return packed<float>(tensor.float_data());
  case ElementType::F64:
  case ElementType::C128:
    return packed<double>(tensor.double_data());
  case ElementType::I64:
    return packed<int64_t>(tensor.int64_data());
  case ElementType::U32:
    return packed<uint32_t>(tensor.uint64_data());
  case ElementType::U64:
    return packed<uint64_t>(tensor.uint64_data());
  case ElementType::I32:
    return packed<int32_t>(tensor.int32_data());
  case ElementType::I16:
  case ElementType::U16:
  case ElementType::F16:
  case ElementType::BF16:
    return packed<uint16_t>(tensor.int32_data());
  default:
    return packed<uint8_t>(tensor.int32_data());
  }
}

struct Mapped {
  void *start;
  size_t size;
  ~Mapped() { munmap(start, size); }
};

/// The whole file, mapped.
std::shared_ptr<const Mapped> mapFile(const std::string &path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    invalid("external data '" + path + "': " + std::strerror(errno));
  struct stat status{};
  void *start = MAP_FAILED;
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0)
    start = mmap(nullptr, static_cast<size_t>(status.st_size), PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  if (start == MAP_FAILED)
    invalid("external data '" + path + "' is no file with data");
  return std::make_shared<const Mapped>(start, static_cast<size_t>(status.st_size));
}

uint64_t readNumber(const std::string &text, const std::string &what) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    invalid("external data: " + what + " is '" + text + "'");
  return value;
}

void readExternal(const onnx::TensorProto &tensor, size_t bytes, const ReadContext &context,
                  Tensor &out) {
  std::string location;
  uint64_t offset = 0, length = bytes;
  for (const auto &entry : tensor.external_data()) {
    if (entry.key() == "location")
      location = entry.value();
    else if (entry.key() == "offset")
      offset = readNumber(entry.value(), "offset");
    else if (entry.key() == "length")
      length = readNumber(entry.value(), "length");
  }
  // A model must not reach files beside its folder.
  if (location.empty() || location[0] == '/' ||
      ("/" + location + "/").find("/../") != std::string::npos)
    invalid("tensor " + quoted(tensor.name()) + ": external data '" + location +
            "' is not a path below the model's folder");
  if (length != bytes)
    invalid("tensor " + quoted(tensor.name()) + ": external data of " + std::to_string(length) +
            " bytes, but its shape needs " + std::to_string(bytes));
  if (bytes == 0)
    return;
  auto mapped = mapFile(context.folder + "/" + location);
  if (offset > mapped->size || mapped->size - offset < bytes)
    invalid("tensor " + quoted(tensor.name()) + ": external data '" + location + "' ends before " +
            std::to_string(offset) + " + " + std::to_string(bytes) + " bytes");
  out.bytes = {static_cast<const std::byte *>(mapped->start) + offset, bytes};
  out.owner = std::move(mapped);
  out.isOfFile = true;
}

TensorPtr unpackedIfFew(Tensor tensor) {
  const int64_t count = tensor.elementCount();
  if (!tensor.isPacked || count > fewElements)
    return std::make_shared<const Tensor>(std::move(tensor));
  auto numbers = std::make_shared<std::vector<std::byte>>();
  for (int64_t i = 0; i < count; ++i)
    numbers->push_back(static_cast<std::byte>(tensor.integerAt(i)));
  tensor.bytes = {numbers->data(), numbers->size()};
  tensor.owner = std::move(numbers);
  tensor.isPacked = tensor.isOfFile = false;
  return std::make_shared<const Tensor>(std::move(tensor));
}

} // namespace

ElementType readElementType(int32_t number, const std::string &what) {
  if (number <= 0 || static_cast<size_t>(number) >= numbers.size())
    unsupported(what + " has elements of type " + std::to_string(number) +
                ", which is not supported");
  const ElementType type = numbers[static_cast<size_t>(number)];
  if (type == ElementType::String)
    unsupported(what + " has strings, which are not supported");
  return type;
}

TensorPtr zeroOf(int32_t number, const std::string &what) {
  Tensor zero;
  zero.type = readElementType(number, what);
  auto bytes = std::make_shared<const std::vector<std::byte>>(bytesOf(zero.type));
  zero.bytes = {bytes->data(), bytes->size()};
  zero.owner = std::move(bytes);
  return std::make_shared<const Tensor>(std::move(zero));
}

int32_t protoElementType(ElementType type) {
  for (size_t i = 1; i < numbers.size(); ++i)
    if (numbers[i] == type)
      return static_cast<int32_t>(i);
  return 0;
}

TensorPtr readTensor(const onnx::TensorProto &tensor, const ReadContext &context) {
  Tensor out;
  out.name = tensor.name();
  out.type = readElementType(tensor.data_type(), "tensor " + quoted(tensor.name()));
  out.isPacked = bitsOf(out.type) < 8;
  out.shape.assign(tensor.dims().begin(), tensor.dims().end());
  if (out.shape.size() > 32)
    invalid("tensor " + quoted(tensor.name()) + " has " + std::to_string(out.shape.size()) +
            " dimensions");
  const size_t bytes = checkedBytes(tensor, bitsOf(out.type));
  if (tensor.has_segment())
    unsupported("tensor " + quoted(tensor.name()) + " is in segments, which is not supported");
  if (tensor.data_location() == onnx::TensorProto::EXTERNAL) {
    readExternal(tensor, bytes, context, out);
    return unpackedIfFew(std::move(out));
  }
  if (auto weights = context.weights.find(&tensor); weights != context.weights.end()) {
    out.bytes = weights->second;
    out.isOfFile = true;
  } else if (tensor.has_raw_data()) {
    out.bytes = std::as_bytes(std::span(tensor.raw_data()));
    out.owner = context.owner;
  } else {
    auto owner = std::make_shared<const std::vector<std::byte>>(typedData(tensor, out.type));
    out.bytes = {owner->data(), owner->size()};
    out.owner = owner;
  }
  if (out.bytes.size() != bytes)
    invalid("tensor " + quoted(tensor.name()) + " has " + std::to_string(out.bytes.size()) +
            " bytes, but its shape needs " + std::to_string(bytes));
  // What is not kept by the message must be: a tensor of a function's body lives longer than that.
  if (!out.owner && !out.isOfFile) {
    auto owner = std::make_shared<const std::vector<std::byte>>(out.bytes.begin(), out.bytes.end());
    out.bytes = {owner->data(), owner->size()};
    out.owner = owner;
  }
  return unpackedIfFew(std::move(out));
}

} // namespace plim::importers
