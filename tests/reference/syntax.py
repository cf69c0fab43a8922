"""Reads the generic form of MLIR, which is the same for every operation.

The program `mlir-opt` turns the pretty form into the generic one; no pass runs. What is read is kept
as it is written: names of values are their text, attributes are Python values.

  integer, float   int or float when the type is one of that kind; else Typed(value, type)
  string, symbol   str, Symbol
  array, dict      list, dict
  dense<...>       Dense; its elements are decoded when an operation needs them
  affine_map<...>  affine.Map and affine.Set
  #dialect<...>    Other(text)
"""
import dataclasses
import re
import shutil
import subprocess

from . import affine
from .irtypes import DYNAMIC, Complex, Float, Function, Index, Int, Opaque, Shaped


class ParseError(Exception):
    """Upstream does not take the module, or its generic form is not what this file expects."""


@dataclasses.dataclass(frozen=True)
class Typed:
    value: object
    type: object


@dataclasses.dataclass(frozen=True)
class Symbol:
    name: str


@dataclasses.dataclass(frozen=True)
class Other:
    text: str

    def word(self):
        """`reduction` of `#linalg.iterator_type<reduction>`."""
        return self.text[self.text.index("<") + 1:-1] if "<" in self.text else self.text


@dataclasses.dataclass(frozen=True)
class Dense:
    """`body`: nested lists of numbers, one number for all elements, or the bytes of the elements."""
    body: object
    type: Shaped


@dataclasses.dataclass(frozen=True)
class Resource:
    name: str
    type: Shaped


@dataclasses.dataclass
class Block:
    label: str
    arguments: list  # (name, type)
    ops: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Op:
    name: str
    results: list
    operands: list
    successors: list  # (label, names)
    attributes: dict
    regions: list  # lists of blocks
    operand_types: list
    result_types: list
    handler: object = None  # Set by the machine.

    def segments(self):
        """The operands by operandSegmentSizes."""
        out, at = [], 0
        for size in self.attributes["operandSegmentSizes"]:
            out.append(self.operands[at:at + size])
            at += size
        return out


@dataclasses.dataclass
class Module:
    ops: list
    resources: dict = dataclasses.field(default_factory=dict)  # Bytes by name.

    def symbols(self):
        return {op.attributes["sym_name"]: op for op in self.ops if "sym_name" in op.attributes}


TOKEN = re.compile(r"""
    \s*(?:
      (?P<string>"(?:[^"\\]|\\.)*")
    | (?P<arrow>->)
    | (?P<value>%[A-Za-z0-9_$.\-]+(?:\#\d+)?)
    | (?P<block>\^[A-Za-z0-9_$.\-]+)
    | (?P<symbol>@(?:"(?:[^"\\]|\\.)*"|[A-Za-z_][A-Za-z0-9_$.]*))
    | (?P<number>-?(?:0x[0-9A-Fa-f]+|\d+\.\d*(?:[eE][-+]?\d+)?|\d+))
    | (?P<word>[A-Za-z_][A-Za-z0-9_$.]*)
    | (?P<sign>::|[!\#]?[<>()\[\]{},:=*+?/|!\#-])
    )""", re.X)
BRACKETS = {"<": ">", "(": ")", "[": "]", "{": "}"}
FLOATS = {"f16", "bf16", "f32", "f64", "tf32", "f80", "f128"}


class Reader:
    """A cursor over the text. Nothing is tokenised ahead: `4x?xf32` is read by its own rules."""

    def __init__(self, text):
        self.text = text
        self.at = 0
        self.types = {}

    def fail(self, what):
        line = self.text.count("\n", 0, self.at) + 1
        raise ParseError(f"line {line}: {what}: {self.text[self.at:self.at + 60]!r}")

    def match(self):
        found = TOKEN.match(self.text, self.at)
        if not found:
            self.fail("unknown character")
        return found

    def peek(self):
        found = TOKEN.match(self.text, self.at)
        return found.group(found.lastgroup) if found else ""

    def take(self, kind=None):
        found = self.match()
        if kind and found.lastgroup != kind:
            self.fail(f"expected {kind}")
        self.at = found.end()
        return found.group(found.lastgroup)

    def accept(self, text):
        blank = self.blank()
        if not self.text.startswith(text, blank):
            return False
        self.at = blank + len(text)
        return True

    def blank(self):
        at = self.at
        while at < len(self.text) and self.text[at].isspace():
            at += 1
        return at

    def expect(self, text):
        if not self.accept(text):
            self.fail(f"expected '{text}'")

    def looking_at(self, text):
        return self.text.startswith(text, self.blank())

    def listed(self, close, element):
        out = []
        if self.accept(close):
            return out
        while True:
            out.append(element())
            if self.accept(close):
                return out
            self.expect(",")

    def balanced(self):
        """The text of one bracketed group, brackets included; the cursor is before its `<` or `(`."""
        start = self.at = self.blank()
        depth = 0
        while True:
            found = re.compile(r'"(?:[^"\\]|\\.)*"|->|[<>]=|[<>()\[\]{}]').search(self.text, self.at)
            if not found:
                self.fail("no end of")
            self.at = found.end()
            if found.group() in "<([{":
                depth += 1
            elif found.group() in ">)]}":
                depth -= 1
            if depth == 0:
                return self.text[start:self.at]

    # --- Types ------------------------------------------------------------------------------------

    def type(self):
        start = self.at = self.blank()
        if self.accept("("):
            inputs = tuple(self.listed(")", self.type))
            self.expect("->")
            return Function(inputs, self.result_types())
        if self.accept("!"):
            self.take("word")
            if self.text[self.at:self.at + 1] == "<":
                self.balanced()
            return Opaque(self.text[start:self.at])
        word = self.take("word")
        if word == "index":
            return Index()
        if word == "none":
            return Opaque(word)
        found = re.fullmatch(r"([su]?)i(\d+)", word)
        if found:
            return Int(int(found.group(2)), found.group(1) == "u")
        if word in FLOATS or re.fullmatch(r"f[468]E\d+M\d+[A-Z0-9]*", word):
            return Float(word)
        if word == "complex":
            self.expect("<")
            part = self.type()
            self.expect(">")
            return Complex(part)
        if word in ("tensor", "vector", "memref"):
            return self.shaped(word)
        if word == "tuple":
            return Opaque("tuple" + self.balanced())
        return self.fail("unknown type")

    def shaped(self, kind):
        self.expect("<")
        shape = []
        if self.accept("*x"):
            shape = None
        else:
            extent = re.compile(r"\s*(\[?)(\?|\d+)(\]?)x")
            while found := extent.match(self.text, self.at):
                if found.group(1):
                    self.fail("scalable vectors are not read")
                shape.append(DYNAMIC if found.group(2) == "?" else int(found.group(2)))
                self.at = found.end()
            shape = tuple(shape)
        element = self.type()
        layout = None
        while self.accept(","):
            if self.looking_at("strided"):
                layout = self.strided()
            elif self.looking_at("affine_map"):
                layout = self.attribute()
            else:
                self.attribute()  # A memory space or encoding has no influence on values.
        self.expect(">")
        return Shaped(kind, shape, element, layout)

    def strided(self):
        self.expect("strided")
        self.expect("<")
        self.expect("[")

        def number():
            return DYNAMIC if self.accept("?") else int(self.take("number"))

        strides = tuple(self.listed("]", number))
        offset = 0
        if self.accept(","):
            self.expect("offset")
            self.expect(":")
            offset = number()
        self.expect(">")
        return (strides, offset)

    def result_types(self):
        if self.accept("("):
            return tuple(self.listed(")", self.type))
        return (self.type(),)

    # --- Attributes -------------------------------------------------------------------------------

    def attribute(self):
        self.at = self.blank()
        found = self.match()
        kind, text = found.lastgroup, found.group(found.lastgroup)
        if kind == "string":
            self.take()
            value = unescape(text)
            if self.accept(":"):
                self.type()
            return value
        if kind == "symbol":
            return self.symbol()
        if kind == "number":
            return self.number()
        if text == "[":
            self.take()
            return self.listed("]", self.attribute)
        if text == "{":
            return self.dictionary()
        if text.startswith("#"):
            start = self.at
            self.expect("#")
            self.take("word")
            if self.text[self.at:self.at + 1] == "<":
                self.balanced()
            return Other(self.text[start:self.at])
        if text in ("true", "false"):
            self.take()
            return text == "true"
        if text == "unit":
            self.take()
            return True
        if text == "array":
            return self.array()
        if text == "dense":
            return self.dense()
        if text == "dense_resource":
            self.take()
            self.expect("<")
            name = self.take()
            self.expect(">")
            self.expect(":")
            return Resource(unescape(name) if name.startswith('"') else name, self.type())
        if text == "affine_map":
            self.take()
            return affine.parse_map(self.balanced()[1:-1])
        if text == "affine_set":
            self.take()
            return affine.parse_set(self.balanced()[1:-1])
        if text in ("loc", "distinct", "sparse", "opaque"):
            self.fail("an attribute that is not read")
        if text == "strided":
            return self.strided()
        return self.type()

    def symbol(self):
        name = self.take("symbol")[1:]
        while self.accept("::"):
            name += "::" + self.take("symbol")[1:]
        return Symbol(unescape(name) if name.startswith('"') else name)

    def number(self):
        text = self.take("number")
        kind = self.type() if self.accept(":") else Int(64)
        return Typed(number(text, kind), kind)

    def dictionary(self):
        self.expect("{")

        def entry():
            name = self.take()
            if name.startswith('"'):
                name = unescape(name)
            return name, self.attribute() if self.accept("=") else True

        return dict(self.listed("}", entry))

    def array(self):
        self.expect("array")
        self.expect("<")
        kind = self.type()
        if not self.accept(":"):
            self.expect(">")
            return []

        def element():
            if self.looking_at("true") or self.looking_at("false"):
                return self.take() == "true"
            return number(self.take("number"), kind)

        return self.listed(">", element)

    def dense(self):
        self.expect("dense")
        self.expect("<")
        body = [] if self.looking_at(">") else self.elements()
        self.expect(">")
        self.expect(":")
        return Dense(body, self.type())

    def elements(self):
        """Numbers stay text until the type is known."""
        if self.accept("["):
            return self.listed("]", self.elements)
        if self.accept("("):
            return tuple(self.listed(")", self.elements))
        text = self.take()
        if text.startswith('"'):
            return bytes.fromhex(text[3:-1])
        return text

    # --- Operations -------------------------------------------------------------------------------

    def op(self):
        results = []
        if self.peek().startswith("%"):
            while True:
                name = self.take("value")
                count = int(self.take("number")) if self.accept(":") else 1
                results += [name] if count == 1 else [f"{name}#{i}" for i in range(count)]
                if not self.accept(","):
                    break
            self.expect("=")
        name = unescape(self.take("string"))
        self.expect("(")
        operands = self.listed(")", lambda: self.take("value"))
        successors = []
        if self.accept("["):
            successors = self.listed("]", lambda: self.take("block"))
        attributes = {}
        if self.accept("<"):
            attributes.update(self.dictionary())
            self.expect(">")
        regions = []
        if self.accept("("):
            regions = self.listed(")", self.region)
        if self.looking_at("{"):
            attributes.update(self.dictionary())
        self.expect(":")
        self.expect("(")
        operand_types = self.listed(")", self.type)
        self.expect("->")
        op = Op(name, results, operands, successors, plain(attributes), regions, operand_types,
                list(self.result_types()))
        if len(results) != len(op.result_types):
            self.fail("results and types differ in number")
        if self.looking_at("loc("):
            self.take()
            self.balanced()
        return op

    def region(self):
        self.expect("{")
        blocks = []
        while not self.accept("}"):
            if self.looking_at("^"):
                label = self.take("block")
                arguments = []
                if self.accept("("):
                    def argument():
                        name = self.take("value")
                        self.expect(":")
                        return name, self.type()
                    arguments = self.listed(")", argument)
                self.expect(":")
                if self.looking_at("//"):  # The predecessors.
                    self.at = self.text.index("\n", self.at)
                blocks.append(Block(label, arguments))
            else:
                if not blocks:
                    blocks.append(Block("^entry", []))
                blocks[-1].ops.append(self.op())
        return blocks

    def module(self):
        op = self.op()
        if op.name != "builtin.module":
            self.fail("expected a module")
        ops = [op for block in op.regions[0] for op in block.ops]
        if self.blank() != len(self.text):
            self.fail("text after the module")
        return Module(ops)


def unescape(text):
    raw = re.sub(r"\\([0-9A-Fa-f]{2}|.)",
                 lambda m: chr(int(m.group(1), 16)) if len(m.group(1)) == 2 else
                 {"n": "\n", "t": "\t"}.get(m.group(1), m.group(1)), text[1:-1])
    return raw


def number(text, kind):
    """A literal. Hexadecimal means the bits where the type is a float."""
    if isinstance(kind, (Int, Index)):
        return {"true": 1, "false": 0}[text] if text in ("true", "false") else int(text, 0)
    if "x" in text:
        from .numerics import float_from_bits
        return float(float_from_bits(int(text, 16), kind))
    return float(text)


def plain(value):
    """Integers of attributes without their types: no operation needs the width of `dim = 1 : i64`.
    `value`, the attribute of a constant, keeps it."""
    if isinstance(value, dict):
        return {name: entry if name == "value" else plain(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [plain(entry) for entry in value]
    return value.value if isinstance(value, Typed) else value


def print_generic(texts, tool=None):
    """The generic forms of several modules, by one run of upstream's printer."""
    tool = tool or next((name for name in ("mlir-opt-22", "mlir-opt") if shutil.which(name)), None)
    if tool is None:
        raise ParseError("there is no mlir-opt")
    texts = list(texts)
    if not texts:
        return []
    command = [tool, "--mlir-print-op-generic", "--mlir-print-local-scope",
               "--allow-unregistered-dialect", "--split-input-file", "--verify-each=0", "-"]
    done = subprocess.run(command, input="\n// -----\n".join(texts), capture_output=True, text=True,
                          check=False)
    parts = re.split(r"^// -----$", done.stdout, flags=re.M)
    if done.returncode != 0 or len(parts) != len(texts):
        raise ParseError((done.stderr.strip().splitlines() or ["mlir-opt gave no reason"])[0])
    return parts


def resources_of(text):
    """The blobs at the end of a source: the printer leaves them out in local scope."""
    found = re.search(r"\{-#(.*?)#-\}", text, re.S)
    blobs = re.findall(r'([\w.]+|"[^"]*")\s*:\s*"0x([0-9A-Fa-f]*)"', found.group(1)) if found else []
    return {name.strip('"'): bytes.fromhex(blob) for name, blob in blobs}


def parse_modules(texts, tool=None):
    """The modules of several texts in MLIR's pretty or generic form."""
    texts = list(texts)
    modules = [Reader(text).module() for text in print_generic(texts, tool)]
    for module, text in zip(modules, texts):
        module.resources = resources_of(text)
    return modules
