#include "importers/Import.h"

#include "engine/io/File.h"
#include "importers/onnx/plimsoll_onnx.h"
#include "importers/stablehlo/Stablehlo.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <functional>
#include <memory>
#include <new>
#include <pthread.h>
#include <span>
#include <unistd.h>
#include <vector>

namespace plim::importers {

namespace {

namespace fs = std::filesystem;

constexpr const char *libraryName = "libplimsoll-onnx.so";

/// The functions of the library, which stays open.
struct Library {
  decltype(&plim_onnx_version) version;
  decltype(&plim_onnx_import) import;
  decltype(&plim_onnx_free) free;
  decltype(&plim_onnx_message) message;
  decltype(&plim_onnx_text) text;
  decltype(&plim_onnx_summary) summary;
  decltype(&plim_onnx_parameter_count) parameterCount;
  decltype(&plim_onnx_parameter_at) parameterAt;
  decltype(&plim_onnx_keep) keep;
  decltype(&plim_onnx_release) release;
};

template <typename Function> bool find(void *handle, const char *name, Function &out) {
  out = reinterpret_cast<Function>(dlsym(handle, name));
  return out != nullptr;
}

StatusOr<std::string> libraryPath() {
  if (const char *given = std::getenv("PLIMSOLL_ONNX"); given && *given)
    return std::string(given);
  std::string tried;
  Dl_info self;
  std::error_code error;
  for (const char *origin :
       {dladdr(reinterpret_cast<const void *>(&libraryPath), &self) ? self.dli_fname : "",
        "/proc/self/exe"}) {
    const fs::path folder = fs::canonical(origin, error).parent_path();
    if (error)
      continue;
    for (const char *relative :
         {".", "plimsoll", "../" PLIM_LIBRARY_FOLDER "/plimsoll", "../lib"}) {
      const fs::path path = (folder / relative / libraryName).lexically_normal();
      if (::access(path.c_str(), R_OK) == 0)
        return path.string();
      tried += (tried.empty() ? "" : ", ") + path.string();
    }
  }
  return failedPreconditionError("there is no library that reads ONNX models: tried " + tried);
}

StatusOr<Library> openLibrary() {
  PLIM_ASSIGN_OR_RETURN(std::string path, libraryPath());
  void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!handle)
    return failedPreconditionError(std::string("cannot open the library that reads ONNX models: ") +
                                   dlerror());
  Library out;
  if (!find(handle, "plim_onnx_version", out.version) || out.version() != PLIM_ONNX_VERSION ||
      !find(handle, "plim_onnx_import", out.import) || !find(handle, "plim_onnx_free", out.free) ||
      !find(handle, "plim_onnx_message", out.message) ||
      !find(handle, "plim_onnx_text", out.text) ||
      !find(handle, "plim_onnx_summary", out.summary) ||
      !find(handle, "plim_onnx_parameter_count", out.parameterCount) ||
      !find(handle, "plim_onnx_parameter_at", out.parameterAt) ||
      !find(handle, "plim_onnx_keep", out.keep) || !find(handle, "plim_onnx_release", out.release))
    return failedPreconditionError("'" + path + "' is of another version");
  return out;
}

runtime::ElementType elementType(std::string_view name) {
  using enum runtime::ElementType;
  static const std::map<std::string_view, runtime::ElementType> types{
      {"F16", F16}, {"BF16", BF16}, {"F32", F32}, {"F64", F64},          {"BOOL", I1},
      {"I8", I8},   {"I16", I16},   {"I32", I32}, {"I64", I64},          {"U8", I8},
      {"U16", I16}, {"U32", I32},   {"U64", I64}, {"F8_E4M3", F8E4M3FN}, {"F8_E5M2", F8E5M2}};
  return types.at(name);
}

/// A buffer on bytes that `keep` keeps.
StatusOr<runtime::Buffer> bufferOn(std::span<const std::byte> bytes, std::string_view typeName,
                                   std::span<const int64_t> shape,
                                   std::shared_ptr<const void> keep) {
  using Keep = std::shared_ptr<const void>;
  auto *own = new Keep(std::move(keep)); // the buffer's, if there is one
  StatusOr<runtime::Buffer> buffer = runtime::Buffer::wrapUnaligned(
      const_cast<std::byte *>(bytes.data()), elementType(typeName), shape, true,
      [](void *user, void *) { delete static_cast<Keep *>(user); }, own);
  if (!buffer.ok())
    delete own;
  return buffer;
}

/// Calls `work` on a thread with a stack that is deep enough for what a model may nest; the caller's may be small.
Status onOwnStack(const std::function<void()> &work) {
  constexpr size_t stackBytes = size_t(16) << 20;
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0)
    return resourceExhaustedError("there is not enough memory for a thread that imports");
  pthread_attr_setstacksize(&attributes, stackBytes);
  pthread_t thread;
  const int error = pthread_create(
      &thread, &attributes,
      [](void *given) -> void * {
        (*static_cast<const std::function<void()> *>(given))();
        return nullptr;
      },
      const_cast<std::function<void()> *>(&work));
  pthread_attr_destroy(&attributes);
  if (error != 0)
    return resourceExhaustedError("cannot start a thread that imports");
  pthread_join(thread, nullptr);
  return okStatus();
}

bool isOnnx(std::string_view bytes, std::string_view name) {
  // The first field of a model is its version, a small number: neither text, bytecode nor compiled code begins so.
  if (bytes.size() >= 2 && bytes[0] == '\x08' && bytes[1] > 0 && bytes[1] < 0x40)
    return true;
  return name.ends_with(".onnx") && !bytes.starts_with("ML\xefR") &&
         !bytes.starts_with("plimart\n");
}

Status statusOf(const ImportError &error, const std::string &name) {
  // A place belongs to the name: "net.mlir:3:7: ...".
  const std::string what = error.what();
  const bool hasPlace = !what.empty() && what[0] >= '0' && what[0] <= '9';
  std::string message = name + (hasPlace ? ":" : ": ") + what;
  std::replace(message.begin(), message.end(), '\n', ' ');
  return error.kind == ImportError::Kind::Invalid ? invalidArgumentError(message)
                                                  : unimplementedError(message);
}

StatusOr<ImportedSource> importStablehlo(std::string_view text, const std::string &name) {
  stablehlo::Imported imported;
  Status failure;
  PLIM_RETURN_IF_ERROR(onOwnStack([&] {
    try {
      imported = stablehlo::import(text);
    } catch (const ImportError &error) {
      failure = statusOf(error, name);
    } catch (const std::bad_alloc &) {
      failure = resourceExhaustedError(name + ": there is not enough memory");
    } catch (const std::exception &error) {
      failure = internalError(name + ": " + error.what());
    }
  }));
  PLIM_RETURN_IF_ERROR(failure);
  ImportedSource out;
  out.text = std::move(imported.text);
  out.summary = std::move(imported.summary);
  for (const TensorPtr &tensor : imported.parameters) {
    PLIM_ASSIGN_OR_RETURN(
        runtime::Buffer buffer,
        bufferOn(tensor->bytes, safetensorsName(tensor->type), tensor->shape, tensor));
    out.parameters.emplace(tensor->name, std::move(buffer));
    out.parameterTypes.emplace(tensor->name, safetensorsName(tensor->type));
  }
  return out;
}

/// The elements of a parameter of a model in `bytes`, where they lie; a copy of what nobody keeps.
StatusOr<runtime::Buffer> bufferOf(const plim_onnx_parameter &parameter,
                                   std::shared_ptr<plim_onnx_bytes> kept, std::string_view bytes,
                                   const std::shared_ptr<const void> &owner,
                                   const io::Mapping &mapping) {
  const char *begin = static_cast<const char *>(parameter.data);
  const std::span elements(static_cast<const std::byte *>(parameter.data), parameter.size);
  const std::span shape(parameter.shape, parameter.rank);
  const runtime::ElementType type = elementType(parameter.type);
  const bool isInBytes = begin >= bytes.data() && begin < bytes.data() + bytes.size();
  if (isInBytes && mapping)
    return io::wrapMapping(mapping, elements, type, shape);
  if (isInBytes && !owner)
    return runtime::Buffer::fromCopy(std::make_shared<runtime::MemoryPool>(), type, shape,
                                     elements);
  if (isInBytes || !parameter.is_of_file)
    return bufferOn(elements, parameter.type, shape, isInBytes ? owner : std::move(kept));
  using Mapped = std::pair<std::span<const std::byte>, std::shared_ptr<plim_onnx_bytes>>;
  const auto mapped = std::make_shared<const Mapped>(elements, std::move(kept));
  return io::wrapMapping(io::Mapping(mapped, &mapped->first), elements, type, shape);
}

StatusOr<ImportedSource> importOnnx(std::string_view bytes, const std::string &name,
                                    const std::shared_ptr<const void> &owner,
                                    const io::Mapping &mapping = {}) {
  static const StatusOr<Library> library = openLibrary();
  if (!library.ok())
    return library.status().withContext(name);
  std::string folder = fs::path(name).parent_path().string();
  plim_onnx_model *raw = nullptr;
  int code = PLIM_ONNX_INTERNAL;
  PLIM_RETURN_IF_ERROR(onOwnStack([&] {
    code = library->import(bytes.data(), bytes.size(), folder.empty() ? "." : folder.c_str(), &raw);
  }));
  if (!raw)
    return resourceExhaustedError(name + ": there is not enough memory");
  const std::unique_ptr<plim_onnx_model, decltype(library->free)> model(raw, library->free);
  if (code != PLIM_ONNX_OK) {
    const std::string message = name + ": " + library->message(raw);
    return code == PLIM_ONNX_INVALID       ? invalidArgumentError(message)
           : code == PLIM_ONNX_UNSUPPORTED ? unimplementedError(message)
                                           : internalError(message);
  }
  ImportedSource out;
  size_t size = 0;
  const char *text = library->text(raw, &size);
  out.text.assign(text, size);
  out.summary = library->summary(raw);
  for (size_t i = 0; i < library->parameterCount(raw); ++i) {
    const plim_onnx_parameter parameter = library->parameterAt(raw, i);
    std::shared_ptr<plim_onnx_bytes> kept(library->keep(raw, i), library->release);
    if (!kept)
      return resourceExhaustedError(name + ": there is not enough memory");
    PLIM_ASSIGN_OR_RETURN(runtime::Buffer buffer,
                          bufferOf(parameter, std::move(kept), bytes, owner, mapping));
    out.parameters.emplace(parameter.name, std::move(buffer));
    out.parameterTypes.emplace(parameter.name, parameter.type);
  }
  return out;
}

} // namespace

bool isModel(std::string_view bytes, std::string_view name) {
  return isOnnx(bytes, name) || stablehlo::isStablehlo(bytes);
}

StatusOr<ImportedSource> importModel(std::string_view bytes, const std::string &name,
                                     const std::shared_ptr<const void> &owner) {
  return isOnnx(bytes, name) ? importOnnx(bytes, name, owner) : importStablehlo(bytes, name);
}

StatusOr<ImportedSource> importModelFile(const std::string &path) {
  PLIM_ASSIGN_OR_RETURN(io::File file, io::File::open(path));
  PLIM_ASSIGN_OR_RETURN(io::Mapping mapping, file.map());
  const std::string_view bytes(reinterpret_cast<const char *>(mapping->data()), mapping->size());
  return isOnnx(bytes, path) ? importOnnx(bytes, path, mapping, mapping)
                             : importStablehlo(bytes, path);
}

bool isModelFile(const std::string &path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) // to open a pipe and to close it would lose what is in it
    return false;
  StatusOr<io::File> file = io::File::open(path);
  if (!file.ok())
    return false;
  std::vector<std::byte> first(std::min<size_t>(stablehlo::headBytes, file->size()));
  return file->read(0, first).ok() &&
         isModel({reinterpret_cast<const char *>(first.data()), first.size()}, path);
}

} // namespace plim::importers
