#include "tools/CompileCommand.h"

#include "jit/ArtifactFile.h"
#include "tools/Progress.h"

#include <optional>
#include <ostream>

namespace plim::tools {

namespace {

Status compile(const CompileOptions &options, std::ostream &err) {
  PLIM_RETURN_IF_ERROR(checkWritable(options.output));
  PLIM_ASSIGN_OR_RETURN(std::shared_ptr<Engine> engine, makeEngine(options.module));
  PLIM_ASSIGN_OR_RETURN(std::string source, readModule(options.module));
  LoadOptions load;
  load.oracle = options.module.oracle;
  load.device = options.module.device;
  std::optional<ProgressLine> line;
  if (options.progress) {
    line.emplace(err);
    load.progress = [&](const jit::CompileProgress &progress) { line->update(progress); };
  }
  PLIM_ASSIGN_OR_RETURN(jit::Artifact artifact,
                        engine->compile(source, moduleName(options.module), load));
  return jit::writeArtifact(artifact, options.output);
}

} // namespace

int runCompileCommand(const CompileOptions &options, std::ostream &err) {
  Status status = compile(options, err);
  if (status.ok())
    return 0;
  err << "error: " << status.message() << "\n";
  return 1;
}

} // namespace plim::tools
