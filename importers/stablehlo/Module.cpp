#include "importers/stablehlo/Module.h"

namespace plim::importers::stablehlo {

std::string elementText(ElementType type) { return (isUnsigned(type) ? "u" : "") + mlirName(type); }

std::string typeText(const Type &type) {
  if (type.kind != Type::Kind::Tensor)
    return type.text;
  std::string out = "tensor<";
  for (int64_t extent : type.shape)
    out += (extent == open ? "?" : std::to_string(extent)) + "x";
  return out + elementText(type.element) + ">";
}

} // namespace plim::importers::stablehlo
