#include "tools/ImportCommand.h"

#include "engine/io/File.h"
#include "importers/Import.h"
#include "support/Json.h"
#include "tools/Text.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <ostream>
#include <vector>

namespace plim::tools {

namespace {

namespace fs = std::filesystem;

using Piece = std::span<const std::byte>;

/// Wide elements first, so that all are aligned where the data begins aligned.
std::vector<std::string> inOrder(const importers::ImportedSource &imported) {
  std::vector<std::string> names;
  for (const auto &[name, buffer] : imported.parameters)
    names.push_back(name);
  auto width = [&](const std::string &name) {
    const runtime::Buffer &buffer = imported.parameters.at(name);
    return buffer.elementCount() ? buffer.bytes() / static_cast<size_t>(buffer.elementCount()) : 0;
  };
  std::sort(names.begin(), names.end(), [&](const std::string &a, const std::string &b) {
    return std::pair(width(b), a) < std::pair(width(a), b);
  });
  return names;
}

/// https://huggingface.co/docs/safetensors
Status writeParameters(const importers::ImportedSource &imported, const std::string &path) {
  const std::vector<std::string> names = inOrder(imported);
  Json::Object header;
  int64_t offset = 0;
  std::vector<Piece> pieces(1);
  for (const std::string &name : names) {
    const runtime::Buffer &buffer = imported.parameters.at(name);
    Json::Array shape;
    for (int64_t extent : buffer.shape())
      shape.push_back(extent);
    const int64_t end = offset + static_cast<int64_t>(buffer.bytes());
    header.push_back({name, Json::Object{{"dtype", imported.parameterTypes.at(name)},
                                         {"shape", std::move(shape)},
                                         {"data_offsets", Json::Array{offset, end}}}});
    pieces.emplace_back(static_cast<const std::byte *>(buffer.data()), buffer.bytes());
    offset = end;
  }
  std::string text = Json(std::move(header)).text();
  text.append((64 - (8 + text.size()) % 64) % 64, ' ');
  const uint64_t size = text.size();
  std::string front(sizeof size, '\0');
  std::memcpy(front.data(), &size, sizeof size);
  front += text;
  pieces[0] = std::as_bytes(std::span(front));
  return io::writeFile(path, pieces);
}

Status import(const ImportOptions &options, std::ostream &out) {
  PLIM_ASSIGN_OR_RETURN(importers::ImportedSource imported,
                        importers::importModelFile(options.file));
  if (!options.folder.empty()) {
    std::error_code error;
    fs::create_directories(options.folder, error);
    if (error)
      return unavailableError("cannot make '" + options.folder + "': " + error.message());
    const fs::path stem = fs::path(options.folder) / fs::path(options.file).stem();
    const std::string module = stem.string() + ".mlir", parameters = stem.string() + ".safetensors";
    PLIM_RETURN_IF_ERROR(writeParameters(imported, parameters));
    const Piece text = std::as_bytes(std::span(imported.text));
    if (Status status = io::writeFile(module, {&text, 1}); !status.ok()) {
      fs::remove(parameters, error);
      return status;
    }
  }
  if (options.summary)
    out << imported.summary;
  return okStatus();
}

} // namespace

int runImportCommand(const ImportOptions &options, std::ostream &out, std::ostream &err) {
  if (options.folder.empty() && !options.summary)
    return fail(err, "nothing to do: say where to write with --output, or --summary");
  return exitStatus(err, import(options, out));
}

} // namespace plim::tools
