#include "ir/Memory/Allocations.h"
#include "ir/Memory/Passes.h"
#include "ir/Plim/Plim.h"
#include "planner/Planner.h"
#include "support/CheckedMath.h"
#include "targets/dlti/Dlti.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMPLANMEMORY
#include "ir/Memory/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

/// PLIM_BUFFER_ALIGNMENT.
constexpr int64_t alignmentOfRuntime = 64;

/// Of a dispatch whose scratch has a place in the slab, for who looks at the plan: from and to, in steps, and
/// bytes.
constexpr StringLiteral scratchPlanAttr = "plim.scratch_plan";

/// An allocation, or the scratch of a dispatch.
struct PlannedBuffer {
  AllocOp alloc;
  Life life;
  DispatchOp dispatch = nullptr;
};

/// The buffers of a function that share one memory: the slab, the scratch of a worker, or a pool.
struct Region {
  SmallVector<PlannedBuffer> buffers;
  plim::planner::Problem problem;
};

/// A function under construction that computes, from the arguments of another one, the extents that
/// the sizes of its buffers are products of.
class ExtentsFunction {
public:
  /// For `of`; named after it, whatever else there is.
  ExtentsFunction(func::FuncOp of, SymbolTable &symbols) : of(of), builder(of.getContext()) {
    builder.setInsertionPointAfter(of);
    function = func::FuncOp::create(builder, of.getLoc(), (of.getName() + ".extents").str(),
                                    builder.getFunctionType(of.getArgumentTypes(), {}));
    symbols.insert(function);
    Block *body = function.addEntryBlock();
    copies.map(of.getArguments(), body->getArguments());
    builder.setInsertionPointToStart(body);
  }

  /// Which results of the function, to be multiplied, are the dynamic extents of the allocation. None
  /// if one of them does not follow from the arguments, or if computing it could fail.
  std::optional<SmallVector<int64_t>> extentsOf(AllocOp alloc) {
    SmallVector<int64_t> positions;
    for (Value extent : alloc.getDynamicSizes()) {
      llvm::SetVector<Operation *> slice;
      if (!collect(extent, slice))
        return std::nullopt;
      for (Operation *op : slice)
        if (!copies.contains(op->getResult(0)))
          builder.clone(*op, copies);
      Value copy = copies.lookup(extent);
      auto known = llvm::find(results, copy);
      positions.push_back(known - results.begin());
      if (known == results.end())
        results.push_back(copy);
    }
    return positions;
  }

  func::FuncOp finish() {
    func::ReturnOp::create(builder, of.getLoc(), results);
    function.setFunctionType(
        builder.getFunctionType(of.getArgumentTypes(), ValueRange(results).getTypes()));
    function->setAttr(extentsFunctionAttr, builder.getUnitAttr());
    return function;
  }

  void drop(SymbolTable &symbols) { symbols.erase(function); }

private:
  /// No quotient by what only a run knows: lowered, it would be a division that traps.
  static bool dividesByConstants(AffineMap map) {
    bool ok = true;
    map.walkExprs([&](AffineExpr expr) {
      if (expr.getKind() != AffineExprKind::FloorDiv && expr.getKind() != AffineExprKind::CeilDiv &&
          expr.getKind() != AffineExprKind::Mod)
        return;
      auto divisor = dyn_cast<AffineConstantExpr>(cast<AffineBinaryOpExpr>(expr).getRHS());
      ok &= divisor && divisor.getValue() > 0;
    });
    return ok;
  }

  /// May the op run ahead of all checks and branches, under whatever floating-point environment?
  static bool mayRunAhead(Operation *op) {
    auto isInteger = [](Type type) { return type.isIntOrIndex(); };
    if (!llvm::all_of(op->getResultTypes(), isInteger))
      return false;
    if (auto dim = dyn_cast<memref::DimOp>(op)) {
      std::optional<int64_t> index = dim.getConstantIndex();
      auto type = dyn_cast<MemRefType>(dim.getSource().getType());
      return index && type && *index >= 0 && *index < type.getRank();
    }
    if (auto apply = dyn_cast<affine::AffineApplyOp>(op))
      return dividesByConstants(apply.getAffineMap());
    if (auto min = dyn_cast<affine::AffineMinOp>(op))
      return dividesByConstants(min.getAffineMap());
    if (auto max = dyn_cast<affine::AffineMaxOp>(op))
      return dividesByConstants(max.getAffineMap());
    // Upstream calls these pure, whatever they divide by.
    if (isa<arith::FloorDivSIOp, arith::RemSIOp, arith::RemUIOp>(op)) {
      APInt divisor;
      if (!matchPattern(op->getOperand(1), m_ConstantInt(&divisor)) || divisor.isZero() ||
          divisor.isAllOnes())
        return false;
    }
    return isa<arith::ArithDialect>(op->getDialect()) &&
           llvm::all_of(op->getOperandTypes(), isInteger) && isPure(op);
  }

  /// The ops that `value` takes, each behind those it needs.
  bool collect(Value value, llvm::SetVector<Operation *> &slice) const {
    if (copies.contains(value))
      return true;
    Operation *op = value.getDefiningOp();
    if (!op || op->getNumRegions() != 0 || op->getNumResults() != 1 || !mayRunAhead(op))
      return false;
    for (Value operand : op->getOperands())
      if (!collect(operand, slice))
        return false;
    slice.insert(op);
    return true;
  }

  func::FuncOp of, function;
  OpBuilder builder;
  IRMapping copies;
  SmallVector<Value> results;
};

struct PlanMemory : plim::ir::impl::PlimPlanMemoryBase<PlanMemory> {
  using PlimPlanMemoryBase::PlimPlanMemoryBase;

  void runOnOperation() override {
    auto target = plim::targets::dlti::targetOf(getOperation());
    if (!target)
      return signalPassFailure();
    alignment = workspaceAlignment(getOperation(), target->devices[0]);
    for (auto global : getOperation().getOps<memref::GlobalOp>())
      if (auto scope = global->getAttrOfType<StringAttr>(scopeAttr))
        if (StringRef pool = Scope::parse(scope.getValue())->pool; !pool.empty())
          pools.insert(pool);
    llvm::DenseSet<StringAttr> called = calledFunctions(getOperation());
    SymbolTable symbols(getOperation());
    // What runs dispatches comes behind them: it may have to know their scratch.
    for (bool isDispatch : {true, false})
      for (auto function : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>()))
        if (!function.isDeclaration() && !called.contains(function.getSymNameAttr()) &&
            function->hasAttr(dispatchFunctionAttr) == isDispatch &&
            failed(plan(function, symbols)))
          return signalPassFailure();
    if (!pools.empty())
      getOperation()->setAttr(poolsAttr,
                              Builder(&getContext()).getStrArrayAttr(pools.getArrayRef()));
  }

  LogicalResult plan(func::FuncOp function, SymbolTable &symbols) {
    Positions positions(function);
    llvm::MapVector<StringRef, Region> regions; // by pool, "" is the slab or the scratch
    bool isLate = false;                        // some size of the slab is known at the call only
    function.walk([&](AllocOp alloc) {
      Scope scope = *Scope::parse(alloc.getScope());
      // The allocator aligns to cache lines only.
      bool isPlanned = policy != "heap" || scope.kind == Scope::Pool ||
                       int64_t(alloc.getAlignment().value_or(1)) > alignmentOfRuntime;
      if (scope.kind == Scope::Stack || !isPlanned)
        return;
      Life life = lifeOf(alloc);
      bool mayBeLate = isProgram(function) && scope.pool.empty() && !isInBranch(alloc);
      if (life.escapes() || (!alloc.getBytes() && !mayBeLate)) {
        ++missed;
        return;
      }
      isLate |= !alloc.getBytes();
      Region &region = regions[scope.pool];
      auto [lower, upper] = interval(alloc, life, positions);
      region.buffers.push_back({alloc, life});
      plim::planner::Buffer &buffer = region.problem.buffers.emplace_back();
      buffer.lifetime = {{lower, upper}};
      buffer.bytes = int64_t(alloc.getBytes().value_or(0));
      int64_t &needed = region.problem.pools[0].alignment;
      needed = std::max({needed, alignment, int64_t(alloc.getAlignment().value_or(1))});
    });

    if (scratchInSlab && isProgram(function) && !isLate)
      addScratch(function, symbols, positions, regions);

    Builder builder(&getContext());
    SmallVector<NamedAttribute> poolBytes;
    for (auto &[pool, region] : regions) {
      if (pool.empty() && isLate && planLate(function, region, symbols))
        continue;
      plim::planner::Options search;
      search.nodes = searchNodes;
      plim::planner::Plan plan = plim::planner::solve(region.problem, search);
      if (!plan.isFound())
        return function.emitError() << "its buffers have no plan: " << plan.message;
      for (auto [buffer, times, offset] :
           llvm::zip(region.buffers, region.problem.buffers, plan.offsets)) {
        ++planned;
        if (buffer.dispatch) {
          buffer.dispatch->setAttr(scratchOffsetAttr, builder.getI64IntegerAttr(offset));
          buffer.dispatch->setAttr(scratchPlanAttr, builder.getDenseI64ArrayAttr(
                                                        {times.lifetime[0].lower,
                                                         times.lifetime[0].upper, times.bytes}));
          continue;
        }
        buffer.alloc.setOffset(offset);
        setLife(buffer, times);
      }
      if (pool.empty()) {
        // The runtime aligns to cache lines; code rounds its base up to what is more.
        int64_t slabAlignment = region.problem.pools[0].alignment;
        int64_t bytes = plan.peaks[0] + slabAlignment - alignmentOfRuntime;
        function->setAttr(workspaceBytesAttr, builder.getI64IntegerAttr(bytes));
        function->setAttr(workspaceAlignmentAttr, builder.getI64IntegerAttr(slabAlignment));
        continue;
      }
      pools.insert(pool);
      poolBytes.push_back({pool, builder.getI64IntegerAttr(plan.peaks[0])});
    }
    if (!poolBytes.empty())
      function->setAttr(poolBytesAttr, builder.getDictionaryAttr(poolBytes));
    return success();
  }

private:
  static bool isProgram(func::FuncOp function) {
    return function.isPublic() && !function->hasAttr(kernelAttr) &&
           !function->hasAttr(dispatchFunctionAttr);
  }

  /// Adds what the dispatches of the function need of scratch, each while it runs.
  void addScratch(func::FuncOp function, const SymbolTable &symbols, const Positions &positions,
                  llvm::MapVector<StringRef, Region> &regions) {
    function.walk([&](DispatchOp dispatch) {
      auto body = symbols.lookup<func::FuncOp>(dispatch.getFunction());
      auto bytes = body->getAttrOfType<IntegerAttr>(workspaceBytesAttr);
      if (!bytes || bytes.getInt() == 0)
        return;
      Region &region = regions[""];
      region.buffers.push_back({nullptr, {}, dispatch});
      plim::planner::Buffer &buffer = region.problem.buffers.emplace_back();
      buffer.lifetime = {{positions[dispatch], positions[dispatch] + 1}};
      buffer.bytes = bytes.getInt();
      int64_t &needed = region.problem.pools[0].alignment;
      needed = std::max(needed, alignment);
    });
  }

  /// The slab is taken whole: it should not hold what may never be needed.
  static bool isInBranch(AllocOp alloc) {
    for (Operation *op = alloc->getParentOp(); !isa<func::FuncOp>(op); op = op->getParentOp())
      if (!isa<LoopLikeOpInterface>(op))
        return true;
    return false;
  }

  /// From now on it lives for the call, in memory that it shares.
  static void setLife(PlannedBuffer &buffer, const plim::planner::Buffer &times) {
    buffer.alloc.setLifetime(ArrayRef<int64_t>{times.lifetime[0].lower, times.lifetime[0].upper});
    if (buffer.life.release)
      buffer.life.release.erase();
  }

  /// Leaves the offsets of the slab to the call. False, with the allocations that no plan can have
  /// taken out of the region, if it can be planned now after all.
  bool planLate(func::FuncOp function, Region &region, SymbolTable &symbols) {
    Builder builder(&getContext());
    ExtentsFunction extents(function, symbols);
    Region kept;
    kept.problem.pools = region.problem.pools;
    SmallVector<Attribute> buffers;
    bool isLate = false;
    for (auto [buffer, times] : llvm::zip(region.buffers, region.problem.buffers)) {
      int64_t bytes = times.bytes;
      SmallVector<int64_t> factors;
      if (!buffer.alloc.getBytes()) {
        ShapedType type = buffer.alloc.getType();
        std::optional<int64_t> each = elementBytes(type.getElementType());
        for (int64_t extent : type.getShape())
          if (each && !ShapedType::isDynamic(extent))
            each = plim::checkedMul(*each, extent);
        std::optional<SmallVector<int64_t>> positions = extents.extentsOf(buffer.alloc);
        if (!each || !positions) {
          ++missed;
          continue;
        }
        bytes = *each;
        factors = *positions;
        isLate = true;
      }
      kept.buffers.push_back(buffer);
      kept.problem.buffers.push_back(times);
      buffers.push_back(builder.getDictionaryAttr(
          {builder.getNamedAttr("bytes", builder.getI64IntegerAttr(bytes)),
           builder.getNamedAttr("extents", builder.getDenseI64ArrayAttr(factors)),
           builder.getNamedAttr(
               "lifetime",
               builder.getDenseI64ArrayAttr({times.lifetime[0].lower, times.lifetime[0].upper}))}));
    }
    region = std::move(kept);
    if (!isLate) {
      extents.drop(symbols);
      return false;
    }
    if (scratchInSlab)
      order(region.problem, region.buffers, buffers);
    for (auto [slot, buffer, times] : llvm::enumerate(region.buffers, region.problem.buffers)) {
      buffer.alloc.setSlot(slot);
      setLife(buffer, times);
      ++late;
    }
    function->setAttr(
        callPlanAttr,
        builder.getDictionaryAttr(
            {builder.getNamedAttr("buffers", builder.getArrayAttr(buffers)),
             builder.getNamedAttr("function", FlatSymbolRefAttr::get(extents.finish()))}));
    function->setAttr(workspaceAlignmentAttr,
                      builder.getI64IntegerAttr(region.problem.pools[0].alignment));
    return true;
  }

  /// Sorts buffers so that each may lie above all those before it which it conflicts with: where the
  /// extents are all the same, that is the best plan of the search, and no other needs a search.
  static void order(plim::planner::Problem &problem, SmallVector<PlannedBuffer> &buffers,
                    SmallVector<Attribute> &described) {
    constexpr int64_t nominalExtent = 64;
    plim::planner::Problem nominal = problem;
    for (auto [buffer, attribute] : llvm::zip(nominal.buffers, described)) {
      auto fields = cast<DictionaryAttr>(attribute);
      int64_t bytes = fields.getAs<IntegerAttr>("bytes").getInt();
      for (int64_t i = fields.getAs<DenseI64ArrayAttr>("extents").size(); i-- > 0;)
        bytes = plim::checkedMul(bytes, nominalExtent).value_or(bytes);
      buffer.bytes = bytes;
    }
    plim::planner::Options search;
    search.nodes = searchNodes;
    plim::planner::Plan plan = plim::planner::solve(nominal, search);
    if (!plan.isFound())
      return;
    SmallVector<std::pair<int64_t, size_t>> sorted;
    for (const auto &[i, offset] : llvm::enumerate(plan.offsets))
      sorted.emplace_back(offset, i);
    llvm::sort(sorted);
    SmallVector<PlannedBuffer> newBuffers;
    SmallVector<Attribute> newDescribed;
    std::vector<plim::planner::Buffer> newTimes;
    for (const auto &[offset, i] : sorted) {
      newBuffers.push_back(buffers[i]);
      newDescribed.push_back(described[i]);
      newTimes.push_back(problem.buffers[i]);
    }
    buffers = std::move(newBuffers);
    described = std::move(newDescribed);
    problem.buffers = std::move(newTimes);
  }

  /// Of the planner's search: at most a fraction of a second, where there are hundreds of buffers.
  static constexpr uint64_t searchNodes = 20000;

  int64_t alignment = 64;
  llvm::SetVector<StringRef> pools;
};

} // namespace
