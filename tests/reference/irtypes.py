"""The types of the IR, as values that compare equal when the types are the same."""
import dataclasses

DYNAMIC = -(1 << 63)  # How MLIR writes an extent, offset or stride that an operand gives.


@dataclasses.dataclass(frozen=True)
class Int:
    width: int
    unsigned: bool = False  # `ui8`, which only TOSA and attributes have.


@dataclasses.dataclass(frozen=True)
class Index:
    width: int = 64


@dataclasses.dataclass(frozen=True)
class Float:
    name: str


@dataclasses.dataclass(frozen=True)
class Complex:
    part: Float


@dataclasses.dataclass(frozen=True)
class Shaped:
    """A tensor, vector or memref. An extent that is not known is DYNAMIC; no rank is shape None."""
    kind: str
    shape: tuple
    element: object
    layout: object = None  # Of a memref: (strides, offset), an affine map, or None for row-major.

    def static(self):
        return self.shape is not None and DYNAMIC not in self.shape


@dataclasses.dataclass(frozen=True)
class Function:
    inputs: tuple
    results: tuple


@dataclasses.dataclass(frozen=True)
class Opaque:
    """A type that is only carried: `none`, `!tosa.shape<2>`."""
    text: str


def element_of(kind):
    return kind.element if isinstance(kind, Shaped) else kind


def is_integer(kind):
    return isinstance(kind, (Int, Index))
