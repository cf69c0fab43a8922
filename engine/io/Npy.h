// Npy: one array from or to a NumPy .npy file (format versions 1, 2 and 3).
//
// The format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
//
//   NumPy          b1  i1 u1  i2 u2  i4 u4  i8 u8  f2   f4   f8   c8            c16
//   element type   i1  i8     i16    i32    i64    f16  f32  f64  complex<f32>  complex<f64>
//
// Integers are signless here, so unsigned ones keep their bits. Arrays in Fortran order are read into
// row-major order. Big-endian, structured, object and string arrays are errors, and so are
// bytes missing or left over. Nothing in the file is trusted. Any thread.
#pragma once

#include "engine/runtime/Value.h"
#include "support/Log.h"
#include "support/Status.h"

#include <memory>
#include <string>

namespace plim::io {

/// A writable buffer from `pool`. Messages begin with the path. Errors: those of File,
/// InvalidArgument for a malformed file, Unimplemented for an element type that has no counterpart,
/// ResourceExhausted.
StatusOr<runtime::Buffer> readNpy(const std::string &path,
                                  const std::shared_ptr<runtime::MemoryPool> &pool);

/// A read-only buffer on the file, which is mapped until the buffer is gone and must neither be written
/// nor truncated meanwhile. Arrays in Fortran order, and elements that the file does not align to
/// their type, are copied; `log` says so. Errors as above.
StatusOr<runtime::Buffer> mapNpy(const std::string &path, const Logger &log = {});

/// Unimplemented for elements that NumPy has no type for.
Status checkNpyElements(runtime::ElementType type);

/// Creates or replaces the file. index is written as i8, integers as signed; i2, i4, bf16 and floats
/// of 8 bits are Unimplemented, since NumPy has no such types.
Status writeNpy(const std::string &path, const runtime::Value &value);

} // namespace plim::io
