// Constants in another order, as code wants them (`plim.arrangement`), made behind the link without
// compiled code.
//
// An arrangement says which elements of a source go where: rows of a matrix in panels, say, padded
// with zeros (jit::Arrangement). Here they are copied, bytes whose type does not matter.
#pragma once

#include "jit/Artifact.h"
#include "jit/Compiler.h"

#include <span>

namespace plim::session {

/// One piece of data with an arrangement. All is borrowed.
struct ArrangedData {
  /// What is made, with its arrangement, and what it is made of.
  const jit::DataSymbol *symbol = nullptr, *source = nullptr;
  const void *from = nullptr; // the source's bytes, dense
  void *to = nullptr;         // symbol->bytes of them, zero before: padding is not written
};

/// Writes all of it and returns when that is done. Large pieces are cut up and run by
/// `parallelFor`, whose jobs write apart from each other. Nothing is checked: symbols must be such
/// as jit::deserialize() takes.
void arrange(std::span<const ArrangedData> data, const jit::ParallelFor &parallelFor);

} // namespace plim::session
