#include "ir/Analysis/BufferUses.h"
#include "ir/Cleanup/Cleanup.h"
#include "ir/Import/Passes.h"
#include "ir/Plim/Locations.h"
#include "ir/Plim/Plim.h"
#include "support/CheckedMath.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMIMPORT
#include "ir/Import/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;
using plim::checkedMul;

namespace {

/// No object is larger: a quarter of what x86-64 and AArch64 can address, and far from where the
/// arithmetic on byte offsets in generated code could wrap.
constexpr int64_t maxBytes = int64_t(1) << 46;

/// Types that a public function may take and return, as elements, and all but complex ones as scalars.
bool isBoundaryElement(Type type) {
  if (auto complex = dyn_cast<ComplexType>(type))
    return complex.getElementType().isF32() || complex.getElementType().isF64();
  if (type.isIndex() || type.isF16() || type.isBF16() || type.isF32() || type.isF64() ||
      isStorageFloat(type))
    return true;
  return type.isSignlessInteger() &&
         llvm::is_contained({1u, 2u, 4u, 8u, 16u, 32u, 64u}, type.getIntOrFloatBitWidth());
}

/// Code for a vector grows with its elements: beyond this it would take minutes to compile.
constexpr int64_t maxVectorElements = 1 << 16;

LogicalResult checkSize(Operation *op, Type type) {
  if (auto vector = dyn_cast<VectorType>(type);
      vector && vector.getNumElements() > maxVectorElements)
    return op->emitError() << "type " << type << " has more than " << maxVectorElements
                           << " elements; loops over a tensor or memref have no such limit";
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !isa<RankedTensorType, MemRefType>(type))
    return success();
  int64_t bytes = elementBytes(shaped.getElementType());
  for (int64_t extent : shaped.getShape()) {
    if (ShapedType::isDynamic(extent))
      continue;
    std::optional<int64_t> larger = checkedMul(bytes, extent);
    if (!larger || *larger > maxBytes)
      return op->emitError() << "type " << type << " is larger than " << maxBytes << " bytes";
    bytes = *larger;
  }
  return success();
}

/// Elements that every later stage knows the size of.
bool isElement(Type type) {
  if (auto vector = dyn_cast<VectorType>(type))
    type = vector.getElementType();
  if (auto complex = dyn_cast<ComplexType>(type))
    type = complex.getElementType();
  return type.isIndex() || isa<FloatType>(type) ||
         (isa<IntegerType>(type) && type.getIntOrFloatBitWidth() <= 64);
}

LogicalResult checkType(Operation *op, Type type);

LogicalResult checkOp(Operation *op) {
  if (isa<ContextOp>(op))
    for (OpOperand &use : op->getUses())
      if (!isa<CallOp>(use.getOwner()) || use.getOperandNumber() != 0)
        return checkType(use.getOwner(), use.get().getType());
  if (isa<func::CallIndirectOp>(op))
    return op->emitError() << "calls a function that only a run knows; such a call has no bounded "
                              "stack";
  if (auto global = dyn_cast<memref::GlobalOp>(op); global && !global.getInitialValue())
    return op->emitError() << "global '" << global.getSymName()
                           << "' has no value; a parameter is an extern ml_program.global";
  if (isa<memref::AllocOp, memref::AllocaOp>(op)) {
    auto type = cast<MemRefType>(op->getResult(0).getType());
    if (!type.getLayout().isIdentity() || type.getMemorySpace())
      return op->emitError() << "allocates " << type
                             << "; an allocation must be dense, row-major, in the default memory "
                                "space";
    if (isa<memref::AllocaOp>(op) && !type.hasStaticShape())
      return op->emitError() << "a stack allocation of dynamic size can overflow the stack; use "
                                "memref.alloc, which the engine places";
  }
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
    bool onTensors = llvm::any_of(op->getOperandTypes(), [](Type t) { return isa<TensorType>(t); });
    bool onBuffers = llvm::any_of(op->getOperandTypes(), [](Type t) { return isa<MemRefType>(t); });
    if (onTensors && onBuffers)
      return op->emitError() << "mixes tensors and memrefs";
    WalkResult body = op->walk([&](Operation *nested) {
      return nested == op || !onTensors || isMemoryEffectFree(nested) ? WalkResult::advance()
                                                                      : WalkResult::interrupt();
    });
    if (body.wasInterrupted())
      return op->emitError()
             << "accesses memory in its body; an op on tensors computes values only";
  }
  return success();
}

LogicalResult checkType(Operation *op, Type type) {
  if (isa<ContextType>(type) && !isa<ContextOp>(op))
    return op->emitError() << "passes the context on; it goes from plim.context to calls of "
                              "functions of the host application and nowhere else";
  if (auto vector = dyn_cast<VectorType>(type); vector && vector.isScalable())
    return op->emitError() << "scalable vector type " << type << " is not supported";
  if (auto shaped = dyn_cast<ShapedType>(type); shaped && !shaped.hasRank())
    return op->emitError() << "type " << type << " has no rank; buffers and tensors need one";
  if (auto shaped = dyn_cast<ShapedType>(type); shaped && !isElement(shaped.getElementType()))
    return op->emitError() << "type " << type << " has unsupported elements";
  // As an element it has its bits together, where one in each byte is written.
  if (auto shaped = dyn_cast<ShapedType>(type))
    if (auto vector = dyn_cast<VectorType>(shaped.getElementType());
        vector && vector.getElementType().isInteger() && vector.getElementTypeBitWidth() < 8)
      return op->emitError() << "type " << type
                             << " has vectors of less than a byte for each number "
                                "as elements; give the vectors' extents to the buffer";
  if (type.isInteger() && type.getIntOrFloatBitWidth() > 64)
    return op->emitError() << "type " << type << " is wider than 64 bits";
  return checkSize(op, type);
}

/// An offset is part of the pointer that the caller passes.
bool isBoundaryLayout(MemRefType type, bool isArgument) {
  if (type.getLayout().isIdentity())
    return true;
  auto layout = dyn_cast<StridedLayoutAttr>(type.getLayout());
  return isArgument && layout &&
         (layout.getOffset() == 0 || ShapedType::isDynamic(layout.getOffset()));
}

LogicalResult checkBoundary(func::FuncOp function) {
  auto check = [&](Type type, StringRef what, unsigned index) -> LogicalResult {
    bool isArgument = what == "argument";
    Type element = type;
    if (auto shaped = dyn_cast<ShapedType>(type)) {
      if (!shaped.hasRank() || !isa<RankedTensorType, MemRefType>(type))
        return function.emitError() << what << " #" << index << " of '" << function.getName()
                                    << "' has type " << type << "; ranked tensors, memrefs and "
                                    << "scalars can cross a function boundary";
      if (auto memref = dyn_cast<MemRefType>(type);
          memref && (memref.getMemorySpace() || !isBoundaryLayout(memref, isArgument)))
        return function.emitError()
               << what << " #" << index << " of '" << function.getName() << "' has type " << type
               << "; a memref " << what << " must be dense, row-major, "
               << (isArgument ? "or strided with offset 0 or ?, " : "")
               << "in the default memory space";
      element = shaped.getElementType();
    }
    if (isa<ComplexType>(type)) // a scalar is a word
      return function.emitError() << what << " #" << index << " of '" << function.getName()
                                  << "' is a complex scalar; pass it as a tensor or memref of "
                                     "rank 0";
    if (!isBoundaryElement(element))
      return function.emitError()
             << what << " #" << index << " of '" << function.getName()
             << "' has unsupported element type " << element
             << "; supported are i1, i2, i4, i8, i16, i32, i64, f8E4M3FN, f8E5M2, "
                "f16, bf16, f32, f64, index, complex<f32> and complex<f64>";
    return success();
  };
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes()))
    if (!(index == 0 && function.isExternal() && isa<ContextType>(type)) &&
        failed(check(type, "argument", index)))
      return failure();
  for (auto [index, type] : llvm::enumerate(function.getResultTypes()))
    if (failed(check(type, "result", index)))
      return failure();
  return success();
}

bool usesTensors(func::FuncOp function) {
  auto isTensor = [](Type type) { return isa<TensorType>(type); };
  if (llvm::any_of(function.getArgumentTypes(), isTensor) ||
      llvm::any_of(function.getResultTypes(), isTensor))
    return true;
  return function
      .walk([&](Operation *op) {
        if (llvm::any_of(op->getResultTypes(), isTensor) ||
            llvm::any_of(op->getOperandTypes(), isTensor) || isa<func::CallOp>(op))
          return WalkResult::interrupt();
        return WalkResult::advance();
      })
      .wasInterrupted();
}

/// A raw entry pointer exists for buffers and scalars in, at most one scalar out.
bool hasKernelSignature(func::FuncOp function) {
  return function.getNumResults() == 0 ||
         (function.getNumResults() == 1 && !isa<ShapedType>(function.getResultTypes()[0]));
}

/// A declaration of a function of the host application, as it is bound and called.
class Declaration {
public:
  explicit Declaration(func::FuncOp function)
      : function(function), builder(function.getContext()),
        hasContext(function.getNumArguments() != 0 &&
                   isa<ContextType>(function.getArgumentTypes()[0])),
        donations(function.getNumResults(), -1) {}

  LogicalResult check() {
    if (failed(checkBoundary(function)))
      return failure();
    bool isPure = function->hasAttr(pureAttr);
    for (auto [i, type] : llvm::enumerate(types()))
      if (failed(checkArgument(unsigned(i), type, isPure)))
        return failure();
    for (auto [i, type] : llvm::enumerate(function.getResultTypes())) {
      auto refuse = [&] {
        return function.emitError()
               << "result #" << i << " of '" << function.getName() << "' has type " << type;
      };
      if (isa<MemRefType>(type))
        return refuse() << "; a function of the host application returns scalars and tensors";
    }
    return success();
  }

  /// Replaces the declaration and all calls of it.
  LogicalResult replace(SymbolTable &symbols, Operation *module) {
    SmallVector<Operation *> users;
    std::optional<SymbolTable::UseRange> uses = SymbolTable::getSymbolUses(function, module);
    for (SymbolTable::SymbolUse use : *uses)
      users.push_back(use.getUser());
    for (Operation *user : users) {
      auto call = dyn_cast<func::CallOp>(user);
      if (!call)
        return user->emitError() << "uses '" << function.getName()
                                 << "', a function of the host application, which can only be "
                                    "called";
      for (Operation *parent = call->getParentOp(); parent != module;
           parent = parent->getParentOp())
        if (isa<linalg::LinalgOp, tensor::GenerateOp, tensor::PadOp, scf::ForallOp, scf::ParallelOp,
                affine::AffineParallelOp>(parent))
          return call.emitError() << "calls '" << function.getName()
                                  << "', a function of the host application, from "
                                  << "the body of '" << parent->getName()
                                  << "', which has no order";
    }
    for (Operation *user : users)
      replace(cast<func::CallOp>(user));
    OpBuilder at(function);
    auto type = FunctionType::get(function.getContext(), types(), function.getResultTypes());
    auto external =
        ExternalOp::create(at, function.getLoc(), function.getName(), "private", type,
                           builder.getArrayAttr(accesses), donations, function->hasAttr(pureAttr),
                           /*device=*/StringAttr(), /*code=*/StringAttr());
    symbols.erase(function);
    symbols.insert(external);
    return success();
  }

private:
  ArrayRef<Type> types() { return function.getArgumentTypes().drop_front(hasContext); }

  /// The argument at position `i`, the context not counted.
  LogicalResult checkArgument(unsigned i, Type type, bool isPure) {
    unsigned position = i + hasContext;
    auto refuse = [&] {
      return function.emitError() << "argument #" << position << " of '" << function.getName()
                                  << "' ";
    };
    auto access = function.getArgAttrOfType<AccessAttr>(position, accessAttr);
    Attribute donation = function.getArgAttr(position, donateAttr);
    if (donation) {
      auto index = dyn_cast<IntegerAttr>(donation);
      int64_t result =
          index && index.getValue().isSignedIntN(64) ? index.getValue().getSExtValue() : -1;
      if (result < 0 || result >= int64_t(donations.size()))
        return refuse() << "is donated, but '" << donateAttr << "' is not the index of a result";
      if (!isa<RankedTensorType>(type) || function.getResultTypes()[unsigned(result)] != type)
        return refuse() << "has type " << type << " and is donated to result #" << result
                        << ", which is " << function.getResultTypes()[unsigned(result)]
                        << "; it must be the same tensor";
      if (donations[unsigned(result)] >= 0)
        return refuse() << "is donated to result #" << result << ", and so is another one";
      donations[unsigned(result)] = i;
    }
    if (!isa<ShapedType>(type)) {
      if (access)
        return refuse() << "is a scalar, but is declared " << stringifyAccess(access.getValue());
      return success();
    }
    bool isWritten = isa<MemRefType>(type) || donation;
    Access value = access ? access.getValue() : isWritten ? Access::ReadWrite : Access::ReadOnly;
    if (isWritten && donation && value == Access::ReadOnly)
      return refuse() << "is donated, but is declared readonly";
    if (!isWritten && value != Access::ReadOnly)
      return refuse() << "is a tensor that is not donated, which is readonly, but is declared "
                      << stringifyAccess(value);
    if (isPure && !donation && value != Access::ReadOnly)
      return refuse() << "may be written, but '" << pureAttr
                      << "' says that the function only computes its results";
    accesses.push_back(AccessAttr::get(function.getContext(), value));
    return success();
  }

  void replace(func::CallOp call) {
    OpBuilder at(call);
    Location loc = call.getLoc();
    SmallVector<Value> operands(call.getOperands());
    // Every such function gets the context, also where its author does not want to see it.
    if (!hasContext)
      operands.insert(operands.begin(),
                      ContextOp::create(at, loc, ContextType::get(at.getContext())));
    SmallVector<Attribute> all = accesses;
    SmallVector<int64_t> destinations;
    for (auto [i, type] : llvm::enumerate(call.getResultTypes())) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      if (!tensor)
        continue;
      if (donations[i] >= 0) {
        destinations.push_back(donations[i] + 1);
        continue;
      }
      if (!tensor.hasStaticShape()) {
        destinations.push_back(CallOp::madeByCallee);
        continue;
      }
      destinations.push_back(int64_t(operands.size()));
      operands.push_back(
          tensor::EmptyOp::create(at, loc, tensor.getShape(), tensor.getElementType()));
      all.push_back(AccessAttr::get(at.getContext(), Access::WriteOnly));
    }
    auto replacement =
        CallOp::create(at, loc, call.getResultTypes(), call.getCallee(), operands,
                       at.getArrayAttr(all), destinations, function->hasAttr(pureAttr));
    call->replaceAllUsesWith(replacement);
    call.erase();
  }

  func::FuncOp function;
  Builder builder;
  bool hasContext;
  SmallVector<int64_t> donations;  // by result: the argument, without the context, or -1
  SmallVector<Attribute> accesses; // of the shaped arguments
};

/// Turns one global and its loads and stores, which are `users`, into a memref global. `replaced` gets those that are to
/// be erased: others may have them among their users.
LogicalResult convertGlobal(ml_program::GlobalOp global, ArrayRef<Operation *> users,
                            SymbolTable &symbols, SmallVectorImpl<Operation *> &replaced) {
  auto type = dyn_cast<RankedTensorType>(global.getType());
  if (!type)
    return global.emitError() << "global '" << global.getSymName() << "' has type "
                              << global.getType() << "; ranked tensors are supported";
  Attribute initial = global.getValueAttr();
  bool isExtern = isa_and_nonnull<ml_program::ExternAttr>(initial);
  if (isExtern && global.getIsMutable())
    return global.emitError() << "extern global '" << global.getSymName()
                              << "' is mutable; a parameter is read-only";
  if (isExtern && !type.hasStaticShape())
    return global.emitError() << "extern global '" << global.getSymName()
                              << "' must have a static shape";
  if (initial && !isExtern && !isa<ElementsAttr>(initial))
    return global.emitError() << "global '" << global.getSymName()
                              << "' has an initial value that is no elements attribute";
  if (!initial && !global.getIsMutable())
    return global.emitError() << "global '" << global.getSymName()
                              << "' is neither mutable nor has a value";
  if (!type.hasStaticShape())
    return global.emitError() << "global '" << global.getSymName() << "' must have a static shape";

  std::string name = global.getSymName().str();
  OpBuilder builder(global);
  auto memrefType = MemRefType::get(type.getShape(), type.getElementType());
  bool isConstant = !global.getIsMutable();
  // One with a place of its own must not be folded into others.
  Attribute scope = global->getAttr(scopeAttr);
  bool isFoldable = isConstant && !isExtern && !scope;
  Attribute memrefInitial;
  if (!isExtern)
    memrefInitial = initial ? initial : UnitAttr::get(builder.getContext());
  auto converted =
      memref::GlobalOp::create(builder, global.getLoc(), name, builder.getStringAttr("private"),
                               memrefType, memrefInitial, isConstant, /*alignment=*/IntegerAttr());
  if (scope)
    converted->setAttr(scopeAttr, scope);
  symbols.remove(global);
  global.erase();
  symbols.insert(converted);

  for (Operation *user : users) {
    builder.setInsertionPoint(user);
    Location loc = user->getLoc();
    // Another attribute that names this one goes with what accesses another.
    if (auto accessed = user->getAttrOfType<SymbolRefAttr>("global");
        accessed && accessed.getRootReference() != name)
      continue;
    if (isa<ml_program::GlobalLoadOp, ml_program::GlobalLoadConstOp>(user)) {
      Value loaded;
      if (isFoldable) {
        loaded = arith::ConstantOp::create(builder, loc, type, cast<TypedAttr>(initial));
      } else {
        Value buffer = memref::GetGlobalOp::create(builder, loc, memrefType, name);
        loaded = bufferization::ToTensorOp::create(builder, loc, type, buffer, /*restrict=*/true);
        // What was loaded must not change when the global is stored to later.
        if (!isConstant)
          loaded = bufferization::AllocTensorOp::create(builder, loc, type, ValueRange(), loaded);
      }
      user->getResult(0).replaceAllUsesWith(loaded);
      replaced.push_back(user);
    } else if (auto store = dyn_cast<ml_program::GlobalStoreOp>(user)) {
      if (isConstant)
        return store.emitError() << "stores to '" << name << "', which is not mutable";
      Value buffer = memref::GetGlobalOp::create(builder, loc, memrefType, name);
      auto write = bufferization::MaterializeInDestinationOp::create(builder, loc, Type(),
                                                                     store.getValue(), buffer);
      write.setRestrict(true);
      write.setWritable(true);
      replaced.push_back(store);
    } else {
      return user->emitError() << "uses global '" << name << "' in an unsupported way";
    }
  }
  if (isFoldable)
    converted.erase();
  return success();
}

/// Softmax and its like, into generic ops.
struct DecomposeAggregate : OpInterfaceRewritePattern<linalg::AggregatedOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(linalg::AggregatedOpInterface op,
                                PatternRewriter &rewriter) const override {
    FailureOr<SmallVector<Value>> parts = op.decomposeOperation(rewriter);
    if (failed(parts))
      return failure();
    rewriter.replaceOp(op, *parts);
    return success();
  }
};

struct SplatToFill : OpRewritePattern<tensor::SplatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::SplatOp splat, PatternRewriter &rewriter) const override {
    Value empty =
        tensor::EmptyOp::create(rewriter, splat.getLoc(), splat.getType().getShape(),
                                splat.getType().getElementType(), splat.getDynamicSizes());
    rewriter.replaceOpWithNewOp<linalg::FillOp>(splat, splat.getInput(), empty);
    return success();
  }
};

struct LowerPack : OpRewritePattern<linalg::PackOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::PackOp op, PatternRewriter &rewriter) const override {
    return linalg::lowerPack(rewriter, op);
  }
};

struct LowerUnpack : OpRewritePattern<linalg::UnPackOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::UnPackOp op, PatternRewriter &rewriter) const override {
    return linalg::lowerUnPack(rewriter, op);
  }
};

template <typename OpT> struct ToDestinationStyle : OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpT op, PatternRewriter &rewriter) const override {
    return linalg::rewriteInDestinationPassingStyle(rewriter, op);
  }
};

/// Upstream takes a constant that surrounds a tensor for one of arith, and there are none of complex numbers.
struct PadWithComplexConstant : OpRewritePattern<tensor::PadOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::PadOp op, PatternRewriter &rewriter) const override {
    auto yield = cast<tensor::YieldOp>(op.getBody()->getTerminator());
    auto constant = yield.getValue().getDefiningOp<complex::ConstantOp>();
    ReifiedRankedShapedTypeDims shapes;
    if (!constant || failed(reifyResultShapes(rewriter, op, shapes)))
      return failure();
    const Location loc = op.getLoc();
    Value around = rewriter.clone(*constant)->getResult(0);
    Value empty = tensor::EmptyOp::create(rewriter, loc, shapes[0], around.getType());
    Value filled = linalg::FillOp::create(rewriter, loc, around, empty).getResult(0);
    const SmallVector<OpFoldResult> steps(shapes[0].size(), rewriter.getIndexAttr(1));
    rewriter.replaceOpWithNewOp<tensor::InsertSliceOp>(
        op, op.getSource(), filled, op.getMixedLowPad(),
        tensor::getMixedSizes(rewriter, loc, op.getSource()), steps);
    return success();
  }
};

struct GeneralizeNamed : OpInterfaceRewritePattern<linalg::LinalgOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(linalg::LinalgOp op, PatternRewriter &rewriter) const override {
    // A fill stays a fill: it is what fuses into every dispatch.
    if (isa<linalg::FillOp, linalg::GenericOp>(op) || !op.hasPureTensorSemantics())
      return failure();
    DictionaryAttr annotations = op->getDiscardableAttrDictionary();
    StringAttr name = op->getName().getIdentifier();
    FailureOr<linalg::GenericOp> generic = linalg::generalizeNamedOp(rewriter, op);
    if (succeeded(generic)) {
      (*generic)->setDiscardableAttrs(annotations);
      (*generic)->setAttr(sourceOpAttr, name);
    }
    return generic;
  }
};

struct Import : plim::ir::impl::PlimImportBase<Import> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    if (failed(bindExternals(module, symbols)) || failed(check(module)))
      return signalPassFailure();
    SymbolTableCollection tables;
    const SymbolUserMap users(tables, module);
    module.walk([](cf::AssertOp assertion) {
      assertion.setMsg((locationText(assertion.getLoc()) + assertion.getMsg()).str());
    });

    SmallVector<Operation *> replaced;
    for (auto global : llvm::make_early_inc_range(module.getOps<ml_program::GlobalOp>())) {
      if (failed(convertGlobal(global, users.getUsers(global), symbols, replaced)))
        return signalPassFailure();
      ++globals;
    }
    for (Operation *op : replaced)
      op->erase();
    if (failed(decompose(module)))
      return signalPassFailure();
    for (auto function : module.getOps<func::FuncOp>()) {
      if (failed(checkDonations(function, users)))
        return signalPassFailure();
      markFunction(function, users);
    }
  }

  LogicalResult bindExternals(ModuleOp module, SymbolTable &symbols) {
    for (auto function : llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
      if (!function.isExternal())
        continue;
      Declaration declaration(function);
      if (failed(declaration.check()) || failed(declaration.replace(symbols, module)))
        return failure();
      ++externals;
    }
    return success();
  }

  LogicalResult check(ModuleOp module) {
    for (Operation &op : *module.getBody())
      if (!isa<func::FuncOp, ml_program::GlobalOp, memref::GlobalOp, ExternalOp>(op))
        return op.emitError() << "'" << op.getName()
                              << "' is not supported at the top level of a module";
    for (auto function : module.getOps<func::FuncOp>())
      if (function.isPublic() && failed(checkBoundary(function)))
        return failure();
    WalkResult walk = module.walk([&](Operation *op) {
      if (failed(checkOp(op)))
        return WalkResult::interrupt();
      for (Type type : op->getResultTypes())
        if (failed(checkType(op, type)))
          return WalkResult::interrupt();
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (BlockArgument argument : block.getArguments())
            if (failed(checkType(op, argument.getType())))
              return WalkResult::interrupt();
      return WalkResult::advance();
    });
    return failure(walk.wasInterrupted() || failed(checkConstants(module)));
  }

  /// No tensor that may be updated in place is a constant: said here, since whether an op does update it
  /// depends on what becomes of that op.
  static LogicalResult checkConstants(ModuleOp module) {
    SymbolTable symbols(module);
    SmallVector<memref::GetGlobalOp> constants;
    bool mayWrite = false;
    module.walk([&](Operation *op) {
      if (auto toTensor = dyn_cast<bufferization::ToTensorOp>(op))
        mayWrite |= toTensor.getWritable();
      if (auto get = dyn_cast<memref::GetGlobalOp>(op))
        if (symbols.lookup<memref::GlobalOp>(get.getName()).getConstant())
          constants.push_back(get);
    });
    if (!mayWrite || constants.empty())
      return success();
    BufferUses uses(module);
    LogicalResult result = success();
    for (memref::GetGlobalOp get : constants)
      uses.forEach(get, [&](OpOperand &use) {
        auto toTensor = dyn_cast<bufferization::ToTensorOp>(use.getOwner());
        if (toTensor && toTensor.getWritable())
          result = toTensor.emitError()
                   << "makes a writable tensor of '" << get.getName() << "', which is constant";
      });
    return result;
  }

  LogicalResult decompose(ModuleOp module) {
    RewritePatternSet patterns(&getContext());
    patterns.add<DecomposeAggregate, LowerPack, LowerUnpack, SplatToFill,
                 ToDestinationStyle<tensor::GenerateOp>, ToDestinationStyle<tensor::PadOp>,
                 GeneralizeNamed>(&getContext());
    patterns.add<PadWithComplexConstant>(&getContext(), /*benefit=*/2);
    tensor::populateDecomposeTensorConcatPatterns(patterns);
    return applySoundPatterns(module, std::move(patterns));
  }

  /// Can each donated argument have its result? What only the call knows of their extents it checks.
  LogicalResult checkDonations(func::FuncOp function, const SymbolUserMap &users) {
    llvm::DenseMap<int64_t, unsigned> donors; // by result
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      Attribute attribute = function.getArgAttr(i, donateAttr);
      if (!attribute)
        continue;
      auto refuse = [&] {
        return function.emitError() << "argument #" << i << " of '" << function.getName() << "' ";
      };
      auto type = dyn_cast<RankedTensorType>(function.getArgument(i).getType());
      if (!type)
        return refuse() << "is donated, but is no tensor: a memref is memory that the function may "
                        << "write as it is";
      if (!function.isPublic() || !users.useEmpty(function))
        return refuse() << "is donated, but functions of the module call this one";
      auto writable = function.getArgAttrOfType<BoolAttr>(
          i, bufferization::BufferizationDialect::kWritableAttrName);
      if (writable && !writable.getValue())
        return refuse() << "is donated, but is declared not writable";
      auto index = dyn_cast<IntegerAttr>(attribute);
      if (!index)
        return refuse() << "is donated, but '" << donateAttr << "' is not the index of a result";
      int64_t result = index.getValue().isSignedIntN(64) ? index.getValue().getSExtValue() : -1;
      if (result < 0 || result >= int64_t(function.getNumResults()))
        return refuse() << "is donated to result #" << result << ", but there are "
                        << function.getNumResults() << " results";
      Type resultType = function.getResultTypes()[unsigned(result)];
      if (resultType != type)
        return refuse() << "is donated to result #" << result << ", which is " << resultType
                        << " and not " << type;
      auto [donor, isFirst] = donors.try_emplace(result, i);
      if (!isFirst)
        return refuse() << "is donated to result #" << result << ", and so is argument #"
                        << donor->second;
      checkExtents(function, i, unsigned(result));
    }
    return success();
  }

  static void checkExtents(func::FuncOp function, unsigned argument, unsigned result) {
    Value donated = function.getArgument(argument);
    auto type = cast<RankedTensorType>(donated.getType());
    for (auto op : function.getOps<func::ReturnOp>()) {
      OpBuilder builder(op);
      Location loc = op.getLoc();
      Value returned = op.getOperand(result);
      for (int64_t d = 0; d < type.getRank(); ++d) {
        if (!type.isDynamicDim(d) || returned == donated)
          continue;
        Value have = tensor::DimOp::create(builder, loc, donated, d);
        Value need = tensor::DimOp::create(builder, loc, returned, d);
        Value fits = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, have, need);
        std::string message = locationText(loc) + "result #" + std::to_string(result) + " of '" +
                              function.getName().str() + "' has other extents than argument #" +
                              std::to_string(argument) + ", which is donated to it";
        cf::AssertOp::create(builder, loc, fits, message);
      }
    }
  }

  void markFunction(func::FuncOp function, const SymbolUserMap &users) {
    Builder builder(function.getContext());
    // One that others call keeps the signature that the calls were written for.
    if (!usesTensors(function) && hasKernelSignature(function) && users.useEmpty(function)) {
      function->setAttr(kernelAttr, builder.getUnitAttr());
      ++kernels;
      return;
    }
    // What the caller passes is the caller's, unless donated: results go to buffers of their own.
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (isa<TensorType>(function.getArgument(i).getType()) && !function.getArgAttr(i, donateAttr))
        function.setArgAttr(i, bufferization::BufferizationDialect::kWritableAttrName,
                            builder.getBoolAttr(false));
  }
};

} // namespace
