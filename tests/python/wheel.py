#!/usr/bin/env python3
"""Builds the wheel as others do, against an installed library, and uses what is in it.

    wheel.py BUILD SOURCE
"""

import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

PROGRAM = """
import numpy as np, plimsoll as pl
module = pl.loads('''
func.func @twice(%x: tensor<?xf32>) -> tensor<?xf32> {
  %r = arith.addf %x, %x : tensor<?xf32>
  return %r : tensor<?xf32>
}''')
print(pl.__file__, module.twice(np.array([1, 2, 3], np.float32)))
"""


def run(command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stdout}")
    return done.stdout


def main(build, source):
    compiler = os.environ["CXX"]
    with tempfile.TemporaryDirectory(prefix="wheel-", dir=build) as folder:
        run(["cmake", "--install", build, "--prefix", f"{folder}/prefix"])
        # Setuptools writes beside the sources.
        for part in "python", "include":
            shutil.copytree(f"{source}/{part}", f"{folder}/source/{part}")
        pkgconfig = glob.glob(f"{folder}/prefix/lib/**/pkgconfig", recursive=True)[0]
        run([sys.executable, "setup.py", "-q", "bdist_wheel"], cwd=f"{folder}/source/python", env=dict(
            os.environ, CC=compiler, CXX=compiler, LDSHARED=f"{compiler} -shared", CFLAGS="-O0 -w",
            PKG_CONFIG_PATH=pkgconfig, SOURCE_DATE_EPOCH="1000000000"))
        [wheel] = glob.glob(f"{folder}/source/python/dist/plimsoll-*.whl")
        if not re.search(r"plimsoll-\d+\.\d+\.\d+-cp3\d+-cp3\d+-linux_\w+\.whl$", wheel):
            sys.exit(f"an odd name: {wheel}")
        with zipfile.ZipFile(wheel) as file:
            names = file.namelist()
            file.extractall(f"{folder}/site")
            # Who builds the same again gets the same.
            for member in file.infolist():
                if member.date_time[:3] != (2001, 9, 9) or f"{folder}/source".encode() in file.read(member):
                    sys.exit(f"{member.filename} says when or where it was built")
        missing = [os.path.basename(path) for path in glob.glob(f"{source}/python/plimsoll/*.py*")
                   if not path.endswith(".pyc") and f"plimsoll/{os.path.basename(path)}" not in names]
        if missing or "plimsoll/py.typed" not in names:
            sys.exit(f"not in the wheel: {missing}")
        printed = run([sys.executable, "-c", PROGRAM], cwd=folder, env=dict(
            os.environ, PYTHONPATH=f"{folder}/site", LD_LIBRARY_PATH=os.path.dirname(pkgconfig)))
        if printed != f"{folder}/site/plimsoll/__init__.py [2. 4. 6.]\n":
            sys.exit(f"printed {printed}")


if __name__ == "__main__":
    main(*map(os.path.abspath, sys.argv[1:3]))
