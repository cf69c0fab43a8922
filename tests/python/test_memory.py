"""Where values lie, seen from outside: slices that overlap, buffers that follow each other in one place, memory that
may not be written, extents that only a call can know, or cannot."""

import random

import numpy as np
import pytest

import plimsoll as pl

POLICIES = ["auto", "stack", "workspace", "heap"]


def shape_text(extents, element="f32"):
    return f"tensor<{''.join(f'{extent}x' for extent in extents)}{element}>"


def slice_of(rng, extents):
    """Offsets, sizes and strides of a slice that fits, several rows of it."""
    out = []
    for extent in extents:
        stride = rng.choice((1, 1, 2, 3))
        size = rng.randint(1, (extent - 1) // stride + 1)
        out.append((rng.randint(0, extent - 1 - (size - 1) * stride), size, stride))
    return [list(each) for each in zip(*out)]


def numpy_slice(offsets, sizes, strides):
    return tuple(slice(o, o + (n - 1) * s + 1, s) for o, n, s in zip(offsets, sizes, strides))


@pytest.mark.parametrize("seed", range(24))
def test_slices_that_overlap_are_written_in_order(seed):
    """Each insertion is computed by a dispatch of its own, which may write to the slice at once."""
    rng = random.Random(seed)
    extents = [rng.randint(5, 40) for _ in range(rng.choice((2, 2, 3)))]
    whole = shape_text(extents)
    lines, current, wanted = [], "%x", []
    for i in range(rng.randint(2, 4)):
        offsets, sizes, strides = slice_of(rng, extents)
        part = shape_text(sizes)
        wanted.append((numpy_slice(offsets, sizes, strides), i + 2))
        identity = f"affine_map<({', '.join(f'd{j}' for j in range(len(extents)))}) -> " \
                   f"({', '.join(f'd{j}' for j in range(len(extents)))})>"
        kinds = ", ".join('"parallel"' for _ in extents)
        lines += [
            f"  %s{i} = tensor.extract_slice %y{offsets}{sizes}{strides} : {whole} to {part}",
            f"  %k{i} = arith.constant {i + 2}.0 : f32",
            f"  %e{i} = tensor.empty() : {part}",
            f"  %r{i} = linalg.generic {{indexing_maps = [{identity}, {identity}], iterator_types = [{kinds}]}}",
            f"      ins(%s{i} : {part}) outs(%e{i} : {part}) {{",
            f"  ^bb0(%a: f32, %o: f32):\n    %m = arith.mulf %a, %k{i} : f32\n    linalg.yield %m : f32",
            f"  }} -> {part}",
            f"  %x{i} = tensor.insert_slice %r{i} into {current}{offsets}{sizes}{strides} : {part} into {whole}"]
        current = f"%x{i}"
    text = f"func.func @f(%x: {whole}, %y: {whole}) -> {whole} {{\n" + "\n".join(lines) + \
           f"\n  return {current} : {whole}\n}}\n"
    x = np.random.default_rng(seed).standard_normal(extents, np.float32)
    y = np.random.default_rng(seed + 100).standard_normal(extents, np.float32)
    result = x.copy()
    for place, factor in wanted:
        result[place] = y[place] * np.float32(factor)
    engine = pl.Engine(threads=4)
    for options in [{"policy": policy} for policy in POLICIES] + [{"oracle": True}]:
        module = engine.loads(text, "slices.mlir", **options)
        for _ in range(5):
            np.testing.assert_array_equal(module.f(x, y), result, err_msg=f"{options}\n{text}")


@pytest.mark.parametrize("seed", range(12))
def test_buffers_of_many_sizes_in_one_place(seed):
    """Temporaries that begin where others ended, large before small and small before large: a load or store of one must
    not pass one of the other."""
    rng = random.Random(1000 + seed)
    width = rng.choice((3, 8, 16, 17))
    sizes = [rng.choice((1, 2, 5, 64, 300)) for _ in range(6)]
    lines, total, wanted = [], "%zero", np.float64(0)
    x = np.random.default_rng(seed).integers(-4, 5, (300, width)).astype(np.float32)
    for i, rows in enumerate(sizes):
        part = f"tensor<{rows}x{width}xf32>"
        lines += [
            f"  %s{i} = tensor.extract_slice %x[0, 0] [{rows}, {width}] [1, 1] : tensor<300x{width}xf32> to {part}",
            f"  %e{i} = tensor.empty() : {part}",
            f"  %t{i} = linalg.transpose ins(%s{i} : {part}) outs(%u{i} : tensor<{width}x{rows}xf32>) permutation = [1, 0]",
            f"  %q{i} = linalg.transpose ins(%t{i} : tensor<{width}x{rows}xf32>) outs(%e{i} : {part}) permutation = [1, 0]",
            f"  %d{i} = linalg.add ins(%q{i}, %s{i} : {part}, {part}) outs(%e{i} : {part}) -> {part}",
            f"  %n{i} = linalg.reduce {{arith.addf}} ins(%d{i} : {part}) outs({total} : tensor<f32>) dimensions = [0, 1]"]
        lines.insert(len(lines) - 4, f"  %u{i} = tensor.empty() : tensor<{width}x{rows}xf32>")
        total = f"%n{i}"
        wanted += 2 * np.float64(x[:rows].sum())
    text = f"""func.func @f(%x: tensor<300x{width}xf32>) -> tensor<f32> {{
  %zero = arith.constant dense<0.0> : tensor<f32>
""" + "\n".join(lines) + f"\n  return {total} : tensor<f32>\n}}\n"
    engine = pl.Engine(threads=2)
    for policy in POLICIES:
        assert engine.loads(text, "sizes.mlir", policy=policy).f(x) == wanted, (policy, text)


LATE = """
func.func @f(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?xf32>
  %q = arith.OPERATION %d, %n : index
  %e = tensor.empty(%q) : tensor<?xf32>
  %s = tensor.extract_slice %x[0] [%q] [1] : tensor<?xf32> to tensor<?xf32>
  %y = linalg.exp ins(%s : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %r = linalg.reduce {arith.maximumf} ins(%y : tensor<?xf32>) outs(%least : tensor<f32>) dimensions = [0]
  %e2 = tensor.empty(%q) : tensor<?xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]}
      ins(%y, %r : tensor<?xf32>, tensor<f32>) outs(%e2 : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.divf %a, %b : f32
    linalg.yield %m : f32
  } -> tensor<?xf32>
  return %z : tensor<?xf32>
}
""".replace("  %r = linalg", "  %least = arith.constant dense<0.0> : tensor<f32>\n  %r = linalg")


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("operation", ["divui", "divsi", "ceildivui", "ceildivsi", "floordivsi", "remui", "remsi"])
def test_extents_that_may_trap(operation, policy):
    """The size of a temporary is computed ahead of the call, where a division by zero must not end the process."""
    f = pl.loads(LATE.replace("OPERATION", operation), "late.mlir", policy=policy).f
    x = np.arange(8, dtype=np.float32) / 4
    with pytest.raises(pl.FailedPreconditionError, match="late.mlir:5:8: .*by zero"):
        f(x, 0)
    for n in (1, 2, 3, 8, 9):
        extent = {"divui": 8 // n, "divsi": 8 // n, "floordivsi": 8 // n, "ceildivui": -(-8 // n),
                  "ceildivsi": -(-8 // n)}.get(operation, 8 % n)
        wanted = np.exp(x[:extent])
        np.testing.assert_allclose(f(x, n), wanted / wanted.max() if extent else wanted, rtol=1e-6)


READ_ONLY = """
func.func @f(%m: memref<4xf32> {plim.access = #plim.access<ACCESS>}) -> tensor<4xf32> {
  %one = arith.constant dense<1.0> : tensor<4xf32>
  %t = bufferization.to_tensor %m restrict writable : memref<4xf32> to tensor<4xf32>
  %r = linalg.add ins(%t, %one : tensor<4xf32>, tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
"""


def test_memory_that_is_declared_read_only():
    """`writable` promises what the declaration takes back."""
    with pytest.raises(pl.InvalidArgumentError, match="access.mlir:4:8: may write to argument #0 of 'f'"):
        pl.loads(READ_ONLY.replace("ACCESS", "readonly"), "access.mlir")
    for source in READ_ONLY.replace("ACCESS", "readwrite"), \
            READ_ONLY.replace("ACCESS", "readonly").replace(" writable", ""):
        x = np.arange(4, dtype=np.float32)
        np.testing.assert_array_equal(pl.loads(source, "access.mlir").f(x), np.arange(4) + 1)
    np.testing.assert_array_equal(x, np.arange(4))  # the last one is read only
