#!/usr/bin/env python3
"""Builds the Debian packages, unpacks them into a folder and uses them from there.

    packages.py BUILD SOURCE

CC and CXX name the compilers of the programs that are built against them.
"""

import glob
import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import consumers

COMMANDS = ("run", "compile", "explain", "plan", "targets")
MODULE = """
func.func @add(%a: f32, %b: f32) -> f32 {
  %r = arith.addf %a, %b : f32
  return %r : f32
}
"""


def fields(package):
    text = consumers.run(["dpkg-deb", "--field", package])
    return dict(re.findall(r"^([\w-]+): (.*)$", text, flags=re.MULTILINE))


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="packages-", dir=cls.build)
        cls.addClassCleanup(cls.folder.cleanup)
        # Symbols for debuggers and good compression are most of the time, and tested by nothing here.
        consumers.run([f"{cls.source}/debian/make-packages", cls.build, cls.folder.name],
                      env=dict(os.environ, DEB_BUILD_OPTIONS="noautodbgsym", DPKG_DEB_COMPRESSOR_TYPE="gzip",
                               DPKG_DEB_COMPRESSOR_LEVEL="1"))
        cls.packages = {fields(path)["Package"]: path for path in glob.glob(f"{cls.folder.name}/*.deb")}
        cls.root = f"{cls.folder.name}/root"
        for path in cls.packages.values():
            consumers.run(["dpkg-deb", "--extract", path, cls.root])

    def test_there_is_one_for_each_use(self):
        self.assertEqual(set(self.packages), {"libplimsoll0", "libplimsoll-runtime0", "libplimsoll-dev",
                                              "plimsoll-tools", "python3-plimsoll"})

    def test_their_version_is_that_of_the_library(self):
        [path] = glob.glob(f"{self.root}/usr/lib/*/pkgconfig/plimsoll.pc")
        with open(path, encoding="utf-8") as file:
            version = re.search(r"^Version: (.*)$", file.read(), flags=re.MULTILINE)[1]
        for name, package in self.packages.items():
            self.assertRegex(fields(package)["Version"], rf"^{re.escape(version)}-", f"{name}: debian/changelog")

    def test_dependencies_are_those_of_the_programs(self):
        installed = consumers.run(["dpkg-query", "--show", "--showformat", "${Package}, ${Provides}, "])
        needs = {}
        for name, path in self.packages.items():
            needs[name] = fields(path)["Depends"]
            for package in re.findall(r"(?:^|, )([^ ,:]+)", needs[name]):
                if package not in self.packages:
                    self.assertRegex(installed, rf"(^| ){re.escape(package)}[, ]")
        for package in ("libllvm22", "libtbb12", "libhwloc15", "libc6"):
            self.assertIn(package, needs["libplimsoll0"])
        self.assertNotIn("libmlir", needs["libplimsoll0"])
        self.assertNotIn("libmlir", needs["libplimsoll-runtime0"])
        self.assertIn("libmlir-22", needs["plimsoll-tools"])
        for package in ("libplimsoll0", "python3-numpy-abi", "python3:any"):
            self.assertIn(package, needs["python3-plimsoll"])
        version = fields(self.packages["libplimsoll0"])["Version"]
        self.assertIn(f"libplimsoll0 (= {version})", needs["libplimsoll-dev"])
        self.assertNotIn("-dev", needs["libplimsoll0"] + needs["plimsoll-tools"])

    def test_libraries_lie_in_the_folder_of_their_architecture(self):
        architecture = consumers.run(["dpkg-architecture", "-qDEB_HOST_MULTIARCH"]).strip()
        self.assertTrue(os.path.exists(f"{self.root}/usr/lib/{architecture}/libplimsoll.so.0"),
                        "configure anew: cmake -U CMAKE_INSTALL_LIBDIR BUILD")
        self.assertEqual(set(os.listdir(f"{self.root}/usr/lib")), {architecture, "python3"})

    @unittest.skipUnless(shutil.which("lintian"), "there is no lintian")
    def test_lintian_has_nothing_to_say(self):
        [changes] = glob.glob(f"{self.folder.name}/*.changes")
        consumers.run(["lintian", "--allow-root", "--fail-on", "error,warning", changes])

    def test_programs_are_built_against_them(self):
        with tempfile.TemporaryDirectory(prefix="consumers-", dir=self.build) as folder:
            consumers.build_and_run(f"{self.root}/usr", folder, f"{self.source}/examples/saxpy")

    def test_the_tools_run(self):
        module = f"{self.folder.name}/add.mlir"
        with open(module, "w", encoding="utf-8") as file:
            file.write(MODULE)
        self.assertEqual(consumers.run([f"{self.root}/usr/bin/plimsoll", "run", module, "-i", "f32=1.5", "-i",
                                        "f32=2"]), "result[0]: f32=3.5\n")
        self.assertIn("arith.addf", consumers.run([f"{self.root}/usr/bin/plimsoll-opt", module]))

    def test_a_module_runs_without_the_compiler(self):
        module, artifact = f"{self.folder.name}/add.mlir", f"{self.folder.name}/add.plimart"
        with open(module, "w", encoding="utf-8") as file:
            file.write(MODULE)
        consumers.run([f"{self.root}/usr/bin/plimsoll", "compile", module, "-o", artifact])
        program = f"{self.folder.name}/add"
        environment = dict(os.environ, PKG_CONFIG_PATH=glob.glob(f"{self.root}/usr/lib/*/pkgconfig")[0])
        flags = consumers.run(["pkg-config", "--cflags", "--libs", "plimsoll-runtime"], env=environment).split()
        consumers.run([os.environ.get("CC", "cc"), f"{self.source}/tests/install/consumer/artifact.c", "-o", program, *flags])
        [library] = glob.glob(f"{self.root}/usr/lib/*/libplimsoll-runtime.so.0")
        output = consumers.run([program, artifact],
                               env=dict(os.environ, LD_LIBRARY_PATH=os.path.dirname(library)))
        self.assertEqual(output, "3.5\n")

    def test_python_imports_its_package(self):
        [library] = glob.glob(f"{self.root}/usr/lib/*/libplimsoll.so.0")
        environment = dict(os.environ, PYTHONPATH=f"{self.root}/usr/lib/python3/dist-packages",
                           LD_LIBRARY_PATH=os.path.dirname(library))
        program = f"import plimsoll; print(plimsoll.__file__, plimsoll.loads({MODULE!r}).add(1.5, 2.0))"
        output = consumers.run(["/usr/bin/python3", "-B", "-c", program], env=environment)
        self.assertEqual(output, f"{self.root}/usr/lib/python3/dist-packages/plimsoll/__init__.py 3.5\n")

    def test_manual_pages_have_every_option(self):
        for command in ("", *COMMANDS):
            with self.subTest(command=command):
                page = "-".join(filter(None, ("plimsoll", command)))
                with gzip.open(f"{self.root}/usr/share/man/man1/{page}.1.gz", "rt", encoding="utf-8") as file:
                    text = re.sub(r'[\\"]', "", file.read())
                self.assertRegex(text, rf"SH NAME\n{page} - [a-z]")
                self.assertIn("SH EXIT STATUS", text)
                help = consumers.run([f"{self.root}/usr/bin/plimsoll", *filter(None, [command]), "--help"])
                for option in re.findall(r"^ +(?:-\w,)?(--[\w-]+)", help, flags=re.MULTILINE):
                    self.assertIn(option, text)
        for program in os.listdir(f"{self.root}/usr/bin"):
            self.assertTrue(os.path.exists(f"{self.root}/usr/share/man/man1/{program}.1.gz"), program)

    @unittest.skipUnless(os.path.exists("/usr/share/bash-completion/bash_completion"),
                         "there is no bash-completion")
    def test_bash_completes(self):
        def complete(*words):
            script = f"""
              . /usr/share/bash-completion/bash_completion
              . {self.root}/usr/share/bash-completion/completions/plimsoll
              COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=${{#COMP_LINE}}
              _plimsoll "$1" "${{COMP_WORDS[-1]}}" "${{COMP_WORDS[-2]}}"
              printf '%s\\n' "${{COMPREPLY[@]}}"
            """
            done = subprocess.run(["bash", "-c", script, "bash", f"{self.root}/usr/bin/plimsoll", *words],
                                  cwd=self.source, check=True, text=True, stdout=subprocess.PIPE)
            return done.stdout.split()

        self.assertEqual(complete(""), [*COMMANDS, "--help"])
        self.assertEqual(complete("ru"), ["run"])
        self.assertEqual(complete("run", "--specialize"), ["--specialize", "--specialize-hot"])
        self.assertEqual(complete("plan", "--spec"), [])
        self.assertEqual(complete("explain", "--policy", "st"), ["stack"])
        self.assertEqual(complete("run", "--target", "cortex-m7"), ["cortex-m7"])
        self.assertEqual(complete("targets", "ho"), ["host", "host-cpu"])
        self.assertEqual(complete("run", "examples/digits/"), ["examples/digits/digits.mlir"])


def main(arguments):
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    if not shutil.which("dpkg-buildpackage") or not shutil.which("dh"):
        print("there is no dpkg-buildpackage or no debhelper")
        return 77  # CTest takes that as skipped
    Packages.build, Packages.source = map(os.path.abspath, arguments)
    return 0 if unittest.main(argv=sys.argv[:1], exit=False, verbosity=2).result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
