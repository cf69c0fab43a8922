#include "importers/emit/Error.h"
#include "importers/onnx/Importer.h"
#include "importers/onnx/Reader.h"
#include "importers/onnx/plimsoll_onnx.h"

#include <algorithm>
#include <new>

using namespace plim::importers;

struct plim_onnx_bytes {
  plim::importers::TensorPtr tensor;
};

struct plim_onnx_model {
  ImportedModel imported;
  std::vector<std::string> types; // of parameters
  std::string message, summary;
};

namespace {

std::string extentText(const Extent &extent) {
  return extent.value >= 0 ? std::to_string(extent.value) : extent.name.empty() ? "?" : extent.name;
}

std::string infoText(const ValueInfo &info) {
  std::string out = "  " + info.name;
  if (info.type)
    out += "  " + onnxName(*info.type);
  if (info.shape) {
    std::string extents;
    for (const Extent &extent : *info.shape)
      extents += (extents.empty() ? "" : ", ") + extentText(extent);
    out += " [" + extents + "]";
  }
  return out + "\n";
}

/// How often each operator stands in a graph and its sub-graphs.
void countOperators(const Graph &graph, std::map<std::string, int64_t> &counts) {
  for (const Node &node : graph.nodes) {
    ++counts[(node.domain.empty() ? "" : node.domain + ".") + node.op];
    for (const auto &[name, attribute] : node.attributes)
      if (attribute.graph)
        countOperators(*attribute.graph, counts);
  }
}

std::string summaryOf(const Model &model, const ImportedModel &imported) {
  std::string out = "model '" + model.graph.name + "'";
  if (!model.producer.empty())
    out += " of " + model.producer;
  for (const auto &[domain, version] : model.opsets)
    out += ", opset " + std::to_string(version) + (domain.empty() ? "" : " of " + domain);
  out += "\ninputs\n";
  for (const ValueInfo &input : model.graph.inputs)
    if (std::find(imported.inputNames.begin(), imported.inputNames.end(), input.name) !=
        imported.inputNames.end())
      out += infoText(input);
  out += "outputs\n";
  for (const ValueInfo &output : model.graph.outputs)
    out += infoText(output);
  size_t bytes = 0;
  for (const TensorPtr &parameter : imported.parameters)
    bytes += parameter->bytes.size();
  out += "parameters  " + std::to_string(imported.parameters.size()) + ", " +
         std::to_string(bytes) + " bytes\noperators\n";
  std::map<std::string, int64_t> counts;
  countOperators(model.graph, counts);
  for (const auto &[name, count] : counts)
    out += "  " + name + "  " + std::to_string(count) + "\n";
  return out;
}

void importInto(plim_onnx_model &out, std::span<const std::byte> bytes, const std::string &folder) {
  const Model model = readModel(bytes, folder);
  out.imported = Importer(model).run();
  for (const TensorPtr &parameter : out.imported.parameters) {
    out.types.push_back(safetensorsName(parameter->type));
    if (out.types.back().empty())
      unsupported("constants of complex numbers with 1 KiB and more are not supported");
  }
  out.summary = summaryOf(model, out.imported);
}

int failed(plim_onnx_model &out, int code, const std::string &message) {
  out = {};
  out.message = message;
  std::replace(out.message.begin(), out.message.end(), '\n', ' ');
  return code;
}

} // namespace

extern "C" {

int plim_onnx_version(void) { return PLIM_ONNX_VERSION; }

int plim_onnx_import(const void *bytes, size_t size, const char *folder,
                     plim_onnx_model **out_model) {
  auto *out = *out_model = new (std::nothrow) plim_onnx_model;
  if (!out)
    return PLIM_ONNX_INTERNAL;
  try {
    importInto(*out, {static_cast<const std::byte *>(bytes), size}, folder);
    return PLIM_ONNX_OK;
  } catch (const ImportError &error) {
    return failed(
        *out, error.kind == ImportError::Kind::Invalid ? PLIM_ONNX_INVALID : PLIM_ONNX_UNSUPPORTED,
        error.what());
  } catch (const std::bad_alloc &) {
    return failed(*out, PLIM_ONNX_INTERNAL, "there is not enough memory");
  } catch (const std::exception &error) {
    return failed(*out, PLIM_ONNX_INTERNAL, error.what());
  }
}

void plim_onnx_free(plim_onnx_model *model) { delete model; }
const char *plim_onnx_message(const plim_onnx_model *model) { return model->message.c_str(); }
const char *plim_onnx_text(const plim_onnx_model *model, size_t *out_size) {
  *out_size = model->imported.text.size();
  return model->imported.text.c_str();
}
const char *plim_onnx_summary(const plim_onnx_model *model) { return model->summary.c_str(); }
size_t plim_onnx_parameter_count(const plim_onnx_model *model) {
  return model->imported.parameters.size();
}
plim_onnx_parameter plim_onnx_parameter_at(const plim_onnx_model *model, size_t index) {
  const Tensor &tensor = *model->imported.parameters[index];
  return {tensor.name.c_str(), model->types[index].c_str(), tensor.shape.data(),
          tensor.shape.size(), tensor.bytes.data(),         tensor.bytes.size(),
          tensor.isOfFile};
}

plim_onnx_bytes *plim_onnx_keep(const plim_onnx_model *model, size_t index) {
  return new (std::nothrow) plim_onnx_bytes{model->imported.parameters[index]};
}
void plim_onnx_release(plim_onnx_bytes *bytes) { delete bytes; }

} // extern "C"
