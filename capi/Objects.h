// What is behind each kind of handle but statuses and buffers: an Object (Handle.h), whose word is
// `kind` and whose name in messages is `name`, and the thing of the engine that it owns a share of.
//
//   auto *module = makeHandle<plim_module>(engine->quarantine);
//   module->module = *std::move(loaded);
//
// Must not do anything: what functions of the C interface do is in the sources that are called like
// the headers of include/plimsoll. Threads: as each of those headers says of its object; nothing is
// locked here.
#pragma once

#include "capi/Handle.h"
#include "engine/session/Engine.h"
#include "targets/TargetDescription.h"

#include <stop_token>
#include <string>
#include <vector>

struct plim_target : plim::capi::Object<plim_target> {
  static constexpr plim::capi::Word kind = plim::capi::Word::Target;
  static constexpr const char *name = "target";
  plim::targets::TargetDescription description;
  /// What went wrong when it was read without being fatal: an engine logs it.
  std::vector<plim::Status> warnings;
};

struct plim_engine : plim::capi::Object<plim_engine> {
  static constexpr plim::capi::Word kind = plim::capi::Word::Engine;
  static constexpr const char *name = "engine";
  std::shared_ptr<plim::Engine> engine;
};

struct plim_module : plim::capi::Object<plim_module> {
  static constexpr plim::capi::Word kind = plim::capi::Word::Module;
  static constexpr const char *name = "module";
  std::shared_ptr<plim::Module> module;
};

struct plim_function : plim::capi::Object<plim_function> {
  static constexpr plim::capi::Word kind = plim::capi::Word::Function;
  static constexpr const char *name = "function";
  plim::Function function;
};

struct plim_parameters : plim::capi::Object<plim_parameters> {
  static constexpr plim::capi::Word kind = plim::capi::Word::Parameters;
  static constexpr const char *name = "parameters";
  plim::Parameters byName = {};
};

struct plim_state : plim::capi::Object<plim_state> {
  static constexpr plim::capi::Word kind = plim::capi::Word::State;
  static constexpr const char *name = "state";
  std::shared_ptr<plim::ModuleState> state;
};

struct plim_event : plim::capi::Object<plim_event> {
  static constexpr plim::capi::Word kind = plim::capi::Word::Event;
  static constexpr const char *name = "event";
  plim::Event event = {};
};

struct plim_stop : plim::capi::Object<plim_stop> {
  static constexpr plim::capi::Word kind = plim::capi::Word::Stop;
  static constexpr const char *name = "stop";
  std::stop_source source = {};
};

struct plim_host_functions : plim::capi::Object<plim_host_functions> {
  static constexpr plim::capi::Word kind = plim::capi::Word::HostFunctions;
  static constexpr const char *name = "host functions";
  plim::HostFunctions byName = {};
};

struct plim_device : plim::capi::Object<plim_device> {
  static constexpr plim::capi::Word kind = plim::capi::Word::Device;
  static constexpr const char *name = "device";
  std::shared_ptr<const plim::Device> device;
};

struct plim_report : plim::capi::Object<plim_report> {
  static constexpr plim::capi::Word kind = plim::capi::Word::Report;
  static constexpr const char *name = "report";
  std::string text;
};

struct plim_bytes : plim::capi::Object<plim_bytes> {
  static constexpr plim::capi::Word kind = plim::capi::Word::Bytes;
  static constexpr const char *name = "bytes";
  std::string content;
};
