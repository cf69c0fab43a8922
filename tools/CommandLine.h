// The command-line options that the programs share, and what is said where a command line is wrong.
//
// A value that is wrong in itself is an error of the parse: nothing has been done by then. Must not know what commands do.
#pragma once

#include "tools/RunCommand.h"

#include <CLI/CLI.hpp>

#include <iosfwd>
#include <optional>

namespace plim::tools {

constexpr int wrongCommandLine = 2;

/// Of a program whose subcommands are the commands.
void addVersionFlag(CLI::App &app);

/// At the end of the parse of the command, which names them.
void addTargetCheck(CLI::App &command, const std::string &target,
                    const std::vector<std::string> &overrides);
void addModuleOptions(CLI::App &command, ModuleOptions &options);
void addIrOption(CLI::App &command, ModuleOptions &options);
void addCallOptions(CLI::App &command, CallText &call);
void addPrintOption(CLI::App &command, Print &print);
void addToleranceOption(CLI::App &command, std::optional<double> &tolerance);

/// The exit status of a parse that ended: 0 after help or a version, which go to `out`, otherwise wrongCommandLine, after
/// one message on `err`, with what is nearest to a misspelt command or option.
int endOfParse(const CLI::App &app, const CLI::ParseError &error, std::ostream &out,
               std::ostream &err);

} // namespace plim::tools
