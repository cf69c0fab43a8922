#!/usr/bin/env python3
"""Runs the guides: every snippet of docs/guides is a file that is written or a session that is compared.

    guides.py BUILD SOURCE [GUIDE.md]...

What a snippet is stands in its Markdown:

    <!-- file: NAME -->   before a fence: it is written to NAME, in a folder of the guide
    <!-- more: NAME -->   before a fence: it is added to NAME
    <!-- if: COMMAND -->  before a session: it needs what is not everywhere, and is run where COMMAND succeeds
    ```console            lines with "$ " are commands of bash, run there, which "> " continues; what follows must be
                          what they print on standard output and standard error, where "..." stands for anything
                          in a line and, as a line, for any lines; "[N]" at the end is an exit status that is not 0

Any other snippet is an error: nobody would know that it is wrong. Programs find an installed Plimsoll by PATH, pkg-config
and CMake; cc and c++ are CC and CXX; $SOURCE is the checkout.
"""

import glob
import os
import re
import shutil
import subprocess
import sys


class Fault(Exception):
    pass


def snippets(text):
    """Yields (line, language, "file", "more", "if" or None, name or command, text) for each fence."""
    lines = text.split("\n")
    position = 0
    while position < len(lines):
        fence = re.match(r"```(\S*)", lines[position])
        if fence:
            to = re.fullmatch(r"<!-- (?:(file|more): (\S+)|(if): (.+)) -->", lines[position - 1]) if position else None
            begin = position
            position += 1
            while position < len(lines) and lines[position] != "```":
                position += 1
            if position == len(lines):
                raise Fault(f"{begin + 1}: a snippet without an end")
            kind, name = filter(None, to.groups()) if to else (None, None)
            yield begin + 1, fence[1], kind, name, "\n".join(lines[begin + 1:position]) + "\n"
        position += 1


def commands(session):
    """Yields (offset, command, expected lines, exit status)."""
    offset, command, expected = 0, None, []

    def take():
        status = re.fullmatch(r"\[(\d+)\]", expected[-1]) if expected else None
        return offset, command, expected[:-1] if status else expected, int(status[1]) if status else 0

    for position, line in enumerate(session.splitlines()):
        if line.startswith("$ "):
            if command is not None:
                yield take()
            offset, command, expected = position, line[2:], []
        elif command is None:
            raise Fault("a session must begin with a command")
        elif not expected and line.startswith("> "):
            command += "\n" + line[2:]
        else:
            expected.append(line.rstrip())
    yield take()


def matches(expected, printed):
    """Whether what was printed is what was expected, as a whole."""
    pattern = ""
    for line in expected:
        if line == "...":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += r".*?".join(map(re.escape, line.split("..."))) + r"[ \t]*\n"
    return re.fullmatch(pattern, printed) is not None


def run_guide(path, folder, environment):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    count = 0
    for line, language, kind, name, content in snippets(text):
        count += 1
        if kind in ("file", "more"):
            with open(f"{folder}/{name}", "w" if kind == "file" else "a", encoding="utf-8") as out:
                out.write(content)
            continue
        if language != "console":
            raise Fault(f"{line}: a snippet that is neither a file nor a session")
        if kind == "if" and subprocess.run(["bash", "-c", name], cwd=folder, env=environment, check=False,
                                           capture_output=True).returncode != 0:
            print(f"{path}:{line}: not here: {name}")
            continue
        for offset, command, expected, status in commands(content):
            done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, check=False, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            printed = done.stdout if not done.stdout or done.stdout.endswith("\n") else done.stdout + "\n"
            if done.returncode != status or not matches(expected, printed):
                raise Fault(f"{line + 1 + offset}: $ {command}\nexit status {done.returncode}, expected {status}\n"
                            f"--- printed\n{printed}--- expected\n" + "\n".join(expected))
    if count == 0:
        raise Fault("1: a guide without snippets")
    return count


def install(build, folder):
    """The environment of somebody who has installed what was built."""
    root, programs = f"{folder}/usr", f"{folder}/bin"
    subprocess.run(["cmake", "--install", build, "--prefix", root], check=True, stdout=subprocess.DEVNULL)
    os.makedirs(programs, exist_ok=True)
    for name, compiler in (("cc", os.environ.get("CC", "cc")), ("c++", os.environ.get("CXX", "c++"))):
        link = f"{programs}/{name}"
        if os.path.lexists(link):
            os.remove(link)
        os.symlink(shutil.which(compiler), link)
    [package] = glob.glob(f"{root}/lib/**/plimsoll.pc", recursive=True)
    library = os.path.dirname(os.path.dirname(package))
    return dict(os.environ, PATH=f"{programs}:{root}/bin:{os.environ['PATH']}", CMAKE_PREFIX_PATH=root,
                PKG_CONFIG_PATH=os.path.dirname(package), LD_LIBRARY_PATH=library, CMAKE_GENERATOR="Ninja",
                PYTHONPATH=f"{build}/python", PYTHONDONTWRITEBYTECODE="1")


def main(arguments):
    if len(arguments) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    build, source = map(os.path.abspath, arguments[:2])
    guides = arguments[2:] or sorted(glob.glob(f"{source}/docs/guides/*.md"))
    folder = f"{build}/guides"
    environment = dict(install(build, folder), SOURCE=source)
    failed = 0
    for path in guides:
        name = os.path.basename(path)
        try:
            print(f"{name}: {run_guide(path, f'{folder}/{name[:-3]}', environment)} snippets")
        except Fault as fault:
            failed = 1
            print(f"{path}:{fault}")
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
