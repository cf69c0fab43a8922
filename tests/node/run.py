#!/usr/bin/env python3
"""Runs the example for Node and the tests of its binding, with its packages from npm.

    run.py BUILD SOURCE LIBRARY

Packages are installed in BUILD/node and stay there until package-lock.json changes.
"""

import os
import re
import shutil
import subprocess
import sys

SKIPPED = 77  # as CTest takes it
OFFLINE = r"ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|ETIMEDOUT|EHOSTUNREACH"


def install(example, folder):
    """The reason why the packages cannot be had, if so."""
    with open(f"{example}/package-lock.json", encoding="utf-8") as file:
        lock = file.read()
    mark = f"{folder}/installed"
    if os.path.exists(mark):
        with open(mark, encoding="utf-8") as file:
            if file.read() == lock:
                return None
    for name in ("package.json", "package-lock.json"):
        shutil.copy(f"{example}/{name}", folder)
    done = subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=folder, check=False,
                          text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode == 0:
        with open(mark, "w", encoding="utf-8") as file:
            file.write(lock)
        return None
    if re.search(OFFLINE, done.stdout):
        return f"npm cannot reach its registry\n{done.stdout}"
    sys.exit(done.stdout)


def main(arguments):
    if len(arguments) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    build, source, library = map(os.path.abspath, arguments)
    missing = [program for program in ("node", "npm") if not shutil.which(program)]
    if missing:
        print(f"there is no {' and no '.join(missing)}")
        return SKIPPED
    example, folder = f"{source}/examples/node", f"{build}/node"
    os.makedirs(folder, exist_ok=True)
    reason = install(example, folder)
    if reason:
        print(reason)
        return SKIPPED
    for path in (f"{example}/plimsoll.js", f"{example}/saxpy.js", f"{source}/tests/node/binding.test.js"):
        shutil.copy(path, folder)
    environment = dict(os.environ, PLIMSOLL_LIBRARY=library)
    output = subprocess.run(["node", "saxpy.js"], cwd=folder, env=environment, check=True, text=True,
                            stdout=subprocess.PIPE).stdout
    if output != "12 14 16\n":
        sys.exit(f"saxpy.js printed {output!r}")
    return subprocess.run(["node", "--expose-gc", "--test", "binding.test.js"], cwd=folder, env=environment,
                          check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
