#include "importers/emit/Tensor.h"

#include "importers/emit/HalfFloat.h"
#include "importers/emit/SmallFloats.h"

#include <cstring>

namespace plim::importers {

namespace {

template <typename T> T read(const Tensor &tensor, int64_t index) {
  T value;
  std::memcpy(&value, tensor.bytes.data() + static_cast<size_t>(index) * sizeof(T), sizeof(T));
  return value;
}

} // namespace

int64_t Tensor::elementCount() const {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

int64_t Tensor::integerAt(int64_t index) const {
  if (isPacked) {
    const auto bits = static_cast<int64_t>(bitsOf(type)), each = 8 / bits;
    const int64_t number =
        read<uint8_t>(*this, index / each) >> (index % each * bits) & ((1 << bits) - 1);
    const int64_t half = int64_t(1) << (bits - 1);
    return isInteger(type) && !isUnsigned(type) ? (number ^ half) - half : number;
  }
  switch (type) {
  case ElementType::I1:
    return read<uint8_t>(*this, index) != 0;
  case ElementType::I2:
  case ElementType::I4:
  case ElementType::I8:
    return read<int8_t>(*this, index);
  case ElementType::U2:
  case ElementType::U4:
  case ElementType::U8:
  case ElementType::F8E4M3FNUZ:
  case ElementType::F8E5M2FNUZ:
  case ElementType::F8E8M0:
  case ElementType::F4E2M1:
    return read<uint8_t>(*this, index);
  case ElementType::I16:
    return read<int16_t>(*this, index);
  case ElementType::U16:
    return read<uint16_t>(*this, index);
  case ElementType::I32:
    return read<int32_t>(*this, index);
  case ElementType::U32:
    return read<uint32_t>(*this, index);
  case ElementType::I64:
  case ElementType::U64:
    return read<int64_t>(*this, index);
  default:
    return static_cast<int64_t>(realAt(index));
  }
}

double Tensor::realAt(int64_t index) const {
  switch (type) {
  case ElementType::F8E4M3FN:
  case ElementType::F8E5M2:
    return fromFloat8(type, read<uint8_t>(*this, index));
  case ElementType::F16:
    return fromHalf(read<uint16_t>(*this, index));
  case ElementType::BF16:
    return fromBrainFloat(read<uint16_t>(*this, index));
  case ElementType::F32:
    return read<float>(*this, index);
  case ElementType::F64:
    return read<double>(*this, index);
  case ElementType::U64:
    return static_cast<double>(read<uint64_t>(*this, index));
  default:
    return static_cast<double>(integerAt(index));
  }
}

TensorPtr makeTensor(ElementType type, std::vector<int64_t> shape, std::vector<std::byte> bytes,
                     std::string name) {
  auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  return std::make_shared<const Tensor>(
      Tensor{std::move(name), type, std::move(shape), {owner->data(), owner->size()}, owner});
}

} // namespace plim::importers
