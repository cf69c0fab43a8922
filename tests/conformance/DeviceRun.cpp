// The command `run` of the command line with one option more: with `--device npu` everything that a
// device takes runs there. The device is another engine. A last line says how often it was launched.
#include "tests/unit/session/EmulatedDevice.h"
#include "tools/CommandLine.h"
#include "tools/RunCommand.h"

#include <iostream>
#include <memory>

int main(int argc, char **argv) {
  CLI::App app("run, with a device");
  app.require_subcommand(1);
  plim::tools::RunOptions run;
  CLI::App *command = app.add_subcommand("run", "load a module and call a function");
  plim::tools::addModuleOptions(*command, run.module);
  plim::tools::addCallOptions(*command, run.call);
  CLI11_PARSE(app, argc, argv);
  auto log = std::make_shared<plim::testing::DeviceLog>();
  run.module.devices = {plim::testing::makeEmulatedDevice("npu", log)};
  const int status = plim::tools::runRunCommand(run, std::cout, std::cerr);
  std::cout << "launches: " << log->launches << '\n';
  return status;
}
