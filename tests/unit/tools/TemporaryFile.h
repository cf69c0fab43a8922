// A file with given contents that is gone at the end of the test.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <unistd.h>

namespace plim::testing {

class TemporaryFile {
public:
  explicit TemporaryFile(std::string_view contents = "") {
    static std::atomic<int> count{0};
    name = ::testing::TempDir() + "plim." + std::to_string(getpid()) + "." +
           std::to_string(count.fetch_add(1));
    write(contents);
  }
  ~TemporaryFile() { std::remove(name.c_str()); }
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;

  const std::string &path() const { return name; }
  void write(std::string_view contents) const { std::ofstream(name, std::ios::binary) << contents; }
  std::string read() const {
    std::ifstream stream(name, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

private:
  std::string name;
};

} // namespace plim::testing
