"""What can go wrong: one exception for each status code of the library.

Every error is a `plimsoll.Error` and, where Python has a word for it, that too: `except ValueError`
finds an argument that can never be right. `str(error)` is one sentence; what speaks of a source
begins with its place. Files that Python cannot open for `load` are its own OSError.
"""

from __future__ import annotations

from dataclasses import dataclass

from . import _native


@dataclass(frozen=True)
class Diagnostic:
    """What the compiler says of one place of a source. Lines and columns from 1 on, columns in
    bytes; `end_line` and `end_column` are behind what it speaks of. None: not known."""

    severity: str  # "error", "warning", "remark", or "note", which belongs to what stands before it
    message: str
    file: str | None = None
    line: int | None = None
    column: int | None = None
    end_line: int | None = None
    end_column: int | None = None


class Error(Exception):
    """A failure that the library reported.

    `code` is the name of the status code; `file`, `line` and `column` (from 1 on) are the place
    that the message speaks of, None where it speaks of none. `diagnostics` is all that was said of
    a source that does not compile, the message being that of the first error.

    >>> import plimsoll as pl
    >>> try:
    ...     pl.loads("func.func @f() { oops }", name="f.mlir")
    ... except pl.Error as error:
    ...     print(error.code, error.file, error.line, error.column)
    invalid argument f.mlir 1 18
    >>> try:
    ...     pl.loads("func.func @f() { return } func.func @f() { return }", name="f.mlir")
    ... except pl.Error as error:
    ...     for said in error.diagnostics:
    ...         print(said.severity, said.line, said.column, said.message)
    error 1 27 redefinition of symbol named 'f'
    note 1 1 see existing symbol definition here
    """

    code: str = "unknown"
    _number: int = 2
    file: str | None = None
    line: int | None = None
    column: int | None = None
    diagnostics: tuple[Diagnostic, ...] = ()

    def __init__(self, message: str = "", file: str | None = None, line: int | None = None,
                 column: int | None = None, diagnostics: tuple[Diagnostic, ...] = ()):
        super().__init__(message)
        self.file, self.line, self.column = file, line, column
        self.diagnostics = diagnostics

    def __reduce__(self):
        return type(self), (*self.args, self.file, self.line, self.column, self.diagnostics)


class CancelledError(Error):
    """The call was stopped before its end."""
    code, _number = "cancelled", 1


class UnknownError(Error):
    """Something without a code: mostly a host function, whose exception is the `__cause__`."""


class InvalidArgumentError(Error, ValueError):
    """Something was given that can never be right."""
    code, _number = "invalid argument", 3


class ArgumentTypeError(InvalidArgumentError, TypeError):
    """An argument of the wrong kind, element type or number."""


class DeadlineExceededError(Error, TimeoutError):
    """The time was up."""
    code, _number = "deadline exceeded", 4


class NotFoundError(Error, LookupError):
    """No such function, variable, target or file of parameters; where names are near, the message
    says so."""
    code, _number = "not found", 5


class AlreadyExistsError(Error, ValueError):
    """The name is taken."""
    code, _number = "already exists", 6


class PermissionDeniedError(Error, PermissionError):
    """The system refuses."""
    code, _number = "permission denied", 7


class ResourceExhaustedError(Error, MemoryError):
    """No memory, no stack, or lent memory that is too small."""
    code, _number = "resource exhausted", 8


class FailedPreconditionError(Error, RuntimeError):
    """Right in itself, but not now: a parameter is not bound, a call has not ended."""
    code, _number = "failed precondition", 9


class OutOfRangeError(Error, IndexError):
    """An access out of range, which engines with `checked=True` look for."""
    code, _number = "out of range", 11


class UnimplementedError(Error, NotImplementedError):
    """The library cannot do it."""
    code, _number = "unimplemented", 12


class InternalError(Error, RuntimeError):
    """A fault of the library: please report it."""
    code, _number = "internal", 13


class UnavailableError(Error, RuntimeError):
    """The system refuses for now: no executable memory."""
    code, _number = "unavailable", 14


class DataLossError(Error, ValueError):
    """A file is damaged."""
    code, _number = "data loss", 15


_classes = {kind._number: kind for kind in (
    CancelledError, UnknownError, InvalidArgumentError, DeadlineExceededError, NotFoundError,
    AlreadyExistsError, PermissionDeniedError, ResourceExhaustedError, FailedPreconditionError,
    OutOfRangeError, UnimplementedError, InternalError, UnavailableError, DataLossError)}


_severities = ("error", "warning", "remark", "note")


def _make(number, message, file, line, column, is_type_error, diagnostics):
    kind = ArgumentTypeError if is_type_error else _classes.get(number, Error)
    said = tuple(Diagnostic(_severities[severity], text, name, *(place or None for place in places))
                 for severity, text, name, *places in diagnostics)
    return kind(message, file, line or None, column or None, said)


_native.set_error_factory(_make)
