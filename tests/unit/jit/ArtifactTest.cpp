#include "jit/Artifact.h"

#include "support/Hash.h"
#include "tests/unit/engine/Random.h"
#include "tests/unit/jit/SampleArtifact.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <utility>

namespace plim::jit {
namespace {

StatusCode codeOf(std::string_view bytes) { return deserialize(bytes).status().code(); }

uint64_t integerAt(const std::string &bytes, size_t offset) {
  uint64_t value = 0;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

/// Where the metadata begin; their size stands before.
size_t metadataOffset(const std::string &bytes) {
  size_t end = 3 * 8; // of magic, format, ABI; LLVM and the library are texts
  for (int text = 0; text < 2; ++text)
    end += 8 + integerAt(bytes, end);
  return end + 8;
}

/// Where they end and their digest stands.
size_t digestOffset(const std::string &bytes) {
  return metadataOffset(bytes) + integerAt(bytes, metadataOffset(bytes) - 8);
}

/// `bytes` of an artifact whose metadata, which end at `end`, were changed, with a digest that matches.
std::string withChecksum(std::string bytes, size_t end) {
  Digest digest = hashBytes(std::string_view(bytes).substr(0, end));
  std::memcpy(bytes.data() + end, digest.bytes.data(), Digest::byteCount);
  return bytes;
}

TEST(Artifact, EveryFieldComesBack) {
  Artifact in = sampleArtifact();
  StatusOr<Artifact> out = deserialize(serialize(in));
  ASSERT_TRUE(out.ok()) << out.status().toString();
  EXPECT_EQ(out->source, in.source);
  EXPECT_EQ(out->triple, in.triple);
  EXPECT_EQ(out->requiredFeatures, in.requiredFeatures);
  EXPECT_EQ(out->objects, in.objects);
  EXPECT_EQ(out->pools, in.pools);
  ASSERT_EQ(out->functions.size(), in.functions.size());
  for (size_t i = 0; i < in.functions.size(); ++i) {
    const FunctionSignature &a = in.functions[i], &b = out->functions[i];
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.arguments, b.arguments);
    EXPECT_EQ(a.results, b.results);
    EXPECT_EQ(a.isKernel, b.isKernel);
    EXPECT_EQ(a.rawTakesContext, b.rawTakesContext);
    EXPECT_EQ(a.workspaceBytes, b.workspaceBytes);
    EXPECT_EQ(a.plan, b.plan);
    EXPECT_EQ(a.scratchBytes, b.scratchBytes);
    EXPECT_EQ(a.pools, b.pools);
    EXPECT_EQ(a.unplanned, b.unplanned);
    EXPECT_EQ(a.stackBytes, b.stackBytes);
    EXPECT_EQ(a.workerStackBytes, b.workerStackBytes);
  }
  ASSERT_EQ(out->externals.size(), in.externals.size());
  for (size_t i = 0; i < in.externals.size(); ++i) {
    const ExternalFunction &a = in.externals[i], &b = out->externals[i];
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.location, b.location);
    EXPECT_EQ(a.calls, b.calls);
    EXPECT_EQ(a.signature, b.signature);
    EXPECT_EQ(a.isPure, b.isPure);
    EXPECT_EQ(a.openResults, b.openResults);
    EXPECT_EQ(a.device, b.device);
    EXPECT_EQ(a.code, b.code);
  }
  ASSERT_EQ(out->symbols.size(), in.symbols.size());
  for (size_t i = 0; i < in.symbols.size(); ++i) {
    const DataSymbol &a = in.symbols[i], &b = out->symbols[i];
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.kind, b.kind);
    EXPECT_EQ(a.type, b.type);
    EXPECT_EQ(a.bytes, b.bytes);
    EXPECT_EQ(a.offset, b.offset);
    EXPECT_EQ(a.block, b.block);
    EXPECT_EQ(a.pool, b.pool);
    EXPECT_EQ(a.location, b.location);
    EXPECT_EQ(a.alignment, b.alignment);
    EXPECT_EQ(a.arrangement, b.arrangement);
    EXPECT_EQ(a.isSourceOnly, b.isSourceOnly);
    EXPECT_EQ(contentsOf(in, a), contentsOf(*out, b));
  }
  EXPECT_EQ(out->unreadParameters, in.unreadParameters);
  ASSERT_EQ(out->blocks.size(), in.blocks.size());
  for (size_t i = 0; i < in.blocks.size(); ++i) {
    EXPECT_EQ(out->blocks[i].hash, in.blocks[i].hash);
    EXPECT_EQ(out->blocks[i].contents.bytes, in.blocks[i].contents.bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(out->blocks[i].contents.bytes.data()) % dataAlignment,
              0u);
  }
  EXPECT_EQ(out->data, in.data);
  ASSERT_EQ(out->stack.size(), in.stack.size());
  for (size_t i = 0; i < in.stack.size(); ++i) {
    EXPECT_EQ(in.stack[i].function, out->stack[i].function);
    EXPECT_EQ(in.stack[i].estimated, out->stack[i].estimated);
    EXPECT_EQ(in.stack[i].proven, out->stack[i].proven);
    EXPECT_EQ(in.stack[i].budget, out->stack[i].budget);
  }
  EXPECT_EQ(out->report, in.report);
  EXPECT_EQ(out->header, in.header);
  EXPECT_EQ(serialize(*out), serialize(in));
}

TEST(Artifact, AnEmptyOneComesBack) {
  StatusOr<Artifact> out = deserialize(serialize({}));
  ASSERT_TRUE(out.ok()) << out.status().toString();
  EXPECT_EQ(serialize(*out), serialize({}));
}

TEST(Artifact, TypesAreWrittenAsInTheIR) {
  EXPECT_EQ(toString({"f32", true, false, {3, -1}, {}}), "3x?xf32");
  EXPECT_EQ(toString({"f32", true, true, {3, -1}, {-1, dynamicStride}}),
            "3x?xf32 with strides [-1, ?]");
  EXPECT_EQ(toString({"f32", true, false, {}, {}}), "f32");
  EXPECT_EQ(toString({"index", false, false, {}, {}}), "index");
  EXPECT_EQ(toString({"i8", true, false, {0}, {}}), "0xi8");
}

TEST(Artifact, EveryTruncationIsDataLoss) {
  std::string bytes = serialize(sampleArtifact());
  for (size_t size = 0; size < bytes.size(); ++size)
    ASSERT_EQ(codeOf(std::string_view(bytes).substr(0, size)), StatusCode::DataLoss) << size;
}

TEST(Artifact, AnythingBehindTheEndIsDataLoss) {
  std::string bytes = serialize(sampleArtifact());
  EXPECT_EQ(codeOf(bytes + '\0'), StatusCode::DataLoss);
  EXPECT_EQ(codeOf(bytes + bytes), StatusCode::DataLoss);
  // The same behind the metadata, with a good checksum.
  Artifact artifact = sampleArtifact();
  artifact.symbols.clear();
  artifact.blocks.clear();
  bytes = serialize(artifact);
  size_t end = digestOffset(bytes);
  ASSERT_EQ(end + Digest::byteCount, bytes.size());
  ASSERT_EQ(codeOf(withChecksum(bytes, end)), StatusCode::Ok);
  bytes.insert(end, "12345678");
  uint64_t size = end - metadataOffset(bytes) + 8;
  std::memcpy(bytes.data() + metadataOffset(bytes) - 8, &size, sizeof size);
  ASSERT_EQ(digestOffset(bytes), end + 8);
  EXPECT_EQ(codeOf(withChecksum(bytes, end + 8)), StatusCode::DataLoss);
}

TEST(Artifact, FlippedBitsAreDataLoss) {
  PLIM_TRACE_SEED();
  std::mt19937_64 random(testing::testSeed());
  const std::string bytes = serialize(sampleArtifact());
  for (int i = 0; i < 10000; ++i) {
    std::string bad = bytes;
    size_t bit = random() % (bad.size() * 8);
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
    ASSERT_EQ(codeOf(bad), StatusCode::DataLoss) << "bit " << bit;
  }
}

TEST(Artifact, FlippedBitsUnderAGoodChecksumDoNotCrash) {
  PLIM_TRACE_SEED();
  std::mt19937_64 random(testing::testSeed());
  const std::string bytes = serialize(sampleArtifact());
  size_t body = digestOffset(bytes);
  for (int i = 0; i < 10000; ++i) {
    std::string bad = bytes;
    for (uint64_t flips = 1 + random() % 3; flips > 0; --flips) {
      size_t bit = random() % (body * 8);
      bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
    }
    StatusOr<Artifact> artifact = deserialize(withChecksum(bad, body));
    if (!artifact.ok()) {
      ASSERT_EQ(artifact.status().code(), StatusCode::DataLoss);
      continue;
    }
    for (const DataSymbol &symbol : artifact->symbols)
      if (std::optional<std::string_view> contents = contentsOf(*artifact, symbol))
        ASSERT_EQ(static_cast<uint64_t>(symbol.bytes), contents->size());
  }
}

TEST(Artifact, ForgedOnesAreDataLoss) {
  using Forge = std::function<void(FunctionSignature &)>;
  const std::pair<const char *, Forge> forgeries[] = {
      {"donations", [](auto &main) { main.arguments[0].donatedTo = 2; }},
      {"donations", [](auto &main) { main.arguments[0].donatedTo = UINT32_MAX - 1; }},
      {"donations", [](auto &main) { main.arguments[1].donatedTo = 1; }}, // a result taken twice
      {"arguments", [](auto &main) { main.arguments[0].bounds.pop_back(); }},
      {"arguments", [](auto &main) { main.arguments[0].bounds[0] = {8, 7}; }},
      {"arguments", [](auto &main) { main.arguments[0].bounds[0] = {-1, 7}; }},
      {"arguments", [](auto &main) { main.arguments[0].strides.push_back(1); }},
      {"arguments", [](auto &main) { main.arguments[0].shape[1] = -2; }},
      {"results", [](auto &main) { main.results[0].shape = {INT64_MIN}; }},
      {"results", [](auto &main) { main.results[0].strides = {1}; }},
      {"plan", [](auto &main) { main.plan.extentCount = 1; }}, // a buffer has the extent 1
      {"plan", [](auto &main) { main.plan.extentCount = -1; }},
      {"plan", [](auto &main) { main.plan.extentCount = INT64_MAX; }},
      {"plan", [](auto &main) { main.plan.buffers[1].extents = {2}; }},
      {"plan", [](auto &main) { main.plan.buffers[1].extents = {UINT32_MAX}; }},
      {"plan", [](auto &main) { main.plan.buffers[0].lower = 5; }},
      {"plan", [](auto &main) { main.plan.buffers[0].bytes = -1; }},
      {"plan", [](auto &main) { main.plan.alignment = 96; }},
      {"plan", [](auto &main) { main.plan.alignment = 32; }},
      {"plan", [](auto &main) { main.plan.function = ""; }},
      {"plan", [](auto &main) { main.plan.buffers.clear(); }},
      {"pools", [](auto &main) { main.pools.pop_back(); }},
      {"pools", [](auto &main) { main.pools.push_back({}); }},
      {"pools", [](auto &main) { main.pools[0].bytes = -1; }},
      {"pools", [](auto &main) { main.pools[0].alignment = 0; }},
      {"pools", [](auto &main) { main.pools[0].alignment = 48; }},
      {"memory", [](auto &main) { main.workspaceBytes = -1; }},
      {"memory", [](auto &main) { main.scratchBytes = INT64_MIN; }},
      {"memory", [](auto &main) { main.stackBytes = -1; }},
      {"memory", [](auto &main) { main.workerStackBytes = -1; }},
  };
  for (const auto &[what, forge] : forgeries) {
    Artifact artifact = sampleArtifact();
    forge(artifact.functions[0]);
    Status status = deserialize(serialize(artifact)).status();
    EXPECT_EQ(status.code(), StatusCode::DataLoss) << what;
    EXPECT_EQ(status.message(), "the artifact's " + std::string(what) + " of 'main' are malformed");
  }
  for (void (*forge)(ValueType &) :
       {+[](ValueType &type) { type.shape[0] = -2; }, +[](ValueType &type) { type.strides = {1}; },
        +[](ValueType &type) { type.isShaped = false; }}) {
    Artifact artifact = sampleArtifact();
    forge(artifact.externals[2].openResults[0].second);
    EXPECT_EQ(deserialize(serialize(artifact)).status().message(),
              "the artifact's results of 'pick' are malformed");
  }
  for (void (*forge)(DataSymbol &) : {+[](DataSymbol &symbol) { symbol.kind = DataKind(4); },
                                      +[](DataSymbol &symbol) { symbol.type.shape = {-7}; },
                                      +[](DataSymbol &symbol) { symbol.alignment = 3; },
                                      +[](DataSymbol &symbol) { symbol.block = 2; }}) {
    Artifact artifact = sampleArtifact();
    forge(artifact.symbols[0]);
    EXPECT_EQ(codeOf(serialize(artifact)), StatusCode::DataLoss);
  }
}

TEST(Artifact, ContentsBeyondTheDataAreDataLoss) {
  for (auto [bytes, offset] : {std::pair<int64_t, int64_t>{8, 65},
                               {73, 0},
                               {-1, 0},
                               {8, -2},
                               {INT64_MAX, 8},
                               {8, INT64_MAX}}) {
    Artifact artifact = sampleArtifact();
    artifact.symbols[0].bytes = bytes;
    artifact.symbols[0].offset = offset;
    StatusOr<Artifact> out = deserialize(serialize(artifact));
    ASSERT_FALSE(out.ok()) << bytes << " at " << offset;
    EXPECT_EQ(out.status().code(), StatusCode::DataLoss);
    EXPECT_NE(out.status().message().find("'table'"), std::string_view::npos);
  }
}

TEST(Artifact, BlocksThatDoNotFitTheirSymbolsAreDataLoss) {
  auto status = [](auto change) {
    Artifact artifact = sampleArtifact();
    change(artifact);
    return deserialize(serialize(artifact)).status();
  };
  for (auto [bytes, block] :
       {std::pair<int64_t, int64_t>{5000, 2}, {5000, -2}, {5001, 1}, {8, 0}}) {
    Status bad = status([&](Artifact &artifact) {
      artifact.symbols[1].bytes = bytes;
      artifact.symbols[1].block = block;
    });
    EXPECT_EQ(bad.code(), StatusCode::DataLoss) << bytes << " in block " << block;
    EXPECT_NE(bad.message().find("'large'"), std::string_view::npos);
  }
  EXPECT_EQ(status([](Artifact &artifact) { artifact.symbols[1].offset = 0; }).code(),
            StatusCode::DataLoss);
  Status hash = status([](Artifact &artifact) { artifact.blocks[1].hash.high ^= 1; });
  EXPECT_EQ(hash.code(), StatusCode::DataLoss);
  EXPECT_NE(hash.message().find("hash"), std::string_view::npos);
  EXPECT_TRUE(status([](Artifact &) {}).ok());
}

TEST(Artifact, ArrangementsThatDoNotFitTheirSymbolsAreDataLoss) {
  using Forge = void (*)(Artifact &, Arrangement &);
  for (Forge forge : {
           +[](Artifact &, Arrangement &arrangement) { arrangement.source = "missing"; },
           +[](Artifact &, Arrangement &arrangement) { arrangement.source = "panels"; },
           +[](Artifact &, Arrangement &arrangement) { arrangement.source = "zeroed"; },
           +[](Artifact &, Arrangement &arrangement) { arrangement.dimensions[0].of = 2; },
           +[](Artifact &, Arrangement &arrangement) { arrangement.dimensions[0].extent = 3; },
           +[](Artifact &, Arrangement &arrangement) { arrangement.dimensions[0].extent = -2; },
           +[](Artifact &, Arrangement &arrangement) { arrangement.dimensions[1].step = 0; },
           +[](Artifact &, Arrangement &arrangement) {
             arrangement.dimensions[0].extent = arrangement.dimensions[1].extent = INT64_MAX;
           },
           +[](Artifact &, Arrangement &arrangement) { arrangement.dimensions.clear(); },
           +[](Artifact &artifact, Arrangement &) {
             artifact.symbols[6].kind = DataKind::Constant;
           },
           +[](Artifact &artifact, Arrangement &) { artifact.symbols[5].type.shape = {3, -1}; },
           +[](Artifact &artifact, Arrangement &) { artifact.symbols[5].bytes = 25; },
       }) {
    Artifact artifact = sampleArtifact();
    forge(artifact, *artifact.symbols[6].arrangement);
    StatusOr<Artifact> out = deserialize(serialize(artifact));
    ASSERT_FALSE(out.ok());
    EXPECT_EQ(out.status().code(), StatusCode::DataLoss);
    EXPECT_NE(out.status().message().find("'panels'"), std::string_view::npos);
  }
}

TEST(Artifact, BlocksAreReadOnlyPages) {
  StatusOr<Artifact> artifact = deserialize(serialize(sampleArtifact()));
  ASSERT_TRUE(artifact.ok());
  char *byte = const_cast<char *>(artifact->blocks[1].contents.bytes.data());
  EXPECT_DEATH(*byte = 1, "");
}

TEST(Artifact, RandomBytesAreDataLoss) {
  PLIM_TRACE_SEED();
  std::mt19937_64 random(testing::testSeed());
  for (int i = 0; i < 200; ++i) {
    std::string bytes(random() % 500, '\0');
    for (char &byte : bytes)
      byte = static_cast<char>(random());
    ASSERT_EQ(codeOf(bytes), StatusCode::DataLoss);
  }
}

} // namespace
} // namespace plim::jit
