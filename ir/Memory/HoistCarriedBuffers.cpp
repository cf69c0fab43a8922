#include "ir/Memory/Passes.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMHOISTCARRIEDBUFFERS
#include "ir/Memory/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

MemRefType denseOf(MemRefType type) {
  return MemRefType::get(type.getShape(), type.getElementType(), AffineMap(),
                         type.getMemorySpace());
}

/// Is there a size to all buffers among the types? What has none might be another name for what has one.
bool haveSizes(TypeRange types) {
  return llvm::all_of(types, [](Type type) {
    auto memref = dyn_cast<MemRefType>(type);
    return !isa<BaseMemRefType>(type) ||
           (memref && memref.hasStaticShape() &&
            (denseOf(memref) == memref ||
             memref::CastOp::areCastCompatible(denseOf(memref), memref)));
  });
}

/// Memory of the elements of a type, in front of an op, as that type; null for what is no buffer.
Value place(Operation *op, Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  if (!memref)
    return Value();
  OpBuilder builder(op);
  const MemRefType dense = denseOf(memref);
  Value memory = memref::AllocOp::create(builder, op->getLoc(), dense);
  return dense == memref
             ? memory
             : memref::CastOp::create(builder, op->getLoc(), memref, memory).getResult();
}

void copy(Operation *before, Value from, Value to) {
  OpBuilder builder(before);
  memref::CopyOp::create(builder, before->getLoc(), from, to);
}

struct HoistCarriedBuffers : plim::ir::impl::PlimHoistCarriedBuffersBase<HoistCarriedBuffers> {
  void runOnOperation() override {
    getOperation()->walk([&](func::FuncOp function) {
      if (!function->removeAttr(carriesBuffersAttr))
        hoistIn(function);
    });
  }

  void hoistIn(func::FuncOp function) {
    function.walk([&](Operation *op) {
      if (auto loop = dyn_cast<scf::ForOp>(op))
        hoist(loop);
      else if (auto loop = dyn_cast<scf::WhileOp>(op))
        hoist(loop);
      else if (isa<scf::IfOp, scf::IndexSwitchOp>(op))
        share(op);
    });
  }

  void hoist(scf::ForOp loop) {
    if (!haveSizes(loop.getResultTypes()))
      return;
    SmallVector<Value> places = begin(loop, loop.getInits(), loop.getRegionIterArgs());
    handOn(loop, loop.getBody()->getTerminator(), places, loop.getInitsMutable());
    for (auto [result, place] : llvm::zip(loop.getResults(), places))
      if (place)
        result.replaceAllUsesWith(place);
  }

  void hoist(scf::WhileOp loop) {
    if (!haveSizes(loop.getInits().getTypes()) || !haveSizes(loop.getResultTypes()))
      return;
    SmallVector<Value> places = begin(loop, loop.getInits(), loop.getBeforeArguments());
    scf::ConditionOp condition = loop.getConditionOp();
    for (auto [given, inside, result] :
         llvm::zip(condition.getArgsMutable(), loop.getAfterArguments(), loop.getResults())) {
      Value memory = given.get();
      // What is made in the round that ends the loop outlives it, too.
      if (!llvm::is_contained(places, memory)) {
        memory = place(loop, memory.getType());
        if (!memory)
          continue;
        copy(condition, given.get(), memory);
        given.set(memory);
        ++hoisted;
      }
      inside.replaceAllUsesWith(memory);
      result.replaceAllUsesWith(memory);
    }
    handOn(loop, loop.getYieldOp(), places, loop->getOpOperands());
  }

  /// Memory for what a loop carries, with what that is in the first round, in the place of the arguments of its block.
  SmallVector<Value> begin(Operation *loop, ValueRange inits, Block::BlockArgListType arguments) {
    SmallVector<Value> places;
    for (auto [init, argument] : llvm::zip(inits, arguments)) {
      Value memory = places.emplace_back(place(loop, init.getType()));
      if (!memory)
        continue;
      copy(loop, init, memory);
      argument.replaceAllUsesWith(memory);
      ++hoisted;
    }
    return places;
  }

  /// Copies what the next round is given. Several may change places: then none is written before all have been read.
  static void handOn(Operation *loop, Operation *terminator, ArrayRef<Value> places,
                     MutableArrayRef<OpOperand> inits) {
    SmallVector<std::pair<Value, Value>> moves;
    for (auto [given, place, init] : llvm::zip(terminator->getOpOperands(), places, inits)) {
      if (!place)
        continue;
      if (given.get() != place)
        moves.emplace_back(given.get(), place);
      // Nothing uses the argument any more.
      given.set(place);
      init.set(place);
    }
    if (moves.size() > 1)
      for (auto &[from, to] : moves) {
        Value between = ::place(loop, from.getType());
        copy(terminator, from, between);
        from = between;
      }
    for (auto [from, to] : moves)
      copy(terminator, from, to);
  }

  /// All branches write to memory in front of them.
  void share(Operation *branches) {
    if (!haveSizes(branches->getResultTypes()))
      return;
    for (OpResult result : branches->getResults()) {
      Value memory = place(branches, result.getType());
      if (!memory)
        continue;
      for (Region &region : branches->getRegions()) {
        Operation *terminator = region.front().getTerminator();
        OpOperand &given = terminator->getOpOperand(result.getResultNumber());
        copy(terminator, given.get(), memory);
        given.set(memory);
      }
      result.replaceAllUsesWith(memory);
      ++hoisted;
    }
  }
};

} // namespace
