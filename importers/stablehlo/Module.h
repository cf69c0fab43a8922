// A StableHLO module as it was written: operations with attributes and regions, and where each stands.
//
// Parser.h makes one. Names are views of the text, which outlives it. Every operation is in its generic form, whatever form it
// was written in: attributes have the names of the specification.
#pragma once

#include "importers/emit/Checked.h"
#include "importers/emit/Tensor.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace plim::importers::stablehlo {

constexpr int64_t open = -1; // an extent that only a run knows

struct Type {
  enum class Kind { Tensor, Tuple, Token, Function, Other };
  Kind kind = Kind::Other;
  ElementType element = ElementType::F32;
  std::vector<int64_t> shape;
  std::vector<Type> parts;   // of a tuple; the arguments of a function
  std::vector<Type> results; // of a function
  std::string text;          // as it was written
};

struct Attribute {
  enum class Kind {
    Unit,
    Truth,
    Integer,
    Real,
    Text,
    Symbol,
    Name,
    List,
    Fields,
    Dense,
    Resource,
    Type,
    Other
  };
  Kind kind = Kind::Unit;
  size_t offset = 0; // in the text
  int64_t integer = 0;
  double real = 0;
  std::string
      text; // of Text, Symbol, Name (a bare word), Resource (its key), Fields (what they are of: "gather")
  std::vector<Attribute> items;            // of List
  std::map<std::string, Attribute> fields; // of Fields
  stablehlo::Type type;                    // of Type, Dense and Resource
  TensorPtr dense;                         // without a shape if all elements are its only one
};

/// A use of a value: "%3#1".
struct Use {
  std::string_view name;
  size_t number = 0;
  size_t offset = 0;
};

struct Region;

struct Operation {
  std::string name; // "stablehlo.add", "func.return"
  size_t offset = 0;
  std::vector<Use> operands;
  std::vector<Type> operandTypes; // as written; may be fewer than operands
  std::vector<Type> resultTypes;
  std::vector<std::pair<std::string_view, size_t>> results; // names, and how many each stands for
  std::map<std::string, Attribute> attributes;
  std::vector<Region> regions;
};

struct Argument {
  std::string_view name;
  stablehlo::Type type;
};

/// One block: StableHLO has no others.
struct Region {
  size_t offset = 0;
  std::vector<Argument> arguments;
  std::vector<Operation> operations;
};

struct Function {
  std::string name;
  size_t offset = 0;
  bool isPrivate = false, hasBody = false;
  std::vector<Type> resultTypes;
  Region body; // its arguments are those of the function
};

struct Module {
  std::string name;
  std::vector<Function> functions;
  std::map<std::string, std::string_view>
      resources; // hexadecimal digits, the first four bytes of which are an alignment
};

/// "tensor<2x?xui8>"
std::string typeText(const Type &type);
/// "i32", "ui8": with its sign, as StableHLO writes it.
std::string elementText(ElementType type);

} // namespace plim::importers::stablehlo
