#include "engine/io/Npy.h"

#include "tests/unit/engine/Random.h"
#include "tests/unit/tools/TemporaryFile.h"
#include "tools/io/ValueText.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <random>
#include <vector>

namespace plim::io {
namespace {

using namespace runtime;
using plim::testing::TemporaryFile;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using tools::parseValue;
using tools::printValue;

std::shared_ptr<MemoryPool> pool() { return std::make_shared<MemoryPool>(); }

/// A file as NumPy writes it, but with this header text and these bytes behind it.
std::string npy(std::string header, std::string_view data, char major = 1) {
  header += '\n';
  std::string file = "\x93NUMPY";
  file += {major, '\0'};
  for (size_t i = 0; i < (major == 1 ? 2u : 4u); ++i)
    file += static_cast<char>(header.size() >> (8 * i));
  return file + header + std::string(data);
}

std::string dict(std::string_view descr, std::string_view shape, std::string_view order = "False") {
  return "{'descr': '" + std::string(descr) + "', 'fortran_order': " + std::string(order) +
         ", 'shape': " + std::string(shape) + ", }";
}

template <typename T> std::string bytesOf(std::vector<T> values) {
  return {reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T)};
}

/// The value in the file as text, or the error.
std::string load(std::string_view contents) {
  TemporaryFile file(contents);
  StatusOr<Buffer> buffer = readNpy(file.path(), pool()), mapped = mapNpy(file.path());
  EXPECT_EQ(buffer.status().toString(), mapped.status().toString());
  if (buffer.ok()) {
    EXPECT_EQ(printValue(*buffer), printValue(*mapped));
    return printValue(*buffer);
  }
  EXPECT_THAT(std::string(buffer.status().message()), StartsWith(file.path()));
  return buffer.status().toString();
}

TEST(Npy, ReadsEveryVersionAndType) {
  std::string floats = bytesOf<float>({1, 2, 3, 4, 5, 6});
  for (char major : {1, 2, 3})
    EXPECT_EQ(load(npy(dict("<f4", "(2, 3)"), floats, major)), "2x3xf32=[[1, 2, 3], [4, 5, 6]]");
  EXPECT_EQ(load(npy(dict("|b1", "(2,)"), std::string("\x01\x00", 2))), "2xi1=[1, 0]");
  EXPECT_EQ(load(npy(dict("|u1", "(1,)"), "\xff")), "1xi8=[-1]");
  EXPECT_EQ(load(npy(dict("|i1", "(1,)"), "\xff")), "1xi8=[-1]");
  EXPECT_EQ(load(npy(dict("<i2", "(1,)"), bytesOf<int16_t>({-7}))), "1xi16=[-7]");
  EXPECT_EQ(load(npy(dict("<u2", "(1,)"), bytesOf<uint16_t>({7}))), "1xi16=[7]");
  EXPECT_EQ(load(npy(dict("<i4", "(1,)"), bytesOf<int32_t>({-7}))), "1xi32=[-7]");
  EXPECT_EQ(load(npy(dict("=u4", "(1,)"), bytesOf<uint32_t>({7}))), "1xi32=[7]");
  EXPECT_EQ(load(npy(dict("<i8", "(1,)"), bytesOf<int64_t>({-7}))), "1xi64=[-7]");
  EXPECT_EQ(load(npy(dict("<u8", "(1,)"), bytesOf<uint64_t>({7}))), "1xi64=[7]");
  EXPECT_EQ(load(npy(dict("<f2", "(1,)"), bytesOf<uint16_t>({0x3c00}))), "1xf16=[1]");
  EXPECT_EQ(load(npy(dict("<f8", "()"), bytesOf<double>({2.5}))), "f64=2.5");
  EXPECT_EQ(load(npy(dict("<f8", "(0, 3)"), "")), "0x3xf64=[]");
  EXPECT_EQ(load(npy("{\"shape\":(1,),\"descr\":\"<i4\",\"fortran_order\":False}",
                     bytesOf<int32_t>({3}))),
            "1xi32=[3]");
}

TEST(Npy, ReadsFortranOrder) {
  EXPECT_EQ(load(npy(dict("<i4", "(2, 3)", "True"), bytesOf<int32_t>({1, 4, 2, 5, 3, 6}))),
            "2x3xi32=[[1, 2, 3], [4, 5, 6]]");
  EXPECT_EQ(load(npy(dict("<i4", "(3,)", "True"), bytesOf<int32_t>({1, 2, 3}))), "3xi32=[1, 2, 3]");
  EXPECT_EQ(load(npy(dict("<i4", "(2, 0)", "True"), "")), "2x0xi32=[]");
  // Element (i, j, k) of a 2x3x4 array holds 100i + 10j + k.
  std::vector<int16_t> columns;
  for (int k = 0; k < 4; ++k)
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 2; ++i)
        columns.push_back(static_cast<int16_t>(100 * i + 10 * j + k));
  EXPECT_EQ(load(npy(dict("<i2", "(2, 3, 4)", "True"), bytesOf(columns))),
            "2x3x4xi16=[[[0, 1, 2, 3], [10, 11, 12, 13], [20, 21, 22, 23]], "
            "[[100, 101, 102, 103], [110, 111, 112, 113], [120, 121, 122, 123]]]");
}

TEST(Npy, RejectsWhatItCannotHold) {
  EXPECT_THAT(load(npy(dict(">f4", "(1,)"), bytesOf<float>({1}))), HasSubstr("big-endian"));
  for (const char *descr : {"<c4", "|O", "<U5", "|S3", "<M8[ns]", "<f16", "|V4", "f4", "", "<b1x"})
    EXPECT_THAT(load(npy(dict(descr, "(1,)"), "1234")), HasSubstr("unimplemented")) << descr;
  EXPECT_THAT(load(npy("{'descr': [('a', '<f4'), ('b', '<i4')], 'fortran_order': False, "
                       "'shape': (1,), }",
                       "12345678")),
              HasSubstr("structured"));
  EXPECT_THAT(load(npy(dict("|b1", "(2,)"), "\x01\x02")), HasSubstr("neither 0 nor 1"));
  EXPECT_THAT(load(npy(dict("<f4", "(1,)"), "1234", 4)), HasSubstr("version"));
}

TEST(Npy, RejectsMalformedFiles) {
  std::string good = npy(dict("<f4", "(2,)"), bytesOf<float>({1, 2}));
  ASSERT_EQ(load(good), "2xf32=[1, 2]");
  for (size_t length = 0; length < good.size(); ++length)
    EXPECT_THAT(load(good.substr(0, length)), HasSubstr("invalid argument")) << length;
  EXPECT_THAT(load(good + "x"), HasSubstr("9 bytes"));
  EXPECT_THAT(load("PK\x03\x04 something else entirely"), HasSubstr("not a NumPy file"));
  for (const char *header :
       {"", "{", "{}", "{'descr': '<f4'}", "['descr']",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'more': 1}",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<f4' 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2 2)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': 2}",
        "{'descr': '<f4, 'fortran_order': False, 'shape': (2,)}",
        "{'descr': [('a', 'fortran_order': False, 'shape': (2,)",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} trailing"})
    EXPECT_THAT(load(npy(header, bytesOf<float>({1, 2}))), HasSubstr("malformed header")) << header;
  EXPECT_THAT(load(npy(dict("<f4", "(4294967296, 4294967296, 16)"), "")), HasSubstr("overflow"));
  EXPECT_THAT(load(npy(dict("<f4", "(1099511627776,)"), "")), HasSubstr("0 bytes of elements"));
  std::string huge = "\x93NUMPY";
  huge += {2, 0};
  huge += "\xff\xff\xff\xff";
  EXPECT_THAT(load(huge), HasSubstr("ends inside its header"));
  EXPECT_THAT(load(npy(std::string(2 << 20, ' '), "", 2)), HasSubstr("a header of"));
}

TEST(Npy, RandomDamageNeverBreaksTheReader) {
  PLIM_TRACE_SEED();
  std::mt19937_64 random(testing::testSeed());
  std::string good = npy(dict("<f4", "(2, 3)"), bytesOf<float>({1, 2, 3, 4, 5, 6}));
  TemporaryFile file;
  for (int round = 0; round < 5000; ++round) {
    std::string bad = good;
    for (size_t edits = 1 + random() % 4; edits-- > 0;)
      bad[random() % bad.size()] = static_cast<char>(random() % 4 ? 32 + random() % 95 : random());
    file.write(bad);
    StatusOr<Buffer> buffer = readNpy(file.path(), pool());
    if (!buffer.ok())
      EXPECT_NE(buffer.status().code(), StatusCode::Internal);
  }
}

TEST(Npy, FilesThatAreNotThere) {
  EXPECT_EQ(readNpy("/nowhere/x.npy", pool()).status().code(), StatusCode::NotFound);
  EXPECT_EQ(readNpy("/tmp", pool()).status().code(), StatusCode::InvalidArgument);
  Value value = Scalar{ElementType::F32, 0};
  EXPECT_EQ(writeNpy("/nowhere/x.npy", value).code(), StatusCode::NotFound);
  EXPECT_FALSE(writeNpy("/dev/full", value).ok());
}

TEST(Npy, NoMemoryIsAnError) {
  auto small = std::make_shared<MemoryPool>(MemoryPoolOptions{.maxSystemBytes = 4096});
  TemporaryFile file(npy(dict("<f4", "(100, 100)", "True"), std::string(40000, '\0')));
  EXPECT_EQ(readNpy(file.path(), small).status().code(), StatusCode::ResourceExhausted);
}

TEST(Npy, WritesWhatItReads) {
  TemporaryFile file;
  for (ElementType type : allElementTypes()) {
    std::string name(elementTypeName(type));
    for (const std::string &text : {name + "=1", "0x4x" + name + "=[]", "3x5x" + name + "=rnd:1"}) {
      Value value = *parseValue(text, pool());
      Status written = writeNpy(file.path(), value);
      bool isUnknown = type == ElementType::BF16 || type == ElementType::F8E4M3FN ||
                       type == ElementType::F8E5M2 || type == ElementType::I2 ||
                       type == ElementType::I4;
      if (isUnknown) {
        EXPECT_EQ(written.code(), StatusCode::Unimplemented);
        continue;
      }
      ASSERT_TRUE(written.ok()) << written.toString();
      EXPECT_EQ(file.read().find('\n') % 64, 63u);
      std::string expected = printValue(value);
      if (type == ElementType::Index)
        expected.replace(expected.find("index"), 5, "i64");
      StatusOr<Buffer> read = readNpy(file.path(), pool());
      ASSERT_TRUE(read.ok()) << read.status().toString();
      EXPECT_EQ(printValue(*read), expected);
    }
  }
}

TEST(Npy, LongHeadersUseTheSecondVersion) {
  std::vector<int64_t> shape(30000, 1);
  Buffer buffer = *Buffer::allocate(pool(), ElementType::I8, shape);
  *static_cast<int8_t *>(buffer.mutableData()) = 5;
  TemporaryFile file;
  ASSERT_TRUE(writeNpy(file.path(), buffer).ok());
  EXPECT_EQ(file.read()[6], 2);
  StatusOr<Buffer> read = readNpy(file.path(), pool());
  ASSERT_TRUE(read.ok()) << read.status().toString();
  EXPECT_EQ(read->shape().size(), shape.size());
}

} // namespace
} // namespace plim::io
