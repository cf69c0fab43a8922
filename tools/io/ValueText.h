// Values on the command line: the text that `plimsoll run --input` takes and that results print as.
//
//   2x3xf32=1,2,3,4,5,6            elements in row-major order, separated by a comma, blanks or both
//   2x3xf32=[[1 2 3][4 5 6]]       the same with the structure shown; it must be that of the shape
//   2x3xf32=[1 2 3][4 5 6]         the outermost brackets may be left out
//   2x3xf32=0.5                    every element
//   2x3xf32=rnd:42                 random elements with that seed (Random.h)
//   2x3xf32=@raw.bin               the elements' bytes, little-endian, from a file of that size
//   f32=3                          a scalar; a tensor of rank 0 is written the same way
//   @in.npy                        shape, type and elements from a NumPy file
//
// Elements are those of ElementText.h. Printing what was parsed and parsing what was printed gives
// the same value, except that NaNs lose their bits, a tensor of rank 0 becomes a scalar, and a summary is not all.
// Any thread.
#pragma once

#include "engine/runtime/Value.h"
#include "support/Status.h"

#include <memory>
#include <string>
#include <string_view>

namespace plim::tools {

/// Buffers are writable and come from `pool`. InvalidArgument, with "column N: " in front (counted
/// from 1 in bytes), for malformed text; the errors of File and Npy for files.
StatusOr<runtime::Value> parseValue(std::string_view text,
                                    const std::shared_ptr<runtime::MemoryPool> &pool);

/// What parseValue() would say of the text alone, without its memory and the files that it names.
Status checkValue(std::string_view text);

/// `2x3xf32=[[1, 2, 3], [4, 5, 6]]`, `f32=3`, `0x4xf32=[]`. With `summarize` a value of more than 1,000 elements has
/// the first and the last three of each dimension, `...` between them, as NumPy prints it.
std::string printValue(const runtime::Value &value, bool summarize = false);

/// The part before the equals sign: `2x3xf32`.
std::string printType(const runtime::Value &value);

} // namespace plim::tools
