// VectorPipeline: LLVM's passes for code that computes with vectors already, and for what is not worth more.
#pragma once

#include "llvm/IR/PassManager.h"

namespace plim::jit {

/// Does each innermost loop compute with vectors, or go over what such a loop leaves, or do no more than copy elements beside many such
/// instructions, and does no loop call a function of the module? Then LLVM's vectorisers, and what prepares loops for them, find nothing
/// to do, and inlining gains nothing.
bool isVectorized(const llvm::Module &module);

/// What is left to do for such a module: redundant loads and computations, invariants of loops, simpler instructions. Takes a
/// quarter of the time of LLVM's -O3 pipeline, and makes code as fast of it. What runs once has it too.
llvm::ModulePassManager makeShortPipeline();

/// For host code, which stores what dispatches are called with, thousands of times to one place on the stack: the same without
/// InstCombine, which goes over all uses of that place whenever one of them changes. Passes for loops, LLVM's vectoriser among
/// them, run only in functions with an innermost loop that loads, stores and calls nothing: a sequential loop over tensors.
llvm::ModulePassManager makeHostPipeline();

} // namespace plim::jit
