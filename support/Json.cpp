#include "support/Json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <utility>

namespace plim {

//===-- Reading -----------------------------------------------------------------------------===//

/// What the parser calls for each thing that it finds; false ends it.
class JsonReader {
public:
  explicit JsonReader(Json &document) { open = {&document}; }

  std::string fault;

  bool null() { return place({}); }
  bool boolean(bool value) { return place(value); }
  bool number_integer(int64_t value) { return place(value); }
  bool number_unsigned(uint64_t value) {
    if (value <= uint64_t{INT64_MAX})
      return place(static_cast<int64_t>(value));
    Json large;
    large.value = value;
    return place(std::move(large));
  }
  bool number_float(double value, const std::string &) { return place(value); }
  bool string(std::string &value) { return place(std::move(value)); }
  bool binary(nlohmann::json::binary_t &) { return false; } // not in texts
  bool start_object(size_t) { return begin(Json::Object()); }
  bool start_array(size_t) { return begin(Json::Array()); }
  bool end_object() { return end(); }
  bool end_array() { return end(); }

  bool key(std::string &name) {
    if (!keys[open.size()].insert(name).second)
      return fail("key \"" + name + "\" is given twice");
    Json::Object &object = *open.back()->object();
    object.push_back({std::move(name), {}});
    return true;
  }

  bool parse_error(size_t, const std::string &, const nlohmann::json::exception &error) {
    // The library's message begins with its own name and a number, in brackets.
    std::string_view what = error.what();
    size_t end = what.find("] ");
    return fail(std::string(end == what.npos ? what : what.substr(end + 2)));
  }

private:
  bool fail(std::string message) {
    fault = std::move(message);
    return false;
  }

  /// Where the next value goes: the document itself, a new element, or the member of the last key.
  Json &next() {
    Json &parent = *open.back();
    if (Json::Array *array = parent.array())
      return array->emplace_back();
    if (Json::Object *object = parent.object())
      return object->back().value;
    return parent;
  }
  bool place(Json value) {
    next() = std::move(value);
    return true;
  }
  bool begin(Json container) {
    if (depth == Json::maxDepth)
      return fail("nested too deep");
    Json &here = next();
    here = std::move(container);
    // The first one is the document, which is open from the beginning.
    if (depth++ > 0)
      open.push_back(&here);
    keys[open.size()].clear();
    return true;
  }
  bool end() {
    if (--depth > 0)
      open.pop_back();
    return true;
  }

  /// What is being filled, outermost first. No element is added to what holds one of them.
  std::vector<Json *> open;
  std::array<std::set<std::string>, Json::maxDepth + 1> keys; // of each that is open
  int depth = 0;
};

StatusOr<Json> Json::parse(std::string_view text) {
  Json document;
  JsonReader reader(document);
  if (!nlohmann::json::sax_parse(text, &reader))
    return invalidArgumentError(reader.fault);
  return document;
}

//===-- Writing -----------------------------------------------------------------------------===//

namespace {

/// Bytes of the UTF-8 sequence that `text` begins with; 0 if there is none.
size_t sequenceLength(std::string_view text) {
  auto at = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  unsigned lead = at(0);
  size_t length = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (lead > 0xf4)
    return 0;
  for (size_t i = 1; i < length; ++i)
    if ((at(i) & 0xc0) != 0x80)
      return 0;
  // Longer than needed, surrogates, beyond the last code point.
  bool isWrong = (lead == 0xe0 && at(1) < 0xa0) || (lead == 0xed && at(1) >= 0xa0) ||
                 (lead == 0xf0 && at(1) < 0x90) || (lead == 0xf4 && at(1) >= 0x90);
  return isWrong ? 0 : length;
}

/// The shortest text that reads as the same number; with a point or an exponent, so that it stays one with a fraction.
void write(double value, std::ostream &out) {
  if (!std::isfinite(value)) {
    out << "null";
    return;
  }
  std::array<char, 32> digits;
  const double size = std::abs(value);
  const auto format = size == 0 || (size >= 1e-4 && size < 1e15) ? std::chars_format::fixed
                                                                 : std::chars_format::scientific;
  auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value, format);
  std::string_view text(digits.data(), end - digits.data());
  out << text;
  if (text.find_first_of(".e") == text.npos)
    out << ".0";
}

void write(const Json &json, int depth, std::ostream &out) {
  auto newLine = [&](int depth) { out << '\n' << std::string(2 * depth, ' '); };
  if (const auto *array = json.array()) {
    out << '[';
    for (size_t i = 0; i < array->size(); ++i) {
      out << (i == 0 ? "" : ",");
      newLine(depth + 1);
      write((*array)[i], depth + 1, out);
    }
    if (!array->empty())
      newLine(depth);
    out << ']';
  } else if (const auto *object = json.object()) {
    out << '{';
    for (size_t i = 0; i < object->size(); ++i) {
      out << (i == 0 ? "" : ",");
      newLine(depth + 1);
      writeJsonString((*object)[i].key, out);
      out << ": ";
      write((*object)[i].value, depth + 1, out);
    }
    if (!object->empty())
      newLine(depth);
    out << '}';
  } else if (const std::string *string = json.string()) {
    writeJsonString(*string, out);
  } else if (const bool *boolean = json.boolean()) {
    out << (*boolean ? "true" : "false");
  } else if (const int64_t *integer = json.integer()) {
    out << *integer;
  } else if (json.isNumber()) {
    write(json.number(), out);
  } else {
    out << "null";
  }
}

} // namespace

void writeJsonString(std::string_view text, std::ostream &out) {
  out << '"';
  while (!text.empty()) {
    size_t length = sequenceLength(text);
    char first = text[0];
    if (length == 0) {
      out << "\\ufffd";
      length = 1;
    } else if (first == '"' || first == '\\') {
      out << '\\' << first;
    } else if (length == 1 && static_cast<unsigned char>(first) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(first));
      out << escape;
    } else {
      out << text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  out << '"';
}

std::string Json::text() const {
  std::ostringstream out;
  // A stream swallows what is thrown into it otherwise.
  out.exceptions(std::ios::badbit);
  write(*this, 0, out);
  return std::move(out).str();
}

//===-- Values ------------------------------------------------------------------------------===//

Json::Json() = default;
Json::Json(bool value) : value(value) {}
Json::Json(int64_t value) : value(value) {}
Json::Json(double value) : value(value) {}
Json::Json(std::string value) : value(std::move(value)) {}
Json::Json(std::string_view value) : value(std::string(value)) {}
Json::Json(const char *value) : value(std::string(value)) {}
Json::Json(Array value) : value(std::move(value)) {}
Json::Json(Object value) : value(std::move(value)) {}
Json::Json(const std::vector<std::string> &strings)
    : value(Array(strings.begin(), strings.end())) {}
// Not by copying the variant: libstdc++ 12 destroys, as if it held something, one whose copy could not be made.
Json::Json(const Json &other) {
  std::visit([this](const auto &held) { value = held; }, other.value);
}
Json::Json(Json &&) noexcept = default;
Json &Json::operator=(const Json &other) { return *this = Json(other); }
Json &Json::operator=(Json &&) noexcept = default;
Json::~Json() = default;

bool Json::operator==(const Json &other) const = default;

const char *Json::kind() const {
  constexpr std::array kinds = {"null",   "boolean", "number", "number",
                                "number", "string",  "array",  "object"};
  static_assert(kinds.size() == std::variant_size_v<decltype(value)>);
  return kinds[value.index()];
}

bool Json::isNumber() const {
  return integer() || isLargeInteger() || std::holds_alternative<double>(value);
}

double Json::number() const {
  if (const int64_t *whole = integer())
    return static_cast<double>(*whole);
  if (const auto *large = std::get_if<uint64_t>(&value))
    return static_cast<double>(*large);
  const auto *fraction = std::get_if<double>(&value);
  return fraction ? *fraction : 0;
}

const Json *Json::find(std::string_view key) const {
  const Object *members = object();
  if (!members)
    return nullptr;
  auto found = std::find_if(members->begin(), members->end(),
                            [&](const Member &member) { return member.key == key; });
  return found == members->end() ? nullptr : &found->value;
}

Json *Json::find(std::string_view key) {
  return const_cast<Json *>(std::as_const(*this).find(key));
}

void Json::set(std::string_view key, Json member) {
  if (Json *there = find(key))
    *there = std::move(member);
  else
    object()->push_back({std::string(key), std::move(member)});
}

void Json::erase(std::string_view key) {
  if (Object *members = object())
    std::erase_if(*members, [&](const Member &member) { return member.key == key; });
}

} // namespace plim
