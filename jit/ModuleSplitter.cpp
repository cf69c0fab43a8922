#include "jit/ModuleSplitter.h"

#include "ir/Conversion/Passes.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SetVector.h"

#include <map>
#include <optional>
#include <string>

using namespace mlir;

namespace plim::jit {

namespace {

/// The piece that an ABI symbol belongs to: the name of its dispatch or kernel, "" for host code.
/// None for an internal symbol.
std::optional<std::string> ownerOf(const SymbolTable &symbols, StringRef symbol) {
  StringRef name = symbol;
  if (name.consume_front(ir::dispatchPrefix) || name.consume_front(ir::countPrefix))
    return ("dispatch." + name).str();
  if (name.consume_front(ir::rawPrefix))
    return ("kernel." + name).str();
  if (name.consume_front(ir::entryPrefix)) {
    if (symbols.lookup((ir::rawPrefix + name).str()))
      return ("kernel." + name).str();
    return std::string();
  }
  return std::nullopt;
}

bool isDefinition(Operation *op) {
  if (auto function = dyn_cast<LLVM::LLVMFuncOp>(op))
    return !function.isExternal();
  if (auto global = dyn_cast<LLVM::GlobalOp>(op))
    return global.getInitializerBlock() || global.getValueAttr();
  return true;
}

/// All symbols that a piece needs, from its roots on. Symbols of other pieces are not followed.
llvm::SetVector<Operation *> closureOf(const SymbolTable &symbols, ArrayRef<Operation *> roots,
                                       StringRef owner) {
  llvm::SetVector<Operation *> closure(roots.begin(), roots.end());
  for (size_t i = 0; i < closure.size(); ++i) {
    Operation *op = closure[i];
    std::optional<std::string> other = ownerOf(symbols, SymbolTable::getSymbolName(op));
    if (other && *other != owner)
      continue;
    std::optional<SymbolTable::UseRange> uses = SymbolTable::getSymbolUses(op);
    for (SymbolTable::SymbolUse use : *uses)
      if (Operation *used = symbols.lookup(use.getSymbolRef().getRootReference()))
        closure.insert(used);
  }
  return closure;
}

} // namespace

std::vector<ModulePiece> splitModule(ModuleOp module) {
  const SymbolTable symbols(module);
  std::map<std::string, SmallVector<Operation *>> roots;
  for (Operation &op : *module.getBody())
    if (auto symbol = dyn_cast<SymbolOpInterface>(op))
      if (std::optional<std::string> owner = ownerOf(symbols, symbol.getName());
          owner && isDefinition(&op))
        roots[*owner].push_back(&op);

  std::vector<ModulePiece> pieces;
  std::optional<ModulePiece> host;
  for (auto &[owner, ops] : roots) {
    ModulePiece piece;
    piece.name = StringRef(owner).split('.').second.str();
    piece.kind = owner.empty()                                            ? CodeKind::Host
                 : StringRef(piece.name).starts_with(ir::prepareFunction) ? CodeKind::Once
                                                                          : CodeKind::Dispatch;
    piece.module = ModuleOp::create(module.getLoc());
    OpBuilder builder(piece.module->getBodyRegion());
    for (Operation *op : closureOf(symbols, ops, owner)) {
      std::optional<std::string> other = ownerOf(symbols, SymbolTable::getSymbolName(op));
      if (other && *other != owner) {
        // A declaration of what another piece defines.
        auto function = cast<LLVM::LLVMFuncOp>(op);
        LLVM::LLVMFuncOp::create(builder, function.getLoc(), function.getName(),
                                 function.getFunctionType());
        continue;
      }
      // A kernel, or a parallel loop of one.
      if (piece.kind == CodeKind::Dispatch &&
          (op->hasAttr(ir::kernelAttr) || op->hasAttr(ir::mayAliasAttr)))
        piece.kind = CodeKind::Kernel;
      Operation *clone = builder.clone(*op);
      // Internal to its piece: nothing else may see it, and LLVM may inline it.
      if (auto function = dyn_cast<LLVM::LLVMFuncOp>(clone);
          function && !other && isDefinition(function))
        function.setLinkage(LLVM::Linkage::Internal);
    }
    if (owner.empty())
      host = std::move(piece);
    else
      pieces.push_back(std::move(piece));
  }
  if (host)
    pieces.push_back(std::move(*host));
  return pieces;
}

} // namespace plim::jit
