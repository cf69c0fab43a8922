#include "jit/Artifact.h"

#include "engine/abi/plim_abi.h"
#include "support/ByteStream.h"
#include "support/Hash.h"

#include "llvm/Config/llvm-config.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

namespace plim::jit {

namespace {

constexpr std::string_view magic = "plimart\n";

void writeType(ByteWriter &writer, const ValueType &type) {
  writer.text(type.element);
  writer.integer(type.isShaped);
  writer.integer(type.isMemref);
  writer.integer(static_cast<uint32_t>(type.access));
  writer.integer(type.isRead);
  writer.integer(type.donatedTo ? uint64_t(*type.donatedTo) + 1 : 0);
  for (const std::vector<int64_t> *values : {&type.shape, &type.strides})
    writer.list(*values, [&](int64_t value) { writer.integer(static_cast<uint64_t>(value)); });
  writer.list(type.bounds, [&](const ExtentBounds &bounds) {
    writer.integer(static_cast<uint64_t>(bounds.min));
    writer.integer(static_cast<uint64_t>(bounds.max));
  });
  writer.text(type.name);
}

ValueType readType(ByteReader &reader) {
  ValueType type;
  type.element = reader.text();
  type.isShaped = reader.integer() != 0;
  type.isMemref = reader.integer() != 0;
  type.access = static_cast<Access>(std::min<uint64_t>(reader.integer(), 2));
  type.isRead = reader.integer() != 0;
  if (uint64_t donation = reader.integer(); donation != 0)
    type.donatedTo = static_cast<uint32_t>(donation - 1);
  for (std::vector<int64_t> *values : {&type.shape, &type.strides})
    reader.list(*values, [&] { return static_cast<int64_t>(reader.integer()); });
  reader.list(type.bounds, [&] {
    auto min = static_cast<int64_t>(reader.integer());
    return ExtentBounds{min, static_cast<int64_t>(reader.integer())};
  });
  type.name = reader.text();
  return type;
}

bool isValid(const CallPlan &plan) {
  bool hasAlignment = plan.alignment >= 64 && (plan.alignment & (plan.alignment - 1)) == 0;
  bool ok = hasAlignment && plan.extentCount >= 0 && plan.extentCount <= (1 << 20) &&
            plan.function.empty() == plan.buffers.empty();
  for (const PlannedBuffer &buffer : plan.buffers) {
    ok &= buffer.lower <= buffer.upper && buffer.bytes >= 0;
    for (uint32_t position : buffer.extents)
      ok &= static_cast<int64_t>(position) < plan.extentCount;
  }
  return ok;
}

bool isValid(const ValueType &type) {
  bool ok = type.strides.empty() || type.strides.size() == type.shape.size();
  ok &= type.bounds.empty() || type.bounds.size() == type.shape.size();
  ok &= std::ranges::all_of(type.shape, [](int64_t extent) { return extent >= -1; });
  ok &= std::ranges::all_of(type.bounds, [](const ExtentBounds &bounds) {
    return bounds.min >= 0 && bounds.min <= bounds.max;
  });
  return ok;
}

/// What is wrong with a function of `artifact`; empty: nothing.
std::string_view faultOf(const FunctionSignature &function, const Artifact &artifact) {
  if (!isValid(function.plan))
    return "plan";
  std::vector<bool> isTaken(function.results.size());
  for (const ValueType &argument : function.arguments) {
    if (!isValid(argument))
      return "arguments";
    if (!argument.donatedTo)
      continue;
    if (*argument.donatedTo >= isTaken.size() || isTaken[*argument.donatedTo])
      return "donations";
    isTaken[*argument.donatedTo] = true;
  }
  if (!std::ranges::all_of(function.results, [](const ValueType &type) { return isValid(type); }))
    return "results";
  if (function.pools.size() != artifact.pools.size())
    return "pools";
  for (const PoolNeed &need : function.pools)
    if (need.bytes < 0 || need.alignment <= 0 ||
        !std::has_single_bit(static_cast<uint64_t>(need.alignment)))
      return "pools";
  for (int64_t bytes : {function.workspaceBytes, function.scratchBytes, function.stackBytes,
                        function.workerStackBytes})
    if (bytes < 0)
      return "memory";
  return "";
}

void writeSignature(ByteWriter &writer, const FunctionSignature &function) {
  writer.text(function.name);
  writer.text(function.location);
  for (const std::vector<ValueType> *types : {&function.arguments, &function.results})
    writer.list(*types, [&](const ValueType &type) { writeType(writer, type); });
  writer.integer(function.isKernel);
  writer.integer(function.rawTakesContext);
  for (int64_t bytes : {function.workspaceBytes, function.scratchBytes, function.stackBytes,
                        function.workerStackBytes})
    writer.integer(static_cast<uint64_t>(bytes));
  writer.list(function.pools, [&](const PoolNeed &need) {
    writer.integer(static_cast<uint64_t>(need.bytes));
    writer.integer(static_cast<uint64_t>(need.alignment));
  });
  writer.integer(function.usesState);
  writer.integer(function.prepares);
  writer.text(function.unplanned);
  writer.text(function.plan.function);
  writer.integer(static_cast<uint64_t>(function.plan.extentCount));
  writer.integer(static_cast<uint64_t>(function.plan.alignment));
  writer.list(function.plan.buffers, [&](const PlannedBuffer &buffer) {
    for (int64_t value : {buffer.lower, buffer.upper, buffer.bytes})
      writer.integer(static_cast<uint64_t>(value));
    writer.list(buffer.extents, [&](uint32_t position) { writer.integer(position); });
  });
}

FunctionSignature readSignature(ByteReader &reader) {
  FunctionSignature function;
  function.name = reader.text();
  function.location = reader.text();
  for (std::vector<ValueType> *types : {&function.arguments, &function.results})
    reader.list(*types, [&] { return readType(reader); });
  function.isKernel = reader.integer() != 0;
  function.rawTakesContext = reader.integer() != 0;
  for (int64_t *bytes : {&function.workspaceBytes, &function.scratchBytes, &function.stackBytes,
                         &function.workerStackBytes})
    *bytes = static_cast<int64_t>(reader.integer());
  reader.list(function.pools, [&] {
    int64_t bytes = static_cast<int64_t>(reader.integer());
    return PoolNeed{bytes, static_cast<int64_t>(reader.integer())};
  });
  function.usesState = reader.integer() != 0;
  function.prepares = reader.integer() != 0;
  function.unplanned = reader.text();
  function.plan.function = reader.text();
  function.plan.extentCount = static_cast<int64_t>(reader.integer());
  function.plan.alignment = static_cast<int64_t>(reader.integer());
  reader.list(function.plan.buffers, [&] {
    PlannedBuffer buffer;
    for (int64_t *value : {&buffer.lower, &buffer.upper, &buffer.bytes})
      *value = static_cast<int64_t>(reader.integer());
    reader.list(buffer.extents, [&] { return static_cast<uint32_t>(reader.integer()); });
    return buffer;
  });
  return function;
}

void writeSymbol(ByteWriter &writer, const DataSymbol &symbol) {
  writer.text(symbol.name);
  writer.integer(static_cast<uint64_t>(symbol.kind));
  writeType(writer, symbol.type);
  writer.integer(static_cast<uint64_t>(symbol.bytes));
  writer.integer(static_cast<uint64_t>(symbol.offset));
  writer.integer(static_cast<uint64_t>(symbol.block));
  writer.integer(static_cast<uint64_t>(symbol.alignment));
  writer.text(symbol.pool);
  writer.text(symbol.location);
  writer.integer(symbol.isSourceOnly);
  writer.integer(symbol.arrangement.has_value());
  if (!symbol.arrangement)
    return;
  writer.text(symbol.arrangement->source);
  writer.list(symbol.arrangement->dimensions, [&](const Arrangement::Dimension &dimension) {
    writer.integer(static_cast<uint64_t>(dimension.extent));
    writer.integer(dimension.of);
    writer.integer(static_cast<uint64_t>(dimension.step));
  });
}

DataSymbol readSymbol(ByteReader &reader) {
  DataSymbol symbol;
  symbol.name = reader.text();
  symbol.kind = static_cast<DataKind>(reader.integer());
  symbol.type = readType(reader);
  symbol.bytes = static_cast<int64_t>(reader.integer());
  symbol.offset = static_cast<int64_t>(reader.integer());
  symbol.block = static_cast<int64_t>(reader.integer());
  symbol.alignment = static_cast<int64_t>(reader.integer());
  symbol.pool = reader.text();
  symbol.location = reader.text();
  symbol.isSourceOnly = reader.integer() != 0;
  if (reader.integer() == 0)
    return symbol;
  Arrangement &arrangement = symbol.arrangement.emplace();
  arrangement.source = reader.text();
  reader.list(arrangement.dimensions, [&] {
    Arrangement::Dimension dimension;
    dimension.extent = static_cast<int64_t>(reader.integer());
    dimension.of = static_cast<uint32_t>(reader.integer());
    dimension.step = static_cast<int64_t>(reader.integer());
    return dimension;
  });
  return symbol;
}

void writeProof(ByteWriter &writer, const StackProof &proof) {
  writer.text(proof.function);
  for (int64_t bytes : {proof.estimated, proof.proven, proof.budget})
    writer.integer(static_cast<uint64_t>(bytes));
}

StackProof readProof(ByteReader &reader) {
  StackProof proof;
  proof.function = reader.text();
  for (int64_t *bytes : {&proof.estimated, &proof.proven, &proof.budget})
    *bytes = static_cast<int64_t>(reader.integer());
  return proof;
}

void writeHeader(ByteWriter &writer) {
  writer.bytes = magic;
  writer.integer(artifactVersion);
  writer.integer(PLIM_ABI_VERSION);
  writer.text(LLVM_VERSION_STRING);
  writer.text(PLIM_VERSION);
}

} // namespace

std::string toString(const ValueType &type) {
  std::string text;
  for (int64_t extent : type.shape)
    text += (extent < 0 ? "?" : std::to_string(extent)) + "x";
  text += type.element;
  for (size_t i = 0; i < type.strides.size(); ++i)
    text += (i == 0 ? " with strides [" : ", ") +
            (type.strides[i] == dynamicStride ? "?" : std::to_string(type.strides[i]));
  text += type.strides.empty() ? "" : "]";
  bool isFirst = type.strides.empty();
  for (size_t i = 0; i < type.bounds.size(); ++i)
    if (std::string bounds = toString(type.bounds[i]); !bounds.empty()) {
      text += (isFirst ? " with extent " : ", extent ") + std::to_string(i) + " of " + bounds;
      isFirst = false;
    }
  return text;
}

std::string toString(const ExtentBounds &bounds) {
  bool isOpen = bounds.max == ExtentBounds().max;
  if (isOpen)
    return bounds.min <= 0 ? "" : "at least " + std::to_string(bounds.min);
  return bounds.min <= 0 ? "at most " + std::to_string(bounds.max)
                         : std::to_string(bounds.min) + " to " + std::to_string(bounds.max);
}

bool usesTiles(const Artifact &artifact) {
  return std::ranges::find(artifact.requiredFeatures, "amx-tile") !=
         artifact.requiredFeatures.end();
}

std::optional<std::string_view> contentsOf(const Artifact &artifact, const DataSymbol &symbol) {
  if (symbol.block >= 0)
    return artifact.blocks[static_cast<size_t>(symbol.block)].contents.bytes;
  if (symbol.offset < 0)
    return std::nullopt;
  return std::string_view(artifact.data)
      .substr(static_cast<size_t>(symbol.offset), static_cast<size_t>(symbol.bytes));
}

bool serialize(const Artifact &artifact, const std::function<bool(std::string_view)> &write) {
  ByteWriter writer;
  writer.text(artifact.source);
  writer.text(artifact.triple);
  writer.text(artifact.policy);
  writer.integer(artifact.isGuarded);
  for (const std::vector<std::string> *texts :
       {&artifact.requiredFeatures, &artifact.objects, &artifact.pools})
    writer.list(*texts, [&](const std::string &text) { writer.text(text); });
  writer.list(artifact.functions,
              [&](const FunctionSignature &function) { writeSignature(writer, function); });
  writer.list(artifact.externals, [&](const ExternalFunction &external) {
    for (const std::string *text : {&external.name, &external.location, &external.signature,
                                    &external.device, &external.code})
      writer.text(*text);
    writer.list(external.calls, [&](const std::string &call) { writer.text(call); });
    writer.integer(external.isPure);
    writer.list(external.openResults, [&](const std::pair<uint32_t, ValueType> &result) {
      writer.integer(result.first);
      writeType(writer, result.second);
    });
  });
  writer.list(artifact.symbols, [&](const DataSymbol &symbol) { writeSymbol(writer, symbol); });
  writer.list(artifact.unreadParameters, [&](const std::string &name) { writer.text(name); });
  writer.text(artifact.data);
  writer.list(artifact.stack, [&](const StackProof &proof) { writeProof(writer, proof); });
  writer.text(artifact.report);
  writer.text(artifact.header);
  const auto page = static_cast<uint64_t>(blockThreshold());
  writer.integer(page);
  writer.list(artifact.blocks, [&](const DataBlock &block) {
    for (uint64_t value : {uint64_t(block.contents.bytes.size()), block.hash.low, block.hash.high})
      writer.integer(value);
  });

  ByteWriter header;
  writeHeader(header);
  header.integer(writer.bytes.size());
  Digest digest = Hasher().update(header.bytes).update(writer.bytes).digest();
  std::string_view stored(reinterpret_cast<const char *>(digest.bytes.data()), Digest::byteCount);
  if (!write(header.bytes) || !write(writer.bytes) || !write(stored))
    return false;
  uint64_t end = header.bytes.size() + writer.bytes.size() + Digest::byteCount;
  for (const DataBlock &block : artifact.blocks) {
    if (!write(std::string((page - end % page) % page, '\0')) || !write(block.contents.bytes))
      return false;
    end = block.contents.bytes.size(); // from the beginning of a page
  }
  return true;
}

bool isArtifact(std::string_view bytes) { return bytes.starts_with(magic); }

std::string serialize(const Artifact &artifact) {
  std::string bytes;
  serialize(artifact, [&](std::string_view piece) {
    bytes.append(piece);
    return true;
  });
  return bytes;
}

namespace {

class MemorySource : public ArtifactSource {
public:
  explicit MemorySource(std::string_view bytes) : bytes(bytes) {}
  uint64_t size() const override { return bytes.size(); }
  bool read(uint64_t offset, std::span<char> out) const override {
    return bytes.copy(out.data(), out.size(), offset) == out.size();
  }
  std::optional<SharedBytes> share(uint64_t offset, uint64_t count) const override {
    return makePages(count, [&](char *pages) { bytes.copy(pages, count, offset); });
  }

private:
  std::string_view bytes;
};

/// Adds the block at `offset`, whose bytes are those of `expected`.
Status readBlock(const ArtifactSource &source, uint64_t offset, uint64_t bytes,
                 ContentHash expected, std::vector<DataBlock> &blocks) {
  ContentHasher hasher;
  std::string piece;
  for (uint64_t done = 0; done < bytes; done += piece.size()) {
    piece.resize(std::min<uint64_t>(ContentHasher::pieceBytes, bytes - done));
    if (!source.read(offset + done, piece))
      return dataLossError("the artifact cannot be read");
    hasher.update(piece);
  }
  if (hasher.result() != expected)
    return dataLossError("the hash of one of the artifact's constants does not match");
  std::optional<SharedBytes> contents = source.share(offset, bytes);
  if (!contents)
    return resourceExhaustedError("no memory for the constants of an artifact");
  blocks.push_back({std::move(*contents), expected});
  return okStatus();
}

/// Does what it makes of its source fill the symbol?
bool isValid(const Arrangement &arrangement, const DataSymbol &symbol, const Artifact &artifact) {
  auto source = std::ranges::find(artifact.symbols, arrangement.source, &DataSymbol::name);
  if (symbol.kind != DataKind::Prepared || source == artifact.symbols.end())
    return false;
  const bool hasContents = source->block >= 0 || source->offset >= 0;
  if (source->kind != (hasContents ? DataKind::Constant : DataKind::Parameter))
    return false;
  int64_t elements = 1, bytes = 0;
  for (int64_t extent : source->type.shape)
    if (extent <= 0 || __builtin_mul_overflow(elements, extent, &elements))
      return false;
  bytes = source->bytes / elements;
  if (bytes <= 0 || bytes * elements != source->bytes)
    return false;
  for (const Arrangement::Dimension &dimension : arrangement.dimensions)
    if (dimension.extent <= 0 || dimension.step <= 0 || dimension.of >= source->type.shape.size() ||
        __builtin_mul_overflow(bytes, dimension.extent, &bytes))
      return false;
  return bytes == symbol.bytes;
}

bool isValid(const DataSymbol &symbol, const Artifact &artifact) {
  auto count = static_cast<int64_t>(artifact.blocks.size());
  auto size = static_cast<int64_t>(artifact.data.size());
  if (symbol.kind > DataKind::Prepared || !isValid(symbol.type) ||
      (symbol.arrangement && !isValid(*symbol.arrangement, symbol, artifact)))
    return false;
  if (symbol.bytes < 0 || symbol.offset < -1 || symbol.block < -1 || symbol.block >= count)
    return false;
  if (symbol.alignment != 0 && !std::has_single_bit(static_cast<uint64_t>(symbol.alignment)))
    return false;
  if (symbol.block >= 0) {
    const DataBlock &block = artifact.blocks[static_cast<size_t>(symbol.block)];
    return symbol.offset < 0 && symbol.bytes == static_cast<int64_t>(block.contents.bytes.size());
  }
  if (symbol.offset < 0)
    return symbol.pool.empty();
  return symbol.offset <= size && symbol.bytes <= size - symbol.offset;
}

} // namespace

StatusOr<Artifact> deserialize(const ArtifactSource &source) {
  ByteWriter expected;
  writeHeader(expected);
  const size_t headerBytes = expected.bytes.size() + 8;
  std::string bytes(std::min<uint64_t>(headerBytes, source.size()), '\0');
  if (!source.read(0, bytes))
    return dataLossError("the artifact cannot be read");
  if (!bytes.starts_with(expected.bytes))
    return dataLossError("not an artifact of this version");
  if (source.size() < headerBytes + Digest::byteCount)
    return dataLossError("the artifact is truncated");
  ByteReader sizes(std::string_view(bytes).substr(expected.bytes.size()));
  const uint64_t metadataBytes = sizes.integer();
  if (metadataBytes > source.size() - headerBytes - Digest::byteCount)
    return dataLossError("the artifact is truncated");
  const uint64_t dataBegin = headerBytes + metadataBytes + Digest::byteCount;
  bytes.resize(dataBegin);
  if (!source.read(headerBytes, std::span(bytes).subspan(headerBytes)))
    return dataLossError("the artifact cannot be read");
  std::string_view stored = std::string_view(bytes).substr(headerBytes + metadataBytes);
  Digest digest = hashBytes(std::string_view(bytes).substr(0, headerBytes + metadataBytes));
  if (std::memcmp(stored.data(), digest.bytes.data(), Digest::byteCount) != 0)
    return dataLossError("the artifact's checksum does not match");

  ByteReader reader(std::string_view(bytes).substr(headerBytes, metadataBytes));
  Artifact artifact;
  artifact.source = reader.text();
  artifact.triple = reader.text();
  artifact.policy = reader.text();
  artifact.isGuarded = reader.integer() != 0;
  for (std::vector<std::string> *texts :
       {&artifact.requiredFeatures, &artifact.objects, &artifact.pools})
    reader.list(*texts, [&] { return reader.text(); });
  reader.list(artifact.functions, [&] { return readSignature(reader); });
  reader.list(artifact.externals, [&] {
    ExternalFunction external;
    for (std::string *text : {&external.name, &external.location, &external.signature,
                              &external.device, &external.code})
      *text = reader.text();
    reader.list(external.calls, [&] { return reader.text(); });
    external.isPure = reader.integer() != 0;
    reader.list(external.openResults, [&] {
      auto index = static_cast<uint32_t>(reader.integer());
      return std::pair(index, readType(reader));
    });
    return external;
  });
  reader.list(artifact.symbols, [&] { return readSymbol(reader); });
  reader.list(artifact.unreadParameters, [&] { return reader.text(); });
  artifact.data = reader.text();
  reader.list(artifact.stack, [&] { return readProof(reader); });
  artifact.report = reader.text();
  artifact.header = reader.text();
  struct BlockEntry {
    uint64_t bytes;
    ContentHash hash;
  };
  std::vector<BlockEntry> entries;
  const uint64_t page = reader.integer();
  reader.list(entries, [&] {
    BlockEntry entry;
    for (uint64_t *value : {&entry.bytes, &entry.hash.low, &entry.hash.high})
      *value = reader.integer();
    return entry;
  });
  if (!reader.atEnd() || page == 0 || page % uint64_t(dataAlignment) != 0 ||
      page > (uint64_t(1) << 30))
    return dataLossError("the artifact is malformed");
  uint64_t end = dataBegin;
  for (const BlockEntry &entry : entries) {
    uint64_t begin = end + (page - end % page) % page;
    if (begin > source.size() || entry.bytes > source.size() - begin || entry.bytes == 0)
      return dataLossError("the artifact is truncated");
    std::string padding(begin - end, '\0');
    if (!source.read(end, padding) || padding.find_first_not_of('\0') != std::string::npos)
      return dataLossError("the artifact is malformed");
    PLIM_RETURN_IF_ERROR(readBlock(source, begin, entry.bytes, entry.hash, artifact.blocks));
    end = begin + entry.bytes;
  }
  if (end != source.size())
    return dataLossError("bytes behind the end of the artifact");
  for (const FunctionSignature &function : artifact.functions)
    if (std::string_view fault = faultOf(function, artifact); !fault.empty())
      return dataLossError("the artifact's " + std::string(fault) + " of '" + function.name +
                           "' are malformed");
  for (const ExternalFunction &external : artifact.externals)
    for (const auto &[index, type] : external.openResults)
      if (!isValid(type) || !type.isShaped)
        return dataLossError("the artifact's results of '" + external.name + "' are malformed");
  for (const DataSymbol &symbol : artifact.symbols)
    if (!isValid(symbol, artifact))
      return dataLossError("the artifact's data of '" + symbol.name + "' is out of range");
  return artifact;
}

StatusOr<Artifact> deserialize(std::string_view bytes) { return deserialize(MemorySource(bytes)); }

} // namespace plim::jit
