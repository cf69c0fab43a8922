// Json: a small document in memory, read from and written as text.
//
// Reads what files and hosts bring (targets, calibrations, headers of tensor files), so the rules are strict: no repeated
// keys, 16 levels at most. The parser is nlohmann_json's; the document is our own, since that library's takes memory in
// its destructor, where a failure ends the process. Here only what creates or changes a value does, and throws
// std::bad_alloc. A value like a string: no sharing, threads as for one.
#pragma once

#include "support/Status.h"

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace plim {

class Json {
public:
  struct Member;
  using Array = std::vector<Json>;
  /// In the order in which members were written or set.
  using Object = std::vector<Member>;
  static constexpr int maxDepth = 16;

  Json();
  Json(bool value);
  Json(int64_t value);
  Json(double value);
  Json(std::string value);
  Json(std::string_view value);
  Json(const char *value);
  Json(Array value);
  Json(Object value);
  Json(const std::vector<std::string> &strings);
  Json(const Json &);
  Json(Json &&) noexcept;
  Json &operator=(const Json &);
  Json &operator=(Json &&) noexcept;
  ~Json();

  /// InvalidArgument with line and column for what is not one JSON value; also for repeated keys and for nesting beyond
  /// `maxDepth`.
  static StatusOr<Json> parse(std::string_view text);

  /// Two spaces a level, a line for each element and member; what is no UTF-8 in a string becomes U+FFFD.
  std::string text() const;

  /// What it is, for a message: "string", "number", "null".
  const char *kind() const;

  // Null if it is something else.
  const bool *boolean() const { return std::get_if<bool>(&value); }
  const std::string *string() const { return std::get_if<std::string>(&value); }
  const Array *array() const { return std::get_if<Array>(&value); }
  Array *array() { return std::get_if<Array>(&value); }
  const Object *object() const { return std::get_if<Object>(&value); }
  Object *object() { return std::get_if<Object>(&value); }
  /// A whole number, written without point and exponent; not those beyond 64 bits with a sign.
  const int64_t *integer() const { return std::get_if<int64_t>(&value); }
  bool isNumber() const;
  /// Beyond `integer`, but written like one.
  bool isLargeInteger() const { return std::holds_alternative<uint64_t>(value); }
  /// Of any number; 0 for what is none.
  double number() const;

  /// The member of that name; null if there is none or this is no object.
  const Json *find(std::string_view key) const;
  Json *find(std::string_view key);
  /// Of an object: replaces the member, or adds it at the end.
  void set(std::string_view key, Json member);
  /// Of an object: takes the member out, if there is one.
  void erase(std::string_view key);

  bool operator==(const Json &other) const;

private:
  friend class JsonReader;
  std::variant<std::monostate, bool, int64_t, uint64_t, double, std::string, Array, Object> value;
};

struct Json::Member {
  std::string key;
  Json value;
  bool operator==(const Member &other) const = default;
};

/// `text` between quotes, as JSON wants it; what is no UTF-8 becomes U+FFFD.
void writeJsonString(std::string_view text, std::ostream &out);

} // namespace plim
