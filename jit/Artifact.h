// Artifact: all that passes between the compiler and the engine.
//
// compile() makes one, the cache stores one, link() runs one. It is a plain value without any LLVM
// or MLIR in it: relocatable objects, signatures, constants, parameters by name, the ISA it needs,
// and the report of what was decided. Immutable once made; share it const. Copies share the large
// constants.
#pragma once

#include "jit/DataBlock.h"
#include "support/Status.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace plim::jit {

/// A stride that the caller chooses.
inline constexpr int64_t dynamicStride = std::numeric_limits<int64_t>::min();

/// What the callee does to a buffer.
enum class Access : uint32_t { ReadOnly, WriteOnly, ReadWrite };

/// Bounds of an extent that the source leaves open, inclusive.
struct ExtentBounds {
  int64_t min = 0;
  int64_t max = std::numeric_limits<int64_t>::max(); // which is none
  bool operator==(const ExtentBounds &) const = default;
};

/// A scalar, tensor or memref.
struct ValueType {
  std::string element; // "f32", "i1", "index"
  bool isShaped = false;
  bool isMemref = false;
  std::vector<int64_t> shape; // -1: dynamic
  /// Of a memref with a strided layout: elements between neighbours, per dimension. Empty: dense.
  std::vector<int64_t> strides;
  Access access = Access::ReadOnly; // of an argument; a tensor is written only if it is donated
  /// Of an argument: may its elements be read? Else it is there for its extents, or as a
  /// destination alone.
  bool isRead = true;
  /// Of an argument that is donated: the result that takes its memory.
  std::optional<uint32_t> donatedTo = std::nullopt;
  /// Of an argument's extents; empty: none is bounded.
  std::vector<ExtentBounds> bounds = {};
  /// Of an argument: what the text of the source calls it, without '%'. May be empty.
  std::string name = {};
  bool operator==(const ValueType &) const = default;
};

/// "1 to 64", "at least 1", "at most 64"; empty for none.
std::string toString(const ExtentBounds &bounds);
/// "3xf32", "?x4xi8", "index", "?x4xf32 with strides [?, 1]", "?x4xf32 with extent 0 of 1 to 64".
std::string toString(const ValueType &type);

/// What a call needs of a pool. The pool is not used if it is 0 bytes.
struct PoolNeed {
  int64_t bytes = 0;
  int64_t alignment = 64; // of the pool's base
  bool operator==(const PoolNeed &) const = default;
};

/// A buffer of the slab whose offset the call chooses.
struct PlannedBuffer {
  int64_t lower = 0, upper = 0;  // when it is live, half-open, in positions of the function
  int64_t bytes = 0;             // to be multiplied with the extents
  std::vector<uint32_t> extents; // positions among those of the plan
  bool operator==(const PlannedBuffer &) const = default;
};

/// The slab of a function whose buffers have sizes that only a call knows.
struct CallPlan {
  /// The entry that yields the extents, index scalars, from the arguments; it cannot fail. Empty:
  /// all was planned at load.
  std::string function;
  int64_t extentCount = 0;
  int64_t alignment = 64;             // of the slab and of each offset
  std::vector<PlannedBuffer> buffers; // by slot
  bool operator==(const CallPlan &) const = default;
};

/// A public function of the module.
struct FunctionSignature {
  std::string name;
  std::string location; // "file:line:column: " of the source; may be empty
  std::vector<ValueType> arguments;
  std::vector<ValueType> results;
  bool isKernel = false;        // has a raw pointer
  bool rawTakesContext = false; // ... whose first argument is the context
  int64_t workspaceBytes = 0;   // slab of one call
  /// Bounds, in bytes: the stack that a call needs on the thread that runs its host code,
  /// dispatches that run inline included, and that its deepest dispatch needs on a worker. With
  /// recursion the first is for one turn and PLIM_RECURSION_STACK; deeper ones fail when the stack
  /// is used up.
  int64_t stackBytes = 0;
  int64_t workerStackBytes = 0;
  CallPlan plan;               // of the slab, instead of workspaceBytes
  int64_t scratchBytes = 0;    // of one thread that runs its dispatches
  std::vector<PoolNeed> pools; // one for each of Artifact::pools
  bool usesState = false;      // variables of the module
  /// Writes the data of kind Prepared that has no arrangement, which all other functions read: to
  /// be run once, behind the link. Not public.
  bool prepares = false;
  /// Why a call takes memory from the allocator beside that of its results; empty: it does not.
  std::string unplanned;
};

enum class DataKind : uint32_t {
  Constant,  // contents in the artifact, mapped read-only
  Variable,  // initial contents in the artifact, or zero; each state of a module has its own
  Parameter, // bound at load by name
  Prepared,  // memory of the linked module, written once, behind the link
};

/// How data is made of a constant or parameter without code: of its elements in another order, and
/// zeros.
struct Arrangement {
  /// One that the elements are counted along, outermost first. The index of an element along a
  /// dimension of the source is the sum of what it is along those that are `of` it, times `step`;
  /// where that is beyond its extent there is a zero.
  struct Dimension {
    int64_t extent = 0;
    uint32_t of = 0;
    int64_t step = 0;
    bool operator==(const Dimension &) const = default;
  };
  std::string source; // the name of its symbol
  std::vector<Dimension> dimensions;
  bool operator==(const Arrangement &) const = default;
};

/// A piece of memory that generated code refers to by name: what it is, and where its contents are.
struct DataSymbol {
  std::string name;
  DataKind kind = DataKind::Constant;
  ValueType type;
  int64_t bytes = 0;
  /// Where the contents are: in Artifact::data from `offset` on, or all of Artifact::blocks[block];
  /// -1: not there. Symbols with the same contents have the same place.
  int64_t offset = -1;
  int64_t block = -1;
  std::string pool;      // of a constant, that its author put there; empty: anywhere
  std::string location;  // of a parameter: "in.mlir:3:1: ", for messages; empty if not known
  int64_t alignment = 0; // of a variable whose author asks for more than that of buffers
  /// Of prepared data that no code writes. It is made before the function that prepares runs.
  std::optional<Arrangement> arrangement = std::nullopt;
  /// Of a constant or parameter: no code reads it, only arrangements do.
  bool isSourceOnly = false;
};

/// A function outside of the code that it calls: of the host application, or of a device.
struct ExternalFunction {
  std::string name;
  std::string location; // "file:line:column: " of its declaration; may be empty
  /// Where it is called: "line:column" of each call, in the file of the declaration unless it names
  /// one.
  std::vector<std::string> calls = {};
  /// "(f32, memref<?x4xf32> readonly) -> i32": without the context; with the access of a memref, or
  /// of a donated tensor, "tensor<?xf32> readwrite as result 0".
  std::string signature;
  bool isPure = false; // the code relies on it
  /// The tensor results that it makes, since only it knows how large they are: where each stands
  /// among its results, and its type.
  std::vector<std::pair<uint32_t, ValueType>> openResults = {};
  /// Of a dispatch that an accelerator runs: its name in the target, and what its compiler made of
  /// the dispatch. Empty: a function of the application's.
  std::string device = {};
  std::string code = {};
};

/// Proof that generated code keeps to the stack budget, for a dispatch or a public function. Bytes,
/// without the frames of the runtime.
struct StackProof {
  std::string function;
  int64_t estimated = 0; // what placement counted on
  int64_t proven = 0;    // bound from the frames that the code generator laid out
  int64_t budget = 0;    // that its call tree had to keep
};

struct Artifact {
  std::string source; // name of the source, for messages
  std::string triple;
  std::string policy;     // the allocation policy it was compiled for
  bool isGuarded = false; // for an engine that looks for faults, and no other
  /// ISA features that it was compiled for, without '+'; those of tile registers ("amx-...") only
  /// if the code has instructions for them, since they need a permission.
  std::vector<std::string> requiredFeatures;
  std::vector<std::string> objects; // relocatable ELF
  std::vector<std::string> pools;   // in the order of plim_context::pools
  std::vector<FunctionSignature> functions;
  std::vector<ExternalFunction> externals;
  std::vector<DataSymbol> symbols;
  std::vector<std::string> unreadParameters; // that the source declares, and nothing needs
  std::string data; // small contents of constants and variables, each aligned to dataAlignment
  std::vector<DataBlock> blocks; // large ones
  std::vector<StackProof> stack;
  std::string report; // JSON: what was decided and why
  /// Of code for a program without the engine: the header for its one object. Empty: for link().
  std::string header = {};
};

/// Does its code use tile registers (targets::requestTiles())?
bool usesTiles(const Artifact &artifact);

/// The contents of a constant, or what a variable begins with; nothing for all zeros and
/// parameters.
std::optional<std::string_view> contentsOf(const Artifact &artifact, const DataSymbol &symbol);

/// The format's version; part of every serialised artifact and of every cache key.
inline constexpr uint32_t artifactVersion = 22;

// A serialised artifact:
//
//   magic, versions of format, ABI, LLVM and the library
//   size of the metadata
//   metadata: every field, small contents, and size and hash of each block
//   digest of all that stands above
//   the blocks, each at the next multiple of a page: where a file is mapped they are used in place

/// Hands the bytes to `write` in order, in pieces, blocks from where they lie, until it returns
/// false. Returns whether all were taken.
bool serialize(const Artifact &artifact, const std::function<bool(std::string_view)> &write);
/// The same in one piece.
std::string serialize(const Artifact &artifact);

/// Do they begin as a serialised artifact does, of whatever version?
bool isArtifact(std::string_view bytes);

/// Where the bytes of a serialised artifact are.
class ArtifactSource {
public:
  virtual ~ArtifactSource() = default;
  virtual uint64_t size() const = 0;
  /// Fills `out` from `offset`, which lies within. False if they cannot be read.
  virtual bool read(uint64_t offset, std::span<char> out) const = 0;
  /// The bytes for as long as somebody wants them, aligned if `offset` is a multiple of a page.
  virtual std::optional<SharedBytes> share(uint64_t offset, uint64_t bytes) const = 0;
};

/// The inverse. DataLoss for anything that serialize() of this very version did not write: too
/// short, another version, a wrong digest or hash, counts beyond the end. ResourceExhausted without
/// memory for the blocks. Every byte is checked, those of blocks as well: a constant that was
/// damaged is a wrong answer that nobody sees, and to read it costs no more than its first use
/// would. They are read, not touched where they are mapped, so that only what is used takes memory
/// of the process.
StatusOr<Artifact> deserialize(const ArtifactSource &source);
/// The same from memory, of which nothing is kept.
StatusOr<Artifact> deserialize(std::string_view bytes);

} // namespace plim::jit
