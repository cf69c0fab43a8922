"""An evaluator of MLIR modules in NumPy that shares nothing with the engine. README.md says how."""
from .machine import CallFailed, Machine, Unsupported
from .syntax import ParseError, parse_modules, print_generic

__all__ = ["CallFailed", "Machine", "ParseError", "Unsupported", "parse_modules", "print_generic"]
