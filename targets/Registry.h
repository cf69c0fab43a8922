// Named targets: data files with aliases and inheritance, and probes for machines that are here.
//
// A tag is a JSON file: the keys of a target, and
//   "about":    one line for people,
//   "aliases":  other names for it,
//   "inherits": the name of the tag or probe that it starts from.
// A tag's own keys win over those it inherits. Devices and memories are matched by their names;
// `features` edit the inherited list; any other list is replaced.
//
// Owns the tags and their merging. Must not know any probe: the caller brings them (targets/Resolve
// does). Not synchronised: fill it, then share it const.
#pragma once

#include "targets/TargetDescription.h"

#include <functional>
#include <map>
#include <memory>

namespace plim::targets {

/// What there is to say about a tag without looking it up.
struct TagInfo {
  std::string name;
  std::string about;
  std::vector<std::string> aliases;
  std::string inherits; // empty: nothing
};

/// [{"name", "about", "aliases": [...], "inherits"}, ...], for people.
std::string toJson(const std::vector<TagInfo> &tags);

class Registry {
public:
  using Probe = std::function<StatusOr<TargetDescription>()>;

  /// Without tags.
  Registry();
  ~Registry();
  Registry(Registry &&) noexcept;
  Registry &operator=(Registry &&) noexcept;

  /// The tags of targets/tags, which are compiled into the library.
  Status addBuiltinTags();

  /// Every "*.json" of a folder, in order of their names. NotFound if it cannot be read. Stops at
  /// the first faulty file, with its path in the message; tags added before it stay.
  Status addFolder(const std::string &folder);

  /// One tag. `origin` stands before every message about it. InvalidArgument if it is malformed,
  /// AlreadyExists if a name or alias is taken. What it inherits may be added later.
  Status addTag(std::string_view json, std::string_view origin);

  /// A name that is answered by calling `probe`, at each lookup. AlreadyExists if it is taken.
  Status addProbe(std::string name, std::string about, Probe probe);

  /// The target under a name or alias, with what it inherits; its `name` is the tag's. NotFound
  /// with the nearest name for an unknown one, InvalidArgument for a cycle, an unknown parent or a
  /// result that does not verify; a probe's own failure as it is.
  StatusOr<TargetDescription> lookup(std::string_view name) const;

  /// Reads a target that is not in the registry but may inherit from it.
  StatusOr<TargetDescription> resolve(std::string_view json, std::string_view origin) const;

  /// Sorted by name; probes too.
  std::vector<TagInfo> tags() const;

private:
  struct Tag;
  Status addEntry(Tag tag);
  const Tag *find(std::string_view name) const; // by name or alias, or null
  std::string nearestName(std::string_view name) const;
  StatusOr<TargetDescription> evaluate(const Tag &tag) const;

  std::map<std::string, std::unique_ptr<Tag>, std::less<>> byName;
  std::map<std::string, std::string, std::less<>> nameOfAlias;
};

} // namespace plim::targets
