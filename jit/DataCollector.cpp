#include "jit/DataCollector.h"

#include "ir/Conversion/Passes.h"
#include "ir/Plim/Locations.h"
#include "ir/Plim/Plim.h"
#include "jit/Signatures.h"

#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/StringSet.h"

#include <map>
#include <optional>

using namespace mlir;

namespace plim::jit {

namespace {

/// Contents of a constant as they lie in memory: dense, integers of odd width in the next power of two
/// bytes, with their sign in the bits beyond, but for i1.
class Contents {
public:
  /// Of a `value` of `bytes` bytes. Fails for elements without a layout.
  static StatusOr<Contents> create(Attribute value, int64_t bytes, StringRef name) {
    Contents contents(static_cast<size_t>(bytes));
    if (auto resource = dyn_cast<DenseResourceElementsAttr>(value)) {
      AsmResourceBlob *blob = resource.getRawHandle().getBlob();
      if (!blob || blob->getData().size() != contents.bytes)
        return invalidArgumentError("resource '" + resource.getRawHandle().getKey().str() +
                                    "' does not have the size of its type");
      contents.raw = StringRef(blob->getData().data(), blob->getData().size());
      return contents;
    }
    auto elements = dyn_cast<DenseElementsAttr>(value);
    if (!elements)
      return unimplementedError("constant '" + name.str() + "' is neither dense nor a resource");
    Type type = elements.getElementType();
    if (auto integer = dyn_cast<IntegerType>(type);
        integer && integer.getWidth() != 8u * ir::elementBytes(type)) {
      for (const APInt &element : elements.getValues<APInt>()) {
        uint64_t bits = integer.getWidth() == 1 ? element.getZExtValue()
                                                : static_cast<uint64_t>(element.getSExtValue());
        for (int64_t i = 0; i < ir::elementBytes(type); ++i)
          contents.widened.push_back(static_cast<char>(bits >> (8 * i)));
        if (elements.isSplat())
          break;
      }
    } else {
      contents.raw = StringRef(elements.getRawData().data(), elements.getRawData().size());
    }
    size_t have = contents.unit().size();
    bool isRepeated = elements.isSplat() && have != 0 && contents.bytes % have == 0;
    if (have != contents.bytes && !isRepeated)
      return unimplementedError("constant '" + name.str() +
                                "' has elements of a type that cannot be laid out");
    return contents;
  }

  /// All bytes, if they lie somewhere already; valid while the attribute is.
  std::optional<StringRef> view() const {
    return unit().size() == bytes ? std::optional(unit()) : std::nullopt;
  }
  /// Writes all of them.
  void write(char *out) const {
    size_t done = std::min(unit().size(), bytes);
    std::copy_n(unit().data(), done, out);
    // Fresh pages are zero, and not touched they take no memory.
    for (; done < bytes && !isZero(); done += std::min(done, bytes - done))
      std::copy_n(out, std::min(done, bytes - done), out + done);
  }
  size_t size() const { return bytes; }

private:
  explicit Contents(size_t bytes) : bytes(bytes) {}
  /// What is repeated: one element of a splat, otherwise everything.
  StringRef unit() const { return widened.empty() ? raw : StringRef(widened); }
  bool isZero() const { return unit().find_first_not_of('\0') == StringRef::npos; }

  size_t bytes;
  StringRef raw;
  std::string widened;
};

/// Gives contents a place in the artifact; equal ones get the same.
class DataCollector {
public:
  DataCollector(Artifact &artifact, ConstantTable &table, const SharedBytes &source, int64_t atMost)
      : artifact(artifact), table(table), source(source), atMost(atMost) {}

  Status place(const Contents &contents, DataSymbol &symbol) {
    if (symbol.bytes > atMost - stored)
      return invalidArgumentError("the constants of the module take more than "
                                  "max_constant_bytes = " +
                                  std::to_string(atMost) + "; bind large ones as parameters");
    return symbol.bytes < blockThreshold() ? placeSmall(contents, symbol)
                                           : placeBlock(contents, symbol);
  }

private:
  Status placeSmall(const Contents &contents, DataSymbol &symbol) {
    std::string bytes(contents.size(), '\0');
    contents.write(bytes.data());
    auto [it, isNew] = offsets.try_emplace(std::move(bytes), -1);
    if (isNew) {
      artifact.data.resize(llvm::alignTo(artifact.data.size(), dataAlignment));
      it->second = static_cast<int64_t>(artifact.data.size());
      artifact.data += it->first;
      stored += symbol.bytes;
    }
    symbol.offset = it->second;
    return okStatus();
  }

  Status placeBlock(const Contents &contents, DataSymbol &symbol) {
    std::optional<DataBlock> block;
    std::optional<ContentHash> hash;
    // What lies in memory already gets pages only if it is new.
    if (std::optional<StringRef> view = contents.view()) {
      hash = hashContents(*view);
      block = table.find(*view, *hash);
      if (!block && isInSource(*view))
        block = table.share({{source.owner, *view}, *hash});
    }
    if (!block) {
      std::optional<SharedBytes> pages =
          makePages(contents.size(), [&](char *out) { contents.write(out); });
      if (!pages)
        return resourceExhaustedError("no memory for constant '" + symbol.name + "'");
      if (!hash)
        hash = hashContents(pages->bytes);
      block = table.share({std::move(*pages), *hash});
    }
    const char *begin = block->contents.bytes.data();
    auto it = llvm::find_if(artifact.blocks, [&](const DataBlock &other) {
      return other.contents.bytes.data() == begin;
    });
    symbol.block = it - artifact.blocks.begin();
    if (it == artifact.blocks.end()) {
      artifact.blocks.push_back(std::move(*block));
      stored += symbol.bytes;
    }
    return okStatus();
  }

  bool isInSource(StringRef bytes) const {
    StringRef all = source.bytes;
    return source.owner && all.begin() <= bytes.begin() && bytes.end() <= all.end() &&
           llvm::isAddrAligned(llvm::Align(dataAlignment), bytes.data());
  }

  Artifact &artifact;
  ConstantTable &table;
  const SharedBytes &source;              // without an owner nothing may stay there
  std::map<std::string, int64_t> offsets; // of small contents in Artifact::data
  const int64_t atMost;                   // bytes
  int64_t stored = 0;                     // bytes, each content once
};

} // namespace

/// From a value of `plim.arrangement`.
static Arrangement arrangementOf(DictionaryAttr from) {
  auto numbers = [&](StringRef name) {
    return cast<DenseI64ArrayAttr>(from.get(name)).asArrayRef();
  };
  Arrangement arrangement{from.getAs<FlatSymbolRefAttr>("source").getValue().str(), {}};
  for (auto [extent, of, step] :
       llvm::zip_equal(numbers("extents"), numbers("of"), numbers("steps")))
    arrangement.dimensions.push_back({extent, static_cast<uint32_t>(of), step});
  return arrangement;
}

std::vector<std::string> parametersOf(ModuleOp module) {
  std::vector<std::string> names;
  for (auto global : module.getOps<ml_program::GlobalOp>())
    if (isa_and_nonnull<ml_program::ExternAttr>(global.getValueAttr()))
      names.push_back(global.getSymName().str());
  return names;
}

Operation *variableOf(ModuleOp module) {
  for (Operation &op : module.getOps()) {
    if (auto global = dyn_cast<ml_program::GlobalOp>(op); global && global.getIsMutable())
      return &op;
    if (auto global = dyn_cast<memref::GlobalOp>(op);
        global && global.getInitialValue() && !global.getConstant())
      return &op;
    if (isa<tosa::VariableOp>(op))
      return &op;
  }
  return nullptr;
}

Status collectData(ModuleOp module, Artifact &artifact, ConstantTable &table,
                   const SharedBytes &source, int64_t atMost) {
  DataCollector collector(artifact, table, source, atMost);
  auto entries = module->getAttrOfType<ArrayAttr>(ir::dataAttr);
  for (Attribute attribute : entries ? entries.getValue() : ArrayRef<Attribute>()) {
    auto entry = cast<DictionaryAttr>(attribute);
    DataSymbol symbol;
    symbol.name = cast<StringAttr>(entry.get("name")).str();
    StringRef kind = cast<StringAttr>(entry.get("kind")).getValue();
    symbol.kind = kind == "constant"   ? DataKind::Constant
                  : kind == "variable" ? DataKind::Variable
                  : kind == "prepared" ? DataKind::Prepared
                                       : DataKind::Parameter;
    auto type = cast<MemRefType>(cast<TypeAttr>(entry.get("type")).getValue());
    symbol.type = valueTypeOf(type);
    symbol.bytes = type.getNumElements() * ir::elementBytes(type.getElementType());
    if (Attribute value = entry.get("value")) {
      PLIM_ASSIGN_OR_RETURN(Contents contents, Contents::create(value, symbol.bytes, symbol.name));
      PLIM_RETURN_IF_ERROR(collector.place(contents, symbol));
    }
    if (auto alignment = entry.getAs<IntegerAttr>("alignment"))
      symbol.alignment = alignment.getInt();
    if (auto pool = entry.getAs<StringAttr>("pool"))
      symbol.pool = pool.str();
    symbol.isSourceOnly = bool(entry.get("source_only"));
    if (auto arrangement = entry.getAs<DictionaryAttr>("arrangement"))
      symbol.arrangement = arrangementOf(arrangement);
    if (auto location = entry.getAs<LocationAttr>("location"))
      symbol.location = ir::locationText(location);
    artifact.symbols.push_back(std::move(symbol));
  }
  llvm::StringSet<> needed;
  for (const DataSymbol &symbol : artifact.symbols)
    needed.insert(symbol.name);
  std::erase_if(artifact.unreadParameters,
                [&](const std::string &name) { return needed.contains(name); });
  return okStatus();
}

} // namespace plim::jit
