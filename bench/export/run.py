#!/usr/bin/env python3
"""Exported kernels beside plain C: instructions under an emulator, and bytes of code.

  bench/export/run.py --bin build/bin

The same program calls both, one after the other, 100 times each; results are compared. What is counted are ticks of the board's timer, by the
emulator's clock, which goes by instructions: 31 or 40 of them each, so that ratios are those of instructions. Plain C is compiled by the same clang for the same
processor with -Os, and once more with -O2.
"""
import argparse
import pathlib
import re
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HERE, BOARD = ROOT / "bench" / "export", ROOT / "examples" / "microcontroller"
MACHINES = {
    "cortex-m7": ("cortex-m7", ["--target=thumbv7em-none-eabihf", "-mcpu=cortex-m7"], "mps2-an500", "0", "0x20000000"),
    "cortex-m55": ("cortex-m55-ethos-u55", ["--target=thumbv8.1m.main-none-eabihf", "-mcpu=cortex-m55"], "mps3-an547", "0x10000000", "0x31000000")}
KERNELS = {"product": ("int8_t", "int8_t", "int32_t", 8000), "depthwise": ("int8_t", "int8_t", "int32_t", 8000),
           "convolution": ("int8_t", "int8_t", "int32_t", 8000), "requantise": ("int32_t", "int32_t", "int8_t", 2000),
           "floats": ("float", "float", "float", 4096)}


def run(*command, **options):
    return subprocess.run([str(each) for each in command], check=True, capture_output=True, text=True, **options).stdout


def calls(header):
    """A measurement of each kernel; those with a workspace take it first."""
    lines = {True: [], False: []}
    for name, (x, y, z, size) in KERNELS.items():
        first = "&workspaces, " if re.search(rf"kernels_{name}\(const struct", header) else ""
        given = f"(const {x} *)(const void *)a, (const {y} *)(const void *)b, "
        lines[x == "float"].append(f'  MEASURE("{name}", kernels_{name}({first}{given}({z} *)(void *)ours), '
                                   f"plain_{name}({given}({z} *)(void *)theirs), {size});")
    return "".join(f"static void measure_{kind}(void) {{\n" + "\n".join(lines[isFloat]) + "\n}\n"
                   for kind, isFloat in (("integers", False), ("floats", True)))


def code_bytes(folder, file, prefix):
    """Of the sections that hold a function, by its name: those of its dispatches are called after it."""
    sizes = {}
    for line in run("llvm-readelf-22", "-S", "-W", file, cwd=folder).splitlines():
        found = re.search(r"\] \.text\.(\S+)\s+PROGBITS\s+\S+ \S+ ([0-9a-f]+)", line)
        if found:
            name = re.sub(r"^(plim\.(dispatch|body|count)\.|" + prefix + ")", "", found[1])
            kernel = next((kernel for kernel in KERNELS if name.startswith(kernel)), None)
            sizes[kernel] = sizes.get(kernel, 0) + int(found[2], 16)
    return sizes


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="the folder of plimsoll")
    parser.add_argument("--compiler", default="clang-22")
    arguments = parser.parse_args()
    plimsoll = arguments.bin.resolve() / "plimsoll"
    print(f"{'':11} {'kernel':12} {'level':5} {'ticks of 100 calls':>21} {'ratio':>6} {'bytes of code':>15} {'ratio':>6}")
    for machine, (target, flags, board, code, data) in MACHINES.items():
        for level in ("-Os", "-O2"):
            with tempfile.TemporaryDirectory() as folder:
                run(plimsoll, "compile", HERE / "kernels.mlir", "--target", target, "-o", "kernels.o", "--header", "kernels.h", cwd=folder)
                header = (pathlib.Path(folder) / "kernels.h").read_text()
                (pathlib.Path(folder) / "calls.h").write_text(calls(header))
                objects = []
                for source in (HERE / "main.c", HERE / "plain.c", BOARD / "board.c", BOARD / "memory.c"):
                    objects.append(f"{source.stem}.o")
                    run(arguments.compiler, *flags, level, "-ffreestanding", "-fno-builtin", "-ffunction-sections", "-std=c11", "-Wall", "-Wextra",
                        "-Werror", f"-I{ROOT}", "-I.", "-c", source, "-o", objects[-1], cwd=folder)
                run(arguments.compiler, *flags, "-nostdlib", "-static", "-fuse-ld=lld", f"-Wl,-T,{BOARD / 'board.ld'}", f"-Wl,--defsym=CODE={code}",
                    f"-Wl,--defsym=DATA={data}", *objects, "kernels.o", "-o", "firmware", cwd=folder)
                text = run("qemu-system-arm", "-M", board, "-icount", "shift=0", "-display", "none", "-monitor", "none", "-serial", "none", "-chardev",
                           "stdio,id=out", "-semihosting-config", "enable=on,chardev=out", "-kernel", "firmware", cwd=folder)
                ours, theirs = code_bytes(folder, "kernels.o", "kernels_"), code_bytes(folder, "plain.o", "plain_")
                for name, have, plain, result in re.findall(r"(\w+) (\d+) (\d+) (\w+)\n", text):
                    if result != "equal":
                        raise SystemExit(f"{machine}: {name} gives other results")
                    print(f"{machine:11} {name:12} {level:5} {have:>10} {plain:>10} {int(have) / int(plain):6.2f} "
                          f"{ours[name]:>7} {theirs[name]:>7} {ours[name] / theirs[name]:6.2f}")


if __name__ == "__main__":
    main()
