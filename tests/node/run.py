#!/usr/bin/env python3
"""Tests the package for Node: what it does, its types, and the example that uses it, with its packages from npm.

    run.py BUILD SOURCE LIBRARY OTHER

Packages are installed in BUILD/node and stay there until package-lock.json changes. OTHER is a library of another version.
"""

import os
import re
import shutil
import subprocess
import sys

SKIPPED = 77  # as CTest takes it
OFFLINE = r"ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|ETIMEDOUT|EHOSTUNREACH"


def install(package, folder):
    """The reason why the packages cannot be had, if so."""
    with open(f"{package}/package-lock.json", encoding="utf-8") as file:
        lock = file.read()
    mark = f"{folder}/installed"
    if os.path.exists(mark):
        with open(mark, encoding="utf-8") as file:
            if file.read() == lock:
                return None
    for name in ("package.json", "package-lock.json"):
        shutil.copy(f"{package}/{name}", folder)
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
    if len(arguments) != 4:
        print(__doc__, file=sys.stderr)
        return 2
    build, source, library, other = map(os.path.abspath, arguments)
    missing = [program for program in ("node", "npm") if not shutil.which(program)]
    if missing:
        print(f"there is no {' and no '.join(missing)}")
        return SKIPPED
    package, tests, folder = f"{source}/node", f"{source}/tests/node", f"{build}/node"
    os.makedirs(folder, exist_ok=True)
    reason = install(package, folder)
    if reason:
        print(reason)
        return SKIPPED
    # The folder is the package, which finds itself by its name.
    shutil.rmtree(f"{folder}/lib", ignore_errors=True)
    shutil.copytree(f"{package}/lib", f"{folder}/lib")
    for path in (f"{package}/package.json", f"{package}/index.js", f"{package}/index.d.ts", f"{source}/examples/node/saxpy.js",
                 f"{tests}/package.test.js", f"{tests}/types.test.ts", f"{tests}/tsconfig.json"):
        shutil.copy(path, folder)
    environment = dict(os.environ, PLIMSOLL_LIBRARY=library, PLIMSOLL_OTHER_LIBRARY=other)
    output = subprocess.run(["node", "saxpy.js"], cwd=folder, env=environment, check=True, text=True,
                            stdout=subprocess.PIPE).stdout
    if output != "12 14 16\n":
        sys.exit(f"saxpy.js printed {output!r}")
    for command in (["node", "node_modules/typescript/bin/tsc", "-p", "."],
                    ["node", "--expose-gc", "--test", "package.test.js"]):
        status = subprocess.run(command, cwd=folder, env=environment, check=False).returncode
        if status != 0:
            return status
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
