#include "targets/internal/DynamicLibrary.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

namespace plim::targets::internal {
namespace {

/// The loader's messages are translated, but what stands before the first ": " is not: the name as
/// it was given if nothing was found, the full path of the file at fault otherwise.
bool meansNotFound(const std::string &library, std::string_view message) {
  if (library.find('/') != library.npos)
    return access(library.c_str(), F_OK) != 0;
  return message.starts_with(library + ": ");
}

int addName(dl_phdr_info *info, size_t, void *names) {
  // The program itself has no name.
  if (info->dlpi_name && *info->dlpi_name)
    static_cast<std::set<std::string> *>(names)->insert(info->dlpi_name);
  return 0;
}

} // namespace

StatusOr<void *> openLibrary(const std::string &library) {
  if (void *handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL))
    return handle;
  const char *error = dlerror();
  std::string message = error ? error : library + ": unknown fault";
  if (meansNotFound(library, message))
    return static_cast<void *>(nullptr);
  return unavailableError(message);
}

void *findSymbol(void *library, const char *name) { return dlsym(library, name); }

std::set<std::string> loadedLibraries() {
  std::set<std::string> names;
  dl_iterate_phdr(addName, &names);
  return names;
}

void keepLibrariesLoadedSince(const std::set<std::string> &before) {
  for (const std::string &name : loadedLibraries())
    if (!before.contains(name))
      dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

} // namespace plim::targets::internal
