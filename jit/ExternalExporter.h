// ExternalExporter: what exported code calls that is not of its module: functions of the program,
// and accelerators.
//
// The middle one of three: ExportBuilder has building blocks, Exporter the rest.
// docs/design/export.md says what comes out. On the thread of the module's context.
#pragma once

#include "jit/ExportBuilder.h"

namespace plim::jit {

class ExternalExporter : public ExportBuilder {
public:
  ExternalExporter(mlir::ModuleOp module, const Artifact &artifact,
                   const std::vector<ExternalTypes> &externals,
                   const targets::DeviceDescription &device, std::string_view name)
      : ExportBuilder(module, artifact, device, name), externals(externals) {}

protected:
  /// Each call of an external becomes one of a function that unpacks its views. Unimplemented, with
  /// the place, for an external that makes results itself.
  Status callExternals();
  /// Runs `run` with all devices active. The status of the first that failed.
  mlir::Value runActive(mlir::Value devices, llvm::function_ref<mlir::Value()> run,
                        size_t index = 0);
  /// NAME_open and NAME_close: those of the devices, in order and back. Where one fails to open,
  /// those before are closed.
  void defineOpenAndClose();

private:
  mlir::LLVM::LLVMFuncOp adapterOf(const ExternalFunction &external, const ExternalTypes &types);
  /// By name; scalars by value, and open extents of the arguments behind each.
  mlir::Value callApplication(const ExternalFunction &external, const ExternalTypes &types,
                              llvm::ArrayRef<mlir::Value> memory,
                              llvm::ArrayRef<llvm::SmallVector<mlir::Value>> extents);
  /// How a small integer fills its register, which many ABIs leave to the caller.
  mlir::DictionaryAttr extensionOf(const ValueType &type);
  /// The field of a device in the struct that the program filled in.
  mlir::Value deviceField(mlir::Value devices, size_t index, DeviceField field);
  /// Code and buffers in the order of the device's function: arguments, then results.
  mlir::Value runOnDevice(mlir::Value context, const ExternalFunction &external,
                          llvm::ArrayRef<mlir::Value> memory);
  /// Calls an optional function of a device, i32 (void *): 0 if it has none.
  mlir::Value callDevice(mlir::Value devices, size_t index, DeviceField field);

  const std::vector<ExternalTypes> &externals;
};

} // namespace plim::jit
