#include "ir/Pipelines/Load.h"

#include "ir/Import/Donations.h"
#include "ir/Import/Supported.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Alignment.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

#include <utility>

using namespace mlir;

namespace {

constexpr llvm::StringLiteral bytecodeMagic("ML\xefR");
/// Of a mapped file, at least.
const llvm::Align bytecodeAlignment(uint64_t(1) << 12);

/// Walks over a text once, token by token as upstream's lexer sees it, and finds what would end upstream's parser: brackets
/// that are nested too deep, and arrays of linalg and vector whose elements it casts without a look.
class Scanner {
public:
  Scanner(MLIRContext &context, StringRef text, StringRef name)
      : context(context), text(text), name(name) {}

  LogicalResult scan() {
    while (true) {
      if (failed(skipBlanks()))
        return failure();
      if (position == text.size())
        return success();
      const StringRef token = lex(text.substr(position));
      if (failed(take(token)))
        return failure();
      position += token.size();
      previous = token;
    }
  }

private:
  enum Kind : unsigned { String = 1, IteratorType = 2, Map = 4, Other = 8 };

  /// What matters of an attribute.
  struct Meaning {
    /// It begins with, '[' or '{'; otherwise 0.
    char bracket = 0;
    /// Kinds of its elements; of a dictionary, of those of the arrays under the two keys; otherwise its own. 0 for an
    /// alias that is not defined, which the parser finds.
    unsigned kinds = 0;
  };

  /// A bracket that is open.
  struct Frame {
    char bracket;
    bool isOfSymbol = false;     // in the angle brackets of a type or an attribute of a dialect
    bool isOfCustomForm = false; // the dictionary behind the name of an operation
    bool isWatched = false;      // an array whose elements matter
    bool isAtElement = false;    // and that expects one
    unsigned kinds = 0;          // that it has
    StringRef key = {};          // that it is the value of
    StringRef alias = {};        // that it is the value of
  };

  static bool isWord(char c) { return llvm::isAlnum(c) || c == '_' || c == '.' || c == '$'; }
  static bool isPrefix(char c) { return c == '#' || c == '!' || c == '%' || c == '^' || c == '@'; }

  /// The token at the beginning of what is neither empty nor begins with a blank.
  static StringRef lex(StringRef rest) {
    const char c = rest.front();
    if (c == '"') {
      size_t end = 1;
      while (end < rest.size() && rest[end] != '"')
        end += rest[end] == '\\' ? 2 : 1;
      return rest.take_front(end + 1);
    }
    if (isPrefix(c)) {
      StringRef identifier = rest.drop_front();
      const bool isNumber = !identifier.empty() && llvm::isDigit(identifier.front());
      identifier = identifier.take_while([&](char d) {
        return isNumber ? llvm::isDigit(d) : isWord(d) || (d == '-' && c != '@');
      });
      return rest.take_front(1 + identifier.size());
    }
    if (isWord(c))
      return rest.take_while(isWord);
    return rest.take_front(rest.starts_with("->") ? 2 : 1);
  }

  /// What follows blanks and comments.
  static StringRef behindBlanks(StringRef rest) {
    for (rest = rest.ltrim(); rest.consume_front("//"); rest = rest.ltrim())
      rest = rest.drop_until([](char c) { return c == '\n'; });
    return rest;
  }

  static bool matches(char opening, char closing) {
    const StringRef pairs = "()[]{}<>";
    return pairs[pairs.find(opening) + 1] == closing;
  }

  /// Has each bracket and each quote its pair?
  static bool isBalanced(StringRef comments) {
    std::string opened;
    for (size_t i = 0; i < comments.size(); ++i) {
      const char c = comments[i];
      if (c == '"') {
        i = comments.find_first_of("\"\\\n", i + 1);
        if (i == StringRef::npos || comments[i] != '"')
          return false;
      } else if (c == '(' || c == '[' || c == '{' || c == '<') {
        opened += c;
      } else if (c == ')' || c == ']' || c == '}' || (c == '>' && comments[i - 1] != '-')) {
        if (opened.empty() || !matches(opened.back(), c))
          return false;
        opened.pop_back();
      }
    }
    return opened.empty();
  }

  LogicalResult skipBlanks() {
    const StringRef rest = text.substr(position), behind = behindBlanks(rest);
    // Upstream looks for the end of such a symbol as if there were no comments.
    if (!frames.empty() && frames.back().isOfSymbol && !isBalanced(rest.drop_back(behind.size())))
      return fail(
          "a comment inside an attribute or a type has brackets or quotes without their pair");
    position = text.size() - behind.size();
    return success();
  }

  LogicalResult take(StringRef token) {
    const char c = token.front();
    if (c == '\0')
      return fail("a NUL character in the text");
    if (c == '=')
      return takeEquals();
    // What this token is the value of, or the beginning of it.
    const StringRef key = std::exchange(valueOfKey, StringRef());
    const StringRef alias = std::exchange(valueOfAlias, StringRef());
    const Meaning meaning = meaningOf(token);
    if (failed(takeElement(token, meaning)))
      return failure();
    if (!key.empty() && failed(takeValue(key, token, meaning)))
      return failure();
    if (!alias.empty())
      aliases[alias] = meaning;
    // "linalg.generic #trait"
    if (meaning.bracket == '{' && c == '#' && isOfCustomForm() && (meaning.kinds & IteratorType))
      return failKinds("iterator_types", IteratorType);
    if (c == '(' || c == '[' || c == '{' || c == '<')
      return open(c, key, alias);
    if (c == ')' || c == ']' || c == '}' || c == '>')
      close(c);
    return success();
  }

  /// Behind a key, or an alias that is defined.
  LogicalResult takeEquals() {
    valueOfKey = keyOf(previous);
    // The parser refuses a second definition.
    if (frames.empty() && previous.starts_with("#") && aliases.try_emplace(previous).second)
      valueOfAlias = previous;
    return success();
  }

  LogicalResult takeElement(StringRef token, const Meaning &meaning) {
    if (frames.empty() || !frames.back().isWatched)
      return success();
    Frame &array = frames.back();
    if (token == "," || token == "]") {
      array.isAtElement = true;
      return success();
    }
    if (!std::exchange(array.isAtElement, false))
      return success();
    const unsigned kinds = meaning.bracket ? unsigned(Other) : meaning.kinds;
    array.kinds |= kinds;
    return array.key.empty() ? success() : checkKinds(array.key, kinds, array.isOfCustomForm);
  }

  LogicalResult takeValue(StringRef key, StringRef token, const Meaning &meaning) {
    const bool isUndefined = token.front() == '#' && !meaning.bracket && meaning.kinds == 0;
    if (meaning.bracket != '[' && !isUndefined)
      return fail("'" + key + "' must be an array");
    if (frames.empty())
      return success();
    frames.back().kinds |= meaning.kinds;
    return checkKinds(key, meaning.kinds, frames.back().isOfCustomForm);
  }

  LogicalResult open(char bracket, StringRef key, StringRef alias) {
    // A comparison of affine sets.
    if (bracket == '<' && behindBlanks(text.substr(position + 1)).starts_with("="))
      return success();
    if (frames.size() == plim::ir::maxNesting)
      return fail("nested deeper than " + Twine(plim::ir::maxNesting) + " levels");
    Frame frame{bracket};
    if (!frames.empty())
      frame.isOfSymbol = frames.back().isOfSymbol;
    if (bracket == '<' && (previous.starts_with("#") || previous.starts_with("!")) &&
        previous.end() == text.begin() + position)
      frame.isOfSymbol = true;
    frame.isOfCustomForm = bracket == '{'                    ? isOfCustomForm()
                           : !key.empty() && !frames.empty() ? frames.back().isOfCustomForm
                                                             : false;
    frame.isWatched = frame.isAtElement = bracket == '[' && !(key.empty() && alias.empty());
    frame.key = key;
    frame.alias = alias;
    frames.push_back(frame);
    return success();
  }

  /// Whatever else does not match is the parser's to report.
  void close(char bracket) {
    // Others of that kind belong to comparisons.
    if (frames.empty() || (bracket == '>' && frames.back().bracket != '<'))
      return;
    const Frame frame = frames.pop_back_val();
    if (!frame.alias.empty())
      aliases[frame.alias].kinds = frame.kinds;
    if (!frame.key.empty() && !frames.empty())
      frames.back().kinds |= frame.kinds;
  }

  /// Does what comes stand behind the name of an operation?
  bool isOfCustomForm() const {
    return !previous.empty() && isWord(previous.front()) && previous != "attributes";
  }

  Meaning meaningOf(StringRef token) const {
    switch (token.front()) {
    case '"':
      return {0, String};
    case '[':
    case '{':
      return {token.front(), 0};
    case '#':
      if (token == "#linalg.iterator_type" || token == "#vector.iterator_type")
        return {0, IteratorType};
      if (token.contains('.') || text.substr(position + token.size()).starts_with("<"))
        return {0, Other}; // of a dialect
      return aliases.lookup(token);
    default:
      return {0, token == "affine_map" ? Map : Other};
    }
  }

  /// The key of linalg and vector that a token is, which may be quoted; otherwise empty.
  static StringRef keyOf(StringRef token) {
    std::string unquoted;
    if (token.consume_front("\"")) {
      token.consume_back("\"");
      constexpr size_t longest = 3 * StringRef("iterator_types").size();
      if (token.contains('\\') && token.size() <= longest)
        token = unquoted = unescape(token);
    }
    for (StringRef key : {"indexing_maps", "iterator_types"})
      if (token == key)
        return key;
    return "";
  }

  /// What bytes in hexadecimal digits stand for; other escapes are no letters of a key.
  static std::string unescape(StringRef string) {
    std::string result;
    while (!string.empty()) {
      uint8_t byte = 0;
      const bool isEscape = string.size() > 2 && string[0] == '\\' &&
                            llvm::tryGetHexFromNibbles(string[1], string[2], byte);
      result += isEscape ? char(byte) : string.front();
      string = string.drop_front(isEscape ? 3 : 1);
    }
    return result;
  }

  LogicalResult checkKinds(StringRef key, unsigned kinds, bool isCustom) {
    const unsigned good = key == "indexing_maps" ? unsigned(Map)
                          : isCustom             ? unsigned(String)
                                                 : String | IteratorType;
    return kinds & ~good ? failKinds(key, kinds & ~good) : success();
  }

  LogicalResult failKinds(StringRef key, unsigned bad) {
    return fail("'" + key + "' must hold " +
                (key == "indexing_maps" ? "affine maps"
                 : bad == IteratorType  ? "strings in this form of the operation"
                                        : "iterator types"));
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
  StringRef previous;                 // token
  StringRef valueOfKey, valueOfAlias; // whose the next token is, or begins; otherwise empty
  SmallVector<Frame> frames;
  llvm::DenseMap<StringRef, Meaning> aliases; // with '#'
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

LogicalResult plim::ir::checkSignatures(ModuleOp module) {
  SymbolTableCollection tables;
  const SymbolUserMap users(tables, module);
  for (auto function : module.getOps<func::FuncOp>())
    if (function.isPublic() && !function.isExternal() &&
        (failed(checkBoundary(function)) || failed(checkDonations(function, users))))
      return failure();
  return success();
}
