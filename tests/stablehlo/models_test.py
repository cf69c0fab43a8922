#!/usr/bin/python3
"""Whole models, written the way JAX and PyTorch print them, against NumPy.

Needs build/python in PYTHONPATH, and the program plimsoll as its argument.
"""

import os
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import plimsoll as pl

plimsoll = ""
engine = pl.Engine(threads=2)


def weights(array):
    """As a constant is printed that is too large for a list."""
    kind = {np.dtype(np.float32): "f32", np.dtype(np.int32): "i32"}[array.dtype]
    extents = "x".join(map(str, array.shape))
    return f"dense<\"0x{array.tobytes().hex().upper()}\"> : tensor<{extents}x{kind}>"


MLP = """
#loc = loc(unknown)
#loc1 = loc("x")
module @jit_mlp attributes {{mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32}} {{
  func.func public @main(%arg0: tensor<8x32xf32> {{mhlo.layout_mode = "default"}} loc("x")) -> (tensor<8x10xf32> {{jax.result_info = "", mhlo.layout_mode = "default"}}) {{
    %cst = stablehlo.constant {w1} loc(#loc)
    %cst_0 = stablehlo.constant {b1} loc(#loc)
    %cst_1 = stablehlo.constant {w2}
    %0 = stablehlo.dot_general %arg0, %cst, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32xf32>, tensor<32x64xf32>) -> tensor<8x64xf32> loc(#loc2)
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [1] : (tensor<64xf32>) -> tensor<1x64xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<8x64xf32>
    %3 = stablehlo.add %0, %2 : tensor<8x64xf32>
    %4 = call @relu(%3) : (tensor<8x64xf32>) -> tensor<8x64xf32>
    %5 = stablehlo.dot_general %4, %cst_1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x64xf32>, tensor<64x10xf32>) -> tensor<8x10xf32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %6 = stablehlo.reduce(%5 init: %cst_2) applies stablehlo.maximum across dimensions = [1] : (tensor<8x10xf32>, tensor<f32>) -> tensor<8xf32>
    %cst_3 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %8 = stablehlo.maximum %7, %6 : tensor<8xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0] : (tensor<8xf32>) -> tensor<8x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<8x1xf32>) -> tensor<8x10xf32>
    %11 = stablehlo.subtract %5, %10 : tensor<8x10xf32>
    %12 = stablehlo.exponential %11 : tensor<8x10xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.reduce(%12 init: %cst_4) applies stablehlo.add across dimensions = [1] : (tensor<8x10xf32>, tensor<f32>) -> tensor<8xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0] : (tensor<8xf32>) -> tensor<8x1xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1] : (tensor<8x1xf32>) -> tensor<8x10xf32>
    %16 = stablehlo.divide %12, %15 : tensor<8x10xf32>
    return %16 : tensor<8x10xf32> loc(#loc)
  }} loc(#loc)
  func.func private @relu(%arg0: tensor<8x64xf32>) -> tensor<8x64xf32> {{
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x64xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<8x64xf32>
    return %1 : tensor<8x64xf32>
  }}
}} loc(#loc)
#loc2 = loc("jit(mlp)/jit(main)/dot_general"(#loc1))
"""

CONVOLUTIONS = """module @jit_net attributes {{mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32}} {{
  func.func public @main(%arg0: tensor<2x12x12x3xf32>) -> (tensor<2x5xf32> {{jax.result_info = "result"}}, tensor<2xi32>) {{
    %cst = stablehlo.constant {k1}
    %0 = stablehlo.convolution(%arg0, %cst) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {{stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1]}} {{batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}} : (tensor<2x12x12x3xf32>, tensor<3x3x3x16xf32>) -> tensor<2x12x12x16xf32>
    %1 = stablehlo.logistic %0 : tensor<2x12x12x16xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<2x12x12x16xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<f32>
    %4 = "stablehlo.reduce_window"(%2, %3) <{{window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}}> ({{
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %12 = stablehlo.maximum %arg1, %arg2 : tensor<f32>
      stablehlo.return %12 : tensor<f32>
    }}) : (tensor<2x12x12x16xf32>, tensor<f32>) -> tensor<2x6x6x16xf32>
    %cst_1 = stablehlo.constant {k2}
    %5 = stablehlo.convolution(%4, %cst_1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {{stride = [2, 2], pad = [[0, 1], [0, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1]}} {{batch_group_count = 1 : i64, feature_group_count = 16 : i64}} : (tensor<2x6x6x16xf32>, tensor<3x3x1x16xf32>) -> tensor<2x3x3x16xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.reduce(%5 init: %cst_2) applies stablehlo.add across dimensions = [1, 2] : (tensor<2x3x3x16xf32>, tensor<f32>) -> tensor<2x16xf32>
    %cst_3 = stablehlo.constant dense<9.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<2x16xf32>
    %8 = stablehlo.divide %6, %7 : tensor<2x16xf32>
    %cst_4 = stablehlo.constant {w}
    %9 = stablehlo.dot_general %8, %cst_4, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x16xf32>, tensor<16x5xf32>) -> tensor<2x5xf32>
    %10 = call @argmax(%9) : (tensor<2x5xf32>) -> tensor<2xi32>
    return %9, %10 : tensor<2x5xf32>, tensor<2xi32>
  }}
  func.func private @argmax(%arg0: tensor<2x5xf32>) -> (tensor<2xi32> {{mhlo.layout_mode = "default"}}) {{
    %0 = stablehlo.iota dim = 1 : tensor<2x5xi32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1:2 = stablehlo.reduce(%arg0 init: %cst), (%0 init: %c) across dimensions = [1] : (tensor<2x5xf32>, tensor<2x5xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
     reducer(%arg1: tensor<f32>, %arg3: tensor<f32>) (%arg2: tensor<i32>, %arg4: tensor<i32>)  {{
      %2 = stablehlo.compare  GT, %arg1, %arg3,  FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %3 = stablehlo.compare  NE, %arg1, %arg1,  FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %4 = stablehlo.or %2, %3 : tensor<i1>
      %5 = stablehlo.compare  EQ, %arg1, %arg3,  FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %6 = stablehlo.compare  LT, %arg2, %arg4,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %7 = stablehlo.and %5, %6 : tensor<i1>
      %8 = stablehlo.or %4, %7 : tensor<i1>
      %9 = stablehlo.select %4, %arg1, %arg3 : tensor<i1>, tensor<f32>
      %10 = stablehlo.select %8, %arg2, %arg4 : tensor<i1>, tensor<i32>
      stablehlo.return %9, %10 : tensor<f32>, tensor<i32>
    }}
    return %1#1 : tensor<2xi32>
  }}
}}
"""

# Greedy decoding: each turn embeds a token, attends to the tokens so far in a cache that it updates, and picks the next one.
DECODE = """module @jit_decode {{
  func.func public @main(%arg0: tensor<i32>) -> (tensor<8xi32>) {{
    %cst = stablehlo.constant {embed}
    %cst_0 = stablehlo.constant {wq}
    %cst_1 = stablehlo.constant {wk}
    %cst_2 = stablehlo.constant {wv}
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<8xi32>
    %2:9 = stablehlo.while(%iterArg = %cst, %iterArg_4 = %cst_0, %iterArg_5 = %cst_1, %iterArg_6 = %cst_2, %iterArg_7 = %c, %iterArg_8 = %arg0, %iterArg_9 = %0, %iterArg_10 = %0, %iterArg_11 = %1) : tensor<20x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<i32>, tensor<i32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8xi32>
     cond {{
      %c_12 = stablehlo.constant dense<8> : tensor<i32>
      %3 = stablehlo.compare  LT, %iterArg_7, %c_12,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    }} do {{
      %c_12 = stablehlo.constant dense<0> : tensor<i32>
      %3 = stablehlo.dynamic_slice %iterArg, %iterArg_8, %c_12, sizes = [1, 16] : (tensor<20x16xf32>, tensor<i32>, tensor<i32>) -> tensor<1x16xf32>
      %4 = stablehlo.dot_general %3, %iterArg_4, contracting_dims = [1] x [0] : (tensor<1x16xf32>, tensor<16x16xf32>) -> tensor<1x16xf32>
      %5 = stablehlo.dot_general %3, %iterArg_5, contracting_dims = [1] x [0] : (tensor<1x16xf32>, tensor<16x16xf32>) -> tensor<1x16xf32>
      %6 = stablehlo.dot_general %3, %iterArg_6, contracting_dims = [1] x [0] : (tensor<1x16xf32>, tensor<16x16xf32>) -> tensor<1x16xf32>
      %7 = stablehlo.dynamic_update_slice %iterArg_9, %5, %iterArg_7, %c_12 : (tensor<8x16xf32>, tensor<1x16xf32>, tensor<i32>, tensor<i32>) -> tensor<8x16xf32>
      %8 = stablehlo.dynamic_update_slice %iterArg_10, %6, %iterArg_7, %c_12 : (tensor<8x16xf32>, tensor<1x16xf32>, tensor<i32>, tensor<i32>) -> tensor<8x16xf32>
      %9 = stablehlo.dot_general %4, %7, contracting_dims = [1] x [1] : (tensor<1x16xf32>, tensor<8x16xf32>) -> tensor<1x8xf32>
      %10 = stablehlo.iota dim = 1 : tensor<1x8xi32>
      %11 = stablehlo.broadcast_in_dim %iterArg_7, dims = [] : (tensor<i32>) -> tensor<1x8xi32>
      %12 = stablehlo.compare  LE, %10, %11,  SIGNED : (tensor<1x8xi32>, tensor<1x8xi32>) -> tensor<1x8xi1>
      %cst_13 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
      %13 = func.call @_where(%12, %9, %cst_13) : (tensor<1x8xi1>, tensor<1x8xf32>, tensor<f32>) -> tensor<1x8xf32>
      %cst_14 = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %14 = stablehlo.reduce(%13 init: %cst_14) applies stablehlo.maximum across dimensions = [1] : (tensor<1x8xf32>, tensor<f32>) -> tensor<1xf32>
      %15 = stablehlo.broadcast_in_dim %14, dims = [0] : (tensor<1xf32>) -> tensor<1x8xf32>
      %16 = stablehlo.subtract %13, %15 : tensor<1x8xf32>
      %17 = stablehlo.exponential %16 : tensor<1x8xf32>
      %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %18 = stablehlo.reduce(%17 init: %cst_15) applies stablehlo.add across dimensions = [1] : (tensor<1x8xf32>, tensor<f32>) -> tensor<1xf32>
      %19 = stablehlo.broadcast_in_dim %18, dims = [0] : (tensor<1xf32>) -> tensor<1x8xf32>
      %20 = stablehlo.divide %17, %19 : tensor<1x8xf32>
      %21 = stablehlo.dot_general %20, %8, contracting_dims = [1] x [0] : (tensor<1x8xf32>, tensor<8x16xf32>) -> tensor<1x16xf32>
      %22 = stablehlo.dot_general %21, %iterArg, contracting_dims = [1] x [1] : (tensor<1x16xf32>, tensor<20x16xf32>) -> tensor<1x20xf32>
      %23 = stablehlo.reshape %22 : (tensor<1x20xf32>) -> tensor<20xf32>
      %24 = stablehlo.iota dim = 0 : tensor<20xi32>
      %25:2 = stablehlo.reduce(%23 init: %cst_14), (%24 init: %c_12) across dimensions = [0] : (tensor<20xf32>, tensor<20xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
       reducer(%arg1: tensor<f32>, %arg3: tensor<f32>) (%arg2: tensor<i32>, %arg4: tensor<i32>)  {{
        %28 = stablehlo.compare  GE, %arg1, %arg3,  FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %29 = stablehlo.select %28, %arg1, %arg3 : tensor<i1>, tensor<f32>
        %30 = stablehlo.select %28, %arg2, %arg4 : tensor<i1>, tensor<i32>
        stablehlo.return %29, %30 : tensor<f32>, tensor<i32>
      }}
      %26 = stablehlo.reshape %25#1 : (tensor<i32>) -> tensor<1xi32>
      %27 = stablehlo.dynamic_update_slice %iterArg_11, %26, %iterArg_7 : (tensor<8xi32>, tensor<1xi32>, tensor<i32>) -> tensor<8xi32>
      %c_16 = stablehlo.constant dense<1> : tensor<i32>
      %31 = stablehlo.add %iterArg_7, %c_16 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_4, %iterArg_5, %iterArg_6, %31, %25#1, %7, %8, %27 : tensor<20x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<i32>, tensor<i32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8xi32>
    }}
    return %2#8 : tensor<8xi32>
  }}
  func.func private @_where(%arg0: tensor<1x8xi1>, %arg1: tensor<1x8xf32>, %arg2: tensor<f32>) -> tensor<1x8xf32> {{
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<1x8xf32>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<1x8xi1>, tensor<1x8xf32>
    return %2 : tensor<1x8xf32>
  }}
}}
"""

# lax.scan of an LSTM: the sequence is read, and the outputs are written, at the turn's number.
LSTM = """module @jit_lstm attributes {{mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32}} {{
  func.func public @main(%arg0: tensor<6x4x8xf32>) -> (tensor<6x4x8xf32>, tensor<4x8xf32>) {{
    %cst = stablehlo.constant {w}
    %cst_0 = stablehlo.constant {u}
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
    %1 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<6x4x8xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %2:7 = stablehlo.while(%iterArg = %arg0, %iterArg_2 = %c, %iterArg_3 = %0, %iterArg_4 = %0, %iterArg_5 = %1, %iterArg_6 = %cst, %iterArg_7 = %cst_0) : tensor<6x4x8xf32>, tensor<i32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<6x4x8xf32>, tensor<8x32xf32>, tensor<8x32xf32>
     cond {{
      %c_8 = stablehlo.constant dense<6> : tensor<i32>
      %3 = stablehlo.compare  LT, %iterArg_2, %c_8,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    }} do {{
      %c_8 = stablehlo.constant dense<0> : tensor<i32>
      %3 = stablehlo.compare  LT, %iterArg_2, %c_8,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_9 = stablehlo.constant dense<6> : tensor<i32>
      %4 = stablehlo.add %iterArg_2, %c_9 : tensor<i32>
      %5 = stablehlo.select %3, %4, %iterArg_2 : tensor<i1>, tensor<i32>
      %6 = stablehlo.dynamic_slice %iterArg, %5, %c_8, %c_8, sizes = [1, 4, 8] : (tensor<6x4x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x8xf32>
      %7 = stablehlo.reshape %6 : (tensor<1x4x8xf32>) -> tensor<4x8xf32>
      %8:2 = func.call @cell(%iterArg_3, %iterArg_4, %7, %iterArg_6, %iterArg_7) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<8x32xf32>, tensor<8x32xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
      %9 = stablehlo.broadcast_in_dim %8#0, dims = [1, 2] : (tensor<4x8xf32>) -> tensor<1x4x8xf32>
      %10 = stablehlo.dynamic_update_slice %iterArg_5, %9, %5, %c_8, %c_8 : (tensor<6x4x8xf32>, tensor<1x4x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<6x4x8xf32>
      %c_10 = stablehlo.constant dense<1> : tensor<i32>
      %11 = stablehlo.add %iterArg_2, %c_10 : tensor<i32>
      stablehlo.return %iterArg, %11, %8#0, %8#1, %10, %iterArg_6, %iterArg_7 : tensor<6x4x8xf32>, tensor<i32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<6x4x8xf32>, tensor<8x32xf32>, tensor<8x32xf32>
    }}
    return %2#4, %2#3 : tensor<6x4x8xf32>, tensor<4x8xf32>
  }}
  func.func private @cell(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>, %arg2: tensor<4x8xf32>, %arg3: tensor<8x32xf32>, %arg4: tensor<8x32xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {{
    %0 = stablehlo.dot_general %arg2, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x8xf32>, tensor<8x32xf32>) -> tensor<4x32xf32>
    %1 = stablehlo.dot_general %arg0, %arg4, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x8xf32>, tensor<8x32xf32>) -> tensor<4x32xf32>
    %2 = stablehlo.add %0, %1 : tensor<4x32xf32>
    %3 = stablehlo.slice %2 [0:4, 0:8] : (tensor<4x32xf32>) -> tensor<4x8xf32>
    %4 = stablehlo.slice %2 [0:4, 8:16] : (tensor<4x32xf32>) -> tensor<4x8xf32>
    %5 = stablehlo.slice %2 [0:4, 16:24] : (tensor<4x32xf32>) -> tensor<4x8xf32>
    %6 = stablehlo.slice %2 [0:4, 24:32] : (tensor<4x32xf32>) -> tensor<4x8xf32>
    %7 = stablehlo.logistic %3 : tensor<4x8xf32>
    %8 = stablehlo.logistic %4 : tensor<4x8xf32>
    %9 = stablehlo.tanh %5 : tensor<4x8xf32>
    %10 = stablehlo.logistic %6 : tensor<4x8xf32>
    %11 = stablehlo.multiply %8, %arg1 : tensor<4x8xf32>
    %12 = stablehlo.multiply %7, %9 : tensor<4x8xf32>
    %13 = stablehlo.add %11, %12 : tensor<4x8xf32>
    %14 = stablehlo.tanh %13 : tensor<4x8xf32>
    %15 = stablehlo.multiply %10, %14 : tensor<4x8xf32>
    return %15, %13 : tensor<4x8xf32>, tensor<4x8xf32>
  }}
}}
"""

# As PyTorch/XLA writes it: the generic names of older versions, weights as arguments; and a resource at the end of the file.
TORCH = """module @IrToHlo.12 attributes {{mhlo.cross_program_prefetches = [], mhlo.input_output_alias = [], mhlo.is_dynamic = false, mhlo.use_auto_spmd_partitioning = false}} {{
  func.func @main(%arg0: tensor<4xf32>, %arg1: tensor<4x8xf32>, %arg2: tensor<?x8xf32>) -> tensor<?x4xf32> {{
    %0 = stablehlo.transpose %arg1, dims = [1, 0] {{result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "f32[8,4]{{0,1}}"}} : (tensor<4x8xf32>) -> tensor<8x4xf32>
    %1 = stablehlo.dot %arg2, %0, precision = [DEFAULT, DEFAULT] : (tensor<?x8xf32>, tensor<8x4xf32>) -> tensor<?x4xf32>
    %2 = "stablehlo.get_dimension_size"(%1) <{{dimension = 0 : i64}}> : (tensor<?x4xf32>) -> tensor<i32>
    %3 = stablehlo.reshape %2 : (tensor<i32>) -> tensor<1xi32>
    %c = stablehlo.constant dense<4> : tensor<1xi32>
    %4 = stablehlo.concatenate %3, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %5 = stablehlo.dynamic_broadcast_in_dim %arg0, %4, dims = [1] : (tensor<4xf32>, tensor<2xi32>) -> tensor<?x4xf32>
    %6 = stablehlo.add %1, %5 : tensor<?x4xf32>
    %7 = stablehlo.constant dense_resource<torch_tensor_4_torch.float32> : tensor<4xf32>
    %8 = stablehlo.dynamic_broadcast_in_dim %7, %4, dims = [1] : (tensor<4xf32>, tensor<2xi32>) -> tensor<?x4xf32>
    %9 = stablehlo.multiply %6, %8 : tensor<?x4xf32>
    %10 = stablehlo.composite "aten.gelu" %9 {{composite_attributes = {{approximate = "none"}}, decomposition = @gelu, version = 1 : i32}} : (tensor<?x4xf32>) -> tensor<?x4xf32>
    return %10 : tensor<?x4xf32>
  }}
  func.func private @gelu(%arg0: tensor<?x4xf32>) -> tensor<?x4xf32> {{
    %0 = stablehlo.abs %arg0 : tensor<?x4xf32>
    return %0 : tensor<?x4xf32>
  }}
}}

{{-#
  dialect_resources: {{
    builtin: {{
      torch_tensor_4_torch.float32: "{resource}"
    }}
  }}
#-}}
"""


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


class Models(unittest.TestCase):
    def setUp(self):
        self.rng = np.random.default_rng(7)

    def make(self, *shape, scale=0.5):
        return (self.rng.normal(size=shape) * scale).astype(np.float32)

    def load(self, text):
        return pl.loads(text, name="net.mlir", engine=engine)

    def near(self, got, want):
        np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-5)

    def test_mlp(self):
        w1, b1, w2, x = self.make(32, 64), self.make(64), self.make(64, 10), self.make(8, 32)
        text = MLP.format(w1=weights(w1), b1=weights(b1), w2=weights(w2))
        want = softmax(np.maximum(x @ w1 + b1, 0) @ w2)
        self.near(self.load(text).main(x), want)
        # The same through the program; large constants are parameters, which others may replace.
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/net.mlir", "w", encoding="utf-8") as file:
                file.write(text)
            run = subprocess.run([plimsoll, "import", f"{folder}/net.mlir", "-o", f"{folder}/out"], capture_output=True, text=True, check=True)
            self.assertEqual(run.stderr, "")
            with open(f"{folder}/out/net.mlir", encoding="utf-8") as file:
                self.assertIn("@\"cst_1\"(#ml_program.extern<tensor<64x10xf32>>)", file.read())
            np.save(f"{folder}/x.npy", x)
            outputs = [subprocess.run([plimsoll, "run", *arguments, "--input", f"@{folder}/x.npy"], capture_output=True, text=True, check=True).stdout
                       for arguments in ([f"{folder}/net.mlir"], [f"{folder}/out/net.mlir", "--params", f"{folder}/out/net.safetensors"])]
            self.assertEqual(*outputs)
            replaced = pl.load(f"{folder}/net.mlir", parameters={"cst_1": np.zeros_like(w2)}, engine=engine)
            self.near(replaced.main(x), np.full((8, 10), 0.1, np.float32))

    def test_convolutions(self):
        k1, k2, w, x = self.make(3, 3, 3, 16), self.make(3, 3, 1, 16), self.make(16, 5), self.make(2, 12, 12, 3)
        padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
        y = sum(padded[:, i:i + 12, j:j + 12] @ k1[i, j] for i in range(3) for j in range(3))
        y = y * sigmoid(y)
        y = y.reshape(2, 6, 2, 6, 2, 16).max((2, 4))
        padded = np.pad(y, ((0, 0), (0, 1), (0, 1), (0, 0)))
        y = sum(padded[:, i:i + 5:2, j:j + 5:2] * k2[i, j, 0] for i in range(3) for j in range(3))
        want = y.mean((1, 2)) @ w
        got, where = self.load(CONVOLUTIONS.format(k1=weights(k1), k2=weights(k2), w=weights(w))).main(x)
        self.near(got, want)
        np.testing.assert_array_equal(where, want.argmax(-1))

    def test_decoding(self):
        embed, wq, wk, wv = self.make(20, 16, scale=1), self.make(16, 16), self.make(16, 16), self.make(16, 16)
        main = self.load(DECODE.format(embed=weights(embed), wq=weights(wq), wk=weights(wk), wv=weights(wv))).main
        for token in (0, 3, 19):
            want, keys, values, last = [], [], [], token
            for _ in range(8):
                e = embed[last]
                keys.append(e @ wk)
                values.append(e @ wv)
                last = int((embed @ (softmax(np.array(keys) @ (e @ wq)) @ np.array(values))).argmax())
                want.append(last)
            np.testing.assert_array_equal(main(np.int32(token)), want)

    def test_lstm(self):
        w, u, x = self.make(8, 32), self.make(8, 32), self.make(6, 4, 8)
        h, c, want = np.zeros((4, 8), np.float32), np.zeros((4, 8), np.float32), []
        for step in x:
            i, f, g, o = np.split(step @ w + h @ u, 4, -1)
            c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
            h = sigmoid(o) * np.tanh(c)
            want.append(h)
        got, last = self.load(LSTM.format(w=weights(w), u=weights(u))).main(x)
        self.near(got, want)
        self.near(last, c)

    def test_torch(self):
        bias, w, scale = self.make(4), self.make(4, 8), self.make(4)
        main = self.load(TORCH.format(resource="0x04000000" + scale.tobytes().hex().upper())).main
        for rows in (1, 3, 17):
            x = self.make(rows, 8)
            self.near(main(bias, w, x), np.abs((x @ w.T + bias) * scale))

    def test_open_extents(self):
        """Each operation that has a place for them, with extents that only a run knows."""
        main = self.load("""
            func.func @main(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>, %i: tensor<?xi32>) -> (tensor<?x?xf32>, tensor<?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?xf32>, tensor<i32>) {
              %0 = stablehlo.add %x, %y : tensor<?x?xf32>
              %c = stablehlo.constant dense<0.0> : tensor<f32>
              %1 = stablehlo.reduce(%0 init: %c) applies stablehlo.add across dimensions = [1] : (tensor<?x?xf32>, tensor<f32>) -> tensor<?xf32>
              %2 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [1] : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
              %3 = stablehlo.transpose %x, dims = [1, 0] : (tensor<?x?xf32>) -> tensor<?x?xf32>
              %4 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 2>}> : (tensor<?x?xf32>, tensor<?xi32>) -> tensor<?x2xf32>
              %5 = stablehlo.concatenate %4, %4, dim = 0 : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
              %6 = stablehlo.pad %5, %c, low = [1, 0], high = [0, 0], interior = [1, 0] : (tensor<?x2xf32>, tensor<f32>) -> tensor<?x?xf32>
              %7 = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
              %8 = stablehlo.get_dimension_size %x, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
              %9 = stablehlo.multiply %7, %8 : tensor<i32>
              %10 = stablehlo.reshape %9 : (tensor<i32>) -> tensor<1xi32>
              %11 = stablehlo.dynamic_reshape %x, %10 : (tensor<?x?xf32>, tensor<1xi32>) -> tensor<?xf32>
              %z = stablehlo.constant dense<0> : tensor<i32>
              %o = stablehlo.constant dense<1> : tensor<i32>
              %12:2 = stablehlo.while(%k = %z, %v = %x) : tensor<i32>, tensor<?x?xf32>
               cond {
                %p = stablehlo.compare LT, %k, %7, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
                stablehlo.return %p : tensor<i1>
              } do {
                %n = stablehlo.add %k, %o : tensor<i32>
                %w = stablehlo.add %v, %y : tensor<?x?xf32>
                stablehlo.return %n, %w : tensor<i32>, tensor<?x?xf32>
              }
              return %0, %1, %2, %6, %12#1, %11, %9 : tensor<?x?xf32>, tensor<?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?xf32>, tensor<i32>
            }""").main
        for rows, columns, count in ((3, 4, 2), (1, 2, 5), (7, 5, 1)):
            x, y, i = self.make(rows, columns), self.make(rows, columns), self.rng.integers(0, rows, count).astype(np.int32)
            padded = np.zeros((4 * count, 2), np.float32)
            padded[1::2] = np.concatenate([x[i][:, :2]] * 2)
            want = [x + y, (x + y).sum(1), x @ y.T, padded, x + rows * y, x.reshape(-1), np.int32(rows * columns)]
            for got, expected in zip(main(x, y, i), want):
                self.near(got, expected)

    def test_types_in_attributes(self):
        """They may be of any dialect, and have parameters."""
        main = self.load("""
            module @m attributes {own.layout = !own.tiled<8, [4, 2]>, own.kind = !own.plain} {
              func.func @main(%x: tensor<?x?xf32> {own.of = !own.nested<!own.tiled<2>, "a > b">}) -> tensor<?x?xf32> {
                %0 = stablehlo.add %x, %x {own.as = !own.tiled<8>} : tensor<?x?xf32>
                return %0 : tensor<?x?xf32>
              }
            }""").main
        x = self.make(3, 5)
        self.near(main(x), 2 * x)

    def test_bounds_of_open_extents(self):
        """As PyTorch's exporter and older programs write them: they say nothing that has to be known."""
        for bounds in ("#stablehlo.bounds<?, 4>", "#stablehlo.type_extensions<bounds = [?, 4]>"):
            kind = f"tensor<?x?xf32, {bounds}>"
            main = self.load(f"""
                func.func @main(%x: {kind}, %y: tensor<?x?xf32>) -> {kind} {{
                  %0 = stablehlo.add %x, %x : {kind}
                  %1 = "stablehlo.multiply"(%0, %y) : ({kind}, tensor<?x?xf32>) -> {kind}
                  return %1 : {kind}
                }}""").main
            for columns in (1, 4):
                x, y = self.make(3, columns), self.make(3, columns)
                self.near(main(x, y), 2 * x * y)

    def test_extents_that_results_know(self):
        """Where a run gives the shape, extents that the type of the result knows are those."""
        main = self.load("""
            func.func @main(%x: tensor<?x?xf32>, %row: tensor<?xf32>, %s: tensor<2xi32>, %t: tensor<2xi32>, %u: tensor<3xi64>) -> (tensor<?x3xf32>, tensor<4x?xf32>, tensor<2x?x5xi32>, tensor<4x3xf32>) {
              %0 = stablehlo.dynamic_reshape %x, %s : (tensor<?x?xf32>, tensor<2xi32>) -> tensor<?x3xf32>
              %1 = stablehlo.dynamic_broadcast_in_dim %row, %t, dims = [1] : (tensor<?xf32>, tensor<2xi32>) -> tensor<4x?xf32>
              %2 = stablehlo.dynamic_iota %u, dim = 1 : (tensor<3xi64>) -> tensor<2x?x5xi32>
              %3 = stablehlo.dynamic_reshape %x, %s : (tensor<?x?xf32>, tensor<2xi32>) -> tensor<4x3xf32>
              %c = stablehlo.constant dense<1.0> : tensor<4x3xf32>
              %4 = stablehlo.add %3, %c : tensor<4x3xf32>
              return %0, %1, %2, %4 : tensor<?x3xf32>, tensor<4x?xf32>, tensor<2x?x5xi32>, tensor<4x3xf32>
            }""").main
        self.assertEqual([each.shape for each in main.signature.results], [(None, 3), (4, None), (2, None, 5), (4, 3)])
        x, row = self.make(2, 6), self.make(6)
        want = x.reshape(4, 3), np.broadcast_to(row, (4, 6)), np.indices((2, 7, 5))[1], x.reshape(4, 3) + 1
        for other in (0, 9):
            got = main(x, row, np.int32([4, 3 + other]), np.int32([4 + other, 6]), np.int64([2 + other, 7, 5 + other]))
            for each, expected in zip(got, want, strict=True):
                np.testing.assert_array_equal(each, expected)

    def test_open_top_k(self):
        """The call that is written where only a run knows how many."""
        model = pl.loads("""module @jit_f {
  func.func public @main(%x: tensor<?xf32>, %k: tensor<i32>) -> (tensor<?xf32>, tensor<?xi32>) {
    %0:2 = stablehlo.custom_call @stablehlo.dynamic_top_k(%x, %k) : (tensor<?xf32>, tensor<i32>) -> (tensor<?xf32>, tensor<?xi32>)
    return %0#0, %0#1 : tensor<?xf32>, tensor<?xi32>
  }
}""", engine=engine)
        x = np.random.default_rng(1).standard_normal(11).astype(np.float32)
        values, places = model.main(x, np.int32(4))
        np.testing.assert_array_equal(places, np.argsort(-x)[:4])
        np.testing.assert_array_equal(values, x[places])
        with self.assertRaisesRegex(pl.Error, "k is not between"):
            model.main(x, np.int32(12))

    def test_comparators_whose_sides_differ(self):
        """They have no key: nothing stands before anything else, and all stays where it is."""
        call = """func.func private @both(%x: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
    %n = stablehlo.negate %x : tensor<i32>
    return %x, %n : tensor<i32>, tensor<i32>
  }"""
        kinds = """%a = stablehlo.convert %l : (tensor<i32>) -> tensor<ui16>
      %b = stablehlo.convert %r : (tensor<i32>) -> tensor<i16>
      %c = stablehlo.convert %a : (tensor<ui16>) -> tensor<i32>
      %d = stablehlo.convert %b : (tensor<i16>) -> tensor<i32>"""
        results = """%a:2 = func.call @both(%l) : (tensor<i32>) -> (tensor<i32>, tensor<i32>)
      %b:2 = func.call @both(%r) : (tensor<i32>) -> (tensor<i32>, tensor<i32>)
      %c = stablehlo.add %a#0, %a#0 : tensor<i32>
      %d = stablehlo.add %b#0, %b#1 : tensor<i32>"""
        constants = """%m = stablehlo.constant dense<100> : tensor<i32>
      %n = stablehlo.constant dense<0> : tensor<i32>
      %c = stablehlo.maximum %l, %m : tensor<i32>
      %d = stablehlo.minimum %r, %n : tensor<i32>"""
        text = """module @jit_f {
  CALL
  func.func public @main(%x: tensor<20xi32>) -> tensor<20xi32> {
    %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%l: tensor<i32>, %r: tensor<i32>):
      SIDES
      %p = stablehlo.compare LT, %c, %d, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    }) : (tensor<20xi32>) -> tensor<20xi32>
    return %0 : tensor<20xi32>
  }
}"""
        for sides, low in ((kinds, -20), (results, 0), (constants, 0)):
            x = np.random.default_rng(5).permutation(20).astype(np.int32) + np.int32(low)
            np.testing.assert_array_equal(self.load_text(text, call, sides)(x), x)
        for wrong in ("stablehlo.return %p : tensor<f32>", "stablehlo.return %p : tensor<2xi1>", "stablehlo.return %p#1 : tensor<i1>"):
            with self.assertRaises(pl.Error):
                self.load_text(text.replace("stablehlo.return %p : tensor<i1>", wrong), call, "%c = stablehlo.negate %l : tensor<i32>\n"
                               "      %d = stablehlo.negate %r : tensor<i32>")

    @staticmethod
    def load_text(text, call, sides):
        return pl.loads(text.replace("CALL", call).replace("SIDES", sides), engine=engine).main

    def test_approximate_top_k(self):
        """As JAX writes approx_max_k: with positions, by a function that is given both. What is exact is near enough."""
        text = """module @jit_f {
  func.func private @top_k_gt_f32_comparator(%arg0: tensor<f32>, %arg1: tensor<f32>, %arg2: tensor<i32>, %arg3: tensor<i32>) -> tensor<i1> {
    %0 = stablehlo.compare  GT, %arg0, %arg1 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    return %0 : tensor<i1>
  }
  func.func public @main(%arg0: tensor<6x50xf32>) -> (tensor<6x5xf32>, tensor<6x5xi32>) {
    %0 = stablehlo.iota dim = 1 : tensor<6x50xi32>
    %c = stablehlo.constant dense<-1> : tensor<i32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1:2 = stablehlo.custom_call @ApproxTopK(%arg0, %0, %cst, %c) {called_computations = [@top_k_gt_f32_comparator], mhlo.backend_config = {aggregate_to_topk = true, recall_target = 0.949999988 : f32, reduction_dim = 1 : i64, reduction_input_size_override = -1 : i64, top_k = 5 : i64}} : (tensor<6x50xf32>, tensor<6x50xi32>, tensor<f32>, tensor<i32>) -> (tensor<6x5xf32>, tensor<6x5xi32>)
    return %1#0, %1#1 : tensor<6x5xf32>, tensor<6x5xi32>
  }
}"""
        x = self.make(6, 50)
        values, where = self.load(text).main(x)
        want = np.argsort(-x, 1, kind="stable")[:, :5]
        np.testing.assert_array_equal(where, want)
        np.testing.assert_array_equal(values, np.take_along_axis(x, want, 1))
        for wrong, message in ((text.replace("= 1 : i64, reduction_input", "= 2 : i64, reduction_input"), "reduction_dim has 2"),
                               (text.replace("[@top_k_gt_f32_comparator]", "[@none]"), "there is no function @none"),
                               (text.replace("6x5x", "6x70x"), "more elements are asked for"),
                               (text.replace("called_computations", "computations"), "called_computations")):
            with self.assertRaisesRegex(pl.Error, message):
                self.load(wrong)

    def test_open_windows(self):
        """As JAX writes a pooling of open extents: the window stands in operands, and a function combines."""
        text = """module @jit_f {
  func.func private @most(%arg0: tensor<f32>, %arg1: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.maximum %arg0, %arg1 : tensor<f32>
    return %0 : tensor<f32>
  }
  func.func public @main(%arg0: tensor<?x6xf32>) -> tensor<?x5xf32> {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %c = stablehlo.constant dense<[3, 2]> : tensor<2xi64>
    %c_0 = stablehlo.constant dense<[2, 1]> : tensor<2xi64>
    %c_1 = stablehlo.constant dense<1> : tensor<2xi64>
    %c_2 = stablehlo.constant dense<[[1, 1], [0, 0]]> : tensor<2x2xi64>
    %0 = stablehlo.custom_call @stablehlo.dynamic_reduce_window(%arg0, %cst, %c, %c_0, %c_1, %c_1, %c_2) {called_computations = [@most]} : (tensor<?x6xf32>, tensor<f32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2x2xi64>) -> tensor<?x5xf32>
    return %0 : tensor<?x5xf32>
  }
}"""
        main = self.load(text).main
        for rows in (1, 2, 7):
            x = self.make(rows, 6)
            padded = np.pad(x, ((1, 1), (0, 0)), constant_values=-np.inf)
            want = np.lib.stride_tricks.sliding_window_view(padded, (3, 2)).max((2, 3))[::2]
            np.testing.assert_array_equal(main(x), want)
        for wrong, message in ((text.replace("[@most]", "[@none]"), "there is no function @none"), (text.replace("[@most]", "[]"), "must be one function"),
                               (text.replace("dense<[3, 2]>", "dense<[0, 2]>"), "its window has 0"),
                               (text.replace("(%arg0, %cst, %c,", "(%arg0, %cst, %arg0,").replace("tensor<f32>, tensor<2xi64>,", "tensor<f32>, tensor<?x6xf32>,"), "")):
            with self.assertRaisesRegex(pl.Error, message):
                self.load(wrong)

    def test_floats_of_8_bits(self):
        text = """module @jit_f {
  func.func public @main(%arg0: tensor<4x8xf32>, %arg1: tensor<8x3xf8E4M3FN>) -> (tensor<4x3xf32>, tensor<8x3xf8E4M3FN>, tensor<3x8xf8E5M2>, tensor<8x3xi1>, tensor<7xf8E4M3FN>, tensor<5xf8E5M2>) {
    %0 = stablehlo.convert %arg0 : (tensor<4x8xf32>) -> tensor<4x8xf8E4M3FN>
    %1 = stablehlo.dot_general %0, %arg1, contracting_dims = [1] x [0] : (tensor<4x8xf8E4M3FN>, tensor<8x3xf8E4M3FN>) -> tensor<4x3xf32>
    %2 = stablehlo.add %arg1, %arg1 : tensor<8x3xf8E4M3FN>
    %3 = stablehlo.transpose %arg1, dims = [1, 0] : (tensor<8x3xf8E4M3FN>) -> tensor<3x8xf8E4M3FN>
    %4 = stablehlo.convert %3 : (tensor<3x8xf8E4M3FN>) -> tensor<3x8xf8E5M2>
    %5 = stablehlo.compare GT, %arg1, %2 : (tensor<8x3xf8E4M3FN>, tensor<8x3xf8E4M3FN>) -> tensor<8x3xi1>
    %c = stablehlo.constant dense<[1.0, 0x7F, -448.0, 460.0, 470.0, 0.002, -0.0]> : tensor<7xf8E4M3FN>
    %d = stablehlo.constant dense<[1.0, 0x7C, -1.0e9, 1.1, 1.0e-5]> : tensor<5xf8E5M2>
    return %1, %2, %4, %5, %c, %d : tensor<4x3xf32>, tensor<8x3xf8E4M3FN>, tensor<3x8xf8E5M2>, tensor<8x3xi1>, tensor<7xf8E4M3FN>, tensor<5xf8E5M2>
  }
}"""
        x, w = self.make(4, 8), pl.to_f8(self.make(8, 3), "f8E4M3FN")
        product, twice, turned, more, numbers, others = self.load(text).main(x, w)
        wide = pl.from_f8(w, "f8E4M3FN")
        np.testing.assert_allclose(product, pl.from_f8(pl.to_f8(x, "f8E4M3FN"), "f8E4M3FN") @ wide, 1e-5, 1e-6)
        np.testing.assert_array_equal(twice, pl.to_f8(2 * wide, "f8E4M3FN"))
        np.testing.assert_array_equal(turned, pl.to_f8(wide.T, "f8E5M2"))
        np.testing.assert_array_equal(more, wide > 2 * wide)
        np.testing.assert_array_equal(numbers, [0x38, 0x7F, 0xFE, 0x7E, 0x7F, 0x01, 0x80])
        np.testing.assert_array_equal(others, [0x3C, 0x7C, 0xFC, 0x3C, 0x01])

    def test_many_branches(self):
        branches = ", ".join(f"{{ %b = stablehlo.constant dense<{i}> : tensor<i32> stablehlo.return %b : tensor<i32> }}"
                             for i in range(900))
        main = pl.loads("func.func @main(%i: tensor<i32>) -> tensor<i32> {\n"
                        f'  %0 = "stablehlo.case"(%i) ({branches}) : (tensor<i32>) -> tensor<i32>\n'
                        "  return %0 : tensor<i32>\n}\n", name="case.mlir", engine=engine).main
        for i in (0, 1, 449, 450, 898, 899, 900, 1 << 30, -1, -(1 << 31)):
            self.assertEqual(int(main(np.int32(i).reshape(()))), i if 0 <= i < 900 else 899)

    def test_starts_without_sign(self):
        """A start of 64 bits without sign that is greater than any index is cut to the last one that fits."""
        main = pl.loads("""func.func @main(%x: tensor<7xf32>, %i: tensor<ui64>, %u: tensor<2xf32>) -> (tensor<2xf32>, tensor<7xf32>) {
  %s = stablehlo.dynamic_slice %x, %i, sizes = [2] : (tensor<7xf32>, tensor<ui64>) -> tensor<2xf32>
  %r = stablehlo.dynamic_update_slice %x, %u, %i : (tensor<7xf32>, tensor<2xf32>, tensor<ui64>) -> tensor<7xf32>
  return %s, %r : tensor<2xf32>, tensor<7xf32>
}""", name="starts.mlir", engine=engine).main
        x, update = np.arange(7, dtype=np.float32), np.float32([-1, -2])
        for start in (0, 3, 6, 1 << 32, (1 << 63) + 1, (1 << 64) - 1):
            at, want = min(start, 5), x.copy()
            want[at:at + 2] = update
            part, updated = main(x, np.uint64(start).view(np.int64).reshape(()), update)
            np.testing.assert_array_equal(part, x[at:at + 2])
            np.testing.assert_array_equal(updated, want)
            stands = pl.loads(f"""func.func @main(%x: tensor<7xf32>) -> tensor<2xf32> {{
  %i = stablehlo.constant dense<{start}> : tensor<ui64>
  %s = stablehlo.dynamic_slice %x, %i, sizes = [2] : (tensor<7xf32>, tensor<ui64>) -> tensor<2xf32>
  return %s : tensor<2xf32>
}}""", name="stands.mlir", engine=engine).main
            np.testing.assert_array_equal(stands(x), x[at:at + 2])


if __name__ == "__main__":
    plimsoll = os.path.abspath(sys.argv.pop(1))
    unittest.main()
