// plimsoll-lsp-server: diagnostics, definitions and completion for editors, of all that a module may have.
#include "ir/Pipelines/Pipelines.h"

#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  plim::ir::registerDialects(registry);
  return failed(mlir::MlirLspServerMain(argc, argv, registry)) ? 1 : 0;
}
