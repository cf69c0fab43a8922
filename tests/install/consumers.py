#!/usr/bin/env python3
"""Installs the library into a folder, moves that, and builds programs against it from there.

    consumers.py BUILD EXAMPLES

One with pkg-config, two in a project of CMake's. Each is run. CC and CXX name the compilers; without them
those of the system.
"""

import glob
import os
import shlex
import subprocess
import sys
import tempfile


def run(command, **options):
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False, **options)
    if done.returncode != 0:
        sys.exit(f"{shlex.join(command)}\n{done.stdout}")
    return done.stdout


def expect(command, environment):
    output = run(command, env=environment)
    if output != "12 14 16\n":
        sys.exit(f"{command[0]} printed {output!r}")
    print(os.path.basename(command[0]), output, end="")


def build_and_run(root, folder, examples):
    """Programs against the library under the prefix `root`, by pkg-config and by CMake, in `folder`."""
    [package] = glob.glob(f"{root}/lib*/**/plimsoll.pc", recursive=True)
    library = os.path.dirname(os.path.dirname(package))
    environment = dict(os.environ, PKG_CONFIG_PATH=os.path.dirname(package), LD_LIBRARY_PATH=library)
    flags = run(["pkg-config", "--cflags", "--libs", "plimsoll"], env=environment).split()
    run([os.environ.get("CC", "cc"), "-std=c11", "-Wall", "-Wextra", "-Werror", f"{examples}/saxpy.c", "-o",
         f"{folder}/saxpy", *flags])
    expect([f"{folder}/saxpy"], environment)
    consumer = os.path.join(os.path.dirname(os.path.abspath(__file__)), "consumer")
    run(["cmake", "-G", "Ninja", "-S", consumer, "-B", f"{folder}/build",
         f"-DCMAKE_PREFIX_PATH={root}", f"-DEXAMPLES={examples}"])
    run(["cmake", "--build", f"{folder}/build"])
    for program in ("saxpy-c", "saxpy-cpp"):
        expect([f"{folder}/build/{program}"], environment)


def main(arguments):
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    build, examples = map(os.path.abspath, arguments)
    with tempfile.TemporaryDirectory(prefix="plimsoll-install-") as folder:
        run(["cmake", "--install", build, "--prefix", f"{folder}/first"])
        root = f"{folder}/root"
        os.rename(f"{folder}/first", root)
        build_and_run(root, folder, examples)
        for path in glob.glob(f"{root}/**/*", recursive=True):
            if path.endswith((".cmake", ".pc", ".h", ".hpp")):
                with open(path, encoding="utf-8") as file:
                    if build in file.read():
                        sys.exit(f"{path} names the folder of the build")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
