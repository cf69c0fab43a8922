// A model as the importer sees it: plain values, without protobuf. Reader.h makes one.
//
// Names refer to other parts by text, as in ONNX; nothing has checked that they lead anywhere, nor
// that kinds of attributes are those that an operator wants. Tensors are shared, and keep the bytes
// that they lie in. Immutable once read.
#pragma once

#include "importers/emit/Tensor.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace plim::importers {

/// Of an input: a number, a name that is shared, or neither.
struct Extent {
  int64_t value = -1;
  std::string name;
};

/// What a graph says of one of its inputs or outputs.
struct ValueInfo {
  enum class Kind { Unknown, Tensor, Sequence, Optional, Map, SparseTensor };
  std::string name;
  Kind kind = Kind::Unknown;
  std::optional<ElementType> type;
  std::optional<std::vector<Extent>> shape; // none: the rank is not known
};

struct Graph;

/// `kind` says which one of the members counts.
struct Attribute {
  enum class Kind { Float, Int, String, Tensor, Graph, Floats, Ints, Strings, Type, Other };
  Kind kind = Kind::Other;
  double real = 0;
  int64_t integer = 0;
  std::string text;
  TensorPtr tensor;
  std::shared_ptr<const Graph> graph;
  std::vector<double> reals;
  std::vector<int64_t> integers;
  std::vector<std::string> texts;
  std::string reference; // inside of a function: the attribute of the caller
};

struct Node {
  std::string name, op, domain;
  std::vector<std::string> inputs, outputs; // "" for one that is left out
  std::map<std::string, Attribute> attributes;
};

using Opsets = std::map<std::string, int64_t>; // by domain; ONNX's own is ""

struct Graph {
  std::string name;
  std::vector<Node> nodes;
  std::vector<ValueInfo> inputs, outputs;
  std::vector<TensorPtr> initialisers;
};

/// The body of an operator that other operators make up.
struct FunctionBody {
  std::vector<std::string> inputs, outputs, attributes;
  std::map<std::string, Attribute> defaults;
  std::vector<Node> nodes;
  Opsets opsets;
};

struct Model {
  std::string producer;
  int64_t irVersion = 0;
  Opsets opsets;
  Graph graph;
  std::map<std::pair<std::string, std::string>, FunctionBody> functions; // by domain and name
};

/// The type that ONNX has a number for; `what` has it, for messages.
ElementType readElementType(int32_t number, const std::string &what);
/// The inverse.
int32_t protoElementType(ElementType type);
/// A scalar 0 of such a type.
TensorPtr zeroOf(int32_t number, const std::string &what);

} // namespace plim::importers
