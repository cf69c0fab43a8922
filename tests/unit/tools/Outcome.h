// What a command came to.
#pragma once

#include <sstream>
#include <string>

namespace plim::testing {

struct Outcome {
  int status = 0;
  std::string out, err;
};

/// Runs a command of tools/.
template <typename Options>
Outcome outcomeOf(int (*command)(const Options &, std::ostream &, std::ostream &),
                  const Options &options) {
  std::ostringstream out, err;
  const int status = command(options, out, err);
  return {status, out.str(), err.str()};
}

} // namespace plim::testing
