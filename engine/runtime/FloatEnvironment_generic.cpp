#include "engine/runtime/FloatEnvironment.h"

namespace plim::runtime {

FloatEnvironment::FloatEnvironment() {
  std::fegetenv(&environment);
  std::fesetenv(FE_DFL_ENV);
}

FloatEnvironment::~FloatEnvironment() { std::fesetenv(&environment); }

} // namespace plim::runtime
