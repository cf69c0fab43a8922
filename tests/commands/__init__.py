"""Runs commands of plimsoll, for the drivers of tests."""
import os
import select
import subprocess
import threading
import time


class Server:
    """A process that serves. Not for several threads."""

    def __init__(self, program):
        self.process = subprocess.Popen([program, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.pending = b""

    def answer(self, arguments, timeout):
        """(exit status, standard output, standard error). The status of a signal that ends the process, which
        cannot answer again."""
        end = time.monotonic() + timeout
        try:
            self.process.stdin.write("\t".join(arguments).encode() + b"\n")
            self.process.stdin.flush()
            while b"\n" not in self.pending:
                self._read(end)
            head, _, self.pending = self.pending.partition(b"\n")
            status, out, err = map(int, head.split())
            while len(self.pending) < out + err:
                self._read(end)
        except (EOFError, BrokenPipeError):
            return self.process.wait(), "", ""
        texts = self.pending[:out].decode(), self.pending[out:out + err].decode()
        self.pending = self.pending[out + err:]
        return status, *texts

    def _read(self, end):
        left = end - time.monotonic()
        if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
            raise TimeoutError
        got = os.read(self.process.stdout.fileno(), 1 << 20)
        if not got:
            raise EOFError
        self.pending += got

    def has_ended(self):
        return self.process.returncode is not None

    def end(self):
        self.process.kill()
        self.finish()

    def finish(self):
        """Its exit status, as it ends by itself when nothing is asked any more."""
        self.process.communicate()
        return self.process.returncode


_of_thread = threading.local()
_running = []  # of all threads


def run(command, timeout, served=None):
    """As `subprocess.run`, with texts captured. With `served`, a program plim_served (Served.cpp), `command` is
    one of `run`, and a process of that program, one for each thread, does in its place what it says."""
    command = list(map(str, command))
    if not served:
        return subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
    if command[1] != "run" or any(letter in word for word in command for letter in "\t\n"):
        raise ValueError(f"not to be served: {command}")
    servers = _of_thread.__dict__
    if served not in servers or servers[served].has_ended():
        servers[served] = Server(served)
        _running.append(servers[served])
    try:
        status, out, err = servers[served].answer(command[2:], timeout)
    except TimeoutError:
        end(served)
        raise subprocess.TimeoutExpired(command, timeout) from None
    if servers[served].has_ended():
        end(served)
    return subprocess.CompletedProcess(command, status, out, err)


def end(served):
    """Ends this thread's process of that program, if there is one; the next command begins another."""
    if served in _of_thread.__dict__:
        server = _of_thread.__dict__.pop(served)
        if server in _running:
            _running.remove(server)
        server.end()


def finish():
    """Lets all processes end, when no thread asks them any more. False, with a line, if one ended badly: with it engines
    and modules went."""
    statuses = [server.finish() for server in _running]
    _running.clear()
    if not any(statuses):
        return True
    print(f"FAIL: processes that served ended with {statuses}")
    return False
