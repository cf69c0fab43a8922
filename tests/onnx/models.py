"""Models in the making, from the encoding of protobuf: for tests that need small ones."""

from protobuf import field

FLOAT, INT32, INT64, BOOL = 1, 6, 7, 9


def value(name, dims, kind=FLOAT):
    shape = b"".join(field(1, field(2, d.encode()) if isinstance(d, str) else field(1, d)) for d in dims)
    return field(1, name.encode()) + field(2, field(1, field(1, kind) + field(2, shape)))


def attribute(name, **given):
    kinds = {"f": (2, 1), "i": (3, 2), "s": (4, 3), "t": (5, 4), "g": (6, 5), "floats": (7, 6), "ints": (8, 7), "strings": (9, 8)}
    (kind, content), = given.items()
    number, code = kinds[kind]
    values = content if isinstance(content, list) else [content]
    return field(1, name.encode()) + b"".join(field(number, v) for v in values) + field(20, code)


def node(operator, inputs, outputs, *attributes, name="n", domain=""):
    return (b"".join(field(1, i.encode()) for i in inputs) + b"".join(field(2, o.encode()) for o in outputs)
            + field(3, name.encode()) + field(4, operator.encode()) + b"".join(field(5, a) for a in attributes)
            + (field(7, domain.encode()) if domain else b""))


def tensor(name, dims, kind=FLOAT, raw=None, external=None):
    out = b"".join(field(1, d) for d in dims) + field(2, kind) + field(8, name.encode())
    if raw is not None:
        out += field(9, raw)
    for key, text in (external or {}).items():
        out += field(13, field(1, key.encode()) + field(2, text.encode()))
    return out + (field(14, 1) if external else b"")


def graph(nodes, inputs=(), outputs=(), initialisers=()):
    return (b"".join(field(1, n) for n in nodes) + field(2, b"g") + b"".join(field(5, t) for t in initialisers)
            + b"".join(field(11, v) for v in inputs) + b"".join(field(12, v) for v in outputs))


def model(content, opset=13, domains=()):
    opsets = field(8, field(2, opset)) + b"".join(field(8, field(1, d.encode()) + field(2, 1)) for d in domains)
    return field(1, 8) + field(7, content) + opsets


X, Y = value("x", [2, 3]), value("y", [2, 3])


def single(operator, *attributes, inputs=("x",), given=(X,), opset=13, domain="", domains=(), initialisers=()):
    return model(graph([node(operator, inputs, ["y"], *attributes, domain=domain)], given, [Y], initialisers), opset,
                 domains)
