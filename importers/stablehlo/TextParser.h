// The parser behind Parser.h: a recursive descent, of which each function reads one construct and
// leaves the text behind it.
//
// What does not fit the grammar, and what is beyond the limits below, is an ImportError that begins
// with "line:column: ". The text may be anything. One instance parses one text, on one thread.
#pragma once

#include "importers/stablehlo/Forms.h"
#include "importers/stablehlo/Lexer.h"
#include "importers/stablehlo/Module.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace plim::importers::stablehlo {

constexpr int maxDepth = 256;                     // of regions, attributes and types
constexpr size_t maxRank = 64;                    // as the engine has it
constexpr int64_t maxElements = int64_t(1) << 44; // of a type
constexpr size_t maxResults = 4096;               // of one operation
constexpr size_t maxOperations = size_t(1) << 20; // of a text

class Parser {
public:
  explicit Parser(std::string_view text) : lex(text), mostExpanded(100000 + text.size()) {}

  /// The whole text. The module has views of it. Once.
  Module run();

private:
  /// One level deeper, until it goes.
  struct Level {
    explicit Level(Parser &parser) : parser(parser) {
      if (++parser.depth > maxDepth)
        parser.lex.fail("this is nested more than " + std::to_string(maxDepth) + " deep");
    }
    ~Level() { --parser.depth; }
    Parser &parser;
  };

  /// What a name stands for. Names of names of names would else take memory that grows with a power
  /// of the text.
  template <typename T> const T &expand(const T &named, size_t offset);

  // Types.
  Type type();
  Type tensorType(size_t start);
  std::vector<Type> typeList();
  std::vector<Type> typesInParentheses();
  std::vector<Type> resultTypes();
  void types(Operation &op, const std::string &name);

  // Attributes.
  Attribute attribute();
  Attribute numberAttribute(bool mayHaveType = true);
  Attribute dialectAttribute(std::string_view name, size_t offset);
  Attribute list();
  Attribute convolutionNumbers();
  Attribute dimensionWords();
  void fields(std::map<std::string, Attribute> &out, std::string_view close);
  Attribute named(Attribute::Kind kind, std::string text);
  Attribute integers(const std::vector<int64_t> &values);
  void optionalDictionary(Operation &op);

  // Operations.
  Use use();
  void uses(Operation &op, std::string_view close);
  Operation operation();
  void genericBody(Operation &op);
  void writtenBody(Operation &op);
  void plainBody(Operation &op, const Form &form);
  void sliceBody(Operation &op);
  void dotGeneralBody(Operation &op);
  void convolutionBody(Operation &op);
  void reduceBody(Operation &op);
  void whileBody(Operation &op);
  void scanBody(Operation &op);
  void manualBody(Operation &op);
  void callBody(Operation &op);
  void compositeBody(Operation &op);
  Region region(std::vector<Argument> arguments = {});
  std::vector<Argument> blockArguments();
  void location();

  void topLevel(Module &out, std::string_view close);
  void topLevelOperation(Module &out);
  void moduleBody(Module &out);
  Function function(size_t offset);
  Function genericFunction(Operation op);
  void metadata(Module &out);

  Lexer lex;
  int depth = 0;
  size_t operations = 0;
  size_t mostExpanded, expanded = 0;
  std::map<std::string, Attribute, std::less<>> aliases;
  std::map<std::string, Type, std::less<>> typeAliases;
};

} // namespace plim::importers::stablehlo
