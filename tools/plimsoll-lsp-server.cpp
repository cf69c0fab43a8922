// plimsoll-lsp-server: diagnostics, definitions and completion for editors, of all that a module may have.
#include "ir/Pipelines/Pipelines.h"
#include "tools/LanguageServer.h"

#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

namespace {

struct Arguments {
  int count;
  char **values;
};

int serve(void *arguments) {
  auto *given = static_cast<Arguments *>(arguments);
  mlir::DialectRegistry registry;
  plim::ir::registerDialects(registry);
  return failed(mlir::MlirLspServerMain(given->count, given->values, registry)) ? 1 : 0;
}

} // namespace

int main(int argc, char **argv) {
  Arguments arguments{argc, argv};
  // Tests of upstream's, and questions for help, are no conversation with an editor.
  const bool isConversation =
      llvm::none_of(llvm::ArrayRef(argv, size_t(argc)).drop_front(), [](llvm::StringRef argument) {
        return argument.contains("lit-test") || argument.contains("input-style") ||
               argument.contains("help") || argument.contains("version");
      });
  return isConversation ? plim::tools::superviseLanguageServer(serve, &arguments)
                        : serve(&arguments);
}
