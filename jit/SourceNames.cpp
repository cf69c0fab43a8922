#include "jit/SourceNames.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace plim::jit;

SourceNames::SourceNames(StringRef text, StringRef name) : text(text), name(name) {
  lines.push_back(0);
  for (size_t end; (end = text.find('\n', lines.back())) != StringRef::npos;)
    lines.push_back(end + 1);
}

StringRef SourceNames::at(Location loc) const {
  if (auto named = dyn_cast<NameLoc>(loc))
    return named.getName();
  auto place = dyn_cast<FileLineColLoc>(loc);
  if (!place || place.getFilename() != name || place.getLine() - 1 >= lines.size())
    return {};
  StringRef rest = text.substr(lines[place.getLine() - 1]);
  rest = rest.take_until([](char c) { return c == '\n'; }).substr(place.getColumn() - 1);
  if (!rest.consume_front("%"))
    return {};
  rest = rest.take_while([](char c) { return llvm::isAlnum(c) || llvm::is_contained("_$.-", c); });
  return llvm::all_of(rest, llvm::isDigit) ? StringRef() : rest;
}
