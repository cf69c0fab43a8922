#include "engine/runtime/ElementType.h"

#include <array>
#include <cstddef>

namespace plim::runtime {
namespace {

struct Row {
  ElementType type;
  std::string_view name;
  int64_t bits;
  int64_t bytes;
};

constexpr std::array<Row, 16> rows = {{
    {ElementType::I1, "i1", 1, 1},
    {ElementType::I8, "i8", 8, 1},
    {ElementType::I16, "i16", 16, 2},
    {ElementType::I32, "i32", 32, 4},
    {ElementType::I64, "i64", 64, 8},
    {ElementType::F16, "f16", 16, 2},
    {ElementType::BF16, "bf16", 16, 2},
    {ElementType::F32, "f32", 32, 4},
    {ElementType::F64, "f64", 64, 8},
    {ElementType::Index, "index", 64, 8},
    {ElementType::F8E4M3FN, "f8E4M3FN", 8, 1},
    {ElementType::F8E5M2, "f8E5M2", 8, 1},
    {ElementType::ComplexF32, "complex<f32>", 64, 8},
    {ElementType::ComplexF64, "complex<f64>", 128, 16},
    {ElementType::I2, "i2", 2, 1},
    {ElementType::I4, "i4", 4, 1},
}};

constexpr std::array<ElementType, rows.size()> types = [] {
  std::array<ElementType, rows.size()> all{};
  for (size_t i = 0; i < rows.size(); ++i)
    all[i] = rows[i].type;
  return all;
}();

const Row &rowOf(ElementType type) { return rows[static_cast<size_t>(type)]; }

} // namespace

std::span<const ElementType> allElementTypes() { return types; }

std::string_view elementTypeName(ElementType type) { return rowOf(type).name; }

std::optional<ElementType> elementTypeFromName(std::string_view name) {
  for (const Row &row : rows)
    if (row.name == name)
      return row.type;
  return std::nullopt;
}

int64_t elementBits(ElementType type) { return rowOf(type).bits; }

int64_t elementBytes(ElementType type) { return rowOf(type).bytes; }

int64_t elementAlignment(ElementType type) {
  return isComplex(type) ? elementBytes(type) / 2 : elementBytes(type);
}

bool isComplex(ElementType type) {
  return type == ElementType::ComplexF32 || type == ElementType::ComplexF64;
}

bool isFloat(ElementType type) {
  switch (type) {
  case ElementType::F8E4M3FN:
  case ElementType::F8E5M2:
  case ElementType::F16:
  case ElementType::BF16:
  case ElementType::F32:
  case ElementType::F64:
    return true;
  default:
    return false;
  }
}

} // namespace plim::runtime
