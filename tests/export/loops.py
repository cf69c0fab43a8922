#!/usr/bin/env python3
"""Tensors that loops and branches hand on, in code for programs without the engine, called from C and compared with NumPy.

  PYTHONPATH=build/python tests/export/loops.py --bin build/bin [--machine NAME ...]

Exit status 1 if any was wrong.
"""
import subprocess
import sys

import numpy as np

import run as export

START = """
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
"""


def recurrent(rows):
    """A layer with a state, which each turn makes anew."""
    of = f"tensor<{rows}x5xf32>"
    return f"""func.func @main(%x: tensor<7x{rows}x5xf32>, %w: tensor<5x5xf32>, %u: tensor<5x5xf32>) -> {of} {{{START}
  %7 = arith.constant 7 : index
  %e = tensor.empty() : {of}
  %first = linalg.fill ins(%zero : f32) outs(%e : {of}) -> {of}
  %r = scf.for %t = %0 to %7 step %1 iter_args(%s = %first) -> ({of}) {{
    %now = tensor.extract_slice %x[%t, 0, 0] [1, {rows}, 5] [1, 1, 1] : tensor<7x{rows}x5xf32> to {of}
    %f = linalg.fill ins(%zero : f32) outs(%e : {of}) -> {of}
    %a = linalg.matmul ins(%now, %w : {of}, tensor<5x5xf32>) outs(%f : {of}) -> {of}
    %b = linalg.matmul ins(%s, %u : {of}, tensor<5x5xf32>) outs(%a : {of}) -> {of}
    %c = linalg.abs ins(%b : {of}) outs(%e : {of}) -> {of}
    scf.yield %c : {of}
  }}
  return %r : {of}
}}"""


def recurrent_wanted(x, w, u):
    state = np.zeros(x.shape[1:], np.float32)
    for now in x:
        state = np.abs(now @ w + state @ u)
    return state


CHANGING_PLACES = f"""func.func @main(%x: tensor<9xf32>, %y: tensor<9xf32>, %n: tensor<?xi8>) -> tensor<9xf32> {{{START}
  %count = tensor.dim %n, %0 : tensor<?xi8>
  %e = tensor.empty() : tensor<9xf32>
  %r:2 = scf.for %i = %0 to %count step %1 iter_args(%a = %x, %b = %y) -> (tensor<9xf32>, tensor<9xf32>) {{
    %c = linalg.add ins(%a, %b : tensor<9xf32>, tensor<9xf32>) outs(%e : tensor<9xf32>) -> tensor<9xf32>
    scf.yield %b, %c : tensor<9xf32>, tensor<9xf32>
  }}
  %s = linalg.sub ins(%r#0, %r#1 : tensor<9xf32>, tensor<9xf32>) outs(%e : tensor<9xf32>) -> tensor<9xf32>
  return %s : tensor<9xf32>
}}"""


def changing_places_wanted(x, y, n):
    for _ in range(len(n)):
        x, y = y, x + y
    return x - y


AS_LONG_AS = f"""func.func @main(%x: tensor<4xf32>, %most: tensor<1xf32>) -> tensor<4xf32> {{{START}
  %limit = tensor.extract %most[%0] : tensor<1xf32>
  %e = tensor.empty() : tensor<4xf32>
  %r = scf.while (%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {{
    %v = tensor.extract %a[%1] : tensor<4xf32>
    %goes = arith.cmpf olt, %v, %limit : f32
    scf.condition(%goes) %a : tensor<4xf32>
  }} do {{
  ^bb0(%b: tensor<4xf32>):
    %c = linalg.add ins(%b, %x : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %c : tensor<4xf32>
  }}
  return %r : tensor<4xf32>
}}"""


def as_long_as_wanted(x, most):
    value = x
    while value[1] < most[0]:
        value = value + x
    return value


BRANCHES = f"""func.func @main(%x: tensor<6xf32>, %y: tensor<6xf32>, %which: tensor<8xi32>) -> tensor<6xf32> {{{START}
  %8 = arith.constant 8 : index
  %two = arith.constant 2 : i32
  %e = tensor.empty() : tensor<6xf32>
  %r = scf.for %i = %0 to %8 step %1 iter_args(%a = %x) -> (tensor<6xf32>) {{
    %w = tensor.extract %which[%i] : tensor<8xi32>
    %k = arith.index_cast %w : i32 to index
    %is = arith.cmpi slt, %w, %two : i32
    %b = scf.if %is -> (tensor<6xf32>) {{
      %c = linalg.add ins(%a, %y : tensor<6xf32>, tensor<6xf32>) outs(%e : tensor<6xf32>) -> tensor<6xf32>
      scf.yield %c : tensor<6xf32>
    }} else {{
      scf.yield %a : tensor<6xf32>
    }}
    %d = scf.index_switch %k -> tensor<6xf32>
    case 0 {{
      %c = linalg.abs ins(%b : tensor<6xf32>) outs(%e : tensor<6xf32>) -> tensor<6xf32>
      scf.yield %c : tensor<6xf32>
    }}
    case 3 {{
      scf.yield %y : tensor<6xf32>
    }}
    default {{
      %c = linalg.sub ins(%b, %x : tensor<6xf32>, tensor<6xf32>) outs(%e : tensor<6xf32>) -> tensor<6xf32>
      scf.yield %c : tensor<6xf32>
    }}
    scf.yield %d : tensor<6xf32>
  }}
  return %r : tensor<6xf32>
}}"""


def branches_wanted(x, y, which):
    value = x
    for k in which:
        b = value + y if k < 2 else value
        value = np.abs(b) if k == 0 else y if k == 3 else b - x
    return value


# The state is read after the turn has made the next one, and written in place beside it, in a loop in a loop.
NESTED = f"""func.func @main(%x: tensor<16xf32>, %n: tensor<?xi8>) -> tensor<16xf32> {{{START}
  %count = tensor.dim %n, %0 : tensor<?xi8>
  %e = tensor.empty() : tensor<16xf32>
  %r:2 = scf.for %i = %0 to %count step %1 iter_args(%a = %x, %sum = %x) -> (tensor<16xf32>, tensor<16xf32>) {{
    %b = linalg.abs ins(%a : tensor<16xf32>) outs(%e : tensor<16xf32>) -> tensor<16xf32>
    %s = tensor.extract_slice %a[1] [15] [1] : tensor<16xf32> to tensor<15xf32>
    %c = tensor.insert_slice %s into %b[0] [15] [1] : tensor<15xf32> into tensor<16xf32>
    %inner = scf.for %j = %0 to %count step %1 iter_args(%t = %c) -> (tensor<16xf32>) {{
      %d = linalg.add ins(%t, %a : tensor<16xf32>, tensor<16xf32>) outs(%e : tensor<16xf32>) -> tensor<16xf32>
      scf.yield %d : tensor<16xf32>
    }}
    %v = tensor.extract %inner[%0] : tensor<16xf32>
    %next = tensor.insert %v into %sum[%1] : tensor<16xf32>
    scf.yield %inner, %next : tensor<16xf32>, tensor<16xf32>
  }}
  %s = linalg.add ins(%r#0, %r#1 : tensor<16xf32>, tensor<16xf32>) outs(%e : tensor<16xf32>) -> tensor<16xf32>
  return %s : tensor<16xf32>
}}"""


def nested_wanted(x, n):
    a, total = x, x.copy()
    for _ in range(len(n)):
        b = np.abs(a)
        b[:15] = a[1:]
        for _ in range(len(n)):
            b = b + a
        a = b
        total[1] = a[0]
    return a + total


# The same sum of buffers that may lie in one place at different times.
IN_TURN = f"""func.func @main(%x: tensor<64xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {{{START}
  %e = tensor.empty() : tensor<64xf32>
  %p = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%zero : f32) outs(%p : tensor<f32>) -> tensor<f32>
  %a = linalg.add ins(%x, %y : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %s = linalg.reduce {{ arith.addf }} ins(%a : tensor<64xf32>) outs(%f : tensor<f32>) dimensions = [0]
  %b = linalg.broadcast ins(%s : tensor<f32>) outs(%e : tensor<64xf32>) dimensions = [0]
  %c = linalg.sub ins(%b, %y : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %t = linalg.reduce {{ arith.addf }} ins(%c : tensor<64xf32>) outs(%f : tensor<f32>) dimensions = [0]
  %d = linalg.broadcast ins(%t : tensor<f32>) outs(%e : tensor<64xf32>) dimensions = [0]
  %r = linalg.sub ins(%d, %x : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  return %r : tensor<64xf32>
}}"""


def in_turn_wanted(x, y):
    return ((x + y).sum() - y).sum() - x


# Halves of a buffer of the caller, which change places: what is written is in those.
KERNEL = f"""func.func @main(%a: memref<7xf32>, %y: memref<14xf32>) {{{START}
  %7 = arith.constant 7 : index
  %i0 = memref.subview %y[0] [7] [1] : memref<14xf32> to memref<7xf32, strided<[1]>>
  %i1 = memref.subview %y[7] [7] [1] : memref<14xf32> to memref<7xf32, strided<[1], offset: 7>>
  %p = memref.cast %i0 : memref<7xf32, strided<[1]>> to memref<7xf32, strided<[1], offset: ?>>
  %q = memref.cast %i1 : memref<7xf32, strided<[1], offset: 7>> to memref<7xf32, strided<[1], offset: ?>>
  memref.copy %a, %p : memref<7xf32> to memref<7xf32, strided<[1], offset: ?>>
  memref.copy %a, %q : memref<7xf32> to memref<7xf32, strided<[1], offset: ?>>
  %r:2 = scf.for %i = %0 to %7 step %1 iter_args(%s = %p, %t = %q) -> (memref<7xf32, strided<[1], offset: ?>>, memref<7xf32, strided<[1], offset: ?>>) {{
    %v = memref.load %t[%i] : memref<7xf32, strided<[1], offset: ?>>
    %w = arith.addf %v, %v : f32
    memref.store %w, %s[%i] : memref<7xf32, strided<[1], offset: ?>>
    scf.yield %t, %s : memref<7xf32, strided<[1], offset: ?>>, memref<7xf32, strided<[1], offset: ?>>
  }}
  return
}}"""


def kernel_wanted(a):
    p, q = a.copy(), a.copy()
    for i in range(7):
        p[i] = 2 * q[i]
        p, q = q, p
    return np.concatenate([q, p])


def cases(random):
    def some(*shape):
        return random.integers(-4, 5, shape).astype(np.float32)
    for rows in (1, 3):
        yield f"a recurrent layer, {rows} rows", recurrent(rows), recurrent_wanted, [some(7, rows, 5), some(5, 5), some(5, 5)]
        yield "buffers that change places", KERNEL, kernel_wanted, [some(7)]
        yield "one after the other in the same memory", IN_TURN, in_turn_wanted, [some(64), some(64)]
    for turns in (0, 1, 2, 7):
        count = np.zeros(turns, np.int8)
        yield f"changing places {turns} times", CHANGING_PLACES, changing_places_wanted, [some(9), some(9), count]
        yield f"a loop in a loop, {turns} turns", NESTED, nested_wanted, [some(16), count]
    for most in (0, 10, 100):
        yield f"as long as it is less than {most}", AS_LONG_AS, as_long_as_wanted, [abs(some(4)) + 1, np.float32([most])]
    for _ in range(4):
        yield "branches", BRANCHES, branches_wanted, [some(6), some(6), random.integers(0, 5, 8).astype(np.int32)]


def main():
    options = export.parser(__doc__, ["x86-64", "riscv64", "cortex-m55"])
    options.add_argument("--seed", type=int, default=1)
    arguments = options.parse_args()
    print(f"seed {arguments.seed}", flush=True)
    wrong = done = 0
    for name, builder in export.builders(arguments):
        for title, source, wanted, values in cases(np.random.default_rng(arguments.seed)):
            want = wanted(*values)
            done += 1
            try:
                builder.build(source, values, want)
                have, _, broken = builder.run(want)
                what = "" if np.array_equal(have, want) and not broken else f"{have} in place of {want}, {broken} bytes behind"
            except (RuntimeError, export.Refused, subprocess.TimeoutExpired) as error:
                what = str(error)
            if what:
                wrong += 1
                print(f"{name}, {title}: {what}", flush=True)
    print(f"{done} cases, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
