#include "tools/CommandLine.h"

#include "jit/Compiler.h"
#include "support/Nearest.h"
#include "targets/AllocationOptions.h"
#include "tools/BisectCommand.h"
#include "tools/Text.h"
#include "tools/Version.h"
#include "tools/io/ValueText.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <ostream>

namespace plim::tools {

namespace {

/// As CLI11 wants a check: the message, empty for none.
std::string messageOf(const Status &status) {
  return status.ok() ? "" : std::string(status.message());
}

/// Of one of several values, which the message has to name.
std::string messageOf(const std::string &text, const Status &status) {
  constexpr size_t shown = 40;
  const std::string name =
      text.size() > shown ? printable(text.substr(0, shown)) + "..." : printable(text);
  return messageOf(status.withContext("'" + name + "'"));
}

/// Of a command where one was given, else of the program.
const CLI::App &commandOf(const CLI::App &app) {
  const std::vector<CLI::App *> commands = app.get_subcommands();
  return commands.empty() ? app : *commands.front();
}

std::vector<std::string> optionNames(const CLI::App &command) {
  std::vector<std::string> names;
  for (const CLI::Option *option : command.get_options())
    for (const std::string &each : option->get_lnames())
      names.push_back("--" + each);
  return names;
}

std::vector<std::string> commandNames(const CLI::App &app) {
  std::vector<std::string> names;
  for (const CLI::App *command : app.get_subcommands({}))
    names.push_back(command->get_name());
  return names;
}

/// What was not understood says more than what is then missing.
std::string messageOf(const CLI::App &app, const CLI::ParseError &error) {
  const CLI::App &command = commandOf(app);
  std::vector<std::string> left = app.remaining(/*recurse=*/true);
  std::erase(left, "--"); // nothing behind it is an option
  const std::vector<std::string> options = optionNames(command);
  for (const std::string &text : left) {
    const std::string name = text.substr(0, text.find('='));
    if (name.size() > 1 && name.starts_with('-') &&
        std::ranges::find(options, name) == options.end())
      return command.get_name() + " has no option '" + name + "'" + suggestion(name, options);
  }
  const std::vector<std::string> commands = commandNames(app);
  if (&command == &app && !commands.empty())
    return left.empty()
               ? "which command? " + CLI::detail::join(commands, ", ")
               : "there is no command '" + left.front() + "'" + suggestion(left.front(), commands);
  return left.empty()
             ? error.what()
             : "one argument too many for " + command.get_name() + ": '" + left.front() + "'";
}

} // namespace

void addVersionFlag(CLI::App &app) {
  app.set_version_flag("--version", versionText, "print the version, of LLVM too, and the host");
}

void addTargetCheck(CLI::App &command, const std::string &target,
                    const std::vector<std::string> &overrides) {
  command.final_callback([&target, &overrides] {
    if (Status status = checkTarget(target, overrides); !status.ok())
      throw CLI::ValidationError(std::string(status.message()), CLI::ExitCodes::ValidationError);
  });
}

void addModuleOptions(CLI::App &command, ModuleOptions &options) {
  command
      .add_option("file", options.file,
                  "MLIR module, text or bytecode, or what compile made of one; - for standard "
                  "input")
      ->required();
  command.add_option("--target", options.target, "tag, 'host', or a target in a .json file");
  command.add_option("--set", options.overrides, "override a field of the target: PATH=VALUE")
      ->allow_extra_args(false);
  addTargetCheck(command, options.target, options.overrides);
  command
      .add_option("--limit", options.limits,
                  "a stack limit, stronger than the target's, or one of sources: NAME=VALUE")
      ->allow_extra_args(false)
      ->check(
          [](const std::string &text) { return messageOf(targets::parseLimit(text).status()); });
  command
      .add_option("--policy", options.policy,
                  "allocation policy: auto, stack, workspace, heap or fixed:N")
      ->check([](const std::string &text) { return messageOf(targets::checkPolicy(text)); });
  command.add_option("--threads", options.threads, "threads at once, 0 for all")
      ->check(CLI::Range(0, 1024));
  command
      .add_option_function<std::string>(
          "--numerics",
          [&options](const std::string &name) {
            options.numerics = name == "strict" ? jit::Numerics::Strict : jit::Numerics::Default;
          },
          "strict: every operation rounds as the source says, in its order")
      ->check(CLI::IsMember({"default", "strict"}));
  command
      .add_option_function<std::string>(
          "--isolation",
          [&options](const std::string &name) { options.inProcess = name == "none"; },
          "worker: compile in a process that may die; none: in this one")
      ->check(CLI::IsMember({"worker", "none"}))
      ->default_str("worker");
  command.add_option("--device", options.device,
                     "runs what the source gives to no device: vulkan0, cuda0, ...; needs a target "
                     "that has it, 'host' unless told");
  command.add_flag("--oracle", options.oracle, "the plain lowering, without any optimisation");
  command.add_flag("--cache", options.cache, "keep compiled code in the user's cache folder");
  command.add_option("--cache-dir", options.cacheFolder, "another folder for --cache");
}

void addIrOption(CLI::App &command, ModuleOptions &options) {
  const std::vector<std::string_view> stages = jit::stageNames();
  command
      .add_option("--print-ir-after", options.irAfter,
                  "print, on standard error, the IR behind a stage of the compiler; again for "
                  "another one")
      ->allow_extra_args(false)
      ->check(CLI::IsMember(std::vector<std::string>(stages.begin(), stages.end())));
}

void addCallOptions(CLI::App &command, CallText &call) {
  command.add_option("--function,-f", call.function, "public function to call");
  command
      .add_option("--input,-i", call.inputs,
                  "argument: 2x3xf32=1,2,3,4,5,6 | 2x3xf32=0.5 | f32=3 | @in.npy | 2x3xf32=rnd:42")
      ->allow_extra_args(false)
      ->check([](const std::string &text) { return messageOf(text, checkValue(text)); });
  command.add_option("--param", call.parameters, "bind a parameter: NAME=@FILE.npy")
      ->allow_extra_args(false)
      ->check([](const std::string &text) { return messageOf(text, checkParameter(text)); });
  command.add_option("--pool", call.pools, "give a memory pool: NAME=BYTES")
      ->allow_extra_args(false)
      ->check([](const std::string &text) { return messageOf(checkPool(text)); });
  command.add_option("--params", call.parameterFiles, "bind all tensors of FILE.safetensors")
      ->allow_extra_args(false);
}

void addPrintOption(CLI::App &command, Print &print) {
  static const std::map<std::string, Print> values = {
      {"full", Print::Full}, {"summary", Print::Summary}, {"none", Print::None}};
  command
      .add_option_function<std::string>(
          "--print", [&print](const std::string &name) { print = values.at(name); },
          "full, summary (of more than 1,000 elements the first and last three of each "
          "dimension), or none")
      ->check(CLI::IsMember({"full", "summary", "none"}))
      ->default_str("summary");
}

void addToleranceOption(CLI::App &command, std::optional<double> &tolerance) {
  command
      .add_option_function<double>(
          "--tolerance", [&tolerance](double value) { tolerance = value; },
          "largest difference that is rounding, of floats, relative to the largest magnitude of "
          "the "
          "result; 0: bit for bit; unless told 1e-9 for f64, 0.001 for f32, 0.05 for f16, 0.25 for "
          "bf16 and f8E4M3FN, 0.5 for f8E5M2, and 0 with --numerics strict")
      ->check([](const std::string &text) {
        double value = 0;
        const char *end = text.data() + text.size();
        const auto [stop, error] = std::from_chars(text.data(), end, value);
        if (error != std::errc() || stop != end)
          value = std::numeric_limits<double>::quiet_NaN();
        return messageOf(checkTolerance(value));
      });
}

int endOfParse(const CLI::App &app, const CLI::ParseError &error, std::ostream &out,
               std::ostream &err) {
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success))
    return app.exit(error, out, err);
  err << "error: " << messageOf(app, error) << "\nRun with --help for more information.\n";
  return wrongCommandLine;
}

} // namespace plim::tools
