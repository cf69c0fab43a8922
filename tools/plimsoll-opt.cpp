// plimsoll-opt: mlir-opt with the passes and pipelines of the project, and one to say what machine they are for.
#include "ir/Pipelines/Pipelines.h"
#include "targets/Registry.h"
#include "targets/dlti/Dlti.h"

#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

namespace {

using namespace plim;

/// Gives modules the target of a tag, which the passes of the project read. Not the machine that it runs on: what it prints is the
/// same everywhere.
struct AttachTarget : mlir::PassWrapper<AttachTarget, mlir::OperationPass<mlir::ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(AttachTarget)

  AttachTarget() = default;
  AttachTarget(const AttachTarget &other) : PassWrapper(other) {}

  llvm::StringRef getArgument() const final { return "plim-attach-target"; }
  llvm::StringRef getDescription() const final { return "Compile for a machine that has a name"; }
  void getDependentDialects(mlir::DialectRegistry &registry) const override {
    registry.insert<mlir::DLTIDialect>();
  }

  void runOnOperation() override {
    targets::Registry registry;
    Status status = registry.addBuiltinTags();
    if (status.ok()) {
      StatusOr<targets::TargetDescription> target = registry.lookup(tag.getValue());
      if (target.ok())
        return targets::dlti::attachTarget(getOperation(), *target);
      status = target.status();
    }
    getOperation().emitError(std::string(status.message()));
    signalPassFailure();
  }

  Option<std::string> tag{*this, "tag", llvm::cl::desc("what `plimsoll targets` lists as tags")};
};

} // namespace

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  plim::ir::registerDialects(registry);
  mlir::registerAllPasses();
  plim::ir::registerPassesAndPipelines();
  mlir::PassRegistration<AttachTarget>();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Plimsoll optimizer driver\n", registry));
}
