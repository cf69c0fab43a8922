// What partitions or replicas do together: nothing, where each is alone. JAX writes so for a mesh of one device.
#include "importers/stablehlo/Importer.h"
#include "importers/stablehlo/Operator.h"

namespace plim::importers::stablehlo {

namespace {

[[noreturn]] void refuse() { unsupported("it needs several partitions or replicas"); }

/// In one group, of the device 0. No group is all devices, of which nobody says how many there are.
void collective(Operator &op) {
  if (op.integers("replica_groups", Numbers()) != Numbers{0})
    refuse();
  op.outputs = op.inputs;
}

/// From the device 0 to itself.
void permute(Operator &op) {
  const Numbers pairs = op.integers("source_target_pairs", Numbers());
  if (pairs != Numbers{0, 0})
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
