#include "ir/Pipelines/Load.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

namespace {

constexpr llvm::StringLiteral bytecodeMagic("ML\xefR");

/// Walks over a text outside strings and comments, keeping line and column.
class Scanner {
public:
  Scanner(MLIRContext &context, StringRef text, StringRef name)
      : context(context), text(text), name(name) {}

  LogicalResult scan() {
    unsigned depth = 0;
    while (position < text.size()) {
      char c = text[position];
      if (c == '"') {
        skipString();
        continue;
      }
      if (c == '/' && text.substr(position).starts_with("//")) {
        size_t end = text.find('\n', position);
        position = end == StringRef::npos ? text.size() : end;
        continue;
      }
      // "->" and comparisons are no brackets; angle brackets of types are counted with care.
      bool arrow = c == '>' && position > 0 && text[position - 1] == '-';
      if (c == '(' || c == '[' || c == '{' || c == '<') {
        if (++depth > plim::ir::maxNesting)
          return fail("nested deeper than " + Twine(plim::ir::maxNesting) + " levels");
      } else if ((c == ')' || c == ']' || c == '}' || (c == '>' && !arrow)) && depth > 0) {
        --depth;
      } else if (c == '\0') {
        return fail("a NUL character in the text");
      }
      if ((c == 'i') && (position == 0 || !isWord(text[position - 1])) && failed(checkLinalg()))
        return failure();
      ++position;
    }
    return success();
  }

private:
  static bool isWord(char c) { return llvm::isAlnum(c) || c == '_' || c == '.' || c == '$'; }

  void skipString() {
    for (++position; position < text.size() && text[position] != '"'; ++position)
      if (text[position] == '\\')
        ++position;
    ++position;
  }

  /// linalg casts the elements of these two arrays without a check.
  LogicalResult checkLinalg() {
    for (auto [key, isMaps] : {std::pair<StringRef, bool>{"iterator_types", false},
                               std::pair<StringRef, bool>{"indexing_maps", true}}) {
      StringRef rest = text.substr(position);
      if (!rest.consume_front(key))
        continue;
      rest = rest.ltrim();
      if (!rest.consume_front("="))
        return success();
      rest = rest.ltrim();
      if (!rest.consume_front("["))
        return fail("'" + key + "' must be an array");
      // Elements: strings or enum attributes, affine maps or their aliases.
      unsigned depth = 1;
      bool atElement = true;
      for (size_t i = 0; i < rest.size() && depth > 0; ++i) {
        char c = rest[i];
        if (llvm::isSpace(c))
          continue;
        if (depth == 1 && c == ']')
          break;
        if (depth == 1 && atElement) {
          StringRef element = rest.substr(i);
          bool good = isMaps ? element.starts_with("affine_map<") || c == '#'
                             : c == '"' || element.starts_with("#linalg.iterator_type<") || c == '#';
          if (!good)
            return fail("'" + key + "' must hold " + (isMaps ? "affine maps" : "iterator types"));
          atElement = false;
        }
        if (c == '"') {
          for (++i; i < rest.size() && rest[i] != '"'; ++i) {
          }
          continue;
        }
        if (depth == 1 && c == ',')
          atElement = true;
        depth += c == '[' || c == '(' || c == '<';
        depth -= c == ']' || c == ')' || (c == '>' && rest[i - 1] != '-' && rest[i - 1] != '=');
      }
      return success();
    }
    return success();
  }

  LogicalResult fail(const Twine &message) {
    StringRef before = text.take_front(position);
    unsigned line = before.count('\n') + 1;
    size_t start = before.rfind('\n');
    unsigned column = unsigned(position - (start == StringRef::npos ? 0 : start + 1)) + 1;
    emitError(FileLineColLoc::get(&context, name, line, column)) << message;
    return failure();
  }

  MLIRContext &context;
  StringRef text, name;
  size_t position = 0;
};

} // namespace

OwningOpRef<ModuleOp> plim::ir::loadModule(MLIRContext &context, StringRef source, StringRef name) {
  if (!source.starts_with(bytecodeMagic) && failed(Scanner(context, source, name).scan()))
    return {};
  auto manager = std::make_shared<llvm::SourceMgr>();
  manager->AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(source, name), llvm::SMLoc());
  return parseSourceFile<ModuleOp>(manager, ParserConfig(&context));
}
