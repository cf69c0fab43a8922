#include "ir/Dispatch/Passes.h"
#include "ir/Plim/Plim.h"
#include "targets/dlti/Dlti.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMASSIGNDEVICES
#include "ir/Dispatch/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

struct AssignDevices : plim::ir::impl::PlimAssignDevicesBase<AssignDevices> {
  using PlimAssignDevicesBase::PlimAssignDevicesBase;

  void runOnOperation() override {
    auto target = plim::targets::dlti::targetOf(getOperation());
    if (!target)
      return signalPassFailure();
    auto host = StringAttr::get(&getContext(), target->devices[0].name);
    WalkResult walk = getOperation().walk([&](DispatchOp dispatch) {
      auto name = dispatch->getAttrOfType<StringAttr>(deviceAttr);
      if (hostOnly || !name) {
        assign(dispatch, host);
        return WalkResult::advance();
      }
      const plim::targets::DeviceDescription *device = target->findDevice(name.getValue().str());
      if (!device) {
        dispatch.emitError() << "device '" << name.getValue() << "' is not part of target '"
                             << target->name << "'";
        return WalkResult::interrupt();
      }
      if (device->kind != plim::targets::DeviceKind::Cpu &&
          !llvm::is_contained(devices, device->name)) {
        dispatch.emitError() << "device '" << name.getValue()
                             << "' is an accelerator that the engine has no compiler for";
        return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    if (walk.wasInterrupted())
      signalPassFailure();
  }

  void assign(DispatchOp dispatch, StringAttr host) {
    bool isPreferred = !hostOnly && !preferred.empty() && preferred != host.getValue();
    dispatch->setAttr(deviceAttr,
                      isPreferred ? StringAttr::get(&getContext(), preferred.getValue()) : host);
    if (isPreferred)
      dispatch->setAttr(fallbackDeviceAttr, host);
    ++assigned;
  }
};

} // namespace
