#include "support/Json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>

namespace plim {
namespace {

using testing::HasSubstr;

std::string fault(std::string_view text) {
  StatusOr<Json> json = Json::parse(text);
  return json.ok() ? "" : json.status().toString();
}

TEST(Json, ReadsEveryKindOfValue) {
  Json json = *Json::parse(
      R"({"z": null, "b": [true, false], "i": -9223372036854775808, "u": 18446744073709551615,
          "d": 2.0, "e": 1e3, "s": "a\"\u00e4\n", "o": {}, "l": []})");
  ASSERT_TRUE(json.object());
  EXPECT_EQ(json.object()->size(), 9u);
  EXPECT_EQ(json.object()->front().key, "z") << "in their order";
  EXPECT_STREQ(json.find("z")->kind(), "null");
  EXPECT_TRUE(*json.find("b")->array()->front().boolean());
  EXPECT_FALSE(*json.find("b")->array()->back().boolean());
  EXPECT_EQ(*json.find("i")->integer(), std::numeric_limits<int64_t>::min());
  EXPECT_FALSE(json.find("u")->integer());
  EXPECT_TRUE(json.find("u")->isLargeInteger());
  EXPECT_EQ(json.find("u")->number(), 18446744073709551616.0);
  EXPECT_FALSE(json.find("d")->integer()) << "written as a fraction";
  EXPECT_EQ(json.find("d")->number(), 2);
  EXPECT_EQ(json.find("e")->number(), 1000);
  EXPECT_EQ(*json.find("s")->string(), "a\"\xc3\xa4\n");
  EXPECT_TRUE(json.find("o")->object()->empty());
  EXPECT_TRUE(json.find("l")->array()->empty());
  EXPECT_EQ(json.find("none"), nullptr);
  EXPECT_EQ(json.find("b")->find("b"), nullptr) << "no object";
}

TEST(Json, RefusesWhatIsNotOneValue) {
  for (const char *text :
       {"", " ", "{", "[1,]", "{\"a\":}", "{} x", "nul", "01", "\"\xff\"", "[1 2]", "NaN"})
    EXPECT_THAT(fault(text), HasSubstr("parse error at line 1")) << text;
  EXPECT_THAT(fault("1e999"), HasSubstr("number overflow parsing '1e999'"));
  EXPECT_THAT(fault("[\n1,\n x]"), HasSubstr("line 3, column 2"));
}

TEST(Json, RefusesRepeatedKeysOfOneObjectOnly) {
  EXPECT_THAT(fault(R"({"a": 1, "b": 2, "a": 3})"), HasSubstr("key \"a\" is given twice"));
  EXPECT_THAT(fault(R"([[{"a": 1, "a": 3}]])"), HasSubstr("key \"a\" is given twice"));
  EXPECT_EQ(fault(R"({"a": {"a": 1}, "b": [{"a": 1}, {"a": 2}], "c": {"a": {}}})"), "");
}

TEST(Json, BoundsItsDepth) {
  auto nested = [](int depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_EQ(fault(nested(Json::maxDepth)), "");
  EXPECT_EQ(fault("[" + nested(Json::maxDepth - 1) + "," + nested(Json::maxDepth - 1) + "]"), "");
  EXPECT_THAT(fault(nested(Json::maxDepth + 1)), HasSubstr("nested too deep"));
  EXPECT_THAT(fault(std::string(1000000, '[')), HasSubstr("nested too deep"));
}

TEST(Json, SetsAndErasesMembers) {
  Json json = Json::Object();
  json.set("a", int64_t{1});
  json.set("b", "x");
  json.set("a", Json::Array{true, 2.5});
  EXPECT_EQ(json, *Json::parse(R"({"a": [true, 2.5], "b": "x"})"));
  json.erase("a");
  json.erase("a");
  EXPECT_EQ(json, *Json::parse(R"({"b": "x"})"));
  EXPECT_NE(json, *Json::parse(R"({"b": "y"})"));
}

TEST(Json, WritesAsTheLibraryDoes) {
  std::mt19937_64 random(std::random_device{}());
  const uint64_t seed = random();
  SCOPED_TRACE("seed " + std::to_string(seed));
  random.seed(seed);
  bool hasAnyNumber = false; // also those of whose shortest texts there are several
  auto below = [&](uint64_t bound) { return random() % bound; };
  auto make = [&](auto &self, int depth) -> Json {
    switch (below(depth < 4 ? 7 : 5)) {
    case 0:
      return {};
    case 1:
      return below(2) == 0;
    case 2:
      return static_cast<int64_t>(random() >> below(64));
    case 3: {
      auto bits = std::bit_cast<double>(random());
      return hasAnyNumber && std::isfinite(bits) ? bits
                                                 : static_cast<double>(below(4000)) / 8 - 100;
    }
    case 4: {
      std::string text;
      for (uint64_t i = below(6); i > 0; --i)
        text += below(3) == 0 ? "\xc3\xa4" : std::string(1, static_cast<char>(1 + below(127)));
      return text;
    }
    case 5: {
      Json::Array array;
      for (uint64_t i = below(4); i > 0; --i)
        array.push_back(self(self, depth + 1));
      return array;
    }
    default: {
      Json object = Json::Object();
      for (uint64_t i = below(4); i > 0; --i)
        object.set("k" + std::to_string(i), self(self, depth + 1));
      return object;
    }
    }
  };
  for (int i = 0; i < 500; ++i) {
    hasAnyNumber = i % 2 == 0;
    Json json = make(make, 0);
    std::string text = json.text();
    EXPECT_EQ(*Json::parse(text), json) << text;
    // Its escapes are shorter ("\n"); otherwise the same text.
    auto library = nlohmann::ordered_json::parse(text);
    EXPECT_EQ(*Json::parse(library.dump()), json) << text;
    if (!hasAnyNumber && text.find("\\u00") == text.npos) {
      EXPECT_EQ(library.dump(2), text);
    }
  }
}

TEST(Json, WritesWhatIsNoTextAsReplacements) {
  EXPECT_EQ(Json("a\xff\xc3").text(), "\"a\\ufffd\\ufffd\"");
  EXPECT_EQ(Json(std::numeric_limits<double>::infinity()).text(), "null");
  EXPECT_EQ(Json(100000.0).text(), "100000.0");
  EXPECT_EQ(Json(0.0).text(), "0.0");
}

} // namespace
} // namespace plim
