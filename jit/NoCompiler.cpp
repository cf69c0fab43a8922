// In place of the compiler, in a library for hosts that load what was compiled elsewhere.
#include "jit/Compiler.h"

namespace plim::jit {

bool isBytecode(std::string_view) { return false; }

StatusOr<Artifact> compile(std::string_view, std::string_view name,
                           const targets::TargetDescription &, const CompileOptions &,
                           CompileTimes *) {
  return unimplementedError(std::string(name) + ": this library has no compiler; it loads what " +
                            "'plimsoll compile' or plim_module_compile() made");
}

} // namespace plim::jit
