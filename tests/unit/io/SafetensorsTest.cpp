#include "engine/io/Safetensors.h"

#include "engine/runtime/Value.h"
#include "tests/unit/engine/Random.h"
#include "tests/unit/tools/TemporaryFile.h"
#include "tools/io/ValueText.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace plim::io {
namespace {

using namespace runtime;
using plim::testing::TemporaryFile;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using tools::printValue;

std::string safetensors(std::string_view header, std::string_view data) {
  std::string file;
  for (size_t i = 0; i < 8; ++i)
    file += static_cast<char>(header.size() >> (8 * i));
  return file + std::string(header) + std::string(data);
}

std::string entry(std::string_view name, std::string_view dtype, std::string_view shape, int begin,
                  int end) {
  return "\"" + std::string(name) + "\":{\"dtype\":\"" + std::string(dtype) +
         "\",\"shape\":" + std::string(shape) + ",\"data_offsets\":[" + std::to_string(begin) +
         "," + std::to_string(end) + "]}";
}

/// Empty when the file opens, else the error.
std::string error(std::string_view contents) {
  TemporaryFile file(contents);
  StatusOr<SafetensorsFile> opened = SafetensorsFile::open(file.path());
  if (opened.ok())
    return "";
  EXPECT_THAT(std::string(opened.status().message()), StartsWith(file.path()));
  return opened.status().toString();
}

TEST(Safetensors, TensorsByName) {
  std::string header = "{\"__metadata__\":{\"format\":\"pt\"}," + entry("b", "I16", "[2]", 8, 12) +
                       "," + entry("a", "F32", "[1,2]", 0, 8) + "," +
                       entry("empty", "F64", "[0,3]", 12, 12) + "," +
                       entry("scalar", "BOOL", "[]", 12, 13) + "}";
  header.append((8 - header.size() % 8) % 8, ' ');
  const float floats[] = {1.5, -2};
  std::string data(reinterpret_cast<const char *>(floats), 8);
  data += std::string("\x01\x00\xff\xff\x01", 5);
  Buffer a;
  {
    TemporaryFile file(safetensors(header, data));
    StatusOr<SafetensorsFile> opened = SafetensorsFile::open(file.path());
    ASSERT_TRUE(opened.ok()) << opened.status().toString();
    EXPECT_EQ(opened->entries().size(), 4u);
    a = *opened->tensor("a");
    EXPECT_EQ(printValue(*opened->tensor("b")), "2xi16=[1, -1]");
    EXPECT_EQ(printValue(*opened->tensor("empty")), "0x3xf64=[]");
    EXPECT_EQ(printValue(*opened->tensor("scalar")), "i1=1");
    EXPECT_TRUE(a.readOnly());
    EXPECT_EQ(a.data(), opened->entries().at("a").elements.data()) << "copied";
    EXPECT_EQ(opened->tensor("c").status().code(), StatusCode::NotFound);
  }
  // File object and file are gone; the mapping lives with the buffer.
  EXPECT_EQ(printValue(a), "1x2xf32=[[1.5, -2]]");
}

TEST(Safetensors, UnalignedTensorsAreCopied) {
  std::string header =
      "{" + entry("a", "I8", "[1]", 0, 1) + "," + entry("b", "F32", "[1]", 1, 5) + "}";
  header.append((8 - header.size() % 8) % 8, ' ');
  const float value = 7;
  TemporaryFile file(
      safetensors(header, "x" + std::string(reinterpret_cast<const char *>(&value), 4)));
  SafetensorsFile opened = *SafetensorsFile::open(file.path());
  EXPECT_EQ(printValue(*opened.tensor("b")), "1xf32=[7]");
}

TEST(Safetensors, EveryType) {
  struct Row {
    const char *name;
    ElementType type;
  };
  for (const Row &row :
       {Row{"BOOL", ElementType::I1}, Row{"I8", ElementType::I8}, Row{"U8", ElementType::I8},
        Row{"I16", ElementType::I16}, Row{"U16", ElementType::I16}, Row{"I32", ElementType::I32},
        Row{"U32", ElementType::I32}, Row{"I64", ElementType::I64}, Row{"U64", ElementType::I64},
        Row{"F16", ElementType::F16}, Row{"BF16", ElementType::BF16}, Row{"F32", ElementType::F32},
        Row{"F64", ElementType::F64}, Row{"F8_E4M3", ElementType::F8E4M3FN},
        Row{"F8_E5M2", ElementType::F8E5M2}}) {
    auto bytes = static_cast<int>(elementBytes(row.type));
    TemporaryFile file(safetensors("{" + entry("t", row.name, "[1]", 0, bytes) + "}",
                                   std::string(static_cast<size_t>(bytes), '\0')));
    StatusOr<SafetensorsFile> opened = SafetensorsFile::open(file.path());
    ASSERT_TRUE(opened.ok()) << opened.status().toString();
    EXPECT_EQ(opened->tensor("t")->type(), row.type);
  }
}

TEST(Safetensors, MalformedFilesAreErrors) {
  EXPECT_THAT(error(""), HasSubstr("not a safetensors"));
  EXPECT_THAT(error("1234567"), HasSubstr("not a safetensors"));
  EXPECT_THAT(error(std::string("\xff\xff\xff\xff\xff\xff\xff\xff", 8)), HasSubstr("a header of"));
  EXPECT_THAT(error(std::string("\x03\0\0\0\0\0\0\0{}", 10)), HasSubstr("a header of 3"));
  EXPECT_EQ(error(safetensors("{}", "")), "");
  EXPECT_THAT(error(safetensors("", "")), HasSubstr("the header: parse error at line 1, column 1"));
  EXPECT_THAT(error(safetensors("[]", "")), HasSubstr("not a JSON object"));
  EXPECT_THAT(error(safetensors("{\"a\":", "")), HasSubstr("the header: parse error at line 1"));
  EXPECT_THAT(error(safetensors("{} x", "")), HasSubstr("the header: parse error at line 1"));
  EXPECT_THAT(error(safetensors("{\"\xff\":1}", "")),
              HasSubstr("the header: parse error at line 1"));
  EXPECT_THAT(error(safetensors(std::string(100000, '['), "")), HasSubstr("nested too deep"));
  EXPECT_THAT(
      error(safetensors("{\"a\":" + std::string(50000, '[') + std::string(50000, ']') + "}", "")),
      HasSubstr("nested too deep"));

  auto one = [](const std::string &body, size_t bytes) {
    return error(safetensors("{" + body + "}", std::string(bytes, '\0')));
  };
  EXPECT_EQ(one(entry("a", "F32", "[2]", 0, 8), 8), "");
  EXPECT_THAT(one("\"a\":1", 0), HasSubstr("tensor 'a': expected dtype"));
  EXPECT_THAT(one("\"a\":{\"dtype\":\"F32\",\"shape\":[]}", 4), HasSubstr("expected dtype"));
  EXPECT_THAT(one("\"a\":{\"dtype\":1,\"shape\":[],\"data_offsets\":[0,4]}", 4),
              HasSubstr("wrong kind"));
  EXPECT_THAT(one("\"a\":{\"dtype\":\"F32\",\"shape\":{},\"data_offsets\":[0,4]}", 4),
              HasSubstr("wrong kind"));
  EXPECT_THAT(one("\"a\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0]}", 4),
              HasSubstr("wrong kind"));
  EXPECT_THAT(one(entry("a", "F8_E8M0", "[4]", 0, 4), 4), HasSubstr("unimplemented"));
  for (const char *shape : {"[-1]", "[1.5]", "[\"1\"]", "[null]", "[18446744073709551615]",
                            "[1e30]", "[99999999999999999999999]"})
    EXPECT_THAT(one(entry("a", "F32", shape, 0, 4), 4), HasSubstr("no count")) << shape;
  EXPECT_THAT(one(entry("a", "F32", "[4294967296,4294967296,16]", 0, 4), 4), HasSubstr("overflow"));
  EXPECT_THAT(one(entry("a", "F32", "[2]", 0, 12), 8), HasSubstr("outside"));
  EXPECT_THAT(one(entry("a", "F32", "[2]", 8, 0), 8), HasSubstr("outside"));
  EXPECT_THAT(one(entry("a", "F32", "[2]", -8, 0), 8), HasSubstr("outside"));
  EXPECT_THAT(one(entry("a", "F32", "[3]", 0, 8), 8),
              HasSubstr("8 bytes where its shape takes 12"));
  EXPECT_THAT(one(entry("a", "F32", "[1]", 0, 4) + "," + entry("b", "F32", "[1]", 2, 6), 6),
              HasSubstr("overlap"));
  EXPECT_THAT(one(entry("a", "F32", "[1]", 0, 4) + "," + entry("b", "F32", "[1]", 0, 4), 4),
              HasSubstr("overlap"));
  EXPECT_THAT(one(entry("a", "F32", "[1]", 0, 4) + "," + entry("b", "F32", "[1]", 8, 12), 12),
              HasSubstr("between tensors"));
  EXPECT_THAT(one(entry("a", "F32", "[1]", 0, 4), 8), HasSubstr("after the last"));
  EXPECT_THAT(one(entry("a", "F32", "[1]", 0, 4) + "," + entry("a", "F32", "[1]", 0, 4), 4),
              HasSubstr("twice"));
  EXPECT_THAT(error(safetensors("{" + entry("a", "BOOL", "[1]", 0, 1) + "}", "\x02")),
              HasSubstr("neither 0 nor 1"));
  EXPECT_EQ(SafetensorsFile::open("/nowhere/x").status().code(), StatusCode::NotFound);
  EXPECT_EQ(SafetensorsFile::open("/tmp").status().code(), StatusCode::InvalidArgument);
}

TEST(Safetensors, RandomDamageNeverBreaksTheReader) {
  PLIM_TRACE_SEED();
  std::mt19937_64 random(testing::testSeed());
  std::string good = safetensors("{" + entry("a", "F32", "[1,2]", 0, 8) + "," +
                                     entry("b", "I16", "[2]", 8, 12) + "}",
                                 std::string(12, '\0'));
  TemporaryFile file;
  for (int round = 0; round < 5000; ++round) {
    std::string bad = good;
    for (size_t edits = 1 + random() % 4; edits-- > 0;)
      bad[random() % bad.size()] = static_cast<char>(random() % 4 ? 32 + random() % 95 : random());
    if (random() % 4 == 0)
      bad.resize(random() % bad.size());
    file.write(bad);
    StatusOr<SafetensorsFile> opened = SafetensorsFile::open(file.path());
    if (opened.ok())
      for (const auto &[name, unused] : opened->entries())
        EXPECT_TRUE(opened->tensor(name).ok());
  }
}

} // namespace
} // namespace plim::io
