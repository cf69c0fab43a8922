// Blocks from the system, and which of their pages are asked to be huge.
#include "engine/runtime/SystemMemory.h"

#include "engine/abi/plim_abi.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <ios>
#include <memory>
#include <sstream>
#include <string>
#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace plim::runtime {
namespace {

using Block = std::unique_ptr<std::byte, decltype(&std::free)>;

Block allocate(size_t bytes) {
  return {static_cast<std::byte *>(allocateBlock(bytes)), &std::free};
}

TEST(SystemMemory, BlocksAreAlignedAndLargeEnough) {
  for (size_t bytes : {64u, 4096u, 1u << 20, (2u << 20) - 64, 2u << 20, (6u << 20) + 64}) {
    Block block = allocate(bytes);
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block.get()) % PLIM_BUFFER_ALIGNMENT, 0);
    std::memset(block.get(), 0xab, bytes);
  }
}

#ifdef __linux__
constexpr size_t hugePage = size_t{2} << 20;

/// Is `address` in memory that was asked to be in huge pages?
bool isAdvised(const std::byte *address) {
  std::ifstream stream("/proc/self/smaps");
  bool isThere = false;
  for (std::string line; std::getline(stream, line);) {
    uintptr_t begin = 0, end = 0;
    char dash = 0;
    std::istringstream words(line);
    if (words >> std::hex >> begin >> dash >> end && dash == '-')
      isThere = begin <= reinterpret_cast<uintptr_t>(address) &&
                reinterpret_cast<uintptr_t>(address) < end;
    else if (isThere && line.starts_with("VmFlags:"))
      return line.find(" hg") != std::string::npos;
  }
  return false;
}

TEST(SystemMemory, LargeBlocksBeginWithAHugePage) {
  for (size_t bytes : {hugePage, 2 * hugePage, 2 * hugePage + 64, 16 * hugePage}) {
    Block block = allocate(bytes);
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block.get()) % hugePage, 0) << bytes;
  }
}

TEST(SystemMemory, HugePagesAreWholeOnesOfABlock) {
  if (!std::filesystem::exists("/sys/kernel/mm/transparent_hugepage"))
    GTEST_SKIP() << "this system has no huge pages";
#ifdef __GLIBC__
  // Each block is mapped for itself: in the heap it could lie where another was.
  mallopt(M_MMAP_THRESHOLD, 128 << 10);
#endif
  const Block large = allocate(2 * hugePage + (size_t{64} << 10)), small = allocate(hugePage / 2);
  ASSERT_TRUE(large && small);
  EXPECT_TRUE(isAdvised(large.get()));
  EXPECT_TRUE(isAdvised(large.get() + 2 * hugePage - 1));
  EXPECT_FALSE(isAdvised(large.get() + 2 * hugePage));
  EXPECT_FALSE(isAdvised(small.get()));
}
#endif

} // namespace
} // namespace plim::runtime
