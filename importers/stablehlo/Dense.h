// Elements of constants: "[[1.0, 2.0], [3.0, 4.0]]", "0x7FC00000", "\"0x0000803F...\"".
//
// Throws ImportError, that of a Lexer with a place.
#pragma once

#include "importers/emit/Tensor.h"
#include "importers/stablehlo/Lexer.h"
#include "importers/stablehlo/Module.h"

namespace plim::importers::stablehlo {

/// Over what stands between "dense<" and ">".
void skipElements(Lexer &lex);
/// The same, read. Without a shape if it is one element that stands for all.
TensorPtr denseElements(Lexer &lex, const Type &type);
/// The number that a float's bits are.
double fromBits(ElementType type, uint64_t bits);

} // namespace plim::importers::stablehlo
