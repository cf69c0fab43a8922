#include "jit/CompilerIdentity.h"

#include "llvm/Config/llvm-config.h"

#include <cstdint>
#include <link.h>
#include <string_view>
#include <sys/stat.h>

namespace plim::jit {

namespace {

bool holds(const dl_phdr_info &object, uintptr_t address) {
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr) &segment = object.dlpi_phdr[i];
    const uintptr_t begin = object.dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && address >= begin && address - begin < segment.p_memsz)
      return true;
  }
  return false;
}

/// Adds the identity of a loaded file that is part of the compiler to a text. Not 0 if it has none, which ends the search.
int add(dl_phdr_info *object, size_t, void *text) {
  const std::string_view path = object->dlpi_name;
  const std::string_view name = path.substr(path.rfind('/') + 1);
  if (!name.starts_with("libLLVM") && !name.starts_with("libMLIR") &&
      !holds(*object, reinterpret_cast<uintptr_t>(&compilerIdentity)))
    return 0;
  // The program itself has no name.
  const std::string identity = identityOfFile(path.empty() ? "/proc/self/exe" : std::string(path));
  static_cast<std::string *>(text)->append(" ").append(identity);
  return identity.empty();
}

} // namespace

std::string identityOfFile(const std::string &path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0)
    return "";
  return std::to_string(status.st_size) + "." + std::to_string(status.st_mtim.tv_sec) + "." +
         std::to_string(status.st_mtim.tv_nsec);
}

const std::string &compilerIdentity() {
  static const std::string identity = [] {
    std::string text = LLVM_VERSION_STRING;
    return dl_iterate_phdr(add, &text) == 0 ? text : std::string();
  }();
  return identity;
}

} // namespace plim::jit
