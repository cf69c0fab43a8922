"""Reductions whose order matters: windows and products of images and filters in all layouts, whose loops are written in any order, with sums that
decay or change their sign at each step. Nothing may run them in another order, whatever else is chosen for them."""
import itertools

import numpy as np
import pytest

import plimsoll as pl

BODIES = {"decay": ("%t = arith.muli %so, %three : i32\n    %s = arith.addi %t, %m : i32", lambda so, m: so * 3 + m),
          "alternating": ("%s = arith.subi %m, %so : i32", lambda so, m: m - so)}


class Case:
    def __init__(self, numbers):
        def one(*values):
            return values[int(numbers.integers(len(values)))]
        filters, channels, rows, columns, window, self.step = one(1, 5, 16, 64), one(1, 3, 16, 64), one(7, 14, 28), one(7, 14, 28, 33), one(1, 3, 5), one(1, 1, 2)
        self.body, self.is_constant = one(*BODIES), numbers.random() < 0.6
        self.extents = {"f": filters, "c": channels, "h": rows, "w": columns, "y": window, "x": window,
                        "H": (rows - window) // self.step + 1, "W": (columns - window) // self.step + 1}
        self.image, self.result = one("chw", "hwc", "hcw"), one("fHW", "HWf", "HfW")
        self.filter, self.reduced = ("".join(numbers.permutation(list(all_))) for all_ in ("fcyx", "cyx"))
        self.loops = self.result + self.reduced if numbers.random() < 0.5 else self.reduced + self.result
        self.values = [numbers.integers(-4, 5, [self.extents[each] for each in dims]).astype(np.int32) for dims in (self.image, self.filter)]

    def text(self):
        def kind(dims):
            return f"tensor<{'x'.join(str(self.extents[each]) for each in dims)}xi32>"

        def indices(dims):
            places = {"h": f"H * {self.step} + y", "w": f"W * {self.step} + x"}
            return f"affine_map<({', '.join(self.loops)}) -> ({', '.join(places.get(each, each) for each in dims)})>"
        image, filter_, result = map(kind, (self.image, self.filter, self.result))
        constant = f'%w = arith.constant dense<"0x{self.values[1].tobytes().hex()}"> : {filter_}' if self.is_constant else ""
        kinds = ", ".join('"parallel"' if each in self.result else '"reduction"' for each in self.loops)
        return f"""
func.func @main(%x: {image}{"" if self.is_constant else f", %w: {filter_}"}) -> {result} {{
  {constant}
  %zero = arith.constant 0 : i32
  %three = arith.constant 3 : i32
  %e = tensor.empty() : {result}
  %f = linalg.fill ins(%zero : i32) outs(%e : {result}) -> {result}
  %r = linalg.generic {{indexing_maps = [{indices(self.image)}, {indices(self.filter)}, {indices(self.result)}], iterator_types = [{kinds}]}}
      ins(%x, %w : {image}, {filter_}) outs(%f : {result}) {{
  ^bb0(%a: i32, %b: i32, %so: i32):
    %m = arith.muli %a, %b : i32
    {BODIES[self.body][0]}
    linalg.yield %s : i32
  }} -> {result}
  return %r : {result}
}}"""

    def wanted(self):
        image, filter_ = self.values
        image, filter_ = image.transpose([self.image.index(each) for each in "chw"]), filter_.transpose([self.filter.index(each) for each in "fcyx"])
        so = np.zeros([self.extents[each] for each in "fHW"], np.int32)  # which wraps around as i32 does
        for places in itertools.product(*(range(self.extents[each]) for each in self.reduced)):
            at = dict(zip(self.reduced, places))
            part = image[at["c"], at["y"]:, at["x"]:][::self.step, ::self.step][:self.extents["H"], :self.extents["W"]]
            so = BODIES[self.body][1](so, part * filter_[:, at["c"], at["y"], at["x"], None, None])
        return so.transpose(["fHW".index(each) for each in self.result])


@pytest.mark.parametrize("numerics", ["default", "strict"])
def test_reductions_whose_order_matters(numerics):
    numbers, engine = np.random.default_rng(17), pl.Engine(threads=2)
    for _ in range(60):
        case = Case(numbers)
        arguments = case.values[:1] if case.is_constant else case.values
        got = engine.loads(case.text(), numerics=numerics).main(*arguments)
        np.testing.assert_array_equal(got, case.wanted(), err_msg=case.text()[:2000])
