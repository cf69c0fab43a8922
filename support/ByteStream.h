// ByteWriter and ByteReader: how values are laid out in files of the cache. Integers take eight
// bytes, lowest first; texts and lists begin with their length.
//
//   ByteWriter writer;                             ByteReader reader(bytes);
//   writer.integer(3);                             uint64_t three = reader.integer();
//   writer.text("scale");                          std::string scale = reader.text();
//   store(writer.bytes);                           if (!reader.atEnd()) ... damaged
//
// There are no types and no sums: who reads must read what was written, and a file has a digest
// around it. Standard library only. An instance belongs to one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plim {

/// Appends to `bytes`, which the caller takes in the end.
class ByteWriter {
public:
  void integer(uint64_t value) {
    for (int i = 0; i < 8; ++i)
      bytes.push_back(static_cast<char>(value >> (8 * i)));
  }
  void text(std::string_view value) {
    integer(value.size());
    bytes.append(value);
  }
  /// The number of values, then `write(value)` for each of them. What that writes must be eight
  /// bytes or more.
  template <typename T, typename WriteT> void list(const std::vector<T> &values, WriteT write) {
    integer(values.size());
    for (const T &value : values)
      write(value);
  }
  std::string bytes;
};

/// Reads what ByteWriter wrote. Bytes may be anything: after the first fault every read yields 0 or
/// nothing, and atEnd() is false. Borrows the bytes; what it returns is copied.
class ByteReader {
public:
  explicit ByteReader(std::string_view bytes) : rest(bytes) {}
  uint64_t integer() {
    if (rest.size() < 8) {
      fault();
      return 0;
    }
    uint64_t value = 0;
    for (int i = 0; i < 8; ++i)
      value |= uint64_t(static_cast<uint8_t>(rest[static_cast<size_t>(i)])) << (8 * i);
    rest.remove_prefix(8);
    return value;
  }
  std::string text() {
    uint64_t size = integer();
    if (size > rest.size()) {
      fault();
      return {};
    }
    std::string value(rest.substr(0, size));
    rest.remove_prefix(size);
    return value;
  }
  /// Appends what `read()` gives, as often as was written.
  template <typename T, typename ReadT> void list(std::vector<T> &values, ReadT read) {
    uint64_t count = integer();
    // Every element takes at least eight bytes.
    if (count > rest.size() / 8) {
      fault();
      return;
    }
    for (uint64_t i = 0; i < count && valid; ++i)
      values.push_back(read());
  }
  /// Was all of it read, without a fault?
  bool atEnd() const { return valid && rest.empty(); }

private:
  void fault() {
    valid = false;
    rest = {};
  }
  std::string_view rest;
  bool valid = true;
};

} // namespace plim
