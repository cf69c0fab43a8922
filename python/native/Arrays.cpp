#include "python/native/Arrays.h"

#include "python/native/Errors.h"
#include "python/native/Gil.h"

#include <algorithm>
#include <bit>
#include <climits>
#include <cmath>
#include <cstring>
#include <string_view>

namespace plim::python {

namespace {

/// What an element type is to NumPy: the kinds and the size that fit, and what results are.
struct Elements {
  char kind, otherKind; /// as in dtype.kind
  int bytes;
  int type; /// of results
};
constexpr Elements elements[] = {
    {0, 0, 0, NPY_NOTYPE},      {'b', 'b', 1, NPY_BOOL},      {'i', 'u', 1, NPY_INT8},
    {'i', 'u', 2, NPY_INT16},   {'i', 'u', 4, NPY_INT32},     {'i', 'u', 8, NPY_INT64},
    {'f', 'f', 2, NPY_FLOAT16}, {'u', 'u', 2, NPY_UINT16},    {'f', 'f', 4, NPY_FLOAT32},
    {'f', 'f', 8, NPY_FLOAT64}, {'i', 'u', 8, NPY_INT64},     {'u', 'u', 1, NPY_UINT8},
    {'u', 'u', 1, NPY_UINT8},   {'c', 'c', 8, NPY_COMPLEX64}, {'c', 'c', 16, NPY_COMPLEX128},
    {'i', 'u', 1, NPY_INT8},    {'i', 'u', 1, NPY_INT8}};
static_assert(std::size(elements) == PLIM_I4 + 1);

/// The element type of elements that ml_dtypes and the like add to NumPy, which are opaque to it; 0 for others.
plim_element_type foreignElementType(const PyArray_Descr *type) {
  static constexpr struct {
    std::string_view name;
    plim_element_type element;
  } rows[] = {{"bfloat16", PLIM_BF16},
              {"float8_e4m3fn", PLIM_F8E4M3FN},
              {"float8_e5m2", PLIM_F8E5M2},
              {"int2", PLIM_I2},
              {"uint2", PLIM_I2},
              {"int4", PLIM_I4},
              {"uint4", PLIM_I4}};
  if (type->kind != 'V' || !type->typeobj)
    return 0;
  std::string_view name = type->typeobj->tp_name;
  name.remove_prefix(name.rfind('.') + 1);
  for (const auto &row : rows)
    if (row.name == name && type->elsize == elements[row.element].bytes)
      return row.element;
  return 0;
}

/// A float of 8 bits: what is not below `special` without sign is infinity, if there is one, or NaN.
struct Float8 {
  int mantissa, bias;
  unsigned special, nan;
};
constexpr Float8 float8Of(plim_element_type element) {
  return element == PLIM_F8E4M3FN ? Float8{3, 7, 0x7f, 0x7f} : Float8{2, 15, 0x7c, 0x7e};
}

/// To the nearest, ties to even.
uint64_t toFloat8(plim_element_type element, double value) {
  Float8 format = float8Of(element);
  unsigned sign = std::signbit(value) ? 0x80 : 0;
  double size = std::fabs(value);
  if (std::isnan(size))
    return sign | format.nan;
  size = std::min(size, 1e9); // as far beyond the largest as infinity
  int exponent = std::max(size == 0 ? INT_MIN : std::ilogb(size), 1 - format.bias);
  // In units of the last place: a carry runs into the exponent by itself.
  double units = std::nearbyint(std::ldexp(size, format.mantissa - exponent));
  auto bits = static_cast<unsigned>((exponent + format.bias - 1) << format.mantissa) +
              static_cast<unsigned>(units);
  return sign | std::min(bits, format.special);
}

double fromFloat8(plim_element_type element, uint64_t bits) {
  Float8 format = float8Of(element);
  auto size = static_cast<unsigned>(bits & 0x7f);
  int exponent = std::max(static_cast<int>(size >> format.mantissa), 1);
  unsigned leading = size >> format.mantissa ? 1u << format.mantissa : 0;
  double value = std::ldexp(leading + (size & ((1u << format.mantissa) - 1)),
                            exponent - format.bias - format.mantissa);
  if (size >= format.special)
    value = size < format.nan ? HUGE_VAL : std::nan("");
  return bits & 0x80 ? -value : value;
}

float fromBfloat16(uint64_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits << 16));
}

/// To the nearest, ties to even; a NaN stays one.
uint16_t toBfloat16(float value) {
  auto bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value))
    return static_cast<uint16_t>((bits >> 16) | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

} // namespace

bool hasElements(PyArrayObject *array, plim_element_type element) {
  const PyArray_Descr *type = PyArray_DESCR(array);
  const Elements &want = elements[element];
  if (!PyArray_ISNBO(type->byteorder)) [[unlikely]]
    return false;
  if ((type->kind == want.kind || type->kind == want.otherKind) && type->elsize == want.bytes)
      [[likely]]
    return true;
  return foreignElementType(type) == element;
}

plim_element_type elementTypeOf(PyArrayObject *array) {
  for (plim_element_type element : {PLIM_I1, PLIM_I8, PLIM_I16, PLIM_I32, PLIM_I64, PLIM_F16,
                                    PLIM_F32, PLIM_F64, PLIM_COMPLEX_F32, PLIM_COMPLEX_F64})
    if (hasElements(array, element))
      return element;
  bool isOurs = PyArray_ISNBO(PyArray_DESCR(array)->byteorder);
  return isOurs ? foreignElementType(PyArray_DESCR(array)) : 0;
}

Ref describeElements(PyArrayObject *array) {
  return Ref(PyObject_Str(reinterpret_cast<PyObject *>(PyArray_DESCR(array))));
}

bool isNumber(PyObject *object) {
  return PyFloat_Check(object) || PyComplex_Check(object) || PyLong_Check(object) ||
         PyArray_IsScalar(object, Generic);
}

bool isMasked(PyObject *object) {
  if (!PyArray_Check(object) || PyArray_CheckExact(object)) [[likely]]
    return false;
  static PyObject *type = nullptr;
  if (!type) {
    Ref module(PyImport_ImportModule("numpy.ma"));
    type = module ? PyObject_GetAttrString(module.get(), "MaskedArray") : nullptr;
    PyErr_Clear();
  }
  return type && PyObject_TypeCheck(object, reinterpret_cast<PyTypeObject *>(type));
}

Ref asArray(PyObject *object) {
  if (PyArray_Check(object) || Py_TYPE(object) == bufferType)
    return Ref::borrowed(object);
  if (PyObject_HasAttrString(object, "__dlpack__")) {
    Ref module(PyImport_ImportModule("plimsoll.buffer"));
    return module ? Ref(PyObject_CallMethod(module.get(), "from_dlpack", "O", object)) : Ref();
  }
  Ref source = Ref::borrowed(object);
  if (PyObject_CheckBuffer(object))
    source = Ref(PyMemoryView_FromObject(object)); // bytes alone would be one string to NumPy
  else if (!PyObject_HasAttrString(object, "__array__"))
    return {};
  return source ? Ref(PyArray_FromAny(source.get(), nullptr, 0, 0, 0, nullptr)) : Ref();
}

bool stridesInElements(PyArrayObject *array) {
  for (int i = 0; i < PyArray_NDIM(array); ++i)
    if (PyArray_STRIDE(array, i) % PyArray_ITEMSIZE(array) != 0)
      return false;
  return true;
}

void release(plim_buffer *buffer) {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  plim_buffer_release(buffer);
  PyErr_Restore(type, value, trace);
}

plim_buffer *lend(PyArrayObject *array, plim_element_type element, Lend how) {
  int rank = PyArray_NDIM(array);
  npy_intp bytes = elements[element].bytes;
  static_assert(sizeof(npy_intp) == sizeof(int64_t));
  plim_buffer_memory memory{};
  memory.struct_size = sizeof memory;
  memory.flags = PyArray_ISWRITEABLE(array) ? 0 : PLIM_BUFFER_READ_ONLY;
  memory.element = element;
  memory.rank = static_cast<uint32_t>(rank);
  memory.shape = reinterpret_cast<const int64_t *>(PyArray_SHAPE(array));
  memory.data = PyArray_DATA(array);
  memory.bytes = static_cast<size_t>(PyArray_NBYTES(array));
  int64_t strides[NPY_MAXDIMS];
  if (!PyArray_IS_C_CONTIGUOUS(array)) {
    memory.strides = strides;
    memory.bytes = static_cast<size_t>(bytes);
    for (int i = 0; i < rank; ++i) {
      npy_intp step = PyArray_STRIDE(array, i), extent = PyArray_DIM(array, i);
      if (step % bytes != 0) {
        fail(PLIM_INVALID_ARGUMENT,
             "dimension %d of an array has a stride of %zd bytes, which is no multiple of the %zd "
             "of an element; numpy.ascontiguousarray() makes a copy that is dense",
             i, static_cast<Py_ssize_t>(step), static_cast<Py_ssize_t>(bytes));
        return nullptr;
      }
      strides[i] = step / bytes;
      // NumPy has seen to it that all elements lie in the array's memory.
      if (step > 0)
        memory.bytes += static_cast<size_t>(step * (extent - 1));
      else
        memory.bytes_before += static_cast<size_t>(-step * (extent - 1));
    }
    if (PyArray_SIZE(array) == 0)
      memory.bytes = memory.bytes_before = 0;
  }
  if (how == Lend::KeepingArray) {
    memory.release = [](void *user, void *) { dropReference(user); };
    memory.user = array;
  }
  plim_buffer *buffer = nullptr;
  if (failed(plim_buffer_wrap(&memory, &buffer)))
    return nullptr;
  if (how == Lend::KeepingArray)
    Py_INCREF(array);
  return buffer;
}

namespace {

/// Of an integer.
int bitsOf(plim_element_type element) {
  return element == PLIM_I1   ? 1
         : element == PLIM_I2 ? 2
         : element == PLIM_I4 ? 4
                              : 8 * elements[element].bytes;
}

} // namespace

bool toBits(PyObject *number, plim_element_type element, uint64_t *out) {
  switch (element) {
  case PLIM_F16:
  case PLIM_BF16:
  case PLIM_F32:
  case PLIM_F64:
  case PLIM_F8E4M3FN:
  case PLIM_F8E5M2: {
    double value = PyFloat_AsDouble(number);
    if (value == -1 && PyErr_Occurred())
      return false;
    *out = element == PLIM_F64    ? std::bit_cast<uint64_t>(value)
           : element == PLIM_F32  ? std::bit_cast<uint32_t>(static_cast<float>(value))
           : element == PLIM_F16  ? std::bit_cast<uint16_t>(static_cast<_Float16>(value))
           : element == PLIM_BF16 ? toBfloat16(static_cast<float>(value))
                                  : toFloat8(element, value);
    return true;
  }
  default:
    break;
  }
  if (element == PLIM_I1 && (PyBool_Check(number) || PyArray_IsScalar(number, Bool))) {
    *out = PyObject_IsTrue(number) == 1;
    return true;
  }
  Ref index(PyNumber_Index(number)); // refuses what has a fraction
  if (!index)
    return false;
  int bits = bitsOf(element);
  int overflow = 0;
  long long value = PyLong_AsLongLongAndOverflow(index.get(), &overflow);
  uint64_t word = static_cast<uint64_t>(value);
  bool fits = overflow == 0;
  if (overflow > 0 && bits == 64) {
    word = PyLong_AsUnsignedLongLong(index.get());
    fits = !PyErr_Occurred();
    PyErr_Clear();
  } else if (fits && bits < 64) {
    fits = value >= -(1LL << (bits - 1)) && value < (1LL << bits);
  }
  if (!fits) {
    PyErr_Format(PyExc_OverflowError, "%S does not fit in %s", index.get(),
                 plim_element_type_name(element));
    return false;
  }
  *out = bits == 64 ? word : word & ((1ULL << bits) - 1);
  return true;
}

Ref makeNumberArray(plim_element_type element, PyObject *number) {
  int type = elements[element].type;
  if (type == NPY_COMPLEX64 || type == NPY_COMPLEX128)
    return Ref(PyArray_FromAny(number, PyArray_DescrFromType(type), 0, 0,
                               NPY_ARRAY_DEFAULT | NPY_ARRAY_FORCECAST, nullptr));
  uint64_t bits = 0;
  if (!toBits(number, element, &bits))
    return {};
  PyObject *array = PyArray_SimpleNew(0, nullptr, type);
  if (array)
    std::memcpy(PyArray_DATA(reinterpret_cast<PyArrayObject *>(array)), &bits,
                static_cast<size_t>(elements[element].bytes));
  return Ref(array);
}

PyObject *fromBits(plim_element_type element, uint64_t bits) {
  switch (element) {
  case PLIM_I1:
    return PyBool_FromLong(bits & 1);
  case PLIM_F16:
    return PyFloat_FromDouble(std::bit_cast<_Float16>(static_cast<uint16_t>(bits)));
  case PLIM_BF16:
    return PyFloat_FromDouble(fromBfloat16(bits));
  case PLIM_F8E4M3FN:
  case PLIM_F8E5M2:
    return PyFloat_FromDouble(fromFloat8(element, bits));
  case PLIM_F32:
    return PyFloat_FromDouble(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  case PLIM_F64:
    return PyFloat_FromDouble(std::bit_cast<double>(bits));
  default:
    break;
  }
  int unused = 64 - bitsOf(element);
  return PyLong_FromLongLong(static_cast<int64_t>(bits << unused) >> unused);
}

// --- Buffer --------------------------------------------------------------------------------------

PyTypeObject *bufferType = nullptr;

PyObject *wrapBuffer(plim_buffer *buffer) {
  auto *self = PyObject_New(BufferObject, bufferType);
  if (!self) {
    plim_buffer_release(buffer);
    return nullptr;
  }
  self->buffer = buffer;
  return reinterpret_cast<PyObject *>(self);
}

PyObject *viewAsArray(PyObject *owner) {
  plim_buffer *buffer = reinterpret_cast<BufferObject *>(owner)->buffer;
  uint32_t rank = plim_buffer_rank(buffer);
  if (rank > NPY_MAXDIMS)
    return fail(PLIM_UNIMPLEMENTED, "an array of NumPy's has at most %d dimensions, not %u",
                NPY_MAXDIMS, rank);
  plim_element_type element = plim_buffer_element_type(buffer);
  npy_intp strides[NPY_MAXDIMS];
  for (uint32_t i = 0; i < rank; ++i)
    strides[i] = static_cast<npy_intp>(plim_buffer_strides(buffer)[i] * elements[element].bytes);
  // NumPy takes memory of its own for null, which a tensor without elements may have.
  static constinit std::max_align_t nothing{};
  void *data = const_cast<void *>(plim_buffer_data(buffer));
  int flags = NPY_ARRAY_ALIGNED | (plim_buffer_is_read_only(buffer) ? 0 : NPY_ARRAY_WRITEABLE);
  PyObject *array = PyArray_NewFromDescr(
      &PyArray_Type, PyArray_DescrFromType(elements[element].type), static_cast<int>(rank),
      reinterpret_cast<const npy_intp *>(plim_buffer_shape(buffer)), strides,
      data ? data : &nothing, flags, nullptr);
  if (!array)
    return nullptr;
  Py_INCREF(owner);
  if (PyArray_SetBaseObject(reinterpret_cast<PyArrayObject *>(array), owner) < 0) {
    Py_DECREF(array);
    return nullptr;
  }
  return array;
}

PyObject *toArray(plim_buffer *buffer) {
  Ref owner(wrapBuffer(buffer));
  return owner ? viewAsArray(owner.get()) : nullptr;
}

namespace {

plim_buffer *bufferOf(PyObject *self) { return reinterpret_cast<BufferObject *>(self)->buffer; }

PyObject *makeBuffer(PyTypeObject *, PyObject *arguments, PyObject *keywords) {
  static const char *names[] = {"object", "element_type", nullptr};
  PyObject *object = nullptr;
  const char *name = nullptr;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O|z:Buffer", const_cast<char **>(names),
                                   &object, &name))
    return nullptr;
  plim_element_type wanted = name ? plim_element_type_from_name(name) : 0;
  if (name && !wanted)
    return fail(PLIM_NOT_FOUND, "no element type '%s'", name);
  if (isMasked(object))
    return fail(PLIM_INVALID_ARGUMENT, "%s", maskedText);
  Ref source = asArray(object);
  if (!source)
    return PyErr_Occurred() ? nullptr
                            : fail(PLIM_INVALID_ARGUMENT, "a Buffer is made of an array, not of %s",
                                   Py_TYPE(object)->tp_name);
  if (Py_TYPE(source.get()) == bufferType) {
    if (!wanted || wanted == plim_buffer_element_type(bufferOf(source.get())))
      return source.take();
    source = Ref(viewAsArray(source.get()));
    if (!source)
      return nullptr;
  }
  auto *array = reinterpret_cast<PyArrayObject *>(source.get());
  plim_element_type element = wanted ? wanted : elementTypeOf(array);
  if (!element || !hasElements(array, element)) {
    Ref text = describeElements(array);
    return text ? fail(PLIM_INVALID_ARGUMENT, "an array of %U has no elements of type %s",
                       text.get(), wanted ? name : "that the library knows")
                : nullptr;
  }
  plim_buffer *buffer = lend(array, element, Lend::KeepingArray);
  return buffer ? wrapBuffer(buffer) : nullptr;
}

void freeBuffer(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  release(bufferOf(self));
  type->tp_free(self);
  Py_DECREF(type);
}

/// The array's, which keeps this one.
int getBuffer(PyObject *self, Py_buffer *view, int flags) {
  Ref array(viewAsArray(self));
  if (!array) {
    view->obj = nullptr;
    return -1;
  }
  return PyObject_GetBuffer(array.get(), view, flags);
}

PyObject *tupleOf(const int64_t *numbers, uint32_t count) {
  Ref tuple(PyTuple_New(count));
  for (uint32_t i = 0; tuple && i < count; ++i) {
    PyObject *number = PyLong_FromLongLong(numbers[i]);
    if (!number)
      return nullptr;
    PyTuple_SET_ITEM(tuple.get(), i, number);
  }
  return tuple.take();
}

PyObject *getArray(PyObject *self, void *) { return viewAsArray(self); }
PyObject *getElementType(PyObject *self, void *) {
  return PyUnicode_FromString(plim_element_type_name(plim_buffer_element_type(bufferOf(self))));
}
PyObject *getShape(PyObject *self, void *) {
  return tupleOf(plim_buffer_shape(bufferOf(self)), plim_buffer_rank(bufferOf(self)));
}
PyObject *getStrides(PyObject *self, void *) {
  return tupleOf(plim_buffer_strides(bufferOf(self)), plim_buffer_rank(bufferOf(self)));
}
PyObject *getReadOnly(PyObject *self, void *) {
  return PyBool_FromLong(plim_buffer_is_read_only(bufferOf(self)));
}

PyGetSetDef bufferGetters[] = {
    {"array", getArray, nullptr, "The elements as a NumPy array, without a copy.", nullptr},
    {"element_type", getElementType, nullptr, "As modules name it: \"f32\", \"bf16\".", nullptr},
    {"shape", getShape, nullptr, "The extents, outermost first.", nullptr},
    {"strides", getStrides, nullptr, "In elements, one for each extent.", nullptr},
    {"read_only", getReadOnly, nullptr, "May nobody write it?", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyType_Slot bufferSlots[] = {
    {Py_tp_doc,
     const_cast<char *>(
         "Buffer(object, element_type=None)\n--\n\n"
         "One tensor in memory: what results are views of, and what arguments may be.\n\n"
         "Made of an array, or of anything with the buffer protocol or DLPack, without a "
         "copy;\nelement_type=\"bf16\" reads an array of uint16 as the upper halves of "
         "float32,\n\"f8E4M3FN\" and \"f8E5M2\" one of uint8 as floats of 8 bits.")},
    {Py_tp_new, reinterpret_cast<void *>(makeBuffer)},
    {Py_tp_dealloc, reinterpret_cast<void *>(freeBuffer)},
    {Py_tp_getset, bufferGetters},
    {Py_bf_getbuffer, reinterpret_cast<void *>(getBuffer)},
    {0, nullptr}};
PyType_Spec bufferSpec = {"plimsoll.Buffer", sizeof(BufferObject), 0, Py_TPFLAGS_DEFAULT,
                          bufferSlots};

} // namespace

bool addBufferType(PyObject *module) {
  bufferType = reinterpret_cast<PyTypeObject *>(PyType_FromSpec(&bufferSpec));
  return bufferType && PyModule_AddType(module, bufferType) == 0;
}

// --- DLPack --------------------------------------------------------------------------------------

namespace {

constexpr const char *versionedName = "dltensor_versioned", *legacyName = "dltensor";
constexpr const char *usedVersionedName = "used_dltensor_versioned",
                     *usedLegacyName = "used_dltensor";

constexpr uint64_t isCopiedFlag = 2; // of DLPack: nobody else has the memory

/// A tensor before version 1.0 of DLPack.
struct LegacyTensor {
  plim_dlpack_tensor tensor;
  void *context;
  void (*deleter)(LegacyTensor *self);
};

/// A capsule that nobody took has its tensor still. Its name says so.
template <typename Tensor> void dropTensor(PyObject *capsule, const char *name) {
  if (!PyCapsule_IsValid(capsule, name))
    return;
  auto *tensor = static_cast<Tensor *>(PyCapsule_GetPointer(capsule, name));
  if (tensor->deleter)
    tensor->deleter(tensor);
}
void dropVersioned(PyObject *capsule) {
  dropTensor<plim_dlpack_managed_tensor>(capsule, versionedName);
}
void dropLegacy(PyObject *capsule) { dropTensor<LegacyTensor>(capsule, legacyName); }

} // namespace

PyObject *toDlpack(PyObject *, PyObject *arguments) {
  PyObject *object = nullptr;
  int versioned = 0, isCopy = 0;
  if (!PyArg_ParseTuple(arguments, "O!pp", bufferType, &object, &versioned, &isCopy))
    return nullptr;
  plim_buffer *buffer = bufferOf(object);
  if (!versioned && plim_buffer_is_read_only(buffer)) {
    PyErr_SetString(PyExc_BufferError, "DLPack before version 1.0 cannot say that a tensor is "
                                       "read-only; ask for max_version=(1, 0)");
    return nullptr;
  }
  DLManagedTensorVersioned *exported = nullptr;
  if (failed(plim_buffer_to_dlpack(buffer, nullptr, &exported)))
    return nullptr;
  auto *managed = reinterpret_cast<plim_dlpack_managed_tensor *>(exported);
  if (isCopy)
    managed->flags |= isCopiedFlag;
  PyObject *capsule = nullptr;
  if (versioned) {
    capsule = PyCapsule_New(managed, versionedName, dropVersioned);
  } else {
    auto *legacy = new (std::nothrow)
        LegacyTensor{managed->tensor, managed, [](LegacyTensor *self) {
                       auto *inner = static_cast<plim_dlpack_managed_tensor *>(self->context);
                       inner->deleter(inner);
                       delete self;
                     }};
    capsule = legacy ? PyCapsule_New(legacy, legacyName, dropLegacy) : PyErr_NoMemory();
    if (!capsule)
      delete legacy;
  }
  if (!capsule)
    managed->deleter(managed);
  return capsule;
}

PyObject *fromDlpack(PyObject *, PyObject *capsule) {
  plim_buffer *buffer = nullptr;
  if (PyCapsule_IsValid(capsule, versionedName)) {
    auto *tensor =
        static_cast<DLManagedTensorVersioned *>(PyCapsule_GetPointer(capsule, versionedName));
    if (failed(plim_buffer_from_dlpack(tensor, &buffer)))
      return nullptr;
    PyCapsule_SetName(capsule, usedVersionedName);
  } else if (PyCapsule_IsValid(capsule, legacyName)) {
    auto *legacy = static_cast<LegacyTensor *>(PyCapsule_GetPointer(capsule, legacyName));
    auto *managed = new (std::nothrow) plim_dlpack_managed_tensor{
        1,
        0,
        legacy,
        [](plim_dlpack_managed_tensor *self) {
          auto *inner = static_cast<LegacyTensor *>(self->manager_context);
          if (inner->deleter)
            inner->deleter(inner);
          delete self;
        },
        0,
        legacy->tensor};
    if (!managed)
      return PyErr_NoMemory();
    if (failed(plim_buffer_from_dlpack(reinterpret_cast<DLManagedTensorVersioned *>(managed),
                                       &buffer))) {
      delete managed;
      return nullptr;
    }
    PyCapsule_SetName(capsule, usedLegacyName);
  } else {
    return fail(PLIM_INVALID_ARGUMENT, "__dlpack__() returned no tensor, or one that was taken");
  }
  return wrapBuffer(buffer);
}

} // namespace plim::python
