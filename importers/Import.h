// Models of other formats as sources of modules: what the command line and the C interface put in front of a load.
//
// Owns no format: it calls importers/stablehlo, and opens the library of ONNX, libplimsoll-onnx, when such a model comes, and
// keeps it. Must not know how modules are loaded. Thread safety: any thread.
#pragma once

#include "engine/runtime/Buffer.h"
#include "support/Status.h"

#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace plim::importers {

struct ImportedSource {
  std::string text; // a module in MLIR's text
  /// Its parameters, read-only; each keeps the memory or the mapping that it lies in. In a file they may lie unaligned.
  std::map<std::string, runtime::Buffer> parameters;
  /// As .safetensors files name the types of their elements: integers have a sign there, "U8".
  std::map<std::string, std::string> parameterTypes;
  std::string summary; // lines for people
};

/// Are these bytes, or the first of them (1 MiB is enough), a model and no module? The name decides where they could be both.
bool isModel(std::string_view bytes, std::string_view name);

/// A model in ONNX's format or in StableHLO. External data lies beside the file that `name` is. InvalidArgument for a model
/// that is wrong, Unimplemented for what is not supported, FailedPrecondition if ONNX's library is not there; messages begin with
/// the name, and of StableHLO with the line and column too. Weights are used where they lie if `owner` keeps the bytes, else they
/// are copied.
StatusOr<ImportedSource> importModel(std::string_view bytes, const std::string &name,
                                     const std::shared_ptr<const void> &owner = {});

/// The same of a file, which is mapped as long as there is a parameter; also the errors of io::File.
StatusOr<ImportedSource> importModelFile(const std::string &path);
/// Is there a file that begins as a model? A pipe is none: who reads it asks isModel().
bool isModelFile(const std::string &path);

} // namespace plim::importers
