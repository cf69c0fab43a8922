// The command `run` of the command line with one option more: with `--device npu` everything that a
// device takes runs there. The device is another engine.
#include "tests/unit/session/EmulatedDevice.h"
#include "tools/CommandLine.h"
#include "tools/RunCommand.h"

#include <iostream>

int main(int argc, char **argv) {
  CLI::App app("run, with a device");
  app.require_subcommand(1);
  plim::tools::RunOptions run;
  CLI::App *command = app.add_subcommand("run", "load a module and call a function");
  plim::tools::addModuleOptions(*command, run.module);
  plim::tools::addCallOptions(*command, run.call);
  command->add_option("--device", run.module.device, "gets what the source gives to no device");
  CLI11_PARSE(app, argc, argv);
  run.module.devices = {plim::testing::makeEmulatedDevice("npu")};
  return plim::tools::runRunCommand(run, std::cout, std::cerr);
}
