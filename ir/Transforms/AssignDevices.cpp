#include "ir/Plim/Plim.h"
#include "ir/Transforms/Passes.h"
#include "targets/dlti/Dlti.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMASSIGNDEVICES
#include "ir/Transforms/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

struct AssignDevices : plim::ir::impl::PlimAssignDevicesBase<AssignDevices> {
  void runOnOperation() override {
    FailureOr<plim::targets::TargetDescription> target =
        plim::targets::dlti::fromDlti(getOperation());
    if (failed(target))
      return signalPassFailure();
    WalkResult walk = getOperation().walk([&](DispatchOp dispatch) {
      auto name = dispatch->getAttrOfType<StringAttr>(deviceAttr);
      if (!name) {
        dispatch->setAttr(deviceAttr, StringAttr::get(&getContext(), target->devices[0].name));
        ++assigned;
        return WalkResult::advance();
      }
      const plim::targets::DeviceDescription *device = target->findDevice(name.getValue().str());
      if (!device) {
        dispatch.emitError() << "device '" << name.getValue() << "' is not part of target '"
                             << target->name << "'";
        return WalkResult::interrupt();
      }
      if (device->kind != plim::targets::DeviceKind::Cpu) {
        dispatch.emitError() << "device '" << name.getValue()
                             << "' is an accelerator; code is generated for CPUs only";
        return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    if (walk.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
