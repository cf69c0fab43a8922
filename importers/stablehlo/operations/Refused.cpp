// Operations that are known and not supported, with the reason.
#include "importers/stablehlo/Operator.h"

namespace plim::importers::stablehlo {

namespace {

void partition(Operator &) { unsupported("it tells several partitions or replicas apart"); }
void stateless(Operator &) {
  unsupported("its random numbers come of no state that the module is given");
}
void quantised(Operator &) { unsupported("quantised types are not supported"); }
void hostTransfer(Operator &) { unsupported("it needs a host beside the program"); }
void bounded(Operator &) { unsupported("bounded extents are not supported"); }

} // namespace

const OperationTable &refused() {
  static const OperationTable table{
      {"stablehlo.infeed", {hostTransfer, 0, any}},
      {"stablehlo.outfeed", {hostTransfer, 0, any}},
      {"stablehlo.partition_id", {partition, 0, any}},
      {"stablehlo.recv", {hostTransfer, 0, any}},
      {"stablehlo.replica_id", {partition, 0, any}},
      {"stablehlo.rng", {stateless, 0, any}},
      {"stablehlo.send", {hostTransfer, 0, any}},
      {"stablehlo.set_dimension_size", {bounded, 0, any}},
      {"stablehlo.uniform_dequantize", {quantised, 0, any}},
      {"stablehlo.uniform_quantize", {quantised, 0, any}},
  };
  return table;
}

} // namespace plim::importers::stablehlo
