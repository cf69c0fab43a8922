#include "ir/Pipelines/Load.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Alignment.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

#include <optional>

using namespace mlir;

namespace {

constexpr llvm::StringLiteral bytecodeMagic("ML\xefR");
/// Of a mapped file, at least.
const llvm::Align bytecodeAlignment(uint64_t(1) << 12);

/// Walks over a text outside strings and comments, keeping line and column.
class Scanner {
public:
  Scanner(MLIRContext &context, StringRef text, StringRef name)
      : context(context), text(text), name(name) {}

  LogicalResult scan() {
    findDefinitions();
    unsigned depth = 0;
    while (position < text.size()) {
      char c = text[position];
      if (c == '"') {
        size_t start = position;
        skipString();
        // A key may be quoted.
        StringRef content = text.slice(start + 1, position == 0 ? 0 : position - 1);
        if (failed(checkLinalg(content, position)))
          return failure();
        continue;
      }
      if (c == '/' && text.substr(position).starts_with("//")) {
        size_t end = text.find('\n', position);
        position = end == StringRef::npos ? text.size() : end;
        continue;
      }
      // "->" and comparisons are no brackets; angle brackets of types are counted with care.
      bool arrow = c == '>' && position > 0 && text[position - 1] == '-';
      if ((c == '<' || c == '>') && text.substr(position + 1).starts_with("=")) {
        position += 2;
        continue;
      }
      if (c == '(' || c == '[' || c == '{' || c == '<') {
        if (++depth > plim::ir::maxNesting)
          return fail("nested deeper than " + Twine(plim::ir::maxNesting) + " levels");
      } else if ((c == ')' || c == ']' || c == '}' || (c == '>' && !arrow)) && depth > 0) {
        --depth;
      } else if (c == '\0') {
        return fail("a NUL character in the text");
      }
      if (c == 'i' && (position == 0 || !isWord(text[position - 1]))) {
        StringRef word = text.substr(position).take_while(isWord);
        if (failed(checkLinalg(word, position + word.size())))
          return failure();
      }
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

  /// What stands in `rest` behind blanks and comments.
  static StringRef skipBlanks(StringRef rest) {
    for (rest = rest.ltrim(); rest.consume_front("//"); rest = rest.ltrim())
      rest = rest.drop_until([](char c) { return c == '\n'; });
    return rest;
  }

  /// Where each alias is defined, outside strings and comments.
  void findDefinitions() {
    for (position = 0; position < text.size();) {
      StringRef rest = text.substr(position);
      if (rest.front() == '"') {
        skipString();
      } else if (rest.starts_with("//")) {
        position = std::min(text.find('\n', position), text.size());
      } else if (rest.front() == '#') {
        StringRef alias = aliasOf(rest);
        position += alias.size();
        StringRef behind = skipBlanks(text.substr(position));
        if (behind.consume_front("=") && !behind.starts_with("="))
          definitions.try_emplace(alias, skipBlanks(behind));
      } else {
        ++position;
      }
    }
    position = 0;
  }

  static StringRef aliasOf(StringRef rest) {
    return rest.take_while([](char c) { return c == '#' || isWord(c); });
  }

  /// What the alias at the beginning of `rest` stands for; nothing where it is not defined.
  std::optional<StringRef> definitionOf(StringRef rest) const {
    auto found = definitions.find(aliasOf(rest));
    return found == definitions.end() ? std::nullopt : std::optional(found->second);
  }

  /// Is this the beginning of an element that linalg's cast survives?
  bool isGoodElement(StringRef element, bool isMaps) const {
    if (isMaps ? element.starts_with("affine_map<")
               : element.starts_with("\"") || element.starts_with("#linalg.iterator_type<"))
      return true;
    if (!element.starts_with("#"))
      return false;
    // An alias is as good as what it stands for; one that is not defined is the parser's to report.
    std::optional<StringRef> definition = definitionOf(element);
    return !definition ||
           definition->starts_with(isMaps ? "affine_map<" : "#linalg.iterator_type<");
  }

  /// linalg casts the elements of two arrays without a check; `end` is where the key ends.
  LogicalResult checkLinalg(StringRef key, size_t end) {
    bool isMaps = key == "indexing_maps";
    if (!isMaps && key != "iterator_types")
      return success();
    StringRef rest = skipBlanks(text.substr(end));
    if (!rest.consume_front("="))
      return success();
    rest = skipBlanks(rest);
    if (rest.starts_with("#")) {
      std::optional<StringRef> definition = definitionOf(rest);
      if (!definition)
        return success(); // the parser says so
      rest = *definition;
      // Many ops share one.
      if (!arrays.insert({rest.data(), isMaps}).second)
        return success();
    }
    if (!rest.consume_front("["))
      return fail("'" + key + "' must be an array");
    unsigned depth = 1;
    bool atElement = true;
    for (rest = skipBlanks(rest); !rest.empty(); rest = skipBlanks(rest.drop_front())) {
      char c = rest.front();
      if (depth == 1 && c == ']')
        return success();
      if (depth == 1 && atElement && !isGoodElement(rest, isMaps))
        return fail("'" + key + "' must hold " + (isMaps ? "affine maps" : "iterator types"));
      atElement = depth == 1 && c == ',';
      if (c == '"') {
        rest = rest.drop_front().drop_until([](char d) { return d == '"'; });
        if (rest.empty())
          return success();
        continue;
      }
      if (rest.starts_with("->") || rest.starts_with(">=") || rest.starts_with("<=")) {
        rest = rest.drop_front();
        continue;
      }
      // No such array holds one. To look further for the end of each that has none would be quadratic.
      if (c == '=')
        return success();
      depth += c == '[' || c == '(' || c == '<';
      depth -= (c == ']' || c == ')' || c == '>') && depth > 0;
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
  llvm::DenseMap<StringRef, StringRef> definitions;
  llvm::DenseSet<std::pair<const char *, unsigned>> arrays; // that were looked at for another op
};

/// What upstream's parser says of a dialect that is not registered is advice for programs of its own, or
/// does not name it. Says which dialects there are instead.
class UnknownDialects {
public:
  UnknownDialects(MLIRContext &context, StringRef source, StringRef name)
      : source(source), name(name), handler(&context, [this](Diagnostic &diagnostic) {
          rewrite(diagnostic);
          return failure(); // the next handler's
        }) {}

private:
  void rewrite(Diagnostic &diagnostic) {
    const std::string text = diagnostic.str();
    StringRef message = text;
    StringRef dialect;
    // Dialect `foo' not found for custom op 'foo.bar'
    if (message.contains("' not found for custom op '"))
      dialect = message.split('`').second.split('\'').first;
    else if (!message.contains("use -allow-unregistered-dialect with the MLIR"))
      return;
    else if (message.starts_with("operation being parsed"))
      dialect = quotedBefore(diagnostic.getLocation()).split('.').first;
    else if (message.contains("dialect '")) // bytecode
      dialect = message.split('\'').second.split('\'').first;
    else // `!"foo"<"bar">`, #"foo"<"bar">
      dialect = message.split('"').second.split('"').first;
    MLIRContext *context = diagnostic.getLocation()->getContext();
    Location location = diagnostic.getLocation();
    if (plim::ir::isBytecode(source)) // not of the text that stands in it
      location = FileLineColLoc::get(context, name, 0, 0);
    Diagnostic rewritten(location, diagnostic.getSeverity());
    rewritten << "unknown dialect '" << dialect << "'; known are ";
    llvm::interleaveComma(context->getAvailableDialects(), rewritten);
    diagnostic = std::move(rewritten);
  }

  /// The string that ends at a place of the text.
  StringRef quotedBefore(Location location) const {
    auto place = dyn_cast<FileLineColLoc>(location);
    StringRef rest = source;
    for (unsigned line = 1; place && line < place.getLine(); ++line)
      rest = rest.split('\n').second;
    StringRef before = rest.take_front(place ? place.getColumn() - 1 : 0).rtrim();
    before.consume_back("\"");
    return before.rsplit('"').second;
  }

  StringRef source, name;
  ScopedDiagnosticHandler handler;
};

} // namespace

namespace {

/// Looks for what a source has too much of, and says where.
class LimitChecker {
public:
  explicit LimitChecker(const plim::targets::SourceLimits &limits) : limits(limits) {
    walker.addWalk([this](Type type) { checkType(type); });
    walker.addWalk([this](Attribute attribute) { checkConstant(attribute); });
  }

  LogicalResult check(ModuleOp module) {
    return success(!module
                        .walk<WalkOrder::PreOrder>([this](Operation *op) {
                          checkOperation(op);
                          return isExceeded ? WalkResult::interrupt() : WalkResult::advance();
                        })
                        .wasInterrupted());
  }

private:
  void checkOperation(Operation *op) {
    current = op;
    if (++operations > limits.operations)
      return void(exceed() << "the module has more operations than max_operations = "
                           << limits.operations);
    walker.walk(op->getAttrDictionary());
    for (Type type : op->getResultTypes())
      walker.walk(type);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Type type : block.getArgumentTypes())
          walker.walk(type);
  }

  void checkType(Type type) {
    auto shaped = dyn_cast<ShapedType>(type);
    if (isExceeded || !shaped || !shaped.hasRank())
      return;
    if (shaped.getRank() > limits.rank)
      return void(exceed() << "a type of rank " << shaped.getRank()
                           << ", more than max_rank = " << limits.rank);
    auto vector = dyn_cast<VectorType>(type);
    if (vector && elementsOf(vector) > limits.vectorElements)
      exceed() << "a vector of " << elementsOf(vector)
               << " elements, more than max_vector_elements = " << limits.vectorElements;
  }

  void checkConstant(Attribute attribute) {
    auto elements = dyn_cast<ElementsAttr>(attribute);
    if (isExceeded || !elements)
      return;
    constantBytes = llvm::SaturatingMultiplyAdd(uint64_t(elementsOf(elements.getShapedType())),
                                                bytesOf(elements.getElementType()), constantBytes);
    if (constantBytes > uint64_t(limits.constantBytes))
      exceed() << "the constants of the module take more than max_constant_bytes = "
               << limits.constantBytes << "; bind large ones as parameters";
  }

  static uint64_t bytesOf(Type element) {
    if (auto complex = dyn_cast<ComplexType>(element))
      return 2 * bytesOf(complex.getElementType());
    return element.isIntOrFloat()
               ? llvm::PowerOf2Ceil(llvm::divideCeil(element.getIntOrFloatBitWidth(), 8))
               : 8;
  }

  /// Of a static shape; as many as fit in a number.
  static int64_t elementsOf(ShapedType type) {
    int64_t count = 1;
    for (int64_t extent : type.getShape())
      if (extent == 0)
        return 0;
    for (int64_t extent : type.getShape())
      if (llvm::MulOverflow(count, extent, count))
        return INT64_MAX;
    return count;
  }

  InFlightDiagnostic exceed() {
    isExceeded = true;
    return current->emitError();
  }

  const plim::targets::SourceLimits &limits;
  AttrTypeWalker walker; // looks at equal ones once
  Operation *current = nullptr;
  int64_t operations = 0;
  uint64_t constantBytes = 0;
  bool isExceeded = false;
};

} // namespace

bool plim::ir::isBytecode(StringRef source) { return source.starts_with(bytecodeMagic); }

OwningOpRef<ModuleOp> plim::ir::loadModule(MLIRContext &context, StringRef source, StringRef name,
                                           const targets::SourceLimits &limits) {
  auto manager = std::make_shared<llvm::SourceMgr>();
  std::unique_ptr<llvm::MemoryBuffer> buffer;
  if (!isBytecode(source)) {
    if (int64_t(source.size()) > limits.textBytes) {
      emitError(FileLineColLoc::get(&context, name, 1, 1))
          << "a text of " << source.size()
          << " bytes, more than max_text_bytes = " << limits.textBytes;
      return {};
    }
    if (failed(Scanner(context, source, name).scan()))
      return {};
    // The parser wants a zero behind the text.
    buffer = llvm::MemoryBuffer::getMemBufferCopy(source, name);
  } else if (llvm::isAddrAligned(bytecodeAlignment, source.data())) {
    buffer = llvm::MemoryBuffer::getMemBuffer(source, name, /*RequiresNullTerminator=*/false);
  } else {
    // The reader refuses a buffer that is less aligned than a blob wants to be.
    auto copy =
        llvm::WritableMemoryBuffer::getNewUninitMemBuffer(source.size(), name, bytecodeAlignment);
    llvm::copy(source, copy->getBufferStart());
    buffer = std::move(copy);
  }
  manager->AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  UnknownDialects unknown(context, source, name);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(manager, ParserConfig(&context));
  if (module && failed(LimitChecker(limits).check(*module)))
    return {};
  return module;
}
