// Safetensors: the tensors of a .safetensors file, by name, without a copy.
//
// The format: https://huggingface.co/docs/safetensors (8 bytes of header length, little-endian; a
// JSON object; the elements). The whole header is checked when the file is opened: offsets must lie
// in the file and fit shape and type, and the tensors must cover the data without gaps or overlaps,
// as the format demands. The file is mapped read-only and stays so until the last buffer of it is
// gone; it must be neither written nor truncated meanwhile.
//
// Signed and unsigned integers become signless ones; the 8-bit floats have no counterpart here.
// Thread safety: const members may be called from any thread.
#pragma once

#include "engine/io/File.h"
#include "engine/runtime/Buffer.h"
#include "support/Log.h"
#include "support/Status.h"

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace plim::io {

struct SafetensorsEntry {
  runtime::ElementType type;
  std::vector<int64_t> shape;
  std::span<const std::byte> elements; // in the mapping
};

class SafetensorsFile {
public:
  /// Maps and checks. Errors: those of File, InvalidArgument for a malformed file, Unimplemented for
  /// an element type without counterpart. Messages begin with the path.
  static StatusOr<SafetensorsFile> open(const std::string &path);

  /// All tensors, by name; the spans live as long as this object.
  const std::map<std::string, SafetensorsEntry> &entries() const { return tensors; }

  /// A read-only buffer on the mapping, or on a copy when the file does not align its elements, which
  /// `log` then says.
  /// NotFound for a name that the file does not have.
  StatusOr<runtime::Buffer> tensor(const std::string &name, const Logger &log = {}) const;

private:
  std::string path;
  Mapping mapping;
  std::map<std::string, SafetensorsEntry> tensors;
};

} // namespace plim::io
