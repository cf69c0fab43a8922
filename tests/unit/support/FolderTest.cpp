#include "support/Folder.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

namespace plim {
namespace {

namespace fs = std::filesystem;

TEST(Folder, NamesAreSortedAndWithoutTheFoldersOwn) {
  const fs::path folder = fs::temp_directory_path() / ("plim_folder_" + std::to_string(getpid()));
  fs::create_directories(folder / "b");
  for (const char *name : {"c.json", ".hidden", "a"})
    std::ofstream(folder / name) << name;
  std::error_code error = std::make_error_code(std::errc::io_error);
  EXPECT_EQ(namesIn(folder, error), (std::vector<std::string>{".hidden", "a", "b", "c.json"}));
  EXPECT_FALSE(error);
  EXPECT_TRUE(namesIn(folder / "b", error).empty());
  EXPECT_FALSE(error);
  EXPECT_TRUE(namesIn(folder / "a", error).empty());
  EXPECT_EQ(error, std::errc::not_a_directory);
  fs::remove_all(folder);
  EXPECT_TRUE(namesIn(folder, error).empty());
  EXPECT_EQ(error, std::errc::no_such_file_or_directory);
}

} // namespace
} // namespace plim
