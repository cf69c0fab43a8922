// The command-line options that the programs share. Part of their main: included nowhere else.
#pragma once

#include "tools/ModuleCall.h"

#include <CLI/CLI.hpp>

namespace plim::tools {

constexpr int wrongCommandLine = 2;

inline void addModuleOptions(CLI::App &command, ModuleOptions &options) {
  command
      .add_option("file", options.file,
                  "MLIR module, text or bytecode, or what compile made of one")
      ->required();
  command.add_option("--target", options.target, "tag, 'host', or a target in a .json file");
  command.add_option("--set", options.overrides, "override a field of the target: PATH=VALUE");
  command.add_option("--limit", options.limits,
                     "a stack limit, stronger than the target's, or one of sources: NAME=VALUE");
  command.add_option("--policy", options.policy,
                     "allocation policy: auto, stack, workspace, heap or fixed:N");
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

inline void addCallOptions(CLI::App &command, CallText &call) {
  command.add_option("--function,-f", call.function, "public function to call");
  command
      .add_option("--input,-i", call.inputs,
                  "argument: 2x3xf32=1,2,3,4,5,6 | 2x3xf32=0.5 | f32=3 | @in.npy | 2x3xf32=rnd:42")
      ->allow_extra_args(false);
  command.add_option("--param", call.parameters, "bind a parameter: NAME=@FILE.npy")
      ->allow_extra_args(false);
  command.add_option("--pool", call.pools, "give a memory pool: NAME=BYTES");
  command.add_option("--params", call.parameterFiles, "bind all tensors of FILE.safetensors")
      ->allow_extra_args(false);
}

} // namespace plim::tools
