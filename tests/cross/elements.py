"""Random ops over the elements of matrices: along rows, with rows and columns that are repeated, slices, sums and places of largest elements."""

import numpy as np

from products import TYPES

FLOATS, INTEGERS = ("f32", "f64", "f16"), ("i8", "i16", "i32")
BODIES = {
    "f": [("%t = arith.mulf %a, %b : {0}\n    %r = arith.addf %t, %c : {0}", lambda a, b, c: a * b + c),
          ("%t = arith.subf %a, %b : {0}\n    %r = arith.maximumf %t, %c : {0}", lambda a, b, c: np.maximum(a - b, c)),
          ("%t = arith.cmpf ogt, %a, %b : {0}\n    %r = arith.select %t, %a, %c : {0}", lambda a, b, c: np.where(a > b, a, c))],
    "i": [("%t = arith.muli %a, %b : {0}\n    %r = arith.addi %t, %c : {0}", lambda a, b, c: a * b + c),
          ("%t = arith.cmpi slt, %a, %b : {0}\n    %r = arith.select %t, %c, %b : {0}", lambda a, b, c: np.where(a < b, c, b)),
          ("%t = arith.xori %a, %b : {0}\n    %r = arith.maxsi %t, %c : {0}", lambda a, b, c: np.maximum(a ^ b, c))]}


class Elements:
    """One of them: an op, then a result of its elements, of sums along its rows, or of the places of their largest."""

    def __init__(self, rng):
        self.rng = rng
        self.element = rng.choice(FLOATS + INTEGERS)
        self.sizes = {"i": rng.choice([1, 2, 7, 16, 33]), "j": rng.choice([1, 3, 4, 7, 8, 15, 16, 17, 31, 64, 65, 100, 257])}
        self.shift = rng.choice([0, 0, 1, 3])
        self.step = rng.choice([1, 1, 1, 2])
        self.dynamic = rng.random() < 0.5
        self.lines, self.reference = rng.choice(BODIES[self.element[0]])
        self.last = rng.choice(["elements", "elements", "sum", "place"])
        self.sum = "i32" if self.last == "place" else self.element

    def source(self):
        rows, columns = ("?", "?") if self.dynamic else (self.sizes["i"], self.sizes["j"])
        source = f"{'?' if self.dynamic else self.sizes['i'] + self.shift}x" \
                 f"{'?' if self.dynamic else self.step * self.sizes['j'] + self.shift}x{self.element}"
        matrix, row, column = f"tensor<{rows}x{columns}x{self.element}>", f"tensor<{columns}x{self.element}>", f"tensor<{rows}x{self.element}>"
        dimensions = "%m, %n" if self.dynamic else ""
        m, n = ("%m", "%n") if self.dynamic else (rows, columns)
        body = self.lines.format(self.element)
        result, tail = matrix, "  return %e : " + matrix
        if self.last != "elements":
            kind, isFloat = self.sum, self.element[0] == "f"
            result = f"tensor<{rows}x{kind}>"
            zero = "0.0" if kind[0] == "f" else "0"
            tail = f"""  %z = arith.constant {zero} : {kind}
  %q = tensor.empty({"%m" if self.dynamic else ""}) : {result}
  %s = linalg.fill ins(%z : {kind}) outs(%q : {result}) -> {result}
"""
            maps = "indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>"
            if self.last == "sum":
                tail += f"""  %r = linalg.generic {{{maps}], iterator_types = ["parallel", "reduction"]}} ins(%e : {matrix}) outs(%s : {result}) {{
  ^bb0(%a: {kind}, %o: {kind}):
    %t = arith.add{kind[0]} %a, %o : {kind}
    linalg.yield %t : {kind}
  }} -> {result}
  return %r : {result}"""
            else:
                least = "-inf" if isFloat else str(-(1 << (int(self.element[1:]) - 1)))
                least = {"f16": "0xFC00", "f32": "0xFF800000", "f64": "0xFFF0000000000000"}.get(self.element, least)
                best = f"tensor<{rows}x{self.element}>"
                tail += f"""  %l = arith.constant {least} : {self.element}
  %b0 = tensor.empty({"%m" if self.dynamic else ""}) : {best}
  %b1 = linalg.fill ins(%l : {self.element}) outs(%b0 : {best}) -> {best}
  %r:2 = linalg.generic {{{maps}, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}}
      ins(%e : {matrix}) outs(%b1, %s : {best}, {result}) {{
  ^bb0(%a: {self.element}, %o: {self.element}, %p: i32):
    %k = linalg.index 1 : index
    %h = arith.index_cast %k : index to i32
    %g = arith.cmp{"f ogt" if isFloat else "i sgt"}, %a, %o : {self.element}
    %u = arith.select %g, %a, %o : {self.element}
    %f = arith.select %g, %h, %p : i32
    linalg.yield %u, %f : {self.element}, i32
  }} -> ({best}, {result})
  return %r#1 : {result}"""
        return f"""func.func @main(%x: tensor<{source}>, %w: {row}, %v: {column}) -> {result} {{
  %c0 = arith.constant 0 : index
  %m = tensor.dim %v, %c0 : {column}
  %n = tensor.dim %w, %c0 : {row}
  %y = tensor.extract_slice %x[{self.shift}, {self.shift}] [{m}, {n}] [1, {self.step}] : tensor<{source}> to {matrix}
  %d = tensor.empty({dimensions}) : {matrix}
  %e = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>,
                                        affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}}
      ins(%y, %w, %v : {matrix}, {row}, {column}) outs(%d : {matrix}) {{
  ^bb0(%a: {self.element}, %b: {self.element}, %c: {self.element}, %o: {self.element}):
    {body}
    linalg.yield %r : {self.element}
  }} -> {matrix}
{tail}
}}
"""

    def draw(self, values):
        """Whole numbers, whose sums every type has."""
        rows, columns, kind = self.sizes["i"], self.sizes["j"], TYPES[self.element]
        x = values.integers(-2, 3, (rows + self.shift, self.step * columns + self.shift)).astype(kind)
        w, v = values.integers(-2, 3, columns).astype(kind), values.integers(-2, 3, rows).astype(kind)
        y = x[self.shift:, self.shift::self.step][:, :columns]
        want = self.reference(y, w[None, :], v[:, None]).astype(kind)
        if self.last == "sum":
            want = want.sum(axis=1).astype(kind)
        elif self.last == "place":
            want = want.argmax(axis=1).astype(np.int32)
        return {"x": x, "w": w, "v": v}, [], want

    @staticmethod
    def compare(have, want):
        return None if have.shape == want.shape and (have == want).all() else "not the elements"
