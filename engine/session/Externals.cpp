#include "engine/session/GpuDevices.h"
#include "engine/session/State.h"
#include "support/Nearest.h"

#include <algorithm>
#include <cctype>
#include <set>

namespace plim {

using namespace session;

namespace {

std::string withoutSpaces(std::string text) {
  std::erase_if(text, [](unsigned char c) { return std::isspace(c); });
  return text;
}

/// The function that a declaration is bound to: of the load, else of the engine. Null: of neither.
const HostFunction *find(const HostFunctions &ofLoad, const HostFunctions &ofEngine,
                         const std::string &name) {
  for (const HostFunctions *functions : {&ofLoad, &ofEngine})
    if (auto it = functions->find(name); it != functions->end())
      return &it->second;
  return nullptr;
}

std::string whatIs(const jit::ExternalFunction &external) {
  return external.location + "host function '" + external.name + "' ";
}

/// The message for a function that is not bound: where it is called, and which bound name is near.
std::string unbound(const jit::ExternalFunction &external, const HostFunctions &ofLoad,
                    const HostFunctions &ofEngine) {
  constexpr size_t most = 8;
  std::string text = whatIs(external) + "of type " + external.signature + " is not bound";
  for (size_t i = 0; i < std::min(external.calls.size(), most); ++i)
    text += (i ? ", " : "; called at ") + external.calls[i];
  if (external.calls.size() > most)
    text += " and " + std::to_string(external.calls.size() - most) + " more places";
  std::vector<std::string> names;
  for (const HostFunctions *functions : {&ofLoad, &ofEngine})
    for (const auto &[name, each] : *functions)
      if (each.function)
        names.push_back(name);
  return text + suggestion(external.name, names);
}

Status checkExternal(const jit::ExternalFunction &external, const HostFunction *function) {
  const std::string what = whatIs(external);
  if (!function->signature.empty() &&
      withoutSpaces(function->signature) != withoutSpaces(external.signature))
    return errorAtPlace(StatusCode::InvalidArgument, what + "is declared as " + external.signature +
                                                         ", but the one that it is bound to is " +
                                                         function->signature);
  if (external.isPure && function->kind != HostFunctionKind::Pure)
    return errorAtPlace(StatusCode::InvalidArgument,
                        what + "is declared pure, but the one that it is bound to is not");
  return okStatus();
}

/// The function that runs a dispatch which was compiled for a device.
/// `turn` gets what serial ones take turns with.
StatusOr<HostFunction> loadCode(const jit::ExternalFunction &dispatch, const Device *device,
                                HostFunction &turn) {
  if (!device)
    return errorAtPlace(StatusCode::FailedPrecondition,
                        dispatch.location + "this is compiled for device '" + dispatch.device +
                            "', which the engine does not have");
  const std::string what = dispatch.location + "device '" + dispatch.device + "' ";
  if (!dispatch.name.starts_with(dispatch.device + "."))
    return errorAtPlace(StatusCode::DataLoss,
                        dispatch.location + "'" + dispatch.name + "' is no code of a device");
  if (!device->load)
    return errorAtPlace(StatusCode::FailedPrecondition,
                        what + "has no load: its code is for other programs");
  auto function = withoutThrowing<HostFunction>([&] {
    return device->load(dispatch.name.substr(dispatch.device.size() + 1), dispatch.code);
  });
  if (!function.ok())
    return errorAtPlace(function.status().code(), what + "does not load its code: " +
                                                      std::string(function.status().message()));
  if (!function->function)
    return errorAtPlace(StatusCode::Internal, what + "has made no function of its code");
  // One launch of the device at a time, whatever it runs.
  if (function->kind == HostFunctionKind::Serial)
    turn = {.user = const_cast<Device *>(device)};
  return function;
}

} // namespace

std::vector<jit::ExternalBinding> bindingsOf(const Externals &externals) {
  std::vector<jit::ExternalBinding> bindings;
  for (const auto &external : externals)
    bindings.emplace_back(external->name, external.get());
  return bindings;
}

StatusOr<Externals> Engine::State::bindExternals(const jit::Artifact &artifact,
                                                 const HostFunctions &ofLoad) {
  Externals externals;
  std::string missing; // a line for each
  std::vector<Diagnostic> places;
  for (const jit::ExternalFunction &external : artifact.externals) {
    HostFunction function, turn;
    if (!external.device.empty()) {
      std::shared_ptr<const Device> device = deviceOf(external.device);
      if (device && std::ranges::find(options.devices, device) == options.devices.end())
        if (Status status = session::checkGpuCode(external.signature, external.code); !status.ok())
          return errorAtPlace(status.code(), external.location + "device '" + external.device +
                                                 "': " + std::string(status.message()));
      PLIM_ASSIGN_OR_RETURN(function, loadCode(external, device.get(), turn));
    } else {
      const HostFunction *found = find(ofLoad, options.functions, external.name);
      if (!found || !found->function) {
        const std::string text = unbound(external, ofLoad, options.functions);
        missing += (missing.empty() ? "" : "\n") + text;
        if (std::optional<Diagnostic> diagnostic = diagnosticOf(text))
          places.push_back(std::move(*diagnostic));
        continue;
      }
      PLIM_RETURN_IF_ERROR(checkExternal(external, found));
      turn = function = *found;
    }
    std::vector<runtime::OpenResult> openResults;
    for (const auto &[index, type] : external.openResults) {
      std::optional<runtime::ElementType> element = runtime::elementTypeFromName(type.element);
      if (!element)
        return dataLossError(artifact.source + " has no type of elements '" + type.element + "'");
      openResults.push_back({index, runtime::elementBytes(*element), type.shape});
    }
    externals.push_back(std::make_unique<const plim_external>(
        plim_external{external.name, function.function, function.user,
                      function.kind == HostFunctionKind::Serial ? turnOf(turn) : nullptr,
                      function.owner, std::move(openResults), external.device}));
  }
  if (!missing.empty())
    return Status(StatusCode::FailedPrecondition, missing, std::move(places));
  return externals;
}

} // namespace plim
