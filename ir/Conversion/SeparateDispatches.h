// SeparateDispatches: the dispatches of a module each in a module of their own, so that they can be lowered apart from each
// other, on threads and in contexts of their own.
//
//   for (SeparateDispatch &dispatch : separateDispatches(module))
//     ...                                    // plim-lower-runtime and what follows, on dispatch.module
//   ...                                      // the same on `module`, which calls them
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>
#include <vector>

namespace plim::ir {

/// One dispatch function with what counts its workgroups and what both refer to.
struct SeparateDispatch {
  mlir::OwningOpRef<mlir::ModuleOp> module; // in the context of the module it was in
  std::string name;                         // of the dispatch function
  size_t size = 0;                          // operations
};

/// Behind plim-distribute-workgroups: takes dispatch functions out of `module`, where declarations of them stay, each with the
/// function that counts its workgroups, of which plim-lower-runtime reads whether the number is known. A dispatch that refers to
/// more than private functions and constants stays where it is. In the order of their names. On the thread of the context.
std::vector<SeparateDispatch> separateDispatches(mlir::ModuleOp module);

} // namespace plim::ir
