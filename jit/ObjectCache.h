// ObjectCache: the code of single LLVM modules, so that an edited source compiles only what
// changed, and sources share what they have in common.
//
// The key is all that LLVM is given: the module as bitcode, with the attributes of the target, what
// kind of code it is to be, and the builds of the compiler and of LLVM. What a kernel and its data
// are called depends on where they stand in their source, so these names are left out of the key,
// and the symbols of an object that is found are renamed.
//
// Any thread, for all methods.
#pragma once

#include "jit/ArtifactCache.h"
#include "jit/Compiler.h"
#include "jit/ObjectEmitter.h"
#include "support/Hash.h"
#include "targets/TargetDescription.h"

#include <optional>
#include <string>
#include <vector>

namespace llvm {
class Module;
}

namespace plim::jit {

class ObjectCache {
public:
  /// What a module is found by.
  struct Key {
    Digest content;
    std::vector<std::string> names; // that the content does not have, in the order of the module
  };

  /// `cache`, where entries are kept, is borrowed.
  ObjectCache(const ArtifactCache &cache, const targets::TargetDescription &target,
              Numerics numerics);

  /// The module is as it goes to LLVM's passes; it is the same afterwards.
  Key keyOf(llvm::Module &module, CodeKind kind) const;

  /// The code of the module that has this key, with its names; none if there is none, or it cannot
  /// be read.
  std::optional<ObjectCode> load(const Key &key) const;
  /// Adds code. A failure costs only the entry, and nothing tells of it.
  void store(const Key &key, const ObjectCode &code) const;

private:
  const ArtifactCache &cache;
  Hasher environment;
};

} // namespace plim::jit
