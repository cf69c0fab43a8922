// Device: an accelerator that the host application brings to an engine.
//
//   auto npu = std::make_shared<Device>();
//   npu->name = "npu";
//   npu->compile = ...; npu->load = ...;
//   options.devices.push_back(npu);
//
// The source gives it dispatches with `plim.device = "npu"`, a load with LoadOptions::device. When
// a module is compiled, such a dispatch is text of MLIR for the device's compiler. The artifact has
// what the compiler made of that. In a call the runtime calls what the device made of the
// artifact's code, instead of code of its own. docs/design/devices.md says what the text looks
// like, and where buffers are.
#pragma once

#include "engine/runtime/MemoryPool.h"
#include "engine/session/HostFunctions.h"
#include "support/Status.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace plim {

/// Its functions are called from any thread, several at once, may use engines, and must not throw.
struct Device {
  /// The name of a device of the target that is no CPU. If the target has no device of that name,
  /// one of kind npu is added. It counts as one that reaches all memory of the host: its launches
  /// copy what it does not reach.
  std::string name;
  /// Of its compiler: artifacts in the cache are for one version.
  std::string version;
  /// Gives the code for the public function `name` of the module in `text`, any bytes.
  /// Unimplemented for what the device does not take; any other failure is one of the load. Null:
  /// nothing is compiled for it, but what was compiled elsewhere is loaded.
  std::function<StatusOr<std::string>(std::string_view name, std::string_view text)> compile;
  /// Makes code that compile() gave, of whatever version, ready to be launched: called for each
  /// dispatch when a module is linked. The function runs a dispatch to its end: it gets what `name`
  /// in the text gets as arguments, and each destination, whose memory it fills, once more as the
  /// result. Nothing else touches the destinations meanwhile, and nothing writes the rest. It may
  /// need PLIM_DEVICE_STACK bytes of stack. Serial: the device runs one launch at a time. Pure is
  /// the same as ThreadSafe. Null, beside compile(): its code is compiled or exported here, and
  /// runs elsewhere.
  std::function<StatusOr<HostFunction>(std::string_view name, std::string_view code)> load;
  /// If it can allocate: memories of the target that this device reaches and the host does not.
  /// Temporaries that nobody else touches are then there, as far as their sizes are known at load,
  /// and launches get addresses that allocate() gave, or behind them: nothing else uses those. A
  /// call takes one block of each memory that its module needs, which is kept until the module
  /// goes. If allocate() gives null, it waits for a block of another call of the module, or fails
  /// with ResourceExhausted if there is none.
  runtime::Allocator memory = {};
  /// If given, it is told of each constant of a module with code for the device, behind the link:
  /// until the result is destroyed nobody writes these bytes, and launches may use copies of them.
  std::function<std::shared_ptr<const void>(std::span<const std::byte> constant)> keepConstant;
};

using Devices = std::vector<std::shared_ptr<const Device>>;

} // namespace plim
