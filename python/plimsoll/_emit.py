"""Writes functions over tensors as MLIR text: linalg.generic for what happens to elements, tensor
operations for what happens to shapes. Knows no NumPy but its dtypes."""

from __future__ import annotations

import math

import numpy as np

from ._dims import Atom, Dim, Extent, identical, product, simple

_ELEMENTS = {"bool": "i1", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
             "uint8": "i8",
             "uint16": "i16", "uint32": "i32", "uint64": "i64", "float16": "f16", "float32": "f32",
             "float64": "f64"}


def native_order(dtype: np.dtype) -> np.dtype:
    """The type with the bytes in the order of this machine."""
    return dtype if dtype.isnative else dtype.newbyteorder("=")


def element_of(dtype) -> str:
    """"f32" for float32; TypeError for what the library has no elements of."""
    try:
        return _ELEMENTS[np.dtype(dtype).name]
    except KeyError:
        raise TypeError(f"there is no element type for {np.dtype(dtype)}") from None


def type_of(shape, element: str) -> str:
    extents = "".join(f"{extent if isinstance(extent, int) else '?'}x" for extent in shape)
    return f"tensor<{extents}{element}>"


class Value:
    """A tensor in the text: what it is called, its elements and extents."""

    def __init__(self, name: str, dtype, shape: tuple[Extent, ...]):
        self.name, self.dtype, self.shape = name, np.dtype(dtype), tuple(shape)

    @property
    def type(self) -> str:
        return type_of(self.shape, element_of(self.dtype))


class Scalars:
    """The body of a linalg.generic: writes operations on single elements."""

    def __init__(self, builder: Builder):
        self._builder = builder
        self.lines: list[str] = []

    def op(self, text: str) -> str:
        name = self._builder.fresh()
        self.lines.append(f"    {name} = {text}")
        return name

    def constant(self, value, dtype) -> str:
        return self.op(constant_text(value, dtype))

    def binary(self, op: str, a: str, b: str, dtype) -> str:
        return self.op(f"{op} {a}, {b} : {element_of(dtype)}")

    def unary(self, op: str, a: str, dtype) -> str:
        return self.op(f"{op} {a} : {element_of(dtype)}")

    def compare(self, predicate: str, a: str, b: str, dtype) -> str:
        """`predicate`: eq, ne, lt, le, gt or ge, as NumPy has them: a NaN is unequal to all."""
        dtype = np.dtype(dtype)
        if dtype.kind == "f":
            return self.op(f"arith.cmpf {'u' if predicate == 'ne' else 'o'}{predicate}, {a}, {b} : "
                           f"{element_of(dtype)}")
        sign = "" if predicate in ("eq", "ne") else "s" if dtype.kind == "i" else "u"
        return self.op(f"arith.cmpi {sign}{predicate}, {a}, {b} : {element_of(dtype)}")

    def select(self, condition: str, a: str, b: str, dtype) -> str:
        return self.op(f"arith.select {condition}, {a}, {b} : {element_of(dtype)}")

    def power(self, base: str, exponent: str, dtype) -> str:
        """Of whole numbers, by squares; the exponent is taken as one without a sign."""
        kind = element_of(dtype)
        types = f"{kind}, {kind}, {kind}"
        zero, one = self.constant(0, dtype), self.constant(1, dtype)
        head, body = Scalars(self._builder), Scalars(self._builder)
        result, square, left = (self._builder.fresh() for _ in range(3))
        more = head.compare("ne", left, zero, dtype)
        names = [self._builder.fresh() for _ in range(3)]
        bit = body.binary("arith.andi", names[2], one, dtype)
        times = body.binary("arith.muli", names[0], names[1], dtype)
        after = (body.select(body.compare("ne", bit, zero, dtype), times, names[0], dtype),
                 body.binary("arith.muli", names[1], names[1], dtype),
                 body.binary("arith.shrui", names[2], one, dtype))
        found = self._builder.fresh()
        self.lines += [
            f"    {found}:3 = scf.while ({result} = {one}, {square} = {base}, {left} = {exponent}) "
            f": ({types}) -> ({types}) {{",
            *head.lines,
            f"      scf.condition({more}) {result}, {square}, {left} : {types}",
            "    } do {",
            f"    ^bb0({', '.join(f'{name}: {kind}' for name in names)}):",
            *body.lines,
            f"      scf.yield {', '.join(after)} : {types}",
            "    }"]
        return f"{found}#0"

    def cast(self, a: str, source, target) -> str:
        source, target = np.dtype(source), np.dtype(target)
        before, after = element_of(source), element_of(target)
        if source == target:
            return a
        if target.kind == "b":
            return self.compare("ne", a, self.constant(0, source), source)
        if source.kind == "f" and target.kind == "f":
            op = "arith.extf" if target.itemsize > source.itemsize else "arith.truncf"
        elif source.kind == "f":
            op = "arith.fptosi" if target.kind == "i" else "arith.fptoui"
        elif target.kind == "f":
            op = "arith.sitofp" if source.kind == "i" else "arith.uitofp"
        elif before == after:  # the sign is in the operations
            return a
        elif target.itemsize < source.itemsize:
            op = "arith.trunci"
        else:
            op = "arith.extsi" if source.kind == "i" else "arith.extui"
        return self.op(f"{op} {a} : {before} to {after}")


def constant_text(value, dtype) -> str:
    dtype = np.dtype(dtype)
    element = element_of(dtype)
    if dtype.kind == "f":
        number = dtype.type(value)
        if math.isfinite(number):
            text = repr(float(number))
            if "e" in text and "." not in text:
                text = text.replace("e", ".0e")
        else:
            bits = int(number.view(f"u{dtype.itemsize}"))
            text = f"0x{bits:0{2 * dtype.itemsize}X}"
        return f"arith.constant {text} : {element}"
    if dtype.kind == "b":
        return f"arith.constant {'true' if value else 'false'}"
    bits = 8 * dtype.itemsize
    number = int(value) & ((1 << bits) - 1)
    if number >> (bits - 1):
        number -= 1 << bits
    return f"arith.constant {number} : {element}"


class Builder:
    """One function, operation by operation."""

    def __init__(self, arguments: list[str]):
        """`arguments`: the type of each; they are called %arg0 and so on."""
        self.arguments = arguments
        self.lines: list[str] = []
        self.globals: list[str] = []
        self.location = ""  # of the operations that come
        self.place = ""  # the same in messages
        self._count = 0
        self._indices: dict = {}

    def fresh(self) -> str:
        self._count += 1
        return f"%{self._count}"

    def op(self, text: str) -> str:
        name = self.fresh()
        self.lines.append(f"  {name} = {text}{self.location}")
        return name

    def require(self, condition: Value, message: str) -> None:
        """The call fails unless the tensor of rank 0 is true."""
        holds = self.op(f"tensor.extract {condition.name}[] : {condition.type}")
        self.lines.append(f'  cf.assert {holds}, "{self.place}{message}"{self.location}')

    # --- Extents ----------------------------------------------------------------------------------

    def index(self, extent: Extent) -> str:
        """An extent as a value of type index."""
        extent = simple(extent)
        if extent not in self._indices:
            self._indices[extent] = (self.op(f"arith.constant {extent} : index")
                                     if isinstance(extent, int) else self._polynomial(extent))
        return self._indices[extent]

    def _polynomial(self, extent: Dim) -> str:
        total = None
        for atoms, factor in extent.terms.items():
            term = None if factor == 1 and atoms else self.index(factor)
            for atom in atoms:
                value = self._atom(atom)
                term = value if term is None else self.op(f"arith.muli {term}, {value} : index")
            total = term if total is None else self.op(f"arith.addi {total}, {term} : index")
        return total

    def _atom(self, atom: Atom) -> str:
        if atom not in self._indices:
            if atom.kind == "extent":
                argument, dimension = atom.operands
                text = (f"tensor.dim %arg{argument}, {self.index(dimension)} : "
                        f"{self.arguments[argument]}")
            else:
                op = {"min": "minsi", "max": "maxsi", "ceildiv": "ceildivsi",
                      "floordiv": "floordivsi"}[atom.kind]
                text = "arith.{} {}, {} : index".format(op, *map(self.index, atom.operands))
            self._indices[atom] = self.op(text)
        return self._indices[atom]

    def _dynamic(self, shape) -> str:
        return ", ".join(self.index(extent) for extent in shape if not isinstance(extent, int))

    def extents(self, extents) -> str:
        """A list of sizes, as operations on slices have it."""
        return "[" + ", ".join(str(extent) if isinstance(extent, int) else self.index(extent)
                               for extent in extents) + "]"

    # --- Elements ---------------------------------------------------------------------------------

    def empty(self, shape, dtype) -> Value:
        type = type_of(shape, element_of(dtype))
        return Value(self.op(f"tensor.empty({self._dynamic(shape)}) : {type}"), dtype, shape)

    def full(self, shape, dtype, value) -> Value:
        scalar, empty = self.op(constant_text(value, dtype)), self.empty(shape, dtype)
        return Value(self.op(f"linalg.fill ins({scalar} : {element_of(dtype)}) "
                             f"outs({empty.name} : {empty.type}) -> {empty.type}"), dtype, shape)

    def generic(self, inputs, maps, outputs, output_maps,
                iterators: list[str], body) -> list[Value]:
        """linalg.generic. Maps are lists of iterators or "0", one for each dimension of the tensor.
        `body(scalars, elements of the inputs, elements of the outputs)` returns what it yields."""
        names = [f"d{i}" for i in range(len(iterators))]
        texts = [f"affine_map<({', '.join(names)}) -> ({', '.join(each)})>"
                 for each in (*maps, *output_maps)]
        ins = ", ".join(value.name for value in inputs)
        in_types = ", ".join(value.type for value in inputs)
        out_types = ", ".join(value.type for value in outputs)
        scalars = Scalars(self)
        given = [self.fresh() for _ in inputs]
        old = [self.fresh() for _ in outputs]
        yielded = body(scalars, given, old)
        block = ", ".join(f"{name}: {element_of(value.dtype)}"
                          for name, value in zip(given + old, (*inputs, *outputs)))
        name = self.fresh()
        kinds = ", ".join(f'"{kind}"' for kind in iterators)
        self.lines += [
            f"  {name}{f':{len(outputs)}' if len(outputs) > 1 else ''} = linalg.generic "
            f"{{indexing_maps = [{', '.join(texts)}], iterator_types = [{kinds}]}}",
            *([f"      ins({ins} : {in_types})"] if inputs else []),
            f"      outs({', '.join(value.name for value in outputs)} : {out_types}) {{",
            f"  ^bb0({block}):",
            *scalars.lines,
            f"    linalg.yield {', '.join(yielded)} : "
            f"{', '.join(element_of(value.dtype) for value in outputs)}",
            f"  }} -> {out_types if len(outputs) == 1 else f'({out_types})'}{self.location}"]
        results = [name] if len(outputs) == 1 else [f"{name}#{i}" for i in range(len(outputs))]
        return [Value(result, value.dtype, value.shape) for result, value in zip(results, outputs)]

    def elementwise(self, inputs, shape, dtype, body) -> Value:
        """`body(scalars, elements)` for each element; inputs are broadcast as NumPy does."""
        maps = [[f"d{len(shape) - len(value.shape) + i}"
                 if identical(extent, shape[len(shape) - len(value.shape) + i]) else "0"
                 for i, extent in enumerate(value.shape)] for value in inputs]
        identity = [f"d{i}" for i in range(len(shape))]
        return self.generic(inputs, maps, [self.empty(shape, dtype)], [identity],
                            ["parallel"] * len(shape),
                            lambda scalars, given, _: [body(scalars, given)])[0]

    # --- Shapes -----------------------------------------------------------------------------------

    def reshape(self, value: Value, shape) -> Value:
        """The same elements in row-major order, as many."""
        shape = tuple(shape)
        if len(shape) == len(value.shape) and all(map(identical, shape, value.shape)):
            return value
        if identical(product(shape), 0):
            return self.empty(shape, value.dtype)
        flat = self._regroup(value, (product(value.shape),), collapse=True)
        return self._regroup(flat, shape, collapse=False)

    def _regroup(self, value: Value, shape, collapse: bool) -> Value:
        """Between any shape and one of rank 1."""
        wide = value.shape if collapse else shape
        result = Value("", value.dtype, shape)
        if len(wide) == 1:
            return Value(value.name, value.dtype, shape)
        groups = f"[[{', '.join(map(str, range(len(wide))))}]]" if wide else "[]"
        if bool(wide) and collapse:
            text = f"tensor.collapse_shape {value.name} {groups} : {value.type} into {result.type}"
        elif collapse:
            text = (f"tensor.expand_shape {value.name} [] output_shape [1] : "
                    f"{value.type} into {result.type}")
        elif wide:
            text = (f"tensor.expand_shape {value.name} {groups} output_shape "
                    f"{self.extents(shape)} : {value.type} into {result.type}")
        else:
            text = f"tensor.collapse_shape {value.name} [] : {value.type} into {result.type}"
        result.name = self.op(text)
        return result

    def transpose(self, value: Value, order) -> Value:
        if list(order) == list(range(len(order))):
            return value
        out = self.empty([value.shape[i] for i in order], value.dtype)
        # linalg.transpose has no form with a result type: it is that of outs.
        out.name = self.op(f"linalg.transpose ins({value.name} : {value.type}) "
                           f"outs({out.name} : {out.type}) permutation = {list(order)}")
        return out

    def slice(self, value: Value, starts, sizes, steps) -> Value:
        result = Value("", value.dtype, sizes)
        result.name = self.op(f"tensor.extract_slice {value.name}{self.extents(starts)} "
                              f"{self.extents(sizes)} {self.extents(steps)} : "
                              f"{value.type} to {result.type}")
        return result

    def insert(self, value: Value, into: Value, starts) -> Value:
        name = self.op(f"tensor.insert_slice {value.name} into {into.name}{self.extents(starts)} "
                       f"{self.extents(value.shape)} {self.extents([1] * len(value.shape))} : "
                       f"{value.type} into {into.type}")
        return Value(name, into.dtype, into.shape)

    def parameter(self, name: str, shape, dtype) -> Value:
        """A constant whose value comes when the module is loaded."""
        type = type_of(shape, element_of(dtype))
        self.globals.append(
            f"ml_program.global private @{name}(#ml_program.extern<{type}>) : {type}")
        return Value(self.op(f"ml_program.global_load_const @{name} : {type}"), dtype, shape)

    def text(self, name: str, results: list[Value]) -> str:
        arguments = ", ".join(f"%arg{i}: {type}" for i, type in enumerate(self.arguments))
        types = ", ".join(value.type for value in results)
        names = ", ".join(value.name for value in results)
        end = f"  return {names} : {types}" if results else "  return"
        return "\n".join([*self.globals, f"func.func @{name}({arguments}) -> ({types}) {{",
                          *self.lines, end, "}", ""])
