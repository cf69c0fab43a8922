"""Programs as graphs, so that they can be written as MLIR, changed, and written again.

A program has arguments, nodes in order, and results. A node has inputs and outputs, which are values,
and parameters. `infer` computes the types of its outputs from those of its inputs, and raises Invalid
where they do not fit any more; `emit` writes it. So extents can shrink and nodes can be cut out without
the generator.

How large the numbers may be, and how far from the wanted ones, is part of a value. In a program that
must be exact all floats are small integers: no order of evaluation and no fused operation changes a bit.
Where `whole` is false a value has other digits, which each step rounds; the generator then lets nothing
happen to it in which the engine has freedom.
"""
import dataclasses

from .values import Invalid, Node, Writer

# --- Nodes with blocks ----------------------------------------------------------------------------


@dataclasses.dataclass(eq=False)
class Block:
    arguments: list
    nodes: list
    results: list

    def infer(self):
        for node in self.nodes:
            node.infer()

    def emit(self, writer):
        writer.indent += 1
        for node in self.nodes:
            node.emit(writer)

    def close(self, writer, terminator):
        names = ", ".join(value.name for value in self.results)
        types = ", ".join(value.type() for value in self.results)
        writer.line(f"{terminator} {names} : {types}")
        writer.indent -= 1


class Carried(Node):
    """What loops, branches and calls have in common: a block from values to values of the same types."""

    def infer(self):
        for block in self.blocks:
            for argument, value in zip(block.arguments, self.inputs):
                argument.shape, argument.open = value.shape, value.open
            block.infer()
            for result, value in zip(block.results, self.inputs):
                if not result.same_type(value):
                    raise Invalid
        for k, value in enumerate(self.inputs):
            self.set(k, value.shape, value.open)

    def name_results(self, name):
        names = [name] if len(self.outputs) == 1 else [f"{name}#{i}" for i in range(len(self.outputs))]
        for output, name in zip(self.outputs, names):
            output.name = name

    def head(self, name):
        return f"{name}{f':{len(self.outputs)}' if len(self.outputs) > 1 else ''}"

    def types(self):
        return ", ".join(value.type() for value in self.outputs)


class For(Carried):
    def emit(self, writer):
        low, high, step = (writer.index(n) for n in (0, self.trips, 1))
        (block,) = self.blocks
        name, counter = writer.name(), writer.name()
        for argument in block.arguments:
            argument.name = writer.name()
        carried = ", ".join(f"{argument.name} = {value.name}"
                            for argument, value in zip(block.arguments, self.inputs))
        writer.line(f"{self.head(name)} = scf.for {counter} = {low} to {high} step {step} "
                    f"iter_args({carried}) -> ({self.types()}) {{")
        block.emit(writer)
        block.close(writer, "scf.yield")
        writer.line("}")
        self.name_results(name)


class While(Carried):
    """Counts down from `trips`. The first block runs before the condition, the second after it."""

    def emit(self, writer):
        start, zero, one = (writer.index(n) for n in (self.trips, 0, 1))
        before, after = self.blocks
        name = writer.name()
        counters = [writer.name(), writer.name()]
        for block in self.blocks:
            for argument in block.arguments:
                argument.name = writer.name()
        kinds = ", ".join(["index", *[value.type() for value in self.inputs]])
        carried = ", ".join([f"{counters[0]} = {start}",
                             *[f"{argument.name} = {value.name}"
                               for argument, value in zip(before.arguments, self.inputs)]])
        writer.line(f"{name}:{len(self.inputs) + 1} = scf.while ({carried}) : ({kinds}) -> ({kinds}) {{")
        before.emit(writer)
        more = writer.op(f"arith.cmpi ugt, {counters[0]}, {zero} : index")
        names = ", ".join([counters[0], *[value.name for value in before.results]])
        writer.line(f"scf.condition({more}) {names} : {kinds}")
        writer.indent -= 1
        writer.line("} do {")
        inside = ", ".join([f"{counters[1]}: index",
                            *[f"{argument.name}: {argument.type()}" for argument in after.arguments]])
        writer.line(f"^bb0({inside}):")
        after.emit(writer)
        next_ = writer.op(f"arith.subi {counters[1]}, {one} : index")
        names = ", ".join([next_, *[value.name for value in after.results]])
        writer.line(f"scf.yield {names} : {kinds}")
        writer.indent -= 1
        writer.line("}")
        for i, output in enumerate(self.outputs):
            output.name = f"{name}#{i + 1}"


class If(Carried):
    """By a comparison of two extents or numbers that the generator has chosen."""

    def emit(self, writer):
        left = writer.extent(*self.extent) if self.extent else writer.index(self.numbers[0])
        condition = writer.op(f"arith.cmpi ult, {left}, {writer.index(self.numbers[1])} : index")
        name = writer.name()
        writer.line(f"{self.head(name)} = scf.if {condition} -> ({self.types()}) {{")
        for i, block in enumerate(self.blocks):
            for argument, value in zip(block.arguments, self.inputs):
                argument.name = value.name
            block.emit(writer)
            block.close(writer, "scf.yield")
            writer.line("} else {" if i == 0 else "}")
        self.name_results(name)


class Call(Carried):
    """Of a private function, which Program.text writes."""

    def emit(self, writer):
        name = writer.name()
        names = ", ".join(value.name for value in self.inputs)
        types = ", ".join(value.type() for value in self.inputs)
        writer.line(f"{self.head(name)} = func.call @part{self.number}({names}) : ({types}) -> "
                    f"({self.types()})")
        self.name_results(name)

    def function(self):
        writer = Writer()
        (block,) = self.blocks
        for argument in block.arguments:
            argument.name = writer.name()
        arguments = ", ".join(f"{a.name}: {a.type()}" for a in block.arguments)
        writer.indent = 0
        block.emit(writer)
        block.close(writer, "return")
        return "\n".join([f"func.func private @part{self.number}({arguments}) -> ({self.types()}) {{",
                          *writer.lines, "}", ""])


def keep_where(kept, *lists):
    """Leaves in each list what is at these places. Was anything else there?"""
    for values in lists:
        values[:] = [value for value, keep in zip(values, kept) if keep]
    return not all(kept)


class Program:
    def __init__(self, arguments, nodes, results, exact):
        self.arguments, self.nodes, self.results, self.exact = arguments, nodes, results, exact

    def infer(self):
        for node in self.nodes:
            node.infer()

    def text(self):
        writer = Writer()
        for argument in self.arguments:
            argument.name = writer.name()
        for node in self.nodes:
            node.emit(writer)
        names = ", ".join(value.name for value in self.results)
        types = ", ".join(value.type() for value in self.results)
        writer.line(f"return {names} : {types}")
        arguments = ", ".join(f"{a.name}: {a.type()}" for a in self.arguments)
        main = "\n".join([f"func.func @main({arguments}) -> ({types}) {{", *writer.lines, "}", ""])
        return "".join(node.function() for node in self.all_nodes() if isinstance(node, Call)) + main

    def all_nodes(self):
        def walk(nodes):
            for node in nodes:
                yield node
                for block in node.blocks:
                    yield from walk(block.nodes)
        return list(walk(self.nodes))

    def lists(self):
        """All lists of nodes with the values that leave them."""
        yield self.nodes, self.results
        for node in self.all_nodes():
            for block in node.blocks:
                yield block.nodes, block.results

    def clean(self, branches=False):
        """Without nodes and arguments that nothing uses; and without such results and inputs of branches."""
        while True:
            used = {id(value) for value in self.results}
            for node in self.all_nodes():
                used |= {id(value) for value in node.inputs}
                used |= {id(value) for block in node.blocks for value in block.results}
                if getattr(node, "extent", None):
                    used.add(id(node.extent[0]))
            changed = False
            for node in self.all_nodes() if branches else ():
                if isinstance(node, If):
                    changed |= keep_where([id(value) in used for value in node.outputs],
                                          node.outputs, *(block.results for block in node.blocks))
                    taken = [any(id(value) in used for value in values)
                             for values in zip(*(block.arguments for block in node.blocks))]
                    changed |= keep_where(taken, node.inputs, *(block.arguments for block in node.blocks))
            for nodes, _ in self.lists():
                kept = [node for node in nodes if any(id(value) in used for value in node.outputs)]
                changed |= len(kept) != len(nodes)
                nodes[:] = kept
            kept = [value for value in self.arguments if id(value) in used]
            changed |= len(kept) != len(self.arguments)
            self.arguments[:] = kept
            if not changed:
                return self
