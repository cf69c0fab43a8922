#include "jit/Session.h"

#include "jit/CheckFixups.h"
#include "jit/ConstantTable.h"
#include "jit/Exhaustion.h"
#include "jit/MathSymbols.h"
#include "jit/PerfMap.h"

#include "llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/Core.h"
#include "llvm/ExecutionEngine/Orc/Debugging/ELFDebugObjectPlugin.h"
#include "llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h"
#include "llvm/ExecutionEngine/Orc/SelfExecutorProcessControl.h"
#include "llvm/ExecutionEngine/Orc/TaskDispatch.h"
#include "llvm/Support/MemoryBuffer.h"

#include <atomic>
#include <map>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

using namespace llvm;
using namespace llvm::orc;

namespace plim::jit {

namespace {

Status toStatus(Error error, StringRef what) {
  std::string message = toString(std::move(error));
  if (message.find("Permission denied") != std::string::npos)
    return unavailableError(
        (what + ": this process may not map executable memory: " + message).str());
  if (message.find("Cannot allocate memory") != std::string::npos)
    return resourceExhaustedError((what + ": " + message).str());
  return internalError((what + ": " + message).str());
}

/// Unavailable if what was written may not be executed: some systems refuse that to a process.
Status checkExecutableMemory() {
  const auto bytes = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  void *page = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED)
    return resourceExhaustedError("no memory for a JIT session");
  const bool mayExecute = mprotect(page, bytes, PROT_READ | PROT_EXEC) == 0;
  munmap(page, bytes);
  return mayExecute ? okStatus()
                    : unavailableError("this process may not map executable memory, which "
                                       "compiled code needs");
}

/// Pages for constants, filled once.
class DataPages {
public:
  DataPages() = default;
  ~DataPages() {
    if (base)
      munmap(base, bytes);
  }
  DataPages(const DataPages &) = delete;
  DataPages &operator=(const DataPages &) = delete;

  bool allocate(size_t size) {
    if (size == 0)
      return true;
    void *memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      return false;
    base = memory;
    bytes = size;
    // Large pages, where the system has them to give: panels are read in order, more than one page after the other.
    (void)madvise(base, bytes, MADV_HUGEPAGE);
    return true;
  }
  bool protect() { return !base || mprotect(base, bytes, PROT_READ) == 0; }
  char *data() { return static_cast<char *>(base); }

private:
  void *base = nullptr;
  size_t bytes = 0;
};

/// Resolves what generated code may call: the runtime's symbols and the list of math functions.
class HostSymbolGenerator : public DefinitionGenerator {
public:
  explicit HostSymbolGenerator(std::map<std::string, void *, std::less<>> symbols)
      : symbols(std::move(symbols)) {}

  Error tryToGenerate(LookupState &, LookupKind, JITDylib &dylib, JITDylibLookupFlags,
                      const SymbolLookupSet &lookup) override {
    SymbolMap found;
    for (const auto &[name, flags] : lookup) {
      std::string_view text = *name;
      void *address = nullptr;
      if (auto it = symbols.find(text); it != symbols.end())
        address = it->second;
      else
        address = mathSymbol(text);
      if (address)
        found[name] = {ExecutorAddr::fromPtr(address),
                       JITSymbolFlags::Exported | JITSymbolFlags::Callable};
    }
    if (found.empty())
      return Error::success();
    return dylib.define(absoluteSymbols(std::move(found)));
  }

private:
  std::map<std::string, void *, std::less<>> symbols;
};

} // namespace

struct Session::Impl {
  std::unique_ptr<ExecutionSession> execution;
  std::unique_ptr<ObjectLinkingLayer> linker;
  JITDylib *host = nullptr;
  ConstantTable constants; // the large ones of all modules
  /// Held by whoever is in LLVM: it links one thing at a time anyway, a failure finds its own reason, and nobody waits
  /// in there for one that ran out of memory.
  std::mutex mutex;
  /// LLVM ran out of memory: what it had locked stays locked, and nobody enters it any more. The module that was being
  /// linked, or removed, is never freed, so that this is not either.
  std::atomic<bool> isBroken = false;
  uint64_t modules = 0;
  /// What ORC reported last: a failed lookup names only the symbols, not why they are missing.
  std::string reason;

  Status start(std::span<const HostSymbol> symbols, SessionOptions options);

  /// The symbols of objects that see `data`, and what the host offers, in a library of their own.
  Status link(LinkedModule::State &state, const Artifact &artifact,
              const std::vector<std::pair<std::string, const void *>> &data);

  /// Links what the symbols need.
  StatusOr<SymbolMap> lookup(JITDylib &dylib, const SymbolLookupSet &symbols, StringRef what) {
    reason.clear();
    Expected<SymbolMap> found = execution->lookup(makeJITDylibSearchOrder(&dylib), symbols);
    if (found)
      return std::move(*found);
    if (reason.empty())
      return toStatus(found.takeError(), what);
    consumeError(found.takeError());
    return toStatus(createStringError(reason), what);
  }

  ~Impl() {
    bool hasEnded = !execution;
    if (execution)
      (void)catchExhaustion(okStatus(), [&] {
        consumeError(execution->endSession());
        hasEnded = true;
        return okStatus();
      });
    if (!hasEnded) {
      (void)linker.release();
      (void)execution.release();
    }
  }
};

struct LinkedModule::State {
  std::shared_ptr<Session> session;
  JITDylibSP dylib;
  DataPages constants, prepared;
  std::map<std::string, void *, std::less<>> preparedByName;
  std::multimap<size_t, const char *> small; // constants there, by their bytes
  std::vector<SharedBytes> blocks;
  std::vector<std::span<const std::byte>> ranges; // of all constants and dense parameters
  int64_t sharedBytes = 0;
  std::map<std::string, void *, std::less<>> entries, raws;
};

Session::Session() : impl(std::make_unique<Impl>()) {}
Session::~Session() = default;

StatusOr<std::shared_ptr<Session>> Session::create(std::span<const HostSymbol> symbols,
                                                   SessionOptions options) {
  PLIM_RETURN_IF_ERROR(checkExecutableMemory());
  std::shared_ptr<Session> session(new Session());
  session->self = session;
  bool isDone = false;
  Status status = catchExhaustion(outOfMemory("starting a JIT session"), [&] {
    Status status = session->impl->start(symbols, options);
    isDone = true;
    return status;
  });
  if (!isDone) // what LLVM left behind must not be destroyed
    (void)session->impl.release();
  PLIM_RETURN_IF_ERROR(status);
  return session;
}

bool Session::isBroken() const { return impl->isBroken; }

Status Session::Impl::start(std::span<const HostSymbol> symbols, SessionOptions options) {
  // Tasks run where they are made: linking starts no threads.
  auto control =
      SelfExecutorProcessControl::Create(nullptr, std::make_unique<InPlaceTaskDispatcher>());
  if (!control)
    return toStatus(control.takeError(), "cannot start a JIT session");
  execution = std::make_unique<ExecutionSession>(std::move(*control));
  // Failures come back as errors; the default reporter prints them as well.
  execution->setErrorReporter([this](Error error) { reason = toString(std::move(error)); });
  linker = std::make_unique<ObjectLinkingLayer>(*execution);
  linker->addPlugin(makeCheckFixupsPlugin());
  if (options.debugger) {
    Error error = Error::success();
    auto plugin = std::make_shared<ELFDebugObjectPlugin>(*execution, /*RequireDebugSections=*/false,
                                                         /*AutoRegisterCode=*/true, error);
    if (error)
      return toStatus(std::move(error), "cannot register code with the debugger");
    linker->addPlugin(std::move(plugin));
  }
  if (options.perfMap)
    linker->addPlugin(makePerfMapPlugin());
  host = &execution->createBareJITDylib("host");
  std::map<std::string, void *, std::less<>> table;
  for (const HostSymbol &symbol : symbols)
    table[symbol.name] = symbol.address;
  host->addGenerator(std::make_unique<HostSymbolGenerator>(std::move(table)));
  return okStatus();
}

StatusOr<std::unique_ptr<LinkedModule>> Session::link(const Artifact &artifact,
                                                      std::span<const DataBinding> bindings,
                                                      std::span<const ExternalBinding> externals) {
  auto state = std::make_unique<LinkedModule::State>();
  state->session = self.lock();

  // Data first: code refers to it by absolute address.
  constexpr auto alignment = static_cast<size_t>(dataAlignment);
  const std::map<std::string_view, const void *> bound(bindings.begin(), bindings.end());
  auto isBound = [&](const DataSymbol &symbol) {
    return symbol.kind == DataKind::Parameter || !symbol.pool.empty() ||
           bound.contains(symbol.name);
  };
  auto isBlock = [](const DataSymbol &symbol) {
    return symbol.kind == DataKind::Constant && symbol.block >= 0;
  };
  auto isKept = [&](const DataSymbol &symbol) {
    return symbol.kind != DataKind::Variable && (isBound(symbol) || !symbol.isSourceOnly);
  };
  // What no symbol uses as it lies there goes with the artifact: what only variables begin with, what is arranged in
  // another order, or what a pool gets a copy of.
  std::vector<const char *> blocks(artifact.blocks.size());
  for (const DataSymbol &symbol : artifact.symbols) {
    if (!isKept(symbol) || !isBlock(symbol) || isBound(symbol) ||
        blocks[static_cast<size_t>(symbol.block)])
      continue;
    const DataBlock &block = artifact.blocks[static_cast<size_t>(symbol.block)];
    SharedBytes contents = impl->constants.share(block).contents;
    if (contents.bytes.data() != block.contents.bytes.data())
      state->sharedBytes += symbol.bytes;
    blocks[static_cast<size_t>(symbol.block)] = contents.bytes.data();
    state->blocks.push_back(std::move(contents));
  }
  size_t constantBytes = 0, preparedBytes = 0;
  std::vector<size_t> offsets;
  // Small constants by their place in the artifact; one without bytes begins where the next does.
  std::map<std::pair<int64_t, int64_t>, size_t> placed;
  for (const DataSymbol &symbol : artifact.symbols) {
    offsets.push_back(constantBytes);
    if (!isKept(symbol) || isBound(symbol) || isBlock(symbol))
      continue;
    if (symbol.kind == DataKind::Prepared) {
      offsets.back() = preparedBytes;
      preparedBytes += (static_cast<size_t>(symbol.bytes) + alignment - 1) / alignment * alignment;
      continue;
    }
    if (symbol.offset >= 0)
      offsets.back() =
          placed.try_emplace({symbol.offset, symbol.bytes}, constantBytes).first->second;
    if (offsets.back() == constantBytes)
      constantBytes += (static_cast<size_t>(std::max<int64_t>(symbol.bytes, 1)) + alignment - 1) /
                       alignment * alignment;
  }
  if (!state->constants.allocate(constantBytes) || !state->prepared.allocate(preparedBytes))
    return resourceExhaustedError("no memory for the constants of " + artifact.source);
  std::vector<std::pair<std::string, const void *>> data;
  for (auto [symbol, offset] : zip(artifact.symbols, offsets)) {
    if (!isKept(symbol))
      continue; // variables are in the states of the module
    const void *address = nullptr;
    if (isBound(symbol)) {
      auto binding = bound.find(symbol.name);
      if (binding != bound.end())
        address = binding->second;
      if (!address)
        return failedPreconditionError((symbol.pool.empty() ? "parameter '" : "constant '") +
                                       symbol.name + "' of " + artifact.source + " is not bound");
    } else if (isBlock(symbol)) {
      address = blocks[static_cast<size_t>(symbol.block)];
    } else if (symbol.kind == DataKind::Prepared) {
      address = state->preparedByName[symbol.name] = state->prepared.data() + offset;
    } else {
      char *target = state->constants.data() + offset;
      if (std::optional<std::string_view> contents = contentsOf(artifact, symbol)) {
        contents->copy(target, contents->size());
        state->small.emplace(contents->size(), target);
      }
      address = target;
    }
    data.emplace_back("plim.data." + symbol.name, address);
    const bool isAlone = isBound(symbol) || isBlock(symbol) || symbol.kind == DataKind::Prepared;
    if (isAlone && symbol.type.strides.empty())
      state->ranges.emplace_back(static_cast<const std::byte *>(address),
                                 static_cast<size_t>(symbol.bytes));
  }
  if (constantBytes != 0)
    state->ranges.push_back(std::as_bytes(std::span(state->constants.data(), constantBytes)));
  for (const ExternalFunction &external : artifact.externals) {
    auto bound = find_if(externals,
                         [&](const ExternalBinding &each) { return each.first == external.name; });
    if (bound == externals.end())
      return failedPreconditionError("host function '" + external.name + "' of " + artifact.source +
                                     " is not bound");
    data.emplace_back("plim.external." + external.name, bound->second);
  }
  if (!state->constants.protect())
    return unavailableError("cannot protect the constants of " + artifact.source);

  const Status exhausted = outOfMemory("linking " + artifact.source);
  std::unique_ptr<LinkedModule> module(new LinkedModule(std::move(state)));
  std::lock_guard lock(impl->mutex);
  if (impl->isBroken)
    return exhausted.withContext("an engine that has run out of memory links nothing any more");
  bool isDone = false;
  Status status = catchExhaustion(exhausted, [&] {
    Status status = impl->link(*module->state, artifact, data);
    isDone = true;
    return status;
  });
  if (!isDone) {
    impl->isBroken = true;
    (void)module.release();
  }
  PLIM_RETURN_IF_ERROR(status);
  return module;
}

Status Session::Impl::link(LinkedModule::State &state, const Artifact &artifact,
                           const std::vector<std::pair<std::string, const void *>> &data) {
  auto &dylib = execution->createBareJITDylib("module" + std::to_string(modules++));
  state.dylib = &dylib; // goes with `state`, on failure too
  dylib.addToLinkOrder(*host);
  SymbolMap symbols;
  for (const auto &[name, address] : data)
    symbols[execution->intern(name)] = {ExecutorAddr::fromPtr(address), JITSymbolFlags::Exported};
  if (!symbols.empty())
    if (Error error = dylib.define(absoluteSymbols(std::move(symbols))))
      return toStatus(std::move(error), "cannot define the data of " + artifact.source);
  for (const std::string &object : artifact.objects) {
    if (Error error = checkRelocations(object))
      return toStatus(std::move(error), "cannot link " + artifact.source);
    std::unique_ptr<MemoryBuffer> copy = MemoryBuffer::getMemBufferCopy(object, "object");
    if (!copy)
      report_bad_alloc_error("an object");
    if (Error error = linker->add(dylib, std::move(copy)))
      return toStatus(std::move(error), "cannot load an object of " + artifact.source);
  }

  SymbolLookupSet needed;
  auto forEachEntry = [&](auto visit) {
    for (const FunctionSignature &function : artifact.functions) {
      visit(state.entries, function.name, "plim.entry." + function.name);
      if (!function.plan.function.empty())
        visit(state.entries, function.plan.function, "plim.entry." + function.plan.function);
      if (function.isKernel)
        visit(state.raws, function.name, "plim.raw." + function.name);
    }
  };
  forEachEntry([&](auto &, const std::string &, const std::string &symbol) {
    needed.add(execution->intern(symbol));
  });
  PLIM_ASSIGN_OR_RETURN(SymbolMap found, lookup(dylib, needed, "cannot link " + artifact.source));
  forEachEntry([&](auto &table, const std::string &name, const std::string &symbol) {
    table[name] = found.lookup(execution->intern(symbol)).getAddress().toPtr<void *>();
  });
  return okStatus();
}

LinkedModule::LinkedModule(std::unique_ptr<State> state) : state(std::move(state)) {}

LinkedModule::~LinkedModule() {
  if (!state->dylib)
    return;
  Session::Impl &session = *state->session->impl;
  bool isRemoved = false;
  {
    std::lock_guard lock(session.mutex);
    if (!session.isBroken)
      (void)catchExhaustion(okStatus(), [&] {
        consumeError(session.execution->removeJITDylib(*state->dylib));
        state->dylib.reset();
        isRemoved = true;
        return okStatus();
      });
    if (!isRemoved)
      session.isBroken = true;
  }
  if (!isRemoved)
    (void)state.release();
}

plim_function_entry LinkedModule::entry(std::string_view function) const {
  auto it = state->entries.find(function);
  return it == state->entries.end() ? nullptr : reinterpret_cast<plim_function_entry>(it->second);
}

const void *LinkedModule::find(std::string_view contents) const {
  auto [begin, end] = state->small.equal_range(contents.size());
  auto it = std::find_if(begin, end, [&](const auto &constant) {
    return contents == std::string_view(constant.second, contents.size());
  });
  return it == end ? nullptr : it->second;
}

void *LinkedModule::prepared(std::string_view name) const {
  auto it = state->preparedByName.find(name);
  return it == state->preparedByName.end() ? nullptr : it->second;
}

bool LinkedModule::protectPrepared() { return state->prepared.protect(); }

std::span<const std::span<const std::byte>> LinkedModule::constants() const {
  return state->ranges;
}

int64_t LinkedModule::sharedConstantBytes() const { return state->sharedBytes; }

void *LinkedModule::raw(std::string_view function) const {
  auto it = state->raws.find(function);
  return it == state->raws.end() ? nullptr : it->second;
}

} // namespace plim::jit
