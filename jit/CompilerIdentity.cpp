#include "jit/CompilerIdentity.h"

#include "llvm/Config/llvm-config.h"
#include "llvm/TargetParser/Host.h"

#include <dlfcn.h>
#include <sys/stat.h>

namespace plim::jit {

namespace {

std::string identityOfFileWith(const void *address) {
  Dl_info info;
  struct stat status;
  if (!dladdr(address, &info) || !info.dli_fname || stat(info.dli_fname, &status) != 0)
    return "";
  return std::to_string(status.st_size) + "." + std::to_string(status.st_mtim.tv_sec) + "." +
         std::to_string(status.st_mtim.tv_nsec);
}

} // namespace

const std::string &compilerIdentity() {
  // Once: the linker looks for an address among all symbols of LLVM.
  static const std::string identity =
      identityOfFileWith(reinterpret_cast<const void *>(&compilerIdentity)) + " " +
      LLVM_VERSION_STRING + " " +
      identityOfFileWith(reinterpret_cast<const void *>(&llvm::sys::getProcessTriple));
  return identity;
}

} // namespace plim::jit
