#include "ir/Memory/StackModel.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;

namespace plim::ir {

namespace {

int64_t rounded(const Allocation &allocation) {
  if (allocation.inRegisters)
    return 0;
  AllocOp op = allocation.op;
  return llvm::alignTo(*allocation.bytes, op.getFrameAlignment());
}

} // namespace

StackModel::StackModel(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>())
    frames.try_emplace(function.getSymNameAttr());
  for (auto function : module.getOps<func::FuncOp>())
    function.walk([&](Operation *op) {
      StringAttr callee;
      if (auto call = dyn_cast<func::CallOp>(op))
        callee = call.getCalleeAttr().getAttr();
      else if (auto dispatch = dyn_cast<DispatchOp>(op))
        callee = dispatch.getFunctionAttr().getAttr();
      auto it = callee ? frames.find(callee) : frames.end();
      if (it == frames.end())
        return;
      it->second.callers.insert(function.getSymNameAttr());
      frames.find(function.getSymNameAttr())->second.callees.insert(callee);
    });
}

int64_t StackModel::frameWith(const Allocation &allocation) const {
  const Frame &frame = frameOf(allocation.function);
  int64_t most = 0;
  for (int64_t at = allocation.live.first; at < allocation.live.second; ++at)
    most = std::max(most, at < int64_t(frame.live.size()) ? frame.live[at] : 0);
  return std::max(frame.bytes, most + rounded(allocation));
}

void StackModel::add(const Allocation &allocation) {
  int64_t bytes = frameWith(allocation);
  func::FuncOp function = allocation.function;
  Frame &frame = frames.find(function.getSymNameAttr())->second;
  frame.bytes = bytes;
  if (int64_t(frame.live.size()) < allocation.live.second)
    frame.live.resize(allocation.live.second);
  for (int64_t at = allocation.live.first; at < allocation.live.second; ++at)
    frame.live[at] += rounded(allocation);
}

llvm::SetVector<StringAttr> StackModel::treesOf(func::FuncOp function) const {
  llvm::SetVector<StringAttr> trees;
  trees.insert(function.getSymNameAttr());
  for (size_t i = 0; i < trees.size(); ++i)
    trees.insert_range(frames.find(trees[i])->second.callers);
  return trees;
}

int64_t StackModel::need(StringAttr root, StringAttr changed, int64_t bytes) const {
  DenseMap<StringAttr, int64_t> known;
  return need(root, changed, bytes, known);
}

int64_t StackModel::need(StringAttr name, StringAttr changed, int64_t bytes,
                         DenseMap<StringAttr, int64_t> &known) const {
  // A cycle counts once here: recursion has no bound, and is refused where it is proved.
  auto [it, isNew] = known.try_emplace(name, 0);
  if (!isNew)
    return it->second;
  const Frame &frame = frames.find(name)->second;
  int64_t deepest = 0;
  for (StringAttr callee : frame.callees)
    deepest = std::max(deepest, need(callee, changed, bytes, known));
  return known[name] = deepest + (name == changed ? bytes : frame.bytes);
}

} // namespace plim::ir
