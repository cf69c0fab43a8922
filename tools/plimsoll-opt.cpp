// plimsoll-opt: mlir-opt with the passes and pipelines of the project.
#include "ir/Pipelines/Pipelines.h"

#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  plim::ir::registerDialects(registry);
  mlir::registerAllPasses();
  plim::ir::registerPassesAndPipelines();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Plimsoll optimizer driver\n", registry));
}
