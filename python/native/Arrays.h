// Arrays and numbers of Python as buffers and scalars of the library, and back.
//
// An array is lent without a copy: the buffer points at its elements and, where it may outlive the
// call, keeps the array. bf16 has no type of NumPy's: it is uint16 there, the upper half of a
// float32; floats of 8 bits are uint8. i2 and i4 are int8. Integers of the library have no sign: signed and unsigned arrays fit, and results are
// signed.
#pragma once

#include "plimsoll/plimsoll.h"
#include "python/native/Python.h"

namespace plim::python {

/// plimsoll.Buffer: an owner of one buffer, with the buffer protocol.
struct BufferObject {
  PyObject_HEAD plim_buffer *buffer;
};
extern PyTypeObject *bufferType;
/// Makes the type; adds it to `module`. False with an exception.
bool addBufferType(PyObject *module);

/// Takes over `buffer`. Null, with an exception, without memory.
PyObject *wrapBuffer(plim_buffer *buffer);
/// A view of a buffer, which it keeps, as an array. `buffer` is a BufferObject.
PyObject *viewAsArray(PyObject *buffer);
/// Takes over `buffer`: an array that keeps it.
PyObject *toArray(plim_buffer *buffer);

/// Do the elements of the array have that type, and this machine's byte order?
bool hasElements(PyArrayObject *array, plim_element_type element);
/// The type that the elements have; 0 if the library has none.
plim_element_type elementTypeOf(PyArrayObject *array);
/// "float32", as people write it.
Ref describeElements(PyArrayObject *array);

/// Is it one number, of Python or of NumPy?
bool isNumber(PyObject *object);
/// Is it an array of numpy.ma? As any other array it would lose its mask.
bool isMasked(PyObject *object);
constexpr const char *maskedText = "a masked array would lose its mask; filled() gives an array";
/// As an array, without a copy: what has DLPack becomes a Buffer, what has the buffer protocol or
/// an __array__ an array. No reference and no exception for what is none of it.
Ref asArray(PyObject *object);

/// An array of rank 0 with this number (isNumber()). Null with an exception, as toBits().
Ref makeNumberArray(plim_element_type element, PyObject *number);
/// Do neighbours lie a whole number of elements apart, in each dimension?
bool stridesInElements(PyArrayObject *array);

/// As plim_buffer_release(). What lent the memory may be told, and finds no exception set; one that
/// is stays.
void release(plim_buffer *buffer);

enum class Lend {
  ForCall,     /// the caller keeps the array as long as the buffer
  KeepingArray /// the buffer has a reference
};
/// A buffer over the elements of the array, whose type is `element` (hasElements()). Null with an
/// exception if they are not aligned, or lie no whole number of elements apart.
plim_buffer *lend(PyArrayObject *array, plim_element_type element, Lend how);

/// One number as the bits of a scalar. False with an exception: TypeError for what is no such
/// number, OverflowError for an integer that does not fit.
bool toBits(PyObject *number, plim_element_type element, uint64_t *out);
/// bool, int or float.
PyObject *fromBits(plim_element_type element, uint64_t bits);

/// to_dlpack(buffer, versioned, is_copy): a capsule. BufferError for what the older form cannot
/// say.
PyObject *toDlpack(PyObject *module, PyObject *arguments);
/// from_dlpack(capsule): a Buffer, which takes the tensor over.
PyObject *fromDlpack(PyObject *module, PyObject *capsule);

} // namespace plim::python
