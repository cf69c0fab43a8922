// What partitions or replicas do together: nothing, where each is alone. JAX writes so for a mesh of one device.
#include "importers/stablehlo/Importer.h"
#include "importers/stablehlo/Operator.h"

namespace plim::importers::stablehlo {

namespace {

[[noreturn]] void refuse() { unsupported("it needs several partitions or replicas"); }

/// In groups of one.
void collective(Operator &op) {
  const auto groups = op.operation.attributes.find("replica_groups");
  if (groups == op.operation.attributes.end() || groups->second.kind != Attribute::Kind::Dense ||
      groups->second.type.shape.size() != 2 || groups->second.type.shape[1] != 1)
    refuse();
  op.outputs = op.inputs;
}

/// From each to itself.
void permute(Operator &op) {
  const Numbers pairs = op.integers("source_target_pairs", Numbers());
  if (pairs.size() != 2 || pairs[0] != pairs[1])
    refuse();
  op.outputs = op.inputs;
}

/// A region that sees the part of one device, which is all there is.
void manualComputation(Operator &op) {
  const Region &body = op.region(0);
  for (size_t i = 0; i < body.arguments.size() && i < op.operation.operandTypes.size(); ++i)
    if (typeText(body.arguments[i].type) != typeText(op.operation.operandTypes[i]))
      refuse();
  op.outputs = op.importer.runRegion(body, op.inputs);
}

} // namespace

const OperationTable &collectives() {
  static const OperationTable table{
      {"sdy.manual_computation", {manualComputation, 0, any}},
      {"stablehlo.all_gather", {collective, 1, any}},
      {"stablehlo.all_reduce", {collective, 1, any}},
      {"stablehlo.all_to_all", {collective, 1, any}},
      {"stablehlo.collective_broadcast", {collective, 1, any}},
      {"stablehlo.collective_permute", {permute, 1, any}},
      {"stablehlo.reduce_scatter", {collective, 1, any}},
  };
  return table;
}

} // namespace plim::importers::stablehlo
