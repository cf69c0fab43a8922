// ElementType: the types that elements of tensors and scalars can have at the border of a function,
// and how each lies in memory.
//
// Integers are signless, as in the IR. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace plim::runtime {

enum class ElementType : uint8_t { I1, I8, I16, I32, I64, F16, BF16, F32, F64, Index };

/// All of them, in the order of the enum.
std::span<const ElementType> allElementTypes();

/// The name the IR uses: "i1", "bf16", "index".
std::string_view elementTypeName(ElementType type);

/// The type of that name, or nothing.
std::optional<ElementType> elementTypeFromName(std::string_view name);

/// Bits that carry the value: 1 for i1, 64 for index.
int64_t elementBits(ElementType type);

/// Bytes one element takes in memory: 1 for i1, 8 for index. Also its natural alignment.
int64_t elementBytes(ElementType type);

/// True for f16, bf16, f32 and f64.
bool isFloat(ElementType type);

} // namespace plim::runtime
