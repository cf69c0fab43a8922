// Plimsoll in C++20: the C interface with owners, spans and typed calls. Header-only.
//
//   auto engine = plimsoll::Engine::create();
//   auto module = engine->load(source, "saxpy.mlir");
//   auto saxpy = module->function("saxpy");
//   std::vector<float> x = {1, 2, 3}, y = {10, 10, 10};
//   plimsoll::Result<plimsoll::Buffer> sum = saxpy->call<plimsoll::Buffer>(2.0F, x, y);
//   if (!sum)
//     std::cerr << sum.status().message() << "\n";
//   for (float element : sum->elements<float>().value()) ...
//
// What each thing means, who owns what, which threads: as in the C headers, object by object; here stands
// only what C++ adds. Handles are cheap to copy: a copy is one more owner of the same object. A handle
// that was default-constructed or moved from is empty: what it is passed to says so with InvalidArgument.
// Nothing here throws but Result::value() and Status::orThrow(), for who would rather catch an Error, and what the standard
// library throws when there is no memory. What a callback of the host's throws must not reach the library: it ends the
// process.
#pragma once

#include "plimsoll/buffer.hpp"
#include "plimsoll/device.hpp"
#include "plimsoll/engine.hpp"
#include "plimsoll/event.hpp"
#include "plimsoll/function.hpp"
#include "plimsoll/host_functions.hpp"
#include "plimsoll/lent.hpp"
#include "plimsoll/module.hpp"
#include "plimsoll/plimsoll.h"
#include "plimsoll/report.hpp"
#include "plimsoll/status.hpp"
#include "plimsoll/target.hpp"
#include "plimsoll/value.hpp"
