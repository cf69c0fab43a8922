#include "tools/BisectCommand.h"

#include "tools/EarlyChecks.h"
#include "tools/Progress.h"
#include "tools/Text.h"
#include "tools/io/ValueDifference.h"
#include "tools/io/ValueText.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <ostream>
#include <string_view>
#include <utility>

namespace plim::tools {

namespace {

using runtime::Buffer;
using runtime::Value;

/// Of each module: one alone does not show that results change from call to call.
constexpr int callsOfEach = 2;

/// What an option leaves out, and where to look if that makes a result right.
struct Omission {
  std::string_view option, what, where;
  /// False where the options leave it out already.
  bool (*apply)(ModuleOptions &options);
};

template <typename T> bool assign(T &member, const T &value) {
  return std::exchange(member, value) != value;
}

/// In the order of docs/guides/debug.md.
constexpr std::array omissions = {
    Omission{"without --device", "the device", "ir/Gpu, devices",
             [](ModuleOptions &options) { return assign<std::string>(options.device, ""); }},
    Omission{"--threads 1", "two dispatches at once", "ir/Schedule, engine/runtime",
             [](ModuleOptions &options) { return assign(options.threads, 1); }},
    Omission{"--policy heap", "places that buffers share", "ir/Memory, planner",
             [](ModuleOptions &options) {
               return !options.checked && assign<std::string>(options.policy, "heap");
             }},
    Omission{"--checked", "what is prepared of constants, and rows rounded to bytes",
             "ir/Codegen/KeepQuantized.cpp, ir/Codegen/PackConstants.cpp",
             [](ModuleOptions &options) { return assign(options.checked, true); }},
    Omission{"--target x86-64", "wide vectors and special instructions",
             "ir/Codegen, ir/Conversion",
             [](ModuleOptions &options) {
               const bool isOther = assign<std::string>(options.target, "x86-64");
               return !std::exchange(options.overrides, {}).empty() || isOther;
             }},
    Omission{"--numerics strict", "contraction, reassociation, approximations and wider sums",
             "ir/Codegen",
             [](ModuleOptions &options) {
               return options.numerics != std::exchange(options.numerics, jit::Numerics::Strict);
             }},
};

/// What a call came to.
struct Outcome {
  Status status;
  std::vector<Value> arguments; // as it left them
  std::vector<Value> results;
};

/// The function, ready to be called with the same inputs by one engine after the other.
struct Subject {
  const BisectOptions &options;
  std::ostream &err;
  PoolPtr pool = std::make_shared<runtime::MemoryPool>();
  ModuleText source = {};
  Parameters parameters = {};
  std::vector<Value> inputs = {}; // complete behind the first call
  jit::FunctionSignature signature = {};
};

StatusOr<std::vector<Value>> copyOf(const std::vector<Value> &values, const PoolPtr &pool) {
  std::vector<Value> copies = values;
  for (Value &value : copies)
    if (const auto *buffer = std::get_if<Buffer>(&value)) {
      PLIM_ASSIGN_OR_RETURN(value, Buffer::fromCopy(pool, buffer->type(), buffer->shape(),
                                                    {static_cast<const std::byte *>(buffer->data()),
                                                     buffer->bytes()}));
    }
  return copies;
}

StatusOr<std::shared_ptr<Module>> loadFor(const Subject &subject, const ModuleOptions &options,
                                          Engine &engine, const Pools &pools) {
  LoadOptions load = loadOptions(options, subject.err);
  std::optional<ProgressLine> line;
  if (subject.options.progress) {
    line.emplace(subject.err);
    load.progress = [&](const jit::CompileProgress &progress) { line->update(progress); };
  }
  load.parameters = subject.parameters;
  load.pools = pools;
  return loadModuleText(subject.source, options, engine, load);
}

/// Fails if there is nothing to call.
StatusOr<std::vector<Outcome>> callsWith(const ModuleOptions &options, Subject &subject,
                                         int count) {
  PLIM_ASSIGN_OR_RETURN(std::shared_ptr<Engine> engine, makeEngine(options));
  std::vector<Buffer> memories; // must outlive the module
  PLIM_ASSIGN_OR_RETURN(const Pools pools, makePools(subject.options.call, subject.pool, memories));
  PLIM_ASSIGN_OR_RETURN(std::shared_ptr<Module> module, loadFor(subject, options, *engine, pools));
  PLIM_ASSIGN_OR_RETURN(Function function, chooseFunction(*module, subject.options.call));
  if (subject.signature.name.empty()) {
    subject.signature = function.signature();
    PLIM_RETURN_IF_ERROR(completeInputs(subject.signature, subject.pool, subject.inputs));
  }
  std::vector<Outcome> outcomes;
  for (int i = 0; i < count; ++i) {
    PLIM_ASSIGN_OR_RETURN(std::vector<Value> arguments, copyOf(subject.inputs, subject.pool));
    CallOptions call;
    PLIM_ASSIGN_OR_RETURN(call.state, module->createState());
    std::vector<Value> results(subject.signature.results.size());
    Status status = function.callInto(arguments, results, call);
    outcomes.push_back({std::move(status), std::move(arguments), std::move(results)});
  }
  return outcomes;
}

runtime::ElementType typeOf(const Value &value) {
  const auto *buffer = std::get_if<Buffer>(&value);
  return buffer ? buffer->type() : std::get<runtime::Scalar>(value).type;
}

bool isOfFloats(const Value &value) { return isFloat(typeOf(value)) || isComplex(typeOf(value)); }

/// What one outcome is to the one that it should be.
struct Comparison {
  bool isRight = true;
  bool isSame = true; // in its bits
  // Of a call that succeeded: the first value that is wrong, else the one that is furthest off.
  std::string name; // result[0]; empty: none is off
  ValueDifference difference;
  double tolerance = 0; // 0 of integers
  Value is, shouldBe;
  Status status; // of a call that failed
};

void compareValues(const Value &is, const Value &shouldBe, const std::string &name,
                   std::optional<double> tolerance, Comparison &comparison) {
  const double usual = usualTolerance(typeOf(shouldBe));
  const double allowed = isOfFloats(shouldBe) ? tolerance.value_or(usual) : 0;
  ValueDifference difference = differenceOf(is, shouldBe, allowed);
  const bool isRight = difference.isComparable && difference.wrong == 0;
  if (isRight && difference.different == 0)
    return;
  comparison.isSame = false;
  const bool isFirst = comparison.name.empty();
  if (comparison.isRight &&
      (isFirst || !isRight || difference.largest > comparison.difference.largest)) {
    comparison.name = name;
    comparison.difference = std::move(difference);
    comparison.tolerance = allowed;
    comparison.is = is;
    comparison.shouldBe = shouldBe;
  }
  comparison.isRight &= isRight;
}

Comparison compare(const Outcome &is, const Outcome &shouldBe,
                   const jit::FunctionSignature &signature, std::optional<double> tolerance) {
  Comparison comparison;
  if (!is.status.ok() || !shouldBe.status.ok()) {
    comparison.isRight = comparison.isSame = is.status.code() == shouldBe.status.code();
    comparison.status = is.status;
    return comparison;
  }
  for (size_t i = 0; i < is.results.size(); ++i)
    compareValues(is.results[i], shouldBe.results[i], "result[" + std::to_string(i) + "]",
                  tolerance, comparison);
  // What a function leaves in its buffers is an effect too. A donated one came back as a result.
  for (size_t i = 0; i < is.arguments.size(); ++i)
    if (!signature.arguments[i].donatedTo)
      compareValues(is.arguments[i], shouldBe.arguments[i], "arg[" + std::to_string(i) + "]",
                    tolerance, comparison);
  return comparison;
}

/// The first that is wrong, else the one that is furthest off.
Comparison worstOf(const std::vector<Outcome> &outcomes, const Outcome &shouldBe,
                   const jit::FunctionSignature &signature, std::optional<double> tolerance) {
  std::optional<Comparison> worst;
  for (const Outcome &outcome : outcomes) {
    Comparison comparison = compare(outcome, shouldBe, signature, tolerance);
    if (!worst || (worst->isRight && (!comparison.isRight || worst->isSame ||
                                      comparison.difference.largest > worst->difference.largest)))
      worst = std::move(comparison);
  }
  return *worst;
}

/// "1e-07 of the largest magnitude", or "3" of integers.
std::string distanceText(double distance, const Value &of) {
  return formatNumber(distance) + (isOfFloats(of) ? " of the largest magnitude" : "");
}

/// "off by 3", of the element that is furthest off.
std::string offText(const Comparison &comparison) {
  const double distance = comparison.difference.largest;
  return std::isfinite(distance) ? "off by " + distanceText(distance, comparison.shouldBe)
                                 : "infinitely off";
}

std::string indexText(const std::vector<int64_t> &index) {
  std::string text;
  for (int64_t each : index)
    text += (text.empty() ? "[" : ", ") + std::to_string(each);
  return text.empty() ? "" : " at " + text + "]";
}

std::string failureText(const Status &status) {
  return status.ok() ? "does not fail" : "fails: " + std::string(status.message());
}

/// In a line of the list of omissions.
std::string shortText(const Comparison &comparison, const Outcome &shouldBe) {
  const std::string verdict = comparison.isRight ? "right  " : "wrong  ";
  if (!comparison.status.ok() || !shouldBe.status.ok())
    return verdict + failureText(comparison.status);
  if (comparison.isSame)
    return verdict + "bit for bit";
  if (!comparison.difference.isComparable)
    return verdict + comparison.name + " is " + printType(comparison.is);
  return verdict + comparison.name + " is " + offText(comparison);
}

void printRight(const std::string &function, const Comparison &comparison, std::ostream &out) {
  out << "right: @" << function << " gives what the oracle does, ";
  if (comparison.isSame)
    out << "bit for bit\n";
  else
    out << "but for rounding: the furthest, " << comparison.name << ", is " << offText(comparison)
        << "\n";
}

void printWrong(const std::string &function, const Comparison &comparison, const Outcome &shouldBe,
                std::ostream &out) {
  out << "wrong: ";
  if (!comparison.status.ok() || !shouldBe.status.ok()) {
    out << "@" << function << " " << failureText(comparison.status) << "\n  the oracle "
        << failureText(shouldBe.status) << "\n";
    return;
  }
  const ValueDifference &difference = comparison.difference;
  out << comparison.name << " of @" << function;
  if (!difference.isComparable) {
    out << " is " << printType(comparison.is) << ", which should be "
        << printType(comparison.shouldBe) << "\n";
    return;
  }
  out << ", " << printType(comparison.shouldBe) << ", in " << difference.wrong << " of "
      << difference.elements << (difference.elements == 1 ? " element" : " elements");
  if (comparison.tolerance > 0)
    out << ", by more than " << distanceText(comparison.tolerance, comparison.shouldBe);
  out << "\n  furthest off" << indexText(difference.index) << ": " << difference.is
      << ", which should be " << difference.shouldBe << ", " << offText(comparison) << "\n";
}

/// Does it fail where a checked engine says why?
bool isAccessOutOfRange(const ModuleOptions &options, const Comparison &comparison) {
  return options.checked && !comparison.isRight &&
         comparison.status.code() == StatusCode::OutOfRange;
}

void printAccess(std::ostream &out) {
  out << "--checked finds an access out of range: if it is not the source's own, look at "
         "ir/Import/CheckShapes.cpp, ir/Codegen\n";
}

/// Prints a line for each thing that is left out, and then what they tell.
void leaveOut(Subject &subject, const Outcome &shouldBe, std::optional<double> tolerance,
              std::ostream &out) {
  constexpr size_t column = 22;
  const Omission *found = nullptr;
  bool hasAccess = false;
  for (const Omission &omission : omissions) {
    ModuleOptions options = subject.options.module;
    if (!omission.apply(options))
      continue;
    std::string line = "  " + std::string(omission.option);
    pad(line, column);
    StatusOr<std::vector<Outcome>> outcomes = callsWith(options, subject, callsOfEach);
    if (!outcomes.ok()) {
      out << line << "not loaded: " << outcomes.status().message() << "\n" << std::flush;
      continue;
    }
    const Comparison comparison = worstOf(*outcomes, shouldBe, subject.signature, tolerance);
    out << line << shortText(comparison, shouldBe) << "\n" << std::flush;
    hasAccess |= isAccessOutOfRange(options, comparison);
    if (comparison.isRight && !found)
      found = &omission;
  }
  if (hasAccess) // whatever made the result right did so by chance
    printAccess(out);
  else if (found)
    out << found->option << " makes it right, without " << found->what << ": look at "
        << found->where << "\n";
  else
    out << "none of these makes it right, only the oracle, without ir/Codegen, fusion and merging: "
           "look at ir/Dispatch, ir/Codegen\n";
}

/// Is it right?
StatusOr<bool> bisect(const BisectOptions &options, std::ostream &out, std::ostream &err) {
  if (options.tolerance)
    PLIM_RETURN_IF_ERROR(checkTolerance(*options.tolerance));
  Subject subject{.options = options, .err = err};
  PLIM_ASSIGN_OR_RETURN(subject.inputs, readInputs(options.call, subject.pool));
  PLIM_ASSIGN_OR_RETURN(subject.parameters, readParameters(options.call, subject.pool));
  PLIM_ASSIGN_OR_RETURN(subject.source, readModuleText(options.module));
  PLIM_RETURN_IF_ERROR(
      checkCall(subject.source.text, moduleName(options.module), options.call.function, {}));

  ModuleOptions oracle = options.module;
  oracle.oracle = true;
  oracle.checked = false;
  PLIM_ASSIGN_OR_RETURN(const std::vector<Outcome> expected, callsWith(oracle, subject, 1));
  const Outcome &shouldBe = expected.front();
  StatusOr<std::vector<Outcome>> outcomes = callsWith(options.module, subject, callsOfEach);
  if (!outcomes.ok())
    return outcomes.status().withContext("the oracle can be called, the engine cannot");

  for (const auto &[status, who] :
       {std::pair(shouldBe.status, "the oracle"), {outcomes->front().status, "the engine"}})
    if (status.code() == StatusCode::ResourceExhausted)
      return status.withContext(who); // that is no result

  std::optional<double> tolerance = options.tolerance;
  if (!tolerance && options.module.numerics == jit::Numerics::Strict &&
      options.module.device.empty())
    tolerance = 0;
  const Comparison comparison = worstOf(*outcomes, shouldBe, subject.signature, tolerance);
  if (comparison.isRight && !comparison.status.ok())
    return comparison.status.withContext("the oracle and the engine both fail");
  const std::string function = printable(subject.signature.name);
  if (comparison.isRight) {
    printRight(function, comparison, out);
    return true;
  }
  printWrong(function, comparison, shouldBe, out);
  const bool isSteady = compare(outcomes->back(), outcomes->front(), subject.signature, 0).isSame;
  out << (isSteady ? "  a second call of the engine gives the same\n"
                   : "  a second call of the engine gives something else: a race, or memory that "
                     "nobody wrote\n");
  outcomes->clear(); // their memory
  if (isAccessOutOfRange(options.module, comparison))
    printAccess(out);
  else
    leaveOut(subject, shouldBe, tolerance, out);
  return false;
}

} // namespace

Status checkTolerance(double tolerance) {
  return std::isfinite(tolerance) && tolerance >= 0
             ? okStatus()
             : invalidArgumentError("a tolerance must be a number, 0 or more");
}

int runBisectCommand(const BisectOptions &options, std::ostream &out, std::ostream &err) {
  StatusOr<bool> isRight = bisect(options, out, err);
  if (isRight.ok())
    return *isRight ? 0 : 1;
  fail(err, isRight.status().message());
  return bisectError;
}

} // namespace plim::tools
