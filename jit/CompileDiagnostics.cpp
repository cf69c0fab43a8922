#include "jit/CompileDiagnostics.h"

#include "ir/Pipelines/Load.h"
#include "jit/Compiler.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>

using namespace mlir;

namespace plim::jit {

namespace {

constexpr size_t most = 100; // a pass may say the same of every operation

Diagnostic::Severity severityOf(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Note:
    return Diagnostic::Severity::Note;
  case DiagnosticSeverity::Warning:
    return Diagnostic::Severity::Warning;
  case DiagnosticSeverity::Error:
    return Diagnostic::Severity::Error;
  case DiagnosticSeverity::Remark:
    return Diagnostic::Severity::Remark;
  }
  return Diagnostic::Severity::Error;
}

} // namespace

Diagnostic diagnosticAt(Location location, Diagnostic::Severity severity, std::string message) {
  Diagnostic diagnostic{severity, "", 0, 0, 0, 0, std::move(message)};
  if (auto place = location->findInstanceOf<FileLineColLoc>()) {
    diagnostic.file = place.getFilename().str();
    diagnostic.line = place.getLine();
    diagnostic.column = place.getColumn();
  }
  return diagnostic;
}

CompileDiagnostics::CompileDiagnostics(MLIRContext &context, StringRef source, StringRef name,
                                       const std::function<void(const Diagnostic &)> &witness)
    : source(source), name(name), witness(witness),
      handler(&context, [this](mlir::Diagnostic &said) {
        add(said);
        return success();
      }) {}

Status CompileDiagnostics::status(StringRef stage) const {
  auto first = firstError();
  if (first == all.end())
    return invalidArgumentError((stage + " failed").str());
  return Status(StatusCode::InvalidArgument, toString(*first), all);
}

std::vector<Diagnostic>::const_iterator CompileDiagnostics::firstError() const {
  return llvm::find_if(all, [](const Diagnostic &diagnostic) {
    return diagnostic.severity == Diagnostic::Severity::Error;
  });
}

void CompileDiagnostics::add(mlir::Diagnostic &said) {
  const bool isFirstError =
      said.getSeverity() == DiagnosticSeverity::Error && firstError() == all.end();
  if (all.size() >= most && !isFirstError)
    return;
  all.push_back(diagnosticAt(said.getLocation(), severityOf(said.getSeverity()), said.str()));
  if (auto place = said.getLocation()->findInstanceOf<FileLineColLoc>())
    if (size_t bytes = tokenAt(place)) {
      all.back().endLine = all.back().line;
      all.back().endColumn = all.back().column + uint32_t(bytes);
    }
  if (isFirstError && witness)
    witness(all.back());
  for (mlir::Diagnostic &note : said.getNotes())
    add(note);
}

/// How long what begins there is: a name, a number, a string, or one sign. 0 for what is no place of the text.
size_t CompileDiagnostics::tokenAt(FileLineColLoc place) const {
  if (ir::isBytecode(source) || place.getFilename() != name || place.getLine() == 0 ||
      place.getColumn() == 0)
    return 0;
  StringRef rest = source;
  for (unsigned line = 1; line < place.getLine() && !rest.empty(); ++line)
    rest = rest.split('\n').second;
  rest = rest.split('\n').first.substr(place.getColumn() - 1);
  if (rest.empty())
    return 0;
  if (rest.front() == '"')
    return std::min(rest.find('"', 1), rest.size() - 1) + 1;
  auto isWord = [](char c) { return llvm::isAlnum(c) || StringRef("_.$-").contains(c); };
  const size_t sigil = StringRef("%@#!^").contains(rest.front()) ? 1 : 0;
  return std::max<size_t>(sigil + rest.substr(sigil).take_while(isWord).size(), 1);
}

} // namespace plim::jit
