// What a command line says of a module and of a call of it, made ready for the engine.
//
// Shared by the programs that load a module and call one function. Must not know what is done with
// the results. Errors name the option's text.
#pragma once

#include "engine/session/Engine.h"

#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plim::tools {

/// What a command line says of a module: how it is read, compiled and loaded.
struct ModuleOptions {
  std::string file;                   // "-": standard input
  std::string target;                 // empty: host-cpu
  std::vector<std::string> overrides; // path=value, in order
  std::vector<std::string> limits;    // name=value, in order
  std::string policy;                 // empty: auto
  int threads = 0;
  bool oracle = false;
  std::optional<jit::Numerics> numerics;
  /// Compile in this process.
  bool inProcess = false;
  bool checked = false;
  bool perfMap = false;  // EngineOptions::perfMap
  bool debugger = false; // EngineOptions::debugger
  Specialization specialization = Specialization::None;
  Devices devices;    // of a program that has some; plimsoll has none
  std::string device; // LoadOptions::device
  bool cache = false;
  std::string cacheFolder;          // empty: the default one
  std::vector<std::string> irAfter; // stages behind which the IR is printed
};

/// What of it a load is told. The IR goes to `err`, which must outlive the load.
LoadOptions loadOptions(const ModuleOptions &options, std::ostream &err);

/// What a command line says of a call, as text.
struct CallText {
  std::string function;                    // empty: the only public one
  std::vector<std::string> inputs;         // texts of tools/io/ValueText.h, @FILE.npy
  std::vector<std::string> parameters;     // NAME=VALUE, mostly NAME=@FILE.npy
  std::vector<std::string> parameterFiles; // .safetensors
  std::vector<std::string> pools;          // NAME=BYTES
};

// What the texts have wrong in themselves, whatever is in the files that they name: InvalidArgument
// or NotFound. For the program that reads the command line, which is then wrong; all below tell it
// too.
Status checkTarget(const std::string &target, const std::vector<std::string> &overrides);
Status checkParameter(const std::string &text);
Status checkPool(const std::string &text);

/// Unavailable, with the reason, where a file cannot be written. Nothing is written: for the time
/// before the work.
Status checkWritable(const std::string &path);

using PoolPtr = std::shared_ptr<runtime::MemoryPool>;

/// The errors are those of Engine::create().
StatusOr<std::shared_ptr<Engine>> makeEngine(const ModuleOptions &options,
                                             std::shared_ptr<Profiler> profiler = nullptr);
/// The module as messages name it.
std::string moduleName(const ModuleOptions &options);
/// A module as it was read.
struct ModuleText {
  std::string text;           // or bytecode, or an artifact
  Parameters parameters = {}; // of a model, which keep their memory
};
/// Reads the file, or standard input, and imports a model of another format.
StatusOr<ModuleText> readModuleText(const ModuleOptions &options);
/// The text alone.
StatusOr<std::string> readModule(const ModuleOptions &options);
/// `check` sees the text of a module before it is compiled, and ends the load if it fails.
StatusOr<std::shared_ptr<Module>>
loadModule(const ModuleOptions &options, Engine &engine, const LoadOptions &load,
           const std::function<Status(std::string_view text)> &check);
/// The same of what was read already.
StatusOr<std::shared_ptr<Module>> loadModuleText(const ModuleText &module,
                                                 const ModuleOptions &options, Engine &engine,
                                                 LoadOptions load);
/// For a file that turns out to be compiled already: InvalidArgument with the names of those
/// options that say how to compile.
Status checkPrecompiled(const ModuleOptions &options);
/// The values that the texts stand for; memory comes from `pool` where a value needs some.
StatusOr<std::vector<runtime::Value>> readInputs(const CallText &call, const PoolPtr &pool);
StatusOr<Parameters> readParameters(const CallText &call, const PoolPtr &pool);
/// Memory for the pools, which `memories` comes to own.
StatusOr<Pools> makePools(const CallText &call, const PoolPtr &pool,
                          std::vector<runtime::Buffer> &memories);
/// The function that the call names, or the only public one. NotFound for a name that there is not;
/// InvalidArgument if the call names none and there are several.
StatusOr<Function> chooseFunction(const Module &module, const CallText &call);
/// The text of a tensor of rank 0 is that of a scalar: the signature tells which is meant.
Status adaptScalars(const jit::FunctionSignature &signature, const PoolPtr &pool,
                    std::vector<runtime::Value> &inputs);
/// The same, and random numbers, always the same ones, for a call that has no inputs.
/// InvalidArgument if an argument has extents that only a call knows.
Status completeInputs(const jit::FunctionSignature &signature, const PoolPtr &pool,
                      std::vector<runtime::Value> &inputs);

} // namespace plim::tools
