#include "jit/CheckFixups.h"

#include "llvm/Object/ELFObjectFile.h"

using namespace llvm;
using namespace llvm::orc;

namespace plim::jit {

namespace {

class CheckFixupsPlugin : public LinkGraphLinkingLayer::Plugin {
public:
  void modifyPassConfig(MaterializationResponsibility &, jitlink::LinkGraph &,
                        jitlink::PassConfiguration &config) override {
    // Before any that looks at what is around a relocation.
    config.PrePrunePasses.insert(config.PrePrunePasses.begin(), check);
  }
  Error notifyFailed(MaterializationResponsibility &) override { return Error::success(); }
  Error notifyRemovingResources(JITDylib &, ResourceKey) override { return Error::success(); }
  void notifyTransferringResources(JITDylib &, ResourceKey, ResourceKey) override {}

private:
  static Error check(jitlink::LinkGraph &graph) {
    for (const jitlink::Block *block : graph.blocks())
      for (const jitlink::Edge &edge : block->edges())
        if (edge.isRelocation() && !isInside(*block, edge, graph.getEdgeKindName(edge.getKind())))
          return make_error<jitlink::JITLinkError>("a relocation of '" + graph.getName() +
                                                   "' is outside of its section");
    return Error::success();
  }

  /// Of each architecture the kinds that are 64 bits wide have that in their name; others, instructions too, are 32 bits wide
  /// or less. Where a load is made something else, what is changed of its instruction begins 2 bytes in front, with a REX prefix 3:
  /// a function may begin with it.
  static bool isInside(const jitlink::Block &block, const jitlink::Edge &edge, StringRef kind) {
    const uint64_t width = kind.contains("64") ? 8 : 4, offset = edge.getOffset(),
                   before = kind.contains("REXRelaxable") ? 3
                            : kind.contains("Relaxable")  ? 2
                                                          : 0;
    return !block.isZeroFill() && offset >= before && width <= block.getSize() &&
           offset <= block.getSize() - width;
  }
};

} // namespace

Error checkRelocations(StringRef object) {
  // Of 64 bits and little-endian, as all code that is linked here. Others are refused by the linker.
  auto file = object::ELF64LEFile::create(object);
  if (!file)
    return file.takeError();
  auto sections = file->sections();
  if (!sections)
    return sections.takeError();
  for (const object::ELF64LE::Shdr &section : *sections) {
    if (section.sh_type != ELF::SHT_RELA)
      continue;
    auto relocations = file->relas(section);
    if (!relocations)
      return relocations.takeError();
    for (const object::ELF64LE::Rela &relocation : *relocations)
      if (relocation.getSymbol(/*isMips64EL=*/false) == 0)
        return make_error<jitlink::JITLinkError>("a relocation names no symbol");
  }
  return Error::success();
}

std::shared_ptr<LinkGraphLinkingLayer::Plugin> makeCheckFixupsPlugin() {
  return std::make_shared<CheckFixupsPlugin>();
}

} // namespace plim::jit
