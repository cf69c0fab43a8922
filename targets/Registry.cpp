#include "targets/Registry.h"

#include "support/Folder.h"
#include "support/Nearest.h"
#include "targets/internal/BuiltinTags.h"
#include "targets/internal/Codec.h"
#include "targets/internal/File.h"

#include <algorithm>
#include <filesystem>
#include <numeric>

namespace plim::targets {

struct Registry::Tag {
  TagInfo info;
  std::string origin;
  Json target; // without the keys of a tag
  Probe probe; // instead of `target`
};

Registry::Registry() = default;
Registry::~Registry() = default;
Registry::Registry(Registry &&) noexcept = default;
Registry &Registry::operator=(Registry &&) noexcept = default;

namespace {

//===-- Merging -----------------------------------------------------------------------------===//

/// The element of `list` whose "name" is that of `wanted`, or null.
Json *findNamed(Json::Array &list, const Json &wanted) {
  const Json *name = wanted.find("name");
  if (!name)
    return nullptr;
  for (Json &element : list)
    if (const Json *own = element.find("name"); own && *own == *name)
      return &element;
  return nullptr;
}

/// "+a" and "-a" are about the same feature.
bool sameFeature(const Json &a, const Json &b) {
  if (!a.string() || !b.string())
    return false;
  std::string_view left = *a.string(), right = *b.string();
  return !left.empty() && !right.empty() && left.substr(1) == right.substr(1);
}

void mergeFeatures(Json::Array &base, const Json::Array &edits) {
  for (const Json &edit : edits) {
    auto place = std::find_if(base.begin(), base.end(),
                              [&](const Json &feature) { return sameFeature(feature, edit); });
    if (place == base.end())
      base.push_back(edit);
    else
      *place = edit;
  }
}

void mergeObject(Json &base, const Json &own) {
  for (const auto &[key, value] : *own.object()) {
    Json *there = base.find(key);
    Json::Array *inherited = there ? there->array() : nullptr;
    const bool bothLists = inherited && value.array();
    if (bothLists && key == "features") {
      mergeFeatures(*inherited, *value.array());
    } else if (bothLists && (key == "devices" || key == "memories")) {
      for (const Json &element : *value.array()) {
        if (Json *same = findNamed(*inherited, element))
          mergeObject(*same, element);
        else
          inherited->push_back(element);
      }
    } else {
      base.set(key, value);
    }
  }
}

//===-- Reading tags ------------------------------------------------------------------------===//

Status takeString(Json &tag, const char *key, std::string &value) {
  const Json *found = tag.find(key);
  if (!found)
    return okStatus();
  if (!found->string())
    return invalidArgumentError(std::string(key) + ": expected a string");
  value = *found->string();
  tag.erase(key);
  return okStatus();
}

Status takeStrings(Json &tag, const char *key, std::vector<std::string> &values) {
  const Json *found = tag.find(key);
  if (!found)
    return okStatus();
  const auto refused = invalidArgumentError(std::string(key) + ": expected an array of strings");
  if (!found->array())
    return refused;
  for (const Json &value : *found->array()) {
    if (!value.string())
      return refused;
    values.push_back(*value.string());
  }
  tag.erase(key);
  return okStatus();
}

/// Splits a tag's file into what is about the tag and what is about the target.
Status readTag(std::string_view json, TagInfo &info, Json &target) {
  PLIM_ASSIGN_OR_RETURN(target, Json::parse(json));
  if (!target.object())
    return invalidArgumentError("expected an object");
  PLIM_RETURN_IF_ERROR(takeString(target, "name", info.name));
  PLIM_RETURN_IF_ERROR(takeString(target, "about", info.about));
  PLIM_RETURN_IF_ERROR(takeString(target, "inherits", info.inherits));
  PLIM_RETURN_IF_ERROR(takeStrings(target, "aliases", info.aliases));
  return okStatus();
}

} // namespace

Status Registry::addEntry(Tag tag) {
  std::vector<std::string> names = tag.info.aliases;
  names.push_back(tag.info.name);
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string &name = names[i];
    if (name.empty())
      return invalidArgumentError(tag.origin + ": a tag needs a name");
    bool taken = byName.contains(name) || nameOfAlias.contains(name) ||
                 std::count(names.begin(), names.end(), name) > 1;
    if (taken)
      return alreadyExistsError(tag.origin + ": the name \"" + name + "\" is taken");
  }
  for (const std::string &alias : tag.info.aliases)
    nameOfAlias[alias] = tag.info.name;
  std::string name = tag.info.name;
  byName[name] = std::make_unique<Tag>(std::move(tag));
  return okStatus();
}

Status Registry::addBuiltinTags() {
  for (const internal::BuiltinTag &tag : internal::builtinTags())
    PLIM_RETURN_IF_ERROR(addTag(tag.json, tag.file));
  return okStatus();
}

Status Registry::addFolder(const std::string &folder) {
  std::error_code error;
  const std::vector<std::string> names = namesIn(folder, error);
  if (error)
    return notFoundError(folder + ": " + error.message());
  for (const std::string &name : names) {
    const std::filesystem::path file = std::filesystem::path(folder) / name;
    if (file.extension() != ".json")
      continue;
    PLIM_ASSIGN_OR_RETURN(std::string text, internal::readFile(file));
    PLIM_RETURN_IF_ERROR(addTag(text, file.native()));
  }
  return okStatus();
}

Status Registry::addTag(std::string_view json, std::string_view origin) {
  Tag tag;
  tag.origin = origin;
  PLIM_RETURN_IF_ERROR(readTag(json, tag.info, tag.target).withContext(origin));
  return addEntry(std::move(tag));
}

Status Registry::addProbe(std::string name, std::string about, Probe probe) {
  Tag tag;
  tag.origin = "probe";
  tag.info.name = std::move(name);
  tag.info.about = std::move(about);
  tag.probe = std::move(probe);
  return addEntry(std::move(tag));
}

const Registry::Tag *Registry::find(std::string_view name) const {
  auto alias = nameOfAlias.find(name);
  auto found = byName.find(alias == nameOfAlias.end() ? name : std::string_view(alias->second));
  return found == byName.end() ? nullptr : found->second.get();
}

std::string Registry::nearestName(std::string_view name) const {
  std::string nearest;
  size_t distance = SIZE_MAX;
  auto consider = [&](const auto &entry) {
    if (size_t candidate = editDistance(name, entry.first); candidate < distance) {
      distance = candidate;
      nearest = entry.first;
    }
  };
  std::for_each(byName.begin(), byName.end(), consider);
  std::for_each(nameOfAlias.begin(), nameOfAlias.end(), consider);
  return nearest;
}

StatusOr<TargetDescription> Registry::lookup(std::string_view name) const {
  if (const Tag *tag = find(name))
    return evaluate(*tag);
  std::string message = "there is no target \"" + std::string(name) + "\"";
  if (std::string nearest = nearestName(name); !nearest.empty())
    message += "; the nearest name is \"" + nearest + "\"";
  return notFoundError(message);
}

StatusOr<TargetDescription> Registry::resolve(std::string_view json,
                                              std::string_view origin) const {
  Tag tag;
  tag.origin = origin;
  PLIM_RETURN_IF_ERROR(readTag(json, tag.info, tag.target).withContext(origin));
  return evaluate(tag);
}

StatusOr<TargetDescription> Registry::evaluate(const Tag &tag) const {
  // From the tag up to the one that inherits nothing, or to a probe.
  std::vector<const Tag *> chain = {&tag};
  while (!chain.back()->info.inherits.empty()) {
    const Tag &child = *chain.back();
    const Tag *parent = find(child.info.inherits);
    if (!parent)
      return invalidArgumentError(child.origin + ": inherits \"" + child.info.inherits +
                                  "\", which is not there");
    if (std::find(chain.begin(), chain.end(), parent) != chain.end())
      return invalidArgumentError(child.origin + ": inherits \"" + child.info.inherits +
                                  "\", which inherits from it");
    chain.push_back(parent);
  }

  Json document = Json::Object();
  for (auto link = chain.rbegin(); link != chain.rend(); ++link) {
    if (!(*link)->probe) {
      mergeObject(document, (*link)->target);
      continue;
    }
    PLIM_ASSIGN_OR_RETURN(TargetDescription probed, (*link)->probe());
    document = internal::toDocument(probed);
  }
  document.set("name", tag.info.name);
  StatusOr<TargetDescription> target = internal::fromDocument(document);
  if (!target.ok())
    return target.status().withContext(tag.origin);
  return target;
}

std::vector<TagInfo> Registry::tags() const {
  std::vector<TagInfo> infos;
  for (const auto &[name, tag] : byName)
    infos.push_back(tag->info);
  return infos;
}

std::string toJson(const std::vector<TagInfo> &tags) {
  Json::Array list;
  for (const TagInfo &tag : tags)
    list.push_back(Json::Object{{"name", tag.name},
                                {"about", tag.about},
                                {"aliases", tag.aliases},
                                {"inherits", tag.inherits}});
  return Json(std::move(list)).text();
}

} // namespace plim::targets
