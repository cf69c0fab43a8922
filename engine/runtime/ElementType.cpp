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

constexpr std::array<Row, 10> rows = {{
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

bool isFloat(ElementType type) {
  return type == ElementType::F16 || type == ElementType::BF16 || type == ElementType::F32 ||
         type == ElementType::F64;
}

} // namespace plim::runtime
