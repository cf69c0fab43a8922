#include "importers/emit/ElementType.h"

#include <array>

namespace plim::importers {

namespace {

struct Row {
  size_t bits;
  const char *mlir, *onnx, *safetensors;
};

constexpr std::array<Row, 27> rows{{{8, "f8E4M3FN", "float8e4m3fn", "F8_E4M3"},
                                    {8, "f8E5M2", "float8e5m2", "F8_E5M2"},
                                    {16, "f16", "float16", "F16"},
                                    {16, "bf16", "bfloat16", "BF16"},
                                    {32, "f32", "float", "F32"},
                                    {64, "f64", "double", "F64"},
                                    {8, "i1", "bool", "BOOL"},
                                    {2, "i8", "int2", "I8"},
                                    {4, "i8", "int4", "I8"},
                                    {8, "i8", "int8", "I8"},
                                    {16, "i16", "int16", "I16"},
                                    {32, "i32", "int32", "I32"},
                                    {64, "i64", "int64", "I64"},
                                    {2, "i8", "uint2", "U8"},
                                    {4, "i8", "uint4", "U8"},
                                    {8, "i8", "uint8", "U8"},
                                    {16, "i16", "uint16", "U16"},
                                    {32, "i32", "uint32", "U32"},
                                    {64, "i64", "uint64", "U64"},
                                    {8, "i8", "float8e4m3fnuz", "U8"},
                                    {8, "i8", "float8e5m2fnuz", "U8"},
                                    {8, "i8", "float8e8m0", "U8"},
                                    {4, "i8", "float4e2m1", "U8"},
                                    {64, "complex<f32>", "complex64", ""},
                                    {128, "complex<f64>", "complex128", ""},
                                    {0, "", "string", ""},
                                    {64, "index", "index", ""}}};

const Row &row(ElementType type) { return rows[static_cast<size_t>(type)]; }

} // namespace

bool isFloat(ElementType type) { return type <= ElementType::F64; }
bool isSmallFloat(ElementType type) {
  return type <= ElementType::F8E5M2 ||
         (type >= ElementType::F8E4M3FNUZ && type <= ElementType::F4E2M1);
}
bool isUnsigned(ElementType type) { return type >= ElementType::U2 && type <= ElementType::U64; }
bool isInteger(ElementType type) {
  return (type >= ElementType::I1 && type <= ElementType::U64) || type == ElementType::Index;
}
bool isComplex(ElementType type) { return type == ElementType::C64 || type == ElementType::C128; }
ElementType partOf(ElementType type) {
  return type == ElementType::C64    ? ElementType::F32
         : type == ElementType::C128 ? ElementType::F64
                                     : type;
}
size_t bitsOf(ElementType type) { return row(type).bits; }
size_t bytesOf(ElementType type) { return (row(type).bits + 7) / 8; }
ElementType asByte(ElementType type) {
  if (!isInteger(type) || bitsOf(type) >= 8)
    return type;
  return isUnsigned(type) ? ElementType::U8 : ElementType::I8;
}
std::string mlirName(ElementType type) { return row(type).mlir; }
std::string onnxName(ElementType type) { return row(type).onnx; }
std::string safetensorsName(ElementType type) { return row(type).safetensors; }

} // namespace plim::importers
