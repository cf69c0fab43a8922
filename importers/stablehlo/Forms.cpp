#include "importers/stablehlo/Forms.h"

namespace plim::importers::stablehlo {

namespace {

std::map<std::string_view, Form> makeForms() {
  std::map<std::string_view, Form> out;
  for (const std::string_view plain : {"func.return",
                                       "stablehlo.return",
                                       "chlo.return",
                                       "sdy.return",
                                       "stablehlo.abs",
                                       "stablehlo.add",
                                       "stablehlo.after_all",
                                       "stablehlo.and",
                                       "stablehlo.atan2",
                                       "stablehlo.bitcast_convert",
                                       "stablehlo.cbrt",
                                       "stablehlo.ceil",
                                       "stablehlo.clamp",
                                       "stablehlo.complex",
                                       "stablehlo.convert",
                                       "stablehlo.cosine",
                                       "stablehlo.count_leading_zeros",
                                       "stablehlo.create_token",
                                       "stablehlo.divide",
                                       "stablehlo.dynamic_gather",
                                       "stablehlo.dynamic_pad",
                                       "stablehlo.dynamic_reshape",
                                       "stablehlo.dynamic_update_slice",
                                       "stablehlo.exponential",
                                       "stablehlo.exponential_minus_one",
                                       "stablehlo.floor",
                                       "stablehlo.get_tuple_element",
                                       "stablehlo.imag",
                                       "stablehlo.is_finite",
                                       "stablehlo.log",
                                       "stablehlo.log_plus_one",
                                       "stablehlo.logistic",
                                       "stablehlo.maximum",
                                       "stablehlo.minimum",
                                       "stablehlo.multiply",
                                       "stablehlo.negate",
                                       "stablehlo.not",
                                       "stablehlo.optimization_barrier",
                                       "stablehlo.or",
                                       "stablehlo.partition_id",
                                       "stablehlo.popcnt",
                                       "stablehlo.power",
                                       "stablehlo.real",
                                       "stablehlo.real_dynamic_slice",
                                       "stablehlo.remainder",
                                       "stablehlo.replica_id",
                                       "stablehlo.reshape",
                                       "stablehlo.round_nearest_afz",
                                       "stablehlo.round_nearest_even",
                                       "stablehlo.rsqrt",
                                       "stablehlo.select",
                                       "stablehlo.shift_left",
                                       "stablehlo.shift_right_arithmetic",
                                       "stablehlo.shift_right_logical",
                                       "stablehlo.sign",
                                       "stablehlo.sine",
                                       "stablehlo.sqrt",
                                       "stablehlo.subtract",
                                       "stablehlo.tan",
                                       "stablehlo.tanh",
                                       "stablehlo.tuple",
                                       "stablehlo.xor",
                                       "chlo._asin_acos_kernel",
                                       "chlo.acos",
                                       "chlo.acosh",
                                       "chlo.asin",
                                       "chlo.asinh",
                                       "chlo.atan",
                                       "chlo.atanh",
                                       "chlo.cosh",
                                       "chlo.digamma",
                                       "chlo.erf",
                                       "chlo.erf_inv",
                                       "chlo.erfc",
                                       "chlo.is_inf",
                                       "chlo.is_neg_inf",
                                       "chlo.is_pos_inf",
                                       "chlo.lgamma",
                                       "chlo.mulhi",
                                       "chlo.next_after",
                                       "chlo.polygamma",
                                       "chlo.sinh",
                                       "chlo.square",
                                       "chlo.tan",
                                       "chlo.zeta",
                                       "chlo.conj",
                                       "chlo.bessel_i1e",
                                       "chlo.broadcast_add",
                                       "chlo.broadcast_and",
                                       "chlo.broadcast_atan2",
                                       "chlo.broadcast_compare",
                                       "chlo.broadcast_complex",
                                       "chlo.broadcast_divide",
                                       "chlo.broadcast_maximum",
                                       "chlo.broadcast_minimum",
                                       "chlo.broadcast_multiply",
                                       "chlo.broadcast_next_after",
                                       "chlo.broadcast_or",
                                       "chlo.broadcast_polygamma",
                                       "chlo.broadcast_power",
                                       "chlo.broadcast_remainder",
                                       "chlo.broadcast_select",
                                       "chlo.broadcast_shift_left",
                                       "chlo.broadcast_shift_right_arithmetic",
                                       "chlo.broadcast_shift_right_logical",
                                       "chlo.broadcast_subtract",
                                       "chlo.broadcast_xor",
                                       "chlo.broadcast_zeta",
                                       "chlo.constant_like"})
    out[plain];
  out["stablehlo.broadcast"] = {{{"sizes", "broadcast_sizes"}}, {}, false};
  out["stablehlo.broadcast_in_dim"] =
      out["stablehlo.dynamic_broadcast_in_dim"] = {{{"dims", "broadcast_dimensions"}}, {}, false};
  out["stablehlo.cholesky"] = {{{"lower", "lower"}}, {}, false};
  out["stablehlo.compare"] = {{}, {"comparison_direction", "compare_type"}, false};
  out["stablehlo.concatenate"] = {{{"dim", "dimension"}}, {}, false};
  out["stablehlo.dot"] = {{{"precision", "precision_config"}}, {}, false};
  out["stablehlo.dynamic_iota"] = out["stablehlo.iota"] = {{{"dim", "iota_dimension"}}, {}, false};
  out["stablehlo.dynamic_slice"] = {{{"sizes", "slice_sizes"}}, {}, false};
  out["stablehlo.einsum"] =
      out["stablehlo.unary_einsum"] = {{{"config", "einsum_config"}}, {}, false};
  out["stablehlo.fft"] = {{{"type", "fft_type"}, {"length", "fft_length"}}, {}, false};
  out["stablehlo.get_dimension_size"] =
      out["stablehlo.set_dimension_size"] = {{{"dim", "dimension"}}, {}, false};
  out["stablehlo.pad"] = {{{"low", "edge_padding_low"},
                           {"high", "edge_padding_high"},
                           {"interior", "interior_padding"}},
                          {},
                          false};
  out["stablehlo.reduce_precision"] = {{{"format", "format"}}, {}, false};
  out["stablehlo.reverse"] = {{{"dims", "dimensions"}}, {}, false};
  out["stablehlo.rng"] = {{{"distribution", "rng_distribution"}}, {}, false};
  out["stablehlo.rng_bit_generator"] = {{{"algorithm", "rng_algorithm"}}, {}, false};
  out["stablehlo.torch_index_select"] = {{{"dim", "dim"}, {"batch_dims", "batch_dims"}}, {}, false};
  out["stablehlo.transpose"] = {{{"dims", "permutation"}}, {}, false};
  out["chlo.top_k"] = {{{"k", "k"}}, {}, true};
  return out;
}

} // namespace

const Form *formOf(std::string_view name) {
  static const std::map<std::string_view, Form> forms = makeForms();
  const auto found = forms.find(name);
  return found == forms.end() ? nullptr : &found->second;
}

} // namespace plim::importers::stablehlo
