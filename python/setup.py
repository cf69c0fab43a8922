"""Builds the package as a wheel, for a libplimsoll that is installed: pkg-config finds it.

    python3 setup.py bdist_wheel
    pip wheel --no-build-isolation --no-deps .

PKG_CONFIG_PATH says where it is if it is not in a usual place. CMake does without this file.
"""

import os
import re
import shlex
import subprocess
from glob import glob

import numpy
from setuptools import Extension, setup

here = os.path.dirname(os.path.abspath(__file__))
root = os.path.dirname(here)


def pkg_config(option):
    return shlex.split(subprocess.check_output(["pkg-config", option, "plimsoll"], text=True))


with open(f"{root}/include/plimsoll/version.h", encoding="utf-8") as file:
    numbers = re.findall(r"^#define PLIM_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", file.read(), re.MULTILINE)

setup(
    version=".".join(numbers),
    ext_modules=[Extension(
        "plimsoll._native",
        sorted(os.path.relpath(path, here) for path in glob(f"{here}/native/*.cpp")),
        include_dirs=[root],
        # Python asks for debug information, which need not say where the sources were.
        extra_compile_args=["-std=c++20", "-fvisibility=hidden", f"-ffile-prefix-map={root}=.",
                            "-isystem", numpy.get_include(), *pkg_config("--cflags")],
        extra_link_args=pkg_config("--libs"),
        language="c++")])
