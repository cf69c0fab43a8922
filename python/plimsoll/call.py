"""Calls that run by themselves: started now, waited for later, by threads or by asyncio."""

from __future__ import annotations

import threading
import time
from typing import Any, Callable

from . import _native
from ._native import Function
from .errors import CancelledError, DeadlineExceededError, Error, InvalidArgumentError
from .function import in_order
from .parameters import Stop

_priorities = {"low": -1, "normal": 0, "high": 1}
_slice = 0.05  # seconds after which a thread that waits looks whether it was interrupted


class Call:
    """A call that runs: `function.async_(...)`.

    Awaited, it gives the results; cancelling the task that awaits it stops the call. Threads use
    `result`. Arguments and arrays for results are kept until it has ended; do not write them in
    between. Dropping a Call neither stops it nor waits.

    >>> import asyncio, numpy as np, plimsoll as pl
    >>> f = pl.loads('''
    ... func.func @f(%x: i32) -> i32 { %r = arith.addi %x, %x : i32 return %r : i32 }''').f
    >>> f.async_(3).result()
    6
    >>> async def both():
    ...     return await asyncio.gather(f.async_(1), f.async_(2))
    >>> asyncio.run(both())
    [2, 4]
    """

    def __init__(self, function: Function, handle, out):
        self._function, self._handle, self._out = function, handle, out
        self._results: tuple | None = None
        self._error: Error | None = None
        self._lock = threading.RLock()

    def done(self) -> bool:
        """Has it ended, well or not?"""
        return _native.event_is_done(self._handle)

    def cancel(self) -> None:
        """Ends it with `CancelledError`: at once if it has not begun, otherwise within
        milliseconds; host functions run to their end. Of no effect on one that has ended."""
        _native.event_cancel(self._handle)

    def wait(self, timeout: float | None = None) -> bool:
        """Blocks until it has ended, at most for `timeout` seconds. Has it?

        Signals are handled meanwhile.
        """
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            left = _slice if end is None else max(0.0, min(_slice, end - time.monotonic()))
            if _native.event_wait(self._handle, int(left * 1e9)):
                return True
            if end is not None and time.monotonic() >= end:
                return False

    def result(self, timeout: float | None = None) -> Any:
        """What the function gives, or raises. `DeadlineExceededError` if the call, which goes on,
        has not ended after `timeout` seconds."""
        if not self.wait(timeout):
            raise self._late(timeout)
        self._settle()
        try:
            if self._error is not None:
                raise self._error
            return self._results[0]
        finally:
            self = None  # or the error would keep it, by its traceback

    def exception(self, timeout: float | None = None) -> Error | None:
        """The error of a call that failed, None of one that ended well; waits as `result` does."""
        if not self.wait(timeout):
            raise self._late(timeout)
        self._settle()
        return self._error

    def _settle(self) -> None:
        """What it gave, or its error, whose cause is told but once."""
        with self._lock:
            if self._results is None and self._error is None:
                try:
                    self._results = (
                        _native.event_results(self._function, self._handle, self._out),)
                except Error as error:
                    self._error = error.with_traceback(None)

    def add_done_callback(self, callback: Callable[[Call], Any]) -> None:
        """Calls `callback(call)` when it has ended: on the thread that ended it, or here and now.
        It must not wait for calls."""
        _native.event_then(self._handle, lambda: callback(self))

    def __await__(self):
        yield from ended(self._handle).__await__()
        return self.result()

    def _late(self, timeout) -> Error:
        return DeadlineExceededError(f"'{self._function.__name__}' has not ended after {timeout} s")

    def __repr__(self):
        state = "ended" if self.done() else "running"
        return f"<plimsoll.Call of {self._function.__name__}, {state}>"


async def ended(event) -> None:
    """Waits for the end of a call or a load, which is cancelled with the task that waits."""
    import asyncio  # which who awaits has; it takes longer than all the rest of the package
    if _native.event_is_done(event):
        return
    loop = asyncio.get_running_loop()
    future = loop.create_future()

    def end():
        if not future.done():
            future.set_result(None)

    def wake():
        try:
            loop.call_soon_threadsafe(end)
        except RuntimeError:
            pass  # the loop was closed; nobody waits

    _native.event_then(event, wake)
    try:
        await future
    except asyncio.CancelledError:
        _native.event_cancel(event)
        raise


def _async(self, *arguments, out=None, state=None, pools=None, stop=None, priority: str = "normal",
           after: tuple[Call, ...] = (), **named) -> Call:
    """Starts a call and returns at once: a `Call`, to be awaited or waited for. `named`: arguments by their names.

    `priority`: "low", "normal" or "high": which call a free thread begins first. `after`: calls
    that must have ended before; if one fails this one does not run. Results get from one to the
    other in arrays that are
    `out` of the first and arguments of the second.
    """
    if priority not in _priorities:
        raise InvalidArgumentError(f"no priority {priority!r}; there are {', '.join(_priorities)}")
    if isinstance(out, list):
        out = tuple(out)  # it may change meanwhile
    if named:
        arguments = tuple(in_order(self, arguments, named))
    handle = self._start(arguments, out, state, pools, stop, _priorities[priority],
                         tuple(call._handle for call in after))
    return Call(self, handle, out)


def check_timeout(timeout) -> None:
    if not isinstance(timeout, (int, float)) or not timeout >= 0:
        raise InvalidArgumentError(f"timeout is {timeout!r}; it must be seconds, 0 or more")


def nanoseconds(timeout: float) -> int:
    """For the library, to which 0 is none, and which no clock reaches what it cannot hold."""
    return min(max(1, int(min(timeout, 1e10) * 1e9)), (1 << 63) - 1)


def within(what: str, stop: Stop | None, timeout: float | None, run: Callable[[Stop], Any]):
    """`run(stop)`, which is stopped after that many seconds."""
    if timeout is None:
        return run(stop)
    if stop is not None:
        raise InvalidArgumentError("timeout= and stop= are both given: request the stop from a "
                                   "timer, threading.Timer(seconds, stop)")
    check_timeout(timeout)
    stop = Stop()
    timer = threading.Timer(min(timeout, threading.TIMEOUT_MAX), stop)
    timer.daemon = True
    if timeout > 0:
        timer.start()
    else:
        stop()
    try:
        return run(stop)
    except CancelledError:
        if not stop.requested:
            raise  # by a host function
        raise DeadlineExceededError(
            f"{what} has not ended after {timeout} s and was stopped") from None
    finally:
        timer.cancel()


def _within(self, arguments, out, state, pools, stop, timeout):
    """A call with a time-out."""
    return within(f"'{self.__name__}'", stop, timeout,
                  lambda stop: self(*arguments, out=out, state=state, pools=pools, stop=stop))


Function.async_ = _async
Function._within = _within
