// `plimsoll run` for drivers of tests: most of a short command is the start of its program, and compiling the
// module of the command before it once more.
//
//   plim_served run ...   as plimsoll does. There is one device more, `npu`, which is another engine; with
//                         `--device npu` a last line says how often it was launched
//   plim_served serve     such commands, one a line: the arguments behind `run`, with tabs between. Engines stay
//                         until the end, modules while commands name the same file; each call has variables of
//                         its own. The answer is a line with the exit status and with how many bytes follow of
//                         the standard output and of the standard error; then these
#include "tests/unit/session/EmulatedDevice.h"
#include "tools/CommandLine.h"
#include "tools/RunCommand.h"

#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace plim;
using namespace plim::tools;

/// One text for lists of texts.
std::string keyOf(const std::vector<std::vector<std::string>> &lists) {
  std::string key;
  for (const std::vector<std::string> &list : lists) {
    for (const std::string &word : list)
      key += word + '\t';
    key += '\n';
  }
  return key;
}

class Runs {
public:
  int run(std::vector<std::string> arguments, std::ostream &out, std::ostream &err) {
    CLI::App app("run, for tests");
    RunOptions run;
    addModuleOptions(app, run.module);
    addCallOptions(app, run.call);
    addPrintOption(app, run.print);
    try {
      std::reverse(arguments.begin(), arguments.end()); // as the library wants them
      app.parse(std::move(arguments));
    } catch (const CLI::ParseError &error) {
      return endOfParse(app, error, out, err);
    }
    const int before = log->launches;
    if (run.module.device == "npu")
      run.module.devices = {device};
    const Status status = call(run, out);
    if (!status.ok())
      err << "error: " << status.message() << '\n';
    if (run.module.device == "npu")
      out << "launches: " << log->launches - before << '\n';
    return status.ok() ? 0 : 1;
  }

private:
  struct Loaded {
    std::vector<runtime::Buffer> pools; // outlive the module
    std::shared_ptr<Module> module;
  };

  Status call(const RunOptions &run, std::ostream &out) {
    PLIM_ASSIGN_OR_RETURN(std::vector<runtime::Value> inputs, readInputs(run.call, memory));
    PLIM_ASSIGN_OR_RETURN(std::shared_ptr<Module> module, load(run));
    PLIM_ASSIGN_OR_RETURN(Function function, chooseFunction(*module, run.call));
    PLIM_RETURN_IF_ERROR(adaptScalars(function.signature(), memory, inputs));
    std::vector<runtime::Value> results(function.signature().results.size());
    CallOptions options;
    PLIM_ASSIGN_OR_RETURN(options.state, module->createState());
    PLIM_RETURN_IF_ERROR(function.callInto(inputs, results, options));
    printValues(function.signature(), inputs, results, run.print, out);
    return okStatus();
  }

  StatusOr<std::shared_ptr<Module>> load(const RunOptions &run) {
    const ModuleOptions &options = run.module;
    const std::string engineKey =
        keyOf({{options.target, options.policy, std::to_string(options.threads),
                std::to_string(int(options.numerics.value_or(jit::Numerics::Default))),
                std::to_string(options.inProcess), options.device, std::to_string(options.cache),
                options.cacheFolder},
               options.overrides,
               options.limits});
    std::shared_ptr<Engine> &engine = engines[engineKey];
    if (!engine) {
      PLIM_ASSIGN_OR_RETURN(engine, makeEngine(options));
    }
    if (file != options.file)
      modules.clear();
    file = options.file;
    Loaded &loaded = modules[engineKey + keyOf({{std::to_string(options.oracle)},
                                                run.call.parameters,
                                                run.call.parameterFiles,
                                                run.call.pools})];
    if (!loaded.module) {
      LoadOptions load;
      load.oracle = options.oracle;
      load.device = options.device;
      PLIM_ASSIGN_OR_RETURN(load.parameters, readParameters(run.call, memory));
      PLIM_ASSIGN_OR_RETURN(load.pools, makePools(run.call, memory, loaded.pools));
      PLIM_ASSIGN_OR_RETURN(loaded.module, engine->loadFile(options.file, load));
    }
    return loaded.module;
  }

  std::shared_ptr<runtime::MemoryPool> memory = std::make_shared<runtime::MemoryPool>();
  std::shared_ptr<testing::DeviceLog> log = std::make_shared<testing::DeviceLog>();
  std::shared_ptr<const Device> device = testing::makeEmulatedDevice("npu", log);
  std::map<std::string, std::shared_ptr<Engine>> engines;
  std::string file;
  std::map<std::string, Loaded> modules; // of the file
};

std::vector<std::string> split(const std::string &line) {
  std::vector<std::string> words;
  std::istringstream in(line);
  for (std::string word; std::getline(in, word, '\t');)
    words.push_back(word);
  return words;
}

int serve(Runs &runs) {
  for (std::string line; std::getline(std::cin, line);) {
    std::ostringstream out, err;
    const int status = runs.run(split(line), out, err);
    std::cout << status << ' ' << out.str().size() << ' ' << err.str().size() << '\n'
              << out.str() << err.str() << std::flush;
  }
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  Runs runs;
  const std::string_view command = argc > 1 ? argv[1] : "";
  if (command == "serve" && argc == 2)
    return serve(runs);
  if (command == "run")
    return runs.run({argv + 2, argv + argc}, std::cout, std::cerr);
  std::cerr << "usage: plim_served run FILE ... | serve\n";
  return wrongCommandLine;
}
