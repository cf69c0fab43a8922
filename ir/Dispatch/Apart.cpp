#include "ir/Dispatch/Apart.h"

#include "ir/Analysis/Destinations.h"
#include "ir/Plim/Formed.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace plim::ir;

llvm::StringRef plim::ir::reasonOf(Apart apart) {
  switch (apart) {
  case Apart::FusionOff:
    return "each operation is a dispatch of its own here";
  case Apart::TooManyOps:
    return "a dispatch has as many operations already as one may have";
  case Apart::Pinned:
    return "its author says where the result lives";
  case Apart::OtherDevice:
    return "they are for different devices";
  case Apart::OtherBlock:
    return "a branch or a loop lies between them";
  case Apart::ReadElsewhere:
    return "something else needs the result too";
  case Apart::Destination:
    return "the result is the memory that this one goes on with";
  case Apart::Gathered:
    return "the result is read at places that are computed";
  case Apart::ReadOften:
    return "a product or convolution reads each element many times";
  case Apart::ReadInWindows:
    return "the result is read in windows, in steps or along a diagonal";
  case Apart::WrittenInSteps:
    return "the result is written in windows, in steps or along a diagonal";
  case Apart::NoCommonLoop:
    return "no loop could be split among workgroups without computing elements twice";
  case Apart::SplitReduction:
    return "it is half of a reduction that was split among workgroups";
  case Apart::Reshaped:
    return "a reshape lies between them";
  case Apart::Sliced:
    return "only a part of the result is read";
  case Apart::OnlyMoves:
    return "it moves elements that this one does not read where they are";
  case Apart::ReaderOnlyMoves:
    return "this one only moves elements";
  case Apart::NoBorder:
    return "it is no border around an image that only this one reads in windows";
  case Apart::BorderMadeAgain:
    return "each workgroup would make most of the image and its border again";
  case Apart::InsertedNotElementwise:
    return "only what is elementwise is computed where it is inserted";
  case Apart::InsertedInSteps:
    return "the result is inserted in steps, or as another number of dimensions";
  case Apart::InsertedIntoFilled:
    return "the result is inserted into what is filled or computed before";
  case Apart::InsertedBesideRead:
    return "it reads what it would be inserted into";
  }
  llvm_unreachable("unknown reason");
}

std::optional<Movement> plim::ir::movementOf(Operation *op) {
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return isDenseSlice(slice, slice.getSourceType()) ? Movement::DenseSlice : Movement::Slice;
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return insert.getDest().getDefiningOp<linalg::FillOp>() ? Movement::Padding
                                                            : Movement::Insertion;
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic || generic.getNumDpsInputs() != 1 || generic.getNumDpsInits() != 1 ||
      generic.getNumReductionLoops() > 0)
    return std::nullopt;
  auto element = dyn_cast<BlockArgument>(generic.getBody()->getTerminator()->getOperand(0));
  const AffineMap map = generic.getMatchingIndexingMap(generic.getDpsInputOperand(0));
  if (!element || element.getOwner() != generic.getBody() || element.getArgNumber() != 0 ||
      map.getNumResults() == 0) // a fill
    return std::nullopt;
  return map.getNumResults() < map.getNumDims() ? Movement::Broadcast
         : map.isIdentity()                     ? Movement::Copy
                                                : Movement::Transpose;
}

llvm::StringRef plim::ir::nameOf(Movement movement) {
  switch (movement) {
  case Movement::Slice:
    return "a slice that lies apart in memory";
  case Movement::DenseSlice:
    return "a slice";
  case Movement::Insertion:
    return "an insertion, or a part of a concatenation";
  case Movement::Padding:
    return "a padding";
  case Movement::Transpose:
    return "a transpose";
  case Movement::Broadcast:
    return "a broadcast";
  case Movement::Copy:
    return "a copy";
  }
  llvm_unreachable("unknown movement");
}

llvm::StringRef plim::ir::insteadOf(Movement movement) {
  switch (movement) {
  case Movement::Slice:
    return "put the dimension that is cut first, where slices are views, or let what computes read "
           "it where it is";
  case Movement::DenseSlice:
    return "what computes reads it where it is; a result has memory of its own";
  case Movement::Insertion:
    return "insert elementwise results that nothing else reads: they are computed there";
  case Movement::Padding:
    return "pad what a convolution or pooling alone reads, or elementwise results that nothing "
           "else reads";
  case Movement::Transpose:
    return "have it in the order in which it is read, or read it once, element by element";
  case Movement::Broadcast:
    return "let what reads it broadcast, which costs nothing there";
  case Movement::Copy:
    return "what reads it reads the source as well; a result has memory of its own";
  }
  llvm_unreachable("unknown movement");
}

Location plim::ir::placesOf(Location root, func::FuncOp body) {
  SmallVector<Location> places = {root};
  body.walk([&](Operation *op) {
    if (!op->hasTrait<OpTrait::ConstantLike>() && !op->hasTrait<OpTrait::IsTerminator>() &&
        !isa<func::FuncOp, tensor::EmptyOp, tensor::DimOp>(op))
      places.push_back(op->getLoc());
  });
  return FusedLoc::get(body.getContext(), places);
}

/// Why the maker of an operand, which was not looked at, is none with the dispatch. `between` is what stands between them.
static Apart whyNotLookedAt(DispatchOp dispatch, Operation *root, ArrayRef<Operation *> ops,
                            OpOperand &operand, Operation *maker, bool makerOnlyMoves,
                            std::optional<Apart> between) {
  if (maker->getBlock() != dispatch->getBlock())
    return Apart::OtherBlock;
  if (between)
    return *between;
  if (dispatch.isOutput(operand))
    return Apart::Destination;
  if (!isa<linalg::LinalgOp>(root))
    return Apart::ReaderOnlyMoves;
  if (makerOnlyMoves)
    return Apart::OnlyMoves;
  const bool isCaptured = llvm::any_of(operand.get().getUsers(), [&](Operation *user) {
    return llvm::any_of(ops, [&](Operation *op) { return op->isProperAncestor(user); });
  });
  return isCaptured ? Apart::Gathered : Apart::Destination;
}

void FormedDispatches::add(DispatchOp dispatch, Operation *root, Operation *written,
                           ArrayRef<Operation *> ops, const DenseMap<Operation *, Apart> &apart) {
  Builder builder(dispatch->getContext());
  std::optional<Movement> movement = movementOf(written);
  for (Operation *op : ops)
    if (!movementOf(op))
      movement.reset();
  formed[dispatch] = {written, movement.has_value()};
  auto text = [&](StringRef name, StringRef value) {
    return builder.getNamedAttr(name, builder.getStringAttr(value));
  };
  if (movement) {
    auto insert = dyn_cast<tensor::InsertSliceOp>(written);
    Type type = insert ? insert.getSourceType() : written->getResultTypes().front();
    dispatch->setAttr(movesAttr,
                      builder.getDictionaryAttr({builder.getNamedAttr("type", TypeAttr::get(type)),
                                                 text("what", nameOf(*movement)),
                                                 text("instead", insteadOf(*movement))}));
  }
  llvm::SmallPtrSet<Operation *, 4> makers;
  SmallVector<Attribute> edges;
  for (OpOperand &operand : dispatch->getOpOperands()) {
    Operation *maker = operand.get().getDefiningOp();
    std::optional<Apart> between;
    while (isa_and_nonnull<tensor::ExtractSliceOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp,
                           tensor::CastOp>(maker)) {
      between = isa<tensor::ExtractSliceOp>(maker) ? Apart::Sliced : Apart::Reshaped;
      maker = maker->getOperand(0).getDefiningOp();
    }
    auto known = formed.find(maker);
    if (!isa_and_nonnull<DispatchOp>(maker) || known == formed.end() ||
        !makers.insert(maker).second)
      continue;
    auto said = apart.find(known->second.written);
    const Apart reason = said != apart.end() ? said->second
                                             : whyNotLookedAt(dispatch, root, ops, operand, maker,
                                                              known->second.onlyMoves, between);
    auto number = maker->getAttrOfType<IntegerAttr>(formedAttr);
    if (!number)
      maker->setAttr(formedAttr, number = builder.getI64IntegerAttr(nextNumber++));
    edges.push_back(builder.getDictionaryAttr(
        {builder.getNamedAttr("from", number), text("because", reasonOf(reason))}));
  }
  if (!edges.empty())
    dispatch->setAttr(apartAttr, builder.getArrayAttr(edges));
}
