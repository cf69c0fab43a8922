"""Affine maps and sets: expressions over dimensions and symbols, by integers or arrays of them."""
import dataclasses
import re

TOKEN = re.compile(r"\s*(floordiv|ceildiv|mod|[A-Za-z_]\w*|\d+|->|[()\[\],:+*-]|[<>=]=)")


@dataclasses.dataclass(frozen=True)
class Map:
    dims: int
    symbols: int
    results: tuple  # Expressions: an int, ("d", i), ("s", i) or (operator, left, right).

    def __call__(self, dims, symbols=()):
        return [evaluate(result, dims, symbols) for result in self.results]

    def call(self, operands):
        """With the operands in one list, dimensions first, as operations have them."""
        return self(operands[:self.dims], operands[self.dims:])


@dataclasses.dataclass(frozen=True)
class Set:
    dims: int
    symbols: int
    constraints: tuple  # (expression, whether it must be zero; else it must not be negative)

    def holds(self, operands):
        dims, symbols = operands[:self.dims], operands[self.dims:]
        for expression, is_equality in self.constraints:
            value = evaluate(expression, dims, symbols)
            if value != 0 if is_equality else value < 0:
                return False
        return True


def evaluate(expression, dims, symbols=()):
    if isinstance(expression, int):
        return expression
    if expression[0] == "d":
        return dims[expression[1]]
    if expression[0] == "s":
        return symbols[expression[1]]
    operator, left, right = expression
    left, right = evaluate(left, dims, symbols), evaluate(right, dims, symbols)
    if operator == "+":
        return left + right
    if operator == "*":
        return left * right
    if operator == "floordiv":
        return left // right
    if operator == "ceildiv":
        return -(-left // right)
    return left % right


def identity(rank):
    return Map(rank, 0, tuple(("d", i) for i in range(rank)))


def select(rank, positions):
    return Map(rank, 0, tuple(("d", i) for i in positions))


class Parser:
    def __init__(self, text):
        self.tokens = TOKEN.findall(text)
        self.at = 0
        self.names = {}

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def accept(self, token):
        if self.peek() != token:
            return False
        self.at += 1
        return True

    def expect(self, token):
        if not self.accept(token):
            raise ValueError(f"expected '{token}', not '{self.peek()}', in an affine expression")

    def header(self):
        counts = []
        for kind, open_, close in (("d", "(", ")"), ("s", "[", "]")):
            count = 0
            if self.accept(open_):
                while not self.accept(close):
                    self.names[self.peek()] = (kind, count)
                    self.at += 1
                    count += 1
                    self.accept(",")
            counts.append(count)
        return counts

    def sum(self):
        left = self.product()
        while self.peek() in ("+", "-"):
            if self.accept("+"):
                left = ("+", left, self.product())
            else:
                self.at += 1
                left = ("+", left, ("*", -1, self.product()))
        return left

    def product(self):
        left = self.factor()
        while self.peek() in ("*", "floordiv", "ceildiv", "mod"):
            operator = self.peek()
            self.at += 1
            left = (operator, left, self.factor())
        return left

    def factor(self):
        if self.accept("-"):
            return ("*", -1, self.factor())
        if self.accept("("):
            inner = self.sum()
            self.expect(")")
            return inner
        token = self.peek()
        self.at += 1
        return int(token) if token.isdigit() else self.names[token]


def parse_map(text):
    parser = Parser(text)
    dims, symbols = parser.header()
    parser.expect("->")
    parser.expect("(")
    results = []
    while not parser.accept(")"):
        results.append(parser.sum())
        parser.accept(",")
    return Map(dims, symbols, tuple(results))


def parse_set(text):
    parser = Parser(text)
    dims, symbols = parser.header()
    parser.expect(":")
    parser.expect("(")
    constraints = []
    while not parser.accept(")"):
        left = parser.sum()
        relation = parser.peek()
        parser.at += 1
        right = parser.sum()
        if relation == "<=":
            left, right = right, left
        constraints.append((left if right == 0 else ("+", left, ("*", -1, right)), relation == "=="))
        parser.accept(",")
    return Set(dims, symbols, tuple(constraints))
