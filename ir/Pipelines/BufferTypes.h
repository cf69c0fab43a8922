#pragma once

namespace mlir {
class DialectRegistry;
}

namespace plim::ir {

/// What type the buffer of a tensor gets that comes from a loop, a branch or a select is looked up once. To be registered behind
/// upstream's models, which it asks: they follow both ways that a value may have come, for a loop up to three times, so that
/// 22 loops behind each other in another one took 12 s, and each more two and a half times as long.
void registerBufferTypes(mlir::DialectRegistry &registry);

} // namespace plim::ir
