#include "ir/Codegen/Passes.h"
#include "ir/Plim/Plim.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMDISTRIBUTEWORKGROUPS
#include "ir/Codegen/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

/// The trip count of each loop of a forall.
SmallVector<Value> tripCounts(OpBuilder &builder, scf::ForallOp forall) {
  Location loc = forall.getLoc();
  AffineExpr lower, upper, step;
  bindSymbols(builder.getContext(), lower, upper, step);
  SmallVector<Value> counts;
  for (auto [l, u, s] :
       llvm::zip(forall.getMixedLowerBound(), forall.getMixedUpperBound(), forall.getMixedStep()))
    counts.push_back(getValueOrCreateConstantIndexOp(
        builder, loc,
        affine::makeComposedFoldedAffineApply(builder, loc, (upper - lower).ceilDiv(step),
                                              {l, u, s})));
  return counts;
}

struct DistributeWorkgroups : plim::ir::impl::PlimDistributeWorkgroupsBase<DistributeWorkgroups> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto function : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>()))
      if (function->hasAttr(dispatchFunctionAttr))
        distribute(function, symbols);
  }

  void distribute(func::FuncOp function, SymbolTable &symbols) {
    Location loc = function.getLoc();
    auto foralls = function.getOps<scf::ForallOp>();
    scf::ForallOp forall = llvm::hasSingleElement(foralls) ? *foralls.begin() : scf::ForallOp();
    bool distributes = forall && forall.getNumResults() == 0;
    ++(distributes ? distributed : missed);
    makeCount(function, distributes ? forall : scf::ForallOp(), symbols);

    Block &entry = function.front();
    OpBuilder builder(&getContext());
    Value begin = entry.addArgument(builder.getIndexType(), loc);
    Value end = entry.addArgument(builder.getIndexType(), loc);
    if (distributes) {
      builder.setInsertionPoint(forall);
      SmallVector<Value> counts = tripCounts(builder, forall);
      Value one = arith::ConstantIndexOp::create(builder, loc, 1);
      auto loop = scf::ForOp::create(builder, loc, begin, end, one);
      builder.setInsertionPointToStart(loop.getBody());
      // Workgroups are numbered with the last loop fastest.
      SmallVector<Value> ids(counts.size());
      Value rest = loop.getInductionVar();
      for (size_t i = counts.size(); i-- > 1;) {
        ids[i] = arith::RemUIOp::create(builder, loc, rest, counts[i]);
        rest = arith::DivUIOp::create(builder, loc, rest, counts[i]);
      }
      ids[0] = rest;
      AffineExpr id = builder.getAffineDimExpr(0), lower = builder.getAffineSymbolExpr(0),
                 step = builder.getAffineSymbolExpr(1);
      IRMapping mapping;
      for (auto [variable, l, s, i] : llvm::zip(
               forall.getInductionVars(), forall.getMixedLowerBound(), forall.getMixedStep(), ids))
        mapping.map(variable, getValueOrCreateConstantIndexOp(
                                  builder, loc,
                                  affine::makeComposedFoldedAffineApply(
                                      builder, loc, lower + id * step, {OpFoldResult(i), l, s})));
      for (Operation &op : forall.getBody()->without_terminator())
        builder.clone(op, mapping);
      forall.erase();
    }
    function.setFunctionType(builder.getFunctionType(entry.getArgumentTypes(), {}));
    SmallVector<DictionaryAttr> attributes;
    function.getAllArgAttrs(attributes);
    attributes.resize(entry.getNumArguments(), builder.getDictionaryAttr({}));
    function.setAllArgAttrs(attributes);
  }

  /// NAME_workgroups: same arguments, returns the number of workgroups.
  void makeCount(func::FuncOp function, scf::ForallOp forall, SymbolTable &symbols) {
    OpBuilder builder(function);
    Location loc = function.getLoc();
    auto count = func::FuncOp::create(
        builder, loc, (function.getName() + "_workgroups").str(),
        builder.getFunctionType(function.getArgumentTypes(), builder.getIndexType()));
    count.setPrivate();
    symbols.insert(count);
    count->setAttr(workgroupCountAttr, FlatSymbolRefAttr::get(function.getSymNameAttr()));
    Block *entry = count.addEntryBlock();
    builder.setInsertionPointToStart(entry);
    Value total = arith::ConstantIndexOp::create(builder, loc, 1);
    if (forall) {
      llvm::SetVector<Operation *> slice;
      BackwardSliceOptions options;
      options.omitBlockArguments = true;
      for (ValueRange bounds :
           {forall.getDynamicLowerBound(), forall.getDynamicUpperBound(), forall.getDynamicStep()})
        for (Value bound : bounds)
          if (Operation *op = bound.getDefiningOp()) {
            (void)getBackwardSlice(op, &slice, options);
            slice.insert(op);
          }
      IRMapping mapping;
      mapping.map(function.getArguments(), entry->getArguments());
      for (Operation *op : topologicalSort(slice))
        builder.clone(*op, mapping);
      auto clone = cast<scf::ForallOp>(builder.cloneWithoutRegions(*forall, mapping));
      for (Value trips : tripCounts(builder, clone))
        total = arith::MulIOp::create(builder, loc, total, trips);
      clone.erase();
    }
    func::ReturnOp::create(builder, loc, total);
  }
};

} // namespace
