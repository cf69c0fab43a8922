// plimsoll-bench: what allocation policies cost, on a user's own module or on our workloads.
//
//   plimsoll-bench policies net.mlir --params weights.safetensors --input 8x3x224x224xf32=rnd:1
//
// A table on standard output; on request JSON in the schema of google-benchmark, so that its tools
// compare two runs, and a plot. What is measured: Race.h.
#include "bench/policies/Report.h"
#include "bench/policies/Workloads.h"
#include "targets/AllocationOptions.h"
#include "tools/CommandLine.h"

#include <fstream>
#include <iostream>

namespace plim::bench {
namespace {

struct PoliciesOptions {
  std::string file; // empty: our workloads
  tools::CallText call;
  std::vector<std::string> policies = RaceOptions().policies;
  std::vector<int> threads = {1};
  double seconds = RaceOptions().seconds;
  std::string filter; // of our workloads
  std::string json, svg;
};

Status writeFile(const std::string &path, const std::string &text) {
  if (path.empty() || (std::ofstream(path) << text).flush())
    return okStatus();
  return unavailableError("cannot write '" + path + "'");
}

StatusOr<std::vector<Workload>> chooseWorkloads(const PoliciesOptions &options) {
  if (!options.file.empty()) {
    tools::ModuleOptions module;
    module.file = options.file;
    PLIM_ASSIGN_OR_RETURN(std::string source, tools::readModule(module));
    return std::vector<Workload>{{tools::moduleName(module), std::move(source), options.call}};
  }
  PLIM_ASSIGN_OR_RETURN(std::vector<Workload> workloads, makeWorkloads(PLIM_DIGITS_FOLDER));
  std::erase_if(workloads, [&](const Workload &workload) {
    return workload.name.find(options.filter) == std::string::npos;
  });
  if (workloads.empty())
    return notFoundError("no workload has '" + options.filter + "' in its name");
  return workloads;
}

Status runPolicies(const PoliciesOptions &options) {
  for (const std::string &output : {options.json, options.svg})
    if (!output.empty())
      PLIM_RETURN_IF_ERROR(tools::checkWritable(output));
  PLIM_ASSIGN_OR_RETURN(std::vector<Workload> workloads, chooseWorkloads(options));
  std::vector<Result> results;
  for (int threads : options.threads)
    for (const Workload &workload : workloads) {
      StatusOr<std::vector<Lap>> laps =
          race(workload, {options.policies, threads, options.seconds});
      if (!laps.ok())
        return options.file.empty() ? laps.status().withContext(workload.name) : laps.status();
      results.push_back({workload.name, threads, std::move(*laps)});
      print(results.back(), std::cout);
    }
  PLIM_RETURN_IF_ERROR(writeFile(options.json, toJson(results)));
  return writeFile(options.svg, plot(results));
}

} // namespace
} // namespace plim::bench

int main(int argc, char **argv) {
  CLI::App app("plimsoll-bench: what allocation policies cost", "plimsoll-bench");
  app.require_subcommand(1);
  plim::bench::PoliciesOptions options;
  CLI::App *policies = app.add_subcommand(
      "policies", "one function under several allocation policies, in turns in one process");
  policies->add_option("file", options.file,
                       "MLIR module, - for standard input; without one, our own workloads");
  plim::tools::addCallOptions(*policies, options.call);
  policies
      ->add_option("--policy", options.policies,
                   "policies to compare, the first one is the measure: auto,stack,heap,fixed:N,...")
      ->delimiter(',')
      ->check([](const std::string &text) {
        return std::string(plim::targets::checkPolicy(text).message());
      });
  policies->add_option("--threads", options.threads, "threads at once: 1,2,...; 0 for all")
      ->delimiter(',')
      ->check(CLI::Range(0, 1024));
  policies->add_option("--seconds", options.seconds, "of measuring, for each function")
      ->check(CLI::PositiveNumber);
  policies->add_option("--filter", options.filter, "only workloads with this in their name");
  policies->add_option("--json", options.json, "write the results to FILE");
  policies->add_option("--svg", options.svg, "draw the times into FILE");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return plim::tools::endOfParse(app, error, std::cout, std::cerr);
  }
  plim::Status status = plim::bench::runPolicies(options);
  if (status.ok())
    return 0;
  std::cerr << "error: " << status.message() << "\n";
  return 1;
}
