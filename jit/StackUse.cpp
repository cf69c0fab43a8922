#include "jit/StackUse.h"

#include "engine/abi/plim_abi.h"
#include "jit/MathSymbols.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/DataExtractor.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/TargetParser/Triple.h"

#include <algorithm>
#include <optional>

using namespace llvm;
using namespace llvm::object;

namespace plim::jit {

namespace {

constexpr StringLiteral descriptorPrefix = "plim.descriptor.";

/// Bytes that System V's x86-64 ABI lets a function without calls use below its stack pointer.
constexpr int64_t redZoneBytes = 128;
/// The code generator aligns a frame for the widest register that it spills.
uint64_t maxSpillAlignment(const Triple &triple) { return triple.isX86() ? 64 : 16; }
/// The widest vector that SVE allows; the frame of one register of it is not in .stack_sizes.
constexpr int64_t maxScalableBytes = 256;

Status fault(const Twine &what) { return internalError(what.str()); }

/// What the frame size leaves out and the IR tells: padding of an aligned frame, and arguments that
/// are pushed for a call instead of being stored to a place that the frame has for them.
int64_t paddingOf(const Function &function, bool hasFrame) {
  const DataLayout &layout = function.getDataLayout();
  uint64_t alignment = maxSpillAlignment(function.getParent()->getTargetTriple());
  int64_t pushed = 0;
  for (const Instruction &instruction : instructions(function)) {
    if (const auto *alloca = dyn_cast<AllocaInst>(&instruction)) {
      alignment = std::max(alignment, alloca->getAlign().value());
    } else if (const auto *call = dyn_cast<CallBase>(&instruction);
               call && !isa<IntrinsicInst>(call)) {
      int64_t bytes = 0;
      for (const Use &argument : call->args())
        bytes += static_cast<int64_t>(
            alignTo(layout.getTypeAllocSize(argument->getType()).getKnownMinValue(), 8));
      pushed = std::max(pushed, bytes);
    }
  }
  // Once where the frame begins and once where the saved registers end.
  return (hasFrame ? static_cast<int64_t>(2 * alignment) : 0) + pushed;
}

/// Bytes of scalable vectors in a frame: `addvl sp, sp, #-n` and `addpl sp, sp, #-n` take them. A
/// constant between instructions that looks like one makes the bound larger, not wrong.
int64_t scalableBytes(StringRef code) {
  int64_t bytes = 0;
  for (size_t i = 0; i + 4 <= code.size(); i += 4) {
    uint32_t word = support::endian::read32le(code.data() + i);
    bool vectors = (word & 0xfffff81f) == 0x043f501f,
         predicates = (word & 0xfffff81f) == 0x047f501f;
    int64_t count = SignExtend64<6>((word >> 5) & 63);
    if ((vectors || predicates) && count < 0)
      bytes -= count * (vectors ? maxScalableBytes : maxScalableBytes / 8);
  }
  return bytes;
}

/// One section and what is in it. With a section for each function and each constant, a relocation
/// tells who calls whom, however local the callee is.
struct Piece {
  std::string function; // empty: no code
  bool isDescriptor = false;
  std::vector<ELFSymbolRef> targets; // of its relocations
  StringRef contents;
};

class FrameReader {
public:
  FrameReader(const ELFObjectFileBase &object, const Module &module)
      : object(object), module(module), arch(object.makeTriple().getArch()) {}

  StatusOr<std::vector<FunctionFrame>> read() {
    if (Error error = collect())
      return fault("malformed object: " + toString(std::move(error)));
    std::vector<FunctionFrame> frames;
    for (auto &[index, piece] : pieces) {
      if (piece.function.empty())
        continue;
      auto size = sizes.find(index);
      if (size == sizes.end())
        return fault("the frame of '" + piece.function +
                     "' has no size that is known before it runs");
      FunctionFrame frame;
      frame.name = piece.function;
      frame.bytes = size->second;
      if (const Function *function = module.getFunction(piece.function))
        frame.bytes += paddingOf(*function, frame.bytes > 0);
      for (const ELFSymbolRef &target : piece.targets)
        if (Error error = follow(target, frame))
          return fault("malformed object: " + toString(std::move(error)));
      for (std::vector<std::string> *names : {&frame.calls, &frame.dispatches}) {
        llvm::sort(*names);
        names->erase(std::unique(names->begin(), names->end()), names->end());
      }
      if (arch == Triple::x86_64 || arch == Triple::x86)
        frame.bytes += arch == Triple::x86_64 ? 8 : 4; // the return address
      if (arch == Triple::x86_64 && frame.calls.empty())
        frame.bytes += redZoneBytes;
      if (arch == Triple::aarch64)
        frame.bytes += scalableBytes(piece.contents);
      frames.push_back(std::move(frame));
    }
    return frames;
  }

private:
  /// The index of the section that defines the symbol; none for one of another object.
  Expected<std::optional<uint64_t>> sectionOf(const ELFSymbolRef &symbol) {
    Expected<section_iterator> section = symbol.getSection();
    if (!section)
      return section.takeError();
    if (*section == object.section_end())
      return std::nullopt;
    return (*section)->getIndex();
  }

  Error collect() {
    for (const ELFSymbolRef symbol : object.symbols()) {
      Expected<StringRef> name = symbol.getName();
      if (!name)
        return name.takeError();
      Expected<std::optional<uint64_t>> section = sectionOf(symbol);
      if (!section)
        return section.takeError();
      if (!*section)
        continue;
      if (symbol.getELFType() == ELF::STT_FUNC) {
        std::string &function = pieces[**section].function;
        if (!function.empty())
          return createStringError("'%s' shares its section", name->str().c_str());
        function = name->str();
      } else if (name->starts_with(descriptorPrefix)) {
        pieces[**section].isDescriptor = true;
      }
    }
    for (const ELFSectionRef section : object.sections()) {
      Expected<StringRef> name = section.getName();
      if (!name)
        return name.takeError();
      Expected<section_iterator> relocated = section.getRelocatedSection();
      if (!relocated)
        return relocated.takeError();
      if (*relocated != object.section_end()) {
        if (auto piece = pieces.find((*relocated)->getIndex()); piece != pieces.end())
          for (const RelocationRef &relocation : section.relocations())
            if (relocation.getSymbol() != object.symbol_end())
              piece->second.targets.push_back(*relocation.getSymbol());
      } else if (auto piece = pieces.find(section.getIndex()); piece != pieces.end()) {
        Expected<StringRef> contents = section.getContents();
        if (!contents)
          return contents.takeError();
        piece->second.contents = *contents;
      }
    }
    for (const ELFSectionRef section : object.sections())
      if (Error error = collectSizes(section))
        return error;
    return Error::success();
  }

  /// A section .stack_sizes belongs to one section of code: an address and a size, LEB128.
  Error collectSizes(const ELFSectionRef &section) {
    Expected<StringRef> name = section.getName();
    if (!name)
      return name.takeError();
    if (*name != ".stack_sizes")
      return Error::success();
    Expected<StringRef> contents = section.getContents();
    if (!contents)
      return contents.takeError();
    DataExtractor data(*contents, object.isLittleEndian(), object.getBytesInAddress());
    DataExtractor::Cursor cursor(0);
    int64_t largest = 0;
    while (cursor && cursor.tell() < contents->size()) {
      data.getAddress(cursor);
      largest = std::max(largest, static_cast<int64_t>(data.getULEB128(cursor)));
    }
    if (!cursor)
      return cursor.takeError();
    sizes[linkOf(section)] = largest;
    return Error::success();
  }

  /// The section that a section's header links to.
  uint64_t linkOf(const ELFSectionRef &section) {
    auto read = [&](const auto &file) -> uint64_t {
      return file.getSection(section.getRawDataRefImpl())->sh_link;
    };
    if (const auto *file = dyn_cast<ELF64LEObjectFile>(&object))
      return read(*file);
    if (const auto *file = dyn_cast<ELF32LEObjectFile>(&object))
      return read(*file);
    if (const auto *file = dyn_cast<ELF64BEObjectFile>(&object))
      return read(*file);
    return read(*cast<ELF32BEObjectFile>(&object));
  }

  /// Adds what a relocation of the function's code refers to.
  Error follow(const ELFSymbolRef &target, FunctionFrame &frame) {
    Expected<std::optional<uint64_t>> section = sectionOf(target);
    if (!section)
      return section.takeError();
    if (!*section) {
      Expected<StringRef> name = target.getName();
      if (!name)
        return name.takeError();
      if (!name->starts_with("plim.data.") && !name->starts_with("plim.external.") &&
          *name != "_GLOBAL_OFFSET_TABLE_")
        frame.calls.push_back(name->str());
      return Error::success();
    }
    auto piece = pieces.find(**section);
    if (piece == pieces.end())
      return Error::success(); // constants
    if (!piece->second.function.empty()) {
      // One of a function to itself may also be the table of a switch; its calls need none.
      if (piece->second.function != frame.name)
        frame.calls.push_back(piece->second.function);
      return Error::success();
    }
    FunctionFrame descriptor;
    for (const ELFSymbolRef &entry : piece->second.targets)
      if (Error error = follow(entry, descriptor))
        return error;
    llvm::append_range(frame.dispatches, descriptor.calls);
    return Error::success();
  }

  const ELFObjectFileBase &object;
  const Module &module;
  Triple::ArchType arch;
  std::map<uint64_t, Piece> pieces; // code and descriptors, by section
  std::map<uint64_t, int64_t> sizes;
};

/// What an external function needs.
StackNeed allowanceOf(StringRef name) {
  if (name == "plim_rt_call")
    return {0, 0, StackAllowances::runtime + PLIM_HOST_STACK, 0, false};
  if (name == "plim_rt_launch")
    return {0, 0, StackAllowances::runtime + PLIM_DEVICE_STACK, 0, false};
  if (name.starts_with("plim_rt_"))
    return {0, 0, StackAllowances::runtime, 0, name == "plim_rt_recurse"};
  int64_t bytes = StackAllowances::library;
  if (name == "memcpy" || name == "memmove" || name == "memset" || name.starts_with("__"))
    bytes = StackAllowances::support;
  else if (isScalarMath(name))
    bytes = StackAllowances::math;
  return {0, bytes, bytes, 0, false};
}

} // namespace

StatusOr<std::vector<FunctionFrame>> readFrames(std::string_view object, const Module &module) {
  Expected<std::unique_ptr<ObjectFile>> file =
      ObjectFile::createELFObjectFile(MemoryBufferRef(StringRef(object), "object"));
  if (!file)
    return fault("malformed object: " + toString(file.takeError()));
  return FrameReader(*cast<ELFObjectFileBase>(file->get()), module).read();
}

StackUse::StackUse(std::vector<std::vector<FunctionFrame>> all) : objects(std::move(all)) {
  for (size_t i = 0; i < objects.size(); ++i)
    for (const FunctionFrame &frame : objects[i]) {
      Entry &entry = entries[{i, frame.name}] = {.object = i, .frame = &frame, .need = {}};
      exported.emplace(frame.name, &entry);
    }
}

/// A function of the same object first: local ones of several objects may share a name.
StackUse::Entry *StackUse::find(size_t object, const std::string &name) {
  if (auto local = entries.find({object, name}); local != entries.end())
    return &local->second;
  auto it = exported.find(name);
  return it == exported.end() ? nullptr : it->second;
}

StatusOr<bool> StackUse::complete(Entry &entry) {
  if (entry.state != Entry::Unknown)
    return entry.state == Entry::Known;
  entry.state = Entry::Active;
  StackNeed deepest;
  bool acyclic = true;
  auto add = [&](const StackNeed &callee, int64_t runtime) {
    deepest.frames = std::max(deepest.frames, callee.frames);
    deepest.code = std::max(deepest.code, callee.code);
    deepest.total = std::max(deepest.total, runtime + callee.total);
    deepest.worker = std::max(deepest.worker, callee.worker);
    deepest.recursive |= callee.recursive;
  };
  for (const std::string &name : entry.frame->calls) {
    Entry *callee = find(entry.object, name);
    if (callee) {
      PLIM_ASSIGN_OR_RETURN(bool known, complete(*callee));
      acyclic &= known;
    }
    add(callee ? callee->need : allowanceOf(name), 0);
  }
  for (const std::string &name : entry.frame->dispatches) {
    Entry *callee = find(entry.object, name);
    if (!callee)
      return internalError("'" + entry.frame->name + "' dispatches '" + name +
                           "', which no object has");
    PLIM_ASSIGN_OR_RETURN(bool known, complete(*callee));
    acyclic &= known;
    StackNeed dispatch = callee->need;
    dispatch.worker = StackAllowances::dispatch + dispatch.total;
    add(dispatch, StackAllowances::dispatch);
  }
  const int64_t bytes = entry.frame->bytes;
  entry.need = {bytes + deepest.frames, bytes + deepest.code, bytes + deepest.total, deepest.worker,
                deepest.recursive};
  entry.state = acyclic ? Entry::Known : Entry::Cyclic;
  return acyclic;
}

/// One turn enters no function twice, so all frames together bound it, with the deepest of what is
/// outside of the objects.
StatusOr<StackNeed> StackUse::boundOfCycle(Entry &entry) {
  StackNeed need, outside;
  SmallVector<Entry *> reached = {&entry};
  SmallPtrSet<Entry *, 16> seen = {&entry};
  for (size_t i = 0; i < reached.size(); ++i) {
    const FunctionFrame &frame = *reached[i]->frame;
    need.code += frame.bytes;
    for (const std::vector<std::string> *names : {&frame.calls, &frame.dispatches})
      for (const std::string &name : *names) {
        Entry *callee = find(reached[i]->object, name);
        if (!callee) {
          StackNeed allowance = allowanceOf(name);
          outside.code = std::max(outside.code, allowance.code);
          outside.total = std::max(outside.total, allowance.total);
        } else if (seen.insert(callee).second) {
          reached.push_back(callee);
        }
      }
    for (const std::string &name : frame.dispatches)
      if (Entry *callee = find(reached[i]->object, name)) {
        PLIM_ASSIGN_OR_RETURN(bool known, complete(*callee));
        if (!known)
          return internalError("the calls of '" + name + "' form a cycle");
        need.worker = std::max(need.worker, StackAllowances::dispatch + callee->need.total);
      }
  }
  need.frames = need.code;
  need.total = need.code + std::max(outside.total, need.worker);
  need.code += outside.code;
  need.recursive = true;
  return need;
}

StatusOr<StackNeed> StackUse::needOf(const std::string &function) {
  auto it = exported.find(function);
  if (it == exported.end())
    return internalError("no object has '" + function + "'");
  PLIM_ASSIGN_OR_RETURN(bool acyclic, complete(*it->second));
  if (!acyclic)
    return boundOfCycle(*it->second);
  return it->second->need;
}

} // namespace plim::jit
