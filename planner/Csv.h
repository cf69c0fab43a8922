// Problems and their solutions as tables of comma-separated values, in the format of the public
// MiniMalloc benchmark: one line for each buffer, under a header that names the columns in any
// order.
//
//   id         any text, a different one for each buffer; also called buffer or buffer_id
//   lower      lifetime, half open; also called begin or start
//   upper      or end, the last time at which it is live
//   size       bytes
//   alignment  optional: of the offset, bytes
//   gaps       optional: when others may have its memory, such as 3-5 9-12; as upper or end are.
//              3-5@64:128: but for the bytes from 64 up to 128 of it
//   offset     optional: where the buffer has to be; in a solution, where it is
//   pools      optional: names of the pools it may be in, best first, with one of " ,;|" between them
//   pool       optional: the only one; in a solution, the one it is in
//
// Cells of the optional columns may be empty. Cells may be quoted as RFC 4180 says; lines may end
// in CR LF; blank lines do not count. A solution can be read as a problem again: all of it is
// pinned.
#pragma once

#include "planner/Planner.h"

#include <string_view>

namespace plim::planner {

/// What is wrong with a text, and where: both from 1, the column in bytes of the line.
struct CsvFault {
  size_t line = 0, column = 0;
  std::string message;
};

/// Sets the buffers of `problem`, with their ids as names. What a gap leaves in use is a buffer of its
/// own, behind those of all lines, in the rigid group of the line's. Pools are looked up by name among
/// `problem.pools`. Only what a single line can tell is checked: the rest is for check().
std::optional<CsvFault> readCsv(std::string_view text, Problem &problem);

/// The solution: `text`, from which readCsv() took the problem, with the offsets of the plan and,
/// if there are several pools, the pools in columns `offset` and `pool`. The plan must have been
/// found.
std::string writeCsv(std::string_view text, const Problem &problem, const Plan &plan);

} // namespace plim::planner
