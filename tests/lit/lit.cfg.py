# The suite of FileCheck tests: one folder per directory of the source tree.
# Tools are found on PATH: ours first, then those of LLVM (FileCheck, not, count, split-file).

import os
import platform

import lit.formats

config.name = "plimsoll"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.plim_build_root, "tests", "lit")

config.environment["PATH"] = os.pathsep.join(
    [config.plim_tools_dir, config.llvm_tools_dir, os.environ.get("PATH", "")])
config.environment["FILECHECK_OPTS"] = "--enable-var-scope --dump-input-filter=error"
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "LSAN_OPTIONS", "HOME", "PLIM_FAULT", "PLIM_FAULTS_REACHED"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

# REQUIRES: x86_64 | aarch64
config.available_features.add(platform.machine())
# REQUIRES: avx2, of tests that look at code and run it
try:
    with open("/proc/cpuinfo") as cpuinfo:
        if " avx2 " in cpuinfo.read():
            config.available_features.add("avx2")
except OSError:
    pass
