"""What programs are made of: values, the text that is written, the steps of bodies, and what nodes have in common."""
import dataclasses
import itertools

FLOATS = ("f16", "bf16", "f32", "f64")
INTEGERS = ("i1", "i8", "i16", "i32", "i64", "index")
DIGITS = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}


class Invalid(Exception):
    """The types do not fit: the change is not possible."""


@dataclasses.dataclass(eq=False)
class Value:
    shape: tuple  # The extents of a call.
    open: tuple   # Which of them the type leaves open.
    element: str
    bound: float = 3.0  # Of floats: no number is larger.
    error: float = 0.0  # Of floats: how far the engine may be from the reference.
    whole: bool = True
    name: str = ""

    def like(self, **changes):
        return dataclasses.replace(self, name="", **changes)

    def type(self):
        return tensor(self.shape, self.open, self.element)

    def same_type(self, other):
        return (self.shape, self.open, self.element) == (other.shape, other.open, other.element)


def tensor(shape, open_, element):
    extents = "".join(("?" if is_open else str(extent)) + "x" for extent, is_open in zip(shape, open_))
    return f"tensor<{extents}{element}>"


class Writer:
    """The text of one function."""

    def __init__(self):
        self.lines = []
        self.indent = 1
        self.names = itertools.count()

    def name(self):
        return f"%{next(self.names)}"

    def line(self, text):
        self.lines.append("  " * self.indent + text)

    def op(self, text):
        name = self.name()
        self.line(f"{name} = {text}")
        return name

    def index(self, number):
        return self.op(f"arith.constant {number} : index")

    def extent(self, value, axis):
        return self.op(f"tensor.dim {value.name}, {self.index(axis)} : {value.type()}")

    def empty(self, value, sources):
        """A destination of that type. sources: for each axis (value, axis) with the extent, or None."""
        operands = []
        for extent, is_open, source in zip(value.shape, value.open, sources):
            if is_open:
                operands.append(self.extent(*source) if source else self.index(extent))
        return self.op(f"tensor.empty({', '.join(operands)}) : {value.type()}")

    def filled(self, value, sources, number):
        empty = self.empty(value, sources)
        scalar = self.op(constant(number, value.element))
        return self.op(f"linalg.fill ins({scalar} : {value.element}) outs({empty} : {value.type()}) "
                       f"-> {value.type()}")


def literal(number, element):
    if element in FLOATS:
        if number in (float("inf"), float("-inf")):
            bits = {"f16": 0x7C00, "bf16": 0x7F80, "f32": 0x7F800000, "f64": 0x7FF0000000000000}[element]
            sign = 1 << ({"f16": 16, "bf16": 16, "f32": 32, "f64": 64}[element] - 1)
            return hex(bits | (sign if number < 0 else 0)).upper().replace("X", "x")
        return repr(float(number))
    return str(bool(number)).lower() if element == "i1" else str(int(number))


def constant(number, element):
    suffix = "" if element == "i1" else f" : {element}"
    return f"arith.constant {literal(number, element)}{suffix}"


def affine(rank, results):
    dims = [f"d{i}" for i in range(rank)]
    return (f"affine_map<({', '.join(dims)}) -> "
            f"({', '.join(str(r) if isinstance(r, str) else f'd{r}' for r in results)})>")


# --- Bodies ---------------------------------------------------------------------------------------


@dataclasses.dataclass
class Step:
    """One operation on scalars, of the numbers that came before. kind says how it is written."""
    kind: str
    op: str
    operands: tuple
    source: str
    result: str


def emit_steps(writer, steps, names, type_of=lambda element: element):
    """names: those of the block's arguments; grows by one a step."""
    for step in steps:
        a = [names[i] for i in step.operands]
        source, result = type_of(step.source), type_of(step.result)
        if step.kind == "constant":
            number = float(step.op) if step.result in FLOATS else int(step.op)
            text = (constant(number, step.result) if result == step.result else
                    f"arith.constant dense<{literal(number, step.result)}> : {result}")
        elif step.kind == "index":
            text = f"linalg.index {step.op} : index"
        elif step.kind == "cast":
            text = f"{step.op} {a[0]} : {source} to {result}"
        elif step.kind == "select":
            condition = "" if result == step.result else type_of("i1") + ", "
            text = f"arith.select {', '.join(a)} : {condition}{result}"
        else:  # The operands have one type, which is written.
            text = f"{step.op} {', '.join(a)} : {source}"
        names.append(writer.op(text))
    return names


# --- Nodes ----------------------------------------------------------------------------------------


class Node:
    def __init__(self, inputs, outputs, **parameters):
        self.inputs, self.outputs = list(inputs), list(outputs)
        self.blocks = []
        self.__dict__.update(parameters)

    def set(self, which, shape, open_):
        self.outputs[which].shape, self.outputs[which].open = tuple(shape), tuple(open_)

    def result(self, name):
        """The name of a result of one."""
        self.outputs[0].name = name


def generic(writer, rank, ins, outs, reductions, body):
    """A linalg.generic. ins, outs: (name, type, element, map). body: writes, gives what is yielded."""
    words = ", ".join('"reduction"' if i in reductions else '"parallel"' for i in range(rank))
    maps = ", ".join(affine(rank, operand[3]) for operand in ins + outs)
    results = ", ".join(operand[1] for operand in outs)
    name = writer.name()
    given = ""
    if ins:
        given = (f"ins({', '.join(operand[0] for operand in ins)} : "
                 f"{', '.join(operand[1] for operand in ins)}) ")
    writer.line(f"{name}{f':{len(outs)}' if len(outs) > 1 else ''} = linalg.generic "
                f"{{indexing_maps = [{maps}], iterator_types = [{words}]}} {given}"
                f"outs({', '.join(operand[0] for operand in outs)} : {results}) {{")
    arguments = [writer.name() for _ in ins + outs]
    writer.line("^bb0(" + ", ".join(f"{argument}: {operand[2]}"
                                    for argument, operand in zip(arguments, ins + outs)) + "):")
    writer.indent += 1
    yielded = body(arguments)
    writer.line(f"linalg.yield {', '.join(yielded)} : {', '.join(operand[2] for operand in outs)}")
    writer.indent -= 1
    writer.line("} -> " + (results if len(outs) == 1 else f"({results})"))
    return [name] if len(outs) == 1 else [f"{name}#{i}" for i in range(len(outs))]
