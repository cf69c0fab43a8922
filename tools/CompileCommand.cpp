#include "tools/CompileCommand.h"

#include "jit/ArtifactFile.h"
#include "tools/Progress.h"
#include "tools/Text.h"

#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cctype>
#include <filesystem>
#include <fstream>
#include <optional>
#include <ostream>

namespace plim::tools {

namespace {

Status write(const std::string &path, std::string_view contents) {
  if (!(std::ofstream(path, std::ios::binary) << contents).flush())
    return unavailableError("cannot write '" + path + "'");
  return okStatus();
}

/// An archive for linkers, with one member.
StatusOr<std::string> archiveOf(const std::string &object, const std::string &member) {
  llvm::NewArchiveMember only(llvm::MemoryBufferRef(object, member));
  auto archive = llvm::writeArchiveToBuffer(only, llvm::SymtabWritingMode::NormalSymtab,
                                            llvm::object::Archive::K_GNU, /*Deterministic=*/true,
                                            /*Thin=*/false);
  if (!archive)
    return internalError("no archive: " + llvm::toString(archive.takeError()));
  return (*archive)->getBuffer().str();
}

/// What C can have of the module's file name.
std::string exportName(const CompileOptions &options) {
  if (!options.name.empty())
    return options.name;
  std::string name = std::filesystem::path(moduleName(options.module)).stem().string();
  for (char &c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)))
      c = '_';
  return name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) ? "_" + name : name;
}

Status exportCode(const CompileOptions &options, Engine &engine, const std::string &source,
                  const LoadOptions &load) {
  const std::string *outputs[] = {&options.output, &options.header, &options.library};
  for (const std::string *one : outputs)
    for (const std::string *other : outputs)
      if (one != other && !one->empty() && *one == *other)
        return invalidArgumentError("'" + *one + "' is to be written twice");
  PLIM_RETURN_IF_ERROR(checkWritable(options.header));
  if (!options.library.empty())
    PLIM_RETURN_IF_ERROR(checkWritable(options.library));
  PLIM_ASSIGN_OR_RETURN(ExportedCode code, engine.exportCode(source, moduleName(options.module),
                                                             exportName(options), load));
  PLIM_RETURN_IF_ERROR(write(options.output, code.object));
  if (!options.library.empty()) {
    const std::string member = std::filesystem::path(options.output).filename().string();
    PLIM_ASSIGN_OR_RETURN(std::string archive, archiveOf(code.object, member));
    PLIM_RETURN_IF_ERROR(write(options.library, archive));
  }
  return write(options.header, code.header);
}

Status compile(const CompileOptions &options, std::ostream &err) {
  PLIM_RETURN_IF_ERROR(checkWritable(options.output));
  PLIM_ASSIGN_OR_RETURN(std::shared_ptr<Engine> engine, makeEngine(options.module));
  PLIM_ASSIGN_OR_RETURN(std::string source, readModule(options.module));
  LoadOptions load = loadOptions(options.module, err);
  std::optional<ProgressLine> line;
  if (options.progress) {
    line.emplace(err);
    load.progress = [&](const jit::CompileProgress &progress) { line->update(progress); };
  }
  if (!options.header.empty())
    return exportCode(options, *engine, source, load);
  PLIM_ASSIGN_OR_RETURN(jit::Artifact artifact,
                        engine->compile(source, moduleName(options.module), load));
  return jit::writeArtifact(artifact, options.output);
}

} // namespace

int runCompileCommand(const CompileOptions &options, std::ostream &err) {
  return exitStatus(err, compile(options, err));
}

} // namespace plim::tools
