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

enum class ElementType : uint8_t {
  I1,
  I8,
  I16,
  I32,
  I64,
  F16,
  BF16,
  F32,
  F64,
  Index,
  F8E4M3FN,
  F8E5M2,
  ComplexF32, // real and imaginary part, one behind the other; only in buffers
  ComplexF64,
  I2, // in the low bits of a byte, whose other bits do not count
  I4
};

/// All of them, in the order of the enum.
std::span<const ElementType> allElementTypes();

/// The name the IR uses: "i1", "bf16", "index".
std::string_view elementTypeName(ElementType type);

/// The type of that name, or nothing.
std::optional<ElementType> elementTypeFromName(std::string_view name);

/// Bits that carry the value: 1 for i1, 64 for index, 128 for complex<f64>.
int64_t elementBits(ElementType type);

/// Bytes one element takes in memory: 1 for i1, i2 and i4, 8 for index.
int64_t elementBytes(ElementType type);

/// What it is aligned to: its bytes; of a complex number those of a part.
int64_t elementAlignment(ElementType type);

/// True for f8E4M3FN, f8E5M2, f16, bf16, f32 and f64.
bool isFloat(ElementType type);

/// True for complex<f32> and complex<f64>.
bool isComplex(ElementType type);

} // namespace plim::runtime
