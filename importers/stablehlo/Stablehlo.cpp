#include "importers/stablehlo/Stablehlo.h"

#include "importers/stablehlo/Importer.h"
#include "importers/stablehlo/Parser.h"

#include <algorithm>
#include <map>

namespace plim::importers::stablehlo {

namespace {

constexpr std::string_view bytecodeMagic = "ML\xefR";

bool isPortableBytecode(std::string_view head) {
  // The magic number, the version's number, and who wrote it.
  return head.starts_with(bytecodeMagic) &&
         head.substr(bytecodeMagic.size(), 32).find("StableHLO_v") != std::string_view::npos;
}

bool isWordPart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '$';
}

bool isOperation(std::string_view name) {
  // The last is what partitioners leave: such a module has operations of the first, or computes nothing.
  return name.starts_with("stablehlo.") || name.starts_with("chlo.") || name.starts_with("sdy.");
}

/// Of strings, the name of an operation in front of its operands: "stablehlo.add"(
bool hasOperation(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '/' && text.substr(i, 2) == "//") {
      i = std::min(text.find('\n', i), text.size());
    } else if (c == '"') {
      size_t end = i + 1;
      while (end < text.size() && text[end] != '"')
        end += text[end] == '\\' ? 2 : 1;
      if (end + 1 < text.size() && text[end + 1] == '(' &&
          isOperation(text.substr(i + 1, end - i - 1)))
        return true;
      i = end + 1;
    } else if (isWordPart(c)) {
      size_t end = i;
      while (end < text.size() && isWordPart(text[end]))
        ++end;
      const char before = i ? text[i - 1] : '\n';
      const bool isName = before == '#' || before == '!' || before == '@' || before == '%';
      if (!isName && isOperation(text.substr(i, end - i)))
        return true;
      i = end;
    } else {
      ++i;
    }
  }
  return false;
}

void countOperations(const Region &region, std::map<std::string, int64_t> &counts) {
  for (const Operation &operation : region.operations) {
    ++counts[operation.name];
    for (const Region &inner : operation.regions)
      countOperations(inner, counts);
  }
}

std::string summaryOf(const Module &module, const Imported &imported) {
  std::string out =
      "module" + (module.name.empty() ? "" : " '" + module.name + "'") + " in StableHLO\n";
  std::map<std::string, int64_t> counts;
  for (const Function &function : module.functions) {
    countOperations(function.body, counts);
    if (function.isPrivate)
      continue;
    out += "function " + function.name + "\ninputs\n";
    for (const Argument &argument : function.body.arguments)
      out += "  " + std::string(argument.name) + "  " + typeText(argument.type) + "\n";
    out += "outputs\n";
    for (const Type &type : function.resultTypes)
      out += "  " + typeText(type) + "\n";
  }
  size_t bytes = 0;
  for (const TensorPtr &parameter : imported.parameters)
    bytes += parameter->bytes.size();
  out += "parameters  " + std::to_string(imported.parameters.size()) + ", " +
         std::to_string(bytes) + " bytes\noperations\n";
  for (const auto &[name, count] : counts)
    out += "  " + name + "  " + std::to_string(count) + "\n";
  return out;
}

} // namespace

bool isStablehlo(std::string_view head) {
  if (isPortableBytecode(head))
    return true;
  head = head.substr(0, headBytes);
  if (head.starts_with(bytecodeMagic) || head.find("hlo.") == std::string_view::npos)
    return false; // at the speed of memory for most modules
  return hasOperation(head);
}

Imported import(std::string_view text) {
  if (text.starts_with(bytecodeMagic))
    unsupported(
        "this is portable bytecode of StableHLO; make text of it first: stablehlo-translate "
        "--deserialize FILE -o OUT.mlir");
  const Module module = parseModule(text);
  ImportedModule made = Importer(module, text).run();
  Imported out{std::move(made.text), std::move(made.parameters), ""};
  out.summary = summaryOf(module, out);
  return out;
}

} // namespace plim::importers::stablehlo
