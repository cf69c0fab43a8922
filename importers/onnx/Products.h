// Products of matrices, for operators that are made of them.
#pragma once

#include "importers/onnx/Operator.h"

namespace plim::importers {

/// As NumPy's matmul: vectors, matrices and stacks of them, broadcast. Both of one type, which is that of the result. `attributes` of the op
/// beyond that, as text.
Value product(Emitter &emit, const Value &left, const Value &right,
              const std::string &attributes = {});

} // namespace plim::importers
