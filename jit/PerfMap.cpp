#include "jit/PerfMap.h"

#include <cinttypes>
#include <cstdio>
#include <mutex>
#include <unistd.h>

using namespace llvm;
using namespace llvm::orc;

namespace plim::jit {

namespace {

class PerfMapPlugin : public LinkGraphLinkingLayer::Plugin {
public:
  PerfMapPlugin()
      : file(std::fopen(("/tmp/perf-" + std::to_string(getpid()) + ".map").c_str(), "a")) {}
  ~PerfMapPlugin() override {
    if (file)
      std::fclose(file);
  }

  void modifyPassConfig(MaterializationResponsibility &, jitlink::LinkGraph &,
                        jitlink::PassConfiguration &config) override {
    // The body of a dispatch is called within its section alone: no edge leads to it, and it would lose its name.
    config.PrePrunePasses.push_back([](jitlink::LinkGraph &graph) {
      for (jitlink::Symbol *symbol : graph.defined_symbols())
        if (symbol->hasName() && symbol->isCallable())
          symbol->setLive(true);
      return Error::success();
    });
    config.PostFixupPasses.push_back([this](jitlink::LinkGraph &graph) {
      std::lock_guard<std::mutex> lock(mutex);
      for (jitlink::Symbol *symbol : graph.defined_symbols())
        if (file && symbol->hasName() && symbol->isCallable())
          std::fprintf(file, "%" PRIx64 " %" PRIx64 " %s\n", symbol->getAddress().getValue(),
                       uint64_t(symbol->getSize()), (*symbol->getName()).str().c_str());
      if (file)
        std::fflush(file);
      return Error::success();
    });
  }
  Error notifyFailed(MaterializationResponsibility &) override { return Error::success(); }
  Error notifyRemovingResources(JITDylib &, ResourceKey) override { return Error::success(); }
  void notifyTransferringResources(JITDylib &, ResourceKey, ResourceKey) override {}

private:
  std::mutex mutex;
  std::FILE *file;
};

} // namespace

std::shared_ptr<LinkGraphLinkingLayer::Plugin> makePerfMapPlugin() {
  return std::make_shared<PerfMapPlugin>();
}

} // namespace plim::jit
