#include "jit/PassInstruments.h"

#include "jit/CompileDiagnostics.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <utility>

using namespace mlir;

namespace plim::jit {

namespace {

/// What runs others on nested operations has no argument.
bool isAdaptor(const Pass *pass) { return pass->getArgument().empty(); }

constexpr unsigned weightOfFunctions = 10;
unsigned weightOf(const Pass *pass) { return isAdaptor(pass) ? weightOfFunctions : 1; }

} // namespace

void PassSpans::runBeforePass(Pass *, Operation *) { begins.push_back(profiler.now()); }
void PassSpans::runAfterPass(Pass *pass, Operation *) { finish(pass); }
void PassSpans::runAfterPassFailed(Pass *pass, Operation *) { finish(pass); }

void PassSpans::finish(Pass *pass) {
  int64_t begin = begins.pop_back_val(), end = profiler.now();
  if (isAdaptor(pass))
    return;
  Profiler::Subject &subject =
      profiler.subject(Profiler::Kind::Compile, std::string_view(pass->getArgument()));
  profiler.count(subject, end - begin);
  profiler.keep(subject, begin, end);
}

void PassWitness::runBeforePass(Pass *pass, Operation *op) {
  if (!isAdaptor(pass))
    witness(diagnosticAt(op->getLoc(), Diagnostic::Severity::Note,
                         ("in pass '" + pass->getArgument() + "'").str()));
}

void addInstruments(PassManager &manager, Profiler *profiler,
                    const std::function<void(const Diagnostic &)> &witness) {
  if (profiler)
    manager.addInstrumentation(std::make_unique<PassSpans>(*profiler));
  if (witness)
    manager.addInstrumentation(std::make_unique<PassWitness>(witness));
}

PassProgress::PassProgress(ProgressReport &report, OpPassManager &manager, double begin, double end)
    : report(report), begin(begin), end(end) {
  // Upstream makes one of adaptors that follow each other.
  bool isBehindAdaptor = false;
  for (Pass &pass : manager) {
    if (!isAdaptor(&pass) || !isBehindAdaptor)
      total += weightOf(&pass);
    isBehindAdaptor = isAdaptor(&pass);
  }
}

void PassProgress::runBeforePass(Pass *pass, Operation *op) {
  if (++depth == 1) {
    functions = isAdaptor(pass) ? llvm::range_size(op->getRegion(0).getOps<func::FuncOp>()) : 0;
    functionsDone = 0;
    function = nullptr;
  } else if (depth == 2 && functions > 0 && op != function) {
    if (std::exchange(function, op))
      ++functionsDone;
    tell(double(weightOfFunctions) * double(functionsDone) / double(functions));
  }
}
void PassProgress::runAfterPass(Pass *pass, Operation *) { finish(pass); }
void PassProgress::runAfterPassFailed(Pass *pass, Operation *) { finish(pass); }

void PassProgress::finish(Pass *pass) {
  if (--depth > 0)
    return;
  done += weightOf(pass);
  tell(0);
}

void PassProgress::tell(double more) {
  report.advance(begin + (end - begin) * std::min(1.0, (double(done) + more) / double(total)));
}

} // namespace plim::jit
