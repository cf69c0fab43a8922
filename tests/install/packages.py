#!/usr/bin/env python3
"""Builds the Debian packages, unpacks them into a folder and uses them from there.

    packages.py BUILD SOURCE

CC and CXX name the compilers of the programs that are built against them.
"""

import glob
import gzip
import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import consumers

COMMANDS = ("run", "compile", "explain", "profile", "bisect", "import", "plan", "targets")
# Notes what zsh offers, and leaves it then.
ZSH = """
PS1=; unsetopt zle_bracketed_paste; fpath=({completions} $fpath)
autoload -Uz compinit; compinit -u -D
compadd() {{
  if [[ ${{@[1,(i)(-|--)]}} != *-(O|A|D)* ]]; then
    local -a found
    builtin compadd -A found "$@"
    print -rl -- $found >> {folder}/found
  fi
  builtin compadd "$@"
}}
comppostfuncs=(exit)
print -r "rea""dy"
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
        self.assertEqual(set(self.packages), {"libplimsoll0", "libplimsoll-onnx0", "libplimsoll-runtime0", "libplimsoll-dev",
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
        for package in ("libtbb12", "libhwloc15", "libc6"):
            self.assertIn(package, needs["libplimsoll0"])
        for name in ("libplimsoll0", "libplimsoll-runtime0"):
            self.assertNotIn("libllvm", needs[name])
        self.assertIn("libllvm22", needs["plimsoll-tools"])
        self.assertNotIn("libmlir", needs["libplimsoll0"])
        self.assertNotIn("libmlir", needs["libplimsoll-runtime0"])
        self.assertNotIn("libonnx", needs["libplimsoll0"])
        self.assertIn("libonnx1", needs["libplimsoll-onnx0"])
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

    def test_what_a_distribution_tries_of_them(self):
        """The scripts of debian/tests, for the packages in a folder instead of installed ones."""
        with open(f"{self.source}/debian/tests/control", encoding="utf-8") as file:
            control = file.read()
        tests = re.findall(r"^Tests: (.*)$", control, flags=re.MULTILINE)
        self.assertEqual(sorted([*tests, "control"]), sorted(os.listdir(f"{self.source}/debian/tests")))
        ours = re.findall(r"\b(?:lib|python3-)?plimsoll[\w-]*", control)
        self.assertLessEqual(set(ours), set(self.packages))
        [pkgconfig] = glob.glob(f"{self.root}/usr/lib/*/pkgconfig")
        environment = dict(os.environ, PATH=f"{self.root}/usr/bin:{os.environ['PATH']}", PKG_CONFIG_PATH=pkgconfig,
                           LD_LIBRARY_PATH=os.path.dirname(pkgconfig), CMAKE_PREFIX_PATH=f"{self.root}/usr",
                           PYTHONPATH=f"{self.root}/usr/lib/python3/dist-packages")
        for test in tests:
            with self.subTest(test=test), tempfile.TemporaryDirectory(prefix=test, dir=self.build) as folder:
                done = subprocess.run([f"{self.source}/debian/tests/{test}"], cwd=self.source, check=False, text=True,
                                      env=dict(environment, AUTOPKGTEST_TMP=folder), stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE)
                # What is on standard error is a failure too.
                self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)

    def test_functions_that_come_and_go_are_noticed(self):
        with open(f"{self.source}/debian/libplimsoll0.symbols", encoding="utf-8") as file:
            listed = file.read()
        for name in "libplimsoll", "libplimsoll-runtime":
            with self.subTest(name=name), tempfile.TemporaryDirectory(prefix="symbols-", dir=self.build) as folder:
                os.makedirs(f"{folder}/debian")
                shutil.copy(f"{self.source}/debian/control", f"{folder}/debian")
                [library] = glob.glob(f"{self.root}/usr/lib/*/{name}.so.0")

                def check(text):
                    path = f"{folder}/symbols"
                    with open(path, "w", encoding="utf-8") as file:
                        file.write(text.replace("libplimsoll.so.0 libplimsoll0", f"{name}.so.0 {name}0"))
                    done = subprocess.run(["dpkg-gensymbols", "-c4", "-v0.1.0-1", f"-p{name}0", f"-e{library}", f"-I{path}",
                                           f"-O{folder}/out"], cwd=folder, check=False, text=True,
                                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                    return done.returncode, done.stdout

                self.assertEqual(check(listed)[0], 0, check(listed)[1])
                fewer = re.sub(r"^ plim_engine_create@.*\n", "", listed, flags=re.MULTILINE)
                for wrong in (fewer, listed + " plim_engine_sink@PLIM_0 0.1.0\n"):
                    self.assertNotEqual(check(wrong)[0], 0)
                self.assertIn("plim_engine_create", check(fewer)[1])

    def test_nothing_says_where_or_when_it_was_built(self):
        """Who builds the same again gets the same."""
        changed = consumers.run(["dpkg-parsechangelog", "-l", f"{self.source}/debian/changelog", "-S", "Timestamp"])
        where = [path.encode() for path in (self.build, self.source, self.folder.name)]
        for folder, _, files in os.walk(self.root):
            for name in files:
                path = os.path.join(folder, name)
                if os.path.islink(path):
                    continue
                with (gzip.open if name.endswith(".gz") else open)(path, "rb") as file:
                    contents = file.read()
                for text in where:
                    self.assertNotIn(text, contents, path)
                self.assertLessEqual(os.stat(path).st_mtime, int(changed), path)
        with gzip.open(f"{self.root}/usr/share/man/man1/plimsoll-run.1.gz", "rt", encoding="utf-8") as file:
            self.assertIn(time.strftime("%B %Y", time.gmtime(int(changed))), file.read())

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

        self.assertEqual(complete(""), [*COMMANDS, "--help", "--version"])
        self.assertEqual(complete("ru"), ["run"])
        self.assertEqual(complete("run", "--specialize"), ["--specialize", "--specialize-hot"])
        self.assertEqual(complete("plan", "--spec"), [])
        self.assertEqual(complete("explain", "--policy", "st"), ["stack"])
        self.assertEqual(complete("run", "--target", "cortex-m7"), ["cortex-m7"])
        self.assertEqual(complete("targets", "ho"), ["host", "host-cpu"])
        self.assertEqual(complete("run", "examples/digits/"), ["examples/digits/digits.mlir"])

    @unittest.skipUnless(shutil.which("zsh"), "there is no zsh")
    def test_zsh_completes(self):
        def complete(*words):
            """What is offered for the last word, by a shell at a terminal."""
            with tempfile.TemporaryDirectory(prefix="zsh-", dir=self.build) as folder:
                with open(f"{folder}/.zshrc", "w", encoding="utf-8") as file:
                    file.write(ZSH.format(completions=f"{self.root}/usr/share/zsh/vendor-completions", folder=folder))
                environment = dict(os.environ, HOME=folder, ZDOTDIR=folder, TERM="dumb")
                shell, terminal = pty.fork()
                if shell == 0:
                    os.chdir(self.source)
                    os.execvpe("zsh", ["zsh", "--no-globalrcs", "-i"], environment)
                seen = b""
                try:
                    while b"ready" not in seen:
                        seen += os.read(terminal, 4096)
                    os.write(terminal, " ".join([f"{self.root}/usr/bin/plimsoll", *words]).encode() + b"\t")
                    while True:
                        seen += os.read(terminal, 4096)
                except OSError:  # it has left
                    os.waitpid(shell, 0)
                if not os.path.exists(f"{folder}/found"):
                    return []
                with open(f"{folder}/found", encoding="utf-8") as file:
                    return sorted(set(filter(None, file.read().split("\n"))))

        self.assertEqual(complete(""), sorted(COMMANDS))
        self.assertEqual(complete("ru"), ["run"])
        self.assertEqual(complete("run", "--specialize"), ["--specialize", "--specialize-hot"])
        self.assertEqual(complete("plan", "--spec"), [])
        self.assertEqual(complete("explain", "--policy", "st"), ["stack"])
        self.assertEqual(complete("run", "--target", "cortex-m7"), ["cortex-m7"])
        self.assertEqual(complete("targets", "ho"), ["host", "host-cpu"])
        self.assertEqual(complete("run", "examples/digits/"), ["digits.mlir"])


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
