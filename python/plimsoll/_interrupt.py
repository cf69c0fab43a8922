"""Ctrl-C while the main thread is in the library.

Python's own handler notes the signal and raises KeyboardInterrupt when the main thread runs Python again. So
that it soon does, a thread here reads what `signal.set_wakeup_fd` tells and ends the call or the load. It is
started by the first of them. Where the program has a handler of its own for Ctrl-C, or has a wakeup descriptor
itself, calls are left alone.
"""

from __future__ import annotations

import os
import signal
import threading

from . import _native


def _watch(descriptor: int) -> None:
    while signals := os.read(descriptor, 4096):
        if signal.SIGINT in signals and \
                signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            _native.interrupt()


def _begin() -> bool:
    """On the main thread: is there somebody now who waits?"""
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return False
    read, write = os.pipe()
    os.set_blocking(write, False)
    before = signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    if before != -1:
        signal.set_wakeup_fd(before)
        os.close(read)
        os.close(write)
        return False
    threading.Thread(target=_watch, args=(read,), name="plimsoll-interrupt", daemon=True).start()
    global _descriptor
    _descriptor = write
    return True


def _after_fork() -> None:
    global _descriptor
    if _descriptor is not None:
        # It is the parent's too, who would hear of our signals.
        if (other := signal.set_wakeup_fd(-1)) not in (-1, _descriptor):
            signal.set_wakeup_fd(other)
        os.close(_descriptor)
        _descriptor = None
    _native.interrupt_begin(_begin, threading.get_ident())


_descriptor: int | None = None
_native.interrupt_begin(_begin, threading.main_thread().ident)
os.register_at_fork(after_in_child=_after_fork)
