#include "support/FloatEnvironment.h"

namespace plim {

FloatEnvironment::FloatEnvironment() {
  std::fegetenv(&environment);
  std::fesetenv(FE_DFL_ENV);
}

FloatEnvironment::~FloatEnvironment() { std::fesetenv(&environment); }

} // namespace plim
