// plimsoll: the command line. Arguments in, one of the commands called; nothing else.
#include "tools/BisectCommand.h"
#include "tools/CommandLine.h"
#include "tools/CompileCommand.h"
#include "tools/ExplainCommand.h"
#include "tools/ImportCommand.h"
#include "tools/PlanCommand.h"
#include "tools/ProfileCommand.h"
#include "tools/RunCommand.h"
#include "tools/TargetsCommand.h"

#include <cstdint>
#include <iostream>
#include <limits>
#include <unistd.h>

namespace {

CLI::App *addPlanCommand(CLI::App &app, plim::tools::PlanOptions &options) {
  const CLI::Range notNegative(int64_t(0), std::numeric_limits<int64_t>::max());
  CLI::App *command = app.add_subcommand("plan", "the static memory planner on its own");
  command->add_option("file", options.file, "buffers, in CSV: id,lower,upper,size")->required();
  CLI::Option *capacity =
      command->add_option("--capacity", options.capacity, "most bytes that a plan may have")
          ->check(notNegative);
  command
      ->add_option("--pool", options.pools,
                   "instead, a pool, best first: NAME[=[BYTES][:ALIGNMENT[:WEIGHT]]]")
      ->allow_extra_args(false)
      ->excludes(capacity);
  command->add_option("--budget", options.nodes, "placements to try")->check(notNegative);
  command->add_option("--time", options.seconds, "seconds until the best plan so far is taken")
      ->check(CLI::Range(0.0, 1e6));
  command->add_option("--threads", options.threads, "threads that search, 0 for all")
      ->check(CLI::Range(0, 1024));
  command
      ->add_option("--orders", options.orders,
                   "orders of the buffers that are searched side by side, for many threads")
      ->check(CLI::Range(1, 64));
  command->add_option("--output,-o", options.output, "write the solution to FILE.csv");
  command->add_option("--svg", options.svg, "draw the plan in FILE.svg");
  command->add_option("--certificate", options.certificate,
                      "write a proof that no plan is better to FILE, for few buffers");
  return command;
}

/// What a command printed may not have arrived.
int flushed(int status, int failure = 1) {
  if (std::cout.flush() || status != 0)
    return status;
  std::cerr << "error: cannot write to standard output\n";
  return failure;
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app("Plimsoll: compile MLIR modules for this machine and run them", "plimsoll");
  app.require_subcommand(1);
  plim::tools::addVersionFlag(app);

  plim::tools::TargetsOptions targets;
  CLI::App *targetsCommand =
      app.add_subcommand("targets", "what this machine and its devices can do");
  CLI::Option *target = targetsCommand->add_option("target", targets.target,
                                                   "tag, 'host', or a target in a .json file");
  CLI::Option *set =
      targetsCommand->add_option("--set", targets.overrides, "override a field: PATH=VALUE")
          ->allow_extra_args(false);
  plim::tools::addTargetCheck(*targetsCommand, targets.target, targets.overrides);
  CLI::Option *json = targetsCommand->add_flag("--json", targets.json,
                                               "print JSON that can be read back as a target");
  CLI::Option *tags = targetsCommand->add_flag("--tags", targets.tags, "list the known tags");
  targetsCommand
      ->add_flag("--calibrate", targets.calibrate,
                 "measure where the stack stops paying, and keep it for this machine")
      ->excludes(target)
      ->excludes(set)
      ->excludes(json)
      ->excludes(tags);

  plim::tools::RunOptions run;
  CLI::App *runCommand = app.add_subcommand("run", "load a module and call a function");
  plim::tools::addModuleOptions(*runCommand, run.module);
  plim::tools::addCallOptions(*runCommand, run.call);
  runCommand->add_option("--output,-o", run.outputs, "write the next result to FILE.npy")
      ->allow_extra_args(false);
  runCommand->add_flag("--checked", run.module.checked,
                       "find accesses out of range and writes to what is read-only");
  plim::tools::addPrintOption(*runCommand, run.print);
  runCommand->add_option("--repeat", run.repeat, "call this often")
      ->check(CLI::Range(int64_t(1), std::numeric_limits<int64_t>::max(), "at least 1"));
  using enum plim::Specialization;
  runCommand->add_flag("--specialize", run.specialize,
                       "compile for the extents of the inputs before the first call");
  runCommand->add_flag_callback(
      "--specialize-hot", [&] { run.module.specialization = Hot; },
      "compile in the background for extents that calls keep coming with");
  runCommand->add_flag("--lazy", run.lazy, "compile the function that is called alone");
  runCommand->add_flag("--stats", run.stats,
                       "print, on standard error: times of loading, percentiles of the calls (each "
                       "adds about 0.2 us a "
                       "dispatch for the counting), bytes of arguments and results by time, peaks "
                       "of memory, dispatches");
  runCommand->add_option("--trace", run.trace,
                         "write what ran when, and where, to FILE.json for ui.perfetto.dev");
  runCommand->add_option("--dump-asm", run.assembly,
                         "write the assembly to FILE, - for standard output");

  plim::tools::addIrOption(*runCommand, run.module);

  runCommand->add_flag("--perf", run.module.perfMap,
                       "tell perf the names of generated code, in /tmp/perf-PID.map");
  runCommand->add_flag("--gdb", run.module.debugger,
                       "tell GDB the names of generated code, which has breakpoints then");

  plim::tools::CompileOptions compile;
  CLI::App *compileCommand = app.add_subcommand(
      "compile", "make a module ready for a target, to be run without compiling it again");
  plim::tools::addModuleOptions(*compileCommand, compile.module);
  plim::tools::addIrOption(*compileCommand, compile.module);
  compileCommand->add_flag("--checked", compile.module.checked, "for run --checked");
  compileCommand->add_option("--output,-o", compile.output, "the file to write")->required();
  CLI::Option *header = compileCommand->add_option(
      "--header", compile.header,
      "write an object for a program without the engine, and its C header to this file");
  compileCommand->add_option("--library", compile.library, "write the object into an archive, too")
      ->needs(header);
  compileCommand
      ->add_option("--name", compile.name,
                   "in front of the names in the header; that of the module's file unless told")
      ->needs(header);

  plim::tools::ExplainOptions explain;
  CLI::App *explainCommand =
      app.add_subcommand("explain", "every placement and access, with the reason");
  plim::tools::addModuleOptions(*explainCommand, explain.module);
  explainCommand->add_flag("--policies", explain.policies,
                           "what every policy would have cost: compiles with each");
  explainCommand->add_flag("--json", explain.json, "for programs");
  explainCommand->add_option("--html", explain.page,
                             "write a page to FILE.html: graph, source, maps of the memory");

  plim::tools::ProfileOptions profile;
  CLI::App *profileCommand = app.add_subcommand(
      "profile",
      "call a function, and say what its dispatches take beside what the machine can do");
  plim::tools::addModuleOptions(*profileCommand, profile.module);
  plim::tools::addCallOptions(*profileCommand, profile.call);
  profileCommand
      ->add_option("--repeat", profile.repeat, "measure this many calls; unless told, for a second")
      ->check(CLI::Range(int64_t(1), std::numeric_limits<int64_t>::max(), "at least 1"));
  profileCommand->add_flag("--json", profile.json, "for programs");
  profileCommand->add_option("--html", profile.page,
                             "write the page of explain to FILE.html, with times and a timeline");

  plim::tools::BisectOptions bisect;
  CLI::App *bisectCommand = app.add_subcommand(
      "bisect", "compare a call with the plain lowering, and find what makes it wrong");
  plim::tools::addModuleOptions(*bisectCommand, bisect.module);
  bisectCommand->get_option("file")->description(
      "MLIR module, text or bytecode; - for standard input");
  bisectCommand->remove_option(bisectCommand->get_option("--oracle")); // the other side
  plim::tools::addCallOptions(*bisectCommand, bisect.call);
  bisectCommand->add_flag("--checked", bisect.module.checked,
                          "find accesses out of range and writes to what is read-only");
  plim::tools::addToleranceOption(*bisectCommand, bisect.tolerance);

  plim::tools::ImportOptions import;
  CLI::App *importCommand = app.add_subcommand(
      "import", "write a model in ONNX's format as a module, and its parameters beside it");
  importCommand->add_option("file", import.file, "the model")->required();
  importCommand->add_option("--output,-o", import.folder,
                            "the folder to write NAME.mlir and NAME.safetensors to");
  importCommand->add_flag("--summary", import.summary, "print what came in");

  plim::tools::PlanOptions plan;
  CLI::App *planCommand = addPlanCommand(app, plan);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return plim::tools::endOfParse(app, error, std::cout, std::cerr);
  }
  if (*targetsCommand)
    return flushed(plim::tools::runTargetsCommand(targets, std::cout, std::cerr));
  run.progress = compile.progress = explain.progress = profile.progress = bisect.progress =
      isatty(STDERR_FILENO) != 0;
  if (*runCommand)
    return flushed(plim::tools::runRunCommand(run, std::cout, std::cerr));
  if (*compileCommand)
    return plim::tools::runCompileCommand(compile, std::cerr);
  if (*profileCommand)
    return flushed(plim::tools::runProfileCommand(profile, std::cout, std::cerr));
  if (*bisectCommand)
    return flushed(plim::tools::runBisectCommand(bisect, std::cout, std::cerr),
                   plim::tools::bisectError);
  if (*importCommand)
    return flushed(plim::tools::runImportCommand(import, std::cout, std::cerr));
  if (*planCommand)
    return flushed(plim::tools::runPlanCommand(plan, std::cout, std::cerr));
  return flushed(plim::tools::runExplainCommand(explain, std::cout, std::cerr));
}
