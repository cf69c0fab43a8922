#include "targets/dlti/Dlti.h"

#include "targets/internal/Fields.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/TargetParser/Triple.h"

#include <mutex>

namespace plim::targets::dlti {
namespace {

using internal::Described;
using EmitError = llvm::function_ref<mlir::InFlightDiagnostic()>;

llvm::StringRef toRef(std::string_view text) { return {text.data(), text.size()}; }

//===-- Encoding ----------------------------------------------------------------------------===//

mlir::DataLayoutEntryInterface entry(mlir::Builder &builder, const llvm::Twine &key,
                                     mlir::Attribute value) {
  return mlir::DataLayoutEntryAttr::get(builder.getStringAttr(key), value);
}

template <typename T> mlir::Attribute encode(mlir::Builder &builder, const T &value);

/// Every field but the name of a device or memory: that is the key it stands under.
template <Described T>
llvm::SmallVector<mlir::DataLayoutEntryInterface>
encodeFields(mlir::Builder &builder, const T &value, llvm::StringRef prefix) {
  llvm::SmallVector<mlir::DataLayoutEntryInterface> entries;
  internal::forEachField<T>([&](auto field) {
    if (field.key != "name")
      entries.push_back(
          entry(builder, prefix + toRef(field.key), encode(builder, value.*field.member)));
  });
  return entries;
}

template <typename T> mlir::Attribute encode(mlir::Builder &builder, const T &value) {
  if constexpr (Described<T>) {
    return mlir::MapAttr::get(builder.getContext(), encodeFields(builder, value, ""));
  } else if constexpr (internal::IsVector<T>::value) {
    llvm::SmallVector<mlir::Attribute> elements;
    for (const auto &element : value)
      elements.push_back(encode(builder, element));
    return builder.getArrayAttr(elements);
  } else if constexpr (std::is_enum_v<T>) {
    return builder.getStringAttr(toRef(internal::enumName(value)));
  } else if constexpr (std::is_same_v<T, std::string>) {
    return builder.getStringAttr(value);
  } else if constexpr (std::is_same_v<T, bool>) {
    return builder.getBoolAttr(value);
  } else if constexpr (std::is_same_v<T, double>) {
    return builder.getF64FloatAttr(value);
  } else {
    static_assert(std::is_same_v<T, int64_t>);
    return builder.getI64IntegerAttr(value);
  }
}

//===-- Decoding ----------------------------------------------------------------------------===//

mlir::LogicalResult wrongType(EmitError emitError, const llvm::Twine &path,
                              llvm::StringRef expected, mlir::Attribute got) {
  return emitError() << "target entry '" << path << "': expected " << expected << ", got " << got;
}

template <typename T>
mlir::LogicalResult decode(mlir::Attribute attribute, const std::string &path, EmitError emitError,
                           T &value);

template <Described T>
mlir::LogicalResult decodeFields(llvm::ArrayRef<mlir::DataLayoutEntryInterface> entries,
                                 llvm::StringRef prefix, const std::string &path,
                                 EmitError emitError, T &value) {
  for (mlir::DataLayoutEntryInterface entry : entries) {
    auto key = llvm::dyn_cast<mlir::StringAttr>(entry.getKey());
    if (!key)
      return emitError() << "target entry '" << path << "': keys must be strings";
    llvm::StringRef name = key.getValue();
    if (!name.consume_front(prefix))
      continue;
    std::string here = path + "." + key.str();
    bool known = false;
    mlir::LogicalResult result = mlir::success();
    internal::forEachField<T>([&](auto field) {
      if (toRef(field.key) != name || field.key == "name")
        return;
      known = true;
      result = decode(entry.getValue(), here, emitError, value.*field.member);
    });
    if (!known)
      return emitError() << "target entry '" << here << "': unknown key";
    if (mlir::failed(result))
      return result;
  }
  if constexpr (std::is_same_v<T, DeviceDescription>)
    internal::sortFeatures(value);
  return mlir::success();
}

template <typename T>
mlir::LogicalResult decode(mlir::Attribute attribute, const std::string &path, EmitError emitError,
                           T &value) {
  if constexpr (Described<T>) {
    auto map = llvm::dyn_cast<mlir::MapAttr>(attribute);
    if (!map)
      return wrongType(emitError, path, "#dlti.map", attribute);
    return decodeFields(map.getEntries(), "", path, emitError, value);
  } else if constexpr (internal::IsVector<T>::value) {
    auto array = llvm::dyn_cast<mlir::ArrayAttr>(attribute);
    if (!array)
      return wrongType(emitError, path, "an array", attribute);
    value.clear();
    for (auto [i, element] : llvm::enumerate(array))
      if (mlir::failed(decode(element, path + "[" + std::to_string(i) + "]", emitError,
                              value.emplace_back())))
        return mlir::failure();
  } else if constexpr (std::is_enum_v<T>) {
    auto text = llvm::dyn_cast<mlir::StringAttr>(attribute);
    if (!text || !internal::parseEnum(text.getValue(), value))
      return wrongType(emitError, path, "one of " + internal::enumChoices<T>(), attribute);
  } else if constexpr (std::is_same_v<T, std::string>) {
    auto text = llvm::dyn_cast<mlir::StringAttr>(attribute);
    if (!text)
      return wrongType(emitError, path, "a string", attribute);
    value = text.str();
  } else if constexpr (std::is_same_v<T, bool>) {
    auto flag = llvm::dyn_cast<mlir::BoolAttr>(attribute);
    if (!flag)
      return wrongType(emitError, path, "true or false", attribute);
    value = flag.getValue();
  } else if constexpr (std::is_same_v<T, double>) {
    auto number = llvm::dyn_cast<mlir::FloatAttr>(attribute);
    if (!number)
      return wrongType(emitError, path, "a float", attribute);
    value = number.getValueAsDouble();
  } else {
    static_assert(std::is_same_v<T, int64_t>);
    auto number = llvm::dyn_cast<mlir::IntegerAttr>(attribute);
    // An i1 is a truth value, and its "1" is -1 when read as signed.
    if (!number || number.getType().isInteger(1) || !number.getValue().isSignedIntN(64) ||
        (number.getType().isUnsignedInteger() && !number.getValue().isIntN(63)))
      return wrongType(emitError, path, "a 64-bit integer", attribute);
    value = number.getType().isUnsignedInteger()
                ? static_cast<int64_t>(number.getValue().getZExtValue())
                : number.getValue().getSExtValue();
  }
  return mlir::success();
}

mlir::LogicalResult decodeMemories(mlir::TargetDeviceSpecInterface spec, EmitError emitError,
                                   std::vector<MemoryDescription> &memories) {
  for (mlir::DataLayoutEntryInterface entry : spec.getEntries()) {
    auto name = llvm::dyn_cast<mlir::StringAttr>(entry.getKey());
    if (!name)
      return emitError() << "target entry '" << memoriesEntryName << "': keys must be strings";
    MemoryDescription &memory = memories.emplace_back();
    memory.name = name.str();
    if (mlir::failed(decode(entry.getValue(), (memoriesEntryName + "." + name.getValue()).str(),
                            emitError, memory)))
      return mlir::failure();
  }
  return mlir::success();
}

mlir::LogicalResult decodeTargetName(mlir::TargetDeviceSpecInterface spec, EmitError emitError,
                                     std::string &name) {
  for (mlir::DataLayoutEntryInterface entry : spec.getEntries()) {
    auto key = llvm::dyn_cast<mlir::StringAttr>(entry.getKey());
    if (!key || key.getValue() != "plim.name")
      return emitError() << "target entry '" << targetEntryName << "': unknown key";
    if (mlir::failed(
            decode(entry.getValue(), (targetEntryName + ".plim.name").str(), emitError, name)))
      return mlir::failure();
  }
  return mlir::success();
}

} // namespace

mlir::TargetSystemSpecAttr toDlti(mlir::MLIRContext *context, const TargetDescription &target) {
  context->loadDialect<mlir::DLTIDialect>();
  mlir::Builder builder(context);
  llvm::SmallVector<mlir::DataLayoutEntryInterface> entries;
  auto addSpec = [&](const llvm::Twine &name,
                     llvm::ArrayRef<mlir::DataLayoutEntryInterface> fields) {
    entries.push_back(entry(builder, name, mlir::TargetDeviceSpecAttr::get(context, fields)));
  };

  if (!target.name.empty())
    addSpec(targetEntryName, entry(builder, "plim.name", encode(builder, target.name)));
  for (const DeviceDescription &device : target.devices)
    addSpec(device.name, encodeFields(builder, device, keyPrefix));
  if (!target.memories.empty()) {
    llvm::SmallVector<mlir::DataLayoutEntryInterface> memories;
    for (const MemoryDescription &memory : target.memories)
      memories.push_back(entry(builder, memory.name, encode(builder, memory)));
    addSpec(memoriesEntryName, memories);
  }
  return mlir::TargetSystemSpecAttr::get(context, entries);
}

mlir::FailureOr<TargetDescription> fromDlti(mlir::TargetSystemSpecAttr spec, EmitError emitError) {
  TargetDescription target;
  for (mlir::DataLayoutEntryInterface entry : spec.getEntries()) {
    auto name = llvm::dyn_cast<mlir::StringAttr>(entry.getKey());
    auto fields = llvm::dyn_cast<mlir::TargetDeviceSpecInterface>(entry.getValue());
    if (!name || !fields)
      return emitError() << "a target needs device specifications under string keys";
    mlir::LogicalResult result = mlir::success();
    if (name.getValue() == targetEntryName) {
      result = decodeTargetName(fields, emitError, target.name);
    } else if (name.getValue() == memoriesEntryName) {
      result = decodeMemories(fields, emitError, target.memories);
    } else {
      DeviceDescription &device = target.devices.emplace_back();
      device.name = name.str();
      result = decodeFields(fields.getEntries(), keyPrefix, device.name, emitError, device);
    }
    if (mlir::failed(result))
      return mlir::failure();
  }
  if (Status status = verify(target); !status.ok())
    return emitError() << "invalid target: " << llvm::StringRef(status.message());
  return target;
}

namespace {

/// Targets that were read, by the attribute. Attributes live as long as their context does.
struct TargetCache : mlir::DialectInterface::Base<TargetCache> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TargetCache)

  explicit TargetCache(mlir::Dialect *dialect) : Base(dialect) {}

  std::mutex mutex;
  llvm::DenseMap<mlir::Attribute, std::shared_ptr<const TargetDescription>> targets;
};

} // namespace

std::shared_ptr<const TargetDescription> targetOf(mlir::ModuleOp module) {
  auto spec = module->getAttrOfType<mlir::TargetSystemSpecAttr>(targetAttrName);
  if (!spec) {
    module.emitError() << "the module has no '" << targetAttrName << "' attribute";
    return nullptr;
  }
  auto *dialect = module.getContext()->getLoadedDialect<mlir::DLTIDialect>();
  auto *cache = dialect ? dialect->getRegisteredInterface<TargetCache>() : nullptr;
  if (cache) {
    std::lock_guard lock(cache->mutex);
    if (auto known = cache->targets.find(spec); known != cache->targets.end())
      return known->second;
  }
  mlir::FailureOr<TargetDescription> read = fromDlti(spec, [&] { return module.emitError(); });
  if (failed(read))
    return nullptr;
  auto target = std::make_shared<const TargetDescription>(std::move(*read));
  if (cache) {
    std::lock_guard lock(cache->mutex);
    cache->targets.try_emplace(spec, target);
  }
  return target;
}

void registerTargetCache(mlir::DialectRegistry &registry) {
  registry.addExtension(+[](mlir::MLIRContext *, mlir::DLTIDialect *dialect) {
    dialect->addInterfaces<TargetCache>();
  });
}

void attachTarget(mlir::ModuleOp module, const TargetDescription &target) {
  mlir::MLIRContext *context = module.getContext();
  module->setAttr(targetAttrName, toDlti(context, target));
  if (llvm::Triple(target.devices[0].triple).isArch32Bit()) {
    mlir::Builder builder(context);
    auto width = mlir::DataLayoutEntryAttr::get(mlir::IndexType::get(context),
                                                builder.getI32IntegerAttr(32));
    module->setAttr(mlir::DLTIDialect::kDataLayoutAttrName,
                    mlir::DataLayoutSpecAttr::get(context, {width}));
  }
}

} // namespace plim::targets::dlti
