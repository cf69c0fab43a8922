// The one exception of the importers. It leaves neither of their libraries: Import.cpp, here and in
// onnx/, turns it into a message.
#pragma once

#include <stdexcept>
#include <string>

namespace plim::importers {

/// What is wrong with a model, or not supported of it. The node is put in front where it is known.
class ImportError : public std::runtime_error {
public:
  enum class Kind { Invalid, Unsupported };
  ImportError(Kind kind, const std::string &message)
      : std::runtime_error(inOneLine(message)), kind(kind) {}
  Kind kind;

private:
  /// Names of the file, which are in messages, may have any characters.
  static std::string inOneLine(std::string message) {
    for (char &c : message)
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F)
        c = '?';
    return message;
  }
};

/// Throw an ImportError: the model is wrong, or right and not supported. The message says what and
/// where, as one sentence without a point.
[[noreturn]] inline void invalid(const std::string &message) {
  throw ImportError(ImportError::Kind::Invalid, message);
}
[[noreturn]] inline void unsupported(const std::string &message) {
  throw ImportError(ImportError::Kind::Unsupported, message);
}

} // namespace plim::importers
