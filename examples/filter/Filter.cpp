#include "examples/filter/Filter.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <optional>
#include <utility>

namespace plim::filter {
namespace {

using runtime::ElementType;

constexpr size_t maxBytes = size_t(64) << 10;
// Each level of parentheses or of a prefix operator is a level of recursion here.
constexpr int maxDepth = 256;

enum class Kind { Condition, Integer, Double };

// An SSA value of the function under construction.
struct Operand {
  std::string name;
  Kind kind;
};

struct Operator {
  std::string_view text;
  int precedence;
  // Operations by kind of the operands; empty where the operator does not take that kind.
  std::string_view onConditions, onIntegers, onDoubles;
  bool comparison;
};

constexpr Operator operators[] = {
    {"||", 1, "arith.ori", "", "", false},
    {"&&", 2, "arith.andi", "", "", false},
    {"==", 3, "arith.cmpi eq,", "arith.cmpi eq,", "arith.cmpf oeq,", true},
    {"!=", 3, "arith.cmpi ne,", "arith.cmpi ne,", "arith.cmpf une,", true},
    {"<=", 4, "", "arith.cmpi sle,", "arith.cmpf ole,", true},
    {">=", 4, "", "arith.cmpi sge,", "arith.cmpf oge,", true},
    {"<", 4, "", "arith.cmpi slt,", "arith.cmpf olt,", true},
    {">", 4, "", "arith.cmpi sgt,", "arith.cmpf ogt,", true},
    {"+", 5, "", "arith.addi", "arith.addf", false},
    {"-", 5, "", "arith.subi", "arith.subf", false},
    {"*", 6, "", "arith.muli", "arith.mulf", false},
    {"/", 6, "", "arith.divf", "arith.divf", false},
};

std::string_view typeName(Kind kind) {
  switch (kind) {
  case Kind::Condition:
    return "i1";
  case Kind::Integer:
    return "i64";
  case Kind::Double:
    return "f64";
  }
  return "";
}

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isNameStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

std::string join(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (std::string_view part : parts)
    text += part;
  return text;
}

// Parses by precedence climbing and emits each operation when its operands are known: there is no
// tree in between.
class Compiler {
public:
  Compiler(std::string_view expression, std::span<const Column> columns)
      : text(expression), columns(columns) {}

  StatusOr<Filter> compile() {
    if (text.size() > maxBytes)
      return error(0, "the expression is longer than 64 KiB");
    PLIM_ASSIGN_OR_RETURN(Operand result, parseExpression(/*weakest=*/1));
    if (position != text.size())
      return error(position, join({"expected an operator, got ", shown()}));
    if (result.kind != Kind::Condition)
      return error(0, "the expression is a number; a filter must be a condition");
    if (used.empty())
      return error(0, "the expression names no column");
    return Filter{module(result), used};
  }

private:
  StatusOr<Operand> parseExpression(int weakest) {
    PLIM_ASSIGN_OR_RETURN(Operand left, parseOperand());
    while (const Operator *op = peekOperator()) {
      if (op->precedence < weakest)
        break;
      size_t where = position;
      position += op->text.size();
      PLIM_ASSIGN_OR_RETURN(Operand right, parseExpression(op->precedence + 1));
      PLIM_ASSIGN_OR_RETURN(left, apply(*op, where, left, right));
    }
    return left;
  }

  // The operator that stands next, if any; skips blanks.
  const Operator *peekOperator() {
    skipBlanks();
    for (const Operator &op : operators)
      if (text.substr(position).starts_with(op.text))
        return &op;
    return nullptr;
  }

  StatusOr<Operand> parseOperand() {
    skipBlanks();
    size_t where = position;
    if (where == text.size())
      return error(where, "expected a number, a column or '(', got the end");
    if (depth == maxDepth)
      return error(where, "the expression is nested too deeply");
    char c = text[where];
    if (isDigit(c) || c == '.')
      return parseNumber();
    if (isNameStart(c))
      return parseName();
    if (c != '(' && c != '-' && c != '!')
      return error(where, join({"expected a number, a column or '(', got ", shown()}));
    ++position;
    ++depth;
    StatusOr<Operand> operand = c == '(' ? parseExpression(/*weakest=*/1) : parseOperand();
    --depth;
    if (!operand.ok())
      return operand;
    if (c == '(') {
      skipBlanks();
      if (position == text.size() || text[position] != ')')
        return error(position,
                     join({"expected ')' for the '(' in column ", std::to_string(where + 1)}));
      ++position;
      return operand;
    }
    if ((c == '!') != (operand->kind == Kind::Condition))
      return error(where, c == '!' ? "'!' takes a condition" : "'-' takes a number");
    if (c == '!')
      return emit("arith.xori", *operand, constant("true", Kind::Condition), Kind::Condition);
    if (operand->kind == Kind::Double)
      return emitUnary("arith.negf", *operand, Kind::Double);
    return emit("arith.subi", constant("0 : i64", Kind::Integer), *operand, Kind::Integer);
  }

  StatusOr<Operand> parseNumber() {
    const char *begin = text.data() + position;
    const char *end = text.data() + text.size();
    int64_t integer = 0;
    auto whole = std::from_chars(begin, end, integer);
    double real = 0;
    auto full = std::from_chars(begin, end, real);
    // Where both end at the same place there was no point and no exponent.
    bool isInteger = whole.ptr == full.ptr && whole.ec != std::errc::invalid_argument;
    std::errc failure = isInteger ? whole.ec : full.ec;
    const char *rest = isInteger ? whole.ptr : full.ptr;
    if (failure == std::errc::result_out_of_range)
      return error(position, "the number is out of range");
    if (failure != std::errc() || (rest != end && (isNameStart(*rest) || *rest == '.')))
      return error(position, "not a number");
    position += static_cast<size_t>(rest - begin);
    if (isInteger)
      return constant(std::to_string(integer) + " : i64", Kind::Integer);
    // With '#' there is always a point, which the syntax of float attributes wants.
    char digits[32];
    std::snprintf(digits, sizeof(digits), "%#.17g", real);
    return constant(join({digits, " : f64"}), Kind::Double);
  }

  StatusOr<Operand> parseName() {
    size_t where = position;
    while (position < text.size() && (isNameStart(text[position]) || isDigit(text[position])))
      ++position;
    std::string_view name = text.substr(where, position - where);
    if (name == "true" || name == "false")
      return constant(name, Kind::Condition);
    auto column = std::ranges::find(columns, name, &Column::name);
    if (column == columns.end()) {
      std::string known;
      for (const Column &each : columns)
        known += (known.empty() ? "" : ", ") + each.name;
      return error(where, join({"no column '", name, "'; the columns are: ", known}));
    }
    std::optional<Operand> value = load(static_cast<size_t>(column - columns.begin()));
    if (!value)
      return error(where,
                   join({"column '", name, "' has type ", runtime::elementTypeName(column->type),
                         ", which filters do not read"}));
    return *value;
  }

  // The element of a column, widened; nothing for a type that has no kind.
  std::optional<Operand> load(size_t column) {
    Operand element{"%" + columns[column].name, Kind::Condition};
    std::string_view widen;
    switch (columns[column].type) {
    case ElementType::I1:
      break;
    case ElementType::I32:
      widen = "arith.extsi";
      [[fallthrough]];
    case ElementType::I64:
      element.kind = Kind::Integer;
      break;
    case ElementType::F32:
      widen = "arith.extf";
      [[fallthrough]];
    case ElementType::F64:
      element.kind = Kind::Double;
      break;
    default:
      return std::nullopt;
    }
    if (std::ranges::find(used, column) == used.end())
      used.push_back(column);
    if (widen.empty())
      return element;
    std::string_view from = runtime::elementTypeName(columns[column].type);
    return define(join({widen, " ", element.name, " : ", from, " to ", typeName(element.kind)}),
                  element.kind);
  }

  StatusOr<Operand> apply(const Operator &op, size_t where, Operand left, Operand right) {
    if ((left.kind == Kind::Condition) != (right.kind == Kind::Condition))
      return error(where, join({"'", op.text,
                                "' has a condition on one side and a number on the "
                                "other"}));
    if (left.kind == Kind::Condition && op.onConditions.empty())
      return error(where, join({"'", op.text, "' takes numbers, not conditions"}));
    if (left.kind != Kind::Condition && op.onIntegers.empty())
      return error(where, join({"'", op.text, "' takes conditions, not numbers"}));
    // The only operator with one operation for both kinds of number is the division.
    bool asDoubles = left.kind != right.kind || op.onIntegers == op.onDoubles;
    if (left.kind != Kind::Condition && asDoubles) {
      left = toDouble(left);
      right = toDouble(right);
    }
    std::string_view operation = left.kind == Kind::Condition ? op.onConditions
                                 : left.kind == Kind::Integer ? op.onIntegers
                                                              : op.onDoubles;
    return emit(operation, left, right, op.comparison ? Kind::Condition : left.kind);
  }

  Operand toDouble(const Operand &operand) {
    if (operand.kind == Kind::Double)
      return operand;
    return define(join({"arith.sitofp ", operand.name, " : i64 to f64"}), Kind::Double);
  }

  Operand constant(std::string_view value, Kind kind) {
    return define(join({"arith.constant ", value}), kind);
  }
  Operand emitUnary(std::string_view operation, const Operand &operand, Kind kind) {
    return define(join({operation, " ", operand.name, " : ", typeName(operand.kind)}), kind);
  }
  Operand emit(std::string_view operation, const Operand &left, const Operand &right, Kind kind) {
    return define(join({operation, " ", left.name, ", ", right.name, " : ", typeName(left.kind)}),
                  kind);
  }
  Operand define(std::string_view operation, Kind kind) {
    std::string name = "%" + std::to_string(values++);
    body += join({"    ", name, " = ", operation, "\n"});
    return {std::move(name), kind};
  }

  // Names with a dot cannot be columns: they never clash.
  std::string module(const Operand &result) const {
    std::string arguments, tensors, types, elements, maps;
    for (size_t column : used) {
      std::string_view type = runtime::elementTypeName(columns[column].type);
      std::string tensor = "%column." + columns[column].name;
      std::string tensorType = join({"tensor<?x", type, ">"});
      std::string_view comma = arguments.empty() ? "" : ", ";
      arguments += join({comma, tensor, ": ", tensorType});
      tensors += join({comma, tensor});
      types += join({comma, tensorType});
      elements += join({"%", columns[column].name, ": ", type, ", "});
      maps += "#row, ";
    }
    std::string first = "%column." + columns[used.front()].name;
    std::string firstType =
        join({"tensor<?x", runtime::elementTypeName(columns[used.front()].type), ">"});
    return join({"#row = affine_map<(i) -> (i)>\n"
                 "func.func @filter(",
                 arguments,
                 ") -> tensor<?xi1> {\n"
                 "  %first.row = arith.constant 0 : index\n"
                 "  %row.count = tensor.dim ",
                 first, ", %first.row : ", firstType,
                 "\n"
                 "  %mask.empty = tensor.empty(%row.count) : tensor<?xi1>\n"
                 "  %mask.full = linalg.generic {indexing_maps = [",
                 maps,
                 "#row], iterator_types = [\"parallel\"]}\n"
                 "      ins(",
                 tensors, " : ", types,
                 ")\n"
                 "      outs(%mask.empty : tensor<?xi1>) {\n"
                 "  ^bb0(",
                 elements, "%mask.old: i1):\n", body, "    linalg.yield ", result.name,
                 " : i1\n"
                 "  } -> tensor<?xi1>\n"
                 "  return %mask.full : tensor<?xi1>\n"
                 "}\n"});
  }

  // The character at the current position, for a message.
  std::string shown() const {
    char c = text[position];
    return c > ' ' && c <= '~' ? std::string{'\'', c, '\''}
                               : "a character that has no meaning here";
  }

  void skipBlanks() {
    while (position < text.size() && (text[position] == ' ' || text[position] == '\t'))
      ++position;
  }

  Status error(size_t where, std::string_view message) const {
    return invalidArgumentError(join({"filter:1:", std::to_string(where + 1), ": ", message}));
  }

  std::string_view text;
  std::span<const Column> columns;
  size_t position = 0;
  int depth = 0;
  int values = 0;
  std::string body;
  std::vector<size_t> used;
};

} // namespace

StatusOr<Filter> compileFilter(std::string_view expression, std::span<const Column> columns) {
  return Compiler(expression, columns).compile();
}

} // namespace plim::filter
