"""Loops over time whose steps read neighbours of what they update: in two places by turns, for any number of steps."""
import numpy as np
import pytest

import plimsoll as pl

ENGINES = [pl.Engine(threads=threads) for threads in (1, 2, 3)]

HEAT = """
#id = affine_map<(i, j) -> (i, j)>
func.func @main(%x: tensor<{rows}x{columns}xf32>, %steps: index) -> (tensor<{rows}x{columns}xf32>, f32) {{
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %quarter = arith.constant 0.25 : f32
  %nothing = arith.constant 0.0 : f32
  %r:2 = scf.for %t = %zero to %steps step %one iter_args(%a = %x, %count = %nothing) -> (tensor<{rows}x{columns}xf32>, f32) {{
    %n = tensor.extract_slice %a[0, 1] [{inner}] [1, 1] : tensor<{rows}x{columns}xf32> to tensor<{part}xf32>
    %s = tensor.extract_slice %a[2, 1] [{inner}] [1, 1] : tensor<{rows}x{columns}xf32> to tensor<{part}xf32>
    %w = tensor.extract_slice %a[1, 0] [{inner}] [1, 1] : tensor<{rows}x{columns}xf32> to tensor<{part}xf32>
    %e = tensor.extract_slice %a[1, 2] [{inner}] [1, 1] : tensor<{rows}x{columns}xf32> to tensor<{part}xf32>
    %o = tensor.empty() : tensor<{part}xf32>
    %wide = arith.index_cast %t : index to i32
    %time = arith.sitofp %wide : i32 to f32
    %g = linalg.generic {{indexing_maps = [#id, #id, #id, #id, #id], iterator_types = ["parallel", "parallel"]}}
        ins(%n, %s, %w, %e : tensor<{part}xf32>, tensor<{part}xf32>, tensor<{part}xf32>, tensor<{part}xf32>) outs(%o : tensor<{part}xf32>) {{
    ^bb0(%1: f32, %2: f32, %3: f32, %4: f32, %5: f32):
      %6 = arith.addf %1, %2 : f32
      %7 = arith.addf %3, %4 : f32
      %8 = arith.addf %6, %7 : f32
      %9 = arith.mulf %8, %quarter : f32
      %10 = arith.addf %9, %time : f32
      linalg.yield %10 : f32
    }} -> tensor<{part}xf32>
    %b = tensor.insert_slice %g into %a[1, 1] [{inner}] [1, 1] : tensor<{part}xf32> into tensor<{rows}x{columns}xf32>
    %more = arith.addf %count, %time : f32
    scf.yield %b, %more : tensor<{rows}x{columns}xf32>, f32
  }}
  return %r#0, %r#1 : tensor<{rows}x{columns}xf32>, f32
}}
"""


def heat(x, steps):
    x = x.copy()
    for step in range(steps):
        x[1:-1, 1:-1] = ((x[:-2, 1:-1] + x[2:, 1:-1]) + (x[1:-1, :-2] + x[1:-1, 2:])) * np.float32(0.25) + np.float32(step)
    return x, np.float32(sum(range(steps)))


@pytest.mark.parametrize("rows, columns", [(3, 3), (7, 33), (64, 100), (301, 259)])
def test_heat(rows, columns):
    source = HEAT.format(rows=rows, columns=columns, inner=f"{rows - 2}, {columns - 2}", part=f"{rows - 2}x{columns - 2}")
    x = np.random.default_rng(5).standard_normal((rows, columns)).astype(np.float32)
    for engine in ENGINES:
        module = engine.loads(source)
        for steps in range(9):
            given = x.copy()
            have, count = module.main(given, steps)
            want, total = heat(x, steps)
            np.testing.assert_array_equal(np.asarray(have), want)
            assert np.asarray(count).item() == total
            np.testing.assert_array_equal(given, x)  # it is the caller's


WAVE = """
#id = affine_map<(i) -> (i)>
func.func @main(%e0: tensor<?xf32>, %h0: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %steps = arith.constant STEPS : index
  %half = arith.constant 0.5 : f32
  %size = tensor.dim %e0, %zero : tensor<?xf32>
  %inner = arith.subi %size, %one : index
  %r:2 = scf.for %t = %zero to %steps step %one iter_args(%e = %e0, %h = %h0) -> (tensor<?xf32>, tensor<?xf32>) {
    %h1 = tensor.extract_slice %h[1] [%inner] [1] : tensor<?xf32> to tensor<?xf32>
    %h2 = tensor.extract_slice %h[0] [%inner] [1] : tensor<?xf32> to tensor<?xf32>
    %e1 = tensor.extract_slice %e[1] [%inner] [1] : tensor<?xf32> to tensor<?xf32>
    %e2 = tensor.extract_slice %e[0] [%inner] [1] : tensor<?xf32> to tensor<?xf32>
    %o = tensor.empty(%inner) : tensor<?xf32>
    // Each field from the other one and from its own neighbours, all of the last step.
    %p = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"]}
        ins(%h1, %h2, %e2 : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) outs(%o : tensor<?xf32>) {
    ^bb0(%1: f32, %2: f32, %3: f32, %4: f32):
      %5 = arith.subf %1, %2 : f32
      %6 = arith.mulf %5, %half : f32
      %7 = arith.addf %3, %6 : f32
      linalg.yield %7 : f32
    } -> tensor<?xf32>
    %q = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"]}
        ins(%e1, %e2, %h1 : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) outs(%o : tensor<?xf32>) {
    ^bb0(%1: f32, %2: f32, %3: f32, %4: f32):
      %5 = arith.subf %1, %2 : f32
      %6 = arith.mulf %5, %half : f32
      %7 = arith.addf %3, %6 : f32
      linalg.yield %7 : f32
    } -> tensor<?xf32>
    %e3 = tensor.insert_slice %p into %e[1] [%inner] [1] : tensor<?xf32> into tensor<?xf32>
    %h3 = tensor.insert_slice %q into %h[0] [%inner] [1] : tensor<?xf32> into tensor<?xf32>
    scf.yield %h3, %e3 : tensor<?xf32>, tensor<?xf32>
  }
  return %r#0, %r#1 : tensor<?xf32>, tensor<?xf32>
}
"""


@pytest.mark.parametrize("swaps", [False, True])
def test_fields(swaps):
    """Two fields that depend on each other; and which change places in each step, so that neither is an update of itself."""
    random = np.random.default_rng(6)
    for steps in (0, 1, 2, 5, 8):
        source = WAVE.replace("STEPS", str(steps))
        if not swaps:
            source = source.replace("scf.yield %h3, %e3", "scf.yield %e3, %h3")
        for size in (1, 2, 3, 17, 1000):
            first, second = (random.standard_normal(size).astype(np.float32) for _ in range(2))
            e, h = first.copy(), second.copy()
            for _ in range(steps):
                p = e[:-1] + (h[1:] - h[:-1]) * np.float32(0.5)
                q = h[1:] + (e[1:] - e[:-1]) * np.float32(0.5)
                e[1:], h[:-1] = p, q
                e, h = (h, e) if swaps else (e, h)
            for engine in ENGINES[:2]:
                have = engine.loads(source).main(first, second)
                for one, want in zip(have, (e, h)):
                    np.testing.assert_allclose(np.asarray(one), want, rtol=2e-6, atol=1e-6)
