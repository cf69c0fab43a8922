#include "ir/Dispatch/Apart.h"

#include "ir/Analysis/Destinations.h"

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
    return "put the dimension that is cut first, where slices are views, or read it once, element "
           "by "
           "element";
  case Movement::DenseSlice:
    return "what computes reads it where it is; a result has memory of its own";
  case Movement::Insertion:
    return "insert elementwise results that nothing else reads: they are computed there";
  case Movement::Padding:
    return "pad what a convolution or pooling alone reads, or elementwise results that nothing "
           "else "
           "reads";
  case Movement::Transpose:
    return "have it in the order in which it is read, or read it once, element by element";
  case Movement::Broadcast:
    return "let what reads it broadcast, which costs nothing there";
  case Movement::Copy:
    return "what reads it reads the source as well; a result has memory of its own";
  }
  llvm_unreachable("unknown movement");
}
