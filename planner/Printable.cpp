#include "planner/Printable.h"

namespace plim::planner {

std::string printable(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned char c = static_cast<unsigned char>(text[i]);
    // U+0080 to U+009F, which terminals obey, too.
    bool beginsControl = c == 0xc2 && i + 1 < text.size() &&
                         (static_cast<unsigned char>(text[i + 1]) & 0xe0) == 0x80;
    bool endsControl =
        (c & 0xe0) == 0x80 && i > 0 && static_cast<unsigned char>(text[i - 1]) == 0xc2;
    if (c >= ' ' && c != 0x7f && !beginsControl && !endsControl) {
      result += text[i];
      continue;
    }
    constexpr char digits[] = "0123456789abcdef";
    result += "\\x";
    result += digits[c / 16];
    result += digits[c % 16];
  }
  return result;
}

} // namespace plim::planner
