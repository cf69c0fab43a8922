// The types of elements that a model may have, and those of MLIR that hold them.
//
// MLIR's integers have no sign here: an `ElementType` knows it, and chooses the operations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace plim::importers {

enum class ElementType : uint8_t {
  F8E4M3FN,
  F8E5M2,
  F16,
  BF16,
  F32,
  F64,
  I1,
  I2, // of 2 and 4 bits, with a sign and without: a byte in a module, with the number in it
  I4,
  I8,
  I16,
  I32,
  I64,
  U2,
  U4,
  U8,
  U16,
  U32,
  U64,
  F8E4M3FNUZ, // floats that modules do not have: a byte with their bits
  F8E5M2FNUZ,
  F8E8M0,
  F4E2M1,
  C64,    // a pair of F32
  C128,   // a pair of F64
  String, // only in messages: refused
  Index,  // of extents and positions; never of a model's tensor
};

/// One that modules have.
bool isFloat(ElementType type);
/// Of 8 or 4 bits, whether modules have it or not.
bool isSmallFloat(ElementType type);
bool isUnsigned(ElementType type);
/// With or without a sign, or an index, or a truth value.
bool isInteger(ElementType type);
bool isComplex(ElementType type);
/// Of the real and the imaginary part; other types are their own.
ElementType partOf(ElementType type);
/// Bits of one element; a truth value has a byte.
size_t bitsOf(ElementType type);
/// Of one in memory.
size_t bytesOf(ElementType type);
/// The integer of 8 bits for one of 2 or 4; other types are their own.
ElementType asByte(ElementType type);

/// "f32", "i8" for I8 and U8, "index".
std::string mlirName(ElementType type);
/// As ONNX names it: "uint8".
std::string onnxName(ElementType type);
/// As a .safetensors file names it, "U8"; complex numbers are "".
std::string safetensorsName(ElementType type);

} // namespace plim::importers
