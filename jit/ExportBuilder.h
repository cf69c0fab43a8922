// ExportBuilder: what the parts of the export have in common: the module, and building blocks over
// it.
#pragma once

#include "ir/Conversion/RuntimeCalls.h"
#include "jit/Exporter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/SymbolTable.h"

namespace plim::jit {

/// Behind the fields of plim_context: what a call of exported code has beside them. Each field
/// takes eight bytes, as those do.
inline constexpr int32_t parametersOffset = ir::abi::contextBytes;
inline constexpr int32_t devicesOffset = parametersOffset + 8;
/// Where the scratch of the dispatch that runs begins in the slab.
inline constexpr int32_t scratchOffset = devicesOffset + 8;
/// Where that of dispatches begins which have no place among the buffers.
inline constexpr int32_t slabEndOffset = scratchOffset + 8;
/// The threads of the program; null: the calling one.
inline constexpr int32_t threadsOffset = slabEndOffset + 8;
inline constexpr int32_t exportContextBytes = threadsOffset + 8;
/// plim_context::call: the memory of each result.
inline constexpr int32_t resultsOffset = 32;
inline constexpr int32_t wordBytes = 8;

inline constexpr llvm::StringLiteral adapterPrefix = "plim.adapter.";

inline constexpr int32_t invalidArgument = static_cast<int32_t>(StatusCode::InvalidArgument);
inline constexpr int32_t resourceExhausted = static_cast<int32_t>(StatusCode::ResourceExhausted);

/// Methods build where `builder` stands, unless they take a builder `at`. On the thread of the
/// module's context.
class ExportBuilder {
public:
  /// Borrows all but the module, which is a reference anyway. `name` is what exported names begin
  /// with.
  ExportBuilder(mlir::ModuleOp module, const Artifact &artifact,
                const targets::DeviceDescription &device, std::string_view name);

protected:
  /// Has an index 32 bits?
  bool isNarrow();
  /// Calls of the symbol in the module, in its order.
  llvm::SmallVector<mlir::LLVM::CallOp> callsOf(llvm::StringRef symbol);
  /// The function of that symbol; null if there is none.
  mlir::LLVM::LLVMFuncOp function(const llvm::Twine &symbol);
  /// Loads a value of `type` that lies `offset` bytes behind `base`.
  mlir::Value load(mlir::OpBuilder &at, mlir::Type type, mlir::Value base, int32_t offset);
  /// Notes a status of the call in its context, of which the first that is not 0 counts.
  void fail(mlir::OpBuilder &at, mlir::Value context, mlir::Value status);
  /// A constant with the bytes of `value`, or zeros.
  mlir::LLVM::GlobalOp makeBytes(const DataSymbol &symbol, llvm::StringRef called,
                                 mlir::Attribute value);
  /// Bytes of one element.
  static int64_t elementBytes(const ValueType &value);
  /// As C passes it: a pointer for what is shaped.
  mlir::Type typeOf(const ValueType &value);
  /// Allocates `count` slots of eight bytes in the frame.
  mlir::Value words(int64_t count);
  /// Writes `value` to a slot of these.
  void store(mlir::Value value, mlir::Value base, int64_t slot);
  /// The first `count` pointers of a struct of the header.
  llvm::SmallVector<mlir::Value> fieldsOf(mlir::Value fields, int64_t count);
  /// The values in slots of the frame.
  mlir::Value array(mlir::ValueRange values);
  /// Ends the call with that status if the condition, an i1, holds. `builder` stands behind the
  /// check.
  void refuseIf(mlir::Value condition, int32_t status = invalidArgument);
  /// The same for an index that does not fit in 32 bits.
  void refuseWide(mlir::Value index);
  /// The same where a pointer among the values is null.
  void refuseNull(llvm::ArrayRef<mlir::Value> values);

  mlir::ModuleOp module;
  const Artifact &artifact;
  const targets::DeviceDescription &device;
  std::string_view name;
  const ExportedStructs structs;
  mlir::SymbolTable symbols; // what is made here is inserted where it is looked up
  mlir::OpBuilder builder;
  mlir::Location loc;
  mlir::Type pointer, word, code;
};

} // namespace plim::jit
