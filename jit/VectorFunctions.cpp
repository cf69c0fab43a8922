#include "jit/VectorFunctions.h"

#include "jit/FunctionEmitter.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"

#include <array>
#include <deque>
#include <numeric>
#include <optional>
#include <string>

using namespace llvm;

namespace plim::jit {
namespace {

struct Known {
  VectorFunction function;
  Intrinsic::ID intrinsic;
  const char *name;
  unsigned operands;
};
constexpr std::array<Known, 6> allKnown = {
    {{VectorFunction::Exp, Intrinsic::exp, "plim.exp", 1},
     {VectorFunction::Exp2, Intrinsic::exp2, "plim.exp2", 1},
     {VectorFunction::Log, Intrinsic::log, "plim.log", 1},
     {VectorFunction::Log2, Intrinsic::log2, "plim.log2", 1},
     {VectorFunction::Log10, Intrinsic::log10, "plim.log10", 1},
     {VectorFunction::Pow, Intrinsic::pow, "plim.pow", 2}}};

constexpr unsigned vectorBits = 512;
/// Calls that are computed side by side: more have no registers.
constexpr size_t callsTogether = 2;

std::string nameOf(const Known &known, bool isDouble) {
  return std::string(known.name) + (isDouble ? ".f64" : ".f32");
}

/// What is called, if it is one of these, of elements or vectors.
const Known *knownOf(const CallInst &call) {
  const Function *callee = call.getCalledFunction();
  const Type *element = call.getType()->getScalarType();
  if (!callee || (!element->isFloatTy() && !element->isDoubleTy()) ||
      isa<ScalableVectorType>(call.getType()))
    return nullptr;
  const auto *found = find_if(allKnown, [&](const Known &known) {
    const std::string name = nameOf(known, element->isDoubleTy());
    return callee->getIntrinsicID() == known.intrinsic || callee->getName() == name ||
           callee->getName().starts_with(name + ".");
  });
  return found == allKnown.end() ? nullptr : found;
}

/// Vectors of 512 bits with all elements of a value: the last ones once more where they do not fill it, so that nothing is undefined.
SmallVector<Value *, 2> wholeVectors(IRBuilder<> &builder, Value *value) {
  const unsigned lanes = vectorBits / value->getType()->getScalarSizeInBits();
  auto *type = dyn_cast<FixedVectorType>(value->getType());
  if (!type)
    return {builder.CreateVectorSplat(lanes, value)};
  SmallVector<Value *, 2> parts;
  for (unsigned begin = 0; begin < type->getNumElements(); begin += lanes) {
    SmallVector<int> elements;
    for (unsigned i = begin; i < begin + lanes; ++i)
      elements.push_back(int(std::min(i, type->getNumElements() - 1)));
    parts.push_back(type->getNumElements() == lanes ? value
                                                    : builder.CreateShuffleVector(value, elements));
  }
  return parts;
}

/// The value of a type whose elements these have.
Value *joined(IRBuilder<> &builder, Type *wanted, ArrayRef<Value *> parts) {
  auto *type = dyn_cast<FixedVectorType>(wanted);
  if (!type)
    return builder.CreateExtractElement(parts[0], uint64_t(0));
  if (parts[0]->getType() == type)
    return parts[0];
  SmallVector<Value *> all(parts);
  while (all.size() > 1) {
    SmallVector<Value *> halves;
    for (size_t i = 0; i < all.size(); i += 2) {
      Value *second = i + 1 < all.size() ? all[i + 1] : PoisonValue::get(all[i]->getType());
      const unsigned length = cast<FixedVectorType>(all[i]->getType())->getNumElements();
      SmallVector<int> elements(2 * length);
      std::iota(elements.begin(), elements.end(), 0);
      halves.push_back(builder.CreateShuffleVector(all[i], second, elements));
    }
    all = std::move(halves);
  }
  SmallVector<int> elements(type->getNumElements());
  std::iota(elements.begin(), elements.end(), 0);
  return builder.CreateShuffleVector(all[0], elements);
}

/// A call and those of the same function right behind it, as the vectoriser puts them, that do not use each other.
SmallVector<CallInst *> callsWith(CallInst &first, const Known &known) {
  SmallVector<CallInst *> calls = {&first};
  for (Instruction *next = first.getNextNode(); next && calls.size() < callsTogether;
       next = next->getNextNode()) {
    auto *call = dyn_cast<CallInst>(next);
    if (!call || knownOf(*call) != &known || call->getType() != first.getType() ||
        any_of(call->args(), [&](const Use &use) { return is_contained(calls, use.get()); }))
      break;
    calls.push_back(call);
  }
  return calls;
}

void expand(ArrayRef<CallInst *> calls, const Known &known) {
  IRBuilder<> builder(calls.back());
  SmallVector<SmallVector<Value *, 2>> arguments(known.operands);
  for (unsigned operand = 0; operand < known.operands; ++operand)
    for (CallInst *call : calls)
      append_range(arguments[operand], wholeVectors(builder, call->getArgOperand(operand)));
  const size_t count = arguments[0].size(), ofEach = count / calls.size();
  SmallVector<Value *> results;
  for (size_t begin = 0; begin < count; begin += callsTogether) {
    SmallVector<SmallVector<Value *, 2>> some;
    for (const SmallVector<Value *, 2> &all : arguments)
      some.emplace_back(ArrayRef(all).drop_front(begin).take_front(callsTogether));
    append_range(results, emitFunction(builder, known.function, some));
  }
  for (auto [i, call] : enumerate(calls))
    call->replaceAllUsesWith(
        joined(builder, call->getType(), ArrayRef(results).slice(i * ofEach, ofEach)));
  for (CallInst *call : calls)
    call->eraseFromParent();
}

} // namespace

bool hasVectorFunctions(const targets::DeviceDescription &device) {
  return Triple(device.triple).getArch() == Triple::x86_64 && device.vectorBits >= vectorBits &&
         device.hasFeature("avx512f");
}

PreservedAnalyses NameVectorFunctions::run(Function &function, FunctionAnalysisManager &) {
  bool hasChanged = false;
  for (Instruction &instruction : make_early_inc_range(instructions(function))) {
    auto *call = dyn_cast<CallInst>(&instruction);
    const Known *known = call && !call->getType()->isVectorTy() ? knownOf(*call) : nullptr;
    if (!known || call->getIntrinsicID() == Intrinsic::not_intrinsic)
      continue;
    FunctionCallee named = function.getParent()->getOrInsertFunction(
        nameOf(*known, call->getType()->isDoubleTy()), call->getFunctionType());
    auto *callee = cast<Function>(named.getCallee());
    callee->setDoesNotAccessMemory();
    for (Attribute::AttrKind kind : {Attribute::NoUnwind, Attribute::WillReturn, Attribute::NoSync,
                                     Attribute::NoFree, Attribute::Speculatable})
      callee->addFnAttr(kind);
    call->setCalledFunction(named);
    hasChanged = true;
  }
  return hasChanged ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

std::vector<VecDesc> vectorFunctions() {
  static const auto table = [] {
    std::pair<std::vector<VecDesc>, std::deque<std::string>> result;
    auto &[descriptions, names] = result;
    for (const Known &known : allKnown)
      for (bool isDouble : {false, true})
        for (unsigned lanes : {2, 4, 8, 16, 32, 64}) {
          const std::string &scalar = names.emplace_back(nameOf(known, isDouble));
          const std::string &vector = names.emplace_back(scalar + "." + utostr(lanes));
          const std::string &prefix =
              names.emplace_back("_ZGV_LLVM_N" + utostr(lanes) + std::string(known.operands, 'v'));
          descriptions.emplace_back(scalar, vector, ElementCount::getFixed(lanes),
                                    /*Masked=*/false, prefix, std::nullopt);
        }
    return result;
  }();
  return table.first;
}

PreservedAnalyses ExpandVectorFunctions::run(Function &function, FunctionAnalysisManager &) {
  SmallVector<SmallVector<CallInst *>> groups;
  SmallPtrSet<CallInst *, 16> taken;
  for (Instruction &instruction : instructions(function)) {
    auto *call = dyn_cast<CallInst>(&instruction);
    const Known *known = call && !taken.contains(call) ? knownOf(*call) : nullptr;
    if (!known)
      continue;
    groups.push_back(callsWith(*call, *known));
    taken.insert_range(groups.back());
  }
  for (ArrayRef<CallInst *> calls : groups)
    expand(calls, *knownOf(*calls.front()));
  return groups.empty() ? PreservedAnalyses::all() : PreservedAnalyses::none();
}

} // namespace plim::jit
