// GpuCode: what the compiler of GPUs makes of a dispatch, and what a driver runs.
//
// A dispatch becomes kernels that run one after the other. All that a launch must know is here:
// what each kernel gets, how many workgroups it has, how large the buffers between two kernels are.
// Sizes depend on the arguments, so they are numbers that a launch computes, in order, each from
// those before it. The bytes of encode() are what an artifact holds: one form for SPIR-V and PTX,
// for every driver that runs it.
//
// This header must not know LLVM, MLIR or any driver. Values are not synchronised: share them
// const.
#pragma once

#include "support/Status.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plim::devices {

enum class GpuCodeKind : uint8_t {
  Spirv, // modules are words of SPIR-V for Vulkan
  Ptx,   // modules are text of PTX
};

/// A signed number of 64 bits. `a` and `b` are positions of earlier numbers, except as said.
struct GpuNumber {
  enum Kind : uint8_t {
    Constant,    // a itself
    Extent,      // of argument a, a tensor, in dimension b
    Scalar,      // argument a: its bits, extended by the highest one to fill a word; floats too
    Add,         // wraps around, as Subtract does
    Subtract,    //
    Multiply,    // out of range, or by a zero divisor: the launch fails, as for those that follow
    FloorDivide, //
    CeilDivide,
    Remainder, // of the truncating division
    Divide,    // that
    Minimum,
    Maximum,
  };
  Kind kind = Constant;
  int64_t a = 0;
  int64_t b = 0;
  bool operator==(const GpuNumber &) const = default;
};

/// What a dispatch gets: a view each (plim_abi.h), operands first, then destinations.
struct GpuArgument {
  bool isTensor = false;
  /// Of an element, or the scalar, in memory.
  uint32_t bytes = 0;
  uint32_t rank = 0;
  /// Is what it holds needed, and changed?
  bool isRead = false;
  bool isWritten = false;
  bool operator==(const GpuArgument &) const = default;
};

/// A buffer that only the kernels of one launch see.
struct GpuTemporary {
  uint32_t bytes = 0; // a number; never negative in a launch that does not fail
  uint32_t elementBytes = 0;
  bool operator==(const GpuTemporary &) const = default;
};

/// A number as a kernel gets it.
struct GpuWord {
  uint32_t number = 0;
  uint32_t bits = 32; // or 64. What does not fit into 32, signed, fails the launch
  bool operator==(const GpuWord &) const = default;
};

struct GpuKernel {
  std::string entry;
  uint32_t module = 0;
  std::array<uint32_t, 3> workgroupSize = {1, 1, 1};
  /// By binding: SPIR-V has them in descriptor set 0, binding i; PTX as its first parameters,
  /// addresses of 64 bits. Tensor arguments by their position, then temporaries: arguments.size() +
  /// i.
  std::vector<uint32_t> buffers;
  /// Behind them. SPIR-V: push constants, packed without padding, the low half of 64 bits first;
  /// PTX: a parameter each.
  std::vector<GpuWord> words;
  /// A number: workgroups in x, one in y and z. Zero or less: the kernel does not run. A kernel is
  /// right with any number of workgroups above zero, so a driver may run fewer.
  uint32_t workgroups = 0;
  /// A number: how often an invocation goes through loops, all of them together, with as many
  /// workgroups.
  uint32_t iterations = 0;
  /// Of PTX: bytes of workgroup memory, besides what the kernel declares with a size, that a launch
  /// gives each workgroup.
  uint32_t workgroupMemory = 0;
  bool operator==(const GpuKernel &) const = default;
};

/// The code of one dispatch: what a launch gets, what it computes, and the kernels that it runs, in
/// order. Positions refer to these lists; nothing checks them but verify().
struct GpuCode {
  GpuCodeKind kind = GpuCodeKind::Spirv;
  /// What the device must have, as names of the features of its description: "shaderFloat64"; of
  /// PTX the version of the instruction set of its triple at least: "sm_80".
  std::vector<std::string> features;
  /// Most elements of any buffer, 2^31 - 1 where kernels compute positions in 32 bits.
  int64_t maxElements = INT64_MAX;
  std::vector<GpuArgument> arguments;
  std::vector<GpuNumber> numbers;
  std::vector<GpuTemporary> temporaries;
  std::vector<GpuKernel> kernels;
  std::vector<std::string> modules;
  bool operator==(const GpuCode &) const = default;
};

/// The code as bytes, for artifacts: the same on every machine.
std::string encode(const GpuCode &code);

/// DataLoss, with what is wrong, unless every position points at something and every size is one
/// that there is. Code that this takes can be launched without looking again.
Status verify(const GpuCode &code);

/// The inverse of encode(). DataLoss for what encode() did not make and for what verify() refuses.
StatusOr<GpuCode> decodeGpuCode(std::string_view bytes);

} // namespace plim::devices
