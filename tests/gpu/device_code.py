#!/usr/bin/env python3
"""Compiles conformance modules for a GPU that need not be here, and looks at what is made for it.

  tests/gpu/device_code.py build/bin/plimsoll vulkan0|cuda0 FOLDER...

The target is this machine with a GPU written beside it, so no driver is opened. Of each module:

- all dispatches are the GPU's, but for those of modules that are named below;
- SPIR-V is valid for Vulkan 1.1 by spirv-val; PTX is what ptxas takes, where there is one, and calls no function.

Exits 1 when something is wrong or nothing was looked at, 77 without spirv-val where that is needed.
"""
import json
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

GPUS = {
    "vulkan0": {"kind": "vulkan", "triple": "spirv-unknown-vulkan1.1-compute", "max_workgroup_size": 1024,
                "subgroup_size": 32, "scratch_bytes": 32768, "stack_addressable": False,
                "features": ["+shaderFloat16", "+shaderFloat64", "+shaderInt16", "+shaderInt64", "+shaderInt8",
                             "+shaderSignedZeroInfNanPreserveFloat16", "+shaderSignedZeroInfNanPreserveFloat32",
                             "+shaderSignedZeroInfNanPreserveFloat64",
                             "+storageBuffer16BitAccess", "+storageBuffer8BitAccess"]},
    "cuda0": {"kind": "cuda", "triple": "nvptx64-nvidia-cuda", "cpu": "sm_90a", "tune_cpu": "sm_90a", "cores": 132,
              "max_workgroup_size": 1024, "subgroup_size": 32, "scratch_bytes": 49152, "stack_addressable": False},
}
# What a GPU may leave to the host, and why (docs/design/gpu.md has the table).
COMPLEX = "complex elements"
CHECKED = "divisions and indices that are checked"
FUNCTION = "a function that kernels do not have"
MAY_LEAVE = {
    "types/complex*": COMPLEX, "types/divide": CHECKED, "types/i32_division": CHECKED,
    "types/small_integers": "i4", "types/i64_bits": FUNCTION,
    "math/exp_log_*": FUNCTION, "math/*_f64": FUNCTION, "math/integer_math": FUNCTION, "math/rounding_f32": FUNCTION,
    "math/fma_copysign": "fma on Vulkan",
    "tensor/gather_*": CHECKED,
}
MAGIC = b"PLIMGPU2"
KINDS = ("spirv", "ptx")


class Reader:
    """Of what ByteWriter wrote (support/ByteStream.h)."""

    def __init__(self, data, position):
        self.data, self.position = data, position

    def integer(self):
        (value,) = struct.unpack_from("<Q", self.data, self.position)
        self.position += 8
        return value

    def text(self):
        size = self.integer()
        self.position += size
        return self.data[self.position - size:self.position]

    def list(self, read):
        return [read() for _ in range(self.integer())]

    def integers(self, count):
        return [self.integer() for _ in range(count)]


def read_container(data, position):
    """(kind, modules) of the container that begins there: devices/GpuCode.cpp, encode()."""
    reader = Reader(data, position + len(MAGIC))
    kind = KINDS[reader.integer()]
    reader.list(reader.text)  # features
    reader.integer()  # maxElements
    reader.list(lambda: reader.integers(5))  # arguments
    reader.list(lambda: reader.integers(3))  # numbers
    reader.list(lambda: reader.integers(2))  # temporaries

    def kernel():
        reader.text()
        reader.integers(4)
        reader.list(reader.integer)
        reader.list(lambda: reader.integers(2))
        reader.integers(3)

    reader.list(kernel)
    return kind, reader.list(reader.text)


def containers(data):
    return [read_container(data, found.start()) for found in re.finditer(MAGIC, data)]


def may_leave(path):
    name = path.with_suffix("")
    return any(name.match(pattern) for pattern in MAY_LEAVE)


class Check:
    def __init__(self, tool, gpu, folder):
        self.tool, self.gpu, self.folder = tool, gpu, pathlib.Path(folder)
        self.modules, self.dispatches, self.faults = 0, 0, 0
        self.ptxas = shutil.which("ptxas") or shutil.which("/usr/local/cuda/bin/ptxas")
        target = json.loads(self.run(tool, "targets", "host-cpu", "--json"))
        target["devices"].append({"name": gpu, **GPUS[gpu]})
        target["memories"].append({"name": f"{gpu}.memory", "kind": "device", "bytes": 1 << 32, "alignment": 256,
                                   "accessible_by": [gpu]})
        self.target = self.folder / "gpu.json"
        self.target.write_text(json.dumps(target))

    @staticmethod
    def run(*command):
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=120, check=False)
        if done.returncode:
            raise RuntimeError(f"{' '.join(map(str, command))}: {(done.stderr or done.stdout).strip()}")
        return done.stdout or done.stderr

    def fault(self, path, what):
        self.faults += 1
        print(f"FAIL {path}: {what}")

    def look_at(self, path):
        artifact = self.folder / "module.plimart"
        self.run(self.tool, "compile", path, "--target", self.target, "--device", self.gpu, "--isolation", "none",
                 "-o", artifact)
        report = json.loads(self.run(self.tool, "explain", artifact, "--json"))
        dispatches = [dispatch for function in report["functions"] for dispatch in function["dispatches"]]
        for dispatch in dispatches:
            if dispatch["device"] == self.gpu:
                self.dispatches += 1
            elif not may_leave(path):
                self.fault(path, f"{dispatch['name']} is on {dispatch['device']}: {dispatch.get('refusal')}")
        for kind, modules in containers(artifact.read_bytes()):
            if kind != ("ptx" if self.gpu.startswith("cuda") else "spirv"):
                self.fault(path, f"code of kind {kind}")
            for module in modules:
                self.modules += 1
                self.check_ptx(path, module) if kind == "ptx" else self.check_spirv(path, module)

    def check_spirv(self, path, module):
        file = self.folder / "module.spv"
        file.write_bytes(module)
        try:
            self.run("spirv-val", "--target-env", "vulkan1.1", file)
        except RuntimeError as error:
            self.fault(path, error)

    def check_ptx(self, path, module):
        for word in (b".extern .func", b"__nv_"):
            if word in module:
                self.fault(path, f"PTX with {word.decode()}")
        if not self.ptxas:
            return
        file = self.folder / "module.ptx"
        file.write_bytes(module)
        try:
            said = self.run(self.ptxas, "-v", "-arch=sm_90a", file, "-o", self.folder / "module.cubin")
            if "serialized" in said:  # sums of wgmma were moved while they are computed
                self.fault(path, said)
        except RuntimeError as error:
            self.fault(path, error)


def main(tool, gpu, *folders):
    if gpu == "vulkan0" and not shutil.which("spirv-val"):
        print("skipped: no spirv-val")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        check = Check(tool, gpu, folder)
        for path in [path for each in folders for path in sorted(pathlib.Path(each).rglob("*.mlir"))]:
            try:
                check.look_at(path)
            except RuntimeError as error:
                check.fault(path, error)
        print(f"{check.dispatches} dispatches on {gpu}, {check.modules} modules"
              + ("" if check.ptxas or gpu != "cuda0" else ", which no ptxas has seen") + f", {check.faults} faults")
        return 1 if check.faults or not check.modules else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
