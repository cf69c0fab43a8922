// Reads the bytes of an ONNX file: the only place, with Schemas, that knows protobuf and libonnx.
//
// Nothing in a file is trusted: sizes are checked against the bytes that are there. Throws ImportError. Thread safety: any
// thread.
#pragma once

#include "importers/onnx/Model.h"

#include <span>
#include <string>

namespace plim::importers {

/// The model; `folder` is where external data lies. Tensors of 1 KiB and more may lie in `bytes`, unaligned, or keep what was
/// parsed, or the mapping of their file, alive.
Model readModel(std::span<const std::byte> bytes, const std::string &folder);

} // namespace plim::importers
