#include "support/Hash.h"

#include <gtest/gtest.h>
#include <random>
#include <string>

namespace {

using plim::Digest;
using plim::hashBytes;
using plim::Hasher;

// BLAKE2b-256 of these inputs is published with many libraries; `b2sum -l 256` prints the same.
TEST(Hash, PublishedVectors) {
  EXPECT_EQ(hashBytes("").hex(),
            "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8");
  EXPECT_EQ(hashBytes("abc").hex(),
            "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319");
  EXPECT_EQ(hashBytes(std::string(1000000, 'a')).hex(),
            "0741850f36cba4259628355d1073e24ddb9ca0e1bfac36fd39ae5dc2101e23a4");
}

// The digest of the digests of byte i % 251 at every length up to 1024, which crosses each border
// of a block several times. The expected value is hashlib.blake2b's (digest_size=32).
TEST(Hash, EveryLengthAroundBlockBorders) {
  std::string input;
  Hasher all;
  for (size_t length = 0; length <= 1024; ++length) {
    Digest digest = hashBytes(input);
    all.update(digest.bytes.data(), digest.bytes.size());
    input.push_back(static_cast<char>(length % 251));
  }
  EXPECT_EQ(all.digest().hex(), "2a21f91283a09c2ece0b57af3ea8334825cf70576156bbe682fd63b5d7bb62c7");
}

TEST(Hash, PiecesDoNotMatter) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  for (int trial = 0; trial < 200; ++trial) {
    std::string input(random() % 2000, '\0');
    for (char &byte : input)
      byte = static_cast<char>(random());
    Hasher hasher;
    for (size_t begin = 0; begin < input.size();) {
      size_t length = std::min<size_t>(random() % 300, input.size() - begin);
      hasher.update(input.data() + begin, length);
      begin += length;
    }
    ASSERT_EQ(hasher.digest(), hashBytes(input));
  }
}

TEST(Hash, MoreMayFollowADigest) {
  Hasher hasher;
  hasher.update("a");
  EXPECT_EQ(hasher.digest(), hashBytes("a"));
  EXPECT_EQ(hasher.digest(), hashBytes("a"));
  hasher.update("bc");
  EXPECT_EQ(hasher.digest(), hashBytes("abc"));
}

TEST(Hash, NoBytesAtNoAddress) {
  Hasher hasher;
  hasher.update(nullptr, 0);
  EXPECT_EQ(hasher.digest(), hashBytes(""));
}

TEST(Hash, FieldsAreKeptApart) {
  Digest left = Hasher().updateField("ab").updateField("c").digest();
  Digest right = Hasher().updateField("a").updateField("bc").digest();
  EXPECT_NE(left, right);
}

TEST(Hash, IntegersAreLittleEndian) {
  EXPECT_EQ(Hasher().updateInteger(0x0807060504030201).digest(),
            hashBytes("\x01\x02\x03\x04\x05\x06\x07\x08"));
}

TEST(Hash, EveryBitMatters) {
  std::string input(257, 'x');
  const Digest before = hashBytes(input);
  for (size_t bit = 0; bit < 8 * input.size(); ++bit) {
    input[bit / 8] = static_cast<char>(input[bit / 8] ^ (1 << (bit % 8)));
    ASSERT_NE(hashBytes(input), before) << "bit " << bit;
    input[bit / 8] = static_cast<char>(input[bit / 8] ^ (1 << (bit % 8)));
  }
}

} // namespace
