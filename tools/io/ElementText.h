// One element of a tensor, or one scalar, as text.
//
// Integers: decimal or 0x hexadecimal, with an optional minus; a type of N bits takes -2^(N-1) to
// 2^N - 1 (signless: 255 and -1 are the same i8) and prints signed, i1 as 0 or 1. Floats: decimal,
// inf, -inf, nan; a finite number that would round to infinity is out of range; smaller floats
// than f32 are rounded from the nearest f64. They print with the fewest digits that read back to the same bits;
// all NaNs print as nan. Complex numbers: 1.5-2j, 3 or -2j, and print with both parts. Pure functions, independent of the locale; any thread.
#pragma once

#include "engine/runtime/ElementType.h"
#include "support/Status.h"

#include <string>
#include <string_view>

namespace plim::tools {

/// Reads all of `text` as one element and stores it at `out`, elementBytes(type) bytes of any
/// alignment. InvalidArgument, with nothing stored, for anything else.
Status parseElement(runtime::ElementType type, std::string_view text, void *out);

/// Appends the element at `element`, of any alignment.
void printElement(runtime::ElementType type, const void *element, std::string &out);

} // namespace plim::tools
