#include "importers/stablehlo/Parser.h"

#include "importers/stablehlo/TextParser.h"

namespace plim::importers::stablehlo {

Function Parser::function(size_t offset) {
  Function out;
  out.offset = offset;
  if (lex.acceptWord("private") || lex.acceptWord("nested"))
    out.isPrivate = true;
  else
    lex.acceptWord("public");
  const Attribute name = attribute();
  if (name.kind != Attribute::Kind::Symbol)
    lex.failAt(name.offset, "the name of a function must stand here");
  out.name = name.text;
  std::map<std::string, Attribute> ignored;
  auto afterType = [&] {
    ignored.clear();
    if (lex.accept("{"))
      fields(ignored, "}");
    location();
  };
  lex.expect("(");
  if (!lex.accept(")")) {
    do {
      Argument argument;
      if (lex.accept("%")) {
        argument.name = lex.suffix();
        lex.expect(":");
      }
      argument.type = type();
      afterType();
      out.body.arguments.push_back(std::move(argument));
    } while (lex.accept(","));
    lex.expect(")");
  }
  if (lex.accept("->")) {
    if (lex.accept("(")) {
      if (!lex.accept(")")) {
        do {
          out.resultTypes.push_back(type());
          afterType();
        } while (lex.accept(","));
        lex.expect(")");
      }
    } else {
      out.resultTypes.push_back(type());
    }
  }
  if (lex.acceptWord("attributes"))
    afterType();
  if (lex.next() == '{') {
    out.hasBody = true;
    Region body = region(out.body.arguments);
    out.body = std::move(body);
  }
  location();
  return out;
}

/// "func.func"() <{sym_name = "main", function_type = () -> ()}> ({...})
Function Parser::genericFunction(Operation op) {
  Function out;
  out.offset = op.offset;
  const Attribute &name = op.attributes["sym_name"], &signature = op.attributes["function_type"];
  if (name.kind != Attribute::Kind::Text || signature.type.kind != Type::Kind::Function)
    lex.failAt(op.offset, "a function needs sym_name and function_type");
  out.name = name.text;
  const Attribute &visibility = op.attributes["sym_visibility"];
  out.isPrivate = visibility.text == "private" || visibility.text == "nested";
  out.resultTypes = signature.type.results;
  if (!op.regions.empty() && !op.regions[0].operations.empty()) {
    out.hasBody = true;
    out.body = std::move(op.regions[0]);
  }
  return out;
}

/// {-# dialect_resources: { builtin: { name: "0x..." } } #-}
void Parser::metadata(Module &out) {
  const size_t start = lex.here();
  const auto key = [&] {
    std::string name = lex.next() == '"' ? lex.string() : std::string((lex.here(), lex.suffix()));
    lex.expect(":");
    return name;
  };
  lex.expect("{-#");
  while (!lex.accept("#-}")) {
    if (lex.atEnd())
      lex.failAt(start, "this section has no end");
    const bool isResources = key() == "dialect_resources";
    if (!isResources) {
      lex.skipBalanced();
    } else {
      lex.expect("{");
      while (!lex.accept("}")) {
        key(); // of the dialect
        lex.expect("{");
        while (!lex.accept("}")) {
          const std::string name = key();
          out.resources[name] = lex.rawString();
          lex.accept(",");
        }
        lex.accept(",");
      }
    }
    lex.accept(",");
  }
}

void Parser::moduleBody(Module &out) {
  if (lex.sees("@")) {
    const Attribute name = attribute();
    out.name = name.text;
  }
  std::map<std::string, Attribute> ignored;
  if (lex.acceptWord("attributes")) {
    lex.expect("{");
    fields(ignored, "}");
  }
  lex.expect("{");
  topLevel(out, "}");
  location();
}

void Parser::topLevelOperation(Module &out) {
  const size_t offset = lex.here();
  if (lex.next() == '"') {
    const std::string name = lex.string();
    if (name == "builtin.module") {
      const Level level(*this);
      lex.expect("(");
      lex.expect(")");
      std::map<std::string, Attribute> own;
      if (lex.accept("<")) {
        lex.expect("{");
        fields(own, "}");
        lex.expect(">");
      }
      out.name = own["sym_name"].text;
      lex.expect("(");
      lex.expect("{");
      if (lex.accept("^")) {
        lex.suffix();
        lex.expect(":");
      }
      topLevel(out, "}");
      lex.expect(")");
      own.clear();
      if (lex.accept("{"))
        fields(own, "}");
      lex.expect(":");
      type();
      location();
      return;
    }
    lex.moveTo(offset);
    Operation op = operation();
    if (op.name != "func.func")
      lex.failAt(offset, "a function must stand here, not '" + op.name + "'");
    out.functions.push_back(genericFunction(std::move(op)));
    return;
  }
  if (lex.next() == '#' || lex.next() == '!') {
    const bool isType = lex.next() == '!';
    lex.moveTo(offset + 1);
    const std::string name(lex.suffix());
    lex.expect("=");
    if (isType) {
      typeAliases[name] = type();
    } else if (name.starts_with("loc")) {
      if (!lex.acceptWord("loc"))
        aliases[name] = attribute();
      else if (lex.next() == '(')
        lex.skipBalanced();
    } else {
      aliases[name] = attribute();
    }
    return;
  }
  const std::string_view word = lex.word();
  if (word == "func.func" || word == "func") {
    out.functions.push_back(function(offset));
  } else if (word == "module" || word == "builtin.module") {
    const Level level(*this);
    moduleBody(out);
  } else if (word == "sdy.mesh") { // one partition: shardings say nothing
    attribute();
    lex.expect("=");
    attribute();
    location();
  } else {
    lex.failAt(offset, "a function must stand here, not '" + std::string(word.substr(0, 40)) + "'");
  }
}

void Parser::topLevel(Module &out, std::string_view close) {
  while (close.empty() ? !lex.atEnd() : !lex.accept(close)) {
    if (lex.sees("{-#"))
      metadata(out);
    else
      topLevelOperation(out);
  }
}

Module Parser::run() {
  Module out;
  topLevel(out, "");
  return out;
}

Module parseModule(std::string_view text) { return Parser(text).run(); }

} // namespace plim::importers::stablehlo
