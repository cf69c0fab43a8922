"""Cases of calls of libraries, as JAX leaves them for the machine that it writes for. As those of cases.py."""

import numpy as np

from more_cases import WORD, threefry
from writer import Val, kind_of

TYPES = {"s": (np.float32, 1e-4), "d": (np.float64, 1e-10), "c": (np.complex64, 1e-4), "z": (np.complex128, 1e-10)}


def calls(rng):
    yield from factors(rng)
    yield from equations(rng)
    yield from words(rng)
    yield from alone(rng)


def alone(rng):
    """What a mesh of one device does together."""
    x = rng.uniform(-1, 1, (2, 3)).astype(np.float32)
    groups = "replica_groups = dense<0> : tensor<1x1xi64>"
    more = {"all_gather": "all_gather_dim = 0 : i64", "all_to_all": "split_dimension = 0 : i64, concat_dimension = 1 : i64, split_count = 1 : i64",
            "all_reduce": "use_global_device_ids", "reduce_scatter": "scatter_dimension = 1 : i64", "collective_broadcast": ""}
    for name, text in more.items():
        def make(b, v, name=name, text=text):
            region = [b.region([((), "f32")] * 2, lambda i, p, q: [i.elementwise("add", p, q)])] if "reduce" in name else []
            return b.generic(f"stablehlo.{name}", [v], [(v.shape, v.kind)], f"{groups}{', ' + text if text else ''}", region)
        yield name, [x], make, [x], 0
    yield ("collective_permute", [x], lambda b, v: b.generic("stablehlo.collective_permute", [v], [(v.shape, v.kind)],
                                                             "source_target_pairs = dense<0> : tensor<1x2xi64>"), [x], 0)

    def manual(b, v):
        front, values = b.results([(v.shape, v.kind)])
        arg = b.fresh()
        b.line(f"{front}sdy.manual_computation({v.name}) in_shardings=[<@mesh, [{{\"x\"}}, {{}}]>] out_shardings=[<@mesh, [{{\"x\"}}, {{}}]>] "
               f"manual_axes={{\"x\"}} ({arg}: tensor<2x3xf32>) {{")
        inner = b.inner()
        inner.give([inner.elementwise("add", Val(arg, v.shape, v.kind), Val(arg, v.shape, v.kind))], "sdy.return")
        b.lines.append(inner.text())
        b.line("} : (tensor<2x3xf32>) -> tensor<2x3xf32>")
        return values
    yield "manual_computation", [x], manual, [x + x], 0


def called(target, types, configuration=""):
    def make(b, *operands):
        text = f"mhlo.backend_config = {{{configuration}}}"
        if not b.pretty:
            return b.generic("stablehlo.custom_call", operands, types, f"call_target_name = \"{target}\", {text}, api_version = 4 : i32")
        front, values = b.results(types)
        source = ", ".join(f"tensor<{''.join(f'{n}x' for n in v.shape)}{v.kind}>" for v in operands)
        out = ", ".join(f"tensor<{''.join(f'{n}x' for n in s)}{kind}>" for s, kind in types)
        b.line(f"{front}stablehlo.custom_call @{target}({', '.join(v.name for v in operands)}) {{{text}, "
               f"operand_layouts = [dense<[0, 1]> : tensor<2xindex>]}} : ({source}) -> " + (out if len(types) == 1 else f"({out})"))
        return values
    return make


def matrix(rng, shape, dtype):
    x = rng.uniform(-2, 2, shape)
    return (x + 1j * rng.uniform(-2, 2, shape) if np.dtype(dtype).kind == "c" else x).astype(dtype)


def factors(rng):
    for letter, (dtype, tolerance) in TYPES.items():
        kind = kind_of(np.zeros(0, dtype))
        a = matrix(rng, (3, 4, 4), dtype)
        a = (a @ a.conj().transpose(0, 2, 1) + np.eye(4)).astype(dtype)
        a[1, 2, 2] = -5  # of which there are no factors
        for lower in (True, False):
            want, info = np.full_like(a, np.nan), np.array([0, 3, 0], np.int32)
            for i in (0, 2):
                want[i] = np.linalg.cholesky(a[i])
                want[i] = want[i] if lower else want[i].conj().T
            make = called(f"lapack_{letter}potrf_ffi", [(a.shape, kind), ((3,), "i32")], f"uplo = {76 if lower else 85} : ui8")

            def chosen(b, v, make=make, dtype=dtype):
                """What JAX makes of both results: nothing of a matrix without factors."""
                out, state = make(b, v)
                good = b.compare("EQ", state, b.constant(np.zeros(3, np.int32)), "SIGNED")
                good = b.broadcast_in_dim(good, [0], out.shape)
                nothing = b.constant(np.full(out.shape, np.nan, dtype))
                return [b.select(good, out, nothing), state]
            yield "lapack_potrf", [a], chosen, [want, info], tolerance
        for shape in ((4, 4), (2, 3, 5), (5, 3)):
            a = matrix(rng, shape, dtype)
            if shape == (4, 4):
                a[:, 1] = 0  # a column without a pivot
            want, pivots = lu(a)
            types = [(a.shape, kind), (pivots.shape, "i32"), (shape[:-2], "i32")]
            yield ("lapack_getrf", [a], called(f"lapack_{letter}getrf_ffi", types), [want, pivots, np.zeros(shape[:-2], np.int32)], tolerance)


def lu(a):
    """Gauss' elimination, one row after the other; pivots from 1."""
    out, wide = a.copy(), np.complex128 if a.dtype.kind == "c" else np.float64
    count = min(a.shape[-2:])
    pivots = np.zeros((*a.shape[:-2], count), np.int32)
    for batch in np.ndindex(*a.shape[:-2]):
        m = a[batch].astype(wide)
        for k in range(count):
            best = k + int(np.argmax(np.abs(m[k:, k])))
            m[[k, best]] = m[[best, k]]
            pivots[(*batch, k)] = best + 1
            if m[k, k] != 0:
                m[k + 1:, k] /= m[k, k]
            m[k + 1:, k + 1:] -= np.outer(m[k + 1:, k], m[k, k + 1:])
        out[batch] = m.astype(a.dtype)
    return out, pivots


def equations(rng):
    for letter, (dtype, tolerance) in TYPES.items():
        kind = kind_of(np.zeros(0, dtype))
        for _ in range(3):
            left, lower, unit = (bool(v) for v in rng.integers(0, 2, 3))
            transpose = "NTC"[rng.integers(3)]
            a = (matrix(rng, (2, 3, 3), dtype) + 5 * np.eye(3)).astype(dtype)
            y = matrix(rng, (2, 3, 4) if left else (2, 4, 3), dtype)
            m = np.tril(a) if lower else np.triu(a)
            m = m * (1 - np.eye(3)) + np.eye(3) if unit else m
            m = {"N": m, "T": m.transpose(0, 2, 1), "C": m.conj().transpose(0, 2, 1)}[transpose]
            want = np.linalg.solve(m, y) if left else np.linalg.solve(m.transpose(0, 2, 1), y.transpose(0, 2, 1)).transpose(0, 2, 1)
            text = ", ".join(f"{name} = {ord(c)} : ui8" for name, c in (("diag", "U" if unit else "N"), ("side", "L" if left else "R"),
                                                                       ("trans_x", transpose), ("uplo", "L" if lower else "U")))
            make = called(f"lapack_{letter}trsm_ffi", [(y.shape, kind)], text)
            more = [dtype(1)] if rng.random() < 0.5 else []  # a factor that older versions have
            yield "lapack_trsm", [a, y, *more], make, [want.astype(dtype)], tolerance


def words(rng):
    k = [rng.integers(0, 1 << 32, 7, np.uint32) for _ in range(4)]
    wide = [v.astype(np.uint64) for v in k]
    want = [v.astype(np.uint32) for v in threefry(wide[0] | wide[1] << np.uint64(32), wide[2] | wide[3] << np.uint64(32))]
    assert all((v.astype(np.uint64) <= WORD).all() for v in want)
    for target in ("cu_threefry2x32_ffi", "hip_threefry2x32_ffi"):
        yield "threefry2x32", k, called(target, [((7,), "ui32")] * 2), want, 0

    def tuples(b, *v):
        """As older versions give them."""
        name = b.fresh()
        kind = "tuple<tensor<7xui32>, tensor<7xui32>>"
        b.line(f"{name} = \"stablehlo.custom_call\"({', '.join(x.name for x in v)}) <{{call_target_name = \"cu_threefry2x32\"}}> : "
               f"({', '.join(['tensor<7xui32>'] * 4)}) -> {kind}")
        out = []
        for i in (0, 1):
            front, values = b.results([((7,), "ui32")])
            b.line(f"{front}\"stablehlo.get_tuple_element\"({name}) <{{index = {i} : i32}}> : ({kind}) -> tensor<7xui32>")
            out += values
        return out
    yield "threefry2x32", k, tuples, want, 0
    x = rng.uniform(-1, 1, (4, 3)).astype(np.float32)
    yield ("shape_refinement", [x], lambda b, v: called("stablehlo.shape_refinement_operand_wrapper", [(v.shape, v.kind)])(
        b, v, b.constant(np.array([4, 3]))), [x], 0)
