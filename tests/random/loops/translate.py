"""Computations that are written once, as loops in Python, and become loops over memrefs.

A computation is a function of arrays, whose annotations are their extents, and of numbers. Its body is made of `for` over
`range`, or over `parallel` where iterations may run in any order, of `if`, and of assignments to elements and to variables.
Python runs it as it stands; `Memrefs` makes MLIR of its text, and `bench/peers/kernels.py` C.
"""
import ast
import pathlib

# Predicates on floats and on integers.
EXTREMES = {"most": ("ogt", "sgt"), "least": ("olt", "slt")}
COMPARISONS = {ast.Lt: ("olt", "slt"), ast.LtE: ("ole", "sle"), ast.Gt: ("ogt", "sgt"), ast.GtE: ("oge", "sge"),
               ast.Eq: ("oeq", "eq"), ast.NotEq: ("une", "ne")}
OPERATIONS = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div"}


def read(path):
    """The functions of a file, by name."""
    return {node.name: node for node in ast.parse(pathlib.Path(path).read_text(encoding="utf-8")).body
            if isinstance(node, ast.FunctionDef)}


def is_parallel(statement):
    return isinstance(statement, ast.For) and statement.iter.func.id == "parallel"


def indices_of(element):
    return element.slice.elts if isinstance(element.slice, ast.Tuple) else [element.slice]


class Loops:
    """A computation on elements of one type, with extents by name."""

    def __init__(self, function, sizes, element):
        self.name, self.sizes, self.element = function.name, sizes, element
        self.body = function.body
        self.parameters = [argument.arg for argument in function.args.args]
        self.extents = {argument.arg: argument.annotation.elts for argument in function.args.args if argument.annotation}
        self.is_float = element[0] == "f"

    def shape(self, array):
        return tuple(self.size(extent) for extent in self.extents[array])

    def size(self, extent):
        return eval(compile(ast.Expression(extent), "extent", "eval"), {}, dict(self.sizes))  # noqa: S307

    def is_index(self, node):
        """Is it computed from loops and extents alone?"""
        def is_other(each):
            if isinstance(each, ast.Name):
                return each.id not in self.sizes and not self.indices.get(each.id)
            return isinstance(each, (ast.Subscript, ast.Call)) or isinstance(getattr(each, "value", None), float)
        return not any(is_other(each) for each in ast.walk(node))


class Memrefs(Loops):
    """Its text. With `is_open` only the call knows the extents; `parallel` loops are `scf.parallel`, or `scf.for`."""

    def __init__(self, function, sizes, element, *, is_open=False, is_parallel=False):
        super().__init__(function, sizes, element)
        self.is_open, self.is_parallel = is_open, is_parallel

    def text(self):
        self.lines, self.constants, self.indices, self.opened = [], {}, {}, {}
        self.count, self.depth = 0, 1
        types = [f"%{name}: {self.type(name) if name in self.extents else self.element}" for name in self.parameters]
        if self.is_open:
            self.read_extents()
        self.scope(self.body)
        constants = [f"  {name} = arith.constant {value}" for value, name in self.constants.items()]
        return "\n".join([f"func.func @{self.name}({', '.join(types)}) {{", *constants, *self.lines, "  return", "}", ""])

    def type(self, array):
        extents = ["?" if self.is_open else str(extent) for extent in self.shape(array)]
        return f"memref<{'x'.join([*extents, self.element])}>"

    def read_extents(self):
        for array, extents in self.extents.items():
            for position, extent in enumerate(extents):
                if isinstance(extent, ast.Name) and extent.id not in self.opened:
                    self.opened[extent.id] = self.value(f"memref.dim %{array}, {self.constant(position)} : {self.type(array)}")

    def line(self, text):
        self.lines.append("  " * self.depth + text)

    def value(self, text):
        self.count += 1
        self.line(f"%{self.count} = {text}")
        return f"%{self.count}"

    def constant(self, value):
        """An index."""
        return self.constants.setdefault(f"{value} : index", f"%c{len(self.constants)}")

    def number(self, value):
        text = f"{float(value):.17e}" if self.is_float else str(int(value))
        return self.constants.setdefault(f"{text} : {self.element}", f"%c{len(self.constants)}")

    # Statements.

    def own(self, statement):
        """Has it variables of its own?"""
        return self.is_parallel and is_parallel(statement)

    def variables(self, statements):
        found = set()
        for statement in statements:
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                found.add(statement.targets[0].id)
            elif isinstance(statement, (ast.For, ast.If)) and not self.own(statement):
                found |= self.variables(statement.body + statement.orelse)
        return found

    def scope(self, statements):
        """With room for the variables."""
        for name in sorted(self.variables(statements)):
            self.line(f"%of_{name} = memref.alloca() : memref<{self.element}>")
        self.block(statements)

    def block(self, statements):
        self.depth += 1
        for statement in statements:
            getattr(self, "do_" + type(statement).__name__)(statement)
        self.depth -= 1

    def do_For(self, loop):
        arguments = loop.iter.args
        first = self.index(arguments[0]) if len(arguments) > 1 else self.constant(0)
        last = self.index(arguments[len(arguments) > 1])
        step = ast.literal_eval(arguments[2]) if len(arguments) > 2 else 1
        if step == -1:
            count = self.value(f"arith.subi {first}, {last} : index")
        self.count += 1
        counter, outer = f"%{self.count}", self.indices.get(loop.target.id)
        one = self.constant(1)
        bounds = f"{self.constant(0)} to {count} step {one}" if step == -1 else f"{first} to {last} step {self.constant(step)}"
        if self.own(loop):
            self.line(f"scf.parallel ({counter}) = ({first}) to ({last}) step ({one}) {{")
        else:
            self.line(f"scf.for {counter} = {bounds} {{")
        self.indices[loop.target.id] = self.value(f"arith.subi {first}, {counter} : index") if step == -1 else counter
        (self.scope if self.own(loop) else self.block)(loop.body)
        self.line("}")
        self.indices[loop.target.id] = outer

    def do_If(self, choice):
        self.line(f"scf.if {self.condition(choice.test)} {{")
        self.block(choice.body)
        if choice.orelse:
            self.line("} else {")
            self.block(choice.orelse)
        self.line("}")

    def do_Assign(self, assignment):
        value = self.scalar(assignment.value)
        self.line(f"memref.store {value}, {self.place(assignment.targets[0])}")

    def do_AugAssign(self, assignment):
        value = self.scalar(ast.BinOp(assignment.target, assignment.op, assignment.value))
        self.line(f"memref.store {value}, {self.place(assignment.target)}")

    def place(self, target):
        if isinstance(target, ast.Name):
            return f"%of_{target.id}[] : memref<{self.element}>"
        indices = ", ".join([self.index(index) for index in indices_of(target)])
        return f"%{target.value.id}[{indices}] : {self.type(target.value.id)}"

    # Values.

    def index(self, node):
        if isinstance(node, ast.Name):
            return self.indices.get(node.id) or self.opened.get(node.id) or self.constant(self.sizes[node.id])
        if isinstance(node, (ast.Constant, ast.UnaryOp)):
            return self.constant(ast.literal_eval(node))
        left, right = self.index(node.left), self.index(node.right)
        return self.value(f"arith.{OPERATIONS[type(node.op)]}i {left}, {right} : index")

    def scalar(self, node):
        return getattr(self, "of_" + type(node).__name__)(node)

    def compute(self, operator, *operands):
        return self.value(f"arith.{operator}{'f' if self.is_float else 'i'} {', '.join(operands)} : {self.element}")

    def of_Name(self, node):
        if node.id in self.parameters:
            return f"%{node.id}"
        return self.value(f"memref.load {self.place(node)}")

    def of_Subscript(self, node):
        return self.value(f"memref.load {self.place(node)}")

    def of_Constant(self, node):
        return self.number(node.value)

    def of_UnaryOp(self, node):
        return self.compute("sub", self.number(0), self.scalar(node.operand))

    def of_BinOp(self, node):
        return self.compute(OPERATIONS[type(node.op)], self.scalar(node.left), self.scalar(node.right))

    def of_IfExp(self, node):
        return self.select(self.condition(node.test), self.scalar(node.body), self.scalar(node.orelse))

    def select(self, *operands):
        return self.value(f"arith.select {', '.join(operands)} : {self.element}")

    def of_Call(self, node):
        name = node.func.id
        if name == "number":
            whole = self.value(f"arith.index_cast {self.index(node.args[0])} : index to i32")
            return self.value(f"arith.sitofp {whole} : i32 to {self.element}") if self.is_float else whole
        operands = [self.scalar(argument) for argument in node.args]
        if name in EXTREMES:
            return self.select(self.compared(EXTREMES[name], *operands), *operands)
        return self.value(f"math.{name} {', '.join(operands)} : {self.element}")

    def compared(self, predicates, left, right):
        kind = "f" if self.is_float else "i"
        return self.value(f"arith.cmp{kind} {predicates[not self.is_float]}, {left}, {right} : {self.element}")

    def condition(self, node):
        if isinstance(node, ast.BoolOp):
            left, right = [self.condition(value) for value in node.values]
            return self.value(f"arith.{'andi' if isinstance(node.op, ast.And) else 'ori'} {left}, {right} : i1")
        left, right = node.left, node.comparators[0]
        predicates = COMPARISONS[type(node.ops[0])]
        if self.is_index(left) and self.is_index(right):
            return self.value(f"arith.cmpi {predicates[1]}, {self.index(left)}, {self.index(right)} : index")
        return self.compared(predicates, self.scalar(left), self.scalar(right))
