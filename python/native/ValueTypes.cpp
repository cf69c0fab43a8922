#include "python/native/ValueTypes.h"

#include "python/native/Handle.h"

namespace plim::python {

Ref typeText(const plim_value_type &type) {
  const char *element = plim_element_type_name(type.element);
  if (type.kind == PLIM_SCALAR)
    return Ref(PyUnicode_FromString(element));
  Ref text(PyUnicode_FromString(type.kind == PLIM_MEMREF ? "memref<" : "tensor<"));
  for (uint32_t i = 0; text && i < type.rank; ++i)
    text = type.shape[i] == PLIM_DYNAMIC
               ? Ref(PyUnicode_FromFormat("%U?x", text.get()))
               : Ref(PyUnicode_FromFormat("%U%lldx", text.get(),
                                          static_cast<long long>(type.shape[i])));
  if (!text || !type.strides)
    return text ? Ref(PyUnicode_FromFormat("%U%s>", text.get(), element)) : Ref();
  text = Ref(PyUnicode_FromFormat("%U%s, strided<[", text.get(), element));
  for (uint32_t i = 0; text && i < type.rank; ++i) {
    const char *comma = i == 0 ? "" : ", ";
    text = type.strides[i] == PLIM_DYNAMIC_STRIDE
               ? Ref(PyUnicode_FromFormat("%U%s?", text.get(), comma))
               : Ref(PyUnicode_FromFormat("%U%s%lld", text.get(), comma,
                                          static_cast<long long>(type.strides[i])));
  }
  return text ? Ref(PyUnicode_FromFormat("%U]>>", text.get())) : Ref();
}

Ref describe(const plim_value_type &type) {
  auto numbers = [&](const int64_t *values, int64_t dynamic) {
    Ref tuple(PyTuple_New(type.rank));
    for (uint32_t i = 0; tuple && i < type.rank; ++i)
      PyTuple_SET_ITEM(tuple.get(), i,
                       values[i] == dynamic ? Py_NewRef(Py_None) : PyLong_FromLongLong(values[i]));
    return tuple;
  };
  constexpr const char *kinds[] = {"", "scalar", "", "tensor", "memref"};
  constexpr const char *accesses[] = {"readonly", "writeonly", "readwrite"};
  Ref shape = numbers(type.shape, PLIM_DYNAMIC), text = typeText(type);
  Ref strides = type.strides ? numbers(type.strides, PLIM_DYNAMIC_STRIDE) : Ref::borrowed(Py_None);
  Ref donated =
      type.donated_to < 0 ? Ref::borrowed(Py_None) : Ref(PyLong_FromLong(type.donated_to));
  Ref bounds = Ref::borrowed(Py_None);
  if (type.bounds) {
    bounds = Ref(PyTuple_New(type.rank));
    for (uint32_t i = 0; bounds && i < type.rank; ++i)
      PyTuple_SET_ITEM(
          bounds.get(), i,
          type.bounds[i].max == INT64_MAX
              ? Py_BuildValue("LO", static_cast<long long>(type.bounds[i].min), Py_None)
              : Py_BuildValue("LL", static_cast<long long>(type.bounds[i].min),
                              static_cast<long long>(type.bounds[i].max)));
  }
  Ref name = type.name ? decodeName(type.name) : Ref::borrowed(Py_None);
  if (!shape || !text || !strides || !donated || !bounds || !name)
    return {};
  return Ref(Py_BuildValue("ssOOsOOOO", kinds[type.kind], plim_element_type_name(type.element),
                           shape.get(), strides.get(), accesses[type.access], donated.get(),
                           text.get(), name.get(), bounds.get()));
}

} // namespace plim::python
