"""Rows of a few elements that lie one after the other: colours of pixels, images of twice the size, transposes of a few long lines."""
import numpy as np
import pytest

import plimsoll as pl

from hosts import HOSTS

TYPES = {"i1": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "f16": np.float16,
         "f32": np.float32, "f64": np.float64}
COUNTS = [0, 1, 2, 7, 15, 16, 17, 31, 33, 64, 67, 131]
# Operands: the results of their map, their shape of n rows of s elements, and how NumPy makes of them (3, n, s).
LAYOUTS = {
    "as results": ("(a, i, j)", "3x{n}x{s}", lambda x, s: x),
    "across": ("(a, j, i)", "3x{s}x{n}", lambda x, s: x.transpose(0, 2, 1)),
    "across in front": ("(j, a, i)", "{s}x3x{n}", lambda x, s: x.transpose(1, 2, 0)),
    "one each": ("(a, i)", "3x{n}", lambda x, s: x[:, :, None]),
    "pattern": ("(j)", "{s}", lambda x, s: x[None, None, :]),
    "patterns": ("(j, a)", "{s}x3", lambda x, s: x.T[:, None, :]),
    "shared": ("(a)", "3", lambda x, s: x[:, None, None]),
    "rows apart": ("(i, a, j)", "{n}x3x{s}", lambda x, s: x.transpose(1, 0, 2)),
    "window": ("(a, i + j)", "3x{m}", lambda x, s: np.stack([x[:, j:x.shape[1] - s + 1 + j] for j in range(s)], 2)),
    "across, backwards": ("({s} - 1 - j, a, i)", "{s}x3x{n}", lambda x, s: x[::-1].transpose(1, 2, 0)),
}


def draw(random, shape, dtype):
    if dtype is np.bool_:
        return random.integers(0, 2, shape).astype(dtype)
    return random.integers(-50, 50, shape).astype(dtype)


def text(name, layouts, size, count, known, element):
    def kind(shape):
        shape = shape.format(n=count if known else "?", m=count + size - 1 if known else "?", s=size)
        return f"tensor<{shape}x{element}>"
    kinds = [kind(LAYOUTS[each][1]) for each in layouts] + [kind("3x{n}x{s}")]
    maps = [LAYOUTS[each][0].format(s=size) for each in layouts] + ["(a, i, j)"]
    names = [f"%x{i}" for i in range(len(layouts))]
    float_, bit = element[0] in "fb", element == "i1"
    add, lines, sum_ = ("arith.addf" if float_ else "arith.xori" if bit else "arith.addi"), [], "%o"
    for i in range(len(layouts)):
        lines.append(f"    %s{i} = {add} {sum_}, %b{i} : {element}")
        sum_ = f"%s{i}"
    return f"""
func.func @{name}({', '.join(f'{n}: {k}' for n, k in zip([*names, '%r'], kinds))}) -> {kinds[-1]} {{
  %y = linalg.generic {{indexing_maps = [{', '.join(f'affine_map<(a, i, j) -> {m}>' for m in maps)}], iterator_types = ["parallel", "parallel", "parallel"]}}
      ins({', '.join(names)} : {', '.join(kinds[:-1])}) outs(%r : {kinds[-1]}) {{
  ^bb0({', '.join(f'%b{i}: {element}' for i in range(len(layouts)))}, %o: {element}):
""" + "\n".join(lines) + f"""
    linalg.yield {sum_} : {element}
  }} -> {kinds[-1]}
  return %y : {kinds[-1]}
}}"""


def wanted(layouts, arrays, start, dtype):
    total = start.copy()
    for each, array in zip(layouts, arrays):
        array = LAYOUTS[each][2](array, start.shape[2])
        total = total ^ array if dtype is np.bool_ else (total + array).astype(dtype)
    return total


@pytest.mark.parametrize("element", TYPES)
def test_operands_of_any_layout(element):
    dtype, random = TYPES[element], np.random.default_rng()
    seed = int(random.integers(1 << 32))
    random = np.random.default_rng(seed)
    # Each layout by itself with some lengths of rows, and pairs of them.
    cases = [((each,), int(size)) for each in LAYOUTS for size in random.choice([2, 3, 4, 5, 8], 2, replace=False)]
    cases += [(tuple(random.choice(list(LAYOUTS), 2)), int(random.integers(2, 9))) for _ in range(8)]
    source, functions = "", []
    for i, (layouts, size) in enumerate(cases):
        count = int(random.choice(COUNTS))
        for known in (True, False):
            functions.append((f"f{i}_{int(known)}", layouts, size, [count] if known else COUNTS))
            source += text(functions[-1][0], layouts, size, count, known, element)
    for threads, host in enumerate(HOSTS, 1):
        module = pl.Engine(target=host, threads=threads).loads(source)
        for name, layouts, size, counts in functions:
            for count in counts:
                shapes = [[int(e) for e in LAYOUTS[each][1].format(n=count, m=count + size - 1, s=size).split("x")] for each in layouts]
                arrays = [draw(random, shape, dtype) for shape in shapes]
                start = draw(random, (3, count, size), dtype)
                np.testing.assert_array_equal(np.asarray(module[name](*arrays, start)), wanted(layouts, arrays, start, dtype),
                                              err_msg=f"{layouts}, {size}, {count} on {host}, seed {seed}")


@pytest.mark.parametrize("size", [2, 3, 6])
def test_places_and_several_results(size):
    source = f"""
func.func @f(%x: tensor<{size}x?xi8>, %p: tensor<{size}xf32>, %a: tensor<?x{size}xf32>, %b: tensor<?x{size}xi64>) -> (tensor<?x{size}xf32>, tensor<?x{size}xi64>) {{
  %r, %s = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}}
      ins(%x, %p : tensor<{size}x?xi8>, tensor<{size}xf32>) outs(%a, %b : tensor<?x{size}xf32>, tensor<?x{size}xi64>) {{
  ^bb0(%v: i8, %q: f32, %o: f32, %w: i64):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %t = arith.constant 10 : index
    %m = arith.muli %i, %t : index
    %n = arith.addi %m, %j : index
    %k = arith.index_cast %n : index to i64
    %f = arith.uitofp %v : i8 to f32
    %g = arith.mulf %f, %q : f32
    linalg.yield %g, %k : f32, i64
  }} -> (tensor<?x{size}xf32>, tensor<?x{size}xi64>)
  return %r, %s : tensor<?x{size}xf32>, tensor<?x{size}xi64>
}}"""
    random = np.random.default_rng(3)
    for host in HOSTS:
        module = pl.Engine(target=host, threads=1).loads(source)
        for count in COUNTS:
            x, p = random.integers(-128, 128, (size, count)).astype(np.int8), random.integers(-9, 9, size).astype(np.float32)
            r, s = module["f"](x, p, np.zeros((count, size), np.float32), np.zeros((count, size), np.int64))
            np.testing.assert_array_equal(np.asarray(r), x.view(np.uint8).T * p)
            np.testing.assert_array_equal(np.asarray(s), np.arange(count)[:, None] * 10 + np.arange(size))
