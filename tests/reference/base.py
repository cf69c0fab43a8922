"""What the files of the dialects share: the table of operations, and the ways to fail."""

HANDLERS = {}


class CallFailed(Exception):
    """The program is wrong for these arguments: a call of it must fail."""


class Unsupported(Exception):
    """The evaluator does not know an operation, or a form of it."""


class NeedsScalars(Exception):
    """An operation that decides or writes was given a value for each point of an iteration space.
    The linalg operation around it starts again, one point at a time."""


def handles(*names):
    """Registers `function(run, op, args, env)`. It returns the value of the only result, or a list
    of values where an operation has none or several."""
    def register(function):
        for name in names:
            HANDLERS[name] = function
        return function
    return register


def require(condition, what):
    if not condition:
        raise CallFailed(what)


def integer(value):
    """The one number in a value that decides what runs."""
    if getattr(value, "size", 1) != 1:
        raise NeedsScalars
    return int(value.reshape(-1)[0]) if getattr(value, "ndim", 0) else int(value)
