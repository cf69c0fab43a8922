#include "tools/ReportPage.h"

#include "tools/ReportParts.h"
#include "tools/Version.h"

#include "llvm/Support/Base64.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/SHA256.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string_view>

namespace plim::tools {

namespace {

/// As a Content-Security-Policy names an element that it lets run.
std::string hashOf(std::string_view text) {
  llvm::SHA256 hash;
  hash.update(llvm::StringRef(text));
  return "'sha256-" + llvm::encodeBase64(hash.final()) + "'";
}

/// The text with all `characters` replaced, each with its own.
std::string replaced(std::string_view text, const std::map<char, std::string_view> &characters) {
  std::string result;
  for (char each : text) {
    auto found = characters.find(each);
    if (found == characters.end())
      result += each;
    else
      result += found->second;
  }
  return result;
}

} // namespace

std::string pageOf(const llvm::json::Object &report) {
  const std::string json =
      llvm::formatv("{0}", llvm::json::Value(llvm::json::Object(report))).str();
  const std::map<std::string_view, std::string> parts = {
      {"POLICY", "default-src 'none'; script-src " + hashOf(reportLayout) + " " +
                     hashOf(reportScript) + "; style-src " + hashOf(reportStyle) +
                     "; base-uri 'none'; form-action 'none'"},
      {"STYLE", std::string(reportStyle)},
      {"VERSION", version()},
      {"LICENCES", replaced(reportLicences, {{'<', "&lt;"}, {'&', "&amp;"}})},
      // In a string of JSON this is the same; an element ends at the first "</".
      {"REPORT", replaced(json, {{'<', "\\u003c"}})},
      {"LAYOUT", std::string(reportLayout)},
      {"SCRIPT", std::string(reportScript)}};
  std::string page;
  std::string_view rest = reportTemplate;
  while (true) {
    const size_t begin = rest.find('@');
    page += rest.substr(0, begin);
    if (begin == std::string_view::npos)
      return page;
    const size_t end = rest.find('@', begin + 1);
    page += parts.at(rest.substr(begin + 1, end - begin - 1));
    rest.remove_prefix(end + 1);
  }
}

Status checkPage(const std::string &path, const ModuleOptions &module) {
  std::error_code none;
  if (path == "-")
    return invalidArgumentError("--html takes the name of a file, not '-'");
  if (std::filesystem::equivalent(path, module.file, none))
    return invalidArgumentError("--html would write over the module '" + path + "'");
  return checkWritable(path);
}

Status writePage(const llvm::json::Object &report, const std::string &path) {
  std::ofstream file(path, std::ios::binary);
  file << pageOf(report);
  file.close();
  return file ? okStatus()
              : unavailableError("cannot write '" + path + "': " + std::strerror(errno));
}

} // namespace plim::tools
