// Weights of few bits, several in a byte, each block of a row with a scale and a zero point.
#pragma once

#include "importers/onnx/Operator.h"

namespace plim::importers {

/// A constant of the model, whose elements are unpacked where there are several in a byte.
Value constantOf(Emitter &emit, const TensorPtr &data);

/// Bytes [N, count] as the numbers in them, [N, count * 8 / bits], the lowest bits first.
Value unpacked(Emitter &emit, const Value &bytes, int64_t bits);

/// (number - zero point) * scale: numbers [N, blocks * size], scales and zero points [N, blocks]. Of the type of the scales.
Value ofBlocks(Emitter &emit, const Value &numbers, const Value &scales, const Value &zeros,
               int64_t size);

/// The attribute `bits`, 4 if it is not given: 2, 4 or 8.
int64_t bitsOfWeights(const Operator &op, const char *attribute);
/// The attribute `block_size`: a power of 2 from 16 on.
int64_t blockSize(const Operator &op, int64_t otherwise);

} // namespace plim::importers
