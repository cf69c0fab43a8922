#include "python/native/Limits.h"

#include "python/native/Errors.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace plim::python {

namespace {

constexpr std::pair<const char *, int64_t plim_limits::*> numbers[] = {
    {"max_stack_alloca_bytes", &plim_limits::max_stack_alloca_bytes},
    {"stack_budget_bytes", &plim_limits::stack_budget_bytes},
    {"workspace_alignment", &plim_limits::workspace_alignment},
    {"max_text_bytes", &plim_limits::max_text_bytes},
    {"max_operations", &plim_limits::max_operations},
    {"max_rank", &plim_limits::max_rank},
    {"max_vector_elements", &plim_limits::max_vector_elements},
    {"max_constant_bytes", &plim_limits::max_constant_bytes},
};

bool setLimit(std::string_view name, std::string_view value, plim_limits &out) {
  if (name == "external_workspace_only") {
    out.external_workspace_only = value == "True"    ? PLIM_CHOICE_YES
                                  : value == "False" ? PLIM_CHOICE_NO
                                                     : PLIM_CHOICE_UNSPECIFIED;
    return out.external_workspace_only != PLIM_CHOICE_UNSPECIFIED ||
           fail(PLIM_INVALID_ARGUMENT, "limit 'external_workspace_only' must be True or False");
  }
  for (auto [known, member] : numbers) {
    if (known != name)
      continue;
    int64_t number = 0;
    const char *const begin = value.data(), *const end = begin + value.size();
    auto [rest, error] = std::from_chars(begin, end, number);
    if (error != std::errc() || rest != end || number < 0)
      return fail(PLIM_INVALID_ARGUMENT, "limit '%s' must be an int from 0 to 2**63 - 1", known);
    out.*member = number == 0 ? PLIM_LIMIT_ZERO : number;
    return true;
  }
  Ref called(PyUnicode_FromStringAndSize(name.data(), static_cast<Py_ssize_t>(name.size())));
  return called && fail(PLIM_INVALID_ARGUMENT,
                        "unknown limit %R; known are max_stack_alloca_bytes, stack_budget_bytes, "
                        "workspace_alignment, external_workspace_only, max_text_bytes, "
                        "max_operations, max_rank, "
                        "max_vector_elements and max_constant_bytes",
                        called.get());
}

} // namespace

bool readLimits(PyObject *texts, plim_limits &out) {
  out = {};
  out.struct_size = sizeof out;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(texts); ++i) {
    Py_ssize_t size;
    const char *text = PyUnicode_AsUTF8AndSize(PyTuple_GET_ITEM(texts, i), &size);
    if (!text)
      return false;
    const std::string_view all(text, static_cast<size_t>(size));
    const size_t end = std::min(all.find('='), all.size());
    if (!setLimit(all.substr(0, end), all.substr(std::min(end + 1, all.size())), out))
      return false;
  }
  return true;
}

} // namespace plim::python
