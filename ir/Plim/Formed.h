// What is kept of how dispatches were formed, for reports: no pass decides by it.
//
// The places of the operations that are in a dispatch are its location, which is then a FusedLoc with
// the one that the dispatch is named after in front.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace plim::ir {

/// On a plim.dispatch whose results another one reads: its number, an i64, for `apartAttr`. Positions
/// would not last: dispatches move, and some go.
inline constexpr llvm::StringLiteral formedAttr = "plim.formed";
/// On a plim.dispatch: which others made what it reads, and why they are not one with it. An array of
/// dictionaries with their number, `from`, and a string, `because`.
inline constexpr llvm::StringLiteral apartAttr = "plim.apart";
/// On a plim.dispatch that only moves elements: a dictionary with the `type` of those, `what` it does,
/// and what would be done `instead`, strings.
inline constexpr llvm::StringLiteral movesAttr = "plim.moves";

} // namespace plim::ir
