#include "targets/internal/Codec.h"

#include "targets/internal/Fields.h"

namespace plim::targets::internal {
namespace {

template <typename T> Json encode(const T &value) {
  if constexpr (Described<T>) {
    Json object = Json::Object();
    forEachField<T>([&](auto field) { object.set(field.key, encode(value.*field.member)); });
    return object;
  } else if constexpr (IsVector<T>::value) {
    Json::Array array;
    for (const auto &element : value)
      array.push_back(encode(element));
    return array;
  } else if constexpr (std::is_enum_v<T>) {
    return enumName(value);
  } else {
    return value;
  }
}

Status wrongType(const std::string &path, std::string_view expected, const Json &json) {
  return invalidArgumentError(path + ": expected " + std::string(expected) + ", got " +
                              json.kind());
}

std::string memberPath(const std::string &path, std::string_view key) {
  return path.empty() ? std::string(key) : path + "." + std::string(key);
}

template <typename T> Status decode(const Json &json, const std::string &path, T &value);

template <Described T> Status decodeStruct(const Json &json, const std::string &path, T &value) {
  const Json::Object *object = json.object();
  if (!object)
    return wrongType(path.empty() ? "target" : path, "an object", json);
  for (const auto &[key, member] : *object) {
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
    const Json::Array *array = json.array();
    if (!array)
      return wrongType(path, "an array", json);
    value.clear();
    for (size_t i = 0; i < array->size(); ++i)
      PLIM_RETURN_IF_ERROR(
          decode((*array)[i], path + "[" + std::to_string(i) + "]", value.emplace_back()));
  } else if constexpr (std::is_enum_v<T>) {
    if (!json.string() || !parseEnum(*json.string(), value))
      return invalidArgumentError(path + ": expected one of " + enumChoices<T>());
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (!json.string())
      return wrongType(path, "a string", json);
    value = *json.string();
  } else if constexpr (std::is_same_v<T, bool>) {
    if (!json.boolean())
      return wrongType(path, "true or false", json);
    value = *json.boolean();
  } else if constexpr (std::is_same_v<T, double>) {
    if (!json.isNumber())
      return wrongType(path, "a number", json);
    value = json.number();
  } else {
    static_assert(std::is_same_v<T, int64_t>);
    if (json.isLargeInteger())
      return invalidArgumentError(path + ": does not fit in 64 bits");
    if (!json.integer())
      return json.isNumber() ? invalidArgumentError(path + ": expected a whole number")
                             : wrongType(path, "a whole number", json);
    value = *json.integer();
  }
  return okStatus();
}

} // namespace

Json toDocument(const TargetDescription &target) { return encode(target); }

StatusOr<TargetDescription> fromDocument(const Json &document) {
  TargetDescription target;
  PLIM_RETURN_IF_ERROR(decode(document, "", target));
  PLIM_RETURN_IF_ERROR(verify(target));
  return target;
}

} // namespace plim::targets::internal
