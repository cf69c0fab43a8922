#include "jit/ObjectCache.h"

#include "jit/CompilerIdentity.h"
#include "support/ByteStream.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/Module.h"
#include "llvm/ObjCopy/ConfigManager.h"
#include "llvm/ObjCopy/ObjCopy.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace plim::jit {

namespace {

/// What is called after its place in the source. Host code is not: it names the dispatches that it calls.
std::vector<GlobalValue *> namedByPlace(Module &module, CodeKind kind) {
  std::vector<GlobalValue *> values;
  if (kind != CodeKind::Dispatch && kind != CodeKind::Kernel && kind != CodeKind::Once)
    return values;
  for (Function &function : module)
    if (!function.isDeclaration())
      values.push_back(&function);
  for (GlobalVariable &variable : module.globals())
    if (!variable.getName().starts_with("llvm."))
      values.push_back(&variable);
  return values;
}

/// "plim.dispatch." of "plim.dispatch.main_elementwise_3": of ours, it says what a symbol is.
StringRef roleOf(StringRef name) {
  if (!name.starts_with("plim."))
    return "";
  const size_t end = name.find('.', strlen("plim."));
  return end == StringRef::npos ? name : name.take_front(end + 1);
}

/// The object with other symbols; empty if LLVM cannot.
std::string rename(const std::string &object, const StringMap<StringRef> &names) {
  Expected<std::unique_ptr<object::ObjectFile>> file =
      object::ObjectFile::createObjectFile(MemoryBufferRef(object, "cached"));
  if (!file) {
    consumeError(file.takeError());
    return "";
  }
  objcopy::ConfigManager config;
  config.Common.SymbolsToRename = names;
  std::string renamed;
  raw_string_ostream stream(renamed);
  if (Error error = objcopy::executeObjcopyOnBinary(config, **file, stream)) {
    consumeError(std::move(error));
    return "";
  }
  return renamed;
}

void writeTexts(ByteWriter &writer, const std::vector<std::string> &texts) {
  writer.list(texts, [&](const std::string &text) { writer.text(text); });
}

std::vector<std::string> readTexts(ByteReader &reader) {
  std::vector<std::string> texts;
  reader.list(texts, [&] { return reader.text(); });
  return texts;
}

} // namespace

ObjectCache::ObjectCache(const ArtifactCache &cache, const targets::TargetDescription &target,
                         Numerics numerics)
    : cache(cache) {
  environment.updateField(compilerIdentity());
  environment.updateField(targets::toJson(targets::compiledPart(target)));
  environment.updateInteger(static_cast<uint64_t>(numerics));
}

ObjectCache::Key ObjectCache::keyOf(Module &module, CodeKind kind) const {
  Key key;
  Hasher hasher = environment;
  hasher.updateInteger(static_cast<uint64_t>(kind));
  const std::vector<GlobalValue *> named = namedByPlace(module, kind);
  for (GlobalValue *value : named) {
    const StringRef role = roleOf(value->getName());
    hasher.updateField(std::string_view(role.data(), role.size()));
    key.names.push_back(value->getName().str());
    value->setName("");
  }
  SmallVector<char, 0> bitcode;
  raw_svector_ostream stream(bitcode);
  WriteBitcodeToFile(module, stream);
  for (auto [value, name] : llvm::zip(named, key.names))
    value->setName(name);
  key.content = hasher.update(bitcode.data(), bitcode.size()).digest();
  return key;
}

std::optional<ObjectCode> ObjectCache::load(const Key &key) const {
  const std::optional<std::string> bytes = cache.loadCode(key.content);
  if (!bytes)
    return std::nullopt;
  ByteReader reader(*bytes);
  ObjectCode code;
  const std::vector<std::string> names = readTexts(reader);
  code.object = reader.text();
  reader.list(code.frames, [&] {
    FunctionFrame frame;
    frame.name = reader.text();
    frame.bytes = static_cast<int64_t>(reader.integer());
    frame.calls = readTexts(reader);
    frame.dispatches = readTexts(reader);
    return frame;
  });
  if (!reader.atEnd() || names.size() != key.names.size())
    return std::nullopt;
  if (names == key.names)
    return code;

  StringMap<StringRef> renamed;
  for (auto [before, now] : llvm::zip(names, key.names))
    renamed[before] = now;
  code.object = rename(code.object, renamed);
  if (code.object.empty())
    return std::nullopt;
  auto change = [&](std::string &name) {
    if (auto found = renamed.find(name); found != renamed.end())
      name = found->second.str();
  };
  for (FunctionFrame &frame : code.frames) {
    change(frame.name);
    llvm::for_each(frame.calls, change);
    llvm::for_each(frame.dispatches, change);
  }
  return code;
}

void ObjectCache::store(const Key &key, const ObjectCode &code) const {
  ByteWriter writer;
  writeTexts(writer, key.names);
  writer.text(code.object);
  writer.list(code.frames, [&](const FunctionFrame &frame) {
    writer.text(frame.name);
    writer.integer(static_cast<uint64_t>(frame.bytes));
    writeTexts(writer, frame.calls);
    writeTexts(writer, frame.dispatches);
  });
  (void)cache.storeCode(key.content, writer.bytes);
}

} // namespace plim::jit
