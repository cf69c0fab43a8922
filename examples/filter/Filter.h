// Filter: turns an expression over the columns of a table into an MLIR module.
//
//   price * qty > 100 && region == 3
//
// becomes one public function @filter from the columns that the expression names to a mask, a
// tensor of i1 with a 1 for each row that passes. The whole expression is the body of one
// linalg.generic, so however long it is, the engine reads each column once.
//
//   expression   = operand { operator operand }, binding as in C:
//                  ||  &&  == !=  < <= > >=  + -  * /   (weakest first, all to the left)
//   operand      = number | column | "true" | "false" | "(" expression ")" | ("-" | "!") operand
//
// Values are conditions, 64-bit integers (which wrap) or doubles; an integer beside a double
// becomes one. `/` always divides doubles, so that no row can divide by zero. Comparisons with NaN
// are false, except !=. Both sides of && and || are evaluated: without side effects it is the same.
//
// Must not know the engine: text in, text out. A pure function; any thread.
#pragma once

#include "engine/runtime/ElementType.h"
#include "support/Status.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace plim::filter {

struct Column {
  /// A letter or '_', then letters, digits and '_'.
  std::string name;
  /// I1, I32, I64, F32 or F64.
  runtime::ElementType type;
};

struct Filter {
  /// The module, as text.
  std::string module;
  /// The arguments of @filter, as indices into the columns given: each named column once, in the
  /// order in which the expression names them.
  std::vector<size_t> columns;
};

/// Compiles `expression`, at most 64 KiB of it. InvalidArgument with "filter:1:COLUMN: " in front
/// of the message, columns counted from 1, when it is not a condition over `columns` that names at
/// least one of them.
StatusOr<Filter> compileFilter(std::string_view expression, std::span<const Column> columns);

} // namespace plim::filter
