#include "ir/Codegen/Host.h"
#include "ir/Codegen/Passes.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMPREFETCHPANELS
#include "ir/Codegen/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;

namespace {

/// The most lines that a row of a panel has.
constexpr int64_t mostLines = 4;
/// Iterations of the loop over panels from which on the next of them is what comes next.
constexpr int64_t manyPanels = 4;
/// Bytes of panels that stay in the second-level cache from call to call.
constexpr int64_t largeBytes = int64_t(1) << 18;

struct PrefetchPanels : plim::ir::impl::PlimPrefetchPanelsBase<PrefetchPanels> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function->hasAttr(plim::ir::dispatchFunctionAttr))
      return;
    SmallVector<vector::TransferReadOp> reads;
    function.walk([&](vector::TransferReadOp read) { reads.push_back(read); });
    OpBuilder builder(function);
    for (vector::TransferReadOp read : reads)
      if (std::optional<Place> place = placeOf(builder, read))
        if (int64_t bytes = bytesOfRow(read, place->memory.getType()))
          prefetchNext(read, *place, bytes);
  }

  /// An element of what a call is given.
  struct Place {
    TypedValue<MemRefType> memory;
    SmallVector<Value> indices;
  };

  /// Where the row of a panel is that it reads, or that the panel was copied from; nothing if it reads anything else.
  static std::optional<Place> placeOf(OpBuilder &builder, vector::TransferReadOp read) {
    auto base = dyn_cast<TypedValue<MemRefType>>(read.getBase());
    if (!base || base.getType().getRank() < 2 || read.getVectorType().getRank() == 0 ||
        read.getPermutationMap().getResults().back() !=
            getAffineDimExpr(unsigned(base.getType().getRank()) - 1, read.getContext()))
      return std::nullopt;
    Place place{base, llvm::to_vector(read.getIndices())};
    if (base.getDefiningOp<plim::ir::AllocOp>()) {
      auto part = copiedInto(base);
      if (!part || !part.hasUnitStride() || part.getType().getRank() != base.getType().getRank() ||
          part.getSourceType().getRank() != base.getType().getRank())
        return std::nullopt;
      place.memory = cast<TypedValue<MemRefType>>(part.getSource());
      builder.setInsertionPoint(read);
      for (auto [index, offset] : llvm::zip_equal(place.indices, part.getMixedOffsets()))
        index = affine::makeComposedAffineApply(
            builder, read.getLoc(), builder.getAffineSymbolExpr(0) + builder.getAffineSymbolExpr(1),
            {OpFoldResult(index), offset});
    }
    auto cast = place.memory.getDefiningOp<memref::ReinterpretCastOp>();
    if (!cast || !isa<BlockArgument>(cast.getSource()) || !place.memory.getType().hasStaticShape())
      return std::nullopt;
    return place;
  }

  /// The part of something that is all that is ever written to a panel's memory; null if that is not so.
  static memref::SubViewOp copiedInto(Value panel) {
    memref::SubViewOp part;
    auto isPart = [&](Value source) {
      auto view = source.getDefiningOp<memref::SubViewOp>();
      if (!part)
        part = view;
      return view && view == part;
    };
    // The same row of the part, copied to this one.
    auto isCopied = [&](memref::SubViewOp row) {
      return llvm::all_of(row->getUsers(), [&](Operation *user) {
        auto copy = dyn_cast<memref::CopyOp>(user);
        auto from = copy && copy.getTarget() == row
                        ? copy.getSource().getDefiningOp<memref::SubViewOp>()
                        : memref::SubViewOp();
        return from && from.getMixedOffsets() == row.getMixedOffsets() &&
               from.getMixedSizes() == row.getMixedSizes() && isPart(from.getSource());
      });
    };
    for (Operation *user : panel.getUsers()) {
      if (isa<vector::TransferReadOp, memref::LoadOp, memref::DeallocOp>(user))
        continue;
      if (auto row = dyn_cast<memref::SubViewOp>(user)) {
        if (!isCopied(row))
          return {};
        continue;
      }
      Value source;
      if (auto copy = dyn_cast<memref::CopyOp>(user)) {
        source = copy.getTarget() == panel ? copy.getSource() : Value();
      } else if (auto write = dyn_cast<vector::TransferWriteOp>(user)) {
        // The same element by element, as it is when it was vectorised.
        auto read = write.getVector().getDefiningOp<vector::TransferReadOp>();
        if (read && read.getIndices() == write.getIndices())
          source = read.getBase();
      } else if (auto store = dyn_cast<memref::StoreOp>(user)) {
        auto load = store.getValue().getDefiningOp<memref::LoadOp>();
        if (load && load.getIndices() == store.getIndices())
          source = load.getMemRef();
      }
      if (!source || !isPart(source))
        return {};
    }
    return part;
  }

  /// Bytes of the row that it reads, whole lines; 0 if they are not worth it.
  static int64_t bytesOfRow(vector::TransferReadOp read, MemRefType memory) {
    const int64_t bytes = plim::ir::elementBytes(memory.getElementType()),
                  row = read.getVectorType().getShape().back() * bytes;
    return row <= mostLines * plim::ir::cacheLineBytes && row % plim::ir::cacheLineBytes == 0 &&
                   memory.getNumElements() * bytes >= largeBytes
               ? row
               : 0;
  }

  static bool dependsOn(Value value, Value variable) {
    if (value == variable)
      return true;
    auto apply = value.getDefiningOp<affine::AffineApplyOp>();
    return apply && llvm::any_of(apply.getOperands(),
                                 [&](Value operand) { return dependsOn(operand, variable); });
  }

  /// `value` in the next iteration of a loop.
  static Value next(OpBuilder &builder, Value value, scf::ForOp loop) {
    if (value == loop.getInductionVar())
      return arith::AddIOp::create(builder, value.getLoc(), value, loop.getStep());
    if (!dependsOn(value, loop.getInductionVar()))
      return value;
    auto apply = value.getDefiningOp<affine::AffineApplyOp>();
    SmallVector<Value> operands = llvm::map_to_vector(
        apply.getOperands(), [&](Value operand) { return next(builder, operand, loop); });
    return affine::AffineApplyOp::create(builder, value.getLoc(), apply.getAffineMap(), operands);
  }

  static std::optional<int64_t> tripsOf(scf::ForOp loop) {
    std::optional<APInt> trips = loop.getStaticTripCount();
    return trips ? std::optional(trips->getSExtValue()) : std::nullopt;
  }

  void prefetchNext(vector::TransferReadOp read, const Place &place, int64_t bytesOfRow) {
    auto moves = [&](scf::ForOp loop) {
      return llvm::any_of(place.indices,
                          [&](Value index) { return dependsOn(index, loop.getInductionVar()); });
    };
    // From the inside: the reduction, the rows, the panels.
    auto loop = dyn_cast<scf::ForOp>(read->getParentOp());
    while (loop && moves(loop))
      loop = dyn_cast<scf::ForOp>(loop->getParentOp());
    scf::ForOp rows = loop;
    while (loop && !moves(loop))
      loop = dyn_cast<scf::ForOp>(loop->getParentOp());
    if (!rows || !loop || rows == loop || read->getParentOp() == rows)
      return;
    if (tripsOf(loop).value_or(1) < manyPanels)
      for (scf::ForOp outer = dyn_cast<scf::ForOp>(loop->getParentOp()); outer;
           outer = dyn_cast<scf::ForOp>(outer->getParentOp()))
        if (moves(outer)) {
          loop = outer;
          break;
        }
    const int64_t bytes = plim::ir::elementBytes(place.memory.getType().getElementType()),
                  lines = bytesOfRow / plim::ir::cacheLineBytes;
    OpBuilder builder(read);
    Location loc = read.getLoc();
    SmallVector<Value> indices =
        llvm::map_to_vector(place.indices, [&](Value index) { return next(builder, index, loop); });
    const Value first = indices.back();
    auto fetch = [&](Value column) {
      indices.back() = arith::AddIOp::create(builder, loc, first, column);
      memref::PrefetchOp::create(builder, loc, place.memory, indices, /*isWrite=*/false,
                                 /*localityHint=*/2, /*isDataCache=*/true);
    };
    if (tripsOf(rows).value_or(1) >= lines) {
      AffineExpr row, begin, step;
      bindSymbols(builder.getContext(), row, begin, step);
      // One line of a row for each tile of rows.
      fetch(affine::AffineApplyOp::create(
          builder, loc,
          AffineMap::get(
              0, 3, ((row - begin).floorDiv(step) % lines) * (plim::ir::cacheLineBytes / bytes)),
          {rows.getInductionVar(), rows.getLowerBound(), rows.getStep()}));
    } else {
      for (int64_t line = 0; line < lines; ++line)
        fetch(
            arith::ConstantIndexOp::create(builder, loc, line * plim::ir::cacheLineBytes / bytes));
    }
    ++prefetched;
  }
};

} // namespace
