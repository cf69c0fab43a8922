// Reading what is no ordinary file.
#include "engine/io/File.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace plim::io {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string pathOf(const std::string &name) {
  std::string path = ::testing::TempDir() + name + "." + std::to_string(getpid());
  std::filesystem::remove(path);
  return path;
}

TEST(ReadWhole, FilesOfEverySize) {
  const std::string path = pathOf("file");
  for (size_t size : {size_t(0), size_t(1), size_t(65535), size_t(65536), size_t(1) << 20}) {
    std::string text(size, 'x');
    std::ofstream(path, std::ios::binary) << text;
    StatusOr<std::string> read = readWhole(path);
    ASSERT_TRUE(read.ok()) << read.status().toString();
    EXPECT_EQ(*read, text);
  }
  std::filesystem::remove(path);
  // Made up while it is read: its size is 0.
  StatusOr<std::string> status = readWhole("/proc/self/status");
  ASSERT_TRUE(status.ok()) << status.status().toString();
  EXPECT_THAT(*status, StartsWith("Name:"));
}

TEST(ReadWhole, PipesUntilTheirEnd) {
  const std::string path = pathOf("pipe");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const std::string text(200000, 'y');
  std::jthread writer([&] {
    int descriptor = ::open(path.c_str(), O_WRONLY);
    for (size_t done = 0; done < text.size();)
      done += static_cast<size_t>(
          std::max<ssize_t>(0, ::write(descriptor, text.data() + done, text.size() - done)));
    ::close(descriptor);
  });
  StatusOr<std::string> read = readWhole(path);
  ASSERT_TRUE(read.ok()) << read.status().toString();
  EXPECT_EQ(*read, text);
  writer.join();
  std::filesystem::remove(path);
}

TEST(ReadWhole, WhatHasNoEndIsRefused) {
  for (const char *path : {"/dev/zero", "/dev/null", "/dev/urandom"}) {
    Status status = readWhole(path).status();
    EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
    EXPECT_EQ(status.message(),
              "cannot read '" + std::string(path) + "': it is neither a file nor a pipe");
  }
  EXPECT_EQ(readWhole("/").status().message(), "cannot read '/': Is a directory");
  EXPECT_EQ(readWhole("/nowhere").status().code(), StatusCode::NotFound);
  EXPECT_EQ(readWhole("/nowhere").status().message(),
            "cannot read '/nowhere': No such file or directory");
}

// Nobody ever writes: takes as long as its patience.
TEST(ReadWhole, APipeThatStaysSilentIsLeft) {
  const std::string path = pathOf("silent");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  int held = ::open(path.c_str(), O_RDWR);
  Status status = readWhole(path).status();
  EXPECT_EQ(status.code(), StatusCode::DeadlineExceeded);
  EXPECT_THAT(std::string(status.message()), HasSubstr("nothing came for 10 s"));
  ::close(held);
  std::filesystem::remove(path);
}

} // namespace
} // namespace plim::io
