#include "targets/internal/Json.h"

#include "targets/internal/Fields.h"

#include <array>
#include <set>

namespace plim::targets::internal {
namespace {

// A target needs five levels; the bound keeps the recursive copy of a document off the guard page.
constexpr int maxDepth = 16;

template <typename T> Json encode(const T &value) {
  if constexpr (Described<T>) {
    Json object = Json::object();
    forEachField<T>([&](auto field) { object[field.key] = encode(value.*field.member); });
    return object;
  } else if constexpr (IsVector<T>::value) {
    Json array = Json::array();
    for (const auto &element : value)
      array.push_back(encode(element));
    return array;
  } else if constexpr (std::is_enum_v<T>) {
    return std::string(enumName(value));
  } else {
    return value;
  }
}

Status wrongType(const std::string &path, std::string_view expected, const Json &json) {
  return invalidArgumentError(path + ": expected " + std::string(expected) + ", got " +
                              json.type_name());
}

std::string memberPath(const std::string &path, std::string_view key) {
  return path.empty() ? std::string(key) : path + "." + std::string(key);
}

template <typename T> Status decode(const Json &json, const std::string &path, T &value);

template <Described T> Status decodeStruct(const Json &json, const std::string &path, T &value) {
  if (!json.is_object())
    return wrongType(path.empty() ? "target" : path, "an object", json);
  for (const auto &[key, member] : json.items()) {
    bool known = false;
    Status status;
    forEachField<T>([&](auto field) {
      if (field.key != key)
        return;
      known = true;
      status = decode(member, memberPath(path, key), value.*field.member);
    });
    if (!known)
      return invalidArgumentError(memberPath(path, key) + ": unknown key");
    PLIM_RETURN_IF_ERROR(status);
  }
  if constexpr (std::is_same_v<T, DeviceDescription>)
    sortFeatures(value);
  return okStatus();
}

template <typename T> Status decode(const Json &json, const std::string &path, T &value) {
  if constexpr (Described<T>) {
    return decodeStruct(json, path, value);
  } else if constexpr (IsVector<T>::value) {
    if (!json.is_array())
      return wrongType(path, "an array", json);
    value.clear();
    for (size_t i = 0; i < json.size(); ++i)
      PLIM_RETURN_IF_ERROR(
          decode(json[i], path + "[" + std::to_string(i) + "]", value.emplace_back()));
  } else if constexpr (std::is_enum_v<T>) {
    if (!json.is_string() || !parseEnum(json.template get_ref<const std::string &>(), value))
      return invalidArgumentError(path + ": expected one of " + enumChoices<T>());
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (!json.is_string())
      return wrongType(path, "a string", json);
    value = json.template get_ref<const std::string &>();
  } else if constexpr (std::is_same_v<T, bool>) {
    if (!json.is_boolean())
      return wrongType(path, "true or false", json);
    value = json.template get<bool>();
  } else if constexpr (std::is_same_v<T, double>) {
    if (!json.is_number())
      return wrongType(path, "a number", json);
    value = json.template get<double>();
  } else {
    static_assert(std::is_same_v<T, int64_t>);
    if (!json.is_number_integer())
      return json.is_number() ? invalidArgumentError(path + ": expected a whole number")
                              : wrongType(path, "a whole number", json);
    if (json.is_number_unsigned() && json.template get<uint64_t>() > uint64_t{INT64_MAX})
      return invalidArgumentError(path + ": does not fit in 64 bits");
    value = json.template get<int64_t>();
  }
  return okStatus();
}

} // namespace

StatusOr<Json> parseJson(std::string_view text) {
  std::array<std::set<std::string>, maxDepth + 2> keysAtDepth;
  std::string fault;
  auto check = [&](int depth, Json::parse_event_t event, Json &parsed) {
    bool opens =
        event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start;
    if (opens && depth >= maxDepth)
      fault = "nested too deep";
    // What is inside is of no interest then; the depth is bounded for the array of keys.
    if (!fault.empty() || depth > maxDepth)
      return false;
    if (opens)
      keysAtDepth[depth + 1].clear();
    else if (event == Json::parse_event_t::key &&
             !keysAtDepth[depth].insert(parsed.get<std::string>()).second)
      fault = "key \"" + parsed.get<std::string>() + "\" is given twice";
    return true;
  };
  Json document;
  try {
    document = Json::parse(text, check);
  } catch (const Json::exception &error) {
    std::string_view what = error.what();
    // The library's message begins with its own name and a number, in brackets.
    size_t end = what.find("] ");
    return invalidArgumentError(std::string(end == what.npos ? what : what.substr(end + 2)));
  }
  if (!fault.empty())
    return invalidArgumentError(fault);
  return document;
}

Json toDocument(const TargetDescription &target) { return encode(target); }

StatusOr<TargetDescription> fromDocument(const Json &document) {
  TargetDescription target;
  PLIM_RETURN_IF_ERROR(decode(document, "", target));
  PLIM_RETURN_IF_ERROR(verify(target));
  return target;
}

} // namespace plim::targets::internal
