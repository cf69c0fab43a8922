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
// The C headers are the manual, object by object: what each thing means, who owns what, which
// threads, which codes. A member here calls the function of the same name, `Engine::load`
// plim_module_load(), and only what C++ adds stands here.
//
// Lifetimes. Handles are cheap to copy: a copy is one more owner of the same object, the destructor
// gives one up. A handle that was default-constructed or moved from is empty: `if (handle)` is
// false, getters give 0 or nothing, and what it is passed to fails with PLIM_INVALID_ARGUMENT.
// Texts and spans that getters return live as long as the object, not as the handle that was asked.
//
// Errors. What can fail returns a Status or a Result. Nothing here throws but Result::value() and
// Status::orThrow(), for who would rather catch an Error, and what the standard library throws when
// there is no memory. What a callback of the host's throws must not reach the library: it ends the
// process.
//
// Options are structs with the names of the C fields in camelBack; what is not set has the meaning
// of zero there. Pointers and spans in them are borrowed for the call that they are passed to.
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
